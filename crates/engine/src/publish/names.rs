//! Gives staged files and folders their names: all of them, or none.
//!
//! Everything that can fail for want of room or rights has been done before: bytes are on the disk,
//! modes are set. What is left is one rename for each output. What stood under a name is kept until
//! all renames are done, so that a rename that fails can undo those before it. Where the system
//! can, two names change places in one step, and no name is without a file at any moment.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::held::publishing;
use super::stage::{PREFIX, folder_of};
use super::staging::{Manifest, Place, StagedFolder};
use crate::{EngineError, FileAction, Staged, Staging};

/// An output that has its bytes and its mode, but not its name.
#[derive(Debug)]
enum Ready {
    File(Staged),
    Folder(StagedFolder),
}

impl Ready {
    fn path(&self) -> &Path {
        match self {
            Ready::File(file) => file.path(),
            Ready::Folder(folder) => folder.path(),
        }
    }

    fn target(&self) -> &Path {
        match self {
            Ready::File(file) => file.target(),
            Ready::Folder(folder) => folder.target(),
        }
    }

    fn place(&self, force: bool) -> Result<Placed, EngineError> {
        let (path, target) = (self.path(), self.target());
        let placed = match self {
            Ready::File(file) if force || file.replaces => place_file(path, target),
            Ready::Folder(folder) if force => {
                folder.refuse_foreign()?;
                place_folder(path, target)
            }
            _ => place_new(path, target),
        };
        placed.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => EngineError::Exists { path: target.to_owned() },
            _ => EngineError::Io { action: FileAction::Publish, path: target.to_owned(), source },
        })
    }
}

/// Publishes files, and a release after them; one that stays in memory is handed out last. If one
/// of them cannot get its name, everything is as it was. Without `force` what is there is left
/// alone; with it, a folder that holds anything but a release is. `go_on` is asked once more before
/// the first rename.
pub fn publish(
    files: Vec<Staged>,
    release: Option<(Staging, Manifest)>,
    force: bool,
    go_on: impl FnOnce() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut all = Vec::new();
    for file in files {
        file.share()?;
        all.push(Ready::File(file));
    }
    let mut in_memory = None;
    match release.map(|(release, manifest)| release.ready(manifest)).transpose()? {
        None => {}
        Some(Place::File(file)) => {
            file.share()?;
            all.push(Ready::File(file));
        }
        Some(Place::Folder(folder)) => all.push(Ready::Folder(folder)),
        Some(Place::Memory(batches)) => in_memory = Some(batches),
    }
    publishing(|| {
        go_on()?;
        place_all(&all, force)
    })?;
    // Nothing can fail any more.
    if let Some(batches) = in_memory {
        batches.hand_out();
    }
    Ok(())
    // What was replaced has the staged names now, and goes with them.
}

fn place_all(all: &[Ready], force: bool) -> Result<(), EngineError> {
    let mut placed = Vec::new();
    for ready in all {
        match ready.place(force) {
            Ok(done) => placed.push((ready, done)),
            Err(error) => {
                for (ready, done) in placed.iter().rev() {
                    done.undo(ready.path(), ready.target());
                }
                return Err(error);
            }
        }
    }
    for (ready, done) in &placed {
        done.settle();
        // A rename reaches the disk with its folder; not every file system can do that.
        let _ = File::open(folder_of(ready.target())).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// How something got its name.
#[derive(Debug)]
enum Placed {
    /// Nothing had it.
    New,
    /// What had it has the staged name now. A file is locked, so that no other run takes it for
    /// stale.
    Exchanged { _old: Option<File> },
    /// What had it was put there first.
    Aside(PathBuf),
    /// What had it is gone: the file system can keep it in no way.
    Replaced,
}

impl Placed {
    /// Puts everything back. What cannot be put back stays as it is.
    fn undo(&self, staged: &Path, target: &Path) {
        let _ = match self {
            // A folder is removed under its staged name.
            Placed::New if target.is_dir() => std::fs::rename(target, staged),
            Placed::New => std::fs::remove_file(target),
            Placed::Exchanged { .. } => exchange(staged, target).map(|_| ()),
            Placed::Aside(aside) if aside.is_dir() => {
                std::fs::rename(target, staged).and_then(|()| std::fs::rename(aside, target))
            }
            Placed::Aside(aside) => std::fs::rename(aside, target),
            Placed::Replaced => Ok(()),
        };
    }

    /// Ends it: what was put aside is no longer needed.
    fn settle(&self) {
        if let Placed::Aside(aside) = self {
            let _ = if aside.is_dir() {
                std::fs::remove_dir_all(aside)
            } else {
                std::fs::remove_file(aside)
            };
        }
    }
}

/// Gives something a name that nothing has.
fn place_new(staged: &Path, target: &Path) -> io::Result<Placed> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
            // Not every file system knows how.
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
            done => return done.map(|()| Placed::New).map_err(Into::into),
        }
    }
    place_new_in_steps(staged, target)
}

fn place_new_in_steps(staged: &Path, target: &Path) -> io::Result<Placed> {
    // A link never replaces anything; the staged name goes later.
    match std::fs::hard_link(staged, target) {
        Ok(()) => return Ok(Placed::New),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(staged, target).map(|()| Placed::New)
}

/// Gives a file its name, whichever file had it.
fn place_file(staged: &Path, target: &Path) -> io::Result<Placed> {
    let Ok(found) = std::fs::symlink_metadata(target) else { return place_new(staged, target) };
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let old = found.is_file().then(|| File::open(target).ok()).flatten();
    if let Some(old) = &old {
        let _ = old.try_lock();
    }
    if exchange(staged, target)? {
        return Ok(Placed::Exchanged { _old: old });
    }
    place_file_in_steps(staged, target)
}

/// The same for systems that cannot do it at once; the old file has a second name for a while.
fn place_file_in_steps(staged: &Path, target: &Path) -> io::Result<Placed> {
    let mut aside = staged.as_os_str().to_owned();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    let is_kept = std::fs::hard_link(target, &aside).is_ok();
    let renamed = std::fs::rename(staged, target);
    if renamed.is_err() && is_kept {
        let _ = std::fs::remove_file(&aside);
    }
    renamed.map(|()| if is_kept { Placed::Aside(aside) } else { Placed::Replaced })
}

/// Gives a folder its name, whichever folder had it.
fn place_folder(staged: &Path, target: &Path) -> io::Result<Placed> {
    if std::fs::symlink_metadata(target).is_err() {
        return place_new(staged, target);
    }
    if exchange(staged, target)? {
        return Ok(Placed::Exchanged { _old: None });
    }
    move_aside(staged, target)
}

/// Lets two names change places, where the system can do that.
fn exchange(staged: &Path, target: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
            done => done.map(|()| true).map_err(Into::into),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (staged, target);
        Ok(false)
    }
}

/// The same for folders, in steps. Whenever it ends, one of the two is there. The name of the old
/// one begins with `.incrowd-old-`, and no later run removes it.
fn move_aside(staged: &Path, target: &Path) -> io::Result<Placed> {
    let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_run = staged.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_run = of_run.strip_prefix(PREFIX).unwrap_or_default();
    let aside = folder_of(target).join(format!("{PREFIX}old-{of_run}-{name}"));
    std::fs::rename(target, &aside)?;
    if let Err(error) = std::fs::rename(staged, target) {
        std::fs::rename(&aside, target)?;
        return Err(error);
    }
    Ok(Placed::Aside(aside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, stage_bytes};

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A rename that fails takes back those before it.
    #[test]
    fn all_files_or_none() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::write(path("old"), "old").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        let stage = |names: &[&str]| {
            names
                .iter()
                .map(|name| stage_bytes(&path(name), b"new", Access::Private).unwrap())
                .collect::<Vec<_>>()
        };
        // No file takes the place of a folder.
        let failed = publish(stage(&["new", "old", "folder"]), None, true, || Ok(()));
        assert!(failed.is_err());
        assert_eq!(names(place.path()), ["folder", "old"]);
        assert_eq!(text(&path("old")), "old");
        let failed = publish(stage(&["new", "old"]), None, false, || Ok(()));
        assert!(matches!(failed, Err(EngineError::Exists { .. })));
        assert_eq!(names(place.path()), ["folder", "old"]);
        let stopped = publish(stage(&["new"]), None, true, || Err(EngineError::Cancelled));
        assert!(matches!(stopped, Err(EngineError::Cancelled)));
        assert_eq!(names(place.path()), ["folder", "old"]);
        publish(stage(&["new", "old"]), None, true, || Ok(())).unwrap();
        assert_eq!(names(place.path()), ["folder", "new", "old"]);
        assert_eq!(text(&path("old")), "new");
    }

    #[test]
    #[cfg(unix)]
    fn modes_follow_what_a_file_tells() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let plain = place.path().join("plain");
        std::fs::write(&plain, "x").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for (access, expected) in [(Access::Private, 0o600), (Access::Shared, mode(&plain))] {
            let target = place.path().join(format!("{expected:o}"));
            for force in [false, true] {
                let staged = stage_bytes(&target, b"x", access).unwrap();
                assert_eq!(mode(staged.path()), 0o600);
                publish(vec![staged], None, force, || Ok(())).unwrap();
                assert_eq!(mode(&target), expected);
                let open = std::fs::Permissions::from_mode(0o777);
                std::fs::set_permissions(&target, open).unwrap();
            }
        }
    }

    #[test]
    fn steps_for_systems_that_cannot_do_it_at_once() {
        let place = tempfile::tempdir().unwrap();
        let [staged, target] = [".incrowd-new", "old"].map(|name| place.path().join(name));
        std::fs::write(&staged, "new").unwrap();
        std::fs::write(&target, "old").unwrap();
        assert!(place_new_in_steps(&staged, &target).is_err());
        let placed = place_file_in_steps(&staged, &target).unwrap();
        assert_eq!(text(&target), "new");
        placed.undo(&staged, &target);
        assert_eq!((text(&target).as_str(), names(place.path()).len()), ("old", 1));
        std::fs::write(&staged, "new").unwrap();
        place_file_in_steps(&staged, &target).unwrap().settle();
        assert_eq!((text(&target).as_str(), names(place.path()).len()), ("new", 1));
    }

    #[test]
    fn folders_change_places_in_steps_where_they_must() {
        let place = tempfile::tempdir().unwrap();
        let [staged, target] = [".incrowd-new", "old"].map(|name| place.path().join(name));
        for folder in [&staged, &target] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("x"), folder.to_str().unwrap()).unwrap();
        }
        let placed = move_aside(&staged, &target).unwrap();
        assert_eq!(text(&target.join("x")), staged.to_str().unwrap());
        placed.undo(&staged, &target);
        assert_eq!(text(&target.join("x")), target.to_str().unwrap());
        move_aside(&staged, &target).unwrap().settle();
        assert_eq!(text(&target.join("x")), staged.to_str().unwrap());
        assert_eq!(names(place.path()), ["old"]);
    }
}

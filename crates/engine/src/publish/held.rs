//! Temporary files and folders that live as long as their run.
//!
//! Each is guarded by an advisory lock that the run holds. The system releases the lock when the
//! process ends, however it ends, and other PID namespaces and other hosts of a network file system
//! see it too, so that [`remove_stale`] never takes what a live run still uses. A file is its own
//! lock. A folder has a lock file of the same name beside it that is made before the folder and
//! removed after it, so that there is no moment at which a folder has no lock.
//!
//! A new file is unlocked for a moment. Whoever removes stale files may lock and unlink it in that
//! moment; its owner then fails to lock it, or finds that its name is gone, and takes another name.
//!
//! All of them are listed, so that [`abandon`] can remove them from another thread when a run must
//! end at once.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const LOCK: &str = ".lock";
/// How many random letters and digits a name has, so that no name that a person chose looks like
/// one.
const RANDOM: usize = 16;

/// A locked file under a temporary name. Whatever has that name is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldFile {
    file: File,
    path: PathBuf,
}

impl HeldFile {
    /// Makes a file that only its owner can read.
    pub(crate) fn create(folder: &Path, prefix: &str, suffix: &str) -> io::Result<HeldFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix).rand_bytes(RANDOM);
        let made = builder.make_in(folder, |path| {
            let mut registry = registry();
            let file = private().write(true).create_new(true).open(path)?;
            if !lock_new(&file, path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            registry.push(path.to_owned());
            Ok(file)
        })?;
        let (file, path) = made.into_parts();
        // Removed by this type instead.
        let path = path.keep().map_err(|error| error.error)?;
        Ok(HeldFile { file, path })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        forget(&self.path);
    }
}

/// A folder under a temporary name that only its owner can open. Whatever has that name is removed
/// when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldFolder {
    path: PathBuf,
    lock: HeldFile,
}

impl HeldFolder {
    pub(crate) fn create(place: &Path, prefix: &str) -> io::Result<HeldFolder> {
        const TRIES: usize = 16;
        let mut result = Err(io::ErrorKind::AlreadyExists.into());
        for _ in 0..TRIES {
            let lock = HeldFile::create(place, prefix, LOCK)?;
            let path = folder_of_lock(&lock.path).expect("its name ends so");
            let mut registry = registry();
            match make_private_folder(&path) {
                Ok(()) => {
                    registry.push(path.clone());
                    drop(registry);
                    return Ok(HeldFolder { path, lock });
                }
                Err(error) => result = Err(error),
            }
            drop(registry);
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
                break;
            }
        }
        result
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The lock file, which tells who its owner is.
    pub(crate) fn lock(&self) -> &HeldFile {
        &self.lock
    }
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        forget(&self.path);
    }
}

/// Options to make or open a file that only its owner may read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

fn folder_of_lock(lock: &Path) -> Option<PathBuf> {
    lock.to_str()?.strip_suffix(LOCK).map(PathBuf::from)
}

/// Whether a file that was just made is locked now, and still has its name. Where the file system
/// has no locks, nobody can lock it to remove it either.
fn lock_new(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => false,
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => {
            file.metadata().is_ok_and(|of_file| has_name(path, &of_file))
        }
    }
}

/// Whether a path, which may be a link, is this very file.
fn has_name(path: &Path, of_file: &Metadata) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| is_same(&found, of_file))
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn has_same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn has_same_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// Removes what dead runs of the same user left in a folder under this prefix. `own` is a file of
/// this run in the same folder.
pub(crate) fn remove_stale(folder: &Path, prefix: &str, own: &HeldFile) {
    let Ok(own) = own.file.metadata() else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| is_temporary(name, prefix)) {
            remove_if_stale(&entry.path(), &own);
        }
    }
}

/// Whether a name is one that [`HeldFile`] gives: what else begins with the prefix belongs to
/// somebody.
fn is_temporary(name: &str, prefix: &str) -> bool {
    let Some(rest) = name.strip_prefix(prefix) else { return false };
    let n_random = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    n_random == RANDOM && (rest.len() == RANDOM || rest[RANDOM..].starts_with('.'))
}

fn remove_if_stale(path: &Path, own: &Metadata) {
    let is_ours = |found: &Metadata| has_same_owner(found, own);
    // Looked at before it is opened: opening a pipe or a device can have effects.
    if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && is_ours(&found)) {
        return;
    }
    // Held until the end, so that nobody else removes what a third run has made under this name.
    let Some(_lock) = locked(path, &is_ours) else { return };
    if let Some(folder) = folder_of_lock(path)
        && std::fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir() && is_ours(&found))
        && std::fs::remove_dir_all(&folder).is_err()
    {
        return;
    }
    let _ = std::fs::remove_file(path);
}

/// The file of that name with a lock on it, if nobody else holds one. Links are not followed, and
/// nothing but a regular file is waited for.
fn locked(path: &Path, is_ours: &dyn Fn(&Metadata) -> bool) -> Option<File> {
    let mut options = OpenOptions::new();
    // Network file systems lock only what may be written.
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        options.custom_flags(i32::try_from(flags).ok()?);
    }
    let file = options.open(path).ok()?;
    let found = file.metadata().ok()?;
    let is_free = found.is_file() && is_ours(&found) && file.try_lock().is_ok();
    (is_free && has_name(path, &found)).then_some(file)
}

/// The files and folders of this process.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Taken by whoever publishes; says whether anything was published.
static PUBLISHED: Mutex<bool> = Mutex::new(false);

fn registry() -> MutexGuard<'static, Vec<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(path: &Path) {
    registry().retain(|held| held != path);
}

/// What became of a run that was asked to end at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// Everything temporary is gone, and nothing was or will be published.
    Nothing,
    /// Its outputs have been published.
    Published,
    /// Its outputs are being published just now.
    Publishing,
}

/// Does what makes outputs visible, unless the run is abandoned: then it never returns. A run that
/// is being published can no longer be abandoned.
pub(crate) fn publishing<T, E>(publish: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut is_published = PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let done = publish()?;
    *is_published = true;
    Ok(done)
}

/// Removes all temporary files and folders of this process, from any thread, for a process that
/// exits right after it. Threads that want to make more of them or to publish something wait for
/// ever.
#[must_use]
pub fn abandon() -> Abandoned {
    let Some(is_published) = soon(|| PUBLISHED.try_lock().ok()) else {
        return Abandoned::Publishing;
    };
    if *is_published {
        return Abandoned::Published;
    }
    // Never unlocked again.
    std::mem::forget(is_published);
    let held = soon(|| HELD.try_lock().ok());
    // Threads that still write into a folder can make files in it while it is removed.
    for path in held.as_deref().into_iter().flatten().rev() {
        let _ = soon(|| {
            let found = std::fs::symlink_metadata(path).ok();
            let removed = match found {
                Some(found) if found.is_dir() => std::fs::remove_dir_all(path),
                Some(_) => std::fs::remove_file(path),
                None => Ok(()),
            };
            removed.ok()
        });
    }
    std::mem::forget(held);
    Abandoned::Nothing
}

/// What something gives within a short while.
fn soon<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..30 {
        if let Some(found) = attempt() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_dead_run_left_is_removed_and_what_a_live_one_holds_is_not() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("x-dead0123456789ab.csv"), "x").unwrap();
        std::fs::write(place.path().join("x-gone0123456789ab.lock"), "").unwrap();
        std::fs::create_dir(place.path().join("x-gone0123456789ab")).unwrap();
        std::fs::write(place.path().join("x-gone0123456789ab/rows"), "x").unwrap();
        std::fs::write(place.path().join("y-other"), "x").unwrap();
        for kept in ["x-notes.txt", "x-dead0123456789abc", "x-dead0123456789a_.csv", "x-old-gone"] {
            std::fs::write(place.path().join(kept), "x").unwrap();
        }
        let file = HeldFile::create(place.path(), "x-", ".csv").unwrap();
        let folder = HeldFolder::create(place.path(), "x-").unwrap();
        std::fs::write(folder.path().join("rows"), "x").unwrap();
        let own = HeldFile::create(place.path(), "x-", "").unwrap();
        remove_stale(place.path(), "x-", &own);
        assert!(file.path().exists() && folder.path().join("rows").exists());
        assert_eq!(names(place.path()).len(), 9, "{:?}", names(place.path()));
        drop((file, folder, own));
        let kept = ["x-dead0123456789a_.csv", "x-dead0123456789abc", "x-notes.txt", "x-old-gone"];
        assert_eq!(names(place.path()), [kept.as_slice(), &["y-other"]].concat());
    }

    #[test]
    #[cfg(unix)]
    fn only_regular_files_are_opened_and_no_link_is_followed() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, path("x-pipe0123456789ab.lock"), 0o600.into())
            .unwrap();
        std::fs::create_dir(path("x-pipe0123456789ab")).unwrap();
        std::fs::write(path("precious"), "x").unwrap();
        symlink(path("precious"), path("x-link0123456789ab.csv")).unwrap();
        std::fs::create_dir(path("treasure")).unwrap();
        std::fs::write(path("treasure/x"), "x").unwrap();
        symlink(path("treasure"), path("x-far0123456789abc")).unwrap();
        std::fs::write(path("x-far0123456789abc.lock"), "").unwrap();
        std::fs::create_dir(path("x-alone0123456789a")).unwrap();
        let own = HeldFile::create(place.path(), "x-", "").unwrap();
        remove_stale(place.path(), "x-", &own);
        drop(own);
        let left = [
            "precious",
            "treasure",
            "x-alone0123456789a",
            "x-far0123456789abc",
            "x-link0123456789ab.csv",
            "x-pipe0123456789ab",
        ];
        assert_eq!(names(place.path()), [left.as_slice(), &["x-pipe0123456789ab.lock"]].concat());
        assert!(path("treasure/x").exists());
    }

    /// Runs that start at the same moment in the same folder never take each other's files.
    #[test]
    fn many_runs_at_once() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..60 {
                        let file = HeldFile::create(place.path(), "x-", ".csv").unwrap();
                        remove_stale(place.path(), "x-", &file);
                        let folder = HeldFolder::create(place.path(), "x-").unwrap();
                        remove_stale(place.path(), "x-", folder.lock());
                        assert!(file.path().exists() && folder.path().exists());
                    }
                });
            }
        });
        assert_eq!(names(place.path()), [""; 0]);
    }
}

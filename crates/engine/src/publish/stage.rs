//! Files that come into being at once or not at all.
//!
//! A file is written under a temporary name in the folder of its target, flushed to the disk, and
//! renamed ([`crate::publish()`]). A crash at any point leaves the old file or the new one. An
//! interrupted run removes what it staged; a killed one may leave a file whose name starts with
//! `.incrowd-`, which only its owner can read and which the next run into that folder removes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::held::{HeldFile, remove_stale};
use crate::{EngineError, FileAction};

/// How the names of staged files and folders begin.
pub(crate) const PREFIX: &str = ".incrowd-";

/// Who may read a published file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone: it tells more of the table than a release may.
    Private,
    /// Whoever the umask lets.
    Shared,
}

/// A file that waits to be published.
#[derive(Debug)]
pub struct Staged {
    pub(crate) held: HeldFile,
    pub(crate) target: PathBuf,
    access: Access,
    /// Whether it takes the place of another file in any case.
    pub(crate) replaces: bool,
}

/// A file that is being written, and the name by which people know it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) target: PathBuf,
}

impl Staged {
    /// Opens a staged file for a target. The ending of the target's name is kept, so that the
    /// staged file can be read by its format.
    pub fn new(target: &Path, access: Access) -> Result<Staged, EngineError> {
        let folder = folder_of(target);
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = name.find('.').map_or("", |dot| &name[dot..]);
        let held = HeldFile::create(folder, PREFIX, ending).map_err(|source| EngineError::Io {
            action: FileAction::CreateBeside,
            path: target.to_owned(),
            source,
        })?;
        remove_stale(folder, PREFIX, &held);
        Ok(Staged { held, target: target.to_owned(), access, replaces: false })
    }

    /// The file for a name that belongs to it: what has the name is always replaced.
    #[must_use]
    pub fn replacing(mut self) -> Staged {
        self.replaces = true;
        self
    }

    /// Where the staged file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// Where it will be published: the name that people know.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The file for whoever writes it.
    pub(crate) fn open(&self) -> Result<Opened, EngineError> {
        let file =
            self.held.file().try_clone().map_err(|source| self.io(FileAction::Write, source))?;
        Ok(Opened { file, target: self.target.clone() })
    }

    /// Waits until the bytes are on the disk.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.held.file().sync_all().map_err(|source| self.io(FileAction::Write, source))
    }

    /// Lets those read it who may, before it gets its name.
    pub(crate) fn share(&self) -> Result<(), EngineError> {
        match self.access {
            Access::Private => Ok(()),
            Access::Shared => share(self.held.file()),
        }
        .map_err(|source| self.io(FileAction::Publish, source))
    }

    fn io(&self, action: FileAction, source: std::io::Error) -> EngineError {
        EngineError::Io { action, path: self.target.clone(), source }
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A release is read by others, unlike the staged file.
pub(crate) fn share(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o666 & !umask()))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// The same for a folder.
pub(crate) fn share_folder(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777 & !umask()))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The bits that new files must not have. Asking the system for them changes them for a moment,
/// also for other threads, so they are read from where they can be read, or from a new file.
#[cfg(unix)]
fn umask() -> u32 {
    static UMASK: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    /// Where nothing can be found out, others get nothing.
    const UNKNOWN: u32 = 0o077;
    *UMASK.get_or_init(|| umask_of_status().or_else(umask_of_new_file).unwrap_or(UNKNOWN))
}

#[cfg(unix)]
fn umask_of_status() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let bits = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(bits.trim(), 8).ok()
}

#[cfg(unix)]
fn umask_of_new_file() -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o777);
    let file = tempfile::Builder::new().permissions(all).tempfile().ok()?;
    Some(0o777 & !file.as_file().metadata().ok()?.permissions().mode())
}

/// Stages a small file as a whole.
pub fn stage_bytes(target: &Path, bytes: &[u8], access: Access) -> Result<Staged, EngineError> {
    let staged = Staged::new(target, access)?;
    staged.held.file().write_all(bytes).map_err(|source| staged.io(FileAction::Write, source))?;
    staged.flush()?;
    Ok(staged)
}

/// Stages a file that is too large to be held: `write` is given the open file.
pub fn stage_written(
    target: &Path,
    access: Access,
    write: impl FnOnce(&File) -> std::io::Result<()>,
) -> Result<Staged, EngineError> {
    let staged = Staged::new(target, access)?;
    write(staged.held.file()).map_err(|source| staged.io(FileAction::Write, source))?;
    staged.flush()?;
    Ok(staged)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_find_the_umask_agree() {
        assert_eq!(umask_of_new_file(), Some(umask()));
        if cfg!(target_os = "linux") {
            assert_eq!(umask_of_status(), Some(umask()));
        }
    }
}

//! Files that come into being at once or not at all.
//!
//! A file is written under a temporary name in the folder of its target, flushed to the disk, and
//! renamed. A crash at any point leaves the old file or the new one. An interrupted run removes what
//! it staged; a killed one may leave a file whose name starts with `.incrowd-`, which only its owner
//! can read and which the next run into that folder removes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::EngineError;

const PREFIX: &str = ".incrowd-";

/// A file that waits to be published.
#[derive(Debug)]
pub struct Staged {
    file: NamedTempFile,
    target: PathBuf,
}

/// A file that is being written, and the name by which people know it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) target: PathBuf,
}

impl Staged {
    /// Opens a staged file for a target. The ending of the target's name is kept, so that the staged
    /// file can be read by its format.
    pub fn new(target: &Path) -> Result<Staged, EngineError> {
        let folder = folder_of(target);
        remove_stale(folder);
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = name.find('.').map_or("", |dot| &name[dot..]);
        let prefix = prefix();
        let file = tempfile::Builder::new().prefix(&prefix).suffix(ending).tempfile_in(folder);
        let file = file.map_err(|source| EngineError::Io {
            action: "creating a file beside",
            path: target.to_owned(),
            source,
        })?;
        Ok(Staged { file, target: target.to_owned() })
    }

    /// Where the staged file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Where it will be published: the name that people know.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The file for whoever writes it.
    pub(crate) fn open(&self) -> Result<Opened, EngineError> {
        let file = self.file.as_file().try_clone().map_err(|source| self.io("writing", source))?;
        Ok(Opened { file, target: self.target.clone() })
    }

    /// Waits until the bytes are on the disk.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.file.as_file().sync_all().map_err(|source| self.io("writing", source))
    }

    fn io(&self, action: &'static str, source: std::io::Error) -> EngineError {
        EngineError::Io { action, path: self.target.clone(), source }
    }

    /// Gives the file its name. Without `force` an existing file is left alone.
    pub fn publish(self, force: bool) -> Result<(), EngineError> {
        let target = self.target;
        let set_mode = share(self.file.as_file());
        let result =
            if force { self.file.persist(&target) } else { self.file.persist_noclobber(&target) };
        let published = result.map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => EngineError::Exists { path: target.clone() },
            _ => {
                EngineError::Io { action: "publishing", path: target.clone(), source: error.error }
            }
        });
        published?;
        set_mode.map_err(|source| EngineError::Io {
            action: "publishing",
            path: target.clone(),
            source,
        })?;
        // The rename itself reaches the disk with the folder; not every file system can do that.
        let _ = File::open(folder_of(&target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// How the names of staged files and folders begin: with the process that they belong to.
pub(crate) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// A release is read by others, unlike the staged file.
#[cfg(unix)]
pub(crate) fn share(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(crate) fn share(_file: &File) -> std::io::Result<()> {
    Ok(())
}

/// Stages a small file as a whole.
pub fn stage_bytes(target: &Path, bytes: &[u8]) -> Result<Staged, EngineError> {
    let staged = Staged::new(target)?;
    staged.file.as_file().write_all(bytes).map_err(|source| staged.io("writing", source))?;
    staged.flush()?;
    Ok(staged)
}

/// Removes what killed runs left in a folder: staged files and folders whose process is gone.
pub(crate) fn remove_stale(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let pid = rest.split('-').next().unwrap_or_default();
        let is_running = Path::new("/proc").join(pid).exists() || !Path::new("/proc/self").exists();
        if pid.bytes().all(|byte| byte.is_ascii_digit()) && !pid.is_empty() && !is_running {
            let is_folder = entry.file_type().is_ok_and(|of| of.is_dir());
            let path = entry.path();
            let _ =
                if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
    }
}

//! The private folder of an executor.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::PartError;

/// What the names of these folders begin with; the number of the process follows.
const PREFIX: &str = "incrowd-executor-";

/// A folder that only this user can look into (mode 0700), removed when dropped.
#[derive(Debug)]
pub(crate) struct WorkDir(TempDir);

impl WorkDir {
    /// Makes one, and removes those of executors that were killed.
    pub(crate) fn new(parent: Option<PathBuf>) -> Result<WorkDir, PartError> {
        let parent = parent.unwrap_or_else(std::env::temp_dir);
        remove_stale(&parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let made = builder.tempdir_in(&parent);
        made.map(WorkDir).map_err(|source| PartError::WorkDir { path: parent, source })
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

fn remove_stale(parent: &Path) {
    // Only where processes can be looked up by their numbers.
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let owner = owner.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new(&format!("/proc/{owner}")).exists()) {
            // Another user's cannot be removed, nor need it be.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, WorkDir};

    #[test]
    fn folders_are_private_and_go_away() {
        let parent = tempfile::tempdir().unwrap();
        let stale = parent.path().join(format!("{PREFIX}4294967294-x"));
        let other = parent.path().join("something-else");
        std::fs::create_dir(&stale).unwrap();
        std::fs::create_dir(&other).unwrap();
        let made = WorkDir::new(Some(parent.path().to_owned())).unwrap();
        let path = made.path().to_owned();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let rights = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(rights & 0o777, 0o700);
        }
        assert!(!stale.exists() && other.exists() && path.exists());
        drop(made);
        assert!(!path.exists());
    }
}

//! Private files for what does not fit in memory.
//!
//! A run that needs them has a folder of its own that only its user can read, in the temporary folder of the
//! system or the one that the job names. It is removed when the run ends, however it ends; the folder of a
//! run that was killed is removed by the next run that uses the same place. A lock, which dies with its
//! process, tells the two apart, also among containers.

mod bucket;
mod codes;
mod group;
mod hashed;
mod key;
mod records;
mod remote;
mod rows;

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::EngineError;

pub use bucket::{Bucket, Buckets, Distributor, NOWHERE};
pub use codes::{CodeFile, CodeReader, CodeWriter};
pub use group::{Blocks, Grouping, Visit, group};
pub use hashed::{Hashed, HashedCells, HashedColumn, HashedReader};
pub use remote::read_remote;
pub use rows::{Block, BlockReader, Spilled, read_spilled};

const PREFIX: &str = "incrowd-spill-";
const LOCK: &str = "lock";

/// A private folder for the files of one run.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Held as long as the folder is in use.
    _lock: File,
}

impl Scratch {
    /// Makes a folder in `place`, or where the system keeps temporary files.
    pub fn new(place: Option<&Path>) -> Result<Scratch, EngineError> {
        let place = place.map_or_else(std::env::temp_dir, Path::to_owned);
        let failed = |source| EngineError::Io {
            action: "making a private folder in",
            path: place.clone(),
            source,
        };
        remove_stale(&place);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        private(&mut builder);
        let folder = builder.tempdir_in(&place).map_err(failed)?;
        let lock = File::create(folder.path().join(LOCK)).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Scratch { folder, _lock: lock })
    }

    /// Where a file of this name is.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Nobody but the user may look into the folder.
#[cfg(unix)]
pub(crate) fn private(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
pub(crate) fn private(_builder: &mut tempfile::Builder<'_, '_>) {}

/// Removes folders whose run is gone: nobody holds their lock.
fn remove_stale(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        // A folder without a lock file is just being made.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The error of a private file.
fn spilling(source: std::io::Error) -> EngineError {
    EngineError::Spill { source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_goes_with_its_run() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(Some(place.path())).unwrap();
        let folder = scratch.path("");
        std::fs::write(scratch.path("codes"), [1, 2, 3]).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn the_folder_of_a_dead_run_is_removed_and_that_of_a_live_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let dead = place.path().join("incrowd-spill-dead");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join(LOCK), "").unwrap();
        std::fs::write(dead.join("codes"), "x").unwrap();
        let live = Scratch::new(Some(place.path())).unwrap();
        assert!(!dead.exists());
        let other = Scratch::new(Some(place.path())).unwrap();
        assert!(live.path(LOCK).exists() && other.path(LOCK).exists());
    }
}

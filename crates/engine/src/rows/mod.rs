//! Private files for what does not fit in memory.
//!
//! A run that needs them has a folder of its own that only its user can read, in the temporary
//! folder of the system or the one that the job names. It is removed when the run ends, however it
//! ends; the folder of a run that was killed is removed by the next run that uses the same place. A
//! lock, which dies with its process, tells the two apart, also among containers.

mod bucket;
mod codes;
mod from_cluster;
mod group;
mod hashed;
mod kept;
mod key;
mod part;
mod records;
mod sorted;
mod spilled;

use std::path::{Path, PathBuf};

use crate::publish::held::{HeldFolder, remove_stale};
use crate::{EngineError, FileAction};

pub use bucket::{Bucket, Buckets, Distributor, NOWHERE};
pub use codes::{CodeFile, CodeReader, CodeWriter};
pub use from_cluster::read_remote;
pub use group::{Blocks, Grouping, Visit, group};
pub use hashed::{Hashed, HashedCells, HashedColumn, HashedReader};
pub use sorted::{BucketOfAll, sort_bucket};
pub use spilled::{Block, BlockReader, Spilled, read_spilled, read_spilled_or_too_large};

const PREFIX: &str = "incrowd-spill-";

/// A private folder for the files of one run.
#[derive(Debug)]
pub struct Scratch {
    folder: HeldFolder,
}

impl Scratch {
    /// Makes a folder in `place`, or where the system keeps temporary files.
    pub fn new(place: Option<&Path>) -> Result<Scratch, EngineError> {
        let place = place.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = HeldFolder::create(&place, PREFIX).map_err(|source| EngineError::Io {
            action: FileAction::CreatePrivateFolder,
            path: place.clone(),
            source,
        })?;
        remove_stale(&place, PREFIX, folder.lock());
        Ok(Scratch { folder })
    }

    /// Where a file of this name is.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The error of a private file.
fn spilling(source: std::io::Error) -> EngineError {
    EngineError::Spill { source }
}

fn unreadable(error: arrow::error::ArrowError) -> EngineError {
    spilling(match error {
        arrow::error::ArrowError::IoError(_, error) => error,
        _ => std::io::ErrorKind::InvalidData.into(),
    })
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
        let dead = place.path().join("incrowd-spill-dead0123456789ab");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(place.path().join("incrowd-spill-dead0123456789ab.lock"), "").unwrap();
        std::fs::write(dead.join("codes"), "x").unwrap();
        let live = Scratch::new(Some(place.path())).unwrap();
        assert!(!dead.exists());
        let other = Scratch::new(Some(place.path())).unwrap();
        assert!(live.path("").exists() && other.path("").exists());
        drop((live, other));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

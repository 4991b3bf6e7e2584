//! What a job may hold in memory, and where it puts the rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd_engine::{Scratch, Source, Use};

use crate::error::{JobError, Problem};
use crate::run::held_memory_bytes;
use crate::spec::RunSpec;

/// The least limit that a job can be done in: the program, its threads and a few buffers.
const LEAST: u64 = 64_000_000;

/// What the program takes whatever the table.
const BASE: u64 = 40_000_000;

/// What a job may hold in memory, and where it puts the rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// Bytes; no limit if it is not said.
    pub(crate) limit: Option<u64>,
    temp_dir: Option<PathBuf>,
    /// What is left, whatever is held: for tests.
    squeezed: Option<u64>,
}

impl Bounds {
    /// What the options say. Nothing can be done in too little, which is said here, before anything is read.
    pub(crate) fn new(spec: &RunSpec, squeezed: Option<u64>) -> Result<Bounds, JobError> {
        let limit = spec.memory()?;
        if let Some(limit) = limit.filter(|limit| *limit < LEAST) {
            let (limit, least) = (limit / 1_000_000, LEAST / 1_000_000);
            let problem = Problem::new(format!(
                "the memory limit is {limit} MB; any job needs about {least} MB at least"
            ));
            return Err(problem.help(format!("ask for --memory-limit {least}MB or more")).into());
        }
        let temp_dir = spec.temp_dir.as_ref().map(PathBuf::from);
        if let Some(folder) = temp_dir.as_deref().filter(|folder| !folder.is_dir()) {
            let problem = Problem::new(format!("the folder `{}` does not exist", folder.display()));
            return Err(problem.help("create it, or name another with --temp-dir").into());
        }
        Ok(Bounds { limit, temp_dir, squeezed })
    }

    /// Whether there is a limit.
    pub(crate) fn is_bounded(&self) -> bool {
        self.limit.is_some() || self.squeezed.is_some()
    }

    /// Whether reading these columns of a source and working on them in memory would take more than the limit,
    /// told from the size of the files, before anything is read.
    pub(crate) fn is_exceeded_by(&self, source: &Source, uses: &[Use]) -> bool {
        if self.squeezed.is_some() {
            return true;
        }
        let Some(limit) = self.limit else { return false };
        let Ok(size) = source.size(uses) else { return true };
        let coded = uses.iter().filter(|usage| **usage == Use::Code).count() as u64;
        // Codes as read and in their order, then what grouping, searching and ordering rows takes.
        let row_bytes = 8 * coded + 100;
        let needs = size.rows.saturating_mul(row_bytes).saturating_add(2 * size.kept_bytes);
        needs.saturating_add(BASE) > limit
    }

    /// A private folder for what does not fit.
    pub(crate) fn scratch(&self) -> Result<Arc<Scratch>, JobError> {
        Ok(Arc::new(Scratch::new(self.temp_dir.as_deref().map(Path::new))?))
    }

    /// What is left of the limit now; a sixteenth of it at least.
    pub(crate) fn left(&self) -> u64 {
        if let Some(left) = self.squeezed {
            return left;
        }
        let Some(limit) = self.limit else { return u64::MAX };
        limit.saturating_sub(held_memory_bytes().unwrap_or(0)).max(limit / 16)
    }
}

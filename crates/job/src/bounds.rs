//! What a job may hold in memory, and where it puts the rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd_engine::Scratch;

use crate::error::{JobError, Problem};
use crate::run::held_memory_bytes;
use crate::spec::RunSpec;

/// The least limit that a job can be done in: the program, its threads and a few buffers.
const LEAST: u64 = 64_000_000;

/// What a job may hold in memory, and where it puts the rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// Bytes; no limit if it is not said.
    pub(crate) limit: Option<u64>,
    temp_dir: Option<PathBuf>,
}

impl Bounds {
    /// What the options say. Nothing can be done in too little, which is said here, before anything is read.
    pub(crate) fn new(spec: &RunSpec) -> Result<Bounds, JobError> {
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
        Ok(Bounds { limit, temp_dir })
    }

    /// A private folder for what does not fit.
    pub(crate) fn scratch(&self) -> Result<Arc<Scratch>, JobError> {
        Ok(Arc::new(Scratch::new(self.temp_dir.as_deref().map(Path::new))?))
    }

    /// What is left of the limit now; a sixteenth of it at least.
    pub(crate) fn left(&self) -> u64 {
        let Some(limit) = self.limit else { return u64::MAX };
        limit.saturating_sub(held_memory_bytes().unwrap_or(0)).max(limit / 16)
    }
}

//! What a job may hold in memory, and where it puts the rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd_engine::{Engine, Scratch, Source, Use};

use crate::flow::memory::held_memory_bytes;
use crate::spec::RunSpec;
use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::address_problem;

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
    /// Bytes that are held all the time beside the table.
    beside: u64,
    /// What tests ask for, whatever is held.
    tried: Tried,
}

/// How tests put a small table through what a large one goes through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried {
    /// What is left of the limit.
    pub(crate) left: Option<u64>,
    /// Rows go to private files, a few at a time; Mondrian divides them into this many regions,
    /// about.
    pub(crate) regions: Option<u32>,
}

/// How many bytes a byte of a recoding file takes: its text, and its nodes as they are parsed.
const COPIES_OF_A_RECODING: u64 = 6;

/// What is left where rows are forced into files: enough for any search in a test.
const LEFT_IF_FORCED: u64 = 1 << 26;

/// Rows of a bucket and bytes for grouping where rows are forced into files.
const ROWS_IF_FORCED: u64 = 16;
const ROOM_IF_FORCED: u64 = 1 << 12;

impl Bounds {
    /// What the options say. Nothing can be done in too little, which is said here, before anything
    /// is read.
    pub(crate) fn new(spec: &RunSpec, tried: Tried) -> Result<Bounds, JobError> {
        let limit = spec.memory()?;
        if let Some(limit) = limit.filter(|limit| *limit < LEAST) {
            let (limit, least) = (limit / 1_000_000, LEAST / 1_000_000);
            let problem = Problem::new(format!(
                "the memory limit is {limit} MB; every job needs at least {least} MB or so"
            ));
            return Err(problem.help(format!("ask for --memory-limit {least}MB or more")).into());
        }
        let temp_dir = spec.temp_dir.as_ref().map(PathBuf::from);
        if let Some(folder) = temp_dir.as_deref().filter(|folder| !folder.is_dir()) {
            if let Some(problem) = address_problem(folder) {
                return Err(problem.into());
            }
            let problem = Problem::new(format!("the folder `{}` does not exist", folder.display()));
            return Err(problem.help("create it, or name another with --temp-dir").into());
        }
        Ok(Bounds { limit, temp_dir, beside: 0, tried })
    }

    /// Whether there is a limit.
    pub(crate) fn is_bounded(&self) -> bool {
        self.limit.is_some() || self.is_tried()
    }

    /// Whether a test asks for files.
    fn is_tried(&self) -> bool {
        self.tried.left.is_some() || self.tried.regions.is_some()
    }

    /// Whether rows go to private files, however few they are.
    pub(crate) fn is_forced(&self) -> bool {
        self.tried.regions.is_some()
    }

    /// Whether reading these columns of a source and working on them in memory would take more than
    /// the limit, told from the size of the files, before anything is read.
    pub(crate) fn is_exceeded_by(&self, source: &Source, uses: &[Use]) -> bool {
        if self.is_tried() {
            return true;
        }
        let Some(limit) = self.limit else { return false };
        self.in_memory(source, uses) > limit
    }

    /// The bytes that are needed to hold these columns of a source and to work on them in memory,
    /// told from the size of the files.
    pub(crate) fn in_memory(&self, source: &Source, uses: &[Use]) -> u64 {
        let size = source.size(uses);
        let coded = uses.iter().filter(|usage| **usage == Use::Code).count() as u64;
        // Codes as read and in their order, then what grouping, searching and ordering rows takes.
        let row_bytes = 8 * coded + 100;
        let kept = size.kept_bytes.saturating_mul(2);
        let needs = size.rows.saturating_mul(row_bytes).saturating_add(kept);
        needs.saturating_add(BASE).saturating_add(self.beside)
    }

    /// The bytes that distinct values of a table in memory may take: they are held twice while they
    /// are put into their order, and tables grow in steps.
    pub(crate) fn values_in_memory(&self, source: &Source, uses: &[Use]) -> u64 {
        let Some(limit) = self.limit else { return u64::MAX };
        (limit.saturating_sub(self.in_memory(source, uses)) / 4).max(limit / 16)
    }

    /// The same bounds beside a recoding of so many bytes that is held all the time; an error if
    /// that alone takes more.
    pub(crate) fn beside_recoding(
        mut self,
        n_bytes: u64,
        source: impl FnOnce() -> Result<Source, JobError>,
    ) -> Result<Bounds, JobError> {
        self.beside = n_bytes.saturating_mul(COPIES_OF_A_RECODING);
        let Some(limit) = self.limit.filter(|limit| self.beside.saturating_add(BASE) > *limit)
        else {
            return Ok(self);
        };
        let source = source()?;
        let needed = self.in_memory(&source, &vec![Use::Code; source.columns().len()]);
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        Err(Problem::new(format!(
            "the recoding must be in memory and takes about {} MB, but the memory limit is {} MB",
            megabytes(self.beside),
            megabytes(limit)
        ))
        .help(format!("raise --memory-limit to {} MB", megabytes(needed)))
        .into())
    }

    /// Refuses a source of which more must be in memory at once than there is room for, whatever is
    /// done with it.
    pub(crate) fn refuse_large_portions(
        &self,
        engine: &Engine,
        source: &Source,
        uses: &[Use],
    ) -> Result<(), JobError> {
        let Some(limit) = self.limit else { return Ok(()) };
        let portion = source.portion_bytes(engine, uses)?;
        if portion <= limit {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        Err(Problem::new(format!(
            "some rows of the input must be in memory together and take about {} MB, but the \
             memory limit is {} MB",
            megabytes(portion),
            megabytes(limit)
        ))
        .help(format!(
            "raise --memory-limit to {} MB; or cut very long cells, or write Parquet in smaller row \
             groups and Arrow in smaller batches",
            megabytes(portion)
        ))
        .into())
    }

    /// A private folder for what does not fit.
    pub(crate) fn scratch(&self) -> Result<Arc<Scratch>, JobError> {
        Ok(Arc::new(Scratch::new(self.temp_dir.as_deref().map(Path::new))?))
    }

    /// What is left of the limit now; a sixteenth of it at least.
    pub(crate) fn left(&self) -> u64 {
        if let Some(left) = self.tried.left {
            return left;
        }
        if self.is_forced() {
            return LEFT_IF_FORCED;
        }
        let Some(limit) = self.limit else { return u64::MAX };
        limit.saturating_sub(held_memory_bytes().unwrap_or(0)).max(limit / 16)
    }

    /// What is held now.
    pub(crate) fn held(&self) -> u64 {
        held_memory_bytes().unwrap_or_else(|| self.limit.unwrap_or(0).saturating_sub(self.left()))
    }

    /// The rows of this size that fit into a share of what is left.
    pub(crate) fn rows_in(&self, share: u64, row_bytes: u64) -> u64 {
        if self.is_forced() { ROWS_IF_FORCED } else { self.left() / share / row_bytes.max(1) }
    }

    /// The points of a region that a test asks for, of a table of so many rows.
    pub(crate) fn forced_points(&self, n_rows: u64) -> Option<u64> {
        let regions = self.tried.regions.filter(|regions| *regions > 1)?;
        Some((n_rows / u64::from(regions)).max(1))
    }

    /// Bytes for grouping rows in files: what is left, but `least` however low the limit.
    pub(crate) fn room(&self, least: u64) -> u64 {
        if self.is_forced() { ROOM_IF_FORCED } else { self.left().max(least) }
    }
}

//! The DataFusion session and its threads.

pub(crate) mod cluster;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use datafusion::execution::TaskContext;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use crate::EngineError;
use cluster::{Address, Cluster, Connector};

/// DataFusion in this process, and a cluster if there is one to ask.
#[derive(Debug)]
pub struct Engine {
    runtime: Runtime,
    session: Session,
    portions: Portions,
    cluster: Option<Arc<dyn Cluster>>,
    n_parts: Option<usize>,
    n_threads: usize,
    cancelled: Arc<AtomicBool>,
    /// Rows read or written in the current stage, for whoever shows progress.
    progress: Arc<AtomicU64>,
}

struct Session(SessionContext);

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

/// Rows per batch: large enough to make the work per batch small, small enough to stay in cache.
pub(crate) const BATCH_ROWS: usize = 8192;
/// Rows from which a block of a private file is complete.
const BLOCK_ROWS: usize = 1 << 16;
/// Cells of a batch and of a block: wide tables have shorter ones.
const BATCH_CELLS: usize = 1 << 18;
const BLOCK_CELLS: usize = 1 << 20;
/// Bytes of a batch and of a block: long rows make shorter ones.
const BATCH_BYTES: u64 = 4 << 20;
const BLOCK_BYTES: u64 = 4 << 20;

/// How many rows are handled at a time. What is written is the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portions {
    /// Rows per batch of a source.
    pub(crate) batch_rows: usize,
    /// Rows from which a block of a private file is complete.
    pub(crate) block_rows: usize,
    /// Bytes of a text file that are worth a partition of their own.
    least_part: u64,
}

impl Default for Portions {
    fn default() -> Portions {
        Portions { batch_rows: BATCH_ROWS, block_rows: BLOCK_ROWS, least_part: 4 << 20 }
    }
}

impl Portions {
    /// Small enough for a table of a hundred rows to take every turn that a large one takes.
    const TINY: Portions = Portions { batch_rows: 8, block_rows: 16, least_part: 64 };

    /// The same for rows of so many columns and bytes: wide and long rows are handled fewer at a
    /// time.
    pub(crate) fn of_rows(self, row_bytes: u64, n_columns: usize) -> Portions {
        let row_bytes = row_bytes.max(1);
        let most = |cells: usize, bytes: u64, rows: usize| {
            let by_bytes = usize::try_from(bytes / row_bytes).unwrap_or(usize::MAX);
            (cells / n_columns.max(1)).min(by_bytes).clamp(1, rows)
        };
        Portions {
            batch_rows: most(BATCH_CELLS, BATCH_BYTES, self.batch_rows),
            block_rows: most(BLOCK_CELLS, BLOCK_BYTES, self.block_rows),
            ..self
        }
    }

    fn session(self, n_threads: usize) -> Session {
        let config = SessionConfig::new()
            .with_target_partitions(n_threads)
            .with_batch_size(self.batch_rows)
            .set_bool("datafusion.execution.parquet.schema_force_view_types", false)
            .set_u64("datafusion.optimizer.repartition_file_min_size", self.least_part);
        Session(SessionContext::new_with_config(config))
    }
}

impl Engine {
    /// Starts an engine with this many threads that stops when the flag is raised.
    ///
    /// # Panics
    ///
    /// If the operating system gives no threads.
    #[must_use]
    pub fn new(n_threads: usize, cancelled: Arc<AtomicBool>, progress: Arc<AtomicU64>) -> Engine {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(n_threads)
            .enable_all()
            .build()
            .expect("threads can be started");
        let portions = Portions::default();
        let session = portions.session(n_threads);
        let (cluster, n_parts) = (None, None);
        Engine { runtime, session, portions, cluster, n_parts, n_threads, cancelled, progress }
    }

    /// The engine that handles a few rows at a time and divides the smallest files, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn in_tiny_portions(mut self) -> Engine {
        self.portions = Portions::TINY;
        self.session = self.portions.session(self.n_threads);
        self
    }

    /// How many rows are handled at a time.
    pub(crate) fn portions(&self) -> Portions {
        self.portions
    }

    /// The engine with a cluster that answers [questions about sources](crate::remote).
    pub fn with_cluster(
        mut self,
        connector: &dyn Connector,
        address: &Address,
    ) -> Result<Engine, EngineError> {
        let cluster = connector.connect(address);
        self.cluster = Some(cluster::until_cancelled(&self, cluster)?);
        Ok(self)
    }

    /// The engine with a number of parts that scans for a cluster are divided into, instead of one
    /// that comes from their size.
    #[must_use]
    pub fn with_parts(mut self, n_parts: usize) -> Engine {
        self.n_parts = Some(n_parts);
        self
    }

    /// Whether a cluster answers.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.cluster.is_some()
    }

    pub(crate) fn cluster(&self) -> Option<&dyn Cluster> {
        self.cluster.as_deref()
    }

    pub(crate) fn n_parts(&self) -> Option<usize> {
        self.n_parts
    }

    /// The threads that streams are read on.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn session(&self) -> &SessionContext {
        &self.session.0
    }

    pub(crate) fn task(&self) -> Arc<TaskContext> {
        self.session.0.task_ctx()
    }

    /// The same for a scan of rows of so many columns and bytes.
    pub(crate) fn task_of(&self, row_bytes: u64, n_columns: usize) -> Arc<TaskContext> {
        let task = TaskContext::from(&self.session.0);
        let batch_rows = self.portions.of_rows(row_bytes, n_columns).batch_rows;
        let config = task.session_config().clone().with_batch_size(batch_rows);
        Arc::new(task.with_session_config(config))
    }

    /// The number of threads.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// The rows that the current stage has done so far.
    pub(crate) fn n_rows_done(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Takes note of all rows that the current stage has done so far.
    pub(crate) fn have_done(&self, n_rows: u64) {
        self.progress.store(n_rows, Ordering::Relaxed);
    }

    pub(crate) fn cancelled_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// An error if the user stopped the run.
    pub fn go_on(&self) -> Result<(), EngineError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(EngineError::Cancelled) } else { Ok(()) }
    }
}

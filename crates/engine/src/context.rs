//! The DataFusion session and its threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use datafusion::execution::TaskContext;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use crate::EngineError;
use crate::remote::{Address, Cluster, Connector};

/// DataFusion in this process, and a cluster if there is one to ask.
#[derive(Debug)]
pub struct Engine {
    runtime: Runtime,
    session: Session,
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
        let config = SessionConfig::new()
            .with_target_partitions(n_threads)
            .with_batch_size(BATCH_ROWS)
            .set_bool("datafusion.execution.parquet.schema_force_view_types", false)
            .set_u64("datafusion.optimizer.repartition_file_min_size", 4 << 20);
        let session = Session(SessionContext::new_with_config(config));
        let (cluster, n_parts) = (None, None);
        Engine { runtime, session, cluster, n_parts, n_threads, cancelled, progress }
    }

    /// The engine with a cluster that answers [questions about sources](crate::remote).
    pub fn with_cluster(
        mut self,
        connector: &dyn Connector,
        address: &Address,
    ) -> Result<Engine, EngineError> {
        let cluster = connector.connect(address);
        self.cluster = Some(crate::remote::until_cancelled(&self, cluster)??);
        Ok(self)
    }

    /// The engine with a number of parts that scans for a cluster are divided into, instead of one that comes
    /// from their size.
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

    /// The number of threads.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    pub(crate) fn cancelled_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// An error if the user stopped the run.
    pub fn go_on(&self) -> Result<(), EngineError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(EngineError::Cancelled) } else { Ok(()) }
    }
}

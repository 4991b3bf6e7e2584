//! What goes on while a job is done: threads, progress, the wish to stop, and the clock.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use incrowd_engine::remote::{Address, Connector};
use incrowd_engine::{Engine, EngineError};
use incrowd_search::{Budget, Standing, Watch};

use crate::flow::bounds::{Bounds, Tried};
use crate::report::Report;
use crate::spec::error::{JobError, Problem};
use crate::spec::{InputFile, RunSpec};

/// The stages of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking at the input.
    Open,
    /// Reading it.
    Read,
    /// Searching.
    Search,
    /// Finding the cells of every class.
    Recode,
    /// Writing the release.
    Write,
    /// Measuring what was written.
    Verify,
    /// Giving the files their names.
    Publish,
}

impl Stage {
    const ALL: [(Stage, &'static str); 7] = [
        (Stage::Open, "opening"),
        (Stage::Read, "reading"),
        (Stage::Search, "searching"),
        (Stage::Recode, "recoding"),
        (Stage::Write, "writing"),
        (Stage::Verify, "verifying"),
        (Stage::Publish, "publishing"),
    ];

    /// The stage as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Stage::ALL.iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }
}

/// What a run tells those who watch it. There is no cell of a table in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A stage begins. The one before it ends with this many rows read or written, or 0.
    Stage {
        /// The stage.
        begins: Stage,
        /// Rows of the stage before it.
        rows_before: u64,
    },
    /// Something to know, though nothing is amiss.
    Note(&'a str),
}

/// Shared by whoever does a job and whoever watches it. Clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Run {
    cancelled: Arc<AtomicBool>,
    /// Whether the search shall end with what it has.
    stopped: Arc<AtomicBool>,
    /// Whether it can.
    can_stop: Arc<AtomicBool>,
    rows: Arc<AtomicU64>,
    stage: Arc<AtomicU8>,
    watch: Watch,
    tried: Tried,
    connector: Option<Arc<dyn Connector>>,
    teller: Option<Teller>,
    watcher: Option<Watcher>,
    log: Option<Arc<Path>>,
}

/// What sees the events of a run as they happen.
type Watches = dyn Fn(Event<'_>) + Send + Sync;

#[derive(Clone)]
struct Watcher(Arc<Watches>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

/// What wants to know a report before its files are published.
type Tell = dyn Fn(&Report) -> Result<(), JobError> + Send + Sync;

#[derive(Clone)]
struct Teller(Arc<Tell>);

impl std::fmt::Debug for Teller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Teller")
    }
}

impl Run {
    /// A run that can ask clusters.
    #[must_use]
    pub fn with_connector(mut self, connector: Arc<dyn Connector>) -> Run {
        self.connector = Some(connector);
        self
    }

    /// A run that tells its report before any file is published. If that fails, nothing is.
    #[must_use]
    pub fn telling(
        mut self,
        tell: impl Fn(&Report) -> Result<(), JobError> + Send + Sync + 'static,
    ) -> Run {
        self.teller = Some(Teller(Arc::new(tell)));
        self
    }

    /// A run that tells its events as they happen.
    #[must_use]
    pub fn watched(mut self, watch: impl Fn(Event<'_>) + Send + Sync + 'static) -> Run {
        self.watcher = Some(Watcher(Arc::new(watch)));
        self
    }

    /// A run whose events go to a file, which no output may replace.
    #[must_use]
    pub fn logged_in(self, file: &Path) -> Run {
        Run { log: Some(file.into()), ..self }
    }

    /// The file that the events go to.
    #[must_use]
    pub fn log_file(&self) -> Option<InputFile> {
        self.log.as_ref().map(|path| InputFile::new(path.as_ref(), "the log"))
    }

    fn happens(&self, event: Event<'_>) {
        if let Some(Watcher(watch)) = &self.watcher {
            watch(event);
        }
    }

    /// Tells what there is to know though nothing is amiss.
    pub(crate) fn tell_notes(&self, notes: &[String]) {
        for note in notes {
            self.happens(Event::Note(note));
        }
    }

    /// Tells a report that is about to be published.
    pub(crate) fn tell(&self, report: &Report) -> Result<(), JobError> {
        self.go_on()?;
        self.teller.as_ref().map_or(Ok(()), |teller| (teller.0)(report))
    }

    /// Asks the job to stop. It ends soon, with nothing written.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Asks a search that has something to show to end with that, which is then released; asked
    /// again, or where there is no such search, the job is cancelled. Whether it goes on.
    #[must_use]
    pub fn interrupt(&self) -> bool {
        let can_stop = self.can_stop.load(Ordering::Relaxed) && self.progress().0 == Stage::Search;
        if can_stop && !self.stopped.swap(true, Ordering::Relaxed) {
            return true;
        }
        self.cancel();
        false
    }

    /// Lets [`Run::interrupt`] end the search that follows.
    pub(crate) fn let_stop(&self, can_stop: bool) {
        self.can_stop.store(can_stop, Ordering::Relaxed);
    }

    /// Whether the search was interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Does the job as if this were all that is left of a memory limit, whatever is held: for
    /// tests.
    #[doc(hidden)]
    #[must_use]
    pub fn squeezed(self, left: u64) -> Run {
        Run { tried: Tried { left: Some(left), ..self.tried }, ..self }
    }

    /// Puts all rows into private files, a few at a time, and lets strict Mondrian divide them into
    /// about this many regions, so that a table of a hundred rows goes the way of one that does not
    /// fit in memory; with 1 every algorithm looks at all distinct rows at once. For tests: the
    /// release is the same.
    #[doc(hidden)]
    #[must_use]
    pub fn forced_into_files(self, regions: u32) -> Run {
        Run { tried: Tried { regions: Some(regions), ..self.tried }, ..self }
    }

    /// What the job may hold, and where it puts the rest.
    pub(crate) fn bounds(&self, spec: &RunSpec) -> Result<Bounds, JobError> {
        Bounds::new(spec, self.tried)
    }

    /// The current stage and how many rows it has done.
    #[must_use]
    pub fn progress(&self) -> (Stage, u64) {
        let stage = Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed))].0;
        (stage, self.rows.load(Ordering::Relaxed))
    }

    /// What the search has reached, if it says so.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        self.watch.standing()
    }

    pub(crate) fn enter(&self, stage: Stage) {
        let at = Stage::ALL.iter().position(|(s, _)| *s == stage).unwrap_or(0);
        let rows_before = self.rows.swap(0, Ordering::Relaxed);
        self.happens(Event::Stage { begins: stage, rows_before });
        self.stage.store(u8::try_from(at).unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget::until(Arc::clone(&self.cancelled))
            .or_stopped(Arc::clone(&self.stopped))
            .watched_by(self.watch.clone())
    }

    /// Whether the job shall end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn go_on(&self) -> Result<(), JobError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(JobError::Cancelled) } else { Ok(()) }
    }

    /// Runs `job` with an embedded engine and that many threads (all cores if none are given).
    pub(crate) fn with_engine<T: Send>(
        &self,
        threads: Option<usize>,
        job: impl FnOnce(&Engine) -> Result<T, JobError> + Send,
    ) -> Result<T, JobError> {
        self.with_engine_named(None, threads, job)
    }

    /// Runs `job` with the engine of that name, embedded if none is given.
    pub(crate) fn with_engine_named<T: Send>(
        &self,
        name: Option<&str>,
        threads: Option<usize>,
        job: impl FnOnce(&Engine) -> Result<T, JobError> + Send,
    ) -> Result<T, JobError> {
        let address = name.map(Address::of_engine).transpose()?.flatten();
        let connector = match (&address, &self.connector) {
            (Some(_), None) => return Err(EngineError::NoClusterEngine.into()),
            (_, connector) => connector,
        };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_threads = threads.unwrap_or(cores);
        if !(1..=1024).contains(&n_threads) {
            return Err(
                Problem::new(format!("threads must be 1 to 1024, found {n_threads}")).into()
            );
        }
        let engine = Engine::new(n_threads, Arc::clone(&self.cancelled), Arc::clone(&self.rows));
        let engine = if self.tried.regions.is_some() { engine.in_tiny_portions() } else { engine };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .expect("threads can be started");
        let engine = match (address, connector) {
            (Some(address), Some(connector)) => engine.with_cluster(connector.as_ref(), &address),
            _ => Ok(engine),
        };
        let result =
            engine.map_err(JobError::from).and_then(|engine| pool.install(|| job(&engine)));
        match result {
            Err(JobError::Engine(EngineError::Cancelled)) => Err(JobError::Cancelled),
            other => other,
        }
    }
}

//! `anonymize`: search, recode, write, verify, publish, report.

use std::sync::Arc;

use incrowd_engine::{Format, read_within};

use crate::flow::clock::Stopwatch;
use crate::flow::coding::prepare;
use crate::flow::draft::{Released, ReportDraft, tells_table};
use crate::flow::ended::{Ended, outcome};
use crate::flow::in_files;
use crate::flow::input::{InMemory, Input, output_of};
use crate::flow::job::{Job, ReleaseNotes};
use crate::flow::labelling::Assigned;
use crate::flow::memory::held_memory_bytes;
use crate::flow::people::{among_quasi, uses_counting};
use crate::flow::place::Place;
use crate::flow::publish::Release;
use crate::flow::run::{Run, Stage};
use crate::flow::search::{classes, search};
use crate::flow::values::refuse_missing;
use crate::plan::{Plan, Purpose};
use crate::report::{Outcome, Timings};
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};

/// Turns the job's input into a release. Nothing is written unless every model holds for it.
pub fn anonymize(run: &Run, spec: &JobSpec, force: bool) -> Result<Outcome, JobError> {
    anonymize_in(run, spec, None, force)
}

/// The same, with a table in memory instead of what the job names if there is one.
pub(super) fn anonymize_in(
    run: &Run,
    spec: &JobSpec,
    in_memory: Option<InMemory>,
    force: bool,
) -> Result<Outcome, JobError> {
    spec.refuse_unreviewed()?;
    let name = spec.run.engine.as_deref();
    run.with_engine_named(name, spec.run.threads, |engine| {
        outcome(Job { run, spec, engine, in_memory, force }.run())
    })
}

/// What a search may hold of a memory limit: half of what the table leaves, since recoding and
/// writing need some as well; nothing if the table alone takes more.
fn memory_left(limit: u64) -> Option<u64> {
    let left = limit.checked_sub(held_memory_bytes().unwrap_or(0))?;
    (left > 0).then_some(left / 2)
}

/// The rows in memory.
impl Job<'_> {
    fn run(&self) -> Result<Outcome, Ended> {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let held = self.in_memory.map(|in_memory| in_memory.table);
        let input = Input::of(held, self.spec.input.as_deref()).ok_or_else(|| {
            Problem::new("the job has no input").help("name a file, a folder or a glob")
        })?;
        self.run.enter(Stage::Open);
        let output = output_of(self.run, self.spec, self.in_memory, Vec::new(), self.force)?;
        let source = input.open(self.engine)?;
        let plan = Plan::new(self.spec, &source, Purpose::Release)?;
        self.run.tell_notes(&plan.notes);
        let bounds = self.run.bounds(&self.spec.run)?;
        bounds.refuse_large_portions(self.engine, &source, &plan.uses())?;
        let place = Place::recoded(self.engine, &bounds, &source, &plan.uses());
        if !matches!(place, Place::Memory) {
            return in_files::run(self, &source, &plan, &output, (&bounds, &place));
        }
        self.run.enter(Stage::Read);
        let wants_fits = !matches!(output.format(), Format::Csv(_));
        let mut draft = ReportDraft::of_source(&plan, &source);
        let most_values = bounds.values_in_memory(&source, &plan.uses());
        let uses = uses_counting(&plan);
        let Some(table) = read_within(self.engine, &source, &uses, wants_fits, most_values)? else {
            let files = Place::files(&bounds);
            return in_files::run(self, &source, &plan, &output, (&bounds, &files));
        };
        let mut table = Arc::new(table);
        refuse_missing(&plan, &*table)?;
        let prepared = prepare(&plan, &table)?;
        let levels = plan.method.level_bounds(&plan.columns, &prepared.scheme().attributes)?;
        let memory = match plan.method.memory.map(memory_left) {
            // More is held than the size of the files told: what a smaller limit would do is done.
            Some(None) => {
                drop((prepared, table, draft));
                let files = Place::files(&bounds);
                return in_files::run(self, &source, &plan, &output, (&bounds, &files));
            }
            memory => memory.flatten(),
        };
        timings.read = clock.lap();
        self.run.enter(Stage::Search);
        let mut coding = prepared.collapse();
        let repeats = among_quasi(&plan, &*table, table.n_rows as u64);
        if let Some(table) = Arc::get_mut(&mut table).filter(|_| !tells_table(&plan)) {
            // The quasi-identifier lives on in the frequency set.
            let is_quasi = |name: &str| coding.set.attributes.iter().any(|a| a.name == name);
            table.coded.retain(|column| !is_quasi(&column.values.name));
        }
        let ended = search(self.run, self.spec, &plan, &coding, &levels, memory)?;
        let mut found = self.found(&plan, ended, coding.set.n_rows)?;
        timings.search = clock.lap();
        self.run.enter(Stage::Recode);
        let classes = classes(&plan, &mut coding, &mut found);
        timings.recode = clock.lap();
        let release = Release {
            plan: &plan,
            table: &table,
            set: &coding.set,
            entity: coding.entity,
            classes: &classes,
            assigned: Assigned::of(&found),
            vector_of: &coding.vector_of,
            repeats,
        };
        let (assigned, rows) = (release.assigned, Some(&*table));
        let released =
            Released { plan: &plan, coding: &coding, classes: &classes, assigned, table: rows };
        // Writing leaves a processor idle now and then.
        let (written, gathered) = rayon::join(
            || release.write(self.engine, self.run, &output, &mut timings),
            || {
                draft.measure(self.engine, &plan, (&table, &coding))?;
                draft.look(&released)
            },
        );
        let written = written?;
        gathered?;
        source.check_unchanged()?;
        drop(table);
        let figures = self.figures(&plan, &coding, &found, &classes)?;
        drop((coding, found, classes));
        let notes = ReleaseNotes { figures, draft };
        Ok(self.finish(&source, &plan, notes, written, &bounds, timings)?)
    }
}

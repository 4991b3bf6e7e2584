//! `anonymize`: search, recode, write, verify, publish, report.

use std::path::Path;
use std::sync::Arc;

use incrowd_data::{Cuts, FrequencySet, Level};
use incrowd_engine::{Engine, Format, Source, read};
use incrowd_release::{Classes, LabelForm, recode, recode_blocks, recode_cuts, recode_levels};
use incrowd_search::{
    Budget, Found, Outcome as SearchOutcome, Problem as SearchProblem, QuasiSet, Recoding,
    RecodingKind,
};

use crate::bins;
use crate::bounded;
use crate::bounds::Bounds;
use crate::coding::{Coding, prepare, refuse_missing};
use crate::error::{JobError, Problem};
use crate::figures::Figures;
use crate::infeasible::infeasible;
use crate::labelling::Assigned;
use crate::measure::failures;
use crate::outputs::check_outputs;
use crate::plan::{Plan, Purpose, Role};
use crate::profile::people::uses_counting;
use crate::publish::{Release, SmallFile, Unverified, publish};
use crate::recoding_file::{self, RecodingFile, private_path};
use crate::regions::region_classes;
use crate::relabel::relabel;
use crate::report::filing::{Ending, Filing, tells_table};
use crate::report::inference;
use crate::report::portrait::Sitter;
use crate::report::wanted::HtmlWanted;
use crate::report::{Done, Outcome, Timings};
use crate::run::{Run, Stage, Stopwatch, held_memory_bytes};
use crate::spec::JobSpec;
use crate::stopped_search;

/// Turns the job's input into a release. Nothing is written unless every model holds for it.
pub fn anonymize(run: &Run, spec: &JobSpec, force: bool) -> Result<Outcome, JobError> {
    spec.refuse_unreviewed()?;
    let name = spec.run.engine.as_deref();
    run.with_engine_named(name, spec.run.threads, |engine| Job { run, spec, engine, force }.run())
}

/// What is said of a release beside what is measured of it: for programs, and for people.
pub(crate) struct Said {
    pub(crate) figures: Figures,
    pub(crate) filing: Filing,
}

/// A job on its way.
pub(crate) struct Job<'a> {
    pub(crate) run: &'a Run,
    pub(crate) spec: &'a JobSpec,
    pub(crate) engine: &'a Engine,
    force: bool,
}

impl Job<'_> {
    fn run(&self) -> Result<Outcome, JobError> {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let input = self.spec.input.as_deref().ok_or_else(|| {
            Problem::new("the job has no input").help("name a file, a folder or a glob")
        })?;
        self.run.enter(Stage::Open);
        let output = check_outputs(self.run, self.spec, Vec::new(), self.force)?;
        let source = Source::open(self.engine, input)?;
        let plan = Plan::new(self.spec, &source, Purpose::Release)?;
        plan.tell_notes(self.run);
        let bounds = self.run.bounds(&self.spec.run)?;
        bounds.refuse_large_portions(self.engine, &source, &plan.uses())?;
        if self.engine.is_remote() || bounds.is_exceeded_by(&source, &plan.uses()) {
            return bounded::run(self, &source, &plan, &output, &bounds);
        }
        self.run.enter(Stage::Read);
        let wants_fits = !matches!(output.format(), Format::Csv(_));
        let mut filing = Filing::of_source(&plan, &source);
        let mut table = Arc::new(read(self.engine, &source, &uses_counting(&plan), wants_fits)?);
        refuse_missing(&plan, &*table)?;
        let prepared = prepare(&plan, &table)?;
        let levels = plan.method.level_bounds(&plan, &prepared.scheme().attributes)?;
        let memory = match plan.method.memory.map(memory_left) {
            // More is held than the size of the files told: what a smaller limit would do is done.
            Some(None) => {
                drop((prepared, table, filing));
                return bounded::run(self, &source, &plan, &output, &bounds);
            }
            memory => memory.flatten(),
        };
        timings.read = clock.lap();
        self.run.enter(Stage::Search);
        let mut coding = prepared.collapse();
        if let Some(table) = Arc::get_mut(&mut table).filter(|_| !tells_table(&plan)) {
            // The quasi-identifier lives on in the frequency set.
            let is_quasi = |name: &str| coding.set.attributes.iter().any(|a| a.name == name);
            table.coded.retain(|column| !is_quasi(&column.values.name));
        }
        let outcome = search(self.run, self.spec, &plan, &coding, &levels, memory)?;
        let mut found = match self.found(&plan, outcome, coding.set.n_rows)? {
            Ok(found) => found,
            Err(outcome) => return Ok(outcome),
        };
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
        };
        let (assigned, rows) = (release.assigned, Some(&*table));
        let sitter =
            Sitter { plan: &plan, coding: &coding, classes: &classes, assigned, table: rows };
        // Writing leaves a processor idle now and then.
        let (written, gathered) = rayon::join(
            || release.write(self.engine, self.run, &output, &mut timings),
            || {
                filing.measure(self.engine, &plan, (&table, &coding))?;
                filing.look(&sitter)
            },
        );
        let written = written?;
        gathered?;
        source.check_unchanged()?;
        drop(table);
        let figures = self.figures(&plan, &coding, &found, &classes)?;
        drop((coding, found, classes));
        let said = Said { figures, filing };
        self.finish(&source, &plan, said, written, &bounds, timings)
    }

    /// What a search over so many rows found, or how the job ends without it.
    pub(crate) fn found(
        &self,
        plan: &Plan,
        outcome: SearchOutcome,
        n_rows: u64,
    ) -> Result<Result<Found, Outcome>, JobError> {
        self.run.go_on()?;
        match outcome {
            SearchOutcome::Found(found) => Ok(Ok(*found)),
            SearchOutcome::Infeasible(reason) => {
                let by_user = self.run.is_stopped();
                infeasible(plan, &self.spec.run, by_user, &reason, n_rows).map(Err)
            }
            SearchOutcome::Cancelled => Err(JobError::Cancelled),
        }
    }

    /// What is said of a release beside what is measured of it.
    pub(crate) fn figures(
        &self,
        plan: &Plan,
        coding: &Coding,
        found: &Found,
        classes: &Classes,
    ) -> Result<Figures, JobError> {
        let mut figures = Figures::new(plan, coding, found, classes)?;
        if let (Some(_), Some(stopped)) = (&self.spec.run.resume, &found.stopped) {
            figures.stopped_file = Some(stopped_search::text_of(stopped));
        }
        figures.warnings = self.warnings(plan, found);
        if self.spec.recoding.is_some() {
            figures.recoding_file = Some(recoding_file::texts(plan, coding, found, classes));
        }
        Ok(figures)
    }

    /// Verifies what was written, and publishes it with its report if every model holds.
    pub(crate) fn finish(
        &self,
        source: &Source,
        plan: &Plan,
        said: Said,
        written: Unverified,
        bounds: &Bounds,
        mut timings: Timings,
    ) -> Result<Outcome, JobError> {
        let Said { mut figures, mut filing } = said;
        filing.take(plan, &written.staged);
        let written = written.verify(self.engine, self.run, plan, bounds, &mut timings)?;
        if !written.measured.is_satisfied() {
            let reasons = failures(&written.measured);
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        figures.warnings.extend(inference::warnings(&written.printed.inference));
        figures.warnings.extend(written.exposure(plan).warnings());
        let (recoding, stopped) = (figures.recoding_file.clone(), figures.stopped_file.clone());
        let warnings = figures.warnings.clone();
        let mut report = figures.report(self.spec, plan, source.columns().len(), &written, timings);
        let Job { run, engine, spec, .. } = *self;
        let staged = &written.staged;
        let ending = Ending { run, engine, spec, plan, staged, bounds, warnings: &warnings };
        let text = filing.text(&ending, &mut report)?;
        // The page may tell of the source what was read of it just now.
        source.check_unchanged()?;
        self.run.tell(&report)?;
        let mut files = Vec::new();
        if let Some(path) = &self.spec.report {
            let access = HtmlWanted::access(plan.html.as_ref());
            files.push(SmallFile { access, ..SmallFile::private(path, &text) });
        }
        let private = self.spec.recoding.as_deref().map(|path| private_path(Path::new(path)));
        let private = private.map(|path| path.to_string_lossy().into_owned());
        if let (Some(path), Some(private), Some(texts)) = (&self.spec.recoding, &private, &recoding)
        {
            files.push(SmallFile::private(private, &texts.private));
            files.push(SmallFile::private(path, &texts.public));
        }
        if let (Some(path), Some(text)) = (&self.spec.run.resume, &stopped) {
            files.push(SmallFile { replaces: true, ..SmallFile::private(path, text) });
        }
        publish(run, written.staged, &files, self.force)?;
        Ok(Outcome::Done(Box::new(Done { report, warnings })))
    }

    fn warnings(&self, plan: &Plan, found: &Found) -> Vec<String> {
        let mut all = Vec::new();
        if found.proof.is_cut_short {
            let seen = found.counters.nodes_checked;
            let what = match self.spec.run.node_limit {
                _ if self.run.is_stopped() => "you ended the search",
                Some(most) if seen >= most => "the node limit ended the search",
                _ => "the time limit ended the search",
            };
            all.push(match (found.proof.cost, found.proof.lower_bound) {
                (Some(cost), Some(bound)) => format!(
                    "{what}: the release costs {cost}, no recoding of its kind costs less than {bound}"
                ),
                _ => format!("{what}: the classes could be smaller"),
            });
        }
        all.extend(warnings(plan, found));
        all
    }
}

/// Runs the search of a job, from where it shall begin.
pub(crate) fn search(
    run: &Run,
    spec: &JobSpec,
    plan: &Plan,
    coding: &Coding,
    levels: &[(Level, Level)],
    memory: Option<u64>,
) -> Result<SearchOutcome, JobError> {
    let budget = budget(run, spec, plan, memory);
    with_problem(spec, plan, coding, levels, &budget, |problem| {
        run.let_stop(plan.method.algorithm.is_anytime());
        plan.method.algorithm.run(problem)
    })
}

/// What a search may take: from now on.
pub(crate) fn budget(run: &Run, spec: &JobSpec, plan: &Plan, memory: Option<u64>) -> Budget {
    run.budget().within(plan.method.time).holding(memory).visiting(spec.run.node_limit)
}

/// Does something with the problem of a job, whose levels and budget are these.
pub(crate) fn with_problem<T>(
    spec: &JobSpec,
    plan: &Plan,
    coding: &Coding,
    levels: &[(Level, Level)],
    budget: &Budget,
    solve: impl FnOnce(&SearchProblem) -> T,
) -> Result<T, JobError> {
    let start = spec.search.start.as_deref().map(Path::new);
    let start = start.map(|path| start_of(path, &coding.set)).transpose()?;
    let resume = spec.run.resume.as_deref().map(Path::new);
    let stopped = resume.map(stopped_search::read).transpose()?.flatten();
    let sets = attributes_of_sets(plan);
    let places = bins::places(plan, &coding.set.attributes)?;
    let problem = SearchProblem {
        sets: &sets,
        entity: coding.entity,
        limit: plan.suppress.rows(coding.set.n_rows)?,
        stars: plan.stars_suppressed,
        measure: plan.measure,
        target: coding.target,
        weights: &plan.method.weights(plan),
        levels,
        places: &places,
        wants_minimal: plan.method.wants_minimal,
        seed: spec.search.seed.unwrap_or(0),
        workload: coding.workload.as_ref(),
        start: start.as_ref(),
        resume: stopped.as_ref(),
        ..SearchProblem::new(&coding.set, &coding.models, plan.k.unwrap_or(2), budget)
    };
    if let (Some(path), Some(stopped)) = (resume, &stopped) {
        stopped_search::check(path, stopped, &problem)?;
    }
    Ok(solve(&problem))
}

/// The quasi-identifier sets by their attributes, if there are several.
fn attributes_of_sets(plan: &Plan) -> Vec<QuasiSet> {
    if plan.sets.len() == 1 {
        return Vec::new();
    }
    let quasi: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let of_set = |set: &crate::sets::QuasiSet| {
        let attributes = (0..quasi.len()).filter(|&at| set.columns.contains(&quasi[at])).collect();
        QuasiSet { attributes, k: set.k.unwrap_or(2) }
    };
    plan.sets.iter().map(of_set).collect()
}

/// The classes of a recoding with the cells that the job's labels ask for. Labels that came of suppressed
/// rows are made again.
pub(crate) fn classes(plan: &Plan, coding: &mut Coding, found: &mut Found) -> Classes {
    relabel(plan, &mut coding.set, &found.assignment.class_of);
    match (&found.recoding, plan.labels) {
        (Recoding::Partition(_) | Recoding::Intervals(_), LabelForm::Region) => {
            region_classes(&coding.set, found)
        }
        (Recoding::Intervals(cuts), _) => recode_cuts(&coding.set, &found.assignment, cuts),
        (Recoding::FullDomain(levels), _) => recode_levels(&coding.set, &found.assignment, levels),
        (Recoding::Blocks(blocks), _) => recode_blocks(&coding.set, &found.assignment, blocks),
        (Recoding::Local(divided), _) => recode(&coding.set, &found.assignment, divided),
        (Recoding::Partition(tree), _) => {
            let divided = tree.divided(&coding.set.attributes, &[]);
            recode(&coding.set, &found.assignment, &divided)
        }
    }
}

/// What a search may hold of a memory limit: half of what the table leaves, since recoding and writing
/// need some as well; nothing if the table alone takes more.
fn memory_left(limit: u64) -> Option<u64> {
    let left = limit.checked_sub(held_memory_bytes().unwrap_or(0))?;
    (left > 0).then_some(left / 2)
}

/// The cuts of a recoding file, as far as the table has their values.
fn start_of(path: &Path, set: &FrequencySet) -> Result<Cuts, JobError> {
    let file = RecodingFile::read(path)?;
    if file.kind() != Some(RecodingKind::SingleDimensional) {
        return Err(Problem::new(format!(
            "`{}` is a {} recoding, which koptimize cannot begin with",
            path.display(),
            file.kind
        ))
        .help("name one that single-dimensional, hill-climb or koptimize wrote")
        .into());
    }
    Ok(file.cuts_in(set))
}

fn warnings(plan: &Plan, found: &Found) -> Vec<String> {
    let mut warnings = Vec::new();
    let unprotected: Vec<&str> = plan
        .with_role(Role::Sensitive)
        .filter(|at| plan.models.iter().all(|model| model.column != *at))
        .map(|at| plan.columns[at].name.as_str())
        .collect();
    if !unprotected.is_empty() {
        warnings.push(format!(
            "k-anonymity alone does not protect {}: a class may share one value of it; consider \
             --l-diversity or --t-closeness (the report gives the current l and t)",
            unprotected.join(", ")
        ));
    }
    warnings.extend(plan.workload.unused(plan));
    if plan.method.wants_minimal && found.minimal.is_none() {
        warnings.push("the time limit ended the listing of all minimal generalizations".to_owned());
    }
    warnings.extend(warning_of_union(plan));
    warnings
}

/// What it means that several sets are protected through their union.
fn warning_of_union(plan: &Plan) -> Option<String> {
    if plan.sets.len() == 1 || plan.method.tells_sets_apart() {
        return None;
    }
    let mut says = Vec::new();
    if plan.method.algorithm.is_full_domain() {
        says.push("so that nothing is proved about the optimum for each of them");
    }
    let all: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let is_asked = plan.sets.iter().any(|set| set.covers(&all));
    if !is_asked && !plan.method.is_union {
        says.push("which holds for all attackers together; --algorithm butterfly may lose less");
    }
    let what = "several quasi-identifier sets are protected through their union";
    (!says.is_empty()).then(|| format!("{what}, {}", says.join(", ")))
}

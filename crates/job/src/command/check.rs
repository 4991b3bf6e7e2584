//! `check`: measure any table, also one that another tool made.

use incrowd_engine::Batches;
use indexmap::IndexMap;

use crate::flow::clock::Stopwatch;
use crate::flow::draft::text_of_check;
use crate::flow::input::Input;
use crate::flow::measure::{
    Starred, Subject, as_they_are, collusion_report, failures, measure_table, measures_report,
    privacy_report, release_report, risk_report, uses,
};
use crate::flow::outputs::output_problems;
use crate::flow::people::Repeats;
use crate::flow::publish::{SmallFile, exposure, write_files};
use crate::flow::run::{Run, Stage};
use crate::plan::{Plan, Purpose};
use crate::report::wanted::HtmlWanted;
use crate::report::{Done, InputReport, Outcome, Report, Timings};
use crate::spec::error::{JobError, Problem};
use crate::spec::{InputFile, JobSpec, Role};

/// Measures the job's input as it stands, and says whether what the job asks for holds. Writes the
/// report if the job names one.
pub fn check(run: &Run, spec: &JobSpec, force: bool) -> Result<Outcome, JobError> {
    check_in(run, spec, None, force)
}

/// The same for a table in memory if there is one.
pub(super) fn check_in(
    run: &Run,
    spec: &JobSpec,
    held: Option<&Batches>,
    force: bool,
) -> Result<Outcome, JobError> {
    refuse_report(run, spec, force)?;
    let bounds = run.bounds(&spec.run)?;
    run.with_engine_named(spec.run.engine.as_deref(), spec.run.threads, |engine| {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let input = Input::of(held, spec.input.as_deref());
        let input = input.ok_or_else(|| Problem::new("no table is named"))?;
        run.enter(Stage::Open);
        let source = input.open(engine)?;
        let plan = Plan::new(spec, &source, Purpose::Measure)?;
        run.tell_notes(&plan.notes);
        // The table may be a release, whose sets are lists.
        let is_quasi =
            |name: &str| plan.with_role(Role::Quasi).any(|at| plan.columns[at].name == name);
        let source = source.with_sets(is_quasi);
        let released_as = as_they_are(&plan);
        let contents = Vec::new();
        let subject = Subject { plan: &plan, released_as, entity: None, contents, is_given: true };
        bounds.refuse_large_portions(engine, &source, &uses(&source, &subject))?;
        timings.read = clock.lap();
        run.enter(Stage::Verify);
        let measured = measure_table(engine, &source, &subject, &bounds)?;
        run.go_on()?;
        timings.verify = clock.lap();
        let repeats = Repeats::nearest(measured.repeats.iter().cloned());
        let exposure = exposure(&plan, measured.unique.as_ref(), repeats.as_ref());
        let warnings: Vec<String> = exposure.warnings().collect();
        let report = Report {
            incrowd: crate::VERSION,
            input: InputReport { rows: measured.n_rows, columns: source.columns().len() },
            job: spec.clone(),
            search: None,
            recoding: None,
            release: release_report(&measured, 0, Starred::default()),
            privacy: privacy_report(&plan, &measured),
            collusion: collusion_report(&plan, &measured),
            risk: risk_report(&measured),
            as_they_are: exposure.as_they_are,
            repeats: exposure.repeats,
            measures: measures_report(&plan, &measured, 0, Starred::default()),
            inference: IndexMap::new(),
            workload: None,
            warnings: warnings.clone(),
            timings_s: timings,
        };
        let asks = plan.k.is_some() || !plan.models.is_empty() || !plan.limits.is_empty();
        let reasons = if measured.n_rows == 0 && asks {
            vec!["the table has no rows".to_owned()]
        } else {
            failures(&measured)
        };
        let outcome = if reasons.is_empty() {
            Outcome::Done(Box::new(Done { report, warnings }))
        } else {
            Outcome::Failed { reasons, help: None, report: Some(Box::new(report)) }
        };
        if let Some(report) = outcome.report() {
            run.tell(report)?;
        }
        if let (Some(path), Some(text)) = (&spec.report, text_of_check(&plan, &outcome)) {
            let access = HtmlWanted::access(plan.html.as_ref());
            let file = SmallFile { access, ..SmallFile::private(path, &text) };
            write_files(run, &[file], force)?;
        }
        Ok(outcome)
    })
}

/// A report that cannot or must not be written is refused before anything is read.
fn refuse_report(run: &Run, spec: &JobSpec, force: bool) -> Result<(), JobError> {
    let Some(report) = spec.report.as_deref() else { return Ok(()) };
    let mut inputs = InputFile::of_job(spec);
    inputs.extend(run.log_file());
    if let Some(input) = &spec.input {
        inputs.extend(InputFile::of_table(run, input, "the input")?);
    }
    let problems = output_problems(&[report], &inputs, force);
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

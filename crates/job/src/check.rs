//! `check`: measure any table, also one that another tool made.

use std::path::Path;

use incrowd_engine::Source;

use crate::error::{JobError, Problem};
use crate::measure::{
    Subject, Way, as_they_are, collusion_report, failures, measure, measure_in, measures_report,
    privacy_report, release_report, risk_report,
};
use crate::outputs::output_problem;
use crate::plan::{Plan, Purpose};
use crate::publish::{Starred, write_text};
use crate::report::filing::text_of_check;
use crate::report::{Done, InputReport, Outcome, Report, Timings};
use crate::run::{Run, Stage, Stopwatch};
use crate::spec::JobSpec;

/// Measures the job's input as it stands, and says whether what the job asks for holds. Writes the report if the job
/// names one.
pub fn check(run: &Run, spec: &JobSpec, force: bool) -> Result<Outcome, JobError> {
    if let Some(problem) =
        spec.report.as_deref().and_then(|path| output_problem(Path::new(path), force))
    {
        return Err(problem.into());
    }
    let bounds = run.bounds(&spec.run)?;
    run.with_engine_named(spec.run.engine.as_deref(), spec.run.threads, |engine| {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let input = spec.input.as_deref().ok_or_else(|| Problem::new("no table is named"))?;
        run.enter(Stage::Open);
        let source = Source::open(engine, input)?;
        let plan = Plan::new(spec, &source, Purpose::Measure)?;
        timings.read = clock.lap();
        run.enter(Stage::Verify);
        let released_as = as_they_are(&plan);
        let subject = Subject { plan: &plan, released_as, entity: None };
        let measured = if engine.is_remote() {
            measure_in(engine, &source, &subject, &Way::Cluster { bounds: &bounds })?
        } else {
            measure(engine, &source, &subject, &bounds)?
        };
        run.go_on()?;
        timings.verify = clock.lap();
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
            measures: measures_report(&plan, &measured, 0, Starred::default()),
            workload: None,
            timings_s: timings,
        };
        let asks = plan.k.is_some() || !plan.models.is_empty() || !plan.limits.is_empty();
        let reasons = if measured.n_rows == 0 && asks {
            vec!["the table has no rows".to_owned()]
        } else {
            failures(&measured)
        };
        let outcome = if reasons.is_empty() {
            Outcome::Done(Box::new(Done { report, warnings: Vec::new() }))
        } else {
            Outcome::Failed { reasons, help: None, report: Some(Box::new(report)) }
        };
        if let (Some(path), Some(text)) = (&spec.report, text_of_check(&plan, &outcome)) {
            write_text(Path::new(path), &text, force)?;
        }
        Ok(outcome)
    })
}

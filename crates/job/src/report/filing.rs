//! What an HTML report gathers while its job goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use incrowd_engine::{Engine, EngineError, Source, Spilled, Staging, Table, sha256};

use super::html::{Digests, Filed, html};
use super::portrait::{Portrait, Sitter};
use super::wanted::HtmlWanted;
use super::{Outcome, Report};
use crate::bounds::Bounds;
use crate::coding::Coding;
use crate::error::JobError;
use crate::measure::Before;
use crate::plan::Plan;
use crate::query::{QueriedTables, QueryOptions, QueryReport, queries_of, query_in};
use crate::run::{Run, Stopwatch};
use crate::spec::JobSpec;

/// What a report for people says beside what a program is told. Empty where no such report is wanted.
#[derive(Default)]
pub(crate) struct Filing {
    before: Option<Before>,
    portrait: Option<Portrait>,
    /// What tells the files of the input and of the release from all others, while it is worked out.
    input: Option<Hashing>,
    release: Option<Hashing>,
    /// What gathering took.
    seconds: f64,
}

/// Files by name that are being hashed beside the job.
type Hashing = JoinHandle<Result<Vec<(String, String)>, EngineError>>;

/// Begins to hash files: whatever else is done leaves a processor idle now and then.
fn hash(files: Vec<(String, PathBuf)>) -> Hashing {
    std::thread::spawn(move || {
        files.into_iter().map(|(name, path)| Ok((name, sha256(&path)?))).collect()
    })
}

/// What was hashed, if anything was.
fn hashed(hashing: Option<Hashing>) -> Result<Vec<(String, String)>, EngineError> {
    hashing.map_or(Ok(Vec::new()), |hashing| hashing.join().expect("hashing does not panic"))
}

/// A job that has come to its report.
pub(crate) struct Ending<'a> {
    pub(crate) run: &'a Run,
    pub(crate) engine: &'a Engine,
    pub(crate) spec: &'a JobSpec,
    pub(crate) source: &'a Source,
    pub(crate) plan: &'a Plan,
    pub(crate) staged: &'a Staging,
    pub(crate) bounds: &'a Bounds,
    pub(crate) warnings: &'a [String],
}

/// Whether a report tells of the table itself.
pub(crate) fn tells_table(plan: &Plan) -> bool {
    plan.html.as_ref().is_some_and(HtmlWanted::is_internal)
}

fn hash_source(source: &Source) -> Hashing {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, path.clone())
    };
    hash(source.files().iter().map(named).collect())
}

impl Filing {
    /// Begins with a source that is about to be read into memory.
    pub(crate) fn of_source(plan: &Plan, source: &Source) -> Filing {
        let input = tells_table(plan).then(|| hash_source(source));
        Filing { input, ..Filing::default() }
    }

    /// Measures a table that is in memory, if the report tells of it.
    pub(crate) fn measure(
        &mut self,
        engine: &Engine,
        plan: &Plan,
        (table, coding): (&Arc<Table>, &Coding),
    ) -> Result<(), JobError> {
        if tells_table(plan) {
            let mut clock = Stopwatch::start();
            let grouped = coding.equal_rows(table);
            self.before = Some(Before::of_table(engine, plan, table, grouped)?);
            self.seconds += clock.lap();
        }
        Ok(())
    }

    /// Measures a table that is in private files, if the report tells of it.
    pub(crate) fn of_files(
        engine: &Engine,
        plan: &Plan,
        (source, spilled): (&Source, Spilled),
        bounds: &Bounds,
    ) -> Result<(Filing, Spilled), JobError> {
        if !tells_table(plan) {
            return Ok((Filing::default(), spilled));
        }
        let mut clock = Stopwatch::start();
        // The files of a cluster's input may lie elsewhere.
        let input = (!engine.is_remote()).then(|| hash_source(source));
        let (before, spilled) = Before::of_files(engine, plan, spilled, bounds)?;
        let before = Some(before);
        Ok((Filing { before, input, seconds: clock.lap(), ..Filing::default() }, spilled))
    }

    /// Looks at the table and its classes, if the report has pictures of them.
    pub(crate) fn look(&mut self, sitter: &Sitter) -> Result<(), JobError> {
        if sitter.plan.html.is_some() {
            let mut clock = Stopwatch::start();
            self.portrait = Some(sitter.portrait()?);
            self.seconds += clock.lap();
        }
        Ok(())
    }

    /// Takes note of the release that was written.
    pub(crate) fn take(&mut self, plan: &Plan, staged: &Staging) {
        if plan.html.is_some() {
            self.release = Some(hash(staged.files()));
        }
    }

    /// The report as the job wants it: HTML, or JSON.
    pub(crate) fn text(self, ending: &Ending, report: &mut Report) -> Result<String, JobError> {
        let Some(wanted) = &ending.plan.html else { return Ok(report.to_json()) };
        let mut clock = Stopwatch::start();
        let queries = if wanted.is_internal() { ending.queries()? } else { None };
        let digests = Digests { input: hashed(self.input)?, release: hashed(self.release)? };
        let text = html(&Filed {
            plan: ending.plan,
            wanted,
            report,
            before: self.before.as_ref(),
            portrait: self.portrait.as_ref(),
            queries: queries.as_ref(),
            digests: &digests,
            failed: &[],
            warnings: ending.warnings,
        });
        report.timings_s.report = self.seconds + clock.lap();
        Ok(text)
    }
}

impl Ending<'_> {
    /// The queries of the workload over the release, and how far they are off; or why they cannot be answered.
    fn queries(&self) -> Result<Option<Result<QueryReport, String>>, JobError> {
        let queries = queries_of(&self.spec.workload)?;
        if queries.is_empty() || self.engine.is_remote() {
            return Ok(None);
        }
        if self.bounds.is_bounded() {
            let why = "both tables would have to be held, and there is a memory limit";
            return Ok(Some(Err(why.to_owned())));
        }
        let options = QueryOptions {
            queries,
            job: self.spec.clone(),
            has_job_file: true,
            ..QueryOptions::default()
        };
        let tables = QueriedTables {
            release: &|| Ok(Source::of_staged(self.engine, self.staged)?),
            original: Some(&|| Ok(self.source.clone())),
        };
        match query_in(self.run, self.engine, &options, &tables) {
            Ok(found) => Ok(Some(Ok(found))),
            Err(JobError::Request(problems)) => {
                let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
                Ok(Some(Err(messages.join("; "))))
            }
            Err(error) => Err(error),
        }
    }
}

/// The report of a table that was only measured, as the job wants it.
pub(crate) fn text_of_check(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let (report, failed): (&Report, &[String]) = match outcome {
        Outcome::Done(done) => (&done.report, &[]),
        Outcome::Failed { report, reasons, .. } => (report.as_deref()?, reasons),
    };
    let Some(wanted) = &plan.html else { return Some(report.to_json()) };
    Some(html(&Filed {
        plan,
        wanted,
        report,
        before: None,
        portrait: None,
        queries: None,
        digests: &Digests::default(),
        failed,
        warnings: &report.warnings,
    }))
}

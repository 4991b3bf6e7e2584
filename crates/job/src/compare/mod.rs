//! `compare`: the same job by several algorithms and for several k, and which to take.
//!
//! Every case is a whole job: searched, written to a private folder, and measured from the written bytes.
//! Cases run one after the other, so that their times can be compared.

mod advice;
mod page;

use incrowd_engine::{Scratch, Source};
use serde::Serialize;

use crate::anonymize::anonymize;
use crate::error::{JobError, Problem};
use crate::method;
use crate::plan::{Plan, Purpose};
use crate::report::{
    MeasuresReport, Outcome, PrivacyReport, ReleaseReport, Report, RiskReport, SearchReport,
};
use crate::run::{Run, Stopwatch};
use crate::spec::JobSpec;
use crate::workload::WorkloadReport;

pub use advice::Advice;

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Algorithms by name, a variant after a hyphen: `mondrian`, `mondrian-relaxed`, `incognito-cube`.
    pub algorithms: Vec<String>,
    /// Least sizes of a class.
    pub ks: Vec<u64>,
}

/// How several algorithms did.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of the tool.
    pub incrowd: &'static str,
    /// The job, but for its algorithm and k.
    pub job: JobSpec,
    /// Rows of the input.
    pub rows: u64,
    /// By algorithm and k.
    pub cases: Vec<Compared>,
    /// Which to take, if any came to an end.
    pub advice: Option<Advice>,
}

/// How one algorithm did for one k.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The algorithm as it was named.
    pub algorithm: String,
    /// Least size of a class.
    pub k: u64,
    /// Seconds from the file to the verified file.
    pub elapsed_s: f64,
    /// Why there is no release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The release.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<FoundCase>>,
}

/// A release that was made and measured.
#[derive(Clone, Debug, Serialize)]
pub struct FoundCase {
    /// How the search went.
    pub search: Option<SearchReport>,
    /// Its size.
    pub release: ReleaseReport,
    /// What holds for each set.
    pub privacy: Vec<PrivacyReport>,
    /// Of the set with the greatest risk.
    pub risk: RiskReport,
    /// What was lost.
    pub measures: MeasuresReport,
    /// How good it is for its workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReport>,
}

impl Comparison {
    /// Whether a value is the least of several, and not the same as all of them: then it marks nothing.
    #[must_use]
    pub fn is_best(value: f64, all: impl Iterator<Item = f64>) -> bool {
        let (mut is_least, mut is_less) = (true, false);
        for other in all {
            is_least &= value <= other;
            is_less |= value < other;
        }
        is_least && is_less
    }

    /// The comparison as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a comparison has a JSON form") + "\n"
    }

    /// The comparison as one HTML file.
    #[must_use]
    pub fn to_html(&self) -> String {
        page::html(self)
    }
}

/// Does a job by several algorithms and for several k. Nothing is published.
pub fn compare(
    run: &Run,
    spec: &JobSpec,
    options: &CompareOptions,
    each: &dyn Fn(&Compared),
) -> Result<Comparison, JobError> {
    let specs = specs(spec, options)?;
    check(run, spec, &specs)?;
    let scratch = Scratch::new(spec.run.temp_dir.as_deref().map(std::path::Path::new))?;
    let output = scratch.path("release.csv").to_string_lossy().into_owned();
    let (mut cases, mut rows) = (Vec::new(), 0);
    for (algorithm, k, spec) in specs {
        let spec = JobSpec { output: Some(output.clone()), ..spec };
        let mut clock = Stopwatch::start();
        let ended = anonymize(run, &spec, true);
        let elapsed_s = clock.lap();
        let (failed, found) = match ended {
            Ok(Outcome::Done(done)) => {
                rows = done.report.input.rows;
                (None, Some(Box::new(found(done.report))))
            }
            Ok(Outcome::Failed { reasons, .. }) => (Some(reasons.join("; ")), None),
            Err(JobError::Infeasible(problem)) => (Some(problem.message), None),
            Err(error) => return Err(error),
        };
        let case = Compared { algorithm, k, elapsed_s, failed, found };
        each(&case);
        cases.push(case);
    }
    let advice = advice::advice(&cases);
    Ok(Comparison { incrowd: crate::VERSION, job: spec.clone(), rows, cases, advice })
}

fn found(report: Report) -> FoundCase {
    let Report { search, release, privacy, risk, measures, workload, .. } = report;
    FoundCase { search, release, privacy, risk, measures, workload }
}

/// The jobs of all cases.
fn specs(
    spec: &JobSpec,
    options: &CompareOptions,
) -> Result<Vec<(String, u64, JobSpec)>, JobError> {
    let mut problems = Vec::new();
    if options.algorithms.is_empty() {
        problems.push(
            Problem::new("no algorithms are named")
                .help("name some: --algorithms mondrian,mondrian-relaxed,koptimize"),
        );
    }
    if options.ks.is_empty() {
        problems.push(Problem::new("no k is named").help("name some: -k 5,10,25"));
    }
    if spec.recoding.is_some() || spec.run.resume.is_some() {
        problems.push(
            Problem::new("a comparison publishes no recoding and resumes no search")
                .help("leave recoding and resume out of the job"),
        );
    }
    let wrapped = |name: &str| name.strip_prefix("union-").unwrap_or(name).to_owned();
    let base = |name: &str| method::named(name, &mut Vec::new()).map(|(name, _)| name.to_owned());
    let leaves_out =
        |name: &str| base(&wrapped(name)).is_some_and(|name| method::suppresses(&name));
    let any_suppresses = options.algorithms.iter().any(|name| leaves_out(name));
    let mut specs = Vec::new();
    for (at, name) in options.algorithms.iter().enumerate() {
        if options.algorithms[..at].contains(name) {
            problems.push(Problem::new(format!("`{name}` is named twice")));
        }
        let Some((algorithm, variant)) = method::named(name, &mut problems) else { continue };
        for (at, &k) in options.ks.iter().enumerate() {
            if options.ks[..at].contains(&k) {
                problems.push(Problem::new(format!("k = {k} is named twice")));
            }
            let mut spec = spec.clone();
            spec.search.algorithm = Some(algorithm.to_owned());
            spec.search.variant = variant.map(str::to_owned);
            spec.search.relaxed = None;
            spec.privacy.k = Some(k);
            // Only mondrian chooses its cuts, and only searches with something to show bear a limit.
            if algorithm != "mondrian" {
                spec.search.split = None;
            }
            // An algorithm that leaves no row out stands beside those that may.
            if any_suppresses && !leaves_out(name) {
                (spec.privacy.suppress, spec.release.suppressed) = (None, None);
            }
            // Nothing is published, so that guessed roles may be compared.
            spec.reviewed = None;
            (spec.output, spec.report) = (None, None);
            (spec.audience, spec.picture) = (None, None);
            specs.push((name.clone(), k, spec));
        }
    }
    problems.dedup();
    if problems.is_empty() { Ok(specs) } else { Err(JobError::Request(problems)) }
}

/// Checks all cases before the first is run; what is wrong with several is said once.
fn check(run: &Run, spec: &JobSpec, specs: &[(String, u64, JobSpec)]) -> Result<(), JobError> {
    let input = spec.input.as_deref().ok_or_else(|| {
        Problem::new("the job has no input").help("name a file, a folder or a glob")
    })?;
    run.with_engine_named(spec.run.engine.as_deref(), spec.run.threads, |engine| {
        let source = Source::open(engine, input)?;
        let mut problems: Vec<Problem> = Vec::new();
        for (algorithm, _, spec) in specs {
            match Plan::new(spec, &source, Purpose::Release) {
                Ok(_) => {}
                Err(JobError::Request(more)) => {
                    for problem in more {
                        let is_known = |known: &Problem| known.message.ends_with(&problem.message);
                        if !problems.iter().any(is_known) {
                            let message = format!("{algorithm}: {}", problem.message);
                            problems.push(Problem { message, ..problem });
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
    })
}

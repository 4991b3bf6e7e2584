//! `compare`: the same job by several algorithms and for several k, and which to take.
//!
//! Every case is a whole job: searched, written to a private folder, and measured from the written
//! bytes. Cases run one after the other, so that their times can be compared. Where the job has a
//! target, all are then tried on held-out rows. A case that cannot run is left out, with the
//! reason.

mod advice;
mod held_out;

use incrowd_engine::{Scratch, Source};

use crate::command::anonymize::anonymize;
use crate::flow::clock::Stopwatch;
use crate::flow::run::Run;
use crate::plan::cases::{Case, cases};
use crate::plan::{Plan, Purpose};
use crate::report::{Compared, Comparison, FoundCase, Outcome, Report};
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Algorithms by name, with a variant after a hyphen and a split of mondrian after a colon:
    /// `mondrian`, `mondrian-relaxed`, `mondrian:infogain`, `incognito-cube`; `all` for all.
    pub algorithms: Vec<String>,
    /// Least sizes of a class.
    pub ks: Vec<u64>,
    /// In how many folds rows are held out where the job has a target; 10 if nothing is said.
    pub folds: Option<u32>,
    /// How often that is repeated; once if nothing is said.
    pub repeats: Option<u32>,
    /// The models that predict the target; a tree if nothing is said.
    pub models: Vec<String>,
}

/// Does a job by several algorithms and for several k. Nothing is published.
pub fn compare(
    run: &Run,
    spec: &JobSpec,
    options: &CompareOptions,
    each: &dyn Fn(&Compared),
) -> Result<Comparison, JobError> {
    let asked = asked(spec, options)?;
    let barred = barred(run, spec, &asked)?;
    let scratch = Scratch::new(spec.run.temp_dir.as_deref().map(std::path::Path::new))?;
    let output = scratch.path("release.csv").to_string_lossy().into_owned();
    let (mut compared, mut rows, mut problems) = (Vec::new(), 0, Vec::new());
    for (case, barred) in asked.iter().zip(barred) {
        let spec = JobSpec { output: Some(output.clone()), ..case.spec.clone() };
        let mut clock = Stopwatch::start();
        let ended = match barred {
            Some(problem) => Err(problem.into()),
            None => anonymize(run, &spec, true),
        };
        let elapsed_s = clock.lap();
        let mut left_out = false;
        let (failed, found) = match ended {
            Ok(Outcome::Done(done)) => {
                rows = done.report.input.rows;
                (None, Some(Box::new(found(done.report))))
            }
            Ok(Outcome::Failed { reasons, .. }) => (Some(reasons.join("; ")), None),
            Err(JobError::Infeasible(problem)) => (Some(problem.message), None),
            Err(JobError::Request(more)) => {
                left_out = true;
                let messages: Vec<String> = more.iter().map(|p| p.message.clone()).collect();
                problems.extend(more);
                (Some(messages.join("; ")), None)
            }
            Err(error) => return Err(error),
        };
        let (algorithm, k) = (case.algorithm.clone(), case.k);
        let case = Compared { algorithm, k, elapsed_s, failed, left_out, found };
        each(&case);
        compared.push(case);
    }
    if compared.iter().all(|case| case.left_out) {
        return Err(JobError::Request(once(problems)));
    }
    let held_out = held_out::held_out(run, spec, options, &asked, &mut compared)?;
    let advice = advice::advice(&compared, held_out.as_ref());
    let (incrowd, job) = (crate::VERSION, spec.clone());
    Ok(Comparison { incrowd, job, rows, cases: compared, held_out, advice })
}

fn found(report: Report) -> FoundCase {
    let Report { search, release, privacy, risk, measures, workload, .. } = report;
    FoundCase { search, release, privacy, risk, measures, workload, held_out: None }
}

/// Problems, none of them twice.
fn once(problems: Vec<Problem>) -> Vec<Problem> {
    let mut kept: Vec<Problem> = Vec::new();
    for problem in problems {
        if !kept.contains(&problem) {
            kept.push(problem);
        }
    }
    kept
}

/// All cases.
fn asked(spec: &JobSpec, options: &CompareOptions) -> Result<Vec<Case>, JobError> {
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
    problems.extend(held_out::problems(spec, options));
    let mut asked = cases(spec, &options.algorithms, &options.ks, &mut problems);
    for Case { spec, .. } in &mut asked {
        // Nothing is published, so that guessed roles may be compared.
        spec.reviewed = None;
        (spec.output, spec.report) = (None, None);
        (spec.audience, spec.picture) = (None, None);
    }
    if problems.is_empty() { Ok(asked) } else { Err(JobError::Request(once(problems))) }
}

/// By case, why it cannot run at all. What is wrong with every algorithm is wrong with the job.
fn barred(run: &Run, spec: &JobSpec, asked: &[Case]) -> Result<Vec<Option<Problem>>, JobError> {
    let input = spec.input.as_deref().ok_or_else(|| {
        Problem::new("the job has no input").help("name a file, a folder or a glob")
    })?;
    run.with_engine_named(spec.run.engine.as_deref(), spec.run.threads, |engine| {
        let source = Source::open(engine, input)?;
        let (mut barred, mut problems) = (Vec::new(), Vec::new());
        for case in asked {
            match Plan::new(&case.spec, &source, Purpose::Release) {
                Ok(_) => barred.push(None),
                Err(JobError::Request(more)) => {
                    barred.push(Some(joined(&more)));
                    for problem in more {
                        let is_known = |(_, known): &(_, Problem)| known.message == problem.message;
                        if !problems.iter().any(is_known) {
                            problems.push((&case.algorithm, problem));
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let is_any = barred.iter().any(Option::is_none);
        let named = |(algorithm, problem): (&String, Problem)| Problem {
            message: format!("{algorithm}: {}", problem.message),
            ..problem
        };
        let problems = problems.into_iter().map(named).collect();
        if is_any { Ok(barred) } else { Err(JobError::Request(problems)) }
    })
}

/// Several problems as one.
fn joined(problems: &[Problem]) -> Problem {
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    let help = problems.iter().find_map(|problem| problem.help.clone());
    Problem { message: messages.join("; "), help }
}

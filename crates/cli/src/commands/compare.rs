//! `compare`: a table for the terminal, JSON, one HTML file.

use clap::Args;
use incrowd_job::{
    CompareOptions, Compared, Comparison, FileReport, FoundCase, HeldOut, JobError, Problem,
    ReportFile, Run, compare,
};

use crate::args::{JobArgs, KOfSet, SearchArgs};
use crate::failure::Failure;
use crate::print::print_job;
use crate::progress::Progress;
use crate::spec::{job_with, search};
use crate::{message, record, terminal};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A file, a folder or a glob
    pub(crate) input: Option<String>,
    /// The algorithms, with a variant after a hyphen or a split of mondrian after a colon:
    /// mondrian,mondrian-relaxed,mondrian:infogain,koptimize; all for every one. Those that cannot
    /// do the job are left out
    #[arg(long, value_name = "A,B", value_delimiter = ',', required = true)]
    pub(crate) algorithms: Vec<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// With a target: in how many folds rows are held out to try models on (default 10)
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<u32>,
    /// With a target: how often that is repeated with other folds (default 1)
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<u32>,
    /// With a target: the models, whose scores are averaged (default: decision-tree for labels,
    /// regression-tree for numbers)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Write the comparison; as HTML with pictures
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(run: &Run, args: &CompareArgs) -> Result<u8, JobError> {
    let (all, of_sets): (Vec<KOfSet>, Vec<KOfSet>) =
        args.job.k.iter().cloned().partition(|k| k.set.is_none());
    let mut spec = job_with(&args.job, &of_sets)?;
    if args.input.is_some() {
        spec.input.clone_from(&args.input);
    }
    search(&args.search, &mut spec)?;
    if args.search.algorithm.is_some() || args.search.variant.is_some() || args.search.relaxed {
        return Err(problem(
            "--algorithm, --variant and --relaxed name one algorithm",
            "name several with --algorithms, a variant after a hyphen: mondrian-relaxed",
        ));
    }
    let report = args.report.as_deref();
    let report =
        report.map(|path| ReportFile::of_job(run, "a comparison", path, &spec, args.force));
    let report = report.transpose()?;
    spec.run.time_limit.get_or_insert_with(|| "60s".to_owned());
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let mut ks: Vec<u64> = all.iter().map(|k| k.k).collect();
    if ks.is_empty() {
        ks.extend(spec.privacy.k);
    }
    let options = CompareOptions {
        algorithms: args.algorithms.clone(),
        ks,
        folds: args.folds,
        repeats: args.repeats,
        models: args.models.clone(),
    };
    let progress = Progress::start(run, args.job.quiet);
    let comparison = compare(run, &spec, &options, &|_| {})?;
    drop(progress);
    if args.job.json {
        record::result(&comparison.to_json())?;
    } else if !args.job.quiet {
        terminal::text(&table(&comparison))?;
    }
    if let Some(file) = report {
        file.write(run, FileReport::Comparison(&comparison))?;
    }
    let is_any = comparison.cases.iter().any(|case| case.found.is_some());
    if is_any {
        return Ok(0);
    }
    let told = |case: &Compared| Failure {
        message: format!("{} makes no release with k = {}", case.algorithm, case.k),
        because: case.failed.iter().cloned().collect(),
        help: None,
    };
    message::not_satisfied(comparison.cases.iter().map(told).collect());
    Ok(message::EXIT_FAILED)
}

fn problem(message: &str, help: &str) -> JobError {
    Problem { message: message.to_owned(), help: Some(help.to_owned()) }.into()
}

/// A column of the table: its name, its value (less is better), and how it is written.
type Shown = (&'static str, fn(&Compared, &FoundCase) -> f64, fn(f64) -> String);

const SHOWN: [Shown; 5] = [
    ("loss", |_, found| found.measures.loss.unwrap_or(f64::NAN), |value| format!("{value:.4}")),
    ("discernibility", |_, found| found.measures.discernibility, whole),
    ("classes", |_, found| -(found.release.classes as f64), |value| whole(-value)),
    ("suppressed", |_, found| found.release.suppressed as f64, whole),
    ("seconds", |case, _| case.elapsed_s, |value| format!("{value:.2}")),
];

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of a table")]
fn whole(value: f64) -> String {
    message::count(value.max(0.0) as u64)
}

/// The cases by k, the best of each k marked, and which to take.
fn table(comparison: &Comparison) -> String {
    let mut cases: Vec<&Compared> = comparison.cases.iter().collect();
    cases.sort_by_key(|case| case.k);
    let mut header = vec!["k".to_owned(), "algorithm".to_owned(), "risk".to_owned()];
    header.extend(SHOWN.iter().map(|(name, _, _)| format!("{name} ")));
    let held_out = comparison.held_out.as_ref().filter(|found| found.protocol.is_some());
    header.extend(held_out.map(score_heading));
    header.push(String::new());
    let n_columns = header.len();
    let mut rows = vec![header];
    for case in &cases {
        let mut row = vec![case.k.to_string(), case.algorithm.clone()];
        let Some(found) = &case.found else {
            row.resize(n_columns - 1, String::new());
            let reason = case.failed.clone().unwrap_or_default();
            row.push(if case.left_out { "left out".to_owned() } else { reason });
            rows.push(row);
            continue;
        };
        row.push(format!("{:.4}", found.risk.prosecutor_max));
        for (_, of, written) in SHOWN {
            let value = of(case, found);
            let others = (cases.iter().filter(|other| other.k == case.k))
                .filter_map(|other| Some(of(other, other.found.as_deref()?)));
            let is_best = Comparison::is_best(value, others);
            row.push(format!("{}{}", written(value), if is_best { '*' } else { ' ' }));
        }
        if held_out.is_some() {
            row.push(score(comparison, case.k, found));
        }
        let is_optimal = found.search.as_ref().is_some_and(|search| search.optimal);
        row.push(if is_optimal { "proved optimal".to_owned() } else { String::new() });
        rows.push(row);
    }
    let right: Vec<usize> = std::iter::once(0).chain(2..n_columns - 1).collect();
    let mut text = message::table(&rows, &right);
    text.push_str("\n* the best of its k\n");
    for (name, reason) in comparison.left_out() {
        text.push_str(&message::visible(&format!("left out: `{name}`: {reason}")));
        text.push('\n');
    }
    for without in comparison.held_out.iter().flat_map(|held_out| &held_out.without) {
        text.push_str(&message::visible(&without.sentence()));
        text.push('\n');
    }
    if let Some(advice) = &comparison.advice {
        text.push_str(&format!("by {}: {}\n", advice.by, message::visible(&advice.why)));
    }
    text
}

fn score_heading(held_out: &HeldOut) -> String {
    let what = if held_out.is_accuracy() { "accuracy" } else { "error" };
    format!("held-out {what} ")
}

/// The score of a case on held-out rows with half its interval, marked if it is the best for its k.
fn score(comparison: &Comparison, k: u64, found: &FoundCase) -> String {
    let Some(score) = &found.held_out else { return String::new() };
    let of_k = comparison.cases.iter().filter(|case| case.k == k);
    let others = of_k.filter_map(|case| case.found.as_ref()?.held_out.as_ref());
    let others = others.map(|other| comparison.cost_of(other));
    let is_best = Comparison::is_best(comparison.cost_of(score), others);
    let mark = if is_best { '*' } else { ' ' };
    format!("{:.4} ± {:.4}{mark}", score.mean, (score.upper - score.lower) / 2.0)
}

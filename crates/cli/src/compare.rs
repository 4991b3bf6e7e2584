//! `compare`: a table for the terminal, JSON, one HTML file.

use incrowd_job::{
    CompareOptions, Compared, Comparison, FoundCase, InputFile, JobError, Problem, Run, SmallFile,
    compare,
};

use crate::args::{CompareArgs, KOfSet};
use crate::commands::{job_with, print_job, search};
use crate::message;
use crate::progress::Progress;
use crate::record::{self, Told};
use crate::terminal;

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
    let is_html = |path: &str| path.to_ascii_lowercase().ends_with(".html");
    if let Some(path) = args.report.as_deref() {
        if !is_html(path) && !path.to_ascii_lowercase().ends_with(".json") {
            let message = format!("a comparison is a .json or .html file, found `{path}`");
            return Err(problem(&message, "name it .json or .html"));
        }
        let mut inputs = InputFile::of_job(&spec);
        if let Some(input) = &spec.input {
            inputs.extend(InputFile::of_table(run, input, "the input")?);
        }
        crate::commands::refuse_outputs(run, &[path], inputs, args.force)?;
    }
    spec.run.time_limit.get_or_insert_with(|| "60s".to_owned());
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let mut ks: Vec<u64> = all.iter().map(|k| k.k).collect();
    if ks.is_empty() {
        ks.extend(spec.privacy.k);
    }
    let options = CompareOptions { algorithms: args.algorithms.clone(), ks };
    let progress = Progress::start(run, args.job.quiet);
    let comparison = compare(run, &spec, &options, &|_| {})?;
    drop(progress);
    if args.job.json {
        record::result(&comparison.to_json())?;
    } else if !args.job.quiet {
        terminal::text(&table(&comparison))?;
    }
    if let Some(path) = args.report.as_deref() {
        let text = if is_html(path) { comparison.to_html() } else { comparison.to_json() };
        incrowd_job::write_files(run, &[SmallFile::private(path, &text)], args.force)?;
    }
    let is_any = comparison.cases.iter().any(|case| case.found.is_some());
    if is_any {
        return Ok(0);
    }
    let told = |case: &Compared| Told {
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

#[expect(clippy::cast_precision_loss, reason = "counts of a table")]
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
    header.push(String::new());
    let mut rows = vec![header];
    for case in &cases {
        let mut row = vec![case.k.to_string(), case.algorithm.clone()];
        let Some(found) = &case.found else {
            row.resize(SHOWN.len() + 3, String::new());
            row.push(case.failed.clone().unwrap_or_default());
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
        let is_optimal = found.search.as_ref().is_some_and(|search| search.optimal);
        row.push(if is_optimal { "proved optimal".to_owned() } else { String::new() });
        rows.push(row);
    }
    let right: Vec<usize> = std::iter::once(0).chain(2..SHOWN.len() + 3).collect();
    let mut text = message::table(&rows, &right);
    text.push_str("\n* the best of its k\n");
    if let Some(advice) = &comparison.advice {
        text.push_str(&format!("by {}: {}\n", advice.by, message::visible(&advice.why)));
    }
    text
}

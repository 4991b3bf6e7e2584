//! `query`: answers as a table or as JSON.

use std::path::PathBuf;

use clap::Args;
use incrowd_job::{
    AnswerReport, ErrorSummary, GroupReport, JobError, QueryAnswers, QueryOptions, QueryReport,
    QueryText, Run, queries_of_file,
};
use serde_json::Value;

use crate::args::{JobArgs, LabelArgs, LogArgs};
use crate::progress::Progress;
use crate::spec::job;
use crate::{message, record, terminal};

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The release: a file, a folder or a glob
    pub(crate) release: String,
    /// SELECT aggregates [WHERE condition] [GROUP BY columns]
    #[arg(required_unless_present = "queries")]
    pub(crate) sql: Option<String>,
    /// A file of queries, one a line or each followed by a semicolon
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    pub(crate) queries: Option<PathBuf>,
    /// The table that the release was made from: adds true answers and errors
    #[arg(long, value_name = "TABLE")]
    pub(crate) original: Option<String>,
    #[command(flatten)]
    pub(crate) about: LabelArgs,
    /// Columns that are released as they are
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// Columns that are released as they are
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) insensitive: Vec<String>,
    /// Threads (default: all cores)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the answers and errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(run: &Run, args: &QueryArgs) -> Result<u8, JobError> {
    let queries = match (&args.queries, &args.sql) {
        (Some(path), _) => queries_of_file(path)?,
        (None, Some(sql)) => vec![QueryText::weighted(sql)?],
        (None, None) => Vec::new(),
    };
    let flags = JobArgs {
        job: args.about.job.clone(),
        quasi: args.about.quasi.clone(),
        sensitive: args.sensitive.clone(),
        insensitive: args.insensitive.clone(),
        hierarchy: args.about.hierarchy.clone(),
        ..JobArgs::default()
    };
    let options = QueryOptions {
        release: args.release.clone(),
        queries,
        recoding: args.about.recoding.clone(),
        job: job(&flags)?,
        has_job_file: args.about.job.is_some(),
        labels: args.about.labels.clone(),
        named: named(args),
        original: args.original.clone(),
        threads: args.threads,
    };
    let progress = Progress::start(run, args.quiet);
    let report = incrowd_job::query(run, &options)?;
    drop(progress);
    if args.json {
        record::result(&report.to_json())?;
    } else {
        terminal::text(&text(&report))?;
    }
    Ok(0)
}

/// The columns that flags name.
fn named(args: &QueryArgs) -> Vec<String> {
    let hierarchies = args.about.hierarchy.iter().filter_map(|text| text.split_once('='));
    let sets = args
        .about
        .quasi
        .iter()
        .map(|text| text.split_once('=').map_or(text.as_str(), |(_, of)| of));
    let quasi = sets.flat_map(|set| set.split(',')).map(str::trim).filter(|name| !name.is_empty());
    let as_they_are = args.sensitive.iter().chain(&args.insensitive).map(String::as_str);
    let all = hierarchies.map(|(column, _)| column).chain(quasi).chain(as_they_are);
    all.map(str::to_owned).collect()
}

/// The answers as an aligned table, and what their errors are like.
fn text(report: &QueryReport) -> String {
    let has_truth = report.original.is_some();
    let mut text = String::new();
    // Queries with the same columns share a table.
    for alike in report.queries.chunk_by(|a, b| a.group_by == b.group_by) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&table(alike, report.queries.len() > 1, has_truth));
    }
    let is_many = report.queries.len() > 1 || report.queries[0].rows.len() > 1;
    if let (Some(errors), true) = (&report.errors, is_many) {
        text.push_str(&format!(
            "\n{} answers compared with the truth; {} answers are exact\n",
            message::count(errors.answers as u64),
            message::count(errors.exact as u64)
        ));
        let header =
            ["error", "mean", "std dev", "median", "90%", "95%", "99%", "max"].map(str::to_owned);
        let mut rows = vec![header.to_vec()];
        rows.extend(errors.absolute.as_ref().map(|of| summary("absolute", of)));
        rows.extend(errors.relative.as_ref().map(|of| summary("relative", of)));
        text.push_str(&message::table(&rows, &[1, 2, 3, 4, 5, 6, 7]));
        if let Some(mean) = errors.weighted_relative_mean {
            text.push_str(&format!("mean relative error by weight: {}\n", rounded(mean)));
        }
    }
    text
}

fn summary(name: &str, of: &ErrorSummary) -> Vec<String> {
    let numbers = [of.mean, of.standard_deviation, of.median, of.p90, of.p95, of.p99, of.max];
    std::iter::once(name.to_owned()).chain(numbers.map(rounded)).collect()
}

fn table(queries: &[QueryAnswers], has_query: bool, has_truth: bool) -> String {
    let group_by = &queries[0].group_by;
    let n_left = usize::from(has_query) + group_by.len() + 1;
    let mut header: Vec<String> = Vec::new();
    header.extend(has_query.then(|| "query".to_owned()));
    header.extend(group_by.iter().cloned());
    header.extend(["aggregate", "estimate", "least", "greatest", "exact"].map(str::to_owned));
    if has_truth {
        header.extend(["true", "error", "relative"].map(str::to_owned));
    }
    let mut rows = vec![header];
    for query in queries {
        for group in &query.rows {
            for answer in &group.answers {
                let mut row: Vec<String> = Vec::new();
                row.extend(has_query.then(|| shortened(&query.query)));
                row.extend(line(group, answer, has_truth));
                rows.push(row);
            }
        }
    }
    let right: Vec<usize> = (n_left..n_left + 3).chain(n_left + 4..n_left + 7).collect();
    message::table(&rows, &right)
}

fn line(group: &GroupReport, answer: &AnswerReport, has_truth: bool) -> Vec<String> {
    let mut row: Vec<String> = group.group.values().map(shown).collect();
    row.push(answer.aggregate.clone());
    row.extend([&answer.estimate, &answer.least, &answer.greatest].map(shown));
    row.push(if answer.exact { "yes" } else { "no" }.to_owned());
    if has_truth {
        let truth = answer.truth.as_ref();
        row.push(truth.map_or_else(String::new, |truth| shown(&truth.value)));
        let error = |error: Option<f64>| error.map_or_else(String::new, rounded);
        row.push(error(truth.and_then(|truth| truth.absolute_error)));
        row.push(error(truth.and_then(|truth| truth.relative_error)));
    }
    row
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(real)) => rounded(real),
            (None, None) => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A number with at most four digits behind the point.
fn rounded(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A query on one line, its end left out if it is long.
fn shortened(query: &str) -> String {
    const MOST: usize = 60;
    let words: Vec<&str> = query.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST - 1).chain(std::iter::once('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded() {
        assert_eq!(
            [2.0, 0.5, 1.0 / 3.0, -0.000_01, 1e6].map(rounded),
            ["2", "0.5", "0.3333", "0", "1000000"]
        );
    }

    #[test]
    fn long_queries_are_shortened() {
        assert_eq!(shortened("SELECT\n  1"), "SELECT 1");
        assert_eq!(shortened(&"a".repeat(70)).chars().count(), 60);
    }
}

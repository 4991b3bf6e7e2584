//! `query`: aggregates over a release, and how far they lie from the truth.

mod known;
mod report;
mod table;
mod text;

use std::path::PathBuf;

use incrowd_data::{Aggregate, Query};
use incrowd_engine::{Engine, Source, SqlError, parse_query};
use incrowd_evaluate::query::{GroupAnswers, QueryError, Release, answer};
use rayon::prelude::*;

use crate::error::{JobError, Problem};
use crate::run::{Run, Stage};
use crate::spec::JobSpec;

pub use report::{
    AnswerReport, ErrorSummary, ErrorsReport, GroupReport, QueryAnswers, QueryReport, TableReport,
    TruthReport,
};
pub use text::{QueryText, queries_of_file};

use known::Knowledge;
use table::{Layout, load};

/// What is asked of which release.
#[derive(Clone, Debug, Default)]
pub struct QueryOptions {
    /// The release: a file, a folder or a glob.
    pub release: String,
    /// The queries.
    pub queries: Vec<QueryText>,
    /// The recoding that the release was made with.
    pub recoding: Option<PathBuf>,
    /// What else is known of its columns.
    pub job: JobSpec,
    /// Whether a job file says how the release was made.
    pub has_job_file: bool,
    /// What stands in recoded cells, if it is said.
    pub labels: Option<String>,
    /// Columns that must be in the release.
    pub named: Vec<String>,
    /// The table that the release was made from.
    pub original: Option<String>,
    /// Threads; all cores if it is not said.
    pub threads: Option<usize>,
}

/// A query with its text.
pub(crate) struct Asked {
    text: QueryText,
    query: Query,
}

/// Answers queries over a release.
pub fn query(run: &Run, options: &QueryOptions) -> Result<QueryReport, JobError> {
    let asked = parse(&options.queries)?;
    let knowledge = Knowledge::new(options)?;
    run.with_engine(options.threads, |engine| {
        run.enter(Stage::Open);
        let source = Source::open(engine, &options.release)?;
        let release = look(run, engine, &source, &asked, &knowledge, options)?;
        let answers = answer_all(&release, &asked)?;
        let truth = match &options.original {
            None => None,
            Some(original) => {
                run.enter(Stage::Open);
                let source = Source::open(engine, original)?;
                Some(truth(run, engine, &source, &asked, &knowledge)?)
            }
        };
        Ok(report::report(&asked, &release, &answers, truth.as_ref()))
    })
}

/// Reads all queries; every bad one is reported.
fn parse(texts: &[QueryText]) -> Result<Vec<Asked>, JobError> {
    if texts.is_empty() {
        return Err(Problem::new("there is no query").help("write one query a line").into());
    }
    let mut asked = Vec::new();
    let mut problems = Vec::new();
    for text in texts {
        match parse_query(&text.text) {
            Ok(query) => asked.push(Asked { text: text.clone(), query }),
            Err(error) => problems.push(bad_sql(text, &error)),
        }
    }
    if problems.is_empty() { Ok(asked) } else { Err(JobError::Request(problems)) }
}

fn bad_sql(text: &QueryText, error: &SqlError) -> Problem {
    let problem = Problem::new(text.at(&error.to_string()));
    match error {
        SqlError::Syntax { .. } | SqlError::Unreadable { .. } => {
            problem.help("e.g. SELECT COUNT(*) WHERE sex = 'Male' AND age <= 26")
        }
        _ => problem,
    }
}

/// The columns that a query needs.
pub(crate) fn columns(query: &Query) -> Vec<&str> {
    let mut names = query.condition.columns();
    let aggregated = query.aggregates.iter().filter_map(|aggregate| match aggregate {
        Aggregate::Count => None,
        Aggregate::CountOf(column)
        | Aggregate::Sum(column)
        | Aggregate::Avg(column)
        | Aggregate::Min(column)
        | Aggregate::Max(column) => Some(column.as_str()),
    });
    for name in query.group_by.iter().map(String::as_str).chain(aggregated) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A release in labels.
fn look(
    run: &Run,
    engine: &Engine,
    source: &Source,
    asked: &[Asked],
    knowledge: &Knowledge,
    options: &QueryOptions,
) -> Result<Release, JobError> {
    let layout = Layout::new(source, knowledge, asked, &options.named, false)?;
    run.enter(Stage::Read);
    load(engine, source, &layout, knowledge)
}

/// What the original table says.
fn truth(
    run: &Run,
    engine: &Engine,
    source: &Source,
    asked: &[Asked],
    knowledge: &Knowledge,
) -> Result<(Release, Vec<Vec<GroupAnswers>>), JobError> {
    let layout = Layout::new(source, knowledge, asked, &[], true)?;
    run.enter(Stage::Read);
    let table = load(engine, source, &layout, knowledge)?;
    let answers = answer_all(&table, asked)?;
    Ok((table, answers))
}

/// The answers to all queries; every one that cannot be answered is reported.
fn answer_all(release: &Release, asked: &[Asked]) -> Result<Vec<Vec<GroupAnswers>>, JobError> {
    let found: Vec<Result<Vec<GroupAnswers>, QueryError>> =
        asked.par_iter().map(|asked| answer(release, &asked.query)).collect();
    let mut answers = Vec::new();
    let mut problems = Vec::new();
    for (found, asked) in found.into_iter().zip(asked) {
        match found {
            Ok(found) => answers.push(found),
            Err(error) => problems.push(unanswerable(&asked.text, &error)),
        }
    }
    if problems.is_empty() { Ok(answers) } else { Err(JobError::Request(problems)) }
}

fn unanswerable(text: &QueryText, error: &QueryError) -> Problem {
    let problem = Problem::new(text.at(&error.to_string()));
    match error {
        QueryError::UnknownConstant { column } => problem.help(format!(
            "pass --recoding FILE or --hierarchy {column}=FILE; if the column is released as it is, \
             say --insensitive {column}"
        )),
        QueryError::NotInList { .. } => {
            problem.help("compare it with values of the original table, not with labels")
        }
        QueryError::GroupOfRanges { .. } => problem.help("group by another column"),
        QueryError::TooManyGroups { .. } => problem.help("group by fewer columns"),
        _ => problem,
    }
}

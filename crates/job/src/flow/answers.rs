//! `query`: aggregates over a release, and how far they lie from the truth.

pub(crate) mod known;
mod report;
pub(crate) mod table;

use std::path::PathBuf;

use incrowd_data::{Aggregate, Query};
use incrowd_engine::{Engine, Source, SqlError, parse_query};
use incrowd_evaluate::query::{GroupAnswers, QueryError, Release, answer, mistakes};
use rayon::prelude::*;

use crate::flow::run::{Run, Stage};
use crate::report::QueryReport;
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};
use crate::spec::queries::QueryText;
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
    /// Its place among all queries.
    at: usize,
    text: QueryText,
    query: Query,
}

/// What is wrong with queries and with what they ask of, so that all of it is reported at once.
#[derive(Default)]
pub(crate) struct Problems(Vec<(Option<usize>, Problem)>);

impl Problems {
    /// A problem of a query.
    fn of_query(&mut self, at: usize, problem: Problem) {
        self.add(Some(at), problem);
    }

    pub(crate) fn add(&mut self, at: Option<usize>, problem: Problem) {
        if !self.0.iter().any(|(_, known)| *known == problem) {
            self.0.push((at, problem));
        }
    }

    /// Takes up what is wrong with the request, and passes on other errors. Where there are other
    /// problems, an error is one more of them.
    pub(crate) fn take<T>(&mut self, found: Result<T, JobError>) -> Result<Option<T>, JobError> {
        match found {
            Ok(found) => return Ok(Some(found)),
            Err(JobError::Request(problems)) => {
                for problem in problems {
                    self.add(None, problem);
                }
            }
            Err(JobError::Engine(error)) if !self.0.is_empty() => {
                self.add(None, Problem::new(error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems of no query, then those of queries in their order.
    pub(crate) fn into_error(mut self) -> Option<JobError> {
        self.0.sort_by_key(|(at, _)| *at);
        let problems: Vec<Problem> = self.0.into_iter().map(|(_, problem)| problem).collect();
        (!problems.is_empty()).then_some(JobError::Request(problems))
    }
}

/// Finds a table.
pub(crate) type OpenTable<'a> = &'a dyn Fn() -> Result<Source, JobError>;

/// The tables that queries are about.
pub(crate) struct QueriedTables<'a> {
    pub(crate) release: OpenTable<'a>,
    pub(crate) original: Option<OpenTable<'a>>,
}

/// Answers queries over tables with an engine that is there already.
pub(crate) fn query_in(
    run: &Run,
    engine: &Engine,
    options: &QueryOptions,
    tables: &QueriedTables,
) -> Result<QueryReport, JobError> {
    let mut problems = Problems::default();
    let asked = parse(&options.queries, &mut problems)?;
    let knowledge = problems.take(Knowledge::new(options))?;
    let mut release = None;
    let mut truth = None;
    if let Some(knowledge) = &knowledge {
        let looking = Looking { run, engine, asked: &asked, knowledge };
        let found = looking.answers(tables.release, &options.named, false, &mut problems);
        release = problems.take(found)?;
        if let Some(original) = tables.original {
            let found = looking.answers(original, &[], true, &mut problems);
            truth = problems.take(found)?;
        }
    }
    match (problems.into_error(), release) {
        (Some(error), _) => Err(error),
        (None, Some((release, answers))) => {
            Ok(report::report(&asked, &release, &answers, truth.as_ref()))
        }
        (None, None) => unreachable!("a release that is not there is a problem"),
    }
}

/// Reads all queries; those that cannot be read are problems.
fn parse(texts: &[QueryText], problems: &mut Problems) -> Result<Vec<Asked>, JobError> {
    if texts.is_empty() {
        return Err(Problem::new("there is no query").help("write one query a line").into());
    }
    let mut asked = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match parse_query(&text.text) {
            Ok(query) => asked.push(Asked { at, text: text.clone(), query }),
            Err(error) => problems.of_query(at, bad_sql(text, &error)),
        }
    }
    Ok(asked)
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
    let aggregated = query.aggregates.iter().filter_map(Aggregate::column);
    for name in query.group_by.iter().map(String::as_str).chain(aggregated) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Queries over tables.
struct Looking<'a> {
    run: &'a Run,
    engine: &'a Engine,
    asked: &'a [Asked],
    knowledge: &'a Knowledge,
}

impl Looking<'_> {
    /// A table and the answers to the queries; of those that cannot be answered, the problems.
    fn answers(
        &self,
        table: OpenTable,
        named: &[String],
        is_original: bool,
        problems: &mut Problems,
    ) -> Result<(Release, Vec<Vec<GroupAnswers>>), JobError> {
        self.run.enter(Stage::Open);
        let source = table()?;
        let may_have_labels = |name: &str| self.knowledge.is_quasi(name) != Some(false);
        let source = source.with_sets(|name| !is_original && may_have_labels(name));
        let layout =
            Layout::new(&source, self.knowledge, self.asked, (named, is_original), problems);
        self.run.enter(Stage::Read);
        let release = load(self.engine, &source, &layout, self.knowledge, problems)?;
        let answers = answer_all(&release, self.asked, problems);
        Ok((release, answers))
    }
}

/// The answers to all queries whose columns are there; every one that cannot be answered is a
/// problem.
fn answer_all(
    release: &Release,
    asked: &[Asked],
    problems: &mut Problems,
) -> Vec<Vec<GroupAnswers>> {
    let is_there = |name: &str| release.columns.iter().any(|column| column.name == name);
    let found: Vec<Option<Result<Vec<GroupAnswers>, QueryError>>> = asked
        .par_iter()
        .map(|asked| {
            let is_whole = columns(&asked.query).into_iter().all(is_there);
            is_whole.then(|| answer(release, &asked.query))
        })
        .collect();
    let mut answers = Vec::new();
    for (found, asked) in found.into_iter().zip(asked) {
        match found {
            Some(Ok(found)) => answers.push(found),
            failed => {
                let mut errors = mistakes(release, &asked.query);
                if let (Some(Err(error)), true) = (failed, errors.is_empty()) {
                    errors.push(error);
                }
                for error in errors {
                    problems.of_query(asked.at, unanswerable(&asked.text, &error));
                }
            }
        }
    }
    answers
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
        QueryError::GroupOfRanges { .. } | QueryError::UnknownGroups { .. } => problem.help("group by another column"),
        QueryError::TooManyGroups { .. } => problem.help("group by fewer columns"),
        _ => problem,
    }
}

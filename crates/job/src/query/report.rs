//! Answers as they are reported.

use std::collections::BTreeMap;

use incrowd_data::Aggregate;
use incrowd_engine::text_at;
use incrowd_evaluate::query::{
    Answer, Domain, GroupAnswers, Release, Summary, Value, deviation, summary,
};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value as Json;

use crate::query::Asked;

/// Answers to queries, and how far they lie from the truth.
#[derive(Clone, Debug, Serialize)]
pub struct QueryReport {
    /// Version of the tool.
    pub incrowd: &'static str,
    /// The release.
    pub release: TableReport,
    /// The table that it was made from, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<TableReport>,
    /// By query, its answers.
    pub queries: Vec<QueryAnswers>,
    /// The errors of all answers, if the original was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorsReport>,
}

/// A table that was queried.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// Rows.
    pub rows: u64,
}

/// The answers to one query.
#[derive(Clone, Debug, Serialize)]
pub struct QueryAnswers {
    /// The query.
    pub query: String,
    /// Its line in the file of queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// How much it counts beside the others, if that is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The columns that it groups by.
    pub group_by: Vec<String>,
    /// One entry, or one per group in the order of their values.
    pub rows: Vec<GroupReport>,
}

/// The answers of one group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// By group column, its value; `null` is missing.
    pub group: IndexMap<String, Json>,
    /// By aggregate.
    pub answers: Vec<AnswerReport>,
}

/// The answer to one aggregate.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerReport {
    /// The aggregate, e.g. `COUNT(*)`.
    pub aggregate: String,
    /// Its expected value; `null` over no rows.
    pub estimate: Json,
    /// Whether every table of which the labels are true gives this answer.
    pub exact: bool,
    /// It is no less in such a table; `null` where that is not known.
    pub least: Json,
    /// It is no greater in such a table; `null` where that is not known.
    pub greatest: Json,
    /// The truth, if the original was given.
    #[serde(flatten)]
    pub truth: Option<TruthReport>,
}

/// The truth and how far the estimate lies from it.
#[derive(Clone, Debug, Serialize)]
pub struct TruthReport {
    /// The answer over the original table.
    #[serde(rename = "true")]
    pub value: Json,
    /// |estimate - true|; `null` where one has no value or is no number.
    pub absolute_error: Option<f64>,
    /// The absolute error over max(|true|, 1).
    pub relative_error: Option<f64>,
}

/// The errors of many answers.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorsReport {
    /// Answers that have an error.
    pub answers: usize,
    /// Answers that are exact.
    pub exact: usize,
    /// Absolute errors.
    pub absolute: Option<ErrorSummary>,
    /// Relative errors.
    pub relative: Option<ErrorSummary>,
    /// The mean of the relative errors by the weights of their queries, if any query has a weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_relative_mean: Option<f64>,
}

/// What errors are like.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ErrorSummary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
    /// The median.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

impl QueryReport {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has a JSON form") + "\n"
    }
}

impl From<Summary> for ErrorSummary {
    fn from(summary: Summary) -> ErrorSummary {
        let Summary { mean, standard_deviation, median, p90, p95, p99, max } = summary;
        ErrorSummary { mean, standard_deviation, median, p90, p95, p99, max }
    }
}

/// Puts the answers together, with the truth if it is known.
pub(crate) fn report(
    asked: &[Asked],
    release: &Release,
    answers: &[Vec<GroupAnswers>],
    truth: Option<&(Release, Vec<Vec<GroupAnswers>>)>,
) -> QueryReport {
    let rows = |release: &Release| TableReport {
        rows: release.counts.iter().map(|&rows| u64::from(rows)).sum(),
    };
    let queries: Vec<QueryAnswers> = asked
        .iter()
        .zip(answers)
        .enumerate()
        .map(|(at, (asked, answers))| QueryAnswers {
            query: asked.text.text.clone(),
            line: asked.text.line,
            weight: Some(asked.text.weight).filter(|weight| weight.total_cmp(&1.0).is_ne()),
            group_by: asked.query.group_by.clone(),
            rows: groups(asked, release, answers, truth.map(|(table, all)| (table, &all[at][..]))),
        })
        .collect();
    let errors = truth.map(|_| errors(&queries));
    QueryReport {
        incrowd: crate::VERSION,
        release: rows(release),
        original: truth.map(|(table, _)| rows(table)),
        queries,
        errors,
    }
}

fn errors(queries: &[QueryAnswers]) -> ErrorsReport {
    let all = || queries.iter().flat_map(|q| &q.rows).flat_map(|group| &group.answers);
    let of = |error: fn(&TruthReport) -> Option<f64>| {
        all().filter_map(|answer| error(answer.truth.as_ref()?)).collect::<Vec<f64>>()
    };
    let absolute = of(|truth| truth.absolute_error);
    ErrorsReport {
        answers: absolute.len(),
        exact: all().filter(|answer| answer.exact).count(),
        absolute: summary(&absolute).map(ErrorSummary::from),
        relative: summary(&of(|truth| truth.relative_error)).map(ErrorSummary::from),
        weighted_relative_mean: weighted_relative_mean(queries),
    }
}

fn weighted_relative_mean(queries: &[QueryAnswers]) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for query in queries {
        let weight = query.weight.unwrap_or(1.0);
        for answer in query.rows.iter().flat_map(|group| &group.answers) {
            if let Some(error) = answer.truth.as_ref().and_then(|truth| truth.relative_error) {
                sum += weight * error;
                weights += weight;
            }
        }
    }
    let is_weighted = queries.iter().any(|query| query.weight.is_some());
    (is_weighted && weights > 0.0).then(|| sum / weights)
}

/// The values of a group, by which estimates and truths find each other.
type Values = Vec<Option<String>>;

/// The groups of a query: those of the release, then those that only the original has.
fn groups(
    asked: &Asked,
    release: &Release,
    answers: &[GroupAnswers],
    truth: Option<(&Release, &[GroupAnswers])>,
) -> Vec<GroupReport> {
    let mut truths: BTreeMap<Values, &GroupAnswers> = BTreeMap::new();
    if let Some((table, all)) = truth {
        truths.extend(all.iter().map(|found| (values(asked, table, found), found)));
    }
    let mut groups = Vec::new();
    for found in answers {
        let actual = truths.remove(&values(asked, release, found));
        let truth = truth.map(|(table, _)| (table, actual));
        groups.push(group(asked, release, found, &both(asked, release, Some(found), truth)));
    }
    if let Some((table, all)) = truth {
        for found in all.iter().filter(|found| truths.contains_key(&values(asked, table, found))) {
            let truth = Some((table, Some(found)));
            groups.push(group(asked, table, found, &both(asked, release, None, truth)));
        }
    }
    groups
}

fn values(asked: &Asked, table: &Release, found: &GroupAnswers) -> Values {
    let pairs = asked.query.group_by.iter().zip(&found.group);
    pairs.map(|(name, key)| key.map(|key| text_of(table, name, key))).collect()
}

fn group(
    asked: &Asked,
    table: &Release,
    found: &GroupAnswers,
    answers: &[AnswerReport],
) -> GroupReport {
    let json = |(name, key): (&String, &Option<f64>)| {
        (name.clone(), key.map_or(Json::Null, |key| json_of(table, name, key)))
    };
    let group = asked.query.group_by.iter().zip(&found.group).map(json).collect();
    GroupReport { group, answers: answers.to_vec() }
}

/// Estimates with the truth, if it is known. A group that one of the two tables lacks has no rows there.
fn both(
    asked: &Asked,
    release: &Release,
    found: Option<&GroupAnswers>,
    truth: Option<(&Release, Option<&GroupAnswers>)>,
) -> Vec<AnswerReport> {
    let one = |(at, aggregate): (usize, &Aggregate)| {
        let of = |found: Option<&GroupAnswers>| {
            found.map_or_else(|| of_no_rows(aggregate), |found| found.answers[at])
        };
        let answer = of(found);
        let json = |table: &Release, value: Option<f64>| match aggregate {
            Aggregate::Min(column) | Aggregate::Max(column) => {
                value.map_or(Json::Null, |key| json_of(table, column, key))
            }
            _ => value.map_or(Json::Null, Json::from),
        };
        let truth = truth.map(|(table, actual)| {
            let actual = of(actual).estimate;
            let is_number = match aggregate {
                Aggregate::Min(column) | Aggregate::Max(column) => {
                    domain(table, column).is_number() && domain(release, column).is_number()
                }
                _ => true,
            };
            let error = deviation(answer.estimate, actual).filter(|_| is_number);
            TruthReport {
                value: json(table, actual),
                absolute_error: error.map(|error| error.absolute),
                relative_error: error.map(|error| error.relative),
            }
        });
        AnswerReport {
            aggregate: name_of(aggregate),
            estimate: json(release, answer.estimate),
            exact: answer.exact,
            least: json(release, answer.least),
            greatest: json(release, answer.greatest),
            truth,
        }
    };
    asked.query.aggregates.iter().enumerate().map(one).collect()
}

fn of_no_rows(aggregate: &Aggregate) -> Answer {
    let is_count = matches!(aggregate, Aggregate::Count | Aggregate::CountOf(_));
    Answer { estimate: is_count.then_some(0.0), exact: false, least: None, greatest: None }
}

fn name_of(aggregate: &Aggregate) -> String {
    match aggregate {
        Aggregate::Count => "COUNT(*)".to_owned(),
        Aggregate::CountOf(column) => format!("COUNT({column})"),
        Aggregate::Sum(column) => format!("SUM({column})"),
        Aggregate::Avg(column) => format!("AVG({column})"),
        Aggregate::Min(column) => format!("MIN({column})"),
        Aggregate::Max(column) => format!("MAX({column})"),
    }
}

fn domain<'a>(table: &'a Release, column: &str) -> &'a Domain {
    let found = table.columns.iter().find(|known| known.name == column);
    &found.expect("queries look at columns that were read").domain
}

/// The text of a value.
fn text_of(table: &Release, column: &str, key: f64) -> String {
    match domain(table, column).value(key) {
        Some(Value::Position(line, at)) => match line.width {
            Some(width) => format!("{at:0width$}"),
            None => text_at(line.kind, at),
        },
        Some(Value::Text(text)) => text.to_owned(),
        None => String::new(),
    }
}

/// A value in JSON: numbers as such, anything else as text.
fn json_of(table: &Release, column: &str, key: f64) -> Json {
    let domain = domain(table, column);
    let is_padded = matches!(domain, Domain::Line(line) if line.width.is_some());
    if !domain.is_number() || is_padded {
        return Json::from(text_of(table, column, key));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    if key.fract() == 0.0 && key.abs() < 9e15 { Json::from(key as i64) } else { Json::from(key) }
}

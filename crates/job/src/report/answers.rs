//! Answers to queries, as they are reported.

use incrowd_evaluate::query::Summary;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value as Json;

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

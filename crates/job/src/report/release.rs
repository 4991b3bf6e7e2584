//! What a job reports: JSON with stable keys (`docs/src/report.md`, *For programs*).

use indexmap::IndexMap;
use serde::Serialize;

use crate::report::page::percent;
use crate::report::{
    AsTheyAreReport, InferenceReport, RecodingKind, RepeatsReport, WorkloadReport,
};
use crate::spec::JobSpec;

/// What became of a job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Done; what was found is in the report.
    Done(Box<Done>),
    /// No release satisfies the job, or the table does not satisfy the check.
    Failed {
        /// Why, a sentence each.
        reasons: Vec<String>,
        /// What can be done about it.
        help: Option<String>,
        /// What was found, where something was.
        report: Option<Box<Report>>,
    },
}

impl Outcome {
    /// What was found, where something was.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        match self {
            Outcome::Done(done) => Some(&done.report),
            Outcome::Failed { report, .. } => report.as_deref(),
        }
    }
}

/// A job that was done.
#[derive(Clone, Debug)]
pub struct Done {
    /// What was found.
    pub report: Report,
    /// What the user should know although the job was done.
    pub warnings: Vec<String>,
}

/// The report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the tool.
    pub incrowd: &'static str,
    /// The table that was read.
    pub input: InputReport,
    /// The effective job.
    pub job: JobSpec,
    /// How the search went; none where nothing was searched.
    pub search: Option<SearchReport>,
    /// The recoding; none where there is none.
    pub recoding: Option<RecodingReport>,
    /// The table that was written or measured.
    pub release: ReleaseReport,
    /// By quasi-identifier set, coalitions included.
    pub privacy: Vec<PrivacyReport>,
    /// What attackers would find who put their knowledge together: every two sets, and all. Only
    /// where there are several sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collusion: Vec<CollusionReport>,
    /// Of the set with the greatest risk.
    pub risk: RiskReport,
    /// Rows that are unique on the columns released as they are; none without such a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_they_are: Option<AsTheyAreReport>,
    /// The column that numbers people who have several rows, where the job declares no entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<RepeatsReport>,
    /// By quasi-identifier column of numbers or dates, the rows whose values follow from what the
    /// release prints of their class. Only of a release.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub inference: IndexMap<String, InferenceReport>,
    /// What was lost.
    pub measures: MeasuresReport,
    /// How good the release is for its workload, if the job names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReport>,
    /// What the user should know although the job was done, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Where the time went.
    pub timings_s: Timings,
}

/// The table that was read.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: usize,
}

/// How the search went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SearchReport {
    /// The algorithm.
    pub algorithm: String,
    /// Its variant.
    pub variant: Option<String>,
    /// Whether the result is proved to be the best of its kind.
    pub optimal: bool,
    /// What the search minimised, if it minimised something.
    pub cost: Option<f64>,
    /// What is proved about the least cost.
    pub lower_bound: Option<f64>,
    /// Nodes whose statistics were looked at.
    pub nodes_checked: u64,
    /// Nodes that a breadth-first full-domain search would look at if marks were transitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_checked_transitive: Option<u64>,
    /// Nodes of the whole search space, where it is finite and known.
    pub nodes_total: Option<u64>,
    /// Passes over the table.
    pub table_scans: u64,
    /// Frequency sets that were rolled up from others instead.
    pub rollups: u64,
    /// Distinct vectors of the quasi-identifier that were searched; a full-domain search groups
    /// them at every node anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_vectors: Option<u64>,
    /// Seconds.
    pub elapsed_s: f64,
    /// Most memory that the process held, where the system says it.
    pub peak_memory_bytes: Option<u64>,
    /// All minimal nodes of a full-domain search, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<Vec<MinimalReport>>,
}

/// A node that can be released while nothing below it can.
#[derive(Clone, Debug, Serialize)]
pub struct MinimalReport {
    /// By column, its level.
    pub levels: IndexMap<String, u8>,
    /// Sum of levels.
    pub height: u64,
    /// Rows that are left out.
    pub suppressed: u64,
    /// What it costs.
    pub cost: f64,
}

/// The recoding.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecodingReport {
    /// What its classes depend on.
    pub kind: RecodingKind,
    /// The k that an applied recoding was found with, where it is verified at another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_with_k: Option<u64>,
    /// By column, the level of a full-domain recoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<IndexMap<String, u8>>,
    /// By column, how many different cells it has in the release: labels, pairs of bounds, or
    /// means.
    pub cells: IndexMap<String, usize>,
}

/// The table that was written or measured.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseReport {
    /// Rows.
    pub rows: u64,
    /// Rows that were left out.
    pub suppressed: u64,
    /// Classes, over all quasi-identifier columns.
    pub classes: u64,
    /// Rows of the smallest one.
    pub smallest_class: u64,
    /// Rows of the largest one.
    pub largest_class: u64,
    /// Classes by size, in steps that double.
    pub class_sizes: Vec<SizesReport>,
}

/// Classes of about the same size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizesReport {
    /// Rows of such a class at least: a power of two.
    pub least: u64,
    /// Rows at most.
    pub greatest: u64,
    /// How many classes there are.
    pub classes: u64,
    /// Their rows.
    pub rows: u64,
}

/// What holds for one quasi-identifier set.
#[derive(Clone, Debug, Serialize)]
pub struct PrivacyReport {
    /// The set.
    pub quasi: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Least rows (or entities) of a class.
    pub k: u64,
    /// Least number of distinct sensitive values of a class, over the sensitive columns.
    pub l_distinct: Option<f64>,
    /// Least l of entropy l-diversity.
    pub l_entropy: Option<f64>,
    /// Greatest distance of t-closeness.
    pub t: Option<f64>,
    /// The same by sensitive column.
    pub sensitive: IndexMap<String, SensitiveReport>,
    /// The risk of being found by whoever knows these columns.
    pub risk: RiskReport,
    /// What was asked for.
    pub required: IndexMap<String, serde_json::Value>,
    /// The models that do not hold, with the number of classes and rows that break them.
    pub broken: Vec<BrokenReport>,
    /// Whether all hold.
    pub satisfied: bool,
}

impl PrivacyReport {
    /// What the risk with respect to the set means.
    #[must_use]
    pub fn in_words(&self) -> String {
        let RiskReport { prosecutor_max, marketer, share_above, .. } = &self.risk;
        // The risk is 1 over a number of people, but for rounding.
        let one_in = |risk: f64| format!("1 in {:.0}", (1.0 / risk).max(1.0));
        let above: Vec<String> = (share_above.iter())
            .map(|(risk, share)| format!("above {risk} for {}", percent(*share)))
            .collect();
        format!(
            "who knows {} of a person in the table picks the right record {} times at worst,\n  \
             {} over all records; the risk is {} of the records",
            self.columns_in_words(),
            one_in(*prosecutor_max),
            one_in(*marketer),
            above.join(", ")
        )
    }

    /// The columns as they stand in a sentence.
    pub(crate) fn columns_in_words(&self) -> String {
        match self.columns.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            columns => columns.join(""),
        }
    }
}

/// What the attackers of some sets would find together.
#[derive(Clone, Debug, Serialize)]
pub struct CollusionReport {
    /// The sets.
    pub quasi: Vec<String>,
    /// All their columns.
    pub columns: Vec<String>,
    /// Least rows (or entities) of a class.
    pub k: u64,
    /// The risk of being found by them; records are at risk below the greatest k of the sets.
    pub risk: RiskReport,
    /// Whether the job asks that it holds: of this coalition, or of a set with all these columns.
    pub required: bool,
}

/// What holds for one sensitive column.
#[derive(Clone, Debug, Serialize)]
pub struct SensitiveReport {
    /// Least number of distinct values of a class.
    pub l_distinct: f64,
    /// Least l of entropy l-diversity.
    pub l_entropy: f64,
    /// Greatest distance of t-closeness.
    pub t: f64,
    /// The c above which recursive (c,l)-diversity holds with the l of `l_distinct`, and that l;
    /// none where it is 1.
    pub l_recursive: Option<(f64, usize)>,
    /// Greatest share of one value in a class.
    pub alpha: f64,
    /// Greatest logarithm of a value's share in a class over that in the table, of the values that
    /// occur in it.
    pub delta: f64,
    /// Greatest gain of a value's share in a class over that in the table.
    pub beta: f64,
    /// The least beta of enhanced beta-likeness; none where it holds for no beta.
    pub beta_enhanced: Option<f64>,
}

/// A model that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct BrokenReport {
    /// The model.
    pub model: String,
    /// Classes that break it.
    pub classes: u64,
    /// Their rows.
    pub rows: u64,
}

/// The risk of being found.
#[derive(Clone, Debug, Serialize)]
pub struct RiskReport {
    /// Greatest risk of a record, if the attacker knows that the person is in the table.
    pub prosecutor_max: f64,
    /// Mean risk.
    pub prosecutor_average: f64,
    /// Greatest risk of a record, if the attacker does not know that: without a table of the
    /// population no more is known than that it is not above the prosecutor's.
    pub journalist_max: f64,
    /// Share of records that an attacker links rightly who links all of them, on average.
    pub marketer: f64,
    /// Records in classes below k (below 5 where no k is asked for).
    pub records_at_risk: u64,
    /// By risk, the share of records whose own risk is above it.
    pub share_above: IndexMap<String, f64>,
}

/// What was lost; none where a measure makes no sense.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuresReport {
    /// Sum of squared class sizes.
    pub discernibility: f64,
    /// Rows per class over k.
    pub average_class_size: Option<f64>,
    /// Mean loss of a cell.
    pub loss: Option<f64>,
    /// By column, its mean loss.
    pub loss_by_column: IndexMap<String, f64>,
    /// Hidden bits over all bits.
    pub entropy: Option<f64>,
    /// Rows outside the majority target value of their class.
    pub classification: Option<f64>,
    /// Mean of level over height.
    pub precision: Option<f64>,
    /// Sum of levels of a full-domain recoding.
    pub height: Option<u64>,
}

/// Seconds by stage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timings {
    /// Looking at the input and reading it.
    pub read: f64,
    /// Collapsing and searching.
    pub search: f64,
    /// Finding cells, labels and the order of the rows.
    pub recode: f64,
    /// Reading back and measuring.
    pub verify: f64,
    /// Writing and flushing.
    pub write: f64,
    /// What an HTML report takes beyond that; nothing where none is asked for.
    pub report: f64,
}

impl Report {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has a JSON form") + "\n"
    }
}

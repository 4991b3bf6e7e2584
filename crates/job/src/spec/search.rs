//! How a job searches, and what its release is for.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How to search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SearchSpec {
    /// The algorithm's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Relaxed partitioning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<bool>,
    /// The algorithm's variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The measure whose value is reported as the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// How mondrian chooses its cuts: `median`, `infogain`, `lsd`, `selection`, `queries`, or
    /// several that are asked in turn, as `selection,infogain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// By column, the level or levels of a full-domain recoding: `2`, `"1..3"`, `"1.."`, `"..3"`,
    /// both ends included.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub levels: IndexMap<String, LevelSpec>,
    /// By column, its weight in the loss or precision that a full-domain search minimises.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub weights: IndexMap<String, f64>,
    /// What random choices are made from; Mondrian makes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// A recoding file whose cuts koptimize begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// What a release is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct WorkloadSpec {
    /// Columns that a model will predict; the same as `target = true` of the column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// What will be selected: conditions as after SQL's `WHERE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
    /// What will be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QuerySpec>,
    /// A file with more queries, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_file: Option<String>,
}

impl WorkloadSpec {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == WorkloadSpec::default()
    }
}

/// A query of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a query is a text, or { sql = \"SELECT ...\", weight = 2.0 }")]
pub enum QuerySpec {
    /// Its text.
    Sql(String),
    /// Its text and how much it counts beside the others.
    Weighted(WeightedQuerySpec),
}

/// A query of a workload with its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedQuerySpec {
    /// Its text.
    pub sql: String,
    /// Its weight, 1 if it is not said.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

/// The levels that a column may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "levels are 2, \"1..3\", \"1..\" or \"..3\"")]
pub enum LevelSpec {
    /// Just this one.
    Fixed(u8),
    /// `"2"`, `"1..3"`, `"1.."` or `"..3"`, both ends included.
    Range(String),
}

/// A least and a greatest level; an open end is none.
pub(crate) type LevelBounds = (Option<u8>, Option<u8>);

impl LevelSpec {
    /// The least and greatest level.
    pub(crate) fn bounds(&self) -> Option<LevelBounds> {
        let text = match self {
            LevelSpec::Fixed(level) => return Some((Some(*level), Some(*level))),
            LevelSpec::Range(text) => text.trim(),
        };
        let Some((low, high)) = text.split_once("..") else {
            let level = text.parse().ok()?;
            return Some((Some(level), Some(level)));
        };
        let high = high.strip_prefix('=').unwrap_or(high);
        let end = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        match (end(low)?, end(high)?) {
            (Some(low), Some(high)) if low > high => None,
            bounds => Some(bounds),
        }
    }
}

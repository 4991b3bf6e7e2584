//! What a job says of columns.

use serde::{Deserialize, Serialize};

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ColumnSpec {
    /// `identifier`, `quasi`, `sensitive` or `insensitive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `integer`, `decimal`, `boolean`, `date`, `timestamp` or `text`; found out if it is not said.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The values in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// A hierarchy file whose leaves are the values in their order; it does not bind what is put
    /// together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_from: Option<String>,
    /// Ranges of equal width that stay together, for numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinsSpec>,
    /// A file, or how to build one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchySpec>,
    /// Whether a model will predict it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub target: bool,
    /// Whether k counts its distinct values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entity: bool,
}

/// Ranges of equal width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BinsSpec {
    /// Their width; they are counted from 0.
    Width(f64),
    /// Their width, and where they are counted from.
    From(CountedBins),
}

/// Ranges of equal width that are counted from some number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CountedBins {
    /// Their width.
    pub width: f64,
    /// Where one of them begins.
    #[serde(default)]
    pub origin: f64,
}

impl BinsSpec {
    /// Their width, and where they are counted from.
    #[must_use]
    pub fn width_and_origin(&self) -> (f64, f64) {
        match self {
            BinsSpec::Width(width) => (*width, 0.0),
            BinsSpec::From(CountedBins { width, origin }) => (*width, *origin),
        }
    }
}

/// A hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HierarchySpec {
    /// A file in the form of ARX.
    File(String),
    /// Built from the column's values.
    Built(BuiltSpec),
    /// Rows `leaf, level 1, ..., root`.
    Rows(Vec<Vec<String>>),
}

/// How to build a hierarchy: just one of `mask`, `dates`, `width` and `fan-out`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BuiltSpec {
    /// Hide characters from the `left` or the `right`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// The character that hides, `*` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub character: Option<char>,
    /// `day`, `week`, `month`, `quarter`, `year`, `decade`, `century`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Vec<String>>,
    /// Width of the first intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Where intervals are counted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<f64>,
    /// How many neighbours each further level joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u32>>,
    /// How many neighbours each level joins, in the order of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<usize>,
}

/// A named quasi-identifier set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuasiSpec {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Least size of its classes; that of the job if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// The same as the job's `collude`: what stands behind the last set in a TOML file is a key of
    /// that set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collude: Vec<Vec<String>>,
}

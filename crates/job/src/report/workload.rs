//! How good a release is for its workload, as it is reported.

use serde::Serialize;

/// How good a release is for its workload.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadReport {
    /// By target that the search looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetFigures>,
    /// By selection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selections: Vec<SelectionFigures>,
}

/// What classes tell about a target.
#[derive(Clone, Debug, Serialize)]
pub struct TargetFigures {
    /// The column.
    pub column: String,
    /// Bits a row that are open about its label without a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// Bits a row that its class leaves open about its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditional_entropy: Option<f64>,
    /// The part of a number's squared error that is left within classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_share: Option<f64>,
}

/// How precisely rows can be selected.
#[derive(Clone, Debug, Serialize)]
pub struct SelectionFigures {
    /// The condition.
    pub select: String,
    /// Rows that satisfy it.
    pub rows: u64,
    /// Further rows of classes that overlap it.
    pub imprecision: u64,
}

//! What is reported of models that were tried on held-out rows.

use serde::Serialize;

use crate::spec::JobSpec;

/// How good models are that are trained on releases: by algorithm and k.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluations {
    /// The version.
    pub incrowd: &'static str,
    /// The effective job.
    pub job: JobSpec,
    /// How rows were held out.
    pub protocol: Protocol,
    /// The columns that models predict from.
    pub predictors: Vec<PredictorReport>,
    /// Released columns that models do not see, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutColumn>,
    /// By algorithm and k.
    pub cases: Vec<EvaluatedCase>,
    /// Algorithms against each other, by k, target and model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<BetweenReport>,
}

/// A column that models predict from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PredictorReport {
    /// Its name.
    pub column: String,
    /// Whether models see it recoded, or as it is.
    pub is_recoded: bool,
}

/// A column that is released, but no predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutColumn {
    /// Its name.
    pub column: String,
    /// Why.
    pub reason: String,
}

/// One algorithm for one k.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluatedCase {
    /// The algorithm as it was named.
    pub algorithm: String,
    /// Least size of a class.
    pub k: u64,
    /// Why nothing was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What was found.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub found: Option<Evaluation>,
}

/// How good models are that are trained on the releases of one algorithm for one k.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The releases of the training rows, as means over the folds.
    pub release: ReleaseMeans,
    /// By target.
    pub targets: Vec<TargetReport>,
    /// By selection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selections: Vec<SelectionReport>,
}

/// How rows were held out, and how figures are compared.
#[derive(Clone, Debug, Serialize)]
pub struct Protocol {
    /// Rows in all.
    pub rows: usize,
    /// How often rows were held out, each time that was repeated.
    pub folds: usize,
    /// How often that was repeated.
    pub repeats: usize,
    /// Rows that were held out each time (the first time, if that differs).
    pub held_out: usize,
    /// What the choice of rows was made from.
    pub seed: u64,
    /// How differences are tested; intervals are of 95%.
    pub test: &'static str,
}

/// The releases of the training rows, as means over the folds.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseMeans {
    /// Classes.
    pub classes: f64,
    /// Rows a class.
    pub class_size: f64,
    /// Mean loss of a cell.
    pub loss: f64,
    /// Rows that were left out.
    pub suppressed: f64,
}

/// A mean over the folds and how far they scatter.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

/// A difference of two figures that were measured on the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DifferenceReport {
    /// The mean: the first less the second.
    pub mean: f64,
    /// The lower end of its interval of 95%.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// How probable a difference at least as great is if there is none.
    pub p: f64,
}

impl DifferenceReport {
    /// Whether the interval leaves 0 out.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.lower > 0.0 || self.upper < 0.0
    }
}

/// How well one column is predicted.
#[derive(Clone, Debug, Serialize)]
pub struct TargetReport {
    /// The column.
    pub column: String,
    /// `labels` or `numbers`.
    pub kind: &'static str,
    /// What the models' figures are: `accuracy` or `mean_absolute_error`.
    pub measure: &'static str,
    /// The figure of always answering the commonest label, or the mean number, of the training
    /// rows.
    pub majority: Figure,
    /// The same fold by fold.
    #[serde(skip)]
    pub(crate) majority_by_fold: Vec<f64>,
    /// By model.
    pub models: Vec<ModelReport>,
    /// Bits a row that the class of a training row leaves open about its label (equation 7).
    pub conditional_entropy: Option<f64>,
    /// The same with the best predictors dropped one by one, for the first model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub projections: Vec<ProjectionReport>,
}

/// How good a model is.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Its name.
    pub model: &'static str,
    /// Trained on the release.
    pub released: Figure,
    /// Trained on the original rows.
    pub original: Figure,
    /// The release less the original.
    pub difference: Option<DifferenceReport>,
    /// Trained on the release, fold by fold.
    pub released_by_fold: Vec<f64>,
    /// Trained on the original rows, fold by fold.
    pub original_by_fold: Vec<f64>,
}

/// How good a model is without some columns.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectionReport {
    /// How many of the best predictors of the training rows are dropped.
    pub dropped: usize,
    /// Which, in the first fold.
    pub columns: Vec<String>,
    /// Trained on the release.
    pub released: Figure,
    /// Trained on the original rows.
    pub original: Figure,
}

/// How precisely rows can be selected from the releases of the training rows.
#[derive(Clone, Debug, Serialize)]
pub struct SelectionReport {
    /// The condition.
    pub select: String,
    /// Rows that satisfy it.
    pub rows: Figure,
    /// Rows of classes that overlap it and do not satisfy it (equation 5).
    pub imprecision: Figure,
}

/// Two algorithms on the same held-out rows.
#[derive(Clone, Debug, Serialize)]
pub struct BetweenReport {
    /// Least size of a class.
    pub k: u64,
    /// The column that is predicted.
    pub target: String,
    /// The model.
    pub model: &'static str,
    /// An algorithm.
    pub first: String,
    /// Another one.
    pub second: String,
    /// The figure of the first less that of the second.
    pub difference: DifferenceReport,
}

impl Evaluations {
    /// The evaluation as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an evaluation has a JSON form") + "\n"
    }

    /// The cases that were evaluated.
    pub(crate) fn found(&self) -> impl Iterator<Item = (&EvaluatedCase, &Evaluation)> {
        self.cases.iter().filter_map(|case| Some((case, case.found.as_ref()?)))
    }
}

//! What a comparison of algorithms found, as it is reported.

use serde::Serialize;

use super::{
    DifferenceReport, MeasuresReport, PrivacyReport, Protocol, ReleaseReport, RiskReport,
    SearchReport, WorkloadReport,
};
use crate::spec::JobSpec;

/// How several algorithms did.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of the tool.
    pub incrowd: &'static str,
    /// The job, but for its algorithm and k.
    pub job: JobSpec,
    /// Rows of the input.
    pub rows: u64,
    /// By algorithm and k.
    pub cases: Vec<Compared>,
    /// How good models are that are trained on the releases, where the job has a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// Which to take, if any came to an end.
    pub advice: Option<Advice>,
}

/// How one algorithm did for one k.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The algorithm as it was named.
    pub algorithm: String,
    /// Least size of a class.
    pub k: u64,
    /// Seconds from the file to the verified file.
    pub elapsed_s: f64,
    /// Why there is no release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Whether the algorithm cannot do such a job at all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// The release.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<FoundCase>>,
}

/// A release that was made and measured.
#[derive(Clone, Debug, Serialize)]
pub struct FoundCase {
    /// How the search went.
    pub search: Option<SearchReport>,
    /// Its size.
    pub release: ReleaseReport,
    /// What holds for each set.
    pub privacy: Vec<PrivacyReport>,
    /// Of the set with the greatest risk.
    pub risk: RiskReport,
    /// What was lost.
    pub measures: MeasuresReport,
    /// How good it is for its workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReport>,
    /// How good models are on held-out rows that are trained on such releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOutScore>,
}

impl Comparison {
    /// Whether a value is the least of several, and not the same as all of them: then it marks
    /// nothing.
    #[must_use]
    pub fn is_best(value: f64, all: impl Iterator<Item = f64>) -> bool {
        let (mut is_least, mut is_less) = (true, false);
        for other in all {
            is_least &= value <= other;
            is_less |= value < other;
        }
        is_least && is_less
    }

    /// A score on held-out rows as something of which less is better.
    #[must_use]
    pub fn cost_of(&self, score: &HeldOutScore) -> f64 {
        let is_accuracy = self.held_out.as_ref().is_some_and(HeldOut::is_accuracy);
        if is_accuracy { -score.mean } else { score.mean }
    }

    /// Algorithms that cannot do such a job, each with a reason.
    #[must_use]
    pub fn left_out(&self) -> Vec<(&str, &str)> {
        let mut left_out: Vec<(&str, &str)> = Vec::new();
        for case in self.cases.iter().filter(|case| case.left_out) {
            let one = (case.algorithm.as_str(), case.failed.as_deref().unwrap_or_default());
            if !left_out.contains(&one) {
                left_out.push(one);
            }
        }
        left_out
    }

    /// The comparison as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a comparison has a JSON form") + "\n"
    }
}

/// Which algorithm to take.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Its name.
    pub algorithm: String,
    /// What was compared: `loss`, or what the workload asks for.
    pub by: &'static str,
    /// A sentence for people.
    pub why: String,
    /// The algorithm against each other one on held-out rows, over all k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Against>,
}

/// The recommended algorithm against another one.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// The other one.
    pub algorithm: String,
    /// Its mean score.
    pub mean: f64,
    /// The score of the recommended one less its own; intervals of all others together miss with
    /// 5%.
    pub difference: DifferenceReport,
    /// Whether the interval leaves 0 out.
    pub is_shown: bool,
}

/// How good models are that are trained on releases.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOut {
    /// What scores are: `accuracy`, or `error share`.
    pub measure: &'static str,
    /// The models, whose scores are averaged.
    pub models: Vec<&'static str>,
    /// How rows were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Algorithms without a score, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutScore>,
}

/// An algorithm that was not tried on held-out rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WithoutScore {
    /// Its name; all of them if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Why.
    pub reason: String,
}

/// A score on held-out rows, with its interval of 95%.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOutScore {
    /// The mean over the folds.
    pub mean: f64,
    /// The lower end of its interval.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// Fold by fold.
    pub by_fold: Vec<f64>,
}

impl HeldOut {
    pub(crate) const ACCURACY: &str = "accuracy";
    pub(crate) const ERROR_SHARE: &str = "error share";

    /// Whether more of it is better.
    #[must_use]
    pub fn is_accuracy(&self) -> bool {
        self.measure == HeldOut::ACCURACY
    }

    /// The mean ratio of held-out to training rows.
    pub(crate) fn ratio(&self) -> f64 {
        self.protocol.as_ref().map_or(0.0, |protocol| {
            let held_out = protocol.rows as f64 / protocol.folds as f64;
            held_out / (protocol.rows as f64 - held_out)
        })
    }

    pub(crate) fn nothing(reason: impl Into<String>) -> HeldOut {
        let without = vec![WithoutScore { algorithm: None, reason: reason.into() }];
        HeldOut { measure: HeldOut::ACCURACY, models: Vec::new(), protocol: None, without }
    }
}

/// What a release is judged by, and its value: the workload's figure where the job has one. Less is
/// better.
pub(crate) fn judged(found: &FoundCase) -> Option<(&'static str, f64)> {
    if let Some(workload) = &found.workload {
        let open = workload.targets.iter().filter_map(|target| target.conditional_entropy);
        if let Some(bits) = mean(open) {
            return Some(("conditional entropy of the targets", bits));
        }
        let left = workload.targets.iter().filter_map(|target| target.error_share);
        if let Some(share) = mean(left) {
            return Some(("squared error of the targets", share));
        }
        let rows = workload.selections.iter().map(|selection| selection.imprecision as f64);
        if let Some(rows) = mean(rows) {
            return Some(("imprecision of the selections", rows));
        }
    }
    found.measures.loss.map(|loss| ("loss", loss))
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

impl WithoutScore {
    /// A sentence for people, without its end.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.algorithm {
            Some(name) => format!("`{name}` has no score on held-out rows: {}", self.reason),
            None => format!("there are no scores on held-out rows: {}", self.reason),
        }
    }
}

/// A number with as many digits as tell something.
pub(crate) fn figure(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.4}") }
}

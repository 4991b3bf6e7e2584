//! One table, several recodings, several k.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_job::{EvaluateOptions, Evaluation, ModelReport};

use super::super::Lab;
use crate::Failure;

/// Evaluations of several recodings at several k.
pub(super) struct Sweep {
    pub(super) ks: Vec<u64>,
    /// By recoding, its name and an evaluation for each k.
    pub(super) recodings: Vec<(&'static str, Vec<Evaluation>)>,
}

/// A k on an axis.
pub(super) fn place(k: u64) -> f64 {
    k as f64
}

impl Sweep {
    /// Evaluates every recoding at every k; `job` writes the job of a k and of what it says of its
    /// search.
    pub(super) fn run(
        lab: &Lab,
        ks: &[u64],
        recodings: &[(&'static str, &str)],
        job: impl Fn(u64, &str) -> String,
        options: &EvaluateOptions,
    ) -> Result<Sweep, Failure> {
        let one = |search: &str, k: u64| lab.evaluate(&job(k, search), options);
        let all = |&(name, search): &(&'static str, &str)| -> Result<_, Failure> {
            let evaluations = ks.iter().map(|&k| one(search, k));
            Ok((name, evaluations.collect::<Result<Vec<Evaluation>, Failure>>()?))
        };
        let recodings = recodings.iter().map(all).collect::<Result<_, Failure>>()?;
        Ok(Sweep { ks: ks.to_vec(), recodings })
    }

    /// A value of a recoding by k.
    pub(super) fn values(&self, recoding: usize, of: impl Fn(&Evaluation) -> f64) -> Vec<f64> {
        self.recodings[recoding].1.iter().map(of).collect()
    }

    /// A chart of a value by k, a line for each recoding.
    pub(super) fn chart(
        &self,
        title: &str,
        y: Axis,
        original: Option<usize>,
        of: impl Fn(&Evaluation) -> f64,
    ) -> String {
        let points = |values: Vec<f64>| {
            self.ks.iter().map(|&k| place(k)).zip(values).collect::<Vec<(f64, f64)>>()
        };
        let series = (0..self.recodings.len())
            .map(|at| Series::new(self.recodings[at].0, points(self.values(at, &of))));
        let original = original.map(|model| {
            let of = |one: &Evaluation| one.targets[0].models[model].original.mean;
            Series::new("original", points(self.values(0, of)))
        });
        let series = series.chain(original).collect();
        Lines { title: title.to_owned(), x: Axis::log("k"), y, series }.svg()
    }
}

/// What a model that is trained on a release scores.
pub(super) fn released(model: usize) -> impl Fn(&Evaluation) -> f64 {
    move |one| one.targets[0].models[model].released.mean
}

/// The report of a model.
pub(super) fn model(one: &Evaluation, model: usize) -> &ModelReport {
    &one.targets[0].models[model]
}

/// The entropy that classes leave.
pub(super) fn entropy(one: &Evaluation) -> f64 {
    one.targets[0].conditional_entropy.unwrap_or(f64::NAN)
}

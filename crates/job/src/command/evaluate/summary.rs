//! The figures of all folds put together.

use incrowd_evaluate::learn::paired::{Difference, mcnemar, over_rows, resampled};
use incrowd_evaluate::learn::score::{mean, standard_deviation};

use super::points::Truth;
use super::score::{Fitted, FoldResult, Trial};
use super::{Contest, Entrant};
use crate::plan::Plan;
use crate::report::{
    BetweenReport, DifferenceReport, EvaluatedCase, Evaluation, Evaluations, Figure, ModelReport,
    PredictorReport, ProjectionReport, Protocol, ReleaseMeans, SelectionReport, TargetReport,
};
use crate::spec::JobSpec;

/// Intervals miss the truth with this probability.
pub(crate) const ALPHA: f64 = 0.05;
const OVER_FOLDS: &str = "corrected resampled t-test over the folds";

const OVER_ROWS: &str =
    "on the held-out rows: exact McNemar test for labels, paired t-test for numbers";

/// All folds that were tried.
pub(super) struct Tried<'a> {
    pub(super) truth: &'a Truth,
    pub(super) held: &'a [FoldResult],
    pub(super) repeats: usize,
    pub(super) seed: u64,
}

/// A mean over folds that have a row to be tried on.
fn figure(values: impl Iterator<Item = f64>) -> Figure {
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    Figure { mean: mean(&values), deviation: standard_deviation(&values) }
}

/// Compares figures fold by fold. `ratio` is that of held-out to training rows.
pub(crate) fn by_fold(
    first: &[f64],
    second: &[f64],
    ratio: f64,
    alpha: f64,
) -> Option<DifferenceReport> {
    let pairs = first.iter().zip(second).map(|(first, second)| first - second);
    let differences: Vec<f64> = pairs.filter(|difference| !difference.is_nan()).collect();
    resampled(&differences, ratio, alpha).map(DifferenceReport::from)
}

impl From<Difference> for DifferenceReport {
    fn from(Difference { mean, lower, upper, p }: Difference) -> DifferenceReport {
        DifferenceReport { mean, lower, upper, p }
    }
}

/// The mean ratio of held-out to training rows.
#[expect(clippy::cast_precision_loss, reason = "rows of a table")]
fn ratio(held: &[FoldResult]) -> f64 {
    mean(&held.iter().map(|held| held.n_tested as f64 / held.n_train as f64).collect::<Vec<f64>>())
}

impl Tried<'_> {
    pub(super) fn evaluations(
        &self,
        spec: &JobSpec,
        contest: &Contest,
        n_rows: usize,
    ) -> Evaluations {
        let predictors = self.truth.predictors.iter().enumerate();
        let predictors = predictors.map(|(at, predictor)| PredictorReport {
            column: predictor.name.clone(),
            is_recoded: at < self.truth.n_recoded,
        });
        let left_out = contest.left_out.iter().map(|(place, case, reason)| {
            let (algorithm, failed) = (case.algorithm.clone(), Some(reason.clone()));
            (*place, EvaluatedCase { algorithm, k: case.k, failed, found: None })
        });
        let tried = contest.entrants.iter().enumerate();
        let tried = tried.map(|(at, entrant)| (entrant.place, self.case(at, entrant)));
        let mut cases: Vec<(usize, EvaluatedCase)> = left_out.chain(tried).collect();
        cases.sort_by_key(|(place, _)| *place);
        let cases = cases.into_iter().map(|(_, case)| case).collect();
        Evaluations {
            incrowd: crate::VERSION,
            job: spec.clone(),
            protocol: Protocol {
                rows: n_rows,
                folds: self.held.len() / self.repeats,
                repeats: self.repeats,
                held_out: self.held[0].n_tested,
                seed: self.seed,
                test: if self.held.len() > 1 { OVER_FOLDS } else { OVER_ROWS },
            },
            predictors: predictors.collect(),
            left_out: self.truth.left_out.clone(),
            cases,
            between: self.between(contest),
        }
    }

    /// By fold, what came of a case, or the first reason why nothing came of it.
    fn fitted(&self, case: usize) -> Result<Vec<&Fitted>, String> {
        let folds = self.held.iter().map(|held| held.cases[case].as_ref());
        folds.collect::<Result<_, _>>().map_err(|problem| problem.message.clone())
    }

    fn case(&self, at: usize, entrant: &Entrant) -> EvaluatedCase {
        let (failed, found) = match self.fitted(at) {
            Ok(folds) => (None, Some(self.evaluation(&entrant.plan, &folds))),
            Err(reason) => (Some(reason), None),
        };
        EvaluatedCase { algorithm: entrant.case.algorithm.clone(), k: entrant.k(), failed, found }
    }

    fn evaluation(&self, plan: &Plan, folds: &[&Fitted]) -> Evaluation {
        let over = |of: fn(&Fitted) -> f64| mean(&folds.iter().map(|f| of(f)).collect::<Vec<_>>());
        let selections = plan.workload.selections.iter().enumerate().map(|(at, (text, _))| {
            let of = |value: fn(&(f64, f64)) -> f64| {
                figure(folds.iter().map(|fold| value(&fold.selections[at])))
            };
            SelectionReport { select: text.clone(), rows: of(|s| s.0), imprecision: of(|s| s.1) }
        });
        Evaluation {
            release: ReleaseMeans {
                classes: over(|fold| fold.n_classes),
                class_size: over(|fold| fold.n_released / fold.n_classes.max(1.0)),
                loss: over(|fold| fold.loss),
                suppressed: over(|fold| fold.n_suppressed),
            },
            targets: (0..self.truth.targets.len()).map(|at| self.target(at, folds)).collect(),
            selections: selections.collect(),
        }
    }

    fn target(&self, at: usize, folds: &[&Fitted]) -> TargetReport {
        let target = &self.truth.targets[at];
        let is_number = target.numbers.is_some();
        let originals = || self.held.iter().map(move |held| &held.originals[at]);
        let fitted = || folds.iter().map(move |fold| &fold.targets[at]);
        let models = (0..self.held[0].originals[at].models.len()).map(|model| {
            let released: Vec<&Trial> = fitted().map(|fold| &fold.models[model]).collect();
            let original: Vec<&Trial> = originals().map(|fold| &fold.models[model].1).collect();
            let figures = |trials: &[&Trial]| trials.iter().map(|t| t.figure).collect::<Vec<_>>();
            let (released_by_fold, original_by_fold) = (figures(&released), figures(&original));
            ModelReport {
                model: self.held[0].originals[at].models[model].0,
                released: figure(released_by_fold.iter().copied()),
                original: figure(original_by_fold.iter().copied()),
                difference: self.difference(&released, &original, is_number),
                released_by_fold,
                original_by_fold,
            }
        });
        let projections = self.held[0].originals[at].projections.iter().enumerate();
        let projections = projections.map(|(dropped, (columns, _))| ProjectionReport {
            dropped,
            columns: columns.iter().map(|&at| self.truth.predictors[at].name.clone()).collect(),
            released: figure(fitted().map(|fold| fold.projections[dropped])),
            original: figure(originals().map(|fold| fold.projections[dropped].1)),
        });
        let entropies: Option<Vec<f64>> = fitted().map(|fold| fold.conditional_entropy).collect();
        TargetReport {
            column: target.name.clone(),
            kind: if is_number { "numbers" } else { "labels" },
            measure: if is_number { "mean_absolute_error" } else { "accuracy" },
            majority: figure(originals().map(|fold| fold.majority)),
            majority_by_fold: originals().map(|fold| fold.majority).collect(),
            models: models.collect(),
            conditional_entropy: entropies.map(|entropies| mean(&entropies)),
            projections: projections.collect(),
        }
    }

    /// Compares two models that were tried on the same rows of the same folds.
    fn difference(
        &self,
        first: &[&Trial],
        second: &[&Trial],
        is_number: bool,
    ) -> Option<DifferenceReport> {
        let figures = |trials: &[&Trial]| trials.iter().map(|t| t.figure).collect::<Vec<f64>>();
        let ([first], [second]) = (first, second) else {
            return by_fold(&figures(first), &figures(second), ratio(self.held), ALPHA);
        };
        let pairs = || first.by_row.iter().zip(&second.by_row);
        let differences: Vec<f64> = pairs().map(|(first, second)| first - second).collect();
        let mut found = DifferenceReport::from(over_rows(&differences, ALPHA)?);
        if !is_number {
            let first_only = pairs().filter(|(first, second)| first > second).count();
            let second_only = pairs().filter(|(first, second)| first < second).count();
            found.p = mcnemar(first_only as u64, second_only as u64);
        }
        Some(found)
    }

    /// Algorithms against each other for the same k.
    fn between(&self, contest: &Contest) -> Vec<BetweenReport> {
        let fitted: Vec<(&Entrant, Vec<&Fitted>)> = (contest.entrants.iter().enumerate())
            .filter_map(|(at, entrant)| Some((entrant, self.fitted(at).ok()?)))
            .collect();
        let mut between = Vec::new();
        for (at, (first, first_folds)) in fitted.iter().enumerate() {
            let others = fitted[at + 1..].iter().filter(|(other, _)| other.k() == first.k());
            for (second, second_folds) in others {
                between.extend(self.pairs((first, first_folds), (second, second_folds)));
            }
        }
        between.sort_by_key(|pair| pair.k);
        between
    }

    /// Two algorithms by target and model.
    fn pairs(
        &self,
        (first, first_folds): (&Entrant, &[&Fitted]),
        (second, second_folds): (&Entrant, &[&Fitted]),
    ) -> Vec<BetweenReport> {
        let mut pairs = Vec::new();
        for (at, target) in self.truth.targets.iter().enumerate() {
            for (model, (name, _)) in self.held[0].originals[at].models.iter().enumerate() {
                let of = |folds: &[&'_ Fitted]| -> Vec<Trial> {
                    folds.iter().map(|fold| fold.targets[at].models[model].clone()).collect()
                };
                let (a, b) = (of(first_folds), of(second_folds));
                let (a, b): (Vec<&Trial>, Vec<&Trial>) = (a.iter().collect(), b.iter().collect());
                let difference = self.difference(&a, &b, target.numbers.is_some());
                pairs.extend(difference.map(|difference| BetweenReport {
                    k: first.k(),
                    target: target.name.clone(),
                    model: name,
                    first: first.case.algorithm.clone(),
                    second: second.case.algorithm.clone(),
                    difference,
                }));
            }
        }
        pairs
    }
}

//! Training and trying models, fold by fold, and the means over the folds.

use incrowd_evaluate::learn::score::{
    accuracy, conditional_entropy, majority, mean, mean_absolute_error, standard_deviation,
};
use incrowd_evaluate::learn::{Features, LearnError, rank_columns};

use super::points::{Release, TargetColumn, Truth};
use super::{
    Evaluation, Figure, ModelReport, Models, ProjectionReport, Protocol, ReleaseMeans,
    SelectionReport, TargetReport,
};
use crate::error::{JobError, Problem};
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::JobSpec;
use crate::workload;

/// One fold: what was learned, from which rows, and which are held out.
pub(super) struct Trained<'a> {
    pub(super) run: &'a Run,
    pub(super) truth: &'a Truth,
    pub(super) release: &'a Release,
    pub(super) train: &'a [u32],
    pub(super) held: &'a [u32],
}

/// The figures of one fold.
pub(super) struct Held {
    n_classes: f64,
    n_released: f64,
    n_suppressed: f64,
    loss: f64,
    targets: Vec<HeldTarget>,
    /// By selection, rows that satisfy it and its imprecision.
    selections: Vec<(f64, f64)>,
}

struct HeldTarget {
    majority: f64,
    conditional_entropy: Option<f64>,
    /// Model, released, original.
    models: Vec<(&'static str, f64, f64)>,
    /// By number of columns dropped: which, released, original.
    projections: Vec<(Vec<usize>, f64, f64)>,
}

impl Trained<'_> {
    pub(super) fn evaluate(
        &self,
        plan: &Plan,
        models: &Models,
        projections: bool,
        seed: u64,
    ) -> Result<Held, JobError> {
        let recoded = &self.release.classes.recoded;
        let targets = self.truth.targets.iter();
        let targets = targets
            .map(|target| self.target(target, models, projections, seed))
            .collect::<Result<Vec<HeldTarget>, JobError>>()?;
        let mut selections = Vec::new();
        for (_, condition) in &plan.workload.selections {
            let set = &self.release.coding.set;
            let regions = workload::regions(&set.attributes, condition)?;
            selections.push(workload::imprecision(
                set,
                recoded,
                &self.release.found.assignment,
                &regions,
            ));
        }
        #[expect(clippy::cast_precision_loss, reason = "means for people")]
        Ok(Held {
            n_classes: recoded.sizes.len() as f64,
            n_released: recoded.n_released() as f64,
            n_suppressed: recoded.n_suppressed as f64,
            loss: incrowd_quality::loss(&self.release.coding.set.attributes, recoded),
            targets,
            selections: selections
                .iter()
                .map(|(rows, more)| (*rows as f64, *more as f64))
                .collect(),
        })
    }

    /// Training rows that are released, with the class of each vector's rows.
    fn released(&self) -> Vec<u32> {
        let class_of = &self.release.found.assignment.class_of;
        let vectors = self.train.iter().zip(&self.release.coding.vector_of);
        let kept =
            vectors.filter(|(_, vector)| class_of[**vector as usize] != incrowd_data::SUPPRESSED);
        kept.map(|(row, _)| *row).collect()
    }

    fn target(
        &self,
        target: &TargetColumn,
        models: &Models,
        projections: bool,
        seed: u64,
    ) -> Result<HeldTarget, JobError> {
        let has_value = |row: &u32| target.numbers.is_none() || target.number(*row).is_some();
        let only = |rows: &[u32]| rows.iter().copied().filter(has_value).collect::<Vec<u32>>();
        let rows = Rows {
            target,
            original: only(self.train),
            released: only(&self.released()),
            held: only(self.held),
        };
        let all: Vec<usize> = (0..self.truth.predictors.len()).collect();
        let mut found = HeldTarget {
            majority: rows.majority(),
            conditional_entropy: self.conditional_entropy(target),
            models: Vec::new(),
            projections: Vec::new(),
        };
        let n_models =
            if target.numbers.is_some() { models.regressors.len() } else { models.learners.len() };
        for model in 0..n_models {
            let name = if target.numbers.is_some() {
                models.regressors[model].0
            } else {
                models.learners[model].0
            };
            let (released, original) = self.try_model(&rows, models, model, &all, seed)?;
            found.models.push((name, released, original));
        }
        if projections && n_models > 0 {
            let points = self.truth.points(&rows.original, &all);
            let ranked =
                rank_columns(&points, &rows.ranking_labels()).map_err(|error| failed(&error))?;
            let order: Vec<usize> = ranked.into_iter().map(|(column, _)| column).collect();
            for n_dropped in 0..order.len() {
                let mut kept = order[n_dropped..].to_vec();
                kept.sort_unstable();
                let (released, original) = self.try_model(&rows, models, 0, &kept, seed)?;
                found.projections.push((order[..n_dropped].to_vec(), released, original));
            }
        }
        Ok(found)
    }

    /// How good a model is that is trained on released rows, and one that is trained on original rows.
    fn try_model(
        &self,
        rows: &Rows,
        models: &Models,
        model: usize,
        kept: &[usize],
        seed: u64,
    ) -> Result<(f64, f64), JobError> {
        self.run.go_on()?;
        let released = rows.figure(
            models,
            model,
            &rows.released,
            (&self.release.points(&rows.released, kept), &self.release.points(&rows.held, kept)),
            seed,
        )?;
        let original = rows.figure(
            models,
            model,
            &rows.original,
            (&self.truth.points(&rows.original, kept), &self.truth.points(&rows.held, kept)),
            seed,
        )?;
        Ok((released, original))
    }

    /// What the class of a released training row leaves open about its label.
    fn conditional_entropy(&self, target: &TargetColumn) -> Option<f64> {
        if target.numbers.is_some() {
            return None;
        }
        let class_of = &self.release.found.assignment.class_of;
        let rows = self.train.iter().zip(&self.release.coding.vector_of);
        let kept = rows.filter(|(_, v)| class_of[**v as usize] != incrowd_data::SUPPRESSED);
        let (classes, labels): (Vec<u32>, Vec<u32>) = kept
            .map(|(&row, &vector)| (class_of[vector as usize], target.codes.get(row as usize)))
            .unzip();
        Some(conditional_entropy(&classes, &labels))
    }
}

/// Rows of a fold that have a value to predict.
struct Rows<'a> {
    target: &'a TargetColumn,
    original: Vec<u32>,
    released: Vec<u32>,
    held: Vec<u32>,
}

impl Rows<'_> {
    fn labels(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.target.codes.get(row as usize)).collect()
    }

    fn numbers(&self, rows: &[u32]) -> Vec<f64> {
        rows.iter().filter_map(|&row| self.target.number(row)).collect()
    }

    /// Labels to rank predictors by: numbers as above or below their median.
    fn ranking_labels(&self) -> Vec<u32> {
        if self.target.numbers.is_none() {
            return self.labels(&self.original);
        }
        let numbers = self.numbers(&self.original);
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        numbers.iter().map(|number| u32::from(*number >= median)).collect()
    }

    /// The figure of always giving the same answer.
    fn majority(&self) -> f64 {
        if self.target.numbers.is_some() {
            let answer = mean(&self.numbers(&self.original));
            let truth = self.numbers(&self.held);
            if truth.is_empty() {
                return f64::NAN;
            }
            return mean_absolute_error(&vec![answer; truth.len()], &truth);
        }
        let truth = self.labels(&self.held);
        let answer = majority(&self.labels(&self.original)).unwrap_or(0);
        accuracy(&vec![answer; truth.len()], &truth)
    }

    /// How good a model is that is trained on rows with these points, on the held-out rows with those.
    fn figure(
        &self,
        models: &Models,
        model: usize,
        train: &[u32],
        (points, held): (&Features, &Features),
        seed: u64,
    ) -> Result<f64, JobError> {
        if self.held.is_empty() {
            return Ok(f64::NAN);
        }
        if self.target.numbers.is_some() {
            let regressor = models.regressors[model].1;
            let answers = regressor
                .predict(points, &self.numbers(train), held)
                .map_err(|error| failed(&error))?;
            return Ok(mean_absolute_error(&answers, &self.numbers(&self.held)));
        }
        let learner = models.learners[model].1;
        let answers = learner
            .predict(points, &self.labels(train), held, seed)
            .map_err(|error| failed(&error))?;
        Ok(accuracy(&answers, &self.labels(&self.held)))
    }
}

fn failed(error: &LearnError) -> JobError {
    Problem::new(error.to_string()).into()
}

/// The mean over folds that have a row to be tried on.
fn figure(values: impl Iterator<Item = f64>) -> Figure {
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    Figure { mean: mean(&values), deviation: standard_deviation(&values) }
}

/// The means over the folds.
pub(super) fn evaluation(
    spec: &JobSpec,
    plan: &Plan,
    truth: &Truth,
    protocol: Protocol,
    held: &[Held],
) -> Evaluation {
    let over = |of: &dyn Fn(&Held) -> f64| mean(&held.iter().map(of).collect::<Vec<f64>>());
    let selections = plan.workload.selections.iter().enumerate().map(|(at, (text, _))| {
        let of = |value: fn(&(f64, f64)) -> f64| {
            figure(held.iter().map(|held| value(&held.selections[at])))
        };
        SelectionReport { select: text.clone(), rows: of(|s| s.0), imprecision: of(|s| s.1) }
    });
    Evaluation {
        incrowd: crate::VERSION,
        job: spec.clone(),
        protocol,
        release: ReleaseMeans {
            classes: over(&|held| held.n_classes),
            class_size: over(&|held| held.n_released / held.n_classes.max(1.0)),
            loss: over(&|held| held.loss),
            suppressed: over(&|held| held.n_suppressed),
        },
        targets: (0..truth.targets.len()).map(|at| target_report(truth, at, held)).collect(),
        selections: selections.collect(),
    }
}

fn target_report(truth: &Truth, at: usize, held: &[Held]) -> TargetReport {
    let target = &truth.targets[at];
    let is_number = target.numbers.is_some();
    let folds = || held.iter().map(|held| &held.targets[at]);
    let models = (0..held[0].targets[at].models.len()).map(|model| ModelReport {
        model: held[0].targets[at].models[model].0,
        released: figure(folds().map(|fold| fold.models[model].1)),
        original: figure(folds().map(|fold| fold.models[model].2)),
    });
    let projections = held[0].targets[at].projections.iter().enumerate();
    let projections = projections.map(|(dropped, (columns, _, _))| ProjectionReport {
        dropped,
        columns: columns.iter().map(|&at| truth.predictors[at].name.clone()).collect(),
        released: figure(folds().map(|fold| fold.projections[dropped].1)),
        original: figure(folds().map(|fold| fold.projections[dropped].2)),
    });
    let entropies: Option<Vec<f64>> = folds().map(|fold| fold.conditional_entropy).collect();
    TargetReport {
        column: target.name.clone(),
        kind: if is_number { "numbers" } else { "labels" },
        measure: if is_number { "mean_absolute_error" } else { "accuracy" },
        majority: figure(folds().map(|fold| fold.majority)),
        models: models.collect(),
        conditional_entropy: entropies.map(|entropies| mean(&entropies)),
        projections: projections.collect(),
    }
}

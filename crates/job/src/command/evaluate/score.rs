//! Models trained on the rows of a fold and tried on those that are held out.

use incrowd_evaluate::learn::score::{conditional_entropy, majority, mean};
use incrowd_evaluate::learn::{Features, LearnError, rank_columns};

use super::points::{Release, TargetColumn, Truth};
use super::request::Models;
use crate::flow::run::Run;
use crate::flow::workload_figures::imprecision;
use crate::plan::Plan;
use crate::plan::condition::regions;
use crate::spec::error::{JobError, Problem};

/// What is the same for all algorithms in a fold: its rows, and the models that are trained.
pub(super) struct Baseline<'a> {
    pub(super) run: &'a Run,
    pub(super) truth: &'a Truth,
    pub(super) models: &'a Models,
    pub(super) train: &'a [u32],
    pub(super) held: &'a [u32],
    pub(super) projections: bool,
    pub(super) keeps_rows: bool,
    pub(super) seed: u64,
}

/// One fold: what an algorithm made of its training rows.
pub(super) struct Trained<'a> {
    pub(super) baseline: &'a Baseline<'a>,
    pub(super) release: &'a Release,
}

/// The figures of one fold.
pub(super) struct FoldResult {
    pub(super) n_train: usize,
    pub(super) n_tested: usize,
    /// By target, trained on the original rows.
    pub(super) originals: Vec<OriginalTarget>,
    /// By case, trained on its release, or why there is none.
    pub(super) cases: Vec<Result<Fitted, Problem>>,
}

/// A model's figure on the held-out rows.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) figure: f64,
    /// By row 1 for a right label, or the distance of a number; empty if rows are not kept.
    pub(super) by_row: Vec<f64>,
}

/// How well a target is predicted from original rows.
pub(super) struct OriginalTarget {
    pub(super) majority: f64,
    /// By model.
    pub(super) models: Vec<(&'static str, Trial)>,
    /// By number of columns dropped: which, and the figure.
    pub(super) projections: Vec<(Vec<usize>, f64)>,
}

/// How well targets are predicted from a release.
pub(super) struct Fitted {
    pub(super) n_classes: f64,
    pub(super) n_released: f64,
    pub(super) n_suppressed: f64,
    pub(super) loss: f64,
    pub(super) targets: Vec<FittedTarget>,
    /// By selection, rows that satisfy it and its imprecision.
    pub(super) selections: Vec<(f64, f64)>,
}

/// How well a target is predicted from a release.
pub(super) struct FittedTarget {
    pub(super) conditional_entropy: Option<f64>,
    /// By model.
    pub(super) models: Vec<Trial>,
    /// By number of columns dropped.
    pub(super) projections: Vec<f64>,
}

impl Baseline<'_> {
    /// All predictors.
    fn all(&self) -> Vec<usize> {
        (0..self.truth.predictors.len()).collect()
    }

    /// What models make of the original rows, by target.
    pub(super) fn originals(&self) -> Result<Vec<OriginalTarget>, JobError> {
        self.truth.targets.iter().map(|target| self.original(target)).collect()
    }

    fn original(&self, target: &TargetColumn) -> Result<OriginalTarget, JobError> {
        let rows = Rows::new(target, self.train, self.held);
        let trial = |model: usize, kept: &[usize]| {
            let points = self.truth.points(&rows.train, kept);
            self.trial(&rows, model, &points, &self.truth.points(&rows.held, kept))
        };
        let all = self.all();
        let names = self.names(target);
        let models = names.iter().enumerate();
        let models = models
            .map(|(model, name)| Ok((*name, trial(model, &all)?)))
            .collect::<Result<_, JobError>>()?;
        let mut projections = Vec::new();
        if self.projections && !names.is_empty() {
            let points = self.truth.points(&rows.train, &all);
            let ranked =
                rank_columns(&points, &rows.ranking_labels()).map_err(|error| failed(&error))?;
            let order: Vec<usize> = ranked.into_iter().map(|(column, _)| column).collect();
            for n_dropped in 0..order.len() {
                let kept = remaining(&order, n_dropped);
                projections.push((order[..n_dropped].to_vec(), trial(0, &kept)?.figure));
            }
        }
        Ok(OriginalTarget { majority: rows.majority(), models, projections })
    }

    /// The names of the models that predict a target.
    fn names(&self, target: &TargetColumn) -> Vec<&'static str> {
        if target.numbers.is_some() {
            self.models.regressors.iter().map(|(name, _)| *name).collect()
        } else {
            self.models.learners.iter().map(|(name, _)| *name).collect()
        }
    }

    /// How good a model is that is trained on rows with these points, on the held-out rows with
    /// those.
    fn trial(
        &self,
        rows: &Rows,
        model: usize,
        points: &Features,
        held: &Features,
    ) -> Result<Trial, JobError> {
        self.run.go_on()?;
        if rows.held.is_empty() {
            return Ok(Trial { figure: f64::NAN, by_row: Vec::new() });
        }
        let by_row: Vec<f64> = if rows.target.numbers.is_some() {
            let regressor = self.models.regressors[model].1;
            let answers = regressor
                .predict(points, &rows.numbers(&rows.train), held)
                .map_err(|error| failed(&error))?;
            let truth = rows.numbers(&rows.held);
            answers.iter().zip(&truth).map(|(answer, truth)| (answer - truth).abs()).collect()
        } else {
            let learner = self.models.learners[model].1;
            let answers = learner
                .predict(points, &rows.labels(&rows.train), held, self.seed)
                .map_err(|error| failed(&error))?;
            let truth = rows.labels(&rows.held);
            let is_right = answers.iter().zip(&truth).map(|(answer, truth)| answer == truth);
            is_right.map(|is_right| f64::from(u8::from(is_right))).collect()
        };
        let figure = mean(&by_row);
        Ok(Trial { figure, by_row: if self.keeps_rows { by_row } else { Vec::new() } })
    }
}

/// The columns that are left when the first of an order are dropped, ascending.
fn remaining(order: &[usize], n_dropped: usize) -> Vec<usize> {
    let mut kept = order[n_dropped..].to_vec();
    kept.sort_unstable();
    kept
}

impl Trained<'_> {
    /// What models make of the release. `originals` know in which order predictors are dropped.
    pub(super) fn evaluate(
        &self,
        plan: &Plan,
        originals: &[OriginalTarget],
    ) -> Result<Fitted, JobError> {
        let recoded = &self.release.classes.recoded;
        let targets = self.baseline.truth.targets.iter().zip(originals);
        let targets = targets
            .map(|(target, original)| self.target(target, original))
            .collect::<Result<Vec<FittedTarget>, JobError>>()?;
        let set = &self.release.coding.set;
        let mut selections = Vec::new();
        for (_, condition) in &plan.workload.selections {
            let regions = regions(&set.attributes, condition)?;
            let assignment = &self.release.found.assignment;
            selections.push(imprecision(set, recoded, assignment, &regions));
        }
        Ok(Fitted {
            n_classes: recoded.sizes.len() as f64,
            n_released: recoded.n_released() as f64,
            n_suppressed: recoded.n_suppressed as f64,
            loss: incrowd_quality::loss(&set.attributes, recoded),
            targets,
            selections: selections
                .iter()
                .map(|(rows, more)| (*rows as f64, *more as f64))
                .collect(),
        })
    }

    /// Training rows that are released, each with its class.
    fn released(&self) -> impl Iterator<Item = (u32, u32)> {
        let class_of = &self.release.found.assignment.class_of;
        let vectors = self.baseline.train.iter().zip(&self.release.coding.vector_of);
        let classes = vectors.map(|(&row, &vector)| (row, class_of[vector as usize]));
        classes.filter(|(_, class)| *class != incrowd_data::SUPPRESSED)
    }

    fn target(
        &self,
        target: &TargetColumn,
        original: &OriginalTarget,
    ) -> Result<FittedTarget, JobError> {
        let Baseline { truth, held, .. } = self.baseline;
        let released: Vec<u32> = self.released().map(|(row, _)| row).collect();
        let rows = Rows::new(target, &released, held);
        let trial = |model: usize, kept: &[usize]| {
            let points = self.release.points(truth, &rows.train, kept);
            let held = self.release.points(truth, &rows.held, kept);
            self.baseline.trial(&rows, model, &points, &held)
        };
        let all = self.baseline.all();
        let models = 0..original.models.len();
        let models =
            models.map(|model| trial(model, &all)).collect::<Result<Vec<Trial>, JobError>>()?;
        let order = original.projections.last().map(|(dropped, _)| dropped.clone());
        let order = order.map_or_else(Vec::new, |mut order| {
            // The last one that is left is not among the dropped.
            order.extend(all.iter().copied().find(|at| !order.contains(at)));
            order
        });
        let projections = (0..order.len())
            .map(|n_dropped| Ok(trial(0, &remaining(&order, n_dropped))?.figure))
            .collect::<Result<_, JobError>>()?;
        let conditional_entropy = self.conditional_entropy(target);
        Ok(FittedTarget { conditional_entropy, models, projections })
    }

    /// What the class of a released training row leaves open about its label.
    fn conditional_entropy(&self, target: &TargetColumn) -> Option<f64> {
        if target.numbers.is_some() {
            return None;
        }
        let (classes, labels): (Vec<u32>, Vec<u32>) =
            self.released().map(|(row, class)| (class, target.codes.get(row as usize))).unzip();
        Some(conditional_entropy(&classes, &labels))
    }
}

/// Rows of a fold that have a value to predict.
struct Rows<'a> {
    target: &'a TargetColumn,
    train: Vec<u32>,
    held: Vec<u32>,
}

impl Rows<'_> {
    fn new<'a>(target: &'a TargetColumn, train: &[u32], held: &[u32]) -> Rows<'a> {
        let has_value = |row: &u32| target.numbers.is_none() || target.number(*row).is_some();
        let only = |rows: &[u32]| rows.iter().copied().filter(has_value).collect::<Vec<u32>>();
        Rows { target, train: only(train), held: only(held) }
    }

    fn labels(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.target.codes.get(row as usize)).collect()
    }

    fn numbers(&self, rows: &[u32]) -> Vec<f64> {
        rows.iter().filter_map(|&row| self.target.number(row)).collect()
    }

    /// Labels to rank predictors by: numbers as above or below their median.
    fn ranking_labels(&self) -> Vec<u32> {
        if self.target.numbers.is_none() {
            return self.labels(&self.train);
        }
        let numbers = self.numbers(&self.train);
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        numbers.iter().map(|number| u32::from(*number >= median)).collect()
    }

    /// The figure of always giving the same answer.
    fn majority(&self) -> f64 {
        if self.target.numbers.is_some() {
            let answer = mean(&self.numbers(&self.train));
            let truth = self.numbers(&self.held);
            if truth.is_empty() {
                return f64::NAN;
            }
            return mean(&truth.iter().map(|truth| (answer - truth).abs()).collect::<Vec<f64>>());
        }
        let truth = self.labels(&self.held);
        let answer = majority(&self.labels(&self.train)).unwrap_or(0);
        let is_right = truth.iter().map(|label| f64::from(u8::from(*label == answer)));
        mean(&is_right.collect::<Vec<f64>>())
    }
}

fn failed(error: &LearnError) -> JobError {
    Problem::new(error.to_string()).into()
}

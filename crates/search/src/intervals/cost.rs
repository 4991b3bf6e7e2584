//! The costs of classes under a set of cuts.

use incrowd_data::Attribute;
use incrowd_privacy::{Tally, all_hold};
use incrowd_quality::Measure;

use crate::Problem;

/// Costs by one measure.
#[derive(Debug)]
pub(crate) struct Costs {
    measure: Measure,
    n_rows: f64,
    k: u64,
    only_counts: bool,
    n_attributes: f64,
    attributes: Vec<Attribute>,
    n_targets: usize,
}

/// The measures that a single-dimensional search minimises.
pub(crate) fn is_measured(measure: Measure) -> bool {
    matches!(measure, Measure::Discernibility | Measure::Classification | Measure::Loss)
}

impl Costs {
    /// `None` for a measure that is not defined by classes under cuts.
    pub(crate) fn new(problem: &Problem) -> Option<Costs> {
        if !is_measured(problem.measure) {
            return None;
        }
        let needs_target = problem.measure == Measure::Classification;
        let target = problem.target.filter(|_| needs_target);
        Some(Costs {
            measure: problem.measure,
            n_rows: problem.set.n_rows as f64,
            k: problem.k,
            only_counts: problem.only_counts(),
            n_attributes: problem.set.attributes.len() as f64,
            attributes: problem.set.attributes.clone(),
            n_targets: target.map_or(0, |target| problem.set.extras[target].n_codes as usize),
        })
    }

    /// The number of target codes, if the measure needs them.
    pub(super) fn n_targets(&self) -> usize {
        self.n_targets
    }

    /// Whether counts decide which classes are kept.
    pub(super) fn only_counts(&self) -> bool {
        self.only_counts
    }

    /// Whether every model holds for this number of rows; `None` if the number does not decide.
    pub(super) fn holds_by_count(&self, n_rows: u64) -> Option<bool> {
        (self.only_counts || n_rows < self.k).then_some(n_rows >= self.k)
    }

    /// Rows by target code.
    pub(super) fn targets(&self, problem: &Problem, vectors: &[u32]) -> Vec<u64> {
        let mut rows = vec![0; self.n_targets];
        if let Some(target) = problem.target.filter(|_| self.n_targets > 0) {
            for &vector in vectors {
                let code = problem.set.extras[target].codes.get(vector as usize);
                rows[code as usize] += u64::from(problem.set.counts[vector as usize]);
            }
        }
        rows
    }

    /// Whether every model holds for a class.
    pub(super) fn holds(
        &self,
        problem: &Problem,
        vectors: impl Iterator<Item = u32>,
        n_rows: u64,
    ) -> bool {
        self.holds_by_count(n_rows).unwrap_or_else(|| {
            let mut tally = Tally::new(problem.set, problem.entity);
            for vector in vectors {
                tally.add(vector as usize, problem.set.counts[vector as usize]);
            }
            all_hold(problem.models, tally.class())
        })
    }

    /// The loss of an interval.
    pub(super) fn loss(&self, attribute: usize, lo: u32, hi: u32) -> f64 {
        match self.measure {
            Measure::Loss => self.attributes[attribute].interval_loss(lo, hi),
            _ => 0.0,
        }
    }

    /// The cost of a class.
    pub(super) fn of_class(
        &self,
        n_rows: u64,
        targets: &[u64],
        is_kept: bool,
        intervals: &[(u32, u32)],
    ) -> f64 {
        let loss = match self.measure {
            Measure::Loss => {
                let of_attribute = |(at, &(lo, hi)): (usize, &(u32, u32))| self.loss(at, lo, hi);
                intervals.iter().enumerate().map(of_attribute).sum()
            }
            _ => 0.0,
        };
        let majority = targets.iter().max().copied().unwrap_or(0);
        self.of_part(n_rows, majority, is_kept, loss)
    }

    /// The cost of a class; `loss` is the sum of its intervals' losses.
    pub(super) fn of_part(&self, n_rows: u64, majority: u64, is_kept: bool, loss: f64) -> f64 {
        let rows = n_rows as f64;
        match self.measure {
            Measure::Discernibility if is_kept => rows * rows,
            Measure::Discernibility => rows * self.n_rows,
            Measure::Classification if is_kept => (n_rows - majority) as f64,
            Measure::Loss if is_kept => rows * loss,
            Measure::Loss => rows * self.n_attributes,
            _ => rows,
        }
    }

    /// A sum of costs in the unit of the measure.
    pub(crate) fn value(&self, cost: f64) -> f64 {
        match self.measure {
            Measure::Loss => cost / (self.n_rows * self.n_attributes).max(1.0),
            _ => cost,
        }
    }
}

//! The best set of cuts so far.

use std::sync::{Mutex, PoisonError};

use incrowd_data::Cuts;

/// A set of cuts and its cost.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) cost: u64,
    pub(super) cuts: Cuts,
    n_cuts: usize,
}

impl Best {
    pub(super) fn new(cost: u64, cuts: Cuts) -> Best {
        Best { cost, n_cuts: cuts.n_cuts(), cuts }
    }

    /// Whether it is better than all sets that cost at least so much and have at least so many cuts.
    #[inline]
    pub(super) fn beats(&self, floor: u64, n_cuts: usize) -> bool {
        floor > self.cost || floor == self.cost && n_cuts > self.n_cuts
    }

    /// Of equal sets, the one with fewer cuts is better, then the smaller one.
    pub(super) fn is_better_than(&self, other: &Best) -> bool {
        let key = |best: &Best| (best.cost, best.n_cuts);
        (key(self), &self.cuts) < (key(other), &other.cuts)
    }
}

/// The best set that all workers know of.
#[derive(Debug)]
pub(super) struct Shared(Mutex<Best>);

impl Shared {
    pub(super) fn new(best: Best) -> Shared {
        Shared(Mutex::new(best))
    }

    pub(super) fn get(&self) -> Best {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn offer(&self, other: Best) {
        let mut best = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if other.is_better_than(&best) {
            *best = other;
        }
    }
}

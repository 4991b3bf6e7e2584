//! The best set of cuts so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

    /// A bar that only sets of a lower cost pass.
    pub(super) fn bar(cost: u64, best: &Best) -> Best {
        Best { cost, n_cuts: 0, cuts: best.cuts.clone() }
    }

    /// Whether it is better than all sets with at least this cost and this number of cuts.
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

/// The best set, shared by all workers, and a lower bound of the cost of any set.
#[derive(Debug)]
pub(super) struct Shared {
    best: Mutex<Arc<Best>>,
    floor: AtomicU64,
}

impl Shared {
    pub(super) fn new(best: Best) -> Shared {
        Shared { best: Mutex::new(Arc::new(best)), floor: AtomicU64::new(0) }
    }

    pub(super) fn get(&self) -> Arc<Best> {
        Arc::clone(&self.best.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Raises the lower bound of the cost of any set; returns the greatest bound so far.
    pub(super) fn raise(&self, floor: u64) -> u64 {
        self.floor.fetch_max(floor, Ordering::Relaxed).max(floor)
    }

    pub(super) fn offer(&self, other: Best) {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        if other.is_better_than(&best) {
            *best = Arc::new(other);
        }
    }
}

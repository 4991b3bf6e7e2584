//! Boxes of the lattice.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

use incrowd_data::Levels;

use crate::frequency::Frequencies;
use crate::full_domain::{FromAbove, Ticks};

/// A frequency set that regions roll up from. Keeps track of the memory of all of them.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) set: Frequencies,
    held: Arc<AtomicU64>,
}

impl Snapshot {
    pub(super) fn new(set: Frequencies, held: &Arc<AtomicU64>) -> Snapshot {
        held.fetch_add(set.bytes(), atomic::Ordering::Relaxed);
        Snapshot { set, held: Arc::clone(held) }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.held.fetch_sub(self.set.bytes(), atomic::Ordering::Relaxed);
    }
}

/// A region: all nodes between two corners.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) low: Levels,
    /// Whether the lower corner was counted; the upper one always was.
    pub(super) is_low_counted: bool,
    pub(super) high: Levels,
    /// The set that its nodes roll up from (O3).
    pub(super) source: Arc<Snapshot>,
    /// A lower bound of the cost of its nodes, from the lower corner.
    pub(super) floor: Ticks,
    /// What the upper corner implies for its nodes.
    pub(super) from_above: FromAbove,
    /// A lower bound of the cost of its nodes, from both corners.
    pub(super) bound: Ticks,
}

impl Region {
    /// Whether all its nodes were counted.
    pub(super) fn is_done(&self) -> bool {
        self.high.height() - self.low.height() <= u64::from(self.is_low_counted)
    }

    /// The order of regions: the least bound, then the higher corner, so that the smaller of
    /// equally promising regions comes first; the rest makes it unique.
    fn key(&self) -> (Ticks, std::cmp::Reverse<u64>, &Levels, &Levels) {
        (self.bound, std::cmp::Reverse(self.low.height()), &self.low, &self.high)
    }
}

impl Ord for Region {
    /// The most promising region is the greatest, for the heap.
    fn cmp(&self, other: &Region) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Region) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Region) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Region {}

//! Classification: a row costs 1 if it is lost or does not have its class's most frequent target.

use super::{Price, rows};

#[derive(Debug)]
pub(in super::super) struct Classification {
    pub(in super::super) k: u64,
}

fn minority(lanes: &[u32]) -> u64 {
    rows(lanes) - u64::from(lanes.iter().max().copied().unwrap_or(0))
}

impl Price for Classification {
    const HAS_LOSS: bool = false;
    const HAS_USELESS: bool = true;

    fn kept(&self, lanes: &[u32], _: u64) -> u64 {
        minority(lanes)
    }

    fn lost(&self, n_rows: u64) -> u64 {
        n_rows
    }

    /// The minority of a union is at least the sum of the minorities.
    fn floor(&self, lanes: &[u32], _: u64) -> u64 {
        minority(lanes)
    }

    fn floor_at_most(&self, lanes: &[u32], _: u64) -> u64 {
        minority(lanes)
    }

    /// The minority of a class is at most the minority of one part and all rows of the others.
    fn is_no_gain(&self, _: u64, _: u64) -> bool {
        true
    }

    /// Fewer than 2 k rows are one class, or lost, which costs at least as much.
    fn least(&self, lanes: &[u32]) -> u64 {
        if rows(lanes) < 2 * self.k { minority(lanes) } else { 0 }
    }

    /// Rows of one target cost nothing.
    fn is_flat(&self, lanes: &[u32]) -> bool {
        minority(lanes) == 0
    }

    fn flat(&self, _: &[u32], _: u64) -> u64 {
        0
    }

    fn loss(&self, _: usize, _: u32, _: u32) -> u64 {
        0
    }

    fn value(&self, cost: u64, _: u64) -> f64 {
        cost as f64
    }
}

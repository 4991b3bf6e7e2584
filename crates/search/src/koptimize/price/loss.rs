//! Loss: for every row, the sum of its intervals' losses; for a lost row, 1 for every attribute.

use incrowd_data::Attribute;

use super::{Price, rows};

#[derive(Debug)]
pub(in super::super) struct Loss {
    attributes: Vec<Attribute>,
    /// The units of a loss of 1.
    unit: u64,
}

impl Loss {
    /// Chooses the unit as large as sums over the table allow.
    pub(in super::super) fn new(attributes: &[Attribute], n_rows: u64) -> Loss {
        let n_cells = n_rows.max(1).saturating_mul(attributes.len().max(1) as u64);
        Loss { attributes: attributes.to_vec(), unit: ((1 << 60) / n_cells).max(1) }
    }
}

impl Price for Loss {
    const HAS_LOSS: bool = true;
    const HAS_USELESS: bool = false;

    fn kept(&self, lanes: &[u32], loss: u64) -> u64 {
        rows(lanes) * loss
    }

    fn lost(&self, n_rows: u64) -> u64 {
        n_rows * self.unit * self.attributes.len() as u64
    }

    /// The loss of an interval is at least that of any interval within it, and a lost row has the
    /// greatest loss.
    fn floor(&self, lanes: &[u32], loss: u64) -> u64 {
        rows(lanes) * loss
    }

    fn floor_at_most(&self, lanes: &[u32], loss: u64) -> u64 {
        rows(lanes) * loss
    }

    /// A narrower interval may outweigh any number of lost rows.
    fn is_no_gain(&self, _: u64, _: u64) -> bool {
        false
    }

    /// A class may be in narrower intervals than any other.
    fn least(&self, _: &[u32]) -> u64 {
        0
    }

    fn is_flat(&self, _: &[u32]) -> bool {
        true
    }

    fn flat(&self, lanes: &[u32], loss: u64) -> u64 {
        rows(lanes) * loss
    }

    /// Rounded down, so that lower bounds remain valid.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the unit"
    )]
    fn loss(&self, attribute: usize, lo: u32, hi: u32) -> u64 {
        let part = self.attributes[attribute].interval_loss(lo, hi).clamp(0.0, 1.0);
        ((part * self.unit as f64) as u64).min(self.unit)
    }

    fn value(&self, cost: u64, n_rows: u64) -> f64 {
        cost as f64 / (self.lost(n_rows) as f64).max(1.0)
    }
}

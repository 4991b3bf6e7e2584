//! Discernibility: every row costs the size of its class; a lost row costs the size of the table.

use super::{Price, rows};

#[derive(Debug)]
pub(in super::super) struct Discernibility {
    n_rows: u64,
    k: u64,
    /// k as 32 bits, if a class could have that many rows.
    k32: u32,
    /// By number of rows, up to a limit, the least cost of these in any number of classes.
    least: Vec<u64>,
}

/// Beyond this many times k rows, a cost of k per row is close to what classes can achieve.
const FEW: u64 = 64;

impl Discernibility {
    pub(in super::super) fn new(n_rows: u64, k: u64) -> Discernibility {
        let most = n_rows.min(FEW.saturating_mul(k));
        let mut least: Vec<u64> = Vec::new();
        for n_kept in 0..=most {
            // As many classes as possible, as equal as possible; or one more row is lost.
            let n_classes = n_kept / k.max(1);
            let lost = least.last().map_or(0, |fewer| fewer + n_rows);
            let kept = n_kept.checked_div(n_classes).map_or(u64::MAX, |size| {
                let n_larger = n_kept - n_classes * size;
                (n_classes - n_larger) * size * size + n_larger * (size + 1) * (size + 1)
            });
            least.push(kept.min(lost));
        }
        Discernibility { n_rows, k, k32: u32::try_from(k).unwrap_or(u32::MAX), least }
    }
}

impl Price for Discernibility {
    const HAS_LOSS: bool = false;
    const HAS_USELESS: bool = true;

    fn kept(&self, lanes: &[u32], _: u64) -> u64 {
        let n_rows = rows(lanes);
        n_rows * n_rows
    }

    fn lost(&self, n_rows: u64) -> u64 {
        n_rows * self.n_rows
    }

    /// Rows that are not separated are in one class, which has at least k rows (equation 2 of the
    /// paper); if they are lost, each costs as much as the table has rows.
    fn floor(&self, lanes: &[u32], _: u64) -> u64 {
        if let [n_rows] = lanes {
            return u64::from(*n_rows) * u64::from((*n_rows).max(self.k32));
        }
        let n_rows = rows(lanes);
        n_rows * n_rows.max(self.k)
    }

    /// Fewer than k rows: k each.
    fn floor_at_most(&self, lanes: &[u32], _: u64) -> u64 {
        rows(lanes) * self.k
    }

    /// `(a + b)^2 <= n a + b^2` if and only if `a + 2 b <= n`.
    fn is_no_gain(&self, n_lost: u64, n_kept: u64) -> bool {
        n_lost + 2 * n_kept <= self.n_rows
    }

    fn least(&self, lanes: &[u32]) -> u64 {
        let n_rows = usize::try_from(rows(lanes)).expect("rows are counted in 32 bits");
        self.least.get(n_rows).copied().unwrap_or(0)
    }

    /// Up to k rows: k each.
    fn is_flat(&self, lanes: &[u32]) -> bool {
        rows(lanes) <= self.k
    }

    fn flat(&self, lanes: &[u32], _: u64) -> u64 {
        rows(lanes) * self.k
    }

    fn loss(&self, _: usize, _: u32, _: u32) -> u64 {
        0
    }

    fn value(&self, cost: u64, _: u64) -> f64 {
        cost as f64
    }
}

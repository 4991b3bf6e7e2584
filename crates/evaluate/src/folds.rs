//! Training rows and held-out rows.

use crate::learn::shuffle;

/// Rows that are held out together; all others are training rows.
pub type Fold = Vec<u32>;

/// Divides rows into folds of nearly equal size, at random from a seed. Rows of a fold are
/// ascending.
#[must_use]
pub fn folds(n_rows: u32, n_folds: u32, seed: u64) -> Vec<Fold> {
    let order = shuffled(n_rows, seed);
    (0..n_folds)
        .map(|fold| ascending(order.iter().skip(fold as usize).step_by(n_folds as usize)))
        .collect()
}

/// One fold of `n` rows, at random from a seed, ascending.
#[must_use]
pub fn holdout(n_rows: u32, n_held: u32, seed: u64) -> Fold {
    ascending(shuffled(n_rows, seed).iter().take(n_held as usize))
}

fn ascending<'a>(rows: impl Iterator<Item = &'a u32>) -> Fold {
    let mut rows: Fold = rows.copied().collect();
    rows.sort_unstable();
    rows
}

fn shuffled(n_rows: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n_rows).collect();
    shuffle(&mut order, &mut { seed });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_held_out_once() {
        let found = folds(23, 5, 7);
        let mut all: Vec<u32> = found.concat();
        all.sort_unstable();
        assert_eq!(all, (0..23).collect::<Vec<_>>());
        assert!(found.iter().all(|fold| fold.len() == 4 || fold.len() == 5));
        assert_ne!(found, folds(23, 5, 8));
        assert_eq!(holdout(10, 3, 1).len(), 3);
    }
}

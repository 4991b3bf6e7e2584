//! The measures as the search sees them: costs of classes and lower bounds of these.

mod classification;
mod discernibility;
mod loss;

pub(super) use classification::Classification;
pub(super) use discernibility::Discernibility;
pub(super) use loss::Loss;

/// Costs by one measure, in whole numbers, so that sums are the same in any order.
///
/// Rows come as counts by *lane*: one lane, or one per target code. A class is *kept* if it
/// satisfies every model; otherwise its rows are *lost*.
pub(super) trait Price: Sync {
    /// Whether intervals have costs of their own.
    const HAS_LOSS: bool;

    /// Whether dividing a class so that only one part is kept never lowers the cost, under the
    /// condition of [`Price::is_no_gain`].
    const HAS_USELESS: bool;

    /// The cost of a class that is kept; `loss` is the sum over its intervals.
    fn kept(&self, lanes: &[u32], loss: u64) -> u64;

    /// The cost of rows that are lost.
    fn lost(&self, n_rows: u64) -> u64;

    /// A lower bound of the cost of rows that no cut separates; `loss` is the sum over the
    /// narrowest intervals that they can be in.
    fn floor(&self, lanes: &[u32], loss: u64) -> u64;

    /// An upper bound of the sum of [`Price::floor`] over any division of rows that are too few for
    /// a class; `loss` is that of the intervals that contain all of them.
    fn floor_at_most(&self, lanes: &[u32], loss: u64) -> u64;

    /// A lower bound of the cost of rows that are one class or several, or lost: their number
    /// limits the number of classes.
    fn least(&self, lanes: &[u32]) -> u64;

    /// Whether the sum of the floors of these rows is independent of how they are divided.
    fn is_flat(&self, lanes: &[u32]) -> bool;

    /// The floor of some of the rows for which [`Price::is_flat`] holds.
    fn flat(&self, lanes: &[u32], loss: u64) -> u64;

    /// Whether losing `n_lost` rows of a class and keeping the others costs at least as much as
    /// keeping all.
    fn is_no_gain(&self, n_lost: u64, n_kept: u64) -> bool;

    /// The loss of an interval.
    fn loss(&self, attribute: usize, lo: u32, hi: u32) -> u64;

    /// A sum of costs over a table of `n_rows` rows, in the unit of the measure.
    fn value(&self, cost: u64, n_rows: u64) -> f64;
}

/// The number of rows.
pub(super) fn rows(lanes: &[u32]) -> u64 {
    lanes.iter().map(|&rows| u64::from(rows)).sum()
}

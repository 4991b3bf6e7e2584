//! What a measure asks of the search: what classes cost, and what they cost at least.

mod classification;
mod discernibility;
mod loss;

pub(super) use classification::Classification;
pub(super) use discernibility::Discernibility;
pub(super) use loss::Loss;

/// Costs by one measure, in whole numbers, so that sums are the same in any order.
///
/// Rows come as counts by *lane*: one lane, or one per target code. A class is *kept* if every
/// model holds for it, otherwise its rows are *lost*.
pub(super) trait Price: Sync {
    /// Whether intervals cost something by themselves.
    const HAS_LOSS: bool;

    /// Whether a class that is divided so that only one part is kept never costs less for it, under
    /// the condition of [`Price::is_no_gain`].
    const HAS_USELESS: bool;

    /// The cost of a class that is kept; `loss` is the sum over its intervals.
    fn kept(&self, lanes: &[u32], loss: u64) -> u64;

    /// The cost of rows that are lost.
    fn lost(&self, n_rows: u64) -> u64;

    /// The least that rows cost which no cut separates; `loss` is the sum over the narrowest
    /// intervals that they can be in.
    fn floor(&self, lanes: &[u32], loss: u64) -> u64;

    /// No less than the sum of [`Price::floor`] over any division of rows that are too few for a
    /// class; `loss` is that of the intervals that hold all of them.
    fn floor_at_most(&self, lanes: &[u32], loss: u64) -> u64;

    /// The least that rows cost that are one class or several, or lost: classes are no more than
    /// their number allows.
    fn least(&self, lanes: &[u32]) -> u64;

    /// Whether the floors of these rows sum to the same however they are divided.
    fn is_flat(&self, lanes: &[u32]) -> bool;

    /// The floor of rows that are some of those for which [`Price::is_flat`] holds.
    fn flat(&self, lanes: &[u32], loss: u64) -> u64;

    /// Whether losing so many rows of a class, the others being kept, costs no less than keeping
    /// all.
    fn is_no_gain(&self, n_lost: u64, n_kept: u64) -> bool;

    /// The loss of an interval.
    fn loss(&self, attribute: usize, lo: u32, hi: u32) -> u64;

    /// A sum of costs over a table of so many rows in the measure's own terms.
    fn value(&self, cost: u64, n_rows: u64) -> f64;
}

/// The number of rows.
pub(super) fn rows(lanes: &[u32]) -> u64 {
    lanes.iter().map(|&rows| u64::from(rows)).sum()
}

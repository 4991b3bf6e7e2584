//! Information gain: the entropy of a label within the parts of a cut (KDD 2006, section 3.1,
//! equation 1).
//!
//! The cost of a part is its rows times the entropy of their labels in bits, `n log n - sum n_c log
//! n_c`, which is the equation's sum before it is divided by the rows of the region, the same for
//! every cut. Thresholds are tried where the label changes: between two neighbouring values unless
//! all rows of both have the same label (Fayyad and Irani 1992).
//!
//! If the models allow none of these thresholds, the median is tried. A region whose labels are all
//! alike is cut at the median of its widest attribute, so its classes end as small as any.

use std::sync::LazyLock;

/// `n log2 n` of small numbers.
static SMALL: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..4096u32).map(f64::from).map(large).collect());

fn large(n: f64) -> f64 {
    if n > 0.0 { n * n.log2() } else { 0.0 }
}

/// `n log2 n`.
fn n_log_n(n: i64) -> f64 {
    let small = usize::try_from(n).ok().and_then(|n| SMALL.get(n));
    small.copied().unwrap_or_else(|| large(n as f64))
}

/// Rows times the entropy of their labels, in bits, from the rows of each label.
pub(crate) fn entropy(labels: &[i64]) -> f64 {
    let n: i64 = labels.iter().sum();
    let split: f64 = labels.iter().map(|&rows| n_log_n(rows)).sum();
    // Rounding must not make one pure part cheaper than another.
    (n_log_n(n) - split).max(0.0)
}

/// Whether the label changes between two neighbouring values with these rows of each label.
pub(super) fn changes(before: &[i64], after: &[i64]) -> bool {
    let mut present = before.iter().zip(after).filter(|(before, after)| **before + **after > 0);
    present.nth(1).is_some()
}

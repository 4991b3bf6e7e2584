//! Pessimistic pruning of a decision tree, as J48 does it at its default confidence of 0.25.
//!
//! First, subtrees with no fewer errors on the training rows than a leaf are collapsed. Then, from
//! the leaves up, a subtree is replaced by a leaf, or by its largest branch (subtree raising), if
//! the upper confidence limit of the errors grows by at most [`SLACK`].

use super::c45::Tree;
use super::{Labelled, most_frequent, real};

/// The additional estimated errors that a simpler tree may have.
const SLACK: f64 = 0.1;
/// The confidence of the upper limit of the error rate.
const CONFIDENCE: f64 = 0.25;
/// The quantile of the normal distribution at 1 - [`CONFIDENCE`].
const QUANTILE: f64 = 0.674_489_750_196_081_7;

/// Prunes the tree that was grown from these rows.
pub(super) fn prune(tree: &mut Tree, train: &Labelled, rows: &[usize]) {
    collapse(tree, 0);
    prune_below(tree, 0, train, rows);
}

/// Replaces subtrees that save no training errors by leaves; returns the training errors of the
/// rest.
fn collapse(tree: &mut Tree, node: usize) -> usize {
    let counts = &tree.nodes[node].counts;
    let as_leaf = counts.iter().sum::<usize>() - counts[tree.nodes[node].label];
    let Some(split) = &tree.nodes[node].split else { return as_leaf };
    let children = split.children.clone();
    let as_tree = children.into_iter().map(|child| collapse(tree, child)).sum();
    if as_tree < as_leaf {
        return as_tree;
    }
    tree.nodes[node].split = None;
    as_leaf
}

fn prune_below(tree: &mut Tree, node: usize, train: &Labelled, rows: &[usize]) {
    let Some(split) = tree.nodes[node].split.clone() else { return };
    let (parts, _) = split.divide(train, rows);
    for (&child, part) in split.children.iter().zip(&parts) {
        prune_below(tree, child, train, part);
    }
    let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
    let largest = split.children[most_frequent(&sizes)];
    let as_leaf = estimate(&tree.nodes[node].counts);
    let as_branch = estimate_branch(tree, largest, train, rows);
    let as_tree = estimate_tree(tree, node);
    if as_leaf <= as_tree + SLACK && as_leaf <= as_branch + SLACK {
        tree.nodes[node].split = None;
    } else if as_branch <= as_tree + SLACK {
        let raised = tree.nodes[largest].split.clone();
        tree.nodes[node].split = raised;
        recount(tree, node, train, rows);
        prune_below(tree, node, train, rows);
    }
}

/// The estimated errors of the leaves of a subtree.
fn estimate_tree(tree: &Tree, node: usize) -> f64 {
    match &tree.nodes[node].split {
        None => estimate(&tree.nodes[node].counts),
        Some(split) => split.children.iter().map(|&child| estimate_tree(tree, child)).sum(),
    }
}

/// The estimated errors of a subtree if it had these rows.
fn estimate_branch(tree: &Tree, node: usize, train: &Labelled, rows: &[usize]) -> f64 {
    let Some(split) = &tree.nodes[node].split else {
        return estimate(&train.counts(rows.iter().copied()));
    };
    let (parts, others) = split.divide(train, rows);
    let below = split.children.iter().zip(&parts);
    below.map(|(&child, part)| estimate_branch(tree, child, train, part)).sum::<f64>()
        + estimate(&train.counts(others))
}

/// Recomputes counts and labels of a subtree for these rows. A node without rows keeps its label.
fn recount(tree: &mut Tree, node: usize, train: &Labelled, rows: &[usize]) {
    let counts = train.counts(rows.iter().copied());
    if !rows.is_empty() {
        tree.nodes[node].label = most_frequent(&counts);
    }
    tree.nodes[node].counts = counts;
    if let Some(split) = tree.nodes[node].split.clone() {
        let (parts, _) = split.divide(train, rows);
        for (child, part) in split.children.into_iter().zip(parts) {
            recount(tree, child, train, &part);
        }
    }
}

/// The upper confidence limit of the errors of a leaf with these rows by label.
fn estimate(counts: &[usize]) -> f64 {
    let n_rows = counts.iter().sum::<usize>();
    if n_rows == 0 {
        return 0.0;
    }
    let n_wrong = n_rows - counts[most_frequent(counts)];
    upper_limit(real(n_rows), real(n_wrong))
}

/// The upper limit of a binomial number of errors, by the normal approximation with its correction.
fn upper_limit(n: f64, wrong: f64) -> f64 {
    if wrong < 1.0 {
        return n * (1.0 - CONFIDENCE.powf(1.0 / n));
    }
    if wrong + 0.5 >= n {
        return n;
    }
    let squared = QUANTILE * QUANTILE;
    let rate = (wrong + 0.5) / n;
    let spread = (rate / n - rate * rate / n + squared / (4.0 * n * n)).sqrt();
    n * (rate + squared / (2.0 * n) + QUANTILE * spread) / (1.0 + squared / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_agree_with_quinlans_book() {
        // C4.5, section 4.2: leaves of 6, 9 and 1 rows without an error, and 16 rows with one.
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
        };
        near(upper_limit(6.0, 0.0), 6.0 * 0.206);
        near(upper_limit(9.0, 0.0), 9.0 * 0.143);
        near(upper_limit(1.0, 0.0), 0.750);
        assert!((upper_limit(16.0, 1.0) / 16.0 - 0.157).abs() < 0.02);
        near(upper_limit(2.0, 2.0), 2.0);
    }
}

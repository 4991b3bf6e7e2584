//! A decision tree in place of Weka's J48 with its default settings.
//!
//! # Source
//!
//! Quinlan: *C4.5: Programs for Machine Learning*, Morgan Kaufmann 1993, and *Improved Use of
//! Continuous Attributes in C4.5*, JAIR 1996 (the price of a threshold). A node is split by the
//! column of the best gain ratio among those of at least average gain: numbers at a threshold,
//! codes into one branch each; the tree is then pruned (see `prune`). Departures from J48: a
//! threshold stays midway between two values; a code that no training row of a node has gets the
//! node's own label; [`MAX_DEPTH`].
//!
//! The classification tree of `smartcore` 0.7 is not used: it skips a cut when the rows that happen
//! to be on either side of it share a label, even when the rows of equal value around them do not
//! (codes have few values, so this is common), reads every row of the table at every node, and
//! hides its nodes from pruning. On Adult (30,000 rows, 14 columns) it gets 81.6 % in 2.1 s, 84.6 %
//! with the best of three leaf sizes; this one 85.6 % in 0.14 s.
//!
//! # Cost
//!
//! For `n` rows, `q` columns and depth `d`: O(d·q·n·log n) time, O(n) memory beside the table.

use super::discretize::midpoint;
use super::score::total_bits;
use super::{Features, Labelled, most_frequent, prune, real};

/// Deeper nodes are leaves, to limit the recursion.
const MAX_DEPTH: usize = 200;
/// At least two branches of a split have this many rows.
const MIN_ROWS: usize = 2;

/// The root is the first node; pruning leaves nodes that are no longer reachable.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
}

#[derive(Clone)]
pub(super) struct Node {
    /// The answer at this node, and for rows that no branch takes.
    pub(super) label: usize,
    /// The training rows by label.
    pub(super) counts: Vec<usize>,
    /// `None` for a leaf.
    pub(super) split: Option<Split>,
}

#[derive(Clone)]
pub(super) struct Split {
    column: usize,
    rule: Rule,
    /// The nodes below, by branch.
    pub(super) children: Vec<usize>,
}

#[derive(Clone)]
enum Rule {
    /// Values up to this one take the first branch, larger ones the second.
    Threshold(f64),
    /// A branch for each of these ascending codes.
    Codes(Vec<f64>),
}

struct Candidate {
    column: usize,
    rule: Rule,
    gain: f64,
    ratio: f64,
    has_many_values: bool,
}

/// Trains on `train` and answers for every row of `test`.
pub(super) fn predict(train: &Labelled, test: &Features) -> Vec<usize> {
    let rows: Vec<usize> = (0..train.features.n_rows).collect();
    let mut tree = Tree { nodes: Vec::new() };
    tree.grow(train, &rows, 0);
    prune::prune(&mut tree, train, &rows);
    (0..test.n_rows).map(|row| tree.answer(test.row(row))).collect()
}

impl Split {
    /// The branch that takes a row, if any does.
    pub(super) fn branch(&self, row: &[f64]) -> Option<usize> {
        let value = row[self.column];
        match &self.rule {
            Rule::Threshold(at) => Some(usize::from(value > *at)),
            Rule::Codes(codes) => {
                let at = codes.partition_point(|&code| code < value);
                codes.get(at).is_some_and(|&code| code <= value).then_some(at)
            }
        }
    }

    /// The rows of every branch, and those that no branch takes.
    pub(super) fn divide(&self, train: &Labelled, rows: &[usize]) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut parts = vec![Vec::new(); self.children.len()];
        let mut others = Vec::new();
        for &row in rows {
            let part = self.branch(train.features.row(row)).map(|branch| &mut parts[branch]);
            part.unwrap_or(&mut others).push(row);
        }
        (parts, others)
    }
}

impl Tree {
    fn answer(&self, row: &[f64]) -> usize {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            let Some(branch) = split.branch(row) else { break };
            node = &self.nodes[split.children[branch]];
        }
        node.label
    }

    /// Adds a node for these rows and the nodes below it; returns its index.
    fn grow(&mut self, train: &Labelled, rows: &[usize], depth: usize) -> usize {
        let counts = train.counts(rows.iter().copied());
        let label = most_frequent(&counts);
        let is_pure = counts[label] == rows.len();
        let index = self.nodes.len();
        let best = (!is_pure && rows.len() >= 2 * MIN_ROWS && depth < MAX_DEPTH)
            .then(|| best_split(train, rows, &counts))
            .flatten();
        self.nodes.push(Node { label, counts, split: None });
        if let Some(Candidate { column, rule, .. }) = best {
            let n_branches = if let Rule::Codes(codes) = &rule { codes.len() } else { 2 };
            let mut split = Split { column, rule, children: vec![0; n_branches] };
            let (parts, _) = split.divide(train, rows);
            for (child, part) in split.children.iter_mut().zip(parts) {
                *child = self.grow(train, &part, depth + 1);
            }
            self.nodes[index].split = Some(split);
        }
        index
    }
}

/// The best gain ratio among the candidates of at least average gain.
fn best_split(train: &Labelled, rows: &[usize], counts: &[usize]) -> Option<Candidate> {
    let candidates: Vec<Candidate> = (0..train.features.n_columns())
        .filter_map(|column| {
            let sorted = train.sorted(column, rows.iter().copied());
            if train.features.is_nominal[column] {
                by_codes(train, column, &sorted, counts)
            } else {
                by_threshold(column, &sorted, counts)
            }
        })
        .collect();
    // Columns with very many codes gain much without meaning: they do not raise the average.
    let all_many = candidates.iter().all(|candidate| candidate.has_many_values);
    let rated: Vec<f64> = candidates
        .iter()
        .filter(|candidate| all_many || !candidate.has_many_values)
        .map(|candidate| candidate.gain)
        .collect();
    let average = super::score::mean(&rated);
    candidates
        .into_iter()
        .filter(|candidate| candidate.gain >= average - 1e-3 && candidate.ratio > 0.0)
        .reduce(|best, next| if next.ratio > best.ratio { next } else { best })
}

/// The threshold of the largest gain; each side has at least a tenth of an even share of the rows
/// by label, at least 2 and at most 25.
fn by_threshold(column: usize, sorted: &[(f64, usize)], counts: &[usize]) -> Option<Candidate> {
    let n_rows = sorted.len();
    let least = (n_rows / (10 * counts.len())).clamp(MIN_ROWS, 25);
    let mut right = counts.to_vec();
    let mut left = vec![0; counts.len()];
    let mut n_places = 0;
    let mut best: Option<(f64, usize)> = None;
    for (at, pair) in sorted.windows(2).enumerate() {
        left[pair[0].1] += 1;
        right[pair[0].1] -= 1;
        let n_left = at + 1;
        if pair[0].0 < pair[1].0 && n_left >= least && n_rows - n_left >= least {
            n_places += 1;
            let bits = total_bits(&left) + total_bits(&right);
            if best.is_none_or(|(fewest, _)| bits < fewest) {
                best = Some((bits, n_left));
            }
        }
    }
    let (bits, n_left) = best?;
    let gain = (total_bits(counts) - bits - real(n_places).log2()) / real(n_rows);
    let rule = Rule::Threshold(midpoint(sorted[n_left - 1].0, sorted[n_left].0));
    rate(column, rule, gain, &[n_left, n_rows - n_left], false)
}

/// A branch for each code, if two of them have enough rows.
fn by_codes(
    train: &Labelled,
    column: usize,
    sorted: &[(f64, usize)],
    counts: &[usize],
) -> Option<Candidate> {
    let (mut codes, mut sizes, mut bits) = (Vec::new(), Vec::new(), 0.0);
    for branch in sorted.chunk_by(|a, b| a.0 >= b.0) {
        let mut branch_counts = vec![0; counts.len()];
        for &(_, class) in branch {
            branch_counts[class] += 1;
        }
        bits += total_bits(&branch_counts);
        codes.push(branch[0].0);
        sizes.push(branch.len());
    }
    if sizes.iter().filter(|&&size| size >= MIN_ROWS).count() < 2 {
        return None;
    }
    let gain = (total_bits(counts) - bits) / real(sorted.len());
    let has_many_values = 10 * codes.len() >= 3 * train.features.n_rows;
    rate(column, Rule::Codes(codes), gain, &sizes, has_many_values)
}

fn rate(
    column: usize,
    rule: Rule,
    gain: f64,
    sizes: &[usize],
    has_many_values: bool,
) -> Option<Candidate> {
    let split_bits = total_bits(sizes) / real(sizes.iter().sum());
    let is_worth = gain > 0.0 && split_bits > 0.0;
    is_worth.then(|| Candidate { column, rule, gain, ratio: gain / split_bits, has_many_values })
}

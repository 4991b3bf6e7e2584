//! Models that are trained on one table and tested on another.
//!
//! The models replace those of the Weka package that *Workload-Aware Anonymization* (LeFevre,
//! DeWitt, Ramakrishnan, KDD 2006, section 4.1) trains on releases: J48 is
//! [`Learner::DecisionTree`], naive Bayes with supervised discretization is
//! [`Learner::NaiveBayes`], 40 random trees are [`Learner::RandomForest`], SMO is
//! [`Learner::LinearSvm`] and M5 is [`Regressor::RegressionTree`]. Naive Bayes, the forest and both
//! regressors come from the crate `smartcore`; the decision tree and the support vector machine are
//! our own; their files explain why.
//!
//! Every model is deterministic: the same rows and seed give the same answers on any number of
//! threads.

mod bayes;
mod c45;
mod discretize;
mod encode;
mod forest;
pub mod paired;
mod prune;
mod rank;
mod regression;
pub mod score;
mod svm;
#[cfg(test)]
mod tests;

pub use rank::rank_columns;

use smartcore::error::Failed;

/// The largest magnitude of a feature or target: squares and sums of such numbers stay finite.
pub const LARGEST_VALUE: f64 = 1e100;

/// Rows of numbers to learn from, or to answer for.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The number of rows, which `values` does not determine if there are no columns.
    pub n_rows: usize,
    /// The cells, row by row: finite, at most [`LARGEST_VALUE`] in magnitude.
    pub values: Vec<f64>,
    /// By column: whether its numbers are codes without an order.
    pub is_nominal: Vec<bool>,
}

/// Why a model could not be trained or tested.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields say in the message what they are")]
pub enum LearnError {
    /// There are no training rows.
    #[error("a model needs at least one training row")]
    NoRows,
    /// The number of cells does not match the rows and columns.
    #[error("{n_rows} rows of {n_columns} columns do not have {n_values} cells")]
    Shape { n_rows: usize, n_columns: usize, n_values: usize },
    /// The number of labels or targets is not that of the rows.
    #[error("{n_rows} training rows have {n_targets} labels or targets")]
    Targets { n_rows: usize, n_targets: usize },
    /// The two tables differ in their columns.
    #[error("the training and the test table differ in their columns")]
    ColumnsDiffer,
    /// A cell is infinite, not a number, or too large.
    #[error(
        "column {column} of row {row} is not a number of at most {LARGEST_VALUE:e} in magnitude"
    )]
    Cell { row: usize, column: usize },
    /// A target is infinite, not a number, or too large.
    #[error("the target of row {row} is not a number of at most {LARGEST_VALUE:e} in magnitude")]
    Target { row: usize },
    /// The crate of the model failed.
    #[error("the model could not be trained")]
    Model(#[from] Failed),
}

/// A model that learns labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learner {
    /// C4.5 with pessimistic pruning.
    DecisionTree,
    /// Categorical naive Bayes over numbers cut into intervals by the minimum description length.
    NaiveBayes,
    /// 40 random trees.
    RandomForest,
    /// A support vector machine with a linear kernel, by pairs of labels.
    LinearSvm,
}

/// A model that learns numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regressor {
    /// Least squares with a very small ridge.
    LinearRegression,
    /// A tree of means.
    RegressionTree,
}

impl Features {
    /// The number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.is_nominal.len()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns()..(row + 1) * self.n_columns()]
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n_columns() + column]
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.n_rows).map(move |row| self.value(row, column))
    }

    fn check(&self) -> Result<(), LearnError> {
        let (n_rows, n_columns) = (self.n_rows, self.n_columns());
        if n_rows.checked_mul(n_columns) != Some(self.values.len()) {
            return Err(LearnError::Shape { n_rows, n_columns, n_values: self.values.len() });
        }
        match self.values.iter().position(|&value| !is_usable(value)) {
            Some(at) => Err(LearnError::Cell { row: at / n_columns, column: at % n_columns }),
            None => Ok(()),
        }
    }
}

impl Learner {
    /// Every learner with its name.
    pub const ALL: [(&str, Learner); 4] = [
        ("decision-tree", Learner::DecisionTree),
        ("naive-bayes", Learner::NaiveBayes),
        ("random-forest", Learner::RandomForest),
        ("linear-svm", Learner::LinearSvm),
    ];

    /// Trains on the rows of `train` with their `labels`, and answers for every row of `test`.
    ///
    /// Only the labels of `train` can be answered. With one label, or without columns, the answer
    /// is the most frequent label.
    pub fn predict(
        self,
        train: &Features,
        labels: &[u32],
        test: &Features,
        seed: u64,
    ) -> Result<Vec<u32>, LearnError> {
        check_tables(train, labels.len(), test)?;
        let labelled = Labelled::new(train, labels);
        if labelled.classes.len() == 1 || train.n_columns() == 0 {
            return Ok(vec![labelled.classes[labelled.majority()]; test.n_rows]);
        }
        let answers = match self {
            Learner::DecisionTree => c45::predict(&labelled, test),
            Learner::NaiveBayes => bayes::predict(&labelled, test)?,
            Learner::RandomForest => forest::predict(&labelled, test, seed)?,
            Learner::LinearSvm => svm::predict(&labelled, test, seed),
        };
        Ok(answers.into_iter().map(|class| labelled.classes[class]).collect())
    }
}

impl Regressor {
    /// Every regressor with its name.
    pub const ALL: [(&str, Regressor); 2] = [
        ("linear-regression", Regressor::LinearRegression),
        ("regression-tree", Regressor::RegressionTree),
    ];

    /// Trains on the rows of `train` with their `targets`, and answers for every row of `test`.
    ///
    /// Without columns the answer is the mean target.
    pub fn predict(
        self,
        train: &Features,
        targets: &[f64],
        test: &Features,
    ) -> Result<Vec<f64>, LearnError> {
        check_tables(train, targets.len(), test)?;
        if let Some(row) = targets.iter().position(|&target| !is_usable(target)) {
            return Err(LearnError::Target { row });
        }
        if train.n_columns() == 0 {
            return Ok(vec![score::mean(targets); test.n_rows]);
        }
        match self {
            Regressor::LinearRegression => regression::linear(train, targets, test),
            Regressor::RegressionTree => regression::tree(train, targets, test),
        }
    }
}

/// Training rows with their labels as indexes into `classes`.
struct Labelled<'a> {
    features: &'a Features,
    /// The labels that occur, ascending.
    classes: Vec<u32>,
    /// By row: the index of its label in `classes`.
    codes: Vec<usize>,
}

impl<'a> Labelled<'a> {
    fn new(features: &'a Features, labels: &[u32]) -> Labelled<'a> {
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let codes =
            labels.iter().map(|label| classes.partition_point(|class| class < label)).collect();
        Labelled { features, classes, codes }
    }

    fn counts(&self, rows: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        rows.into_iter().for_each(|row| counts[self.codes[row]] += 1);
        counts
    }

    fn majority(&self) -> usize {
        most_frequent(&self.counts(0..self.codes.len()))
    }

    /// The values of a column with their labels, ascending.
    fn sorted(&self, column: usize, rows: impl IntoIterator<Item = usize>) -> Vec<(f64, usize)> {
        let pair = |row| (self.features.value(row, column), self.codes[row]);
        let mut pairs: Vec<(f64, usize)> = rows.into_iter().map(pair).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        pairs
    }
}

fn check_tables(train: &Features, n_targets: usize, test: &Features) -> Result<(), LearnError> {
    train.check()?;
    test.check()?;
    if train.is_nominal != test.is_nominal {
        return Err(LearnError::ColumnsDiffer);
    }
    if train.n_rows != n_targets {
        return Err(LearnError::Targets { n_rows: train.n_rows, n_targets });
    }
    if train.n_rows == 0 {
        return Err(LearnError::NoRows);
    }
    Ok(())
}

fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST_VALUE
}

/// The index of the largest count; the first one on ties.
fn most_frequent(counts: &[usize]) -> usize {
    (0..counts.len()).min_by_key(|&at| (std::cmp::Reverse(counts[at]), at)).unwrap_or(0)
}

fn real(n: usize) -> f64 {
    n as f64
}

/// The next number of the splitmix64 generator, whose state is `state`.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Puts `items` into a random order.
#[expect(clippy::cast_possible_truncation, reason = "the remainder is below the length")]
pub(crate) fn shuffle<T>(items: &mut [T], state: &mut u64) {
    for end in (1..items.len()).rev() {
        items.swap(end, (next_random(state) % (end as u64 + 1)) as usize);
    }
}

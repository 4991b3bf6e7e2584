//! A random forest: `smartcore`'s, of regression trees on a 0/1 column for each label.
//!
//! For a 0/1 target the variance that such a tree reduces is half its Gini impurity, and the mean
//! of the leaves is the share of the label, so this is Breiman's forest with averaged votes: one
//! forest for two labels, else one for each label. The crate's classification forest is not used,
//! for the reasons given in `c45`; each of its trees also takes six times as long (0.33 s on 30,000
//! rows of Adult).

use rayon::prelude::*;
use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};

use super::{Features, Labelled, LearnError, encode, next_random, real};

/// Deeper nodes are leaves. The crate continues to split rows that all have the same target, one
/// row at a time; without a limit, that takes quadratic time.
pub(super) const MAX_DEPTH: u16 = 50;
/// Groves of trees are grown in parallel. The answers depend on their number, but not on the number
/// of threads.
const N_GROVES: usize = 8;
const TREES_OF_A_GROVE: usize = 5;

pub(super) fn predict(
    train: &Labelled,
    test: &Features,
    seed: u64,
) -> Result<Vec<usize>, LearnError> {
    if test.n_rows == 0 {
        return Ok(Vec::new());
    }
    let n_classes = train.classes.len();
    if n_classes == 2 {
        let shares = shares(train, 1, test, seed)?;
        return Ok(shares.into_iter().map(|share| usize::from(share > 0.5)).collect());
    }
    let by_class: Vec<Vec<f64>> = (0..n_classes)
        .into_par_iter()
        .map(|class| shares(train, class, test, seed))
        .collect::<Result<_, _>>()?;
    let best = |row: usize| {
        let better = |a: usize, b: usize| if by_class[b][row] > by_class[a][row] { b } else { a };
        (0..n_classes).reduce(better).unwrap_or(0)
    };
    Ok((0..test.n_rows).map(best).collect())
}

/// By test row, the share of `class` that the forest expects.
fn shares(
    train: &Labelled,
    class: usize,
    test: &Features,
    seed: u64,
) -> Result<Vec<f64>, LearnError> {
    let targets: Vec<f64> =
        train.codes.iter().map(|&code| f64::from(u8::from(code == class))).collect();
    let [x, test_x] = encode::by_target(train.features, &targets, test)?;
    let grove = |grove: usize| -> Result<Vec<f64>, LearnError> {
        let parameters = RandomForestRegressorParameters {
            max_depth: Some(MAX_DEPTH),
            min_samples_leaf: 1,
            min_samples_split: 2,
            n_trees: TREES_OF_A_GROVE,
            // As in Weka: the logarithm of the number of columns, and one.
            m: Some(test.n_columns().ilog2() as usize + 1),
            keep_samples: false,
            // Mixed, since the crate counts up from its seed: adjacent seeds would share trees.
            seed: next_random(&mut (seed ^ ((class * N_GROVES + grove) as u64).rotate_right(32))),
        };
        Ok(RandomForestRegressor::fit(&x, &targets, parameters)?.predict(&test_x)?)
    };
    let answers: Vec<Vec<f64>> =
        (0..N_GROVES).into_par_iter().map(grove).collect::<Result<_, _>>()?;
    let share = |row: usize| answers.iter().map(|grove| grove[row]).sum::<f64>() / real(N_GROVES);
    Ok((0..test.n_rows).map(share).collect())
}

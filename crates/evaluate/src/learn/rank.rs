//! Ranking columns by their information about the labels.

use super::discretize::Categories;
use super::score::total_bits;
use super::{Features, Labelled, LearnError, check_tables, real};

/// The columns with their information gain about the labels in bits, the most informative column
/// first; ties keep the order of the columns. Numbers are cut into intervals first, so a numeric
/// column that is not worth cutting gains nothing.
pub fn rank_columns(features: &Features, labels: &[u32]) -> Result<Vec<(usize, f64)>, LearnError> {
    check_tables(features, labels.len(), features)?;
    let labelled = Labelled::new(features, labels);
    let mut gains: Vec<(usize, f64)> =
        (0..features.n_columns()).map(|column| (column, gain(&labelled, column))).collect();
    gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(gains)
}

fn gain(train: &Labelled, column: usize) -> f64 {
    let categories = Categories::new(train, column);
    let mut counts = vec![vec![0_usize; train.classes.len()]; categories.len()];
    for (value, &class) in train.features.column(column).zip(&train.codes) {
        let category = categories.of(value).expect("a training value has a category");
        counts[category][class] += 1;
    }
    let whole = total_bits(&train.counts(0..train.codes.len()));
    let parts: f64 = counts.iter().map(|counts| total_bits(counts)).sum();
    (whole - parts).max(0.0) / real(train.codes.len())
}

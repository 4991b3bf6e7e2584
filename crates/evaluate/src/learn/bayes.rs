//! Naive Bayes over categories: `smartcore`'s, after supervised discretization.

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::naive_bayes::categorical::{CategoricalNB, CategoricalNBParameters};

use super::discretize::Categories;
use super::{Features, Labelled, LearnError};

pub(super) fn predict(train: &Labelled, test: &Features) -> Result<Vec<usize>, LearnError> {
    let columns: Vec<Categories> =
        (0..test.n_columns()).map(|column| Categories::new(train, column)).collect();
    let labels: Vec<u32> = train.codes.iter().map(|&class| small(class)).collect();
    let model = CategoricalNB::fit(
        &matrix(&columns, train.features)?,
        &labels,
        CategoricalNBParameters::default().with_alpha(1.0),
    )?;
    if test.n_rows == 0 {
        return Ok(Vec::new());
    }
    let answers = model.predict(&matrix(&columns, test)?)?;
    Ok(answers.into_iter().map(|class| class as usize).collect())
}

/// The categories of all cells, counted from 1. Category 0 is for codes that no training row has:
/// it is smoothed like a declared value that never occurs, as in Weka.
fn matrix(columns: &[Categories], features: &Features) -> Result<DenseMatrix<u32>, LearnError> {
    let category =
        |(value, column): (&f64, &Categories)| column.of(*value).map_or(0, |at| small(at + 1));
    let cells = features.values.iter().zip(columns.iter().cycle()).map(category).collect();
    Ok(DenseMatrix::new(features.n_rows, columns.len(), cells, false)?)
}

fn small(n: usize) -> u32 {
    u32::try_from(n).expect("there are fewer categories than rows, and fewer rows than 2^32")
}

//! Linear regression and a regression tree: `smartcore`'s, on prepared columns.

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::ridge_regression::{
    RidgeRegression, RidgeRegressionParameters, RidgeRegressionSolverName,
};
use smartcore::tree::decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorParameters,
};

use super::encode::{self, Design};
use super::score::{mean, mean_absolute_error};
use super::{Features, LearnError, real};

/// The ridge beside the squares of a standardised column: enough to tell collinear columns apart, too
/// little to be seen in the answers.
const RIDGE: f64 = 1e-7;
/// The leaf sizes to choose from.
const LEAF_SIZES: [usize; 5] = [4, 10, 25, 60, 150];
/// One training row in this many is held out to choose the leaf size.
const HELD_OUT: usize = 4;

/// Least squares on standardised columns.
pub(super) fn linear(
    train: &Features,
    targets: &[f64],
    test: &Features,
) -> Result<Vec<f64>, LearnError> {
    let design = Design::new(train);
    let width = design.width();
    let centre = mean(targets);
    if width == 0 || test.n_rows == 0 {
        return Ok(vec![centre; test.n_rows]);
    }
    let mut cells = design.encode(train);
    let means: Vec<f64> = (0..width)
        .map(|column| mean(&cells.iter().skip(column).step_by(width).copied().collect::<Vec<_>>()))
        .collect();
    let subtract = |cells: &mut [f64]| {
        cells.iter_mut().zip(means.iter().cycle()).for_each(|(cell, mean)| *cell -= mean);
    };
    subtract(&mut cells);
    let mut centred: Vec<f64> = targets.iter().map(|target| target - centre).collect();
    // The crate asks for more rows than columns; rows of zeros at target 0 change nothing.
    let n_rows = train.n_rows.max(width + 1);
    cells.resize(n_rows * width, 0.0);
    centred.resize(n_rows, 0.0);
    let parameters = RidgeRegressionParameters {
        solver: RidgeRegressionSolverName::Cholesky,
        alpha: RIDGE * real(train.n_rows),
        normalize: false,
    };
    let x = DenseMatrix::new(n_rows, width, cells, false)?;
    let model = RidgeRegression::fit(&x, &centred, parameters)?;
    let mut cells = design.encode(test);
    subtract(&mut cells);
    let answers: Vec<f64> = model.predict(&DenseMatrix::new(test.n_rows, width, cells, false)?)?;
    Ok(answers.into_iter().map(|answer| answer + centre).collect())
}

/// A tree whose leaf size erred least on training rows that were held out.
pub(super) fn tree(
    train: &Features,
    targets: &[f64],
    test: &Features,
) -> Result<Vec<f64>, LearnError> {
    if test.n_rows == 0 {
        return Ok(Vec::new());
    }
    let is_held_out = |row: usize| row % HELD_OUT == HELD_OUT - 1;
    let (inner, inner_targets) = select(train, targets, |row| !is_held_out(row));
    let (held_out, truth) = select(train, targets, is_held_out);
    let mut best = (f64::INFINITY, LEAF_SIZES[0]);
    if held_out.n_rows > 0 {
        let [x, test_x] = encode::by_target(&inner, &inner_targets, &held_out)?;
        for size in LEAF_SIZES {
            let answers = fit(&x, &inner_targets, size)?.predict(&test_x)?;
            let error = mean_absolute_error(&answers, &truth);
            if error < best.0 {
                best = (error, size);
            }
        }
    }
    let [x, test_x] = encode::by_target(train, targets, test)?;
    Ok(fit(&x, &targets.to_vec(), best.1)?.predict(&test_x)?)
}

type RegressionTree = DecisionTreeRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

fn fit(
    x: &DenseMatrix<f64>,
    targets: &Vec<f64>,
    leaf_size: usize,
) -> Result<RegressionTree, LearnError> {
    let parameters = DecisionTreeRegressorParameters {
        max_depth: None,
        min_samples_leaf: leaf_size,
        min_samples_split: 2 * leaf_size,
        seed: Some(0),
    };
    Ok(DecisionTreeRegressor::fit(x, targets, parameters)?)
}

/// The rows that are wanted.
fn select(
    features: &Features,
    targets: &[f64],
    is_wanted: impl Fn(usize) -> bool,
) -> (Features, Vec<f64>) {
    let rows: Vec<usize> = (0..features.n_rows).filter(|&row| is_wanted(row)).collect();
    let values = rows.iter().flat_map(|&row| features.row(row)).copied().collect();
    let chosen = rows.iter().map(|&row| targets[row]).collect();
    (Features { n_rows: rows.len(), values, is_nominal: features.is_nominal.clone() }, chosen)
}

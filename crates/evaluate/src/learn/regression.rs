//! Linear regression on `smartcore`'s Cholesky decomposition, and its regression tree.
//!
//! The normal equations are summed here: the crate's ridge regression refuses constant columns and
//! tables of fewer rows than columns, and took 4 s on 30,000 rows of Adult where this takes less
//! than 0.1 s.

use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linalg::traits::cholesky::CholeskyDecomposable;
use smartcore::tree::decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorParameters,
};

use super::encode::{self, Design};
use super::score::{mean, mean_absolute_error};
use super::{Features, LearnError, forest, real};

/// The ridge added to the squares of a standardised column: enough for collinear columns, too
/// little to affect the answers.
const RIDGE: f64 = 1e-7;
/// The leaf sizes to choose from.
const LEAF_SIZES: [usize; 5] = [4, 10, 25, 60, 150];
/// One training row in this many is held out to choose the leaf size.
const HELD_OUT: usize = 4;

/// Least squares on standardised columns, by the normal equations.
pub(super) fn linear(
    train: &Features,
    targets: &[f64],
    test: &Features,
) -> Result<Vec<f64>, LearnError> {
    let design = Design::new(train);
    let width = design.width();
    let centre = mean(targets);
    if width == 0 {
        return Ok(vec![centre; test.n_rows]);
    }
    let n_rows = real(train.n_rows);
    let mut sums = vec![0.0; width];
    let mut products = vec![0.0; width];
    let mut squares = vec![0.0; width * width];
    for (row, target) in design.encode(train).iter().zip(targets) {
        for (n_before, &(at, value)) in row.iter().enumerate() {
            sums[at] += value;
            products[at] += value * (target - centre);
            for &(other, other_value) in &row[..=n_before] {
                squares[at * width + other] += value * other_value;
            }
        }
    }
    // Centres every column; the products are centred already, since the targets sum to 0.
    for at in 0..width {
        for other in 0..=at {
            squares[at * width + other] -= sums[at] * sums[other] / n_rows;
        }
    }
    let weights = solve(squares, products, RIDGE * n_rows)?;
    let shift = sums.iter().zip(&weights).map(|(sum, weight)| sum / n_rows * weight).sum::<f64>();
    let answer = |row| encode::weigh(row, &weights) - shift + centre;
    Ok(design.encode(test).iter().map(answer).collect())
}

/// The weights that solve the normal equations, given the lower triangle of the squares.
fn solve(mut squares: Vec<f64>, products: Vec<f64>, ridge: f64) -> Result<Vec<f64>, LearnError> {
    let width = products.len();
    for row in 0..width {
        squares[row * width + row] += ridge;
        for column in row + 1..width {
            squares[row * width + column] = squares[column * width + row];
        }
    }
    let squares = DenseMatrix::new(width, width, squares, false)?;
    let weights = squares.cholesky_solve_mut(DenseMatrix::new(width, 1, products, false)?)?;
    Ok(weights.iterator(0).copied().collect())
}

/// A tree with the leaf size that erred least on held-out training rows.
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
        max_depth: Some(forest::MAX_DEPTH),
        min_samples_leaf: leaf_size,
        min_samples_split: 2 * leaf_size,
        seed: Some(0),
    };
    Ok(DecisionTreeRegressor::fit(x, targets, parameters)?)
}

/// The selected rows.
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

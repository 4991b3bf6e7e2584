//! A linear support vector machine, by pairs of labels.
//!
//! # Source
//!
//! Hsieh, Chang, Lin, Keerthi, Sundararajan: *A Dual Coordinate Descent Method for Large-scale
//! Linear SVM*, ICML 2008, algorithm 1 with the hinge loss, without shrinking; the bias is one more
//! weight. It replaces the solver of `smartcore` 0.7, which took 2 s for 1,000 rows of Adult and 14
//! s for 2,000.
//!
//! # Cost
//!
//! O(n·q) per pass for `n` rows of `q` columns (only one of a code's columns is not 0), at most
//! [`MAX_PASSES`] passes per pair.

use rayon::prelude::*;

use super::encode::{Design, SparseRow, weigh};
use super::{Features, Labelled, next_random, shuffle};

/// The cost of a row on the wrong side, the default of SMO.
const COST: f64 = 1.0;
/// Stops when no gradient is further than this from its optimum.
const TOLERANCE: f64 = 0.01;
const MAX_PASSES: usize = 200;

pub(super) fn predict(train: &Labelled, test: &Features, seed: u64) -> Vec<usize> {
    let design = Design::new(train.features);
    let width = design.width();
    if width == 0 {
        return vec![train.majority(); test.n_rows];
    }
    let rows = design.encode(train.features);
    let n_classes = train.classes.len();
    let pairs: Vec<(usize, usize)> =
        (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b))).collect();
    let planes: Vec<Vec<f64>> = pairs
        .par_iter()
        .map(|&(a, b)| {
            let members = train.codes.iter().enumerate().filter(|&(_, &c)| c == a || c == b);
            let examples: Vec<(&SparseRow, f64)> =
                members.map(|(row, &c)| (&rows[row], if c == b { 1.0 } else { -1.0 })).collect();
            train_pair(&examples, width, seed ^ ((a as u64) << 32 | b as u64))
        })
        .collect();
    let vote = |row: &SparseRow| {
        let mut votes = vec![0; n_classes];
        for (&(a, b), plane) in pairs.iter().zip(&planes) {
            votes[if side(plane, row) > 0.0 { b } else { a }] += 1;
        }
        super::most_frequent(&votes)
    };
    design.encode(test).iter().map(vote).collect()
}

/// The weights of the plane between rows of side -1 and rows of side 1; the last one is the bias.
fn train_pair(examples: &[(&SparseRow, f64)], width: usize, seed: u64) -> Vec<f64> {
    let mut plane = vec![0.0; width + 1];
    let mut alphas = vec![0.0; examples.len()];
    let lengths: Vec<f64> =
        examples.iter().map(|(row, _)| row.iter().map(|(_, x)| x * x).sum::<f64>() + 1.0).collect();
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = seed;
    next_random(&mut random);
    for _ in 0..MAX_PASSES {
        shuffle(&mut order, &mut random);
        let (mut lowest, mut highest) = (0.0_f64, 0.0_f64);
        for &at in &order {
            let (row, sign) = examples[at];
            let gradient = sign * side(&plane, row) - 1.0;
            let old: f64 = alphas[at];
            // A coordinate at its bound may only move inward.
            let projected = if old <= 0.0 {
                gradient.min(0.0)
            } else if old >= COST {
                gradient.max(0.0)
            } else {
                gradient
            };
            lowest = lowest.min(projected);
            highest = highest.max(projected);
            if projected.abs() > 1e-12 {
                alphas[at] = (old - gradient / lengths[at]).clamp(0.0, COST);
                let step = (alphas[at] - old) * sign;
                for &(column, x) in row {
                    plane[column] += step * x;
                }
                plane[width] += step;
            }
        }
        if highest - lowest < TOLERANCE {
            break;
        }
    }
    plane
}

/// The signed distance of a row from the plane, unscaled.
fn side(plane: &[f64], row: &SparseRow) -> f64 {
    weigh(row, plane) + plane[plane.len() - 1]
}

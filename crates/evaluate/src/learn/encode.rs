//! Encoding columns for linear models and binary trees.

use super::{Features, LearnError, real, score};
use smartcore::linalg::basic::matrix::DenseMatrix;

/// Nominal columns with more codes than this are encoded by rank instead of one column per code.
const MAX_ONE_HOT: usize = 64;
/// The number of rows of the overall mean that are added to the rows of each code.
const PRIOR_ROWS: f64 = 2.0;

/// Columns for linear models: numbers standardised on the training rows, a 0/1 column for every
/// code, nothing for constant columns.
pub(super) struct Design {
    columns: Vec<Encoding>,
}

/// Columns with their values; all others are 0.
pub(super) type SparseRow = Vec<(usize, f64)>;

enum Encoding {
    Constant,
    Number { mean: f64, deviation: f64 },
    OneHot { codes: Vec<f64> },
    Rank { codes: Vec<f64>, mean: f64, deviation: f64 },
}

impl Design {
    pub(super) fn new(train: &Features) -> Design {
        let encoding = |column: usize| {
            let values: Vec<f64> = train.column(column).collect();
            if train.is_nominal[column] { nominal(&values) } else { numeric(&values) }
        };
        Design { columns: (0..train.n_columns()).map(encoding).collect() }
    }

    /// The number of encoded columns.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().map(Encoding::width).sum()
    }

    /// The encoded rows: the columns that are not 0, ascending, with their values.
    pub(super) fn encode(&self, features: &Features) -> Vec<SparseRow> {
        let encode_row = |row: usize| {
            let mut offset = 0;
            let mut encoded = Vec::with_capacity(self.columns.len());
            for (&value, column) in features.row(row).iter().zip(&self.columns) {
                encoded.extend(column.entry(value).map(|(at, entry)| (offset + at, entry)));
                offset += column.width();
            }
            encoded
        };
        (0..features.n_rows).map(encode_row).collect()
    }
}

/// The sum of the weights of a row's columns times their values.
pub(super) fn weigh(row: &SparseRow, weights: &[f64]) -> f64 {
    row.iter().map(|&(at, value)| weights[at] * value).sum()
}

impl Encoding {
    fn width(&self) -> usize {
        match self {
            Encoding::Constant => 0,
            Encoding::Number { .. } | Encoding::Rank { .. } => 1,
            Encoding::OneHot { codes } => codes.len(),
        }
    }

    /// The only column of this encoding that is not 0, with its value; `None` for an unseen code.
    fn entry(&self, value: f64) -> Option<(usize, f64)> {
        match self {
            Encoding::Constant => None,
            Encoding::Number { mean, deviation } => Some((0, (value - mean) / deviation)),
            Encoding::Rank { codes, mean, deviation } => {
                Some((0, (rank(codes, value) - mean) / deviation))
            }
            Encoding::OneHot { codes } => {
                let at = codes.partition_point(|&code| code < value);
                codes.get(at).is_some_and(|&code| code <= value).then_some((at, 1.0))
            }
        }
    }
}

fn numeric(values: &[f64]) -> Encoding {
    let is_constant = values.iter().all(|&value| value.total_cmp(&values[0]).is_eq());
    let (mean, deviation) = (score::mean(values), score::standard_deviation(values));
    if is_constant || deviation <= 0.0 {
        Encoding::Constant
    } else {
        Encoding::Number { mean, deviation }
    }
}

fn nominal(values: &[f64]) -> Encoding {
    let mut codes = values.to_vec();
    codes.sort_unstable_by(f64::total_cmp);
    codes.dedup();
    match codes.len() {
        1 => Encoding::Constant,
        2..=MAX_ONE_HOT => Encoding::OneHot { codes },
        _ => {
            let ranks: Vec<f64> = values.iter().map(|&value| rank(&codes, value)).collect();
            let (mean, deviation) = (score::mean(&ranks), score::standard_deviation(&ranks));
            Encoding::Rank { codes, mean, deviation }
        }
    }
}

fn rank(codes: &[f64], value: f64) -> f64 {
    real(codes.partition_point(|&code| code < value))
}

/// Matrices for binary trees: a code becomes the mean target of its training rows, smoothed toward
/// the overall mean, which is also the value of codes that no training row has. In this order a
/// threshold finds the best of all divisions of the codes (Breiman et al. 1984, theorem 4.5).
pub(super) fn by_target(
    train: &Features,
    targets: &[f64],
    test: &Features,
) -> Result<[DenseMatrix<f64>; 2], LearnError> {
    let tables: Vec<Option<Means>> = (0..train.n_columns())
        .map(|column| train.is_nominal[column].then(|| Means::new(train, column, targets)))
        .collect();
    let encode = |features: &Features| {
        let cell = |(&value, means): (&f64, &Option<Means>)| {
            means.as_ref().map_or(value, |means| means.of(value))
        };
        let cells = features.values.iter().zip(tables.iter().cycle()).map(cell).collect();
        DenseMatrix::new(features.n_rows, features.n_columns(), cells, false)
    };
    Ok([encode(train)?, encode(test)?])
}

/// The smoothed mean target by code.
struct Means {
    by_code: Vec<(f64, f64)>,
    overall: f64,
}

impl Means {
    fn new(train: &Features, column: usize, targets: &[f64]) -> Means {
        let overall = score::mean(targets);
        let mut pairs: Vec<(f64, f64)> =
            train.column(column).zip(targets.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let smoothed = |rows: &[(f64, f64)]| {
            let total: f64 = rows.iter().map(|row| row.1).sum();
            (rows[0].0, (total + PRIOR_ROWS * overall) / (real(rows.len()) + PRIOR_ROWS))
        };
        Means { by_code: pairs.chunk_by(|a, b| a.0 >= b.0).map(smoothed).collect(), overall }
    }

    fn of(&self, value: f64) -> f64 {
        let at = self.by_code.partition_point(|&(code, _)| code < value);
        let found = self.by_code.get(at).filter(|&&(code, _)| code <= value);
        found.map_or(self.overall, |&(_, mean)| mean)
    }
}

//! Squared-error diversity of a numeric sensitive column (LeFevre, DeWitt, Ramakrishnan:
//! *Workload-Aware Anonymization*, KDD 2006, section 2): the squared distances to the class's mean
//! add up to at least a given error.
//!
//! Monotone: the sum over a union is the sum over both parts plus a term that is not negative.

use crate::{Class, Column, Histogram, Model, ParameterError, TOLERANCE};

/// Sum of squared distances to the mean of at least `error`.
#[derive(Clone, Debug, PartialEq)]
pub struct SquaredErrorDiversity {
    column: Column,
    error: f64,
    /// The number that each code represents; missing cells have none and do not count.
    values: Vec<f64>,
}

impl SquaredErrorDiversity {
    /// Checks the parameter; `column` is the extra column, `values` the number of each of its
    /// codes.
    pub fn new(
        column: impl Into<Column>,
        error: f64,
        values: Vec<f64>,
    ) -> Result<SquaredErrorDiversity, ParameterError> {
        if error.is_finite() && error >= 0.0 {
            Ok(SquaredErrorDiversity { column: column.into(), error, values })
        } else {
            Err(ParameterError::NegativeError { error })
        }
    }

    /// The sum of squared distances to the mean.
    #[must_use]
    pub fn squared_error(&self, histogram: &Histogram) -> f64 {
        let mut cells: Vec<(u32, f64)> = histogram
            .present()
            .iter()
            .filter(|&&code| (code as usize) < self.values.len())
            .map(|&code| (code, histogram.count(code) as f64))
            .collect();
        cells.sort_unstable_by_key(|(code, _)| *code);
        let n: f64 = cells.iter().map(|(_, count)| count).sum();
        let value = |code: u32| self.values[code as usize];
        let mean = cells.iter().map(|(code, count)| value(*code) * count).sum::<f64>() / n.max(1.0);
        cells.iter().map(|(code, count)| (value(*code) - mean).powi(2) * count).sum()
    }
}

impl Model for SquaredErrorDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn holds(&self, class: &Class) -> bool {
        let found = self.squared_error(&class.histograms[self.column.at]);
        found >= self.error * (1.0 - TOLERANCE)
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn holds_for_supersets(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column.at)
    }

    fn describe(&self) -> String {
        format!("squared-error diversity of {}", self.error)
    }
}

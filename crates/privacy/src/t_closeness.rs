//! t-closeness: the sensitive values of every class are distributed nearly as in the whole table
//! (Li, Li, Venkatasubramanian 2007), by the earth mover's distance.
//!
//! The verifier and the readers of a release know only the distribution of the release. So if rows
//! are suppressed, a class must be close to the release as well as to the whole table.
//!
//! Monotone: the distance is convex, and the distribution of a union is a mixture of the parts'.
//!
//! Only cells with a value are compared, those of the class with those of the table. A class
//! without any value, in a table that has some, has the greatest distance, 1, since nothing is
//! known about its distribution. The model stays monotone: such a class satisfies it only for t =
//! 1, which every class satisfies.

use crate::{Class, Column, Histogram, Model, ParameterError, TOLERANCE, Valued};

/// How far one sensitive value is from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Any two values are equally far: half the sum of absolute differences.
    Equal,
    /// By rank: neighbours are `1 / (m - 1)` apart.
    Ordered,
}

/// Distance to the table's distribution of at most `t`.
#[derive(Clone, Debug, PartialEq)]
pub struct TCloseness {
    column: Column,
    t: f64,
    distance: Distance,
    /// The table's distribution; empty if no cell has a value.
    whole: Vec<f64>,
}

impl TCloseness {
    /// Checks the parameter; `column` is the extra column and `whole` its histogram over the table.
    pub fn new(
        column: impl Into<Column>,
        t: f64,
        distance: Distance,
        whole: &Histogram,
    ) -> Result<TCloseness, ParameterError> {
        let column = column.into();
        if !(0.0..=1.0).contains(&t) {
            return Err(ParameterError::TOutOfRange { t });
        }
        let whole = whole.valued(column.missing).shares().unwrap_or_default();
        Ok(TCloseness { column, t, distance, whole })
    }

    /// The share of each code in the whole table.
    #[must_use]
    pub fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// The earth mover's distance between a class and the whole table.
    #[must_use]
    pub fn distance<'a>(&self, class: impl Into<Valued<'a>>) -> f64 {
        match class.into().shares() {
            Some(shares) => self.between(&shares, &self.whole),
            None if self.whole.is_empty() => 0.0,
            None => 1.0,
        }
    }

    fn between(&self, class: &[f64], whole: &[f64]) -> f64 {
        let gaps = class.iter().zip(whole).map(|(p, q)| p - q);
        match self.distance {
            Distance::Equal => gaps.map(f64::abs).sum::<f64>() / 2.0,
            Distance::Ordered => {
                let mut carried = 0.0;
                let mut moved = 0.0;
                for gap in gaps {
                    carried += gap;
                    moved += f64::abs(carried);
                }
                let steps = (whole.len().max(2) - 1) as f64;
                moved / steps
            }
        }
    }
}

impl Model for TCloseness {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn holds(&self, class: &Class) -> bool {
        self.distance(self.column.of(class)) <= self.t + TOLERANCE
    }

    /// Recipients of the release know its distribution, and may not know that some values are
    /// missing from it: compare over all values, and over the released ones.
    fn holds_within(&self, release: &Class, class: &Class) -> bool {
        let [class, release] = [class, release].map(|class| self.column.of(class).shares());
        let is_near =
            |class: &[f64], release: &[f64]| self.between(class, release) <= self.t + TOLERANCE;
        let (Some(all), Some(of_release)) = (class, release) else {
            // A class without any value: as far from the release as from the table, unless the
            // table has none either.
            return self.t + TOLERANCE >= 1.0 || self.whole.is_empty();
        };
        let released: Vec<usize> = (0..all.len()).filter(|&code| of_release[code] > 0.0).collect();
        let only = |shares: &[f64]| released.iter().map(|&code| shares[code]).collect::<Vec<f64>>();
        is_near(&all, &of_release) && is_near(&only(&all), &only(&of_release))
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column.at)
    }

    fn describe(&self) -> String {
        format!("{}-closeness", self.t)
    }
}

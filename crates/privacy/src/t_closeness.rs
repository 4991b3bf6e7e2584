//! t-closeness: the sensitive values of every class are distributed nearly as in the whole table
//! (Li, Li, Venkatasubramanian 2007), by the earth mover's distance.
//!
//! Monotone: the distance is convex, and the distribution of a union is a mixture of the parts'.

use crate::{Class, Histogram, Model, ParameterError, TOLERANCE};

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
    column: usize,
    t: f64,
    distance: Distance,
    /// The table's distribution.
    whole: Vec<f64>,
}

impl TCloseness {
    /// Checks the parameter; `column` is the extra column and `whole` its histogram over the table.
    pub fn new(
        column: usize,
        t: f64,
        distance: Distance,
        whole: &Histogram,
    ) -> Result<TCloseness, ParameterError> {
        if !(0.0..=1.0).contains(&t) {
            return Err(ParameterError::TOutOfRange { t });
        }
        Ok(TCloseness { column, t, distance, whole: shares(whole) })
    }

    /// The share of each code in the whole table.
    #[must_use]
    pub fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// The earth mover's distance between a class and the whole table.
    #[must_use]
    pub fn distance(&self, class: &Histogram) -> f64 {
        self.between(&shares(class), &self.whole)
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
                #[expect(clippy::cast_precision_loss, reason = "fewer than 2^32 codes")]
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
        self.distance(&class.histograms[self.column]) <= self.t + TOLERANCE
    }

    /// Whoever gets the release knows its distribution, and perhaps not that some values are left out: it
    /// is compared over all values, and over those that are released.
    fn holds_within(&self, release: &Class, class: &Class) -> bool {
        let [class, release] = [class, release].map(|c| &c.histograms[self.column]);
        let is_near =
            |class: &[f64], release: &[f64]| self.between(class, release) <= self.t + TOLERANCE;
        let (all, of_release) = (shares(class), shares(release));
        let released: Vec<usize> = (0..all.len()).filter(|&code| of_release[code] > 0.0).collect();
        let only = |shares: &[f64]| released.iter().map(|&code| shares[code]).collect::<Vec<f64>>();
        is_near(&all, &of_release) && is_near(&only(&all), &only(&of_release))
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column)
    }

    fn describe(&self) -> String {
        format!("{}-closeness", self.t)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn shares(histogram: &Histogram) -> Vec<f64> {
    let n_codes = u32::try_from(histogram.n_codes()).expect("codes are u32");
    let total: u64 = histogram.present().iter().map(|&code| histogram.count(code)).sum();
    (0..n_codes).map(|code| histogram.count(code) as f64 / total.max(1) as f64).collect()
}

//! Least squared deviance: the squared error of a number within the parts of a cut (KDD 2006,
//! section 3.2, equation 2).
//!
//! A part's error is its share of the region's error, by rows, less what its mean explains: with
//! `n` rows that add up to `s`, and a part's `m` that add up to `t`, the errors of the parts are in
//! sum the region's less the sum of `(t - m s / n)^2 / m`. So squares are added up once per region,
//! not for each value.
//!
//! Numbers are rounded to steps of their range so that sums are exact integers of 64 bits: `2^40`
//! steps on either side of the centre, fewer from 4 million rows on.

/// Numbers in steps, and the size of a step.
#[derive(Debug)]
pub(super) struct Steps {
    /// By code, the steps from the centre of the range.
    of_code: Vec<i64>,
    /// The size of a step.
    pub(super) size: f64,
}

/// The sums that are kept: rows and steps.
pub(super) const N_SUMS: usize = 2;

/// Sums over all rows of a region that have a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    n_rows: i64,
    steps: i64,
    squares: i128,
    /// The squared error about the mean, per row.
    error: f64,
}

impl Steps {
    /// Numbers by code, of a table of `n_rows` rows.
    pub(super) fn new(numbers: &[f64], n_rows: u64) -> Steps {
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let (lo, hi) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let bits = (61 - n_rows.max(1).ilog2()).min(40);
        // Halves each end before subtracting: the range itself may exceed a float.
        let (centre, reach) = (lo / 2.0 + hi / 2.0, hi / 2.0 - lo / 2.0);
        let size = if reach > 0.0 { reach / (1u64 << bits) as f64 } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^40 steps either way")]
        let step = |number: &f64| {
            if number.is_finite() { ((number - centre) / size).round() as i64 } else { 0 }
        };
        Steps { of_code: numbers.iter().map(step).collect(), size }
    }

    /// Adds rows with a code; a missing number adds nothing.
    #[inline]
    pub(super) fn add(&self, code: u32, rows: i64, sums: &mut [i64]) {
        if let Some(&steps) = self.of_code.get(code as usize) {
            sums[0] += rows;
            sums[1] += rows * steps;
        }
    }

    /// Adds rows with a code to those of a region.
    #[inline]
    pub(super) fn add_whole(&self, code: u32, rows: u32, whole: &mut Whole) {
        if let Some(&steps) = self.of_code.get(code as usize) {
            let rows = i64::from(rows);
            whole.n_rows += rows;
            whole.steps += rows * steps;
            whole.squares += i128::from(rows * steps) * i128::from(steps);
        }
    }
}

impl Whole {
    /// Computes the error once all rows are added.
    pub(super) fn settle(&mut self) {
        let [n, steps] = [self.n_rows, self.steps].map(i128::from);
        // The numerator is exact, not a difference of large floats.
        let numerator = (n * self.squares - steps * steps) as f64;
        self.error = if n == 0 { 0.0 } else { numerator / (n as f64) / (n as f64) };
    }

    /// The error of a part with these sums, in squares of a step; of the region itself the squared
    /// error about its mean.
    pub(super) fn deviance(&self, sums: &[i64]) -> f64 {
        let (m, t) = (sums[0], sums[1]);
        if m == 0 {
            return 0.0;
        }
        // Also exact, in 64 bits if that suffices.
        let distance = match (self.n_rows.checked_mul(t), m.checked_mul(self.steps)) {
            (Some(a), Some(b)) if a.checked_sub(b).is_some() => (a - b) as f64,
            _ => {
                let [n, s, m, t] = [self.n_rows, self.steps, m, t].map(i128::from);
                (n * t - m * s) as f64
            }
        };
        let m = m as f64;
        self.error * m - (distance / self.n_rows as f64).powi(2) / m
    }
}

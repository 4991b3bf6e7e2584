//! Least squared deviance: the squared error of a number within the parts of a cut (KDD 2006, section 3.2,
//! equation 2).
//!
//! Numbers are rounded to steps of their range so that their sums, and those of their squares, are exact
//! integers of 64 bits: `2^40` steps either side of the centre, fewer from 4 million rows on. A square is
//! kept as two numbers of that size.

/// Numbers in steps, and how large a step is.
#[derive(Debug)]
pub(super) struct Steps {
    /// By code, the steps from the centre of the range.
    of_code: Vec<i64>,
    /// How large a step is.
    pub(super) size: f64,
    /// There are `2^bits` steps either side of the centre.
    bits: u32,
}

/// The sums that are kept: rows, steps, and the high and low half of the squares of steps.
pub(super) const N_SUMS: usize = 4;

impl Steps {
    /// Numbers by code, of a table of so many rows.
    pub(super) fn new(numbers: &[f64], n_rows: u64) -> Steps {
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let (lo, hi) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let bits = (61 - n_rows.max(1).ilog2()).min(40);
        // Half of each end before they are subtracted: the range itself may exceed a float.
        let (centre, reach) = (lo / 2.0 + hi / 2.0, hi / 2.0 - lo / 2.0);
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        let size = if reach > 0.0 { reach / (1u64 << bits) as f64 } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^40 steps either way")]
        let step = |number: &f64| {
            if number.is_finite() { ((number - centre) / size).round() as i64 } else { 0 }
        };
        Steps { of_code: numbers.iter().map(step).collect(), size, bits }
    }

    /// Adds rows with a code; a missing number adds nothing.
    #[inline]
    pub(super) fn add(&self, code: u32, rows: i64, sums: &mut [i64]) {
        if let Some(&steps) = self.of_code.get(code as usize) {
            let square = i128::from(steps) * i128::from(steps);
            let low = (1i128 << self.bits) - 1;
            #[expect(clippy::cast_possible_truncation, reason = "halves of 40 bits")]
            let (high, low) = ((square >> self.bits) as i64, (square & low) as i64);
            sums[0] += rows;
            sums[1] += rows * steps;
            sums[2] += rows * high;
            sums[3] += rows * low;
        }
    }

    /// The squared error about the mean, in squares of a step.
    pub(super) fn deviance(&self, sums: &[i64]) -> f64 {
        let [n, steps, high, low] = [sums[0], sums[1], sums[2], sums[3]].map(i128::from);
        if n == 0 {
            return 0.0;
        }
        // The numerator is exact: no difference of large floats.
        let squares = (high << self.bits) + low;
        #[expect(clippy::cast_precision_loss, reason = "a cost")]
        let (numerator, n) = ((n * squares - steps * steps) as f64, n as f64);
        numerator / n
    }
}

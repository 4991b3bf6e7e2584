//! Errors of answers.

/// The error of one answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The distance of the estimate from the truth.
    pub absolute: f64,
    /// The absolute error divided by the absolute value of the truth, or by 1 if that is greater.
    pub relative: f64,
}

/// The error of an estimate; `None` if the estimate or the truth has no value.
#[must_use]
pub fn deviation(estimate: Option<f64>, truth: Option<f64>) -> Option<Deviation> {
    let (estimate, truth) = estimate.zip(truth)?;
    let absolute = (estimate - truth).abs();
    Some(Deviation { absolute, relative: absolute / truth.abs().max(1.0) })
}

/// The distribution of errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population (division by the number of errors).
    pub standard_deviation: f64,
    /// The median.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

/// The distribution of errors; `None` if there are none. Percentiles between two errors are
/// interpolated linearly.
#[must_use]
pub fn summary(errors: &[f64]) -> Option<Summary> {
    let mut sorted = errors.to_vec();
    sorted.sort_by(f64::total_cmp);
    let max = *sorted.last()?;
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let variance = sorted.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / n;
    let percentile = |share: f64| {
        let place = share * (n - 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within the list"
        )]
        let below = place.floor() as usize;
        let above = (below + 1).min(sorted.len() - 1);
        sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
    };
    Some(Summary {
        mean,
        standard_deviation: variance.sqrt(),
        median: percentile(0.5),
        p90: percentile(0.9),
        p95: percentile(0.95),
        p99: percentile(0.99),
        max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_the_truth_but_not_to_less_than_one() {
        let found = deviation(Some(3.0), Some(2.0)).unwrap();
        assert_eq!((found.absolute, found.relative), (1.0, 0.5));
        let found = deviation(Some(0.5), Some(0.0)).unwrap();
        assert_eq!((found.absolute, found.relative), (0.5, 0.5));
        assert_eq!(deviation(None, Some(1.0)), None);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let errors: Vec<f64> = (0..=10).map(f64::from).rev().collect();
        let found = summary(&errors).unwrap();
        assert_eq!((found.mean, found.median, found.max), (5.0, 5.0, 10.0));
        assert_eq!((found.p90, found.p95), (9.0, 9.5));
        assert!((found.standard_deviation - 10f64.sqrt()).abs() < 1e-12);
        assert_eq!(summary(&[]), None);
        assert!((summary(&[2.0]).unwrap().p99 - 2.0).abs() < 1e-12);
    }
}

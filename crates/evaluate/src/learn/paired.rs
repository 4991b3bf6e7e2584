//! Whether two models differ, from paired measurements.
//!
//! Folds of a cross-validation share most of their training rows, so their results are not
//! independent, and the plain paired t-test finds too many differences significant. [`resampled`]
//! is the corrected resampled t-test of Nadeau and Bengio (*Inference for the Generalization
//! Error*, Machine Learning 52, 2003), which Bouckaert and Frank (PAKDD 2004) recommend for
//! repeated cross-validation: it adds the ratio of held-out to training rows to the usual 1/n in
//! the variance of the mean.
//!
//! If rows were held out once, there is only one pair of results. The models are fixed then, and
//! the held-out rows are independent of them and of each other. So [`over_rows`] tests row by row,
//! and [`mcnemar`] tests the rows that exactly one of two models gets right.

use super::real;
use super::score::{incomplete_beta, mean, standard_deviation, two_sided};

/// The mean of differences, with a confidence interval and a p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub lower: f64,
    /// The upper end of the interval.
    pub upper: f64,
    /// The probability of a mean at least as far from 0, either way, if there is no difference.
    pub p: f64,
}

/// The corrected resampled t-test of differences over folds, with an interval that misses the true
/// mean with probability `alpha`; `None` for fewer than two differences. `ratio` is that of
/// held-out to training rows.
#[must_use]
pub fn resampled(differences: &[f64], ratio: f64, alpha: f64) -> Option<Difference> {
    of_mean(differences, 1.0 / real(differences.len().max(1)) + ratio, alpha)
}

/// The paired t-test of differences over rows; `None` for fewer than two rows.
#[must_use]
pub fn over_rows(differences: &[f64], alpha: f64) -> Option<Difference> {
    of_mean(differences, 1.0 / real(differences.len().max(1)), alpha)
}

/// The mean with its variance: the sample's times `share`.
fn of_mean(differences: &[f64], share: f64, alpha: f64) -> Option<Difference> {
    if differences.len() < 2 {
        return None;
    }
    let mean = mean(differences);
    let error = standard_deviation(differences) * share.sqrt();
    let freedom = real(differences.len() - 1);
    let reach = quantile(freedom, alpha) * error;
    let p = match (mean.abs() <= 0.0, error > 0.0) {
        (true, _) => 1.0,
        (false, true) => two_sided(mean / error, freedom),
        (false, false) => 0.0,
    };
    Some(Difference { mean, lower: mean - reach, upper: mean + reach, p })
}

/// The exact test of `McNemar`: only the first of two models is right for `first` rows, only the
/// second for `second` rows. The probability of a split at least as uneven, if both are equally
/// likely.
#[must_use]
pub fn mcnemar(first: u64, second: u64) -> f64 {
    let (most, least) = (first.max(second), first.min(second));
    if most == least {
        return 1.0;
    }
    // Up to `least` heads of a fair coin, as a beta integral; twice, for both ways.
    let tail = incomplete_beta(most as f64, least as f64 + 1.0, 0.5);
    (2.0 * tail).min(1.0)
}

/// The value that Student's t exceeds, either way, with probability `alpha`.
fn quantile(freedom: f64, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > alpha && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > alpha { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    /// Student's table, as `scipy.stats.t.ppf` gives it.
    #[test]
    fn quantiles_agree_with_tables() {
        for (freedom, alpha, expected) in [
            (1.0, 0.05, 12.706_204_736),
            (9.0, 0.05, 2.262_157_163),
            (9.0, 0.01, 3.249_835_542),
            (99.0, 0.05, 1.984_216_952),
            (9.0, 0.05 / 11.0, 3.751_314_665),
        ] {
            near(quantile(freedom, alpha), expected, 1e-6);
        }
    }

    /// Recomputed in Python from the formula in the paper, with `scipy.stats.t`.
    #[test]
    fn the_resampled_test_widens_for_shared_training_rows() {
        let differences = [0.02, -0.01, 0.03, 0.01, 0.0, 0.02, 0.01, -0.02, 0.04, 0.01];
        let found = resampled(&differences, 1.0 / 9.0, 0.05).unwrap();
        near(found.mean, 0.011, 1e-12);
        near(found.p, 0.214_342_429, 1e-8);
        near(found.lower, -0.007_625_416, 1e-8);
        near(found.upper, 0.029_625_416, 1e-8);
        let plain = over_rows(&differences, 0.05).unwrap();
        near(plain.p, 0.084_150_308, 1e-8);
        assert!(plain.lower > found.lower && plain.p < found.p);
    }

    #[test]
    fn differences_without_spread() {
        assert_eq!(resampled(&[0.1], 0.1, 0.05), None);
        let same = Difference { mean: 0.0, lower: 0.0, upper: 0.0, p: 1.0 };
        assert_eq!(resampled(&[0.0; 3], 0.1, 0.05), Some(same));
        let apart = Difference { mean: 0.5, lower: 0.5, upper: 0.5, p: 0.0 };
        assert_eq!(resampled(&[0.5; 3], 0.1, 0.05), Some(apart));
    }

    /// `scipy.stats.binomtest(min, sum, 0.5).pvalue`.
    #[test]
    fn mcnemar_is_an_exact_sign_test() {
        for (first, second, expected) in [
            (0, 0, 1.0),
            (5, 5, 1.0),
            (1, 9, 0.021_484_375),
            (9, 1, 0.021_484_375),
            (0, 1, 1.0),
            (40, 70, 0.005_447_430),
            (3_000, 3_200, 0.011_488_254),
        ] {
            near(mcnemar(first, second), expected, 1e-7);
        }
    }
}

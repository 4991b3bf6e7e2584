//! Scores of answers, and whether two series of results differ.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::real;

/// A paired t-test of two series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The statistic: positive when the first series is larger.
    pub t: f64,
    /// The probability of a statistic at least as far from 0, either way, if the means are equal.
    pub p: f64,
}

/// The share of correct answers; 0 without answers.
#[must_use]
pub fn accuracy(predicted: &[u32], truth: &[u32]) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "one answer a row");
    let n_right = predicted.iter().zip(truth).filter(|(answer, label)| answer == label).count();
    real(n_right) / real(truth.len().max(1))
}

/// The mean distance of answers from the truth; 0 without answers.
#[must_use]
pub fn mean_absolute_error(predicted: &[f64], truth: &[f64]) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "one answer a row");
    let total: f64 =
        predicted.iter().zip(truth).map(|(answer, value)| (answer - value).abs()).sum();
    total / real(truth.len().max(1))
}

/// The most frequent label, the smallest one on ties; `None` without labels.
#[must_use]
pub fn majority(labels: &[u32]) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts
        .into_iter()
        .min_by_key(|&(label, n)| (std::cmp::Reverse(n), label))
        .map(|(label, _)| label)
}

/// The entropy of the labels given the classes of a partition, in bits: equation 7 of
/// *Workload-Aware Anonymization*. `classes` has the class of every row.
#[must_use]
pub fn conditional_entropy(classes: &[u32], labels: &[u32]) -> f64 {
    assert_eq!(classes.len(), labels.len(), "one class a row");
    let mut pairs: Vec<(u32, u32)> = classes.iter().copied().zip(labels.iter().copied()).collect();
    pairs.sort_unstable();
    let bits = |class: &[(u32, u32)]| {
        let counts: Vec<usize> = class.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        total_bits(&counts)
    };
    pairs.chunk_by(|a, b| a.0 == b.0).map(bits).sum::<f64>() / real(labels.len().max(1))
}

/// The mean; 0 without values.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len().max(1))
}

/// The standard deviation of a sample (its squares divided by one less than its size); 0 below two
/// values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / real(values.len() - 1)).sqrt()
}

/// Whether two series of paired measurements differ; `None` for fewer than two pairs.
///
/// If all differences are equal, `p` is 1 if they are 0, and 0 otherwise.
#[must_use]
pub fn paired_t_test(first: &[f64], second: &[f64]) -> Option<TTest> {
    assert_eq!(first.len(), second.len(), "values come in pairs");
    if first.len() < 2 {
        return None;
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let mean = mean(&differences);
    let error = standard_deviation(&differences) / real(differences.len()).sqrt();
    if mean.abs() <= 0.0 {
        return Some(TTest { t: 0.0, p: 1.0 });
    }
    let t = mean / error;
    let freedom = real(differences.len() - 1);
    Some(TTest { t, p: two_sided(t, freedom) })
}

/// The probability that Student's t is at least as far from 0, either way.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The entropy of labels with these counts, in bits, times their number.
pub(super) fn total_bits(counts: &[usize]) -> f64 {
    let bits = |n: usize| if n < 2 { 0.0 } else { real(n) * real(n).log2() };
    bits(counts.iter().sum()) - counts.iter().map(|&n| bits(n)).sum::<f64>()
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
pub(super) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast only on this side; the other is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut upper, mut lower) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = lower;
    for m in (1..=500).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            lower = 1.0 / away_from_zero(1.0 + term * lower);
            upper = away_from_zero(1.0 + term / upper);
            fraction *= upper * lower;
        }
        if (fraction - before).abs() < 1e-15 * fraction.abs() {
            break;
        }
    }
    (scale.exp() * fraction / a).clamp(0.0, 1.0)
}

/// The logarithm of the gamma function for `x` of at least 1/2: Stirling's series after a shift
/// upward.
fn ln_gamma(x: f64) -> f64 {
    let (mut shifted, mut product) = (x, 1.0);
    while shifted < 10.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / (shifted * shifted);
    let series = (1.0 / 12.0
        + inverse * (-1.0 / 360.0 + inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0))))
        / shifted;
    (shifted - 0.5) * shifted.ln() - shifted + (2.0 * PI).ln() / 2.0 + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn shares_and_distances() {
        near(accuracy(&[1, 2, 3, 4], &[1, 2, 0, 4]), 0.75, 0.0);
        near(accuracy(&[], &[]), 0.0, 0.0);
        near(mean_absolute_error(&[1.0, 5.0], &[2.0, 2.0]), 2.0, 0.0);
        near(mean(&[1.0, 2.0, 6.0]), 3.0, 0.0);
        near(standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), 2.138_089_9, 1e-7);
        near(standard_deviation(&[7.0]), 0.0, 0.0);
    }

    #[test]
    fn the_smallest_of_equally_frequent_labels_is_the_majority() {
        assert_eq!(majority(&[5, 3, 5, 3, 9]), Some(3));
        assert_eq!(majority(&[]), None);
    }

    #[test]
    fn conditional_entropy_is_weighted_by_class() {
        near(conditional_entropy(&[0, 0, 0, 0], &[1, 1, 2, 2]), 1.0, 1e-12);
        near(conditional_entropy(&[7, 8, 7, 8], &[1, 2, 1, 2]), 0.0, 1e-12);
        // Half the rows in a class of one bit, a quarter in each of two pure classes.
        near(conditional_entropy(&[0, 1, 0, 1, 0, 2, 0, 2], &[1, 1, 2, 1, 1, 2, 2, 2]), 0.5, 1e-12);
        // One class of a third and two thirds.
        near(conditional_entropy(&[0; 6], &[1, 1, 2, 2, 2, 2]), 0.918_295_834, 1e-9);
        near(conditional_entropy(&[], &[]), 0.0, 0.0);
    }

    #[test]
    fn the_paired_t_test_agrees_with_student() {
        // The sleep of ten patients: Student, 1908.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let test = paired_t_test(&first, &second).unwrap();
        near(test.t, -4.062_128, 1e-6);
        near(test.p, 0.002_832_89, 1e-8);
    }

    #[test]
    fn a_t_test_without_spread_is_certain() {
        assert_eq!(paired_t_test(&[1.0], &[2.0]), None);
        assert_eq!(paired_t_test(&[1.0, 2.0], &[1.0, 2.0]), Some(TTest { t: 0.0, p: 1.0 }));
        let test = paired_t_test(&[2.0, 3.0], &[1.0, 2.0]).unwrap();
        assert_eq!(test, TTest { t: f64::INFINITY, p: 0.0 });
    }

    #[test]
    fn tails_agree_with_tables() {
        let tail =
            |t: f64, freedom: f64| incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
        near(tail(1.0, 1.0), 0.5, 1e-12);
        near(tail(12.706_204_7, 1.0), 0.05, 1e-9);
        near(tail(2.228_138_9, 10.0), 0.05, 1e-8);
        near(tail(2.626_405_5, 99.0), 0.01, 1e-8);
        near(tail(1.962_341_5, 999.0), 0.05, 1e-6);
        near(tail(0.0, 5.0), 1.0, 1e-12);
    }
}

//! Cutting a numeric column into intervals that are informative about the labels.
//!
//! Fayyad and Irani: *Multi-Interval Discretization of Continuous-Valued Attributes for
//! Classification Learning*, IJCAI 1993. An interval is cut where the labels of both sides have the
//! least entropy, as long as the gain pays for describing the cut. As in Weka, the cut costs the
//! logarithm of the number of places where the interval could be cut, not of its number of rows.

use super::{Labelled, real, score::total_bits};

/// The intervals of one column, or the codes of a nominal one, as categories.
pub(super) enum Categories {
    /// Ascending upper ends (inclusive) of all intervals but the last.
    Cuts(Vec<f64>),
    /// Ascending codes.
    Codes(Vec<f64>),
}

impl Categories {
    /// The categories of a column, found from the training rows.
    pub(super) fn new(train: &Labelled, column: usize) -> Categories {
        let sorted = train.sorted(column, 0..train.features.n_rows);
        if train.features.is_nominal[column] {
            let mut codes: Vec<f64> = sorted.into_iter().map(|(value, _)| value).collect();
            codes.dedup();
            return Categories::Codes(codes);
        }
        Categories::Cuts(cuts(&sorted, train.classes.len()))
    }

    /// The number of categories.
    pub(super) fn len(&self) -> usize {
        match self {
            Categories::Cuts(cuts) => cuts.len() + 1,
            Categories::Codes(codes) => codes.len(),
        }
    }

    /// The category of a value; `None` for a code that no training row has.
    pub(super) fn of(&self, value: f64) -> Option<usize> {
        match self {
            Categories::Cuts(cuts) => Some(cuts.partition_point(|&cut| cut < value)),
            Categories::Codes(codes) => {
                let at = codes.partition_point(|&code| code < value);
                codes.get(at).is_some_and(|&code| code <= value).then_some(at)
            }
        }
    }
}

/// Where to cut ascending values with labels below `n_classes`.
fn cuts(sorted: &[(f64, usize)], n_classes: usize) -> Vec<f64> {
    let mut found = Vec::new();
    let mut open = vec![sorted];
    while let Some(interval) = open.pop() {
        if let Some(at) = best_cut(interval, n_classes) {
            found.push(midpoint(interval[at - 1].0, interval[at].0));
            let (left, right) = interval.split_at(at);
            open.extend([left, right]);
        }
    }
    found.sort_by(f64::total_cmp);
    found
}

/// The number of rows on the left of the best cut, when the cut pays for itself.
fn best_cut(interval: &[(f64, usize)], n_classes: usize) -> Option<usize> {
    let whole = count(interval, n_classes);
    let mut right = whole.clone();
    let mut left = vec![0_usize; n_classes];
    let mut n_places = 0;
    let mut best: Option<(f64, usize)> = None;
    for (at, pair) in interval.windows(2).enumerate() {
        left[pair[0].1] += 1;
        right[pair[0].1] -= 1;
        if pair[0].0 < pair[1].0 {
            n_places += 1;
            let bits = total_bits(&left) + total_bits(&right);
            if best.is_none_or(|(least, _)| bits < least) {
                best = Some((bits, at + 1));
            }
        }
    }
    let (bits, at) = best?;
    let (left, right) = (count(&interval[..at], n_classes), count(&interval[at..], n_classes));
    let gain = total_bits(&whole) - bits;
    let price = real(n_places).log2() + description(&whole, &left, &right);
    (gain > price).then_some(at)
}

fn count(interval: &[(f64, usize)], n_classes: usize) -> Vec<usize> {
    let mut counts = vec![0; n_classes];
    for &(_, class) in interval {
        counts[class] += 1;
    }
    counts
}

/// The bits to describe the labels on either side of a cut.
fn description(whole: &[usize], left: &[usize], right: &[usize]) -> f64 {
    let weighted = |counts: &[usize]| {
        let n_present = counts.iter().filter(|&&n| n > 0).count();
        let n_rows = counts.iter().sum::<usize>().max(1);
        real(n_present) * total_bits(counts) / real(n_rows)
    };
    let n_present = real(whole.iter().filter(|&&n| n > 0).count());
    // 2 is negligible relative to 3^n long before 3^n overflows.
    let choices = if n_present < 30.0 {
        (3_f64.powf(n_present) - 2.0).log2()
    } else {
        n_present * 3_f64.log2()
    };
    choices - (weighted(whole) - weighted(left) - weighted(right))
}

/// A number between two, at least the lower and below the higher.
pub(super) fn midpoint(low: f64, high: f64) -> f64 {
    let middle = low + (high - low) / 2.0;
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], labels: &[usize], expected: &[f64]) {
        let mut sorted: Vec<(f64, usize)> =
            values.iter().copied().zip(labels.iter().copied()).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(cuts(&sorted, labels.iter().max().map_or(1, |label| label + 1)), expected);
    }

    #[test]
    fn a_clean_border_is_cut_once() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let labels: Vec<usize> = (0..20).map(|at| usize::from(at >= 12)).collect();
        check(&values, &labels, &[11.5]);
    }

    #[test]
    fn a_middle_interval_is_cut_twice() {
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let labels: Vec<usize> = (0..60).map(|at| usize::from((20..40).contains(&at))).collect();
        check(&values, &labels, &[19.5, 39.5]);
    }

    #[test]
    fn noise_few_rows_and_equal_values_are_not_cut() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let labels: Vec<usize> = (0..40).map(|at| at % 2).collect();
        check(&values, &labels, &[]);
        check(&[1.0, 2.0, 3.0, 4.0], &[0, 1, 0, 1], &[]);
        check(&[3.0; 30], &[0; 30], &[]);
    }

    #[test]
    fn codes_that_no_training_row_has_have_no_category() {
        let categories = Categories::Codes(vec![2.0, 5.0]);
        assert_eq!(
            [2.0, 3.0, 5.0, 9.0].map(|code| categories.of(code)),
            [Some(0), None, Some(1), None]
        );
        let categories = Categories::Cuts(vec![2.0, 5.0]);
        assert_eq!([2.0, 2.5, 99.0].map(|value| categories.of(value)), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_midpoint_divides_even_neighbours() {
        let next = 1.0_f64.next_up();
        assert!(midpoint(1.0, next) < next);
    }
}

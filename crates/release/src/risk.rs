//! The risk that someone who knows a person's quasi-identifier finds that person's record.

use std::collections::BTreeMap;

use incrowd_quality::ClassSizes;

/// The risk thresholds above which records are counted: those that release policies use most.
pub const THRESHOLDS: [f64; 3] = [0.05, 0.09, 0.2];

/// Prosecutor risk: the attacker knows that the person is in the table. A record in a class of `s`
/// has a risk of `1/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// The greatest risk of any record.
    pub prosecutor_max: f64,
    /// The mean over all records; classes divided by rows, if each row is a person.
    pub prosecutor_average: f64,
    /// Records whose risk is above the threshold.
    pub records_at_risk: u64,
    /// The share of records whose risk is above each of [`THRESHOLDS`].
    pub shares_above: [f64; 3],
}

impl Risk {
    /// The risk of classes of these sizes; a record is at risk if its class has fewer than `least`
    /// people.
    #[must_use]
    pub fn of(sizes: &ClassSizes, least: u64) -> Risk {
        // Rows by the number of people of their class: the sums do not depend on the order of the
        // classes, and every class adds exactly 1 if each row is a person.
        let mut rows_with: BTreeMap<u64, u64> = BTreeMap::new();
        for (rows, people, classes) in sizes.iter() {
            *rows_with.entry(people).or_default() += rows * classes;
        }
        let n_rows: u64 = rows_with.values().sum();
        let fewest = rows_with.keys().next().copied().unwrap_or(0);
        let summed: f64 =
            rows_with.iter().fold(0.0, |sum, (&people, &rows)| sum + rows as f64 / people as f64);
        let prosecutor_max = if fewest == 0 { 0.0 } else { 1.0 / fewest as f64 };
        Risk {
            prosecutor_max,
            // Rounding must not raise the average above the maximum.
            prosecutor_average: (summed / n_rows.max(1) as f64).min(prosecutor_max),
            records_at_risk: rows_with.range(..least).map(|(_, rows)| rows).sum(),
            shares_above: THRESHOLDS.map(|most| {
                let is_above = |people: u64| people > 0 && 1.0 / people as f64 > most;
                let rows: u64 = (rows_with.iter())
                    .take_while(|(people, _)| is_above(**people))
                    .map(|(_, rows)| rows)
                    .sum();
                rows as f64 / n_rows.max(1) as f64
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: [f64; 3], expected: [f64; 3]) -> bool {
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn risk_of_three_classes() {
        let risk = Risk::of(&[1, 4, 5].into_iter().collect(), 5);
        assert!((risk.prosecutor_max - 1.0).abs() < 1e-12);
        assert!((risk.prosecutor_average - 0.3).abs() < 1e-12);
        assert_eq!(risk.records_at_risk, 5);
        assert!(is_near(risk.shares_above, [1.0, 1.0, 0.5]));
    }

    #[test]
    fn a_threshold_is_not_above_itself() {
        let risk = Risk::of(&[5, 20, 11, 12].into_iter().collect(), 5);
        // A risk of exactly 0.2 or 0.05 is not above the threshold; 1/11 is above 0.09, 1/12 is
        // not.
        assert!(is_near(risk.shares_above, [28.0 / 48.0, 16.0 / 48.0, 0.0]));
    }

    #[test]
    fn a_class_of_one_person_with_many_rows() {
        let mut sizes = ClassSizes::default();
        sizes.add(3, 1);
        sizes.add(2, 2);
        let risk = Risk::of(&sizes, 2);
        assert!((risk.prosecutor_max - 1.0).abs() < 1e-12);
        assert!((risk.prosecutor_average - 0.8).abs() < 1e-12);
        assert_eq!(risk.records_at_risk, 3);
    }
}

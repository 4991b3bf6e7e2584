//! The risk that someone who knows a person's quasi-identifier finds the person's record.

/// Prosecutor risk: the attacker knows that the person is in the table. A record in a class of `s`
/// has a risk of `1/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// The greatest risk of any record.
    pub prosecutor_max: f64,
    /// The mean over all records: classes over rows.
    pub prosecutor_average: f64,
    /// Records whose risk is above the threshold.
    pub records_at_risk: u64,
}

impl Risk {
    /// The risk of classes of these sizes; a record is at risk in a class of fewer than `least`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn of(sizes: &[u64], least: u64) -> Risk {
        let n_rows: u64 = sizes.iter().sum();
        let smallest = sizes.iter().min().copied().unwrap_or(0);
        Risk {
            prosecutor_max: if smallest == 0 { 0.0 } else { 1.0 / smallest as f64 },
            prosecutor_average: if n_rows == 0 { 0.0 } else { sizes.len() as f64 / n_rows as f64 },
            records_at_risk: sizes.iter().filter(|&&size| size < least).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_of_three_classes() {
        let risk = Risk::of(&[1, 4, 5], 5);
        assert!((risk.prosecutor_max - 1.0).abs() < 1e-12);
        assert!((risk.prosecutor_average - 0.3).abs() < 1e-12);
        assert_eq!(risk.records_at_risk, 5);
    }
}

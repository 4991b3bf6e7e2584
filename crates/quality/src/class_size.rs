//! Measures of class sizes alone (Bayardo and Agrawal 2005; TR 1521, section 1.2).

/// Discernibility: the sum of squared class sizes, plus the number of all rows for each suppressed
/// one.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "reported as a number with 53 bits")]
pub fn discernibility(sizes: &[u64], n_suppressed: u64) -> f64 {
    let n_rows = u128::from(sizes.iter().sum::<u64>() + n_suppressed);
    let classes: u128 = sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
    (classes + u128::from(n_suppressed) * n_rows) as f64
}

/// Normalised average class size: rows per class, over k. None for a release without a class.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "reported as a number with 53 bits")]
pub fn average_class_size(sizes: &[u64], k: u64) -> Option<f64> {
    let n_rows: u64 = sizes.iter().sum();
    (!sizes.is_empty()).then(|| n_rows as f64 / sizes.len() as f64 / k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patients_of_the_mondrian_report() {
        // Figure 3: three classes of two; Figure 2: classes of four and two.
        assert!((discernibility(&[2, 2, 2], 0) - 12.0).abs() < 1e-12);
        assert!((discernibility(&[4, 2], 0) - 20.0).abs() < 1e-12);
        assert_eq!(average_class_size(&[2, 2, 2], 2), Some(1.0));
    }

    #[test]
    fn a_suppressed_row_costs_all_rows() {
        assert!((discernibility(&[3], 2) - (9.0 + 2.0 * 5.0)).abs() < 1e-12);
        assert_eq!(average_class_size(&[], 2), None);
    }
}

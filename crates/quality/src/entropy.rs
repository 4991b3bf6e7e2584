//! Non-uniform entropy (Gionis and Tassa 2009): the bits that a release hides about its cells.

use incrowd_data::{FrequencySet, Recoded, running_counts};

/// The hidden bits as a fraction of those that releasing nothing would hide. A cell that covers
/// values of `F` rows hides `log2(F / f)` bits of a value that `f` rows have.
///
/// Zero where no column has two values.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn entropy(set: &FrequencySet, recoded: &Recoded) -> f64 {
    let n_rows = set.n_rows as f64;
    let (mut hidden, mut most) = (0.0, 0.0);
    for (at, (attribute, column)) in set.attributes.iter().zip(&recoded.columns).enumerate() {
        let running = running_counts(set, at);
        // Sum of f log f over the values: what is known of a cell whatever the recoding.
        let known: f64 = running
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .filter(|&f| f > 0.0)
            .map(|f| f * f.log2())
            .sum();
        let mut rows_of_cell = vec![0u64; column.cells.len()];
        for (&cell, &size) in column.of_class.iter().zip(&recoded.sizes) {
            rows_of_cell[cell as usize] += size;
        }
        let covered: f64 = column
            .cells
            .iter()
            .zip(rows_of_cell)
            .map(|(cell, rows)| rows as f64 * (attribute.covered(cell, &running) as f64).log2())
            .sum();
        hidden += covered + recoded.n_suppressed as f64 * n_rows.log2() - known;
        most += n_rows * n_rows.log2() - known;
    }
    if most > 0.0 { hidden / most } else { 0.0 }
}

//! Non-uniform entropy (Gionis and Tassa 2009): the bits that a release hides about its cells.

use incrowd_data::{Attribute, Recoded};

/// The hidden bits as a fraction of those that releasing nothing would hide. A cell that covers
/// values of `F` rows hides `log2(F / f)` bits of a value that `f` rows have. `value_rows` has, by
/// attribute, the rows of each code.
///
/// Zero if no column has two values.
#[must_use]
pub fn entropy(attributes: &[Attribute], value_rows: &[Vec<u64>], recoded: &Recoded) -> f64 {
    let n_rows = value_rows.first().map_or(0, |rows| rows.iter().sum::<u64>()) as f64;
    let (mut hidden, mut most) = (0.0, 0.0);
    for ((attribute, column), rows) in attributes.iter().zip(&recoded.columns).zip(value_rows) {
        // `[c]` counts the rows of the codes below `c`.
        let mut running = vec![0];
        running.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        // Sum of f log f over the values: what is known about a cell under any recoding.
        let known: f64 =
            rows.iter().filter(|&&f| f > 0).map(|&f| f as f64 * (f as f64).log2()).sum();
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

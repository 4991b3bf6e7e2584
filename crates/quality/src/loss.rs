//! Loss: the mean share of its column's range that a cell gives up.

use incrowd_data::{Attribute, Recoded};

/// The mean loss of the cells of each column; a suppressed row has a loss of 1.
#[must_use]
pub fn loss_by_column(attributes: &[Attribute], recoded: &Recoded) -> Vec<f64> {
    let n_rows = recoded.n_rows().max(1) as f64;
    attributes
        .iter()
        .zip(&recoded.columns)
        .map(|(attribute, column)| {
            let of_cell: Vec<f64> = column.cells.iter().map(|cell| attribute.loss(cell)).collect();
            let mut rows_of_cell = vec![0u64; of_cell.len()];
            for (&cell, &size) in column.of_class.iter().zip(&recoded.sizes) {
                rows_of_cell[cell as usize] += size;
            }
            let lost: f64 =
                of_cell.iter().zip(&rows_of_cell).map(|(l, &rows)| l * rows as f64).sum();
            (lost + recoded.n_suppressed as f64) / n_rows
        })
        .collect()
}

/// The mean loss over all quasi-identifier cells: the uncertainty penalty of *Butterfly* (ICDE
/// 2009) divided by the number of cells.
#[must_use]
pub fn loss(attributes: &[Attribute], recoded: &Recoded) -> f64 {
    loss_by_column(attributes, recoded).iter().sum::<f64>() / attributes.len().max(1) as f64
}

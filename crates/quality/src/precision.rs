//! Precision (Sweeney 2002), turned into a loss: how far up in their hierarchies the cells are.

use incrowd_data::{Attribute, Cell, Recoded, Shape};

/// The mean of level over height over all cells of columns with a hierarchy: 0 if every cell is a
/// leaf, 1 if every cell is a root. A cell of several nodes counts as the lowest node above them
/// all. `None` if no column has a hierarchy.
#[must_use]
pub fn precision(attributes: &[Attribute], recoded: &Recoded) -> Option<f64> {
    let n_rows = recoded.n_rows().max(1) as f64;
    let mut of_columns = Vec::new();
    for (attribute, column) in attributes.iter().zip(&recoded.columns) {
        let Shape::Tree(hierarchy) = &attribute.shape else { continue };
        let height = f64::from(hierarchy.height().0.max(1));
        let level = |cell: &Cell| match cell {
            Cell::Node(level, _) => f64::from(*level),
            Cell::Nodes(_) => {
                let runs = attribute.runs(cell);
                let (first, last) = (runs.first(), runs.last());
                let ends = first.zip(last).map(|(first, last)| (first.0, last.1));
                ends.map_or(0.0, |(lo, hi)| f64::from(hierarchy.common(lo, hi).0.0))
            }
            Cell::All => height,
            _ => 0.0,
        };
        let climbed: f64 = column
            .of_class
            .iter()
            .zip(&recoded.sizes)
            .map(|(&cell, &size)| level(&column.cells[cell as usize]) * size as f64)
            .sum();
        of_columns.push((climbed / height + recoded.n_suppressed as f64) / n_rows);
    }
    (!of_columns.is_empty()).then(|| of_columns.iter().sum::<f64>() / of_columns.len() as f64)
}

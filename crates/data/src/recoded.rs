//! The classes of a release in codes.

use crate::{Attribute, Cell, Codes, FrequencySet, Kind};

/// One recoded column: the distinct cells, and which of them each class has.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RecodedColumn {
    /// Distinct cells.
    pub cells: Vec<Cell>,
    /// By class, its cell.
    pub of_class: Vec<u32>,
}

/// The classes of a release.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Recoded {
    /// Rows per class.
    pub sizes: Vec<u64>,
    /// The recoded quasi-identifier columns.
    pub columns: Vec<RecodedColumn>,
    /// Rows that are not released.
    pub n_suppressed: u64,
}

impl Recoded {
    /// Rows that are released.
    #[must_use]
    pub fn n_released(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// The rows of the table, released or not.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_released() + self.n_suppressed
    }
}

/// A released column with one label per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// The column's name in the release.
    pub name: String,
    /// The kind of the labels: text, unless they are plain values.
    pub kind: Kind,
    /// Whether the labels are means of the values.
    pub is_mean: bool,
    /// Whether they are sets of texts, which a format with lists holds as lists.
    pub are_sets: bool,
    /// Distinct labels; a missing one is an empty cell.
    pub texts: Vec<Option<String>>,
    /// By class, its label.
    pub of_class: Vec<u32>,
}

/// Rows by code of one column of a frequency set, as running sums: element `c` counts the codes
/// below `c`.
#[must_use]
pub fn running_counts(set: &FrequencySet, attribute: usize) -> Vec<u64> {
    let n_codes = set.attributes[attribute].n_codes() as usize;
    let mut sums = vec![0u64; n_codes + 1];
    match &set.vectors[attribute] {
        Codes::U8(codes) => count(&mut sums, codes, &set.counts),
        Codes::U16(codes) => count(&mut sums, codes, &set.counts),
        Codes::U32(codes) => count(&mut sums, codes, &set.counts),
    }
    for code in 0..n_codes {
        sums[code + 1] += sums[code];
    }
    sums
}

fn count<C: Copy + Into<u32>>(sums: &mut [u64], codes: &[C], counts: &[u32]) {
    for (&code, &rows) in codes.iter().zip(counts) {
        let code: u32 = code.into();
        sums[code as usize + 1] += u64::from(rows);
    }
}

impl Attribute {
    /// The rows whose value a cell covers, from the column's [`running_counts`].
    #[must_use]
    pub fn covered(&self, cell: &Cell, running: &[u64]) -> u64 {
        let between = |lo: u32, hi: u32| running[hi as usize + 1] - running[lo as usize];
        match cell {
            Cell::All => running[running.len() - 1],
            cell => self.runs(cell).into_iter().map(|(lo, hi)| between(lo, hi)).sum(),
        }
    }
}

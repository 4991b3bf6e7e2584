//! How often the values of a column occur, told by some of them in bounded memory.
//!
//! Values whose hash is below a bound are counted, all others are passed over. Whenever too many
//! values are counted the bound is halved. So the values that are left depend on the values of the
//! column alone, not on the order of the rows or on who reads them: it is the first bound under
//! which few enough values lie.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::error::ArrowError;
use hashbrown::HashTable;
use incrowd_data::Kind;

use crate::Source;
use crate::value::kind::{can_be_coded, kind_of_type};
use crate::value::mix::{NO_CELLS, is_whole, mix};
use crate::value::sample::{Sample, hash_of};
use crate::value::stored::strict_cast;
use crate::value::typing::{infer, is_of};

/// Values that are counted at most: half a megabyte for each column and thread.
const MOST_VALUES: usize = 1 << 14;

/// How often the values of a column occur, told by some of them.
#[derive(Clone, Debug)]
pub struct CountedColumn {
    /// The column's name.
    pub name: String,
    /// The kind that the source says; text files say none.
    kind: Option<Kind>,
    /// Hashes of values with their rows.
    rows_of: HashTable<(u64, u64)>,
    /// How often the bound was halved.
    n_halvings: u32,
    most_values: usize,
    n_missing: u64,
    sample: Sample,
}

impl CountedColumn {
    pub(crate) fn new(name: &str, data_type: &DataType) -> CountedColumn {
        CountedColumn {
            name: name.to_owned(),
            kind: kind_of_type(data_type),
            rows_of: HashTable::new(),
            n_halvings: 0,
            most_values: MOST_VALUES,
            n_missing: 0,
            sample: Sample::default(),
        }
    }

    /// Values that were counted. Multiplied by [`CountedColumn::scale`] they are about those of the
    /// column.
    #[must_use]
    pub fn n_values(&self) -> u64 {
        self.rows_of.len() as u64
    }

    /// Rows of the values that were counted.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.rows_of.iter().map(|(_, rows)| rows).sum()
    }

    /// Values that were counted and that one row has.
    #[must_use]
    pub fn n_unique(&self) -> u64 {
        self.rows_of.iter().filter(|(_, rows)| *rows == 1).count() as u64
    }

    /// Rows without a value, of all rows.
    #[must_use]
    pub fn n_missing(&self) -> u64 {
        self.n_missing
    }

    /// How many values of the column one that was counted stands for; 1 where all were.
    #[must_use]
    pub fn scale(&self) -> u64 {
        1 << self.n_halvings.min(63)
    }

    /// Some of the values.
    #[must_use]
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// What the values are, as far as the sample tells.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let kind = self.kind.unwrap_or_else(|| infer(self.sample.texts()));
        if self.sample.texts().all(|text| is_of(kind, text)) { kind } else { Kind::Text }
    }

    /// Looks at the cells of some rows.
    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<(), ArrowError> {
        match array.data_type() {
            DataType::Utf8 => {
                for cell in array.as_string::<i32>() {
                    match cell {
                        Some(text) => self.see(hash_of(text), 1, || text.to_owned()),
                        None => self.n_missing += 1,
                    }
                }
            }
            data_type if is_whole(data_type) && kind_of_type(data_type) == Some(Kind::Integer) => {
                let array = strict_cast(array, &DataType::Int64)?;
                for cell in array.as_primitive::<Int64Type>() {
                    let hash = |cell: i64| mix(mix(NO_CELLS, cell.cast_unsigned()), 1);
                    match cell {
                        Some(cell) => self.see(hash(cell), 1, || cell.to_string()),
                        None => self.n_missing += 1,
                    }
                }
            }
            data_type if can_be_coded(data_type) => {
                return self.add(&strict_cast(array, &DataType::Utf8)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts rows of a value, if its hash is below the bound.
    fn see(&mut self, hash: u64, n_rows: u64, text: impl FnOnce() -> String) {
        if self.is_above(hash) {
            return;
        }
        let found = self.rows_of.find_mut(place(hash), |(known, _)| *known == hash);
        if let Some((_, rows)) = found {
            *rows += n_rows;
            return;
        }
        if self.sample.wants(hash) {
            self.sample.add(hash, &text());
        }
        self.rows_of.insert_unique(place(hash), (hash, n_rows), |(hash, _)| place(*hash));
        while self.rows_of.len() > self.most_values {
            self.halve();
        }
    }

    fn is_above(&self, hash: u64) -> bool {
        self.n_halvings > 0 && hash >> (64 - self.n_halvings.min(63)) > 0
    }

    fn halve(&mut self) {
        self.n_halvings += 1;
        let bound = 64 - self.n_halvings.min(63);
        self.rows_of.retain(|(hash, _)| *hash >> bound == 0);
    }

    /// The columns of a source in its order.
    pub(crate) fn of_source(mut all: Vec<CountedColumn>, source: &Source) -> Vec<CountedColumn> {
        all.sort_by_key(|column| source.position(&column.name));
        if source.is_text() {
            for column in &mut all {
                column.kind = None;
            }
        }
        all
    }

    /// Takes in what was found in other rows of the same column.
    pub(crate) fn merge(&mut self, other: &CountedColumn) {
        self.n_missing += other.n_missing;
        while self.n_halvings < other.n_halvings {
            self.halve();
        }
        self.sample = std::mem::take(&mut self.sample).and(&other.sample);
        other.rows_of.iter().for_each(|&(hash, rows)| self.see(hash, rows, String::new));
    }
}

/// Where a hash belongs in the table. Its highest bits, which tell places apart, are all zero
/// below a low bound.
fn place(hash: u64) -> u64 {
    hash.rotate_left(32)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int32Array, StringArray};

    use super::*;

    fn counted(cells: &[String], most_values: usize) -> CountedColumn {
        let mut column = CountedColumn { most_values, ..CountedColumn::new("x", &DataType::Utf8) };
        column.add(&(Arc::new(StringArray::from(cells.to_vec())) as ArrayRef)).unwrap();
        column
    }

    fn figures(column: &CountedColumn) -> (u64, u64, u64, u64) {
        (column.n_values(), column.n_rows(), column.n_unique(), column.scale())
    }

    #[test]
    fn few_values_are_all_counted() {
        let cells = ["a", "b", "a", "c", "a"].map(str::to_owned);
        assert_eq!(figures(&counted(&cells, 3)), (3, 5, 2, 1));
        let mut whole = CountedColumn::new("x", &DataType::Int32);
        whole.add(&(Arc::new(Int32Array::from(vec![Some(1), None, Some(1)])) as ArrayRef)).unwrap();
        assert_eq!((figures(&whole), whole.n_missing()), ((1, 2, 0, 1), 1));
    }

    #[test]
    fn what_is_counted_depends_on_the_values_alone() {
        let cells: Vec<String> = (0..30_000).map(|row| format!("v{}", row % 10_000)).collect();
        let whole = counted(&cells, 2048);
        assert!(whole.n_values() <= 2048 && whole.n_rows() == 3 * whole.n_values());
        let estimate = whole.n_values() * whole.scale();
        assert!((9000..11_000).contains(&estimate), "{estimate}");
        let backwards: Vec<String> = cells.iter().rev().cloned().collect();
        assert_eq!(figures(&counted(&backwards, 2048)), figures(&whole));
        for cut in [1, 500, 11_000, 29_999] {
            let (a, b) = cells.split_at(cut);
            let (mut merged, other) = (counted(a, 2048), counted(b, 2048));
            merged.merge(&other);
            assert_eq!(figures(&merged), figures(&whole), "{cut}");
            assert_eq!(merged.sample(), whole.sample(), "{cut}");
        }
    }
}

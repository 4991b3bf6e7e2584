//! How much there is in Parquet and Arrow files once it is decoded. A dictionary holds a long text
//! once and compression makes it short; in memory it is there for every row.

use std::collections::BTreeMap;

use parquet::basic::Type;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::format::parquet_check::Pages;

/// Bytes of a number, which is what a cell takes at least.
const CELL: u64 = 8;

/// How much there is in files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoded {
    /// Rows.
    pub(crate) n_rows: u64,
    /// Bytes of a row, where rows are longest on average.
    pub(crate) row_bytes: u64,
    /// By column, the bytes of its cells as far as they are known of it.
    columns: BTreeMap<String, u64>,
    /// Bytes of cells of which it is not known which column they are of.
    others: u64,
}

impl Decoded {
    /// That of the row groups of a Parquet file.
    pub(crate) fn of_parquet(footer: &ParquetMetaData, pages: &[Vec<Pages>]) -> Decoded {
        let mut decoded = Decoded::default();
        for (group, pages) in footer.row_groups().iter().zip(pages) {
            let n_rows = u64::try_from(group.num_rows()).unwrap_or(0);
            let mut of_group = 0u64;
            for (chunk, pages) in group.columns().iter().zip(pages) {
                let n_bytes = bytes_of_chunk(chunk, pages).max(n_rows.saturating_mul(CELL));
                of_group = of_group.saturating_add(n_bytes);
                if let Some(name) = chunk.column_path().parts().first() {
                    decoded.add(name, n_bytes);
                }
            }
            decoded.add_rows(n_rows, of_group);
        }
        decoded
    }

    /// Adds rows that take so many bytes altogether.
    pub(crate) fn add_rows(&mut self, n_rows: u64, n_bytes: u64) {
        self.n_rows = self.n_rows.saturating_add(n_rows);
        self.row_bytes = self.row_bytes.max(n_bytes.div_ceil(n_rows.max(1)));
    }

    /// Adds cells of a column.
    pub(crate) fn add(&mut self, column: &str, n_bytes: u64) {
        let all = self.columns.entry(column.to_owned()).or_default();
        *all = all.saturating_add(n_bytes);
    }

    /// Adds cells of any columns.
    pub(crate) fn add_others(&mut self, n_bytes: u64) {
        self.others = self.others.saturating_add(n_bytes);
    }

    /// That of both files.
    pub(crate) fn and(mut self, other: &Decoded) -> Decoded {
        other.columns.iter().for_each(|(name, &n_bytes)| self.add(name, n_bytes));
        self.add_others(other.others);
        self.n_rows = self.n_rows.saturating_add(other.n_rows);
        self.row_bytes = self.row_bytes.max(other.row_bytes);
        self
    }

    /// The bytes of the cells of some of `n_columns` columns, at the most.
    pub(crate) fn bytes_of<'a>(
        &self,
        n_columns: usize,
        names: impl Iterator<Item = &'a str>,
    ) -> u64 {
        let (mut all, mut n_names) = (0u64, 0);
        for name in names {
            all = all.saturating_add(self.columns.get(name).copied().unwrap_or(0));
            n_names += 1;
        }
        if n_names == 0 {
            return 0;
        }
        // The other columns take some of the rest: half a number a cell.
        let n_others = (n_columns - n_names) as u64;
        let of_others = self.n_rows.saturating_mul(CELL / 2).saturating_mul(n_others);
        all.saturating_add(self.others.saturating_sub(of_others))
    }
}

/// The bytes of the cells of a column in a row group.
fn bytes_of_chunk(chunk: &ColumnChunkMetaData, pages: &Pages) -> u64 {
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    let stored = number(chunk.uncompressed_size());
    if chunk.column_type() != Type::BYTE_ARRAY {
        return stored;
    }
    let n_values = number(chunk.num_values());
    let of_texts = match (chunk.unencoded_byte_array_data_bytes(), pages.dictionary) {
        (Some(n_bytes), _) => number(n_bytes),
        // Older writers do not say it: as if all texts of the dictionary were as frequent.
        (None, Some((n_texts, n_bytes))) => (n_bytes / n_texts.max(1)).saturating_mul(n_values),
        (None, None) => 0,
    };
    stored.max(of_texts.saturating_add(n_values.saturating_mul(CELL / 2)))
}

//! What the fuzz targets need beside the public interface: the CSV inspector on bytes in memory,
//! with blocks of any size, so that a few bytes reach what otherwise takes megabytes.

use crate::CsvError;
use crate::format::csv_check::inspect_blocks;

/// What the inspector found in a sound file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspected {
    /// The byte that separates fields.
    pub delimiter: u8,
    /// The column names.
    pub header: Vec<String>,
    /// Records after the header.
    pub n_rows: u64,
    /// Whether a quoted field has a line end in it.
    pub has_newlines_in_values: bool,
}

/// Inspects a CSV file, `block` (at least 4) bytes at a time.
pub fn inspect(bytes: &[u8], delimiter: Option<u8>, block: usize) -> Result<Inspected, CsvError> {
    let facts = inspect_blocks(bytes, delimiter, block)?;
    Ok(Inspected {
        delimiter: facts.delimiter,
        header: facts.header,
        n_rows: facts.n_rows,
        has_newlines_in_values: facts.has_newlines_in_values,
    })
}

//! CSV text of released rows.

use std::path::Path;

use arrow::array::{Array, StringArray};

/// How cells are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
}

/// The cells of a column within a chunk.
pub(crate) enum Cells<'a> {
    /// Index of a ready-made text for each row.
    Ready { texts: &'a ReadyCells, index: Vec<u32> },
    /// Texts as they are.
    Raw(StringArray),
}

/// Cells as they are written, one after another.
#[derive(Debug, Default)]
pub(crate) struct ReadyCells {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ReadyCells {
    /// Adds a cell; a missing one is empty.
    pub(crate) fn push(&mut self, dialect: Dialect, text: Option<&str>) {
        if let Some(text) = text {
            dialect.push(text, &mut self.bytes);
        }
        self.ends.push(self.bytes.len());
    }

    fn get(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

impl Dialect {
    /// How the cells of a file are divided, by its name.
    pub(crate) fn of(path: &Path) -> Dialect {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let is_tsv = name.split('.').any(|part| part == "tsv");
        Dialect { delimiter: if is_tsv { b'\t' } else { b',' } }
    }

    /// A cell, quoted if it must be; a missing one is empty, and an empty text two quotes.
    pub(crate) fn cell(self, text: Option<&str>) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(text) = text {
            self.push(text, &mut bytes);
        }
        bytes
    }

    fn push(self, text: &str, to: &mut Vec<u8>) {
        let must_quote =
            |&byte: &u8| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !text.is_empty() && !text.as_bytes().iter().any(must_quote) {
            to.extend_from_slice(text.as_bytes());
            return;
        }
        to.push(b'"');
        for &byte in text.as_bytes() {
            if byte == b'"' {
                to.push(b'"');
            }
            to.push(byte);
        }
        to.push(b'"');
    }

    pub(crate) fn header<'a>(self, names: impl Iterator<Item = &'a str>) -> Vec<u8> {
        let mut line = Vec::new();
        for (at, name) in names.enumerate() {
            if at > 0 {
                line.push(self.delimiter);
            }
            self.push(name, &mut line);
        }
        line.push(b'\n');
        line
    }

    /// The lines of a chunk, its rows in the given order.
    pub(crate) fn lines(self, columns: &[Cells], order: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(order.len() * columns.len() * 8);
        for &row in order {
            let start = bytes.len();
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    bytes.push(self.delimiter);
                }
                match column {
                    Cells::Ready { texts, index } => {
                        bytes.extend_from_slice(texts.get(index[row as usize]));
                    }
                    Cells::Raw(array) if array.is_null(row as usize) => {}
                    Cells::Raw(array) => self.push(array.value(row as usize), &mut bytes),
                }
            }
            if bytes.len() == start {
                // A line without a byte would be no row.
                bytes.extend_from_slice(b"\"\"");
            }
            bytes.push(b'\n');
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_is_quoted() {
        let dialect = Dialect { delimiter: b';' };
        for (text, cell) in [
            ("a", "a"),
            ("a;b", "\"a;b\""),
            ("a,b", "a,b"),
            ("5\"", "\"5\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("", "\"\""),
        ] {
            assert_eq!(dialect.cell(Some(text)), cell.as_bytes());
        }
        assert_eq!(dialect.cell(None), b"");
    }

    #[test]
    fn a_row_of_nothing_is_still_a_row() {
        let cells = Cells::Raw(StringArray::from(vec![None, Some("x")]));
        let lines = Dialect { delimiter: b',' }.lines(&[cells], &[1, 0]);
        assert_eq!(lines, b"x\n\"\"\n");
    }
}

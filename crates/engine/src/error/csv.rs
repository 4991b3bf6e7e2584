//! Why a CSV file is refused.

use std::io;

/// Why a file is refused. Lines and columns count from 1; a line ends with LF, CRLF or CR, also
/// inside quotes. No message contains a cell of the table, nor a column's name, which is a cell
/// where the header is missing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum CsvError {
    /// The file could not be opened or read.
    #[error("cannot read the CSV file")]
    Io(#[from] io::Error),
    /// The file is not what its compression promises, or is cut short.
    #[error("cannot decompress the CSV file as {format}")]
    Decompress {
        format: &'static str,
        #[source]
        source: io::Error,
    },
    /// The delimiter asked for cannot separate fields.
    #[error("the delimiter must be ASCII and no NUL, quote or line end, found byte {found:#04x}")]
    BadDelimiter { found: u8 },
    /// There is no record at all.
    #[error("a CSV file must start with a header, found an empty file")]
    NoHeader,
    /// The first record is too long to be a header.
    #[error("the header must end within {limit} bytes, found no end")]
    HeaderTooLong { limit: usize },
    /// A column has no name, or one of white space only.
    #[error("every column must have a name, found none for column {column} in the header")]
    EmptyHeader { column: usize },
    /// Two columns have the same name.
    #[error("column names must differ, found the same for columns {first} and {second}")]
    DuplicateHeader { first: usize, second: usize },
    /// A line is empty: in a one-column table anywhere, else anywhere but at the end of the file.
    #[error(
        "line {line} is blank where a record must be; in a lone column write \"\" for a missing value"
    )]
    BlankLine { line: u64 },
    /// A record, which starts on this line, has more or fewer fields than the header.
    #[error("line {line} has {found} field{} where the header has {expected}", plural(*found))]
    Ragged { line: u64, found: u64, expected: u64 },
    /// A byte on this line is not part of any UTF-8 character.
    #[error("line {line} must be UTF-8 text, found a byte that is not")]
    NotUtf8 { line: u64 },
    /// A byte on this line is zero.
    #[error("line {line} must be text, found a NUL byte")]
    NulByte { line: u64 },
    /// A quoted field that starts on this line does not end.
    #[error("line {line} opens a quoted field that must be closed, found no closing quote")]
    UnclosedQuote { line: u64 },
    /// A closing quote on this line is followed by neither a delimiter nor the end of the line.
    #[error("line {line} must have a delimiter or its end after a closing quote, found other text")]
    TextAfterQuote { line: u64 },
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl CsvError {
    /// The number, from 1, of the line at fault, where there is one.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::BlankLine { line }
            | Self::Ragged { line, .. }
            | Self::NotUtf8 { line }
            | Self::NulByte { line }
            | Self::UnclosedQuote { line }
            | Self::TextAfterQuote { line } => Some(*line),
            Self::HeaderTooLong { .. }
            | Self::EmptyHeader { .. }
            | Self::DuplicateHeader { .. } => Some(1),
            Self::Io(_) | Self::Decompress { .. } | Self::BadDelimiter { .. } | Self::NoHeader => {
                None
            }
        }
    }

    /// The error with its cause, on one line.
    pub(crate) fn in_full(&self) -> String {
        match self {
            CsvError::Io(cause) | CsvError::Decompress { source: cause, .. } => {
                format!("{self}: {}", cause.kind())
            }
            _ => self.to_string(),
        }
    }
}

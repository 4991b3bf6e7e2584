//! File formats: by name, what is checked of the bytes of each before anything decodes them, and
//! the text that is written.

pub(crate) mod arrow_check;
mod compression;
pub(crate) mod csv_check;
pub(crate) mod csv_write;
pub(crate) mod decoded;
pub(crate) mod parquet_check;

use std::path::Path;

use crate::EngineError;
pub use compression::Compression;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a delimiter, perhaps compressed.
    Csv(Compression),
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file.
    Arrow,
    /// One JSON object a line, perhaps compressed.
    JsonLines(Compression),
}

impl Format {
    /// The format that a file's name says, if it says one.
    #[must_use]
    pub fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (stem, compression) = match name.rsplit_once('.') {
            Some((stem, "gz")) => (stem, Compression::Gzip),
            Some((stem, "zst")) => (stem, Compression::Zstd),
            _ => (name.as_str(), Compression::None),
        };
        match (stem.rsplit_once('.')?.1, compression) {
            ("csv" | "tsv" | "txt" | "dat", _) => Some(Format::Csv(compression)),
            ("jsonl" | "ndjson" | "json", _) => Some(Format::JsonLines(compression)),
            ("parquet" | "pq", Compression::None) => Some(Format::Parquet),
            ("arrow" | "ipc" | "feather", Compression::None) => Some(Format::Arrow),
            _ => None,
        }
    }

    /// The format of a release by its name.
    pub fn of_output(path: &Path) -> Result<Format, EngineError> {
        let unknown = || EngineError::UnknownFormat { path: path.display().to_string() };
        Format::of(path).ok_or_else(unknown)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Csv(_) => "CSV",
            Format::Parquet => "Parquet",
            Format::Arrow => "an Arrow file",
            Format::JsonLines(_) => "JSON lines",
        }
    }

    pub(crate) fn compression(self) -> Compression {
        match self {
            Format::Csv(compression) | Format::JsonLines(compression) => compression,
            Format::Parquet | Format::Arrow => Compression::None,
        }
    }
}

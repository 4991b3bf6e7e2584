//! What of a source must be in memory at once, however little is kept of it: the longest row of a
//! text file, a row group of a Parquet file, a batch of an Arrow file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memchr_iter;
use parquet::file::metadata::RowGroupMetaData;

use super::{Files, Origin, Source, SourceColumn, Use};
use crate::error::Detail;
use crate::format::arrow_check::check_arrow;
use crate::format::csv_check::Extent;
use crate::format::parquet_check::{Pages, parquet_footer, parquet_pages};
use crate::{Engine, EngineError, FileAction, Format};

/// How often a row of text is in memory while it is read: as bytes, as fields, as cells, as a copy.
const COPIES_OF_A_ROW: u64 = 6;
/// Bytes of a page that need not be counted.
const USUAL_PAGE: u64 = 1 << 20;

impl Source {
    /// About the bytes that must be in memory at once while these columns are read.
    pub fn portion_bytes(&self, engine: &Engine, uses: &[Use]) -> Result<u64, EngineError> {
        match &self.origin {
            Origin::Files(files) => files.portion_bytes(engine, &self.columns, uses),
            // All of it is in memory as it is.
            Origin::Memory(_) => Ok(0),
        }
    }

    /// Bytes of a row, where rows are longest on average; 0 if that is not known.
    pub(crate) fn row_bytes(&self) -> u64 {
        match &self.origin {
            Origin::Files(files) => {
                let of_text = files.extent.map(|extent| extent.row_bytes);
                let of_cells = files.decoded.as_ref().map(|decoded| decoded.row_bytes);
                of_text.or(of_cells).unwrap_or(0)
            }
            Origin::Memory(batches) => self.n_text_bytes() / batches.n_rows().max(1),
        }
    }
}

impl Files {
    fn portion_bytes(
        &self,
        engine: &Engine,
        columns: &[SourceColumn],
        uses: &[Use],
    ) -> Result<u64, EngineError> {
        let mut most = 0;
        for path in &self.paths {
            engine.go_on()?;
            most = most.max(match self.format {
                Format::Csv(_) => break,
                Format::JsonLines(_) => COPIES_OF_A_ROW * self.json_extent(path)?.longest_row,
                Format::Parquet => self
                    .largest_group(path, columns, uses)?
                    .saturating_mul(engine.n_threads() as u64),
                Format::Arrow => {
                    let unreadable = |source| self.unreadable(path, source);
                    2 * check_arrow(path).map_err(unreadable)?.largest_batch
                }
            });
        }
        Ok(most.max(COPIES_OF_A_ROW * self.extent.map_or(0, |extent| extent.longest_row)))
    }

    fn json_extent(&self, path: &Path) -> Result<Extent, EngineError> {
        let unreadable = |source| unreadable_file(path, source);
        let file = File::open(path).map_err(unreadable)?;
        let mut input = self.format.compression().reader(file).map_err(unreadable)?;
        let mut extent = Extent::default();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = input.read(&mut buffer).map_err(unreadable)?;
            if n == 0 {
                return Ok(extent);
            }
            extent.add(n as u64, memchr_iter(b'\n', &buffer[..n]).count() as u64);
        }
    }

    pub(super) fn unreadable(&self, path: &Path, source: Detail) -> EngineError {
        EngineError::Unreadable { path: path.to_owned(), format: self.format.name(), source }
    }

    /// The stored bytes of the columns that are read, and their largest pages in memory, in the
    /// largest row group.
    fn largest_group(
        &self,
        path: &Path,
        columns: &[SourceColumn],
        uses: &[Use],
    ) -> Result<u64, EngineError> {
        let unreadable = |source| self.unreadable(path, source);
        let footer = parquet_footer(path).map_err(unreadable)?;
        let pages = parquet_pages(path, &footer).map_err(unreadable)?;
        let is_read = |name: Option<&String>| {
            let mut read = columns.iter().zip(uses).filter(|(_, usage)| **usage != Use::Skip);
            name.is_some_and(|name| read.any(|(column, _)| column.name == *name))
        };
        let of_group = |(group, pages): (&RowGroupMetaData, &Vec<Pages>)| -> u64 {
            let columns = group.columns().iter().zip(pages);
            let read = columns.filter(|(column, _)| is_read(column.column_path().parts().first()));
            read.map(|(column, pages)| {
                let stored = u64::try_from(column.compressed_size()).unwrap_or(u64::MAX);
                stored.saturating_add(pages.largest.saturating_sub(USUAL_PAGE))
            })
            .fold(0, u64::saturating_add)
        };
        let groups = footer.row_groups().iter().zip(&pages);
        Ok(groups.map(of_group).max().unwrap_or(0))
    }
}

fn unreadable_file(path: &Path, source: std::io::Error) -> EngineError {
    EngineError::Io { action: FileAction::Read, path: path.to_owned(), source }
}

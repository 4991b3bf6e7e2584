//! Releases as CSV.

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::Published;
use super::gather::{Columns, Gathered};
use crate::csv_sink::CsvSink;
use crate::csv_write::{Cells, Dialect};
use crate::stage::Opened;
use crate::{Compression, EngineError};

/// What every text file of a release is made from.
pub(super) struct Text {
    dialect: Dialect,
    compression: Compression,
    header: Vec<u8>,
    /// By column, the cells of labels and codes, ready to be copied.
    ready: Vec<Vec<Vec<u8>>>,
}

impl Text {
    pub(super) fn new(
        columns: &Columns,
        dialect: Dialect,
        compression: Compression,
    ) -> Result<Text, EngineError> {
        refuse_nested(columns)?;
        let ready = columns.published.iter().map(|column| ready_cells(column, dialect)).collect();
        Ok(Text { dialect, compression, header: dialect.header(columns.names()), ready })
    }

    /// A file with its header.
    pub(super) fn open(&self, file: Opened) -> Result<CsvSink, EngineError> {
        let mut sink = CsvSink::new(file, self.compression)?;
        sink.write(&self.header)?;
        Ok(sink)
    }

    /// The lines of a chunk.
    pub(super) fn lines(
        &self,
        columns: &Columns,
        gathered: &Gathered,
    ) -> Result<Vec<u8>, ArrowError> {
        let mut cells = Vec::with_capacity(columns.published.len());
        for (at, (column, texts)) in columns.published.iter().zip(&self.ready).enumerate() {
            cells.push(match (column, &gathered.kept[at]) {
                (Published::Labels(labels), _) => {
                    let label = |&class: &u32| labels.of_class[class as usize];
                    let index = gathered.classes.iter().map(label).collect();
                    Cells::Ready { texts, index }
                }
                (Published::Coded { .. }, _) => {
                    let codes = gathered.codes(at);
                    let index = gathered.rows.iter().map(|&row| codes.get(row as usize)).collect();
                    Cells::Ready { texts, index }
                }
                (Published::Kept(_), Some(array)) => {
                    Cells::Raw(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
                }
                (Published::Kept(_), None) => unreachable!("kept columns are gathered"),
            });
        }
        Ok(self.dialect.lines(&cells, &gathered.order))
    }
}

fn refuse_nested(columns: &Columns) -> Result<(), EngineError> {
    for column in columns.published {
        let Published::Kept(at) = column else { continue };
        let column = &columns.kept[*at];
        if !arrow::compute::can_cast_types(&column.data_type, &DataType::Utf8)
            || column.data_type.is_nested()
        {
            let (column, found) = (column.name.clone(), column.data_type.to_string());
            return Err(EngineError::NotForCsv { column, found });
        }
    }
    Ok(())
}

fn ready_cells(column: &Published, dialect: Dialect) -> Vec<Vec<u8>> {
    match column {
        Published::Labels(labels) => {
            labels.texts.iter().map(|text| dialect.cell(text.as_deref())).collect()
        }
        Published::Coded { values, .. } => {
            let mut cells: Vec<_> =
                values.texts.iter().map(|text| dialect.cell(Some(text))).collect();
            cells.push(Vec::new());
            cells
        }
        Published::Kept(_) => Vec::new(),
    }
}

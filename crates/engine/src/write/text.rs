//! Releases as CSV.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::Published;
use super::csv_sink::CsvSink;
use super::gather::{Columns, Gathered};
use crate::format::csv_write::{Cells, Dialect, ReadyCells};
use crate::publish::stage::Opened;
use crate::source::in_words;
use crate::value::stored::strict_cast;
use crate::{Compression, EngineError};

/// What every text file of a release is made from.
pub(super) struct Text {
    dialect: Dialect,
    compression: Compression,
    header: Vec<u8>,
    /// By column, the cells of labels and codes, ready to be copied.
    ready: Vec<Arc<ReadyCells>>,
}

impl Text {
    pub(super) fn new(
        columns: &Columns,
        dialect: Dialect,
        compression: Compression,
    ) -> Result<Text, EngineError> {
        refuse_nested(columns)?;
        let ready = |column| Arc::new(ready_cells(column, dialect));
        let ready = columns.published.iter().map(ready).collect();
        Ok(Text { dialect, compression, header: dialect.header(columns.names()), ready })
    }

    /// The same for other classes: the columns with labels that are told.
    pub(super) fn with_labels(&self, columns: &Columns) -> Text {
        let ready = |(column, known): (&Published, &Arc<ReadyCells>)| match column {
            Published::Labels { .. } => Arc::new(ready_cells(column, self.dialect)),
            Published::Coded { .. } | Published::Kept(_) => Arc::clone(known),
        };
        let ready = columns.published.iter().zip(&self.ready).map(ready).collect();
        let (dialect, compression) = (self.dialect, self.compression);
        Text { dialect, compression, header: self.header.clone(), ready }
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
                (Published::Labels { labels, .. }, _) => {
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
                    Cells::Raw(strict_cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
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
            let holds = in_words(&column.data_type);
            return Err(EngineError::NotForCsv { column: column.name.clone(), holds });
        }
    }
    Ok(())
}

fn ready_cells(column: &Published, dialect: Dialect) -> ReadyCells {
    let mut cells = ReadyCells::default();
    match column {
        Published::Labels { labels, .. } => {
            labels.texts.iter().for_each(|text| cells.push(dialect, text.as_deref()));
        }
        Published::Coded { values, .. } => {
            values.texts.iter().for_each(|text| cells.push(dialect, Some(text)));
            cells.push(dialect, None);
        }
        Published::Kept(_) => {}
    }
    cells
}

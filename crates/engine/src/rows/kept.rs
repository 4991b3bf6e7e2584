//! Kept cells of a partition in a private file.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::ipc::writer::StreamWriter;

use super::{spilling, unreadable};
use crate::read::narrow;
use crate::value::stored::{Fit, plain_type};
use crate::{EngineError, SourceColumn};

/// Kept cells of one partition, as they are.
#[derive(Debug)]
pub(super) struct KeptFile {
    pub(super) path: PathBuf,
    pub(super) n_bytes: u64,
}

/// Kept cells that are being written as they are.
pub(super) struct KeptWriter {
    path: PathBuf,
    /// None without a kept column.
    file: Option<(SchemaRef, StreamWriter<BufWriter<File>>)>,
    wants_fits: bool,
    fits: Vec<Option<Fit>>,
}

impl KeptWriter {
    pub(super) fn new<'a>(
        path: PathBuf,
        columns: impl Iterator<Item = &'a SourceColumn>,
        wants_fits: bool,
    ) -> Result<KeptWriter, EngineError> {
        let field =
            |column: &SourceColumn| Field::new(&column.name, plain_type(&column.data_type), true);
        let fields: Vec<Field> = columns.map(field).collect();
        let fits = vec![None; fields.len()];
        let file = if fields.is_empty() {
            None
        } else {
            let schema = Arc::new(Schema::new(fields));
            let file = BufWriter::with_capacity(1 << 18, File::create(&path).map_err(spilling)?);
            let writer = StreamWriter::try_new(file, &schema).map_err(unreadable)?;
            Some((schema, writer))
        };
        Ok(KeptWriter { path, file, wants_fits, fits })
    }

    /// Appends some rows, an array for each column.
    pub(super) fn write(&mut self, kept: Vec<ArrayRef>) -> Result<(), EngineError> {
        if self.wants_fits {
            for (fit, array) in self.fits.iter_mut().zip(&kept) {
                narrow(fit, array);
            }
        }
        let Some((schema, writer)) = &mut self.file else { return Ok(()) };
        let batch = RecordBatch::try_new(Arc::clone(schema), kept).map_err(unreadable)?;
        writer.write(&batch).map_err(unreadable)
    }

    /// The file, if there is a kept column, and what the columns of texts hold.
    pub(super) fn finish(self) -> Result<(Option<KeptFile>, Vec<Option<Fit>>), EngineError> {
        let Some((_, mut writer)) = self.file else { return Ok((None, self.fits)) };
        writer.finish().map_err(unreadable)?;
        let n_bytes = std::fs::metadata(&self.path).map_err(spilling)?.len();
        Ok((Some(KeptFile { path: self.path, n_bytes }), self.fits))
    }
}

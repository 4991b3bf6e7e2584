//! Releases that stay in memory: the batches of an Arrow file without the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use arrow::error::ArrowError;

use super::columnar::{BATCH_BYTES, BATCH_ROWS, not_made};
use super::cut::Cut;
use crate::EngineError;
use crate::publish::memory::StagedBatches;
use crate::value::stored::strict_cast;

/// Batches that are complete, and the one that is not.
pub(super) struct MemorySink {
    target: PathBuf,
    schema: SchemaRef,
    open: Cut,
    complete: Vec<RecordBatch>,
    place: StagedBatches,
}

impl MemorySink {
    pub(super) fn new(place: StagedBatches, schema: &SchemaRef, target: &Path) -> MemorySink {
        let (target, schema) = (target.to_owned(), Arc::clone(schema));
        let open = Cut::new(BATCH_ROWS, BATCH_BYTES);
        MemorySink { target, schema, open, complete: Vec::new(), place }
    }

    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<(), EngineError> {
        let MemorySink { target, schema, open, complete, .. } = self;
        let run = |run: Vec<RecordBatch>| {
            complete.push(released(schema, &run)?);
            Ok(())
        };
        open.add(rows, run).map_err(|error| not_made(target, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), EngineError> {
        let rest = self.open.take();
        if !rest.is_empty() {
            let rest = released(&self.schema, &rest);
            self.complete.push(rest.map_err(|error| not_made(&self.target, &error))?);
        }
        self.place.put(&self.schema, self.complete)
    }
}

/// Rows as one batch that shares no memory with the table: no value of another row is left in it.
fn released(schema: &SchemaRef, rows: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let rows = concat_batches(schema, rows)?;
    let columns = rows.columns().iter().map(without_unused).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// The same cells without values that none of them has: views of texts keep the texts that they were
/// made from, and so do dictionaries.
fn without_unused(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let data_type = array.data_type();
    let copied = copied_type(data_type);
    if copied == *data_type {
        return Ok(Arc::clone(array));
    }
    strict_cast(&strict_cast(array, &copied)?, data_type)
}

/// A type with the same values that holds each where it is.
fn copied_type(data_type: &DataType) -> DataType {
    use DataType::{
        BinaryView, Dictionary, FixedSizeList, LargeBinary, LargeList, LargeUtf8, List, Map,
        RunEndEncoded, Struct, Utf8View,
    };
    let field = |field: &FieldRef| -> FieldRef {
        let copied = copied_type(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(copied))
    };
    match data_type {
        Utf8View => LargeUtf8,
        BinaryView => LargeBinary,
        Dictionary(_, values) => copied_type(values),
        RunEndEncoded(_, values) => copied_type(values.data_type()),
        List(item) => List(field(item)),
        LargeList(item) => LargeList(field(item)),
        FixedSizeList(item, n) => FixedSizeList(field(item), *n),
        Struct(fields) => Struct(fields.iter().map(field).collect()),
        Map(entries, is_sorted) => Map(field(entries), *is_sorted),
        other => other.clone(),
    }
}

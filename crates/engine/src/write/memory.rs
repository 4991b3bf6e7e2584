//! Releases that stay in memory: the batches of an Arrow file without the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::columnar::{BATCH_BYTES, BATCH_ROWS, not_made};
use super::cut::Cut;
use super::released::released;
use crate::EngineError;
use crate::publish::memory::StagedBatches;

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

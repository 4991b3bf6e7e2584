//! Releases that stay in memory: they are staged like files, and handed out when they are
//! published.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use crate::{Batches, EngineError};

/// Where a release in memory is handed out: empty until it is published, as a file has no name
/// until then.
#[derive(Clone, Debug, Default)]
pub struct Slot(Arc<Mutex<Option<Batches>>>);

impl Slot {
    /// The release, if one was published since the last time.
    #[must_use]
    pub fn take(&self) -> Option<Batches> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Batches>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A release in memory that waits to be published. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct StagedBatches {
    slot: Slot,
    written: Arc<Mutex<Option<Batches>>>,
}

impl StagedBatches {
    pub(super) fn new(slot: &Slot) -> StagedBatches {
        StagedBatches { slot: slot.clone(), written: Arc::default() }
    }

    /// Takes in all rows.
    pub(crate) fn put(
        &self,
        schema: &Schema,
        batches: Vec<RecordBatch>,
    ) -> Result<(), EngineError> {
        *self.lock() = Some(Batches::new(schema, batches)?);
        Ok(())
    }

    /// What was written, to be read back.
    pub(crate) fn written(&self) -> Option<Batches> {
        self.lock().clone()
    }

    /// Hands out what was written.
    pub(super) fn hand_out(self) {
        *self.slot.lock() = self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Batches>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

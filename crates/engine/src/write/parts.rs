//! The files that a release goes to, one after another.

use super::{Encoded, Encoder, Sink, Sizes};
use crate::{EngineError, Staging};

/// A file, or the parts of a folder, of which one is open at most.
pub(super) struct Parts<'a> {
    staging: &'a Staging,
    sizes: Sizes,
    /// The open part and its rows.
    open: Option<(Sink, u64)>,
    /// Parts that are written.
    n_written: usize,
}

impl<'a> Parts<'a> {
    /// Opens the first part, which is there even if it has no row.
    pub(super) fn new(
        staging: &'a Staging,
        encoder: &Encoder,
        sizes: Sizes,
    ) -> Result<Parts<'a>, EngineError> {
        let first = encoder.open(staging, 0, sizes)?;
        Ok(Parts { staging, sizes, open: Some((first, 0)), n_written: 0 })
    }

    /// Writes a chunk of so many rows, behind which the part may end.
    pub(super) fn write(
        &mut self,
        encoder: &Encoder,
        chunk: Encoded,
        n_rows: u64,
        may_break: bool,
    ) -> Result<(), EngineError> {
        let (mut sink, n_before) = match self.open.take() {
            Some(open) => open,
            None => (encoder.open(self.staging, self.n_written, self.sizes)?, 0),
        };
        sink.write(chunk)?;
        let n_rows = n_before + n_rows;
        self.open = Some((sink, n_rows));
        if may_break && self.staging.is_complete(n_rows) { self.end() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), EngineError> {
        if let Some((sink, n_rows)) = self.open.take() {
            sink.finish()?;
            self.staging.add(self.n_written, n_rows)?;
            self.n_written += 1;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), EngineError> {
        self.end()
    }
}

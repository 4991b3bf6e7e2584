//! Decoding of files that may be damaged.
//!
//! The libraries that read Parquet, Arrow and JSON trust some of the numbers in a file and panic
//! where they are wrong. Such a panic says that the input cannot be read: it is caught here and
//! becomes an error. Whoever prints panics asks [`is_decoding`] first.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use futures::Stream;

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is decoding an input: a panic is then about the input, and is caught.
#[must_use]
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// What the decoding gives; an error where it panics.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, DataFusionError> {
    let before = IS_DECODING.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(before);
    decoded.map_err(|_| ArrowError::IpcError("a reader panicked".to_owned()).into())
}

/// A stream of batches whose panics are errors, after which it ends.
pub(crate) struct Guarded {
    batches: Option<SendableRecordBatchStream>,
}

impl Guarded {
    pub(crate) fn new(batches: SendableRecordBatchStream) -> Guarded {
        Guarded { batches: Some(batches) }
    }
}

impl Stream for Guarded {
    type Item = Result<RecordBatch, DataFusionError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<RecordBatch, DataFusionError>>> {
        let Some(batches) = &mut self.batches else { return Poll::Ready(None) };
        match guarded(|| batches.as_mut().poll_next(context)) {
            Ok(found) => found,
            Err(error) => {
                self.batches = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let mut was_decoding = false;
        let found = guarded(|| {
            was_decoding = is_decoding();
            std::panic::resume_unwind(Box::new("damaged"))
        });
        let _: Result<(), DataFusionError> = found.inspect_err(|error| {
            assert!(matches!(error, DataFusionError::ArrowError(..)));
        });
        assert!(was_decoding && !is_decoding());
        assert_eq!(guarded(|| 7).unwrap(), 7);
    }
}

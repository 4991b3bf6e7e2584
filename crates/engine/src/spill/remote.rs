//! Rows that a cluster reads and codes, as they arrive here.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt32Type;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use incrowd_data::Kind;

use super::Scratch;
use super::codes::{CodeFile, CodeWriter};
use super::rows::{KeptFile, KeptWriter, Spilled};
use crate::column::as_encoded;
use crate::read::{Watch, kept_columns};
use crate::remote::{coded, of_stream, values};
use crate::typing::join;
use crate::{Engine, EngineError, Source, Use, Values};

/// Lets the engine's cluster read a source: the workers find the distinct values and give every cell its
/// code; rows arrive once and go to private files. The distinct values may take `most_bytes` in memory.
pub fn read_remote(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_kinds: bool,
    scratch: &Arc<Scratch>,
    most_bytes: u64,
) -> Result<Spilled, EngineError> {
    let columns: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] == Use::Code).collect();
    let (n_rows, values) = values(engine, source, &columns)?;
    if n_rows >= u64::from(u32::MAX) {
        return Err(EngineError::TooManyRows);
    }
    check_values(&values, most_bytes)?;
    let mut streams_of: Vec<Vec<SendableRecordBatchStream>> = Vec::new();
    streams_of.resize_with(engine.n_threads(), Vec::new);
    for (at, stream) in coded(engine, source, uses, &values)?.into_iter().enumerate() {
        streams_of[at % engine.n_threads()].push(stream);
    }
    let shared = Arc::new(Shared {
        uses: uses.iter().copied().filter(|usage| *usage != Use::Skip).collect(),
        n_values: values.iter().map(|values| values.texts.len()).collect(),
        watch: Watch::new(engine),
    });
    let mut tasks = Vec::new();
    for (part, streams) in streams_of.into_iter().enumerate() {
        let codes = CodeWriter::new(&scratch.path(&format!("codes-{part}")), columns.len())?;
        let kept = (source.columns().iter().zip(uses))
            .filter(|(_, usage)| **usage == Use::Keep)
            .map(|(column, _)| (&column.name, &column.data_type));
        let path = scratch.path(&format!("kept-{part}"));
        let kept = KeptWriter::new(path, kept, wants_kinds && source.is_text())?;
        let part = Part { codes, kept, shared: Arc::clone(&shared) };
        tasks.push(engine.runtime().spawn(part.receive(streams)));
    }
    let mut kinds: Vec<Option<Kind>> =
        uses.iter().filter(|usage| **usage == Use::Keep).map(|_| None).collect();
    let mut parts = Vec::new();
    for task in tasks {
        let found = engine.runtime().block_on(task).expect("a receiving task does not panic");
        engine.go_on()?;
        let (codes, (kept, of_part)) = found?;
        for (kind, of_part) in kinds.iter_mut().zip(of_part) {
            *kind = of_part.map_or(*kind, |of_part| Some(join(*kind, of_part)));
        }
        parts.push((codes, kept));
    }
    source.check_unchanged()?;
    if parts.iter().map(|(codes, _)| codes.n_rows()).sum::<u64>() != n_rows {
        return Err(EngineError::Cluster { what: "rows are missing from its answer" });
    }
    Ok(Spilled::of_codes(values, kept_columns(source, uses, &kinds), parts, scratch))
}

/// An error if the distinct values take too much.
fn check_values(values: &[Values], most_bytes: u64) -> Result<(), EngineError> {
    let bytes_of =
        |values: &Values| values.texts.iter().map(|text| text.len() as u64 + 48).sum::<u64>();
    if values.iter().map(bytes_of).sum::<u64>() <= most_bytes {
        return Ok(());
    }
    let largest = values.iter().max_by_key(|values| bytes_of(values));
    let column = largest.map_or_else(String::new, |values| values.name.clone());
    Err(EngineError::TooManyValues { column, megabytes: most_bytes / 1_000_000 })
}

/// What the tasks that receive rows share.
struct Shared {
    /// Of the columns that arrive.
    uses: Vec<Use>,
    /// By coded column, the number of its values.
    n_values: Vec<usize>,
    watch: Watch,
}

/// Some of the rows, on their way to private files.
struct Part {
    codes: CodeWriter,
    kept: KeptWriter,
    shared: Arc<Shared>,
}

impl Part {
    async fn receive(
        mut self,
        streams: Vec<SendableRecordBatchStream>,
    ) -> Result<(CodeFile, KeptFile), EngineError> {
        for mut stream in streams {
            while let Some(batch) = stream.next().await {
                if self.shared.watch.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
                self.add(batch.map_err(of_stream)?)?;
                self.shared.watch.report(self.codes.n_rows());
            }
        }
        Ok((self.codes.finish()?, self.kept.finish()?))
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), EngineError> {
        let (_, columns, n_rows) = batch.into_parts();
        if n_rows == 0 {
            return Ok(());
        }
        let (mut cells, mut kept, mut n_values) =
            (Vec::new(), Vec::new(), self.shared.n_values.iter());
        for (array, usage) in columns.into_iter().zip(&self.shared.uses) {
            if *usage == Use::Code {
                let n_values = *n_values.next().expect("one entry a coded column");
                let codes = array.as_primitive::<UInt32Type>().values();
                cells.push(as_encoded(n_values, codes.iter().copied()));
            } else {
                kept.push(array);
            }
        }
        self.codes.write(&cells)?;
        self.kept.write(kept)
    }
}

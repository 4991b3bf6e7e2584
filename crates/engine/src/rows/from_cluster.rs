//! Rows that a cluster reads and codes, as they arrive here.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt32Type;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::Scratch;
use super::codes::{CodeFile, CodeWriter};
use super::kept::{KeptFile, KeptWriter};
use super::part::limit_for;
use super::spilled::{CodedElsewhere, Spilled};
use crate::encode::as_encoded;
use crate::error::Detail;
use crate::read::CountedColumn;
use crate::read::{Folded, Watch, kept_columns};
use crate::remote::{coded, of_stream, values};
use crate::source::UsedColumn;
use crate::value::mix::halves_of;
use crate::value::stored::Fit;
use crate::{Engine, EngineError, Source, Use, Values};

/// Lets the engine's cluster read a source: the workers find the distinct values and give every
/// cell its code; rows arrive once and go to private files. The distinct values may take
/// `most_bytes` in memory.
pub fn read_remote(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_fits: bool,
    scratch: &Arc<Scratch>,
    most_bytes: u64,
) -> Result<Spilled, EngineError> {
    let n_before = engine.n_rows_done();
    let columns: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] == Use::Code).collect();
    let (n_rows, values) = values(engine, source, &columns)?;
    if n_rows >= u64::from(u32::MAX) {
        return Err(EngineError::TooManyRows);
    }
    check_values(&values, most_bytes)?;
    let mut streams_of: Vec<Vec<SendableRecordBatchStream>> = Vec::new();
    streams_of.resize_with(engine.n_threads(), Vec::new);
    // Cells that go into the hashes of rows arrive as they are. Workers do not send cells that
    // would only be counted.
    let sent = |usage: &Use| match usage {
        Use::Mix(_) | Use::MixAndCount(_) => Use::Keep,
        Use::Count => Use::Skip,
        usage => *usage,
    };
    let sent: Vec<Use> = uses.iter().map(sent).collect();
    for (at, stream) in coded(engine, source, &sent, &values)?.into_iter().enumerate() {
        streams_of[at % engine.n_threads()].push(stream);
    }
    let is_sent = |(at, _): &(usize, &Use)| sent[*at] != Use::Skip;
    let columns_sent = uses.iter().enumerate().filter(is_sent);
    let has_mixed = uses.iter().any(|usage| usage.is_mixed());
    let shared = Arc::new(Shared {
        columns: columns_sent
            .map(|(at, &usage)| UsedColumn { usage, column: source.columns()[at].clone() })
            .collect(),
        has_mixed,
        n_values: values.iter().map(|values| values.texts.len()).collect(),
        watch: Watch::new(engine),
    });
    let mut tasks = Vec::new();
    for (part, streams) in streams_of.into_iter().enumerate() {
        let n_columns = columns.len() + 2 * usize::from(has_mixed);
        let codes = CodeWriter::new(scratch, &format!("codes-{part}"), n_columns)?;
        let kept = (source.columns().iter().zip(uses))
            .filter(|(_, usage)| **usage == Use::Keep)
            .map(|(column, _)| column);
        let path = scratch.path(&format!("kept-{part}"));
        let kept = KeptWriter::new(path, kept, wants_fits && source.is_text())?;
        let folded = Folded::new(&shared.columns);
        let receiver = Receiver { codes, kept, folded, shared: Arc::clone(&shared) };
        tasks.push(engine.runtime().spawn(receiver.receive(streams)));
    }
    let mut fits: Vec<Option<Fit>> =
        uses.iter().filter(|usage| **usage == Use::Keep).map(|_| None).collect();
    let (mut parts, mut counted) = (Vec::new(), Vec::new());
    for task in tasks {
        let found = engine.runtime().block_on(task).expect("a receiving task does not panic");
        engine.go_on()?;
        let Received { codes, kept, fits: of_part, counted: of_counted } = found?;
        Folded::merge_counted(&mut counted, of_counted);
        for (fit, of_part) in fits.iter_mut().zip(of_part) {
            *fit = of_part.map_or(*fit, |of_part| Some(Fit::join(*fit, of_part)));
        }
        parts.push((codes, kept));
    }
    source.check_unchanged()?;
    if parts.iter().map(|(codes, _)| codes.n_rows()).sum::<u64>() != n_rows {
        return Err(EngineError::Cluster { what: "rows are missing from its answer" });
    }
    engine.have_done(n_before + n_rows);
    let kept = kept_columns(source, uses, &fits);
    let counted = CountedColumn::of_source(counted, source);
    Ok(Spilled::of_coded(CodedElsewhere { values, kept, parts, has_mixed, counted }, scratch))
}

/// An error if the distinct values take too much.
fn check_values(values: &[Values], most_bytes: u64) -> Result<(), EngineError> {
    let bytes_of =
        |values: &Values| values.texts.iter().map(|text| text.len() as u64 + 48).sum::<u64>();
    let of_all: u64 = values.iter().map(bytes_of).sum();
    if of_all <= most_bytes {
        return Ok(());
    }
    let largest = values.iter().max_by_key(|values| bytes_of(values));
    let column = largest.map_or_else(String::new, |values| values.name.clone());
    Err(EngineError::TooManyValues { column, needed: limit_for(of_all) })
}

/// What the tasks that receive rows share.
struct Shared {
    /// The columns that arrive.
    columns: Vec<UsedColumn>,
    /// Whether some of them go into hashes of the rows.
    has_mixed: bool,
    /// By coded column, the number of its values.
    n_values: Vec<usize>,
    watch: Watch,
}

/// Some of the rows, on their way to private files.
struct Receiver {
    codes: CodeWriter,
    kept: KeptWriter,
    folded: Folded,
    shared: Arc<Shared>,
}

/// The files of the rows that one task received.
struct Received {
    codes: CodeFile,
    kept: Option<KeptFile>,
    fits: Vec<Option<Fit>>,
    counted: Vec<CountedColumn>,
}

impl Receiver {
    async fn receive(
        mut self,
        streams: Vec<SendableRecordBatchStream>,
    ) -> Result<Received, EngineError> {
        for mut stream in streams {
            while let Some(batch) = stream.next().await {
                if self.shared.watch.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
                self.add(batch.map_err(of_stream)?)?;
                self.shared.watch.report(self.codes.n_rows());
            }
        }
        let (kept, fits) = self.kept.finish()?;
        let counted = self.folded.counted;
        Ok(Received { codes: self.codes.finish()?, kept, fits, counted })
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), EngineError> {
        let (_, columns, n_rows) = batch.into_parts();
        if n_rows == 0 {
            return Ok(());
        }
        let undecoded = |error| EngineError::Read(Detail::of_arrow(&error));
        self.folded.add(&columns, &self.shared.columns).map_err(undecoded)?;
        let (mut cells, mut kept, mut n_values) =
            (Vec::new(), Vec::new(), self.shared.n_values.iter());
        for (array, used) in columns.into_iter().zip(&self.shared.columns) {
            if used.usage == Use::Code {
                let n_values = *n_values.next().expect("one entry a coded column");
                let codes = array.as_primitive::<UInt32Type>().values();
                cells.push(as_encoded(n_values, codes.iter().copied()));
            } else if used.usage == Use::Keep {
                kept.push(array);
            }
        }
        if self.shared.has_mixed {
            cells.extend(halves_of(&std::mem::take(&mut self.folded.mixed)));
        }
        self.codes.write(&cells)?;
        self.kept.write(kept)
    }
}

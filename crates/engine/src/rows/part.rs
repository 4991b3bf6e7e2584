//! One partition of a source that is being read into private files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use futures::StreamExt;
use incrowd_data::Codes;

use super::Scratch;
use super::codes::{CodeFile, CodeWriter};
use super::hashed::hash_cells;
use super::kept::{KeptFile, KeptWriter};
use crate::decode::{Guarded, guarded};
use crate::encode::Encoder;
use crate::engine::Portions;
use crate::error::Detail;
use crate::read::{CountedColumn, Folded, Watch, plain_array};
use crate::source::UsedColumn;
use crate::value::content::Contents;
use crate::value::mix::halves_of;
use crate::value::stored::Fit;
use crate::{Engine, EngineError, Source, Use};

/// What the tasks that read partitions share.
pub(super) struct Shared {
    columns: Vec<UsedColumn>,
    wants_fits: bool,
    /// By partition and coded column, the bytes of its distinct values.
    pub(super) held: Vec<Vec<AtomicUsize>>,
    /// By coded column, whether it was left out because its values take too much.
    pub(super) left_out: Vec<AtomicBool>,
    /// Whether such columns are left out, or the first one ends the read.
    pub(super) goes_on: bool,
    most_bytes: usize,
    /// Rows that were read so far, and about all rows.
    n_read: AtomicU64,
    n_rows: u64,
    /// Rows that are handled at a time, and from which a block is complete.
    batch_rows: usize,
    block_rows: usize,
    watch: Watch,
    pub(super) scratch: Arc<Scratch>,
}

impl Shared {
    pub(super) fn new(
        engine: &Engine,
        source: &Source,
        uses: &[Use],
        wants_fits: bool,
        (scratch, most_bytes): (&Arc<Scratch>, u64),
    ) -> Shared {
        let read: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] != Use::Skip).collect();
        let columns = UsedColumn::of_source(source, uses, &read);
        let coded = columns.iter().filter(|used| used.usage == Use::Code);
        let Portions { batch_rows, block_rows, .. } =
            engine.portions().of_rows(source.row_bytes(), columns.len());
        Shared {
            batch_rows,
            block_rows,
            left_out: coded.map(|_| AtomicBool::new(false)).collect(),
            wants_fits: wants_fits && source.is_text(),
            held: Vec::new(),
            goes_on: false,
            most_bytes: usize::try_from(most_bytes).unwrap_or(usize::MAX),
            n_read: AtomicU64::new(0),
            n_rows: source.size(uses).rows,
            watch: Watch::new(engine),
            scratch: Arc::clone(scratch),
            columns,
        }
    }

    /// The bytes of a column's values in all partitions.
    fn held_of(&self, column: usize) -> usize {
        self.held.iter().map(|held| held[column].load(Ordering::Relaxed)).sum()
    }

    fn is_out(&self, column: usize) -> bool {
        self.left_out[column].load(Ordering::Relaxed)
    }

    /// The bytes of all values, and the column whose values take most.
    fn all_held(&self) -> (usize, Option<usize>) {
        let mut all = 0;
        let mut most = (0, None);
        for column in (0..self.left_out.len()).filter(|&column| !self.is_out(column)) {
            let held = self.held_of(column);
            all += held;
            most = most.max((held, Some(column)));
        }
        (all, most.1)
    }

    /// The error of distinct values that take so many bytes after the rows that were read.
    fn too_many(&self, held: usize, largest: usize) -> EngineError {
        let mut coded = self.columns.iter().filter(|used| used.usage == Use::Code);
        let column = coded.nth(largest).map_or_else(String::new, |used| used.column.name.clone());
        // More rows may bring new values at the same rate, but not faster.
        let n_read = self.n_read.load(Ordering::Relaxed).max(1);
        let of_all = held as u128 * u128::from(self.n_rows.max(n_read)) / u128::from(n_read);
        let of_all = u64::try_from(of_all).unwrap_or(u64::MAX);
        EngineError::TooManyValues { column, needed: limit_for(of_all) }
    }

    /// Whether some columns go into hashes of the rows.
    fn has_mixed(&self) -> bool {
        self.columns.iter().any(|used| used.usage.is_mixed())
    }
}

/// What one partition of the scan found.
pub(super) struct Found {
    pub(super) encoders: Vec<Encoder>,
    pub(super) counted: Vec<CountedColumn>,
    pub(super) contents: Contents,
    pub(super) codes: CodeFile,
    pub(super) kept: Option<KeptFile>,
    pub(super) fits: Vec<Option<Fit>>,
}

pub(super) async fn read_part(
    mut stream: Guarded,
    part: usize,
    shared: Arc<Shared>,
) -> Result<Found, EngineError> {
    let mut writer = PartWriter::new(part, &shared)?;
    let mut n_rows = 0;
    while let Some(batch) = stream.next().await {
        if shared.watch.is_cancelled() {
            break;
        }
        let undecoded = |error| EngineError::Read(Detail::of_datafusion(&error));
        let batch = batch.map_err(undecoded)?;
        n_rows += batch.num_rows() as u64;
        // Arrow files may have batches of any length; a dictionary makes long cells of short ones.
        for start in (0..batch.num_rows().max(1)).step_by(shared.batch_rows) {
            let rows = batch.slice(start, shared.batch_rows.min(batch.num_rows() - start));
            // Arrays of a damaged file may fail only when they are looked at.
            guarded(|| writer.add(rows)).map_err(undecoded)??;
        }
        shared.watch.report(n_rows);
    }
    writer.finish()
}

/// The files of a partition that is being read.
struct PartWriter<'a> {
    part: usize,
    shared: &'a Shared,
    encoders: Vec<Encoder>,
    /// By hashed column, the halves of the hashes of the same rows.
    hashes: Vec<[Vec<u32>; 2]>,
    folded: Folded,
    /// Rows in the encoders.
    n_open: usize,
    codes: CodeWriter,
    kept: KeptWriter,
    /// Whether a column was left out, so that nothing needs to be written.
    is_vain: bool,
}

impl<'a> PartWriter<'a> {
    fn new(part: usize, shared: &'a Shared) -> Result<PartWriter<'a>, EngineError> {
        let with = |usage: Use| {
            let columns = shared.columns.iter().filter(move |used| used.usage == usage);
            columns.map(|used| &used.column)
        };
        let encoders: Vec<Encoder> =
            with(Use::Code).map(|column| Encoder::new(&column.data_type)).collect();
        let hashes: Vec<[Vec<u32>; 2]> = with(Use::Hash).map(|_| Default::default()).collect();
        let folded = Folded::new(&shared.columns);
        let n_columns = encoders.len() + 2 * hashes.len() + 2 * usize::from(shared.has_mixed());
        let codes = CodeWriter::new(&shared.scratch, &format!("codes-{part}"), n_columns)?;
        let path = shared.scratch.path(&format!("kept-{part}"));
        let kept = KeptWriter::new(path, with(Use::Keep), shared.wants_fits)?;
        Ok(PartWriter {
            part,
            shared,
            encoders,
            hashes,
            folded,
            n_open: 0,
            codes,
            kept,
            is_vain: false,
        })
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), EngineError> {
        let (_, columns, n_rows) = batch.into_parts();
        let shared = self.shared;
        let mut encoders = self.encoders.iter_mut().enumerate();
        let mut hashes = self.hashes.iter_mut();
        let mut kept = Vec::new();
        let undecoded = |error| EngineError::Read(Detail::of_arrow(&error));
        self.folded.add(&columns, &shared.columns).map_err(undecoded)?;
        for (array, UsedColumn { usage, column }) in columns.into_iter().zip(&shared.columns) {
            match usage {
                Use::Code => {
                    let (at, encoder) = encoders.next().expect("one encoder a coded column");
                    if !shared.is_out(at) {
                        encoder.add(&array).map_err(undecoded)?;
                    }
                }
                Use::Hash => {
                    let to = hashes.next().expect("a place for every hashed column");
                    hash_cells(&column.data_type, &array, to)?;
                }
                Use::Keep => kept.push(plain_array(array).map_err(undecoded)?),
                Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => {}
            }
        }
        if n_rows > 0 && !self.is_vain {
            self.kept.write(kept)?;
        }
        self.n_open += n_rows;
        shared.n_read.fetch_add(n_rows as u64, Ordering::Relaxed);
        if self.n_open >= shared.block_rows {
            self.write_block()?;
        }
        // A block of a wide table has many values.
        self.check_held()
    }

    fn write_block(&mut self) -> Result<(), EngineError> {
        if self.n_open == 0 {
            return Ok(());
        }
        let mut block: Vec<Codes> = self.encoders.iter_mut().map(Encoder::take_cells).collect();
        block.extend(self.hashes.iter_mut().flatten().map(|half| Codes::U32(std::mem::take(half))));
        if self.shared.has_mixed() {
            block.extend(halves_of(&std::mem::take(&mut self.folded.mixed)));
        }
        let n_rows = std::mem::take(&mut self.n_open);
        if !self.is_vain {
            self.codes.write_rows(n_rows, &block)?;
        }
        Ok(())
    }

    /// An error if the distinct values take too much; or columns are left out until they do not.
    fn check_held(&mut self) -> Result<(), EngineError> {
        let shared = self.shared;
        for (encoder, held) in self.encoders.iter().zip(&shared.held[self.part]) {
            held.store(encoder.held_bytes(), Ordering::Relaxed);
        }
        loop {
            let (held, largest) = shared.all_held();
            let Some(largest) = largest.filter(|_| held > shared.most_bytes) else { break };
            if !shared.goes_on {
                return Err(shared.too_many(held, largest));
            }
            shared.left_out[largest].store(true, Ordering::Relaxed);
        }
        let coded = shared.columns.iter().filter(|used| used.usage == Use::Code);
        for (at, (encoder, used)) in self.encoders.iter_mut().zip(coded).enumerate() {
            if shared.is_out(at) {
                // What was written of these rows is of no use any more.
                self.is_vain = true;
                *encoder = Encoder::new(&used.column.data_type);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Found, EngineError> {
        self.write_block()?;
        let PartWriter { encoders, folded, codes, kept, .. } = self;
        let (kept, fits) = kept.finish()?;
        let Folded { counted, contents, .. } = folded;
        Ok(Found { encoders, counted, contents, codes: codes.finish()?, kept, fits })
    }
}

/// The memory limit in megabytes under which distinct values of about so many bytes can be read:
/// they are held twice while they are put into their order, and tables grow in steps. It is what
/// callers give a quarter of.
pub(super) fn limit_for(value_bytes: u64) -> u64 {
    value_bytes.saturating_mul(4).div_ceil(1_000_000)
}

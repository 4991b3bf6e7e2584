//! One pass over a source.
//!
//! Text (CSV, TSV, JSON lines) was inspected when the source was opened, in a pass of its own. The
//! metadata of Parquet and Arrow files was checked then.
//!
//! Columns that nobody searches are read in the same pass and kept as Arrow arrays: about 50 bytes
//! a row in the benchmark. They could be streamed to the release in a second pass instead. But a
//! release is sorted, so at that point they would have to be in memory or in private files anyway.
//! Reading them once saves a parse and rules out that the source changes in between.

mod changed;
mod counted;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use datafusion::error::DataFusionError;
use futures::StreamExt;
use incrowd_data::Kind;
use rayon::prelude::*;

use crate::decode::{Guarded, guarded};
use crate::encode::{Encoder, RawColumn, merge};
use crate::error::Detail;
use crate::source::UsedColumn;
use crate::source::plan;
use crate::value::content::Contents;
use crate::value::mix::{NO_CELLS, mix_cells};
use crate::value::stored::{Fit, plain_type, strict_cast};
use crate::{Engine, EngineError, Source, Use};
pub use changed::first_changed;
pub use counted::CountedColumn;

/// A source that was read: every row once.
#[derive(Debug)]
pub struct Table {
    /// Rows.
    pub n_rows: usize,
    /// The columns with [`Use::Code`], in the source's order.
    pub coded: Vec<RawColumn>,
    /// The columns with [`Use::Keep`].
    pub kept: Kept,
    /// By row, the hash of the cells with [`Use::Mix`]; empty without such a column.
    pub mixed: Vec<u64>,
    /// The columns with [`Use::Count`], in the source's order.
    pub counted: Vec<CountedColumn>,
    /// What the columns say whose content was wanted.
    pub contents: Contents,
}

impl Table {
    /// A coded column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&RawColumn> {
        self.coded.iter().find(|column| column.values.name == name)
    }

    /// Just some of the rows of the coded columns; `keeps_values` says of which columns values that
    /// these rows do not have are known all the same.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32], keeps_values: impl Fn(&str) -> bool) -> Table {
        let column = |column: &RawColumn| column.of_rows(rows, keeps_values(&column.values.name));
        let coded = self.coded.iter().map(column).collect();
        let (mixed, counted, contents) = (Vec::new(), Vec::new(), Contents::default());
        Table { n_rows: rows.len(), coded, kept: Kept::default(), mixed, counted, contents }
    }
}

/// Columns that are kept as they are, in batches.
#[derive(Debug, Default)]
pub struct Kept {
    /// Their names and types in the source's order; for text files the kind of their values.
    columns: Vec<KeptColumn>,
    pub(crate) batches: Vec<Vec<ArrayRef>>,
    /// The first row of each batch.
    pub(crate) starts: Vec<u32>,
}

/// What a kept column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptColumn {
    /// Its name.
    pub name: String,
    /// What its arrays hold.
    pub data_type: DataType,
    /// For text files what its values fit, if it was asked for.
    pub fit: Option<Fit>,
}

impl Kept {
    /// Rows in batches: each has an array for every column, all of the column's type and of one
    /// length.
    #[must_use]
    pub fn new(columns: Vec<KeptColumn>, batches: Vec<Vec<ArrayRef>>) -> Kept {
        let batches: Vec<_> = batches.into_iter().filter(|batch| !batch.is_empty()).collect();
        let mut start = 0;
        let starts = batches.iter().map(|batch| {
            let of_batch = start;
            start += u32::try_from(batch[0].len()).expect("rows are counted in 32 bits");
            of_batch
        });
        let starts = starts.collect();
        Kept { columns, batches, starts }
    }

    /// What the columns are, in the source's order.
    #[must_use]
    pub fn columns(&self) -> &[KeptColumn] {
        &self.columns
    }

    /// The rows: in every batch an array for every column.
    #[must_use]
    pub fn batches(&self) -> &[Vec<ArrayRef>] {
        &self.batches
    }

    /// The position of a kept column.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// What one partition of a scan of some columns found.
struct ScannedPartition {
    columns: Vec<usize>,
    encoders: Vec<Encoder>,
    batches: Vec<Vec<ArrayRef>>,
    fits: Vec<Option<Fit>>,
    folded: Folded,
    n_rows: usize,
}

/// What is left of cells that are neither coded nor kept.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// Hashes of the rows that arrived since they were taken away.
    pub(crate) mixed: Vec<u64>,
    pub(crate) counted: Vec<CountedColumn>,
    pub(crate) contents: Contents,
}

impl Folded {
    /// Before any row, of the columns that are read.
    pub(crate) fn new(columns: &[UsedColumn]) -> Folded {
        let mut folded = Folded::default();
        for UsedColumn { usage, column } in columns {
            if usage.is_counted() {
                folded.counted.push(CountedColumn::new(&column.name, &column.data_type));
            }
            if usage.meaning().is_some() {
                folded.contents.push(&column.name);
            }
        }
        folded
    }

    /// Adds a batch: all its columns, of which those are looked at that are mixed or counted.
    pub(crate) fn add(
        &mut self,
        arrays: &[ArrayRef],
        columns: &[UsedColumn],
    ) -> Result<(), arrow::error::ArrowError> {
        let start = self.mixed.len();
        let mut counted = self.counted.iter_mut();
        let mut contents = self.contents.iter_mut();
        for (array, UsedColumn { usage, .. }) in arrays.iter().zip(columns) {
            if let Some(meaning) = usage.meaning() {
                let content = contents.next().expect("one entry a compared column");
                content.add(meaning.content(&plain_array(ArrayRef::clone(array))?)?);
            }
            if usage.is_mixed() {
                self.mixed.resize(start + array.len(), NO_CELLS);
                mix_cells(&mut self.mixed[start..], array)?;
            }
            if usage.is_counted() {
                counted.next().expect("one entry a counted column").add(array)?;
            }
        }
        Ok(())
    }

    /// Puts the counts of another part to those of the same columns.
    pub(crate) fn merge_counted(all: &mut Vec<CountedColumn>, more: Vec<CountedColumn>) {
        for column in more {
            match all.iter_mut().find(|known| known.name == column.name) {
                Some(known) => known.merge(&column),
                None => all.push(column),
            }
        }
    }
}

/// Reads every row once. `uses` has one entry per column of the source; `wants_fits` asks what the
/// kept columns of a text file fit.
pub fn read(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_fits: bool,
) -> Result<Table, EngineError> {
    let table = read_within(engine, source, uses, wants_fits, u64::MAX)?;
    Ok(table.expect("no table takes more than can be addressed"))
}

/// The same, unless the distinct values of coded columns take more than `most_bytes`.
pub fn read_within(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_fits: bool,
    most_bytes: u64,
) -> Result<Option<Table>, EngineError> {
    refuse_uncodable(source, uses)?;
    let values = Arc::new(ValueBytes { held: AtomicU64::new(0), most: most_bytes });
    let n_before = engine.n_rows_done();
    let reading = |error: DataFusionError| EngineError::Read(Detail::of_datafusion(&error));
    let mut tasks = Vec::new();
    for columns in groups(engine, source, uses).map_err(reading)? {
        let scan = plan(engine, source, &columns, uses).map_err(reading)?;
        let read_columns = Arc::new(UsedColumn::of_source(source, uses, &columns));
        for part in 0..scan.properties().output_partitioning().partition_count() {
            let stream = Guarded::new(scan.execute(part, engine.task()).map_err(reading)?);
            let partition = ScannedPartition::new(columns.clone(), &read_columns);
            let wants_fits = wants_fits && source.is_text();
            let watch = Watch::new(engine);
            let wanted = Wanted {
                columns: Arc::clone(&read_columns),
                wants_fits,
                values: Arc::clone(&values),
            };
            let task = partition.read(stream, wanted, watch);
            tasks.push(engine.runtime().spawn(task));
        }
    }
    let mut parts = Vec::new();
    for task in tasks {
        let found = engine.runtime().block_on(task).expect("a reading task does not panic");
        engine.go_on()?;
        parts.push(found.map_err(reading)?);
    }
    source.check_unchanged()?;
    if values.are_too_many() {
        engine.have_done(n_before);
        return Ok(None);
    }
    let table = assemble(source, uses, parts)?;
    engine.have_done(n_before + table.n_rows as u64);
    Ok(Some(table))
}

/// The bytes of distinct values in all partitions.
struct ValueBytes {
    held: AtomicU64,
    most: u64,
}

impl ValueBytes {
    fn are_too_many(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.most
    }
}

/// What is wanted of the rows of a partition.
struct Wanted {
    columns: Arc<Vec<UsedColumn>>,
    wants_fits: bool,
    values: Arc<ValueBytes>,
}

/// Refuses columns that shall have codes but cannot.
pub(crate) fn refuse_uncodable(source: &Source, uses: &[Use]) -> Result<(), EngineError> {
    let mut bad = (0..uses.len()).filter(|&at| uses[at] == Use::Code && !source.can_code(at));
    match bad.next().map(|at| &source.columns()[at]) {
        None => Ok(()),
        Some(column) => Err(EngineError::UnsupportedType {
            column: column.name.clone(),
            holds: column.holds().unwrap_or("values of another kind"),
        }),
    }
}

/// Columns that are read together. A columnar file that gives fewer partitions than there are
/// threads is read by several scans of some columns each; kept columns stay in one, so that their
/// batches have the same rows, and so do those that go into the hashes of rows.
fn groups(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
) -> Result<Vec<Vec<usize>>, DataFusionError> {
    let all: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] != Use::Skip).collect();
    let n_parts =
        plan(engine, source, &all, uses)?.properties().output_partitioning().partition_count();
    let n_groups = engine.n_threads() / n_parts.max(1);
    if source.is_row_wise() || n_groups < 2 {
        return Ok(vec![all]);
    }
    let stays = |usage: Use| usage == Use::Keep || usage.is_mixed();
    let (kept, coded): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&at| stays(uses[at]));
    let mut groups = vec![kept];
    groups.resize_with(n_groups, Vec::new);
    for at in coded {
        // Giving codes costs about twice as much as keeping.
        let cost = |group: &Vec<usize>| {
            group.iter().map(|&at| if uses[at] == Use::Code { 2 } else { 1 }).sum::<usize>()
        };
        let cheapest = groups.iter_mut().min_by_key(|group| cost(group)).expect("at least two");
        cheapest.push(at);
    }
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.retain(|group| !group.is_empty());
    Ok(groups)
}

/// Counts rows and watches for the wish to stop.
pub(crate) struct Watch {
    progress: std::sync::Arc<std::sync::atomic::AtomicU64>,
    /// Rows of the stage before these.
    n_before: u64,
    cancelled: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Watch {
    pub(crate) fn new(engine: &Engine) -> Watch {
        let (progress, cancelled) = (engine.progress(), engine.cancelled_flag());
        Watch { progress, n_before: engine.n_rows_done(), cancelled }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, n_rows: u64) {
        self.progress.store(self.n_before + n_rows, Ordering::Relaxed);
    }
}

impl ScannedPartition {
    fn new(columns: Vec<usize>, used: &[UsedColumn]) -> ScannedPartition {
        let with = |usage: Use| used.iter().filter(move |used| used.usage == usage);
        let encoders = with(Use::Code).map(|used| Encoder::new(&used.column.data_type)).collect();
        let fits = vec![None; with(Use::Keep).count()];
        let (batches, folded) = (Vec::new(), Folded::new(used));
        ScannedPartition { columns, encoders, batches, fits, folded, n_rows: 0 }
    }

    async fn read(
        mut self,
        mut stream: Guarded,
        Wanted { columns: used, wants_fits, values }: Wanted,
        watch: Watch,
    ) -> Result<ScannedPartition, DataFusionError> {
        let mut held = 0;
        while let Some(batch) = stream.next().await {
            if watch.is_cancelled() || values.are_too_many() {
                break;
            }
            let batch = batch?;
            // Arrays of a damaged file may fail only when they are looked at.
            guarded(|| self.add(batch, &used, wants_fits))??;
            let before = held;
            held = self.encoders.iter().map(|encoder| encoder.held_bytes() as u64).sum();
            values.held.fetch_add(held.saturating_sub(before), Ordering::Relaxed);
            watch.report(self.n_rows as u64);
        }
        Ok(self)
    }

    fn add(
        &mut self,
        batch: RecordBatch,
        used: &[UsedColumn],
        wants_fits: bool,
    ) -> Result<(), DataFusionError> {
        let (_, columns, n_rows) = batch.into_parts();
        self.n_rows += n_rows;
        self.folded.add(&columns, used)?;
        let mut encoders = self.encoders.iter_mut();
        let mut kept = Vec::with_capacity(self.fits.len());
        for (array, UsedColumn { usage, .. }) in columns.into_iter().zip(used) {
            match usage {
                Use::Code => encoders.next().expect("one encoder a coded column").add(&array)?,
                Use::Keep => {
                    let mut array = plain_array(array)?;
                    // Readers leave room to grow; what is kept until the end should not.
                    array.shrink_to_fit();
                    kept.push(array);
                }
                Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Hash | Use::Skip => {}
            }
        }
        if wants_fits {
            for (fit, array) in self.fits.iter_mut().zip(&kept) {
                narrow(fit, array);
            }
        }
        if !kept.is_empty() && n_rows > 0 {
            self.batches.push(kept);
        }
        Ok(())
    }
}

/// The array without indexes into a dictionary.
pub(crate) fn plain_array(array: ArrayRef) -> Result<ArrayRef, arrow::error::ArrowError> {
    match array.data_type() {
        DataType::Dictionary(_, values) => strict_cast(&array, values),
        _ => Ok(array),
    }
}

/// Narrows down what a column of texts holds.
pub(crate) fn narrow(fit: &mut Option<Fit>, array: &ArrayRef) {
    for text in array.as_string::<i32>().iter().flatten() {
        if fit.is_some_and(|fit| fit.kind() == Kind::Text) {
            return;
        }
        *fit = Some(Fit::join(*fit, Fit::of(text)));
    }
}

/// Puts the parts together: all partitions of a column in their order.
fn assemble(
    source: &Source,
    uses: &[Use],
    parts: Vec<ScannedPartition>,
) -> Result<Table, EngineError> {
    let first_columns = parts.first().map(|part| part.columns.clone()).unwrap_or_default();
    let of_first = parts.iter().filter(|part| part.columns == first_columns);
    let n_rows: usize = of_first.map(|part| part.n_rows).sum();
    if n_rows >= u32::MAX as usize {
        return Err(EngineError::TooManyRows);
    }
    let (mut batches, mut mixed, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    let mut contents = Contents::default();
    let mut encoders: Vec<Vec<Encoder>> = uses.iter().map(|_| Vec::new()).collect();
    let mut fits: Vec<Option<Fit>> = vec![None; uses.len()];
    for part in parts {
        let with = |usage: Use| part.columns.iter().copied().filter(move |&at| uses[at] == usage);
        for (at, encoder) in with(Use::Code).zip(part.encoders) {
            encoders[at].push(encoder);
        }
        for (at, fit) in with(Use::Keep).zip(part.fits) {
            fits[at] = fit.map_or(fits[at], |fit| Some(Fit::join(fits[at], fit)));
        }
        batches.extend(part.batches);
        mixed.extend(part.folded.mixed);
        Folded::merge_counted(&mut counted, part.folded.counted);
        contents.add(part.folded.contents);
    }
    let counted = CountedColumn::of_source(counted, source);
    let of_kept: Vec<Option<Fit>> =
        (0..uses.len()).filter(|&at| uses[at] == Use::Keep).map(|at| fits[at]).collect();
    let kept = kept_columns(source, uses, &of_kept);
    let columns = (0..uses.len()).zip(source.columns());
    let coded: Vec<_> = columns.filter(|(at, _)| uses[*at] == Use::Code).collect();
    let coded = coded
        .into_par_iter()
        .map(|(at, column)| merge(&column.name, &column.data_type, source.is_text(), &encoders[at]))
        .collect();
    Ok(Table { n_rows, coded, kept: Kept::new(kept, batches), mixed, counted, contents })
}

/// The kept columns of a source, with what their values fit.
pub(crate) fn kept_columns(source: &Source, uses: &[Use], fits: &[Option<Fit>]) -> Vec<KeptColumn> {
    let kept = source.columns().iter().zip(uses).filter(|(_, usage)| **usage == Use::Keep);
    kept.zip(fits)
        .map(|((column, _), fit)| KeptColumn {
            name: column.name.clone(),
            data_type: plain_type(&column.data_type),
            fit: *fit,
        })
        .collect()
}

//! The rows of a bucket that does not fit in memory, in the order in which they are released.
//!
//! As many rows as fit are sorted at a time and written to a run of their own; then the runs are
//! merged. Rows are compared by keys of bytes ([`arrow::row`]), which order them as the writer
//! does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, interleave_record_batch, take_record_batch};
use arrow::datatypes::{DataType, UInt32Type};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::row::{RowConverter, Rows, SortField};

use super::bucket::{Bucket, Buckets};
use super::spilled::unreadable;
use super::spilling;
use crate::write::{Published, ranks_of};
use crate::{Engine, EngineError};

/// Rows of a run that are in memory while runs are merged, at most.
const MERGED_ROWS: usize = 1 << 12;

/// One of the buckets of a table.
#[derive(Clone, Copy, Debug)]
pub struct BucketOfAll<'a> {
    /// All of them.
    pub buckets: &'a Buckets,
    /// Its number.
    pub number: usize,
    /// The parts that rows came in, each with files of its own.
    pub n_parts: usize,
}

/// Hands over the rows of a bucket in the order in which they leave within a class, some at a time.
/// `published` are the columns that the buckets have, in the release's order; `most_rows` are in
/// memory at a time.
pub fn sort_bucket(
    engine: &Engine,
    bucket: &BucketOfAll<'_>,
    published: &[Published<'_>],
    most_rows: usize,
    mut hand_over: impl FnMut(Bucket) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let buckets = bucket.buckets;
    let keys = Keys::new(buckets, published)?;
    let runs = Runs::write(engine, bucket, &keys, most_rows.max(2))?;
    // Every run has two batches in memory at most, and as many rows are put together.
    let portion = (most_rows / (3 * runs.paths.len().max(1))).clamp(1, MERGED_ROWS);
    let mut readers = Vec::new();
    for path in &runs.paths {
        readers.push(Run::open(path, &keys, portion)?);
    }
    let mut heads: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
    for (at, run) in readers.iter().enumerate() {
        heads.extend(run.key().map(|key| Reverse((key, at))));
    }
    let mut merged = Merged::new(readers.len());
    while let Some(Reverse((_, at))) = heads.pop() {
        merged.add(at, &readers[at]);
        if readers[at].advance(&keys)? {
            merged.forget(at);
        }
        heads.extend(readers[at].key().map(|key| Reverse((key, at))));
        if merged.places.len() >= most_rows / 3 || merged.batches.len() > 4 * runs.paths.len() {
            engine.go_on()?;
            hand_over(Bucket::of(&merged.take()?, buckets.n_codes()))?;
        }
    }
    if !merged.places.is_empty() {
        hand_over(Bucket::of(&merged.take()?, buckets.n_codes()))?;
    }
    Ok(())
}

/// What rows are compared by.
struct Keys {
    /// By published column that is no label, its place in the files and, where it has codes, their
    /// ranks.
    columns: Vec<(usize, Option<Vec<u32>>)>,
    fields: Vec<SortField>,
}

impl Keys {
    fn new(buckets: &Buckets, published: &[Published<'_>]) -> Result<Keys, EngineError> {
        let (mut columns, mut fields, mut n_coded) = (Vec::new(), Vec::new(), 0);
        let first_kept = 1 + buckets.n_codes().len();
        for column in published {
            match column {
                Published::Labels { .. } => {}
                Published::Coded { .. } => {
                    n_coded += 1;
                    columns.push((n_coded, Some(ranks_of(column))));
                    fields.push(SortField::new(DataType::UInt32));
                }
                Published::Kept(at) => {
                    let place = first_kept + at;
                    let data_type = buckets.schema().field(place).data_type().clone();
                    columns.push((place, None));
                    fields.push(SortField::new(data_type));
                }
            }
        }
        if !RowConverter::supports_fields(&fields) {
            return Err(EngineError::ClassTooLarge);
        }
        Ok(Keys { columns, fields })
    }

    fn of(&self, rows: &RecordBatch) -> Result<Rows, EngineError> {
        let column = |(place, ranks): &(usize, Option<Vec<u32>>)| -> ArrayRef {
            let column = rows.column(*place);
            match ranks {
                None => Arc::clone(column),
                Some(ranks) => {
                    let codes = column.as_primitive::<UInt32Type>().values();
                    let rank = |&code: &u32| ranks[code as usize];
                    Arc::new(codes.iter().map(rank).collect::<UInt32Array>())
                }
            }
        };
        let mut columns: Vec<ArrayRef> = self.columns.iter().map(column).collect();
        let mut fields = self.fields.clone();
        if columns.is_empty() {
            // Nothing is published but labels: all rows are equal.
            columns.push(Arc::new(UInt32Array::from(vec![0; rows.num_rows()])));
            fields.push(SortField::new(DataType::UInt32));
        }
        let converter = RowConverter::new(fields).map_err(unreadable)?;
        converter.convert_columns(&columns).map_err(unreadable)
    }
}

/// Files of sorted rows, removed in the end.
struct Runs {
    paths: Vec<PathBuf>,
}

impl Runs {
    fn write(
        engine: &Engine,
        bucket: &BucketOfAll<'_>,
        keys: &Keys,
        most_rows: usize,
    ) -> Result<Runs, EngineError> {
        let mut runs = Runs { paths: Vec::new() };
        let BucketOfAll { buckets, number, n_parts } = *bucket;
        let (mut open, mut n_open) = (Vec::new(), 0);
        buckets.for_each_batch(number, n_parts, |batch| {
            engine.go_on()?;
            n_open += batch.num_rows();
            open.push(batch);
            // Rows, their copy in order, and their keys are held.
            if n_open >= most_rows / 3 {
                n_open = 0;
                runs.add(buckets, number, keys, std::mem::take(&mut open))?;
            }
            Ok(())
        })?;
        if n_open > 0 {
            runs.add(buckets, number, keys, open)?;
        }
        Ok(runs)
    }

    fn add(
        &mut self,
        buckets: &Buckets,
        bucket: usize,
        keys: &Keys,
        rows: Vec<RecordBatch>,
    ) -> Result<(), EngineError> {
        let all = concat_batches(buckets.schema(), &rows).map_err(unreadable)?;
        drop(rows);
        let keys = keys.of(&all)?;
        let mut order: Vec<u32> = (0..).take(all.num_rows()).collect();
        order.sort_unstable_by(|&a, &b| keys.row(a as usize).cmp(&keys.row(b as usize)));
        drop(keys);
        let path = buckets.run_path(bucket, self.paths.len());
        let file = BufWriter::with_capacity(1 << 16, File::create(&path).map_err(spilling)?);
        self.paths.push(path);
        let mut writer = StreamWriter::try_new(file, buckets.schema()).map_err(unreadable)?;
        for order in order.chunks(MERGED_ROWS.min(256)) {
            let order = UInt32Array::from(order.to_vec());
            let sorted = take_record_batch(&all, &order).map_err(unreadable)?;
            writer.write(&sorted).map_err(unreadable)?;
        }
        writer.finish().map_err(unreadable)
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        for path in &self.paths {
            // The folder goes in the end, whatever is left in it.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A run that is being read.
struct Run {
    reader: StreamReader<BufReader<File>>,
    batch: Option<(RecordBatch, Rows)>,
    next: usize,
    /// Rows that are read at a time.
    portion: usize,
}

impl Run {
    fn open(path: &PathBuf, keys: &Keys, portion: usize) -> Result<Run, EngineError> {
        let file = BufReader::with_capacity(1 << 15, File::open(path).map_err(spilling)?);
        let reader = StreamReader::try_new(file, None).map_err(unreadable)?;
        let mut run = Run { reader, batch: None, next: 0, portion };
        run.load(keys)?;
        Ok(run)
    }

    fn load(&mut self, keys: &Keys) -> Result<(), EngineError> {
        self.next = 0;
        let mut batches = Vec::new();
        let mut n_rows = 0;
        while n_rows < self.portion {
            let Some(batch) = self.reader.next().transpose().map_err(unreadable)? else { break };
            n_rows += batch.num_rows();
            batches.push(batch);
        }
        self.batch = match batches.first() {
            None => None,
            Some(first) => {
                let batch = concat_batches(&first.schema(), &batches).map_err(unreadable)?;
                let rows = keys.of(&batch)?;
                Some((batch, rows))
            }
        };
        Ok(())
    }

    /// The key of the next row.
    fn key(&self) -> Option<Vec<u8>> {
        self.batch.as_ref().map(|(_, rows)| rows.row(self.next).as_ref().to_vec())
    }

    /// Goes on to the next row; whether it is in another batch.
    fn advance(&mut self, keys: &Keys) -> Result<bool, EngineError> {
        self.next += 1;
        let is_over = self.batch.as_ref().is_some_and(|(batch, _)| self.next >= batch.num_rows());
        if is_over {
            self.load(keys)?;
        }
        Ok(is_over)
    }
}

/// Rows of several runs in their order.
struct Merged {
    batches: Vec<RecordBatch>,
    /// By run, the place of its current batch.
    of_run: Vec<Option<usize>>,
    places: Vec<(usize, usize)>,
}

impl Merged {
    fn new(n_runs: usize) -> Merged {
        Merged { batches: Vec::new(), of_run: vec![None; n_runs], places: Vec::new() }
    }

    /// Adds the next row of a run.
    fn add(&mut self, at: usize, run: &Run) {
        let Some((batch, _)) = &run.batch else { return };
        let place = *self.of_run[at].get_or_insert_with(|| {
            self.batches.push(batch.clone());
            self.batches.len() - 1
        });
        self.places.push((place, run.next));
    }

    /// The next row of a run is in another batch.
    fn forget(&mut self, at: usize) {
        self.of_run[at] = None;
    }

    fn take(&mut self) -> Result<RecordBatch, EngineError> {
        let batches = std::mem::take(&mut self.batches);
        let places = std::mem::take(&mut self.places);
        self.of_run.fill(None);
        let batches: Vec<&RecordBatch> = batches.iter().collect();
        interleave_record_batch(&batches, &places).map_err(unreadable)
    }
}

//! Rows put into private files by a number, so that those of neighbouring numbers can be loaded
//! together.
//!
//! Whoever knows how many rows have which number (a class's place in the release) can choose
//! buckets that just fit in memory: every row is then written once and read once, whatever the size
//! of the table.
//!
//! An external merge sort does not need these numbers, but it writes and reads rows several times.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use incrowd_data::Codes;

use super::spilled::Block;
use super::{Scratch, spilling, unreadable};
use crate::EngineError;
use crate::read::KeptColumn;
use crate::value::stored::plain_type;

/// The number of a row that goes nowhere.
pub const NOWHERE: u32 = u32::MAX;

/// Bytes that are read from a bucket at a time, and written to one of many.
const READ_BUFFER: usize = 1 << 17;
const WRITE_BUFFER: usize = 1 << 14;

/// How rows are divided into buckets.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// The first number.
    start: u32,
    /// The number behind the last one of each bucket, ascending.
    ends: Vec<u32>,
    schema: SchemaRef,
    /// By coded column, the number of its codes.
    n_codes: Vec<u32>,
    scratch: Arc<Scratch>,
    name: String,
}

impl Buckets {
    /// Buckets for numbers below each of `ends`, of rows with coded columns of so many codes and
    /// kept columns.
    #[must_use]
    pub fn new(
        scratch: &Arc<Scratch>,
        name: &str,
        ends: Vec<u32>,
        n_codes: Vec<u32>,
        kept: &[KeptColumn],
    ) -> Buckets {
        let number = Field::new("number", DataType::UInt32, false);
        let coded =
            (0..n_codes.len()).map(|at| Field::new(at.to_string(), DataType::UInt32, false));
        let kept =
            kept.iter().map(|kept| Field::new(&kept.name, plain_type(&kept.data_type), true));
        let fields: Vec<Field> = std::iter::once(number).chain(coded).chain(kept).collect();
        let schema = Arc::new(Schema::new(fields));
        let (scratch, name) = (Arc::clone(scratch), name.to_owned());
        Buckets { start: 0, ends, schema, n_codes, scratch, name }
    }

    /// Buckets of the same rows for the numbers of one of these, below each of `ends`.
    #[must_use]
    pub fn within(&self, bucket: usize, ends: Vec<u32>) -> Buckets {
        let start = self.numbers(bucket).start;
        Buckets { start, ends, name: format!("{}-{bucket}-of", self.name), ..self.clone() }
    }

    /// How many buckets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no bucket.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The numbers of a bucket.
    #[must_use]
    pub fn numbers(&self, bucket: usize) -> std::ops::Range<u32> {
        let start = if bucket == 0 { self.start } else { self.ends[bucket - 1] };
        start..self.ends[bucket]
    }

    fn path(&self, part: usize, bucket: usize) -> PathBuf {
        self.scratch.path(&format!("{}-{part}-{bucket}", self.name))
    }

    /// Starts to fill the buckets with the rows of a part.
    #[must_use]
    pub fn fill(&self, part: usize) -> Distributor<'_> {
        Distributor { buckets: self, part, files: self.ends.iter().map(|_| None).collect() }
    }

    /// The rows of a bucket, of all parts; its files are removed.
    pub fn take(&self, bucket: usize, n_parts: usize) -> Result<Bucket, EngineError> {
        let mut all = Bucket {
            numbers: Vec::new(),
            codes: self.n_codes.iter().map(|&n| Codes::pack(n, std::iter::empty())).collect(),
            kept: Vec::new(),
        };
        self.for_each_batch(bucket, n_parts, |batch| {
            all.add(&batch, self.n_codes.len());
            Ok(())
        })?;
        Ok(all)
    }

    /// Puts the rows of a bucket, of all parts, into buckets of their own; its files are removed.
    pub fn pour(&self, bucket: usize, n_parts: usize, to: &Buckets) -> Result<(), EngineError> {
        let mut filling = to.fill(0);
        self.for_each_batch(bucket, n_parts, |batch| {
            let numbers = batch.column(0).as_primitive::<UInt32Type>().values().to_vec();
            filling.place(&numbers, &batch)
        })?;
        filling.finish()
    }

    /// The rows of a bucket batch by batch; its files are removed.
    pub(super) fn for_each_batch(
        &self,
        bucket: usize,
        n_parts: usize,
        mut each: impl FnMut(RecordBatch) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for part in 0..n_parts {
            let path = self.path(part, bucket);
            if !path.exists() {
                continue;
            }
            let file = BufReader::with_capacity(READ_BUFFER, File::open(&path).map_err(spilling)?);
            for batch in StreamReader::try_new(file, None).map_err(unreadable)? {
                each(batch.map_err(unreadable)?)?;
            }
            std::fs::remove_file(&path).map_err(spilling)?;
        }
        Ok(())
    }

    /// The columns of the files: the numbers, the coded columns, the kept ones.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// By coded column, the number of its codes.
    pub(super) fn n_codes(&self) -> &[u32] {
        &self.n_codes
    }

    /// Where a file of a bucket's sorted rows is.
    pub(super) fn run_path(&self, bucket: usize, run: usize) -> PathBuf {
        self.scratch.path(&format!("{}-{bucket}-run-{run}", self.name))
    }
}

/// Rows of a bucket in memory.
#[derive(Debug)]
pub struct Bucket {
    /// The number of each row.
    pub numbers: Vec<u32>,
    /// The coded columns.
    pub codes: Vec<Codes>,
    /// The kept columns, batch by batch.
    pub kept: Vec<Vec<ArrayRef>>,
}

impl Bucket {
    fn add(&mut self, batch: &RecordBatch, n_coded: usize) {
        let whole = |at: usize| batch.column(at).as_primitive::<UInt32Type>().values();
        self.numbers.extend_from_slice(whole(0));
        for (at, codes) in self.codes.iter_mut().enumerate() {
            codes.extend(whole(1 + at).iter().copied());
        }
        self.kept.push(batch.columns()[1 + n_coded..].to_vec());
    }

    /// The rows of one batch of a bucket's file.
    pub(super) fn of(batch: &RecordBatch, n_codes: &[u32]) -> Bucket {
        let codes = n_codes.iter().map(|&n| Codes::pack(n, std::iter::empty())).collect();
        let mut bucket = Bucket { numbers: Vec::new(), codes, kept: Vec::new() };
        bucket.add(batch, n_codes.len());
        bucket
    }
}

/// Puts the rows of one part into buckets.
pub struct Distributor<'a> {
    buckets: &'a Buckets,
    part: usize,
    files: Vec<Option<StreamWriter<BufWriter<File>>>>,
}

impl std::fmt::Debug for Distributor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distributor").field("part", &self.part).finish_non_exhaustive()
    }
}

impl Distributor<'_> {
    /// Adds rows with their numbers; those with [`NOWHERE`] are left out.
    pub fn add(&mut self, numbers: &[u32], block: &Block) -> Result<(), EngineError> {
        let (order, starts) = self.order(numbers);
        let batch = self.sorted(numbers, block, &order)?;
        self.write_all(&batch, &starts)
    }

    /// The same with rows as they are in files.
    fn place(&mut self, numbers: &[u32], rows: &RecordBatch) -> Result<(), EngineError> {
        let (order, starts) = self.order(numbers);
        let order = UInt32Array::from(order);
        let batch = arrow::compute::take_record_batch(rows, &order).map_err(unreadable)?;
        self.write_all(&batch, &starts)
    }

    /// Rows in the order of their buckets, and where each bucket begins.
    fn order(&self, numbers: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let ends = &self.buckets.ends;
        let bucket_of = |number: u32| ends.partition_point(|&end| end <= number);
        let mut starts = vec![0usize; ends.len() + 1];
        let of_row: Vec<u32> = numbers
            .iter()
            .map(|&number| if number == NOWHERE { NOWHERE } else { small(bucket_of(number)) })
            .collect();
        of_row.iter().filter(|b| **b != NOWHERE).for_each(|&b| starts[b as usize + 1] += 1);
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        let mut order = vec![0u32; starts[ends.len()]];
        let mut next = starts.clone();
        for (row, &bucket) in (0u32..).zip(&of_row) {
            if bucket != NOWHERE {
                order[next[bucket as usize]] = row;
                next[bucket as usize] += 1;
            }
        }
        (order, starts)
    }

    fn write_all(&mut self, batch: &RecordBatch, starts: &[usize]) -> Result<(), EngineError> {
        for bucket in 0..starts.len() - 1 {
            let n_rows = starts[bucket + 1] - starts[bucket];
            if n_rows > 0 {
                self.write(bucket, &batch.slice(starts[bucket], n_rows))?;
            }
        }
        Ok(())
    }

    /// The rows in the order of their buckets.
    fn sorted(
        &self,
        numbers: &[u32],
        block: &Block,
        order: &[u32],
    ) -> Result<RecordBatch, EngineError> {
        let gather = |of: &dyn Fn(usize) -> u32| -> ArrayRef {
            Arc::new(order.iter().map(|&row| of(row as usize)).collect::<UInt32Array>())
        };
        let mut arrays = vec![gather(&|row| numbers[row])];
        arrays.extend(block.codes.iter().map(|codes| gather(&|row| codes.get(row))));
        let mut places = Vec::new();
        for (batch, columns) in block.kept.iter().enumerate() {
            let n_rows = columns.first().map_or(0, Array::len);
            places.extend((0..n_rows).map(|row| (batch, row)));
        }
        let places: Vec<(usize, usize)> =
            order.iter().filter_map(|&row| places.get(row as usize).copied()).collect();
        let n_kept = self.buckets.schema.fields().len() - arrays.len();
        for at in 0..n_kept {
            let columns: Vec<&dyn Array> =
                block.kept.iter().map(|columns| columns[at].as_ref()).collect();
            arrays.push(interleave(&columns, &places).map_err(unreadable)?);
        }
        RecordBatch::try_new(Arc::clone(&self.buckets.schema), arrays).map_err(unreadable)
    }

    fn write(&mut self, bucket: usize, rows: &RecordBatch) -> Result<(), EngineError> {
        if self.files[bucket].is_none() {
            let path = self.buckets.path(self.part, bucket);
            let file =
                BufWriter::with_capacity(WRITE_BUFFER, File::create(path).map_err(spilling)?);
            let writer = StreamWriter::try_new(file, &self.buckets.schema).map_err(unreadable)?;
            self.files[bucket] = Some(writer);
        }
        let writer = self.files[bucket].as_mut().expect("it was just opened");
        writer.write(rows).map_err(unreadable)
    }

    /// Ends the files.
    pub fn finish(self) -> Result<(), EngineError> {
        for mut file in self.files.into_iter().flatten() {
            file.finish().map_err(unreadable)?;
        }
        Ok(())
    }
}

fn small(bucket: usize) -> u32 {
    u32::try_from(bucket).expect("few buckets")
}

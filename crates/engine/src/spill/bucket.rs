//! Rows put into private files by a number, so that those of neighbouring numbers can be loaded together.
//!
//! Whoever knows how many rows have which number (a class's place in the release) can choose buckets that
//! just fit in memory: every row is then written once and read once, whatever the size of the table.

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

use super::rows::{Block, plain_type, unreadable};
use super::{Scratch, spilling};
use crate::EngineError;
use crate::read::KeptColumn;

/// The number of a row that goes nowhere.
pub const NOWHERE: u32 = u32::MAX;

/// How rows are divided into buckets.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// The number behind the last one of each bucket, ascending.
    ends: Vec<u32>,
    schema: SchemaRef,
    /// By coded column, the number of its codes.
    n_codes: Vec<u32>,
    scratch: Arc<Scratch>,
    name: String,
}

impl Buckets {
    /// Buckets for numbers below each of `ends`, of rows with coded columns of so many codes and kept columns.
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
        Buckets { ends, schema, n_codes, scratch, name }
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
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
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
        let n_coded = self.n_codes.len();
        let mut numbers = Vec::new();
        let mut codes: Vec<Codes> =
            self.n_codes.iter().map(|&n| Codes::pack(n, std::iter::empty())).collect();
        let mut kept = Vec::new();
        for part in 0..n_parts {
            let path = self.path(part, bucket);
            if !path.exists() {
                continue;
            }
            let file = BufReader::with_capacity(1 << 18, File::open(&path).map_err(spilling)?);
            for batch in StreamReader::try_new(file, None).map_err(unreadable)? {
                let batch = batch.map_err(unreadable)?;
                let whole = |at: usize| batch.column(at).as_primitive::<UInt32Type>().values();
                numbers.extend_from_slice(whole(0));
                for (at, codes) in codes.iter_mut().enumerate() {
                    codes.extend(whole(1 + at).iter().copied());
                }
                kept.push(batch.columns()[1 + n_coded..].to_vec());
            }
            std::fs::remove_file(&path).map_err(spilling)?;
        }
        Ok(Bucket { numbers, codes, kept })
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
        let batch = self.sorted(numbers, block, &order)?;
        for bucket in 0..ends.len() {
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
            let file = BufWriter::with_capacity(1 << 16, File::create(path).map_err(spilling)?);
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

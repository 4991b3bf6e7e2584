//! Rows cut into runs whose ends depend on the rows alone, not on the batches in which they arrive.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{ArrowNativeType, DataType};

/// Rows after which it is looked whether a run is long enough.
const STEP: usize = 64;
/// Bytes of a value that says nothing of its size: of a list, or of another table.
const NESTED: u64 = 64;

/// Cuts rows into runs of at most so many rows and about so many bytes.
#[derive(Debug)]
pub(super) struct Cut {
    most_rows: usize,
    most_bytes: u64,
    /// The open run.
    batches: Vec<RecordBatch>,
    n_rows: usize,
    n_bytes: u64,
}

impl Cut {
    pub(super) fn new(most_rows: usize, most_bytes: u64) -> Cut {
        Cut { most_rows: most_rows.max(1), most_bytes, batches: Vec::new(), n_rows: 0, n_bytes: 0 }
    }

    /// Adds rows; hands over the runs that they complete.
    pub(super) fn add<E>(
        &mut self,
        batch: &RecordBatch,
        mut hand_over: impl FnMut(Vec<RecordBatch>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sizes: Vec<Bytes> = batch.columns().iter().map(Bytes::of).collect();
        let (mut start, mut at) = (0, 0);
        while at < batch.num_rows() {
            let look = ((self.n_rows / STEP + 1) * STEP).min(self.most_rows);
            let n = (look - self.n_rows).min(batch.num_rows() - at);
            self.n_bytes += sizes.iter().map(|bytes| bytes.of_rows(at, n)).sum::<u64>();
            self.n_rows += n;
            at += n;
            let is_long = self.n_rows >= self.most_rows || self.n_bytes >= self.most_bytes;
            if self.n_rows == look && is_long {
                self.batches.push(batch.slice(start, at - start));
                start = at;
                hand_over(self.take())?;
            }
        }
        if start < at {
            self.batches.push(batch.slice(start, at - start));
        }
        Ok(())
    }

    /// The rows that are left.
    pub(super) fn take(&mut self) -> Vec<RecordBatch> {
        (self.n_rows, self.n_bytes) = (0, 0);
        std::mem::take(&mut self.batches)
    }
}

/// What tells the bytes of some cells of a column.
enum Bytes<'a> {
    /// So many a cell.
    Each(u64),
    /// Where each text ends.
    Ends(&'a [i32]),
    LongEnds(&'a [i64]),
    /// Where each list of texts ends, and where each text of them does.
    Lists(&'a [i32], &'a [i32]),
}

impl Bytes<'_> {
    fn of(array: &ArrayRef) -> Bytes<'_> {
        match array.data_type() {
            DataType::Utf8 => Bytes::Ends(array.as_string::<i32>().value_offsets()),
            DataType::LargeUtf8 => Bytes::LongEnds(array.as_string::<i64>().value_offsets()),
            DataType::Binary => Bytes::Ends(array.as_binary::<i32>().value_offsets()),
            DataType::LargeBinary => Bytes::LongEnds(array.as_binary::<i64>().value_offsets()),
            DataType::Dictionary(..) => Bytes::Each(4),
            DataType::List(item) if item.data_type() == &DataType::Utf8 => {
                let lists = array.as_list::<i32>();
                let texts = lists.values().as_string::<i32>();
                Bytes::Lists(lists.value_offsets(), texts.value_offsets())
            }
            data_type => Bytes::Each(data_type.primitive_width().map_or(NESTED, |n| n as u64)),
        }
    }

    fn of_rows(&self, at: usize, n: usize) -> u64 {
        match self {
            Bytes::Each(bytes) => bytes * n as u64,
            Bytes::Ends(ends) => u64::try_from(ends[at + n] - ends[at]).unwrap_or(0) + 4 * n as u64,
            Bytes::LongEnds(ends) => {
                u64::try_from(ends[at + n] - ends[at]).unwrap_or(0) + 8 * n as u64
            }
            Bytes::Lists(lists, texts) => {
                let (first, end) = (lists[at].as_usize(), lists[at + n].as_usize());
                let bytes = u64::try_from(texts[end] - texts[first]).unwrap_or(0);
                bytes + 4 * (end - first) as u64 + 4 * n as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};

    use super::*;

    /// Rows of a number and a text that is longer now and then.
    fn rows(n: usize) -> RecordBatch {
        let numbers: ArrayRef = Arc::new((0..).take(n).collect::<Int64Array>());
        let text = |row: usize| (!row.is_multiple_of(7)).then(|| "x".repeat(row * row % 200));
        let texts: ArrayRef = Arc::new((0..n).map(text).collect::<StringArray>());
        RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap()
    }

    #[test]
    fn runs_are_the_same_however_rows_arrive() {
        let rows = rows(5000);
        let ends = |batch_rows: usize| {
            let mut cut = Cut::new(700, 30_000);
            let mut lengths = Vec::new();
            let mut take = |run: Vec<RecordBatch>| -> Result<(), Infallible> {
                lengths.push(run.iter().map(RecordBatch::num_rows).sum::<usize>());
                Ok(())
            };
            for start in (0..5000).step_by(batch_rows) {
                let batch = rows.slice(start, batch_rows.min(5000 - start));
                cut.add(&batch, &mut take).unwrap();
            }
            take(cut.take()).unwrap();
            lengths
        };
        let whole = ends(5000);
        assert!(whole.len() > 7 && whole.iter().sum::<usize>() == 5000, "{whole:?}");
        for batch_rows in [1, 63, 64, 65, 500, 4999] {
            assert_eq!(ends(batch_rows), whole, "{batch_rows} rows at a time");
        }
    }
}

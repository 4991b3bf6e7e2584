//! A table in memory.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};

use crate::EngineError;

/// A table in memory: Arrow batches with the same columns, in the order of their rows.
///
/// It can be the [source](crate::Source::of_batches) of a job, and a release can [stay in
/// memory](crate::Output::in_memory) as one. Clones share the rows.
#[derive(Clone)]
pub struct Batches {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

/// Its size. What is in its cells belongs in no message.
impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n_rows, n_columns) = (self.n_rows(), self.schema.fields().len());
        write!(f, "Batches of {n_rows} rows and {n_columns} columns")
    }
}

impl Batches {
    /// Batches as one table. Each must have the columns of the schema, with the same types and in
    /// the same order; columns need names of their own. What a schema says beyond that (metadata,
    /// and whether cells may be missing) may differ.
    pub fn new(schema: &Schema, batches: Vec<RecordBatch>) -> Result<Batches, EngineError> {
        let unfit = |what: String| EngineError::NotOneTable { what };
        let mut names = BTreeSet::new();
        if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            return Err(unfit(format!("two columns are named `{}`", twice.name())));
        }
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let schema =
            Arc::new(Schema::new(schema.fields().iter().map(nullable).collect::<Vec<_>>()));
        let as_one = |(number, batch): (usize, RecordBatch)| {
            let found = batch.schema();
            let is_same = found.fields().len() == schema.fields().len()
                && found.fields().iter().zip(schema.fields()).all(|(found, field)| {
                    found.name() == field.name() && found.data_type() == field.data_type()
                });
            let other = || unfit(format!("batch {number} has other columns than the schema"));
            if !is_same {
                return Err(other());
            }
            let (_, columns, n_rows) = batch.into_parts();
            let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                .map_err(|_| other())
        };
        let batches = (1..).zip(batches).map(as_one).collect::<Result<_, _>>()?;
        Ok(Batches { schema, batches })
    }

    /// The columns with their types.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// The bytes of the cells of a column.
    pub(crate) fn column_bytes(&self, column: usize) -> u64 {
        self.batches.iter().map(|batch| own_bytes(batch.column(column))).sum()
    }

    /// The rows in pieces of at most so many, divided into at most so many runs of about the same
    /// length, one after another.
    pub(crate) fn divided(&self, piece_rows: usize, n_runs: usize) -> Vec<Vec<RecordBatch>> {
        let mut pieces = Vec::new();
        for batch in self.batches.iter() {
            for start in (0..batch.num_rows()).step_by(piece_rows.max(1)) {
                pieces.push(batch.slice(start, piece_rows.min(batch.num_rows() - start)));
            }
        }
        let of_run = pieces.len().div_ceil(n_runs.max(1)).max(1);
        let mut runs: Vec<Vec<RecordBatch>> = pieces.chunks(of_run).map(<[_]>::to_vec).collect();
        if runs.is_empty() {
            runs.push(Vec::new());
        }
        runs
    }
}

/// The bytes of the cells of an array, without those of other rows whose memory it shares.
pub(crate) fn own_bytes(array: &ArrayRef) -> u64 {
    let of_cells = array.to_data().get_slice_memory_size();
    of_cells.unwrap_or_else(|_| array.get_array_memory_size()) as u64
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringArray};
    use arrow::datatypes::DataType;

    use super::*;

    fn numbers(name: &str, n: i64) -> RecordBatch {
        let column: ArrayRef = Arc::new((0..n).collect::<Int64Array>());
        RecordBatch::try_from_iter([(name, column)]).unwrap()
    }

    #[test]
    fn batches_of_other_columns_are_refused() {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, false)]);
        let made = |batches| Batches::new(&schema, batches);
        let table = made(vec![numbers("a", 3), numbers("a", 0), numbers("a", 4)]).unwrap();
        assert_eq!((table.n_rows(), table.batches().len()), (7, 3));
        assert_eq!(made(Vec::new()).unwrap().n_rows(), 0);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
        for other in [numbers("b", 1), RecordBatch::try_from_iter([("a", texts)]).unwrap()] {
            let refused = made(vec![numbers("a", 1), other]).unwrap_err().to_string();
            assert!(refused.contains("batch 2"), "{refused}");
        }
        let twice = vec![Field::new("a", DataType::Int64, true); 2];
        assert!(Batches::new(&Schema::new(twice), Vec::new()).is_err());
    }

    #[test]
    fn no_message_holds_a_cell() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["secret"]));
        let rows = RecordBatch::try_from_iter([("a", texts)]).unwrap();
        let table = Batches::new(&rows.schema(), vec![rows]).unwrap();
        let source = crate::Source::of_batches(table.clone());
        let shown = format!("{table:?} {source:?}");
        assert!(shown.contains("1 rows and 1 columns") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn runs_hold_every_row_in_its_order() {
        let schema = numbers("a", 0).schema();
        let table = Batches::new(&schema, vec![numbers("a", 25), numbers("a", 7)]).unwrap();
        for n_runs in [1, 2, 3, 100] {
            let runs = table.divided(10, n_runs);
            assert!(runs.len() <= n_runs);
            let lengths: Vec<usize> = runs.iter().flatten().map(RecordBatch::num_rows).collect();
            assert_eq!(lengths, [10, 10, 5, 7]);
        }
    }
}

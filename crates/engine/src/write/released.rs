//! Rows of a release as Arrow batches, in which nothing is left of rows that are not released.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use arrow::error::ArrowError;

use crate::value::stored::strict_cast;

/// Rows that were gathered for the release as one batch. Gathering copies cells, but views and
/// dictionaries still hold what they were made from, and what is handed on as Arrow shows all the
/// memory of its arrays.
pub(super) fn released(
    schema: &SchemaRef,
    rows: &[RecordBatch],
) -> Result<RecordBatch, ArrowError> {
    let rows = concat_batches(schema, rows)?;
    let columns = rows.columns().iter().map(without_unused).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// The same cells without values that none of them has: views of texts keep the texts that they
/// were made from, and so do dictionaries.
fn without_unused(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let data_type = array.data_type();
    let copied = copied_type(data_type);
    if copied == *data_type {
        return Ok(Arc::clone(array));
    }
    strict_cast(&strict_cast(array, &copied)?, data_type)
}

/// A type with the same values that holds each where it is.
fn copied_type(data_type: &DataType) -> DataType {
    use DataType::{
        BinaryView, Dictionary, FixedSizeList, LargeBinary, LargeList, LargeListView, LargeUtf8,
        List, ListView, Map, Struct, Utf8View,
    };
    let field = |field: &FieldRef| -> FieldRef {
        let copied = copied_type(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(copied))
    };
    match data_type {
        Utf8View => LargeUtf8,
        BinaryView => LargeBinary,
        Dictionary(_, values) => copied_type(values),
        List(item) => List(field(item)),
        LargeList(item) | ListView(item) | LargeListView(item) => LargeList(field(item)),
        FixedSizeList(item, n) => FixedSizeList(field(item), *n),
        Struct(fields) => Struct(fields.iter().map(field).collect()),
        Map(entries, is_sorted) => Map(field(entries), *is_sorted),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Array, DictionaryArray, ListViewBuilder, StringBuilder, StringViewArray, StructArray,
    };
    use arrow::datatypes::{Field, Int32Type, Schema};

    use super::*;

    /// All texts that the memory of an array holds.
    fn memory(array: &dyn Array) -> String {
        let data = array.to_data();
        let own = data.buffers().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let below = data
            .child_data()
            .iter()
            .map(|child| memory(arrow::array::make_array(child.clone()).as_ref()));
        own.chain(below).collect()
    }

    #[test]
    fn nothing_of_other_rows_is_left() {
        let texts = ["a text of the release", "a secret of another row"];
        let views: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let indexed: DictionaryArray<Int32Type> = texts.into_iter().collect();
        let field = Arc::new(Field::new("x", indexed.data_type().clone(), true));
        let records: ArrayRef =
            Arc::new(StructArray::from(vec![(field, Arc::new(indexed) as ArrayRef)]));
        let list = |text: &str| vec![Some(text.to_owned())];
        let mut lists = ListViewBuilder::new(StringBuilder::new());
        for text in texts {
            lists.append_value(list(text));
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        for table in [views, records, lists] {
            let schema =
                Arc::new(Schema::new(vec![Field::new("c", table.data_type().clone(), true)]));
            let rows = RecordBatch::try_new(Arc::clone(&schema), vec![table]).unwrap();
            let release = released(&schema, &[rows.slice(0, 1)]).unwrap();
            assert_eq!(release, rows.slice(0, 1));
            let memory = memory(release.column(0));
            assert!(
                memory.contains("a text of the release") && !memory.contains("secret"),
                "{memory}"
            );
        }
    }
}

//! What a columnar file declares of its columns beside their types: orders of dictionaries, and the
//! row index that pandas adds.
//!
//! An ordered dictionary (an ordered categorical of pandas) is an order of its values. An Arrow
//! file has the whole dictionary. In a Parquet file only the dictionary page has it, and only where
//! Arrow for C++ wrote the page (as pandas, R and Python do): other writers fill it as values come
//! up.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;

use crate::decode::guarded;
use crate::value::stored::strict_cast;
use crate::{Batches, Format};

/// Under this key pandas says what it wrote.
const PANDAS: &str = "pandas";
/// The name that pandas gives an index without one, before its number.
const UNNAMED_INDEX: &str = "__index_level_";
/// The writer whose dictionary pages are the dictionaries.
const KEEPS_DICTIONARIES: &str = "parquet-cpp-arrow";

/// What the files of a source declare of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The order of its values, where its dictionary is ordered.
    pub(crate) order: Option<DeclaredOrder>,
    /// Whether it is a row index without a name.
    pub(crate) is_row_index: bool,
}

/// The order of an ordered dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredOrder {
    /// The values from first to last.
    Known(Vec<String>),
    /// The files say that there is an order, but not which.
    Unknown,
    /// The files have several, none of which holds the others.
    Several,
}

/// What a schema declares of each of its fields, without the values of orders, which files tell
/// ([`add_orders`]).
pub(crate) fn declared_by(schema: &Schema) -> Vec<Declared> {
    let fields = schema.fields().iter();
    let of_field = fields.map(|field| Declared {
        order: is_ordered_text(field).then_some(DeclaredOrder::Unknown),
        is_row_index: is_unnamed_index(field.name()),
    });
    of_field.collect()
}

fn is_ordered_text(field: &arrow::datatypes::Field) -> bool {
    let is_text = |values: &DataType| matches!(values, DataType::Utf8 | DataType::LargeUtf8);
    // Numbers and dates have an order of their own.
    matches!(field.data_type(), DataType::Dictionary(_, values) if is_text(values))
        && field.dict_is_ordered() == Some(true)
}

/// `__index_level_0__` and so on.
fn is_unnamed_index(name: &str) -> bool {
    let number = name.strip_prefix(UNNAMED_INDEX).and_then(|rest| rest.strip_suffix("__"));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Takes in the orders that a file tells of columns whose dictionaries are ordered.
pub(crate) fn add_orders(path: &Path, format: Format, schema: &Schema, all: &mut [Declared]) {
    let ordered: Vec<usize> = (0..all.len()).filter(|&at| all[at].order.is_some()).collect();
    if ordered.is_empty() {
        return;
    }
    let names: Vec<&str> = ordered.iter().map(|&at| schema.field(at).name().as_str()).collect();
    let found = guarded(|| match format {
        Format::Parquet => orders_of_parquet(path, &names),
        Format::Arrow => orders_of_arrow(path, &names),
        Format::Csv(_) | Format::JsonLines(_) => None,
    });
    // A file that cannot be read is refused when its rows are read.
    let found = found.ok().flatten().unwrap_or_else(|| vec![None; names.len()]);
    for (&at, order) in ordered.iter().zip(found) {
        all[at].orders_seen(order);
    }
}

/// What a table in memory declares of its columns: each batch has dictionaries of its own.
pub(crate) fn declared_in_batches(batches: &Batches) -> Vec<Declared> {
    let mut all = declared_by(batches.schema());
    for (declared, field) in all.iter_mut().zip(batches.schema().fields()) {
        if declared.order.is_some() {
            for batch in batches.batches().iter().filter(|batch| batch.num_rows() > 0) {
                declared.orders_seen(dictionary_of(batch, field.name()));
            }
        }
    }
    all
}

impl Declared {
    /// Takes in the order of one more file; none where it does not tell it.
    fn orders_seen(&mut self, found: Option<Vec<String>>) {
        let Some(found) = found else { return };
        self.order = Some(match self.order.take() {
            Some(DeclaredOrder::Known(known)) => joined(known, found),
            Some(DeclaredOrder::Several) => DeclaredOrder::Several,
            Some(DeclaredOrder::Unknown) | None => DeclaredOrder::Known(found),
        });
    }
}

/// The order of both, if one of them holds the other.
fn joined(a: Vec<String>, b: Vec<String>) -> DeclaredOrder {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut rest = long.iter();
    let is_within = short.iter().all(|value| rest.any(|other| other == value));
    if is_within { DeclaredOrder::Known(long) } else { DeclaredOrder::Several }
}

/// By column the values of its dictionary, where the file tells them all in their order.
fn orders_of_parquet(path: &Path, names: &[&str]) -> Option<Vec<Option<Vec<String>>>> {
    let file = File::open(path).ok()?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).ok()?;
    let metadata = builder.metadata().clone();
    let writer = metadata.file_metadata().created_by().unwrap_or_default();
    if !writer.starts_with(KEEPS_DICTIONARIES) {
        return None;
    }
    let mut orders: Vec<Declared> = vec![Declared::default(); names.len()];
    for group in (0..metadata.num_row_groups()).filter(|&at| metadata.row_group(at).num_rows() > 0)
    {
        let file = File::open(path).ok()?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).ok()?;
        let columns = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
        let one_row = builder.with_row_groups(vec![group]).with_projection(columns);
        let batch = one_row.with_batch_size(1).build().ok()?.next()?.ok()?;
        for (order, name) in orders.iter_mut().zip(names) {
            order.orders_seen(dictionary_of(&batch, name));
        }
    }
    let order = |(declared, name): (Declared, &&str)| match declared.order? {
        DeclaredOrder::Known(order) if is_whole(&metadata, name, order.len()) => Some(order),
        _ => None,
    };
    Some(orders.into_iter().zip(names).map(order).collect())
}

/// Whether a dictionary has as many values as pandas says, if it says so.
fn is_whole(metadata: &ParquetMetaData, column: &str, n_values: usize) -> bool {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let said = pairs.filter(|pair| pair.key == PANDAS).find_map(|pair| pair.value.as_deref());
    let Some(said) = said.and_then(|said| serde_json::from_str::<serde_json::Value>(said).ok())
    else {
        return true;
    };
    let columns = said["columns"].as_array().into_iter().flatten();
    let of_column = columns.filter(|known| known["field_name"] == column);
    let n_categories = of_column.filter_map(|known| known["metadata"]["num_categories"].as_u64());
    n_categories.into_iter().all(|n| n == n_values as u64)
}

fn orders_of_arrow(path: &Path, names: &[&str]) -> Option<Vec<Option<Vec<String>>>> {
    let file = File::open(path).ok()?;
    let mut reader = arrow::ipc::reader::FileReader::try_new(file, None).ok()?;
    let batch = reader.next()?.ok()?;
    Some(names.iter().map(|name| dictionary_of(&batch, name)).collect())
}

/// The values of a column's dictionary in their order.
fn dictionary_of(batch: &RecordBatch, name: &str) -> Option<Vec<String>> {
    let column: &ArrayRef = batch.column_by_name(name)?;
    let values = column.as_any_dictionary_opt()?.values();
    let texts = strict_cast(values.as_ref(), &DataType::Utf8).ok()?;
    let texts = texts.as_string::<i32>();
    // A value without a text has no place in an order.
    (texts.null_count() == 0).then(|| texts.iter().flatten().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<String> {
        values.iter().map(|&value| value.to_owned()).collect()
    }

    #[track_caller]
    fn check(files: &[Option<Vec<String>>], expected: DeclaredOrder) {
        let mut declared = Declared { order: Some(DeclaredOrder::Unknown), is_row_index: false };
        for found in files {
            declared.orders_seen(found.clone());
        }
        assert_eq!(declared.order, Some(expected));
    }

    #[test]
    fn orders_of_several_files() {
        let known = |values: &[&str]| DeclaredOrder::Known(texts(values));
        let order = |values: &[&str]| Some(texts(values));
        check(&[], DeclaredOrder::Unknown);
        check(&[None], DeclaredOrder::Unknown);
        check(&[order(&["a", "b"]), order(&["a", "b"])], known(&["a", "b"]));
        check(&[order(&["a", "c"]), order(&["a", "b", "c"]), None], known(&["a", "b", "c"]));
        let differ = [order(&["a", "b"]), order(&["b", "a"]), order(&["a", "b"])];
        check(&differ, DeclaredOrder::Several);
        check(&[order(&["a", "b"]), order(&["a", "c"])], DeclaredOrder::Several);
    }

    #[test]
    fn an_index_without_a_name() {
        for (name, expected) in [
            ("__index_level_0__", true),
            ("__index_level_12__", true),
            ("__index_level___", false),
            ("__index_level_x__", false),
            ("index", false),
        ] {
            assert_eq!(is_unnamed_index(name), expected, "{name}");
        }
    }
}

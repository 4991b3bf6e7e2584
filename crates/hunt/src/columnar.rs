//! Parquet and Arrow files: tables written with the types of their columns, releases read as texts.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray,
    StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::table::Table;
use crate::value::{Kind, Value, float};

/// Days from the epoch of [`Value::Date`] to 1970-01-01.
const EPOCH: i64 = 719_468;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// The table with typed columns.
fn batch(table: &Table, kinds: &[Kind]) -> Result<RecordBatch, Fault> {
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    for (column, &kind) in kinds.iter().enumerate() {
        let array = array(kind, table.cells(column).map(|cell| kind.value(cell)).collect())?;
        fields.push(Field::new(&table.header[column], array.data_type().clone(), true));
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn array(kind: Kind, values: Vec<Value>) -> Result<ArrayRef, Fault> {
    let values = values.into_iter();
    Ok(match kind {
        Kind::Integer => {
            let whole = |value| match value {
                Value::Number(scaled) => i64::try_from(scaled / crate::value::SCALE).map(Some),
                _ => Ok(None),
            };
            Arc::new(values.map(whole).collect::<Result<Int64Array, _>>()?)
        }
        Kind::Decimal => Arc::new(
            values
                .map(|value| match value {
                    // The nearest float of the decimal text, not of two rounded halves.
                    Value::Number(scaled) => Some(nearest(scaled)),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        Kind::Boolean => Arc::new(
            values
                .map(|value| if let Value::Boolean(is) = value { Some(is) } else { None })
                .collect::<BooleanArray>(),
        ),
        Kind::Date => {
            let days = |value| match value {
                Value::Date(days) => i32::try_from(days - EPOCH).map(Some),
                _ => Ok(None),
            };
            Arc::new(values.map(days).collect::<Result<Date32Array, _>>()?)
        }
        Kind::Timestamp => {
            let micros = |value| match value {
                Value::Timestamp(nanos) => {
                    i64::try_from(nanos / 1_000 - i128::from(EPOCH) * 86_400_000_000).map(Some)
                }
                _ => Ok(None),
            };
            Arc::new(values.map(micros).collect::<Result<TimestampMicrosecondArray, _>>()?)
        }
        Kind::Text => Arc::new(
            values
                .map(|value| if let Value::Text(text) = value { Some(text) } else { None })
                .collect::<StringArray>(),
        ),
    })
}

fn nearest(scaled: i128) -> f64 {
    let sign = if scaled < 0 { "-" } else { "" };
    let digits = format!("{:013}", scaled.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - 12);
    format!("{sign}{whole}.{fraction}").parse().unwrap_or_else(|_| float(scaled))
}

/// Writes the table as Parquet or as an Arrow file, by the path's ending.
pub(crate) fn write(table: &Table, kinds: &[Kind], path: &Path) -> Result<(), Fault> {
    let batch = batch(table, kinds)?;
    let file = File::create(path)?;
    if is_parquet(path) {
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
    } else {
        let mut writer = FileWriter::try_new(file, &batch.schema())?;
        writer.write(&batch)?;
        writer.finish()?;
    }
    Ok(())
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

/// Reads Parquet or an Arrow file; every cell becomes the text that a CSV would have.
pub(crate) fn read(path: &Path) -> Result<Table, Fault> {
    let file = File::open(path)?;
    let (schema, batches) = if is_parquet(path) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        (builder.schema().clone(), builder.build()?.collect::<Result<Vec<_>, _>>()?)
    } else {
        let reader = FileReader::try_new(file, None)?;
        (reader.schema(), reader.collect::<Result<Vec<_>, _>>()?)
    };
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut rows = Vec::new();
    for batch in batches {
        let from = rows.len();
        rows.resize(from + batch.num_rows(), vec![None; header.len()]);
        for (column, array) in batch.columns().iter().enumerate() {
            for (row, text) in texts(array)?.into_iter().enumerate() {
                rows[from + row][column] = text;
            }
        }
    }
    Ok(Table { header, rows })
}

fn texts(array: &ArrayRef) -> Result<Vec<Option<String>>, Fault> {
    if let DataType::List(_) = array.data_type() {
        return list_texts(array.as_list());
    }
    let options = FormatOptions::new();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let cell = |row: usize| {
        if array.is_null(row) { Ok(None) } else { formatter.value(row).try_to_string().map(Some) }
    };
    Ok((0..array.len()).map(cell).collect::<Result<_, _>>()?)
}

/// A list of texts is a set; it reads as in CSV. No list at all is `*`.
fn list_texts(array: &ListArray) -> Result<Vec<Option<String>>, Fault> {
    let mut found = Vec::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            found.push(Some("*".to_owned()));
            continue;
        }
        let members = texts(&array.value(row))?;
        found.push(if let [one] = members.as_slice() {
            one.as_deref().map(alone)
        } else {
            let members: Vec<String> =
                members.iter().map(|member| within_set(member.as_deref())).collect();
            Some(format!("{{{}}}", members.join("|")))
        });
    }
    Ok(found)
}

/// A value on its own. Where a reader could take it for something else, a backslash says that it is
/// a value.
fn alone(value: &str) -> String {
    let bare = value.trim_start_matches('\\');
    let may_be_label = bare == "*" || bare.starts_with(['[', '{']);
    if may_be_label { format!("\\{value}") } else { value.to_owned() }
}

/// A member of a set.
fn within_set(member: Option<&str>) -> String {
    match member {
        None => String::new(),
        Some("") => "{}".to_owned(),
        Some("{}") => "\\{}".to_owned(),
        Some(value) => value.replace('\\', "\\\\").replace('|', "\\|"),
    }
}

//! Releases as JSON lines: an object a row, with every column by its name.
//!
//! Numbers are numbers, true and false are what they are, missing cells are null, lists are arrays
//! and records are objects. Everything else is a string: labels and other text, days, times, and
//! decimals of more digits than a number of 64 bits holds.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, GenericListArray, OffsetSizeTrait, RecordBatch,
    StringArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;

use super::columnar::{Columnar, Form};
use super::csv_sink::CsvSink;
use super::gather::{Columns, Gathered};
use crate::decode::guarded;
use crate::publish::stage::Opened;
use crate::source::in_words;
use crate::value::stored::{FLOAT_DIGITS, strict_cast};
use crate::{Compression, EngineError, Staging};

/// What every file of JSON lines of a release is made from.
pub(super) struct JsonLines {
    /// The columns with their types, and the values of labels and codes.
    columnar: Columnar,
    keys: Arc<Keys>,
    compression: Compression,
}

impl JsonLines {
    pub(super) fn new(
        columns: &Columns,
        staging: &Staging,
        compression: Compression,
    ) -> Result<JsonLines, EngineError> {
        let columnar = Columnar::new(columns, staging.target(), Form::Text)?;
        for field in columnar.schema().fields() {
            if !can_hold(field.data_type()) {
                let holds = in_words(field.data_type());
                return Err(EngineError::NotForJson { column: field.name().clone(), holds });
            }
        }
        let keys = Arc::new(Keys::of(columnar.schema()));
        Ok(JsonLines { columnar, keys, compression })
    }

    /// The same for other classes: the columns with labels that are told.
    pub(super) fn with_labels(
        &self,
        columns: &Columns,
        staging: &Staging,
    ) -> Result<JsonLines, EngineError> {
        let columnar = self.columnar.with_labels(columns, staging.target())?;
        Ok(JsonLines { columnar, keys: Arc::clone(&self.keys), compression: self.compression })
    }

    pub(super) fn open(&self, file: Opened) -> Result<CsvSink, EngineError> {
        CsvSink::new(file, self.compression)
    }

    /// The lines of a chunk.
    pub(super) fn lines(
        &self,
        columns: &Columns,
        gathered: &Gathered,
    ) -> Result<Vec<u8>, ArrowError> {
        self.keys.lines(&self.columnar.batch(columns, gathered)?)
    }
}

/// The names of columns as they stand before values.
pub(super) struct Keys(Vec<Vec<u8>>);

impl Keys {
    pub(super) fn of(schema: &Schema) -> Keys {
        Keys(schema.fields().iter().map(|field| key(field.name())).collect())
    }

    /// The rows of a batch, a line each.
    pub(super) fn lines(&self, batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        let columns = batch.columns().iter().map(Cells::of).collect::<Result<Vec<_>, _>>()?;
        let mut bytes = Vec::with_capacity(batch.num_rows() * (columns.len() * 16 + 3));
        for row in 0..batch.num_rows() {
            push_object(self.0.iter().zip(&columns), row, &mut bytes);
            bytes.push(b'\n');
        }
        Ok(bytes)
    }
}

/// The cells of an array, ready to be written.
enum Cells {
    Missing,
    /// Numbers, as they are written.
    Numbers(StringArray),
    Truths(BooleanArray),
    Texts(StringArray),
    /// By row the values of its list.
    Lists(Option<NullBuffer>, Vec<(usize, usize)>, Box<Cells>),
    Records(Option<NullBuffer>, Vec<(Vec<u8>, Cells)>),
}

impl Cells {
    fn of(array: &ArrayRef) -> Result<Cells, ArrowError> {
        Ok(match array.data_type() {
            DataType::Null => Cells::Missing,
            DataType::Boolean => Cells::Truths(array.as_boolean().clone()),
            DataType::Decimal32(digits, _)
            | DataType::Decimal64(digits, _)
            | DataType::Decimal128(digits, _)
            | DataType::Decimal256(digits, _)
                if *digits <= FLOAT_DIGITS =>
            {
                Cells::Numbers(texts(array)?)
            }
            data_type if data_type.is_integer() || data_type.is_floating() => {
                Cells::Numbers(texts(array)?)
            }
            DataType::List(_) => lists(array.as_list::<i32>())?,
            DataType::LargeList(_) => lists(array.as_list::<i64>())?,
            DataType::FixedSizeList(_, n) => {
                let n = usize::try_from(*n).unwrap_or(0);
                let list = array.as_fixed_size_list();
                let ranges = (0..list.len()).map(|row| (row * n, (row + 1) * n)).collect();
                let values = Box::new(Cells::of(list.values())?);
                Cells::Lists(list.nulls().cloned(), ranges, values)
            }
            DataType::Struct(fields) => {
                let records = array.as_struct();
                let columns = fields.iter().zip(records.columns());
                let column = |(field, array): (&arrow::datatypes::FieldRef, &ArrayRef)| {
                    Ok((key(field.name()), Cells::of(array)?))
                };
                let columns = columns.map(column).collect::<Result<Vec<_>, ArrowError>>()?;
                Cells::Records(records.nulls().cloned(), columns)
            }
            DataType::Dictionary(_, values) => return Cells::of(&strict_cast(array, values)?),
            _ => Cells::Texts(texts(array)?),
        })
    }

    fn push(&self, row: usize, to: &mut Vec<u8>) {
        let is_missing =
            |nulls: &Option<NullBuffer>| nulls.as_ref().is_some_and(|n| n.is_null(row));
        match self {
            Cells::Numbers(texts) if !texts.is_null(row) => {
                let text = texts.value(row);
                // JSON has no infinity, and nothing for what is not a number.
                let is_number = text.ends_with(|last: char| last.is_ascii_digit());
                to.extend_from_slice(if is_number { text.as_bytes() } else { b"null" });
            }
            Cells::Truths(truths) if !truths.is_null(row) => {
                to.extend_from_slice(if truths.value(row) { b"true" } else { b"false" });
            }
            Cells::Texts(texts) if !texts.is_null(row) => push_text(texts.value(row), to),
            Cells::Lists(nulls, ranges, values) if !is_missing(nulls) => {
                to.push(b'[');
                let (start, end) = ranges[row];
                for at in start..end {
                    if at > start {
                        to.push(b',');
                    }
                    values.push(at, to);
                }
                to.push(b']');
            }
            Cells::Records(nulls, columns) if !is_missing(nulls) => {
                push_object(columns.iter().map(|(key, cells)| (key, cells)), row, to);
            }
            _ => to.extend_from_slice(b"null"),
        }
    }
}

fn lists<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<Cells, ArrowError> {
    let ends = list.value_offsets().windows(2);
    let ranges = ends.map(|ends| (ends[0].as_usize(), ends[1].as_usize())).collect();
    Ok(Cells::Lists(list.nulls().cloned(), ranges, Box::new(Cells::of(list.values())?)))
}

/// The values as CSV would have them.
fn texts(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    Ok(strict_cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
}

fn push_object<'a>(
    columns: impl Iterator<Item = (&'a Vec<u8>, &'a Cells)>,
    row: usize,
    to: &mut Vec<u8>,
) {
    to.push(b'{');
    for (at, (key, cells)) in columns.enumerate() {
        if at > 0 {
            to.push(b',');
        }
        to.extend_from_slice(key);
        cells.push(row, to);
    }
    to.push(b'}');
}

fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 3);
    push_text(name, &mut key);
    key.push(b':');
    key
}

/// A string in quotes.
fn push_text(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        to.extend_from_slice(&text.as_bytes()[start..at]);
        start = at + 1;
        match byte {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', byte]),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\t' => to.extend_from_slice(b"\\t"),
            _ => to.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    to.extend_from_slice(&text.as_bytes()[start..]);
    to.push(b'"');
}

/// Whether JSON lines can hold values of a type.
fn can_hold(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) | DataType::Union(..) | DataType::RunEndEncoded(..) => false,
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            can_hold(field.data_type())
        }
        DataType::Struct(fields) => fields.iter().all(|field| can_hold(field.data_type())),
        DataType::Dictionary(_, values) => can_hold(values),
        data_type => {
            guarded(|| arrow::compute::can_cast_types(data_type, &DataType::Utf8)).unwrap_or(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array, ListArray,
        StructArray,
    };
    use arrow::datatypes::Int32Type;

    use super::*;

    #[track_caller]
    fn check(array: ArrayRef, expected: &[&str]) {
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        let lines = Keys::of(&batch.schema()).lines(&batch).unwrap();
        let lines = String::from_utf8(lines).unwrap();
        let expected: Vec<String> =
            expected.iter().map(|cell| format!("{{\"a\":{cell}}}")).collect();
        assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
        for (line, row) in lines.lines().zip(0..) {
            let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(parsed.as_object().unwrap().len(), 1, "row {row}");
        }
    }

    #[test]
    fn values_are_what_they_are() {
        check(Arc::new(Int64Array::from(vec![Some(-7), None])), &["-7", "null"]);
        let floats = vec![1.0, -0.5, 1e300, f64::NAN, f64::INFINITY];
        check(Arc::new(Float64Array::from(floats)), &["1.0", "-0.5", "1e300", "null", "null"]);
        check(Arc::new(Float32Array::from(vec![0.1])), &["0.1"]);
        check(Arc::new(BooleanArray::from(vec![true, false])), &["true", "false"]);
        check(Arc::new(Date32Array::from(vec![0])), &["\"1970-01-01\""]);
        let decimal = |digits, value| {
            let array = Decimal128Array::from(vec![value]).with_precision_and_scale(digits, 2);
            Arc::new(array.unwrap())
        };
        check(decimal(10, 150), &["1.50"]);
        check(decimal(30, 12_345_678_901_234_567_890), &["\"123456789012345678.90\""]);
    }

    #[test]
    fn texts_are_escaped() {
        let texts = vec![Some("a\"b\\c\nd\te\u{1}f"), Some("Größe 😀"), Some(""), None];
        let expected = ["\"a\\\"b\\\\c\\nd\\te\\u0001f\"", "\"Größe 😀\"", "\"\"", "null"];
        check(Arc::new(StringArray::from(texts)), &expected);
    }

    #[test]
    fn lists_and_records() {
        let rows = vec![Some(vec![Some(1), None]), None, Some(vec![])];
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(rows);
        check(Arc::new(lists.slice(0, 3)), &["[1,null]", "null", "[]"]);
        check(Arc::new(lists.slice(1, 2)), &["null", "[]"]);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
        let record = StructArray::try_from(vec![("t", texts)]).unwrap();
        check(Arc::new(record), &["{\"t\":\"x\"}", "{\"t\":\"y\"}"]);
    }
}

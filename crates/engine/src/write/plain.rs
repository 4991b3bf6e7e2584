//! Tables of plain values, made and written batch by batch: memory does not grow with the rows.

use std::io::BufWriter;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt32Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::writer::FileWriter;
use chrono::{Datelike, NaiveDate};
use incrowd_data::{PlainColumn, PlainTable, PlainValues};

use super::columnar::{GROUP_ROWS, ParquetSink, builder, indexed_text, not_made};
use super::csv_sink::CsvSink;
use super::json_lines::Keys;
use super::ordered;
use crate::format::csv_write::Dialect;
use crate::value::stored::strict_cast;
use crate::{Engine, EngineError, Format, Staged};

/// Cells per batch, about: wide tables have shorter batches.
const BATCH_CELLS: usize = 1 << 19;
/// Cells per row group of a Parquet file, at most: a group is held in memory.
const GROUP_CELLS: usize = 1 << 23;
/// Rows per batch of a narrow table.
const BATCH_ROWS: usize = 1 << 14;

/// Days from the first day of year 1 to 1970-01-01, both counted.
const DAYS_TO_1970: i32 = 719_163;

/// Writes a table of `n_rows` rows into a staged file. `rows` makes any of them: it is called for
/// batches, from several threads, and every batch must have the same columns with the same
/// dictionaries.
pub fn write_plain(
    engine: &Engine,
    n_rows: u64,
    rows: impl Fn(Range<u64>) -> PlainTable + Sync,
    staged: &Staged,
    format: Format,
) -> Result<(), EngineError> {
    let columns = rows(0..0).columns;
    let of_batch = (BATCH_CELLS / columns.len().max(1)).clamp(1, BATCH_ROWS) as u64;
    let batches = (0..n_rows.div_ceil(of_batch)).map(|batch| {
        let start = batch * of_batch;
        let end = n_rows.min(start + of_batch);
        (start..end, end)
    });
    match format {
        Format::Csv(compression) => {
            let text = PlainText::new(&columns, Dialect::of(staged.path()));
            let mut sink = CsvSink::new(staged.open()?, compression)?;
            sink.write(&text.dialect.header(columns.iter().map(|column| column.name.as_str())))?;
            let make = |batch: &Range<u64>| Ok(text.lines(&rows(batch.clone())));
            ordered::in_order(engine, batches, make, |lines| sink.write(&lines))?;
            sink.finish()
        }
        Format::Parquet => {
            let arrays = PlainArrays::new(&columns);
            let (plain, indexed) = (arrays.schema(false), arrays.schema(true));
            let properties = builder(staged.target())?.build();
            let group_rows = (GROUP_CELLS / columns.len().max(1)).clamp(1, GROUP_ROWS);
            let mut sink = ParquetSink::new(staged.open()?, &plain, &indexed, properties)?
                .with_group_rows(group_rows);
            let make = |batch: &Range<u64>| arrays.batch(rows(batch.clone()), &indexed, staged);
            ordered::in_order(engine, batches, make, |batch| sink.write(&batch))?;
            sink.finish()
        }
        Format::Arrow => {
            let arrays = PlainArrays::new(&columns);
            let schema = arrays.schema(false);
            let failed = |error| not_made(staged.target(), &error);
            let file = BufWriter::new(staged.open()?.file);
            let mut writer = FileWriter::try_new(file, &schema).map_err(failed)?;
            let make = |batch: &Range<u64>| arrays.batch(rows(batch.clone()), &schema, staged);
            ordered::in_order(engine, batches, make, |batch| writer.write(&batch).map_err(failed))?;
            writer.finish().map_err(failed)
        }
        Format::JsonLines(compression) => {
            let arrays = PlainArrays::new(&columns);
            let schema = arrays.schema(false);
            let keys = Keys::of(&schema);
            let failed = |error| not_made(staged.target(), &error);
            let mut sink = CsvSink::new(staged.open()?, compression)?;
            let make = |batch: &Range<u64>| {
                keys.lines(&arrays.batch(rows(batch.clone()), &schema, staged)?).map_err(failed)
            };
            ordered::in_order(engine, batches, make, |lines| sink.write(&lines))?;
            sink.finish()
        }
    }
}

// Columnar

/// The columns of a plain table, without its rows.
struct PlainArrays {
    columns: Vec<PlainField>,
}

struct PlainField {
    name: String,
    data_type: DataType,
    /// What the codes of a column of texts stand for.
    texts: Option<ArrayRef>,
}

impl PlainArrays {
    fn new(columns: &[PlainColumn]) -> PlainArrays {
        let of = |column: &PlainColumn| {
            let (data_type, texts): (_, Option<ArrayRef>) = match &column.values {
                PlainValues::Integers(_) => (DataType::Int64, None),
                PlainValues::Decimals { .. } => (DataType::Float64, None),
                PlainValues::Dates(_) => (DataType::Date32, None),
                PlainValues::Texts { dictionary, .. } => {
                    let texts = StringArray::from_iter_values(dictionary.iter());
                    (DataType::Utf8, Some(Arc::new(texts)))
                }
            };
            PlainField { name: column.name.clone(), data_type, texts }
        };
        PlainArrays { columns: columns.iter().map(of).collect() }
    }

    /// The schema, with texts as they are or as indexes into their dictionaries.
    fn schema(&self, is_indexed: bool) -> SchemaRef {
        let field = |PlainField { name, data_type, texts }: &PlainField| {
            let is_text = is_indexed && texts.is_some();
            Field::new(name, if is_text { indexed_text() } else { data_type.clone() }, true)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn batch(
        &self,
        table: PlainTable,
        schema: &SchemaRef,
        staged: &Staged,
    ) -> Result<RecordBatch, EngineError> {
        let failed = |error| not_made(staged.target(), &error);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (at, column) in table.columns.into_iter().enumerate() {
            arrays.push(match column.values {
                PlainValues::Integers(values) => Arc::new(Int64Array::from(values)),
                PlainValues::Decimals { values, .. } => Arc::new(Float64Array::from(values)),
                PlainValues::Dates(values) => Arc::new(Date32Array::from(values)),
                PlainValues::Texts { codes, .. } => {
                    let texts =
                        self.columns[at].texts.as_ref().expect("a column of texts has them");
                    let codes = UInt32Array::from(codes);
                    let array = DictionaryArray::try_new(codes, Arc::clone(texts));
                    let array: ArrayRef = Arc::new(array.map_err(failed)?);
                    strict_cast(&array, schema.field(at).data_type()).map_err(failed)?
                }
            });
        }
        RecordBatch::try_new(Arc::clone(schema), arrays).map_err(failed)
    }
}

// Text

/// The cells of columns of texts, ready to be copied.
struct PlainText {
    dialect: Dialect,
    cells: Vec<Vec<Vec<u8>>>,
}

impl PlainText {
    fn new(columns: &[PlainColumn], dialect: Dialect) -> PlainText {
        let cells = columns.iter().map(|column| match &column.values {
            PlainValues::Texts { dictionary, .. } => {
                dictionary.iter().map(|text| dialect.cell(Some(text))).collect()
            }
            _ => Vec::new(),
        });
        PlainText { dialect, cells: cells.collect() }
    }

    fn lines(&self, table: &PlainTable) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(table.n_rows() * table.columns.len() * 10);
        for row in 0..table.n_rows() {
            let start = bytes.len();
            for (at, (column, cells)) in table.columns.iter().zip(&self.cells).enumerate() {
                if at > 0 {
                    bytes.push(self.dialect.delimiter);
                }
                match &column.values {
                    PlainValues::Integers(values) => push_integer(values[row], &mut bytes),
                    PlainValues::Decimals { values, places } => {
                        push_decimal(values[row], *places, &mut bytes);
                    }
                    PlainValues::Dates(values) => push_date(values[row], &mut bytes),
                    PlainValues::Texts { codes, .. } => {
                        bytes.extend_from_slice(&cells[codes[row] as usize]);
                    }
                }
            }
            if bytes.len() == start {
                // A line without a byte would be no row.
                bytes.extend_from_slice(b"\"\"");
            }
            bytes.push(b'\n');
        }
        bytes
    }
}

fn push_integer(value: i64, to: &mut Vec<u8>) {
    if value < 0 {
        to.push(b'-');
    }
    push_digits(value.unsigned_abs(), 1, to);
}

/// At least so many digits.
fn push_digits(mut value: u64, at_least: usize, to: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while value > 0 || digits.len() - start < at_least {
        start -= 1;
        digits[start] = b'0' + u8::try_from(value % 10).expect("a digit");
        value /= 10;
    }
    to.extend_from_slice(&digits[start..]);
}

fn push_decimal(value: f64, places: u8, to: &mut Vec<u8>) {
    let scale = 10u64.pow(u32::from(places.min(9)));
    #[expect(clippy::cast_precision_loss, reason = "at most 10^9")]
    let scaled = (value.abs() * scale as f64).round();
    if places > 9 || scaled.is_nan() || scaled >= 9e15 {
        to.extend_from_slice(format!("{value:.*}", usize::from(places)).as_bytes());
        return;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 9e15")]
    let scaled = scaled as u64;
    if value < 0.0 && scaled > 0 {
        to.push(b'-');
    }
    push_digits(scaled / scale, 1, to);
    if places > 0 {
        to.push(b'.');
        push_digits(scaled % scale, usize::from(places), to);
    }
}

fn push_date(days: i32, to: &mut Vec<u8>) {
    let date = days.checked_add(DAYS_TO_1970).and_then(NaiveDate::from_num_days_from_ce_opt);
    let date = date.expect("dates are of this age of the world");
    push_digits(u64::from(date.year().unsigned_abs()), 4, to);
    to.push(b'-');
    push_digits(date.month().into(), 2, to);
    to.push(b'-');
    push_digits(date.day().into(), 2, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_as_they_should() {
        let column = |name: &str, values| PlainColumn { name: name.to_owned(), values };
        let table = PlainTable {
            columns: vec![
                column("i", PlainValues::Integers(vec![0, -12, i64::MIN])),
                column("d", PlainValues::Decimals { values: vec![0.0, -0.5, 1234.07], places: 2 }),
                column("e", PlainValues::Decimals { values: vec![7.0, 1e17, -0.2], places: 0 }),
                column("t", PlainValues::Dates(vec![0, 20_089, -1])),
                column(
                    "x",
                    PlainValues::Texts {
                        codes: vec![1, 0, 1],
                        dictionary: ["a,b".to_owned(), "c".to_owned()].into(),
                    },
                ),
            ],
        };
        let text = PlainText::new(&table.columns, Dialect { delimiter: b',' });
        assert_eq!(
            String::from_utf8(text.lines(&table)).unwrap(),
            "0,0.00,7,1970-01-01,c\n-12,-0.50,100000000000000000,2025-01-01,\"a,b\"\n\
             -9223372036854775808,1234.07,0,1969-12-31,c\n"
        );
    }
}

//! The answers are those of the embedded reader, whatever the format, the types and the number of
//! parts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Int32Type, UInt32Type, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::catalog::TableProvider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlanProperties;
use futures::StreamExt;

use super::{Address, coded, encoded, grouped, of_stream, values};
use crate::Values;
use crate::{Engine, EngineError, RawColumn, Source, Use, read};

fn engine(n_parts: usize) -> Engine {
    Engine::new(2, Arc::default(), Arc::default()).with_parts(n_parts)
}

fn collect(engine: &Engine, streams: Vec<SendableRecordBatchStream>) -> Vec<RecordBatch> {
    try_collect(engine, streams).unwrap()
}

fn try_collect(
    engine: &Engine,
    streams: Vec<SendableRecordBatchStream>,
) -> Result<Vec<RecordBatch>, EngineError> {
    engine.runtime().block_on(async {
        let mut batches = Vec::new();
        for mut stream in streams {
            while let Some(batch) = stream.next().await {
                batches.push(batch.map_err(of_stream)?);
            }
        }
        Ok(batches)
    })
}

/// A cell as text, with a mark before values, so that nothing looks like a missing one.
fn cell(texts: &[String], code: u32) -> String {
    texts.get(code as usize).map_or_else(String::new, |text| format!("={text}"))
}

fn shown(array: &ArrayRef, row: usize) -> String {
    let array = match array.data_type() {
        DataType::Dictionary(_, values) => arrow::compute::cast(array, values).unwrap(),
        _ => Arc::clone(array),
    };
    if array.is_null(row) {
        return String::new();
    }
    let options = FormatOptions::default();
    format!("={}", ArrayFormatter::try_new(&array, &options).unwrap().value(row))
}

type Rows = BTreeMap<Vec<String>, u64>;

/// The rows that the embedded reader finds.
fn expected(engine: &Engine, source: &Source, uses: &[Use]) -> (u64, Vec<RawColumn>, Rows) {
    let table = read(engine, source, uses, false).unwrap();
    let mut kept: Vec<Vec<String>> = table.kept.columns().iter().map(|_| Vec::new()).collect();
    for batch in &table.kept.batches {
        for (cells, array) in kept.iter_mut().zip(batch) {
            cells.extend((0..array.len()).map(|row| shown(array, row)));
        }
    }
    let mut rows = Rows::new();
    for row in 0..table.n_rows {
        let (mut coded, mut kept) = (table.coded.iter(), kept.iter());
        let cell = |usage: &Use| match usage {
            Use::Code => {
                let column = coded.next().unwrap();
                Some(cell(&column.values.texts, column.codes.get(row)))
            }
            Use::Keep => Some(kept.next().unwrap()[row].clone()),
            Use::Hash | Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => None,
        };
        *rows.entry(uses.iter().filter_map(cell).collect()).or_default() += 1;
    }
    (table.n_rows as u64, table.coded, rows)
}

fn sorted(texts: &[String]) -> Vec<&String> {
    let mut texts: Vec<_> = texts.iter().collect();
    texts.sort_unstable();
    texts
}

fn same_values(found: &Values, expected: &RawColumn) {
    let RawColumn { values: expected, codes } = expected;
    let what = &expected.name;
    assert_eq!(found.name, expected.name);
    assert_eq!(found.kind, expected.kind, "{what}");
    assert_eq!(found.data_type, expected.data_type, "{what}");
    assert_eq!(found.has_missing, expected.has_missing, "{what}");
    assert_eq!(sorted(&found.texts), sorted(&expected.texts), "{what}");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for code in codes.iter() {
        *counts.entry(cell(&expected.texts, code)).or_default() += 1;
    }
    assert_eq!(found.counts.len(), found.texts.len() + usize::from(found.has_missing), "{what}");
    for (code, count) in (0u32..).zip(&found.counts) {
        assert_eq!(counts[&cell(&found.texts, code)], *count, "{what}");
    }
}

/// Asks everything about a file, with every other use of its columns.
fn agrees(path: &Path) {
    for n_parts in [1, 3, 7] {
        let engine = engine(n_parts);
        let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
        let n_columns = source.columns().len();
        for first in 0..3 {
            let usage = |at: usize| match (at + first) % 4 {
                2 => Use::Keep,
                3 => Use::Skip,
                _ if !source.columns()[at].can_be_coded() => Use::Keep,
                _ => Use::Code,
            };
            let uses: Vec<Use> = (0..n_columns).map(usage).collect();
            let with_codes: Vec<usize> =
                (0..n_columns).filter(|&at| uses[at] == Use::Code).collect();
            let (n_rows, columns, rows) = expected(&engine, &source, &uses);

            let (found_rows, found) = values(&engine, &source, &with_codes).unwrap();
            assert_eq!(found_rows, n_rows);
            assert_eq!(found.len(), columns.len());
            for (found, expected) in found.iter().zip(&columns) {
                same_values(found, expected);
            }

            let streams = coded(&engine, &source, &uses, &found).unwrap();
            assert_eq!(rows_of(&collect(&engine, streams), &uses, &found), rows);

            if with_codes.is_empty() {
                continue;
            }
            let streams = grouped(&engine, &source, &with_codes, &found).unwrap();
            let groups = groups_of(&collect(&engine, streams), &found);
            let only_coded: Vec<Use> =
                uses.iter().map(|u| if *u == Use::Code { *u } else { Use::Skip }).collect();
            assert_eq!(groups, expected_groups(&engine, &source, &only_coded));
        }
    }
}

fn expected_groups(engine: &Engine, source: &Source, uses: &[Use]) -> Rows {
    expected(engine, source, uses).2
}

fn rows_of(batches: &[RecordBatch], uses: &[Use], values: &[Values]) -> Rows {
    let mut rows = Rows::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let mut values = values.iter();
            let read = uses.iter().filter(|usage| **usage != Use::Skip);
            let cell = |(array, usage): (&ArrayRef, &Use)| match usage {
                Use::Code => cell(
                    &values.next().unwrap().texts,
                    array.as_primitive::<UInt32Type>().value(row),
                ),
                _ => shown(array, row),
            };
            *rows.entry(batch.columns().iter().zip(read).map(cell).collect()).or_default() += 1;
        }
    }
    rows
}

fn groups_of(batches: &[RecordBatch], values: &[Values]) -> Rows {
    let mut rows = Rows::new();
    for batch in batches {
        let counts = batch.column(values.len()).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let codes = batch.columns().iter().zip(values);
            let key = codes
                .map(|(array, values)| {
                    cell(&values.texts, array.as_primitive::<UInt32Type>().value(row))
                })
                .collect();
            assert!(rows.insert(key, counts.value(row)).is_none(), "a group comes once");
        }
    }
    rows
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        if self.roll(7) == 0 { None } else { Some(value(self)) }
    }

    fn many<T>(&mut self, n: usize, value: impl Fn(&mut Dice) -> T) -> Vec<Option<T>> {
        (0..n).map(|_| self.maybe(&value)).collect()
    }
}

#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "small numbers"
)]
fn table(seed: u64, n_rows: usize) -> RecordBatch {
    let mut dice = Dice(seed);
    let word = |dice: &mut Dice| {
        ["a", "", "été", "a longer text than sixteen bytes", "\"q\",\n"]
            [usize::try_from(dice.roll(5)).unwrap()]
        .to_owned()
    };
    let whole = |dice: &mut Dice| dice.roll(40) as i64 - 20;
    let small = |dice: &mut Dice| dice.roll(40) as i32 - 20;
    let float = |dice: &mut Dice| {
        [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, 1e300, -3.25]
            [usize::try_from(dice.roll(7)).unwrap()]
            + 0.0 * dice.roll(2) as f64
    };
    let n = n_rows;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(dice.many(n, word)))),
        ("large", Arc::new(LargeStringArray::from(dice.many(n, word)))),
        ("view", Arc::new(StringViewArray::from(dice.many(n, word)))),
        ("Mixed.Name", Arc::new(Int32Array::from(dice.many(n, small)))),
        ("whole", Arc::new(Int64Array::from(dice.many(n, whole)))),
        ("unsigned", Arc::new(UInt64Array::from(dice.many(n, |d| u64::MAX - d.roll(9))))),
        ("float", Arc::new(Float64Array::from(dice.many(n, float)))),
        ("flag", Arc::new(BooleanArray::from(dice.many(n, |d| d.roll(2) == 0)))),
        ("date", Arc::new(Date32Array::from(dice.many(n, |d| d.roll(30_000) as i32 - 9_000)))),
        ("second", Arc::new(TimestampSecondArray::from(dice.many(n, whole)))),
        (
            "micro",
            Arc::new(
                TimestampMicrosecondArray::from(dice.many(n, |d| d.roll(5_000_000) as i64))
                    .with_timezone("UTC"),
            ),
        ),
        ("nano", Arc::new(TimestampNanosecondArray::from(dice.many(n, whole)))),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(dice.many(n, |d| i128::from(d.roll(100_000))))
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        (
            "indexed",
            Arc::new(
                dice.many(n, word)
                    .iter()
                    .map(Option::as_deref)
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
        (
            "many",
            Arc::new(StringArray::from(dice.many(n, |d| format!("value {}", d.roll(100_000))))),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

fn write_parquet(path: &Path, batches: &[RecordBatch]) {
    let file = std::fs::File::create(path).unwrap();
    let options = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(500))
        .build();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batches[0].schema(), Some(options)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_of_every_type_is_read_as_by_the_embedded_engine() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write_parquet(&path, &[table(1, 2000), table(2, 777)]);
    agrees(&path);
}

#[test]
fn parquet_columns_that_are_required_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let columns: [(&str, ArrayRef); 3] = [
        ("word", Arc::new(StringArray::from(vec!["a", "b", "a"]))),
        ("number", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("more", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
    ];
    let columns = columns.into_iter().map(|(name, column)| (name, column, false));
    write_parquet(&path, &[RecordBatch::try_from_iter_with_nullable(columns).unwrap()]);
    agrees(&path);
}

#[test]
fn a_folder_of_parquet_files_is_one_table() {
    let dir = tempfile::tempdir().unwrap();
    for part in 0..5 {
        write_parquet(&dir.path().join(format!("{part}.parquet")), &[table(part, 300)]);
    }
    agrees(dir.path());
}

#[test]
fn arrow_files_are_read_as_by_the_embedded_engine() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.arrow");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(file, &table(1, 1).schema()).unwrap();
    // One batch: dictionaries of several would be replaced, which files cannot.
    writer.write(&table(3, 900)).unwrap();
    writer.finish().unwrap();
    agrees(&path);
}

fn csv(seed: u64, n_rows: usize) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from("a;\"b;c\";d;empty;Zip\n");
    for _ in 0..n_rows {
        let word = ["x", "\"\"", "", "\"two\nlines\"", "\"say \"\"hi\"\"; so\"", " padded "]
            [usize::try_from(dice.roll(6)).unwrap()];
        let [a, zip] = [dice.roll(50), dice.roll(100_000)];
        text.push_str(&format!(
            "{a};{word};{:.1};;{zip:05}\n",
            f64::from(u32::try_from(a).unwrap()) / 3.0
        ));
    }
    text
}

#[test]
fn csv_is_read_as_by_the_embedded_engine_compressed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let text = csv(5, 3000);
    let plain = dir.path().join("t.csv");
    std::fs::write(&plain, &text).unwrap();
    agrees(&plain);
    let zstd = dir.path().join("t.csv.zst");
    std::fs::write(&zstd, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    agrees(&zstd);
    let gzip = dir.path().join("t.csv.gz");
    let mut to = flate2::write::GzEncoder::new(
        std::fs::File::create(&gzip).unwrap(),
        flate2::Compression::fast(),
    );
    std::io::Write::write_all(&mut to, text.as_bytes()).unwrap();
    to.finish().unwrap();
    agrees(&gzip);
}

#[test]
fn csv_without_line_breaks_is_divided() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let mut text = String::from("id,b,c\n");
    for row in 0..5000 {
        text.push_str(&format!("{row},{},x\n", row % 7));
    }
    std::fs::write(&path, text).unwrap();
    agrees(&path);
    let engine = engine(4);
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    let table = super::table::SourceTable::new(&source, &[Use::Code; 3], 4).unwrap();
    let scan = engine.runtime().block_on(table.scan(&engine.session().state(), None, &[], None));
    assert_eq!(scan.unwrap().output_partitioning().partition_count(), 4);
}

#[test]
fn json_lines_are_read_as_by_the_embedded_engine() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let line = |row: i32| match row % 3 {
        0 => format!("{{\"a\": {row}, \"b\": \"x{}\", \"c\": null, \"d\": true}}\n", row % 5),
        1 => format!("{{\"a\": {row}, \"b\": \"\", \"c\": 1.5, \"e\": [1, 2]}}\n"),
        _ => "{\"b\": null}\n".to_owned(),
    };
    std::fs::write(&path, (0..1000).map(line).collect::<String>()).unwrap();
    agrees(&path);
}

#[test]
fn a_table_without_rows_has_no_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a,b\n").unwrap();
    agrees(&path);
    let nulls = dir.path().join("n.parquet");
    let batch =
        RecordBatch::try_from_iter([("n", Arc::new(NullArray::new(5)) as ArrayRef)]).unwrap();
    write_parquet(&nulls, &[batch]);
    agrees(&nulls);
}

#[test]
fn a_value_that_appears_later_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a\nred\nblue\n").unwrap();
    let engine = engine(1);
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    let (_, mut known) = values(&engine, &source, &[0]).unwrap();
    known[0].texts.retain(|text| text != "blue");
    let streams = coded(&engine, &source, &[Use::Code], &known).unwrap();
    let error = try_collect(&engine, streams).unwrap_err();
    assert!(matches!(error, EngineError::Changed { .. }), "{error}");
    // The file as a whole is watched, too.
    let (_, known) = values(&engine, &source, &[0]).unwrap();
    std::fs::write(&path, "a\nred\nblue\ngreen\n").unwrap();
    let found = coded(&engine, &source, &[Use::Code], &known)
        .and_then(|streams| try_collect(&engine, streams));
    assert!(matches!(found, Err(EngineError::Changed { .. })), "{found:?}");
    std::fs::remove_file(&path).unwrap();
    let found = coded(&engine, &source, &[Use::Code], &known)
        .and_then(|streams| try_collect(&engine, streams));
    assert!(found.is_err());
}

#[test]
fn a_cancelled_question_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a\nred\nblue\n").unwrap();
    let cancelled: Arc<AtomicBool> = Arc::default();
    let engine = Engine::new(1, Arc::clone(&cancelled), Arc::default());
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    cancelled.store(true, Ordering::Relaxed);
    assert!(matches!(values(&engine, &source, &[0]), Err(EngineError::Cancelled)));
}

#[test]
fn what_travels_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write_parquet(&path, &[table(9, 2500)]);
    let engine = engine(3);
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    let uses = vec![Use::Code; source.columns().len()];
    let table = super::table::SourceTable::new(&source, &uses, 3).unwrap();
    let sent = encoded::table(&encoded::of_table(&table).unwrap()).unwrap();
    assert_eq!(sent.schema(), table.schema());
    let columns = vec![0, 4, 13];
    let state = engine.session().state();
    let scan = engine.runtime().block_on(sent.scan(&state, Some(&columns), &[], None)).unwrap();
    let children: Vec<_> = scan.children().into_iter().cloned().collect();
    let sent = encoded::scan(&encoded::of_scan(scan.as_ref()).unwrap(), &children).unwrap();
    assert_eq!(sent.schema(), scan.schema());
    assert!(matches!(sent.schema().field(0).data_type(), DataType::Dictionary(..)));
    let n_parts = sent.output_partitioning().partition_count();
    assert_eq!(n_parts, scan.output_partitioning().partition_count());
    let streams = (0..n_parts).map(|part| sent.execute(part, engine.task()).unwrap()).collect();
    let n_rows: usize = collect(&engine, streams).iter().map(RecordBatch::num_rows).sum();
    assert_eq!(n_rows, 2500);

    let coder = super::coder::Coder::of_texts(["a", "b"].into_iter());
    let bytes = encoded::of_function(&coder).unwrap();
    assert_eq!(encoded::function("incrowd_code", &bytes).unwrap(), coder);
    let find = super::tally::find_values();
    let bytes = encoded::of_aggregate(&find).unwrap();
    assert_eq!(encoded::aggregate("incrowd_values", &bytes).unwrap(), find);
    for len in 0..bytes.len() {
        assert!(encoded::table(&bytes[..len]).is_none());
    }
}

#[test]
fn addresses() {
    let parsed = |text| Address::of_engine(text).map(|found| found.map(|a| a.to_string()));
    assert_eq!(parsed("embedded").unwrap(), None);
    assert_eq!(parsed("ballista://node-1.lan:50050").unwrap().unwrap(), "node-1.lan:50050");
    assert_eq!(parsed("ballista://[::1]:7").unwrap().unwrap(), "[::1]:7");
    for bad in [
        "",
        "ballista",
        "ballista://",
        "ballista://a",
        "ballista://:1",
        "ballista://a:0",
        "ballista://a:99999",
        "ballista://a b:1",
        "ballista://u@a:1",
        "http://a:1",
        "ballista://a:1/x",
        "ballista://::1:7",
    ] {
        assert!(matches!(parsed(bad), Err(EngineError::BadEngine { .. })), "{bad}");
    }
}

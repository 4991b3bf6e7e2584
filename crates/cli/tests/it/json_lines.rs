//! JSON lines in and out.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray,
    FixedSizeBinaryArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, Time32SecondArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::datatypes::Int32Type;
use arrow::ipc::reader::FileReader;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::harness::{Folder, PEOPLE_JOB, people};

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The release as JSON lines says what the release as CSV says, cell by cell.
#[test]
fn a_release_is_the_same_as_in_csv() {
    let folder = Folder::with(&[("people.csv", &people(2000, 10))]);
    for labels in ["range", "bounds", "mean", "range+mean"] {
        let job = format!("-k 5 {PEOPLE_JOB} --labels {labels} --force");
        folder.ok(&format!("anonymize people.csv -o r.csv {job}"));
        folder.ok(&format!("anonymize people.csv -o r.jsonl {job}"));
        let csv = folder.read("r.csv");
        let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let lines = objects(&folder.read("r.jsonl"));
        assert_eq!(lines.len(), csv.lines().count() - 1);
        let cell = |object: &Value, name: &str| match &object[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
            other => other.to_string(),
        };
        for (row, object) in csv.lines().skip(1).zip(&lines) {
            let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
            assert_eq!(keys, names, "{labels}");
            let cells: Vec<String> = names.iter().map(|name| cell(object, name)).collect();
            assert_eq!(cells.join(","), row, "{labels}");
        }
        folder.ok(&format!("anonymize people.csv -o f.jsonl --force-files 5 {job}"));
        assert_eq!(folder.read("f.jsonl"), folder.read("r.jsonl"), "{labels}");
    }
    assert!(folder.read("r.jsonl").contains("\"age_mean\":"), "means are numbers beside labels");
    folder.ok(&format!("anonymize people.csv -o b.ndjson -k 5 {PEOPLE_JOB} --labels bounds"));
    let first = &objects(&folder.read("b.ndjson"))[0];
    assert!(first["age_min"].is_i64() && first["age_max"].is_i64(), "{first}");
    folder.ok("check r.jsonl -k 5 --quasi age,sex,city,status");
}

#[test]
fn compressed_and_in_parts() {
    let folder = Folder::with(&[("people.csv", &people(3000, 11))]);
    let job = format!("-k 5 {PEOPLE_JOB}");
    folder.ok(&format!("anonymize people.csv -o whole.jsonl {job}"));
    for ending in ["jsonl.gz", "ndjson.zst", "json"] {
        folder.ok(&format!("anonymize people.csv -o r.{ending} {job}"));
        folder.ok(&format!("check r.{ending} -k 5 --quasi age,sex,city,status"));
    }
    assert_eq!(folder.read("r.json"), folder.read("whole.jsonl"));
    folder.ok(&format!("anonymize people.csv -o parts.jsonl/ {job}"));
    assert_eq!(folder.json("parts.jsonl/_manifest.json")["format"], "jsonl");
    assert_eq!(folder.read("parts.jsonl/part-00000.jsonl"), folder.read("whole.jsonl"));
    folder.ok("check parts.jsonl -k 5 --quasi age,sex,city,status");
    folder.ok("generate census -o c.jsonl --rows 500");
    folder.ok("generate census -o c.csv --rows 500");
    assert_eq!(objects(&folder.read("c.jsonl")).len(), 500);
    let job = "-k 5 --quasi age,sex --undeclared drop";
    folder.ok(&format!("anonymize c.jsonl -o j.csv {job}"));
    folder.ok(&format!("anonymize c.csv -o t.csv {job}"));
    assert_eq!(folder.read("j.csv"), folder.read("t.csv"));
}

/// Files of JSON lines have the types that their values happen to have.
#[test]
fn files_of_an_input_are_joined() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.path("parts")).unwrap();
    let to = |name: &str, lines: &[&str]| {
        std::fs::write(folder.path(name), lines.join("\n") + "\n").unwrap();
    };
    to("parts/1.jsonl", &["{\"a\":1,\"b\":null}", "{\"a\":2}"]);
    to("parts/2.jsonl", &["{\"b\":\"x\",\"a\":2.5}", "{\"b\":\"y\",\"a\":3}"]);
    to("parts/3.jsonl", &[""]);
    folder.ok("anonymize parts -o r.csv -k 2 --quasi a --sensitive b");
    assert_eq!(folder.read("r.csv").lines().count(), 5);
    to("parts/4.jsonl", &["{}"]);
    folder.fails("profile parts", 2, &["4.jsonl", "column `a` is missing"]);
    to("parts/4.jsonl", &["{\"a\":\"text\",\"b\":\"x\"}"]);
    folder.fails("profile parts", 2, &["column `a` is of type Utf8, not Float64"]);
}

/// Every row is suppressed: a file of JSON lines has no columns then, and is not published.
#[test]
fn a_release_without_rows() {
    let folder = Folder::with(&[("t.csv", "a,b\n1,x\n2,y\n"), ("one.csv", "a,b\n1,x\n")]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi a --sensitive b --recoding r.json");
    folder.ok("apply r.json one.csv -o none.csv --suppress 1");
    let args = "apply r.json one.csv -o none.jsonl --suppress 1";
    folder.fails(args, 2, &["no row is left", "write .csv"]);
}

fn every_type() -> RecordBatch {
    let lists = (0..6).map(|row| Some(vec![Some(row), None]));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x\ny", "\"", "", "ä", "\\", "z"]));
    let records = StructArray::try_from(vec![("t", Arc::clone(&texts))]).unwrap();
    let decimal = |digits| {
        let values = Decimal128Array::from_iter_values((0..6).map(|row| 150 * row));
        Arc::new(values.with_precision_and_scale(digits, 2).unwrap())
    };
    let seconds = TimestampMicrosecondArray::from_iter_values((0..6).map(|row| row * 1_000_001));
    let bytes = FixedSizeBinaryArray::try_from_iter((0..6u8).map(|row| [254, row])).unwrap();
    let columns: [(&str, ArrayRef); 15] = [
        ("q", Arc::new(StringArray::from(vec!["a"; 6]))),
        ("text", texts),
        ("number", Arc::new(Float64Array::from(vec![1.0, -0.5, 1e300, 0.1, 2.0, 3.0]))),
        ("truth", Arc::new(BooleanArray::from(vec![true, false, true, true, false, true]))),
        ("day", Arc::new(Date32Array::from_iter_values(0..6))),
        ("at", Arc::new(seconds.with_timezone("+00:00"))),
        ("short", decimal(10)),
        ("long", decimal(30)),
        ("lists", Arc::new(lists)),
        ("records", Arc::new(records)),
        ("time32", Arc::new(Time32SecondArray::from_iter_values(0..6))),
        ("time64", Arc::new(Time64MicrosecondArray::from_iter_values(0..6))),
        ("lasts", Arc::new(DurationMicrosecondArray::from_iter_values((0..6).map(|row| row * 7)))),
        ("bytes", Arc::new(BinaryArray::from_iter_values((0..6u8).map(|row| [255, row])))),
        ("fixed", Arc::new(bytes)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(folder: &Folder, name: &str, batch: &RecordBatch) {
    let file = std::fs::File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// What is released as it is has the values and the types that it had, in every format that can
/// hold them.
#[test]
fn every_type_leaves_as_it_came() {
    let folder = Folder::with(&[]);
    let batch = every_type();
    write(&folder, "t.parquet", &batch);
    let names: Vec<String> =
        batch.schema().fields().iter().skip(1).map(|field| field.name().clone()).collect();
    let job = format!("-k 2 --quasi q --insensitive {}", names.join(","));
    for way in ["", "--force-files 2"] {
        folder.ok(&format!("anonymize t.parquet -o r.parquet --force {job} {way}"));
        folder.ok(&format!("anonymize t.parquet -o r.arrow --force {job} {way}"));
        let file = || std::fs::File::open(folder.path("r.parquet")).unwrap();
        let parquet = ParquetRecordBatchReaderBuilder::try_new(file()).unwrap().build().unwrap();
        let parquet = parquet.last().unwrap().unwrap();
        let file = std::fs::File::open(folder.path("r.arrow")).unwrap();
        let arrow = FileReader::try_new(file, None).unwrap().last().unwrap().unwrap();
        for release in [parquet, arrow] {
            assert_eq!(release.num_rows(), 6);
            for name in &names {
                let [is, was] = [&release, &batch].map(|rows| rows.column_by_name(name).unwrap());
                // Parquet has no seconds of a day.
                if name != "time32" {
                    assert_eq!(is.data_type(), was.data_type(), "{name}");
                }
                let shown = |array: &ArrayRef| -> Vec<String> {
                    let form = arrow::util::display::FormatOptions::default();
                    let form = arrow::util::display::ArrayFormatter::try_new(array, &form).unwrap();
                    let mut all: Vec<String> =
                        (0..array.len()).map(|row| form.value(row).to_string()).collect();
                    all.sort();
                    all
                };
                assert_eq!(shown(is), shown(was), "{name}");
            }
        }
    }
    let job = job.replace(",bytes,fixed", " --identifier bytes,fixed");
    folder.ok(&format!("anonymize t.parquet -o r.jsonl {job}"));
    let lines = objects(&folder.read("r.jsonl"));
    let of = |name: &str| -> Vec<Value> {
        lines.iter().map(|line| line[name].clone()).filter(|value| !value.is_null()).collect()
    };
    assert!(of("truth").iter().all(Value::is_boolean) && of("number").iter().all(Value::is_f64));
    assert!(of("short").iter().all(Value::is_number) && of("long").iter().all(Value::is_string));
    assert!(of("lists").contains(&json!([3, null])), "{:?}", of("lists"));
    assert!(of("records").contains(&json!({ "t": "x\ny" })));
    assert!(of("day").contains(&json!("1970-01-03")));
    assert!(of("at").contains(&json!("1970-01-01T00:00:01.000001Z")), "{:?}", of("at"));
    assert!(of("time32").contains(&json!("00:00:05")));
    // Bytes that are no text have no form in text.
    let job = "-k 2 --quasi q --insensitive bytes --undeclared drop";
    folder.fails(
        &format!("anonymize t.parquet -o b.jsonl {job}"),
        2,
        &["column `bytes` holds bytes that are not UTF-8 text, which JSON lines cannot hold"],
    );
}

/// Numbers that JSON lines cannot bring back are refused, not changed.
#[test]
fn numbers_that_would_not_come_back() {
    let folder = Folder::with(&[]);
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN, f64::INFINITY]));
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 1, 2]));
    let q: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 1]));
    let batch = RecordBatch::try_from_iter([("q", q), ("x", numbers), ("u", large)]).unwrap();
    write(&folder, "t.parquet", &batch);
    let job = "anonymize t.parquet -o r.jsonl -k 2 --quasi q --undeclared drop --insensitive";
    folder.fails(&format!("{job} x"), 2, &["cells of column `x` would not come back"]);
    // Digits are digits, however many.
    folder.ok(&format!("{job} u"));
    assert!(folder.read("r.jsonl").contains("18446744073709551615"));
}

/// What cannot be grouped says what it is, and what can be done about it.
#[test]
fn types_that_cannot_be_recoded() {
    let folder = Folder::with(&[]);
    write(&folder, "t.parquet", &every_type());
    for (column, holds) in [
        ("time64", "times of day"),
        ("lasts", "durations"),
        ("bytes", "bytes"),
        ("fixed", "bytes"),
        ("lists", "lists"),
        ("records", "records"),
    ] {
        folder.fails(
            &format!("anonymize t.parquet -o r.csv -k 2 --quasi q,{column} --undeclared drop"),
            2,
            &[&format!("column `{column}` holds {holds}"), "help: declare it insensitive"],
        );
        let ended = folder.ok("profile t.parquet");
        assert!(ended.stdout.contains(&format!("it holds {holds}")), "{}", ended.stdout);
    }
}

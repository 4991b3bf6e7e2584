//! Files that pandas wrote: ordered categoricals, its row index, partitions without rows.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int64Array, NullArray, RecordBatch, StringArray, StringDictionaryBuilder,
};
use arrow::datatypes::{Int8Type, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::harness::{Folder, people};

const PARQUET: &[u8] = include_bytes!("data/pandas.parquet");
const ARROW: &[u8] = include_bytes!("data/pandas.arrow");
const JOB: &str = "-k 8 --quasi age,education --sensitive disease";
/// The same order, declared.
const ORDERED: &str = "[columns]\nage = { role = \"quasi\" }\n\
    education = { role = \"quasi\", order = [\"Kindergarten\", \"Primary\", \"Secondary\", \"Bachelors\", \"Doctorate\"] }\n\
    disease = { role = \"sensitive\" }\n[privacy]\nk = 8\n";

fn pandas() -> Folder {
    let folder = Folder::with(&[("ordered.toml", ORDERED)]);
    std::fs::write(folder.path("t.parquet"), PARQUET).unwrap();
    std::fs::write(folder.path("t.arrow"), ARROW).unwrap();
    folder
}

#[test]
fn an_ordered_categorical_is_an_order() {
    let folder = pandas();
    folder.ok("anonymize --job ordered.toml t.parquet -o declared.csv --report declared.json");
    let release = folder.read("declared.csv");
    assert!(release.contains("-Doctorate]") || release.contains("-Bachelors]"), "{release}");
    for (ending, way) in [("parquet", ""), ("arrow", ""), ("parquet", "--force-files 4")] {
        folder.ok(&format!("anonymize t.{ending} -o r.csv --report r.json --force {JOB} {way}"));
        assert_eq!(folder.read("r.csv"), release, "{ending} {way}");
        let loss = |name: &str| folder.json(name)["measures"]["loss"].clone();
        assert_eq!(loss("r.json"), loss("declared.json"));
    }
    // What the job declares wins; as text of no order the values make sets.
    let other = ORDERED.replace("\"Kindergarten\", ", "").replace(
        "\"Primary\", \"Secondary\", \"Bachelors\", \"Doctorate\"",
        "\"Doctorate\", \"Primary\", \"Bachelors\", \"Secondary\"",
    );
    std::fs::write(folder.path("other.toml"), other).unwrap();
    folder.ok("anonymize --job other.toml t.parquet -o other.csv");
    assert_ne!(folder.read("other.csv"), release);
    let text = format!("{JOB} --undeclared error");
    std::fs::write(folder.path("text.toml"), "[columns]\neducation = { type = \"text\" }\n")
        .unwrap();
    folder.ok(&format!("anonymize --job text.toml t.parquet -o text.csv {text}"));
    assert!(!folder.read("text.csv").contains("[Primary"), "{}", folder.read("text.csv"));
}

#[test]
fn the_order_goes_with_the_recoding() {
    let folder = pandas();
    folder.ok(&format!("anonymize t.parquet -o r.csv --recoding r.json {JOB}"));
    folder.ok("apply r.json t.parquet -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
}

/// The distance of an ordered column is another one than that of an unordered one, in the release,
/// too.
#[test]
fn closeness_goes_by_the_order_in_every_format() {
    let folder = pandas();
    let job = "-k 4 --quasi age --sensitive education --insensitive disease --t-closeness 0.45";
    let mut found = Vec::new();
    for ending in ["parquet", "arrow", "csv", "jsonl"] {
        folder.ok(&format!("anonymize t.parquet -o r.{ending} --report {ending}.json {job}"));
        found.push(folder.json(&format!("{ending}.json"))["privacy"][0]["sensitive"].clone());
    }
    assert!(found.iter().all(|other| *other == found[0]), "{found:#?}");
}

#[test]
fn the_row_index_of_pandas_needs_no_role() {
    let folder = pandas();
    let ended = folder.ok(&format!("anonymize t.parquet -o r.csv {JOB}"));
    assert!(ended.stderr.contains("note: column `__index_level_0__` is a row index"));
    assert_eq!(folder.read("r.csv").lines().next(), Some("age,education,disease"));
    let ended = folder.ok("profile t.parquet --job-file job.toml");
    assert!(ended.stdout.contains("a row index that pandas added"), "{}", ended.stdout);
    assert!(!folder.read("job.toml").contains("__index"));
    // Whoever declares it means it.
    let job = "-k 8 --quasi age --sensitive disease --insensitive education,__index_level_0__";
    let ended = folder.ok(&format!("anonymize t.parquet -o i.csv {job}"));
    assert!(folder.read("i.csv").starts_with("age,education,disease,__index_level_0__\n"));
    assert!(!ended.stderr.contains("note:"), "{}", ended.stderr);
}

fn write(path: &Path, batch: &RecordBatch, schema: &Arc<Schema>, writer: &str) {
    let file = std::fs::File::create(path).unwrap();
    let properties = WriterProperties::builder().set_created_by(writer.to_owned()).build();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties)).unwrap();
    if batch.num_rows() > 0 {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
}

/// A table of values that are said to be ordered. A Rust writer puts values into the dictionary
/// page as they come up.
fn ordered(values: &[&str]) -> (RecordBatch, Arc<Schema>) {
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    for value in values {
        dictionary.append_value(value);
    }
    let column: ArrayRef = Arc::new(dictionary.finish());
    let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    let field = batch.schema().field(0).clone().with_dict_is_ordered(true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec()).unwrap();
    (batch, schema)
}

#[test]
fn an_order_that_the_files_do_not_tell() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.path("parts")).unwrap();
    let (up, schema) = ordered(&["x", "y", "z", "x", "y", "z"]);
    let (down, _) = ordered(&["z", "y", "x", "z", "y", "x"]);
    write(&folder.path("t.parquet"), &up, &schema, "parquet-rs");
    write(&folder.path("parts/1.parquet"), &up, &schema, "parquet-cpp-arrow version 1");
    write(&folder.path("parts/2.parquet"), &down, &schema, "parquet-cpp-arrow version 1");
    write(&folder.path("parts/3.parquet"), &up, &schema, "parquet-cpp-arrow version 1");
    for (input, why) in [("t.parquet", "does not say which"), ("parts", "differ in it")] {
        let ended = folder.ok(&format!("anonymize {input} -o r.csv --force -k 4 --quasi a"));
        assert!(ended.stderr.contains("note: the values of column `a`"), "{}", ended.stderr);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
        assert!(!folder.read("r.csv").contains('['));
    }
    let ended = folder.ok("anonymize parts/1.parquet -o one.csv -k 3 --quasi a");
    assert!(!ended.stderr.contains("note:"), "{}", ended.stderr);
    assert!(folder.read("one.csv").contains("[x-z]"), "{}", folder.read("one.csv"));
}

#[test]
fn partitions_without_rows() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.path("parts")).unwrap();
    let numbers: ArrayRef = Arc::new((0..40).map(|row| row % 4).collect::<Int64Array>());
    let text = |row: usize| ["x", "y", "z"][row % 3];
    let texts: ArrayRef = Arc::new((0..40).map(text).map(Some).collect::<StringArray>());
    let whole = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
    let none = whole.slice(0, 0);
    // A column of texts without a row has no type in pandas.
    let untyped: ArrayRef = Arc::new(NullArray::new(0));
    let untyped =
        RecordBatch::try_from_iter([("n", Arc::clone(none.column(0))), ("t", untyped)]).unwrap();
    let to = |name: &str, batch: &RecordBatch| {
        write(&folder.path(name), batch, &batch.schema(), "parquet-rs");
    };
    to("whole.parquet", &whole);
    to("parts/0.parquet", &untyped);
    to("parts/1.parquet", &whole.slice(0, 25));
    to("parts/2.parquet", &none);
    to("parts/3.parquet", &whole.slice(25, 15));
    let job = "-k 5 --quasi n --sensitive t";
    for way in ["", "--force-files 3", "--memory-limit 200MB"] {
        for (input, output) in [("whole.parquet", "a.csv"), ("parts", "b.csv")] {
            folder.ok(&format!("anonymize {input} -o {output} --force {job} {way}"));
        }
        assert_eq!(folder.read("a.csv"), folder.read("b.csv"), "{way}");
    }
    to(
        "parts/4.parquet",
        &RecordBatch::try_from_iter([("n", Arc::clone(none.column(0)))]).unwrap(),
    );
    folder.fails("profile parts", 2, &["4.parquet", "column `t` is missing"]);
    to("none.parquet", &none);
    folder.fails(&format!("anonymize none.parquet -o c.csv {job}"), 1, &["the table has no rows"]);
}

#[test]
fn partitions_of_text_without_rows() {
    let table = people(300, 3);
    let header = table.split_once('\n').unwrap().0;
    let folder = Folder::with(&[("whole.csv", &table)]);
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::write(folder.path("parts/0.csv"), format!("{header}\n")).unwrap();
    std::fs::write(folder.path("parts/1.csv"), &table).unwrap();
    let job = "-k 5 --quasi age,sex --undeclared drop";
    folder.ok(&format!("anonymize whole.csv -o a.csv {job}"));
    folder.ok(&format!("anonymize parts -o b.csv {job}"));
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    // A text file without its header may have been cut short.
    std::fs::write(folder.path("parts/2.csv"), "").unwrap();
    folder.fails("profile parts", 2, &["2.csv", "must start with a header"]);
}

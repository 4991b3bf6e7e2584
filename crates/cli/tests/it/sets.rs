//! Sets of texts in Parquet and Arrow: lists of strings with `--labels bounds`.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;
use arrow::ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::harness::{Folder, PEOPLE_JOB, people, rows};

fn batch(path: &Path) -> RecordBatch {
    let file = File::open(path).unwrap();
    let batches: Vec<RecordBatch> = if path.extension().unwrap() == "parquet" {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    } else {
        FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
    };
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// The cells of a column of lists as CSV has them; no value of the table needs a backslash.
fn labels(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap();
    assert_eq!(column.data_type(), &DataType::new_list(DataType::Utf8, true), "{name}");
    let lists = column.as_list::<i32>();
    let label = |row: usize| {
        if lists.is_null(row) {
            return "*".to_owned();
        }
        let list = lists.value(row);
        let members: Vec<Option<&str>> = list.as_string::<i32>().iter().collect();
        assert!(members.is_sorted() && !members.is_empty(), "{members:?}");
        let texts: Vec<&str> = members.iter().map(|member| member.unwrap_or_default()).collect();
        if let [one] = &texts[..] { (*one).to_owned() } else { format!("{{{}}}", texts.join("|")) }
    };
    (0..lists.len()).map(label).collect()
}

#[track_caller]
fn json(folder: &Folder, args: &str) -> Value {
    serde_json::from_str(&folder.ok(args).stdout).unwrap()
}

#[track_caller]
fn check_lists(folder: &Folder, name: &str, csv: &str) {
    let found = batch(&folder.path(name));
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for column in ["sex", "city", "status"] {
        let at = header.iter().position(|name| *name == column).unwrap();
        let expected: Vec<&str> = rows(csv).iter().map(|row| row[at]).collect();
        assert_eq!(labels(&found, column), expected, "{column} of {name}");
    }
}

#[test]
fn sets_are_lists_of_strings() {
    let folder = Folder::with(&[("t.csv", &people(2000, 10))]);
    for more in ["", "--relaxed", "--algorithm hill-climb"] {
        let job = format!("-k 5 {PEOPLE_JOB} --labels bounds --force {more}");
        folder.ok(&format!("anonymize t.csv -o r.csv {job}"));
        let csv = folder.read("r.csv");
        for ending in ["parquet", "arrow"] {
            let release = format!("r.{ending}");
            folder.ok(&format!("anonymize t.csv -o {release} {job}"));
            check_lists(&folder, &release, &csv);
            folder.ok(&format!("anonymize t.csv -o f.{ending} --force-files 5 {job}"));
            let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
            assert!(bytes(&format!("f.{ending}")) == bytes(&release), "{ending} {more}");
        }
        folder.ok(&format!("anonymize t.csv -o parts.parquet/ {job}"));
        check_lists(&folder, "parts.parquet/part-00000.parquet", &csv);
        std::fs::remove_dir_all(folder.path("parts.parquet")).unwrap();
    }
}

/// Whatever reads a release finds the same in lists as in labels.
#[test]
fn lists_are_read_as_labels() {
    let folder = Folder::with(&[("t.csv", &people(1500, 3)), ("new.csv", &people(400, 4))]);
    let job = format!("-k 7 {PEOPLE_JOB} --labels bounds");
    folder.ok(&format!("anonymize t.csv -o r.csv {job} --recoding r.json"));
    folder.ok("apply r.json new.csv -o n.csv --suppress 100%");
    let check = "-k 7 --quasi age_min,age_max,sex,city,status --sensitive diagnosis --json";
    let answers = |release: &str| {
        let checked = json(&folder, &format!("check {release} {check}"));
        let in_files = json(&folder, &format!("check {release} {check} --force-files 1"));
        let figures = ["release", "privacy", "risk", "measures"];
        let figures = |report: &Value| figures.map(|key| report[key].clone());
        assert_eq!(figures(&checked), figures(&in_files), "{release}");
        let mut answers = figures(&checked).to_vec();
        for known in ["", "--recoding r.json", "--recoding r.json --original t.csv"] {
            for sql in [
                "SELECT COUNT(*)",
                "SELECT COUNT(*) WHERE city = 'city3' AND sex = 'f'",
                "SELECT COUNT(*) WHERE status IS NULL",
                "SELECT AVG(age) WHERE status IN ('single', 'widowed')",
            ] {
                let mut command = folder.command(&format!("query {release} {known} --json"));
                let output = command.arg(sql).output().unwrap();
                assert!(output.status.success(), "{release} {known}: {sql}");
                let found: Value = serde_json::from_slice(&output.stdout).unwrap();
                answers.push(found["queries"].clone());
            }
        }
        for known in ["", "--recoding r.json", "--recoding r.json --before t.csv"] {
            let on = "--on age,sex,city,status";
            let args = format!("attack {release} --with new.csv {on} {known} --json");
            let mut found = json(&folder, &args);
            let found = found.as_object_mut().unwrap();
            found.retain(|key, _| key != "elapsed_s" && key != "release");
            answers.push(Value::Object(found.clone()));
        }
        answers
    };
    let expected = answers("r.csv");
    let csv = folder.read("n.csv");
    let starred = "--suppress 100% --suppressed star";
    folder.ok(&format!("apply r.json new.csv -o s.csv {starred}"));
    let stars = folder.read("s.csv");
    assert!(stars.contains("\n*,*,*,*,*,"), "{stars}");
    for ending in ["parquet", "arrow"] {
        folder.ok(&format!("anonymize t.csv -o r.{ending} {job}"));
        assert_eq!(answers(&format!("r.{ending}")), expected, "{ending}");
        folder.ok(&format!("apply r.json new.csv -o n.{ending} --suppress 100%"));
        check_lists(&folder, &format!("n.{ending}"), &csv);
        folder.ok(&format!("apply r.json new.csv -o s.{ending} {starred}"));
        check_lists(&folder, &format!("s.{ending}"), &stars);
        // Two releases, both with lists.
        let linked = |a: &str, b: &str| {
            json(&folder, &format!("attack {a} --with {b} --on age,sex,city,status --json"))
        };
        let (lists, texts) =
            (linked(&format!("r.{ending}"), &format!("n.{ending}")), linked("r.csv", "n.csv"));
        assert_eq!(lists["candidates"], texts["candidates"], "{ending}");
    }
}

/// Values that look like labels have no backslash in a list, and are the same values when it is
/// read.
#[test]
fn lists_hold_values_as_they_are() {
    let table = "g,i\n*,1\n{a|b},2\na|b,3\n\\x,4\n*,5\n[1-2],6\n,7\n[1-2],8\n,9\n";
    let folder = Folder::with(&[("t.csv", table)]);
    let job = "-k 2 --quasi g --insensitive i --labels bounds";
    folder.ok(&format!("anonymize t.csv -o r.csv {job}"));
    let check = "--quasi g --json";
    let expected = json(&folder, &format!("check r.csv {check}"));
    assert!(folder.read("r.csv").contains(r"\*"), "{}", folder.read("r.csv"));
    for ending in ["parquet", "arrow"] {
        folder.ok(&format!("anonymize t.csv -o r.{ending} {job}"));
        let found = batch(&folder.path(&format!("r.{ending}")));
        let lists = found.column(0).as_list::<i32>().values().clone();
        let mut values: Vec<Option<&str>> = lists.as_string::<i32>().iter().collect();
        values.sort_unstable();
        values.dedup();
        let all = ["*", "[1-2]", "\\x", "a|b", "{a|b}"];
        assert!(values.iter().flatten().all(|value| all.contains(value)), "{values:?}");
        assert!(values.contains(&Some("*")) && values.contains(&None), "{values:?}");
        let checked = json(&folder, &format!("check r.{ending} {check}"));
        assert_eq!(checked["privacy"], expected["privacy"], "{ending}");
        assert_eq!(checked["risk"], expected["risk"], "{ending}");
    }
}

/// A table that is to be released has no sets, and a column with a hierarchy has names.
#[test]
fn what_stays_as_it_is() {
    let folder = Folder::with(&[
        ("t.csv", &people(200, 5)),
        ("sex.csv", "f;any\nm;any\n"),
        ("p.csv", "g,i\na,1\nb,2\nc,3\nd,4\n"),
    ]);
    folder.ok("anonymize p.csv -o p.parquet -k 2 --quasi g --insensitive i --labels bounds");
    folder.fails(
        "anonymize p.parquet -o q.csv -k 2 --quasi g --insensitive i",
        2,
        &["`g`", "lists"],
    );
    folder.fails("check p.parquet --quasi i --sensitive g", 2, &["`g`", "lists"]);
    let job = "-k 5 --quasi sex,city --undeclared drop --hierarchy sex=sex.csv";
    folder.ok(&format!("anonymize t.csv -o r.parquet {job} --labels bounds"));
    let found = batch(&folder.path("r.parquet"));
    assert_eq!(found.column_by_name("sex").unwrap().data_type(), &DataType::Utf8);
    folder.ok(&format!("anonymize t.csv -o s.parquet {job}"));
    let found = batch(&folder.path("s.parquet"));
    assert_eq!(found.column_by_name("city").unwrap().data_type(), &DataType::Utf8);
}

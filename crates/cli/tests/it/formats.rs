//! Formats in and out.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, NullArray, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, people};

/// The patients' release, whatever the table was written as.
#[track_caller]
fn check_csv(name: &str, bytes: &[u8]) {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    std::fs::write(folder.path(name), bytes).unwrap();
    folder.ok(&format!("anonymize patients.csv -o expected.csv {PATIENTS_JOB}"));
    folder.ok(&format!("anonymize {name} -o found.csv {PATIENTS_JOB}"));
    assert_eq!(folder.read("found.csv"), folder.read("expected.csv"), "{name}");
}

#[test]
fn dialects_of_csv() {
    check_csv("semicolon.csv", PATIENTS.replace(',', ";").as_bytes());
    check_csv("tab.tsv", PATIENTS.replace(',', "\t").as_bytes());
    check_csv("pipe.txt", PATIENTS.replace(',', "|").as_bytes());
    check_csv("crlf.csv", PATIENTS.replace('\n', "\r\n").as_bytes());
    check_csv("bom.csv", format!("\u{feff}{PATIENTS}").as_bytes());
    check_csv("quoted.csv", PATIENTS.replace("Male", "\"Male\"").as_bytes());
    check_csv("noend.csv", PATIENTS.trim_end().as_bytes());
}

#[test]
fn compressed_text() {
    let gzip = Folder::with(&[("patients.csv", PATIENTS)]);
    gzip.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    for ending in ["gz", "zst"] {
        gzip.ok(&format!("anonymize patients.csv -o r.csv.{ending} {PATIENTS_JOB}"));
        gzip.ok(&format!("check r.csv.{ending} -k 2 --quasi age,sex,zipcode"));
    }
}

#[test]
fn quotes_and_line_breaks_survive() {
    let mut table = String::from("age,note\n");
    for row in 0..2000 {
        table.push_str(&format!("{},\"a \"\"quoted\"\"\nnote, with {row}\"\n", 20 + row % 10));
    }
    let folder = Folder::with(&[("t.csv", &table)]);
    folder.ok("anonymize t.csv -o r.csv -k 5 --quasi age --insensitive note");
    let release = folder.read("r.csv");
    assert_eq!(release.matches("a \"\"quoted\"\"\nnote, with ").count(), 2000);
    let mut notes: Vec<&str> = release.split("note, with ").skip(1).collect();
    notes.sort_unstable();
    notes.dedup();
    assert_eq!(notes.len(), 2000, "no row is lost or doubled");
}

/// A timestamp needs no seconds in a text file; columnar files have them all the same.
#[test]
fn timestamps_without_seconds_keep_their_values() {
    let table = "age,seen,left\n30,2024-10-28T16:30,2024-10-28 17:30\n\
        31,2024-07-25T18:30:07.25,2024-07-25 18:31:00\n";
    let folder = Folder::with(&[("t.csv", table)]);
    for ending in ["parquet", "arrow"] {
        let job = "-k 2 --quasi age --sensitive seen --insensitive left";
        folder.ok(&format!("anonymize t.csv -o r.{ending} {job}"));
        folder.ok(&format!(
            "anonymize r.{ending} -o {ending}.csv -k 2 --quasi age --insensitive seen,left"
        ));
        // Labels are values of the table that is read.
        let expected = "age,seen,left\n\
            \\[30-31],2024-07-25T18:30:07.250,2024-07-25T18:31:00\n\
            \\[30-31],2024-10-28T16:30:00,2024-10-28T17:30:00\n";
        assert_eq!(folder.read(&format!("{ending}.csv")), expected, "{ending}");
        // As bounds, which are timestamps too.
        folder.ok(&format!(
            "anonymize t.csv -o b.{ending} -k 2 --quasi seen --labels bounds --identifier age,left"
        ));
        folder
            .ok(&format!("anonymize b.{ending} -o b-{ending}.csv -k 2 --quasi seen_min,seen_max"));
        let bounds = folder.read(&format!("b-{ending}.csv"));
        assert!(bounds.contains("2024-07-25T18:30:07.250,2024-10-28T16:30:00"), "{bounds}");
    }
}

#[test]
fn a_leading_zero_anywhere_makes_text() {
    let folder = Folder::with(&[("t.csv", "zip\n02174\n02237\n53711\n53712\n")]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi zip");
    assert_eq!(
        folder.read("r.csv"),
        "zip\n{02174|02237}\n{02174|02237}\n{53711|53712}\n{53711|53712}\n"
    );
}

#[test]
fn parquet_arrow_and_json_lines() {
    let folder = Folder::with(&[("people.csv", &people(2000, 10))]);
    let job = format!("-k 5 {PEOPLE_JOB}");
    folder.ok(&format!("anonymize people.csv -o expected.csv {job}"));
    // With a column for every row, each table is its own release, in other formats.
    let plain = "-k 2 --quasi sex --insensitive age,city,status,diagnosis,note";
    for ending in ["parquet", "arrow"] {
        folder.ok(&format!("anonymize people.csv -o people.{ending} {plain}"));
        folder.ok(&format!("anonymize people.{ending} -o {ending}.csv {job}"));
        assert_eq!(folder.read(&format!("{ending}.csv")), folder.read("expected.csv"), "{ending}");
        folder.ok(&format!("anonymize people.{ending} -o again.{ending} {job}"));
        folder.ok(&format!("check again.{ending} -k 5 --quasi age,sex,city,status"));
    }
    let mut lines = String::new();
    for line in people(2000, 10).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let status =
            if cells[3].is_empty() { "null".to_owned() } else { format!("\"{}\"", cells[3]) };
        lines.push_str(&format!(
            "{{\"age\":{},\"sex\":\"{}\",\"city\":\"{}\",\"status\":{status},\"diagnosis\":\"{}\",\"note\":\"{}\"}}\n",
            cells[0], cells[1], cells[2], cells[4], cells[5]
        ));
    }
    std::fs::write(folder.path("people.jsonl"), lines).unwrap();
    folder.ok(&format!("anonymize people.jsonl -o json.csv {job}"));
    assert_eq!(folder.read("json.csv"), folder.read("expected.csv"), "JSON lines");
}

#[test]
fn folders_and_globs() {
    let table = people(1000, 11);
    let (header, rows) = table.split_once('\n').unwrap();
    let (first, second) = rows.split_at(rows[..rows.len() / 2].rfind('\n').unwrap() + 1);
    let folder = Folder::with(&[("whole.csv", &table)]);
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::write(folder.path("parts/1.csv"), format!("{header}\n{first}")).unwrap();
    std::fs::write(folder.path("parts/2.csv"), format!("{header}\n{second}")).unwrap();
    for (input, output) in [("whole.csv", "a.csv"), ("parts", "b.csv"), ("parts/*.csv", "c.csv")] {
        folder.ok(&format!("anonymize {input} -o {output} -k 5 {PEOPLE_JOB}"));
    }
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    assert_eq!(folder.read("a.csv"), folder.read("c.csv"));
    let mut file = std::fs::File::create(folder.path("parts/3.csv")).unwrap();
    file.write_all(b"other,header\n1,2\n").unwrap();
    folder.fails("profile parts", 2, &["3.csv", "header is another one"]);
    folder.fails("profile nothing/*.csv", 2, &["nothing/*.csv"]);
}

#[test]
fn dates_are_ordered_and_ranges_read_well() {
    let table = "born,when\n2024-02-11,2024-01-03T10:00:00\n2024-01-03,2024-01-03T11:30:00\n\
                 1999-12-31,2025-01-03T10:00:00\n1998-05-05,2025-02-03T10:00:00\n";
    let folder = Folder::with(&[("t.csv", table)]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi born,when");
    let release = folder.read("r.csv");
    assert!(
        release.contains("[2024-01-03..2024-02-11],[2024-01-03T10:00:00..2024-01-03T11:30:00]"),
        "{release}"
    );
}

#[test]
fn paths_may_go_up_and_down() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.ok(&format!("anonymize sub/../patients.csv -o sub/../r.csv {PATIENTS_JOB}"));
    folder.ok("check sub/../r.csv -k 2 --quasi age,sex,zipcode");
}

#[test]
fn numbers_beyond_a_float_are_not_mixed_up() {
    let folder = Folder::with(&[("t.csv", "a\n9223372036854775808\n9223372036854775809\n")]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi a");
    assert!(folder.read("r.csv").contains("[9223372036854775808-9223372036854775809]"));
}

#[test]
fn very_large_sets_are_released_as_anything() {
    let rows: Vec<String> = (0..600).map(|row| format!("text {row:03}")).collect();
    let folder = Folder::with(&[("t.csv", &format!("t\n{}\n", rows.join("\n")))]);
    folder.ok("anonymize t.csv -o r.csv -k 300 --quasi t --report r.json");
    assert_eq!(folder.read("r.csv").lines().filter(|line| *line == "*").count(), 600);
    assert_eq!(folder.json("r.json")["measures"]["loss"], 1.0);
}

/// Values at the ends of what their types hold leave as they came, or are refused by what is wrong.
#[test]
fn values_at_the_ends_of_their_types() {
    let n = 6usize;
    let texts = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text; n])) };
    let first_times = (0..6).map(|at| i64::MIN + 1 + at);
    // The years 1600 to 1605.
    let long_ago = (0..6).map(|at| -11_676_096_000_000_000 + at * 31_622_400_000_000);
    let columns: [(&str, ArrayRef); 7] = [
        ("q", texts("a")),
        ("nothing", Arc::new(NullArray::new(n))),
        ("unsigned", Arc::new(UInt64Array::from_iter_values((0..6).map(|at| (1 << 63) + at)))),
        ("first", Arc::new(TimestampNanosecondArray::from_iter_values(first_times))),
        ("old", Arc::new(TimestampMicrosecondArray::from_iter_values(long_ago))),
        ("nul", texts("a\0b")),
        ("bytes", Arc::new(BinaryArray::from_iter_values([[0xff, 0xfe]; 6]))),
    ];
    let folder = Folder::with(&[]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(folder.path("t.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for column in ["nothing", "unsigned", "first", "old", "nul"] {
        for (ending, roles) in [
            ("parquet", format!("--quasi q --sensitive {column}")),
            ("arrow", format!("--quasi q --insensitive {column}")),
            ("csv", format!("--quasi q,{column}")),
        ] {
            let job =
                format!("anonymize t.parquet -o r.{ending} --force -k 2 {roles} --undeclared drop");
            if (column, ending) == ("nul", "csv") {
                folder.fails(&job, 2, &["a text holds a NUL character", ".parquet or .arrow"]);
            } else {
                folder.ok(&job);
            }
        }
    }
    let job = "-k 2 --quasi q --insensitive bytes --undeclared drop";
    folder.ok(&format!("anonymize t.parquet -o bytes.parquet {job}"));
    folder.fails(
        &format!("anonymize t.parquet -o bytes.csv {job}"),
        2,
        &[
            "column `bytes` holds bytes that are not UTF-8 text, which CSV cannot hold",
            ".parquet or .arrow",
        ],
    );
}

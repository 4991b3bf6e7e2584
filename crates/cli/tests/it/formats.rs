//! Formats in and out.

use std::io::Write;

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
        release.contains("[2024-01-03-2024-02-11],[2024-01-03T10:00:00-2024-01-03T11:30:00]"),
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

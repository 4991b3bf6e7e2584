//! Single-dimensional recoding from the command line: intervals of every column.

use std::collections::BTreeMap;

use crate::harness::{Folder, PEOPLE_JOB, classes, people, rows};

#[test]
fn every_value_has_one_label() {
    let folder = Folder::with(&[("people.csv", &people(400, 3))]);
    for (algorithm, suppress) in
        [("single-dimensional", "0"), ("hill-climb", "0"), ("hill-climb", "5%")]
    {
        folder.ok(&format!(
            "anonymize people.csv -o r.csv --force -k 4 {PEOPLE_JOB} --algorithm {algorithm} --suppress {suppress} \
             --report r.json --recoding map.json --measure discernibility"
        ));
        let report = folder.json("r.json");
        assert_eq!(report["recoding"]["kind"], "single-dimensional");
        assert_eq!(report["search"]["algorithm"], algorithm);
        assert_eq!(report["search"]["optimal"], false);
        assert_eq!(report["search"]["cost"], report["measures"]["discernibility"]);
        let release = folder.read("r.csv");
        assert!(classes(&release, 4).values().all(|rows| *rows >= 4));
        // Rows are told apart by their note.
        let original = folder.read("people.csv");
        let before: BTreeMap<&str, Vec<&str>> =
            rows(&original).into_iter().map(|row| (row[5], row)).collect();
        let mut label_of: BTreeMap<(usize, &str), &str> = BTreeMap::new();
        for row in rows(&release) {
            for column in 0..4 {
                let value = before[row[5]][column];
                assert_eq!(*label_of.entry((column, value)).or_insert(row[column]), row[column]);
            }
        }
        folder.ok("apply map.json people.csv -o again.csv --force");
        assert_eq!(release, folder.read("again.csv"), "{algorithm} {suppress}");
    }
    std::fs::write(folder.path("new.csv"), people(900, 4)).unwrap();
    folder.ok("apply map.json new.csv -o new.out.csv --suppress 20%");
    assert!(classes(&folder.read("new.out.csv"), 4).values().all(|rows| *rows >= 4));
}

#[test]
fn starred_rows_are_a_class_too() {
    let folder = Folder::with(&[("people.csv", &people(300, 5))]);
    for suppress in ["1%", "5%", "30%"] {
        folder.ok(&format!(
            "anonymize people.csv -o r.csv --force -k 5 {PEOPLE_JOB} --algorithm hill-climb --suppress {suppress} \
             --suppressed star"
        ));
        let release = folder.read("r.csv");
        assert_eq!(rows(&release).len(), 300);
        assert!(classes(&release, 4).values().all(|rows| *rows >= 5), "{suppress}");
    }
}

#[test]
fn a_hierarchy_is_respected() {
    let folder = Folder::with(&[
        ("t.csv", "town,s\nRome,1\nRome,2\nPisa,3\nLyon,4\nNice,5\nNice,6\n"),
        ("h.csv", "Rome;IT;*\nPisa;IT;*\nLyon;FR;*\nNice;FR;*\n"),
    ]);
    folder.ok(
        "anonymize t.csv -o r.csv -k 2 --quasi town --insensitive s --hierarchy town=h.csv --algorithm hill-climb",
    );
    let towns: Vec<String> =
        rows(&folder.read("r.csv")).iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(towns, ["FR", "FR", "FR", "IT", "IT", "IT"]);
}

#[test]
fn what_it_cannot_do_is_said() {
    let folder = Folder::with(&[("people.csv", &people(50, 3))]);
    let job = format!("anonymize people.csv -o r.csv -k 3 {PEOPLE_JOB} --algorithm hill-climb");
    folder.fails(
        &format!("{job} --measure height"),
        2,
        &["discernibility, classification or loss"],
    );
    folder.fails(&format!("{job} --measure classification"), 2, &["needs a target"]);
    folder.fails(&format!("{job} --relaxed"), 2, &["only mondrian"]);
    folder.fails(&format!("{job} --levels age=1"), 2, &["for full-domain recoding"]);
    folder.fails(&job.replace("-k 3", "-k 60"), 1, &["60-anonymity"]);
}

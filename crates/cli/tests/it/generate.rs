//! `generate`: synthetic tables.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::harness::{Folder, rows};

const KINDS: [(&str, &str); 4] = [
    ("uniform --attributes 2 --cardinality 3", "a1,a2"),
    ("skewed --attributes 3 --cardinality 50 --mean 25 --deviation 0.1", "a1,a2,a3"),
    (
        "agrawal --function 2,4,7",
        "salary,commission,age,elevel,car,zipcode,hvalue,hyears,loan,group_2,group_4,group_7",
    ),
    (
        "census",
        "age,sex,race,marital,education,workclass,occupation,hours,children,country,region,\
         postcode,income,salary_class,diagnosis,charges,visit",
    ),
];

#[test]
fn every_kind_has_its_columns_and_rows() {
    let folder = Folder::with(&[]);
    for (kind, header) in KINDS {
        let ended = folder.ok(&format!("generate {kind} --rows 1_234 -o t.csv --force"));
        assert!(ended.stdout.is_empty());
        assert!(ended.stderr.contains("written: t.csv (1,234 rows"), "{}", ended.stderr);
        let text = folder.read("t.csv");
        assert_eq!(text.lines().next(), Some(header));
        assert_eq!(rows(&text).len(), 1234, "{kind}");
        let n_cells = header.split(',').count();
        assert!(rows(&text).iter().all(|row| row.len() == n_cells || text.contains('"')));
    }
    folder.ok("generate uniform -o default.csv --quiet");
    let text = folder.read("default.csv");
    assert_eq!(text.lines().next(), Some("a1,a2,a3,a4,a5"));
    assert_eq!(rows(&text).len(), 10_000);
    assert!(rows(&text).iter().flatten().all(|cell| ("0"..="7").contains(cell)));
}

#[test]
fn bytes_depend_on_the_seed_and_not_on_threads() {
    let folder = Folder::with(&[]);
    for ending in ["csv", "parquet", "arrow", "csv.gz", "csv.zst"] {
        for (kind, _) in KINDS {
            let make = |name: &str, rest: &str| {
                let output = format!("{name}.{ending}");
                folder
                    .ok(&format!("generate {kind} --rows 40k -o {output} --force --quiet {rest}"));
                std::fs::read(folder.path(&output)).unwrap()
            };
            let first = make("a", "--threads 1");
            assert!(first == make("b", "--threads 3 --seed 0"), "{kind} {ending}");
            assert!(first != make("c", "--seed 1"), "{kind} {ending}");
        }
    }
}

#[test]
fn a_shorter_table_is_the_start_of_a_longer_one() {
    let folder = Folder::with(&[]);
    folder.ok("generate census --rows 40000 -o long.csv --quiet");
    folder.ok("generate census --rows 17000 -o short.csv --quiet");
    assert!(folder.read("long.csv").starts_with(&folder.read("short.csv")));
}

#[test]
fn formats_hold_the_same_table() {
    let folder = Folder::with(&[]);
    for (kind, _) in KINDS {
        let profile = |ending: &str| {
            folder.ok(&format!("generate {kind} --rows 3000 -o t.{ending} --force --quiet"));
            folder.ok(&format!("profile t.{ending} --json")).stdout
        };
        let numbers = |text: &str| {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            let of = |column: &serde_json::Value| {
                (column["name"].clone(), column["distinct"].clone(), column["unique"].clone())
            };
            json["columns"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        let csv = numbers(&profile("csv"));
        for ending in ["parquet", "arrow", "tsv", "csv.gz", "csv.zst"] {
            assert_eq!(csv, numbers(&profile(ending)), "{kind} {ending}");
        }
    }
    let types = folder.ok("profile t.parquet").stdout;
    for kind in ["integer", "decimal", "date", "text"] {
        assert!(types.contains(kind), "{types}");
    }
}

#[test]
fn labels_are_the_functions_of_the_rows() {
    let folder = Folder::with(&[]);
    let ended = folder.ok("generate agrawal --rows 2000 -o t.csv");
    let rule = "group is A if age < 40 and 50000 <= salary <= 100000, or 40 <= age < 60 and \
                75000 <= salary <= 125000, or age >= 60 and 25000 <= salary <= 75000";
    assert!(ended.stderr.contains(rule), "{}", ended.stderr);
    for row in rows(&folder.read("t.csv")) {
        let (salary, age): (f64, i64) = (row[0].parse().unwrap(), row[2].parse().unwrap());
        let range = match age {
            ..40 => 50_000.0..=100_000.0,
            40..60 => 75_000.0..=125_000.0,
            _ => 25_000.0..=75_000.0,
        };
        assert_eq!(row[9], if range.contains(&salary) { "A" } else { "B" });
    }
    let varied = |seed| {
        let args = format!("generate agrawal --function 6 --vary-constants --seed {seed}");
        folder.ok(&format!("{args} --rows 10 -o v.csv --force")).stderr
    };
    assert!(
        varied(1) != varied(2)
            && varied(1) == varied(1)
            && !varied(1).contains("age < 40 and 50000")
    );
}

#[test]
fn bad_requests_are_refused_as_a_whole() {
    let folder = Folder::with(&[("old.csv", "old")]);
    folder.fails(
        "generate skewed --attributes 0 --cardinality 0 --mean -1 --deviation 99 --function 2 --rows few -o t.xyz",
        2,
        &[
            "rows must be 1 to 1000000000000, found `few`",
            "help: write 1000, 1_000, 1e6 or 10M",
            "attributes must be 1 to 1000, found 0",
            "cardinality must be 1 to 1000000000, found 0",
            "the mean must be among the values",
            "the deviation must be above 0 and at most 10, found 99",
            "`function` does not apply to a table of kind skewed",
            "help: leave it out; it is for agrawal",
            "`t.xyz` has no known format",
        ],
    );
    folder.fails(
        "generate agrawal --function 0,3,11,3 -o t.csv",
        2,
        &[
            "functions are 1 to 10, found 0",
            "functions are 1 to 10, found 11",
            "function 3 is named twice",
        ],
    );
    folder.fails("generate sensus -o t.csv", 2, &["`sensus` is not a kind of table", "`census`?"]);
    folder.fails("generate census -o nowhere/t.csv", 2, &["the folder `nowhere` does not exist"]);
    folder.fails("generate census -o t.csv --threads 0", 2, &["threads must be 1 to 1024"]);
    folder.fails("generate census --rows 10", 2, &["--output"]);
    folder.fails("generate uniform -o old.csv", 2, &["`old.csv` exists already", "--force"]);
    assert_eq!(folder.read("old.csv"), "old");
    folder.ok("generate uniform --rows 5 -o old.csv --force --quiet");
    assert_eq!(rows(&folder.read("old.csv")).len(), 5);
}

#[test]
fn an_interrupted_table_leaves_nothing() {
    let folder = Folder::with(&[]);
    for ending in ["csv", "parquet"] {
        let args = format!("generate census --rows 1G -o t.{ending}");
        let mut child = folder.command(&args).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..3000 {
            if folder.files().iter().any(|name| name.starts_with(".incrowd-")) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!folder.files().is_empty(), "nothing was begun within 30 seconds");
        crate::faults::signal(child.id(), "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(folder.files().is_empty(), "{:?}", folder.files());
    }
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_left() {
    let folder = Folder::with(&[]);
    for ending in ["csv", "csv.gz", "csv.zst", "parquet", "arrow"] {
        let incrowd = env!("CARGO_BIN_EXE_incrowd");
        let generate = format!("{incrowd} generate census --rows 1e5 -o t.{ending} --quiet");
        let script = format!("trap '' XFSZ; ulimit -f 64; exec {generate}");
        let mut command = Command::new("bash");
        let ended = command.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("error: writing `t.{ending}` failed")), "{said}");
        assert!(said.to_lowercase().contains("because: file too large"), "{said}");
        assert!(folder.files().is_empty(), "{:?}", folder.files());
    }
}

#[test]
fn a_generated_table_can_be_released() {
    let folder = Folder::with(&[]);
    folder.ok("generate census --rows 3000 --seed 3 -o t.parquet --quiet");
    folder.ok(
        "anonymize t.parquet -o r.parquet -k 10 --quasi age,sex,race,marital,education,postcode \
         --sensitive diagnosis --undeclared drop --quiet",
    );
    folder.ok(
        "check r.parquet -k 10 --quasi age,sex,race,marital,education,postcode --undeclared drop",
    );
}

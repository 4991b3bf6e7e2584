//! Labels of hierarchy columns: what is left of a divided node, and roots that are not `*`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::harness::{Folder, classes};

const COUNTRIES: &str = "fr;Europe;*\nde;Europe;*\nit;Europe;*\nes;Europe;*\njp;Asia;*\n";

/// A table of one column with so many rows of each value.
fn table(header: &str, rows: &[(&str, usize)]) -> String {
    let mut text = format!("{header}\n");
    for (value, n) in rows {
        text.push_str(&format!("{value}\n").repeat(*n));
    }
    text
}

/// 50 fr, 50 de, 3 it, 2 es and 20 jp, released with k = 5.
fn released(more: &str) -> Folder {
    let rows = [("fr", 50), ("de", 50), ("it", 3), ("es", 2), ("jp", 20)];
    let folder = Folder::with(&[("t.csv", &table("country", &rows)), ("h.csv", COUNTRIES)]);
    folder.ok(&format!(
        "anonymize t.csv -o r.csv -k 5 --quasi country --hierarchy country=h.csv \
         --recoding rec.json --report r.json --force {more}"
    ));
    folder
}

#[track_caller]
fn ask(folder: &Folder, more: &str, country: &str) -> Value {
    let sql = format!("SELECT COUNT(*) WHERE country = '{country}'");
    let output = folder.command(&format!("query r.csv --json {more}")).arg(sql).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["queries"][0]["rows"][0]["answers"][0].clone()
}

#[test]
fn children_that_stay_together_are_named_everywhere() {
    let folder = released("");
    let of = |text: &str| -> Vec<(String, usize)> {
        classes(text, 1).into_iter().map(|(cells, n)| (cells[0].to_owned(), n)).collect()
    };
    let expected = [("de", 50), ("fr", 50), ("jp", 20), ("{es|it}", 5)]
        .map(|(label, n)| (label.to_owned(), n))
        .to_vec();
    assert_eq!(of(&folder.read("r.csv")), expected);
    let report = folder.json("r.json");
    let loss = report["measures"]["loss"].as_f64().unwrap();
    assert!((loss - 5.0 / 125.0 / 4.0).abs() < 1e-12, "{loss}");
    // Precision counts the node above them: level 1 of 2.
    let precision = report["measures"]["precision"].as_f64().unwrap();
    assert!((precision - 5.0 / 125.0 / 2.0).abs() < 1e-12, "{precision}");
    for more in ["--recoding rec.json", "--hierarchy country=h.csv"] {
        assert_eq!(ask(&folder, more, "fr")["estimate"], 50.0, "{more}");
        assert_eq!(ask(&folder, more, "fr")["exact"], true, "{more}");
        assert_eq!(ask(&folder, more, "it")["estimate"], 2.5, "{more}");
        assert_eq!(ask(&folder, more, "it")["least"], 0.0, "{more}");
        assert_eq!(ask(&folder, more, "it")["greatest"], 5.0, "{more}");
    }
    // Of the people outside each has the rows of one class as candidates.
    std::fs::write(folder.path("o.csv"), "country\nfr\nit\n").unwrap();
    let attack = |more: &str| -> Value {
        let ended = folder.ok(&format!("attack r.csv --with o.csv --on country --json {more}"));
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let average = |report: &Value| report["candidates"]["mean"].as_f64().unwrap_or(f64::NAN);
    let found = attack("--recoding rec.json");
    assert!((average(&found) - 27.5).abs() < 1e-9, "{found}");
    // The same rows, and new ones, in the same classes.
    folder.ok("apply rec.json t.csv -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
    std::fs::write(folder.path("new.csv"), table("country", &[("it", 6), ("jp", 5)])).unwrap();
    folder.ok("apply rec.json new.csv -o new-r.csv");
    let labels: Vec<String> = of(&folder.read("new-r.csv")).into_iter().map(|of| of.0).collect();
    assert_eq!(labels, ["jp", "{es|it}"]);
    folder.ok("check r.csv -k 5 --quasi country --hierarchy country=h.csv");
    // The part that may be handed on does not tell which leaves there are.
    let public = folder.read("rec.json");
    assert!(!public.contains("\"it\"") && folder.read("rec.private.json").contains("\"it\""));
}

#[test]
fn every_way_to_the_same_labels() {
    let release = released("").read("r.csv");
    for more in ["--labels region", "--labels bounds", "--labels range+mean", "--relaxed"] {
        let folder = released(more);
        let found = folder.read("r.csv");
        assert_eq!(classes(&found, 1), classes(&release, 1), "{more}");
    }
    let folder = released("");
    let job = "-k 5 --quasi country --hierarchy country=h.csv";
    folder.ok(&format!("anonymize t.csv -o other.csv {job} --report page.html"));
    let page = folder.read("page.html");
    assert!(page.contains("{es|it}") && !page.contains("Europe"), "the labels as they are");
}

/// A part that is left of a node is named by the nodes below, and a class says only what it has of
/// them.
#[test]
fn nodes_and_leaves_mixed() {
    let tree = "fr;West;*\nde;West;*\nit;South;*\nes;South;*\njp;East;*\ncn;East;*\n";
    let rows = [("fr", 9), ("it", 3), ("es", 2), ("jp", 1)];
    let folder = Folder::with(&[("t.csv", &table("country", &rows)), ("h.csv", tree)]);
    let job = "-k 6 --quasi country --hierarchy country=h.csv";
    folder.ok(&format!("anonymize t.csv -o r.csv {job} --recoding rec.json"));
    let expected = [(vec!["fr"], 9), (vec!["{South|jp}"], 6)].into();
    assert_eq!(classes(&folder.read("r.csv"), 1), expected);
    let of = |country: &str| ask(&folder, "--recoding rec.json", country)["estimate"].as_f64();
    assert_eq!((of("es"), of("cn")), (Some(2.0), Some(0.0)));
    // A value that no row had, below a node of the part.
    std::fs::write(folder.path("new.csv"), table("country", &[("cn", 7), ("it", 1)])).unwrap();
    folder.ok("apply rec.json new.csv -o new-r.csv");
    assert!(folder.read("new-r.csv").contains("{East|South}"), "{}", folder.read("new-r.csv"));
}

const ZIPS: &str = "53715;5371*;537**\n53710;5371*;537**\n53703;5370*;537**\n";

#[test]
fn a_root_keeps_its_label_in_every_algorithm() {
    let rows = [("53715", 2), ("53710", 1), ("53703", 1)];
    let folder = Folder::with(&[("t.csv", &table("zip", &rows)), ("h.csv", ZIPS)]);
    let job = "-k 4 --quasi zip --hierarchy zip=h.csv --force --report r.json";
    let mut said = String::new();
    for algorithm in
        ["mondrian", "mondrian --relaxed", "optimal", "incognito", "samarati", "datafly"]
            .into_iter()
            .chain(["bottom-up", "single-dimensional", "hill-climb", "koptimize"])
    {
        for labels in ["range", "bounds", "region"] {
            let run = folder.run(&format!(
                "anonymize t.csv -o r.csv {job} --algorithm {algorithm} --labels {labels}"
            ));
            if run.code == 2 && labels == "region" {
                continue;
            }
            assert_eq!(run.code, 0, "{algorithm} {labels}: {}", run.stderr);
            let release = folder.read("r.csv");
            assert_eq!(release, "zip\n537**\n537**\n537**\n537**\n", "{algorithm} {labels}");
            assert_eq!(folder.json("r.json")["measures"]["loss"], 1.0, "{algorithm} {labels}");
            write!(said, "{algorithm} {labels} ").unwrap();
        }
    }
    assert!(said.contains("optimal range") && said.contains("--relaxed bounds"), "{said}");
    folder.ok(&format!("anonymize t.csv -o r.csv {job} --recoding rec.json"));
    folder.ok("apply rec.json t.csv -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
    std::fs::write(folder.path("o.csv"), "zip\n53703\n").unwrap();
    let ended = folder.ok("attack r.csv --with o.csv --recoding rec.json --on zip --json");
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["candidates"]["mean"], 4.0, "{found}");
    folder.ok("check r.csv -k 4 --quasi zip --hierarchy zip=h.csv");
}

/// A missing cell is not below a root that speaks of postcodes.
#[test]
fn missing_stands_beside_such_a_root() {
    let rows =
        |n_missing: usize| table("zip,n", &[("53715,1", 2), ("53703,1", 2), (",1", n_missing)]);
    let folder = Folder::with(&[("t.csv", &rows(4)), ("few.csv", &rows(1)), ("h.csv", ZIPS)]);
    let job = "-k 4 --quasi zip --insensitive n --hierarchy zip=h.csv";
    for algorithm in ["mondrian", "optimal"] {
        let run = |input: &str| {
            folder.ok(&format!("anonymize {input} -o r.csv {job} --force --algorithm {algorithm}"));
            folder.read("r.csv")
        };
        let (apart, mixed) = (run("t.csv"), run("few.csv"));
        assert_eq!(classes(&apart, 1), [(vec![""], 4), (vec!["537**"], 4)].into(), "{algorithm}");
        assert_eq!(classes(&mixed, 1), [(vec!["*"], 5)].into(), "{algorithm}");
    }
}

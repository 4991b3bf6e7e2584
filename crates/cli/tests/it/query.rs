//! Queries over releases.

use serde_json::Value;

use crate::harness::{Ended, Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, people};

fn run(folder: &Folder, args: &str, sql: &str) -> Ended {
    let output = folder.command(args).arg(sql).output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The first answer of a query.
#[track_caller]
fn ask(folder: &Folder, args: &str, sql: &str) -> Value {
    let ended = run(folder, &format!("query {args} --json"), sql);
    assert_eq!(ended.code, 0, "{args}: {sql}\n{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    report["queries"][0]["rows"][0]["answers"][0].clone()
}

#[track_caller]
fn check(folder: &Folder, args: &str, sql: &str, estimate: f64, exact: bool) {
    let answer = ask(folder, args, sql);
    let found = answer["estimate"].as_f64().unwrap();
    assert!((found - estimate).abs() < 1e-9 && answer["exact"] == exact, "{args}: {sql}\n{answer}");
}

#[track_caller]
fn refused(folder: &Folder, args: &str, sql: &str, says: &[&str]) {
    let ended = run(folder, &format!("query {args}"), sql);
    assert_eq!(ended.code, 2, "{sql}\n{}", ended.stderr);
    assert!(ended.stdout.is_empty());
    for text in says {
        assert!(ended.stderr.contains(text), "{sql}\nsaid: {}\nnot: {text}", ended.stderr);
    }
}

const MALES_TO_26: &str = "SELECT COUNT(*) WHERE sex = 'Male' AND age <= 26";

/// Section 5 of the Mondrian report: both queries are answered precisely.
#[test]
fn the_queries_of_the_paper_in_every_label_form() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    let males = "SELECT AVG(age) WHERE sex = 'Male'";
    for form in ["range", "region", "bounds", "mean", "range+mean"] {
        for ending in ["csv", "parquet"] {
            let release = format!("{form}.{ending}");
            folder.ok(&format!(
                "anonymize patients.csv -o {release} {PATIENTS_JOB} --labels {form} --recoding {release}.json"
            ));
            let args = format!("{release} --recoding {release}.json");
            // Of a mean alone nothing is certain.
            check(&folder, &args, MALES_TO_26, 2.0, form != "mean");
            check(&folder, &args, males, 26.5, form.contains("mean"));
            if form != "mean" {
                check(&folder, &release, MALES_TO_26, 2.0, true);
            }
            check(&folder, &release, "SELECT COUNT(*) WHERE disease = 'Flu'", 1.0, true);
            check(&folder, &release, "SELECT COUNT(*)", 6.0, true);
        }
    }
    // A range's ends occur in its class, a region's need not.
    let least = "SELECT MIN(age) WHERE sex = 'Male'";
    check(&folder, "range.csv --recoding range.csv.json", least, 25.0, true);
    check(&folder, "region.csv --recoding region.csv.json", least, 26.0, false);
    check(&folder, "range.csv", least, 25.0, false);
    check(&folder, "range.csv", "SELECT SUM(age)", 158.0, false);
    let answer = ask(&folder, "range.csv", "SELECT COUNT(*) WHERE age <= 25");
    assert_eq!((&answer["least"], &answer["greatest"]), (&Value::from(0.0), &Value::from(4.0)));
}

#[test]
fn the_table_is_aligned_and_shows_errors() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    let ended =
        run(&folder, "query r.csv --original patients.csv", "SELECT COUNT(*) WHERE age <= 25");
    assert_eq!(
        ended.stdout,
        "aggregate  estimate  least  greatest  exact  true   error  relative\n\
         COUNT(*)     1.6667      0         4  no        2  0.3333    0.1667\n"
    );
    let ended =
        run(&folder, "query r.csv", "SELECT sex, COUNT(*), MAX(age) WHERE age < 28 GROUP BY sex");
    assert_eq!(
        ended.stdout,
        "sex     aggregate  estimate  least  greatest  exact\n\
         Female  COUNT(*)          2      2         2  yes\n\
         Female  MAX(age)         27             27  no\n\
         Male    COUNT(*)          3      2         4  no\n\
         Male    MAX(age)         27             27  no\n"
            .replace("27             27", "27               27")
    );
}

#[test]
fn hierarchies_come_from_the_recoding_or_a_file() {
    let tree = "fr;Europe;*\nde;Europe;*\njp;Asia;*\ncn;Asia;*\n";
    let table = "c,n\nfr,1\nfr,2\nde,1\nde,5\njp,3\ncn,3\n";
    let folder = Folder::with(&[("t.csv", table), ("tree.csv", tree)]);
    folder.ok("anonymize t.csv -o r.csv -k 6 --quasi c,n --hierarchy c=tree.csv --recoding r.json");
    let star = "SELECT COUNT(*) WHERE c = 'fr'";
    check(&folder, "r.csv --recoding r.json", star, 1.5, false);
    folder.ok("anonymize t.csv -o e.csv -k 2 --quasi c --insensitive n --hierarchy c=tree.csv --algorithm optimal --levels c=1 --recoding e.json");
    check(&folder, "e.csv --hierarchy c=tree.csv", star, 2.0, false);
    check(&folder, "e.csv --recoding e.json", star, 2.0, false);
    check(&folder, "e.csv --recoding e.json", "SELECT COUNT(*) WHERE c IN ('fr', 'de')", 4.0, true);
    refused(&folder, "e.csv", star, &["column `c`", "--recoding", "--hierarchy c=FILE"]);
    refused(&folder, "r.csv", star, &["labels of column `c` cannot be understood"]);
    let node = "SELECT COUNT(*) WHERE c = 'Europe'";
    refused(&folder, "e.csv --recoding e.json", node, &["not in its hierarchy"]);
}

#[test]
fn groups_add_up_and_meet_the_truth() {
    let folder = Folder::with(&[("t.csv", &people(3000, 21))]);
    folder.ok(&format!("anonymize t.csv -o r.csv -k 10 {PEOPLE_JOB} --recoding r.json"));
    let sql = "SELECT city, COUNT(*), SUM(age) WHERE age BETWEEN 25 AND 40 GROUP BY city";
    let ended = run(&folder, "query r.csv --recoding r.json --original t.csv --json", sql);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows = report["queries"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    let total = |key: &str, at: usize| {
        rows.iter().map(|row| row["answers"][at][key].as_f64().unwrap()).sum::<f64>()
    };
    let whole = "SELECT COUNT(*) WHERE age BETWEEN 25 AND 40";
    let whole = ask(&folder, "r.csv --recoding r.json --original t.csv", whole);
    assert!((total("estimate", 0) - whole["estimate"].as_f64().unwrap()).abs() < 1e-6);
    assert!((total("true", 0) - whole["true"].as_f64().unwrap()).abs() < 1e-6);
    assert_eq!(report["errors"]["answers"], 24);
    assert!(report["errors"]["relative"]["mean"].as_f64().unwrap() < 0.5);
    assert_eq!(rows[0]["group"]["city"], "city0");
}

#[test]
fn an_untouched_table_is_answered_exactly() {
    let folder = Folder::with(&[("t.csv", &people(500, 22))]);
    for sql in [
        "SELECT COUNT(*) WHERE age > 30 AND (sex = 'f' OR status IS NULL) AND NOT city = 'city3'",
        "SELECT SUM(age), AVG(age), MIN(age), MAX(age) WHERE status <> 'single'",
        "SELECT COUNT(status) GROUP BY sex, city",
    ] {
        let ended = run(&folder, "query t.csv --original t.csv --json", sql);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        for row in report["queries"][0]["rows"].as_array().unwrap() {
            for answer in row["answers"].as_array().unwrap() {
                assert_eq!(answer["exact"], true, "{sql}\n{answer}");
                assert_eq!(answer["estimate"], answer["true"], "{sql}");
            }
        }
    }
}

/// A weight stands before its query, and counts in the search as that of a job file does.
#[test]
fn queries_with_weights() {
    let queries = "# weights\nweight 3: SELECT COUNT(*) WHERE age <= 25\nSELECT COUNT(*) WHERE sex = 'Male'\n";
    let folder = Folder::with(&[
        ("patients.csv", PATIENTS),
        ("q.txt", queries),
        ("bad.txt", "SELECT COUNT(*)\nweight x: SELECT COUNT(*)\nweight 2 SELECT COUNT(*)\n"),
    ]);
    folder.ok(&format!(
        "anonymize patients.csv -o r.csv {PATIENTS_JOB} --split queries --queries q.txt --recoding m.json"
    ));
    let job = "queries = [{ sql = \"SELECT COUNT(*) WHERE age <= 25\", weight = 3.0 }, \
               \"SELECT COUNT(*) WHERE sex = 'Male'\"]";
    std::fs::write(
        folder.path("j.toml"),
        format!("[search]\nsplit = \"queries\"\n[workload]\n{job}\n"),
    )
    .unwrap();
    folder.ok(&format!("anonymize patients.csv -o s.csv {PATIENTS_JOB} --job j.toml"));
    assert_eq!(folder.read("r.csv"), folder.read("s.csv"));
    let ended =
        folder.ok("query r.csv --recoding m.json --queries q.txt --original patients.csv --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["queries"][0]["weight"], 3.0);
    assert_eq!(report["queries"][0]["query"], "SELECT COUNT(*) WHERE age <= 25");
    assert!(report["queries"][1]["weight"].is_null());
    let error = |at: usize| {
        report["queries"][at]["rows"][0]["answers"][0]["relative_error"].as_f64().unwrap()
    };
    let mean = report["errors"]["weighted_relative_mean"].as_f64().unwrap();
    assert!((mean - (3.0 * error(0) + error(1)) / 4.0).abs() < 1e-12);
    let says = [
        "query in line 2: the weight of a query must be a number above 0",
        "query in line 3: a colon",
    ];
    folder.fails("query r.csv --queries bad.txt", 2, &says);
    folder.fails(
        &format!(
            "anonymize patients.csv -o n.csv {PATIENTS_JOB} --split queries --queries bad.txt"
        ),
        2,
        &says,
    );
    folder.fails(
        &format!("anonymize patients.csv -o n.csv {PATIENTS_JOB} --split queries --query 'weight -1: SELECT COUNT(*)'"),
        2,
        &["above 0"],
    );
}

#[test]
fn a_file_of_queries() {
    let queries =
        "# workload\nSELECT COUNT(*) WHERE age <= 26\n\nSELECT AVG(age) WHERE sex = 'Male'\n";
    let bad = "SELECT COUNT(*)\nSELECT COUNT(* WHERE\nSELECT MEDIAN(age)\n";
    let unknown = "SELECT COUNT(*) WHERE agee = 1;\nSELECT SUM(sexx)\n GROUP BY zip;\n";
    let folder = Folder::with(&[
        ("patients.csv", PATIENTS),
        ("q.txt", queries),
        ("bad.txt", bad),
        ("u.sql", unknown),
        ("empty.txt", "# none\n"),
    ]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    let ended = folder.ok("query r.csv --queries q.txt --original patients.csv");
    assert!(ended.stdout.contains("SELECT COUNT(*) WHERE age <= 26"), "{}", ended.stdout);
    assert!(ended.stdout.contains("absolute") && ended.stdout.contains("95%"), "{}", ended.stdout);
    let ended = folder.ok("query r.csv --queries q.txt --original patients.csv --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["queries"][1]["line"], 4);
    assert!(report["errors"]["absolute"]["p99"].is_number());
    folder.fails("query r.csv --queries bad.txt", 2, &["in line 2", "in line 3", "`MEDIAN`"]);
    folder.fails(
        "query r.csv --queries u.sql",
        2,
        &["line 1: column `agee`", "did you mean `age`?", "line 2: column `sexx`", "`zip`"],
    );
    folder.fails("query r.csv --queries empty.txt", 2, &["holds no query"]);
    folder.fails("query r.csv --queries none.txt", 2, &["`none.txt` does not exist"]);
    folder.fails("query r.csv", 2, &["required"]);
}

#[test]
fn requests_that_are_refused() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    folder.ok(&format!("anonymize patients.csv -o b.csv {PATIENTS_JOB} --labels bounds"));
    refused(&folder, "none.csv", MALES_TO_26, &["does not exist"]);
    refused(&folder, "r.csv", "SELECT COUNT(*) WHERE agee = 1", &["did you mean `age`?"]);
    refused(&folder, "b.csv", "SELECT COUNT(*) WHERE agee = 1", &["did you mean `age`?"]);
    refused(&folder, "r.csv", "SELECT COUNT(*) WHERE age = 'old'", &["type integer"]);
    refused(&folder, "r.csv", "SELECT SUM(sex)", &["does not hold numbers"]);
    refused(&folder, "r.csv", "SELECT COUNT(*) WHERE age LIKE '2%'", &["LIKE is not supported"]);
    refused(&folder, "r.csv --labels mean", "SELECT AVG(age)", &["--quasi"]);
    refused(&folder, "r.csv --labels means", "SELECT AVG(age)", &["did you mean `mean`?"]);
    refused(&folder, "r.csv --quasi agee", "SELECT AVG(age)", &["did you mean `age`?"]);
    refused(&folder, "r.csv --original b.csv", "SELECT AVG(age)", &["not in the original table"]);
    let ended = run(&folder, "query r.csv", "SELECT COUNT(*) WHERE disease = 'Secret'");
    assert!(!ended.stderr.contains("Secret"), "{}", ended.stderr);
}

/// Rows that were left out and released as stars may be anything, missing too.
#[test]
fn starred_rows_are_the_whole_domain() {
    let folder = Folder::with(&[("t.csv", &people(2000, 15)), ("new.csv", &people(1500, 16))]);
    for form in ["range", "bounds", "mean", "range+mean"] {
        folder.ok(&format!(
            "anonymize t.csv -o {form}.csv -k 20 {PEOPLE_JOB} --labels {form} --recoding {form}.json"
        ));
        folder.ok(&format!(
            "apply {form}.json new.csv -o {form}-new.csv --suppress 1 --suppressed star"
        ));
        let args = format!("{form}-new.csv --recoding {form}.json --original new.csv");
        check(&folder, &args, "SELECT COUNT(*)", 1500.0, true);
        check(&folder, &args, "SELECT COUNT(*) WHERE age >= 0", 1500.0, false);
        let answer = ask(&folder, &args, "SELECT COUNT(*) WHERE age BETWEEN 20 AND 30");
        let of = |key: &str| answer[key].as_f64().unwrap();
        assert!(of("least") <= of("true") && of("true") <= of("greatest"), "{form}: {answer}");
        assert!(of("relative_error") < 0.5, "{form}: {answer}");
    }
}

/// A class of values and missing cells is a star; the recoding says what it may be.
#[test]
fn stars_of_values_and_missing_cells() {
    let folder = Folder::with(&[("a.csv", "age,s\n1,x\n2,x\n3,y\n,y\n")]);
    folder.ok("anonymize a.csv -o r.csv -k 4 --quasi age --insensitive s --recoding r.json");
    // The release tells no value, and neither does what may be handed on with it.
    let public = folder.read("r.json");
    assert!(public.contains(r#""cells":{"age":"*"}"#), "{public}");
    let recoding = folder.read("r.private.json");
    assert!(recoding.contains(r#""cells":{"age":["1","3",null]}"#), "{recoding}");
    let sql = "SELECT COUNT(*) WHERE age >= 2";
    let ended = |args: &str, sql: &str| {
        let answer = ask(&folder, args, sql);
        let key = |key: &str| answer[key].clone();
        (key("estimate"), key("exact"), key("least"), key("greatest"))
    };
    let number = |number: f64| Value::from(number);
    let known = (number(2.0), Value::from(false), number(0.0), number(4.0));
    assert_eq!(ended("r.csv --recoding r.json", sql), known);
    let most = ask(&folder, "r.csv --recoding r.json", "SELECT MAX(age)");
    assert_eq!((&most["estimate"], &most["greatest"]), (&3.into(), &3.into()));
    let none = "SELECT COUNT(*) WHERE age > 3";
    check(&folder, "r.csv --recoding r.json", none, 0.0, true);
    // A file of old holds no greatest value: a star may be anything.
    let old = recoding.replace(r#"["1","3",null]"#, r#"["1",null]"#);
    std::fs::write(folder.path("old.json"), old).unwrap();
    check(&folder, "r.csv --recoding old.json", none, 0.0, false);
    let most = ask(&folder, "r.csv --recoding old.json", "SELECT MAX(age)");
    assert_eq!(most["greatest"], Value::Null);
    for file in ["r.json", "old.json"] {
        folder.ok(&format!("apply {file} a.csv -o {file}.csv"));
        assert_eq!(folder.read(&format!("{file}.csv")), folder.read("r.csv"));
    }
}

#[test]
fn columns_of_stars_only_are_understood_by_their_recoding() {
    let folder = Folder::with(&[("t.csv", "a,b,s\n1,1.5,x\n2,2.5,x\n3,1.5,y\n4,2.5,y\n,,y\n")]);
    for algorithm in ["single-dimensional", "koptimize", "hill-climb", "mondrian --relaxed"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv -k 5 --quasi a,b --insensitive s --algorithm {algorithm} --recoding r.json --force"
        ));
        let args = "r.csv --recoding r.json --original t.csv";
        for sql in ["SELECT COUNT(*) WHERE a > 2", "SELECT COUNT(b)", "SELECT SUM(a)"] {
            let answer = ask(&folder, args, sql);
            assert_eq!(answer["exact"], false, "{algorithm}: {sql}: {answer}");
        }
    }
}

#[test]
fn mean_labels_with_a_job() {
    let table =
        "n,day,flag\n1,2024-01-01,true\n,2024-01-02,false\n5,2024-01-05,true\n7,2024-01-06,true\n";
    let job = "[columns]\nn = { role = \"quasi\" }\nday = { role = \"quasi\" }\n\
               flag = { role = \"quasi\" }\n[privacy]\nk = 2\n[release]\nlabels = \"mean\"\n";
    let folder = Folder::with(&[("t.csv", table), ("job.toml", job)]);
    folder.ok("anonymize t.csv -o r.csv --job job.toml --recoding r.json");
    for args in ["r.csv --job job.toml", "r.csv --recoding r.json"] {
        for sql in ["SELECT COUNT(n)", "SELECT SUM(n)", "SELECT AVG(n)"] {
            assert_eq!(ask(&folder, args, sql)["exact"], false, "{args}: {sql}");
        }
        for sql in ["SELECT COUNT(*) WHERE day < '2024-01-04'", "SELECT COUNT(*) WHERE flag = true"]
        {
            let answer = ask(&folder, &format!("{args} --original t.csv"), sql);
            let of = |key: &str| answer[key].as_f64().unwrap();
            assert!(of("least") <= of("true") && of("true") <= of("greatest"), "{sql}: {answer}");
        }
    }
}

#[test]
fn all_problems_of_all_queries_are_reported_at_once() {
    let queries = "SELECT SUM(sex)\nSELECT COUNT(* WHERE\nSELECT COUNT(*) WHERE agee = 1\n\
                   SELECT COUNT(*) WHERE age = 'old'\nSELECT COUNT(*)\nSELECT MIN(zip)\n";
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("q.txt", queries)]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    let says =
        ["line 1: column `sex`", "line 2: ", "line 3: column `agee`", "line 4: column `age`"];
    let says = [&says[..], &["line 6: column `zip`"]].concat();
    folder.fails("query r.csv --queries q.txt --original patients.csv", 2, &says);
    let ended = folder.run("query r.csv --queries q.txt --original patients.csv");
    let places: Vec<usize> = says.iter().map(|text| ended.stderr.find(text).unwrap()).collect();
    assert!(places.is_sorted() && !ended.stderr.contains("line 5"), "{}", ended.stderr);
    let many = "SELECT SUM(sex), MIN(zip) WHERE age = 'old' AND sexx = 1";
    refused(&folder, "r.csv", many, &["column `sex` does", "`zip`", "`age` holds", "`sexx`"]);
    let all = [&says[1..2], &["does not exist"]].concat();
    folder.fails("query none.csv --queries q.txt", 2, &all);
    refused(&folder, "r.csv", "SELECT COUNT(*) WHERE age > 'x99999999999999999999'", &["integer"]);
    check(&folder, "r.csv", "SELECT COUNT(*) WHERE age > 99999999999999999999999", 0.0, true);
}

/// Epoch nanoseconds, in every form that stands for ranges.
#[test]
fn labels_beyond_the_whole_numbers_of_a_float() {
    let first = 1_700_000_000_000_000_000_u64;
    let rows: Vec<String> =
        (0..200).map(|row| (first + row * 5_000_000_000_001).to_string()).collect();
    let folder = Folder::with(&[("t.csv", &format!("t\n{}\n", rows.join("\n")))]);
    // Without ranges they are texts, which are equal or not.
    check(&folder, "t.csv", "SELECT COUNT(*) WHERE t = 1700000000000000000", 1.0, true);
    for form in ["range", "region", "bounds"] {
        folder.ok(&format!(
            "anonymize t.csv -o {form}.csv -k 20 --quasi t --labels {form} --recoding {form}.json"
        ));
        let about = format!("{form}.csv --recoding {form}.json --original t.csv");
        let answer = ask(&folder, &about, "SELECT COUNT(*) WHERE t < 1700500000000000000");
        let number = |key: &str| answer[key].as_f64().unwrap();
        assert_eq!(answer["true"], 100.0, "{form}: {answer}");
        assert!(number("least") <= 100.0 && 100.0 <= number("greatest"), "{form}: {answer}");
        assert!((number("estimate") - 100.0).abs() < 25.0, "{form}: {answer}");
        folder
            .ok(&format!("attack {form}.csv --with t.csv --recoding {form}.json --fail-below 20"));
    }
}

/// The original has values only, whatever they look like.
#[test]
fn values_of_the_original_are_no_labels() {
    let table = "g\na\na\na\na\na\n*\n*\n*\n*\n*\n*\n*\n{a|b}\n{a|b}\n{a|b}\n{a|b}\n";
    let job = "[columns]\ng = { role = \"quasi\", order = [\"a\",\"*\",\"{a|b}\"] }\n";
    let folder = Folder::with(&[("t.csv", table), ("job.toml", job)]);
    folder.ok("anonymize t.csv -o r.csv -k 4 --job job.toml --recoding r.json");
    for (value, rows) in [("a", 5), ("*", 7), ("{a|b}", 4)] {
        let query = format!("SELECT COUNT(*) WHERE g = '{value}'");
        let answer = ask(&folder, "r.csv --recoding r.json --original t.csv", &query);
        assert_eq!(answer["true"], f64::from(rows), "{value}: {answer}");
    }
}

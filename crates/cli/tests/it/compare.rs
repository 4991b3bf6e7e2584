//! The same job by several algorithms.

use crate::harness::{Folder, PEOPLE_JOB as JOB, people};
use crate::pages;

#[test]
fn cases_are_what_anonymize_gives() {
    let folder = Folder::with(&[("t.csv", &people(300, 1))]);
    let ended = folder
        .ok(&format!("compare t.csv --algorithms mondrian,mondrian-relaxed -k 3,10 {JOB} --json"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["cases"].as_array().unwrap().len(), 4);
    for (algorithm, flags) in [("mondrian", ""), ("mondrian-relaxed", "--relaxed")] {
        for k in [3, 10] {
            let alone = folder.ok(&format!(
                "anonymize t.csv -o r.csv -k {k} {JOB} {flags} --json --force --quiet"
            ));
            let alone: serde_json::Value = serde_json::from_str(&alone.stdout).unwrap();
            let cases = found["cases"].as_array().unwrap();
            let case = cases.iter().find(|c| c["algorithm"] == algorithm && c["k"] == k).unwrap();
            for key in ["measures", "release", "risk", "privacy"] {
                assert_eq!(case[key], alone[key], "{algorithm} {k} {key}");
            }
        }
    }
    assert_eq!(folder.files(), ["r.csv", "t.csv"]);
}

#[test]
fn the_table_marks_the_best_and_says_which_to_take() {
    let folder = Folder::with(&[("t.csv", &people(300, 1))]);
    let ended = folder.ok(&format!("compare t.csv --algorithms mondrian,koptimize -k 5 {JOB}"));
    let text = ended.stdout;
    assert!(text.contains("* the best of its k"), "{text}");
    assert!(text.contains("by loss: take `mondrian`: over k = 5"), "{text}");
    let line = text.lines().find(|line| line.contains("koptimize")).unwrap();
    assert!(line.contains("proved optimal"), "{text}");
}

#[test]
fn one_html_file() {
    let table = people(200, 2).replace("city1,", "<script>alert(1)</script>,");
    let folder = Folder::with(&[("t.csv", &table)]);
    let command = format!("compare t.csv --algorithms mondrian,koptimize -k 2,5 {JOB}");
    folder.ok(&format!("{command} --report c.html --quiet"));
    let html = folder.read("c.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert_eq!(html.matches("<svg").count(), 6);
    for outside in ["<script", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    pages::check(&folder.path("c.html"));
    folder.fails(&format!("{command} --report c.html"), 2, &["exists already"]);
    folder.fails(&format!("{command} --report c.txt"), 2, &["name it .json or .html"]);
}

/// Names of columns and of the file stand on the page as they are, and as nothing else.
#[test]
fn a_page_bears_any_name() {
    let table = people(200, 5)
        .replacen("age,sex,city", "<script>alert(1)</script>,\"a\"\"&'</style>\",a\u{1}b", 1)
        .replace("city1,", "<img src=x onerror=alert(1)>,");
    let names = "<script>alert(1)</script>,a\"&'</style>,a\u{1}b,status";
    let folder = Folder::with(&[("t<b>&.csv", &table)]);
    let mut command = folder.command(
        "compare t<b>&.csv --algorithms mondrian,koptimize -k 2,5,10 --report c.html --quiet \
         --sensitive diagnosis --insensitive note --quasi",
    );
    let ended = command.arg(names).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(folder.read("c.html").contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    pages::check(&folder.path("c.html"));
}

#[test]
fn what_cannot_be_done_is_said_before_anything_runs() {
    let folder = Folder::with(&[("t.csv", &people(50, 3))]);
    let fails = |flags: &str, says: &[&str]| {
        folder.fails(&format!("compare t.csv {JOB} {flags}"), 2, says);
    };
    fails("--algorithms mondrain -k 2", &["did you mean `mondrian`?"]);
    fails("--algorithms mondrian,optimal -k 2", &["optimal: full-domain recoding needs"]);
    fails("--algorithms mondrian,mondrian -k 2", &["`mondrian` is named twice"]);
    fails("--algorithms mondrian -k 2,2", &["k = 2 is named twice"]);
    fails("--algorithms mondrian", &["no k is named"]);
    fails("--algorithms mondrian -k 2 --algorithm tds", &["name several with --algorithms"]);
    assert_eq!(folder.files(), ["t.csv"]);
}

#[test]
fn no_release_at_all_is_exit_code_1() {
    let folder = Folder::with(&[("t.csv", &people(20, 4))]);
    let ended = folder.run(&format!("compare t.csv --algorithms mondrian -k 21 {JOB}"));
    assert_eq!(ended.code, 1, "{}", ended.stderr);
}

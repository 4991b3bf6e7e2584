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
fn what_cannot_suppress_is_left_out_where_the_job_suppresses() {
    let folder = Folder::with(&[("t.csv", &people(300, 1))]);
    let args = "--algorithms mondrian,koptimize,single-dimensional -k 5 --suppress 10% --json";
    let ended = folder.ok(&format!("compare t.csv {args} {JOB}"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    for case in found["cases"].as_array().unwrap() {
        let reason = case["failed"].as_str().unwrap_or_default();
        let is_left_out = case["algorithm"] != "koptimize";
        assert_eq!(reason.contains("cannot honour --suppress"), is_left_out, "{case}");
    }
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
    fails("--algorithms samarati,optimal -k 2", &["samarati: full-domain recoding needs"]);
    fails("--algorithms mondrian,koptimize:median -k 2", &["only mondrian chooses its cuts"]);
    fails("--algorithms mondrian:infogian -k 2", &["did you mean `infogain`?"]);
    fails("--algorithms mondrian -k 2 --folds 5", &["jobs with a target"]);
    let target = "--algorithms mondrian -k 2 --target note";
    fails(&format!("{target} --models oracle --folds 1"), &["`oracle`", "no rows to learn from"]);
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

/// An algorithm that cannot do the job does not keep the others from it.
#[test]
fn what_cannot_run_is_left_out_with_its_reason() {
    let folder = Folder::with(&[("t.csv", &people(100, 6))]);
    let command =
        format!("compare t.csv --algorithms mondrian,optimal -k 2,5 {JOB} --report c.html");
    let ended = folder.ok(&command);
    let reason = "`optimal`: full-domain recoding needs a hierarchy";
    assert_eq!(ended.stdout.matches(reason).count(), 1, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("take `mondrian`")
            || ended.stdout.contains("`mondrian` is the only one")
    );
    assert!(folder.read("c.html").contains("is left out: full-domain recoding needs a hierarchy"));
    pages::check(&folder.path("c.html"));
    let ended = folder.ok(&format!("{command} --force --json"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let left_out = &found["cases"][2];
    assert_eq!((&left_out["algorithm"], &left_out["left_out"]), (&"optimal".into(), &true.into()));
    assert!(left_out["failed"].as_str().unwrap().contains("needs a hierarchy"));
    assert!(found["cases"][0]["left_out"].is_null());
    let ended =
        folder.ok(&format!("compare t.csv --algorithms all -k 5 {JOB} --json --time-limit 2s"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let done: Vec<&str> = found["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["left_out"].is_null())
        .map(|case| case["algorithm"].as_str().unwrap())
        .collect();
    for name in ["mondrian", "mondrian-relaxed", "koptimize", "butterfly"] {
        assert!(done.contains(&name), "{name}: {done:?}");
    }
}

/// In the table itself a split by a label without any pattern looks better than it is.
#[test]
fn advice_for_a_target_is_by_held_out_rows() {
    let mut state = 5u64;
    let mut coin = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 63
    };
    let table = people(400, 8);
    let mut text = String::new();
    for (row, line) in table.lines().enumerate() {
        let label = if row == 0 { "label".to_owned() } else { format!("l{}", coin()) };
        text += &format!("{line},{label}\n");
    }
    let folder = Folder::with(&[("t.csv", &text)]);
    let command = "compare t.csv --algorithms mondrian,mondrian:infogain,mondrian-relaxed -k 4 --quasi age,sex,city \
                   --target label --undeclared drop --folds 5 --report c.html";
    let ended = folder.ok(command);
    for says in [
        "by accuracy on held-out rows",
        "no difference shown from",
        "`mondrian-relaxed` has no score",
    ] {
        assert!(ended.stdout.contains(says), "{says}: {}", ended.stdout);
    }
    pages::check(&folder.path("c.html"));
    let ended = folder.ok(&format!("{command} --force --json"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let cases = found["cases"].as_array().unwrap();
    let target = &cases[1]["workload"]["targets"][0];
    let bits = |name: &str| target[name].as_f64().unwrap();
    assert!(bits("entropy") > 0.99 && bits("conditional_entropy") < 0.9, "in the table: {target}");
    let against = &found["advice"]["against"][0];
    assert_eq!(against["is_shown"], false);
    let end = |name: &str| against["difference"][name].as_f64().unwrap();
    assert!(end("lower") <= 0.0 && end("upper") >= 0.0, "{against}");
    let alone = folder.ok(
        "evaluate t.csv --algorithms mondrian,mondrian:infogain -k 4 --quasi age,sex,city --target label \
         --undeclared drop --folds 5 --models decision-tree --json",
    );
    let alone: serde_json::Value = serde_json::from_str(&alone.stdout).unwrap();
    for case in 0..2 {
        let by_fold = &alone["cases"][case]["targets"][0]["models"][0]["released_by_fold"];
        assert_eq!(&cases[case]["held_out"]["by_fold"], by_fold, "as `evaluate` has it");
    }
}

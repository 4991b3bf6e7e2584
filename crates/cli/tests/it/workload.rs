//! Releases for a purpose, and how good models are that are trained on them.

use serde_json::Value;

use crate::harness::{Ended, Folder, PATIENTS, classes};

/// Applicants: the label follows from age and salary.
fn applicants() -> Folder {
    let folder = Folder::with(&[]);
    folder.ok("generate agrawal -o a.csv --rows 1500 --function 2 --seed 5");
    folder
}

const QUASI: &str = "--quasi salary,commission,age,elevel,car,zipcode,hvalue,hyears,loan -k 10";

#[track_caller]
fn with_args(folder: &Folder, args: &str, more: &[&str]) -> Ended {
    let output = folder.command(args).args(more).output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn released(folder: &Folder, args: &str, more: &[&str]) -> Value {
    let args = format!("anonymize a.csv -o r.csv --report r.json --force {QUASI} {args}");
    let ended = with_args(folder, &args, more);
    assert_eq!(ended.code, 0, "{args}\n{}", ended.stderr);
    assert!(classes(&folder.read("r.csv"), 9).values().all(|rows| *rows >= 10), "{args}");
    folder.json("r.json")
}

#[test]
fn a_release_is_better_at_what_it_is_for() {
    let folder = applicants();
    let infogain = released(&folder, "--target group --split infogain", &[]);
    let median = released(&folder, "--target group --split median --measure classification", &[]);
    let lost = |report: &Value| report["measures"]["classification"].as_f64().unwrap();
    assert!(lost(&infogain) < lost(&median) / 2.0);
    let target = &infogain["workload"]["targets"][0];
    assert_eq!(target["column"], "group");
    assert!(target["conditional_entropy"].as_f64() < target["entropy"].as_f64());
    let select = ["--select", "age < 40 AND salary BETWEEN 50000 AND 100000"];
    let imprecision = |report: &Value| {
        let selection = &report["workload"]["selections"][0];
        assert!(selection["rows"].as_u64().unwrap() > 100);
        selection["imprecision"].as_u64().unwrap()
    };
    let selection = released(&folder, "--insensitive group --split selection", &select);
    let composed = released(&folder, "--target group --split selection", &select);
    let median = released(&folder, "--insensitive group --split median", &select);
    assert!(imprecision(&selection) < imprecision(&median));
    assert!(imprecision(&composed) <= imprecision(&selection));
    let n_classes = |report: &Value| report["release"]["classes"].as_u64().unwrap();
    assert!(n_classes(&composed) > n_classes(&selection), "the target's criterion goes on");
}

#[test]
fn the_order_of_the_rows_and_the_threads_do_not_matter() {
    let folder = applicants();
    let text = folder.read("a.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    std::fs::write(folder.path("b.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let query =
        "SELECT COUNT(*), AVG(hyears) WHERE age < 40 OR salary > 90000 AND zipcode IN (1, 3)";
    for args in [
        "--target group --split infogain",
        "--target loan --split lsd --quasi salary,age,car",
        "--target group --algorithm tds",
        "--insensitive group --split queries",
    ] {
        let quasi = if args.contains("--quasi") { "-k 10 --undeclared drop" } else { QUASI };
        let run = |input: &str, output: &str, threads: u32| {
            let args =
                format!("anonymize {input} -o {output} --force {quasi} {args} --threads {threads}");
            let more = if args.contains("queries") { &["--query", query][..] } else { &[] };
            let ended = with_args(&folder, &args, more);
            assert_eq!(ended.code, 0, "{args}\n{}", ended.stderr);
            folder.read(output)
        };
        let first = run("a.csv", "1.csv", 1);
        assert_eq!(first, run("b.csv", "2.csv", 2), "{args}");
    }
}

#[test]
fn a_recoding_made_for_a_purpose_can_be_applied() {
    let folder = applicants();
    released(&folder, "--target group --split infogain --recoding map.json", &[]);
    folder.ok("apply map.json a.csv -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
}

#[track_caller]
fn refused(args: &str, more: &[&str], says: &[&str]) {
    let folder = Folder::with(&[("p.csv", PATIENTS)]);
    let args = format!("anonymize p.csv -o r.csv -k 2 --quasi age,sex,zipcode {args}");
    let ended = with_args(&folder, &args, more);
    assert_eq!(ended.code, 2, "{args} {more:?}\n{}", ended.stderr);
    for text in says {
        assert!(
            ended.stderr.contains(text),
            "{args} {more:?}\nsaid: {}\nnot: {text}",
            ended.stderr
        );
    }
    assert_eq!(folder.files(), ["p.csv"]);
}

#[test]
fn what_is_wrong_with_a_workload_is_said() {
    let sensitive = "--sensitive disease --target disease --split infogain";
    refused(sensitive, &[], &["`disease` is sensitive and a target", "would undo its protection"]);
    refused("--insensitive disease --split infogain", &[], &["needs a target", "--target"]);
    refused("--insensitive disease --algorithm tds", &[], &["tds needs a target"]);
    refused("--target disease --split lsd", &[], &["needs a target of numbers", "infogain"]);
    refused("--target disease --split infogian", &[], &["did you mean `infogain`?"]);
    refused("--target disease --split infogain --relaxed", &[], &["cuts at medians only"]);
    let other = "--target disease --split infogain --algorithm koptimize";
    refused(other, &[], &["`split` is for the algorithm mondrian"]);
    refused("--insensitive disease --split selection", &[], &["needs a selection", "--select"]);
    refused("--insensitive disease --split queries", &[], &["needs queries", "--query"]);
    let select = |condition| ["--select", condition];
    let base = "--insensitive disease --split selection";
    refused(
        base,
        &select("agee < 30"),
        &["`agee`, which is not in the input", "did you mean `age`?"],
    );
    refused(base, &select("age LIKE '2%'"), &["LIKE", "not supported"]);
    refused(base, &select("age < 'old'"), &["`age` is integer", "compared with something else"]);
    refused(base, &select("age <"), &["a selection of the workload"]);
    refused(
        base,
        &select("age < 30 OR disease = 'Flu'"),
        &["joins recoded and other columns by OR"],
    );
    let query = |sql| ["--query", sql];
    let base = "--insensitive disease --split queries";
    refused(base, &query("SELECT age WHERE age < 30"), &["a query of the workload"]);
    refused(
        base,
        &query("SELECT SUM(size) WHERE age < 30"),
        &["`size`, which is not in the input"],
    );
    let sensitive = "--sensitive disease --split queries";
    let says = ["adds up `disease`, which is sensitive"];
    refused(sensitive, &query("SELECT SUM(disease) WHERE age < 30"), &says);
    refused(base, &query("SELECT COUNT(*) WHERE age < 30 GROUP BY sex"), &["GROUP BY"]);
    refused(base, &query("SELECT SUM(disease) WHERE age < 30"), &["not a column of numbers"]);
    let dropped = "--undeclared drop --split queries";
    refused(
        dropped,
        &query("SELECT COUNT(disease) WHERE age < 30"),
        &["`disease`, which is not released"],
    );
    let identifier = "--identifier disease --target disease --split infogain";
    refused(identifier, &[], &["`disease` is an identifier and a target"]);
    let selection = "--insensitive disease --split selection";
    refused(selection, &select("disease = 'Flu'"), &["no selection tells rows apart"]);
    refused(selection, &select("sex = 'Other'"), &["no selection tells rows apart"]);
    refused("--insensitive disease --split median", &select("age < 'x'"), &["`age` is integer"]);
    refused(
        "--insensitive disease --split queries --queries none.sql",
        &[],
        &["`none.sql` does not exist"],
    );
}

#[test]
fn models_are_evaluated_on_rows_that_were_held_out() {
    let folder = applicants();
    let ended = folder.run(&format!(
        "evaluate a.csv {QUASI} --target group --split infogain --folds 3 --models all --projections --json"
    ));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["protocol"]["folds"], 3);
    assert_eq!(found["protocol"]["held_out"], 500);
    let target = &found["cases"][0]["targets"][0];
    assert_eq!(target["models"].as_array().unwrap().len(), 4);
    let tree = &target["models"][0];
    assert_eq!(tree["model"], "decision-tree");
    let majority = target["majority"]["mean"].as_f64().unwrap();
    let accuracy = tree["released"]["mean"].as_f64().unwrap();
    let original = tree["original"]["mean"].as_f64().unwrap();
    assert!(accuracy > majority + 0.2 && original > majority + 0.2, "{accuracy} {original}");
    assert_eq!(target["projections"].as_array().unwrap().len(), 9);
    // Without age and salary nothing is left to learn from; in a release ranges of other columns
    // still tell classes apart.
    let last = target["projections"][8]["original"]["mean"].as_f64().unwrap();
    assert!((last - majority).abs() < 0.1, "{last} {majority}");
    assert_eq!(folder.files(), ["a.csv"], "nothing is written");
    let text =
        folder.ok(&format!("evaluate a.csv {QUASI} --target group --test 0.3 --split median"));
    for word in ["450 held out", "decision-tree", "naive-bayes", "majority", "conditional entropy"]
    {
        assert!(text.stdout.contains(word), "{word}: {}", text.stdout);
    }
}

#[test]
fn what_cannot_be_evaluated_is_said() {
    let folder = applicants();
    for (args, says) in [
        ("--insensitive group", "nothing to evaluate"),
        ("--target group --relaxed", "cannot be applied to held-out"),
        ("--target group --folds 1", "no rows to learn from"),
        ("--target group --folds 1501", "do not leave k rows"),
        ("--target group --repeats 0", "at least 1"),
        ("--target group --algorithms mondrian:lds", "`lds`"),
        ("--target group --test 1.5", "between 0 and 1"),
        ("--target group --models oracle", "known values are"),
        ("--target group --predict loan", "not released as it is"),
        ("--target group --models linear-regression", "none of the models predicts `group`"),
    ] {
        let ended = folder.run(&format!("evaluate a.csv {QUASI} {args}"));
        assert_eq!(ended.code, 2, "{args}\n{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args}\n{}", ended.stderr);
    }
    let ended =
        folder.run("evaluate a.csv -k 10 --quasi salary,age --target age --undeclared drop");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
}

/// Numbers beyond those that a float holds exactly are known by their texts.
#[test]
fn values_beyond_exact_floats_are_evaluated() {
    let mut text = "id,b,label\n".to_owned();
    for row in 0..400u64 {
        let group = row % 4;
        text += &format!(
            "{},{group},{}\n",
            9_100_000_000_000_000 + 1000 * group,
            ["x", "y"][(group % 2) as usize]
        );
    }
    let folder = Folder::with(&[("a.csv", &text)]);
    let ended = folder.ok(
        "evaluate a.csv -k 10 --quasi id --insensitive b --target label --split infogain --test 0.3 \
         --models decision-tree --json",
    );
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let target = &found["cases"][0]["targets"][0];
    let accuracy = target["models"][0]["released"]["mean"].as_f64().unwrap();
    assert!(accuracy > 0.99, "{accuracy}");
}

/// The unit of a target does not matter.
#[test]
fn the_unit_of_a_number_does_not_matter() {
    let release = |unit: &str| {
        let mut text = "a,b,t\n".to_owned();
        for row in 0..300 {
            text += &format!("{},{},{}{unit}\n", row % 50, row % 7, (row * row) % 97);
        }
        let folder = Folder::with(&[("a.csv", &text)]);
        folder.ok("anonymize a.csv -o r.csv -k 5 --quasi a,b --target t --split lsd");
        let text = folder.read("r.csv");
        let mut cells: Vec<String> =
            text.lines().skip(1).map(|row| row.rsplit_once(',').unwrap().0.to_owned()).collect();
        cells.sort();
        cells
    };
    let plain = release("");
    assert_eq!(plain, release("e30"));
    assert_eq!(plain, release("e-30"));
}

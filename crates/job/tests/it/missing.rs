//! A missing sensitive cell is no value: it makes no class more diverse, unless the job says so.

use incrowd_job::{JobSpec, Outcome, Run, anonymize, check};

const TABLE: &str = "zip,ill\n1,HIV\n1,HIV\n1,\n2,flu\n2,cold\n2,gout\n";

fn spec(folder: &std::path::Path, table: &str, privacy: &str) -> JobSpec {
    let input = folder.join("t.csv");
    std::fs::write(&input, table).unwrap();
    let columns = "[columns]\nzip = { role = \"quasi\" }\nill = { role = \"sensitive\" }\n";
    let mut spec = JobSpec::from_toml(&format!("{columns}[privacy]\n{privacy}")).unwrap();
    spec.input = Some(input.display().to_string());
    spec.output = Some(folder.join("o.csv").display().to_string());
    spec
}

fn passes(table: &str, privacy: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path(), table, privacy);
    spec.output = None;
    let found = [Run::default(), Run::default().squeezed(1 << 10)]
        .map(|run| matches!(check(&run, &spec, false).unwrap(), Outcome::Done(_)));
    assert_eq!(found[0], found[1], "in memory and in files");
    found[0]
}

/// HIV, HIV and nothing is one value.
#[test]
fn a_class_of_one_value_and_a_missing_cell_is_not_diverse() {
    for model in [
        "l-diversity = [{ distinct = 2 }]",
        "l-diversity = [{ entropy = 1.5 }]",
        "l-diversity = [{ recursive = [9.0, 2] }]",
        "t-closeness = [{ value = 0.55 }]",
    ] {
        assert!(!passes(TABLE, model), "{model}");
        assert!(passes(TABLE, &format!("{model}\nmissing-sensitive = \"value\"")), "{model}");
        assert!(!passes(TABLE, &format!("{model}\nmissing-sensitive = \"ignore\"")), "{model}");
    }
}

#[test]
fn a_class_without_a_value_satisfies_nothing() {
    let table = "zip,ill\n1,\n1,\n2,flu\n2,cold\n";
    for model in [
        "l-diversity = [{ distinct = 1 }]",
        "l-diversity = [{ entropy = 1 }]",
        "t-closeness = [{ value = 0.99 }]",
    ] {
        assert!(!passes(table, model), "{model}");
    }
}

/// The figures of the worst class, among the cells that have a value.
#[test]
fn figures_leave_missing_cells_out() {
    let folder = tempfile::tempdir().unwrap();
    let figures = |privacy: &str| {
        let spec = spec(folder.path(), TABLE, privacy);
        let outcome = check(&Run::default(), &JobSpec { output: None, ..spec }, false).unwrap();
        let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
        let report: serde_json::Value = serde_json::from_str(&done.report.to_json()).unwrap();
        report["privacy"][0]["sensitive"]["ill"].clone()
    };
    let near = |found: &serde_json::Value, expected: f64| {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} {expected}");
    };
    let found = figures("");
    for (key, expected) in [("l_distinct", 1.0), ("l_entropy", 1.0), ("t", 0.6), ("alpha", 1.0)] {
        near(&found[key], expected);
    }
    // HIV has 2 of 5 cells with a value, and all of its class.
    near(&found["beta"], 1.5);
    let found = figures("missing-sensitive = \"value\"");
    for (key, expected) in [("l_distinct", 2.0), ("t", 0.5), ("alpha", 2.0 / 3.0)] {
        near(&found[key], expected);
    }
}

/// Every search joins the classes, and what it writes is measured in the same way.
#[test]
fn searches_and_verification_agree() {
    let folder = tempfile::tempdir().unwrap();
    let hierarchy = "[search]\nalgorithm = ";
    for algorithm in ["mondrian", "koptimize", "hill-climb", "single-dimensional", "butterfly"] {
        for (said, classes) in [("", 1), ("missing-sensitive = \"value\"\n", 2)] {
            let model = "k = 2\nl-diversity = [{ distinct = 2 }]\n";
            let job = format!("{model}{said}{hierarchy}\"{algorithm}\"\n");
            let outcome =
                anonymize(&Run::default(), &spec(folder.path(), TABLE, &job), true).unwrap();
            let Outcome::Done(done) = outcome else { panic!("{algorithm}: {outcome:?}") };
            assert_eq!(done.report.release.classes, classes, "{algorithm} {said}");
        }
    }
}

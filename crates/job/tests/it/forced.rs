//! Small tables that are forced into private files, a few rows at a time, and into regions:
//! whatever a job asks for, the release, its figures and its page are those of a run in memory.

use std::path::Path;

use incrowd_job::{
    ApplyOptions, JobSpec, Outcome, ProfileOptions, Run, anonymize, apply, check, profile,
};

/// Regions that Mondrian is asked for; with 1 all distinct rows are looked at at once.
const REGIONS: [u32; 3] = [1, 3, 25];

/// Patients with several rows each; some cells are missing, and one is text among numbers.
fn patients(n_rows: u64, seed: u64) -> String {
    let mut state = seed;
    let mut below = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::from("pid,age,sex,city,income,disease,visits,note\n");
    for row in 0..n_rows {
        let (pid, age) = (below(n_rows / 2 + 1), 20 + below(50).min(below(60)));
        let sex = ["f", "m", ""][usize::try_from(below(20).min(2)).unwrap()];
        let city = below(9).min(below(9));
        let income = if below(15) == 0 { String::new() } else { (below(90) * 500).to_string() };
        let disease = ["flu", "cold", "asthma", "gout"][usize::try_from(below(4)).unwrap()];
        let visits = below(7);
        text.push_str(&format!(
            "{pid},{age},{sex},city {city},{income},{disease},{visits},\"n {}, {row}\"\n",
            row % 4
        ));
    }
    text
}

const COLUMNS: &str = r#"
    [columns]
    pid = { role = "identifier" }
    age = { role = "quasi" }
    sex = { role = "quasi" }
    city = { role = "quasi" }
    income = { role = "quasi" }
    disease = { role = "sensitive" }
    visits = { role = "insensitive", target = true }
    note = { role = "insensitive" }
"#;

const TREES: &str = r#"
    [columns]
    pid = { role = "identifier" }
    age = { role = "quasi", hierarchy = { width = 10.0, levels = [2] } }
    sex = { role = "quasi", hierarchy = { fan-out = 2 } }
    city = { role = "quasi", hierarchy = { mask = "right" } }
    disease = { role = "sensitive" }
    visits = { role = "insensitive" }
    note = { role = "insensitive" }
"#;

/// The same columns with an entity: k counts patients.
fn by_entity() -> String {
    COLUMNS.replace(
        "pid = { role = \"identifier\" }",
        "pid = { role = \"identifier\", entity = true }",
    )
}

const MODELS: &str = "l-diversity = [{ column = \"disease\", entropy = 2.0 }]\n\
                      t-closeness = [{ column = \"disease\", value = 0.5 }]\n";

const SETS: &str = r#"
    [[quasi]]
    name = "a"
    columns = ["age", "sex", "city"]
    [[quasi]]
    name = "b"
    columns = ["age", "income"]
    k = 3
    [columns]
    disease = { role = "sensitive" }
    note = { role = "insensitive" }
"#;

fn job(input: &Path, output: &Path, toml: &str) -> JobSpec {
    let mut spec = JobSpec::from_toml(toml).unwrap();
    spec.input = Some(input.display().to_string());
    spec.undeclared = Some("drop".to_owned());
    spec.output = Some(output.display().to_string());
    spec
}

/// The bytes of a release, and the figures of its report that do not depend on how it came about.
#[track_caller]
fn release(run: &Run, spec: &JobSpec) -> (Vec<u8>, serde_json::Value) {
    let outcome = anonymize(run, spec, true).unwrap();
    let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
    let report: serde_json::Value = serde_json::from_str(&done.report.to_json()).unwrap();
    let figures = ["release", "privacy", "risk", "collusion"].map(|key| report[key].clone());
    (std::fs::read(spec.output.as_ref().unwrap()).unwrap(), figures.into())
}

/// The same release from memory and from files.
#[track_caller]
fn same(toml: &str, ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (seed, n_rows) in [(1, 60), (2, 150), (3, 400)] {
        let input = folder.path().join("t.csv");
        std::fs::write(&input, patients(n_rows, seed)).unwrap();
        let mut spec = job(&input, &folder.path().join(format!("r.{ending}")), toml);
        spec.run.temp_dir = Some(folder.path().display().to_string());
        let (expected, of_expected) = release(&Run::default(), &spec);
        for regions in REGIONS {
            let (found, of_found) = release(&Run::default().forced_into_files(regions), &spec);
            assert!(
                found == expected,
                "{n_rows} rows, {regions} regions: another release for {toml}"
            );
            assert_eq!(of_found, of_expected, "{n_rows} rows, {regions} regions: {toml}");
        }
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "the table and the release: nothing else is left");
    }
}

#[test]
fn every_label() {
    for labels in ["range", "bounds", "mean", "range+mean", "region"] {
        for columns in [COLUMNS, &by_entity()] {
            let rest = format!("{columns}\n[privacy]\nk = 3\n[release]\nlabels = \"{labels}\"");
            same(&rest, "csv");
            same(&rest, "parquet");
        }
    }
}

#[test]
fn every_format() {
    for ending in ["csv.gz", "tsv.zst", "arrow"] {
        same(&format!("{COLUMNS}\n[privacy]\nk = 4"), ending);
    }
}

#[test]
fn every_model() {
    for columns in [COLUMNS, &by_entity()] {
        same(&format!("{columns}\n[privacy]\nk = 4\n{MODELS}"), "csv");
        same(&format!("{columns}\n[privacy]\nk = 2\nfail-above = {{ prosecutor = 0.5 }}"), "csv");
    }
}

#[test]
fn every_search() {
    let jobs = [
        ("mondrian", "relaxed = true", COLUMNS),
        ("tds", "", COLUMNS),
        ("single-dimensional", "", COLUMNS),
        ("hill-climb", "measure = \"discernibility\"", COLUMNS),
        ("koptimize", "measure = \"discernibility\"", TREES),
        ("optimal", "", TREES),
        ("incognito", "", TREES),
        ("samarati", "", TREES),
        ("bottom-up", "", TREES),
        ("datafly", "", TREES),
    ];
    for (algorithm, more, columns) in jobs {
        let node_limit = if algorithm == "koptimize" { "[run]\nnode-limit = 200" } else { "" };
        let search = format!("[search]\nalgorithm = \"{algorithm}\"\n{more}\n{node_limit}");
        same(&format!("{columns}\n[privacy]\nk = 3\n{search}"), "csv");
    }
    for split in ["infogain", "lsd"] {
        let rest = format!("[workload]\ntargets = [\"visits\"]\n[search]\nsplit = \"{split}\"");
        same(&format!("{COLUMNS}\n[privacy]\nk = 3\n{rest}"), "csv");
    }
}

#[test]
fn suppressed_rows() {
    for suppressed in ["drop", "star"] {
        for algorithm in ["optimal", "incognito", "datafly", "hill-climb", "koptimize"] {
            let node_limit = if algorithm == "koptimize" { "[run]\nnode-limit = 200" } else { "" };
            let rest = format!(
                "[privacy]\nk = 4\nsuppress = \"10%\"\n[search]\nalgorithm = \"{algorithm}\"\n\
                 measure = \"discernibility\"\n[release]\nsuppressed = \"{suppressed}\"\n\
                 {node_limit}"
            );
            same(&format!("{TREES}\n{rest}"), "csv");
        }
    }
}

#[test]
fn several_sets() {
    for algorithm in ["butterfly", "mondrian"] {
        same(&format!("{SETS}\n[privacy]\nk = 4\n[search]\nalgorithm = \"{algorithm}\""), "csv");
    }
}

/// New rows through a recoding, with an entity, means and rows that fall out.
#[test]
fn a_recoding_that_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old.csv"), patients(300, 4)).unwrap();
    std::fs::write(path("new.csv"), patients(200, 5)).unwrap();
    for (columns, labels) in [(COLUMNS, "range"), (&by_entity(), "range+mean")] {
        let toml = format!("{columns}\n[privacy]\nk = 3\n[release]\nlabels = \"{labels}\"");
        let mut spec = job(&path("old.csv"), &path("old-release.csv"), &toml);
        spec.recoding = Some(path("recoding.json").display().to_string());
        let mut recodings = Vec::new();
        for run in [Run::default(), Run::default().forced_into_files(4)] {
            assert!(matches!(anonymize(&run, &spec, true).unwrap(), Outcome::Done(_)));
            recodings.push(std::fs::read(path("recoding.json")).unwrap());
        }
        assert!(recodings[0] == recodings[1], "{labels}: another recoding");
        let options = ApplyOptions {
            input: path("new.csv").display().to_string(),
            output: path("applied.csv").display().to_string(),
            undeclared: Some("drop".to_owned()),
            suppressed: Some("star".to_owned()),
            unverified: true,
            force: true,
            ..ApplyOptions::default()
        };
        let applied = |run: &Run| {
            let outcome = apply(run, &path("recoding.json"), &options).unwrap();
            assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
            std::fs::read(path("applied.csv")).unwrap()
        };
        let expected = applied(&Run::default());
        for regions in REGIONS {
            let found = applied(&Run::default().forced_into_files(regions));
            assert!(found == expected, "{labels}, {regions} regions");
        }
    }
}

/// What `check` and `profile` find, and what a page tells.
#[test]
fn tables_that_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("t.csv");
    std::fs::write(&input, patients(250, 6)).unwrap();
    let page = folder.path().join("page.html").display().to_string();
    let looked_at = |run: &Run| {
        let toml = format!("{}\n[privacy]\nk = 2\n{MODELS}", by_entity());
        let mut spec = job(&input, &folder.path().join("r.csv"), &toml);
        spec.output = None;
        let report = match check(run, &spec, true).unwrap() {
            Outcome::Done(done) => done.report,
            Outcome::Failed { report, .. } => *report.unwrap(),
        };
        let mut checked: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        for key in ["timings_s", "job"] {
            checked.as_object_mut().unwrap().remove(key);
        }
        let options =
            ProfileOptions { input: input.display().to_string(), ..ProfileOptions::default() };
        let profiled = serde_json::to_string(&profile(run, &options).unwrap()).unwrap();
        let mut spec = job(&input, &folder.path().join("r.csv"), &toml);
        spec.report = Some(page.clone());
        assert!(matches!(anonymize(run, &spec, true).unwrap(), Outcome::Done(_)));
        let html = std::fs::read_to_string(&page).unwrap();
        let from = html.find("Details: privacy before and after").unwrap();
        let to = html.find("<h2>What it is good for").unwrap();
        (checked, profiled, html[from..to].to_owned())
    };
    let expected = looked_at(&Run::default());
    for regions in REGIONS {
        let found = looked_at(&Run::default().forced_into_files(regions));
        assert_eq!(found.0, expected.0, "check, {regions} regions");
        assert_eq!(found.1, expected.1, "profile, {regions} regions");
        assert!(found.2 == expected.2, "the page, {regions} regions");
    }
}

//! A table in private files gives the same release, byte for byte, as one in memory.

use std::path::Path;

use incrowd_job::{ApplyOptions, JobSpec, Outcome, Run, anonymize, apply};

use crate::adult;

/// What every job below has in common: eight quasi-identifier columns of the bundled census.
const COLUMNS: &str = r#"
    [columns]
    age = { role = "quasi" }
    education-num = { role = "quasi" }
    sex = { role = "quasi" }
    race = { role = "quasi" }
    marital-status = { role = "quasi" }
    native-country = { role = "quasi" }
    occupation = { role = "sensitive" }
    hours-per-week = { role = "insensitive" }
    capital-gain = { role = "insensitive" }
"#;

/// The release of a job and the numbers of its report, done with so much memory.
#[track_caller]
fn release(toml: &str, ending: &str, run: &Run, folder: &Path) -> (Vec<u8>, serde_json::Value) {
    let output = folder.join(format!("release.{ending}"));
    let mut spec = JobSpec::from_toml(toml).unwrap();
    spec.input.get_or_insert_with(|| adult().join("adult.csv.gz").display().to_string());
    spec.undeclared = Some("drop".to_owned());
    spec.output = Some(output.display().to_string());
    spec.run.temp_dir = Some(folder.display().to_string());
    let outcome = anonymize(run, &spec, true).unwrap();
    let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
    let mut report: serde_json::Value = serde_json::from_str(&done.report.to_json()).unwrap();
    for key in ["timings_s", "search", "job", "workload"] {
        report.as_object_mut().unwrap().remove(key);
    }
    let left: Vec<_> =
        std::fs::read_dir(folder).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 1, "only the release is left: {left:?}");
    let bytes = std::fs::read(&output).unwrap();
    std::fs::remove_file(output).unwrap();
    (bytes, report)
}

/// The same with different memory left: all vectors fit, or regions of some hundreds of points.
#[track_caller]
fn check(toml: &str, ending: &str, squeezes: &[u64]) {
    let folder = tempfile::tempdir().unwrap();
    let (expected, report) = release(toml, ending, &Run::default(), folder.path());
    for &left in squeezes {
        let run = Run::default().squeezed(left);
        let (found, of_found) = release(toml, ending, &run, folder.path());
        assert!(found == expected, "{left} bytes left: another release for {toml}");
        for key in ["release", "privacy", "risk"] {
            assert_eq!(of_found[key], report[key], "{left}: {key}");
        }
        for key in ["loss", "entropy", "discernibility"] {
            let number = |report: &serde_json::Value| report["measures"][key].as_f64().unwrap();
            let (a, b) = (number(&of_found), number(&report));
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{left}: {key} {a} {b}");
        }
    }
}

/// The page of a release tells the same of privacy wherever the rows were.
#[test]
fn pages() {
    let folder = tempfile::tempdir().unwrap();
    let page = |run: &Run| {
        let report = folder.path().join("r.html").display().to_string();
        let models = "l-diversity = [{ distinct = 2.0 }]";
        let toml = format!("report = '{report}'\n{COLUMNS}\n[privacy]\nk = 9\n{models}");
        let mut spec = JobSpec::from_toml(&toml).unwrap();
        spec.input = Some(adult().join("adult.csv.gz").display().to_string());
        spec.undeclared = Some("drop".to_owned());
        spec.output = Some(folder.path().join("r.csv").display().to_string());
        let outcome = anonymize(run, &spec, true).unwrap();
        assert!(matches!(outcome, Outcome::Done(_)));
        let html = std::fs::read_to_string(report).unwrap();
        let from = html.find("Details: privacy before and after").unwrap();
        let to = html.find("<h2>What it is good for").unwrap();
        html[from..to].to_owned()
    };
    let expected = page(&Run::default());
    for left in [ALL_FIT, REGIONS] {
        assert!(page(&Run::default().squeezed(left)) == expected, "{left}");
    }
}

const ALL_FIT: u64 = 100_000_000;
const REGIONS: u64 = 1_000_000;
const SMALL_REGIONS: u64 = 100_000;

#[test]
fn mondrian() {
    let toml = |rest: &str| format!("{COLUMNS}\n[privacy]\nk = 7\n{rest}");
    check(&toml(""), "csv", &[ALL_FIT, REGIONS, SMALL_REGIONS]);
    check(&toml(""), "parquet", &[ALL_FIT, REGIONS]);
    check(&toml("[release]\nlabels = \"range+mean\""), "csv", &[ALL_FIT, REGIONS]);
    check(&toml("[release]\nlabels = \"bounds\""), "parquet", &[REGIONS]);
}

#[test]
fn mondrian_with_models() {
    let models = "l-diversity = [{ column = \"occupation\", entropy = 2.5 }]\n\
                  t-closeness = [{ column = \"occupation\", value = 0.5 }]";
    check(&format!("{COLUMNS}\n[privacy]\nk = 5\n{models}"), "csv", &[ALL_FIT, REGIONS]);
}

#[test]
fn mondrian_for_a_workload() {
    let targets = "[workload]\ntargets = [\"hours-per-week\"]\n[search]\nsplit = \"lsd\"";
    check(&format!("{COLUMNS}\n[privacy]\nk = 10\n{targets}"), "csv", &[ALL_FIT, REGIONS]);
    let select = "[workload]\nselect = [\"sex = 'Male' AND age >= 40\", \"race = 'Black'\"]\n\
                  [search]\nsplit = \"selection,median\"";
    check(&format!("{COLUMNS}\n[privacy]\nk = 10\n{select}"), "csv", &[ALL_FIT, REGIONS]);
}

#[test]
fn rows_of_a_vector_in_several_classes() {
    let relaxed = "[search]\nrelaxed = true";
    check(&format!("{COLUMNS}\n[privacy]\nk = 4\n{relaxed}"), "csv", &[ALL_FIT, 20_000_000]);
}

#[test]
fn full_domain_with_suppressed_rows() {
    let job = std::fs::read_to_string(adult().join("job-hierarchies.toml")).unwrap();
    let folder = adult().display().to_string();
    let job = job.replace("hierarchies/", &format!("{folder}/hierarchies/"));
    for suppressed in ["drop", "star"] {
        let mut spec = JobSpec::from_toml(&job).unwrap();
        spec.input = Some(adult().join("adult.csv.gz").display().to_string());
        spec.output = None;
        spec.report = None;
        spec.recoding = None;
        spec.search.algorithm = Some("optimal".to_owned());
        spec.search.relaxed = None;
        spec.release.suppressed = Some(suppressed.to_owned());
        spec.privacy.suppress = Some(incrowd_job::SuppressLimit::Text("3%".to_owned()));
        check(&spec.to_toml(), "csv", &[ALL_FIT]);
    }
}

#[test]
fn single_dimensional_and_several_sets() {
    let search = "[search]\nalgorithm = \"hill-climb\"\nmeasure = \"discernibility\"";
    check(&format!("{COLUMNS}\n[privacy]\nk = 50\n{search}"), "csv", &[ALL_FIT]);
    let sets = r#"
        [[quasi]]
        name = "a"
        columns = ["age", "sex", "race"]
        [[quasi]]
        name = "b"
        columns = ["age", "marital-status", "education-num"]
        [columns]
        hours-per-week = { role = "insensitive" }
        [privacy]
        k = 8
        [search]
        algorithm = "butterfly"
    "#;
    check(sets, "csv", &[ALL_FIT]);
}

#[test]
fn a_search_that_does_not_fit_says_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!("{COLUMNS}\n[privacy]\nk = 5\n[search]\nrelaxed = true");
    let mut spec = JobSpec::from_toml(&job).unwrap();
    spec.input = Some(adult().join("adult.csv.gz").display().to_string());
    spec.undeclared = Some("drop".to_owned());
    spec.output = Some(folder.path().join("release.csv").display().to_string());
    spec.run.temp_dir = Some(folder.path().display().to_string());
    let error = anonymize(&Run::default().squeezed(50_000), &spec, false).unwrap_err();
    assert!(format!("{error:?}").contains("memory limit of about"), "{error:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

/// What is advised is not what was asked for.
#[test]
fn a_way_out_of_too_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (rest, advice) in [
        ("[search]\nrelaxed = true", "leave out --relaxed"),
        ("[release]\nlabels = \"region\"", "choose other labels than `region`"),
        ("[search]\nalgorithm = \"single-dimensional\"", "use --algorithm mondrian"),
    ] {
        let mut spec = JobSpec::from_toml(&format!("{COLUMNS}\n[privacy]\nk = 7\n{rest}")).unwrap();
        spec.input = Some(adult().join("adult.csv.gz").display().to_string());
        spec.undeclared = Some("drop".to_owned());
        spec.output = Some(folder.path().join("release.csv").display().to_string());
        let error = anonymize(&Run::default().squeezed(50_000), &spec, false).unwrap_err();
        let error = format!("{error:?}");
        assert!(error.contains("memory limit of about") && error.contains(advice), "{error}");
        assert_eq!(error.contains("--algorithm mondrian"), rest.contains("single"), "{error}");
    }
}

#[test]
fn a_recoding_applied_to_rows_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let hierarchies = std::fs::read_to_string(adult().join("job-hierarchies.toml")).unwrap();
    let hierarchies =
        hierarchies.replace("hierarchies/", &format!("{}/hierarchies/", adult().display()));
    let jobs = [
        format!("{COLUMNS}\n[privacy]\nk = 7"),
        hierarchies.replace("\"mondrian\"", "\"optimal\""),
    ];
    for toml in jobs {
        let mut spec = JobSpec::from_toml(&toml).unwrap();
        spec.input = Some(adult().join("adult.csv.gz").display().to_string());
        spec.undeclared = Some("drop".to_owned());
        spec.output = Some(path("release.csv"));
        spec.recoding = Some(path("recoding.json"));
        let outcome = anonymize(&Run::default(), &spec, true).unwrap();
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        let applied = |run: Run, name: &str| {
            let options = ApplyOptions {
                input: adult().join("adult.csv.gz").display().to_string(),
                output: path(name),
                undeclared: Some("drop".to_owned()),
                force: true,
                ..ApplyOptions::default()
            };
            let recoding = folder.path().join("recoding.json");
            let outcome = apply(&run, &recoding, &options).unwrap();
            assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
            std::fs::read(folder.path().join(name)).unwrap()
        };
        let in_memory = applied(Run::default(), "memory.csv");
        assert!(in_memory == applied(Run::default().squeezed(ALL_FIT), "files.csv"), "{toml}");
    }
}

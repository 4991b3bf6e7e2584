//! Query workloads: Figure 17 of the Mondrian report, and releases made for queries.

use std::fmt::Write;
use std::path::Path;

use incrowd_job::{
    GenerateSpec, JobSpec, QueryOptions, QueryReport, QueryText, Run, anonymize, query,
};

use crate::{adult, job, mean, table};

/// Releases a table and answers queries over it, against the original.
#[track_caller]
fn asked(folder: &Path, spec: &JobSpec, queries: &[String]) -> QueryReport {
    let release = folder.join("release.csv").display().to_string();
    let recoding = folder.join("recoding.json");
    let spec = JobSpec {
        output: Some(release.clone()),
        recoding: Some(recoding.display().to_string()),
        ..spec.clone()
    };
    anonymize(&Run::default(), &spec, true).unwrap();
    let options = QueryOptions {
        release,
        queries: queries.iter().map(QueryText::new).collect(),
        recoding: Some(recoding),
        original: spec.input.clone(),
        ..QueryOptions::default()
    };
    query(&Run::default(), &options).unwrap()
}

/// The mean absolute error.
fn mean_error(report: &QueryReport) -> f64 {
    report.errors.as_ref().unwrap().absolute.as_ref().unwrap().mean
}

/// Figure 17: k, then mean and deviation for predicates on X, and on Y.
const PRINTED: [(u32, [(f64, f64); 2]); 3] = [
    (10, [(4.66, 3.26), (4.03, 3.44)]),
    (25, [(5.69, 3.86), (5.67, 3.80)]),
    (50, [(7.94, 5.87), (8.06, 5.58)]),
];

#[test]
fn counts_err_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    for (k, printed) in PRINTED {
        for (column, (printed_mean, printed_deviation)) in ["a1", "a2"].into_iter().zip(printed) {
            let found = (0..4).map(|seed| {
                let spec = GenerateSpec {
                    kind: "skewed".to_owned(),
                    rows: Some("1000".to_owned()),
                    seed: Some(seed),
                    attributes: Some(2),
                    cardinality: Some(50),
                    mean: Some(25.0),
                    deviation: Some(0.2),
                    ..GenerateSpec::default()
                };
                let input = table(folder.path(), spec);
                let toml = format!(
                    "[columns]\na1 = {{ role = \"quasi\" }}\na2 = {{ role = \"quasi\" }}\n[privacy]\nk = {k}\n"
                );
                let queries: Vec<String> =
                    (0..50).map(|v| format!("SELECT COUNT(*) WHERE {column} = {v}")).collect();
                mean_error(&asked(folder.path(), &job(&input, &toml), &queries))
            });
            let found = mean(&found.collect::<Vec<f64>>());
            let distance = (found - printed_mean).abs();
            assert!(distance <= printed_deviation, "k = {k}, {column}: {found} and {printed_mean}");
        }
    }
}

/// Random range counts over the bundled census table.
fn range_counts(seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let ranges = [("age", 17, 74), ("education-num", 1, 16), ("hours-per-week", 1, 99)];
    let one = |_| {
        let dropped = usize::try_from(below(3)).unwrap();
        let mut sql = "SELECT COUNT(*) WHERE sex IN ('Male', 'Female')".to_owned();
        for (at, (column, first, n)) in ranges.into_iter().enumerate() {
            if at != dropped {
                let (a, b) = (first + below(n), first + below(n));
                write!(sql, " AND \"{column}\" BETWEEN {} AND {}", a.min(b), a.max(b)).unwrap();
            }
        }
        sql
    };
    (0..100).map(one).collect()
}

#[test]
fn a_release_made_for_queries_errs_less_on_them_and_not_more_on_others() {
    let folder = tempfile::tempdir().unwrap();
    let (seen, unseen) = (range_counts(1), range_counts(2));
    let quasi = ["age", "workclass", "education-num", "marital-status", "sex", "hours-per-week"];
    let mut toml = "undeclared = \"drop\"\n[columns]\n".to_owned();
    for name in quasi {
        writeln!(toml, "{name} = {{ role = \"quasi\" }}").unwrap();
    }
    let input = adult().join("adult.csv.gz");
    let error = |split: &str, queries: &[String]| {
        let workload: Vec<String> = seen.iter().map(|sql| format!("{sql:?}")).collect();
        let toml = format!(
            "{toml}[privacy]\nk = 25\n[search]\nsplit = \"{split}\"\n[workload]\nqueries = [{}]\n",
            workload.join(", ")
        );
        mean_error(&asked(folder.path(), &job(&input, &toml), queries))
    };
    let (ours, median) = (error("queries", &seen), error("median", &seen));
    assert!(ours <= median / 2.0, "seen: {ours} and {median}");
    let (ours, median) = (error("queries", &unseen), error("median", &unseen));
    assert!(ours <= median, "unseen: {ours} and {median}");
}

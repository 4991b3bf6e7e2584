//! Several quasi-identifier sets: what butterflies lose against the union, on real and synthetic
//! tables.

use std::path::Path;

use incrowd_job::{
    ColumnSpec, GenerateSpec, HierarchySpec, JobSpec, Outcome, QuasiSpec, Run, anonymize,
};

use crate::{adult, mean, table};

/// A job with these sets; columns in none of them are left out.
fn job(input: &Path, sets: &[&[&str]], k: u64) -> JobSpec {
    let set = |(at, columns): (usize, &&[&str])| QuasiSpec {
        name: format!("set {at}"),
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        ..QuasiSpec::default()
    };
    let mut spec = JobSpec {
        input: Some(input.display().to_string()),
        quasi: sets.iter().enumerate().map(set).collect(),
        undeclared: Some("drop".to_owned()),
        ..JobSpec::default()
    };
    spec.privacy.k = Some(k);
    spec
}

/// The loss of a release.
#[track_caller]
fn loss(folder: &Path, spec: &JobSpec, algorithm: &str, variant: &str) -> f64 {
    let mut spec = spec.clone();
    spec.output = Some(folder.join("release.csv").display().to_string());
    spec.search.algorithm = Some(algorithm.to_owned());
    spec.search.variant = Some(variant.to_owned());
    let Outcome::Done(done) = anonymize(&Run::default(), &spec, true).unwrap() else {
        panic!("a release")
    };
    assert!(done.report.privacy.iter().all(|set| set.satisfied && Some(set.k) >= spec.privacy.k));
    done.report.measures.loss.unwrap()
}

/// By how much the loss is lower than the union's: of the paper's pass, and of what goes on from
/// it.
#[track_caller]
fn gains(spec: &JobSpec) -> [f64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let union = loss(folder.path(), spec, "union", "mondrian");
    let paper = loss(folder.path(), spec, "butterfly", "paper");
    let improved = loss(folder.path(), spec, "butterfly", "improved");
    let k = spec.privacy.k;
    assert!(paper <= union + 1e-12 && improved <= paper + 1e-12, "{:?} k = {k:?}", spec.quasi);
    [1.0 - paper / union, 1.0 - improved / union]
}

fn check(all: &[[f64; 2]], paper: f64, improved: f64) {
    let [of_paper, of_improved] =
        [0, 1].map(|at| mean(&all.iter().map(|gains| gains[at]).collect::<Vec<f64>>()));
    assert!(of_paper > paper && of_improved > improved, "{of_paper} {of_improved}");
}

const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];

#[test]
fn adult_never_loses_more_than_the_union_and_far_less_on_average() {
    let pairs: [[&[&str]; 2]; 3] = [
        [&["age", "sex", "education", "workclass"], &["age", "sex", "occupation", "race"]],
        [
            &["age", "workclass", "education", "marital-status"],
            &["education", "marital-status", "occupation", "native-country"],
        ],
        [&["age", "race", "sex", "occupation"], &["age", "race", "native-country", "workclass"]],
    ];
    let mut all = Vec::new();
    for (at, sets) in pairs.iter().enumerate() {
        for k in KS {
            let mut spec = job(&adult().join("adult.csv.gz"), sets, k);
            let names = sets.concat();
            for &name in names.iter().filter(|name| at == 1 && **name != "age") {
                let file = adult().join(format!("hierarchies/{name}.csv"));
                let hierarchy = Some(HierarchySpec::File(file.display().to_string()));
                spec.columns
                    .insert(name.to_owned(), ColumnSpec { hierarchy, ..ColumnSpec::default() });
            }
            all.push(gains(&spec));
        }
    }
    check(&all, 0.02, 0.3);
}

#[test]
fn synthetic_tables_with_two_to_four_sets() {
    let sets: [&[&[&str]]; 3] = [
        &[&["a1", "a2", "a3", "a4"], &["a3", "a4", "a5", "a6"]],
        &[&["a1", "a2", "a3"], &["a3", "a4", "a5"], &["a5", "a6", "a1"]],
        &[&["a1", "a2"], &["a2", "a3"], &["a3", "a4"], &["a5", "a6"]],
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for kind in ["uniform", "skewed"] {
        let spec = GenerateSpec {
            kind: kind.to_owned(),
            rows: Some("4000".to_owned()),
            attributes: Some(6),
            cardinality: Some(40),
            ..GenerateSpec::default()
        };
        let input = table(folder.path(), spec);
        all.extend(sets.iter().flat_map(|sets| KS.map(|k| gains(&job(&input, sets, k)))));
    }
    check(&all, 0.1, 0.3);
}

//! The orderings that the papers claim hold in the quick version: a regression in quality fails here.

use super::{Lab, PAPERS};

/// Does an experiment of a paper again, quickly, and checks its claims about numbers.
fn holds(name: &str) {
    let experiment = PAPERS.iter().flat_map(|paper| paper.experiments).find(|one| one.name == name);
    let experiment = experiment.expect("an experiment of that name");
    let findings = (experiment.run)(&Lab::new(true, 0).expect("a folder")).expect("findings");
    assert!(!findings.tables.is_empty(), "numbers");
    let is_known =
        |claim: &&super::Claim| claim.holds || claim.is_timing || claim.because.is_some();
    let broken: Vec<_> = findings.claims.iter().filter(|claim| !is_known(claim)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn workload_figure_8() {
    holds("workload-figure-8");
}

#[test]
fn workload_figure_9_abcde() {
    holds("workload-figure-9-abcde");
}

#[test]
fn workload_figure_9_f() {
    holds("workload-figure-9-f");
}

#[test]
fn workload_figure_9_g() {
    holds("workload-figure-9-g");
}

#[test]
fn workload_figure_9_h() {
    holds("workload-figure-9-h");
}

#[test]
fn workload_figure_9_i() {
    holds("workload-figure-9-i");
}

#[test]
fn workload_figure_10() {
    holds("workload-figure-10");
}

#[test]
fn workload_figure_11() {
    holds("workload-figure-11");
}

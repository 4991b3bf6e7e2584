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
fn incognito_nodes() {
    holds("incognito-nodes");
}

#[test]
fn incognito_adult_times() {
    holds("incognito-adult-times");
}

#[test]
fn incognito_large_times() {
    holds("incognito-large-times");
}

#[test]
fn koptimize_figure_6a() {
    holds("koptimize-figure-6a");
}

#[test]
fn koptimize_figure_6b() {
    holds("koptimize-figure-6b");
}

#[test]
fn koptimize_figure_7a() {
    holds("koptimize-figure-7a");
}

#[test]
fn koptimize_figure_7b() {
    holds("koptimize-figure-7b");
}

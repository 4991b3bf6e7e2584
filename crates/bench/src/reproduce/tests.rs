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

/// A test by the name of its experiment.
macro_rules! held {
    ($($test:ident: $name:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($name);
        })*

        #[test]
        fn every_experiment_has_a_test() {
            let tested = [$($name),*];
            let all: Vec<&str> =
                PAPERS.iter().flat_map(|paper| paper.experiments).map(|one| one.name).collect();
            assert_eq!(all, tested);
        }
    };
}

held! {
    mondrian_figures_2_to_8: "mondrian-figure-2-8",
    mondrian_figure_10: "mondrian-figure-10",
    mondrian_figure_11: "mondrian-figure-11",
    mondrian_figure_12: "mondrian-figure-12",
    mondrian_figure_13: "mondrian-figure-13",
    mondrian_figure_14: "mondrian-figure-14",
    mondrian_figures_15_and_16: "mondrian-figure-15-16",
    mondrian_figure_17: "mondrian-figure-17",
    incognito_nodes: "incognito-nodes",
    incognito_adult_times: "incognito-adult-times",
    incognito_large_times: "incognito-large-times",
    koptimize_figure_6a: "koptimize-figure-6a",
    koptimize_figure_6b: "koptimize-figure-6b",
    koptimize_figure_7a: "koptimize-figure-7a",
    koptimize_figure_7b: "koptimize-figure-7b",
    workload_figure_8: "workload-figure-8",
    workload_figures_9a_to_9e: "workload-figure-9-abcde",
    workload_figure_9f: "workload-figure-9-f",
    workload_figure_9g: "workload-figure-9-g",
    workload_figure_9h: "workload-figure-9-h",
    workload_figure_9i: "workload-figure-9-i",
    workload_figure_10: "workload-figure-10",
    workload_figure_11: "workload-figure-11",
    butterfly_tables: "butterfly-tables",
    butterfly_k: "butterfly-k",
    butterfly_overlap: "butterfly-overlap",
    butterfly_sets: "butterfly-sets",
    butterfly_time: "butterfly-time",
}

/// A paper's experiments are called after it, and no two the same, so that every file has its own name.
#[test]
fn names_are_of_their_papers() {
    let mut seen = std::collections::BTreeSet::new();
    for paper in PAPERS {
        for one in paper.experiments {
            assert!(one.name.starts_with(paper.name), "{}", one.name);
            assert!(seen.insert(one.name), "{} twice", one.name);
        }
    }
}

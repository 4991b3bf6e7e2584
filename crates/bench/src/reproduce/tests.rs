//! What the page says holds, and keeps holding.

use std::path::Path;

use super::{Claim, Experiment, Lab, Numbers, PAPERS, Table, Verdict, page};

/// The folder of the page.
fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn experiment(name: &str) -> &'static Experiment {
    let experiment = PAPERS.iter().flat_map(|paper| paper.experiments).find(|one| one.name == name);
    experiment.expect("an experiment of that name")
}

/// The statements of the page about an experiment.
fn published(experiment: &Experiment) -> Vec<Claim> {
    let numbers = Numbers::read(&docs().join(page::FOLDER), experiment).expect("readable numbers");
    (experiment.judge)(&numbers.expect("the numbers are in docs/")).claims
}

/// Whether the quick version contradicts the page. It has fewer rows, trials and k: a single case
/// against a statement may be chance, most cases are not.
fn contradicts(quick: &Claim, on_page: &Claim) -> bool {
    let (n_false, n_cases) = quick.against;
    match on_page.verdict {
        Verdict::Agrees => quick.verdict == Verdict::Differs,
        Verdict::Partly => on_page.is_papers() && 2 * n_false > n_cases,
        // The page says why it does not hold.
        Verdict::Differs | Verdict::NotShown => false,
    }
}

/// Runs the quick version of an experiment, and compares its verdicts, times aside, with those of
/// the page.
fn holds(name: &str) {
    let experiment = experiment(name);
    let findings = (experiment.run)(&Lab::new(true, 0).expect("a folder")).expect("findings");
    let tables = findings.tables.iter().map(|table| Table::parse(&table.csv(), &table.suffix));
    let tables =
        tables.collect::<Result<Vec<Table>, _>>().expect("numbers as their files have them");
    assert!(!tables.is_empty(), "numbers");
    let quick = (experiment.judge)(&Numbers::new(true, tables)).claims;
    let published = published(experiment);
    let broken = quick.iter().filter(|claim| {
        let on_page = published.iter().find(|other| other.says == claim.says);
        let on_page = on_page.expect("the page has every statement of the quick version");
        !claim.is_timing && contradicts(claim, on_page)
    });
    let broken: Vec<&Claim> = broken.collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The page is what its numbers give: nobody writes a verdict by hand, and no change of a judgement
/// goes unseen.
#[test]
fn the_page_is_judged_from_its_numbers() {
    let gathered = page::gather(&docs().join(page::FOLDER)).expect("all numbers");
    let written = std::fs::read_to_string(docs().join(page::NAME)).expect("the page");
    assert!(
        gathered.page == written,
        "docs/{} is not what its numbers give; run `incrowd-bench reproduce --judge --out docs`",
        page::NAME
    );
    let read = |name: String| {
        std::fs::read_to_string(docs().join(page::FOLDER).join(name)).expect("a file of the page")
    };
    for page::Part { experiment, text, plots } in &gathered.parts {
        assert_eq!(*text, read(experiment.file("", "md")));
        for (suffix, svg) in plots {
            let name = experiment.file(suffix, "svg");
            assert!(*svg == read(name.clone()), "{name} is not drawn from its numbers");
        }
    }
    assert_eq!(gathered.parts.len(), PAPERS.iter().flat_map(|paper| paper.experiments).count());
}

/// A statement of a paper that does not simply agree says why, so that a reader need not guess.
#[test]
fn what_does_not_agree_says_why() {
    for experiment in PAPERS.iter().flat_map(|paper| paper.experiments) {
        for claim in published(experiment) {
            let says_why = claim.because.is_some() || !claim.is_papers();
            assert!(claim.verdict == Verdict::Agrees || says_why, "{}: {claim:?}", experiment.name);
        }
    }
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

/// A paper's experiments are called after it, and no two the same, so that every file has its own
/// name.
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

//! The table of algorithms in the guide says what [`Algorithm`] answers.

use std::path::Path;

use incrowd_quality::Measure;
use incrowd_search::{Algorithm, RecodingKind, WorkloadUse};

/// The row that the guide must have for an algorithm, after its names.
fn expected(algorithm: Algorithm) -> [String; 11] {
    let yes = |is_yes: bool| if is_yes { "yes" } else { "no" };
    let resumes = algorithm.can_resume();
    assert_eq!(resumes, algorithm.takes_start(), "one column for both");
    assert_eq!(resumes, algorithm.takes_node_limit(), "one column for both");
    assert_eq!(algorithm.takes_levels(), algorithm.takes_weights(), "one column for both");
    let measures: Vec<&str> = Measure::ALL
        .iter()
        .filter(|(_, measure)| algorithm.minimises(*measure))
        .map(|(name, _)| *name)
        .collect();
    let minimises = match measures.len() {
        0 => "nothing".to_owned(),
        n if n == Measure::ALL.len() => "any measure".to_owned(),
        _ => measures.join(", "),
    };
    let minimal = if algorithm.always_lists_minimal_nodes() {
        "always"
    } else {
        yes(algorithm.lists_minimal_nodes())
    };
    let workload = match algorithm.workload() {
        WorkloadUse::Nothing => "nothing",
        WorkloadUse::Splits => "`--split`",
        WorkloadUse::Targets => "targets",
    };
    [
        algorithm.kind().name(),
        &minimises,
        yes(algorithm.suppresses()),
        yes(algorithm.takes_levels()),
        minimal,
        yes(algorithm.minimises_over_intervals()),
        yes(resumes),
        if algorithm.protects_each_set() { "each set" } else { "their union" },
        workload,
        if algorithm.is_anytime() { "the best so far" } else { "nothing" },
        yes(algorithm.can_save_recoding()),
    ]
    .map(str::to_owned)
}

#[test]
fn every_kind_of_recoding_is_found_by_its_name() {
    for (name, kind) in RecodingKind::NAMES {
        assert_eq!((kind.name(), RecodingKind::named(name)), (name, Some(kind)));
    }
    assert_eq!(RecodingKind::named("other"), None);
}

#[test]
fn the_table_of_the_guide_agrees_with_the_answers() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/algorithms.md");
    let text = std::fs::read_to_string(page).unwrap();
    let is_header = |line: &&str| line.starts_with("| algorithm | recoding | minimises |");
    let from_header = text.lines().skip_while(|line| !is_header(line));
    let rows: Vec<Vec<&str>> = from_header
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let mut listed: Vec<&str> = Vec::new();
    for row in &rows {
        for name in row[0].split(", ") {
            let name = name.trim_matches('`');
            let found = Algorithm::ALL.iter().find(|(known, _)| *known == name);
            let (_, algorithm) = found.unwrap_or_else(|| panic!("no algorithm `{name}`"));
            assert_eq!(row[1..], expected(*algorithm), "the row of `{name}`");
            listed.push(name);
        }
    }
    let all: Vec<&str> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, all, "every algorithm has one row, in this order");
}

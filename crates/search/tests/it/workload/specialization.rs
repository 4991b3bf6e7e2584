//! Top-down specialization against the oracle.

use incrowd_search::{Algorithm, Outcome};
use incrowd_testkit::assignment::canonical;
use incrowd_testkit::generate::Rng;
use incrowd_testkit::workload::generate::{self, CLASS, ILLNESS};
use incrowd_testkit::workload::{Asked, Target, Tds, Workload};

use super::{run, some_job, told};
use crate::check_found;
use crate::single_dimensional::cuts_of;

/// Compares the cuts of a random table; gives the difference, if there is one.
fn check(seed: u64, max_rows: usize, n_cuts: &mut usize) -> Option<String> {
    let rng = &mut Rng::new(seed);
    let table = generate::table(rng, max_rows);
    let job = some_job(rng, &table);
    // A specialization that breaks a model once is not tried again.
    if !job.models.iter().all(|model| model.is_monotone()) {
        return None;
    }
    let targets = match rng.below(3) {
        0 => vec![Target::Labels(CLASS)],
        1 => vec![Target::Labels(ILLNESS)],
        _ => vec![Target::Labels(CLASS), Target::Labels(ILLNESS)],
    };
    let workload = Workload { targets, ..Workload::default() };
    let (set, vector_of) = table.collapse();
    let Outcome::Found(found) = run(Algorithm::Tds, &set, &job, &told(&workload)) else {
        return None;
    };
    let classes = check_found(&table, (&set, &vector_of), &found, &job).unwrap();
    let asked = Asked { oracle: job.oracle(&table), workload: &workload };
    let expected = Tds::new(asked).finished();
    let cuts = cuts_of(&found, table.attributes.len());
    *n_cuts += cuts.len();
    if cuts != expected.cuts() {
        let asked = format!("{}, {:?} of {table:?}", job.describe(), workload.targets);
        return Some(format!("seed {seed}: {cuts:?}, not {:?}: {asked}", expected.cuts()));
    }
    assert_eq!(canonical(classes), expected.classes(), "seed {seed}");
    None
}

#[test]
fn every_specialization_is_the_one_with_the_highest_score() {
    let mut n_cuts = 0;
    for (seeds, max_rows) in [(0..4_000, 40), (5_000..5_100, 300)] {
        let differ: Vec<String> =
            seeds.filter_map(|seed| check(seed, max_rows, &mut n_cuts)).collect();
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }
    assert!(n_cuts > 5_000, "{n_cuts}");
}

//! Top-down specialization against the oracle.

use incrowd_search::{Algorithm, Outcome};
use incrowd_testkit::assignment::canonical;
use incrowd_testkit::generate::Rng;
use incrowd_testkit::workload::generate::{self, CLASS, ILLNESS};
use incrowd_testkit::workload::{Asked, Target, Tds, Workload};

use super::{run, some_job, told};
use crate::check_found;
use crate::single_dimensional::cuts_of;

fn check(seed: u64, max_rows: usize, n_cuts: &mut usize) -> Result<(), String> {
    let rng = &mut Rng::new(seed);
    let table = generate::table(rng, max_rows);
    let job = some_job(rng);
    let targets = match rng.below(3) {
        0 => vec![Target::Labels(CLASS)],
        1 => vec![Target::Labels(ILLNESS)],
        _ => vec![Target::Labels(CLASS), Target::Labels(ILLNESS)],
    };
    let workload = Workload { targets, ..Workload::default() };
    let (set, vector_of) = table.collapse();
    let Outcome::Found(found) = run(Algorithm::Tds, &set, &job, &told(&workload)) else {
        return Ok(());
    };
    let classes = check_found(&table, (&set, &vector_of), &found, &job).unwrap();
    let asked = Asked { oracle: job.oracle(&table), workload: &workload };
    let expected = Tds::new(asked).finished();
    let cuts = cuts_of(&found, table.attributes.len());
    *n_cuts += cuts.len();
    let is_same = cuts == expected.cuts() && canonical(classes.clone()) == expected.classes();
    let context = || {
        let same = canonical(classes.clone()) == expected.classes();
        format!(
            "seed {seed} {}: classes same {same}\nmade {cuts:?}\nexpected {:?}\n{:?}\n{table:?}",
            job.describe(),
            expected.cuts(),
            workload.targets
        )
    };
    if is_same { Ok(()) } else { Err(context()) }
}

#[test]
fn every_specialization_is_the_one_with_the_highest_score() {
    let max_rows: usize = std::env::var("ROWS").map_or(40, |n| n.parse().unwrap());
    let n: u64 = std::env::var("SEEDS").map_or(500, |n| n.parse().unwrap());
    let mut n_cuts = 0;
    let wrong: Vec<String> = (0..n).filter_map(|s| check(s, max_rows, &mut n_cuts).err()).collect();
    eprintln!("{n_cuts} cuts, {} of {n} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.iter().min_by_key(|text| text.len()).unwrap());
}

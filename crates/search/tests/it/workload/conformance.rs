//! Tests of every search for any workload, and that later criteria do not undo earlier ones.

use std::time::Duration;

use incrowd_data::FrequencySet;
use incrowd_privacy::EntropyDiversity;
use incrowd_search::{Algorithm, Budget, Infeasible, Outcome, Workload};
use incrowd_testkit::assignment::{Rows, contents};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::workload::generate::{self, CLASS, ILLNESS};
use incrowd_testkit::workload::{Asked, Split, Target, Workload as Slow};
use incrowd_testkit::{Form, Table};
use rayon::ThreadPoolBuilder;

use super::{Aim, run, run_within, told};
use crate::{Job, check_found, jobs};

/// Mondrian with every workload, and top-down specialization.
fn searches(table: &Table, seed: u64) -> Vec<(Algorithm, Workload)> {
    let of = |aim: Aim| told(&aim.workload(&mut Rng::new(seed), table));
    let mut searches: Vec<(Algorithm, Workload)> =
        Aim::all().map(|aim| (Algorithm::Mondrian, of(aim))).collect();
    let targets = vec![Target::Labels(CLASS), Target::Labels(ILLNESS)];
    searches.push((Algorithm::Tds, told(&Slow { targets, ..Slow::default() })));
    searches
}

fn some_tables(seeds: std::ops::Range<u64>, n_rows: usize) -> impl Iterator<Item = (u64, Table)> {
    seeds.map(move |seed| (seed, generate::table(&mut Rng::new(seed), n_rows)))
}

fn with_rows(table: &Table, rows: Vec<Vec<u32>>) -> Table {
    Table { rows, ..table.clone() }
}

/// The classes that a search finds, checked; none if it is infeasible.
#[track_caller]
fn verified(
    table: &Table,
    job: &Job,
    (algorithm, workload): &(Algorithm, Workload),
) -> Option<Vec<Rows>> {
    let (set, vector_of) = table.collapse();
    match run(*algorithm, &set, job, workload) {
        Outcome::Found(found) => Some(check_found(table, (&set, &vector_of), &found, job).unwrap()),
        Outcome::Infeasible(Infeasible::WholeTable { broken }) => {
            assert_eq!(broken, crate::broken(table, job));
            None
        }
        other => panic!("{algorithm:?}: {other:?}"),
    }
}

#[test]
fn no_rows_and_too_few() {
    for (seed, table) in some_tables(0..10, 20) {
        for (algorithm, workload) in searches(&table, seed) {
            let outcome = |table: &Table, k: u64| {
                run(algorithm, &table.frequency_set(), &Job::of_k(k), &workload)
            };
            let empty = outcome(&with_rows(&table, vec![]), 2);
            assert_eq!(empty, Outcome::Infeasible(Infeasible::Empty));
            let one = with_rows(&table, table.rows[..1].to_vec());
            for (table, k) in [(&one, 2), (&table, table.rows.len() as u64 + 1)] {
                let broken = vec![format!("{k}-anonymity")];
                assert_eq!(
                    outcome(table, k),
                    Outcome::Infeasible(Infeasible::WholeTable { broken })
                );
            }
        }
    }
}

#[test]
fn equal_rows_are_one_class_and_so_are_all_rows_if_k_requires_it() {
    for (seed, table) in some_tables(20..30, 30) {
        let all = |table: &Table| vec![(0..table.rows.len()).collect::<Rows>()];
        let equal = with_rows(&table, vec![table.rows[0].clone(); 20]);
        for search in searches(&table, seed) {
            assert_eq!(verified(&equal, &Job::of_k(2), &search), Some(all(&equal)));
            let k = table.rows.len() as u64 / 2 + 1;
            assert_eq!(verified(&table, &Job::of_k(k), &search), Some(all(&table)));
        }
    }
}

#[test]
fn every_model_holds_and_the_order_of_the_rows_does_not_matter() {
    let mut n_found = 0;
    for (seed, table) in some_tables(40..70, 120) {
        let mut shuffled = table.clone();
        Rng::new(seed).shuffle(&mut shuffled.rows);
        for search in searches(&table, seed) {
            for (job, again) in jobs(&table, 3).iter().zip(&jobs(&shuffled, 3)) {
                let first = verified(&table, job, &search).map(|c| contents(&table, &c));
                let second = verified(&shuffled, again, &search).map(|c| contents(&shuffled, &c));
                assert_eq!(first, second, "{:?} of {table:?}", search.1);
                n_found += usize::from(first.is_some_and(|classes| classes.len() > 1));
            }
        }
    }
    assert!(n_found > 2_000, "{n_found}");
}

fn large(n_rows: usize, max_values: usize) -> Table {
    let forms = &Form::ALL;
    let recipe = Recipe { n_rows, n_attributes: 4, forms, max_values, missing: true };
    let rng = &mut Rng::new(7);
    generate::with_targets(random_table(rng, &recipe), rng)
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let pools = [1, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let table = large(40_000, 20);
    let (set, vector_of) = table.collapse();
    assert!(set.len() > 1 << 15);
    let check = |job: &Job, (algorithm, workload): &(Algorithm, Workload)| {
        let run = || run(*algorithm, &set, job, workload);
        let [one, eight] = pools.each_ref().map(|pool| pool.install(run));
        // Not `assert_eq`, which would print the outcomes.
        assert!(one == eight, "{algorithm:?}, {:?}, {}", workload.splits, job.describe());
        let Outcome::Found(found) = one else { panic!("feasible") };
        check_found(&table, (&set, &vector_of), &found, job).unwrap();
    };
    let searches = searches(&table, 7);
    for search in &searches {
        check(&Job::of_k(20), search);
    }
    let diverse = Job::of_k(20).with(EntropyDiversity::new(0, 1.8).unwrap());
    searches.iter().step_by(4).for_each(|search| check(&diverse, search));
}

#[test]
fn without_time_the_table_is_one_class_and_a_cancelled_search_shows_nothing() {
    let table = large(3_001, 30);
    let (set, vector_of): (FrequencySet, Vec<u32>) = table.collapse();
    for job in jobs(&table, 5) {
        for (algorithm, workload) in searches(&table, 3) {
            let spent = Budget::unlimited().within(Some(Duration::ZERO));
            let outcome = run_within(algorithm, &set, &job, &workload, &spent);
            let Outcome::Found(found) = outcome else { panic!("{algorithm:?}: {outcome:?}") };
            let classes = check_found(&table, (&set, &vector_of), &found, &job).unwrap();
            assert!(classes.len() == 1 && found.proof.is_cut_short, "{algorithm:?}");
            let cancelled = Budget::unlimited();
            cancelled.cancel();
            let outcome = run_within(algorithm, &set, &job, &workload, &cancelled);
            assert_eq!(outcome, Outcome::Cancelled);
        }
    }
}

/// The number of rows that selections return without satisfying them, over all classes.
fn imprecision(asked: &Asked, classes: &[Rows]) -> f64 {
    classes.iter().map(|rows| asked.imprecision(&asked.cell(rows), rows)).sum()
}

#[test]
fn selections_gain_by_every_cut_and_later_criteria_take_nothing_back() {
    let (mut n_lower, mut n_lower_still) = (0, 0);
    for (seed, table) in some_tables(100..1_100, 60) {
        let job = Job::of_k(2 + seed % 4);
        let together = Aim::Together(&[Split::Selection, Split::Targets]);
        let both = together.workload(&mut Rng::new(seed), &table);
        let alone = Slow { splits: vec![Split::Selection], ..both.clone() };
        let asked = Asked { oracle: job.oracle(&table), workload: &both };
        let after = |workload: &Slow| {
            let search = (Algorithm::Mondrian, told(workload));
            verified(&table, &job, &search).map(|classes| imprecision(&asked, &classes))
        };
        let (Some(both), Some(alone)) = (after(&both), after(&alone)) else { continue };
        let before = imprecision(&asked, &[(0..table.rows.len()).collect()]);
        assert!(both <= alone && alone <= before, "{both} {alone} {before} of {table:?}");
        n_lower += usize::from(alone < before);
        n_lower_still += usize::from(both < alone);
    }
    assert!(n_lower > 200 && n_lower_still > 50, "{n_lower} {n_lower_still}");
}

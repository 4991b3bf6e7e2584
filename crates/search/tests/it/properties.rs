//! The theorems of TR 1521, and bounds that no search can beat.

use std::collections::BTreeMap;

use incrowd_search::Algorithm;
use incrowd_testkit::assignment::{Rows, canonical};
use incrowd_testkit::generate::{Recipe, Rng, random_table, tables};
use incrowd_testkit::oracle::{equal_rows, least_discernibility};
use incrowd_testkit::{Form, Table};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{Job, jobs, verified};

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1521),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The most rows that are equal on the quasi-identifier.
fn most_copies(table: &Table, rows: &[usize]) -> usize {
    let mut copies: BTreeMap<&[u32], usize> = BTreeMap::new();
    for &row in rows {
        *copies.entry(table.quasi(row)).or_default() += 1;
    }
    copies.into_values().max().unwrap_or(0)
}

fn discernibility(classes: &[Rows]) -> u64 {
    classes.iter().map(|rows| (rows.len() * rows.len()) as u64).sum()
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn theorem_4(table in tables(&Form::ORDERED, 1..=80, 1..=5), k in 2usize..8) {
        let classes = verified(Algorithm::Mondrian, &table, &Job::of_k(k as u64));
        let d = table.attributes.len();
        for rows in classes.unwrap_or_default() {
            let bound = 2 * d * (k - 1) + most_copies(&table, &rows);
            prop_assert!((k..=bound).contains(&rows.len()), "{} rows, bound {bound}", rows.len());
        }
    }

    #[test]
    fn theorem_5(table in tables(&Form::ALL, 1..=80, 1..=5), k in 2usize..8) {
        let classes = verified(Algorithm::MondrianRelaxed, &table, &Job::of_k(k as u64));
        for rows in classes.unwrap_or_default() {
            let all_equal = most_copies(&table, &rows) == rows.len();
            let bound = if all_equal { usize::MAX } else { 2 * k - 1 };
            prop_assert!((k..=bound).contains(&rows.len()), "{} rows, bound {bound}", rows.len());
        }
    }

    /// Every model on tables that shrink: `verified` does the checking, the reference the rest.
    #[test]
    fn strict_is_the_reference(table in tables(&Form::ALL, 1..=30, 1..=4), k in 2u64..5) {
        for job in jobs(&table, k) {
            verified(Algorithm::MondrianRelaxed, &table, &job);
            if let Some(classes) = verified(Algorithm::Mondrian, &table, &job) {
                prop_assert_eq!(canonical(classes), canonical(job.oracle(&table).mondrian()));
            }
        }
    }

    /// Three copies of every row at three times k: the same cuts are allowable.
    #[test]
    fn copies_change_nothing(table in tables(&Form::ALL, 1..=40, 1..=4), k in 2u64..5) {
        let n_rows = table.rows.len();
        let mut thrice = table.clone();
        thrice.rows = table.rows.iter().cycle().take(3 * n_rows).cloned().collect();
        let once = verified(Algorithm::Mondrian, &table, &Job::of_k(k)).map(canonical);
        let thrice = verified(Algorithm::Mondrian, &thrice, &Job::of_k(3 * k)).map(|mut classes| {
            for rows in &mut classes {
                rows.retain(|&row| row < n_rows);
            }
            canonical(classes)
        });
        prop_assert_eq!(once, thrice);
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// No search beats the best of all partitions of the rows, and a global recoding not even the
    /// best of those that keep equal rows together.
    #[test]
    fn greedy_is_never_below_the_optimum(
        table in tables(&Form::ALL, 1..=8, 1..=2),
        k in 2u64..4,
    ) {
        let singles: Vec<Rows> = (0..table.rows.len()).map(|row| vec![row]).collect();
        for job in jobs(&table, k) {
            let oracle = job.oracle(&table);
            let holds = |rows: &[usize]| oracle.holds(rows);
            for (algorithm, groups) in [
                (Algorithm::Mondrian, equal_rows(&table)),
                (Algorithm::MondrianRelaxed, singles.clone()),
            ] {
                let found = verified(algorithm, &table, &job).map(|classes| discernibility(&classes));
                if let Some(found) = found {
                    let least = least_discernibility(&groups, &holds);
                    prop_assert!(least.is_some_and(|least| least <= found), "{least:?}, {found}");
                }
            }
        }
    }
}

/// Section 4: both halves are of equal size, except for one row if the whole is odd. With nothing
/// missing, no hierarchy and few equal rows the sizes follow from `n` and `k` alone.
#[test]
fn relaxed_halves() {
    let mut n_checked = 0;
    for seed in 0..300 {
        let rng = &mut Rng::new(seed);
        let (n_rows, k) = (1 + rng.below(300), 2 + rng.below(9));
        let forms = &Form::ORDERED;
        let recipe = Recipe { n_rows, n_attributes: 4, forms, max_values: 40, missing: false };
        let table = random_table(rng, &recipe);
        let all: Rows = (0..n_rows).collect();
        let classes = verified(Algorithm::MondrianRelaxed, &table, &Job::of_k(k as u64));
        let Some(classes) = classes.filter(|_| most_copies(&table, &all) < 2 * k) else { continue };
        let mut sizes: Vec<usize> = classes.iter().map(Vec::len).collect();
        let mut expected = halves(n_rows, k);
        sizes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(sizes, expected, "{n_rows} rows, k = {k}");
        n_checked += 1;
    }
    assert!(n_checked > 100, "{n_checked} tables");
}

/// The sizes of the classes if every region of `2k` rows or more is halved.
fn halves(n: usize, k: usize) -> Vec<usize> {
    if n < 2 * k { vec![n] } else { [halves(n / 2, k), halves(n - n / 2, k)].concat() }
}

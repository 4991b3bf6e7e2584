//! The worst combinations against a count of all of them.

use incrowd_data::Codes;

use super::super::refined::Refined;
use super::*;

/// A table of random codes: by column, how many codes it has.
fn table(n_rows: usize, n_codes: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let mut state = seed.wrapping_mul(2) + 1;
    let mut below = move |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).unwrap() % n
    };
    n_codes.iter().map(|&n| (0..n_rows).map(|_| below(n).min(below(n))).collect()).collect()
}

/// All combinations of up to four of so many columns.
fn all_sets(n_columns: usize) -> Vec<Vec<usize>> {
    let sets = (1u32..1 << n_columns).filter(|bits| bits.count_ones() <= 4);
    sets.map(|bits| (0..n_columns).filter(|at| bits >> at & 1 == 1).collect()).collect()
}

fn counted(table: &[Vec<u32>], set: &[usize], n_rows: usize) -> Tally {
    let mut classes = std::collections::BTreeMap::new();
    let of_row = |row: usize| set.iter().map(|&at| table[at][row]).collect::<Vec<u32>>();
    for key in (0..n_rows).map(of_row) {
        *classes.entry(key).or_insert(0) += 1;
    }
    let mut tally = Tally::default();
    for &n_rows in classes.values() {
        tally.add(n_rows);
    }
    tally
}

/// What is listed, by counting everything.
fn expected(table: &[Vec<u32>], n_rows: usize) -> Vec<Found> {
    let unique = |set: &[usize]| counted(table, set, n_rows).unique;
    let is_minimal = |set: &Vec<usize>| {
        let without = |at: usize| [&set[..at], &set[at + 1..]].concat();
        (0..set.len()).all(|at| set.len() == 1 || unique(&without(at)) < unique(set))
    };
    let mut expected = Vec::new();
    for size in 1..=4 {
        let sets = all_sets(table.len()).into_iter().filter(|set| set.len() == size);
        let mut found: Vec<Found> = sets
            .filter(|set| unique(set) > 0 && is_minimal(set))
            .map(|columns| Found { tally: counted(table, &columns, n_rows), columns })
            .collect();
        found.sort_by_key(|found| (Reverse(found.tally.unique), found.columns.clone()));
        found.truncate(MOST_LISTED);
        expected.extend(found);
    }
    expected
}

fn with_rows<T>(table: &[Vec<u32>], n_rows: usize, then: impl FnOnce(&Refined) -> T) -> T {
    let n_codes = |codes: &Vec<u32>| codes.iter().max().map_or(1, |most| most + 1);
    let packed: Vec<(Codes, u32)> = table
        .iter()
        .map(|codes| (Codes::pack(n_codes(codes), codes.iter().copied()), n_codes(codes)))
        .collect();
    let columns: Vec<(&Codes, u32)> = packed.iter().map(|(codes, n)| (codes, *n)).collect();
    then(&Refined::all(&columns, n_rows))
}

#[track_caller]
fn check(table: &[Vec<u32>], n_rows: usize) {
    let found = with_rows(table, n_rows, |all| {
        let candidates: Vec<usize> = (0..table.len()).collect();
        worst(&Run::default(), all, &candidates, n_rows as u64).unwrap()
    });
    assert!(found.is_exact);
    assert_eq!(found.found, expected(table, n_rows), "{} columns", table.len());
}

#[test]
fn the_worst_are_those_of_an_exhaustive_count() {
    for seed in 0..12 {
        check(&table(40, &[9, 7, 5, 4, 3, 2], seed), 40);
        check(&table(60, &[2, 3, 40, 2, 2, 3, 2], seed), 60);
        check(&table(200, &[300, 6, 6, 6, 5, 5, 2, 2], seed), 200);
        check(&table(9, &[3, 3, 3], seed), 9);
        check(&table(30, &[2, 2, 2, 2, 2, 2, 2, 2, 2], seed), 30);
    }
}

/// Equal columns and columns that follow from others: many ties, many combinations that are not
/// minimal.
#[test]
fn ties_and_dependent_columns() {
    for seed in 0..12 {
        let mut columns = table(50, &[8, 6, 4, 3], seed);
        columns.push(columns[0].clone());
        columns.push(columns[1].iter().map(|code| code / 2).collect());
        columns.push((0..50).map(|row| columns[0][row] * 4 + columns[2][row]).collect());
        check(&columns, 50);
        let keys: Vec<u32> = (0..50).collect();
        check(&[keys.clone(), columns[0].clone(), keys], 50);
    }
}

#[test]
fn nothing_to_find() {
    for (n_rows, n_columns) in [(0, 2), (1, 0), (5, 0)] {
        check(&vec![vec![0; n_rows]; n_columns], n_rows);
    }
    check(&[vec![0; 6], vec![1; 6]], 6);
    check(&[vec![0, 1, 2]], 3);
}

/// Growing the worst finds nothing that counting everything would not call worse or equal.
#[test]
fn growing_never_beats_the_exhaustive_count() {
    for seed in 0..8 {
        let table = table(60, &[9, 7, 5, 4, 3, 2], seed);
        let grown = with_rows(&table, 60, |all| {
            let run = Run::default();
            let candidates = &[0, 1, 2, 3, 4, 5];
            let search =
                Search { run: &run, all, candidates, n_columns: 6, state: Mutex::default() };
            search.grow().unwrap();
            search.state.into_inner().unwrap().listed
        });
        let best = expected(&table, 60);
        for found in grown.iter().flatten() {
            assert_eq!(found.tally, counted(&table, &found.columns, 60));
            let size = found.columns.len();
            let worst = best.iter().find(|best| best.columns.len() == size).unwrap();
            assert!(found.tally.unique <= worst.tally.unique);
        }
        // All single columns and all pairs are counted.
        let of = |size: usize| {
            best.iter().filter(|found| found.columns.len() == size).cloned().collect::<Vec<_>>()
        };
        assert_eq!((&grown[0], &grown[1]), (&of(1), &of(2)));
    }
}

#[test]
fn combinations_are_counted() {
    assert_eq!([0, 1, 4, 10, 20].map(n_combinations), [0, 1, 15, 385, 6195]);
}

/// Too many rows to count everything: only the worst are grown, of the first columns.
#[test]
fn a_large_table_is_not_searched_through() {
    let table = table(30, &[4; 14], 3);
    let candidates: Vec<usize> = (0..14).collect();
    let found =
        with_rows(&table, 30, |all| worst(&Run::default(), all, &candidates, 1 << 40).unwrap());
    assert!(!found.is_exact && found.n_columns == 10);
    assert!(found.found.iter().all(|found| found.columns.iter().all(|column| *column < 10)));
}

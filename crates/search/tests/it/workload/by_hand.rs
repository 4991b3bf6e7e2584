//! Tables that can be checked on paper.

use incrowd_data::{CodeSet, Kind, Region};
use incrowd_search::{Algorithm, Outcome};
use incrowd_testkit::assignment::{Rows, canonical};
use incrowd_testkit::workload::{
    Adds, Asked, Query, Split, Target, Workload, entropy, squared_error,
};
use incrowd_testkit::{Table, table};

use super::{run, told};
use crate::{Job, check_found};

fn classes(algorithm: Algorithm, table: &Table, k: u64, workload: &Workload) -> Vec<Rows> {
    let (set, vector_of) = table.collapse();
    let job = Job::of_k(k);
    let outcome = run(algorithm, &set, &job, &told(workload));
    let Outcome::Found(found) = outcome else { panic!("feasible") };
    canonical(check_found(table, (&set, &vector_of), &found, &job).unwrap())
}

/// Checks the costs of the candidates of the whole table, by the code after which they cut, and the
/// classes.
#[track_caller]
fn check(table: &Table, k: u64, workload: &Workload, costs: &[(u32, f64)], expected: &[&[usize]]) {
    let job = Job::of_k(k);
    let asked = Asked { oracle: job.oracle(table), workload };
    let all: Rows = (0..table.rows.len()).collect();
    let cuts = asked.candidates(workload.splits[0], &all);
    let found: Vec<(u32, f64)> = cuts.iter().map(|cut| (cut.code.unwrap(), cut.cost)).collect();
    assert_eq!(found.len(), costs.len(), "{found:?}");
    for (found, expected) in found.iter().zip(costs) {
        let is_close = (found.1 - expected.1).abs() < 1e-6;
        assert!(found.0 == expected.0 && is_close, "{found:?} {expected:?}");
    }
    assert_eq!(classes(Algorithm::Mondrian, table, k, workload), expected);
}

/// Attribute and the codes from one to another of it.
fn side(table: &Table, at: usize, lo: u32, hi: u32) -> (usize, CodeSet) {
    let n_codes = table.attributes[at].n_codes();
    (at, CodeSet::of(n_codes, |code| (lo..=hi).contains(&code)))
}

fn of(split: Split) -> Workload {
    Workload { splits: vec![split], ..Workload::default() }
}

#[test]
fn one_label() {
    assert!((entropy([0, 1, 1, 1].into_iter()) - 0.811_278).abs() < 1e-6);
    let one = table("a:num | c", "1 y\n2 y\n3 n\n4 n\n5 n\n6 y");
    let workload = Workload { targets: vec![Target::Labels(0)], ..of(Split::Targets) };
    // The label changes behind 2 and behind 5, where one row is left. Behind 2 it costs 4 rows of
    // 0.811 bits. Behind 3 and 4 nothing changes, so that the median is cut next.
    check(&one, 2, &workload, &[(1, 3.245_112)], &[&[0, 1], &[2, 3], &[4, 5]]);
}

#[test]
fn two_labels() {
    let two = table("a:num | c d", "1 y p\n2 y p\n3 n p\n4 n q\n5 n q\n6 y q");
    let targets = vec![Target::Labels(0), Target::Labels(1)];
    let workload = Workload { targets, ..of(Split::Targets) };
    // Behind 2: of c 4 rows of 0.811 bits, of d the same. Behind 3: of c twice 3 rows of 0.918
    // bits, of d none. Behind 4 neither changes.
    check(&two, 2, &workload, &[(1, 6.490_225), (2, 5.509_775)], &[&[0, 1, 2], &[3, 4, 5]]);
}

#[test]
fn one_number() {
    assert!((squared_error(&[0.0, 6.0, 6.0, 9.0]) - 42.75).abs() < 1e-9);
    let one = table("a:num | r", "1 0\n2 0\n3 0\n4 6\n5 6\n6 9");
    let workload = Workload { targets: vec![Target::Numbers(0)], ..of(Split::Targets) };
    // 0 0 | 0 6 6 9, then 0 0 0 | 6 6 9 about 7, then 0 0 0 6 about 1.5 | 6 9 about 7.5.
    let costs = [(1, 42.75), (2, 6.0), (3, 27.0 + 4.5)];
    check(&one, 2, &workload, &costs, &[&[0, 1, 2], &[3, 4, 5]]);
}

#[test]
fn a_label_and_a_number_by_their_shares() {
    let both = table("a:num | c r", "1 y 0\n2 y 0\n3 y 8\n4 n 8");
    let targets = vec![Target::Labels(0), Target::Numbers(1)];
    let workload = Workload { targets, ..of(Split::Targets) };
    // The whole costs 4 times 0.811 bits and 64. Behind 2: two rows of one bit, and nothing.
    check(&both, 2, &workload, &[(1, 2.0 / 3.245_112)], &[&[0, 1], &[2, 3]]);
}

/// The situation of Figure 4: regions 2, 3 and 4 overlap the selection, which has 6 of their 10
/// rows.
#[test]
fn figure_4() {
    let points = table(
        "x:num y:num",
        "1 1\n2 2\n3 1
         4 3\n5 5\n6 5
         4 8\n5 7\n6 7
         7 5\n8 6\n9 4\n9 9",
    );
    let inside = Region { sides: vec![side(&points, 0, 4, 7), side(&points, 1, 3, 6)] };
    let workload = Workload { selections: vec![inside.clone()], ..of(Split::Selection) };
    let job = Job::of_k(3);
    let asked = Asked { oracle: job.oracle(&points), workload: &workload };
    let regions: [Rows; 4] =
        [(0..3).collect(), (3..6).collect(), (6..9).collect(), (9..13).collect()];
    let of = |rows: &Rows| asked.imprecision(&asked.cell(rows), rows);
    assert_eq!(regions.iter().map(of).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 2.0]);
    assert_eq!((0..13).filter(|&row| asked.satisfies(row, &inside)).count(), 6);
}

#[test]
fn one_selection() {
    let eight = table("a:num", "1\n2\n3\n4\n5\n6\n7\n8");
    let selections = vec![Region { sides: vec![side(&eight, 0, 2, 3)] }];
    let workload = Workload { selections, ..of(Split::Selection) };
    // Of the values 3 and 4. The upper part does not overlap if the cut is behind 4, and neither
    // part of 5 to 8 does, so that they stay together.
    let costs = [(1, 4.0), (2, 2.0 + 4.0), (3, 2.0), (4, 3.0), (5, 4.0)];
    check(&eight, 2, &workload, &costs, &[&[0, 1], &[2, 3], &[4, 5, 6, 7]]);
}

#[test]
fn one_count() {
    let mut eight = table("a:num", "1\n1\n2\n2\n3\n3\n10\n10");
    let regions = vec![Region { sides: vec![side(&eight, 0, 0, 1)] }];
    let count = Query { regions, adds: Adds::Rows, is_mean: false, weight: 1.0 };
    let queries = vec![count.clone()];
    let workload = Workload { queries, ..of(Split::Queries) };
    let error = |table: &Table| {
        let job = Job::of_k(2);
        let asked = Asked { oracle: job.oracle(table), workload: &workload };
        let all: Rows = (0..8).collect();
        asked.error(&count, &asked.cell(&all), &all)
    };
    // 0.5 to 2.5 of 0.5 to 10.5 is a fifth: 1.6 rows are expected, there are 4.
    assert!((error(&eight) - 2.4 / 4.0).abs() < 1e-9);
    // Behind 1: 2 of 2, and 1.5 to 2.5 of 1.5 to 10.5 times 6 rows, for 2. Behind 3: 2 of 3 times
    // 6, for 4.
    let costs = [(0, (2.0 - 6.0 / 9.0) / 4.0), (1, 0.0), (2, 0.0)];
    check(&eight, 2, &workload, &costs, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
    // With a fraction: 1 to 2.5 of 1 to 10 is a sixth.
    eight.attributes[0].dictionary.kind = Kind::Decimal;
    assert!((error(&eight) - (4.0 - 8.0 / 6.0) / 4.0).abs() < 1e-9);
}

/// Additional rows weigh more if the true answer is small.
#[test]
fn errors_are_normalized() {
    let rows = [("x p", 2), ("x q", 10), ("y p", 2), ("y q", 1)];
    let rows: Vec<&str> = rows.iter().flat_map(|&(row, n)| vec![row; n]).collect();
    let fifteen = table("a:cat b:cat", &rows.join("\n"));
    let count = |attribute, code, weight| Query {
        regions: vec![Region { sides: vec![side(&fifteen, attribute, code, code)] }],
        adds: Adds::Rows,
        is_mean: false,
        weight,
    };
    // x has 12 rows and p has 4. Cut between x and y, p is off by 6 - 2 and 2 - 1.5 rows; between p
    // and q, x is off by 0 and 10 - 5.5. So 4.5 of 4 stand against twice 4.5 of 12.
    let queries = vec![count(0, 0, 2.0), count(1, 0, 1.0)];
    let workload = Workload { queries, ..of(Split::Queries) };
    let found = classes(Algorithm::Mondrian, &fifteen, 3, &workload);
    let sizes: Vec<usize> = found.iter().map(Vec::len).collect();
    assert_eq!(sizes, [4, 11], "{found:?}");
    let none = table("a:num", "1\n2\n3\n4");
    let nothing = Region { sides: vec![(0, CodeSet::of(4, |_| false))] };
    let query = Query { regions: vec![nothing], ..count(0, 0, 1.0) };
    let workload = Workload { queries: vec![query], ..of(Split::Queries) };
    assert_eq!(classes(Algorithm::Mondrian, &none, 2, &workload).len(), 1, "0 rows are asked for");
}

#[test]
fn one_sum() {
    let six = table("a:cat | v", "x 1\nx 3\ny 4\ny 4\nz 0\nz 0");
    let regions = vec![Region { sides: vec![side(&six, 0, 0, 0)] }];
    let sum = Query { regions, adds: Adds::Extra(0), is_mean: false, weight: 1.0 };
    let workload = Workload { queries: vec![sum], ..of(Split::Queries) };
    // The answer is 4. The whole has a third of 12 expected, which is right: nothing is gained,
    // although x could stand alone.
    let costs = [(0, 0.0), (1, 2.0 / 4.0)];
    check(&six, 2, &workload, &costs, &[&[0, 1, 2, 3, 4, 5]]);
}

/// A correct estimate is not cut because of rounding errors.
#[test]
fn an_estimate_that_is_right_is_left_alone() {
    let six = table("a:cat | v", "x 1\nx 1\nx 5\ny 2\ny 2\ny 3");
    let regions = vec![Region { sides: vec![side(&six, 0, 0, 0)] }];
    let sum = Query { regions, adds: Adds::Extra(0), is_mean: false, weight: 1.0 };
    let workload = Workload { queries: vec![sum], ..of(Split::Queries) };
    let found = classes(Algorithm::Mondrian, &six, 3, &workload);
    assert_eq!(found.len(), 1, "7 of 14 over 2 values");
    let pairs: Vec<String> =
        (0..15).map(|at| format!("{} {}", ["x", "y", "z"][at / 5], at % 5)).collect();
    let grid = table("a:cat b:cat", &pairs.join("\n"));
    let regions = vec![Region { sides: vec![side(&grid, 0, 0, 0), side(&grid, 1, 0, 2)] }];
    let count = Query { regions, adds: Adds::Rows, is_mean: false, weight: 1.0 };
    let workload = Workload { queries: vec![count], ..of(Split::Queries) };
    let found = classes(Algorithm::Mondrian, &grid, 2, &workload);
    assert_eq!(found.len(), 1, "15 rows, a third of them three fifths");
}

/// An outlier does not hide the other numbers.
#[test]
fn numbers_beside_an_outlier() {
    let rows = "1 0\n2 0\n3 9\n4 9\n5 9\n6 9\n7 1000000000000\n8 1000000000000";
    let eight = table("a:num | v", rows);
    let workload = Workload { targets: vec![Target::Numbers(0)], ..of(Split::Targets) };
    let found = classes(Algorithm::Mondrian, &eight, 2, &workload);
    assert!(found.iter().any(|class| class.iter().copied().eq([0, 1])), "{found:?}");
}

#[test]
fn specialization() {
    let four = table("a:cat b:cat | c", "x p 1\nx q 1\ny p 0\ny q 0");
    let workload = Workload { targets: vec![Target::Labels(0)], ..Workload::default() };
    assert_eq!(classes(Algorithm::Tds, &four, 2, &workload), [[0, 1], [2, 3]]);
    assert_eq!(classes(Algorithm::Tds, &four, 3, &workload), [[0, 1, 2, 3]]);
}

/// By a, five of twenty rows are told apart for sure: 0.31 bits for the 15 rows that the smallest
/// class loses. By b, eight of ten on either side: 0.28 bits for 10 rows, which is more a row. Both
/// together are too fine.
#[test]
fn specialization_weighs_the_smallest_class() {
    let rows = [("x p 0", 4), ("y p 0", 4), ("x p 1", 2), ("x q 0", 1), ("y q 0", 1), ("x q 1", 8)];
    let body: String = rows.iter().map(|(row, n)| format!("{row}\n").repeat(*n)).collect();
    let twenty = table("a:cat b:cat | c", &body);
    let workload = Workload { targets: vec![Target::Labels(0)], ..Workload::default() };
    let expected: [Rows; 2] = [(0..10).collect(), (10..20).collect()];
    assert_eq!(classes(Algorithm::Tds, &twenty, 5, &workload), expected);
}

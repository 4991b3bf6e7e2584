//! Strict Mondrian compared with the row-by-row reference of `testkit`.

use incrowd_search::Algorithm;
use incrowd_testkit::assignment::{Rows, canonical, contents};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::{Form, Table, table};

use crate::{Job, jobs, patients, verified};

/// Checks that strict Mondrian gives exactly the classes of the reference, and that none of them
/// can be cut (M3).
#[track_caller]
fn check_strict(table: &Table, job: &Job) {
    let Some(classes) = verified(Algorithm::Mondrian, table, job) else { return };
    let oracle = job.oracle(table);
    let context = || format!("{} of {table:?}", job.describe());
    for rows in &classes {
        assert!(!oracle.has_allowable_cut(rows), "{rows:?} can be cut: {}", context());
    }
    assert_eq!(canonical(classes), canonical(oracle.mondrian()), "{}", context());
}

/// Checks that no class of relaxed Mondrian has an allowable cut (M3): if there were one, a
/// division that may also separate equal rows would be allowable.
#[track_caller]
fn check_relaxed(table: &Table, job: &Job) {
    let oracle = job.oracle(table);
    for rows in verified(Algorithm::MondrianRelaxed, table, job).unwrap_or_default() {
        let context = || format!("{} of {table:?}", job.describe());
        assert!(!oracle.has_allowable_cut(&rows), "{rows:?} can be cut: {}", context());
    }
}

#[track_caller]
fn check_classes(algorithm: Algorithm, table: &Table, k: u64, expected: &[&[usize]]) {
    let classes = verified(algorithm, table, &Job::of_k(k)).expect("feasible");
    assert_eq!(canonical(classes), expected);
}

fn check_random(seeds: std::ops::Range<u64>, forms: &'static [Form], max: (usize, usize)) {
    for seed in seeds {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 1 + rng.below(max.0),
            n_attributes: 1 + rng.below(4),
            forms,
            max_values: 1 + rng.below(max.1),
            missing: !rng.one_in(3),
        };
        let k = 2 + rng.below(3) as u64;
        let table = random_table(rng, &recipe);
        for job in jobs(&table, k) {
            check_strict(&table, &job);
            check_relaxed(&table, &job);
        }
    }
}

#[test]
fn small_tables_of_one_shape() {
    check_random(0..500, &[Form::Numeric], (12, 8));
    check_random(0..500, &[Form::Ordinal], (12, 8));
    check_random(0..500, &[Form::Unordered], (12, 8));
    check_random(0..500, &[Form::Tree], (12, 8));
}

#[test]
fn small_tables_of_all_shapes() {
    check_random(1_000..4_000, &Form::ALL, (12, 10));
}

#[test]
fn medium_tables_of_all_shapes() {
    check_random(5_000..5_080, &Form::ALL, (400, 30));
}

/// Codes in 1, 2 and 4 bytes.
#[test]
fn wide_dictionaries() {
    for n_values in [256, 257, 65_536, 65_537, 70_000] {
        let rng = &mut Rng::new(n_values as u64);
        let texts: Vec<String> = (0..n_values).map(|value| format!("v{value:06}")).collect();
        let order: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tree: Vec<String> =
            texts.iter().map(|text| format!("{text};{};{};*", &text[..6], &text[..4])).collect();
        let tree: Vec<&str> = tree.iter().map(String::as_str).collect();
        let mut cells = || -> Vec<Option<&str>> {
            (0..150).map(|_| (!rng.one_in(9)).then(|| order[rng.below(n_values)])).collect()
        };
        let (ordinal, leaf, unordered) = (cells(), cells(), cells());
        let mut table = Table::of_rows(150);
        table.push_attribute("ordinal", Form::Ordinal, &order, &ordinal);
        table.push_attribute("leaf", Form::Tree, &tree, &leaf);
        table.push_attribute("unordered", Form::Unordered, &[], &unordered);
        check_strict(&table, &Job::of_k(3));
    }
}

/// Enough vectors for the work to be shared between threads.
#[test]
fn a_large_table() {
    let recipe = Recipe {
        n_rows: 30_000,
        n_attributes: 4,
        forms: &Form::ALL,
        max_values: 30,
        missing: true,
    };
    for seed in 0..2 {
        let table = random_table(&mut Rng::new(seed), &recipe);
        check_strict(&table, &Job::of_k(10));
    }
    // And for it to be scanned by several threads.
    let recipe = Recipe { n_rows: 160_000, forms: &[Form::Unordered], n_attributes: 3, ..recipe };
    check_strict(&random_table(&mut Rng::new(2), &recipe), &Job::of_k(500));
}

#[test]
fn figure_3_of_the_report() {
    check_classes(Algorithm::Mondrian, &patients(), 2, &[&[0, 2], &[1, 4], &[3, 5]]);
}

#[test]
fn figure_6_of_the_report() {
    // One quasi-identifier, zip, at k = 3: one class if strict, two if relaxed.
    let zips = table("zip:num", "53711\n53712\n53711\n53710\n53712\n53711");
    check_classes(Algorithm::Mondrian, &zips, 3, &[&[0, 1, 2, 3, 4, 5]]);
    let classes = verified(Algorithm::MondrianRelaxed, &zips, &Job::of_k(3)).unwrap();
    let mut sums: Vec<u32> =
        classes.iter().map(|rows| rows.iter().map(|&row| zips.rows[row][0]).sum()).collect();
    sums.sort_unstable();
    // 53710 53711 53711 and 53711 53712 53712.
    assert_eq!(sums, [2, 5]);
}

/// Relaxed Mondrian in the cases that the report defines completely.
#[test]
fn relaxed_without_missing_cells_and_hierarchies() {
    for seed in 0..500 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 1 + rng.below(120),
            n_attributes: 1 + rng.below(4),
            forms: &Form::ORDERED,
            max_values: 1 + rng.below(30),
            missing: false,
        };
        let k = 2 + rng.below(5);
        let table = random_table(rng, &recipe);
        let job = Job::of_k(k as u64);
        if let Some(classes) = verified(Algorithm::MondrianRelaxed, &table, &job) {
            let expected = job.oracle(&table).relaxed(k);
            assert_eq!(contents(&table, &classes), contents(&table, &expected), "{table:?}");
        }
    }
}

#[test]
fn relaxed_cuts_a_tree_into_children_first() {
    let header = "a:tree=a;x;*,b;x;*,c;y;*,d;y;*";
    let holds = table(header, "a\na\nb\nb\nc\nc");
    check_classes(Algorithm::MondrianRelaxed, &holds, 2, &[&[0, 1], &[2, 3], &[4, 5]]);
    // Only one row is below y: halves along the leaves instead.
    let fails = table(header, "a\na\na\nb\nb\nc");
    check_classes(Algorithm::MondrianRelaxed, &fails, 2, &[&[0, 1, 2], &[3, 4, 5]]);
}

#[test]
fn ties_go_to_the_lower_cut() {
    check_classes(Algorithm::Mondrian, &table("a:num", "1\n1\n2\n3\n3"), 2, &[&[0, 1], &[2, 3, 4]]);
}

#[test]
fn the_cut_before_the_median() {
    let table = table("a:num", "1\n1\n2\n2\n2\n2\n2");
    check_classes(Algorithm::Mondrian, &table, 2, &[&[0, 1], &[2, 3, 4, 5, 6]]);
}

#[test]
fn missing_first() {
    let table = table("a:num", "1\n2\n3\n4\n?\n?");
    check_classes(Algorithm::Mondrian, &table, 2, &[&[0, 1], &[2, 3], &[4, 5]]);
}

#[test]
fn missing_first_if_relaxed() {
    let table = table("a:num", "1\n2\n3\n4\n?\n?");
    check_classes(Algorithm::MondrianRelaxed, &table, 2, &[&[0, 1], &[2, 3], &[4, 5]]);
}

#[test]
fn the_next_widest_if_the_widest_has_no_allowable_cut() {
    // All cover their whole range, but only `b` leaves two rows on both sides.
    let table = table("a:num b:num c:num", "1 1 0\n1 1 0\n1 2 0\n1 2 0\n8 3 8\n");
    check_classes(Algorithm::Mondrian, &table, 2, &[&[0, 1], &[2, 3, 4]]);
}

/// Lemma 1: `2d(k-1) + m` points around a centre without an allowable cut; Figure 5 (b): one more
/// gives one.
#[test]
fn lemma_1() {
    let star = |d: usize, k: usize, m: usize| {
        let centre = vec!["5"; d];
        let mut points = vec![centre.clone(); m];
        for axis in 0..d {
            for beside in ["4", "6"] {
                let mut point = centre.clone();
                point[axis] = beside;
                points.extend(std::iter::repeat_n(point, k - 1));
            }
        }
        points
    };
    for (d, k, m) in [(1, 2, 1), (2, 2, 3), (2, 5, 1), (3, 3, 4), (4, 10, 7)] {
        let header = "q:num ".repeat(d);
        let build = |points: &[Vec<&str>]| {
            let lines: Vec<String> = points.iter().map(|point| point.join(" ")).collect();
            table(&header, &lines.join("\n"))
        };
        let mut points = star(d, k, m);
        assert_eq!(points.len(), 2 * d * (k - 1) + m);
        let job = Job::of_k(k as u64);
        let all: Rows = (0..points.len()).collect();
        assert_eq!(verified(Algorithm::Mondrian, &build(&points), &job), Some(vec![all]));
        let mut one_more = vec!["5"; d];
        one_more[0] = "4";
        points.push(one_more);
        let classes = verified(Algorithm::Mondrian, &build(&points), &job).unwrap();
        assert_eq!(classes.len(), 2, "d {d}, k {k}, m {m}");
    }
}

#[test]
fn a_tree_is_cut_into_children_and_the_small_ones_stay_together() {
    let header = "a:tree=a;x;*,b;x;*,c;y;*,d;z;*";
    let holds = table(header, "a\nb\nc\nc\nb\na");
    check_classes(Algorithm::Mondrian, &holds, 2, &[&[0, 5], &[1, 4], &[2, 3]]);
    let small = table(header, "a\nb\nc\nc\nb\nd");
    check_classes(Algorithm::Mondrian, &small, 2, &[&[0, 1, 4], &[2, 3, 5]]);
    let fails = table(header, "a\nb\nc");
    check_classes(Algorithm::Mondrian, &fails, 2, &[&[0, 1, 2]]);
}

#[test]
fn vectors_without_rows_are_recoded_too() {
    // No row has b, d or z's leaves; `verified` asks the tree for every vector of the domain.
    let header = "a:tree=a;x;*,b;x;*,c;y;*,d;y;*,e;z;* b:ord=1,2,3,4,5,6,7,8,9";
    let table = table(header, "a 3\na 3\nc 5\nc 5\na 8\na 8\nc 7\nc 7");
    check_strict(&table, &Job::of_k(2));
}

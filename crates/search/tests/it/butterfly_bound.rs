//! The lower bound of Theorem 4 (ICDE 2009) between the printed one and the least butterfly.

use incrowd_search::butterfly::lower_bound;
use incrowd_search::{Budget, Problem};
use incrowd_testkit::butterfly::{
    Attacker, body_and_wings, effective, random_attackers, random_node, rows_of_node,
};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::{Form, Table, table};

use crate::butterfly::SetsJob;

/// Room for rounding in sums of losses.
const TOLERANCE: f64 = 1e-9;

fn bound(table: &Table, job: &SetsJob, node: &[Vec<u32>]) -> f64 {
    let (set, sets, budget) = (table.frequency_set(), job.sets(), Budget::unlimited());
    let problem = Problem::new(&set, &job.models, job.k(), &budget);
    let problem = Problem { sets: &sets, entity: job.asked(table).entity, ..problem };
    lower_bound(&problem, node)
}

/// Checks a node of classes of vectors; gives the bound, the printed one, and the least penalty of
/// any butterfly, where there is one and the rows are few enough to try all.
#[track_caller]
fn check(table: &Table, job: &SetsJob, node: &[Vec<u32>]) -> (f64, f64, Option<f64>) {
    let classes = rows_of_node(&table.collapse().1, node);
    let asked = job.asked(table);
    let (found, printed) = (bound(table, job, node), asked.lower_bound(&classes));
    let context = || format!("{classes:?}, {:?} of {table:?}", job.attackers);
    assert!(printed <= found + TOLERANCE, "{found}, printed {printed}: {}", context());
    let rows = classes.concat();
    let least = if rows.len() > 12 { None } else { asked.least_butterfly(&rows) };
    if let Some(least) = least {
        assert!(found <= least + TOLERANCE, "{found} is above {least}: {}", context());
    }
    (found, printed, least)
}

fn random_case(rng: &mut Rng, n_rows: usize) -> (Table, SetsJob) {
    let recipe = Recipe {
        n_rows,
        n_attributes: 1 + rng.below(5),
        forms: &Form::ALL,
        max_values: 2 + rng.below(9),
        missing: rng.one_in(2),
    };
    let table = random_table(rng, &recipe);
    let n_attackers = 1 + rng.below(4);
    let attackers = random_attackers(rng, recipe.n_attributes, n_attackers, 5);
    let job = SetsJob::of_kind(attackers, &table, rng.below(10));
    (table, job)
}

#[test]
fn small_nodes() {
    let (mut n_checked, mut n_wings) = (0, 0);
    for seed in 0..1_500 {
        let rng = &mut Rng::new(seed);
        let n_rows = 4 + rng.below(20);
        let (table, job) = random_case(rng, n_rows);
        let max_rows = if seed % 8 == 0 { 12 } else { 10 };
        let Some(node) = random_node(rng, &table, job.k(), max_rows) else { continue };
        let (found, _, least) = check(&table, &job, &node);
        n_checked += usize::from(least.is_some());
        let (body, _) = body_and_wings(&effective(&job.attackers));
        n_wings += usize::from(body.is_empty() && found > TOLERANCE);
    }
    assert!(n_checked > 700 && n_wings > 20, "{n_checked} {n_wings}");
}

/// Nodes of more rows than can be tried out, against the printed bound; also that of a set alone,
/// and with classes in another order.
#[test]
fn larger_nodes() {
    for seed in 5_000..5_200 {
        let rng = &mut Rng::new(seed);
        let n_rows = 30 + rng.below(120);
        let (table, job) = random_case(rng, n_rows);
        let Some(mut node) = random_node(rng, &table, job.k(), 80) else { continue };
        let (found, ..) = check(&table, &job, &node);
        node.reverse();
        for class in &mut node {
            class.reverse();
        }
        let (other, ..) = check(&table, &job, &node);
        assert!((found - other).abs() < TOLERANCE, "{found}, in another order {other}");
    }
}

/// Equal rows are one vector, but each row is a neighbour.
#[test]
fn neighbours_are_rows() {
    let table = table("a:num b:num c:num", "0 0 0\n0 0 0\n0 0 0\n10 0 5\n10 0 10");
    let (_, vector_of) = table.collapse();
    let node = vec![vec![vector_of[0], vector_of[3], vector_of[4]]];
    let job = |k: u64| SetsJob::new(vec![Attacker::new(&[0, 1], 2), Attacker::new(&[1, 2], k)]);
    // On c, three rows are equal: the second nearest of the first is at 0, the third at a half.
    let (_, printed, least) = check(&table, &job(3), &node);
    assert!(printed.abs() < TOLERANCE, "{printed}");
    // On a 3 and 2 rows without loss; on c all five.
    assert!((least.unwrap() - 5.0).abs() < TOLERANCE, "{least:?}");
    let (_, printed, _) = check(&table, &job(4), &node);
    assert!((printed - 5.0 * 0.5).abs() < TOLERANCE, "{printed}");
}

/// The numbers of `testkit`, computed by hand.
#[test]
fn by_hand() {
    let table = table("a:num b:num c:num", "0 0 0\n2 0 5\n5 1 5\n10 1 10\n10 10 0\n0 10 0");
    let (_, vector_of) = table.collapse();
    let job = |k: [u64; 2]| {
        SetsJob::new(vec![Attacker::new(&[0, 1], k[0]), Attacker::new(&[1, 2], k[1])])
    };
    let node = |classes: &[&[usize]]| -> Vec<Vec<u32>> {
        classes.iter().map(|rows| rows.iter().map(|&row| vector_of[row]).collect()).collect()
    };
    for (k, classes, expected) in [
        ([2, 2], node(&[&[0, 1, 2, 3]]), 4.0 * 0.2 + 0.4),
        ([3, 3], node(&[&[0, 1, 2, 3]]), 4.0 * (0.3 + 0.5) + 0.4),
        ([2, 3], node(&[&[0, 1, 2, 3]]), 4.0 * (0.2 + 0.5) + 0.4),
        ([2, 2], node(&[&[0, 1], &[2, 3]]), 0.4),
    ] {
        let (_, printed, _) = check(&table, &job(k), &classes);
        assert!((printed - expected).abs() < TOLERANCE, "{printed}, by hand {expected}");
    }
    // Implied attackers change nothing.
    let more =
        [vec![Attacker::new(&[0], 2), Attacker::new(&[1], 2)], job([2, 3]).attackers].concat();
    let all = node(&[&[0, 1, 2, 3]]);
    let found = bound(&table, &SetsJob::new(more), &all);
    assert!((found - bound(&table, &job([2, 3]), &all)).abs() < TOLERANCE, "{found}");
}

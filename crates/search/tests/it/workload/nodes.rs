//! Every node of a partition tree against the oracle.

use std::collections::{BTreeSet, VecDeque};

use incrowd_data::{Branches, Node, PartitionTree, Shape};
use incrowd_search::{Algorithm, Found, Outcome, Recoding};
use incrowd_testkit::assignment::{Rows, canonical};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::workload::{Adds, Asked, Cut, Split, Target, generate};
use incrowd_testkit::{Form, Table};

use super::{Aim, run, some_job, told};
use crate::{Job, check_found};

/// Numbers of comparisons.
#[derive(Debug, Default)]
struct Tally {
    tables: usize,
    cuts: usize,
    leaves: usize,
    /// Cuts that differ because values are rounded.
    rounded: usize,
}

/// The rows below a node, and the node.
type Open = (u32, Rows);

/// The cut of a node, and what is below it.
fn made(table: &Table, tree: &PartitionTree, (id, rows): &Open) -> Option<(Cut, Vec<Open>)> {
    let Node::Cut { attribute, branches } = &tree.nodes[*id as usize] else { return None };
    let code = |row: usize| table.quasi(row)[*attribute];
    let (last, runs) = match branches {
        Branches::Binary { at, low, high } => (Some(*at), vec![(*at, *low), (u32::MAX, *high)]),
        Branches::Runs(runs) => {
            check_children(table, *attribute, rows, runs);
            (None, runs.clone())
        }
    };
    let mut below: Vec<Open> = Vec::new();
    let children: BTreeSet<u32> = runs.iter().map(|&(_, child)| child).collect();
    for child in children {
        let is_below = |row: &usize| {
            let run = runs.iter().find(|(end, _)| code(*row) <= *end);
            run.is_some_and(|(_, below)| *below == child)
        };
        below.push((child, rows.iter().copied().filter(is_below).collect()));
    }
    let parts = below.iter().map(|(_, rows)| rows.clone()).filter(|rows| !rows.is_empty());
    let cut = Cut { attribute: *attribute, code: last, parts: parts.collect(), cost: f64::NAN };
    Some((cut, below))
}

/// Runs of codes are the children of the lowest node that holds the rows.
fn check_children(table: &Table, attribute: usize, rows: &[usize], runs: &[(u32, u32)]) {
    let Shape::Tree(tree) = &table.attributes[attribute].shape else { panic!("no hierarchy") };
    let codes = || rows.iter().map(|&row| table.quasi(row)[attribute]);
    let children = tree.parts(codes().min().unwrap(), codes().max().unwrap());
    let ends: Vec<u32> = children.iter().map(|child| child.hi).collect();
    assert_eq!(runs.iter().map(|run| run.0).collect::<Vec<_>>(), ends);
}

fn is_same(a: &Cut, b: &Cut) -> bool {
    (a.attribute, a.code) == (b.attribute, b.code)
        && canonical(a.parts.clone()) == canonical(b.parts.clone())
}

/// Walks down the tree and compares its first nodes.
fn walk(asked: &Asked, tree: &PartitionTree, most: usize, tally: &mut Tally) -> Result<(), String> {
    let table = asked.oracle.table;
    let mut open: VecDeque<Open> = VecDeque::from([(0, (0..table.rows.len()).collect())]);
    for _ in 0..most {
        let Some(node) = open.pop_front() else { break };
        if node.1.is_empty() {
            assert!(matches!(tree.nodes[node.0 as usize], Node::Leaf { .. }), "a cut without rows");
            continue;
        }
        let expected = asked.choice(&node.1);
        let made = made(table, tree, &node);
        let is_same = match (&expected, &made) {
            (None, None) => true,
            (Some(expected), Some((made, _))) => is_same(expected, made),
            _ => false,
        };
        let cut = made.as_ref().map(|(cut, _)| cut);
        if !is_same && !differs_by_rounding(asked, &node.1, expected.as_ref(), cut) {
            return Err(difference(asked, &node.1, expected.as_ref(), cut));
        }
        tally.rounded += usize::from(!is_same);
        tally.leaves += usize::from(made.is_none());
        tally.cuts += usize::from(made.is_some());
        open.extend(made.into_iter().flat_map(|(_, below)| below));
    }
    Ok(())
}

/// Whether two cuts, where `None` is the uncut region, cost the same except for the search's
/// rounding.
fn differs_by_rounding(asked: &Asked, rows: &[usize], a: Option<&Cut>, b: Option<&Cut>) -> bool {
    let splits = &asked.workload.splits;
    splits.contains(&Split::Targets) && numbers_are_rounded(asked, rows, a, b)
        || splits.contains(&Split::Queries) && sums_are_rounded(asked, rows, a, b)
}

fn cost(asked: &Asked, split: Split, rows: &[usize], cut: &Cut) -> f64 {
    let parts = cut.parts.iter();
    parts.map(|part| asked.cost(split, rows, part, Some(cut.attribute))).sum()
}

/// Targets that are numbers are rounded to 2^-40 of their range, which may take equal costs across
/// the border between two single floats.
fn numbers_are_rounded(asked: &Asked, rows: &[usize], a: Option<&Cut>, b: Option<&Cut>) -> bool {
    let is_number = |target: &Target| matches!(target, Target::Numbers(_));
    let [Some(a), Some(b)] =
        [a, b].map(|cut| cut.map(|cut| cost(asked, Split::Targets, rows, cut)))
    else {
        return false;
    };
    asked.workload.targets.iter().any(is_number) && (a - b).abs() < 1e-7 * a
}

/// Steps per unit to which the search rounds the values of queries.
const STEPS: f64 = 1e12;

/// Floats that should be equal, as numbers of rows.
const FLOATS: f64 = 1e-9;

/// What queries add up is rounded, half a step by value in the estimate, and in the truth. So are
/// floats, which may make an error of nothing, and decide which queries are looked at.
fn sums_are_rounded(asked: &Asked, rows: &[usize], a: Option<&Cut>, b: Option<&Cut>) -> bool {
    let sums = asked.workload.queries.iter().filter(|query| query.adds != Adds::Rows);
    let rounded = sums.map(|query| query.weight).sum::<f64>() * rows.len() as f64 / STEPS;
    let as_it_is = asked.cost(Split::Queries, rows, rows, None);
    // A cut that does not lower the cost is made by another criterion.
    let [a, b] = [a, b].map(|cut| {
        cut.map_or(as_it_is, |cut| cost(asked, Split::Queries, rows, cut).min(as_it_is))
    });
    (a - b).abs() < rounded + FLOATS || asked.is_undecided(rows)
}

fn difference(asked: &Asked, rows: &[usize], expected: Option<&Cut>, made: Option<&Cut>) -> String {
    let mut text = format!("rows {rows:?}\nexpected {expected:?}\nmade {made:?}\n");
    for &split in &asked.workload.splits {
        let cost = asked.cost(split, rows, rows, None);
        text += &format!("{split:?}: {cost}\n");
        for cut in asked.candidates(split, rows) {
            text += &format!("  {} {:?} {:?}: {}\n", cut.attribute, cut.code, cut.parts, cut.cost);
        }
    }
    text + &format!("{:#?}\n{:?}", asked.workload, asked.oracle.table)
}

fn check(aim: Aim, seed: u64, max_rows: usize, tally: &mut Tally) {
    let rng = &mut Rng::new(seed);
    let table = generate::table(rng, max_rows);
    let job = some_job(rng, &table);
    check_table(aim, rng, &table, &job, usize::MAX, tally);
}

fn check_table(aim: Aim, rng: &mut Rng, table: &Table, job: &Job, most: usize, tally: &mut Tally) {
    let workload = aim.workload(rng, table);
    let asked = Asked { oracle: job.oracle(table), workload: &workload };
    let (set, vector_of) = table.collapse();
    let Outcome::Found(found) = run(Algorithm::Mondrian, &set, job, &told(&workload)) else {
        return;
    };
    check_found(table, (&set, &vector_of), &found, job).unwrap();
    tally.tables += 1;
    if let Err(text) = walk(&asked, tree_of(&found), most, tally) {
        panic!("{aim:?}, {}: {text}", job.describe());
    }
}

fn tree_of(found: &Found) -> &PartitionTree {
    let Recoding::Partition(tree) = &found.recoding else { panic!("not multidimensional") };
    tree
}

/// Compares every node of the trees of some tables; values are rounded in few of them.
#[track_caller]
fn check_all(aims: &[Aim], seeds: std::ops::Range<u64>, max_rows: usize) {
    for &aim in aims {
        let mut tally = Tally::default();
        seeds.clone().for_each(|seed| check(aim, seed, max_rows, &mut tally));
        let Tally { tables, cuts, leaves, rounded } = tally;
        let n_seeds = usize::try_from(seeds.end - seeds.start).unwrap();
        assert!(tables * 10 >= n_seeds * 9 && cuts * 3 > tables && leaves > cuts, "{tally:?}");
        let asks = aim.splits().contains(&Split::Queries);
        let most = if asks { 2 + cuts / 200 } else { cuts / 10_000 };
        assert!(rounded <= most, "{aim:?}: {tally:?}");
    }
}

#[test]
fn targets_decide() {
    check_all(&[Aim::Label, Aim::Labels, Aim::Number, Aim::Numbers, Aim::Mixed], 0..1_500, 40);
}

#[test]
fn selections_decide() {
    check_all(&[Aim::Selection], 10_000..13_000, 40);
}

#[test]
fn queries_decide() {
    check_all(&[Aim::Counts, Aim::ManyCounts, Aim::Sums], 20_000..21_500, 40);
}

#[test]
fn criteria_are_asked_in_turn() {
    check_all(&Aim::TOGETHER, 30_000..30_800, 40);
}

#[test]
fn larger_tables() {
    check_all(&Aim::all().collect::<Vec<_>>(), 40_000..40_025, 300);
}

/// Enough vectors for attributes to be looked at by several threads.
#[test]
fn the_first_nodes_of_a_large_table() {
    let recipe =
        Recipe { n_rows: 45_000, n_attributes: 4, forms: &Form::ALL, max_values: 9, missing: true };
    for (seed, aim) in [(0, Aim::Mixed), (1, Aim::Labels), (2, Aim::Selection), (3, Aim::Counts)] {
        let rng = &mut Rng::new(seed);
        let table = generate::with_targets(random_table(rng, &recipe), rng);
        assert!(table.frequency_set().len() > 1 << 15);
        let mut tally = Tally::default();
        check_table(aim, rng, &table, &Job::of_k(50), 4, &mut tally);
        assert!(tally.cuts > 1, "{aim:?}: {tally:?}");
    }
}

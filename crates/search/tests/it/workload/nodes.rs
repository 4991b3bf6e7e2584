//! Every node of a partition tree against the oracle.

use std::collections::BTreeSet;

use incrowd_data::{Branches, Node, PartitionTree, Shape};
use incrowd_search::{Algorithm, Found, Outcome, Recoding};
use incrowd_testkit::Table;
use incrowd_testkit::assignment::{Rows, canonical};
use incrowd_testkit::generate::Rng;
use incrowd_testkit::workload::{Asked, Cut, generate};

use super::{Aim, run, some_job, told};
use crate::check_found;

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    tables: usize,
    cuts: usize,
    leaves: usize,
    near_ties: usize,
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

/// Walks down the tree and compares every node.
fn walk(asked: &Asked, tree: &PartitionTree, tally: &mut Tally) -> Result<(), String> {
    let table = asked.oracle.table;
    let mut open: Vec<Open> = vec![(0, (0..table.rows.len()).collect())];
    while let Some(node) = open.pop() {
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
        if !is_same {
            return Err(difference(asked, &node.1, expected, made.map(|made| made.0)));
        }
        tally.leaves += usize::from(made.is_none());
        tally.cuts += usize::from(made.is_some());
        open.extend(made.into_iter().flat_map(|(_, below)| below));
    }
    Ok(())
}

fn difference(asked: &Asked, rows: &[usize], expected: Option<Cut>, made: Option<Cut>) -> String {
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

fn check(aim: Aim, seed: u64, max_rows: usize, tally: &mut Tally) -> Result<(), String> {
    let rng = &mut Rng::new(seed);
    let table = generate::table(rng, max_rows);
    let job = some_job(rng);
    let workload = aim.workload(rng, &table);
    let asked = Asked { oracle: job.oracle(&table), workload: &workload };
    let (set, vector_of) = table.collapse();
    let Outcome::Found(found) = run(Algorithm::Mondrian, &set, &job, &told(&workload)) else {
        return Ok(());
    };
    check_found(&table, (&set, &vector_of), &found, &job).unwrap();
    tally.tables += 1;
    walk(&asked, tree_of(&found), tally)
        .map_err(|text| format!("{aim:?}, seed {seed}, {}: {text}", job.describe()))
}

fn tree_of(found: &Found) -> &PartitionTree {
    let Recoding::Partition(tree) = &found.recoding else { panic!("not multidimensional") };
    tree
}

#[test]
fn every_cut_is_the_one_that_the_criterion_asks_for() {
    let max_rows: usize = std::env::var("ROWS").map_or(40, |n| n.parse().unwrap());
    let n: u64 = std::env::var("SEEDS").map_or(500, |n| n.parse().unwrap());
    let mut wrong = Vec::new();
    for aim in Aim::ALL {
        let mut tally = Tally::default();
        let differences: Vec<String> =
            (0..n).filter_map(|seed| check(aim, seed, max_rows, &mut tally).err()).collect();
        eprintln!("{aim:?}: {tally:?}, {} differ", differences.len());
        wrong.extend(differences.into_iter().min_by_key(String::len));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n=========\n"));
}

//! The laws of the lattice on which the full-domain searches rest (Incognito, *Full Domain
//! Generalization Properties*), on random tables and nodes.

use incrowd_data::{Level, Levels, Shape};
use incrowd_search::lattice::Lattice;
use incrowd_testkit::Table;
use incrowd_testkit::assignment::Rows;
use incrowd_testkit::full_domain::{Asked, NodeFacts};
use incrowd_testkit::generate::Rng;

use crate::full_domain::{asked, tree_table};
use crate::{Job, jobs};

fn heights(table: &Table) -> Vec<u8> {
    let height = |attribute: &incrowd_data::Attribute| match &attribute.shape {
        Shape::Tree(tree) => tree.height().0,
        _ => panic!("a tree"),
    };
    table.attributes.iter().map(height).collect()
}

/// Two nodes of a table, the second above the first.
fn two_nodes(rng: &mut Rng, table: &Table) -> (Vec<u8>, Vec<u8>) {
    let below = |rng: &mut Rng, most: u8| u8::try_from(rng.below(usize::from(most) + 1)).unwrap();
    let high: Vec<u8> = heights(table).iter().map(|&height| below(rng, height)).collect();
    let low = high.iter().map(|&level| below(rng, level)).collect();
    (low, high)
}

fn all_hold(facts: &NodeFacts) -> bool {
    facts.n_suppressed == 0
}

fn every_job(check: impl Fn(&mut Rng, &Table, &Asked, &Job)) {
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let table = tree_table(&mut rng, 40);
        for job in jobs(&table, 3) {
            let asked = asked(&table, &job);
            check(&mut rng, &table, &asked, &job);
        }
    }
}

#[test]
fn generalization_keeps_monotone_models() {
    every_job(|rng, table, asked, job| {
        let (low, high) = two_nodes(rng, table);
        if job.models.iter().all(|model| model.is_monotone()) && all_hold(&asked.node(&low)) {
            assert!(all_hold(&asked.node(&high)), "{} at {low:?} and {high:?}", job.describe());
        }
    });
}

/// Rows suppressed by a generalization are suppressed by its specializations.
#[test]
fn generalization_keeps_rows_where_models_hold_for_supersets() {
    every_job(|rng, table, asked, job| {
        if job.models.iter().all(|model| model.holds_for_supersets()) {
            let (low, high) = two_nodes(rng, table);
            let kept = |node: &[u8]| -> Rows { asked.node(node).classes.concat() };
            let (low, high) = (kept(&low), kept(&high));
            assert!(low.iter().all(|row| high.contains(row)), "{}", job.describe());
        }
    });
}

/// Classes of a generalization are unions of classes of what is below.
#[test]
fn frequency_sets_roll_up() {
    every_job(|rng, table, asked, _| {
        let counting = Asked { models: &[], ..asked.clone() };
        let (low, high) = two_nodes(rng, table);
        let (low, high) = (counting.node(&low), counting.node(&high));
        for class in &low.classes {
            let above = high.classes.iter().find(|above| above.contains(&class[0])).unwrap();
            assert!(class.iter().all(|row| above.contains(row)));
        }
    });
}

/// Leaving out an attribute is generalizing it to its root.
#[test]
fn subsets_keep_monotone_models() {
    every_job(|rng, table, asked, job| {
        let (node, _) = two_nodes(rng, table);
        let left_out = rng.below(node.len());
        let mut fewer = node.clone();
        fewer[left_out] = heights(table)[left_out];
        if job.models.iter().all(|model| model.is_monotone()) && all_hold(&asked.node(&node)) {
            assert!(all_hold(&asked.node(&fewer)), "{}", job.describe());
        }
    });
}

#[test]
fn neighbours_of_a_node_are_each_others() {
    let top = |levels: [u8; 4]| Levels::new(levels.map(Level));
    let lattice = Lattice::between(top([0, 1, 0, 0]), top([2, 1, 3, 1])).unwrap();
    let mut n_nodes = 0;
    for height in 0..=7 {
        for node in lattice.at_height(height) {
            n_nodes += 1;
            for above in lattice.direct_generalizations(&node) {
                assert!(above.generalizes(&node) && above.height() == height + 1);
                assert!(lattice.direct_specializations(&above).any(|below| below == node));
            }
        }
    }
    assert_eq!(Some(n_nodes), lattice.n_nodes());
}

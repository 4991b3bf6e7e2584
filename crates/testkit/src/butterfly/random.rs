//! Random attackers and random nodes of a hierarchy of classes.

use std::collections::BTreeSet;

use incrowd_privacy::{KAnonymity, Model};

use super::Attacker;
use crate::Table;
use crate::assignment::Rows;
use crate::generate::Rng;
use crate::oracle::Oracle;

/// Attackers, each with a k of 2 to `max_k`, who together know all attributes. Their attribute sets
/// overlap, are disjoint, or are contained in one another.
#[must_use]
pub fn random_attackers(
    rng: &mut Rng,
    n_attributes: usize,
    n_attackers: usize,
    max_k: usize,
) -> Vec<Attacker> {
    let way = rng.below(6);
    let mut known: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n_attackers];
    for attribute in 0..n_attributes {
        if way > 0 {
            for set in &mut known {
                if rng.one_in(2) {
                    set.insert(attribute);
                }
            }
        }
        // Somebody knows it; with way 0 just one.
        if !known.iter().any(|set| set.contains(&attribute)) {
            known[rng.below(n_attackers)].insert(attribute);
        }
    }
    if way == 1 {
        // The last knows a part of what the first knows, or the same.
        let within = known[0].iter().copied().filter(|_| !rng.one_in(3)).collect();
        let lost = std::mem::replace(&mut known[n_attackers - 1], within);
        known[0].extend(lost);
    }
    for set in &mut known {
        if set.is_empty() {
            set.insert(rng.below(n_attributes));
        }
    }
    let mut attacker = |set: BTreeSet<usize>| {
        let k = 2 + rng.below(max_k - 1) as u64;
        Attacker { attributes: set.into_iter().collect(), k }
    };
    known.into_iter().map(&mut attacker).collect()
}

/// Up to four classes of k rows or more, by vector, with at most `max_rows` rows in all: the
/// vectors are random, or neighbours, or those of strict Mondrian. `None` if the table has too few
/// rows.
#[must_use]
pub fn random_node(rng: &mut Rng, table: &Table, k: u64, max_rows: usize) -> Option<Vec<Vec<u32>>> {
    let (set, vector_of) = table.collapse();
    let n_classes = 1 + rng.below(4);
    let rows_of = |class: &[u32]| -> usize {
        class.iter().map(|&vector| set.counts[vector as usize] as usize).sum()
    };
    if (table.rows.len() as u64) < k {
        return None;
    }
    let way = rng.below(3);
    let mut classes: Vec<Vec<u32>> = if way == 0 {
        mondrian(table, k, &vector_of)
    } else {
        let mut vectors: Vec<u32> = (0..).take(set.counts.len()).collect();
        if way == 1 {
            rng.shuffle(&mut vectors);
        }
        let mut classes: Vec<Vec<u32>> = vec![vec![]];
        for vector in vectors {
            let last = classes.len() - 1;
            classes[last].push(vector);
            if rows_of(&classes[last]) as u64 >= k && !rng.one_in(4) {
                classes.push(vec![]);
            }
        }
        classes
    };
    let start = rng.below(classes.len());
    classes.rotate_left(start);
    let mut n_rows = 0;
    classes.retain(|class| {
        let rows = rows_of(class);
        let fits = rows as u64 >= k && n_rows + rows <= max_rows;
        n_rows += if fits { rows } else { 0 };
        fits
    });
    classes.truncate(n_classes);
    (!classes.is_empty()).then_some(classes)
}

/// The classes of strict Mondrian on all attributes, by vector.
fn mondrian(table: &Table, k: u64, vector_of: &[u32]) -> Vec<Vec<u32>> {
    let models: [Box<dyn Model>; 1] = [Box::new(KAnonymity::new(k).expect("a k of at least 2"))];
    let classes = Oracle { table, models: &models, entity: None }.mondrian();
    let vectors =
        |rows: Rows| -> BTreeSet<u32> { rows.iter().map(|&row| vector_of[row]).collect() };
    classes.into_iter().map(|rows| vectors(rows).into_iter().collect()).collect()
}

/// The rows of classes of vectors.
#[must_use]
pub fn rows_of_node(vector_of: &[u32], classes: &[Vec<u32>]) -> Vec<Rows> {
    let rows = |class: &Vec<u32>| {
        (0..vector_of.len()).filter(|&row| class.contains(&vector_of[row])).collect()
    };
    classes.iter().map(rows).collect()
}

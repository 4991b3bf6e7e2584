//! Several quasi-identifier sets: what a release must satisfy, and slow, obvious answers about
//! butterflies.
//!
//! Written from Pei, Tao, Li, Xiao: *Privacy Preserving Publishing on Multiple Quasi-Identifiers*,
//! ICDE 2009. Works on rows, one at a time, and tries everything.

mod bound;
mod least;
mod random;
mod structure;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Attribute, Cell, Hierarchy, Level, Shape};
use incrowd_privacy::{Model, all_hold};

use crate::Table;
use crate::assignment::Rows;
use crate::oracle::{Oracle, lowest_node};
pub use random::{random_attackers, random_node, rows_of_node};
pub use structure::{alike, can_be_divided, decompose, is_anonymous, is_butterfly};

/// What one attacker can know (a quasi-identifier set), and the number of rows that must look the
/// same to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attacker {
    /// The attributes, ascending.
    pub attributes: Vec<usize>,
    /// The attacker's k.
    pub k: u64,
}

impl Attacker {
    /// An attacker who knows these attributes.
    #[must_use]
    pub fn new(attributes: &[usize], k: u64) -> Attacker {
        Attacker { attributes: attributes.to_vec(), k }
    }
}

/// A table and the requirements for its release.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The rows.
    pub table: &'a Table,
    /// The attackers that the release must withstand.
    pub attackers: &'a [Attacker],
    /// Models for every class of every attacker, in addition to their k-anonymity. All monotone.
    pub models: &'a [Box<dyn Model>],
    /// The extra column whose distinct codes k counts.
    pub entity: Option<usize>,
}

/// A released table: the cells by row and attribute.
pub type Release = Vec<Vec<Cell>>;

impl Asked<'_> {
    /// Whether the rows may be a class in the eyes of an attacker.
    #[must_use]
    pub fn may_be_class(&self, attacker: &Attacker, rows: &[usize]) -> bool {
        let Asked { table, models, entity, .. } = *self;
        let class = Oracle { table, models, entity }.class(rows);
        class.n_entities >= attacker.k && all_hold(models, &class)
    }

    /// Whether the table can be released at all: as one class for every attacker.
    #[must_use]
    pub fn is_feasible(&self) -> bool {
        let all: Rows = (0..self.table.rows.len()).collect();
        !all.is_empty() && self.attackers.iter().all(|attacker| self.may_be_class(attacker, &all))
    }

    /// Whether every cell covers its original value, and, for every attacker, the rows that look
    /// the same may be a class.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self, release: &Release) -> Result<(), String> {
        let attributes = &self.table.attributes;
        if release.len() != self.table.rows.len() {
            return Err(format!("{} rows of {}", release.len(), self.table.rows.len()));
        }
        for (row, cells) in release.iter().enumerate() {
            if cells.len() != attributes.len() {
                return Err(format!("row {row} has {} cells", cells.len()));
            }
            for ((attribute, cell), &code) in
                attributes.iter().zip(cells).zip(self.table.quasi(row))
            {
                if !covers(attribute, cell, code) {
                    return Err(format!("row {row}: {cell:?} does not cover the code {code}"));
                }
            }
        }
        let all: Rows = (0..release.len()).collect();
        for attacker in self.attackers {
            for rows in alike(release, &all, &attacker.attributes) {
                if !self.may_be_class(attacker, &rows) {
                    return Err(format!("{attacker:?} sees the rows {rows:?} as a class"));
                }
            }
        }
        Ok(())
    }
}

/// Whether the cell covers the code.
fn covers(attribute: &Attribute, cell: &Cell, code: u32) -> bool {
    match cell {
        Cell::Value(value) => *value == code,
        // A missing value has the last code and is in no range.
        Cell::Range(lo, hi) => {
            (lo..=hi).contains(&&code) && Some(*hi) != attribute.dictionary.missing()
        }
        Cell::Node(level, group) => match &attribute.shape {
            Shape::Tree(tree) => tree.group_of(Level(*level), code) == *group,
            _ => false,
        },
        Cell::Nodes(nodes) => {
            nodes.iter().any(|&(level, group)| covers(attribute, &Cell::Node(level, group), code))
        }
        Cell::Set(values) => values.contains(&code),
        Cell::Between(part) => (part.lo..=part.hi).contains(&code),
        Cell::All => true,
    }
}

/// The least cell that covers the values of some rows; along a tree, the highest nodes whose
/// children all contain one of the values.
///
/// # Panics
///
/// If there is no row.
#[must_use]
pub fn least_cell(table: &Table, rows: &[usize], attribute: usize) -> Cell {
    let present: BTreeSet<u32> = rows.iter().map(|&row| table.quasi(row)[attribute]).collect();
    let present: Vec<u32> = present.into_iter().collect();
    let attribute = &table.attributes[attribute];
    if let Shape::Tree(tree) = &attribute.shape {
        let nodes = highest_nodes(tree, &present.iter().copied().collect());
        return match nodes[..] {
            [(level, group)] => attribute.cell_at(level, group),
            _ => Cell::Nodes(nodes.iter().map(|(level, group)| (level.0, *group)).collect()),
        };
    }
    attribute.cell(present[0], present[present.len() - 1], &present)
}

fn highest_nodes(tree: &Hierarchy, leaves: &BTreeSet<u32>) -> Vec<(Level, u32)> {
    let level = lowest_node(tree, leaves).expect("there are leaves");
    let below = |level: Level| -> BTreeMap<u32, BTreeSet<u32>> {
        let mut groups: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &leaf in leaves {
            groups.entry(tree.group_of(level, leaf)).or_default().insert(leaf);
        }
        groups
    };
    let node = *below(level).keys().next().expect("there are leaves");
    let Some(children) = level.0.checked_sub(1).map(|level| below(Level(level))) else {
        return vec![(level, node)];
    };
    if children.len() == tree.children(level, node).len() {
        return vec![(level, node)];
    }
    children.values().flat_map(|leaves| highest_nodes(tree, leaves)).collect()
}

/// The release in which the rows of a group have the same, least cells on the attributes beside it.
/// Every row is in one group per attribute.
#[must_use]
pub fn release_of(table: &Table, blocks: &[(Vec<usize>, Vec<Rows>)]) -> Release {
    let mut release: Vec<Vec<Option<Cell>>> =
        vec![vec![None; table.attributes.len()]; table.rows.len()];
    for (attributes, groups) in blocks {
        for (&attribute, rows) in attributes.iter().flat_map(|a| groups.iter().map(move |g| (a, g)))
        {
            let cell = least_cell(table, rows, attribute);
            for &row in rows {
                let earlier = release[row][attribute].replace(cell.clone());
                assert!(earlier.is_none(), "row {row} is in two groups");
            }
        }
    }
    let all = |cells: Vec<Option<Cell>>| cells.into_iter().map(|cell| cell.expect("a group"));
    release.into_iter().map(|cells| all(cells).collect()).collect()
}

/// The uncertainty penalty (Definition 1): the loss of all cells.
#[must_use]
pub fn penalty(table: &Table, release: &Release) -> f64 {
    let loss = |cells: &Vec<Cell>| -> f64 {
        table.attributes.iter().zip(cells).map(|(attribute, cell)| attribute.loss(cell)).sum()
    };
    release.iter().map(loss).sum()
}

/// The penalty of giving some rows the same cells on some attributes.
fn joint_penalty(table: &Table, rows: &[usize], attributes: &[usize]) -> f64 {
    let loss = |&at: &usize| table.attributes[at].loss(&least_cell(table, rows, at));
    rows.len() as f64 * attributes.iter().map(loss).sum::<f64>()
}

/// The attackers that no other one implies. Attackers whose attributes another one also knows, with
/// at least their k, are left out (except the first of equal ones).
#[must_use]
pub fn effective(attackers: &[Attacker]) -> Vec<Attacker> {
    let asks_no_more = |one: &Attacker, other: &Attacker| {
        one.k <= other.k && one.attributes.iter().all(|at| other.attributes.contains(at))
    };
    let is_idle = |at: usize| {
        attackers.iter().enumerate().any(|(other, stronger)| {
            let one = &attackers[at];
            other != at
                && asks_no_more(one, stronger)
                && (!asks_no_more(stronger, one) || other < at)
        })
    };
    let kept = attackers.iter().enumerate().filter(|&(at, _)| !is_idle(at));
    kept.map(|(_, attacker)| attacker.clone()).collect()
}

/// The attributes that two or more of the attackers know, and by attacker those that no other
/// knows.
#[must_use]
pub fn body_and_wings(attackers: &[Attacker]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n_knowing =
        |at: &usize| attackers.iter().filter(|attacker| attacker.attributes.contains(at)).count();
    let known: BTreeSet<usize> =
        attackers.iter().flat_map(|attacker| attacker.attributes.iter().copied()).collect();
    let body = known.into_iter().filter(|at| n_knowing(at) > 1).collect();
    let wing = |attacker: &Attacker| {
        attacker.attributes.iter().copied().filter(|at| n_knowing(at) == 1).collect()
    };
    (body, attackers.iter().map(wing).collect())
}

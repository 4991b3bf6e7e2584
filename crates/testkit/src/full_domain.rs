//! Full-domain generalization, slow and obvious: the result of every node of the lattice, the best
//! nodes, the result of Datafly, and the number of nodes that the breadth-first searches check.
//!
//! Written from slides about LeFevre, DeWitt, Ramakrishnan: *Incognito: Efficient Full-Domain
//! K-Anonymity*, SIGMOD 2005, and the measures of `docs/src/report.md`. A node is one level per
//! attribute. Works on rows, one at a time, and recounts everything at every node.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Hierarchy, Level, Shape};
use incrowd_privacy::Model;
use incrowd_quality::Measure;

use crate::Table;
use crate::assignment::Rows;
use crate::oracle::Oracle;

/// Costs within this relative distance of the least one are equal.
const TIE: f64 = 1e-9;

/// A table, all of whose attributes are trees, and the requirements for its generalization.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The rows.
    pub table: &'a Table,
    /// What must hold for every class.
    pub models: &'a [Box<dyn Model>],
    /// The k of the average class size.
    pub k: u64,
    /// The extra column whose distinct codes the models count.
    pub entity: Option<usize>,
    /// The most rows that may be suppressed.
    pub limit: u64,
    /// Whether suppressed rows are released together as `*`, and so must be a class.
    pub stars: bool,
    /// The measure of a node's cost.
    pub measure: Measure,
    /// The extra column that classification predicts.
    pub target: Option<usize>,
    /// The weight of each attribute in loss and precision; only the ratios matter.
    pub weights: Vec<f64>,
    /// The least and the greatest level of each attribute.
    pub bounds: Vec<(u8, u8)>,
}

/// The result of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFacts {
    /// The level of each attribute.
    pub levels: Vec<u8>,
    /// The rows of each class that is kept, ascending; classes by their first row.
    pub classes: Vec<Rows>,
    /// The rows of the other classes.
    pub n_suppressed: u64,
    /// Whether the node may be released.
    pub is_feasible: bool,
    /// The cost, feasible or not.
    pub cost: f64,
}

/// A node and the division of the rows that it gives.
struct Division<'a> {
    levels: &'a [u8],
    classes: Vec<Rows>,
    suppressed: Rows,
}

impl Asked<'_> {
    /// The result of a node, within the bounds or not.
    ///
    /// # Panics
    ///
    /// If there is not one level of each attribute's hierarchy.
    #[must_use]
    pub fn node(&self, levels: &[u8]) -> NodeFacts {
        assert_eq!(levels.len(), self.table.attributes.len(), "one level per attribute");
        let every_attribute: Vec<usize> = (0..levels.len()).collect();
        let (classes, others) = self.divide(&every_attribute, levels);
        let division = Division { levels, classes, suppressed: others };
        NodeFacts {
            levels: levels.to_vec(),
            n_suppressed: division.suppressed.len() as u64,
            is_feasible: self.is_feasible(&division),
            cost: self.cost(&division),
            classes: division.classes,
        }
    }

    /// Every node within the bounds, by levels.
    #[must_use]
    pub fn lattice(&self) -> Vec<NodeFacts> {
        let every_attribute: Vec<usize> = (0..self.bounds.len()).collect();
        self.level_vectors(&every_attribute).iter().map(|levels| self.node(levels)).collect()
    }

    /// Datafly (Sweeney 1997): from the least levels, raises the attribute with the most distinct
    /// values, the first of equals, until the node is feasible; `None` if nothing can be raised.
    #[must_use]
    pub fn datafly(&self) -> Option<NodeFacts> {
        let mut levels: Vec<u8> = self.bounds.iter().map(|&(least, _)| least).collect();
        loop {
            let node = self.node(&levels);
            if node.is_feasible {
                return Some(node);
            }
            let mut most: Option<(usize, usize)> = None;
            for (attribute, &level) in levels.iter().enumerate() {
                if level == self.bounds[attribute].1 {
                    continue;
                }
                let n_values = self.n_values(attribute, level);
                if most.is_none_or(|(_, so_far)| n_values > so_far) {
                    most = Some((attribute, n_values));
                }
            }
            let (attribute, _) = most?;
            levels[attribute] += 1;
        }
    }

    fn tree(&self, attribute: usize) -> &Hierarchy {
        match &self.table.attributes[attribute].shape {
            Shape::Tree(tree) => tree,
            _ => panic!("attribute {attribute} is a tree"),
        }
    }

    /// The group that replaces a row's value.
    fn group(&self, row: usize, attribute: usize, level: u8) -> u32 {
        self.tree(attribute).group_of(Level(level), self.table.quasi(row)[attribute])
    }

    /// The distinct values of a column at a level.
    fn n_values(&self, attribute: usize, level: u8) -> usize {
        let rows = 0..self.table.rows.len();
        rows.map(|row| self.group(row, attribute, level)).collect::<BTreeSet<u32>>().len()
    }

    /// Every choice of levels for some attributes within their bounds, in order.
    fn level_vectors(&self, attributes: &[usize]) -> Vec<Vec<u8>> {
        let mut found = vec![vec![]];
        for &attribute in attributes {
            let (least, greatest) = self.bounds[attribute];
            let mut longer = vec![];
            for levels in found {
                for level in least..=greatest {
                    longer.push([levels.as_slice(), &[level]].concat());
                }
            }
            found = longer;
        }
        found
    }

    /// The classes by some of the attributes at these levels that satisfy all models, and the rows
    /// of the others.
    fn divide(&self, attributes: &[usize], levels: &[u8]) -> (Vec<Rows>, Rows) {
        let mut class_of: BTreeMap<Vec<u32>, Rows> = BTreeMap::new();
        for row in 0..self.table.rows.len() {
            let groups =
                attributes.iter().zip(levels).map(|(&a, &level)| self.group(row, a, level));
            class_of.entry(groups.collect()).or_default().push(row);
        }
        let (mut kept, mut suppressed) = (vec![], vec![]);
        for class in class_of.into_values() {
            if self.holds(&class) {
                kept.push(class);
            } else {
                suppressed.extend(class);
            }
        }
        kept.sort_unstable();
        suppressed.sort_unstable();
        (kept, suppressed)
    }

    fn holds(&self, rows: &[usize]) -> bool {
        Oracle { table: self.table, models: self.models, entity: self.entity }.holds(rows)
    }

    fn is_feasible(&self, division: &Division) -> bool {
        let Division { levels, classes, suppressed } = division;
        let is_root = |attribute: usize| levels[attribute] == self.tree(attribute).height().0;
        let mut stars = suppressed.clone();
        if (0..levels.len()).all(is_root) {
            stars.extend(classes.iter().flatten());
        }
        suppressed.len() as u64 <= self.limit
            && !classes.is_empty()
            && (!self.stars || suppressed.is_empty() || self.holds(&stars))
            && (self.stars || suppressed.is_empty() || self.holds_within(classes))
    }

    /// Whether every class satisfies the models relative to the rows of all classes.
    fn holds_within(&self, classes: &[Rows]) -> bool {
        let oracle = Oracle { table: self.table, models: self.models, entity: self.entity };
        oracle.hold_within(classes)
    }

    /// Whether few enough rows break a model: Incognito's test of a node over some attributes.
    fn passes(&self, attributes: &[usize], levels: &[u8]) -> bool {
        self.divide(attributes, levels).1.len() as u64 <= self.limit
    }
}

/// Costs.
impl Asked<'_> {
    fn cost(&self, division: &Division) -> f64 {
        match self.measure {
            Measure::Discernibility => self.discernibility(division),
            Measure::AverageClassSize => self.average_class_size(division),
            Measure::Loss => self.weighted_mean(|attribute| self.loss(division, attribute)),
            Measure::Entropy => self.entropy(division),
            Measure::Classification => self.classification(division),
            Measure::Height => division.levels.iter().map(|&level| f64::from(level)).sum(),
            Measure::Precision => {
                self.weighted_mean(|attribute| self.precision(division, attribute))
            }
        }
    }

    /// All rows, as a divisor: a table without rows costs nothing.
    fn n_rows(&self) -> f64 {
        float(self.table.rows.len().max(1))
    }

    fn weighted_mean(&self, of_attribute: impl Fn(usize) -> f64) -> f64 {
        assert_eq!(self.weights.len(), self.table.attributes.len(), "one weight per attribute");
        let total: f64 = self.weights.iter().sum();
        let parts = self.weights.iter().enumerate();
        parts.map(|(attribute, weight)| weight / total * of_attribute(attribute)).sum()
    }

    fn discernibility(&self, division: &Division) -> f64 {
        let kept: f64 =
            division.classes.iter().map(|class| float(class.len()) * float(class.len())).sum();
        kept + float(division.suppressed.len()) * float(self.table.rows.len())
    }

    fn average_class_size(&self, division: &Division) -> f64 {
        let n_classes = division.classes.len() + usize::from(!division.suppressed.is_empty());
        float(self.table.rows.len()) / float(n_classes.max(1)) / self.k as f64
    }

    fn loss(&self, division: &Division, attribute: usize) -> f64 {
        let tree = self.tree(attribute);
        let level = division.levels[attribute];
        let mut lost = float(division.suppressed.len());
        for &row in division.classes.iter().flatten() {
            let group = self.group(row, attribute, level);
            let node = &tree.groups(Level(level))[group as usize];
            lost += if level == 0 {
                0.0
            } else if Level(level) == tree.height() {
                1.0
            } else if tree.n_leaves() == 1 {
                0.0
            } else {
                let n_leaves = node.hi - node.lo + 1;
                f64::from(n_leaves - 1) / f64::from(tree.n_leaves() - 1)
            };
        }
        lost / self.n_rows()
    }

    fn precision(&self, division: &Division, attribute: usize) -> f64 {
        let height = self.tree(attribute).height().0;
        let climbed = match height {
            0 => 0.0,
            _ => f64::from(division.levels[attribute]) / f64::from(height),
        };
        let n_kept: usize = division.classes.iter().map(Vec::len).sum();
        (float(n_kept) * climbed + float(division.suppressed.len())) / self.n_rows()
    }

    fn entropy(&self, division: &Division) -> f64 {
        let (mut hidden, mut most) = (0.0, 0.0);
        for (attribute, &level) in division.levels.iter().enumerate() {
            let with_value = self.rows_by_group(attribute, 0);
            let in_node = self.rows_by_group(attribute, level);
            let f = |row: usize| with_value[&self.group(row, attribute, 0)];
            let big_f = |row: usize| in_node[&self.group(row, attribute, level)];
            for &row in division.classes.iter().flatten() {
                hidden += (big_f(row) / f(row)).log2();
                most += (self.n_rows() / f(row)).log2();
            }
            for &row in &division.suppressed {
                hidden += (self.n_rows() / f(row)).log2();
                most += (self.n_rows() / f(row)).log2();
            }
        }
        if most > 0.0 { hidden / most } else { 0.0 }
    }

    /// The number of rows of the table in each group of a level.
    fn rows_by_group(&self, attribute: usize, level: u8) -> BTreeMap<u32, f64> {
        let mut rows = BTreeMap::new();
        for row in 0..self.table.rows.len() {
            *rows.entry(self.group(row, attribute, level)).or_insert(0.0) += 1.0;
        }
        rows
    }

    fn classification(&self, division: &Division) -> f64 {
        let target = self.target.expect("classification needs a target");
        let mut wrong = division.suppressed.len();
        for class in &division.classes {
            let mut rows_of: BTreeMap<u32, usize> = BTreeMap::new();
            for &row in class {
                *rows_of.entry(self.table.extra_codes(row)[target]).or_default() += 1;
            }
            wrong += class.len() - rows_of.into_values().max().unwrap_or(0);
        }
        float(wrong)
    }
}

fn float(n: usize) -> f64 {
    n as f64
}

/// The feasible node of least cost; of equal ones, the first by levels.
#[must_use]
pub fn optimum(nodes: &[NodeFacts]) -> Option<&NodeFacts> {
    let feasible = || nodes.iter().filter(|node| node.is_feasible);
    let least = feasible().map(|node| node.cost).min_by(f64::total_cmp)?;
    feasible()
        .filter(|node| node.cost <= least + TIE * least.abs())
        .min_by(|a, b| a.levels.cmp(&b.levels))
}

/// The feasible nodes that generalize no other feasible node, by levels.
#[must_use]
pub fn minimal(nodes: &[NodeFacts]) -> Vec<Vec<u8>> {
    let feasible = feasible_levels(nodes);
    let is_minimal = |levels: &Vec<u8>| {
        !feasible.iter().any(|other| other != levels && is_generalized_by(other, levels))
    };
    feasible.iter().filter(|levels| is_minimal(levels)).cloned().collect()
}

/// The feasible nodes with the least sum of levels, by levels.
#[must_use]
pub fn least_height(nodes: &[NodeFacts]) -> Vec<Vec<u8>> {
    let mut found = feasible_levels(nodes);
    let least = found.iter().map(|levels| height(levels)).min();
    found.retain(|levels| Some(height(levels)) == least);
    found
}

/// The levels of the feasible nodes, in order.
fn feasible_levels(nodes: &[NodeFacts]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> =
        nodes.iter().filter(|node| node.is_feasible).map(|node| node.levels.clone()).collect();
    found.sort();
    found
}

fn height(levels: &[u8]) -> u32 {
    levels.iter().map(|&level| u32::from(level)).sum()
}

/// Whether no level of `low` is above that of `high`.
fn is_generalized_by(low: &[u8], high: &[u8]) -> bool {
    low.iter().zip(high).all(|(l, h)| l <= h)
}

/// The number of nodes whose frequency set basic Incognito checks, over all sizes of subsets of the
/// attributes. A node passes if at most `limit` of its rows are in classes that break a model; the
/// models must be such that a generalization of a node that passes does too.
///
/// A node that passes marks its direct generalizations, as the paper has it, or, if `transitive`,
/// all of them. Only the former gives the counts of the paper for 3 and 4 columns of Adult.
#[must_use]
pub fn incognito_counts(asked: &Asked, transitive: bool) -> u64 {
    incognito(asked, transitive).0
}

/// The number of nodes that the breadth-first search of the whole lattice checks, with marks as in
/// [`incognito_counts`].
#[must_use]
pub fn bottom_up_counts(asked: &Asked, transitive: bool) -> u64 {
    bottom_up(asked, transitive).0
}

type LevelVectors = BTreeSet<Vec<u8>>;

/// The count, and the nodes over all attributes that pass.
fn bottom_up(asked: &Asked, transitive: bool) -> (u64, LevelVectors) {
    let every_attribute: Vec<usize> = (0..asked.bounds.len()).collect();
    let candidates = asked.level_vectors(&every_attribute).into_iter().collect();
    breadth_first(asked, &every_attribute, &candidates, transitive)
}

/// The count, and the nodes over all attributes that pass.
fn incognito(asked: &Asked, transitive: bool) -> (u64, LevelVectors) {
    let n_attributes = asked.bounds.len();
    let mut n_checked = 0;
    // S of the last size: for each subset, the level vectors that passed. No attributes, no levels.
    let mut passed: BTreeMap<Vec<usize>, LevelVectors> =
        BTreeMap::from([(vec![], BTreeSet::from([vec![]]))]);
    for size in 1..=n_attributes {
        let mut passed_now = BTreeMap::new();
        for subset in subsets(n_attributes, size) {
            let mut candidates = LevelVectors::new();
            for levels in asked.level_vectors(&subset) {
                let part_passed =
                    |out: usize| passed[&without(&subset, out)].contains(&without(&levels, out));
                if (0..size).all(part_passed) {
                    candidates.insert(levels);
                }
            }
            let (n, survivors) = breadth_first(asked, &subset, &candidates, transitive);
            n_checked += n;
            passed_now.insert(subset, survivors);
        }
        passed = passed_now;
    }
    let every_attribute: Vec<usize> = (0..n_attributes).collect();
    (n_checked, passed.remove(&every_attribute).expect("the last size has one subset"))
}

/// The search of one candidate graph: the number of nodes checked, and the candidates left.
fn breadth_first(
    asked: &Asked,
    subset: &[usize],
    candidates: &LevelVectors,
    transitive: bool,
) -> (u64, LevelVectors) {
    let mut n_checked = 0;
    let mut survivors = candidates.clone();
    let mut marked = LevelVectors::new();
    let mut inserted = LevelVectors::new();
    let mut queue: BTreeSet<(u32, Vec<u8>)> = BTreeSet::new();
    for levels in candidates {
        if !candidates.iter().any(|below| is_step_up(below, levels)) {
            inserted.insert(levels.clone());
            queue.insert((height(levels), levels.clone()));
        }
    }
    while let Some((_, levels)) = queue.pop_first() {
        if marked.contains(&levels) {
            continue;
        }
        n_checked += 1;
        let is_direct = |above: &&Vec<u8>| is_step_up(&levels, above);
        if asked.passes(subset, &levels) {
            let is_above = |above: &&Vec<u8>| {
                if transitive { is_generalized_by(&levels, above) } else { is_direct(above) }
            };
            marked.extend(candidates.iter().filter(is_above).cloned());
        } else {
            survivors.remove(&levels);
            for above in candidates.iter().filter(is_direct) {
                if inserted.insert(above.clone()) {
                    queue.insert((height(above), above.clone()));
                }
            }
        }
    }
    (n_checked, survivors)
}

/// Whether `high` is `low` with one level one higher.
fn is_step_up(low: &[u8], high: &[u8]) -> bool {
    is_generalized_by(low, high) && height(high) == height(low) + 1
}

/// The subsets of `0..n` with `size` members.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let members =
        |bits: usize| (0..n).filter(|member| bits & (1 << member) != 0).collect::<Vec<_>>();
    (0..1 << n).map(members).filter(|subset| subset.len() == size).collect()
}

fn without<T: Clone>(items: &[T], out: usize) -> Vec<T> {
    [&items[..out], &items[out + 1..]].concat()
}

#[cfg(test)]
mod tests;

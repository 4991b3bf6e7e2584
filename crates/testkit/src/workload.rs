//! Mondrian with a criterion, slow and obvious: the cost of every allowable cut of a region, and
//! the cut to make.
//!
//! Written from LeFevre, DeWitt, Ramakrishnan: *Workload-Aware Anonymization*, KDD 2006, section 3,
//! and the documented departures from it. Works on rows and on lists of codes, one at a time, and
//! recounts everything for every cut.

pub mod generate;
mod queries;
mod tds;

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Level, Region, Shape};

use crate::Table;
use crate::assignment::Rows;
use crate::oracle::{Oracle, lowest_node};

pub use tds::Tds;

/// How a region is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Plain Mondrian.
    Median,
    /// For the targets.
    Targets,
    /// For the selections.
    Selection,
    /// For the queries.
    Queries,
}

/// What is predicted: an extra column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// As labels; a missing one is a label.
    Labels(usize),
    /// As numbers; missing ones do not count.
    Numbers(usize),
}

/// What a query adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adds {
    /// Rows.
    Rows,
    /// An extra column, which is released unchanged.
    Extra(usize),
    /// A numeric attribute, which is released as cells.
    Attribute(usize),
}

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// Disjoint regions.
    pub regions: Vec<Region>,
    /// What is added up.
    pub adds: Adds,
    /// Whether the query returns the mean: values count by their distance from it.
    pub is_mean: bool,
    /// The weight of the query.
    pub weight: f64,
}

/// The purpose of a release.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The criteria, in order of precedence.
    pub splits: Vec<Split>,
    /// What is predicted.
    pub targets: Vec<Target>,
    /// What is selected.
    pub selections: Vec<Region>,
    /// A query.
    pub queries: Vec<Query>,
}

/// A cut of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The attribute.
    pub attribute: usize,
    /// The last code of the lower part; `None` on an attribute with a hierarchy.
    pub code: Option<u32>,
    /// The parts with rows.
    pub parts: Vec<Rows>,
    /// The cost of the parts.
    pub cost: f64,
}

/// A table, the models for its classes, and the purpose of its release.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The table and the models.
    pub oracle: Oracle<'a>,
    /// The purpose of the release.
    pub workload: &'a Workload,
}

/// By attribute, the codes of a cell.
pub type Cell = Vec<Vec<u32>>;

impl<'a> Asked<'a> {
    fn table(&self) -> &'a Table {
        self.oracle.table
    }

    fn n_attributes(&self) -> usize {
        self.table().attributes.len()
    }

    fn code(&self, row: usize, attribute: usize) -> u32 {
        self.table().quasi(row)[attribute]
    }

    /// The cut to make: that of the first criterion that has one.
    #[must_use]
    pub fn choice(&self, rows: &[usize]) -> Option<Cut> {
        self.workload.splits.iter().find_map(|&split| self.choice_of(split, rows))
    }

    /// The cut that a criterion offers.
    #[must_use]
    pub fn choice_of(&self, split: Split, rows: &[usize]) -> Option<Cut> {
        if split == Split::Median {
            return self.median(rows);
        }
        let least = self.best(self.candidates(split, rows), rows)?;
        let is_made = split == Split::Targets || lowers(&least, self.cost(split, rows, rows, None));
        is_made.then_some(least)
    }

    fn median(&self, rows: &[usize]) -> Option<Cut> {
        self.oracle.choose_dimension(rows).into_iter().find_map(|attribute| {
            let parts = self.oracle.nearest_median(rows, attribute)?;
            let code = self.last_code(attribute, &parts);
            Some(Cut { attribute, code, parts, cost: 0.0 })
        })
    }

    fn last_code(&self, attribute: usize, parts: &[Rows]) -> Option<u32> {
        let is_tree = matches!(self.table().attributes[attribute].shape, Shape::Tree(_));
        let codes = parts[0].iter().map(|&row| self.code(row, attribute));
        if is_tree { None } else { codes.max() }
    }

    /// The cheapest of some cuts, costs being equal if they are as `f32`: then that on the widest
    /// attribute, then the one nearest the median, then that of the smallest code.
    fn best(&self, cuts: Vec<Cut>, rows: &[usize]) -> Option<Cut> {
        let widest_first = self.oracle.choose_dimension(rows);
        let place = |cut: &Cut| widest_first.iter().position(|&dim| dim == cut.attribute);
        let key = |cut: &Cut| (place(cut), from_median(cut, rows), cut.code);
        cuts.into_iter()
            .min_by(|a, b| single(a.cost).total_cmp(&single(b.cost)).then(key(a).cmp(&key(b))))
    }

    /// The cuts that a criterion chooses from, each of them allowable.
    #[must_use]
    pub fn candidates(&self, split: Split, rows: &[usize]) -> Vec<Cut> {
        (0..self.n_attributes())
            .flat_map(|attribute| {
                let cuts = self.allowable(split, rows, attribute);
                if split == Split::Targets { self.at_changes(rows, cuts) } else { cuts }
            })
            .collect()
    }

    /// All allowable cuts on an attribute.
    fn allowable(&self, split: Split, rows: &[usize], attribute: usize) -> Vec<Cut> {
        let cuts = self.oracle.cuts(rows, attribute).into_iter();
        cuts.filter(|parts| self.oracle.allows(parts))
            .map(|parts| {
                let code = self.last_code(attribute, &parts);
                let cost =
                    parts.iter().map(|part| self.cost(split, rows, part, Some(attribute))).sum();
                Cut { attribute, code, parts, cost }
            })
            .collect()
    }

    /// Those cuts between whose parts a target changes; if it does at none of them, the cut nearest
    /// the median.
    fn at_changes(&self, rows: &[usize], cuts: Vec<Cut>) -> Vec<Cut> {
        let (at_change, others): (Vec<Cut>, Vec<Cut>) =
            cuts.into_iter().partition(|cut| cut.code.is_none() || self.changes_at(cut));
        if !at_change.is_empty() {
            return at_change;
        }
        others
            .into_iter()
            .min_by_key(|cut| (from_median(cut, rows), cut.code))
            .into_iter()
            .collect()
    }

    /// Whether a target changes between the last value below a cut and the first one above it: not
    /// all rows of the two have one label. A number always does.
    fn changes_at(&self, cut: &Cut) -> bool {
        let code = |&row: &usize| self.code(row, cut.attribute);
        let below = cut.parts[0].iter().map(code).max();
        let above = cut.parts[1].iter().map(code).min();
        let beside = cut.parts.iter().flatten().filter(|row| {
            let code = Some(code(row));
            code == below || code == above
        });
        let beside: Rows = beside.copied().collect();
        self.workload.targets.iter().any(|&target| match target {
            Target::Numbers(_) => true,
            Target::Labels(column) => {
                let label = |&row: &usize| self.table().extra_codes(row)[column];
                beside.iter().map(label).collect::<BTreeSet<u32>>().len() > 1
            }
        })
    }

    /// The cost of a part that is cut out of a region on an attribute, or of the whole region.
    #[must_use]
    pub fn cost(
        &self,
        split: Split,
        region: &[usize],
        part: &[usize],
        attribute: Option<usize>,
    ) -> f64 {
        match split {
            Split::Median => 0.0,
            Split::Targets => self.target_cost(part),
            Split::Selection => self.imprecision(&self.cell_of(region, part, attribute), part),
            Split::Queries => self.query_cost(region, &self.cell_of(region, part, attribute), part),
        }
    }

    /// The sum of the costs of the targets, each as a share of its cost in the whole table if there
    /// are both labels and numbers.
    #[must_use]
    pub fn target_cost(&self, part: &[usize]) -> f64 {
        let targets = &self.workload.targets;
        let is_number = |target: &Target| matches!(target, Target::Numbers(_));
        let is_mixed = targets.iter().any(is_number) && !targets.iter().all(is_number);
        let whole: Rows = (0..self.table().rows.len()).collect();
        let share = |&target: &Target| {
            let cost = self.cost_of(target, part);
            let of_whole = if is_mixed { self.cost_of(target, &whole) } else { 1.0 };
            if cost == 0.0 { 0.0 } else { cost / of_whole }
        };
        targets.iter().map(share).sum()
    }

    fn cost_of(&self, target: Target, rows: &[usize]) -> f64 {
        match target {
            Target::Labels(column) => {
                count(rows.len())
                    * entropy(rows.iter().map(|&row| self.table().extra_codes(row)[column]))
            }
            Target::Numbers(column) => squared_error(&self.numbers(column, rows)),
        }
    }

    /// The numbers of an extra column that are not missing.
    fn numbers(&self, column: usize, rows: &[usize]) -> Vec<f64> {
        let positions = &self.table().extras[column].1.positions;
        let code = |&row: &usize| self.table().extra_codes(row)[column] as usize;
        rows.iter().filter_map(|row| positions.get(code(row)).copied()).collect()
    }

    /// By attribute, the codes that the cell of some rows admits.
    #[must_use]
    pub fn cell(&self, rows: &[usize]) -> Cell {
        (0..self.n_attributes()).map(|attribute| self.side(rows, attribute)).collect()
    }

    fn cell_of(&self, region: &[usize], part: &[usize], attribute: Option<usize>) -> Cell {
        let of = |at: usize| if Some(at) == attribute { part } else { region };
        (0..self.n_attributes()).map(|at| self.side(of(at), at)).collect()
    }

    fn side(&self, rows: &[usize], at: usize) -> Vec<u32> {
        let attribute = &self.table().attributes[at];
        let present: BTreeSet<u32> = rows.iter().map(|&row| self.code(row, at)).collect();
        let (Some(&lo), Some(&hi)) = (present.first(), present.last()) else { return vec![] };
        match &attribute.shape {
            Shape::Tree(tree) => {
                let level = lowest_node(tree, &present).unwrap_or(Level(0));
                let node = |leaf: u32| tree.group_of(level, leaf);
                (0..tree.n_leaves()).filter(|&leaf| node(leaf) == node(lo)).collect()
            }
            _ if lo < hi && Some(hi) == attribute.dictionary.missing() => {
                (0..attribute.n_codes()).collect()
            }
            _ => (lo..=hi).collect(),
        }
    }

    /// Equation 5 for one part, over all selections: the part's rows that are returned by a
    /// selection and do not satisfy it.
    #[must_use]
    pub fn imprecision(&self, cell: &Cell, part: &[usize]) -> f64 {
        let selections = self.workload.selections.iter();
        let of_one = |selection: &Region| {
            let outside = part.iter().filter(|&&row| !self.satisfies(row, selection)).count();
            if overlaps(cell, selection) { outside } else { 0 }
        };
        count(selections.map(of_one).sum())
    }

    /// Whether a row is in a region.
    #[must_use]
    pub fn satisfies(&self, row: usize, region: &Region) -> bool {
        region.sides.iter().all(|(at, set)| set.contains(self.code(row, *at)))
    }
}

fn lowers(cut: &Cut, cost: f64) -> bool {
    single(cut.cost) < single(cost)
}

/// Whether a cell contains a point of a region.
#[must_use]
pub fn overlaps(cell: &Cell, region: &Region) -> bool {
    region.sides.iter().all(|(at, set)| cell[*at].iter().any(|&code| set.contains(code)))
}

/// Whether all points of a cell are in a region.
fn is_within(cell: &Cell, region: &Region) -> bool {
    region.sides.iter().all(|(at, set)| cell[*at].iter().all(|&code| set.contains(code)))
}

fn from_median(cut: &Cut, rows: &[usize]) -> usize {
    (2 * cut.parts[0].len()).abs_diff(rows.len())
}

/// The entropy of some labels in bits.
#[must_use]
pub fn entropy(labels: impl Iterator<Item = u32>) -> f64 {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    labels.for_each(|label| *counts.entry(label).or_default() += 1);
    let total = count(counts.values().sum());
    let share = |&rows: &usize| count(rows) / total;
    counts.values().map(|rows| share(rows) * -share(rows).log2()).sum::<f64>() + 0.0
}

/// The sum of the squared deviations from the mean.
#[must_use]
pub fn squared_error(numbers: &[f64]) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    let mean = numbers.iter().sum::<f64>() / count(numbers.len());
    numbers.iter().map(|number| (number - mean) * (number - mean)).sum()
}

fn count(n: usize) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, reason = "costs are compared so")]
fn single(cost: f64) -> f32 {
    // Both zeros are equal.
    cost as f32 + 0.0
}

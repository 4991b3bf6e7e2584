//! Single-dimensional recoding, slow and obvious: the result of every set of cuts, the sets that a
//! hierarchy allows, the best set, and the allowable cuts.
//!
//! Written from Bayardo, Agrawal: *Data Privacy through Optimal k-Anonymization*, ICDE 2005,
//! sections 3 and 4, and LeFevre, DeWitt, Ramakrishnan, TR 1521, section 2.4. A cut is an attribute
//! and a code: it separates the lower codes from this one and those above, so it is the paper's
//! least value of an interval. Works on rows, one at a time, and recounts everything for every set
//! of cuts.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Attribute, Hierarchy, Level, Shape};
use incrowd_privacy::Model;
use incrowd_quality::Measure;

use crate::Table;
use crate::assignment::Rows;
use crate::oracle::Oracle;

/// Costs closer to the least one than this part of it are equal,
const TIE: f64 = 1e-9;
/// and so are costs closer than this.
const LEAST_TIE: f64 = 1e-12;

/// The most sets of cuts, of one attribute or of all, that are tried.
const MOST_SETS: usize = 1 << 16;

/// Attributes and codes, ascending and distinct.
pub type Cuts = Vec<(usize, u32)>;

/// A table and the requirements for its recoding.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The rows.
    pub table: &'a Table,
    /// The models for every class; the rows of other classes are suppressed.
    pub models: &'a [Box<dyn Model>],
    /// The extra column whose distinct codes the models count.
    pub entity: Option<usize>,
    /// The most rows that may be suppressed.
    pub limit: u64,
    /// The measure of the cost: discernibility, classification or loss.
    pub measure: Measure,
    /// The extra column that classification predicts.
    pub target: Option<usize>,
}

/// The result of a set of cuts.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The cuts.
    pub cuts: Cuts,
    /// The rows of each class that is kept, ascending; classes by their first row.
    pub classes: Vec<Rows>,
    /// The rows of the other classes.
    pub n_suppressed: u64,
    /// Whether few enough rows are suppressed, and some are kept, regardless of hierarchies.
    pub is_feasible: bool,
    /// The cost, feasible or not.
    pub cost: f64,
}

impl Asked<'_> {
    /// The result of a set of cuts, whether or not it respects the hierarchies. If it does not, the
    /// loss of a cell is that of the lowest node above its interval.
    ///
    /// # Panics
    ///
    /// If the cuts are not ascending, if one is not between two codes of an attribute, or if the
    /// measure is not one of those that [`Asked::measure`] names.
    #[must_use]
    pub fn recoding(&self, cuts: &Cuts) -> Facts {
        let (classes, suppressed): (Vec<Rows>, Vec<Rows>) =
            self.divide(cuts).into_iter().partition(|class| self.holds(class));
        let n_suppressed = suppressed.iter().map(Vec::len).sum();
        Facts {
            cuts: cuts.clone(),
            n_suppressed: n_suppressed as u64,
            is_feasible: n_suppressed as u64 <= self.limit
                && !classes.is_empty()
                && (n_suppressed == 0 || self.holds_within(&classes)),
            cost: self.cost(cuts, &classes, n_suppressed),
            classes,
        }
    }

    /// Whether every class satisfies the models relative to the rows of all classes.
    fn holds_within(&self, classes: &[Rows]) -> bool {
        let oracle = Oracle { table: self.table, models: self.models, entity: self.entity };
        oracle.hold_within(classes)
    }

    /// Every set of cuts that respects the hierarchies, in the order of the sets.
    ///
    /// # Panics
    ///
    /// If there are more than 2^16 of them, or if an attribute has more than 2^16 sets of cuts,
    /// allowed or not.
    #[must_use]
    pub fn all(&self) -> Vec<Facts> {
        let mut found: Vec<Cuts> = vec![vec![]];
        for (at, attribute) in self.table.attributes.iter().enumerate() {
            let allowed = allowed_sets(attribute);
            assert!(found.len() * allowed.len() <= MOST_SETS, "too many sets of cuts");
            let mut longer = vec![];
            for cuts in &found {
                for codes in &allowed {
                    let of_attribute: Cuts = codes.iter().map(|&code| (at, code)).collect();
                    longer.push([cuts.as_slice(), of_attribute.as_slice()].concat());
                }
            }
            found = longer;
        }
        found.sort();
        found.iter().map(|cuts| self.recoding(cuts)).collect()
    }

    /// Whether each interval of every attribute with a hierarchy consists of the leaves below a
    /// node.
    ///
    /// # Panics
    ///
    /// As [`Asked::recoding`] does for the cuts.
    #[must_use]
    pub fn respects_hierarchies(&self, cuts: &Cuts) -> bool {
        self.check_cuts(cuts);
        self.table.attributes.iter().enumerate().all(|(at, attribute)| {
            let codes: Vec<u32> = codes_of(cuts, at);
            respects_hierarchy(attribute, &codes)
        })
    }

    /// Whether one more cut is allowable (TR 1521, section 2.4): whether all classes then satisfy
    /// all models, including those that it does not divide.
    ///
    /// The report requires k points on either side of the cut in every region that it meets. Here a
    /// side without rows is allowed, since it is not a class; so a cut that divides no class, or is
    /// already among the others, is allowable if these suppress nothing. Hierarchies do not matter.
    ///
    /// # Panics
    ///
    /// As [`Asked::recoding`] does for the cuts.
    #[must_use]
    pub fn is_allowable(&self, cuts: &Cuts, more: (usize, u32)) -> bool {
        let with_more: BTreeSet<(usize, u32)> = cuts.iter().copied().chain([more]).collect();
        let with_more: Cuts = with_more.into_iter().collect();
        self.divide(&with_more).iter().all(|class| self.holds(class))
    }

    fn check_cuts(&self, cuts: &Cuts) {
        assert!(cuts.is_sorted_by(|a, b| a < b), "cuts are ascending and differ");
        for &(attribute, code) in cuts {
            let n_codes = self.table.attributes[attribute].n_codes();
            assert!(1 <= code && code < n_codes, "a cut lies between two codes");
        }
    }

    /// The rows whose codes are in the same interval of every attribute, for all intervals that
    /// have any; by the first row.
    fn divide(&self, cuts: &Cuts) -> Vec<Rows> {
        self.check_cuts(cuts);
        let mut class_of: BTreeMap<Vec<(u32, u32)>, Rows> = BTreeMap::new();
        for row in 0..self.table.rows.len() {
            class_of.entry(self.intervals_of_row(cuts, row)).or_default().push(row);
        }
        let mut classes: Vec<Rows> = class_of.into_values().collect();
        classes.sort_unstable();
        classes
    }

    /// The interval of the row's code, for every attribute.
    fn intervals_of_row(&self, cuts: &Cuts, row: usize) -> Vec<(u32, u32)> {
        let mut found = vec![];
        for (at, attribute) in self.table.attributes.iter().enumerate() {
            let code = self.table.quasi(row)[at];
            let interval = intervals(attribute, &codes_of(cuts, at))
                .into_iter()
                .find(|&(lo, hi)| lo <= code && code <= hi);
            found.push(interval.expect("intervals cover all codes"));
        }
        found
    }

    fn holds(&self, rows: &[usize]) -> bool {
        Oracle { table: self.table, models: self.models, entity: self.entity }.holds(rows)
    }
}

/// Costs.
impl Asked<'_> {
    fn cost(&self, cuts: &Cuts, classes: &[Rows], n_suppressed: usize) -> f64 {
        match self.measure {
            Measure::Discernibility => self.discernibility(classes, n_suppressed),
            Measure::Classification => self.classification(classes, n_suppressed),
            Measure::Loss => self.loss(cuts, classes, n_suppressed),
            other => panic!("{other:?} is no cost of single-dimensional recoding here"),
        }
    }

    fn discernibility(&self, classes: &[Rows], n_suppressed: usize) -> f64 {
        let kept: usize = classes.iter().map(|class| class.len() * class.len()).sum();
        float(kept + n_suppressed * self.table.rows.len())
    }

    fn classification(&self, classes: &[Rows], n_suppressed: usize) -> f64 {
        let target = self.target.expect("classification needs a target");
        let mut wrong = n_suppressed;
        for class in classes {
            let mut rows_of: BTreeMap<u32, usize> = BTreeMap::new();
            for &row in class {
                *rows_of.entry(self.table.extra_codes(row)[target]).or_default() += 1;
            }
            wrong += class.len() - rows_of.into_values().max().expect("a class has rows");
        }
        float(wrong)
    }

    /// The mean loss of a cell; 0 where there is none.
    fn loss(&self, cuts: &Cuts, classes: &[Rows], n_suppressed: usize) -> f64 {
        let n_attributes = self.table.attributes.len();
        let mut lost = float(n_suppressed * n_attributes);
        for &row in classes.iter().flatten() {
            let intervals = self.intervals_of_row(cuts, row);
            for (attribute, (lo, hi)) in self.table.attributes.iter().zip(intervals) {
                lost += loss_of_interval(attribute, lo, hi);
            }
        }
        lost / float((self.table.rows.len() * n_attributes).max(1))
    }
}

fn loss_of_interval(attribute: &Attribute, lo: u32, hi: u32) -> f64 {
    match &attribute.shape {
        Shape::Unordered if attribute.n_codes() == 1 => 0.0,
        Shape::Unordered => f64::from(hi - lo) / f64::from(attribute.n_codes() - 1),
        Shape::Numeric | Shape::Ordinal | Shape::Tree(_) => {
            attribute.loss(&attribute.cell(lo, hi, &[]))
        }
    }
}

fn float(n: usize) -> f64 {
    n as f64
}

/// The codes at which an attribute is cut.
fn codes_of(cuts: &Cuts, attribute: usize) -> Vec<u32> {
    cuts.iter().filter(|&&(at, _)| at == attribute).map(|&(_, code)| code).collect()
}

/// The first and the last code of each interval between the cuts at `codes`. An attribute without
/// codes has none.
fn intervals(attribute: &Attribute, codes: &[u32]) -> Vec<(u32, u32)> {
    let mut found = vec![];
    let mut lo = 0;
    for code in 0..attribute.n_codes() {
        let next = code + 1;
        if next == attribute.n_codes() || codes.contains(&next) {
            found.push((lo, code));
            lo = next;
        }
    }
    found
}

/// Every set of codes at which the attribute may be cut.
fn allowed_sets(attribute: &Attribute) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = vec![vec![]];
    for code in 1..attribute.n_codes() {
        let with_code: Vec<Vec<u32>> =
            found.iter().map(|codes| [codes.as_slice(), &[code]].concat()).collect();
        found.extend(with_code);
        assert!(found.len() <= MOST_SETS, "too many sets of cuts of one attribute");
    }
    found.retain(|codes| respects_hierarchy(attribute, codes));
    found
}

fn respects_hierarchy(attribute: &Attribute, codes: &[u32]) -> bool {
    match &attribute.shape {
        Shape::Tree(tree) => {
            intervals(attribute, codes).into_iter().all(|(lo, hi)| is_node(tree, lo, hi))
        }
        _ => true,
    }
}

/// Whether some node has exactly these leaves below it.
fn is_node(tree: &Hierarchy, lo: u32, hi: u32) -> bool {
    (0..=tree.height().0)
        .any(|level| tree.groups(Level(level)).iter().any(|node| (node.lo, node.hi) == (lo, hi)))
}

/// The feasible recoding of least cost; of equal ones, the first by cuts.
#[must_use]
pub fn optimum(all: &[Facts]) -> Option<&Facts> {
    let feasible = || all.iter().filter(|facts| facts.is_feasible);
    let least = feasible().map(|facts| facts.cost).min_by(f64::total_cmp)?;
    let tie = (TIE * least.abs()).max(LEAST_TIE);
    feasible().filter(|facts| facts.cost <= least + tie).min_by(|a, b| a.cuts.cmp(&b.cuts))
}

#[cfg(test)]
mod tests;

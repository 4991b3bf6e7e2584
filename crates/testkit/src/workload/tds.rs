//! Top-down specialization, from scratch at each step.
//!
//! After Fung, Wang, Yu: *Top-Down Specialization for Information and Privacy Preservation*, ICDE
//! 2005, with score = gain / (1 + what the smallest class loses).

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::Shape;

use super::{Asked, Target, count, entropy};
use crate::assignment::Rows;

/// Intervals of codes, by attribute, as they are specialized.
#[derive(Clone, Debug)]
pub struct Tds<'a> {
    asked: Asked<'a>,
    /// Attribute, first and last code, in order of creation.
    intervals: Vec<(usize, u32, u32)>,
}

/// A specialization of an interval: its parts.
struct Step {
    interval: usize,
    parts: Vec<(u32, u32)>,
    score: f64,
}

impl<'a> Tds<'a> {
    /// One interval per attribute.
    #[must_use]
    pub fn new(asked: Asked<'a>) -> Tds<'a> {
        let attributes = asked.table().attributes.iter().enumerate();
        let whole = attributes.map(|(at, attribute)| (at, 0, attribute.n_codes() - 1));
        Tds { asked, intervals: whole.collect() }
    }

    /// Specializes while that gains information.
    #[must_use]
    pub fn finished(mut self) -> Tds<'a> {
        self.descend();
        while let Some(step) = self.best() {
            let (attribute, ..) = self.intervals.remove(step.interval);
            self.intervals.extend(step.parts.iter().map(|&(lo, hi)| (attribute, lo, hi)));
            self.descend();
        }
        self
    }

    /// The cuts: attribute and first code of every interval but an attribute's first, ascending.
    #[must_use]
    pub fn cuts(&self) -> Vec<(usize, u32)> {
        let mut cuts: Vec<(usize, u32)> =
            self.intervals.iter().filter(|at| at.1 > 0).map(|at| (at.0, at.1)).collect();
        cuts.sort_unstable();
        cuts
    }

    /// The rows of every class.
    #[must_use]
    pub fn classes(&self) -> Vec<Rows> {
        classes(&self.asked, &self.intervals)
    }

    /// Nodes below which only one child has rows give way to their children.
    fn descend(&mut self) {
        while let Some(at) = (0..self.intervals.len()).find(|&at| self.has_one_child(at)) {
            let (attribute, lo, hi) = self.intervals[at];
            let parts = self.children(attribute, lo, hi);
            self.intervals.splice(at..=at, parts.into_iter().map(|(lo, hi)| (attribute, lo, hi)));
        }
    }

    fn has_one_child(&self, at: usize) -> bool {
        let (attribute, lo, hi) = self.intervals[at];
        let children = self.children(attribute, lo, hi);
        let with_rows =
            children.iter().filter(|&&(lo, hi)| !self.rows(attribute, lo, hi).is_empty());
        !children.is_empty() && with_rows.count() == 1
    }

    fn rows(&self, attribute: usize, lo: u32, hi: u32) -> Rows {
        let all = 0..self.asked.table().rows.len();
        all.filter(|&row| (lo..=hi).contains(&self.asked.code(row, attribute))).collect()
    }

    /// The children of a hierarchy node; empty if it is a leaf or there is no hierarchy.
    fn children(&self, attribute: usize, lo: u32, hi: u32) -> Vec<(u32, u32)> {
        let Shape::Tree(tree) = &self.asked.table().attributes[attribute].shape else {
            return vec![];
        };
        if lo == hi {
            return vec![];
        }
        tree.parts(lo, hi).iter().map(|child| (child.lo, child.hi)).collect()
    }

    /// The valid specialization with the highest score; of equal ones that of the first attribute,
    /// then of the oldest interval.
    fn best(&self) -> Option<Step> {
        let steps = (0..self.intervals.len()).filter_map(|interval| self.step(interval));
        let mut best: Option<Step> = None;
        for step in steps {
            let place = |step: &Step| (self.intervals[step.interval].0, step.interval);
            let is_better = best.as_ref().is_none_or(|best| {
                exceeds(step.score, best.score)
                    || (!exceeds(best.score, step.score) && place(&step) < place(best))
            });
            if is_better {
                best = Some(step);
            }
        }
        best
    }

    fn step(&self, interval: usize) -> Option<Step> {
        let (attribute, lo, hi) = self.intervals[interval];
        let (parts, gain) = self.specialization(attribute, lo, hi)?;
        if !exceeds(gain, 0.0) {
            return None;
        }
        let mut after = self.intervals.clone();
        after.remove(interval);
        after.extend(parts.iter().map(|&(lo, hi)| (attribute, lo, hi)));
        let after = classes(&self.asked, &after);
        if !after.iter().all(|rows| self.asked.oracle.holds(rows)) {
            return None;
        }
        let smallest = |classes: &[Rows]| classes.iter().map(Vec::len).min().unwrap_or(0);
        let lost = smallest(&self.classes()) - smallest(&after);
        Some(Step { interval, parts, score: gain / (1.0 + count(lost)) })
    }

    /// The children of a node, or the parts of the cut that gains most.
    fn specialization(&self, attribute: usize, lo: u32, hi: u32) -> Option<(Vec<(u32, u32)>, f64)> {
        let table = self.asked.table();
        let rows = self.rows(attribute, lo, hi);
        if matches!(table.attributes[attribute].shape, Shape::Tree(_)) {
            let parts = self.children(attribute, lo, hi);
            let gain = self.gain(attribute, &rows, &parts);
            return (!parts.is_empty() && !rows.is_empty()).then_some((parts, gain));
        }
        let mut codes: BTreeSet<u32> =
            rows.iter().map(|&row| self.asked.code(row, attribute)).collect();
        codes.pop_last();
        let cuts = codes.into_iter().map(|code| {
            let parts = vec![(lo, code), (code + 1, hi)];
            let gain = self.gain(attribute, &rows, &parts);
            (parts, gain)
        });
        cuts.reduce(|best, cut| if exceeds(cut.1, best.1) { cut } else { best })
    }

    /// The information gain of the parts about the labels, in bits per row.
    fn gain(&self, attribute: usize, rows: &[usize], parts: &[(u32, u32)]) -> f64 {
        let targets = self.asked.workload.targets.iter();
        targets
            .map(|target| {
                let Target::Labels(column) = *target else { panic!("labels only") };
                let of = |rows: &[usize]| {
                    entropy(rows.iter().map(|&row| self.asked.table().extra_codes(row)[column]))
                };
                let weighted = |&(lo, hi): &(u32, u32)| {
                    let part = self.rows(attribute, lo, hi);
                    if part.is_empty() { 0.0 } else { count(part.len()) * of(&part) }
                };
                of(rows) - parts.iter().map(weighted).sum::<f64>() / count(rows.len())
            })
            .sum()
    }
}

/// Whether one number is greater than another by more than rounding errors.
fn exceeds(a: f64, b: f64) -> bool {
    a > b + 1e-10 * (b.abs() + 1e-2)
}

/// Rows together if they are in the same interval on every attribute.
fn classes(asked: &Asked, intervals: &[(usize, u32, u32)]) -> Vec<Rows> {
    let mut classes: BTreeMap<Vec<usize>, Rows> = BTreeMap::new();
    for row in 0..asked.table().rows.len() {
        let holds = |&(at, lo, hi): &(usize, u32, u32)| (lo..=hi).contains(&asked.code(row, at));
        let places = (0..intervals.len()).filter(|&at| holds(&intervals[at])).collect();
        classes.entry(places).or_default().push(row);
    }
    let mut classes: Vec<Rows> = classes.into_values().collect();
    classes.sort_unstable();
    classes
}

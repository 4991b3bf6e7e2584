//! What single-dimensional searches share: classes under a set of cuts, the cost of every split and
//! every join of intervals, and how they are made.
//!
//! A *split* divides one interval of an attribute: at one code, or, if the attribute has a
//! hierarchy, into the runs of a node's children, so that every interval remains the run of a node.
//! A *join* undoes that: neighbouring intervals become one, or all intervals below a node do.

mod cost;
mod moves;

use std::cmp::Ordering;

use incrowd_data::{Assignment, Cuts, SUPPRESSED};
use incrowd_privacy::{Tally, all_hold};

use crate::{Counters, Found, Problem, Proof, Recoding};

pub(crate) use cost::Costs;
use moves::Move;

/// Rows that look the same.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The vectors of the class.
    vectors: Vec<u32>,
    n_rows: u64,
    /// By attribute, its interval as first and last code.
    intervals: Vec<(u32, u32)>,
    /// Rows by target code, if the measure needs them.
    targets: Vec<u64>,
    is_kept: bool,
    cost: f64,
}

/// The classes under a set of cuts.
#[derive(Clone, Debug)]
pub(crate) struct Board<'a> {
    problem: &'a Problem<'a>,
    costs: &'a Costs,
    pub(crate) cuts: Cuts,
    classes: Vec<Class>,
}

/// What is compared: rows suppressed beyond the limit, then the cost.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Standing {
    pub(crate) n_beyond: u64,
    pub(crate) cost: f64,
}

impl Standing {
    /// A total order of standings.
    pub(crate) fn order(&self, other: &Standing) -> Ordering {
        self.n_beyond.cmp(&other.n_beyond).then_with(|| self.cost.total_cmp(&other.cost))
    }

    /// Whether it is better by more than rounding.
    pub(crate) fn is_below(&self, other: &Standing) -> bool {
        let room = 1e-9 * (1.0 + other.cost.abs());
        self.n_beyond < other.n_beyond
            || self.n_beyond == other.n_beyond && self.cost < other.cost - room
    }
}

impl<'a> Board<'a> {
    /// All rows in one class.
    pub(crate) fn new(problem: &'a Problem<'a>, costs: &'a Costs) -> Board<'a> {
        let n_vectors = u32::try_from(problem.set.len()).expect("vectors are counted in 32 bits");
        let n_codes = problem.set.attributes.iter().map(|attribute| attribute.n_codes().max(1));
        let intervals = n_codes.map(|n_codes| (0, n_codes - 1)).collect();
        let cuts = Cuts::none(problem.set.attributes.len());
        let mut board = Board { problem, costs, cuts, classes: Vec::new() };
        let class = board.class((0..n_vectors).collect(), intervals);
        board.classes.push(class);
        board
    }

    /// The classes under some cuts.
    pub(crate) fn under(problem: &'a Problem<'a>, costs: &'a Costs, cuts: &Cuts) -> Board<'a> {
        let mut board = Board::new(problem, costs);
        for attribute in 0..problem.set.attributes.len() {
            let before = cuts.of(attribute).to_vec();
            if !before.is_empty() {
                board.make(&Move::Split { attribute, before });
            }
        }
        board
    }

    /// A class of some vectors.
    fn class(&self, vectors: Vec<u32>, intervals: Vec<(u32, u32)>) -> Class {
        let counts = &self.problem.set.counts;
        let n_rows = vectors.iter().map(|&vector| u64::from(counts[vector as usize])).sum();
        let targets = self.costs.targets(self.problem, &vectors);
        let is_kept = self.costs.holds(self.problem, vectors.iter().copied(), n_rows);
        let cost = self.costs.of_class(n_rows, &targets, is_kept, &intervals);
        Class { vectors, n_rows, intervals, targets, is_kept, cost }
    }

    /// What the cuts cost.
    pub(crate) fn standing(&self) -> Standing {
        let cost = self.classes.iter().map(|class| class.cost).sum();
        Standing { n_beyond: self.n_suppressed().saturating_sub(self.problem.limit), cost }
    }

    fn n_suppressed(&self) -> u64 {
        let lost = self.classes.iter().filter(|class| !class.is_kept);
        lost.map(|class| class.n_rows).sum()
    }

    /// Whether the budget ends the search.
    pub(crate) fn is_spent(&self) -> bool {
        self.problem.budget.is_spent()
    }

    /// Whether some row is released, and the suppressed rows are within the limit.
    pub(crate) fn is_feasible(&self) -> bool {
        let n_suppressed = self.n_suppressed();
        n_suppressed <= self.problem.limit
            && n_suppressed < self.problem.set.n_rows
            && (n_suppressed == 0 || self.release_holds())
    }

    /// Whether the release satisfies the models if some rows are left out: every class relative to
    /// the released rows, and the starred rows as a class of their own.
    fn release_holds(&self) -> bool {
        let set = self.problem.set;
        let kept = || self.classes.iter().filter(|class| class.is_kept);
        let tally = |vectors: &mut dyn Iterator<Item = &u32>| {
            let mut tally = Tally::new(set, self.problem.entity);
            vectors.for_each(|&v| tally.add(v as usize, set.counts[v as usize]));
            tally
        };
        if self.problem.stars {
            let lost = self.classes.iter().filter(|class| !class.is_kept);
            let stars = tally(&mut lost.flat_map(|class| &class.vectors));
            return all_hold(self.problem.models, stars.class());
        }
        if self.costs.only_counts() {
            return true;
        }
        let release = tally(&mut kept().flat_map(|class| &class.vectors));
        kept().all(|class| {
            let class = tally(&mut class.vectors.iter());
            let models = self.problem.models.iter();
            models.clone().all(|model| model.holds_within(release.class(), class.class()))
        })
    }

    /// The result of a search that ends here after visiting `nodes_checked` nodes; nothing is
    /// proved.
    pub(crate) fn found(&self, nodes_checked: u64) -> Found {
        let mut class_of = vec![SUPPRESSED; self.problem.set.len()];
        let mut n_classes = 0;
        for class in self.classes.iter().filter(|class| class.is_kept) {
            for &vector in &class.vectors {
                class_of[vector as usize] = n_classes;
            }
            n_classes += 1;
        }
        let cost = self.costs.value(self.standing().cost);
        let proof = Proof { cost: Some(cost), ..Proof::default() };
        Found {
            assignment: Assignment::of_whole_vectors(class_of, n_classes),
            recoding: Recoding::Intervals(self.cuts.clone()),
            proof,
            counters: Counters { nodes_checked, table_scans: 1, ..Counters::default() },
            minimal: None,
            stopped: None,
        }
    }
}

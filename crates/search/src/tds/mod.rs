//! Top-down specialization: greedy single-dimensional recoding for a classifier, the baseline of
//! workload-aware Mondrian.
//!
//! Starts with one interval per attribute and keeps specializing the interval whose specialization
//! best separates the labels for the anonymity that it costs, while every class satisfies the
//! models.
//!
//! # Source
//!
//! Fung, Wang, Yu: *Top-Down Specialization for Information and Privacy Preservation*, ICDE 2005,
//! as cited in *Workload-Aware Anonymization* (KDD 2006, section 4.4). An interval of an ordered
//! attribute is specialized by the cut with the highest information gain, a node of a hierarchy
//! into its children. The score is the gain over one more than the anonymity loss, the amount by
//! which the smallest class shrinks (one more, as in the authors' later journal version, so that a
//! loss of 0 is not a special case). Departures: the gains of several targets are added up; any
//! models; if all rows of a node are below one child, the node's specialization costs nothing and
//! is made at once.
//!
//! # Guarantees
//!
//! - Exact: no. A specialization is never taken back.
//! - Nothing is suppressed. It stops when no specialization that satisfies the models gains
//!   information, so a finer recoding that satisfies them may exist.
//! - Asks of the models: nothing; a specialization that broke a model is not tried again.
//! - Deterministic: yes, on any number of threads.
//!
//! # Invariants
//!
//! - T1: every class satisfies the models.
//! - T2: the rows of a class share one interval on every attribute, and any two classes differ on
//!   some attribute.
//!
//! # Cost
//!
//! For `n` vectors, `d` attributes, classes that are split `s` times on average and `c`
//! specializations of `m` classes at most: O(d n s + c m), and, for every attribute, rows by code
//! and label in memory.
//!
//! # Example
//!
//! None of its own: see `mondrian`, which takes the same problem.
//!
//! # See also
//!
//! `mondrian::split`, which uses the same gain, without having to recode all rows the same way.

mod specialize;

use std::collections::BTreeSet;

use incrowd_data::{Assignment, Cuts, Shape};
use incrowd_privacy::{Tally, all_hold};
use rayon::prelude::*;

use crate::{Counters, Found, Outcome, Problem, Proof, Recoding, Target};
use specialize::{Specialization, Statistics};

/// Rows that look the same.
struct Class {
    vectors: Vec<u32>,
    n_rows: u64,
    /// By attribute, the number of its interval.
    intervals: Vec<u32>,
}

/// An interval of an attribute.
struct Interval {
    /// How it would be specialized; `None` if that gains nothing or breaks a model.
    next: Option<Specialization>,
    /// The smallest class that its specialization would leave.
    smallest: u64,
}

/// The state of the search.
struct Standing<'a> {
    problem: &'a Problem<'a>,
    statistics: Vec<Statistics<'a>>,
    cuts: Cuts,
    /// By attribute, its intervals, including those that were specialized.
    intervals: Vec<Vec<Interval>>,
    classes: Vec<Class>,
}

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let mut standing = Standing::new(problem);
    let mut nodes_checked = 1;
    while !problem.budget.is_spent() {
        let Some((attribute, interval)) = standing.best() else { break };
        standing.specialize(attribute, interval);
        nodes_checked += 1;
    }
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    Outcome::Found(Box::new(standing.found(nodes_checked)))
}

impl<'a> Standing<'a> {
    fn new(problem: &'a Problem<'a>) -> Standing<'a> {
        let targets: Vec<usize> = problem
            .workload
            .iter()
            .flat_map(|workload| &workload.targets)
            .map(|target| match target {
                Target::Labels(extra) | Target::Numbers(extra) => *extra,
            })
            .collect();
        let n_attributes = problem.set.attributes.len();
        let statistics: Vec<Statistics> = (0..n_attributes)
            .into_par_iter()
            .map(|at| Statistics::new(problem.set, at, &targets))
            .collect();
        let vectors = (0..).take(problem.set.len()).collect();
        let mut standing = Standing {
            problem,
            cuts: Cuts::none(n_attributes),
            intervals: (0..n_attributes).map(|_| Vec::new()).collect(),
            classes: vec![Class {
                vectors,
                n_rows: problem.set.n_rows,
                intervals: vec![0; n_attributes],
            }],
            statistics,
        };
        for at in 0..n_attributes {
            let last = problem.set.attributes[at].n_codes().max(1) - 1;
            let interval = standing.interval(at, 0, last);
            standing.intervals[at].push(interval);
        }
        standing.look_at(0..1);
        standing
    }

    /// A new interval. Specializations that cost nothing are made at once.
    fn interval(&mut self, at: usize, lo: u32, hi: u32) -> Interval {
        let next = match &self.problem.set.attributes[at].shape {
            Shape::Tree(hierarchy) => {
                self.statistics[at].children(hierarchy, lo, hi, &mut self.cuts)
            }
            _ => self.statistics[at].at_threshold(lo, hi),
        };
        Interval { next: next.filter(|next| next.gain > 0.0), smallest: u64::MAX }
    }

    /// The specialization with the highest score, by attribute and interval.
    fn best(&self) -> Option<(usize, u32)> {
        let smallest = self.classes.iter().map(|class| class.n_rows).min()?;
        let scored = self.intervals.iter().enumerate().flat_map(|(at, intervals)| {
            (0u32..).zip(intervals).filter_map(move |(number, interval)| {
                let next = interval.next.as_ref()?;
                let loss = smallest.saturating_sub(interval.smallest) as f64;
                Some((next.gain / (loss + 1.0), at, number))
            })
        });
        // Differences due to rounding do not count.
        let best =
            scored.reduce(|best, next| if next.0 > best.0 * (1.0 + 1e-9) { next } else { best });
        best.map(|(_, at, number)| (at, number))
    }

    /// Makes a specialization.
    fn specialize(&mut self, at: usize, number: u32) {
        let next = self.intervals[at][number as usize].next.take().expect("it was scored");
        for &start in &next.starts[1..] {
            self.cuts.insert(at, start);
        }
        let first = u32::try_from(self.intervals[at].len()).expect("no more than codes");
        let ends = next.starts[1..].iter().map(|start| start - 1).chain([next.hi]);
        for (&lo, hi) in next.starts.iter().zip(ends) {
            let interval = self.interval(at, lo, hi);
            self.intervals[at].push(interval);
        }
        let codes = &self.problem.set.vectors[at];
        let (split, kept): (Vec<Class>, Vec<Class>) = std::mem::take(&mut self.classes)
            .into_iter()
            .partition(|class| class.intervals[at] == number);
        self.classes = kept;
        let from = self.classes.len();
        for class in split {
            for (part, vectors) in (first..).zip(next.parts(codes, &class.vectors)) {
                if !vectors.is_empty() {
                    let mut intervals = class.intervals.clone();
                    intervals[at] = part;
                    let n_rows = n_rows(&self.problem.set.counts, &vectors);
                    self.classes.push(Class { vectors, n_rows, intervals });
                }
            }
        }
        self.look_at(from..self.classes.len());
    }

    /// Updates the smallest classes that specializations would leave, given new classes. Parts of a
    /// class are never larger than the class, so the results for other classes remain valid.
    fn look_at(&mut self, new: std::ops::Range<usize>) {
        for at in 0..self.intervals.len() {
            let codes = &self.problem.set.vectors[at];
            let of_class = |class: &Class| {
                let next = self.intervals[at][class.intervals[at] as usize].next.as_ref()?;
                Some((class.intervals[at], self.smallest_part(&next.parts(codes, &class.vectors))))
            };
            let found: Vec<(u32, Option<u64>)> =
                self.classes[new.clone()].par_iter().filter_map(of_class).collect();
            for (number, smallest) in found {
                let interval = &mut self.intervals[at][number as usize];
                match smallest {
                    Some(smallest) => interval.smallest = interval.smallest.min(smallest),
                    None => interval.next = None,
                }
            }
        }
    }

    /// The rows of the smallest part of a class, or `None` if a part breaks a model.
    fn smallest_part(&self, parts: &[Vec<u32>]) -> Option<u64> {
        let counts = &self.problem.set.counts;
        let present = || parts.iter().filter(|part| !part.is_empty());
        let smallest = present().map(|part| n_rows(counts, part)).min()?;
        if smallest < self.problem.k {
            return None;
        }
        let is_enough = self.problem.only_counts() || self.all_hold(present());
        is_enough.then_some(smallest)
    }

    /// Whether each of some sets of vectors satisfies the models as a class.
    fn all_hold<'v>(&self, mut sets: impl Iterator<Item = &'v Vec<u32>>) -> bool {
        let mut tally = Tally::new(self.problem.set, self.problem.entity);
        sets.all(|vectors| {
            tally.clear();
            for &vector in vectors {
                tally.add(vector as usize, self.problem.set.counts[vector as usize]);
            }
            all_hold(self.problem.models, tally.class())
        })
    }

    /// Whether any two classes differ in their intervals on some attribute.
    fn intervals_differ(&self) -> bool {
        let distinct: BTreeSet<&[u32]> =
            self.classes.iter().map(|class| class.intervals.as_slice()).collect();
        distinct.len() == self.classes.len()
    }

    fn found(&self, nodes_checked: u64) -> Found {
        let mut class_of = vec![0; self.problem.set.len()];
        for (number, class) in (0u32..).zip(&self.classes) {
            for &vector in &class.vectors {
                class_of[vector as usize] = number;
            }
        }
        debug_assert!(self.all_hold(self.classes.iter().map(|class| &class.vectors)), "T1");
        debug_assert!(self.intervals_differ(), "T2");
        let n_classes = u32::try_from(self.classes.len()).expect("fewer classes than vectors");
        Found {
            assignment: Assignment::of_whole_vectors(class_of, n_classes),
            recoding: Recoding::Intervals(self.cuts.clone()),
            proof: Proof { is_cut_short: self.problem.budget.is_spent(), ..Proof::default() },
            counters: Counters { nodes_checked, table_scans: 1, ..Counters::default() },
            minimal: None,
            stopped: None,
        }
    }
}

fn n_rows(counts: &[u32], vectors: &[u32]) -> u64 {
    vectors.iter().map(|&vector| u64::from(counts[vector as usize])).sum()
}

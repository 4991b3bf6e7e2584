//! The optimal full-domain generalization under any measure and models, by branch and bound over
//! boxes of the lattice.
//!
//! A *region* is the box of all nodes between two corners. The lower corner's frequency set bounds
//! the cost of the whole region from below, and is what every node of the region rolls up from; the
//! upper corner shows how many rows are lost in any case, or that the region has no feasible node
//! at all. Regions that may contain a better node than the best one so far are halved, most
//! promising first.
//!
//! # Source
//!
//! Our own, after Incognito (roll-up, the subset property) and Flash (predictive tagging: here a
//! whole region is dropped where Flash tags a chain). The bound from both corners
//! (`full_domain::pricing`) is new; it also closes the search if every node is feasible because
//! rows may be suppressed without limit.
//!
//! # Guarantees
//!
//! - Exact: yes, unless the budget ends it: then it returns the best node so far and a proven lower
//!   bound. Ties go to the smallest level vector in column order.
//! - Asks of the models: nothing. Models that are not monotone only prune less.
//! - Deterministic: yes, on any number of threads, unless the time limit ends it.
//!
//! # Invariants
//!
//! - O1: every feasible node that was not counted is in an open region, or costs no less than the
//!   best one and does not come before it.
//! - O2: the upper corner of an open region was counted and compared with the best node; so was the
//!   lower one, unless the region is marked otherwise.
//! - O3: the source of a region is the frequency set of its lower corner or of a node below.
//!
//! # Cost
//!
//! For `g` groups at the lower corner: O(g) per node, about one node per region. In the worst case
//! all nodes of the lattice are counted. Memory: the frequency sets of open regions, within the
//! budget's limit; beyond it, regions share the set of an ancestor.
//!
//! # Example
//!
//! ```
//! use incrowd_data::{Attribute, Codes, Dictionary, FrequencySet, Hierarchy, Kind, Shape};
//! use incrowd_privacy::{KAnonymity, Model};
//! use incrowd_search::{Algorithm, Budget, Outcome, Problem, Recoding};
//!
//! // Four towns of two countries, a row each.
//! let rows = ["Rome;IT;*", "Pisa;IT;*", "Lyon;FR;*", "Nice;FR;*"];
//! let rows = rows.map(|row| row.split(';').map(String::from).collect::<Vec<_>>());
//! let hierarchy = Hierarchy::from_rows(&rows).unwrap();
//! let dictionary = Dictionary {
//!     kind: Kind::Text,
//!     texts: hierarchy.leaves().map(String::from).collect(),
//!     positions: vec![],
//!     has_missing: false,
//! };
//! let shape = Shape::Tree(hierarchy);
//! let set = FrequencySet {
//!     attributes: vec![Attribute { name: "town".into(), dictionary, shape }],
//!     vectors: vec![Codes::pack(4, 0..4)],
//!     counts: vec![1; 4],
//!     extras: vec![],
//!     n_rows: 4,
//! };
//! let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(2).unwrap())];
//! let budget = Budget::unlimited();
//! let problem = Problem::new(&set, &models, 2, &budget);
//! let Outcome::Found(found) = Algorithm::Optimal.run(&problem) else { panic!("feasible") };
//! let Recoding::FullDomain(levels) = &found.recoding else { panic!("full-domain") };
//! assert_eq!(levels.get(0).0, 1, "countries");
//! assert!(found.proof.is_optimal);
//! ```
//!
//! # See also
//!
//! `full_domain::pricing` for the bounds and their proofs.

mod climb;
mod pairs;
mod region;
#[cfg(test)]
mod tests;

use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use incrowd_data::{Level, Levels};
use rayon::prelude::*;

use crate::full_domain::{Judge, Seen, Ticks, Verdict};
use crate::lattice::minimal;
use crate::random::Random;
use crate::{Found, Infeasible, MinimalNode, Outcome, Problem, Proof, Standing};
use pairs::Pairs;
use region::{Region, Snapshot};

/// Regions that are halved in parallel. The same for any number of threads, so that the same nodes
/// are counted.
const BATCH: usize = 16;

/// From this number of open regions on, each is finished before the next one: a depth-first search
/// needs little memory.
const MOST_OPEN: usize = 1 << 20;

/// Batches after which the search of a wide lattice climbs again, from near the best node.
const CLIMB_EVERY: u64 = 64;

/// From this number of nodes on, a lattice is wide.
const WIDE: u64 = 1 << 16;

/// The best node so far.
#[derive(Clone, Debug)]
struct Best {
    cost: Ticks,
    value: f64,
    levels: Levels,
}

/// The goal of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// The cheapest feasible node.
    Best,
    /// All minimal feasible nodes.
    Minimal,
}

/// The search: its goal and its state.
struct Search<'a> {
    judge: &'a Judge<'a>,
    goal: Goal,
    best: Option<Best>,
    /// Feasible nodes so far that generalize no other.
    feasible: Vec<Levels>,
    open: BinaryHeap<Region>,
    checked: Seen,
    /// Bytes of the frequency sets of open regions.
    held: Arc<AtomicU64>,
    /// By attribute and level, the logarithm of the number of groups with rows.
    log_groups: &'a [Vec<f64>],
    pairs: Pairs,
    /// The lowest frequency set of a wide lattice.
    base: Option<Arc<Snapshot>>,
    random: Random,
}

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let judge = match Judge::new(problem) {
        Ok(judge) => judge,
        Err(outcome) => return outcome,
    };
    let Some(low) = least_levels(&judge) else { return judge.infeasible() };
    let log = |distinct: Vec<usize>| distinct.iter().map(|&n| (n as f64).log2()).collect();
    let log_groups: Vec<Vec<f64>> = judge.distinct_values().into_iter().map(log).collect();
    let search = |goal: Goal| {
        let mut search = Search {
            judge: &judge,
            goal,
            best: None,
            feasible: Vec::new(),
            open: BinaryHeap::new(),
            checked: Seen::new(&judge.lattice),
            held: Arc::new(AtomicU64::new(0)),
            log_groups: &log_groups,
            pairs: Pairs::default(),
            base: None,
            random: Random::new(problem.seed),
        };
        search.start(&low);
        let is_closed = search.close();
        (search, is_closed)
    };
    let (mut found, is_closed) = search(Goal::Best);
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let Some(best) = found.best.take() else {
        return if is_closed {
            judge.infeasible()
        } else {
            Outcome::Infeasible(Infeasible::OutOfTime)
        };
    };
    let proof = found.proof(&best, is_closed);
    let mut checked = std::mem::take(&mut found.checked);
    let mut minimal = None;
    if problem.wants_minimal {
        let (mut listing, is_complete) = search(Goal::Minimal);
        if problem.budget.is_cancelled() {
            return Outcome::Cancelled;
        }
        checked.merge(std::mem::take(&mut listing.checked));
        minimal = is_complete.then(|| listing.minimal_nodes());
    }
    let found = judge.found(&best.levels, proof, checked.n_nodes().into());
    Outcome::Found(Box::new(Found { minimal, ..found }))
}

/// The least levels that can be feasible, judging each attribute alone (the subset property): rows
/// in a group that is too small on one attribute are in a class that is too small.
fn least_levels(judge: &Judge) -> Option<Levels> {
    let problem = judge.problem;
    let is_hopeless = |attribute: usize, running: &[u64], level: Level| {
        let groups = judge.counter.hierarchies()[attribute].groups(level);
        let rows = groups.iter().map(|g| running[g.hi as usize + 1] - running[g.lo as usize]);
        let doomed: u64 = rows.filter(|&rows| rows < problem.k).sum();
        doomed > problem.limit || doomed == problem.set.n_rows
    };
    let (low, high) = (judge.lattice.low(), judge.lattice.high());
    let least: Option<Vec<Level>> = (0..low.len())
        .map(|attribute| {
            let running = &judge.running[attribute];
            let mut levels = (low.get(attribute).0..=high.get(attribute).0).map(Level);
            levels.find(|&level| !is_hopeless(attribute, running, level))
        })
        .collect();
    least.map(Levels::new)
}

/// The result of halving a region.
#[derive(Default)]
struct Halved {
    candidates: Vec<(Levels, Verdict)>,
    regions: Vec<Region>,
}

impl Search<'_> {
    /// Opens the region of all nodes from `low` up, unless no node in it is feasible.
    fn start(&mut self, low: &Levels) {
        let high = self.judge.lattice.high().clone();
        let at_low = self.judge.counter.scan(low);
        let verdict = self.judge.verdict(&at_low);
        let mut at_high = verdict;
        if *low != high {
            at_high = self.judge.verdict(&self.judge.counter.roll_up(&at_low, &high));
            self.offer(&high, &at_high);
        }
        self.offer(low, &verdict);
        if at_high.is_hopeless {
            return;
        }
        self.pairs = Pairs::new(self.judge, &at_low);
        // If nothing may be suppressed, most nodes are ruled out even without knowing a good one.
        let at_low = Arc::new(Snapshot::new(at_low, &self.held));
        if self.goal == Goal::Best && (self.judge.problem.limit > 0 || self.is_wide()) {
            self.climb(&at_low.set, self.judge.lattice.high().clone());
        }
        self.base = self.is_wide().then(|| Arc::clone(&at_low));
        let (floor, from_above) = (verdict.price.floor, at_high.tells_below());
        let root = Region {
            low: low.clone(),
            is_low_counted: true,
            high,
            source: at_low,
            floor,
            from_above,
            bound: self.judge.pricing.bound(low, floor, from_above),
        };
        if !root.is_done() {
            self.push(root);
        }
    }

    /// Opens a region.
    fn push(&mut self, region: Region) {
        debug_assert!(self.checked.may_hold(&region.high), "O2: the upper corner was counted");
        debug_assert!(
            !region.is_low_counted || self.checked.may_hold(&region.low),
            "O2: the lower corner was counted"
        );
        debug_assert!(region.low.generalizes(&region.source.set.levels), "O3");
        self.open.push(region);
    }

    /// Halves regions until none is left; false if the budget ended it.
    fn close(&mut self) -> bool {
        let mut n_batches = 0u64;
        while !self.open.is_empty() {
            if self.judge.problem.budget.is_spent() {
                return false;
            }
            n_batches += 1;
            self.say();
            if n_batches.is_multiple_of(CLIMB_EVERY) {
                self.climb_again();
            }
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH {
                let Some(region) = self.open.pop() else { break };
                if self.is_worth(region.bound, &region.low) {
                    batch.push(region);
                }
            }
            if self.open.len() > MOST_OPEN {
                if !self.finish(batch) {
                    return false;
                }
                continue;
            }
            let halved: Vec<Halved> = batch.par_iter().map(|region| self.halve(region)).collect();
            for Halved { candidates, regions } in halved {
                for (node, verdict) in candidates {
                    self.offer(&node, &verdict);
                }
                for region in regions {
                    self.push(region);
                }
            }
        }
        debug_assert!(self.has_best_of_small_lattice(), "O1");
        true
    }

    /// Whether no node of the lattice is better than the best one (O1 when no region is open), by
    /// counting all of them. Always true beyond a few nodes and vectors.
    fn has_best_of_small_lattice(&self) -> bool {
        const MOST_NODES: u64 = 32;
        const MOST_VECTORS: usize = 32;
        let lattice = &self.judge.lattice;
        let is_small = lattice.n_nodes().is_some_and(|n_nodes| n_nodes <= MOST_NODES);
        let problem = self.judge.problem;
        if self.goal != Goal::Best || !is_small || problem.set.len() > MOST_VECTORS {
            return true;
        }
        // A separate judge, since a judge counts its scans and roll-ups.
        let Ok(judge) = Judge::new(problem) else { return false };
        let is_no_better = |node: &Levels| {
            let verdict = judge.verdict(&judge.counter.scan(node));
            let best = self.best.as_ref().map(|best| (best.cost, &best.levels));
            !verdict.is_feasible || best.is_some_and(|best| best <= (verdict.price.cost, node))
        };
        (lattice.low().height()..=lattice.high().height()).all(|height| {
            let visited = lattice.visit_height(height, &mut |node| {
                if is_no_better(&node) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            visited.is_continue()
        })
    }

    /// Reports the progress of the search.
    fn say(&self) {
        if let (Some(region), Goal::Best) = (self.open.peek(), self.goal) {
            let best = self.best.as_ref().map(|best| best.value);
            let bound = self.judge.pricing.value(region.bound);
            self.judge.problem.budget.say(Standing {
                best,
                lower_bound: best.map_or(bound, |best| best.min(bound)),
                nodes: self.checked.n_nodes(),
            });
        }
    }

    /// Whether the lattice is too large to rely on closing it.
    fn is_wide(&self) -> bool {
        self.judge.lattice.n_nodes().is_none_or(|n_nodes| n_nodes > WIDE)
    }

    /// Finishes regions depth first; puts the rest back if the budget ends it.
    fn finish(&mut self, mut stack: Vec<Region>) -> bool {
        while let Some(region) = stack.pop() {
            if !self.is_worth(region.bound, &region.low) {
                continue;
            }
            if self.judge.problem.budget.is_spent() {
                self.open.push(region);
                self.open.extend(stack);
                return false;
            }
            let Halved { candidates, mut regions } = self.halve(&region);
            for (node, verdict) in candidates {
                self.offer(&node, &verdict);
            }
            regions.sort();
            stack.extend(regions);
        }
        true
    }

    /// Records a node that was counted.
    fn offer(&mut self, node: &Levels, verdict: &Verdict) {
        self.checked.add(node);
        if !verdict.is_feasible {
            return;
        }
        if self.goal == Goal::Minimal {
            if !self.feasible.iter().any(|below| node.generalizes(below)) {
                self.feasible.retain(|above| !above.generalizes(node));
                self.feasible.push(node.clone());
            }
            return;
        }
        let cost = verdict.price.cost;
        if self.best.as_ref().is_none_or(|best| (cost, node) < (best.cost, &best.levels)) {
            self.best = Some(Best { cost, value: verdict.price.value, levels: node.clone() });
        }
    }

    /// Whether a region may contain a node that the search is looking for (O1). The lower corner is
    /// the first of its nodes, so an equal cost matters only if the corner comes before the best
    /// node.
    fn is_worth(&self, bound: Ticks, low: &Levels) -> bool {
        if self.goal == Goal::Minimal {
            return !self.feasible.iter().any(|below| low.generalizes(below));
        }
        self.best.as_ref().is_none_or(|best| (bound, low) < (best.cost, &best.levels))
    }

    /// Halves a region at a level of one attribute.
    fn halve(&self, region: &Region) -> Halved {
        let mut halved = Halved::default();
        let mut region = region.clone();
        if !self.tighten(&mut region, &mut halved) || region.is_done() {
            return halved;
        }
        let (attribute, level) = self.branch(&region);
        self.lower_half(&region, region.high.with(attribute, level), &mut halved);
        self.upper_half(&region, region.low.with(attribute, Level(level.0 + 1)), &mut halved);
        halved
    }

    /// Moves the lower corner up as far as pairs of attributes require; false if nothing is left.
    fn tighten(&self, region: &mut Region, halved: &mut Halved) -> bool {
        let limit = self.judge.problem.limit;
        let affordable = self.best.as_ref().map(|best| {
            self.judge.pricing.most_small(&region.low, region.floor, best.cost).min(limit)
        });
        match self.pairs.tighten(&region.low, &region.high, affordable.unwrap_or(limit)) {
            Some(low) => low == region.low || self.raise(region, low, halved),
            None => false,
        }
    }

    /// The half that keeps the lower corner, unless pairs of attributes move it.
    fn lower_half(&self, region: &Region, high: Levels, halved: &mut Halved) {
        let mut half = Region { high, ..region.clone() };
        if !self.tighten(&mut half, halved) {
            return;
        }
        if half.low == half.high && half.is_low_counted {
            return;
        }
        let verdict = self.judge.verdict(&self.judge.counter.roll_up(&half.source.set, &half.high));
        halved.candidates.push((half.high.clone(), verdict));
        if verdict.is_hopeless {
            return;
        }
        half.from_above = verdict.tells_below();
        self.keep(half, halved);
    }

    /// The half that keeps the upper corner.
    fn upper_half(&self, region: &Region, low: Levels, halved: &mut Halved) {
        let mut half = region.clone();
        if region.high != low && self.raise(&mut half, low, halved) {
            self.keep(half, halved);
        }
    }

    /// Moves the lower corner of a region up; false if the region is not worth it. The corner is
    /// counted if that gives a much smaller set to roll up from, or costs little: low in the
    /// lattice its floor is almost worthless.
    fn raise(&self, region: &mut Region, low: Levels, halved: &mut Halved) -> bool {
        let pricing = &self.judge.pricing;
        region.floor = pricing.floor_of_levels(&low).max(region.floor);
        if !self.is_worth(pricing.bound(&low, region.floor, region.from_above), &low) {
            return false;
        }
        let counted = self.judge.counter.roll_up_if_smaller(&region.source.set, &low);
        region.is_low_counted = counted.is_some();
        if let Some(at_low) = counted {
            let verdict = self.judge.verdict(&at_low);
            halved.candidates.push((low.clone(), verdict));
            region.floor = verdict.price.floor.max(region.floor);
            if self.held.load(Ordering::Relaxed) <= self.judge.problem.budget.memory() {
                region.source = Arc::new(Snapshot::new(at_low, &self.held));
            }
        }
        region.low = low;
        true
    }

    /// Keeps a region if it may contain a better node.
    fn keep(&self, mut region: Region, halved: &mut Halved) {
        region.bound = self.judge.pricing.bound(&region.low, region.floor, region.from_above);
        if !region.is_done() && self.is_worth(region.bound, &region.low) {
            halved.regions.push(region);
        }
    }

    /// Where to halve: the attribute whose number of groups changes most within the region, at the
    /// level that divides the change most evenly.
    fn branch(&self, region: &Region) -> (usize, Level) {
        let groups = |attribute: usize, level: Level| {
            self.log_groups[attribute][usize::from(level.0)] - f64::from(level.0) * 1e-3
        };
        let change = |attribute: usize| {
            groups(attribute, region.low.get(attribute))
                - groups(attribute, region.high.get(attribute))
        };
        let attribute = (0..region.low.len())
            .max_by(|&a, &b| change(a).total_cmp(&change(b)).then(b.cmp(&a)))
            .expect("a region has attributes");
        let (low, high) = (region.low.get(attribute), region.high.get(attribute));
        let middle = f64::midpoint(groups(attribute, low), groups(attribute, high));
        let level = (low.0..high.0)
            .map(Level)
            .min_by(|&a, &b| {
                let off = |level: Level| {
                    let between = f64::midpoint(
                        groups(attribute, level),
                        groups(attribute, Level(level.0 + 1)),
                    );
                    (between - middle).abs()
                };
                off(a).total_cmp(&off(b)).then(a.cmp(&b))
            })
            .expect("the attribute has several levels in the region");
        (attribute, level)
    }

    /// The minimal nodes with their costs.
    fn minimal_nodes(&self) -> Vec<MinimalNode> {
        let judge = self.judge;
        let of_node = |levels: Levels| {
            let verdict = judge.verdict(&judge.counter.scan(&levels));
            verdict.minimal_node(levels)
        };
        minimal(self.feasible.clone()).into_iter().map(of_node).collect()
    }

    /// What is proved, given the open regions.
    fn proof(&self, best: &Best, is_closed: bool) -> Proof {
        let open = self.open.iter().map(|region| region.bound).min();
        let bound = open.filter(|_| !is_closed).map_or(best.cost, |open| open.min(best.cost));
        let lower_bound =
            if bound == best.cost { best.value } else { self.judge.pricing.value(bound) };
        Proof {
            is_optimal: bound == best.cost,
            cost: Some(best.value),
            lower_bound: Some(lower_bound),
            is_cut_short: !is_closed,
        }
    }
}

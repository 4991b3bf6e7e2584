//! Samarati's binary search on the height of the lattice.
//!
//! If some node of a height holds, some node of every greater height does. So the least height is
//! found by bisection; then all nodes of that height are checked.
//!
//! # Source
//!
//! P. Samarati: *Protecting Respondents' Identities in Microdata Release*, TKDE 2001, as presented
//! in slides on Incognito by P. Halwe and V. Verma (*Binary Search*). Departures: frequency sets
//! roll up from the lowest one instead of a matrix of distances; of the nodes of the least height
//! the cheapest is released.
//!
//! # Guarantees
//!
//! - Exact: for the height. It finds the least height of a feasible node with all feasible nodes of
//!   that height; under another measure, a node higher up may be cheaper.
//! - Asks of the models: nothing. If the requirements are not monotone, heights are checked one by
//!   one, starting from the height found for the monotone part.
//! - Deterministic: yes.
//!
//! # Invariants
//!
//! - S1: no node below the lower end of the search can hold; one at its upper end can.
//!
//! # Cost
//!
//! O(log h) heights, in the worst case all nodes of each; one frequency set per node.
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `optimal` with the measure `height`, which returns one of the same nodes.

use std::ops::ControlFlow;

use incrowd_data::Levels;
use incrowd_quality::Measure;

use crate::frequency::Frequencies;
use crate::full_domain::{Judge, Seen, Verdict};
use crate::{Found, Infeasible, Outcome, Problem, Proof};

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let judge = match Judge::new(problem) {
        Ok(judge) => judge,
        Err(outcome) => return outcome,
    };
    let base = judge.counter.scan(judge.lattice.low());
    let mut search = Search { judge: &judge, base: &base, checked: Seen::new(&judge.lattice) };
    let found = search.least_height();
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    if problem.budget.is_spent() {
        return Outcome::Infeasible(Infeasible::OutOfTime);
    }
    let Some((_, best, verdict)) = found
        .iter()
        .map(|(node, verdict)| (verdict.price.cost, node, verdict))
        .min_by_key(|(cost, node, _)| (*cost, *node))
    else {
        return judge.infeasible();
    };
    let is_optimal = problem.measure == Measure::Height;
    let cost = verdict.price.value;
    let proof = Proof {
        is_optimal,
        cost: Some(cost),
        lower_bound: is_optimal.then_some(cost),
        is_cut_short: false,
    };
    let released = judge.found(best, proof, search.checked.n_nodes().into());
    let minimal = found.iter().map(|(node, verdict)| verdict.minimal_node(node.clone()));
    Outcome::Found(Box::new(Found { minimal: Some(minimal.collect()), ..released }))
}

struct Search<'a> {
    judge: &'a Judge<'a>,
    /// The lowest frequency set.
    base: &'a Frequencies,
    checked: Seen,
}

impl Search<'_> {
    /// All feasible nodes of the least height that has one.
    fn least_height(&mut self) -> Vec<(Levels, Verdict)> {
        let lattice = &self.judge.lattice;
        let (mut low, mut high) = (lattice.low().height(), lattice.high().height());
        while low < high {
            let middle = u64::midpoint(low, high);
            if self.any_may_hold(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        (low..=lattice.high().height())
            .map(|height| self.feasible(height))
            .find(|nodes| !nodes.is_empty())
            .unwrap_or_default()
    }

    fn any_may_hold(&mut self, height: u64) -> bool {
        let lattice = &self.judge.lattice;
        let stopped = lattice.visit_height(height, &mut |node| {
            self.checked.add(&node);
            let holds = self.judge.may_hold(&self.judge.counter.roll_up(self.base, &node));
            let is_enough = holds || self.judge.problem.budget.is_spent();
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        stopped.is_break()
    }

    fn feasible(&mut self, height: u64) -> Vec<(Levels, Verdict)> {
        let mut found = Vec::new();
        let lattice = &self.judge.lattice;
        let _ = lattice.visit_height(height, &mut |node| {
            self.checked.add(&node);
            let verdict = self.judge.verdict(&self.judge.counter.roll_up(self.base, &node));
            if verdict.is_feasible {
                found.push((node, verdict));
            }
            let is_spent = self.judge.problem.budget.is_spent();
            if is_spent { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }
}

//! Greedy single-dimensional partitioning: the fast baseline.
//!
//! Starts with one interval per attribute and makes the allowable split that lowers the cost most,
//! until no split is allowable.
//!
//! # Source
//!
//! LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity*, TR 1521, section 2.4: allowable
//! single-dimensional cuts and minimal partitionings. Departures: a part without rows breaks no
//! model; an attribute with a hierarchy is split into the children of a node; any models.
//!
//! # Guarantees
//!
//! - Exact: no. A split is never taken back.
//! - Nothing is suppressed, and no further split is allowable: a minimal partitioning.
//! - Asks of the models: nothing.
//! - Deterministic: yes, on any number of threads.
//!
//! # Invariants
//!
//! - G1: every class satisfies the models.
//!
//! # Cost
//!
//! For `n` vectors, `d` attributes and `c` splits made: O(c d n).
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `hill_climb`, which also undoes splits; `intervals` for what both share.

use crate::intervals::{Board, Costs};
use crate::{Infeasible, Outcome, Problem};

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let Some(costs) = Costs::new(problem) else {
        return Outcome::Infeasible(Infeasible::NotMeasured);
    };
    // Nothing is suppressed, regardless of the limit.
    let problem = Problem { limit: 0, ..*problem };
    let mut board = Board::new(&problem, &costs);
    let mut nodes_checked = 1;
    while !problem.budget.is_spent() {
        let splits = board.splits();
        nodes_checked += splits.len() as u64;
        let allowable = splits.into_iter().filter(|split| split.is_lossless);
        let best = allowable.min_by(|a, b| {
            let by_cost = a.standing.cost.total_cmp(&b.standing.cost);
            by_cost.then_with(|| a.made.cmp(&b.made))
        });
        match best {
            Some(split) => board.make(&split.made),
            None => break,
        }
    }
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let mut found = board.found(nodes_checked);
    found.proof.is_cut_short = problem.budget.is_spent();
    Outcome::Found(Box::new(found))
}

//! Bottom-up breadth-first search of the whole lattice.
//!
//! Checks nodes by height from the bottom; what holds marks what is directly above it.
//!
//! # Source
//!
//! LeFevre, DeWitt, Ramakrishnan: *Incognito*, SIGMOD 2005: the baseline of its experiments, with
//! and without roll-up. Departure: models other than k-anonymity, suppression and measures (see
//! `full_domain::select`).
//!
//! # Guarantees
//!
//! - Exact: yes. All minimal nodes are found, and the cheapest feasible node is released.
//! - Asks of the models: nothing. Models that are not monotone are checked after the search, for
//!   every node above those that the monotone part leaves.
//! - Deterministic: yes.
//!
//! # Invariants
//!
//! - B1: a node is checked only after all nodes of lower heights that are checked at all.
//!
//! # Cost
//!
//! One frequency set per node; nearly all nodes of the lattice are checked if few hold.
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `incognito`, which checks fewer nodes by looking at few attributes first.

use crate::full_domain::{Graph, Judge, conclude};
use crate::lattice::minimal;
use crate::{Outcome, Problem};

/// Runs the search.
pub(crate) fn run(problem: &Problem, rolls_up: bool) -> Outcome {
    let judge = match Judge::new(problem) {
        Ok(judge) => judge,
        Err(outcome) => return outcome,
    };
    let memory = problem.budget.memory();
    let graph = Graph { judge: &judge, candidates: None, rolls_up, memory };
    match graph.search(&mut |root| judge.counter.scan(root)) {
        Ok(searched) => {
            let checked = searched.checked();
            conclude(&judge, &minimal(searched.passed), checked)
        }
        Err(spent) => spent.outcome(&judge),
    }
}

//! Datafly: the greedy baseline of full-domain recoding.
//!
//! While too many rows are in classes that break a model, the attribute with the most distinct
//! values goes up one level; what is left within the limit is suppressed.
//!
//! # Source
//!
//! L. Sweeney: *Datafly*, 1997, as cited by Bayardo and Agrawal (ICDE 2005). Departures: the
//! suppression limit is the job's, not k rows; ties go to the first attribute; models other than
//! k-anonymity.
//!
//! # Guarantees
//!
//! - Exact: no. A level is never taken back.
//! - Asks of the models: nothing.
//! - Deterministic: yes.
//!
//! # Invariants
//!
//! - D1: the node only goes up.
//!
//! # Cost
//!
//! At most one frequency set for each level of each attribute, each rolled up from the one before.
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `optimal`, which is exact and usually not slower.

use incrowd_data::{Level, Levels};

use crate::full_domain::{Checked, Judge};
use crate::{Outcome, Problem, Proof};

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let judge = match Judge::new(problem) {
        Ok(judge) => judge,
        Err(outcome) => return outcome,
    };
    let distinct = judge.distinct_values();
    let mut at = judge.counter.scan(judge.lattice.low());
    let mut nodes_checked = 0;
    loop {
        nodes_checked += 1;
        let verdict = judge.verdict(&at);
        if verdict.is_feasible {
            let proof = Proof { cost: Some(verdict.price.value), ..Proof::default() };
            return Outcome::Found(Box::new(judge.found(
                &at.levels,
                proof,
                Checked::from(nodes_checked),
            )));
        }
        if problem.budget.is_cancelled() {
            return Outcome::Cancelled;
        }
        let Some(next) = step(&judge, &distinct, &at.levels) else { return judge.infeasible() };
        debug_assert!(next.generalizes(&at.levels), "D1");
        at = judge.counter.roll_up(&at, &next);
    }
}

/// One level up on the attribute with the most distinct values.
fn step(judge: &Judge, distinct: &[Vec<usize>], node: &Levels) -> Option<Levels> {
    let high = judge.lattice.high();
    let attribute = (0..node.len())
        .filter(|&at| node.get(at) < high.get(at))
        .max_by_key(|&at| (distinct[at][usize::from(node.get(at).0)], std::cmp::Reverse(at)))?;
    Some(node.with(attribute, Level(node.get(attribute).0 + 1)))
}

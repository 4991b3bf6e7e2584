//! Iterated two-phase hill climbing over single-dimensional recodings.
//!
//! From a random set of cuts, intervals are joined while that lowers the cost, always where it
//! lowers it most; then they are split in the same way, and so on until neither helps. This is
//! repeated from new random cuts, and the best set is released.
//!
//! # Source
//!
//! Bayardo, Agrawal: *Data Privacy Through Optimal k-Anonymization*, ICDE 2005, section 7.3.
//! Departures: classes are split and joined in place instead of sorting the table for every cost;
//! rows beyond the suppression limit count before the cost; the first start is the set without
//! cuts; an attribute with a hierarchy is split into, and joined from, the children of a node; any
//! models.
//!
//! # Guarantees
//!
//! - Exact: no. Every start ends in a local minimum.
//! - Asks of the models: nothing. If it finds no release, that proves nothing unless the whole
//!   table breaks a model.
//! - Deterministic: yes, on any number of threads, for a given seed, unless a time limit ends it.
//!
//! # Invariants
//!
//! - H1: every move lowers the cost, or the rows beyond the limit.
//!
//! # Cost
//!
//! For `n` vectors, `d` attributes and `c` cuts: O(d n) per step of the second phase and O(d g log
//! g) per step of the first, for `g` classes; O(c) steps per start.
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `intervals` for splits and joins.

use rayon::prelude::*;

use crate::intervals::{Board, Costs, Standing};
use crate::random::Random;
use crate::{Infeasible, Outcome, Problem, budget};

/// The number of starts without a time limit.
const STARTS: u64 = 12;

/// Starts that are climbed in parallel. The same for any number of threads.
const AT_ONCE: u64 = 4;

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    let Some(costs) = Costs::new(problem) else {
        return Outcome::Infeasible(Infeasible::NotMeasured);
    };
    let mut best = Some(Board::new(problem, &costs)).filter(Board::is_feasible);
    let mut nodes_checked = 0;
    let mut start = 0;
    loop {
        let climbed: Vec<(Board, u64)> = (start..start + AT_ONCE)
            .into_par_iter()
            .map(|start| climb(beginning(problem, &costs, start)))
            .collect();
        for (board, n_weighed) in climbed {
            nodes_checked += n_weighed;
            let is_better = best.as_ref().is_none_or(|best| key(&board) < key(best));
            if is_better && board.is_feasible() {
                best = Some(board);
            }
        }
        start += AT_ONCE;
        let cost = best.as_ref().map(|best| costs.value(best.standing().cost));
        let standing = budget::Standing { best: cost, lower_bound: 0.0, nodes: nodes_checked };
        problem.budget.say(standing);
        let is_enough = !problem.budget.has_deadline() && start >= STARTS;
        if is_enough || problem.budget.is_spent() {
            break;
        }
    }
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let Some(best) = best else {
        let broken = crate::broken_models(problem, &crate::whole(problem));
        return Outcome::Infeasible(Infeasible::EveryCut { broken, is_proved: false });
    };
    Outcome::Found(Box::new(best.found(nodes_checked)))
}

/// What decides between two results: the cost, then the smaller cuts.
fn key<'a>(board: &'a Board) -> (Standing, &'a incrowd_data::Cuts) {
    (board.standing(), &board.cuts)
}

/// The cuts that a start begins with: none, then random ones.
fn beginning<'a>(problem: &'a Problem<'a>, costs: &'a Costs, start: u64) -> Board<'a> {
    let mut board = Board::new(problem, costs);
    if start == 0 {
        return board;
    }
    let mut random = Random::new(problem.seed.wrapping_mul(0x9e37).wrapping_add(start));
    // Sparse starts and dense ones.
    let one_in = 2 + random.below(6);
    // New splits of a hierarchy become possible as nodes are split.
    for _ in 0..3 {
        for split in board.split_list() {
            if random.below(one_in) == 0 {
                board.make(&split);
            }
        }
    }
    board
}

/// Joins and splits until neither helps; returns the result and the number of moves weighed.
fn climb(mut board: Board) -> (Board, u64) {
    let mut n_weighed = 0;
    let mut phases_without = 0;
    let mut is_joining = true;
    while phases_without < 2 {
        let mut has_moved = false;
        while !board.is_spent() {
            let weighed = if is_joining { board.joins() } else { board.splits() };
            n_weighed += weighed.len() as u64;
            let now = board.standing();
            let best = weighed.into_iter().min_by(|a, b| {
                let by_standing = a.standing.order(&b.standing);
                by_standing.then_with(|| a.made.cmp(&b.made))
            });
            match best.filter(|best| best.standing.is_below(&now)) {
                Some(best) => {
                    board.make(&best.made);
                    debug_assert!(board.standing().is_below(&now), "H1");
                }
                None => break,
            }
            has_moved = true;
        }
        phases_without = if has_moved { 0 } else { phases_without + 1 };
        is_joining = !is_joining;
    }
    (board, n_weighed)
}

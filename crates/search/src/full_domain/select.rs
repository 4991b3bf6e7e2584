//! From the minimal nodes that may hold to the one that is released.
//!
//! The monotone searches (`incognito`, `bottom_up`, `samarati`) search with the monotone part of
//! what is asked. The rest is checked here, above the nodes that are left. With suppression, only
//! models that hold for supersets are monotone: k-anonymity, distinct diversity and squared error.
//! Joining a class that does not satisfy entropy diversity can spoil one that does.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::Levels;

use super::{Checked, Judge, Ticks, Verdict};
use crate::frequency::Frequencies;
use crate::{Found, Infeasible, MinimalNode, Outcome, Proof};

/// The outcome of a search that found the minimal nodes that may hold.
pub(crate) fn conclude(judge: &Judge, minimal: &[Levels], checked: Checked) -> Outcome {
    let Selection { best, minimal, is_cut_short } = select(judge, minimal);
    if judge.problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    if is_cut_short {
        return Outcome::Infeasible(Infeasible::OutOfTime);
    }
    let Some((_, cost, levels)) = best else { return judge.infeasible() };
    let proof =
        Proof { is_optimal: true, cost: Some(cost), lower_bound: Some(cost), is_cut_short: false };
    let found = judge.found(&levels, proof, checked);
    Outcome::Found(Box::new(Found { minimal, ..found }))
}

/// The cheapest node at or above some minimal ones.
#[derive(Debug, Default)]
struct Selection {
    /// The cost in ticks and in the unit of the measure, and the node.
    best: Option<(Ticks, f64, Levels)>,
    /// All minimal nodes that can be released, if requested.
    minimal: Option<Vec<MinimalNode>>,
    /// Whether the budget ended it.
    is_cut_short: bool,
}

/// Finds the cheapest feasible node above `minimal`, the minimal nodes that may hold; all feasible
/// nodes are there. If nothing is suppressed, costs grow on the way up, so one of `minimal` is the
/// cheapest. Otherwise the search goes up as far as the bounds allow.
fn select(judge: &Judge, minimal: &[Levels]) -> Selection {
    let mut selection = Selection::default();
    let Some(meet) = minimal.iter().cloned().reduce(|a, b| a.meet(&b)) else { return selection };
    let base = judge.counter.scan(&meet);
    let is_final = judge.is_monotone() && judge.problem.limit == 0;
    walk(judge, &base, minimal, &mut selection.is_cut_short, |node, verdict| {
        if verdict.is_feasible {
            let found = (verdict.price.cost, verdict.price.value, node.clone());
            let is_better = match &selection.best {
                Some((cost, _, levels)) => (found.0, &found.2) < (*cost, levels),
                None => true,
            };
            if is_better {
                selection.best = Some(found);
            }
        }
        let best = selection.best.as_ref();
        !is_final && best.is_none_or(|(cost, _, best)| (verdict.price.floor, node) < (*cost, best))
    });
    if judge.problem.wants_minimal {
        let mut found: Vec<(Levels, MinimalNode)> = Vec::new();
        walk(judge, &base, minimal, &mut selection.is_cut_short, |node, verdict| {
            if found.iter().any(|(below, _)| node.generalizes(below)) {
                return false;
            }
            if verdict.is_feasible {
                found.push((node.clone(), verdict.minimal_node(node.clone())));
            }
            !verdict.is_feasible
        });
        found.sort_by(|a, b| a.0.cmp(&b.0));
        selection.minimal = Some(found.into_iter().map(|(_, node)| node).collect());
    }
    selection
}

/// Visits nodes by height, starting with `roots`, and continues to the direct generalizations of
/// those for which `visit` returns true.
fn walk(
    judge: &Judge,
    base: &Frequencies,
    roots: &[Levels],
    is_cut_short: &mut bool,
    mut visit: impl FnMut(&Levels, &Verdict) -> bool,
) {
    let mut open: BTreeMap<u64, BTreeSet<Levels>> = BTreeMap::new();
    for root in roots {
        open.entry(root.height()).or_default().insert(root.clone());
    }
    while let Some((_, nodes)) = open.pop_first() {
        for node in nodes {
            if judge.problem.budget.is_spent() {
                *is_cut_short = true;
                return;
            }
            let verdict = judge.verdict(&judge.counter.roll_up(base, &node));
            if visit(&node, &verdict) {
                for above in judge.lattice.direct_generalizations(&node) {
                    open.entry(above.height()).or_default().insert(above);
                }
            }
        }
    }
}

//! Steps from node to node towards a good one, before the search. This gives a bound to prune with
//! if the lattice can be closed, and the best node so far if it cannot.

use std::collections::BTreeSet;

use incrowd_data::{Level, Levels};
use rayon::prelude::*;

use super::{Goal, Search};
use crate::frequency::Frequencies;

impl Search<'_> {
    /// Climbs once more from a node a few random levels above the best one of a wide lattice.
    pub(super) fn climb_again(&mut self) {
        let (Some(base), Some(best)) = (self.base.clone(), self.best.as_ref()) else { return };
        if self.goal != Goal::Best {
            return;
        }
        let high = self.judge.lattice.high();
        let mut start = best.levels.clone();
        for _ in 0..2 + start.len() / 5 {
            let at = self.random.below(start.len());
            let level = Level(start.get(at).0 + 1).min(high.get(at));
            start = start.with(at, level);
        }
        self.climb(&base.set, start);
    }

    /// Repeatedly goes to the cheapest node one level below; if none is cheaper, to the cheapest
    /// node one level down on one attribute and one level up on another.
    pub(super) fn climb(&mut self, base: &Frequencies, start: Levels) {
        let mut seen = BTreeSet::new();
        let mut here = start;
        let mut cost = None;
        loop {
            // All neighbours are above their meet, whose frequency set is far smaller than the
            // base.
            let below = below(&base.levels, &here);
            let source = self.judge.counter.roll_up_if_smaller(base, &below);
            let source = source.as_ref().unwrap_or(base);
            let down = self.down(&base.levels, &here);
            let mut next = self.cheapest(source, down, &mut seen);
            if !is_cheaper(next.as_ref(), cost) {
                let across = self.across(&base.levels, &here);
                next = self.cheapest(source, across, &mut seen);
            }
            if !is_cheaper(next.as_ref(), cost) || self.judge.problem.budget.is_spent() {
                return;
            }
            let (found, node) = next.expect("it is cheaper");
            (cost, here) = (Some(found), node);
        }
    }

    /// Counts some nodes; returns the cheapest feasible one.
    fn cheapest(
        &mut self,
        source: &Frequencies,
        nodes: Vec<Levels>,
        seen: &mut BTreeSet<Levels>,
    ) -> Option<(u128, Levels)> {
        let nodes: Vec<Levels> =
            nodes.into_iter().filter(|node| seen.insert(node.clone())).collect();
        let judged: Vec<_> = nodes
            .into_par_iter()
            .filter(|_| !self.judge.problem.budget.is_spent())
            .map(|node| {
                let verdict = self.judge.verdict(&self.judge.counter.roll_up(source, &node));
                (node, verdict)
            })
            .collect();
        for (node, verdict) in &judged {
            self.offer(node, verdict);
        }
        let feasible = judged.into_iter().filter(|(_, verdict)| verdict.is_feasible);
        feasible.map(|(node, verdict)| (verdict.price.cost, node)).min()
    }

    fn step(&self, low: &Levels, node: &Levels, at: usize, by: i16) -> Option<Levels> {
        let level = u8::try_from(i16::from(node.get(at).0) + by).ok().map(Level)?;
        let high = self.judge.lattice.high().get(at);
        (low.get(at) <= level && level <= high).then(|| node.with(at, level))
    }

    /// One level down on an attribute.
    fn down(&self, low: &Levels, node: &Levels) -> Vec<Levels> {
        (0..node.len()).filter_map(|at| self.step(low, node, at, -1)).collect()
    }

    /// One level up on an attribute, alone or with one level down on another.
    fn across(&self, low: &Levels, node: &Levels) -> Vec<Levels> {
        let mut near = Vec::new();
        for at in 0..node.len() {
            let Some(up) = self.step(low, node, at, 1) else { continue };
            let others = (0..node.len()).filter(|&other| other != at);
            near.extend(others.filter_map(|other| self.step(low, &up, other, -1)));
            near.push(up);
        }
        near
    }
}

/// The node one level down on all attributes, limited by `low`.
fn below(low: &Levels, node: &Levels) -> Levels {
    let down = |at: usize| Level(node.get(at).0.saturating_sub(1)).max(low.get(at));
    Levels::new((0..node.len()).map(down))
}

fn is_cheaper(found: Option<&(u128, Levels)>, cost: Option<u128>) -> bool {
    found.is_some_and(|(found, _)| cost.is_none_or(|cost| *found < cost))
}

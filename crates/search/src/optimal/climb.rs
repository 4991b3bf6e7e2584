//! Steps from node to node towards a good one: the best node so far where a wide lattice cannot be
//! closed, and something to prune with where it can.

use std::collections::BTreeSet;

use incrowd_data::{Level, Levels};
use rayon::prelude::*;

use super::Search;
use crate::full_domain::Verdict;

impl Search<'_> {
    /// Goes down from the most general node and from the best one so far, each time to the cheapest
    /// neighbour, until none is cheaper.
    pub(super) fn climb(&mut self) {
        let low = self.open.iter().map(|region| region.low.clone()).reduce(|a, b| a.meet(&b));
        let Some(low) = low else { return };
        let base = self.judge.counter.scan(&low);
        let top = self.judge.lattice.high().clone();
        let starts: Vec<Levels> =
            std::iter::once(top).chain(self.best.iter().map(|best| best.levels.clone())).collect();
        for start in starts {
            self.descend(&base, start);
        }
    }

    fn descend(&mut self, base: &crate::frequency::Frequencies, start: Levels) {
        let mut seen: BTreeSet<Levels> = BTreeSet::from([start.clone()]);
        let mut here = start;
        let mut cost = None;
        loop {
            let near: Vec<Levels> = self
                .neighbours(&base.levels, &here)
                .into_iter()
                .filter(|node| seen.insert(node.clone()))
                .collect();
            let judged: Vec<(Levels, Verdict)> = near
                .into_par_iter()
                .filter(|_| !self.judge.problem.budget.is_spent())
                .map(|node| {
                    let verdict = self.check(&self.judge.counter.roll_up(base, &node));
                    (node, verdict)
                })
                .collect();
            judged.iter().for_each(|(node, verdict)| self.offer(node, verdict));
            let next = judged
                .into_iter()
                .filter(|(_, verdict)| verdict.is_feasible)
                .map(|(node, verdict)| (verdict.price.cost, node))
                .min();
            match next {
                Some((found, node)) if cost.is_none_or(|cost| found < cost) => {
                    (cost, here) = (Some(found), node);
                }
                _ => return,
            }
        }
    }

    /// One level down on an attribute, alone or with one level up on another; one level up.
    fn neighbours(&self, low: &Levels, node: &Levels) -> Vec<Levels> {
        let high = self.judge.lattice.high();
        let step = |node: &Levels, at: usize, by: i16| -> Option<Levels> {
            let level = u8::try_from(i16::from(node.get(at).0) + by).ok().map(Level)?;
            (low.get(at) <= level && level <= high.get(at)).then(|| node.with(at, level))
        };
        let mut near = Vec::new();
        for at in 0..node.len() {
            near.extend(step(node, at, 1));
            let Some(down) = step(node, at, -1) else { continue };
            for other in (0..node.len()).filter(|&other| other != at) {
                near.extend(step(&down, other, 1));
            }
            near.push(down);
        }
        near
    }
}

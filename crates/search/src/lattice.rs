//! The lattice of full-domain generalizations: which nodes are above or below which.
//!
//! A node is a level per attribute ([`Levels`]). Going up one level of one attribute is a *direct
//! generalization*. Three laws make searches fast (Incognito, *Full Domain Generalization
//! Properties*; `tests/it/laws.rs` tests each):
//!
//! - **Generalization**: a monotone model that holds for every class at a node holds for every
//!   class at its generalizations.
//! - **Roll-up**: the frequency set of a node follows from that of any node below it by adding up
//!   counts.
//! - **Subset**: a monotone model that holds for every class over some attributes holds for every
//!   class over fewer of them. Leaving out an attribute is the same as generalizing it to its root.

use std::ops::ControlFlow;

use incrowd_data::{Level, Levels};

/// All nodes from one node up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    low: Levels,
    high: Levels,
}

impl Lattice {
    /// The nodes from `low` to `high`, both included. `None` if `high` does not generalize `low`.
    #[must_use]
    pub fn between(low: Levels, high: Levels) -> Option<Lattice> {
        high.generalizes(&low).then_some(Lattice { low, high })
    }

    /// The least general node.
    #[must_use]
    pub fn low(&self) -> &Levels {
        &self.low
    }

    /// The most general node.
    #[must_use]
    pub fn high(&self) -> &Levels {
        &self.high
    }

    /// The number of attributes.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.low.len()
    }

    /// The number of nodes; `None` if it does not fit in 64 bits.
    #[must_use]
    pub fn n_nodes(&self) -> Option<u64> {
        let sizes = self.low.iter().zip(self.high.iter());
        sizes.map(|(low, high)| u64::from(high.0 - low.0) + 1).try_fold(1u64, u64::checked_mul)
    }

    /// Whether a node is in the lattice.
    #[must_use]
    pub fn contains(&self, node: &Levels) -> bool {
        node.generalizes(&self.low) && self.high.generalizes(node)
    }

    /// The nodes one step above, by attribute.
    pub fn direct_generalizations(&self, node: &Levels) -> impl Iterator<Item = Levels> {
        (0..node.len())
            .filter(|&at| node.get(at) < self.high.get(at))
            .map(|at| node.with(at, Level(node.get(at).0 + 1)))
    }

    /// The nodes one step below, by attribute.
    pub fn direct_specializations(&self, node: &Levels) -> impl Iterator<Item = Levels> {
        (0..node.len())
            .filter(|&at| node.get(at) > self.low.get(at))
            .map(|at| node.with(at, Level(node.get(at).0 - 1)))
    }

    /// All nodes of a height, in lexicographic order.
    #[must_use]
    pub fn at_height(&self, height: u64) -> Vec<Levels> {
        let mut found = Vec::new();
        let _ = self.visit_height(height, &mut |node| {
            found.push(node);
            ControlFlow::Continue(())
        });
        found
    }

    /// Visits all nodes of a height in lexicographic order, until told to stop.
    pub fn visit_height(
        &self,
        height: u64,
        visit: &mut dyn FnMut(Levels) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match height.checked_sub(self.low.height()) {
            Some(rest) => self.climb(0, rest, self.low.clone(), visit),
            None => ControlFlow::Continue(()),
        }
    }

    /// Every way to climb `rest` more levels on the attributes from `at` on.
    fn climb(
        &self,
        at: usize,
        rest: u64,
        node: Levels,
        visit: &mut dyn FnMut(Levels) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if at == node.len() {
            return if rest == 0 { visit(node) } else { ControlFlow::Continue(()) };
        }
        let room = |at: usize| u64::from(self.high.get(at).0 - self.low.get(at).0);
        let room_behind: u64 = (at + 1..node.len()).map(room).sum();
        for step in rest.saturating_sub(room_behind)..=rest.min(room(at)) {
            let level = self.low.get(at).0 + u8::try_from(step).expect("at most the room");
            self.climb(at + 1, rest - step, node.with(at, Level(level)), visit)?;
        }
        ControlFlow::Continue(())
    }
}

/// The nodes that generalize none of the others, in lexicographic order, each once.
#[must_use]
pub fn minimal(mut nodes: Vec<Levels>) -> Vec<Levels> {
    nodes.sort_by(|a, b| a.height().cmp(&b.height()).then_with(|| a.cmp(b)));
    nodes.dedup();
    let mut kept: Vec<Levels> = Vec::new();
    for node in nodes {
        if !kept.iter().any(|below| node.generalizes(below)) {
            kept.push(node);
        }
    }
    kept.sort();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(levels: [u8; 3]) -> Levels {
        Levels::new(levels.map(Level))
    }

    fn lattice() -> Lattice {
        Lattice::between(node([0, 1, 0]), node([2, 2, 1])).expect("bounds in order")
    }

    #[test]
    fn heights_partition_the_nodes() {
        let lattice = lattice();
        let all: Vec<Levels> = (0..=6).flat_map(|height| lattice.at_height(height)).collect();
        assert_eq!(Some(all.len() as u64), lattice.n_nodes());
        assert!(all.iter().all(|node| lattice.contains(node)));
        assert_eq!(lattice.at_height(2), [node([0, 1, 1]), node([0, 2, 0]), node([1, 1, 0])]);
        assert!(lattice.at_height(0).is_empty() && lattice.at_height(6).is_empty());
    }

    #[test]
    fn neighbours_are_one_step_away_and_inside() {
        let lattice = lattice();
        let up: Vec<Levels> = lattice.direct_generalizations(&node([2, 1, 0])).collect();
        assert_eq!(up, [node([2, 2, 0]), node([2, 1, 1])]);
        let down: Vec<Levels> = lattice.direct_specializations(&node([2, 1, 0])).collect();
        assert_eq!(down, [node([1, 1, 0])]);
    }

    #[test]
    fn minimal_nodes_generalize_no_other() {
        let nodes = vec![node([1, 2, 0]), node([0, 2, 1]), node([1, 2, 1]), node([1, 2, 0])];
        assert_eq!(minimal(nodes), [node([0, 2, 1]), node([1, 2, 0])]);
    }
}

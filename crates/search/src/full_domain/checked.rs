//! The nodes that a search visited.

use std::collections::BTreeSet;

use incrowd_data::Levels;

use crate::lattice::Lattice;

/// The nodes that a search visited, each counted once. In a wide lattice they are not remembered,
/// and a node that was visited twice counts twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    nodes: BTreeSet<Levels>,
    n_forgotten: u64,
    forgets: bool,
}

/// The largest lattice whose nodes are remembered.
const REMEMBERED: u64 = 1 << 20;

impl Seen {
    pub(crate) fn new(lattice: &Lattice) -> Seen {
        let forgets = lattice.n_nodes().is_none_or(|n_nodes| n_nodes > REMEMBERED);
        Seen { forgets, ..Seen::default() }
    }

    pub(crate) fn add(&mut self, node: &Levels) {
        if self.forgets {
            self.n_forgotten += 1;
        } else {
            self.nodes.insert(node.clone());
        }
    }

    pub(crate) fn merge(&mut self, other: Seen) {
        self.n_forgotten += other.n_forgotten;
        self.nodes.extend(other.nodes);
    }

    /// Whether a node was visited; true if nodes are not remembered.
    pub(crate) fn may_hold(&self, node: &Levels) -> bool {
        self.forgets || self.nodes.contains(node)
    }

    pub(crate) fn n_nodes(&self) -> u64 {
        self.n_forgotten + self.nodes.len() as u64
    }
}

/// The number of nodes that a search visited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) nodes: u64,
    /// The number it would have visited with transitive marks, if it uses marks.
    pub(crate) transitive: Option<u64>,
}

impl From<u64> for Checked {
    fn from(nodes: u64) -> Checked {
        Checked { nodes, transitive: None }
    }
}

//! Breadth-first search of a graph of candidate nodes, with roll-up and marking (the inner loop of
//! Incognito, and bottom-up search as a whole).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use incrowd_data::{Level, Levels};

use super::{Checked, Judge};
use crate::frequency::{ABSENT, Frequencies};
use crate::lattice::minimal;
use crate::{Infeasible, Outcome};

/// What ended a search early.
#[derive(Debug)]
pub(crate) enum Spent {
    /// The time is up, or the user wants it to stop.
    Time,
    /// It would need too much memory.
    Memory,
}

impl Spent {
    pub(crate) fn outcome(&self, judge: &Judge) -> Outcome {
        match self {
            _ if judge.problem.budget.is_cancelled() => Outcome::Cancelled,
            Spent::Time => Outcome::Infeasible(Infeasible::OutOfTime),
            Spent::Memory => Outcome::Infeasible(Infeasible::OutOfMemory),
        }
    }
}

/// A frequency set that nodes roll up from. Keeps track of the memory of all of them.
struct Source {
    set: Frequencies,
    held: Rc<Cell<u64>>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.held.set(self.held.get() - self.set.bytes());
    }
}

/// Bytes of a node in a set, in addition to its levels.
const BYTES_OF_NODE: u64 = 48;

/// A graph over some attributes; the others are [`ABSENT`] in its nodes.
pub(crate) struct Graph<'a> {
    pub(crate) judge: &'a Judge<'a>,
    /// The candidates; `None` for all nodes of the lattice.
    pub(crate) candidates: Option<&'a BTreeSet<Levels>>,
    /// Whether frequency sets roll up from those of nodes that failed.
    pub(crate) rolls_up: bool,
    /// The memory limit in bytes.
    pub(crate) memory: u64,
}

/// What a search of a graph found.
#[derive(Default)]
pub(crate) struct Searched {
    /// Candidates that cannot hold.
    pub(crate) failed: BTreeSet<Levels>,
    /// Candidates that hold while nothing below them does, and a few that were checked above those.
    pub(crate) passed: Vec<Levels>,
    pub(crate) nodes_checked: u64,
}

impl Searched {
    /// The number of nodes that were checked, and that would have been checked if marks were passed
    /// on to all generalizations: those that fail and the minimal ones that hold.
    pub(crate) fn checked(&self) -> Checked {
        let n_minimal = minimal(self.passed.clone()).len();
        let transitive = Some((self.failed.len() + n_minimal) as u64);
        Checked { nodes: self.nodes_checked, transitive }
    }
}

impl Graph<'_> {
    fn is_candidate(&self, node: &Levels) -> bool {
        self.candidates.is_none_or(|candidates| candidates.contains(node))
    }

    /// Candidates without a candidate one step below.
    pub(crate) fn roots(&self) -> Vec<Levels> {
        let Some(candidates) = self.candidates else {
            return vec![self.judge.lattice.low().clone()];
        };
        let low = self.judge.lattice.low();
        let has_below = |node: &Levels| {
            (0..node.len())
                .filter(|&at| node.get(at) != ABSENT && node.get(at) > low.get(at))
                .any(|at| candidates.contains(&node.with(at, Level(node.get(at).0 - 1))))
        };
        candidates.iter().filter(|node| !has_below(node)).cloned().collect()
    }

    fn direct_generalizations(&self, node: &Levels) -> Vec<Levels> {
        let high = self.judge.lattice.high();
        (0..node.len())
            .filter(|&at| node.get(at) != ABSENT && node.get(at) < high.get(at))
            .map(|at| node.with(at, Level(node.get(at).0 + 1)))
            .filter(|above| self.is_candidate(above))
            .collect()
    }

    /// Searches the graph by height. A node that holds marks its direct generalizations, which are
    /// then not checked; a node that fails adds its direct generalizations to the queue. As in the
    /// paper, marked nodes do not pass marks on, so a few nodes are checked although they are known
    /// to hold.
    ///
    /// `root_set` returns the frequency set of a root.
    pub(crate) fn search(
        &self,
        root_set: &mut dyn FnMut(&Levels) -> Frequencies,
    ) -> Result<Searched, Spent> {
        let mut searched = Searched::default();
        let mut marked: BTreeSet<Levels> = BTreeSet::new();
        // By height: nodes with the source that they roll up from.
        let mut queue: BTreeMap<u64, BTreeMap<Levels, Option<Rc<Source>>>> = BTreeMap::new();
        let held = Rc::new(Cell::new(0));
        let memory = self.memory;
        let bytes_of_node = BYTES_OF_NODE + self.judge.lattice.n_attributes() as u64;
        let roots: BTreeSet<Levels> = self.roots().into_iter().collect();
        for root in &roots {
            queue.entry(root.height()).or_default().insert(root.clone(), None);
        }
        while let Some((height, nodes)) = queue.pop_first() {
            for (node, source) in nodes {
                debug_assert!(
                    queue.keys().next().is_none_or(|&above| above > height),
                    "by height (B1)"
                );
                if marked.contains(&node) {
                    continue;
                }
                if self.judge.problem.budget.is_spent() {
                    return Err(Spent::Time);
                }
                let n_known = searched.failed.len() + marked.len();
                if n_known as u64 * bytes_of_node > memory {
                    return Err(Spent::Memory);
                }
                let is_root = roots.contains(&node);
                let set = match source {
                    Some(source) if self.rolls_up => self.judge.counter.roll_up(&source.set, &node),
                    None if is_root => root_set(&node),
                    _ => self.judge.counter.scan(&node),
                };
                searched.nodes_checked += 1;
                let above = self.direct_generalizations(&node);
                if self.judge.may_hold(&set) {
                    marked.extend(above);
                    searched.passed.push(node);
                } else {
                    // Nodes above a set that does not fit are counted by a pass over the table.
                    let fits = self.rolls_up && held.get() + set.bytes() <= memory;
                    let set = fits.then(|| {
                        held.set(held.get() + set.bytes());
                        Rc::new(Source { set, held: Rc::clone(&held) })
                    });
                    for node in above {
                        let place = queue.entry(node.height()).or_default();
                        let source = place.entry(node).or_insert(None);
                        let is_smaller = |new: &&Rc<Source>| {
                            let known = source.as_ref().map_or(usize::MAX, |s| s.set.n_groups());
                            new.set.n_groups() < known
                        };
                        if let Some(set) = set.as_ref().filter(is_smaller) {
                            *source = Some(Rc::clone(set));
                        }
                    }
                    searched.failed.insert(node);
                }
            }
        }
        Ok(searched)
    }
}

//! Breadth-first search of a graph of candidate nodes, with roll-up and marking (the inner loop of
//! Incognito, and bottom-up search as a whole).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use incrowd_data::{Level, Levels};

use super::{Checked, Judge};
use crate::frequency::{ABSENT, Frequencies};
use crate::lattice::minimal;

/// The budget ended the search.
#[derive(Debug)]
pub(crate) struct Spent;

/// A graph over some attributes; the others are [`ABSENT`] in its nodes.
pub(crate) struct Graph<'a> {
    pub(crate) judge: &'a Judge<'a>,
    /// The candidates; all nodes of the lattice if none are given.
    pub(crate) candidates: Option<&'a BTreeSet<Levels>>,
    /// Whether frequency sets roll up from those of nodes that failed.
    pub(crate) rolls_up: bool,
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
    /// How many nodes were checked, and how many would have been if a mark went on to all
    /// generalizations: those that fail and the minimal ones that hold.
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

    /// Searches the graph by height. A node that holds marks its direct generalizations, which are not
    /// checked then; one that fails brings its direct generalizations into the queue. As in the paper
    /// marks are not handed on by marked nodes, so that a few nodes are checked which are known to hold.
    ///
    /// `root_set` gives the frequency set of a root.
    pub(crate) fn search(
        &self,
        root_set: &mut dyn FnMut(&Levels) -> Frequencies,
    ) -> Result<Searched, Spent> {
        let mut searched = Searched::default();
        let mut marked: BTreeSet<Levels> = BTreeSet::new();
        // By height: nodes with what they roll up from.
        let mut queue: BTreeMap<u64, BTreeMap<Levels, Option<Rc<Frequencies>>>> = BTreeMap::new();
        for root in self.roots() {
            queue.entry(root.height()).or_default().insert(root, None);
        }
        while let Some((_, nodes)) = queue.pop_first() {
            for (node, source) in nodes {
                if marked.contains(&node) {
                    continue;
                }
                if self.judge.problem.budget.is_spent() {
                    return Err(Spent);
                }
                let set = match source {
                    Some(source) if self.rolls_up => self.judge.counter.roll_up(&source, &node),
                    Some(_) => self.judge.counter.scan(&node),
                    None => root_set(&node),
                };
                searched.nodes_checked += 1;
                let above = self.direct_generalizations(&node);
                if self.judge.may_hold(&set) {
                    marked.extend(above);
                    searched.passed.push(node);
                } else {
                    let set = Rc::new(set);
                    for node in above {
                        let place = queue.entry(node.height()).or_default();
                        let source = place.entry(node).or_insert(None);
                        if source.as_ref().is_none_or(|known| set.n_groups() < known.n_groups()) {
                            *source = Some(Rc::clone(&set));
                        }
                    }
                    searched.failed.insert(node);
                }
            }
        }
        Ok(searched)
    }
}

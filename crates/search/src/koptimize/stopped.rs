//! A stopped search as plain numbers, so that it can be saved and resumed.

use incrowd_data::Cuts;

use super::node::Node;
use super::price::Price;
use super::space::{Space, StepSet};
use super::{Ground, Shared};
use crate::Problem;

/// The state of a stopped search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// A fingerprint of the problem: equal problems have equal fingerprints.
    pub problem: u64,
    /// The best cuts so far.
    pub best: Cuts,
    /// A lower bound of the cost of any set of cuts, in the search's own units.
    pub floor: u64,
    /// Nodes that were visited.
    pub nodes: u64,
    /// Nodes that were not visited; none if the best cuts are proved to be optimal.
    pub open: Vec<OpenNode>,
}

/// An open node: the sets of steps with all of `made` and some of `tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenNode {
    /// Steps that are made, in order.
    pub made: Vec<u32>,
    /// Steps that may be made, ascending.
    pub tail: Vec<u32>,
}

impl Stopped {
    /// Whether it belongs to this problem and is consistent.
    #[must_use]
    pub fn fits(&self, problem: &Problem) -> bool {
        let space = Space::new(problem);
        let is_step = |step: &u32| (*step as usize) < space.steps.len();
        let is_sound = |node: &OpenNode| {
            node.made.iter().chain(&node.tail).all(is_step)
                && node.tail.is_sorted_by(|a, b| a < b)
                && node.made.iter().all(|step| node.tail.binary_search(step).is_err())
                && node.tail.iter().all(|step| {
                    let parent = space.steps[*step as usize].parent;
                    let is_there = |parent: usize| {
                        let mut steps = node.made.iter().chain(&node.tail);
                        steps.any(|step| *step as usize == parent)
                    };
                    parent.is_none_or(is_there)
                })
                && node.made.iter().enumerate().all(|(at, step)| {
                    let parent = space.steps[*step as usize].parent;
                    let is_before =
                        |parent: usize| node.made[..at].iter().any(|made| *made as usize == parent);
                    !node.made[..at].contains(step) && parent.is_none_or(is_before)
                })
        };
        self.problem == fingerprint(problem)
            && self.best.n_attributes() == problem.set.attributes.len()
            && space.steps(&self.best).is_some()
            && self.open.iter().all(is_sound)
    }
}

/// A fingerprint (FNV-1a) of everything that defines the problem.
pub(super) fn fingerprint(problem: &Problem) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    let set = problem.set;
    eat(format!("{:?} {:?} {}", problem.measure, problem.target, problem.stars).as_bytes());
    for number in [problem.k, problem.limit, set.n_rows] {
        eat(&number.to_le_bytes());
    }
    eat(format!("{:?} {:?}", problem.models, problem.entity).as_bytes());
    if problem.places.iter().any(Option::is_some) {
        eat(format!("{:?}", problem.places).as_bytes());
    }
    for attribute in &set.attributes {
        eat(attribute.name.as_bytes());
        attribute.dictionary.texts.iter().for_each(|text| eat(text.as_bytes()));
        eat(format!("{:?}", attribute.shape).as_bytes());
    }
    let columns = set.vectors.iter().chain(set.extras.iter().map(|extra| &extra.codes));
    for extra in &set.extras {
        eat(format!("{} {:?}", extra.name, extra.positions).as_bytes());
    }
    for codes in columns {
        codes.iter().for_each(|code| eat(&code.to_le_bytes()));
    }
    set.counts.iter().for_each(|rows| eat(&rows.to_le_bytes()));
    hash
}

/// The nodes that were open.
pub(super) fn restore<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    root: &Node<N>,
    stopped: &Stopped,
) -> Vec<Node<N>> {
    let node = |open: &OpenNode| {
        let mut tail = StepSet::none(ground.space.steps.len());
        open.tail.iter().for_each(|&step| tail.insert(step as usize));
        Some(made(ground, root, open.made.iter().map(|&step| step as usize))?.narrowed(tail))
    };
    stopped.open.iter().filter_map(node).collect()
}

/// The node at which some steps are made. `None` if they lose too many rows.
fn made<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    root: &Node<N>,
    steps: impl Iterator<Item = usize>,
) -> Option<Node<N>> {
    let mut node = root.copy();
    for step in steps {
        node = node.with(ground, step)?;
    }
    Some(node)
}

/// Offers given cuts, if they are a set of the search.
pub(super) fn offer<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    root: &Node<N>,
    cuts: &Cuts,
    best: &Shared,
) {
    let steps = ground.space.steps(cuts);
    let Some(node) = steps.and_then(|steps| made(ground, root, steps.into_iter())) else { return };
    let (cost, n_lost) = node.cost(ground);
    if n_lost <= ground.problem.limit && ground.is_feasible(cuts, n_lost) {
        best.offer(super::Best::new(cost, cuts.clone()));
    }
}

/// A node as numbers.
pub(super) fn open<const N: usize>(node: &Node<N>) -> OpenNode {
    let number = |step: usize| u32::try_from(step).expect("steps are no more than codes");
    OpenNode {
        made: node.made.iter().map(|&step| number(step)).collect(),
        tail: node.tail.iter().map(number).collect(),
    }
}

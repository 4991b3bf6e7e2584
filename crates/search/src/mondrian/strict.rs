//! Strict partitioning: regions do not overlap.

use std::sync::atomic::{AtomicU32, Ordering};

use incrowd_data::{Assignment, Node, NodeId, PartitionTree};
use incrowd_privacy::Tally;
use rayon::prelude::*;

use super::cut::Cut;
use super::split::{Facts, PointColumns, Splits};
use crate::partition::{Buffers, CodeWidth, PackedCode, Points};
use crate::{Counters, Found, Outcome, Problem, Proof, Recoding};

/// The result for a region: a cut or a leaf.
enum Grown {
    /// A class of this many points.
    Leaf(usize),
    /// The parts of a cut; a part without points is a leaf without rows.
    Parts { attribute: usize, cut: Cut, parts: Vec<Grown> },
}

/// Points below which a region is finished by the thread that has it.
const PARALLEL_FROM: usize = 1 << 12;

/// Anonymize of Figure 7.
pub(crate) fn strict(problem: &Problem) -> Outcome {
    strict_part(problem, None)
}

/// The same for a part of a table, given facts about the whole table.
pub(super) fn strict_part(problem: &Problem, facts: Option<&Facts>) -> Outcome {
    match CodeWidth::of(problem.set) {
        CodeWidth::One => run::<u8>(problem, facts),
        CodeWidth::Two => run::<u16>(problem, facts),
        CodeWidth::Four => run::<u32>(problem, facts),
    }
}

fn run<C: PackedCode>(problem: &Problem, facts: Option<&Facts>) -> Outcome {
    let mut points = Points::<C>::new(problem.set);
    let mut scratch = points.scratch();
    let mut leaf_order = vec![0; points.vectors.len()];
    let mut tally = Tally::new(problem.set, problem.entity);
    let splits = Splits::over(problem, PointColumns::of(problem.set), facts);
    let grown =
        anonymize(&splits, points.buffers(), scratch.buffers(), &mut leaf_order, &mut tally);
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    Outcome::Found(Box::new(found(&grown, &leaf_order, problem.budget.is_spent())))
}

/// Partitions a region. `scratch` is as large; `leaf_order` receives the region's vectors, leaf by
/// leaf.
fn anonymize<C: PackedCode>(
    splits: &Splits,
    region: Buffers<'_, C>,
    mut scratch: Buffers<'_, C>,
    leaf_order: &mut [u32],
    tally: &mut Tally,
) -> Grown {
    let Some((attribute, cut)) = splits.choose(&region, tally) else {
        debug_assert!(splits.may_be_class(&region, tally), "M2");
        leaf_order.copy_from_slice(region.vectors);
        return Grown::Leaf(region.len());
    };
    let sizes = cut.scatter(attribute, &region, &mut scratch);
    debug_assert_eq!(sizes.iter().sum::<usize>(), region.len(), "M1");
    let parts = anonymize_parts(splits, &sizes, scratch, region, leaf_order, tally);
    Grown::Parts { attribute, cut, parts }
}

/// Partitions the neighbouring parts of the given sizes, in parallel while they are large.
fn anonymize_parts<C: PackedCode>(
    splits: &Splits,
    sizes: &[usize],
    parts: Buffers<'_, C>,
    scratch: Buffers<'_, C>,
    leaf_order: &mut [u32],
    tally: &mut Tally,
) -> Vec<Grown> {
    if sizes.len() == 1 {
        return vec![anonymize(splits, parts, scratch, leaf_order, tally)];
    }
    // Recurses by halves, since a node of a hierarchy may have too many children for the stack.
    let (sizes, more_sizes) = sizes.split_at(sizes.len() / 2);
    let n_first = sizes.iter().sum();
    let is_large = parts.len() >= PARALLEL_FROM;
    let (parts, more_parts) = parts.split_at(n_first);
    let (scratch, more_scratch) = scratch.split_at(n_first);
    let (order, more_order) = leaf_order.split_at_mut(n_first);
    let first = |tally: &mut Tally| anonymize_parts(splits, sizes, parts, scratch, order, tally);
    let second = |tally: &mut Tally| {
        anonymize_parts(splits, more_sizes, more_parts, more_scratch, more_order, tally)
    };
    let (mut grown, more) = if is_large {
        rayon::join(|| first(&mut splits.tally()), || second(&mut splits.tally()))
    } else {
        (first(tally), second(tally))
    };
    grown.extend(more);
    grown
}

fn found(grown: &Grown, leaf_order: &[u32], is_cut_short: bool) -> Found {
    let mut numbering = Numbering { nodes: Vec::new(), leaf_ends: Vec::new() };
    numbering.number(grown);
    let Numbering { nodes, leaf_ends } = numbering;
    let n_classes = u32::try_from(leaf_ends.len()).expect("fewer classes than 2^32");
    let nodes_checked = nodes.len() as u64;
    let counters = Counters { nodes_checked, table_scans: 1, ..Counters::default() };
    Found {
        assignment: Assignment::of_whole_vectors(class_of(leaf_order, &leaf_ends), n_classes),
        recoding: Recoding::Partition(PartitionTree { nodes, n_classes }),
        proof: Proof { is_cut_short, ..Proof::default() },
        counters,
        minimal: None,
        stopped: None,
    }
}

/// A hierarchy of classes: the tree of cuts without the cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// A class of this many points.
    Leaf(usize),
    /// The parts of a cut that have points.
    Parts(Vec<Branch>),
}

/// The classes of a strict partitioning in the order of their hierarchy, and the hierarchy.
pub(crate) fn hierarchy(problem: &Problem) -> (Vec<u32>, Branch) {
    fn grow<C: PackedCode>(problem: &Problem) -> (Vec<u32>, Branch) {
        let mut points = Points::<C>::new(problem.set);
        let mut scratch = points.scratch();
        let mut order = vec![0; points.vectors.len()];
        let mut tally = Tally::new(problem.set, problem.entity);
        let splits = Splits::new(problem);
        let grown = anonymize(&splits, points.buffers(), scratch.buffers(), &mut order, &mut tally);
        (order, branch(&grown).unwrap_or(Branch::Leaf(0)))
    }
    fn branch(grown: &Grown) -> Option<Branch> {
        match grown {
            Grown::Leaf(0) => None,
            Grown::Leaf(n_points) => Some(Branch::Leaf(*n_points)),
            Grown::Parts { parts, .. } => {
                Some(Branch::Parts(parts.iter().filter_map(branch).collect()))
            }
        }
    }
    match CodeWidth::of(problem.set) {
        CodeWidth::One => grow::<u8>(problem),
        CodeWidth::Two => grow::<u16>(problem),
        CodeWidth::Four => grow::<u32>(problem),
    }
}

/// Leaves per task when classes are assigned to vectors.
const LEAVES: usize = 1 << 13;

/// The class of each vector. Leaves have different vectors, so threads never write to the same
/// place.
fn class_of(leaf_order: &[u32], leaf_ends: &[usize]) -> Vec<u32> {
    let class_of: Vec<AtomicU32> = leaf_order.iter().map(|_| AtomicU32::new(0)).collect();
    leaf_ends.par_chunks(LEAVES).enumerate().for_each(|(chunk, ends)| {
        let first = chunk * LEAVES;
        let mut start = if first == 0 { 0 } else { leaf_ends[first - 1] };
        for (class, &end) in (first..).zip(ends) {
            let class = u32::try_from(class).expect("fewer classes than 2^32");
            for &vector in &leaf_order[start..end] {
                class_of[vector as usize].store(class, Ordering::Relaxed);
            }
            start = end;
        }
    });
    class_of.into_iter().map(AtomicU32::into_inner).collect()
}

/// Gives nodes and classes their numbers, depth first.
struct Numbering {
    nodes: Vec<Node>,
    /// By class, the end of its vectors in the order of the leaves.
    leaf_ends: Vec<usize>,
}

impl Numbering {
    fn number(&mut self, grown: &Grown) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).expect("fewer nodes than 2^32");
        match grown {
            Grown::Leaf(n_points) => {
                let class = u32::try_from(self.leaf_ends.len()).expect("fewer classes than 2^32");
                self.leaf_ends.push(self.leaf_ends.last().unwrap_or(&0) + n_points);
                self.nodes.push(Node::Leaf { class });
            }
            Grown::Parts { attribute, cut, parts } => {
                self.nodes.push(Node::Leaf { class: 0 });
                let parts: Vec<NodeId> = parts.iter().map(|part| self.number(part)).collect();
                self.nodes[id as usize] = cut.node(*attribute, &parts);
            }
        }
        id
    }
}

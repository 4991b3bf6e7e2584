//! Butterfly: one release for several quasi-identifier sets.
//!
//! A butterfly is a group of rows that look the same on the attributes that attackers share, its
//! body, and that are divided into classes on each set's other attributes, its wings, independently
//! for each set. The rows of a wing's class look the same to the attacker of that set, no matter
//! how the other wings are divided.
//!
//! # Source
//!
//! Pei, Tao, Li, Xiao: *Privacy Preserving Publishing on Multiple Quasi-Identifiers*, ICDE 2009,
//! section III: the hierarchy of classes on the union, the pass of Figure 2, the bound of Theorem
//! 4, which are the variant `paper`. Departures:
//!
//! - Any number of sets, each with its own k. The body is what two or more sets share. A set
//!   contained in another one with at least its k requires nothing more and is left out. Theorem 2
//!   holds for two sets only: with three, not every release that satisfies them is made of such
//!   butterflies.
//! - A node of the hierarchy of classes has one part for each part of Mondrian's cut, which may be
//!   more than two.
//! - The leaves are butterflies too: their wings are cut where a set's k allows it.
//! - Ancestors are pruned by the loss of their parts' bodies (see `pass`), and distances in the
//!   table are summed over rows instead of using the least one (see `bound`). Neither changes the
//!   result.
//!
//! The variant `improved`, the default, continues:
//!
//! - A second hierarchy is made by cutting on the attributes of the body alone, and searched from
//!   its top down. Cutting a group on a wing's attribute takes rows away from the other wings and
//!   gains nothing over the wing's own cuts, so this hierarchy is better for most tables. The
//!   better of the two results is used.
//! - Sets that share no attribute with the others, directly or indirectly, are recoded separately.
//! - Of three or more sets, some are merged if that promises a lower loss (see `merge`).
//! - Neighbouring groups are joined, and cut elsewhere, while that lowers the loss (see `improve`).
//! - In the end, wings are cut in several ways, and the best is used (see `wing`).
//! - The bound is not used: it changes no result, and finding the neighbours costs more than
//!   building the butterflies that it rules out.
//!
//! Recodings are functions of the values, but they are not saved as such: to apply one to other
//! rows is refused, as for every local recoding.
//!
//! # Guarantees
//!
//! - Exact: no. The problem is NP-hard (Theorem 3).
//! - The loss is not above that of Mondrian on the union, even when the time is up; that of
//!   `improved` is not above that of `paper` unless a limit ends one of them.
//! - Every class of every set satisfies the models with that set's k, if the models are monotone or
//!   if no two groups end up looking the same.
//! - Deterministic: yes, on any number of threads; a time limit may cut the improvement short.
//!
//! # Invariants
//!
//! - B1: every vector is in exactly one group, and in one class of each wing within its group.
//! - B2: the rows of every group satisfy the models with the greatest k.
//!
//! # Cost
//!
//! For `n` distinct vectors, `d` attributes and a hierarchy of height `h`: O(d·n·h²) time at worst,
//! less where bodies rule out the nodes above; O(d·n) memory. The bound adds a nearest-neighbour
//! search for every vector that is distinct on a wing.
//!
//! # Example
//!
//! See [`lower_bound`] for how sets are given.
//!
//! # See also
//!
//! `mondrian` for the hierarchy and the cuts of the wings.

mod anatomy;
mod bound;
mod improve;
mod merge;
mod nearest;
mod pass;
mod sweep;
mod wing;

use std::borrow::Cow;

use incrowd_data::{Assignment, Block, Codes, collapse};
use incrowd_privacy::{Tally, all_hold};
use rayon::prelude::*;

use crate::mondrian::{self, Branch};
use crate::{Counters, Found, Outcome, Problem, Proof, QuasiSet, Recoding};
use anatomy::{Anatomy, SubTable, components, effective, is_monotone};
use bound::Bound;
use improve::{Group, improve};
use pass::{Look, TOLERANCE, descend, visit};
use wing::Classes;

pub use bound::lower_bound;

/// Runs the search; with `improves` it continues after the paper's pass.
pub(crate) fn run(problem: &Problem, improves: bool) -> Outcome {
    let sets = effective(problem);
    if sets.len() < 2 {
        return mondrian::strict(problem);
    }
    let union = union_of(problem);
    let mut best = solve(problem, &sets, &union, improves);
    if improves && sets.len() > 2 && !problem.budget.is_spent() {
        let others = merge::promising(&sets, is_monotone(problem), problem.set.n_rows);
        if let Some(sets) = others {
            best = best.or_better(solve(problem, &sets, &union, improves));
        }
    }
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let counters = Counters { nodes_checked: best.n_built, table_scans: 1, ..Counters::default() };
    let proof = Proof { is_cut_short: problem.budget.is_spent(), ..Proof::default() };
    let assignment = classes(problem.set.len(), &best.blocks);
    let recoding = Recoding::Blocks(best.blocks);
    let (minimal, stopped) = (None, None);
    Outcome::Found(Box::new(Found { assignment, recoding, proof, counters, minimal, stopped }))
}

/// The recoding of a table by butterflies.
#[derive(Default)]
struct Butterflies {
    blocks: Vec<Block>,
    loss: f64,
    n_built: u64,
}

impl Butterflies {
    fn or_better(self, other: Butterflies) -> Butterflies {
        let n_built = self.n_built + other.n_built;
        let best = if other.loss + TOLERANCE < self.loss { other } else { self };
        Butterflies { n_built, ..best }
    }
}

/// The butterflies of all sets, or of each connected group of sets if that loses less.
fn solve(problem: &Problem, sets: &[QuasiSet], union: &Union, improves: bool) -> Butterflies {
    let best = together(problem, sets, union, improves);
    let components = components(sets);
    // If nothing is shared at all, the wings were already cut separately.
    let is_apart = components.len() == sets.len();
    if improves && components.len() > 1 && !is_apart && !problem.budget.is_spent() {
        return best.or_better(apart(problem, &components));
    }
    best
}

/// The classes on the union of all sets: vectors in the order of the hierarchy, and the hierarchy.
type Union = (Vec<u32>, Branch);

/// Mondrian on the union, not cut short by a limit, since the release must not lose more.
fn union_of(problem: &Problem) -> Union {
    let to_the_end = problem.budget.to_the_end();
    mondrian::hierarchy(&Problem { workload: None, budget: &to_the_end, ..*problem })
}

/// The butterflies of all sets.
fn together(
    problem: &Problem,
    sets: &[QuasiSet],
    (order, branch): &Union,
    improves: bool,
) -> Butterflies {
    let anatomy = Anatomy::new(problem, sets);
    // Once a butterfly is tried, it is built completely, so that its loss is comparable.
    let to_the_end = problem.budget.to_the_end();
    let body = anatomy.body.problem(problem, &to_the_end);
    let wing_problem = |part| SubTable::problem(part, problem, &to_the_end);
    let wings: Vec<Problem> = anatomy.wings.iter().map(wing_problem).collect();
    let look = Look {
        body: wing::body(&body),
        wings: wings.iter().map(wing::wing).collect(),
        rows: &problem.set.counts,
        budget: problem.budget,
    };
    let bound = (!improves).then(|| Bound::new(&anatomy, problem.budget));
    let mut order = Cow::Borrowed(order);
    let mut best = visit(&look, bound.as_ref(), branch, &order);
    if improves && !problem.budget.is_spent() {
        let (other_order, branch) = if anatomy.body.attributes.is_empty() {
            (order.to_vec(), Branch::Leaf(order.len()))
        } else {
            mondrian::hierarchy(&Problem { budget: problem.budget, ..body })
        };
        let other = descend(&look, &branch, &other_order);
        if other.loss + TOLERANCE < best.loss {
            (order, best) = (Cow::Owned(other_order), other);
        }
    }
    let mut n_built = best.n_built;
    let (sizes, losses): (Vec<usize>, Vec<f64>) = best.groups.into_iter().unzip();
    let groups = split(&order, &sizes).zip(losses);
    let mut groups: Vec<Group> =
        groups.map(|(vectors, loss)| Group::new(vectors.to_vec(), loss)).collect();
    if improves {
        n_built += improve(&look, &mut groups);
    }
    debug_assert!(groups.iter().all(|group| holds(&body, &group.vectors)), "B2");
    let is_careful = improves && !problem.budget.is_spent();
    let (blocks, loss) = blocks(&anatomy, &look, &groups, is_careful);
    Butterflies { blocks, loss, n_built }
}

/// The butterflies of independent groups of sets.
fn apart(problem: &Problem, components: &[Vec<QuasiSet>]) -> Butterflies {
    let mut all = Butterflies::default();
    for sets in components {
        let mut attributes: Vec<usize> =
            sets.iter().flat_map(|set| set.attributes.iter().copied()).collect();
        attributes.sort_unstable();
        attributes.dedup();
        let k = sets.iter().map(|set| set.k).max().unwrap_or(problem.k);
        let part = SubTable::new(problem, attributes, k);
        let place = |at: &usize| part.attributes.partition_point(|known| known < at);
        let sets: Vec<QuasiSet> = sets
            .iter()
            .map(|set| QuasiSet {
                attributes: set.attributes.iter().map(place).collect(),
                k: set.k,
            })
            .collect();
        let of_part = part.problem(problem, problem.budget);
        let found = together(&of_part, &sets, &union_of(&of_part), true);
        all.loss += found.loss;
        all.n_built += found.n_built;
        all.blocks.extend(found.blocks.into_iter().map(|block| Block {
            attributes: block.attributes.iter().map(|&at| part.attributes[at]).collect(),
            ..block
        }));
    }
    all
}

/// The blocks of some groups, and their total loss.
fn blocks(anatomy: &Anatomy, look: &Look, groups: &[Group], is_careful: bool) -> (Vec<Block>, f64) {
    let whole = groups.iter().map(|group| Classes {
        sizes: vec![group.vectors.len()],
        order: group.vectors.clone(),
        loss: look.body.loss_of_one(&group.vectors),
    });
    let (body, mut loss) = block(&anatomy.body, &whole.collect::<Vec<Classes>>());
    let mut blocks = vec![body];
    for (part, wing) in anatomy.wings.iter().zip(&look.wings) {
        let of_group = |group: &Group| wing.classes(&group.vectors, is_careful);
        let classes: Vec<Classes> = groups.par_iter().map(of_group).collect();
        let (block, of_wing) = block(part, &classes);
        loss += of_wing;
        blocks.push(block);
    }
    blocks.retain(|block| !block.attributes.is_empty());
    (blocks, loss)
}

/// Whether some vectors satisfy the models of a problem as a class.
fn holds(problem: &Problem, vectors: &[u32]) -> bool {
    let mut tally = Tally::new(problem.set, problem.entity);
    for &vector in vectors {
        tally.add(vector as usize, problem.set.counts[vector as usize]);
    }
    all_hold(problem.models, tally.class())
}

/// The block of a part whose groups are cut into these classes.
fn block(part: &SubTable, of_groups: &[Classes]) -> (Block, f64) {
    let mut group_of = vec![0; of_groups.iter().map(|classes| classes.order.len()).sum()];
    debug_assert!(are_permuted(of_groups, group_of.len()), "B1");
    let classes = of_groups.iter().flat_map(|classes| split(&classes.order, &classes.sizes));
    let mut n_groups = 0;
    for vectors in classes {
        for &vector in vectors {
            group_of[vector as usize] = n_groups;
        }
        n_groups += 1;
    }
    let loss = of_groups.iter().map(|classes| classes.loss).sum();
    (Block { attributes: part.attributes.clone(), group_of, n_groups }, loss)
}

/// Whether each of the first `n_vectors` vectors is in exactly one of some groups.
fn are_permuted(of_groups: &[Classes], n_vectors: usize) -> bool {
    let mut is_seen = vec![false; n_vectors];
    let mut vectors = of_groups.iter().flat_map(|classes| &classes.order);
    vectors.all(|&vector| {
        is_seen.get_mut(vector as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

/// Vectors that share the groups of all blocks are a class.
fn classes(n_vectors: usize, blocks: &[Block]) -> Assignment {
    let codes: Vec<(Codes, u32)> = blocks
        .iter()
        .map(|block| (Codes::pack(block.n_groups, block.group_of.iter().copied()), block.n_groups))
        .collect();
    let codes: Vec<(&Codes, u32)> = codes.iter().map(|(codes, n)| (codes, *n)).collect();
    let collapsed = collapse(&codes, n_vectors);
    let n_classes = u32::try_from(collapsed.counts.len()).expect("fewer classes than vectors");
    Assignment::of_whole_vectors(collapsed.vector_of, n_classes)
}

/// Consecutive runs of these sizes.
fn split<'a>(order: &'a [u32], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u32]> {
    sizes.iter().scan(order, |rest, &size| {
        let (first, more) = rest.split_at(size);
        *rest = more;
        Some(first)
    })
}

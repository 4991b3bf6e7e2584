//! A good initial set of cuts: local search over the steps of all attributes except one, which is
//! cut optimally for each set of steps.
//!
//! In a good set, most cuts are on the attribute with the greatest effective number of values, and
//! a sweep finds them all at once. The rest is a small space in which single changes go far. From
//! the best set of a chain, two or three random changes start the next climb.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::best::{Best, Shared};
use super::class::Class;
use super::grid::Grid;
use super::node::Node;
use super::price::Price;
use super::space::{Space, StepSet};
use super::sweep::sweep;
use super::{Ground, Key};
use crate::Budget;
use crate::random::Random;

/// The length of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// From nothing, about as long as needed to find something good.
    Brief,
    /// From the best set so far: for a part of the remaining time, or ten times as long.
    Long,
}

/// The number of sets that a chain tries, for a table of `n_atoms` atoms and a sweep over `n_cuts`
/// cuts.
fn n_tries(n_atoms: usize, n_cuts: usize) -> usize {
    (40_000_000 / (n_atoms + 2 * n_cuts * n_cuts).max(1)).clamp(20, 1500)
}

/// The most cuts for which a sweep takes little time.
pub(super) const MOST_CUTS: usize = 1024;

/// The number of chains, independent of the number of threads.
const CHAINS: u64 = 2;

/// Offers the sets that local search finds.
pub(super) fn plant<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    root: &Node<N>,
    swept: usize,
    best: &Shared,
    effort: Effort,
) {
    let budget = match effort {
        Effort::Brief => ground.problem.budget.clone(),
        Effort::Long => ground.problem.budget.sooner(0.2),
    };
    let is_swept = |step: &usize| ground.space.steps[*step].attribute == swept;
    let start: BTreeSet<usize> = match effort {
        Effort::Brief => BTreeSet::new(),
        Effort::Long => {
            let steps = ground.space.steps(&best.get().cuts).unwrap_or_default();
            steps.into_iter().filter(|step| !is_swept(step)).collect()
        }
    };
    let n_cuts = ground.space.of_attribute[swept].len();
    let n_tries = n_tries(root.classes[0].atoms.keys.len(), n_cuts);
    let n_left = match effort {
        Effort::Brief => n_tries,
        Effort::Long if budget.has_deadline() => usize::MAX,
        Effort::Long => 10 * n_tries,
    };
    // A set that loses nothing is often best even if rows may be lost (section 7.2 of the paper).
    let limit = ground.problem.limit;
    let n_chains = if limit == 0 { CHAINS } else { 2 * CHAINS };
    (0..n_chains).into_par_iter().for_each(|chain| {
        let seed = ground
            .problem
            .seed
            .wrapping_mul(0x9e37)
            .wrapping_add(2 * (chain % CHAINS) + effort as u64);
        let whole = &root.classes[0];
        let random = Random::new(seed);
        let limit = if chain < CHAINS { limit } else { 0 };
        let chain = Chain { ground, whole, swept, random, n_left, limit, budget: &budget };
        chain.climb(&start, best);
    });
}

struct Chain<'a, 'b, P, const N: usize> {
    ground: &'a Ground<'b, P, N>,
    whole: &'a Class<N>,
    swept: usize,
    random: Random,
    n_left: usize,
    /// Rows that may be lost.
    limit: u64,
    budget: &'a Budget,
}

type Tried = (u64, BTreeSet<usize>);

impl<P: Price, const N: usize> Chain<'_, '_, P, N> {
    fn climb(mut self, start: &BTreeSet<usize>, best: &Shared) {
        let mut top: Tried = (self.cost(start, best).unwrap_or(u64::MAX), start.clone());
        let mut now = top.clone();
        while self.n_left > 0 && !self.budget.is_spent() {
            now = self.descend(now, best);
            if now.0 <= top.0 {
                top = now;
            }
            let mut kicked = top.1.clone();
            for _ in 0..=self.random.below(3) {
                let moves = self.moves(&kicked);
                if moves.is_empty() {
                    return;
                }
                kicked.clone_from(&moves[self.random.below(moves.len())]);
            }
            now = (self.cost(&kicked, best).unwrap_or(u64::MAX), kicked);
        }
    }

    /// Repeats the first change that helps, until none does.
    fn descend(&mut self, mut now: Tried, best: &Shared) -> Tried {
        loop {
            let mut moves = self.moves(&now.1);
            let mut has_moved = false;
            while !moves.is_empty() && self.n_left > 0 && !self.budget.is_spent() {
                let next = moves.swap_remove(self.random.below(moves.len()));
                match self.cost(&next, best) {
                    Some(cost) if cost < now.0 => {
                        now = (cost, next);
                        has_moved = true;
                        break;
                    }
                    _ => {}
                }
            }
            if !has_moved || self.budget.is_spent() {
                return now;
            }
        }
    }

    /// Every set that differs by one step: added, removed or moved by one code.
    fn moves(&self, steps: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let space = &self.ground.space;
        let others = (0..space.steps.len()).filter(|&at| space.steps[at].attribute != self.swept);
        let mut moves = Vec::new();
        for step in others {
            let mut next = steps.clone();
            if steps.contains(&step) {
                next.retain(|&made| made < step || made >= space.steps[step].end.max(step + 1));
                moves.push(next.clone());
                for neighbour in neighbours(space, step) {
                    if !steps.contains(&neighbour) {
                        let mut shifted = next.clone();
                        shifted.insert(neighbour);
                        moves.push(shifted);
                    }
                }
            } else if space.steps[step].parent.is_none_or(|parent| steps.contains(&parent)) {
                next.insert(step);
                moves.push(next);
            }
        }
        moves
    }

    /// The cost of the best set with these steps and any of the attribute that is swept. `None` if
    /// that loses too many rows.
    fn cost(&mut self, steps: &BTreeSet<usize>, best: &Shared) -> Option<u64> {
        self.n_left = self.n_left.saturating_sub(1);
        let ground = self.ground;
        let made: Vec<usize> = steps.iter().copied().collect();
        let node = self.node(&made)?;
        let swept = sweep(ground, &node, self.swept, self.limit)?;
        if swept.n_lost > self.limit {
            return None;
        }
        if swept.cost < best.get().cost {
            let mut cuts = ground.space.cuts(&made);
            swept.cuts.iter().for_each(|&code| cuts.insert(self.swept, code));
            best.offer(Best::new(swept.cost, cuts));
        }
        Some(swept.cost)
    }

    /// The classes under some steps, which only the swept attribute can divide.
    fn node(&self, made: &[usize]) -> Option<Node<N>> {
        let ground = self.ground;
        let mut tail = StepSet::none(ground.space.steps.len());
        ground.space.of_attribute[self.swept].clone().for_each(|step| tail.insert(step));
        let grid = Grid::new(ground, made, &tail, &tail);
        let asked: Vec<usize> = {
            let is_cut = |attribute: &usize| {
                let range = &ground.space.of_attribute[*attribute];
                made.iter().any(|step| range.contains(step))
            };
            (0..ground.fields.len()).filter(is_cut).collect()
        };
        let field = &ground.fields[self.swept];
        let n_codes = ground.space.n_codes[self.swept] as usize;
        let n_lanes = ground.n_lanes;
        // By class, rows by code and lane.
        let mut counts: Vec<u32> = Vec::new();
        let mut keys: Vec<Key<N>> = Vec::new();
        let mut class_of = super::scratch::Scratch::default();
        class_of.clear(1024);
        let weights = self.whole.atoms.weights.chunks_exact(n_lanes);
        for (key, weight) in self.whole.atoms.keys.iter().zip(weights) {
            let mut merged = [0; N];
            for &attribute in &asked {
                let field = &ground.fields[attribute];
                merged[field.word] |= grid.line(attribute).1[field.code(key)];
            }
            let (class, is_new) = class_of.find(&mut keys, merged);
            if is_new {
                let n_counts = keys.len() * n_codes * n_lanes;
                if n_counts > ground.most_counts {
                    return None;
                }
                counts.resize(n_counts, 0);
            }
            let from = (class * n_codes + field.code(key)) * n_lanes;
            let sums = &mut counts[from..from + n_lanes];
            sums.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
        }
        let cuts = ground.space.cuts(made);
        let mut node = Node::empty(made.to_vec(), tail);
        for (key, counts) in keys.iter().zip(counts.chunks_exact(n_codes * n_lanes)) {
            let first = |attribute: usize| {
                let field = &ground.fields[attribute];
                u32::try_from(field.code(key)).expect("a code")
            };
            let interval = |attribute: usize| {
                let mut all = cuts.intervals(attribute, ground.space.n_codes[attribute]);
                let lo = first(attribute);
                all.find(|interval| interval.0 == lo).expect("a class lies in an interval")
            };
            let class = Class::swept(ground, self.swept, &interval, counts);
            if class.body.n_rows < ground.k {
                node.n_lost += class.body.n_rows;
                if node.n_lost > self.limit {
                    return None;
                }
            } else {
                node.classes.push(class);
            }
        }
        Some(node)
    }
}

/// The steps of an order that cut one code before and after.
fn neighbours(space: &Space, step: usize) -> impl Iterator<Item = usize> + use<> {
    let attribute = space.steps[step].attribute;
    let range = space.of_attribute[attribute].clone();
    let is_tree = space.is_tree[attribute];
    let both = [step.checked_sub(1), Some(step + 1)];
    both.into_iter().flatten().filter(move |near| !is_tree && range.contains(near))
}

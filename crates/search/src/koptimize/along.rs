//! A bound that takes into account how the cuts of one attribute exclude each other.
//!
//! The floor of a node counts every cut of its tail as made. If an interval between two cuts has
//! too few rows in some class, the two exclude each other, and on an attribute with many values
//! hardly any two neighbouring cuts can both be made. So one attribute is cut optimally by dynamic
//! programming, while the others are still cut wherever possible. The cost of an interval is, for
//! each class, the cost of losing its rows there if they are too few, and otherwise the sum of the
//! floors of the groups that the other attributes separate.
//!
//! *Proof.* Let `S` be a set of the node, `P` the intervals into which `S` cuts the attribute.
//! Every class under `S` is in one interval `J` of `P` and in one class `B` of the node. If `B` has
//! fewer than k rows in `J`, all of them are lost. Otherwise they cost at least the sum of the
//! floors of the groups that no step of the tail separates within `J`. The sum over all `B` and `J`
//! is the cost of `P` in the table, and dynamic programming finds the least over all `P`. Forced
//! through a cut, it bounds all sets with that cut.

use std::collections::BTreeMap;

use super::class::Class;
use super::grid::Grid;
use super::node::{Desk, Node};
use super::price::{Price, rows};
use super::space::StepSet;
use super::{Field, Ground, Key};

/// The bounds of a node.
#[derive(Debug, Default)]
pub(super) struct Along {
    /// A lower bound of the cost of any set.
    pub(super) floor: u64,
    /// By step of the attribute, a lower bound of the cost of any set with it.
    pub(super) with: Vec<(usize, u64)>,
}

/// Rows are lost although none may be.
const NEVER: u64 = u64::MAX;

/// Bounds a node along an attribute without a hierarchy. `None` if every set loses rows although
/// none may be lost.
pub(super) fn along<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    node: &Node<N>,
    attribute: usize,
    desk: &mut Desk,
) -> Option<Along> {
    let mut by_interval: BTreeMap<(u32, u32), Vec<&Class<N>>> = BTreeMap::new();
    for class in &node.classes {
        by_interval.entry(class.body.intervals[attribute]).or_default().push(class);
    }
    let lost = ground.price.lost(node.n_lost);
    let grid = Grid::new(ground, &node.made, &node.tail, &node.tail);
    let mut along = Along { floor: lost, with: Vec::new() };
    let mut rises = Vec::new();
    for (interval, classes) in by_interval {
        let line = Line::new(ground, &node.tail, attribute, interval);
        let table = line.table(ground, &grid, &classes, desk);
        let (floor, with) = line.sweep(&table)?;
        along.floor += floor;
        rises.extend(with.into_iter().map(|(step, cost)| (step, cost - floor)));
    }
    along.with =
        rises.into_iter().map(|(step, rise)| (step, along.floor.saturating_add(rise))).collect();
    Some(along)
}

/// The places at which an interval of the attribute may be cut, including its ends.
struct Line {
    attribute: usize,
    places: Vec<u32>,
    steps: Vec<usize>,
}

impl Line {
    fn new<P: Price, const N: usize>(
        ground: &Ground<P, N>,
        tail: &StepSet,
        attribute: usize,
        (lo, hi): (u32, u32),
    ) -> Line {
        let mut places = vec![lo];
        let mut steps = Vec::new();
        for step in ground.space.of_attribute[attribute].clone().filter(|&step| tail.has(step)) {
            let code = ground.space.steps[step].before[0];
            if lo < code && code <= hi {
                places.push(code);
                steps.push(step);
            }
        }
        places.push(hi + 1);
        Line { attribute, places, steps }
    }

    /// The cost of every interval between two places, row by row.
    fn table<P: Price, const N: usize>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        classes: &[&Class<N>],
        desk: &mut Desk,
    ) -> Vec<u64> {
        let n_places = self.places.len();
        let mut table = vec![0u64; n_places * n_places];
        let mut local = vec![0u64; n_places * n_places];
        let loss = |from: usize, to: usize| {
            ground.price.loss(self.attribute, self.places[from], self.places[to] - 1)
        };
        let losses: Vec<u64> = if P::HAS_LOSS {
            let pairs = (0..n_places).flat_map(|from| (0..n_places).map(move |to| (from, to)));
            pairs.map(|(from, to)| if from < to { loss(from, to) } else { 0 }).collect()
        } else {
            Vec::new()
        };
        let mut lanes = vec![0; ground.n_lanes];
        for class in classes {
            let (below, flat) = self.fill(ground, grid, class, desk, &mut local);
            for from in 0..n_places - 1 {
                for to in from + 1..n_places {
                    let at = from * n_places + to;
                    let floor = std::mem::take(&mut local[at]) + flat[to] - flat[from];
                    for (at, lane) in lanes.iter_mut().enumerate() {
                        *lane = below[to * ground.n_lanes + at] - below[from * ground.n_lanes + at];
                    }
                    let n_rows = rows(&lanes);
                    if table[at] == NEVER || n_rows == 0 {
                        continue;
                    }
                    table[at] = if n_rows >= ground.k {
                        let own = if P::HAS_LOSS { n_rows * losses[at] } else { 0 };
                        table[at] + (floor + own).max(ground.price.least(&lanes))
                    } else if ground.problem.limit == 0 {
                        NEVER
                    } else {
                        table[at] + ground.price.lost(n_rows)
                    };
                }
            }
        }
        table
    }

    /// Adds the floors of a class's rows that the other attributes do not separate, interval by
    /// interval; floors that do not depend on the division only as running sums. Returns the
    /// running counts of rows by lane and these sums.
    fn fill<P: Price, const N: usize>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        class: &Class<N>,
        desk: &mut Desk,
        local: &mut [u64],
    ) -> (Vec<u32>, Vec<u64>) {
        let n_places = self.places.len();
        let n_lanes = ground.n_lanes;
        let field = ground.fields[self.attribute];
        let n_live = grid.n_live(self.attribute);
        let first = n_live[self.places[0] as usize];
        let mut keys: Vec<Key<N>> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        desk.scratch.clear(class.atoms.keys.len() / 2);
        let weights = class.atoms.weights.chunks_exact(n_lanes);
        for (key, weight) in class.atoms.keys.iter().zip(weights) {
            let code = field.code(key);
            let place = (n_live[code] - first) as usize + 1;
            let mut others = *key;
            others[field.word] &= !(field.mask << field.shift);
            let (group, is_new) = desk.scratch.find(&mut keys, others);
            if is_new {
                counts.resize(keys.len() * n_places * n_lanes, 0);
            }
            let from = (group * n_places + place) * n_lanes;
            let sums = &mut counts[from..from + n_lanes];
            sums.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
        }
        let mut below = vec![0u32; n_places * n_lanes];
        let mut flat = vec![0u64; n_places];
        for (key, counts) in keys.iter().zip(counts.chunks_exact_mut(n_places * n_lanes)) {
            let loss = if P::HAS_LOSS { self.other_loss(ground, grid, key) } else { 0 };
            for at in n_lanes..counts.len() {
                counts[at] += counts[at - n_lanes];
            }
            let all = &counts[counts.len() - n_lanes..];
            let is_flat = ground.price.is_flat(all);
            below.iter_mut().zip(counts.iter()).for_each(|(below, rows)| *below += rows);
            if is_flat {
                for (flat, lanes) in flat.iter_mut().zip(counts.chunks_exact(n_lanes)) {
                    *flat += ground.price.flat(lanes, loss);
                }
            }
            if !is_flat {
                add_floors(ground, counts, n_places, local);
            }
        }
        (below, flat)
    }

    /// The losses of the narrowest intervals of the other attributes.
    fn other_loss<P: Price, const N: usize>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        key: &Key<N>,
    ) -> u64 {
        let others = ground.fields.iter().enumerate().filter(|(at, _)| *at != self.attribute);
        let of = |(at, field): (usize, &Field)| grid.loss(at, field.code(key));
        others.map(of).sum()
    }

    /// The least cost from the first place to the last, and, by step, the least cost among those
    /// with that cut.
    fn sweep(&self, table: &[u64]) -> Option<(u64, Vec<(usize, u64)>)> {
        let n_places = self.places.len();
        let last = n_places - 1;
        let mut before = vec![NEVER; n_places];
        let mut after = vec![NEVER; n_places];
        before[0] = 0;
        after[last] = 0;
        for to in 1..n_places {
            let ways = (0..to).map(|from| before[from].saturating_add(table[from * n_places + to]));
            before[to] = ways.min().unwrap_or(NEVER);
        }
        for from in (0..last).rev() {
            let row = &table[from * n_places..(from + 1) * n_places];
            let ways = (from + 1..n_places).map(|to| after[to].saturating_add(row[to]));
            after[from] = ways.min().unwrap_or(NEVER);
        }
        let with =
            |(at, &step): (usize, &usize)| (step, before[at + 1].saturating_add(after[at + 1]));
        let with = self.steps.iter().enumerate().map(with).collect();
        (before[last] != NEVER).then_some((before[last], with))
    }
}

/// Adds the floor of one group in every interval between two places.
fn add_floors<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    below: &[u32],
    n_places: usize,
    local: &mut [u64],
) {
    let n_lanes = ground.n_lanes;
    for from in 0..n_places - 1 {
        let row = &mut local[from * n_places + from + 1..(from + 1) * n_places];
        match n_lanes {
            1 => {
                for (floor, &to) in row.iter_mut().zip(&below[from + 1..]) {
                    *floor += ground.price.floor(&[to - below[from]], 0);
                }
            }
            2 => {
                let (zero, one) = (below[2 * from], below[2 * from + 1]);
                for (floor, to) in row.iter_mut().zip(below[2 * from + 2..].chunks_exact(2)) {
                    *floor += ground.price.floor(&[to[0] - zero, to[1] - one], 0);
                }
            }
            _ => {
                let base = &below[from * n_lanes..(from + 1) * n_lanes];
                let rest = below[(from + 1) * n_lanes..].chunks_exact(n_lanes);
                for (floor, to) in row.iter_mut().zip(rest) {
                    let lanes: Vec<u32> = to.iter().zip(base).map(|(to, from)| to - from).collect();
                    *floor += ground.price.floor(&lanes, 0);
                }
            }
        }
    }
}

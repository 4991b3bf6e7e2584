//! Classes under the steps that are made: where their rows are, and which rows no further step
//! separates.

use std::sync::Arc;

use super::cells::{Cells, Change};
use super::grid::Grid;
use super::price::{Price, rows};
use super::scratch::Scratch;
use super::{Field, Ground, Key};

/// The part of a class that does not change until the class is divided.
#[derive(Debug)]
pub(super) struct Body {
    /// By attribute, its first and last code.
    pub(super) intervals: Vec<(u32, u32)>,
    running: Running,
    /// Rows by lane.
    pub(super) lanes: Vec<u32>,
    pub(super) n_rows: u64,
    /// The sum of its intervals' losses.
    pub(super) loss: u64,
    /// Whether every model holds.
    pub(super) is_kept: bool,
    /// Its cost if nothing divides it.
    pub(super) cost: u64,
    /// Its vectors, if models need them.
    pub(super) vectors: Vec<u32>,
}

/// Running counts along the attributes that a step could divide.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// By attribute, where its counts start; [`NOWHERE`] if no step could divide it there.
    pub(super) starts: Vec<usize>,
    /// Rows by lane with a code below `lo`, `lo + 1`, and so on up to beyond `hi`. Right at the
    /// codes at which a step may still cut (K3).
    pub(super) counts: Vec<u32>,
}

pub(super) const NOWHERE: usize = usize::MAX;

/// The rows of a class, grouped where no step separates them.
#[derive(Debug)]
pub(super) struct Atoms<const N: usize> {
    pub(super) keys: Vec<Key<N>>,
    /// Rows by lane, atom by atom.
    pub(super) weights: Vec<u32>,
    /// A lower bound of their cost.
    pub(super) floor: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Class<const N: usize> {
    pub(super) body: Arc<Body>,
    pub(super) atoms: Arc<Atoms<N>>,
}

impl Body {
    /// Rows by lane with a code below `code`, for all of the class's lanes.
    #[inline]
    pub(super) fn below(&self, attribute: usize, code: u32) -> &[u32] {
        let n_lanes = self.lanes.len();
        let at = self.running.starts[attribute]
            + (code - self.intervals[attribute].0) as usize * n_lanes;
        &self.running.counts[at..at + n_lanes]
    }

    /// The running counts of an attribute.
    #[inline]
    pub(super) fn running(&self, attribute: usize) -> &[u32] {
        let (lo, hi) = self.intervals[attribute];
        let len = (hi - lo + 2) as usize * self.lanes.len();
        &self.running.counts[self.running.starts[attribute]..self.running.starts[attribute] + len]
    }
}

impl<const N: usize> Class<N> {
    /// The class of all rows.
    pub(super) fn whole<P: Price>(
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        scratch: &mut Scratch,
    ) -> Class<N> {
        let set = ground.problem.set;
        let n_lanes = ground.n_lanes;
        let mut keys = Vec::new();
        let mut weights = Vec::new();
        scratch.clear(set.len());
        for vector in 0..set.len() {
            let mut key = [0; N];
            for (field, codes) in ground.fields.iter().zip(&set.vectors) {
                key[field.word] |= u64::from(codes.get(vector)) << field.shift;
            }
            let (atom, is_new) = scratch.find(&mut keys, key);
            if is_new {
                weights.resize(keys.len() * n_lanes, 0);
            }
            weights[atom * n_lanes + ground.lane_of(vector)] += set.counts[vector];
        }
        let intervals: Vec<(u32, u32)> =
            ground.space.n_codes.iter().map(|&n_codes| (0, n_codes - 1)).collect();
        let n_vectors = u32::try_from(set.len()).expect("vectors are counted in 32 bits");
        let vectors = if ground.looks_at_rows { (0..n_vectors).collect() } else { Vec::new() };
        let running = running(ground, grid, &keys, &weights, &intervals);
        let floor = floor(ground, grid, &keys, &weights);
        let atoms = Atoms { keys, weights, floor };
        let lanes = lanes(&atoms.weights, n_lanes);
        let body = body(ground, intervals, running, lanes, vectors);
        Class { body: Arc::new(body), atoms: Arc::new(atoms) }
    }

    /// A class that only one attribute, with all its codes, divides; from rows by code and lane.
    pub(super) fn swept<P: Price>(
        ground: &Ground<P, N>,
        attribute: usize,
        interval: &dyn Fn(usize) -> (u32, u32),
        counts: &[u32],
    ) -> Class<N> {
        let n_lanes = ground.n_lanes;
        let n_attributes = ground.fields.len();
        let mut sums = vec![0; n_lanes];
        sums.extend_from_slice(counts);
        for at in n_lanes..sums.len() {
            sums[at] += sums[at - n_lanes];
        }
        let lanes = sums[sums.len() - n_lanes..].to_vec();
        let mut starts = vec![NOWHERE; n_attributes];
        starts[attribute] = 0;
        let intervals = (0..n_attributes).map(interval).collect();
        let body = body(ground, intervals, Running { starts, counts: sums }, lanes, Vec::new());
        let atoms = Atoms { keys: Vec::new(), weights: Vec::new(), floor: 0 };
        Class { body: Arc::new(body), atoms: Arc::new(atoms) }
    }

    /// Merges atoms that no step of the grid separates any more. `None` if nothing has changed.
    pub(super) fn settle<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        scratch: &mut Scratch,
    ) -> Option<Class<N>> {
        let changed: Vec<Change> = (0..ground.fields.len())
            .filter(|&attribute| grid.has_lost(attribute, self.body.intervals[attribute]))
            .map(|attribute| Change::new(ground, grid, attribute))
            .collect();
        let (keys, weights) = match &changed[..] {
            [] => return None,
            [change] => self.merge_some(ground, grid, change, scratch),
            _ => self.merge_all(ground, grid, scratch),
        };
        let floor = floor(ground, grid, &keys, &weights);
        let atoms = Arc::new(Atoms { keys, weights, floor });
        Some(Class { body: Arc::clone(&self.body), atoms })
    }

    /// Merges atoms that are no longer separated after a change of one attribute.
    ///
    /// Atoms in an interval without removed cuts stay as they are: they could be merged only with
    /// atoms in the same interval.
    fn merge_some<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        change: &Change,
        scratch: &mut Scratch,
    ) -> (Vec<Key<N>>, Vec<u32>) {
        let atoms = &self.atoms;
        let n_lanes = ground.n_lanes;
        let mut keys: Vec<Key<N>> = Vec::with_capacity(atoms.keys.len());
        let mut weights: Vec<u32> = Vec::with_capacity(atoms.weights.len());
        let mut merged: Vec<Key<N>> = Vec::new();
        let mut sums: Vec<u32> = Vec::new();
        let cells = Cells::new(ground, grid, &self.body.intervals, 4 * atoms.keys.len() + 256);
        match &cells {
            Some(cells) => scratch.clear_cells(cells.n_all),
            None => scratch.clear(atoms.keys.len() / 4),
        }
        for (key, weight) in atoms.keys.iter().zip(atoms.weights.chunks_exact(n_lanes)) {
            if !change.touches(key) {
                keys.push(*key);
                push(&mut weights, weight);
                continue;
            }
            let mut new = *key;
            change.apply(&mut new);
            let (atom, is_new) = match &cells {
                Some(cells) => scratch.find_cell(&mut merged, new, cells.of(key).1),
                None => scratch.find(&mut merged, new),
            };
            add(&mut sums, atom, is_new, weight);
        }
        keys.append(&mut merged);
        weights.append(&mut sums);
        (keys, weights)
    }

    /// Merges atoms that nothing separates any more, examining all atoms.
    fn merge_all<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        scratch: &mut Scratch,
    ) -> (Vec<Key<N>>, Vec<u32>) {
        let atoms = &self.atoms;
        let mut keys: Vec<Key<N>> = Vec::new();
        let mut weights: Vec<u32> = Vec::new();
        let most = 8 * atoms.keys.len() + 1024;
        let pairs = atoms.keys.iter().zip(atoms.weights.chunks_exact(ground.n_lanes));
        if let Some(cells) = Cells::new(ground, grid, &self.body.intervals, most) {
            scratch.clear_cells(cells.n_all);
            for (key, weight) in pairs {
                let (new, cell) = cells.of(key);
                let (atom, is_new) = scratch.find_cell(&mut keys, new, cell);
                add(&mut weights, atom, is_new, weight);
            }
            return (keys, weights);
        }
        scratch.clear(atoms.keys.len() / 2);
        let attributes = 0..ground.fields.len();
        let changes: Vec<Change> =
            attributes.map(|attribute| Change::new(ground, grid, attribute)).collect();
        for (key, weight) in pairs {
            let mut new = *key;
            for change in &changes {
                change.apply(&mut new);
            }
            let (atom, is_new) = scratch.find(&mut keys, new);
            add(&mut weights, atom, is_new, weight);
        }
        (keys, weights)
    }
}

/// Adds rows to an atom, which may be the next one.
#[inline]
fn add(weights: &mut Vec<u32>, atom: usize, is_new: bool, lanes: &[u32]) {
    if is_new {
        push(weights, lanes);
        return;
    }
    if let [one] = lanes {
        weights[atom] += one;
        return;
    }
    let sums = &mut weights[atom * lanes.len()..(atom + 1) * lanes.len()];
    sums.iter_mut().zip(lanes).for_each(|(sum, rows)| *sum += rows);
}

/// Appends a few numbers, usually one.
#[inline]
pub(super) fn push(all: &mut Vec<u32>, lanes: &[u32]) {
    match lanes {
        [one] => all.push(*one),
        _ => all.extend_from_slice(lanes),
    }
}

/// A lower bound of the cost of atoms.
pub(super) fn floor<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    grid: &Grid<N>,
    keys: &[Key<N>],
    weights: &[u32],
) -> u64 {
    let weights = weights.chunks_exact(ground.n_lanes);
    if !P::HAS_LOSS {
        return weights.map(|lanes| ground.price.floor(lanes, 0)).sum();
    }
    let of_atom = |(key, lanes): (&Key<N>, &[u32])| {
        let of_field = |(attribute, field): (usize, &Field)| grid.loss(attribute, field.code(key));
        ground.price.floor(lanes, ground.fields.iter().enumerate().map(of_field).sum())
    };
    keys.iter().zip(weights).map(of_atom).sum()
}

pub(super) fn body<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    intervals: Vec<(u32, u32)>,
    running: Running,
    lanes: Vec<u32>,
    vectors: Vec<u32>,
) -> Body {
    let n_rows = rows(&lanes);
    let loss = if P::HAS_LOSS {
        let of = intervals.iter().enumerate();
        of.map(|(attribute, &(lo, hi))| ground.price.loss(attribute, lo, hi)).sum()
    } else {
        0
    };
    let is_kept = ground.is_kept(n_rows, &vectors);
    let cost = if is_kept { ground.price.kept(&lanes, loss) } else { ground.price.lost(n_rows) };
    Body { intervals, running, lanes, n_rows, loss, is_kept, cost, vectors }
}

/// Where the running counts start, for each attribute that a step could still divide, and their
/// total number.
pub(super) fn places<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    grid: &Grid<N>,
    intervals: &[(u32, u32)],
) -> (Vec<usize>, usize) {
    let mut len = 0;
    let starts = intervals
        .iter()
        .enumerate()
        .map(|(attribute, &(lo, hi))| {
            if !grid.divides(attribute, (lo, hi)) {
                return NOWHERE;
            }
            len += (hi - lo + 2) as usize * ground.n_lanes;
            len - (hi - lo + 2) as usize * ground.n_lanes
        })
        .collect();
    (starts, len)
}

pub(super) fn running<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    grid: &Grid<N>,
    keys: &[Key<N>],
    weights: &[u32],
    intervals: &[(u32, u32)],
) -> Running {
    let n_lanes = ground.n_lanes;
    let (starts, len) = places(ground, grid, intervals);
    let mut counts = vec![0u32; len];
    for (attribute, &start) in starts.iter().enumerate().filter(|(_, start)| **start != NOWHERE) {
        let field = &ground.fields[attribute];
        let (lo, hi) = intervals[attribute];
        let counts = &mut counts[start..start + (hi - lo + 2) as usize * n_lanes];
        for (key, weight) in keys.iter().zip(weights.chunks_exact(n_lanes)) {
            let place = (field.code(key) - lo as usize + 1) * n_lanes;
            let sums = &mut counts[place..place + n_lanes];
            sums.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
        }
        for at in n_lanes..counts.len() {
            counts[at] += counts[at - n_lanes];
        }
    }
    Running { starts, counts }
}

fn lanes(weights: &[u32], n_lanes: usize) -> Vec<u32> {
    let mut lanes = vec![0; n_lanes];
    for weight in weights.chunks_exact(n_lanes) {
        lanes.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
    }
    lanes
}

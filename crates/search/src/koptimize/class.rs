//! Classes under the steps that are made: how many rows lie where, and what no further step separates.

use std::sync::Arc;

use super::grid::Grid;
use super::price::{Price, rows};
use super::space::Step;
use super::{Field, Ground, Key};

/// What never changes in a class while it is not divided.
#[derive(Debug)]
pub(super) struct Body {
    /// By attribute, its first and last code.
    pub(super) intervals: Vec<(u32, u32)>,
    /// By attribute, where its running counts start; [`NOWHERE`] if no step could divide it there.
    starts: Vec<usize>,
    /// Rows by lane with a code below `lo`, `lo + 1`, and so on up to beyond `hi`. Right at the codes at
    /// which a step may still cut.
    running: Vec<u32>,
    /// Rows by lane.
    pub(super) lanes: Vec<u32>,
    pub(super) n_rows: u64,
    /// The sum of its intervals' losses.
    pub(super) loss: u64,
    /// Whether every model holds.
    pub(super) is_kept: bool,
    /// What it costs if nothing divides it.
    pub(super) cost: u64,
    /// Its vectors, where models have to look at them.
    pub(super) vectors: Vec<u32>,
}

const NOWHERE: usize = usize::MAX;

/// The rows of a class, together where no step separates them.
#[derive(Debug)]
pub(super) struct Atoms<const N: usize> {
    pub(super) keys: Vec<Key<N>>,
    /// Rows by lane, atom by atom.
    pub(super) weights: Vec<u32>,
    /// The least that they cost.
    pub(super) floor: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Class<const N: usize> {
    pub(super) body: Arc<Body>,
    pub(super) atoms: Arc<Atoms<N>>,
}

/// What is left of a class that is divided.
#[derive(Debug)]
pub(super) struct Divided<const N: usize> {
    /// The parts that can be kept, whole or divided.
    pub(super) parts: Vec<Class<N>>,
    /// The rows of the others.
    pub(super) n_lost: u64,
}

impl Body {
    /// Rows by lane with a code below `code`, for all of the class's lanes.
    #[inline]
    pub(super) fn below(&self, attribute: usize, code: u32) -> &[u32] {
        let n_lanes = self.lanes.len();
        let at = self.starts[attribute] + (code - self.intervals[attribute].0) as usize * n_lanes;
        &self.running[at..at + n_lanes]
    }

    /// The running counts of an attribute.
    #[inline]
    pub(super) fn running(&self, attribute: usize) -> &[u32] {
        let (lo, hi) = self.intervals[attribute];
        let len = (hi - lo + 2) as usize * self.lanes.len();
        &self.running[self.starts[attribute]..self.starts[attribute] + len]
    }
}

/// Room for putting atoms together: where each key is in a list, by hash.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// When a slot was filled, and with what.
    slots: Vec<(u32, u32)>,
    now: u32,
    mask: usize,
}

impl Scratch {
    /// Forgets all keys, and makes room for so many.
    pub(super) fn clear(&mut self, n_keys: usize) {
        let n_slots = (2 * n_keys.max(4)).next_power_of_two();
        if self.slots.len() < n_slots {
            self.slots = vec![(0, 0); n_slots];
            self.now = 0;
        }
        if self.now == u32::MAX {
            self.slots.fill((0, 0));
            self.now = 0;
        }
        self.now += 1;
        self.mask = n_slots - 1;
    }

    /// Where a key is in the list of keys since [`Scratch::clear`], and whether it was put there just now.
    #[inline]
    pub(super) fn find<const N: usize>(
        &mut self,
        keys: &mut Vec<Key<N>>,
        key: Key<N>,
    ) -> (usize, bool) {
        if keys.len() * 2 > self.mask {
            self.grow(keys);
        }
        let mut slot = hash(&key) & self.mask;
        loop {
            let (when, at) = self.slots[slot];
            if when != self.now {
                let at = keys.len();
                self.slots[slot] = (self.now, u32::try_from(at).expect("no more than vectors"));
                keys.push(key);
                return (at, true);
            }
            if keys[at as usize] == key {
                return (at as usize, false);
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// Forgets all cells, and makes room for those with numbers below `n_all`.
    pub(super) fn clear_cells(&mut self, n_all: usize) {
        self.clear(n_all.div_ceil(2));
    }

    /// Where a cell's key is in the list of keys since [`Scratch::clear_cells`], and whether it was put there
    /// just now.
    #[inline]
    pub(super) fn find_cell<const N: usize>(
        &mut self,
        keys: &mut Vec<Key<N>>,
        key: Key<N>,
        cell: usize,
    ) -> (usize, bool) {
        let (when, at) = self.slots[cell];
        if when == self.now {
            return (at as usize, false);
        }
        let at = keys.len();
        self.slots[cell] = (self.now, u32::try_from(at).expect("no more than vectors"));
        keys.push(key);
        (at, true)
    }

    #[cold]
    fn grow<const N: usize>(&mut self, keys: &[Key<N>]) {
        self.clear(2 * keys.len());
        for (at, key) in (0u32..).zip(keys) {
            let mut slot = hash(key) & self.mask;
            while self.slots[slot].0 == self.now {
                slot = (slot + 1) & self.mask;
            }
            self.slots[slot] = (self.now, at);
        }
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
        let (starts, running) = running(ground, grid, &keys, &weights, &intervals);
        let floor = floor(ground, grid, &keys, &weights);
        let atoms = Atoms { keys, weights, floor };
        let lanes = lanes(&atoms.weights, n_lanes);
        let body = body(ground, intervals, (starts, running), lanes, vectors);
        Class { body: Arc::new(body), atoms: Arc::new(atoms) }
    }

    /// A class that only one attribute divides, of which it has all codes: rows by code and lane.
    pub(super) fn swept<P: Price>(
        ground: &Ground<P, N>,
        attribute: usize,
        interval: &dyn Fn(usize) -> (u32, u32),
        counts: &[u32],
    ) -> Class<N> {
        let n_lanes = ground.n_lanes;
        let n_attributes = ground.fields.len();
        let mut running = vec![0; n_lanes];
        running.extend_from_slice(counts);
        for at in n_lanes..running.len() {
            running[at] += running[at - n_lanes];
        }
        let lanes = running[running.len() - n_lanes..].to_vec();
        let mut starts = vec![NOWHERE; n_attributes];
        starts[attribute] = 0;
        let intervals = (0..n_attributes).map(interval).collect();
        let body = body(ground, intervals, (starts, running), lanes, Vec::new());
        let atoms = Atoms { keys: Vec::new(), weights: Vec::new(), floor: 0 };
        Class { body: Arc::new(body), atoms: Arc::new(atoms) }
    }

    /// Puts together what no step of the grid separates any more. None if nothing has changed.
    pub(super) fn settle<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        scratch: &mut Scratch,
    ) -> Option<Class<N>> {
        let changed: Vec<Change> = (0..ground.fields.len())
            .filter(|&attribute| grid.has_lost(attribute, self.body.intervals[attribute]))
            .map(|attribute| {
                let (is_touched, placed) = grid.line(attribute);
                Change { field: ground.fields[attribute], is_touched, placed }
            })
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

    /// Puts together what a change of one attribute no longer separates.
    ///
    /// Atoms in an interval from within which no cut has gone stay as they are: what they could be put
    /// together with would have to lie in the same interval.
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

    /// Puts together what nothing separates any more, looking at all atoms.
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
        let changes: Vec<Change> = attributes
            .map(|attribute| {
                let (is_touched, placed) = grid.line(attribute);
                Change { field: ground.fields[attribute], is_touched, placed }
            })
            .collect();
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

    /// Makes a step that divides it. The grid is that of the steps that are left.
    pub(super) fn divide<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        step: &Step,
    ) -> Divided<N> {
        let attribute = step.attribute;
        let bounds = self.bounds(step);
        let part_of = |code: u32| bounds[1..bounds.len() - 1].partition_point(|&cut| cut <= code);
        let mut parts: Vec<Part<N>> = bounds
            .windows(2)
            .map(|pair| self.part(ground, attribute, (pair[0], pair[1] - 1)))
            .collect();
        let field = &ground.fields[attribute];
        let weights = self.atoms.weights.chunks_exact(ground.n_lanes);
        for (key, weight) in self.atoms.keys.iter().zip(weights) {
            let code = u32::try_from(field.code(key)).expect("codes have 32 bits");
            let part = &mut parts[part_of(code)];
            part.keys.push(*key);
            push(&mut part.weights, weight);
        }
        if ground.looks_at_rows {
            let codes = &ground.problem.set.vectors[attribute];
            for &vector in &self.body.vectors {
                parts[part_of(codes.get(vector as usize))].vectors.push(vector);
            }
        }
        for part in &mut parts {
            part.is_dead = ground.is_dead(part.n_rows, &part.vectors);
        }
        self.count(ground, grid, attribute, &mut parts);
        parts.retain(|part| part.n_rows > 0);
        let mut divided = Divided { parts: Vec::new(), n_lost: 0 };
        for part in parts {
            if part.is_dead {
                divided.n_lost += part.n_rows;
                continue;
            }
            let body = body(ground, part.intervals, part.running, part.lanes, part.vectors);
            // The step is still among those that are made or may be: atoms are what they were.
            let floor = floor(ground, grid, &part.keys, &part.weights);
            let atoms = Arc::new(Atoms { keys: part.keys, weights: part.weights, floor });
            divided.parts.push(Class { body: Arc::new(body), atoms });
        }
        divided
    }

    /// The first codes of the parts, and the one beyond the last.
    pub(super) fn bounds(&self, step: &Step) -> Vec<u32> {
        let (lo, hi) = self.body.intervals[step.attribute];
        let inside = step.before.iter().copied().filter(|&code| lo < code && code <= hi);
        std::iter::once(lo).chain(inside).chain(std::iter::once(hi + 1)).collect()
    }

    fn part<P: Price>(
        &self,
        ground: &Ground<P, N>,
        attribute: usize,
        interval: (u32, u32),
    ) -> Part<N> {
        let mut intervals = self.body.intervals.clone();
        intervals[attribute] = interval;
        let below = self.body.below(attribute, interval.0);
        let up_to = self.body.below(attribute, interval.1 + 1);
        let lanes: Vec<u32> = up_to.iter().zip(below).map(|(up_to, below)| up_to - below).collect();
        debug_assert_eq!(lanes.len(), ground.n_lanes);
        Part {
            intervals,
            n_rows: rows(&lanes),
            lanes,
            keys: Vec::new(),
            weights: Vec::new(),
            vectors: Vec::new(),
            running: (Vec::new(), Vec::new()),
            is_dead: false,
        }
    }

    /// Fills the running counts of the parts that live. Of two parts, the one with fewer atoms is counted
    /// and the other is what is left.
    fn count<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        attribute: usize,
        parts: &mut [Part<N>],
    ) {
        let count = |part: &Part<N>| {
            let (starts, mut counts) =
                running(ground, grid, &part.keys, &part.weights, &part.intervals);
            self.slice(attribute, part.intervals[attribute], &starts, &mut counts);
            (starts, counts)
        };
        if let [one, other] = parts {
            let (few, many) =
                if one.keys.len() <= other.keys.len() { (one, other) } else { (other, one) };
            if many.is_dead {
                if !few.is_dead {
                    few.running = count(few);
                }
                return;
            }
            few.running = count(few);
            many.running = self.rest(ground, grid, attribute, few, &many.intervals);
            return;
        }
        for part in parts.iter_mut().filter(|part| !part.is_dead) {
            part.running = count(part);
        }
    }

    /// The running counts along the attribute that is divided are those of the class.
    fn slice(&self, attribute: usize, (lo, hi): (u32, u32), starts: &[usize], counts: &mut [u32]) {
        if starts[attribute] == NOWHERE {
            return;
        }
        let n_lanes = self.body.lanes.len();
        let from = (lo - self.body.intervals[attribute].0) as usize * n_lanes;
        let len = (hi - lo + 2) as usize * n_lanes;
        let whole = &self.body.running(attribute)[from..from + len];
        let into = &mut counts[starts[attribute]..starts[attribute] + len];
        for (at, count) in into.iter_mut().enumerate() {
            // Codes at which nothing is cut any more may have been counted elsewhere.
            *count = whole[at].wrapping_sub(whole[at % n_lanes]);
        }
    }

    fn rest<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        attribute: usize,
        few: &Part<N>,
        intervals: &[(u32, u32)],
    ) -> (Vec<usize>, Vec<u32>) {
        let (starts, len) = places(ground, grid, intervals);
        let mut counts = vec![0; len];
        for (at, &start) in starts.iter().enumerate() {
            if start == NOWHERE || at == attribute {
                continue;
            }
            let whole = self.body.running(at);
            let into = &mut counts[start..start + whole.len()];
            let less = &few.running.1[few.running.0[at]..];
            for ((count, whole), less) in into.iter_mut().zip(whole).zip(less) {
                *count = whole.wrapping_sub(*less);
            }
        }
        self.slice(attribute, intervals[attribute], &starts, &mut counts);
        (starts, counts)
    }
}

/// Cuts of one attribute that have gone.
struct Change<'a> {
    field: Field,
    is_touched: &'a [bool],
    placed: &'a [u64],
}

impl Change<'_> {
    #[inline]
    fn code<const N: usize>(&self, key: &Key<N>) -> usize {
        self.field.code(key)
    }

    #[inline]
    fn touches<const N: usize>(&self, key: &Key<N>) -> bool {
        self.is_touched[self.code(key)]
    }

    #[inline]
    fn apply<const N: usize>(&self, key: &mut Key<N>) {
        let placed = self.placed[self.code(key)];
        key[self.field.word] &= !(self.field.mask << self.field.shift);
        key[self.field.word] |= placed;
    }
}

/// The cells of a class, numbered: an interval between cuts that may still be made on every attribute.
pub(super) struct Cells<const N: usize> {
    /// Where a code is, and where its entry is.
    attributes: Vec<(Field, usize)>,
    /// By code, the first one of its interval in its place of a key, and what the interval counts.
    entries: Vec<(u64, usize)>,
    /// The key of the other attributes, which say nothing.
    rest: Key<N>,
    pub(super) n_all: usize,
}

impl<const N: usize> Cells<N> {
    /// None if there are more than `most`.
    pub(super) fn new<P: Price>(
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        intervals: &[(u32, u32)],
        most: usize,
    ) -> Option<Cells<N>> {
        let mut n_all = 1usize;
        for (attribute, &interval) in intervals.iter().enumerate() {
            n_all = n_all.checked_mul(grid.live(attribute, interval).len() + 1)?;
            if n_all > most {
                return None;
            }
        }
        let mut cells =
            Cells { attributes: Vec::new(), entries: Vec::new(), rest: [0; N], n_all: 1 };
        for (attribute, &(lo, hi)) in intervals.iter().enumerate() {
            let field = ground.fields[attribute];
            let (_, placed) = grid.line(attribute);
            let n_live = grid.n_live(attribute);
            let first = n_live[lo as usize];
            if first == n_live[hi as usize] {
                cells.rest[field.word] |= placed[lo as usize];
                continue;
            }
            // Codes start at `lo`.
            cells.attributes.push((field, cells.entries.len().wrapping_sub(lo as usize)));
            cells.entries.extend(
                (lo as usize..=hi as usize)
                    .map(|code| (placed[code], (n_live[code] - first) as usize * cells.n_all)),
            );
            cells.n_all *= (n_live[hi as usize] - first) as usize + 1;
        }
        Some(cells)
    }

    /// The key of the first codes of an atom's cell, and the number of the cell.
    #[inline]
    pub(super) fn of(&self, key: &Key<N>) -> (Key<N>, usize) {
        let mut cell = 0;
        let mut new = self.rest;
        for (field, from) in &self.attributes {
            let code = field.code(key);
            let (placed, counts) = self.entries[from.wrapping_add(code)];
            new[field.word] |= placed;
            cell += counts;
        }
        (new, cell)
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

/// A few numbers more, of which there is mostly one.
#[inline]
fn push(all: &mut Vec<u32>, lanes: &[u32]) {
    match lanes {
        [one] => all.push(*one),
        _ => all.extend_from_slice(lanes),
    }
}

/// The least that atoms cost.
fn floor<P: Price, const N: usize>(
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

/// A part of a class that is divided.
struct Part<const N: usize> {
    intervals: Vec<(u32, u32)>,
    lanes: Vec<u32>,
    n_rows: u64,
    keys: Vec<Key<N>>,
    weights: Vec<u32>,
    vectors: Vec<u32>,
    running: (Vec<usize>, Vec<u32>),
    is_dead: bool,
}

fn body<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    intervals: Vec<(u32, u32)>,
    (starts, running): (Vec<usize>, Vec<u32>),
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
    Body { intervals, starts, running, lanes, n_rows, loss, is_kept, cost, vectors }
}

/// Where running counts of each attribute start that a step could still divide, and how many there are.
fn places<P: Price, const N: usize>(
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

fn running<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    grid: &Grid<N>,
    keys: &[Key<N>],
    weights: &[u32],
    intervals: &[(u32, u32)],
) -> (Vec<usize>, Vec<u32>) {
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
    (starts, counts)
}

fn lanes(weights: &[u32], n_lanes: usize) -> Vec<u32> {
    let mut lanes = vec![0; n_lanes];
    for weight in weights.chunks_exact(n_lanes) {
        lanes.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
    }
    lanes
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
fn hash<const N: usize>(key: &Key<N>) -> usize {
    let mixed = key.iter().fold(0u64, |mixed, &word| {
        (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed ^ (mixed >> 32)) as usize
}

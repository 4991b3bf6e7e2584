//! Classes under the steps that are made: how many rows lie where, and what no further step separates.

use std::sync::Arc;

use super::grid::Grid;
use super::price::{Price, rows};
use super::space::Step;
use super::{Ground, Key};

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
    /// The number of cuts that could still be made in the class when they were put together.
    n_live: u32,
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

/// Room for putting atoms together.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    slots: Vec<(u32, u32)>,
    epoch: u32,
}

impl Scratch {
    /// The mask of a table with room for so many atoms, all slots of which are free.
    fn open(&mut self, n_atoms: usize) -> usize {
        let n_slots = (2 * n_atoms.max(4)).next_power_of_two();
        if self.slots.len() < n_slots {
            self.slots = vec![(0, 0); n_slots];
            self.epoch = 0;
        }
        if self.epoch == u32::MAX {
            self.slots.fill((0, 0));
            self.epoch = 0;
        }
        self.epoch += 1;
        n_slots - 1
    }
}

impl<const N: usize> Class<N> {
    /// The class of all rows.
    pub(super) fn whole<P: Price>(ground: &Ground<P, N>, grid: &Grid<N>) -> Class<N> {
        let set = ground.problem.set;
        let n_lanes = ground.n_lanes;
        let mut keys = Vec::with_capacity(set.len());
        let mut weights = vec![0; set.len() * n_lanes];
        for vector in 0..set.len() {
            let mut key = [0; N];
            for (field, codes) in ground.fields.iter().zip(&set.vectors) {
                key[field.word] |= u64::from(codes.get(vector)) << field.shift;
            }
            keys.push(key);
            let lane = ground.lane_of(vector);
            weights[vector * n_lanes + lane] = set.counts[vector];
        }
        let intervals: Vec<(u32, u32)> =
            ground.space.n_codes.iter().map(|&n_codes| (0, n_codes - 1)).collect();
        let n_vectors = u32::try_from(set.len()).expect("vectors are counted in 32 bits");
        let vectors = if ground.looks_at_rows { (0..n_vectors).collect() } else { Vec::new() };
        let (starts, running) = running(ground, grid, &keys, &weights, &intervals);
        let atoms = Atoms { keys, weights, floor: 0, n_live: u32::MAX };
        let body = body(ground, intervals, (starts, running), lanes(&atoms.weights, n_lanes), vectors);
        Class { body: Arc::new(body), atoms: Arc::new(atoms) }
    }

    /// Whether steps have gone that could have divided it.
    pub(super) fn is_stale(&self, grid: &Grid<N>) -> bool {
        grid.n_live(&self.body.intervals) != self.atoms.n_live
    }

    /// Puts together what no step of the grid separates.
    pub(super) fn settle<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        scratch: &mut Scratch,
    ) -> Class<N> {
        let n_lanes = ground.n_lanes;
        let mut keys: Vec<Key<N>> = Vec::new();
        let mut weights: Vec<u32> = Vec::new();
        let mask = scratch.open(self.atoms.keys.len());
        let n_live = grid.n_live(&self.body.intervals);
        // Attributes that nothing divides within the class say nothing.
        let asked: Vec<usize> = (0..ground.fields.len())
            .filter(|&attribute| grid.divides(attribute, self.body.intervals[attribute]))
            .collect();
        for (key, weight) in self.atoms.keys.iter().zip(self.atoms.weights.chunks_exact(n_lanes)) {
            let mut merged = [0; N];
            for &attribute in &asked {
                let field = &ground.fields[attribute];
                let code = (key[field.word] >> field.shift) & field.mask;
                merged[field.word] |= grid.placed(attribute, code);
            }
            let mut slot = hash(&merged) & mask;
            loop {
                let (epoch, atom) = scratch.slots[slot];
                if epoch != scratch.epoch {
                    let atom = u32::try_from(keys.len()).expect("atoms are no more than vectors");
                    scratch.slots[slot] = (scratch.epoch, atom);
                    keys.push(merged);
                    weights.extend_from_slice(weight);
                    break;
                }
                let atom = atom as usize;
                if keys[atom] == merged {
                    let sums = &mut weights[atom * n_lanes..(atom + 1) * n_lanes];
                    sums.iter_mut().zip(weight).for_each(|(sum, rows)| *sum += rows);
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
        let floor = self.floor(ground, grid, &keys, &weights, &asked);
        let atoms = Arc::new(Atoms { keys, weights, floor, n_live });
        Class { body: Arc::clone(&self.body), atoms }
    }

    fn floor<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        keys: &[Key<N>],
        weights: &[u32],
        asked: &[usize],
    ) -> u64 {
        let weights = weights.chunks_exact(ground.n_lanes);
        if !P::HAS_LOSS {
            return weights.map(|lanes| ground.price.floor(lanes, 0)).sum();
        }
        let is_asked = |attribute: &usize| asked.binary_search(attribute).is_ok();
        let others: u64 = (0..ground.fields.len())
            .filter(|attribute| !is_asked(attribute))
            .map(|attribute| {
                let (lo, hi) = self.body.intervals[attribute];
                ground.price.loss(attribute, lo, hi)
            })
            .sum();
        keys.iter()
            .zip(weights)
            .map(|(key, lanes)| {
                let of_attribute = |&attribute: &usize| {
                    let field = &ground.fields[attribute];
                    grid.loss(attribute, (key[field.word] >> field.shift) & field.mask)
                };
                ground.price.floor(lanes, others + asked.iter().map(of_attribute).sum::<u64>())
            })
            .sum()
    }

    /// Makes a step that divides it. The grid is that of the steps that are left.
    pub(super) fn divide<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        step: &Step,
        scratch: &mut Scratch,
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
            let code = (key[field.word] >> field.shift) & field.mask;
            let part = &mut parts[part_of(u32::try_from(code).expect("codes have 32 bits"))];
            part.keys.push(*key);
            part.weights.extend_from_slice(weight);
        }
        if ground.looks_at_rows {
            let codes = &ground.problem.set.vectors[attribute];
            for &vector in &self.body.vectors {
                parts[part_of(codes.get(vector as usize))].vectors.push(vector);
            }
        }
        parts.retain(|part| part.n_rows > 0);
        for part in &mut parts {
            part.is_dead = ground.is_dead(part.n_rows, &part.vectors);
        }
        self.count(ground, grid, attribute, &mut parts);
        let mut divided = Divided { parts: Vec::new(), n_lost: 0 };
        for part in parts {
            if part.is_dead {
                divided.n_lost += part.n_rows;
                continue;
            }
            let body = body(ground, part.intervals, part.running, part.lanes, part.vectors);
            let atoms =
                Atoms { keys: part.keys, weights: part.weights, floor: 0, n_live: u32::MAX };
            let class = Class { body: Arc::new(body), atoms: Arc::new(atoms) };
            divided.parts.push(class.settle(ground, grid, scratch));
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
    let cost =
        if is_kept { ground.price.kept(&lanes, loss) } else { ground.price.lost(n_rows) };
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
            let code = (key[field.word] >> field.shift) & field.mask;
            let place = (code - u64::from(lo) + 1) as usize * n_lanes;
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
fn hash<const N: usize>(key: &Key<N>) -> usize {
    let mixed = key.iter().fold(0u64, |mixed, &word| {
        (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed ^ (mixed >> 32)) as usize
}

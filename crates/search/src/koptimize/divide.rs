//! Making a step: the parts of the classes that it divides, counted.

use std::sync::Arc;

use super::class::{Atoms, Class, NOWHERE, Running, body, floor, places, push, running};
use super::grid::Grid;
use super::price::{Price, rows};
use super::space::Step;
use super::{Ground, Key};

/// The result of dividing a class.
#[derive(Debug)]
pub(super) struct Divided<const N: usize> {
    /// The parts that can be kept, whole or divided.
    pub(super) parts: Vec<Class<N>>,
    /// The rows of the others.
    pub(super) n_lost: u64,
}

impl<const N: usize> Class<N> {
    /// Makes a step that divides the class. The grid is that of the remaining steps.
    pub(super) fn divide<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        step: &Step,
    ) -> Divided<N> {
        let attribute = step.attribute;
        let bounds = self.bounds(step);
        let part_of = |code: u32| bounds[1..bounds.len() - 1].partition_point(|&cut| cut <= code);
        let mut parts: Vec<ClassPart<N>> = bounds
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
            // The step is still among those that are made or may be made, so the atoms are
            // unchanged.
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
    ) -> ClassPart<N> {
        let mut intervals = self.body.intervals.clone();
        intervals[attribute] = interval;
        let below = self.body.below(attribute, interval.0);
        let up_to = self.body.below(attribute, interval.1 + 1);
        let lanes: Vec<u32> = up_to.iter().zip(below).map(|(up_to, below)| up_to - below).collect();
        debug_assert_eq!(lanes.len(), ground.n_lanes);
        ClassPart {
            intervals,
            n_rows: rows(&lanes),
            lanes,
            keys: Vec::new(),
            weights: Vec::new(),
            vectors: Vec::new(),
            running: Running::default(),
            is_dead: false,
        }
    }

    /// Fills the running counts of the parts that are not dead. Of two parts, the one with fewer
    /// atoms is counted; the other is the difference.
    fn count<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        attribute: usize,
        parts: &mut [ClassPart<N>],
    ) {
        let count = |part: &ClassPart<N>| {
            let mut found = running(ground, grid, &part.keys, &part.weights, &part.intervals);
            self.slice(attribute, part.intervals[attribute], &mut found);
            found
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

    /// Takes the running counts along the divided attribute from those of the class.
    fn slice(&self, attribute: usize, (lo, hi): (u32, u32), running: &mut Running) {
        let Running { starts, counts } = running;
        if starts[attribute] == NOWHERE {
            return;
        }
        let n_lanes = self.body.lanes.len();
        let from = (lo - self.body.intervals[attribute].0) as usize * n_lanes;
        let len = (hi - lo + 2) as usize * n_lanes;
        let whole = &self.body.running(attribute)[from..from + len];
        let into = &mut counts[starts[attribute]..starts[attribute] + len];
        for (at, count) in into.iter_mut().enumerate() {
            // Counts at codes where nothing is cut any more may be wrong.
            *count = whole[at].wrapping_sub(whole[at % n_lanes]);
        }
    }

    fn rest<P: Price>(
        &self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        attribute: usize,
        few: &ClassPart<N>,
        intervals: &[(u32, u32)],
    ) -> Running {
        let (starts, len) = places(ground, grid, intervals);
        let mut counts = vec![0; len];
        for (at, &start) in starts.iter().enumerate() {
            if start == NOWHERE || at == attribute {
                continue;
            }
            let whole = self.body.running(at);
            let into = &mut counts[start..start + whole.len()];
            let less = &few.running.counts[few.running.starts[at]..];
            for ((count, whole), less) in into.iter_mut().zip(whole).zip(less) {
                *count = whole.wrapping_sub(*less);
            }
        }
        let mut running = Running { starts, counts };
        self.slice(attribute, intervals[attribute], &mut running);
        running
    }
}

/// A part of a class that is divided.
struct ClassPart<const N: usize> {
    intervals: Vec<(u32, u32)>,
    lanes: Vec<u32>,
    n_rows: u64,
    keys: Vec<Key<N>>,
    weights: Vec<u32>,
    vectors: Vec<u32>,
    running: Running,
    is_dead: bool,
}

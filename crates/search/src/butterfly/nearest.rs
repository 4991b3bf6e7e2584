//! Nearest neighbours among the rows of a table: a k-d tree over codes.
//!
//! The distance of two vectors is the sum over the attributes of the loss of a class of the two:
//! the `dist` of Definition 3, for every shape of attribute. On one attribute the distance never
//! decreases as codes move apart, so a box of codes is no nearer than the ends that face a vector.
//! Hierarchies are an exception: two leaves may be covered by two nodes while nearer ones need a
//! single higher one, so only whether the box contains the code is known.

use incrowd_data::{Attribute, Cell, FrequencySet, Shape};

/// The most codes that are compared for one vector. With many attributes no tree helps, and with a
/// large k there are many neighbours to find. Unknown distances count as 0, which is also a bound.
const MOST_SEEN: usize = 1 << 11;

/// Vectors per leaf of the tree.
const LEAF: usize = 8;

/// Distinct vectors with their rows, as a tree of boxes.
pub(super) struct Index<'a> {
    attributes: &'a [Attribute],
    /// The codes of each distinct vector side by side, in the order of the leaves.
    codes: Vec<u32>,
    rows: Vec<u64>,
    nodes: Vec<Node>,
    /// By node, its least and its greatest codes.
    boxes: Vec<u32>,
}

/// A run of vectors; an inner node has its two parts at `parts`.
struct Node {
    start: usize,
    end: usize,
    parts: Option<(usize, usize)>,
}

/// Rows by their distance from a vector, nearest first.
#[derive(Default)]
pub(super) struct Neighbours {
    found: Vec<(f64, u64)>,
    n_rows: u64,
    n_seen: usize,
}

impl Neighbours {
    /// For each of `numbers`, ascending, the distance of that row, the nearest one being number 0;
    /// a lower bound if finding it was too expensive.
    pub(super) fn distances<'a>(&'a self, numbers: &'a [u64]) -> impl Iterator<Item = f64> + 'a {
        let mut found = self.found.iter();
        let (mut distance, mut passed) = (0.0, 0);
        numbers.iter().map(move |&number| {
            while passed <= number && !self.gave_up() {
                match found.next() {
                    Some(&(next, rows)) => (distance, passed) = (next, passed + rows),
                    None => return f64::INFINITY,
                }
            }
            distance
        })
    }

    fn gave_up(&self) -> bool {
        self.n_seen > MOST_SEEN
    }

    fn add(&mut self, distance: f64, rows: u64, wanted: u64) {
        let at = self.found.partition_point(|&(known, _)| known <= distance);
        self.found.insert(at, (distance, rows));
        self.n_rows += rows;
        while let Some(&(_, farthest)) = self.found.last()
            && self.n_rows - farthest >= wanted
        {
            self.found.pop();
            self.n_rows -= farthest;
        }
    }

    /// Rows at this distance or farther are not needed any more.
    fn limit(&self, wanted: u64) -> f64 {
        if self.n_rows < wanted {
            return f64::INFINITY;
        }
        self.found.last().map_or(f64::INFINITY, |&(distance, _)| distance)
    }
}

impl<'a> Index<'a> {
    /// The tree of some vectors of a table.
    pub(super) fn new(set: &'a FrequencySet, vectors: impl Iterator<Item = u32>) -> Index<'a> {
        let d = set.attributes.len();
        let mut points: Vec<(Vec<u32>, u64)> = vectors
            .map(|vector| (codes_of(set, vector), u64::from(set.counts[vector as usize])))
            .collect();
        points.sort_unstable();
        points.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        let mut index = Index {
            attributes: &set.attributes,
            codes: Vec::with_capacity(points.len() * d),
            rows: Vec::with_capacity(points.len()),
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        index.grow(&mut points, 0);
        for (codes, rows) in points {
            index.codes.extend(codes);
            index.rows.push(rows);
        }
        index
    }

    /// The number of distinct vectors.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn codes(&self, point: usize) -> &[u32] {
        let d = self.attributes.len();
        &self.codes[point * d..(point + 1) * d]
    }

    /// Makes the node of some points, which begin at `start` in the order of the leaves.
    fn grow(&mut self, points: &mut [(Vec<u32>, u64)], start: usize) -> usize {
        let d = self.attributes.len();
        let id = self.nodes.len();
        self.nodes.push(Node { start, end: start + points.len(), parts: None });
        let ends = |at: usize| {
            let codes = points.iter().map(|(codes, _)| codes[at]);
            codes.fold((u32::MAX, 0), |(lo, hi), code| (lo.min(code), hi.max(code)))
        };
        let ends: Vec<(u32, u32)> = (0..d).map(ends).collect();
        self.boxes.extend(ends.iter().map(|&(lo, _)| lo));
        self.boxes.extend(ends.iter().map(|&(_, hi)| hi));
        let width = |at: &usize| self.attributes[*at].interval_loss(ends[*at].0, ends[*at].1);
        let widest = (0..d).max_by(|a, b| width(a).total_cmp(&width(b)));
        if let Some(at) = widest.filter(|_| points.len() > LEAF) {
            let middle = points.len() / 2;
            points.select_nth_unstable_by_key(middle, |(codes, _)| codes[at]);
            let (low, high) = points.split_at_mut(middle);
            let low = self.grow(low, start);
            let high = self.grow(high, start + middle);
            self.nodes[id].parts = Some((low, high));
        }
        id
    }

    /// The nearest rows of a vector, at least `wanted` if there are.
    pub(super) fn neighbours(&self, codes: &[u32], wanted: u64) -> Neighbours {
        let mut near = Neighbours::default();
        if !self.nodes.is_empty() {
            self.look(0, codes, wanted, &mut near);
        }
        near
    }

    fn look(&self, id: usize, codes: &[u32], wanted: u64, near: &mut Neighbours) {
        let node = &self.nodes[id];
        if near.gave_up() {
            return;
        }
        let Some((low, high)) = node.parts else {
            near.n_seen += (node.end - node.start) * codes.len();
            for point in node.start..node.end {
                let distance = self.distance(codes, self.codes(point));
                if distance < near.limit(wanted) {
                    near.add(distance, self.rows[point], wanted);
                }
            }
            return;
        };
        let (of_low, of_high) =
            (self.distance_of_box(codes, low), self.distance_of_box(codes, high));
        let parts = [(of_low, low), (of_high, high)];
        let order = if of_low <= of_high { [0, 1] } else { [1, 0] };
        for (distance, part) in order.map(|at| parts[at]) {
            if distance < near.limit(wanted) {
                self.look(part, codes, wanted, near);
            }
        }
    }

    fn distance(&self, a: &[u32], b: &[u32]) -> f64 {
        let pairs = self.attributes.iter().zip(a.iter().zip(b));
        pairs.map(|(attribute, (&a, &b))| between(attribute, a, b)).sum()
    }

    /// A lower bound of the distance to the vectors of a node.
    fn distance_of_box(&self, codes: &[u32], id: usize) -> f64 {
        let d = self.attributes.len();
        let (lo, hi) = (&self.boxes[2 * d * id..][..d], &self.boxes[2 * d * id + d..][..d]);
        let pairs = self.attributes.iter().zip(codes).zip(lo.iter().zip(hi));
        pairs
            .map(|((attribute, &code), (&lo, &hi))| {
                let nearest = code.clamp(lo, hi);
                if matches!(attribute.shape, Shape::Tree(_)) && nearest != code {
                    return attribute.loss(&Cell::Nodes(vec![(0, code), (0, nearest)]));
                }
                between(attribute, code, nearest)
            })
            .sum()
    }
}

/// The codes of a vector.
pub(super) fn codes_of(set: &FrequencySet, vector: u32) -> Vec<u32> {
    set.vectors.iter().map(|codes| codes.get(vector as usize)).collect()
}

/// The loss of a class of two codes on an attribute.
fn between(attribute: &Attribute, a: u32, b: u32) -> f64 {
    let (lo, hi) = (a.min(b), a.max(b));
    match attribute.shape {
        _ if lo == hi => 0.0,
        Shape::Tree(_) => attribute.loss(&attribute.least_cell(&[lo, hi])),
        _ => attribute.cover_loss(lo, hi, 2),
    }
}

#[cfg(test)]
mod tests {
    use incrowd_testkit::Form;
    use incrowd_testkit::generate::{Recipe, Rng, random_table};

    use super::*;

    /// Compares with all pairs, for every form of column.
    #[test]
    fn the_nearest_of_all_pairs() {
        for seed in 0..60 {
            let recipe = Recipe {
                n_rows: 150,
                n_attributes: 1 + usize::try_from(seed % 4).unwrap(),
                forms: &Form::ALL,
                max_values: 9,
                missing: seed % 3 == 0,
            };
            let table = random_table(&mut Rng::new(seed), &recipe);
            let set = table.frequency_set();
            let some: Vec<u32> = (0..).take(set.len()).filter(|v| v % 3 != 1).collect();
            let index = Index::new(&set, some.iter().copied());
            for vector in (0..).take(set.len()) {
                let codes = codes_of(&set, vector);
                let mut all: Vec<f64> = some
                    .iter()
                    .flat_map(|&other| {
                        let distance = index.distance(&codes, &codes_of(&set, other));
                        std::iter::repeat_n(distance, set.counts[other as usize] as usize)
                    })
                    .collect();
                all.sort_by(f64::total_cmp);
                let near = index.neighbours(&codes, 20);
                let numbers: Vec<u64> = (0..20).collect();
                for (found, expected) in near.distances(&numbers).zip(all.iter().take(20)) {
                    assert!((found - expected).abs() < 1e-12, "seed {seed}: {found} {expected}");
                }
            }
        }
    }
}

//! Regions of a workload over the vectors of a table: which vectors they contain, how they relate
//! to a part of the table, and which share of a cell they cover.

use incrowd_data::{Attribute, Codes, Kind, Region, Shape};
use rayon::prelude::*;

use super::PointColumns;
use crate::partition::Extent;

/// Some regions of a workload. Regions are called boxes here, since a region is a part of the table
/// elsewhere in this module.
pub(super) struct Boxes {
    axes: Vec<Axis>,
    sides: Vec<Vec<Side>>,
    n_words: usize,
    /// By vector, a bit for each box that contains it.
    masks: Vec<u64>,
}

/// The codes of one attribute that a box admits, as runs.
struct Side {
    attribute: usize,
    runs: Vec<(u32, u32)>,
}

/// The relation of a part of the table to a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Outside,
    Inside,
    Across,
}

/// Sets the bits of some boxes.
pub(super) fn mark(bits: &mut [u64], boxes: impl Iterator<Item = usize>) {
    for of in boxes {
        bits[of / 64] |= 1 << (of % 64);
    }
}

/// Vectors per task.
const CHUNK: usize = 1 << 14;

impl Boxes {
    /// The boxes; computes which points they contain unless `masks` is given.
    pub(super) fn new(set: &PointColumns, regions: &[&Region], masks: Option<&[u64]>) -> Boxes {
        let axes = set.attributes.iter().map(Axis::new).collect();
        let sides = sides_of(regions);
        let n_words = sides.len().div_ceil(64);
        let work_out = || Admitted::of(set.attributes, &sides).masks(set.vectors, set.counts.len());
        let masks = masks.map_or_else(work_out, <[u64]>::to_vec);
        Boxes { axes, sides, n_words, masks }
    }

    pub(super) fn len(&self) -> usize {
        self.sides.len()
    }

    /// The bits of the boxes that contain a vector.
    pub(super) fn mask(&self, vector: u32) -> &[u64] {
        &self.masks[vector as usize * self.n_words..(vector as usize + 1) * self.n_words]
    }

    /// The relation of a part of the table with these extents to a box.
    pub(super) fn relation(&self, of: usize, extents: &[Extent]) -> Relation {
        let mut is_inside = true;
        for side in &self.sides[of] {
            let cell = self.axes[side.attribute].cell(extents[side.attribute]);
            let n_admitted = side.n_within(cell);
            if n_admitted == 0 {
                return Relation::Outside;
            }
            is_inside &= n_admitted == cell.hi - cell.lo + 1;
        }
        if is_inside { Relation::Inside } else { Relation::Across }
    }

    /// Whether a part with this extent on one attribute can be in a box that overlaps the whole.
    pub(super) fn overlaps(&self, of: usize, attribute: usize, extent: Extent) -> bool {
        let cell = self.axes[attribute].cell(extent);
        self.side(of, attribute).is_none_or(|side| side.n_within(cell) > 0)
    }

    /// The cell of values with this extent on an attribute.
    pub(super) fn cell(&self, attribute: usize, extent: Extent) -> Spread<'_> {
        Spread::new(&self.axes[attribute], extent)
    }

    /// The runs of an attribute's codes that a box admits; `None` if it admits all.
    pub(super) fn runs(&self, of: usize, attribute: usize) -> Option<&[(u32, u32)]> {
        self.side(of, attribute).map(|side| &side.runs[..])
    }

    /// The attributes that a box has a side on.
    pub(super) fn attributes(&self, of: usize) -> impl Iterator<Item = usize> {
        self.sides[of].iter().map(|side| side.attribute)
    }

    fn side(&self, of: usize, attribute: usize) -> Option<&Side> {
        self.sides[of].iter().find(|side| side.attribute == attribute)
    }
}

impl Side {
    /// How many codes of a run it admits.
    fn n_within(&self, cell: Extent) -> u32 {
        let first = self.runs.partition_point(|run| run.1 < cell.lo);
        let overlapping = self.runs[first..].iter().take_while(|run| run.0 <= cell.hi);
        overlapping.map(|run| run.1.min(cell.hi) - run.0.max(cell.lo) + 1).sum()
    }
}

fn sides_of(regions: &[&Region]) -> Vec<Vec<Side>> {
    let side = |(attribute, codes): &(usize, incrowd_data::CodeSet)| Side {
        attribute: *attribute,
        runs: codes.runs(),
    };
    regions.iter().map(|region| region.sides.iter().map(side).collect()).collect()
}

/// Which boxes admit which codes.
pub(crate) struct Admitted {
    /// By attribute that a box has a side on, and by code, the boxes that admit the code.
    tables: Vec<(usize, Vec<u64>)>,
    /// The bits of all boxes.
    full: Vec<u64>,
}

impl Admitted {
    pub(crate) fn new(attributes: &[Attribute], regions: &[&Region]) -> Admitted {
        Admitted::of(attributes, &sides_of(regions))
    }

    fn of(attributes: &[Attribute], sides: &[Vec<Side>]) -> Admitted {
        let n_words = sides.len().div_ceil(64);
        let mut tables = Vec::new();
        for (attribute, of) in attributes.iter().enumerate() {
            let side_of = |of: usize| sides[of].iter().find(|side| side.attribute == attribute);
            if (0..sides.len()).all(|of| side_of(of).is_none()) {
                continue;
            }
            let n_codes = of.n_codes() as usize;
            let mut table = vec![0u64; n_codes * n_words];
            for of in 0..sides.len() {
                let all = [(0, u32::MAX)];
                let runs = side_of(of).map_or(&all[..], |side| &side.runs);
                for &(lo, hi) in runs {
                    for code in lo as usize..=(hi as usize).min(n_codes - 1) {
                        table[code * n_words + of / 64] |= 1 << (of % 64);
                    }
                }
            }
            tables.push((attribute, table));
        }
        let bits = |word: usize| match sides.len() - 64 * word {
            n if n >= 64 => u64::MAX,
            n => (1 << n) - 1,
        };
        Admitted { tables, full: (0..n_words).map(bits).collect() }
    }

    /// Words of a mask.
    pub(crate) fn n_words(&self) -> usize {
        self.full.len()
    }

    /// By point, a bit for each box that contains it.
    pub(crate) fn masks(&self, vectors: &[Codes], n_points: usize) -> Vec<u64> {
        let n_words = self.n_words();
        let mut masks = self.full.repeat(n_points);
        masks.par_chunks_mut(CHUNK * n_words.max(1)).enumerate().for_each(|(chunk, masks)| {
            for (attribute, table) in &self.tables {
                let codes = &vectors[*attribute];
                for (vector, mask) in (chunk * CHUNK..).zip(masks.chunks_exact_mut(n_words)) {
                    let code = codes.get(vector) as usize;
                    for (word, admitted) in mask.iter_mut().zip(&table[code * n_words..]) {
                        *word &= admitted;
                    }
                }
            }
        });
        masks
    }
}

/// How the values of an attribute are spread over a cell, assuming that they are uniform.
enum Axis {
    /// Along a line: value `c` represents everything nearer to it than to other values.
    Line {
        /// Where each value begins, and where the last one ends.
        edges: Vec<f64>,
        positions: Vec<f64>,
        /// 0.5 for whole numbers, half of their distance; 0 for numbers with a fraction.
        half: f64,
    },
    /// Evenly over the codes; `n_values` of them are values.
    Ranks { n_values: u32 },
    /// Evenly over the leaves of the node that contains the cell.
    Tree(incrowd_data::Hierarchy),
}

impl Axis {
    fn new(attribute: &Attribute) -> Axis {
        let positions = &attribute.dictionary.positions;
        match &attribute.shape {
            Shape::Numeric if !positions.is_empty() => {
                let is_whole = matches!(attribute.dictionary.kind, Kind::Integer | Kind::Date);
                let half = if is_whole { 0.5 } else { 0.0 };
                let mut edges = vec![positions[0] - half];
                edges.extend(positions.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0));
                edges.push(positions[positions.len() - 1] + half);
                Axis::Line { edges, positions: positions.clone(), half }
            }
            Shape::Tree(hierarchy) => Axis::Tree(hierarchy.clone()),
            _ => Axis::Ranks { n_values: attribute.n_values() },
        }
    }

    /// The codes that a cell covers if values have this extent: all codes if some are missing and
    /// others are not, and all leaves of a hierarchy's node.
    fn cell(&self, extent: Extent) -> Extent {
        match self {
            Axis::Tree(hierarchy) if extent.lo < extent.hi => {
                let (level, group) = hierarchy.common(extent.lo, extent.hi);
                let node = &hierarchy.groups(level)[group as usize];
                Extent { lo: node.lo, hi: node.hi }
            }
            Axis::Line { positions, .. } if extent.hi as usize == positions.len() => {
                Extent { lo: if extent.lo < extent.hi { 0 } else { extent.lo }, ..extent }
            }
            Axis::Ranks { n_values } if extent.hi == *n_values => {
                Extent { lo: if extent.lo < extent.hi { 0 } else { extent.lo }, ..extent }
            }
            _ => extent,
        }
    }
}

/// A cell whose values are assumed to be spread evenly.
pub(super) struct Spread<'a> {
    axis: &'a Axis,
    cell: Extent,
    /// The start of the cell on the line.
    from: f64,
    to: f64,
}

impl<'a> Spread<'a> {
    fn new(axis: &'a Axis, extent: Extent) -> Spread<'a> {
        let mut cell = axis.cell(extent);
        let (mut from, mut to) = (0.0, 0.0);
        if let Axis::Line { positions, half, .. } = axis
            && (cell.lo as usize) < positions.len()
        {
            // A missing value has no place on the line.
            let (first, last) = (cell.lo as usize, (cell.hi as usize).min(positions.len() - 1));
            cell.hi = cell.lo + u32::try_from(last - first).expect("no more than codes");
            // A cell of one point gets a length of 1 around that point.
            let half = if first == last { 0.5 } else { *half };
            (from, to) = (positions[first] - half, positions[last] + half);
        }
        Spread { axis, cell, from, to }
    }

    /// The share of its values that are in some runs of codes.
    pub(super) fn share(&self, runs: &[(u32, u32)]) -> f64 {
        if self.from < self.to {
            return self.over_line(runs, |from, to| to - from);
        }
        let cell = self.cell;
        let within = runs.iter().filter(|run| run.0 <= cell.hi && cell.lo <= run.1);
        let n: u32 = within.map(|run| run.1.min(cell.hi) - run.0.max(cell.lo) + 1).sum();
        f64::from(n) / f64::from(cell.hi - cell.lo + 1)
    }

    /// The mean over its values, counting values outside of some runs of codes as 0; 0 if values
    /// are not numbers.
    pub(super) fn moment(&self, runs: Option<&[(u32, u32)]>) -> f64 {
        if self.from >= self.to {
            return 0.0;
        }
        let all = [(self.cell.lo, self.cell.hi)];
        self.over_line(runs.unwrap_or(&all), |from, to| (to - from) * f64::midpoint(from, to))
    }

    /// Adds up a function over the parts of the cell that runs cover, divided by its length.
    fn over_line(&self, runs: &[(u32, u32)], of: impl Fn(f64, f64) -> f64) -> f64 {
        let Axis::Line { edges, .. } = self.axis else { return 0.0 };
        let Extent { lo, hi } = self.cell;
        let mut sum = 0.0;
        for run in runs.iter().filter(|run| run.0 <= hi && lo <= run.1) {
            let begins = if run.0 <= lo { self.from } else { edges[run.0 as usize] };
            let ends = if run.1 >= hi { self.to } else { edges[run.1 as usize + 1] };
            sum += of(begins.max(self.from), ends.min(self.to));
        }
        sum / (self.to - self.from)
    }
}

//! Points stored row by row, and the stable scatter that cuts a region into parts.

use incrowd_data::FrequencySet;
use rayon::prelude::*;

/// Points per task when the points are laid out.
const CHUNK: usize = 1 << 16;

/// An integer that holds a code.
pub(crate) trait PackedCode:
    Copy + Ord + Default + Send + Sync + Into<u32> + TryFrom<u32>
{
}

impl PackedCode for u8 {}
impl PackedCode for u16 {}
impl PackedCode for u32 {}

/// The width that fits all codes of a frequency set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeWidth {
    One,
    Two,
    Four,
}

impl CodeWidth {
    pub(crate) fn of(set: &FrequencySet) -> CodeWidth {
        match set.attributes.iter().map(incrowd_data::Attribute::n_codes).max().unwrap_or(0) {
            0..=0x100 => CodeWidth::One,
            0x101..=0x1_0000 => CodeWidth::Two,
            _ => CodeWidth::Four,
        }
    }
}

/// All points of a search: the codes of each point side by side, its rows, and its vector.
#[derive(Clone)]
pub(crate) struct Points<C> {
    pub(crate) n_attributes: usize,
    pub(crate) codes: Vec<C>,
    pub(crate) rows: Vec<u32>,
    pub(crate) vectors: Vec<u32>,
}

impl<C: PackedCode> Points<C> {
    pub(crate) fn new(set: &FrequencySet) -> Points<C> {
        let n_attributes = set.attributes.len();
        let mut codes = vec![C::default(); n_attributes * set.len()];
        codes.par_chunks_mut(CHUNK * n_attributes.max(1)).enumerate().for_each(|(chunk, codes)| {
            for (attribute, column) in set.vectors.iter().enumerate() {
                let cells = codes.iter_mut().skip(attribute).step_by(n_attributes);
                for (cell, vector) in cells.zip(chunk * CHUNK..) {
                    let Ok(code) = C::try_from(column.get(vector)) else {
                        panic!("every code fits the width of the widest attribute");
                    };
                    *cell = code;
                }
            }
        });
        let vectors = (0..).take(set.len()).collect();
        Points { n_attributes, codes, rows: set.counts.clone(), vectors }
    }

    /// The whole as one region.
    pub(crate) fn buffers(&mut self) -> Buffers<'_, C> {
        Buffers {
            first: 0,
            n_attributes: self.n_attributes,
            codes: &mut self.codes,
            rows: &mut self.rows,
            vectors: &mut self.vectors,
        }
    }

    /// Scratch space of the same size, to scatter into.
    pub(crate) fn scratch(&self) -> Points<C> {
        Points {
            n_attributes: self.n_attributes,
            codes: vec![C::default(); self.codes.len()],
            rows: vec![0; self.rows.len()],
            vectors: vec![0; self.vectors.len()],
        }
    }
}

/// A region: a run of points.
pub(crate) struct Buffers<'a, C> {
    /// The attribute that the codes of a point begin with: not 0 if only that attribute of the
    /// points is known.
    pub(crate) first: usize,
    pub(crate) n_attributes: usize,
    pub(crate) codes: &'a mut [C],
    pub(crate) rows: &'a mut [u32],
    pub(crate) vectors: &'a mut [u32],
}

impl<'a, C: PackedCode> Buffers<'a, C> {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The codes of one attribute with the rows of each point.
    pub(crate) fn column(&self, attribute: usize) -> impl Iterator<Item = (u32, u32)> {
        let codes = self.codes.get(attribute - self.first..).unwrap_or_default();
        codes
            .iter()
            .step_by(self.n_attributes)
            .zip(self.rows.iter())
            .map(|(&c, &rows)| (c.into(), rows))
    }

    /// Copies every point into `to`, part by part, keeping their order within each part. Returns
    /// the number of points of each part.
    pub(crate) fn scatter(
        &self,
        attribute: usize,
        n_parts: usize,
        part_of: impl Fn(u32) -> usize,
        to: &mut Buffers<'_, C>,
    ) -> Vec<usize> {
        let mut sizes = vec![0; n_parts];
        for (code, _) in self.column(attribute) {
            sizes[part_of(code)] += 1;
        }
        let mut next = starts(&sizes);
        match self.n_attributes {
            1 => self.copy_fixed::<1>(attribute, &part_of, &mut next, to),
            2 => self.copy_fixed::<2>(attribute, &part_of, &mut next, to),
            3 => self.copy_fixed::<3>(attribute, &part_of, &mut next, to),
            4 => self.copy_fixed::<4>(attribute, &part_of, &mut next, to),
            5 => self.copy_fixed::<5>(attribute, &part_of, &mut next, to),
            6 => self.copy_fixed::<6>(attribute, &part_of, &mut next, to),
            7 => self.copy_fixed::<7>(attribute, &part_of, &mut next, to),
            8 => self.copy_fixed::<8>(attribute, &part_of, &mut next, to),
            9 => self.copy_fixed::<9>(attribute, &part_of, &mut next, to),
            10 => self.copy_fixed::<10>(attribute, &part_of, &mut next, to),
            d => {
                for (from, point) in self.codes.chunks_exact(d).enumerate() {
                    let at = &mut next[part_of(point[attribute].into())];
                    to.codes[*at * d..(*at + 1) * d].copy_from_slice(point);
                    to.rows[*at] = self.rows[from];
                    to.vectors[*at] = self.vectors[from];
                    *at += 1;
                }
            }
        }
        sizes
    }

    /// Copies points with a constant number of attributes, so that the compiler inlines each copy.
    fn copy_fixed<const D: usize>(
        &self,
        attribute: usize,
        part_of: impl Fn(u32) -> usize,
        next: &mut [usize],
        to: &mut Buffers<'_, C>,
    ) {
        let (points, _) = self.codes.as_chunks::<D>();
        let (to_points, _) = to.codes.as_chunks_mut::<D>();
        for ((point, &rows), &vector) in points.iter().zip(&*self.rows).zip(&*self.vectors) {
            let at = &mut next[part_of(point[attribute].into())];
            to_points[*at] = *point;
            to.rows[*at] = rows;
            to.vectors[*at] = vector;
            *at += 1;
        }
    }

    /// The first `n` points and the rest.
    pub(crate) fn split_at(self, n: usize) -> (Buffers<'a, C>, Buffers<'a, C>) {
        let (codes, more_codes) = self.codes.split_at_mut(n * self.n_attributes);
        let (rows, more_rows) = self.rows.split_at_mut(n);
        let (vectors, more_vectors) = self.vectors.split_at_mut(n);
        let (first, n_attributes) = (self.first, self.n_attributes);
        let head = Buffers { first, n_attributes, codes, rows, vectors };
        let (rows, vectors, codes) = (more_rows, more_vectors, more_codes);
        (head, Buffers { first, n_attributes, codes, rows, vectors })
    }
}

/// The start of each of the consecutive runs with these sizes.
pub(crate) fn starts(sizes: &[usize]) -> Vec<usize> {
    let start = |end: &mut usize, size: &usize| {
        let start = *end;
        *end += size;
        Some(start)
    };
    sizes.iter().scan(0, start).collect()
}

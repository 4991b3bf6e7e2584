//! Points stored row by row, and the stable scatter that cuts a region into parts.

use incrowd_data::FrequencySet;

/// An integer that holds a code.
pub(crate) trait PackedCode: Copy + Ord + Send + Sync + Into<u32> + TryFrom<u32> {}

impl PackedCode for u8 {}
impl PackedCode for u16 {}
impl PackedCode for u32 {}

/// The width that all codes of a frequency set fit.
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

/// All points of a search: the codes of each side by side, its rows, and which vector it is.
pub(crate) struct Points<C> {
    pub(crate) n_attributes: usize,
    pub(crate) codes: Vec<C>,
    pub(crate) rows: Vec<u32>,
    pub(crate) vectors: Vec<u32>,
}

impl<C: PackedCode> Points<C> {
    pub(crate) fn new(set: &FrequencySet) -> Points<C> {
        let n_attributes = set.attributes.len();
        let mut codes = Vec::with_capacity(n_attributes * set.len());
        for vector in 0..set.len() {
            for column in &set.vectors {
                let Ok(code) = C::try_from(column.get(vector)) else {
                    unreachable!("the width was chosen to hold every code")
                };
                codes.push(code);
            }
        }
        let vectors = (0..).take(set.len()).collect();
        Points { n_attributes, codes, rows: set.counts.clone(), vectors }
    }

    /// The whole as one region.
    pub(crate) fn buffers(&mut self) -> Buffers<'_, C> {
        Buffers {
            n_attributes: self.n_attributes,
            codes: &mut self.codes,
            rows: &mut self.rows,
            vectors: &mut self.vectors,
        }
    }

    /// Room of the same size, to scatter into.
    pub(crate) fn scratch(&self) -> Points<C> {
        Points {
            n_attributes: self.n_attributes,
            codes: self.codes.clone(),
            rows: self.rows.clone(),
            vectors: self.vectors.clone(),
        }
    }
}

/// A region: a run of points.
pub(crate) struct Buffers<'a, C> {
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
        let codes = self.codes.get(attribute..).unwrap_or_default();
        codes
            .iter()
            .step_by(self.n_attributes)
            .zip(self.rows.iter())
            .map(|(&c, &rows)| (c.into(), rows))
    }

    /// Copies every point into `to`, those of part 0 first, then those of part 1 and so on, in their
    /// order within each part. Gives the number of points of each part.
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
        let mut next: Vec<usize> = sizes
            .iter()
            .scan(0, |end, size| {
                let start = *end;
                *end += size;
                Some(start)
            })
            .collect();
        let d = self.n_attributes;
        for (from, point) in self.codes.chunks_exact(d).enumerate() {
            let part = part_of(point[attribute].into());
            let at = next[part];
            next[part] += 1;
            to.codes[at * d..(at + 1) * d].copy_from_slice(point);
            to.rows[at] = self.rows[from];
            to.vectors[at] = self.vectors[from];
        }
        sizes
    }

    /// The first `n` points and the rest.
    pub(crate) fn split_at(self, n: usize) -> (Buffers<'a, C>, Buffers<'a, C>) {
        let (codes, more_codes) = self.codes.split_at_mut(n * self.n_attributes);
        let (rows, more_rows) = self.rows.split_at_mut(n);
        let (vectors, more_vectors) = self.vectors.split_at_mut(n);
        let n_attributes = self.n_attributes;
        (
            Buffers { n_attributes, codes, rows, vectors },
            Buffers { n_attributes, codes: more_codes, rows: more_rows, vectors: more_vectors },
        )
    }
}

//! Single-dimensional recodings: the domain of each attribute divided into intervals of codes.

/// By attribute, the first code of every interval but the first, ascending.
///
/// Compared attribute by attribute, which breaks ties between recodings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cuts(Vec<Vec<u32>>);

impl Cuts {
    /// One interval per attribute.
    #[must_use]
    pub fn none(n_attributes: usize) -> Cuts {
        Cuts(vec![Vec::new(); n_attributes])
    }

    /// The number of attributes.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.0.len()
    }

    /// The first codes of all intervals of an attribute except the first interval.
    #[must_use]
    pub fn of(&self, attribute: usize) -> &[u32] {
        &self.0[attribute]
    }

    /// Adds a cut before a code; it may be there already.
    pub fn insert(&mut self, attribute: usize, code: u32) {
        let cuts = &mut self.0[attribute];
        if let Err(place) = cuts.binary_search(&code) {
            cuts.insert(place, code);
        }
    }

    /// Removes the cuts before the codes from `lo + 1` to `hi`, so that `lo..=hi` is within one
    /// interval.
    pub fn join(&mut self, attribute: usize, lo: u32, hi: u32) {
        self.0[attribute].retain(|&cut| cut <= lo || cut > hi);
    }

    /// The number of cuts.
    #[must_use]
    pub fn n_cuts(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Which interval of an attribute a code is in.
    #[must_use]
    pub fn interval_of(&self, attribute: usize, code: u32) -> usize {
        self.0[attribute].partition_point(|&cut| cut <= code)
    }

    /// The intervals of an attribute with `n_codes` codes, as first and last code.
    pub fn intervals(&self, attribute: usize, n_codes: u32) -> impl Iterator<Item = (u32, u32)> {
        let cuts = &self.0[attribute];
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().map(|&cut| cut - 1).chain(std::iter::once(n_codes.max(1) - 1));
        starts.zip(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_lie_between_cuts() {
        let mut cuts = Cuts::none(2);
        for code in [3, 1, 3] {
            cuts.insert(1, code);
        }
        assert_eq!(cuts.of(1), [1, 3]);
        assert_eq!(cuts.intervals(1, 5).collect::<Vec<_>>(), [(0, 0), (1, 2), (3, 4)]);
        assert_eq!(cuts.intervals(0, 5).collect::<Vec<_>>(), [(0, 4)]);
        assert_eq!([0, 1, 2, 3, 4].map(|code| cuts.interval_of(1, code)), [0, 1, 1, 2, 2]);
        cuts.join(1, 1, 4);
        assert_eq!((cuts.of(1), cuts.n_cuts()), (&[1][..], 1));
    }
}

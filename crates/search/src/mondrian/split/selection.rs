//! Selections: the imprecision of rectangular predicates (KDD 2006, section 3.4, equations 5 and
//! 6).
//!
//! The imprecision of a predicate in a part is the part's rows that do not satisfy it, if the
//! part's cell overlaps it, else none. A cut is made only if it lowers the sum over all predicates.
//! The extents of a part on attributes other than the one that is cut are taken from the region;
//! they may be smaller, which later cuts take into account.
//!
//! The rectangles of a selection count one by one, as in the paper, although the report measures
//! the selection as a whole. The imprecision of the whole has plateaus on which a greedy search
//! stops.

use incrowd_data::Region;

use super::boxes::{Boxes, Relation, mark};
use super::{Criterion, PointColumns, RegionCriterion};
use crate::partition::{Buffers, Extent, PackedCode};

/// The selections of a search.
pub(super) struct Selection {
    boxes: Boxes,
}

impl Selection {
    pub(super) fn new(set: &PointColumns, regions: &[Region]) -> Selection {
        let masks = set.masks.map(|masks| &masks.selections[..]);
        Selection { boxes: Boxes::new(set, &regions.iter().collect::<Vec<_>>(), masks) }
    }
}

/// The selections that partly overlap a region.
pub(super) struct OfRegion<'a> {
    boxes: &'a Boxes,
    across: Vec<usize>,
    /// By point, the number of these that it satisfies.
    n_satisfied: Vec<i64>,
}

impl Criterion for Selection {
    type Region<'a> = OfRegion<'a>;

    fn at<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        extents: &[Extent],
    ) -> Option<OfRegion<'_>> {
        let boxes = &self.boxes;
        let across: Vec<usize> = (0..boxes.len())
            .filter(|&of| boxes.relation(of, extents) == Relation::Across)
            .collect();
        if across.is_empty() {
            return None;
        }
        let mut wanted = vec![0u64; boxes.len().div_ceil(64)];
        mark(&mut wanted, across.iter().copied());
        let satisfied = |&vector: &u32| {
            let words = boxes.mask(vector).iter().zip(&wanted);
            words.map(|(mask, wanted)| i64::from((mask & wanted).count_ones())).sum()
        };
        let n_satisfied = region.vectors.iter().map(satisfied).collect();
        Some(OfRegion { boxes, across, n_satisfied })
    }
}

impl RegionCriterion for OfRegion<'_> {
    /// The rows that satisfy a predicate, added up over the predicates: a part that does not
    /// overlap a predicate has none.
    fn n_sums(&self) -> usize {
        1
    }

    fn add(&self, point: usize, rows: u32, sums: &mut [i64]) {
        sums[0] += self.n_satisfied[point] * i64::from(rows);
    }

    fn cost(&self, attribute: usize, extent: Extent, rows: u64, sums: &[i64]) -> f64 {
        let overlaps = |of: &&usize| self.boxes.overlaps(**of, attribute, extent);
        let n_overlapping = self.across.iter().filter(overlaps).count() as u64;
        let (selected, satisfied) = ((rows * n_overlapping) as f64, sums[0] as f64);
        selected - satisfied
    }

    fn must_lower(&self) -> bool {
        true
    }

    /// Costs are rows: every one counts.
    fn step(&self, _: f64) -> f64 {
        1.0
    }
}

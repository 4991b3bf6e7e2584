//! How far a region reaches on each attribute.

use incrowd_data::{Attribute, Shape};
use rayon::prelude::*;

use super::{Buffers, PackedCode};

/// The codes of one attribute within a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Least code.
    pub(crate) lo: u32,
    /// Greatest code.
    pub(crate) hi: u32,
    /// Which codes occur, as bits; means something while the attribute has at most 64 codes.
    present: u64,
}

impl Extent {
    const NONE: Extent = Extent { lo: u32::MAX, hi: 0, present: 0 };

    fn add(&mut self, code: u32) {
        self.lo = self.lo.min(code);
        self.hi = self.hi.max(code);
        self.present |= 1 << (code & 63);
    }

    fn join(self, other: Extent) -> Extent {
        Extent {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            present: self.present | other.present,
        }
    }
}

/// Points per task when a region is scanned by several threads.
const CHUNK: usize = 1 << 16;

/// The extent of a region on every attribute.
pub(crate) fn extents<C: PackedCode>(region: &Buffers<'_, C>) -> Vec<Extent> {
    let d = region.n_attributes;
    if d == 0 {
        return Vec::new();
    }
    let scan = |codes: &[C]| {
        let mut found = vec![Extent::NONE; d];
        for point in codes.chunks_exact(d) {
            for (extent, &code) in found.iter_mut().zip(point) {
                extent.add(code.into());
            }
        }
        found
    };
    if region.len() <= 2 * CHUNK {
        return scan(region.codes);
    }
    region.codes.par_chunks(CHUNK * d).map(scan).reduce(
        || vec![Extent::NONE; d],
        |a, b| a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect(),
    )
}

/// The normalised width of an extent: the part of the column's whole range that it covers. For an
/// unordered column it is what its set would lose: the values present less one, over all less one.
pub(crate) fn width(
    attribute: &Attribute,
    extent: Extent,
    codes: impl Iterator<Item = u32>,
) -> f64 {
    if extent.lo == extent.hi {
        return 0.0;
    }
    if !matches!(attribute.shape, Shape::Unordered) {
        return attribute.span(extent.lo, extent.hi);
    }
    let n_codes = attribute.n_codes();
    let present = if n_codes <= 64 { extent.present.count_ones() } else { distinct(extent, codes) };
    f64::from(present - 1) / f64::from(n_codes - 1)
}

fn distinct(extent: Extent, codes: impl Iterator<Item = u32>) -> u32 {
    let words = (extent.hi - extent.lo) as usize / 64 + 1;
    let mut seen = vec![0u64; words];
    for code in codes {
        let offset = (code - extent.lo) as usize;
        seen[offset / 64] |= 1 << (offset % 64);
    }
    seen.iter().map(|word| word.count_ones()).sum()
}

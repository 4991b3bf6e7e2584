//! The extent of a region on each attribute.

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
}

/// Points per task when a region is scanned by several threads.
const CHUNK: usize = 1 << 16;

/// The extent of a region on every attribute.
pub(crate) fn extents<C: PackedCode>(region: &Buffers<'_, C>) -> Vec<Extent> {
    let d = region.n_attributes;
    if d == 0 {
        return Vec::new();
    }
    let found = if region.len() <= 2 * CHUNK {
        scan(d, region.codes)
    } else {
        let parts = region.codes.par_chunks(CHUNK * d).map(|codes| scan(d, codes));
        parts.reduce_with(join).expect("a region has points")
    };
    found.iter().map(|&(lo, hi)| Extent { lo: lo.into(), hi: hi.into() }).collect()
}

/// Least and greatest code of each attribute. Common numbers of attributes have their own loop,
/// which the compiler vectorizes.
fn scan<C: PackedCode>(d: usize, codes: &[C]) -> Vec<(C, C)> {
    match d {
        1 => scan_fixed::<C, 1>(codes),
        2 => scan_fixed::<C, 2>(codes),
        3 => scan_fixed::<C, 3>(codes),
        4 => scan_fixed::<C, 4>(codes),
        5 => scan_fixed::<C, 5>(codes),
        6 => scan_fixed::<C, 6>(codes),
        7 => scan_fixed::<C, 7>(codes),
        8 => scan_fixed::<C, 8>(codes),
        9 => scan_fixed::<C, 9>(codes),
        10 => scan_fixed::<C, 10>(codes),
        _ => {
            let mut found: Vec<(C, C)> = codes[..d].iter().map(|&code| (code, code)).collect();
            for point in codes.chunks_exact(d) {
                for (extent, &code) in found.iter_mut().zip(point) {
                    *extent = (extent.0.min(code), extent.1.max(code));
                }
            }
            found
        }
    }
}

fn scan_fixed<C: PackedCode, const D: usize>(codes: &[C]) -> Vec<(C, C)> {
    let (points, _) = codes.as_chunks::<D>();
    let (mut lo, mut hi) = (points[0], points[0]);
    for point in points {
        for attribute in 0..D {
            lo[attribute] = lo[attribute].min(point[attribute]);
            hi[attribute] = hi[attribute].max(point[attribute]);
        }
    }
    lo.into_iter().zip(hi).collect()
}

fn join<C: PackedCode>(a: Vec<(C, C)>, b: Vec<(C, C)>) -> Vec<(C, C)> {
    a.into_iter().zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
}

/// The normalised width of an extent: the share of the column's range that it covers. For an
/// unordered column, the loss of its set: (values present - 1) / (all values - 1).
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
    f64::from(n_present(extent, codes) - 1) / f64::from(attribute.n_codes() - 1)
}

/// The loss of a class with these codes on an attribute: that of the least cell that covers them.
pub(crate) fn loss(attribute: &Attribute, extent: Extent, codes: impl Iterator<Item = u32>) -> f64 {
    if extent.lo == extent.hi {
        return 0.0;
    }
    if matches!(attribute.shape, Shape::Tree(_)) {
        return attribute.loss(&attribute.least_cell(&present(extent, codes)));
    }
    let is_counted = matches!(attribute.shape, Shape::Unordered);
    let n_present = if is_counted { n_present(extent, codes) } else { 2 };
    attribute.cover_loss(extent.lo, extent.hi, n_present as usize)
}

/// The codes of an extent that occur, ascending.
fn present(extent: Extent, codes: impl Iterator<Item = u32>) -> Vec<u32> {
    let seen = seen(extent, codes);
    let is_seen = |code: &u32| {
        let offset = (code - extent.lo) as usize;
        seen[offset / 64] >> (offset % 64) & 1 == 1
    };
    (extent.lo..=extent.hi).filter(is_seen).collect()
}

/// The number of codes of an extent that occur.
fn n_present(extent: Extent, codes: impl Iterator<Item = u32>) -> u32 {
    if extent.hi - extent.lo < 64 {
        codes.fold(0u64, |bits, code| bits | 1 << (code - extent.lo)).count_ones()
    } else {
        distinct(extent, codes)
    }
}

fn distinct(extent: Extent, codes: impl Iterator<Item = u32>) -> u32 {
    seen(extent, codes).iter().map(|word| word.count_ones()).sum()
}

/// A bit for each code of an extent: whether it occurs.
fn seen(extent: Extent, codes: impl Iterator<Item = u32>) -> Vec<u64> {
    let words = (extent.hi - extent.lo) as usize / 64 + 1;
    let mut seen = vec![0u64; words];
    for code in codes {
        let offset = (code - extent.lo) as usize;
        seen[offset / 64] |= 1 << (offset % 64);
    }
    seen
}

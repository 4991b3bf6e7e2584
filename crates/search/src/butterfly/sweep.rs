//! The cut of a small region along the order of one attribute that minimises the loss of the parts.

use incrowd_data::{Attribute, Shape};

use crate::partition::{Buffers, PackedCode};

/// Whether an attribute is cut along the order of its codes.
pub(super) fn is_swept(attribute: &Attribute) -> bool {
    !matches!(attribute.shape, Shape::Tree(_))
}

/// The least loss of two parts of at least `k` rows, and the last code of the lower one.
pub(super) fn best<C: PackedCode>(
    attributes: &[Attribute],
    region: &Buffers<'_, C>,
    attribute: usize,
    k: u64,
) -> Option<(f64, u32)> {
    let d = region.n_attributes;
    let code = |point: usize, at: usize| -> u32 { region.codes[point * d + at].into() };
    let mut order: Vec<(u32, u32)> =
        region.column(attribute).zip(0..).map(|((code, _), point)| (code, point)).collect();
    order.sort_unstable();
    let n = order.len();
    // By place, the losses on all attributes of the points before it and of those from it on.
    let (mut before, mut after) = (vec![0.0; n], vec![0.0; n]);
    for (at, of) in attributes.iter().enumerate() {
        let codes: Vec<u32> = order.iter().map(|&(_, point)| code(point as usize, at)).collect();
        add_losses(of, codes.iter().copied(), &mut before[1..]);
        // From the other end: the last cell is the loss of the last point alone.
        add_losses(of, codes.iter().rev().copied(), after.as_mut_slice());
    }
    after.reverse();
    let total: u64 = region.rows.iter().map(|&rows| u64::from(rows)).sum();
    let mut left = 0;
    let mut best: Option<(f64, u32)> = None;
    for place in 1..n {
        let (last, point) = order[place - 1];
        left += u64::from(region.rows[point as usize]);
        if last == order[place].0 || left < k {
            continue;
        }
        if total - left < k {
            break;
        }
        let cost = before[place] * left as f64 + after[place] * (total - left) as f64;
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, last));
        }
    }
    best
}

/// Adds, by place, the loss of the codes up to it as one class.
fn add_losses(attribute: &Attribute, codes: impl Iterator<Item = u32> + Clone, losses: &mut [f64]) {
    let (mut lo, mut hi) = (u32::MAX, 0);
    let is_unordered = matches!(attribute.shape, Shape::Unordered);
    let mut values: Vec<u32> = if is_unordered { codes.clone().collect() } else { Vec::new() };
    values.sort_unstable();
    values.dedup();
    let mut is_seen = vec![false; values.len()];
    let mut n_seen = 0;
    let mut loss_so_far = 0.0;
    for (code, loss) in codes.zip(losses) {
        let is_new = match values.binary_search(&code) {
            Ok(value) => !std::mem::replace(&mut is_seen[value], true),
            Err(_) => code < lo || code > hi,
        };
        if is_new {
            (lo, hi) = (lo.min(code), hi.max(code));
            n_seen += 1;
            if lo < hi {
                loss_so_far = attribute.cover_loss(lo, hi, n_seen);
            }
        }
        *loss += loss_so_far;
    }
}

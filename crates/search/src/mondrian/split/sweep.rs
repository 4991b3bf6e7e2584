//! The cut of a region on one attribute that costs least: one sweep over the attribute's values.

use incrowd_data::Shape;
use incrowd_privacy::Tally;

use super::buffer::with_table;
use super::{Costs, Look, RegionCriterion};
use crate::mondrian::cut::{self, Cut};
use crate::partition::{Extent, PackedCode};

/// A cut and the cost of its parts.
pub(super) struct Scored {
    /// In steps.
    pub(super) cost: i64,
    pub(super) cut: Cut,
}

/// A cut after a value that leaves enough rows on both sides.
struct Threshold {
    /// Its place among the cuts between neighbouring values.
    at: usize,
    code: u32,
    /// Its distance from the median, in rows.
    imbalance: u64,
    cost: i64,
    is_candidate: bool,
}

/// The cut on an attribute that costs least, if that is at most `most`. `sums` are those of the
/// region.
pub(super) fn best<C: PackedCode, R: RegionCriterion>(
    look: &Look<'_, '_, C>,
    costs: &Costs<R>,
    attribute: usize,
    sums: &[i64],
    tally: &mut Tally,
    most: i64,
) -> Option<Scored> {
    match &look.problem.set.attributes[attribute].shape {
        Shape::Tree(_) => into_children(look, costs, attribute, tally),
        _ => at_threshold(look, costs, attribute, sums, tally, most),
    }
    .filter(|scored| scored.cost <= most)
}

/// The cut into the children of a node of the hierarchy: there is only one.
fn into_children<C: PackedCode, R: RegionCriterion>(
    look: &Look<'_, '_, C>,
    costs: &Costs<R>,
    attribute: usize,
    tally: &mut Tally,
) -> Option<Scored> {
    let node = costs.node;
    let cut = cut::best(look.problem, look.region, attribute, look.extents[attribute], tally)?;
    let Cut::Children { ends, part_of } = &cut else { return None };
    let n_parts = part_of.iter().max().map_or(0, |last| last + 1);
    let n_sums = node.n_sums();
    let mut sums = vec![0; n_parts * n_sums];
    let mut rows = vec![0u64; n_parts];
    let mut extents: Vec<Option<Extent>> = vec![None; n_parts];
    for (point, (code, count)) in look.region.column(attribute).enumerate() {
        let part = part_of[ends.partition_point(|&end| end < code)];
        node.add(point, count, &mut sums[part * n_sums..(part + 1) * n_sums]);
        rows[part] += u64::from(count);
        let known = extents[part].unwrap_or(Extent { lo: code, hi: code });
        extents[part] = Some(Extent { lo: known.lo.min(code), hi: known.hi.max(code) });
    }
    let parts = extents.iter().zip(&rows).zip(sums.chunks_exact(n_sums.max(1)));
    let cost: f64 = parts
        .filter_map(|((extent, &rows), sums)| Some(node.cost(attribute, (*extent)?, rows, sums)))
        .sum();
    Some(Scored { cost: costs.steps(cost), cut })
}

fn at_threshold<C: PackedCode, R: RegionCriterion>(
    look: &Look<'_, '_, C>,
    costs: &Costs<R>,
    attribute: usize,
    sums: &[i64],
    tally: &mut Tally,
    most: i64,
) -> Option<Scored> {
    let thresholds = thresholds(look, costs, attribute, sums);
    let is_hopeless = thresholds.iter().all(|threshold| threshold.cost > most);
    if thresholds.is_empty() || is_hopeless {
        return None;
    }
    let allowable = if look.problem.only_counts() {
        None
    } else {
        Some(cut::allowable(look.problem, look.region, attribute, tally))
    };
    let is_allowable =
        |threshold: &&Threshold| allowable.as_ref().is_none_or(|allowable| allowable[threshold.at]);
    let allowed = || thresholds.iter().filter(is_allowable);
    let by_cost = |a: &&Threshold, b: &&Threshold| {
        (a.cost, a.imbalance, a.code).cmp(&(b.cost, b.imbalance, b.code))
    };
    let candidate = allowed().filter(|threshold| threshold.is_candidate).min_by(by_cost);
    let median = || allowed().min_by_key(|threshold| (threshold.imbalance, threshold.code));
    let best = candidate.or_else(median)?;
    Some(Scored { cost: best.cost, cut: Cut::At(best.code) })
}

/// Every cut between neighbouring values that leaves k rows on both sides, ascending.
fn thresholds<C: PackedCode, R: RegionCriterion>(
    look: &Look<'_, '_, C>,
    costs: &Costs<R>,
    attribute: usize,
    sums: &[i64],
) -> Vec<Threshold> {
    let node = costs.node;
    let Extent { lo, hi } = look.extents[attribute];
    let (k, total) = (look.problem.k, look.n_rows);
    let mut found = Vec::new();
    let mut left = vec![0i64; sums.len()];
    let mut right = sums.to_vec();
    let mut before = vec![0i64; sums.len()];
    let mut left_rows = 0;
    let mut last = None;
    let mut at = 0;
    each_value(look, node, attribute, |code, rows, here| {
        if let Some(last) = last {
            if k <= left_rows && k <= total - left_rows {
                let low = node.cost(attribute, Extent { lo, hi: last }, left_rows, &left);
                let high = Extent { lo: code, hi };
                let high = node.cost(attribute, high, total - left_rows, &right);
                found.push(Threshold {
                    at,
                    code: last,
                    imbalance: (2 * left_rows).abs_diff(total),
                    cost: costs.steps(low + high),
                    is_candidate: node.is_candidate(&before, here),
                });
            }
            at += 1;
        }
        last = Some(code);
        left_rows += rows;
        for ((left, right), &more) in left.iter_mut().zip(&mut right).zip(here) {
            *left += more;
            *right -= more;
        }
        before.copy_from_slice(here);
    });
    found
}

/// Calls a function with every code that occurs in the region, ascending, its rows and its sums.
fn each_value<C: PackedCode, R: RegionCriterion>(
    look: &Look<'_, '_, C>,
    node: &R,
    attribute: usize,
    mut call: impl FnMut(u32, u64, &[i64]),
) {
    let Extent { lo, hi } = look.extents[attribute];
    let n_sums = node.n_sums();
    let span = (hi - lo) as usize + 1;
    // Rows and sums of a value are adjacent.
    let width = n_sums + 1;
    if span * width <= 4 * look.region.len() * width.min(8) {
        with_table(span * width, |table| {
            node.tabulate(look.region.column(attribute), lo, width, table);
            for (code, value) in (lo..).zip(table.chunks_exact(width)).filter(|(_, v)| v[0] > 0) {
                call(code, value[0].unsigned_abs(), &value[1..]);
            }
        });
        return;
    }
    let mut points: Vec<(u32, u32)> = Vec::with_capacity(look.region.len());
    points.extend((0..).zip(look.region.column(attribute)).map(|(point, (code, _))| (code, point)));
    points.sort_unstable();
    let mut sums = vec![0i64; n_sums];
    for value in points.chunk_by(|a, b| a.0 == b.0) {
        sums.fill(0);
        let mut rows = 0;
        for &(_, point) in value {
            let count = look.region.rows[point as usize];
            rows += u64::from(count);
            node.add(point as usize, count, &mut sums);
        }
        call(value[0].0, rows, &sums);
    }
}

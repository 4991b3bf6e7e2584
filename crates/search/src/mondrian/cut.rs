//! The allowable cut of a region on one attribute that is nearest the median.

use incrowd_data::{Attribute, Branches, Level, Node, NodeId, Shape};
use incrowd_privacy::{Tally, all_hold};

use super::children;
use crate::Problem;
use crate::partition::{Buffers, Extent, PackedCode};

/// A cut of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Codes up to this one, and the others.
    At(u32),
    /// Runs of codes by their last one, the children of a hierarchy node, and the part of each.
    Children { ends: Vec<u32>, part_of: Vec<usize> },
}

impl Cut {
    /// Copies every point of a region into `to`, part by part. Returns the number of points of each
    /// part.
    pub(crate) fn scatter<C: PackedCode>(
        &self,
        attribute: usize,
        region: &Buffers<'_, C>,
        to: &mut Buffers<'_, C>,
    ) -> Vec<usize> {
        match self {
            Cut::At(at) => region.scatter(attribute, 2, |code| usize::from(code > *at), to),
            Cut::Children { ends, part_of } => {
                let part_of = |code: u32| part_of[ends.partition_point(|&end| end < code)];
                region.scatter(attribute, self.n_parts(), part_of, to)
            }
        }
    }

    /// The number of parts, including those without rows.
    pub(super) fn n_parts(&self) -> usize {
        match self {
            Cut::At(_) => 2,
            Cut::Children { part_of, .. } => part_of.iter().max().map_or(0, |last| last + 1),
        }
    }

    /// The part that a code goes to.
    pub(super) fn part_of(&self, code: u32) -> usize {
        match self {
            Cut::At(at) => usize::from(code > *at),
            Cut::Children { ends, part_of } => part_of[ends.partition_point(|&end| end < code)],
        }
    }

    /// The node of the attribute's hierarchy whose children it separates.
    pub(crate) fn divided_node(&self, attribute: &Attribute) -> Option<(Level, u32)> {
        let (Cut::Children { ends, .. }, Shape::Tree(hierarchy)) = (self, &attribute.shape) else {
            return None;
        };
        let (first, last) = ends.first().zip(ends.last())?;
        Some(hierarchy.common(*first, *last))
    }

    /// The tree node for this cut, given those of the parts.
    pub(super) fn node(&self, attribute: usize, parts: &[NodeId]) -> Node {
        let branches = match self {
            Cut::At(at) => Branches::Binary { at: *at, low: parts[0], high: parts[1] },
            Cut::Children { ends, part_of } => {
                let nodes = part_of.iter().map(|&part| parts[part]);
                Branches::Runs(ends.iter().copied().zip(nodes).collect())
            }
        };
        Node::Cut { attribute, branches }
    }
}

/// One code of the attribute within the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    code: u32,
    rows: u64,
}

/// The allowable cut on `attribute` that is nearest the median, if there is one.
pub(super) fn best<C: PackedCode>(
    problem: &Problem,
    region: &Buffers<'_, C>,
    attribute: usize,
    extent: Extent,
    tally: &mut Tally,
) -> Option<Cut> {
    nearest(problem, region, attribute, extent, tally, false)
}

/// The same. With `keeps`, only cuts whose parts have room for the greatest number of classes of k
/// rows count, which a cut at the median may not.
pub(crate) fn nearest<C: PackedCode>(
    problem: &Problem,
    region: &Buffers<'_, C>,
    attribute: usize,
    extent: Extent,
    tally: &mut Tally,
    keeps: bool,
) -> Option<Cut> {
    let of = &problem.set.attributes[attribute];
    match &of.shape {
        Shape::Tree(hierarchy) => {
            let (level, node) = hierarchy.common(extent.lo, extent.hi);
            debug_assert!(level > Level(0), "a region of one leaf has no extent");
            let ends = hierarchy.children(level, node).iter().map(|child| child.hi).collect();
            into_children(problem, region, attribute, ends, tally)
        }
        _ => at_rows(problem, region, attribute, extent, tally, keeps).map(Cut::At),
    }
}

/// The cut into the children of a node that end at the given codes.
fn into_children<C: PackedCode>(
    problem: &Problem,
    region: &Buffers<'_, C>,
    attribute: usize,
    ends: Vec<u32>,
    tally: &mut Tally,
) -> Option<Cut> {
    let child_of = |code: u32| ends.partition_point(|&end| end < code);
    let mut rows = vec![0u64; ends.len()];
    for (code, count) in region.column(attribute) {
        rows[child_of(code)] += u64::from(count);
    }
    let part_of = if problem.only_counts() {
        let sum = |children: &[usize]| children.iter().map(|&child| rows[child]).sum::<u64>();
        children::parts(&rows, |children| sum(children) >= problem.k)
    } else {
        let mut points: Vec<Vec<usize>> = vec![Vec::new(); ends.len()];
        for (point, (code, _)) in region.column(attribute).enumerate() {
            points[child_of(code)].push(point);
        }
        children::parts(&rows, |children| {
            tally.clear();
            for &point in children.iter().flat_map(|&child| &points[child]) {
                tally.add(region.vectors[point] as usize, region.rows[point]);
            }
            all_hold(problem.models, tally.class())
        })
    };
    part_of.map(|part_of| Cut::Children { ends, part_of })
}

fn at_rows<C: PackedCode>(
    problem: &Problem,
    region: &Buffers<'_, C>,
    attribute: usize,
    extent: Extent,
    tally: &mut Tally,
    keeps: bool,
) -> Option<u32> {
    let values = frequency_set(region, attribute, extent);
    let total: u64 = values.iter().map(|value| value.rows).sum();
    let allowable = if problem.only_counts() {
        None
    } else {
        Some(allowable(problem, region, attribute, tally))
    };
    let before_missing = before_missing(&problem.set.attributes[attribute], extent);
    let mut left = 0;
    let mut best: Option<(bool, u64, u64, u32)> = None;
    for (at, value) in values[..values.len() - 1].iter().enumerate() {
        left += value.rows;
        let is_allowable = match &allowable {
            None => problem.k <= left && problem.k <= total - left,
            Some(allowable) => allowable[at],
        };
        if is_allowable {
            let is_last = at + 2 == values.len();
            let room = left / problem.k + (total - left) / problem.k;
            let lost = if keeps { total / problem.k - room } else { 0 };
            let is_first = before_missing && is_last;
            let key = (!is_first, lost, (2 * left).abs_diff(total), value.code);
            best = Some(best.map_or(key, |best| best.min(key)));
        }
    }
    best.map(|(_, _, _, code)| code)
}

/// Whether the last code of the extent is the missing one of an ordered attribute.
fn before_missing(attribute: &Attribute, extent: Extent) -> bool {
    matches!(attribute.shape, Shape::Numeric | Shape::Ordinal)
        && attribute.dictionary.missing() == Some(extent.hi)
}

/// The codes that occur in the region, ascending, with their rows (`frequency_set` of Figure 7).
fn frequency_set<C: PackedCode>(
    region: &Buffers<'_, C>,
    attribute: usize,
    extent: Extent,
) -> Vec<Value> {
    let span = (extent.hi - extent.lo) as usize + 1;
    if span <= 4 * region.len() {
        let mut rows = vec![0u64; span];
        for (code, count) in region.column(attribute) {
            rows[(code - extent.lo) as usize] += u64::from(count);
        }
        (extent.lo..)
            .zip(rows)
            .filter(|(_, r)| *r > 0)
            .map(|(code, rows)| Value { code, rows })
            .collect()
    } else {
        let mut values: Vec<Value> = region
            .column(attribute)
            .map(|(code, rows)| Value { code, rows: u64::from(rows) })
            .collect();
        values.sort_unstable_by_key(|value| value.code);
        values.dedup_by(|next, kept| {
            let is_same = next.code == kept.code;
            kept.rows += if is_same { next.rows } else { 0 };
            is_same
        });
        values
    }
}

/// For every value that occurs except the last, whether both sides of the cut after it satisfy the
/// models: one sweep from each end.
pub(super) fn allowable<C: PackedCode>(
    problem: &Problem,
    region: &Buffers<'_, C>,
    attribute: usize,
    tally: &mut Tally,
) -> Vec<bool> {
    let mut points: Vec<(u32, usize)> =
        region.column(attribute).enumerate().map(|(point, (code, _))| (code, point)).collect();
    points.sort_unstable();
    let mut sweep = |points: &mut dyn Iterator<Item = &(u32, usize)>| {
        tally.clear();
        let mut holds = Vec::new();
        let mut last = None;
        for &(code, point) in points {
            if last.is_some_and(|last| last != code) {
                holds.push(all_hold(problem.models, tally.class()));
            }
            last = Some(code);
            tally.add(region.vectors[point] as usize, region.rows[point]);
        }
        holds
    };
    let low = sweep(&mut points.iter());
    let high = sweep(&mut points.iter().rev());
    low.iter().zip(high.iter().rev()).map(|(low, high)| *low && *high).collect()
}

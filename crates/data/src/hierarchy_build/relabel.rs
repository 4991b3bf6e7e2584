//! New labels for built hierarchies, from some of their values only.
//!
//! The labels of a hierarchy that is built from the values of a table reveal something about these
//! values: the ends of a group, the longest value, whether all numbers are whole. Once it is known
//! which values are released, the labels are rebuilt from these alone, so that they reveal nothing
//! about suppressed rows. The tree itself does not change.

use std::collections::BTreeMap;

use super::{MAX_MASK_LEVELS, MaskSide, ROOT, group_label, intervals, mask_label, pad};
use crate::{Hierarchy, Level};

/// The labels of a [`fan_out`](super::fan_out) over the marked leaves.
#[must_use]
pub fn relabel_fan_out(hierarchy: &Hierarchy, is_marked: &[bool]) -> Hierarchy {
    hierarchy.relabelled(is_marked, |_, group, marked| {
        let is_text = group.label.starts_with('{');
        Some(group_label(marked, is_text))
    })
}

/// The labels of a [`mask`](super::mask) over the marked leaves: as long as the longest of them.
#[must_use]
pub fn relabel_mask(
    hierarchy: &Hierarchy,
    is_marked: &[bool],
    side: MaskSide,
    character: char,
) -> Hierarchy {
    let length = |leaf: &str| leaf.chars().count();
    let longest = hierarchy.leaves().map(length).max().unwrap_or(0);
    let marked = hierarchy.leaves().zip(is_marked).filter(|(_, is_marked)| **is_marked);
    let longest_marked = marked.map(|(leaf, _)| length(leaf)).max().unwrap_or(0);
    let step = longest.div_ceil(MAX_MASK_LEVELS).max(1);
    hierarchy.relabelled(is_marked, |Level(level), _, marked| {
        let n_kept = longest.saturating_sub(usize::from(level) * step).min(longest_marked);
        let padded = pad(marked[0], side, character, longest_marked);
        Some(mask_label(&padded, side, character, longest_marked - n_kept))
    })
}

/// The labels of [`intervals`] over the marked leaves. A level that these leaves alone would not
/// need gets the label of the root; any other would reveal how far the other values extend.
#[must_use]
pub fn relabel_intervals(
    hierarchy: &Hierarchy,
    is_marked: &[bool],
    width: f64,
    origin: Option<f64>,
    levels: &[u32],
) -> Hierarchy {
    let marked: Vec<&str> = hierarchy
        .leaves()
        .zip(is_marked)
        .filter(|(_, is_marked)| **is_marked)
        .map(|(leaf, _)| leaf)
        .collect();
    // What was built from all values can be built from some.
    let Ok(rows) = intervals(&marked, width, origin, levels) else { return hierarchy.clone() };
    let row_of: BTreeMap<&str, &Vec<String>> =
        rows.iter().map(|row| (row[0].as_str(), row)).collect();
    hierarchy.relabelled(is_marked, |Level(level), _, marked| {
        let row = row_of.get(marked[0])?;
        Some(row.get(usize::from(level)).map_or(ROOT, String::as_str).to_owned())
    })
}

//! What labels may be made of: the values that released rows have.

use incrowd_data::{
    Attribute, FrequencySet, Hierarchy, MaskSide, SUPPRESSED, Shape, relabel_fan_out,
    relabel_intervals, relabel_mask,
};

use crate::plan::Plan;
use crate::spec::{BuiltSpec, HierarchySpec};

/// By attribute, whether each of its codes occurs in a released row.
pub(crate) fn released_codes(set: &FrequencySet, class_of: &[u32]) -> Vec<Vec<bool>> {
    let of_attribute = |(attribute, codes): (&Attribute, &incrowd_data::Codes)| {
        let mut is_released = vec![false; attribute.n_codes() as usize];
        for ((code, &rows), &class) in codes.iter().zip(&set.counts).zip(class_of) {
            is_released[code as usize] |= rows > 0 && class != SUPPRESSED;
        }
        is_released
    };
    set.attributes.iter().zip(&set.vectors).map(of_attribute).collect()
}

/// Makes the labels of hierarchies that were built from the table's values again, from those that
/// released rows have.
pub(crate) fn relabel(plan: &Plan, set: &mut FrequencySet, class_of: &[u32]) {
    if !class_of.contains(&SUPPRESSED) {
        return;
    }
    let released = released_codes(set, class_of);
    for (attribute, is_released) in set.attributes.iter_mut().zip(&released) {
        let column = plan.columns.iter().find(|column| column.name == attribute.name);
        let spec = column.and_then(|column| column.spec.hierarchy.as_ref());
        if let (Some(HierarchySpec::Built(built)), Shape::Tree(hierarchy)) =
            (spec, &mut attribute.shape)
        {
            *hierarchy = relabelled(hierarchy, built, is_released);
        }
    }
}

/// A built hierarchy with labels that tell of these leaves only.
pub(crate) fn relabelled(
    hierarchy: &Hierarchy,
    built: &BuiltSpec,
    is_released: &[bool],
) -> Hierarchy {
    if let Some(side) = &built.mask {
        let side = if side == "left" { MaskSide::Left } else { MaskSide::Right };
        relabel_mask(hierarchy, is_released, side, built.character.unwrap_or('*'))
    } else if let Some(width) = built.width {
        let levels = built.levels.as_deref().unwrap_or(&[]);
        relabel_intervals(hierarchy, is_released, width, built.origin, levels)
    } else if built.fan_out.is_some() {
        relabel_fan_out(hierarchy, is_released)
    } else {
        // The parts of a date are those of that date alone.
        hierarchy.clone()
    }
}

//! What a recoding file keeps so that new rows get the labels and the hierarchies of the recoding.

use incrowd_data::{Attribute, Cell, Dictionary, FrequencySet, Shape};
use incrowd_release::Classes;
use incrowd_search::{Found, Recoding};
use indexmap::IndexMap;

use super::Covered;
use crate::flow::regions::known_values;
use crate::flow::relabel::released_codes;
use crate::plan::{Plan, PlannedColumn};
use crate::spec::{BuiltSpec, HierarchySpec, Role};

/// Region labels say `*` of a whole line, where a recoding otherwise keeps its least and greatest
/// value.
pub(super) fn say_anything(
    attributes: &[Attribute],
    classes: &Classes,
    class: u32,
    cells: &mut IndexMap<String, Covered>,
) {
    let number = classes.number_of[class as usize];
    for (attribute, column) in attributes.iter().zip(&classes.recoded.columns) {
        if let Some(covered) = cells.get_mut(&attribute.name)
            && column.cells[column.of_class[number as usize] as usize] == Cell::All
        {
            *covered = Covered::anything();
        }
    }
}

/// The values that region labels name of unordered columns.
pub(super) fn known(set: &FrequencySet, found: &Found) -> IndexMap<String, Vec<Option<String>>> {
    let released = released_codes(set, &found.assignment.class_of);
    let unordered = set.attributes.iter().zip(&released);
    let unordered = unordered.filter(|(of, _)| matches!(of.shape, Shape::Unordered));
    let values = |(of, is_known): (&Attribute, &Vec<bool>)| {
        let mut values = known_values(&of.dictionary, is_known);
        // In no order that tells how often they occur.
        values.sort_unstable();
        (of.name.clone(), values)
    };
    unordered.map(values).collect()
}

/// The columns whose last interval is released as `*` because it has missing values, too.
pub(super) fn any(set: &FrequencySet, found: &Found, classes: &Classes) -> Vec<String> {
    let Recoding::Intervals(cuts) = &found.recoding else { return Vec::new() };
    let is_any = |(at, attribute): &(usize, &Attribute)| {
        let is_line = !matches!(attribute.shape, Shape::Unordered);
        let joins_missing = cuts.of(*at).last() != attribute.dictionary.missing().as_ref();
        is_line && joins_missing && classes.recoded.columns[*at].cells.contains(&Cell::All)
    };
    let attributes = set.attributes.iter().enumerate().filter(is_any);
    attributes.map(|(_, attribute)| attribute.name.clone()).collect()
}

/// The place of the first value of a dictionary on a line that is not below a cut point.
pub(super) fn first_above(dictionary: &Dictionary, cut_point: &str) -> Option<usize> {
    let place = incrowd_engine::position(dictionary.kind, cut_point)?;
    Some(dictionary.positions.partition_point(|&position| position < place))
}

/// The rules that hierarchies were made by. A fan-out has none: it joins the values that there are.
pub(super) fn rules(plan: &Plan) -> IndexMap<String, BuiltSpec> {
    let rule = |column: &PlannedColumn| match &column.spec.hierarchy {
        Some(HierarchySpec::Built(rule)) if rule.fan_out.is_none() => {
            Some((column.name.clone(), rule.clone()))
        }
        _ => None,
    };
    let quasi = plan.columns.iter().filter(|column| column.role == Some(Role::Quasi));
    quasi.filter_map(rule).collect()
}

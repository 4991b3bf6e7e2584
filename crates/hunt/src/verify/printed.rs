//! No label prints a value that only rows outside of it have: in particular no value of a row that
//! was suppressed.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::case::Labels;
use crate::label::{Axis, Cells, Cover};
use crate::value::Value;

use super::Evidence;

pub(super) fn check(evidence: &Evidence) -> Result<(), Fault> {
    for axis in &evidence.axes {
        let released: BTreeSet<Value> = (0..evidence.release.rows.len())
            .filter(|&row| !evidence.is_starred(row))
            .map(|row| evidence.value(row, axis))
            .collect();
        for (cells, rows) in alike(evidence, axis) {
            let own: BTreeSet<Value> = rows.iter().map(|&row| evidence.value(row, axis)).collect();
            // Sets name values of other rows, which must have been released, too. Ends are cut
            // points between released values, or values of a declared order, which no row has a say
            // in.
            let mut allowed = own.clone();
            if evidence.case.job.labels == Labels::Region {
                allowed.extend(released.iter().cloned());
                let order = axis.order.iter().flatten();
                allowed.extend(order.map(|value| axis.value(Some(value))));
            }
            let covers = axis.read(&evidence.release.rows[rows[0]]);
            let is_clean = |cover: &Cover| {
                let is_true = own.iter().all(|value| cover.has(value));
                let is_cut =
                    evidence.case.job.labels == Labels::Region && matches!(cover, Cover::Range(..));
                is_true && (is_cut || cover.printed().iter().all(|value| allowed.contains(*value)))
            };
            if !covers.iter().any(is_clean) {
                let input = &evidence.case.table;
                let inside: BTreeSet<_> =
                    rows.iter().map(|&row| input.cell(evidence.origins[row], axis.input)).collect();
                let detail = format!("`{}`: {cells:?} is printed for {inside:?}", axis.name);
                return Err(Fault::new("printed", detail));
            }
        }
    }
    Ok(())
}

/// Rows with the same label: all of them where a value has one label in the whole table, those of a
/// class where labels are made class by class.
fn alike<'a>(evidence: &'a Evidence, axis: &Axis) -> BTreeMap<Vec<Option<&'a str>>, Vec<usize>> {
    let job = &evidence.case.job;
    let by_class = job.algorithm == "mondrian"
        || job.algorithm == "union" && job.variant.is_none_or(|name| name.starts_with("mondrian"));
    let columns: Vec<usize> = if by_class {
        evidence.axes.iter().flat_map(Axis::published).collect()
    } else {
        // A mean is one of the class, not of the label.
        match axis.cells {
            Cells::Label { label, .. } => vec![label],
            Cells::Bounds(..) | Cells::Mean(_) => axis.published(),
        }
    };
    let mut groups: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
    for row in 0..evidence.release.rows.len() {
        let cells = columns.iter().map(|&at| evidence.release.cell(row, at)).collect();
        groups.entry(cells).or_default().push(row);
    }
    groups
}

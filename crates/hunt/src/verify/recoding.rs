//! Recodings are of the kind that their algorithm promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::case::Hierarchy;
use crate::label::{Axis, Cells, Cover};
use crate::value::Value;

use super::Evidence;

pub(super) fn check(evidence: &Evidence) -> Result<(), Fault> {
    let job = &evidence.case.job;
    let name = match (job.algorithm, job.variant) {
        ("union", Some(variant)) => variant,
        ("union", None) => "mondrian",
        (name, _) => name,
    };
    match name {
        "koptimize" | "hill-climb" | "single-dimensional" | "tds" => {
            for axis in &evidence.axes {
                function(evidence, std::slice::from_ref(axis))?;
            }
        }
        "optimal" | "incognito" | "samarati" | "bottom-up" | "datafly" => {
            for axis in &evidence.axes {
                function(evidence, std::slice::from_ref(axis))?;
                levels(evidence, axis)?;
            }
        }
        "mondrian" if job.variant != Some("relaxed") => {
            function(evidence, &evidence.axes)?;
            apart(evidence)?;
        }
        _ => {}
    }
    Ok(())
}

/// Of any two classes there is a column on which no value may belong to both. Values and missing
/// cells of a line are mixed in `*`, so that tables with missing cells on one are left out.
fn apart(evidence: &Evidence) -> Result<(), Fault> {
    let (case, axes) = (evidence.case, &evidence.axes);
    let may_overlap = |axis: &Axis| {
        let mut cells = case.table.cells(axis.input);
        let is_mixed = axis.has_ranges() && axis.tree.is_none() && cells.any(|c| c.is_none());
        is_mixed || matches!(axis.cells, Cells::Mean(_))
    };
    let is_plain =
        |axis: &Axis| !matches!(case.columns[axis.input].hierarchy, Some(Hierarchy::Built { .. }));
    if case.job.is_starred || axes.iter().any(may_overlap) || !axes.iter().all(is_plain) {
        return Ok(());
    }
    // Values that a cell may stand for: those of the table, and leaves that no row has.
    let values = |axis: &Axis| -> BTreeSet<Value> {
        let leaves = axis.tree.iter().flatten().map(|row| Some(row[0].as_str()));
        let cells = case.table.cells(axis.input);
        cells.chain(leaves).map(|cell| axis.value(cell)).collect()
    };
    let values: Vec<BTreeSet<Value>> = axes.iter().map(values).collect();
    let classes = evidence.classes(&case.quasi());
    let mut boxes: Vec<Vec<Vec<BTreeSet<&Value>>>> = Vec::new();
    for class in &classes {
        let row = &evidence.release.rows[class[0]];
        boxes.push(axes.iter().zip(&values).map(|(axis, of)| readings(axis, of, row)).collect());
    }
    for (at, one) in boxes.iter().enumerate() {
        for (other_at, other) in boxes.iter().enumerate().skip(at + 1) {
            let is_apart = one.iter().zip(other).any(|(one, other)| {
                one.iter().any(|one| other.iter().any(|other| one.is_disjoint(other)))
            });
            if !is_apart {
                let cells = |class: &Vec<usize>| evidence.release.rows[class[0]].clone();
                let detail =
                    format!("{:?} and {:?}", cells(&classes[at]), cells(&classes[other_at]));
                return Err(Fault::new("overlap", detail));
            }
        }
    }
    Ok(())
}

/// By reading of a row's cells, the values that they cover.
fn readings<'a>(
    axis: &Axis,
    values: &'a BTreeSet<Value>,
    row: &[Option<String>],
) -> Vec<BTreeSet<&'a Value>> {
    let covered = |cover: &Cover| values.iter().filter(|value| cover.has(value)).collect();
    axis.read(row).iter().map(covered).collect()
}

/// Equal values have equal labels.
fn function(evidence: &Evidence, axes: &[Axis]) -> Result<(), Fault> {
    // A mean is one of the class, not of the column.
    let columns: Vec<usize> = axes
        .iter()
        .flat_map(|axis| match axis.cells {
            Cells::Label { label, .. } => vec![label],
            Cells::Bounds(least, greatest) => vec![least, greatest],
            Cells::Mean(_) => Vec::new(),
        })
        .collect();
    let mut labels: BTreeMap<Vec<Value>, Vec<Option<&str>>> = BTreeMap::new();
    for row in 0..evidence.release.rows.len() {
        if evidence.is_starred(row) {
            continue;
        }
        let values = axes.iter().map(|axis| evidence.value(row, axis)).collect();
        let cells: Vec<_> = columns.iter().map(|&at| evidence.release.cell(row, at)).collect();
        let first = labels.entry(values).or_insert_with(|| cells.clone());
        if *first != cells {
            let names: Vec<&String> = axes.iter().map(|axis| &axis.name).collect();
            let detail = format!("{names:?}: equal values are {first:?} and {cells:?}");
            return Err(Fault::new("function", detail));
        }
    }
    Ok(())
}

/// A full-domain recoding prints the node of the level that the report names.
fn levels(evidence: &Evidence, axis: &Axis) -> Result<(), Fault> {
    let level = evidence.report["recoding"]["levels"][&axis.name].as_u64();
    let level = level.and_then(|level| usize::try_from(level).ok());
    let (Some(level), Some(rows)) = (level, &axis.tree) else {
        return Err(Fault::new("levels", format!("no level of `{}`", axis.name)));
    };
    let Cells::Label { label, .. } = axis.cells else { return Ok(()) };
    // Labels that are built from the table are made of the values that were released.
    let is_built =
        matches!(evidence.case.columns[axis.input].hierarchy, Some(Hierarchy::Built { .. }));
    if is_built && evidence.report["release"]["suppressed"].as_u64() != Some(0) {
        return Ok(());
    }
    for row in 0..evidence.release.rows.len() {
        let value = evidence.value(row, axis);
        let is_own = |leaf: &&Vec<String>| axis.value(Some(&leaf[0])) == value;
        let Some(path) = rows.iter().find(is_own).filter(|_| !evidence.is_starred(row)) else {
            continue;
        };
        let expected = path.get(level).map(String::as_str);
        let found = evidence.release.cell(row, label);
        // A name that looks like a label has a backslash before it.
        let bare = found.map(|found| found.strip_prefix('\\').unwrap_or(found));
        let is_value =
            |found: Option<&str>| found.is_some_and(|found| axis.value(Some(found)) == value);
        let is_same = level == 0 && (is_value(found) || is_value(bare));
        // `*` stands above a root of another name where cells are missing.
        let is_above = level == path.len() && found == Some("*");
        if !is_same && found != expected && bare != expected && !is_above {
            let detail = format!("`{}`: {found:?}, level {level} is {expected:?}", axis.name);
            return Err(Fault::new("levels", detail));
        }
    }
    Ok(())
}

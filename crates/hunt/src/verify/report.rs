//! The figures of the report, worked out again from the release.

use serde_json::Value as Json;

use crate::Fault;
use crate::value::{Kind, Value, count};

use super::models::{self, TOLERANCE};
use super::{Evidence, rows};

pub(super) fn check(evidence: &Evidence) -> Result<(), Fault> {
    let report = evidence.report;
    let table = &evidence.case.table;
    let classes = evidence.classes(&evidence.case.quasi());
    let sizes: Vec<usize> = classes.iter().map(Vec::len).collect();
    let suppressed = report["release"]["suppressed"].as_f64().unwrap_or(f64::NAN);
    same(&report["input"]["rows"], count(table.rows.len()), "input.rows")?;
    same(&report["input"]["columns"], count(table.header.len()), "input.columns")?;
    // With stars the report tells of the rows that were not suppressed.
    let is_whole = !evidence.case.job.is_starred || suppressed == 0.0;
    if is_whole && !sizes.is_empty() {
        let (least, greatest) = (sizes.iter().min(), sizes.iter().max());
        let n = evidence.release.rows.len();
        same(&report["release"]["rows"], count(n), "release.rows")?;
        same(&report["release"]["classes"], count(sizes.len()), "release.classes")?;
        same(&report["release"]["smallest_class"], count(*least.unwrap_or(&0)), "smallest_class")?;
        same(&report["release"]["largest_class"], count(*greatest.unwrap_or(&0)), "largest_class")?;
        let squares: usize = sizes.iter().map(|size| size * size).sum();
        let cost = count(squares) + suppressed * count(table.rows.len());
        same(&report["measures"]["discernibility"], cost, "discernibility")?;
        let average = count(n) / count(sizes.len()) / count(evidence.case.greatest_k());
        same(&report["measures"]["average_class_size"], average, "average_class_size")?;
        risks(evidence)?;
    }
    sets(evidence)
}

/// The figures of every set.
fn sets(evidence: &Evidence) -> Result<(), Fault> {
    let entries = evidence.report["privacy"].as_array().cloned().unwrap_or_default();
    let required = evidence.case.required();
    if entries.len() != required.len() {
        let detail =
            format!("{} sets are told of, {} were asked for", entries.len(), required.len());
        return Err(Fault::new("report", detail));
    }
    for (entry, (name, columns, k)) in entries.iter().zip(&required) {
        let classes = evidence.classes(columns);
        let people = |class: &Vec<usize>| {
            let origins: Vec<usize> = class.iter().map(|&row| evidence.origins[row]).collect();
            models::size(evidence, &origins)
        };
        let least: Option<Vec<usize>> = classes.iter().map(people).collect();
        if let Some(least) = least.and_then(|sizes| sizes.into_iter().min()) {
            same(&entry["k"], count(least), &format!("k of {name}"))?;
        }
        same(&entry["required"]["k"], count(*k), "required.k")?;
        if entry["satisfied"] != Json::Bool(true) {
            return Err(Fault::new("report", format!("`{name}` is not satisfied")));
        }
        sensitive(evidence, entry, &classes)?;
    }
    Ok(())
}

/// The figures of sensitive columns within one set.
fn sensitive(evidence: &Evidence, entry: &Json, classes: &[Vec<usize>]) -> Result<(), Fault> {
    let table = &evidence.case.table;
    let Some(columns) = entry["sensitive"].as_object() else { return Ok(()) };
    for (name, told) in columns {
        let Some(column) = table.column(name) else { continue };
        let kind = Kind::of(table.cells(column));
        let values = rows::values(evidence, column);
        let is_counted =
            |value: &&Value| evidence.case.job.counts_missing || **value != Value::Missing;
        let of = |rows: &[usize]| -> Vec<Value> {
            let values = rows.iter().map(|&row| &values[evidence.origins[row]]);
            values.filter(is_counted).cloned().collect()
        };
        let whole = of(&(0..evidence.release.rows.len()).collect::<Vec<usize>>());
        let figures: Vec<models::Verdict> =
            classes.iter().map(|class| models::figures(&of(class), &whole, kind)).collect();
        let Some(l_distinct) = figures.iter().map(|figure| figure.l_distinct).min() else {
            continue;
        };
        let l_entropy = figures.iter().map(|figure| figure.l_entropy).fold(f64::INFINITY, f64::min);
        let t = figures.iter().map(|figure| figure.t).fold(0.0, f64::max);
        same(&told["l_distinct"], count(l_distinct), &format!("l_distinct of {name}"))?;
        same(&told["l_entropy"], l_entropy, &format!("l_entropy of {name}"))?;
        same(&told["t"], t, &format!("t of {name}"))?;
    }
    Ok(())
}

/// Risks of the worst set.
fn risks(evidence: &Evidence) -> Result<(), Fault> {
    if evidence.case.entity().is_some() {
        return Ok(());
    }
    let n = count(evidence.release.rows.len());
    let mut greatest = 0.0;
    for (_, columns, _) in evidence.case.required() {
        let classes = evidence.classes(&columns);
        let least = classes.iter().map(Vec::len).min().unwrap_or(0);
        greatest = f64::max(greatest, 1.0 / count(least));
        if evidence.case.job.sets.is_empty() {
            let risk = &evidence.report["risk"];
            same(&risk["marketer"], count(classes.len()) / n, "marketer")?;
            same(&risk["prosecutor_average"], count(classes.len()) / n, "prosecutor_average")?;
        }
    }
    same(&evidence.report["risk"]["prosecutor_max"], greatest, "prosecutor_max")
}

fn same(told: &Json, found: f64, name: &str) -> Result<(), Fault> {
    let is_same =
        told.as_f64().is_some_and(|told| (told - found).abs() <= TOLERANCE.max(1e-9 * found.abs()));
    if is_same {
        return Ok(());
    }
    Err(Fault::new("report", format!("{name}: {told} is told, {found} is found")))
}

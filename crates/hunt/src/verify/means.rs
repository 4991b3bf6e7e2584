//! Means are those of their class, and are withheld where too few have a value.

use std::collections::BTreeSet;

use crate::Fault;
use crate::label::Axis;
use crate::value::{Value, count, float};

use super::{Evidence, models};

pub(super) fn check(evidence: &Evidence) -> Result<(), Fault> {
    for axis in &evidence.axes {
        let Some(column) = axis.mean().filter(|_| axis.kind.is_number()) else { continue };
        let groupings = groupings(evidence, axis);
        for row in 0..evidence.release.rows.len() {
            if evidence.is_starred(row) {
                continue;
            }
            let printed = evidence.release.cell(row, column);
            let mut expected = Vec::new();
            for classes in &groupings {
                let class = classes.iter().find(|class| class.contains(&row));
                let class = class.expect("every row is in a class");
                expected.push(mean(evidence, axis, class));
            }
            if !expected.iter().any(|mean| mean.allows(printed)) {
                let detail = format!("`{}`: {printed:?}, expected {expected:?}", axis.name);
                return Err(Fault::new("mean", detail));
            }
        }
    }
    Ok(())
}

/// The classes that a mean may be of. A butterfly cuts each set's columns for themselves.
fn groupings(evidence: &Evidence, axis: &Axis) -> Vec<Vec<Vec<usize>>> {
    let mut groupings = vec![evidence.classes(&evidence.case.quasi())];
    if evidence.case.job.algorithm == "butterfly" {
        for (_, columns, _) in evidence.case.required() {
            if columns.contains(&axis.name) {
                groupings.push(evidence.classes(&columns));
            }
        }
        groupings.push(evidence.classes(std::slice::from_ref(&axis.name)));
    }
    groupings
}

#[derive(Debug)]
struct Mean {
    value: f64,
    must_be_withheld: bool,
    may_be_withheld: bool,
}

fn mean(evidence: &Evidence, axis: &Axis, class: &[usize]) -> Mean {
    let number = |&row: &usize| match evidence.value(row, axis) {
        Value::Number(scaled) => Some(float(scaled)),
        _ => None,
    };
    let having: Vec<usize> = class
        .iter()
        .filter(|row| number(row).is_some())
        .map(|&row| evidence.origins[row])
        .collect();
    let numbers: Vec<f64> = class.iter().filter_map(number).collect();
    let size = models::size(evidence, &having).unwrap_or(having.len());
    let ks: BTreeSet<usize> = evidence.case.required().iter().map(|(_, _, k)| *k).collect();
    Mean {
        value: numbers.iter().sum::<f64>() / count(numbers.len()),
        must_be_withheld: ks.first().is_some_and(|&k| size < k),
        may_be_withheld: ks.last().is_some_and(|&k| size < k),
    }
}

impl Mean {
    fn allows(&self, printed: Option<&str>) -> bool {
        match printed {
            // A hierarchy's column of numbers may be labelled by nodes.
            None | Some("*") => self.may_be_withheld,
            Some(text) => {
                let is_near = text.parse::<f64>().is_ok_and(|printed| {
                    (printed - self.value).abs() <= 1e-9 * (1.0 + self.value.abs())
                });
                is_near && !self.must_be_withheld
            }
        }
    }
}

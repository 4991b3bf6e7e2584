//! Means are those of their class, and are withheld where too few have a value.

use std::collections::BTreeSet;

use crate::Fault;
use crate::case::Labels;
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
                expected.push(mean(evidence, axis, (class, classes)));
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

fn mean(evidence: &Evidence, axis: &Axis, (class, all): (&[usize], &[Vec<usize>])) -> Mean {
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
    let values: Vec<f64> =
        (0..evidence.release.rows.len()).filter_map(|row| number(&row)).collect();
    let sum = |class: &Vec<usize>| class.iter().filter_map(number).sum::<f64>();
    let sums: Vec<f64> = all.iter().map(sum).collect();
    let is_told = match evidence.case.job.labels {
        Labels::RangeMean => tells(&numbers, &values),
        _ => tells_without_range(&numbers, &sums),
    };
    let size = models::size(evidence, &having).unwrap_or(having.len());
    let ks: BTreeSet<usize> = evidence.case.required().iter().map(|(_, _, k)| *k).collect();
    Mean {
        value: numbers.iter().sum::<f64>() / count(numbers.len()),
        must_be_withheld: ks.first().is_some_and(|&k| size < k),
        may_be_withheld: is_told || ks.last().is_some_and(|&k| size < k),
    }
}

/// Whether a mean may tell every value of its class to a reader who knows its rows, its least and
/// greatest value, and in which steps the values of the column are. The reader may take the steps
/// from the decimal places or from the values themselves, so that either will do.
fn tells(numbers: &[f64], all: &[f64]) -> bool {
    let Some((scale, unit)) = unit(all) else { return true };
    [1, unit].into_iter().any(|step| {
        let values = numbers.iter().filter_map(|number| whole(number * scale));
        is_told(&values.map(|value| value / step).collect::<Vec<i64>>())
    })
}

/// The same without the least and the greatest value: all that is known is that no value is below
/// zero, and in which steps the sums of the classes are.
fn tells_without_range(numbers: &[f64], sums: &[f64]) -> bool {
    let Some((scale, unit)) = unit(sums) else { return true };
    let sum = whole(numbers.iter().sum::<f64>() * scale).unwrap_or(0);
    numbers.len() <= 1 || [1, unit].into_iter().any(|step| (sum / step).abs() <= 2)
}

/// What makes some numbers whole, and then their greatest common divisor.
fn unit(numbers: &[f64]) -> Option<(f64, i64)> {
    (0..9).map(|places| 10f64.powi(places)).find_map(|scale| {
        let scaled = numbers.iter().map(|number| whole(number * scale));
        let scaled: Vec<i64> = scaled.collect::<Option<_>>()?;
        Some((scale, scaled.iter().fold(0, |a, b| gcd(a, b.abs())).max(1)))
    })
}

/// A whole number, if a float is one but for its last digits.
fn whole(number: f64) -> Option<i64> {
    let rounded = number.round();
    let is_whole = (number - rounded).abs() <= 1e-6 && rounded.abs() < 1e15;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    is_whole.then_some(rounded as i64)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether values that are whole steps follow from their number, their mean, the least and the
/// greatest one.
fn is_told(values: &[i64]) -> bool {
    let n = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let (Some(least), Some(greatest)) = (values.iter().min(), values.iter().max()) else {
        return true;
    };
    let sum: i64 = values.iter().sum();
    // The two ends are values of the class; the others have this sum above the least one.
    let (rest, width) = (n - 2, greatest - least);
    let above = sum - least - greatest - rest * least;
    rest <= 1 || width <= 1 || above <= 1 || above >= rest * width - 1
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

//! The privacy models, from their definitions.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::case::{Case, Model};
use crate::value::{Kind, Value, count, float};

use super::Evidence;

/// Rounding that a figure may differ by.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// The figures of a class or a table on one sensitive column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub(crate) l_distinct: usize,
    pub(crate) l_entropy: f64,
    pub(crate) t: f64,
}

/// Every model holds for every class of every set.
pub(super) fn check(evidence: &Evidence) -> Result<(), Fault> {
    for (name, columns, k) in evidence.case.required() {
        for class in evidence.classes(&columns) {
            let origins: Vec<usize> = class.iter().map(|&row| evidence.origins[row]).collect();
            if let Some(size) = size(evidence, &origins).filter(|&size| size < k) {
                return Err(Fault::new("k", format!("a class of `{name}` has {size}, not {k}")));
            }
            for (column, model) in &evidence.case.job.models {
                let all: Vec<usize> = (0..evidence.case.table.rows.len()).collect();
                for whole in [&all, &evidence.origins] {
                    if !holds(evidence.case, column, model, &origins, whole) {
                        let detail = format!(
                            "{model:?} of `{column}` does not hold for a class of `{name}`"
                        );
                        return Err(Fault::new("model", detail));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Rows of a class, or people, where an entity is declared and known.
pub(super) fn size(evidence: &Evidence, origins: &[usize]) -> Option<usize> {
    let table = &evidence.case.table;
    let Some(entity) = evidence.case.entity() else { return Some(origins.len()) };
    let is_known = evidence.is_exact || evidence.release.column(&table.header[entity]).is_some();
    let kind = Kind::of(table.cells(entity));
    let people: BTreeSet<Value> =
        origins.iter().map(|&row| kind.value(table.cell(row, entity))).collect();
    is_known.then_some(people.len())
}

/// Whether a model holds for a class, both given as rows of the input.
pub(crate) fn holds(
    case: &Case,
    column: &str,
    model: &Model,
    class: &[usize],
    whole: &[usize],
) -> bool {
    let Some(at) = case.table.column(column) else { return true };
    let kind = Kind::of(case.table.cells(at));
    let value = |&row: &usize| kind.value(case.table.cell(row, at));
    let is_counted = |value: &Value| case.job.counts_missing || *value != Value::Missing;
    let of = |rows: &[usize]| rows.iter().map(value).filter(is_counted).collect::<Vec<Value>>();
    let (class, whole) = (of(class), of(whole));
    let verdict = figures(&class, &whole, kind);
    match model {
        Model::Distinct(l) => verdict.l_distinct >= *l,
        Model::Entropy(l) => verdict.l_entropy >= l - TOLERANCE,
        Model::Recursive(c, l) => is_recursive(&class, *c, *l),
        Model::TCloseness(t) => verdict.t <= t + TOLERANCE,
        Model::SquaredError(least) => squared_error(&class) >= least - TOLERANCE,
    }
}

/// The figures of a class against a table.
pub(crate) fn figures(class: &[Value], whole: &[Value], kind: Kind) -> Verdict {
    let (shares, table) = (tally(class), tally(whole));
    let n = count(class.len());
    let entropy: f64 =
        shares.values().map(|&rows| count(rows) / n).map(|share| -share * share.ln()).sum();
    let l_entropy = if class.is_empty() { 0.0 } else { entropy.exp() };
    Verdict { l_distinct: shares.len(), l_entropy, t: distance(&shares, &table, kind) }
}

fn tally(values: &[Value]) -> BTreeMap<&Value, usize> {
    let mut tally = BTreeMap::new();
    for value in values {
        *tally.entry(value).or_insert(0) += 1;
    }
    tally
}

fn is_recursive(class: &[Value], c: f64, l: usize) -> bool {
    let mut counts: Vec<usize> = tally(class).into_values().collect();
    counts.sort_by(|a, b| b.cmp(a));
    let rest: usize = counts.iter().skip(l - 1).sum();
    counts.first().is_some_and(|&most| count(most) < c * count(rest))
}

fn squared_error(class: &[Value]) -> f64 {
    let numbers: Vec<f64> = class
        .iter()
        .filter_map(
            |value| if let Value::Number(scaled) = value { Some(float(*scaled)) } else { None },
        )
        .collect();
    let mean = numbers.iter().sum::<f64>() / count(numbers.len());
    numbers.iter().map(|number| (number - mean).powi(2)).sum()
}

/// Earth mover's distance: by rank where values are ordered, otherwise with equal distances.
fn distance(class: &BTreeMap<&Value, usize>, table: &BTreeMap<&Value, usize>, kind: Kind) -> f64 {
    let total = |tally: &BTreeMap<&Value, usize>| count(tally.values().sum());
    let (n, all) = (total(class), total(table));
    // Of a class without a value nobody knows how near it is: it is at the greatest distance.
    if class.is_empty() {
        return if table.is_empty() { 0.0 } else { 1.0 };
    }
    if table.len() < 2 {
        return 0.0;
    }
    let mut sum = 0.0;
    let mut carried = 0.0;
    // Missing cells that count as a value come after all others.
    let (missing, present): (Vec<_>, Vec<_>) =
        table.iter().partition(|(value, _)| ***value == Value::Missing);
    for (value, &rows) in present.into_iter().chain(missing) {
        let gain = count(class.get(value).copied().unwrap_or(0)) / n - count(rows) / all;
        carried += gain;
        sum += if kind.is_ordered() { f64::abs(carried) } else { f64::abs(gain) };
    }
    if kind.is_ordered() { sum / count(table.len() - 1) } else { sum / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::{figures, is_recursive};
    use crate::value::{Kind, Value};

    fn values(text: &str) -> Vec<Value> {
        text.split(' ').map(|cell| Kind::Integer.value(Some(cell))).collect()
    }

    /// The salaries of the paper on t-closeness: 3k to 11k; {3k, 4k, 5k} is 0.375 from them.
    #[test]
    fn distance_is_that_of_the_paper() {
        let whole = values("3 4 5 6 7 8 9 10 11");
        assert!((figures(&values("3 4 5"), &whole, Kind::Integer).t - 0.375).abs() < 1e-12);
        assert!((figures(&values("6 8 11"), &whole, Kind::Integer).t - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn recursive_diversity_compares_the_commonest_with_the_rest() {
        let class = values("1 1 1 2 2 3");
        assert!(is_recursive(&class, 1.1, 2));
        assert!(!is_recursive(&class, 1.0, 2));
        assert!(!is_recursive(&class, 3.0, 3));
        assert!(!is_recursive(&class, 100.0, 4));
    }
}

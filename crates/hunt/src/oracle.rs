//! What can be known without a search: whether a release exists, and on tiny tables the optimum.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::Fault;
use crate::case::Case;
use crate::judge::Trees;
use crate::run::Ended;
use crate::value::{Kind, Value, count};
use crate::verify::{axes, holds};

/// Lattices and sets of cuts that are gone through whole.
const MOST: usize = 4_096;

/// "No release" is true only if not even all rows together are one.
pub(crate) fn infeasible(case: &Case, trees: &Trees, ended: &Ended) -> Result<(), Fault> {
    let all: Vec<usize> = (0..case.table.rows.len()).collect();
    if is_class(case, &all, &all, case.greatest_k()) {
        let detail = format!("all rows together are a release: {}", ended.said());
        return Err(Fault::new("infeasible", detail));
    }
    match least(case, trees) {
        Least::Cost(cost) => {
            let detail = format!("a release costs {cost}: {}", ended.said());
            Err(Fault::new("infeasible", detail))
        }
        Least::NoRelease | Least::NotWorkedOut => Ok(()),
    }
}

/// What is called optimal costs what the optimum costs.
pub(crate) fn optimal(case: &Case, trees: &Trees, report: &Json) -> Result<(), Fault> {
    let search = &report["search"];
    if search["optimal"] != Json::Bool(true) {
        return Ok(());
    }
    let (Least::Cost(least), Some(cost)) = (least(case, trees), search["cost"].as_f64()) else {
        return Ok(());
    };
    if (least - cost).abs() <= 1e-9 * (1.0 + least.abs()) {
        return Ok(());
    }
    Err(Fault::new("optimal", format!("{cost} is called optimal, {least} is possible")))
}

/// Whether these rows may be a class.
fn is_class(case: &Case, class: &[usize], whole: &[usize], k: usize) -> bool {
    let size = match case.entity() {
        None => class.len(),
        Some(entity) => {
            let kind = Kind::of(case.table.cells(entity));
            let people: BTreeSet<Value> =
                class.iter().map(|&row| kind.value(case.table.cell(row, entity))).collect();
            people.len()
        }
    };
    let fits = |(column, model): &(String, _)| holds(case, column, model, class, whole);
    size >= k && case.job.models.iter().all(fits)
}

/// A way to recode a column: its level, and the group of each row.
type Way = (usize, Vec<usize>);

/// What an exhaustive search over all recodings of the algorithm's kind found.
enum Least {
    Cost(f64),
    NoRelease,
    NotWorkedOut,
}

/// The least cost over all recodings of the algorithm's kind.
fn least(case: &Case, trees: &Trees) -> Least {
    match ways(case, trees).map(|choices| search(case, &choices)) {
        None => Least::NotWorkedOut,
        Some(None) => Least::NoRelease,
        Some(Some(cost)) => Least::Cost(cost),
    }
}

/// For every column the ways to recode it, if all of them can be tried.
fn ways(case: &Case, trees: &Trees) -> Option<Vec<Vec<Way>>> {
    let job = &case.job;
    // Stars are a class that has to hold too, and t-closeness is to two tables.
    let is_plain = job.sets.is_empty()
        && !job.is_starred
        && case.table.rows.len() <= 60
        && !job.models.iter().any(|(_, model)| matches!(model, crate::case::Model::TCloseness(_)));
    let is_counted = match job.algorithm {
        "optimal" | "incognito" | "bottom-up" => {
            matches!(job.measure, Some("discernibility" | "height"))
        }
        "koptimize" => job.measure == Some("discernibility"),
        _ => false,
    };
    if !is_plain || !is_counted {
        return None;
    }
    let choices = choices(case, trees)?;
    let total: usize = choices.iter().map(Vec::len).try_fold(1, usize::checked_mul)?;
    (total <= MOST).then_some(choices)
}

fn choices(case: &Case, trees: &Trees) -> Option<Vec<Vec<Way>>> {
    let mut choices = Vec::new();
    for axis in axes(case, trees) {
        let values: Vec<Value> =
            case.table.cells(axis.input).map(|cell| axis.value(cell)).collect();
        // Where a missing value belongs is for the search to decide.
        if values.contains(&Value::Missing) {
            return None;
        }
        choices.push(if case.job.algorithm == "koptimize" {
            if axis.tree.is_some() || !(axis.kind.is_ordered() || axis.order.is_some()) {
                return None;
            }
            intervals(&values)?
        } else {
            levels(axis.tree.as_ref()?, case, axis.input)?
        });
    }
    Some(choices)
}

fn intervals(values: &[Value]) -> Option<Vec<Way>> {
    let distinct: Vec<&Value> = values.iter().collect::<BTreeSet<_>>().into_iter().collect();
    if distinct.len() > 12 {
        return None;
    }
    let ranks: Vec<usize> = values
        .iter()
        .map(|value| distinct.iter().position(|other| *other == value).unwrap_or_default())
        .collect();
    let cuts = 1_usize << distinct.len().saturating_sub(1);
    let group = |cut: usize, rank: usize| (cut & ((1 << rank) - 1)).count_ones() as usize;
    let of = |cut: usize| (0, ranks.iter().map(|&rank| group(cut, rank)).collect());
    Some((0..cuts).map(of).collect())
}

fn levels(tree: &[Vec<String>], case: &Case, column: usize) -> Option<Vec<Way>> {
    let depth = tree.first()?.len();
    let kind = Kind::of(case.table.cells(column));
    let mut found = Vec::new();
    for level in 0..depth {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut groups = Vec::new();
        for cell in case.table.cells(column) {
            let path = tree.iter().find(|path| kind.value(Some(&path[0])) == kind.value(cell))?;
            let next = names.len();
            groups.push(*names.entry(path.get(level)?).or_insert(next));
        }
        found.push((level, groups));
    }
    Some(found)
}

fn search(case: &Case, choices: &[Vec<Way>]) -> Option<f64> {
    let n = case.table.rows.len();
    let limit = case.job.suppress.map_or(0, |limit| limit.rows(n));
    let mut at = vec![0; choices.len()];
    let mut best: Option<f64> = None;
    loop {
        let chosen: Vec<&Way> = at.iter().zip(choices).map(|(&at, ways)| &ways[at]).collect();
        if let Some(cost) = cost(case, &chosen, limit) {
            best = Some(best.map_or(cost, |best| best.min(cost)));
        }
        let Some(next) = (0..at.len()).find(|&column| at[column] + 1 < choices[column].len())
        else {
            return best;
        };
        at[..next].fill(0);
        at[next] += 1;
    }
}

/// The cost of one recoding, if it is within the limit.
fn cost(case: &Case, chosen: &[&Way], limit: usize) -> Option<f64> {
    let n = case.table.rows.len();
    let all: Vec<usize> = (0..n).collect();
    let mut classes: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for row in 0..n {
        classes
            .entry(chosen.iter().map(|(_, groups)| groups[row]).collect())
            .or_default()
            .push(row);
    }
    let (kept, lost): (Vec<_>, Vec<_>) =
        classes.into_values().partition(|class| is_class(case, class, &all, case.job.k));
    let lost: usize = lost.iter().map(Vec::len).sum();
    // A release without rows is none.
    if lost > limit || lost == n {
        return None;
    }
    let height: usize = chosen.iter().map(|(level, _)| level).sum();
    Some(if case.job.measure == Some("height") {
        count(height)
    } else {
        let squares: usize = kept.iter().map(|class| class.len() * class.len()).sum();
        count(squares + lost * n)
    })
}

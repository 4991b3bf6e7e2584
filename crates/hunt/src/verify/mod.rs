//! Whether a release is what it is said to be, judged from its file, the input and the guide.

mod means;
mod models;
mod printed;
mod recoding;
mod report;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::case::{Case, Role};
use crate::generate::ROW_ID;
use crate::label::{Axis, Cells};
use crate::table::Table;
use crate::value::{Kind, Value};

pub(crate) use models::holds;

/// A release beside what it was made from.
pub(crate) struct Evidence<'a> {
    pub(crate) case: &'a Case,
    pub(crate) release: &'a Table,
    pub(crate) report: &'a serde_json::Value,
    pub(crate) axes: Vec<Axis>,
    /// The input row of each released row.
    pub(crate) origins: Vec<usize>,
    /// Whether the origins are certain, because rows are told apart.
    pub(crate) is_exact: bool,
}

/// The columns that the job recodes.
pub(crate) fn axes(case: &Case, trees: &BTreeMap<usize, Vec<Vec<String>>>) -> Vec<Axis> {
    (0..case.columns.len())
        .filter(|&column| case.columns[column].role == Role::Quasi)
        .map(|column| Axis {
            name: case.table.header[column].clone(),
            input: column,
            kind: Kind::of(case.table.cells(column)),
            order: case.columns[column].order.clone(),
            tree: trees.get(&column).cloned(),
            cells: Cells::Mean(0),
        })
        .collect()
}

/// All checks of one release.
pub(crate) fn verify(
    case: &Case,
    trees: &BTreeMap<usize, Vec<Vec<String>>>,
    release: &Table,
    report: &serde_json::Value,
) -> Result<(), Fault> {
    let mut axes = axes(case, trees);
    for axis in &mut axes {
        axis.find(release, case.job.labels)
            .ok_or_else(|| Fault::new("columns", format!("`{}` is not released", axis.name)))?;
    }
    let is_exact = case.table.column(ROW_ID).is_some();
    let mut evidence = Evidence { case, release, report, axes, origins: Vec::new(), is_exact };
    rows::columns(&evidence)?;
    evidence.origins = rows::origins(&evidence)?;
    rows::suppressed(&evidence)?;
    models::check(&evidence)?;
    report::check(&evidence)?;
    if evidence.is_exact {
        printed::check(&evidence)?;
        means::check(&evidence)?;
        recoding::check(&evidence)?;
    }
    Ok(())
}

/// The cells of the input whose rows were released, where that is known; otherwise all of them.
pub(crate) fn released<'a>(case: &'a Case, release: &Table) -> BTreeSet<(usize, &'a str)> {
    let ids = (case.table.column(ROW_ID), release.column(ROW_ID));
    let is_out = |row: &Vec<Option<String>>| match ids {
        (Some(from), Some(to)) => release.rows.iter().any(|other| other[to] == row[from]),
        _ => true,
    };
    let rows = case.table.rows.iter().filter(|row| is_out(row));
    rows.flat_map(|row| row.iter().enumerate())
        .filter_map(|(column, cell)| Some((column, cell.as_deref()?)))
        .collect()
}

impl Evidence<'_> {
    pub(crate) fn value(&self, row: usize, axis: &Axis) -> Value {
        axis.value(self.case.table.cell(self.origins[row], axis.input))
    }

    /// Released rows that look the same on these columns.
    pub(crate) fn classes(&self, columns: &[String]) -> Vec<Vec<usize>> {
        let seen: Vec<usize> = self
            .axes
            .iter()
            .filter(|axis| columns.contains(&axis.name))
            .flat_map(Axis::published)
            .collect();
        let mut classes: BTreeMap<Vec<&Option<String>>, Vec<usize>> = BTreeMap::new();
        for (row, cells) in self.release.rows.iter().enumerate() {
            classes.entry(seen.iter().map(|&at| &cells[at]).collect()).or_default().push(row);
        }
        classes.into_values().collect()
    }

    /// Whether a released row is a suppressed one, released as stars.
    pub(crate) fn is_starred(&self, row: usize) -> bool {
        let is_star = |axis: &Axis| {
            axis.published().iter().all(|&at| {
                let cell = self.release.cell(row, at);
                cell.is_none() || cell == Some("*")
            })
        };
        self.case.job.is_starred && self.axes.iter().all(is_star)
    }
}

//! Every released row is a row of the input: cells that are kept are equal, labels are true, and no
//! input row stands behind two released ones.

use crate::Fault;
use crate::case::Role;
use crate::generate::ROW_ID;
use crate::label::Cover;
use crate::value::{Kind, Value};

use super::Evidence;

/// The release has just the columns that it should have.
pub(super) fn columns(evidence: &Evidence) -> Result<(), Fault> {
    let case = evidence.case;
    let mut expected =
        case.names(|column| matches!(column.role, Role::Sensitive | Role::Insensitive));
    for axis in &evidence.axes {
        expected.extend(axis.published().iter().map(|&at| evidence.release.header[at].clone()));
    }
    let mut found = evidence.release.header.clone();
    expected.sort();
    found.sort();
    if expected == found {
        return Ok(());
    }
    Err(Fault::new("columns", format!("released {found:?}, expected {expected:?}")))
}

/// The input row of each released row.
pub(super) fn origins(evidence: &Evidence) -> Result<Vec<usize>, Fault> {
    let matcher = Matcher::new(evidence);
    let (input, release) = (&evidence.case.table, evidence.release);
    if evidence.is_exact {
        let (from, to) = (input.column(ROW_ID), release.column(ROW_ID));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Fault::new("columns", "the column of row numbers is not released"));
        };
        let mut origins = Vec::new();
        for row in 0..release.rows.len() {
            let origin = (0..input.rows.len())
                .find(|&other| input.cell(other, from) == release.cell(row, to))
                .ok_or_else(|| Fault::new("rows", format!("row {row} is not in the input")))?;
            if origins.contains(&origin) {
                return Err(Fault::new("rows", format!("input row {origin} is released twice")));
            }
            matcher.agree(row, origin)?;
            origins.push(origin);
        }
        return Ok(origins);
    }
    matcher.matching()
}

struct Matcher<'a> {
    evidence: &'a Evidence<'a>,
    /// Kept columns: place in the input, in the release, kind.
    kept: Vec<(usize, usize, Kind)>,
    covers: Vec<Vec<Vec<Cover>>>,
}

impl<'a> Matcher<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Matcher<'a> {
        let (input, release) = (&evidence.case.table, evidence.release);
        let kept = evidence
            .case
            .names(|column| matches!(column.role, Role::Sensitive | Role::Insensitive))
            .iter()
            .filter_map(|name| {
                let from = input.column(name)?;
                Some((from, release.column(name)?, Kind::of(input.cells(from))))
            })
            .collect();
        let covers = release
            .rows
            .iter()
            .map(|row| evidence.axes.iter().map(|axis| axis.read(row)).collect())
            .collect();
        Matcher { evidence, kept, covers }
    }

    /// Whether a released row can be that input row, and if not, why.
    fn agree(&self, row: usize, origin: usize) -> Result<(), Fault> {
        let (input, release) = (&self.evidence.case.table, self.evidence.release);
        for &(from, to, kind) in &self.kept {
            let (was, is) = (input.cell(origin, from), release.cell(row, to));
            if kind.value(was) != kind.value(is) {
                let name = &input.header[from];
                return Err(Fault::new("kept", format!("`{name}`: {was:?} became {is:?}")));
            }
        }
        for (axis, covers) in self.evidence.axes.iter().zip(&self.covers[row]) {
            let cell = input.cell(origin, axis.input);
            let value = axis.value(cell);
            if !covers.iter().any(|cover| cover.has(&value)) {
                let cells: Vec<_> =
                    axis.published().iter().map(|&at| release.cell(row, at)).collect();
                let detail = format!("`{}`: {cells:?} does not cover {cell:?}", axis.name);
                return Err(Fault::new("truth", detail));
            }
        }
        Ok(())
    }

    /// A matching of all released rows with different input rows (augmenting paths).
    fn matching(&self) -> Result<Vec<usize>, Fault> {
        let (n, released) = (self.evidence.case.table.rows.len(), self.covers.len());
        let edges: Vec<Vec<usize>> = (0..released)
            .map(|row| (0..n).filter(|&origin| self.agree(row, origin).is_ok()).collect())
            .collect();
        let mut owner: Vec<Option<usize>> = vec![None; n];
        for row in 0..released {
            let mut seen = vec![false; n];
            if !augment(row, &edges, &mut owner, &mut seen) {
                let cells = &self.evidence.release.rows[row];
                return Err(Fault::new("rows", format!("no input row for row {row}: {cells:?}")));
            }
        }
        let mut origins = vec![0; released];
        for (origin, row) in owner.iter().enumerate() {
            if let Some(row) = row {
                origins[*row] = origin;
            }
        }
        Ok(origins)
    }
}

fn augment(
    row: usize,
    edges: &[Vec<usize>],
    owner: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for &origin in &edges[row] {
        if std::mem::replace(&mut seen[origin], true) {
            continue;
        }
        let is_free = match owner[origin] {
            None => true,
            Some(other) => augment(other, edges, owner, seen),
        };
        if is_free {
            owner[origin] = Some(row);
            return true;
        }
    }
    false
}

/// As many rows are left out as the report says, and no more than the job allows.
pub(super) fn suppressed(evidence: &Evidence) -> Result<(), Fault> {
    let n = evidence.case.table.rows.len();
    let said = evidence.report["release"]["suppressed"].as_u64().unwrap_or(u64::MAX);
    let said = usize::try_from(said).unwrap_or(usize::MAX);
    let gone = n.checked_sub(evidence.release.rows.len());
    let is_told = if evidence.case.job.is_starred {
        let starred = (0..evidence.release.rows.len()).filter(|&row| evidence.is_starred(row));
        gone == Some(0) && starred.count() >= said
    } else {
        gone == Some(said)
    };
    if !is_told {
        return Err(Fault::new("suppressed", format!("{said} said, {gone:?} rows are gone")));
    }
    let limit = evidence.case.job.suppress.map_or(0, |limit| limit.rows(n));
    if said > limit {
        return Err(Fault::new("limit", format!("{said} suppressed, {limit} allowed")));
    }
    Ok(())
}

/// The values of an input column, by its kind.
pub(super) fn values(evidence: &Evidence, column: usize) -> Vec<Value> {
    let kind = Kind::of(evidence.case.table.cells(column));
    evidence.case.table.cells(column).map(|cell| kind.value(cell)).collect()
}

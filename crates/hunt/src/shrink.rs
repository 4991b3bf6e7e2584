//! A failing case made small: rows, columns and options go as long as the same kind of fault stays.

use std::path::Path;

use crate::Fault;
use crate::case::{Case, Labels, Role};
use crate::judge::judge;

/// Tries that a shrinking may take.
const TRIES: usize = 400;

pub(crate) fn shrink(binary: &Path, seed: u64, case: Case, fault: Fault) -> (Case, Fault) {
    if fault.kind == "hang" {
        return (case, fault);
    }
    let mut shrinker = Shrinker { binary, seed, case, fault, left: TRIES };
    loop {
        let before = shrinker.left;
        let changed = shrinker.options() | shrinker.columns() | shrinker.rows();
        if !changed || shrinker.left == 0 || before == shrinker.left {
            return (shrinker.case, shrinker.fault);
        }
    }
}

struct Shrinker<'a> {
    binary: &'a Path,
    seed: u64,
    case: Case,
    fault: Fault,
    left: usize,
}

impl Shrinker<'_> {
    fn attempt(&mut self, case: Case) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        match judge(self.binary, &case, self.seed) {
            Err(fault) if fault.kind == self.fault.kind => {
                (self.case, self.fault) = (case, fault);
                true
            }
            _ => false,
        }
    }

    fn rows(&mut self) -> bool {
        let mut changed = false;
        let mut size = self.case.table.rows.len() / 2;
        while size > 0 {
            let mut from = 0;
            while from < self.case.table.rows.len() && self.left > 0 {
                let mut case = self.case.clone();
                let to = (from + size).min(case.table.rows.len());
                case.table.rows.drain(from..to);
                if !case.table.rows.is_empty() && self.attempt(case) {
                    changed = true;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
        changed
    }

    fn columns(&mut self) -> bool {
        let mut changed = false;
        let mut column = 0;
        while column < self.case.columns.len() {
            let case = without(&self.case, column);
            if case.is_some_and(|case| self.attempt(case)) {
                changed = true;
            } else {
                column += 1;
            }
        }
        changed
    }

    fn options(&mut self) -> bool {
        let simpler: [fn(&mut Case); 13] = [
            |case| case.job.models.clear(),
            |case| case.job.collude.clear(),
            |case| {
                case.job.collude.clear();
                case.job.sets.clear();
            },
            |case| case.job.suppress = None,
            |case| case.job.is_starred = false,
            |case| case.job.counts_missing = false,
            |case| case.job.split = None,
            |case| {
                case.job.split = None;
                case.job.select.clear();
                case.job.queries.clear();
            },
            |case| case.job.measure = None,
            |case| case.job.labels = Labels::Range,
            |case| {
                case.job.seed = 0;
                case.format.delimiter = ',';
                case.format.by_file = !case.fits_flags();
            },
            |case| case.columns.iter_mut().for_each(|column| column.is_entity = false),
            |case| case.job.k = 2,
        ];
        let mut changed = false;
        for change in simpler {
            let mut case = self.case.clone();
            change(&mut case);
            let is_same = format!("{:?}{:?}{:?}", case.job, case.columns, case.format)
                == format!("{:?}{:?}{:?}", self.case.job, self.case.columns, self.case.format);
            changed |= !is_same && self.attempt(case);
        }
        for column in 0..self.case.columns.len() {
            let mut case = self.case.clone();
            let hints = &mut case.columns[column];
            if hints.hierarchy.take().is_some() | hints.order.take().is_some() {
                changed |= self.attempt(case);
            }
        }
        changed
    }
}

/// The case without a column, if it makes sense.
fn without(case: &Case, column: usize) -> Option<Case> {
    let mut case = case.clone();
    let name = case.table.header.remove(column);
    case.columns.remove(column);
    for row in &mut case.table.rows {
        row.remove(column);
    }
    case.job.models.retain(|(of, _)| *of != name);
    case.job.select.retain(|text| !text.contains(&format!("\"{name}\"")));
    case.job.queries.retain(|text| !text.contains(&format!("\"{name}\"")));
    for set in &mut case.job.sets {
        set.columns.retain(|of| *of != name);
    }
    let is_whole = case.job.sets.iter().all(|set| !set.columns.is_empty());
    let has_quasi = case.columns.iter().any(|column| column.role == Role::Quasi);
    (is_whole && has_quasi).then_some(case)
}

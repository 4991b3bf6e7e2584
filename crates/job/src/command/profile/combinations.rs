//! The combinations of up to four columns that single out most rows.
//!
//! A column more never makes fewer rows unique. So the rows that all columns of a branch of the
//! search single out together are a bound on every combination in it: where that bound does not
//! reach the worst that are known, the branch is left out. A combination is *minimal* if no column
//! can be taken away without losing a row that it singles out; others say nothing new and are not
//! listed.
//!
//! # Guarantees
//!
//! - Exact: the list of each size is that of an exhaustive count, as long as rows times
//!   combinations are at most [`MOST_GROUPED`]. Beyond that only the worst of each size are grown
//!   by one column.
//! - Deterministic: yes, on any number of threads: what is left out could not have been listed in
//!   any order.
//!
//! # Cost
//!
//! For `n` rows and `d` columns: at most `n` times the number of combinations, d + d²/2 + d³/6 +
//! d⁴/24. Rows that are alone stay so and are not looked at again ([`super::refined`]).

use std::cmp::Reverse;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::flow::run::Run;
use crate::spec::error::JobError;

/// How many columns are put together.
pub(super) const MOST_TOGETHER: usize = 4;

/// How many combinations of each size are listed.
pub(super) const MOST_LISTED: usize = 3;

/// How many columns are combined with each other.
pub(super) const MOST_COLUMNS: usize = 20;

/// How many are where only the worst combinations are grown.
const MOST_GROWN: usize = 10;

/// Rows times combinations up to which all combinations are searched.
const MOST_GROUPED: u64 = 4_000_000_000;

/// What was counted for some columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Classes of rows that look the same.
    pub(super) classes: u64,
    /// Rows that are alone in their class.
    pub(super) unique: u64,
    /// Rows in classes of fewer than five.
    pub(super) below_5: u64,
}

impl Tally {
    /// Counts a class of so many rows.
    pub(super) fn add(&mut self, n_rows: u64) {
        self.classes += 1;
        self.unique += u64::from(n_rows == 1);
        self.below_5 += if n_rows < 5 { n_rows } else { 0 };
    }

    pub(super) fn and(self, other: Tally) -> Tally {
        Tally {
            classes: self.classes + other.classes,
            unique: self.unique + other.unique,
            below_5: self.below_5 + other.below_5,
        }
    }
}

/// Rows in classes by some columns.
pub(super) trait Grouped: Sized + Sync {
    /// Whether several may be at work at once.
    const IS_PARALLEL: bool;

    /// The rows in classes by one column more.
    fn by(&self, column: usize) -> Result<Self, JobError>;

    /// What these classes are like.
    fn tally(&self) -> Result<Tally, JobError>;

    /// What they would be like by one column more.
    fn tally_by(&self, column: usize) -> Result<Tally, JobError> {
        self.by(column)?.tally()
    }
}

/// A combination that was counted: places among the candidates, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) columns: Vec<usize>,
    pub(super) tally: Tally,
}

impl Found {
    /// The worst first; then the one whose columns come first.
    fn order(&self) -> (Reverse<u64>, &[usize]) {
        (Reverse(self.tally.unique), &self.columns)
    }
}

/// Combinations of columns, and whether no other is worse.
pub(super) struct Worst {
    /// By size, then the worst first.
    pub(super) found: Vec<Found>,
    pub(super) is_exact: bool,
    /// How many of the first candidates were combined.
    pub(super) n_columns: usize,
}

/// The worst minimal combinations of columns, those with many values first; `all` are the rows in
/// one class.
pub(super) fn worst<G: Grouped>(
    run: &Run,
    all: &G,
    candidates: &[usize],
    n_rows: u64,
) -> Result<Worst, JobError> {
    let n_columns = candidates.len().min(MOST_COLUMNS);
    let is_exact = n_rows.saturating_mul(n_combinations(n_columns)) <= MOST_GROUPED;
    let n_columns = if is_exact { n_columns } else { n_columns.min(MOST_GROWN) };
    let candidates = &candidates[..n_columns];
    let search = Search { run, all, candidates, n_columns, state: Mutex::default() };
    if is_exact {
        search.branch(all, &[], u64::MAX)?;
    } else {
        search.grow()?;
    }
    let listed = search.state().listed.clone();
    Ok(Worst { found: listed.into_iter().flatten().collect(), is_exact, n_columns })
}

/// How many combinations of up to four columns there are.
fn n_combinations(n_columns: usize) -> u64 {
    let n = n_columns as u64;
    let (mut all, mut of_size) = (0, 1);
    for size in 1..=MOST_TOGETHER as u64 {
        of_size = of_size * (n + 1).saturating_sub(size) / size;
        all += of_size;
    }
    all
}

struct Search<'a, G> {
    run: &'a Run,
    all: &'a G,
    /// The columns that are combined; below, a column is a place among them.
    candidates: &'a [usize],
    n_columns: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By size, the worst minimal combinations.
    listed: [Vec<Found>; MOST_TOGETHER],
    /// By columns as bits, what was counted.
    counted: HashMap<u32, Tally>,
}

impl State {
    /// Whether a combination of this size that begins with these columns and makes at most so many
    /// rows unique could be listed.
    fn has_room(&self, size: usize, begin: &[usize], most: u64) -> bool {
        let listed = &self.listed[size - 1];
        let Some(last) = listed.last().filter(|_| listed.len() == MOST_LISTED) else { return true };
        (Reverse(most), begin) < last.order()
    }
}

fn bits(columns: &[usize]) -> u32 {
    columns.iter().fold(0, |bits, column| bits | 1 << column)
}

impl<G: Grouped> Search<'_, G> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What these columns make of the rows: known already, or counted.
    fn counted(
        &self,
        columns: &[usize],
        count: impl FnOnce() -> Result<Tally, JobError>,
    ) -> Result<Tally, JobError> {
        let bits = bits(columns);
        if let Some(&known) = self.state().counted.get(&bits) {
            return Ok(known);
        }
        self.run.go_on()?;
        let tally = count()?;
        self.state().counted.insert(bits, tally);
        Ok(tally)
    }

    /// Counts from all rows.
    fn count(&self, columns: &[usize]) -> Result<Tally, JobError> {
        self.counted(columns, || {
            let (last, before) = columns.split_last().expect("a combination has columns");
            let mut rows: Option<G> = None;
            for &column in before {
                rows = Some(rows.as_ref().unwrap_or(self.all).by(self.candidates[column])?);
            }
            rows.as_ref().unwrap_or(self.all).tally_by(self.candidates[*last])
        })
    }

    /// Looks at all combinations that have these columns and further ones behind them.
    /// They single out at most `most` rows.
    fn branch(&self, rows: &G, columns: &[usize], most: u64) -> Result<(), JobError> {
        let further = columns.last().map_or(0, |last| last + 1)..self.n_columns;
        let bounds = self.bounds(rows, columns)?;
        let one = |column: usize| {
            let mut larger = columns.to_vec();
            larger.push(column);
            self.child(rows, &larger, bounds.get(column).copied().unwrap_or(most))
        };
        if G::IS_PARALLEL && columns.len() < 2 {
            return further.into_par_iter().with_max_len(1).try_for_each(one);
        }
        further.into_iter().try_for_each(one)
    }

    /// Counts a combination, and looks at larger ones if they can be listed. All of them single out
    /// at most `most` rows.
    fn child(&self, rows: &G, columns: &[usize], most: u64) -> Result<(), JobError> {
        let (&last, before) = columns.split_last().expect("a combination has columns");
        let n_behind = self.n_columns - last - 1;
        let sizes = columns.len()..=MOST_TOGETHER.min(columns.len() + n_behind);
        let can_be_listed = |sizes: std::ops::RangeInclusive<usize>, most: u64| {
            let state = self.state();
            sizes.into_iter().any(|size| state.has_room(size, columns, most))
        };
        // What a part of the columns singles out already is nothing new.
        let is_known = |tally: Tally| !before.is_empty() && tally.unique == most;
        if !can_be_listed(sizes.clone(), most)
            || self.state().counted.get(&bits(before)).copied().is_some_and(is_known)
        {
            return Ok(());
        }
        if *sizes.end() == columns.len() {
            let tally = self.counted(columns, || rows.tally_by(self.candidates[last]))?;
            return self.offer(columns, tally);
        }
        let larger = rows.by(self.candidates[last])?;
        let tally = self.counted(columns, || larger.tally())?;
        self.offer(columns, tally)?;
        if tally.unique < most && can_be_listed(columns.len() + 1..=*sizes.end(), most) {
            self.branch(&larger, columns, most)?;
        }
        Ok(())
    }

    /// By further column, how many rows these columns, that one and all behind it single out
    /// together. Counting this pays where many combinations can be left out.
    fn bounds(&self, rows: &G, columns: &[usize]) -> Result<Vec<u64>, JobError> {
        let first = columns.last().map_or(0, |last| last + 1);
        if columns.len() + 2 > MOST_TOGETHER || self.n_columns < first + 3 {
            return Ok(Vec::new());
        }
        let mut bounds = vec![u64::MAX; self.n_columns];
        let mut together = columns.to_vec();
        let mut refined: Option<G> = None;
        for column in (first..self.n_columns).rev() {
            let next = refined.as_ref().unwrap_or(rows).by(self.candidates[column])?;
            together.push(column);
            bounds[column] = self.counted(&together, || next.tally())?.unique;
            refined = Some(next);
        }
        Ok(bounds)
    }

    /// Lists a combination if it is among the worst of its size and minimal.
    fn offer(&self, columns: &[usize], tally: Tally) -> Result<(), JobError> {
        let size = columns.len();
        if tally.unique == 0 || !self.state().has_room(size, columns, tally.unique) {
            return Ok(());
        }
        for left_out in 0..size {
            let mut fewer = columns.to_vec();
            fewer.remove(left_out);
            if !fewer.is_empty() && self.count(&fewer)?.unique == tally.unique {
                return Ok(());
            }
        }
        let mut state = self.state();
        let listed = &mut state.listed[size - 1];
        listed.push(Found { columns: columns.to_vec(), tally });
        listed.sort_by(|a, b| a.order().cmp(&b.order()));
        listed.truncate(MOST_LISTED);
        Ok(())
    }

    /// All pairs; then the worst combinations of each size and one column more.
    fn grow(&self) -> Result<(), JobError> {
        let mut grown: Vec<Vec<usize>> = vec![Vec::new()];
        for size in 1..=MOST_TOGETHER.min(self.n_columns) {
            let mut found = Vec::new();
            for columns in &grown {
                found.extend(self.grown(columns)?);
            }
            found.sort_by(|a, b| a.order().cmp(&b.order()));
            found.dedup();
            for Found { columns, tally } in &found {
                self.offer(columns, *tally)?;
            }
            let most = if size == 1 { found.len() } else { MOST_LISTED };
            grown = found.into_iter().take(most).map(|found| found.columns).collect();
        }
        Ok(())
    }

    /// These columns with each of the others.
    fn grown(&self, columns: &[usize]) -> Result<Vec<Found>, JobError> {
        let mut rows: Option<G> = None;
        for &column in columns {
            rows = Some(rows.as_ref().unwrap_or(self.all).by(self.candidates[column])?);
        }
        let rows = rows.as_ref().unwrap_or(self.all);
        let one = |column: usize| {
            let mut larger = columns.to_vec();
            larger.push(column);
            larger.sort_unstable();
            let tally = self.counted(&larger, || rows.tally_by(self.candidates[column]))?;
            Ok(Found { columns: larger, tally })
        };
        let others: Vec<usize> =
            (0..self.n_columns).filter(|column| !columns.contains(column)).collect();
        if G::IS_PARALLEL {
            others.into_par_iter().with_max_len(1).map(one).collect()
        } else {
            others.into_iter().map(one).collect()
        }
    }
}

#[cfg(test)]
mod tests;

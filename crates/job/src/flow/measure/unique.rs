//! Rows that no other row equals on the columns that are released as they are.
//!
//! Every row becomes two hashes: one of those columns, one of them and all quasi-identifier labels.
//! Hashes are put in order, in memory or in private files, and those that come up once are counted.

use std::borrow::Borrow;

use incrowd_data::Codes;
use incrowd_engine::{
    Engine, EngineError, Grouping, NO_CELLS, Source, Spilled, Table, Visit, group, halves_of,
    mix_codes, of_halves,
};
use rayon::prelude::*;

use super::in_files::{Mapped, as_read};
use super::read_rows::ReadRows;
use super::{Subject, not_in_table};
use crate::spec::Role;
use crate::spec::error::JobError;

/// Rows that a thread hashes at a time.
const ROWS_AT_A_TIME: usize = 1 << 14;

/// How many rows are unique, and on which columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unique {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: u64,
    /// Rows that no other row equals on the columns.
    pub(crate) alone: u64,
    /// Rows that no other row equals on the columns and all quasi-identifier labels.
    pub(crate) with_quasi: u64,
}

/// The columns of a table that are released as they are and can be compared.
pub(super) fn columns(source: &Source, subject: &Subject) -> Vec<String> {
    let is_comparable = |name: &&String| {
        let at = source.position(name);
        at.is_some_and(|at| source.columns()[at].can_be_mixed() && !source.is_row_index(at))
    };
    subject.as_they_are().filter(is_comparable).cloned().collect()
}

/// Counts the unique rows of a table that was read; nothing where no column is released as it is.
pub(super) fn count(
    engine: &Engine,
    subject: &Subject,
    held: &ReadRows,
    columns: Vec<String>,
) -> Result<Option<Unique>, JobError> {
    if columns.is_empty() {
        return Ok(None);
    }
    let quasi = subject.plan.with_role(Role::Quasi);
    let quasi: Vec<String> = quasi.flat_map(|at| subject.released_as[at].clone()).collect();
    let (alone, with_quasi) = match held {
        ReadRows::Memory(table) => in_memory(table, &columns, &quasi)?,
        ReadRows::Files { spilled, room } => in_files(engine, spilled, *room, &columns, &quasi)?,
    };
    Ok(Some(Unique { columns, rows: held.n_rows(), alone, with_quasi }))
}

/// Rows that are unique alone, and with the quasi-identifiers.
fn in_memory(table: &Table, columns: &[String], quasi: &[String]) -> Result<(u64, u64), JobError> {
    // The cells of columns without codes are in the hashes already.
    let as_they_are: Vec<&Codes> =
        columns.iter().filter_map(|name| table.column(name)).map(|column| &column.codes).collect();
    let codes = |name: &String| table.column(name).map(|column| &column.codes);
    let quasi = quasi.iter().map(|name| codes(name).ok_or_else(not_in_table));
    let quasi: Vec<&Codes> = quasi.collect::<Result<_, _>>()?;
    let mut both = vec![(NO_CELLS, NO_CELLS); table.n_rows];
    both.par_chunks_mut(ROWS_AT_A_TIME).enumerate().for_each(|(chunk, both)| {
        let start = chunk * ROWS_AT_A_TIME;
        let mut hashes = match table.mixed.get(start..start + both.len()) {
            Some(mixed) => mixed.to_vec(),
            None => vec![NO_CELLS; both.len()],
        };
        mix_all(&mut hashes, &as_they_are, start);
        both.iter_mut().zip(&hashes).for_each(|(both, &hash)| both.0 = hash);
        mix_all(&mut hashes, &quasi, start);
        both.iter_mut().zip(&hashes).for_each(|(both, &hash)| both.1 = hash);
    });
    both.par_sort_unstable();
    let (mut n_alone, mut n_with_quasi) = (0, 0);
    for equal in both.chunk_by(|a, b| a.0 == b.0) {
        n_alone += u64::from(equal.len() == 1);
        n_with_quasi += equal.chunk_by(|a, b| a == b).filter(|rows| rows.len() == 1).count() as u64;
    }
    Ok((n_alone, n_with_quasi))
}

/// Puts columns of codes into the hashes of rows, of which the first is row `start`.
fn mix_all<C: Borrow<Codes>>(hashes: &mut [u64], columns: &[C], start: usize) {
    for codes in columns {
        mix_codes(hashes, codes.borrow(), start);
    }
}

fn in_files(
    engine: &Engine,
    spilled: &Spilled,
    room: u64,
    columns: &[String],
    quasi: &[String],
) -> Result<(u64, u64), JobError> {
    let halves = |places: [usize; 2]| places.map(|at| (at, Vec::new(), u32::MAX));
    let places = columns.iter().filter_map(|name| spilled.position(name));
    let mut wanted: Vec<Mapped> = places.map(|at| as_read(spilled, at)).collect();
    let n_coded = wanted.len();
    for name in quasi {
        if let Some(places) = spilled.hash_positions(name) {
            wanted.extend(halves(places));
        } else {
            let at = spilled.position(name).ok_or_else(not_in_table)?;
            wanted.push(as_read(spilled, at));
        }
    }
    let mixed: Vec<Mapped> = spilled.mixed_positions().into_iter().flat_map(halves).collect();
    let n_mixed = mixed.len();
    let wanted: Vec<Mapped> = mixed.into_iter().chain(wanted).collect();
    let wanted: Vec<(usize, &[u32], u32)> =
        wanted.iter().map(|(at, map, n_codes)| (*at, map.as_slice(), *n_codes)).collect();
    let fill = |part: usize, give: &mut incrowd_engine::Blocks| {
        let mut reader = spilled.read_part(part, &wanted)?;
        while let Some(rows) = reader.next_block()? {
            let (mixed, codes) = rows.codes.split_at(n_mixed);
            give(&hashes(mixed, codes, n_coded))?;
        }
        Ok::<(), EngineError>(())
    };
    let how = Grouping {
        n_codes: &[u32::MAX; 4],
        n_prefix: 2,
        n_rows: spilled.n_rows,
        room,
        scratch: spilled.scratch(),
    };
    let found = group(engine, &how, spilled.n_parts(), &fill, &Counter::default)?;
    let found = found.into_iter().map(Counter::finish);
    Ok(found.fold((0, 0), |all, found| (all.0 + found.0, all.1 + found.1)))
}

/// The hashes of rows as columns of codes: of the columns that are released as they are, then of
/// them and the quasi-identifiers. The first `n_coded` columns of codes are released as they are.
fn hashes(mixed: &[Codes], codes: &[Codes], n_coded: usize) -> Vec<Codes> {
    let n_rows = mixed.iter().chain(codes).map(Codes::len).next().unwrap_or(0);
    let mut hashes = match mixed {
        [high, low] => of_halves(high, low),
        _ => vec![NO_CELLS; n_rows],
    };
    let (as_they_are, quasi) = codes.split_at(n_coded);
    mix_all(&mut hashes, as_they_are, 0);
    let alone = halves_of(&hashes);
    mix_all(&mut hashes, quasi, 0);
    alone.into_iter().chain(halves_of(&hashes)).collect()
}

/// Counts the hashes that one row has.
#[derive(Default)]
struct Counter {
    /// Rows with the hash that is being told.
    open: u64,
    alone: u64,
    with_quasi: u64,
}

impl Visit for Counter {
    fn row(&mut self, is_first: bool, _: &[u32], n_rows: u64) {
        if is_first {
            self.alone += u64::from(self.open == 1);
            self.open = 0;
        }
        self.open += n_rows;
        self.with_quasi += u64::from(n_rows == 1);
    }
}

impl Counter {
    fn finish(self) -> (u64, u64) {
        (self.alone + u64::from(self.open == 1), self.with_quasi)
    }
}

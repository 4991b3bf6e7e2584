//! A profile of a table whose rows are in private files.
//!
//! Columns whose values do not fit in memory are known by the hashes of their cells.

use incrowd_data::Codes;
use incrowd_engine::{
    Blocks, Engine, Grouping, Hashed, HashedColumn, Source, Spilled, Use, Visit, group,
    read_spilled_or_too_large,
};

use super::combinations::{Grouped, Tally};
use super::{Described, Wanted, describe, describe_values};
use crate::flow::bounds::Bounds;
use crate::flow::guess::suggest::Facts;
use crate::flow::place::LEAST_ROOM;
use crate::flow::run::{Run, Stage};
use crate::report::Profile;
use crate::spec::error::JobError;

/// A table with its rows in files.
struct InFiles<'a> {
    engine: &'a Engine,
    spilled: Spilled,
    hashed: Hashed,
    /// Where each column is.
    places: Vec<Place>,
    room: u64,
}

/// Where a column is.
#[derive(Clone, Copy)]
enum Place {
    /// Among those with codes.
    Coded(usize),
    /// Among those with hashes.
    Hashed(usize),
}

/// Looks at every column that has a use.
pub(super) fn profile(
    engine: &Engine,
    run: &Run,
    wanted: &Wanted,
    (bounds, room): (&Bounds, Option<u64>),
) -> Result<Profile, JobError> {
    let (spilled, uses) = read(engine, wanted.source, &wanted.uses, (bounds, room))?;
    let hashed = spilled.hash_kept(engine)?;
    let before = |at: usize| uses[..at].iter().filter(|usage| **usage == uses[at]).count();
    let place = |at: usize| match uses[at] {
        Use::Code => Some(Place::Coded(before(at))),
        Use::Keep => Some(Place::Hashed(before(at))),
        Use::Hash | Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => None,
    };
    let places: Vec<Place> = (0..uses.len()).filter_map(place).collect();
    let room = room.unwrap_or_else(|| bounds.room(LEAST_ROOM));
    let table = InFiles { engine, spilled, hashed, places, room };
    run.enter(Stage::Search);
    let columns: Vec<Described> =
        table.places.iter().map(|&place| table.describe(place)).collect::<Result<_, _>>()?;
    let rows = ByColumns { table: &table, columns: Vec::new() };
    wanted.combine(run, columns, table.spilled.n_rows, &rows)
}

/// Rows in classes by some columns, counted when somebody asks.
struct ByColumns<'a> {
    table: &'a InFiles<'a>,
    columns: Vec<usize>,
}

impl Grouped for ByColumns<'_> {
    /// All of the room is given to one count.
    const IS_PARALLEL: bool = false;

    fn by(&self, column: usize) -> Result<Self, JobError> {
        let mut columns = self.columns.clone();
        columns.push(column);
        Ok(ByColumns { table: self.table, columns })
    }

    fn tally(&self) -> Result<Tally, JobError> {
        self.table.tally(&self.columns)
    }
}

/// Reads the source, giving codes to all columns whose values fit in memory together: those that
/// take most are left out, all in one pass.
fn read(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    (bounds, room): (&Bounds, Option<u64>),
) -> Result<(Spilled, Vec<Use>), JobError> {
    let mut uses = uses.to_vec();
    // More passes see the same values, but perhaps in parts that hold more of them twice.
    let most_values = room.unwrap_or_else(|| (bounds.left() / 4).max(LEAST_ROOM / 4));
    loop {
        let scratch = bounds.scratch()?;
        match read_spilled_or_too_large(engine, source, &uses, &scratch, most_values)? {
            Err(too_large) => too_large.into_iter().for_each(|at| uses[at] = Use::Keep),
            Ok(spilled) => return Ok((spilled, uses)),
        }
    }
}

impl InFiles<'_> {
    fn describe(&self, place: Place) -> Result<Described, JobError> {
        let at = match place {
            Place::Coded(at) => {
                return Ok(describe_values(&self.spilled.values[at], self.spilled.n_rows));
            }
            Place::Hashed(at) => at,
        };
        let how = self.grouping(&[u32::MAX; 3], 2);
        let fill = |part: usize, give: &mut Blocks| {
            let mut reader = self.hashed.read_part(part, &[at])?;
            while let Some(mut columns) = reader.next_block()? {
                let cells = columns.swap_remove(at);
                let [high, low] = cells.hash;
                give(&[high, low, cells.length])?;
            }
            Ok(())
        };
        let parts = self.spilled.n_parts();
        let found = group(self.engine, &how, parts, &fill, &Values::default)?;
        let found = found.into_iter().fold(Values::default(), Values::and);
        let kept = &self.spilled.kept_columns()[at];
        let HashedColumn { kind, n_missing, ref sample } = self.hashed.columns[at];
        let facts = Facts {
            kind,
            distinct: found.distinct,
            unique: found.unique,
            present: self.spilled.n_rows - n_missing,
            missing: n_missing,
            bytes: found.length,
            sample,
        };
        Ok(describe(&kept.name, &facts))
    }

    fn grouping<'a>(&'a self, n_codes: &'a [u32], n_prefix: usize) -> Grouping<'a> {
        let (n_rows, scratch) = (self.spilled.n_rows, self.spilled.scratch());
        Grouping { n_codes, n_prefix, n_rows, room: self.room, scratch }
    }

    fn tally(&self, set: &[usize]) -> Result<Tally, JobError> {
        if let [at] = set[..]
            && let Place::Coded(at) = self.places[at]
        {
            let mut tally = Tally::default();
            let counts = self.spilled.values[at].counts.iter();
            counts.filter(|rows| **rows > 0).for_each(|&rows| tally.add(rows));
            return Ok(tally);
        }
        let (mut coded, mut hashed, mut n_codes) = (Vec::new(), Vec::new(), Vec::new());
        for &at in set {
            match self.places[at] {
                Place::Coded(at) => coded.push(at),
                Place::Hashed(at) => hashed.push(at),
            }
        }
        n_codes.extend(coded.iter().map(|&at| self.spilled.values[at].n_codes()));
        n_codes.extend(std::iter::repeat_n(u32::MAX, 2 * hashed.len()));
        let maps: Vec<Vec<u32>> =
            coded.iter().map(|&at| (0..self.spilled.values[at].n_codes()).collect()).collect();
        let wanted: Vec<(usize, &[u32], u32)> = (coded.iter().zip(&maps).zip(&n_codes))
            .map(|((&at, map), &n_codes)| (at, map.as_slice(), n_codes))
            .collect();
        let fill = |part: usize, give: &mut Blocks| {
            let mut reader = self.spilled.read_part(part, &wanted)?;
            let beside = (!hashed.is_empty()).then(|| self.hashed.read_part(part, &hashed));
            let mut beside = beside.transpose()?;
            while let Some(block) = reader.next_block()? {
                let mut key: Vec<Codes> = block.codes;
                if let Some(beside) = &mut beside {
                    let cells = beside.next_block()?.expect("the same blocks");
                    key.extend(hashed.iter().flat_map(|&at| cells[at].hash.clone()));
                }
                give(&key)?;
            }
            Ok(())
        };
        let how = self.grouping(&n_codes, n_codes.len());
        let parts = self.spilled.n_parts();
        let found = group(self.engine, &how, parts, &fill, &Classes::default)?;
        Ok(found.into_iter().fold(Tally::default(), |all, Classes(tally)| all.and(tally)))
    }
}

/// Counts classes.
#[derive(Default)]
struct Classes(Tally);

impl Visit for Classes {
    fn row(&mut self, _is_first: bool, _rest: &[u32], n_rows: u64) {
        self.0.add(n_rows);
    }
}

/// Counts the values of a hashed column.
#[derive(Clone, Copy, Default)]
struct Values {
    distinct: u64,
    unique: u64,
    /// Bytes of the distinct values.
    length: u64,
}

impl Values {
    fn and(self, other: Values) -> Values {
        Values {
            distinct: self.distinct + other.distinct,
            unique: self.unique + other.unique,
            length: self.length + other.length,
        }
    }
}

impl Visit for Values {
    /// A hash and a length are a value; missing cells have neither.
    fn row(&mut self, _is_first: bool, rest: &[u32], n_rows: u64) {
        let Some(length) = rest[0].checked_sub(1) else { return };
        self.distinct += 1;
        self.unique += u64::from(n_rows == 1);
        self.length += u64::from(length);
    }
}

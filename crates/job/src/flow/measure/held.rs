//! Where the rows of a measured table are: in memory, or in private files.

use std::sync::Arc;

use incrowd_data::Codes;
use incrowd_engine::{
    CodeFile, ColumnContent, Content, CountedColumn, Engine, EngineError, Misfits, Source, Spilled,
    Table, Use, Values, read, read_remote, read_spilled,
};

use crate::flow::bounds::Bounds;
use crate::flow::values::Known;
use crate::spec::error::JobError;

/// Bytes that distinct values and what is underway may take each, however low the limit: the program
/// itself has more room than that beyond the limit.
pub(crate) const LEAST_ROOM: u64 = 32_000_000;

/// How a table is measured.
#[derive(Debug)]
pub(crate) enum Way<'a> {
    /// All rows in memory.
    Memory,
    /// Rows in private files.
    Files {
        /// What may be held.
        bounds: &'a Bounds,
        /// Bytes for what is underway; what is left of the limit if it is not said.
        room: Option<u64>,
    },
    /// Rows that the engine's cluster reads, in private files.
    Cluster {
        /// What may be held.
        bounds: &'a Bounds,
    },
}

impl<'a> Way<'a> {
    /// In memory if there is no limit or the columns certainly fit.
    pub(crate) fn within(bounds: &'a Bounds, source: &Source, uses: &[Use]) -> Way<'a> {
        let n_wanted = uses.iter().filter(|usage| **usage == Use::Code).count() as u64;
        if !bounds.is_bounded() || n_wanted == 0 {
            return Way::Memory;
        }
        // A code, a distinct value and its place in a table; a key to sort by and what comes of it;
        // the hashes of a row and of what it is released with.
        let of_row = 72 * n_wanted + 48 + 48;
        let needed = source.size(uses).map_or(u64::MAX, |size| {
            size.rows.saturating_mul(of_row).saturating_add(2 * source.n_text_bytes())
        });
        if needed <= bounds.left() && !bounds.is_forced() {
            Way::Memory
        } else {
            Way::Files { bounds, room: None }
        }
    }
}

/// The column that says whose row it is, in the order of the rows, where the table does not say it.
#[derive(Clone, Debug)]
pub(crate) enum Entities {
    /// Codes and their number.
    Memory(Codes, u32),
    /// A file of one column of codes, and their number.
    File(CodeFile, u32),
}

type ReadSpilled = fn(
    &Engine,
    &Source,
    &[Use],
    bool,
    &Arc<incrowd_engine::Scratch>,
    u64,
) -> Result<Spilled, incrowd_engine::EngineError>;

/// The rows of a table that was read.
#[derive(Debug)]
pub(super) enum Held {
    Memory(Arc<Table>),
    Files { spilled: Spilled, room: u64 },
}

impl Held {
    pub(super) fn read(
        engine: &Engine,
        source: &Source,
        uses: &[Use],
        hashable: &[String],
        way: &Way,
    ) -> Result<Held, JobError> {
        let (bounds, room, read_spilled): (_, _, ReadSpilled) = match way {
            Way::Memory => return Ok(Held::Memory(Arc::new(read(engine, source, uses, false)?))),
            Way::Files { bounds, room } => (bounds, *room, read_spilled),
            Way::Cluster { bounds } => (bounds, None, read_remote),
        };
        let most_values = (bounds.left() / 2).max(LEAST_ROOM);
        let scratch = bounds.scratch()?;
        let mut uses = uses.to_vec();
        let spilled = loop {
            let found = read_spilled(engine, source, &uses, false, &scratch, most_values);
            // A column whose values are too many, and of which only matters which are equal, is hashed.
            match found {
                Err(EngineError::TooManyValues { column, needed }) => {
                    let at = source.position(&column).filter(|_| hashable.contains(&column));
                    match at.filter(|&at| uses[at] == Use::Code && !engine.is_remote()) {
                        Some(at) => uses[at] = Use::Hash,
                        None => {
                            return Err(EngineError::TooManyValues { column, needed }.into());
                        }
                    }
                }
                found => break found?,
            }
        };
        let room = room.unwrap_or_else(|| bounds.room(LEAST_ROOM));
        Ok(Held::Files { spilled, room })
    }

    /// What a column says, if that was found out when the table was read.
    pub(super) fn content_of(&self, column: &ColumnContent) -> Result<Option<Content>, JobError> {
        let contents = match self {
            Held::Memory(table) => &table.contents,
            Held::Files { spilled, .. } => &spilled.contents,
        };
        if let Some(content) = contents.of(&column.name) {
            return Ok(Some(content));
        }
        let values = self.values(&column.name);
        Ok(values.map(|values| column.of_values(values)).transpose()?)
    }

    /// The columns whose values were counted.
    pub(super) fn counted(&self) -> &[CountedColumn] {
        match self {
            Held::Memory(table) => &table.counted,
            Held::Files { spilled, .. } => &spilled.counted,
        }
    }

    pub(super) fn n_rows(&self) -> u64 {
        match self {
            Held::Memory(table) => table.n_rows as u64,
            Held::Files { spilled, .. } => spilled.n_rows,
        }
    }
}

impl Known for Held {
    fn values(&self, column: &str) -> Option<&Values> {
        match self {
            Held::Memory(table) => table.values(column),
            Held::Files { spilled, .. } => spilled.values(column),
        }
    }

    fn explain(&self, values: &Values, misfits: Misfits) -> JobError {
        match self {
            Held::Memory(table) => table.explain(values, misfits),
            Held::Files { spilled, .. } => spilled.explain(values, misfits),
        }
    }

    fn first_row(&self, values: &Values, code: u32) -> Option<u64> {
        match self {
            Held::Memory(table) => table.first_row(values, code),
            Held::Files { spilled, .. } => spilled.first_row(values, code),
        }
    }
}

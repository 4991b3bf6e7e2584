//! Where the rows of a measured table are: in memory, or in private files.

use std::sync::Arc;

use incrowd_data::Codes;
use incrowd_engine::{
    CodeFile, ColumnContent, Content, CountedColumn, Engine, EngineError, Misfits, Source, Spilled,
    Table, Use, Values, read, read_remote, read_spilled,
};

use crate::flow::place::{LEAST_ROOM, Place, ReadSpilled};
use crate::flow::values::DistinctValues;
use crate::spec::error::JobError;

/// The column that says whose row it is, in the order of the rows, where the table does not say it.
#[derive(Clone, Debug)]
pub(crate) enum Entities {
    /// Codes and their number.
    Memory(Codes, u32),
    /// A file of one column of codes, and their number.
    File(CodeFile, u32),
}

/// The rows of a table that was read.
#[derive(Debug)]
pub(super) enum ReadRows {
    Memory(Arc<Table>),
    Files { spilled: Spilled, room: u64 },
}

impl ReadRows {
    pub(super) fn read(
        engine: &Engine,
        source: &Source,
        uses: &[Use],
        hashable: &[String],
        place: &Place,
    ) -> Result<ReadRows, JobError> {
        let (bounds, room, read_spilled): (_, _, ReadSpilled) = match place {
            Place::Memory => {
                return Ok(ReadRows::Memory(Arc::new(read(engine, source, uses, false)?)));
            }
            Place::Files { bounds, room } => (bounds, *room, read_spilled),
            Place::Cluster { bounds } => (bounds, None, read_remote),
        };
        let most_values = (bounds.left() / 2).max(LEAST_ROOM);
        let scratch = bounds.scratch()?;
        let mut uses = uses.to_vec();
        let spilled = loop {
            let found = read_spilled(engine, source, &uses, false, &scratch, most_values);
            // A column whose values are too many, and of which only matters which are equal, is
            // hashed.
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
        Ok(ReadRows::Files { spilled, room })
    }

    /// What a column says, if that was found out when the table was read.
    pub(super) fn content_of(&self, column: &ColumnContent) -> Result<Option<Content>, JobError> {
        let contents = match self {
            ReadRows::Memory(table) => &table.contents,
            ReadRows::Files { spilled, .. } => &spilled.contents,
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
            ReadRows::Memory(table) => &table.counted,
            ReadRows::Files { spilled, .. } => &spilled.counted,
        }
    }

    pub(super) fn n_rows(&self) -> u64 {
        match self {
            ReadRows::Memory(table) => table.n_rows as u64,
            ReadRows::Files { spilled, .. } => spilled.n_rows,
        }
    }
}

impl DistinctValues for ReadRows {
    fn values(&self, column: &str) -> Option<&Values> {
        match self {
            ReadRows::Memory(table) => table.values(column),
            ReadRows::Files { spilled, .. } => spilled.values(column),
        }
    }

    fn explain(&self, values: &Values, misfits: Misfits) -> JobError {
        match self {
            ReadRows::Memory(table) => table.explain(values, misfits),
            ReadRows::Files { spilled, .. } => spilled.explain(values, misfits),
        }
    }

    fn first_row(&self, values: &Values, code: u32) -> Option<u64> {
        match self {
            ReadRows::Memory(table) => table.first_row(values, code),
            ReadRows::Files { spilled, .. } => spilled.first_row(values, code),
        }
    }
}

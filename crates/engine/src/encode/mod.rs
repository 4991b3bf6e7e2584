//! Columns as they are read: distinct values in order of appearance, and a code per cell.

mod cells;
mod encoder;
mod interned;
mod merge;
pub(crate) mod tally;
mod values;

pub(crate) use cells::{CellMap, as_encoded};
pub(crate) use encoder::Encoder;
pub(crate) use merge::{merge, merge_values};
pub use values::{Misfits, RawColumn, Values};

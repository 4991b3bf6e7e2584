//! The vocabulary of all other crates: tables of codes, dictionaries, hierarchies, frequency sets
//! and recodings.
//!
//! Knows nothing of Arrow, files or privacy. Values become codes in `engine`; here a value is its
//! rank in an ordered [`Dictionary`], and a row of a quasi-identifier is a vector of such codes.
//!
//! Codes are bare `u32` (packed into 1, 2 or 4 bytes in [`Codes`]): they live in large arrays and
//! index others in hot loops, where a newtype would have to be unwrapped on every line.

// Cells become numbers here: a value that loses precision would become another value.
#![warn(clippy::cast_precision_loss)]

mod attribute;
mod code_set;
mod codes;
mod condition;
mod cuts;
mod dictionary;
mod frequency;
mod hierarchy;
mod hierarchy_build;
mod label;
mod levels;
mod plain;
mod recoded;
mod recoding;

pub use attribute::{Attribute, Between, Cell, End, Shape, set_label};
pub use code_set::CodeSet;
pub use codes::{Codes, bits_for};
pub use condition::{
    Aggregate, Comparison, Condition, Literal, MOST_REGIONS, Query, Region, Test, TooManyRegions,
};
pub use cuts::Cuts;
pub use dictionary::{Dictionary, Kind};
pub use frequency::{Collapsed, Extra, FrequencySet, collapse, distinct_share, sample_hashes};
pub use hierarchy::{Group, Hierarchy, HierarchyError, Level};
pub use hierarchy_build::{
    BuildError, DatePart, MaskSide, dates, fan_out, intervals, mask, relabel_fan_out,
    relabel_intervals, relabel_mask,
};
pub use label::{Label, LabelsOf, closed_label, half_open_label, value_label, values_label};
pub use levels::Levels;
pub use plain::{PlainColumn, PlainTable, PlainValues};
pub use recoded::{Labels, Recoded, RecodedColumn, running_counts};
pub use recoding::{
    Assignment, Block, Branches, Divided, Node, NodeId, PartitionTree, SUPPRESSED, VectorShare,
};

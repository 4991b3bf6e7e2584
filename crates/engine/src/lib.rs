//! Sources and sinks on Apache DataFusion, in process. Values become codes here and nowhere else.
//!
//! [`Source::open`] finds out what an input is, [`read()`] reads it once: columns that the job looks at
//! become distinct values with codes, the others are kept as Arrow arrays for the release.
//! [`parse_query`] and [`parse_condition`] read SQL. [`Writer`] streams the release into a staged file or folder, in an order that says nothing of the input.
//! This crate holds no privacy logic.

// Cells become numbers here: a value that is not exact as one would be another value.
#![warn(clippy::cast_precision_loss)]

mod arrow_check;
mod column;
mod content;
mod context;
mod counted;
mod csv_check;
mod csv_sink;
mod csv_write;
mod cut_point;
mod declared;
mod decode;
mod digest;
mod error;
mod find;
mod format;
#[doc(hidden)]
pub mod fuzzing;
mod held;
mod json;
mod json_numbers;
mod mix;
mod parquet_check;
mod portion;
mod publish;
mod read;
pub mod remote;
mod sample;
mod scan;
mod source;
mod spill;
mod sql;
mod stage;
mod staging;
mod stored;
mod typing;
mod write;

pub use column::{Misfits, RawColumn, Values};
pub use content::{ColumnContent, Content, Contents, Meaning, first_changed};
pub use context::Engine;
pub use counted::CountedColumn;
pub use csv_check::{Compression, CsvError};
pub use cut_point::CutPoint;
pub use declared::DeclaredOrder;
pub use decode::is_decoding;
pub use digest::sha256;
pub use error::EngineError;
pub use find::{find_files, refuse_address};
pub use format::Format;
pub use held::{Abandoned, abandon};
pub use mix::{NO_CELLS, halves_of, mix_codes, of_halves};
pub use publish::{Manifest, publish};
pub use read::{Kept, KeptColumn, Table, Use, read};
pub use sample::Sample;
pub use source::{Size, Source, SourceColumn};
pub use spill::{
    Block, BlockReader, Blocks, Bucket, Buckets, CodeFile, CodeReader, CodeWriter, Distributor,
    Grouping, Hashed, HashedCells, HashedColumn, HashedReader, NOWHERE, Scratch, Spilled, Visit,
    group, read_remote, read_spilled, sort_bucket,
};
pub use sql::{SqlError, parse_condition, parse_query};
pub use stage::{Access, Staged, stage_bytes};
pub use staging::{Output, Part, Staging, foreign_in};
pub use stored::Fit;
pub use typing::{Order, Ranked, kind_of_texts, position, text_at};
pub use write::{Piece, Published, Rows, Writer, order_within, write_plain};

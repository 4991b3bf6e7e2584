//! Sources and sinks on Apache DataFusion, in process. Values become codes here and nowhere else.
//!
//! [`Source::open`] finds out what an input is, [`read()`] reads it once: columns that the job looks at
//! become distinct values with codes, the others are kept as Arrow arrays for the release.
//! [`parse_query`] and [`parse_condition`] read SQL. [`Writer`] streams the release into a staged file or
//! folder, in an order that says nothing of the input. This crate holds no privacy logic.
//!
//! The modules depend only on those before them in this order: `error`, `batches`, `decode`,
//! `wire`, `value`, `format`, `publish`, `engine`, `source`, `encode`, `read`, `remote`, `write`,
//! `rows`; `sql` stands alone.

// Cells become numbers here: a value that is not exact as one would be another value.
#![warn(clippy::cast_precision_loss)]

mod batches;
mod decode;
mod encode;
mod engine;
mod error;
mod format;
#[doc(hidden)]
pub mod fuzzing;
mod publish;
mod read;
pub mod remote;
mod rows;
mod source;
mod sql;
mod value;
mod wire;
mod write;

pub use arrow;
pub use batches::Batches;
pub use decode::is_decoding;
pub use encode::{Misfits, RawColumn, Values};
pub use engine::Engine;
pub use error::{CsvError, Elsewhere, EngineError, FileAction, ValueList};
pub use format::{Compression, Format};
pub use publish::{
    Abandoned, Access, Manifest, Output, Part, Slot, Staged, Staging, abandon, foreign_in, publish,
    sha256, stage_bytes, stage_written,
};
pub use read::{CountedColumn, Kept, KeptColumn, Table, first_changed, read, read_within};
pub use rows::{
    Block, BlockReader, Blocks, Bucket, BucketOfAll, Buckets, CodeFile, CodeReader, CodeWriter,
    Distributor, Grouping, Hashed, HashedCells, HashedColumn, HashedReader, NOWHERE, Scratch,
    Spilled, Visit, group, read_remote, read_spilled, read_spilled_or_too_large, sort_bucket,
};
pub use source::{DeclaredOrder, Size, Source, SourceColumn, Use, find_files, refuse_address};
pub use sql::{SqlError, parse_condition, parse_query};
pub use value::content::{ColumnContent, Content, Contents, Meaning};
pub use value::cut_point::CutPoint;
pub use value::mix::{NO_CELLS, halves_of, mix_codes, of_halves};
pub use value::sample::Sample;
pub use value::stored::Fit;
pub use value::typing::{Order, Ranked, kind_of_texts, position, text_at};
pub use write::{Piece, Published, Rows, Writer, order_within, write_plain};

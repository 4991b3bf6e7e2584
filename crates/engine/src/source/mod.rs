//! What an input is: where its rows are, its columns, and scans of them.

mod declared;
mod files;
mod find;
mod json;
mod json_numbers;
mod portion;
mod scan;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use incrowd_data::Kind;

use crate::value::kind::{can_be_coded, kind_of_type};
use crate::value::mix::can_be_mixed;
use crate::value::sets::can_be_sets;
use crate::{Batches, Engine, EngineError, Format, Staging};
pub use declared::DeclaredOrder;
use declared::{Declared, declared_in_batches};
pub(crate) use files::{Files, Fingerprint};
pub use find::{find_files, refuse_address};
pub(crate) use scan::{plan, plan_of_files, schema};
pub use usage::Use;
pub(crate) use usage::UsedColumn;

/// An input that can be read: a table with columns, wherever its rows are.
///
/// All that reads a source asks it for its columns and for a scan of some of them (`scan`); what
/// else depends on where rows come from (what they may take in memory, whether they are what they
/// were) is answered in this module, by a `match` over the origins. A query to a database is to be
/// one more of them: an origin with a schema, a stream of batches in a fixed order, and an estimate
/// of its size.
#[derive(Clone, Debug)]
pub struct Source {
    columns: Vec<SourceColumn>,
    /// By column what its origin declares of it beside its type.
    declared: Vec<Declared>,
    /// By column whether it has lists that are read as labels of sets; empty if none has.
    has_sets: Vec<bool>,
    origin: Origin,
}

/// Where the rows of a source are.
#[derive(Clone, Debug)]
enum Origin {
    Files(Files),
    Memory(Batches),
}

/// How large a source is in memory, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows; where the files do not say it, rather too many.
    pub rows: u64,
    /// Bytes of the cells of the columns with [`Use::Keep`].
    pub kept_bytes: u64,
}

/// A column of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    /// What Arrow holds it as.
    pub data_type: DataType,
}

impl SourceColumn {
    /// Whether its values can be grouped.
    #[must_use]
    pub fn can_be_coded(&self) -> bool {
        can_be_coded(&self.data_type)
    }

    /// What it holds in words, where its values cannot be grouped.
    #[must_use]
    pub fn holds(&self) -> Option<&'static str> {
        (!self.can_be_coded()).then(|| in_words(&self.data_type))
    }

    /// Whether its cells can be put into hashes of rows.
    #[must_use]
    pub fn can_be_mixed(&self) -> bool {
        can_be_mixed(&self.data_type)
    }

    /// The kind of values that the source says; text files say nothing.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        kind_of_type(&self.data_type)
    }
}

/// What values of a type are that cannot be grouped.
pub(crate) fn in_words(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Time32(_) | DataType::Time64(_) => "times of day",
        DataType::Duration(_) | DataType::Interval(_) => "durations",
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "bytes",
        DataType::Struct(_) | DataType::Map(..) => "records",
        DataType::Dictionary(_, values) => in_words(values),
        data_type if data_type.is_list() => "lists",
        _ => "values of a type that is not supported",
    }
}

impl Source {
    /// Looks at a file, a folder or a glob: which files, which format, which columns. Text files
    /// are read through once, so that every structural error is found before anything else happens.
    pub fn open(engine: &Engine, input: &str) -> Result<Source, EngineError> {
        Files::open(engine, input)
    }

    /// A table in memory. It is read as an Arrow file with the same batches would be.
    #[must_use]
    pub fn of_batches(batches: Batches) -> Source {
        let column = |field: &Arc<Field>| SourceColumn {
            name: field.name().clone(),
            data_type: field.data_type().clone(),
        };
        Source {
            columns: batches.schema().fields().iter().map(column).collect(),
            declared: declared_in_batches(&batches),
            has_sets: Vec::new(),
            origin: Origin::Memory(batches),
        }
    }

    /// A release that was written and waits to be published: its bytes, or its batches.
    pub fn of_staged(engine: &Engine, staged: &Staging) -> Result<Source, EngineError> {
        let release = match staged.written() {
            Some(batches) => Source::of_batches(batches),
            None => Source::open(engine, &staged.path().to_string_lossy())?,
        };
        Ok(release.with_sets(|_| true))
    }

    /// The same as a release: lists of texts in columns of these names are sets, and are read as
    /// the labels that they stand for.
    #[must_use]
    pub fn with_sets(self, is_label: impl Fn(&str) -> bool) -> Source {
        let is_set =
            |column: &SourceColumn| can_be_sets(&column.data_type) && is_label(&column.name);
        let has_sets = self.columns.iter().map(is_set).collect();
        Source { has_sets, ..self }
    }

    /// Whether the cells of a column can be given codes.
    #[must_use]
    pub fn can_code(&self, column: usize) -> bool {
        self.columns[column].can_be_coded() || self.has_sets.get(column) == Some(&true)
    }

    /// A source of files whose columns are known.
    pub(crate) fn of_files(files: Files, columns: Vec<SourceColumn>) -> Source {
        let (declared, has_sets) = (Vec::new(), Vec::new());
        Source { columns, declared, has_sets, origin: Origin::Files(files) }
    }

    /// Its files, if it is made of files.
    pub(crate) fn as_files(&self) -> Option<&Files> {
        match &self.origin {
            Origin::Files(files) => Some(files),
            Origin::Memory(_) => None,
        }
    }

    /// The columns in their order.
    #[must_use]
    pub fn columns(&self) -> &[SourceColumn] {
        &self.columns
    }

    /// The position of a column.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether the names of the columns look like cells: then the first line of a text file may be
    /// a row about a person, and no message may tell them.
    #[must_use]
    pub fn looks_headerless(&self) -> bool {
        self.as_files().is_some_and(|files| files.looks_headerless)
    }

    /// The order of a column's values that its files declare, if they declare one.
    #[must_use]
    pub fn declared_order(&self, column: usize) -> Option<&DeclaredOrder> {
        self.declared.get(column)?.order.as_ref()
    }

    /// Whether a column is a row index without a name, which pandas adds to what it writes.
    #[must_use]
    pub fn is_row_index(&self, column: usize) -> bool {
        self.declared.get(column).is_some_and(|declared| declared.is_row_index)
    }

    /// Whether the source is text, whose values say themselves what they are.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.as_files().is_some_and(|files| matches!(files.format, Format::Csv(_)))
    }

    /// Whether a scan of few columns costs as much as one of all.
    pub(crate) fn is_row_wise(&self) -> bool {
        let is_row_wise = |format| matches!(format, Format::Csv(_) | Format::JsonLines(_));
        self.as_files().is_some_and(|files| is_row_wise(files.format))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        let is_required = self.as_files().map_or(&[][..], |files| &files.is_required);
        let field = |(at, column): (usize, &SourceColumn)| {
            let is_nullable = is_required.get(at) != Some(&true);
            Field::new(&column.name, column.data_type.clone(), is_nullable)
        };
        Arc::new(Schema::new(self.columns.iter().enumerate().map(field).collect::<Vec<_>>()))
    }

    /// An error if a file is not what it was when it was opened. What is in memory cannot change.
    pub fn check_unchanged(&self) -> Result<(), EngineError> {
        match &self.origin {
            Origin::Files(files) => files.check_unchanged(),
            Origin::Memory(_) => Ok(()),
        }
    }

    /// Its files; none for a table in memory.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        self.as_files().map_or(&[], |files| &files.paths)
    }

    /// The size of all files in bytes; nothing is read from elsewhere for a table in memory.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.as_files().map_or(0, Files::n_bytes)
    }

    /// How large the source is, told without reading it again.
    #[must_use]
    pub fn size(&self, uses: &[Use]) -> Size {
        match &self.origin {
            Origin::Files(files) => files.size(&self.columns, uses),
            Origin::Memory(batches) => {
                let kept = (0..uses.len()).filter(|&at| uses[at] == Use::Keep);
                let kept_bytes = kept.map(|at| batches.column_bytes(at)).sum();
                Size { rows: batches.n_rows(), kept_bytes }
            }
        }
    }

    /// The bytes of text files after decompression, of other files as they are, and of cells in
    /// memory.
    #[must_use]
    pub fn n_text_bytes(&self) -> u64 {
        match &self.origin {
            Origin::Files(files) => files.n_text_bytes(),
            Origin::Memory(batches) => {
                (0..self.columns.len()).map(|at| batches.column_bytes(at)).sum()
            }
        }
    }
}

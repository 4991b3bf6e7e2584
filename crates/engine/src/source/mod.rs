//! What an input is: its files, format and columns.

mod declared;
mod find;
mod json;
mod json_numbers;
mod portion;
mod scan;
mod usage;

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::object_store::local::LocalFileSystem;
use incrowd_data::Kind;

use crate::decode::guarded;
use crate::error::Detail;
use crate::format::arrow_check::check_arrow;
use crate::format::csv_check::{CsvFacts, Extent, inspect};
use crate::format::parquet_check::{parquet_footer, parquet_pages};
use crate::value::kind::{can_be_coded, kind_of_type};
use crate::value::mix::can_be_mixed;
use crate::{Engine, EngineError, Format};
pub use declared::DeclaredOrder;
use declared::{Declared, add_orders, declared_by};
pub use find::{find_files, refuse_address};
use scan::{compression, object_meta, plain};
pub(crate) use scan::{plan, plan_of_files, schema};
pub use usage::Use;

/// An input that can be read: one or more files of one format with the same columns.
#[derive(Clone, Debug)]
pub struct Source {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) format: Format,
    pub(crate) delimiter: u8,
    pub(crate) has_newlines_in_values: bool,
    pub(crate) columns: Vec<SourceColumn>,
    /// By column whether a Parquet file says that all its cells have values: the reader insists on being told the
    /// same.
    pub(crate) is_required: Vec<bool>,
    /// By column what typed files declare of it beside its type.
    pub(crate) declared: Vec<Declared>,
    /// By file whether it has no row, where others have some: it is not read.
    pub(crate) is_empty: Vec<bool>,
    pub(crate) prints: Vec<Fingerprint>,
    /// The rows of text files, which are counted when they are opened.
    pub(crate) n_text_rows: Option<u64>,
    /// How much text there is in files of text, which are read through when they are opened.
    pub(crate) extent: Option<Extent>,
    /// Whether the first line of a text file looks like a row.
    pub(crate) looks_headerless: bool,
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

/// What a file was like when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) len: u64,
    modified: Option<SystemTime>,
}

impl Fingerprint {
    /// Of a file of which just the length is known.
    pub(crate) fn of_len(len: u64) -> Fingerprint {
        Fingerprint { len, modified: None }
    }
}

impl Source {
    /// Looks at a file, a folder or a glob: which files, which format, which columns. Text files are
    /// read through once, so that every structural error is found before anything else happens.
    pub fn open(engine: &Engine, input: &str) -> Result<Source, EngineError> {
        let files = find_files(input, &|| engine.go_on())?;
        let format = common_format(&files)?;
        let prints = files.iter().map(|file| fingerprint(file)).collect::<Result<_, _>>()?;
        let mut source = Source {
            files,
            format,
            delimiter: b',',
            has_newlines_in_values: false,
            columns: Vec::new(),
            is_required: Vec::new(),
            declared: Vec::new(),
            is_empty: Vec::new(),
            prints,
            n_text_rows: None,
            extent: None,
            looks_headerless: false,
        };
        match format {
            Format::Csv(compression) => source.open_csv(engine, compression)?,
            _ => source.open_typed(engine)?,
        }
        source.check_unchanged()?;
        Ok(source)
    }

    fn open_csv(
        &mut self,
        engine: &Engine,
        compression: crate::Compression,
    ) -> Result<(), EngineError> {
        let mut first: Option<CsvFacts> = None;
        let cancelled = engine.cancelled_flag();
        for path in &self.files {
            let delimiter = first.as_ref().map(|facts| facts.delimiter);
            let facts = inspect(path, compression, delimiter, &cancelled);
            engine.go_on()?;
            let facts = facts.map_err(|fault| EngineError::Csv { path: path.clone(), fault })?;
            self.has_newlines_in_values |= facts.has_newlines_in_values;
            self.n_text_rows = Some(self.n_text_rows.unwrap_or(0) + facts.n_rows);
            self.extent = Some(self.extent.unwrap_or_default().and(facts.extent));
            match &first {
                Some(first) if first.header != facts.header => {
                    let what = header_difference(first, &facts);
                    return Err(EngineError::FilesDiffer { path: path.clone(), what });
                }
                Some(_) => {}
                None => first = Some(facts),
            }
        }
        let facts = first.expect("an input has a file");
        self.delimiter = facts.delimiter;
        self.looks_headerless = facts.looks_headerless;
        let column = |name| SourceColumn { name, data_type: DataType::Utf8 };
        self.columns = facts.header.into_iter().map(column).collect();
        Ok(())
    }

    fn open_typed(&mut self, engine: &Engine) -> Result<(), EngineError> {
        let files = self.files.iter();
        let opened =
            files.map(|path| self.schema_of(engine, path)).collect::<Result<Vec<_>, _>>()?;
        // A file without rows says little of the types of its columns.
        let first = opened.iter().position(|file| file.has_rows).unwrap_or(0);
        let mut schema = Arc::clone(&opened[first].schema);
        for (path, file) in self.files.iter().zip(&opened) {
            let what = match self.format {
                Format::JsonLines(_) => json::join(&mut schema, &file.schema, file.has_rows),
                _ => difference(&schema, &file.schema, file.has_rows),
            };
            if let Some(what) = what {
                return Err(EngineError::FilesDiffer { path: path.clone(), what });
            }
        }
        if matches!(self.format, Format::JsonLines(_)) {
            schema = self.with_long_numbers(&schema)?;
        }
        if opened[first].has_rows {
            self.is_empty = opened.iter().map(|file| !file.has_rows).collect();
        }
        self.declared = declared_by(&schema);
        for (path, file) in self.files.iter().zip(&opened) {
            if file.has_rows {
                add_orders(path, self.format, &schema, &mut self.declared);
            }
        }
        for field in schema.fields() {
            if self.columns.iter().any(|column| &column.name == field.name()) {
                let (path, name) = (self.files[first].clone(), field.name().clone());
                return Err(EngineError::DuplicateColumn { path, name });
            }
            let data_type = field.data_type().clone();
            self.columns.push(SourceColumn { name: field.name().clone(), data_type });
            self.is_required.push(self.format == Format::Parquet && !field.is_nullable());
        }
        Ok(())
    }

    /// The same columns, those of numbers that floats would change as decimals.
    fn with_long_numbers(&self, schema: &SchemaRef) -> Result<SchemaRef, EngineError> {
        if schema.fields().iter().all(|field| field.data_type() != &DataType::Float64) {
            return Ok(Arc::clone(schema));
        }
        let mut of_columns: BTreeMap<String, json_numbers::Numbers> = BTreeMap::new();
        for path in &self.files {
            let failed = |source| EngineError::Io { action: "reading", path: path.clone(), source };
            let file = std::fs::File::open(path).map_err(failed)?;
            let text = self.format.compression().reader(file).map_err(failed)?;
            for (name, numbers) in json_numbers::numbers(text).map_err(failed)? {
                of_columns.entry(name).or_default().and(numbers);
            }
        }
        let mut fields: Vec<Field> = Vec::new();
        for field in schema.fields() {
            let numbers = of_columns.get(field.name()).copied().unwrap_or_default();
            let is_float = field.data_type() == &DataType::Float64;
            fields.push(match numbers.decimal() {
                Ok(Some((digits, places))) if is_float => {
                    Field::new(field.name(), DataType::Decimal128(digits, places), true)
                }
                Err(()) if is_float => {
                    return Err(EngineError::LongNumbers { name: field.name().clone() });
                }
                _ => field.as_ref().clone(),
            });
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn schema_of(&self, engine: &Engine, path: &Path) -> Result<OpenedFile, EngineError> {
        let unreadable = |source| self.unreadable(path, source);
        let mut has_rows = true;
        match self.format {
            Format::Arrow => return arrow_schema(path).map_err(unreadable),
            Format::Parquet => {
                let footer = parquet_footer(path).map_err(unreadable)?;
                parquet_pages(path, &footer).map_err(unreadable)?;
                has_rows = footer.row_groups().iter().any(|group| group.num_rows() > 0);
            }
            Format::Csv(_) | Format::JsonLines(_) => {}
        }
        let format: Arc<dyn FileFormat> = match self.format {
            Format::Parquet => Arc::new(ParquetFormat::default().with_force_view_types(false)),
            Format::JsonLines(_) | Format::Csv(_) | Format::Arrow => {
                let compression = compression(self.format.compression());
                Arc::new(
                    JsonFormat::default()
                        .with_schema_infer_max_rec(usize::MAX)
                        .with_file_compression_type(compression),
                )
            }
        };
        let store: Arc<dyn datafusion::object_store::ObjectStore> =
            Arc::new(LocalFileSystem::new());
        let state = engine.session().state();
        let schema = object_meta(path).and_then(|meta| {
            let inferred = async { format.infer_schema(&state, &store, &[meta]).await };
            guarded(|| engine.runtime().block_on(inferred))?
        });
        let schema = schema
            .map(|schema| plain(&schema))
            .map_err(|error| unreadable(Detail::of_datafusion(&error)))?;
        if matches!(self.format, Format::JsonLines(_)) {
            has_rows = !schema.fields().is_empty() || !self.is_blank(path)?;
        }
        Ok(OpenedFile { schema, has_rows })
    }

    /// Whether a file of text says nothing at all.
    fn is_blank(&self, path: &Path) -> Result<bool, EngineError> {
        let reading = |source| EngineError::Io { action: "reading", path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(reading)?;
        let text = self.format.compression().reader(file).map_err(reading)?;
        for byte in BufReader::new(text).bytes() {
            if !byte.map_err(reading)?.is_ascii_whitespace() {
                return Ok(false);
            }
        }
        Ok(true)
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

    /// Whether the names of the columns look like cells: then the first line of a text file may be a row
    /// about a person, and no message may tell them.
    #[must_use]
    pub fn looks_headerless(&self) -> bool {
        self.looks_headerless
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

    /// The files that have rows, or all if none has.
    pub(crate) fn files_with_rows(&self) -> impl Iterator<Item = &PathBuf> {
        let has_rows = |at: usize| self.is_empty.get(at) != Some(&true);
        self.files.iter().enumerate().filter(move |(at, _)| has_rows(*at)).map(|(_, file)| file)
    }

    /// Whether the source is text, whose values say themselves what they are.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.format, Format::Csv(_))
    }

    /// Whether a scan of few columns costs as much as one of all.
    pub(crate) fn is_row_wise(&self) -> bool {
        matches!(self.format, Format::Csv(_) | Format::JsonLines(_))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        let field = |(at, column): (usize, &SourceColumn)| {
            let is_required = self.is_required.get(at) == Some(&true);
            Field::new(&column.name, column.data_type.clone(), !is_required)
        };
        Arc::new(Schema::new(self.columns.iter().enumerate().map(field).collect::<Vec<_>>()))
    }

    /// An error if a file is not what it was when it was opened.
    pub fn check_unchanged(&self) -> Result<(), EngineError> {
        for (path, print) in self.files.iter().zip(&self.prints) {
            if fingerprint(path).ok().as_ref() != Some(print) {
                return Err(EngineError::Changed { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Its files.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The size of all files in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.prints.iter().map(|print| print.len).sum()
    }

    /// How large the source is, told without reading it again.
    pub fn size(&self, uses: &[Use]) -> Result<Size, EngineError> {
        if self.format == Format::Parquet {
            return self.parquet_size(uses);
        }
        let n_columns = self.columns.len().max(1) as u64;
        let n_kept = uses.iter().filter(|usage| **usage == Use::Keep).count() as u64;
        let n_bytes = self.n_text_bytes();
        let rows = self.n_text_rows.unwrap_or(n_bytes / (2 * n_columns));
        let kept_bytes = n_bytes / n_columns * n_kept + rows.saturating_mul(5 * n_kept);
        Ok(Size { rows, kept_bytes })
    }

    /// The bytes of text files after decompression; those of other files as they are.
    #[must_use]
    pub fn n_text_bytes(&self) -> u64 {
        // Text shrinks to a sixth or so when it is compressed.
        let is_packed = self.format.compression() != crate::Compression::None;
        let about = || self.n_bytes().saturating_mul(if is_packed { 8 } else { 1 });
        self.extent.map_or_else(about, |extent| extent.n_bytes)
    }

    fn parquet_size(&self, uses: &[Use]) -> Result<Size, EngineError> {
        let mut size = Size { rows: 0, kept_bytes: 0 };
        let kept: Vec<&str> = (self.columns.iter().zip(uses))
            .filter(|(_, usage)| **usage == Use::Keep)
            .map(|(column, _)| column.name.as_str())
            .collect();
        for path in &self.files {
            let footer = parquet_footer(path).map_err(|source| self.unreadable(path, source))?;
            for group in footer.row_groups() {
                let rows = u64::try_from(group.num_rows()).unwrap_or(0);
                size.rows += rows;
                for column in group.columns() {
                    let name = column.column_path().parts().first().map(String::as_str);
                    if name.is_some_and(|name| kept.contains(&name)) {
                        // A dictionary is stored once; in memory its values repeat.
                        let stored = u64::try_from(column.uncompressed_size()).unwrap_or(0);
                        size.kept_bytes += stored.max(8 * rows);
                    }
                }
            }
        }
        Ok(size)
    }
}

/// What a typed file says of itself.
struct OpenedFile {
    schema: SchemaRef,
    has_rows: bool,
}

/// The schema of an Arrow file. DataFusion would read what is no file as a stream, of any length that
/// its first bytes claim.
fn arrow_schema(path: &Path) -> Result<OpenedFile, Detail> {
    let found = check_arrow(path)?;
    let file = std::fs::File::open(path).map_err(|error| Detail::of_io(&error))?;
    let reader = guarded(|| arrow::ipc::reader::FileReader::try_new(file, None))
        .map_err(|error| Detail::of_datafusion(&error))?
        .map_err(|error| Detail::of_arrow(&error))?;
    Ok(OpenedFile { schema: plain(&reader.schema()), has_rows: found.n_rows > 0 })
}

/// How the columns of a file differ from those of the first one, if they do. Whether a column says that it
/// may be empty makes no difference: it may. Nor does a column without a type in a file without rows.
fn difference(first: &Schema, found: &Schema, has_rows: bool) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for field in first.fields() {
        let name = field.name();
        match found.field_with_name(name) {
            Err(_) => all.push(format!("column `{name}` is missing")),
            Ok(other) if !has_rows && other.data_type() == &DataType::Null => {}
            Ok(other) if other.data_type() != field.data_type() => {
                let (is, should) = (other.data_type(), field.data_type());
                all.push(format!("column `{name}` is of type {is}, not {should}"));
            }
            Ok(_) => {}
        }
    }
    for field in found.fields().iter().filter(|f| first.field_with_name(f.name()).is_err()) {
        all.push(format!("column `{}` is one too many", field.name()));
    }
    if all.is_empty() {
        let pairs = found.fields().iter().zip(first.fields());
        let moved = pairs.into_iter().find(|(found, first)| found.name() != first.name());
        if let Some((found, first)) = moved {
            let (found, first) = (found.name(), first.name());
            all.push(format!("its columns have another order, `{found}` is where `{first}` was"));
        } else if found.fields().len() != first.fields().len() {
            all.push("it has a column twice".to_owned());
        }
    }
    listed(all)
}

/// The same for headers. A file without a header has values in its place, so that only names of the first
/// file are told, and only if it has a header.
fn header_difference(first: &CsvFacts, found: &CsvFacts) -> String {
    let missing = (1..).zip(&first.header).filter(|(_, name)| !found.header.contains(name));
    let told = |(at, name): (usize, &String)| {
        if first.looks_headerless {
            format!("the name of column {at} of the first file is missing")
        } else {
            format!("column `{name}` is missing")
        }
    };
    let mut all: Vec<String> = missing.map(told).collect();
    let n_more = found.header.iter().filter(|name| !first.header.contains(name)).count();
    if n_more > 0 {
        all.push(format!("{n_more} of its columns are not in the first file"));
    }
    let what = listed(all).unwrap_or_else(|| "its columns have another order".to_owned());
    format!("its header is another one: {what}")
}

/// The first few of a list, and how many more there are.
pub(crate) fn listed(all: Vec<String>) -> Option<String> {
    const MOST: usize = 5;
    let n_more = all.len().saturating_sub(MOST);
    let text = all.into_iter().take(MOST).collect::<Vec<_>>().join("; ");
    match (text.is_empty(), n_more) {
        (true, _) => None,
        (false, 0) => Some(text),
        (false, n_more) => Some(format!("{text}; and {n_more} more")),
    }
}

fn fingerprint(path: &Path) -> Result<Fingerprint, EngineError> {
    let meta = std::fs::metadata(path).map_err(|source| EngineError::Io {
        action: "reading",
        path: path.to_owned(),
        source,
    })?;
    Ok(Fingerprint { len: meta.len(), modified: meta.modified().ok() })
}

fn common_format(files: &[PathBuf]) -> Result<Format, EngineError> {
    let unknown = |path: &Path| EngineError::UnknownFormat { path: path.display().to_string() };
    let first = Format::of(&files[0]).ok_or_else(|| unknown(&files[0]))?;
    match files.iter().find(|file| Format::of(file) != Some(first)) {
        None => Ok(first),
        Some(path) => {
            let what = format!("it is not {}", first.name());
            Err(EngineError::FilesDiffer { path: path.clone(), what })
        }
    }
}

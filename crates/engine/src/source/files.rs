//! The files of a source: which they are, what they hold, and what they were like when they were
//! opened.

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

use super::declared::{Declared, add_orders, declared_by};
use super::find::find_files;
use super::scan::{compression, object_meta, plain};
use super::{Origin, Size, Source, SourceColumn, Use, json, json_numbers};
use crate::decode::guarded;
use crate::error::Detail;
use crate::format::arrow_check::check_arrow;
use crate::format::csv_check::{CsvFacts, Extent, inspect};
use crate::format::decoded::Decoded;
use crate::format::parquet_check::{parquet_footer, parquet_pages};
use crate::{Engine, EngineError, FileAction, Format};

/// One or more files of one format with the same columns.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) format: Format,
    pub(crate) delimiter: u8,
    pub(crate) has_newlines_in_values: bool,
    /// By column whether a Parquet file says that all its cells have values: the reader insists on
    /// being told the same.
    pub(crate) is_required: Vec<bool>,
    /// By file whether it has no row, where others have some: it is not read.
    pub(crate) is_empty: Vec<bool>,
    pub(crate) prints: Vec<Fingerprint>,
    /// The rows of text files, which are counted when they are opened.
    n_text_rows: Option<u64>,
    /// How much text there is in files of text, which are read through when they are opened.
    pub(super) extent: Option<Extent>,
    /// How much there is in Parquet and Arrow files.
    pub(super) decoded: Option<Decoded>,
    /// Whether the first line of a text file looks like a row.
    pub(super) looks_headerless: bool,
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

impl Files {
    /// Files that a worker is told to read; the client has looked at them.
    pub(crate) fn told(format: Format, paths: Vec<PathBuf>, prints: Vec<Fingerprint>) -> Files {
        Files {
            paths,
            format,
            delimiter: b',',
            has_newlines_in_values: false,
            is_required: Vec::new(),
            is_empty: Vec::new(),
            prints,
            n_text_rows: None,
            extent: None,
            decoded: None,
            looks_headerless: false,
        }
    }

    /// The source that the files of an input are.
    pub(super) fn open(engine: &Engine, input: &str) -> Result<Source, EngineError> {
        let paths = find_files(input, &|| engine.go_on())?;
        let format = common_format(&paths)?;
        let prints = paths.iter().map(|path| fingerprint(path)).collect::<Result<_, _>>()?;
        let mut files = Files::told(format, paths, prints);
        let (columns, declared) = match format {
            Format::Csv(compression) => (files.open_csv(engine, compression)?, Vec::new()),
            _ => files.open_typed(engine)?,
        };
        files.check_unchanged()?;
        Ok(Source { columns, declared, has_sets: Vec::new(), origin: Origin::Files(files) })
    }

    fn open_csv(
        &mut self,
        engine: &Engine,
        compression: crate::Compression,
    ) -> Result<Vec<SourceColumn>, EngineError> {
        let mut first: Option<CsvFacts> = None;
        let cancelled = engine.cancelled_flag();
        for path in &self.paths {
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
        Ok(facts.header.into_iter().map(column).collect())
    }

    fn open_typed(
        &mut self,
        engine: &Engine,
    ) -> Result<(Vec<SourceColumn>, Vec<Declared>), EngineError> {
        let paths = self.paths.iter();
        let opened =
            paths.map(|path| self.schema_of(engine, path)).collect::<Result<Vec<_>, _>>()?;
        // A file without rows says little of the types of its columns.
        let first = opened.iter().position(|file| file.has_rows).unwrap_or(0);
        let mut schema = Arc::clone(&opened[first].schema);
        for (path, file) in self.paths.iter().zip(&opened) {
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
        let decoded = opened.iter().filter_map(|file| file.decoded.as_ref());
        self.decoded = decoded.cloned().reduce(|all, of_file| all.and(&of_file));
        if opened[first].has_rows {
            self.is_empty = opened.iter().map(|file| !file.has_rows).collect();
        }
        let mut declared = declared_by(&schema);
        for (path, file) in self.paths.iter().zip(&opened) {
            if file.has_rows {
                add_orders(path, self.format, &schema, &mut declared);
            }
        }
        let mut columns: Vec<SourceColumn> = Vec::new();
        for field in schema.fields() {
            if columns.iter().any(|column| &column.name == field.name()) {
                let (path, name) = (self.paths[first].clone(), field.name().clone());
                return Err(EngineError::DuplicateColumn { path, name });
            }
            let data_type = field.data_type().clone();
            columns.push(SourceColumn { name: field.name().clone(), data_type });
            self.is_required.push(self.format == Format::Parquet && !field.is_nullable());
        }
        Ok((columns, declared))
    }

    /// The same columns, those of numbers that floats would change as decimals.
    fn with_long_numbers(&self, schema: &SchemaRef) -> Result<SchemaRef, EngineError> {
        if schema.fields().iter().all(|field| field.data_type() != &DataType::Float64) {
            return Ok(Arc::clone(schema));
        }
        let mut of_columns: BTreeMap<String, json_numbers::Numbers> = BTreeMap::new();
        for path in &self.paths {
            let failed =
                |source| EngineError::Io { action: FileAction::Read, path: path.clone(), source };
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
        let mut decoded = None;
        match self.format {
            Format::Arrow => return arrow_schema(path).map_err(unreadable),
            Format::Parquet => {
                let footer = parquet_footer(path).map_err(unreadable)?;
                let pages = parquet_pages(path, &footer).map_err(unreadable)?;
                decoded = Some(Decoded::of_parquet(&footer, &pages));
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
        Ok(OpenedFile { schema, has_rows, decoded })
    }

    /// Whether a file of text says nothing at all.
    fn is_blank(&self, path: &Path) -> Result<bool, EngineError> {
        let reading =
            |source| EngineError::Io { action: FileAction::Read, path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(reading)?;
        let text = self.format.compression().reader(file).map_err(reading)?;
        for byte in BufReader::new(text).bytes() {
            if !byte.map_err(reading)?.is_ascii_whitespace() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The files that have rows, or all if none has.
    pub(super) fn with_rows(&self) -> impl Iterator<Item = &PathBuf> {
        let has_rows = |at: usize| self.is_empty.get(at) != Some(&true);
        self.paths.iter().enumerate().filter(move |(at, _)| has_rows(*at)).map(|(_, file)| file)
    }

    /// An error if a file is not what it was when it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), EngineError> {
        for (path, print) in self.paths.iter().zip(&self.prints) {
            if fingerprint(path).ok().as_ref() != Some(print) {
                return Err(EngineError::Changed { path: path.clone() });
            }
        }
        Ok(())
    }

    /// The size of all files in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        self.prints.iter().map(|print| print.len).sum()
    }

    /// How large the rows are in memory, told without reading them.
    pub(super) fn size(&self, columns: &[SourceColumn], uses: &[Use]) -> Size {
        let kept = columns.iter().zip(uses).filter(|(_, usage)| **usage == Use::Keep);
        if let Some(decoded) = &self.decoded {
            let names = kept.map(|(column, _)| column.name.as_str());
            let kept_bytes = decoded.bytes_of(columns.len(), names);
            return Size { rows: decoded.n_rows, kept_bytes };
        }
        let n_columns = columns.len().max(1) as u64;
        let n_kept = kept.count() as u64;
        let n_bytes = self.n_text_bytes();
        let rows = self.n_text_rows.unwrap_or(n_bytes / (2 * n_columns));
        let kept_bytes = n_bytes / n_columns * n_kept + rows.saturating_mul(5 * n_kept);
        Size { rows, kept_bytes }
    }

    /// The bytes of text files after decompression; those of other files as they are.
    pub(super) fn n_text_bytes(&self) -> u64 {
        // Text shrinks to a sixth or so when it is compressed.
        let is_packed = self.format.compression() != crate::Compression::None;
        let about = || self.n_bytes().saturating_mul(if is_packed { 8 } else { 1 });
        self.extent.map_or_else(about, |extent| extent.n_bytes)
    }
}

/// What a typed file says of itself.
struct OpenedFile {
    schema: SchemaRef,
    has_rows: bool,
    decoded: Option<Decoded>,
}

/// The schema of an Arrow file. DataFusion would read what is no file as a stream, of any length
/// that its first bytes claim.
fn arrow_schema(path: &Path) -> Result<OpenedFile, Detail> {
    let found = check_arrow(path)?;
    let file = std::fs::File::open(path).map_err(|error| Detail::of_io(&error))?;
    let reader = guarded(|| arrow::ipc::reader::FileReader::try_new(file, None))
        .map_err(|error| Detail::of_datafusion(&error))?
        .map_err(|error| Detail::of_arrow(&error))?;
    let has_rows = found.decoded.n_rows > 0;
    Ok(OpenedFile { schema: plain(&reader.schema()), has_rows, decoded: Some(found.decoded) })
}

/// How the columns of a file differ from those of the first one, if they do. Whether a column says
/// that it may be empty makes no difference: it may. Nor does a column without a type in a file
/// without rows.
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

/// The same for headers. A file without a header has values in its place, so that only names of the
/// first file are told, and only if it has a header.
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
        action: FileAction::Read,
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

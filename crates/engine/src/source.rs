//! What an input is: its files, format and columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::object_store::local::LocalFileSystem;
use incrowd_data::Kind;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::column::{can_be_coded, kind_of_type};
use crate::csv_check::{CsvFacts, inspect};
use crate::error::Detail;
use crate::scan::{object_meta, plain};
use crate::{Engine, EngineError, Format, Use};

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
    pub(crate) prints: Vec<Fingerprint>,
    /// The rows of text files, which are counted when they are opened.
    pub(crate) n_text_rows: Option<u64>,
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

    /// The kind of values that the source says; text files say nothing.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        kind_of_type(&self.data_type)
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
        let files = find_files(input)?;
        let format = common_format(&files)?;
        let prints = files.iter().map(|file| fingerprint(file)).collect::<Result<_, _>>()?;
        let mut source = Source {
            files,
            format,
            delimiter: b',',
            has_newlines_in_values: false,
            columns: Vec::new(),
            is_required: Vec::new(),
            prints,
            n_text_rows: None,
        };
        match format {
            Format::Csv(compression) => source.open_csv(compression)?,
            _ => source.open_typed(engine)?,
        }
        source.check_unchanged()?;
        Ok(source)
    }

    fn open_csv(&mut self, compression: crate::Compression) -> Result<(), EngineError> {
        let mut first: Option<CsvFacts> = None;
        for path in &self.files {
            let delimiter = first.as_ref().map(|facts| facts.delimiter);
            let facts = inspect(path, compression, delimiter)
                .map_err(|source| EngineError::Csv { path: path.clone(), source })?;
            self.has_newlines_in_values |= facts.has_newlines_in_values;
            self.n_text_rows = Some(self.n_text_rows.unwrap_or(0) + facts.n_rows);
            match &first {
                Some(first) if first.header != facts.header => {
                    let what = header_difference(&first.header, &facts.header);
                    return Err(EngineError::FilesDiffer { path: path.clone(), what });
                }
                Some(_) => {}
                None => first = Some(facts),
            }
        }
        let facts = first.expect("an input has a file");
        self.delimiter = facts.delimiter;
        let column = |name| SourceColumn { name, data_type: DataType::Utf8 };
        self.columns = facts.header.into_iter().map(column).collect();
        Ok(())
    }

    fn open_typed(&mut self, engine: &Engine) -> Result<(), EngineError> {
        let mut first: Option<SchemaRef> = None;
        for path in &self.files {
            let schema = self.schema_of(engine, path)?;
            match &first {
                Some(first) => {
                    if let Some(what) = difference(first, &schema) {
                        return Err(EngineError::FilesDiffer { path: path.clone(), what });
                    }
                }
                None => first = Some(schema),
            }
        }
        for field in first.expect("an input has a file").fields() {
            if self.columns.iter().any(|column| &column.name == field.name()) {
                let (path, name) = (self.files[0].clone(), field.name().clone());
                return Err(EngineError::DuplicateColumn { path, name });
            }
            let data_type = field.data_type().clone();
            self.columns.push(SourceColumn { name: field.name().clone(), data_type });
            self.is_required.push(self.format == Format::Parquet && !field.is_nullable());
        }
        Ok(())
    }

    fn schema_of(&self, engine: &Engine, path: &Path) -> Result<SchemaRef, EngineError> {
        let format: Arc<dyn FileFormat> = match self.format {
            Format::Parquet => Arc::new(ParquetFormat::default().with_force_view_types(false)),
            Format::Arrow => Arc::new(ArrowFormat),
            Format::JsonLines(_) | Format::Csv(_) => {
                let compression = crate::scan::compression(self.format.compression());
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
            engine.runtime().block_on(async { format.infer_schema(&state, &store, &[meta]).await })
        });
        schema.map(|schema| plain(&schema)).map_err(|error| EngineError::Unreadable {
            path: path.to_owned(),
            format: self.format.name(),
            source: Detail::of_datafusion(&error),
        })
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
        // Text shrinks to a sixth or so when it is compressed.
        let is_packed = self.format.compression() != crate::Compression::None;
        let n_bytes = self.n_bytes().saturating_mul(if is_packed { 8 } else { 1 });
        let rows = self.n_text_rows.unwrap_or(n_bytes / (2 * n_columns));
        let kept_bytes = n_bytes / n_columns * n_kept + rows.saturating_mul(5 * n_kept);
        Ok(Size { rows, kept_bytes })
    }

    fn parquet_size(&self, uses: &[Use]) -> Result<Size, EngineError> {
        let mut size = Size { rows: 0, kept_bytes: 0 };
        let kept: Vec<&str> = (self.columns.iter().zip(uses))
            .filter(|(_, usage)| **usage == Use::Keep)
            .map(|(column, _)| column.name.as_str())
            .collect();
        for path in &self.files {
            let unreadable =
                |source| EngineError::Io { action: "reading", path: path.clone(), source };
            let file = std::fs::File::open(path).map_err(unreadable)?;
            let reader =
                SerializedFileReader::new(file).map_err(|error| EngineError::Unreadable {
                    path: path.clone(),
                    format: self.format.name(),
                    source: Detail::of_parquet(&error),
                })?;
            for group in reader.metadata().row_groups() {
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

    /// Whether a path is one of the files, or a folder that one of them is in.
    #[must_use]
    pub fn reads(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        self.files.iter().any(|file| file.canonicalize().is_ok_and(|file| file.starts_with(&path)))
    }
}

/// How the columns of a file differ from those of the first one, if they do. Whether a column says that it
/// may be empty makes no difference: it may.
fn difference(first: &Schema, found: &Schema) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for field in first.fields() {
        let name = field.name();
        match found.field_with_name(name) {
            Err(_) => all.push(format!("column `{name}` is missing")),
            Ok(other) if other.data_type() != field.data_type() => {
                let (is, should) = (other.data_type(), field.data_type());
                all.push(format!("column `{name}` is of type {is} and not {should}"));
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
/// file are told.
fn header_difference(first: &[String], found: &[String]) -> String {
    let missing = first.iter().filter(|name| !found.contains(name));
    let mut all: Vec<String> = missing.map(|name| format!("column `{name}` is missing")).collect();
    let n_more = found.iter().filter(|name| !first.contains(name)).count();
    if n_more > 0 {
        all.push(format!("{n_more} of its columns are not in the first file"));
    }
    let what = listed(all).unwrap_or_else(|| "its columns have another order".to_owned());
    format!("its header is another one: {what}")
}

/// The first few of a list, and how many more there are.
fn listed(all: Vec<String>) -> Option<String> {
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

/// The files of an input in the order of their names. A path that exists is never taken for a glob.
fn find_files(input: &str) -> Result<Vec<PathBuf>, EngineError> {
    let path = Path::new(input);
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|source| EngineError::Io {
            action: "reading",
            path: path.to_owned(),
            source,
        })?;
        entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| is_data_file(path))
            .collect()
    } else if path.exists() {
        return Ok(vec![path.to_owned()]);
    } else if input.contains(['*', '?', '[']) {
        let matches = glob::glob(input).map_err(|_| no_input(input))?;
        matches.filter_map(Result::ok).filter(|path| is_data_file(path)).collect()
    } else {
        return Err(no_input(input));
    };
    files.sort();
    if files.is_empty() { Err(EngineError::NoFiles { path: input.to_owned() }) } else { Ok(files) }
}

fn is_data_file(path: &Path) -> bool {
    let is_hidden =
        path.file_name().and_then(|n| n.to_str()).is_none_or(|n| n.starts_with(['.', '_']));
    path.is_file() && !is_hidden && Format::of(path).is_some()
}

fn no_input(input: &str) -> EngineError {
    let compressed = ["gz", "zst"].map(|ending| format!("{input}.{ending}"));
    let hint = compressed.into_iter().find(|path| Path::new(path).exists());
    let hint = hint.map_or_else(String::new, |path| format!("; did you mean `{path}`?"));
    EngineError::NoInput { path: input.to_owned(), hint }
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

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

use crate::column::{can_be_coded, kind_of_type};
use crate::csv_check::{CsvFacts, inspect};
use crate::error::Detail;
use crate::scan::{object_meta, plain};
use crate::{Engine, EngineError, Format};

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
            match &first {
                Some(first) if first.header != facts.header => {
                    let what = "its header is another one".to_owned();
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
                Some(first) if first.fields() != schema.fields() => {
                    let what = "its columns or their types are others".to_owned();
                    return Err(EngineError::FilesDiffer { path: path.clone(), what });
                }
                Some(_) => {}
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

    /// The size of all files in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.prints.iter().map(|print| print.len).sum()
    }

    /// Whether a path is one of the files.
    #[must_use]
    pub fn reads(&self, path: &Path) -> bool {
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        self.files.iter().any(|file| same(file, path))
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

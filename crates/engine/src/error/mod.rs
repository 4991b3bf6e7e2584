//! What can go wrong with a source or a sink.

mod csv;
pub(crate) mod fault;

use std::path::PathBuf;

pub use csv::CsvError;
use fault::WorkerFault;

/// A source that cannot be read or a sink that cannot be written. No message carries a cell's
/// value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum EngineError {
    /// No such file, folder or match.
    #[error("`{path}` does not exist{hint}")]
    NoInput { path: String, hint: String },
    /// An address that is not that of a file. What follows its scheme may hold a password.
    #[error("`{scheme}://` is {what}; incrowd reads and writes files only")]
    NotAPath { scheme: String, what: Elsewhere },
    /// A pipe, a socket, a device or a link to nothing.
    #[error(
        "`{path}` is {what}, not a file; a table is read more than once, so it must be in a file",
        path = path.display()
    )]
    NotAFile { path: PathBuf, what: &'static str },
    /// A folder or glob without a readable file.
    #[error("`{path}` holds no file that can be read (.csv, .tsv, .parquet, .arrow, .jsonl)")]
    NoFiles { path: String },
    /// The name does not say what the file is.
    #[error(
        "`{path}` has no known format: name it .csv, .tsv, .txt, .parquet, .arrow or .jsonl, followed by .gz or .zst if it is compressed text"
    )]
    UnknownFormat { path: String },
    /// Files of one input differ.
    #[error("`{path}` differs from the first file of the input: {what}")]
    FilesDiffer { path: PathBuf, what: String },
    /// A CSV file that breaks a rule. Its message says it all, so that it is not a source as well.
    #[error("`{path}`: {fault}", path = path.display(), fault = fault.in_full())]
    Csv { path: PathBuf, fault: CsvError },
    /// A file that is not what its name says.
    #[error("`{path}` cannot be read as {format}", path = path.display())]
    Unreadable {
        path: PathBuf,
        format: &'static str,
        #[source]
        source: Detail,
    },
    /// JSON numbers that no type of Arrow holds.
    #[error(
        "column `{name}` has numbers with more digits than can be told apart; write them as texts, in quotes"
    )]
    LongNumbers { name: String },
    /// Two columns of one name.
    #[error("`{path}` has two columns named `{name}`", path = path.display())]
    DuplicateColumn { path: PathBuf, name: String },
    /// Batches that are not one table.
    #[error("the batches are not one table: {what}")]
    NotOneTable { what: String },
    /// A table in memory that a cluster shall read.
    #[error("a cluster reads files, and this table is in memory; use the embedded engine")]
    NotForCluster,
    /// Reading failed half-way.
    #[error("reading the input failed")]
    Read(#[source] Detail),
    /// The input is not what it was when reading began.
    #[error("`{path}` changed while it was being read; nothing was written", path = path.display())]
    Changed { path: PathBuf },
    /// Too many rows for 32-bit row numbers.
    #[error("the input has more than 4,294,967,294 rows")]
    TooManyRows,
    /// A column that codes cannot be given to.
    #[error(
        "column `{column}` holds {holds}, which cannot be grouped; numbers, text, dates, timestamps and true/false can"
    )]
    UnsupportedType { column: String, holds: &'static str },
    /// Values that the declared type does not fit.
    #[error(
        "column `{column}` is declared {kind}, but {n_rows} rows do not fit; the first is data row {first_row}"
    )]
    NotOfKind { column: String, kind: &'static str, n_rows: u64, first_row: u64 },
    /// Values outside a declared order or hierarchy.
    #[error(
        "column `{column}`: {n_values} values in {n_rows} rows are not in its {what}; the first is data row {first_row}"
    )]
    NotCovered { column: String, what: ValueList, n_values: u64, n_rows: u64, first_row: u64 },
    /// Nested values do not fit a text file.
    #[error(
        "column `{column}` holds {holds}, which CSV cannot hold; write .jsonl, .parquet or .arrow, or drop it"
    )]
    NotForCsv { column: String, holds: &'static str },
    /// A column that JSON has no form for.
    #[error(
        "column `{column}` holds {holds}, which JSON lines cannot hold; write .parquet or .arrow, or drop it"
    )]
    NotForJson { column: String, holds: &'static str },
    /// Bytes that a text file has no form for.
    #[error(
        "column `{column}` holds bytes that are not UTF-8 text, which {format} cannot hold; \
         write .parquet or .arrow, or drop it"
    )]
    NotText { column: String, format: &'static str },
    /// A character that no reader of text files takes for one.
    #[error(
        "`{path}` cannot be written: a text holds a NUL character, which CSV cannot hold; write .jsonl, .parquet or .arrow, or drop the column",
        path = path.display()
    )]
    NulForCsv { path: PathBuf },
    /// A column that Parquet has no type for.
    #[error("column `{column}` holds {holds}, which Parquet cannot hold; write .arrow, or drop it")]
    NotForParquet { column: String, holds: &'static str },
    /// A file system error, with what was tried.
    #[error("{action} `{path}` failed", path = path.display())]
    Io {
        action: FileAction,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Writing a columnar file failed.
    #[error("writing `{path}` failed", path = path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: Detail,
    },
    /// A private file could not be written or read.
    #[error("a temporary file could not be written or read; name a folder with room: --temp-dir")]
    Spill {
        #[source]
        source: std::io::Error,
    },
    /// The distinct values of the columns do not fit in memory.
    #[error(
        "the distinct values do not fit into the memory limit; those of column `{column}` take the most; \
         raise --memory-limit to about {needed} MB, or drop the column"
    )]
    TooManyValues { column: String, needed: u64 },
    /// More columns than rows can be compared by.
    #[error("too many columns with too many values to compare in bounded memory")]
    TooManyColumns,
    /// A class that does not fit in memory and cannot be ordered in files.
    #[error(
        "a class has more rows than fit in memory, and a column holds lists or records; \
         raise --memory-limit, or drop the column"
    )]
    ClassTooLarge,
    /// An output that must not be replaced.
    #[error("`{path}` exists already", path = path.display())]
    Exists { path: PathBuf },
    /// A folder of the user's own.
    #[error(
        "`{path}` is not replaced: `{file}` is not part of a release",
        path = path.display(),
        file = file.display()
    )]
    NotOurs { path: PathBuf, file: PathBuf },
    /// A folder of parts needs a name.
    #[error(
        "`{path}` cannot be a release: a folder of parts needs a name of its own, such as release.parquet/"
    )]
    NoName { path: String },
    /// An engine that does not exist.
    #[error("`{found}` is not an engine: write embedded, or ballista://HOST:PORT")]
    BadEngine { found: String },
    /// A cluster is asked for, but not by a binary that knows one.
    #[error("this binary has no cluster engine: run `incrowd-cluster` with the same arguments")]
    NoClusterEngine,
    /// Nobody answers.
    #[error("no scheduler answers at `{address}`")]
    NoScheduler { address: String },
    /// The cluster did not do what it was asked to.
    #[error("the cluster failed: {what}")]
    Cluster { what: &'static str },
    /// What a worker said.
    #[error("{0}")]
    Fault(WorkerFault),
    /// A file that the client sees and a worker does not.
    #[error(
        "a worker cannot read the input: every worker must see `{path}` under this path",
        path = path.display()
    )]
    UnseenByWorker { path: PathBuf },
    /// The user stopped it.
    #[error("interrupted; nothing was written")]
    Cancelled,
}

/// What was tried with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Reading it.
    Read,
    /// Writing it.
    Write,
    /// Giving it its name.
    Publish,
    /// Creating a file in its folder.
    CreateBeside,
    /// Creating a folder in its folder.
    CreateFolderBeside,
    /// Creating a private folder in it.
    CreatePrivateFolder,
}

impl std::fmt::Display for FileAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FileAction::Read => "reading",
            FileAction::Write => "writing",
            FileAction::Publish => "publishing",
            FileAction::CreateBeside => "creating a file beside",
            FileAction::CreateFolderBeside => "creating a folder beside",
            FileAction::CreatePrivateFolder => "making a private folder in",
        })
    }
}

/// What an address leads to that is not the path of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// An object store or a distributed file system.
    Store,
    /// A server.
    Server,
    /// A file, written as an address.
    File,
    /// A database.
    Database,
    /// Anything else.
    Unknown,
}

impl std::fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Elsewhere::Store => "an object store or a distributed file system",
            Elsewhere::Server => "the address of a server",
            Elsewhere::File => "the address of a file",
            Elsewhere::Database => "a database",
            Elsewhere::Unknown => "an address",
        })
    }
}

/// A list that has all values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueList {
    /// The leaves of its hierarchy.
    Hierarchy,
    /// Its declared order.
    Order,
}

impl std::fmt::Display for ValueList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ValueList::Hierarchy => "hierarchy",
            ValueList::Order => "declared order",
        })
    }
}

/// What a library said, cut to its kind: its full text may quote cells.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Detail(String);

impl Detail {
    /// What the functions below say, but for the kinds of file system errors; the first stands for
    /// these and for all that is not listed.
    pub(crate) const TEXTS: [&str; 9] = [
        "the engine could not decode it",
        "the file could not be read",
        "it breaks the rules of CSV",
        "it breaks the rules of JSON, or its values are not of one type",
        "a value is not of its column's type",
        "its schema is not what was expected",
        "its bytes could not be decoded",
        "it ends too early",
        "it uses a feature that is not supported",
    ];

    /// Its bytes mean nothing.
    pub(crate) const DAMAGED: &str = Detail::TEXTS[6];
    /// It has fewer bytes than it says.
    pub(crate) const TOO_SHORT: &str = Detail::TEXTS[7];

    /// One of [`Detail::TEXTS`].
    pub(crate) fn known(at: usize) -> Detail {
        Detail((*Detail::TEXTS.get(at).unwrap_or(&Detail::TEXTS[0])).to_owned())
    }

    pub(crate) fn of_io(error: &std::io::Error) -> Detail {
        Detail(error.kind().to_string())
    }

    pub(crate) fn of_datafusion(error: &datafusion::error::DataFusionError) -> Detail {
        use datafusion::error::DataFusionError as E;
        match error.find_root() {
            E::ArrowError(error, _) => Detail::of_arrow(error),
            E::ParquetError(error) => Detail::of_parquet(error),
            E::IoError(error) => Detail(error.kind().to_string()),
            E::ObjectStore(_) => Detail("the file could not be read".to_owned()),
            E::ResourcesExhausted(_) => Detail("memory ran out".to_owned()),
            _ => Detail("the engine could not decode it".to_owned()),
        }
    }

    pub(crate) fn of_arrow(error: &arrow::error::ArrowError) -> Detail {
        use arrow::error::ArrowError as E;
        Detail(match error {
            E::IoError(_, error) => error.kind().to_string(),
            E::CsvError(_) => "it breaks the rules of CSV".to_owned(),
            E::JsonError(_) => {
                "it breaks the rules of JSON, or its values are not of one type".to_owned()
            }
            E::ParseError(_) | E::CastError(_) => "a value is not of its column's type".to_owned(),
            E::SchemaError(_) => "its schema is not what was expected".to_owned(),
            _ => "its bytes could not be decoded".to_owned(),
        })
    }

    pub(crate) fn of_parquet(error: &parquet::errors::ParquetError) -> Detail {
        use parquet::errors::ParquetError as E;
        Detail(match error {
            E::EOF(_) => "it ends too early".to_owned(),
            E::External(error) => match error.downcast_ref::<std::io::Error>() {
                Some(error) => error.kind().to_string(),
                None => "its bytes could not be decoded".to_owned(),
            },
            E::NYI(_) => "it uses a feature that is not supported".to_owned(),
            _ => "its bytes could not be decoded".to_owned(),
        })
    }
}

impl From<&str> for Detail {
    fn from(text: &str) -> Detail {
        Detail(text.to_owned())
    }
}

//! The release, written class by class.
//!
//! Rows leave in the order of their classes and, within a class, of what is published: nothing of the
//! input's order is left. A chunk of classes is gathered, ordered and encoded at a time, several
//! chunks side by side. A release that does not fit into memory comes as pieces, one after another:
//! as long as they end where chunks end ([`chunk_ends`]), the bytes are those of a release in one piece.

mod columnar;
mod gather;
mod ordered;
mod parts;
mod plain;
mod text;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use incrowd_data::{Codes, Kind, Labels};

use crate::column::Values;
use crate::csv_sink::{CsvSink, dialect_of};
use crate::error::Detail;
use crate::read::{Kept, KeptColumn};
use crate::stage::Opened;
use crate::{Engine, EngineError, Format, Staging};

use columnar::{Columnar, ColumnarSink};
use gather::{Chunk, Columns, Gathered, Gatherer};
use parts::Parts;
use text::Text;

pub use plain::write_plain;

/// A column of the release: what it is, without its rows.
#[derive(Clone, Copy, Debug)]
pub enum Published<'a> {
    /// A recoded column.
    Labels(&'a Labels),
    /// A column that has codes but is released as it is.
    Coded {
        /// Its values.
        values: &'a Values,
        /// What they are.
        kind: Kind,
    },
    /// A kept column, by its position.
    Kept(usize),
}

impl Published<'_> {
    /// Its name in the release.
    #[must_use]
    pub fn name<'a>(&'a self, kept: &'a [KeptColumn]) -> &'a str {
        match self {
            Published::Labels(labels) => &labels.name,
            Published::Coded { values, .. } => &values.name,
            Published::Kept(at) => &kept[*at].name,
        }
    }
}

/// Which rows are released, in which order: a run of classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The number of the first class: the place of its labels.
    pub first_class: usize,
    /// Rows of the piece, class by class.
    pub order: Vec<u32>,
    /// Where each class ends in `order`.
    pub class_ends: Vec<u32>,
}

/// Rows of a release that are in memory together.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// By published column, the codes of the piece's rows where it is [`Published::Coded`].
    pub codes: Vec<Option<&'a Codes>>,
    /// The kept columns of the piece's rows.
    pub kept: &'a Kept,
    /// The rows in the order of their classes.
    pub rows: &'a Rows,
}

/// How much is put together at a time.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Rows per chunk, unless a class is larger.
    chunk_rows: u64,
    /// Rows per row group of a Parquet file.
    group_rows: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { chunk_rows: CHUNK_ROWS, group_rows: columnar::GROUP_ROWS }
    }
}

const CHUNK_ROWS: u64 = 1 << 16;

/// The class behind each chunk of a release with classes of these sizes: where pieces may end.
pub fn chunk_ends(class_sizes: impl IntoIterator<Item = u64>) -> Vec<usize> {
    gather::chunk_ends(class_sizes, CHUNK_ROWS)
}

/// A release that is being written.
pub struct Writer<'a> {
    engine: &'a Engine,
    staging: &'a Staging,
    columns: Columns<'a>,
    sizes: Sizes,
    encoder: Encoder,
    parts: Parts<'a>,
    /// Rows written so far.
    n_rows: u64,
}

/// How chunks become bytes.
enum Encoder {
    Text(Text),
    Columnar(Box<Columnar>),
}

/// A chunk that is ready to be written.
enum Encoded {
    Lines(Vec<u8>),
    Batch(RecordBatch),
}

/// An open file.
enum Sink {
    Text(Box<CsvSink>),
    Columnar(ColumnarSink),
}

impl<'a> Writer<'a> {
    /// Begins a release. `kept` is what [`Published::Kept`] columns are, as in every piece.
    pub fn new(
        engine: &'a Engine,
        columns: &'a [Published<'a>],
        kept: &'a [KeptColumn],
        staging: &'a Staging,
    ) -> Result<Writer<'a>, EngineError> {
        Writer::with_sizes(engine, Columns::new(columns, kept), staging, Sizes::default())
    }

    fn with_sizes(
        engine: &'a Engine,
        columns: Columns<'a>,
        staging: &'a Staging,
        sizes: Sizes,
    ) -> Result<Writer<'a>, EngineError> {
        let encoder = Encoder::new(&columns, staging)?;
        let parts = Parts::new(staging, &encoder, sizes)?;
        Ok(Writer { engine, staging, columns, sizes, encoder, parts, n_rows: 0 })
    }

    /// Writes the next classes.
    pub fn write(&mut self, piece: &Piece) -> Result<(), EngineError> {
        let Writer { engine, columns, sizes, encoder, parts, n_rows, .. } = self;
        write_piece(engine, (columns, encoder), *sizes, parts, piece, *n_rows)?;
        self.n_rows += piece.rows.order.len() as u64;
        Ok(())
    }

    /// Writes the next classes with columns of their own: the same, with the labels of these classes alone.
    pub fn write_as(
        &mut self,
        columns: &[Published<'_>],
        piece: &Piece,
    ) -> Result<(), EngineError> {
        let columns = Columns::new(columns, piece.kept.columns());
        let encoder = Encoder::new(&columns, self.staging)?;
        let Writer { engine, sizes, parts, n_rows, .. } = self;
        write_piece(engine, (&columns, &encoder), *sizes, parts, piece, *n_rows)?;
        self.n_rows += piece.rows.order.len() as u64;
        Ok(())
    }

    /// Writes what is left. Without it the last file is not whole.
    pub fn finish(self) -> Result<(), EngineError> {
        self.parts.finish()
    }
}

fn write_piece(
    engine: &Engine,
    (columns, encoder): (&Columns, &Encoder),
    sizes: Sizes,
    parts: &mut Parts,
    piece: &Piece,
    n_before: u64,
) -> Result<(), EngineError> {
    let chunks = gather::chunks(piece.rows, sizes.chunk_rows);
    in_order(
        engine,
        &Gatherer { columns, piece },
        chunks,
        n_before,
        |gathered| Ok((encoder.encode(columns, gathered)?, gathered.rows.len() as u64)),
        |(encoded, n_rows)| parts.write(encoder, encoded, n_rows),
    )
}

/// Orders the rows of each class by what is published of them, without writing anything.
pub fn order_within(
    engine: &Engine,
    columns: &[Published<'_>],
    piece: &Piece,
) -> Result<Vec<u32>, EngineError> {
    let columns = Columns::new(columns, piece.kept.columns());
    let gatherer = Gatherer { columns: &columns, piece };
    let mut ordered = Vec::with_capacity(piece.rows.order.len());
    let order = |gathered: &Gathered| {
        Ok(gathered.order.iter().map(|&row| gathered.rows[row as usize]).collect::<Vec<u32>>())
    };
    let chunks = gather::chunks(piece.rows, CHUNK_ROWS);
    in_order(engine, &gatherer, chunks, 0, order, |rows| {
        ordered.extend(rows);
        Ok(())
    })?;
    Ok(ordered)
}

/// Makes something of every chunk and hands the results over in order. `n_before` rows are done.
fn in_order<T: Send>(
    engine: &Engine,
    gatherer: &Gatherer,
    chunks: Vec<Chunk>,
    n_before: u64,
    make: impl Fn(&Gathered) -> Result<T, ArrowError> + Sync,
    hand_over: impl FnMut(T) -> Result<(), EngineError> + Send,
) -> Result<(), EngineError> {
    let encoding = |error: ArrowError| EngineError::Read(Detail::of_arrow(&error));
    let chunks = chunks.into_iter().map(|chunk| {
        let end = n_before + chunk.rows.end as u64;
        (chunk, end)
    });
    let make =
        |chunk: &Chunk| gatherer.gather(chunk).and_then(|rows| make(&rows)).map_err(encoding);
    ordered::in_order(engine, chunks, make, hand_over)
}

impl Encoder {
    fn new(columns: &Columns, staging: &Staging) -> Result<Encoder, EngineError> {
        let format = staging.format();
        match format {
            Format::Csv(compression) => {
                Text::new(columns, dialect_of(&staging.first_name()), compression)
                    .map(Encoder::Text)
            }
            Format::Parquet | Format::Arrow => {
                let is_parquet = format == Format::Parquet;
                let columnar = Columnar::new(columns, staging.target(), is_parquet)?;
                Ok(Encoder::Columnar(Box::new(columnar)))
            }
            Format::JsonLines(_) => {
                Err(EngineError::UnwritableFormat { path: staging.target().display().to_string() })
            }
        }
    }

    fn open(&self, file: Opened, sizes: Sizes) -> Result<Sink, EngineError> {
        match self {
            Encoder::Text(text) => Ok(Sink::Text(Box::new(text.open(file)?))),
            Encoder::Columnar(columnar) => {
                columnar.open(file, sizes.group_rows).map(Sink::Columnar)
            }
        }
    }

    fn encode(&self, columns: &Columns, gathered: &Gathered) -> Result<Encoded, ArrowError> {
        match self {
            Encoder::Text(text) => text.lines(columns, gathered).map(Encoded::Lines),
            Encoder::Columnar(columnar) => columnar.batch(columns, gathered).map(Encoded::Batch),
        }
    }
}

impl Sink {
    fn write(&mut self, encoded: Encoded) -> Result<(), EngineError> {
        match (self, encoded) {
            (Sink::Text(sink), Encoded::Lines(lines)) => sink.write(&lines),
            (Sink::Columnar(sink), Encoded::Batch(batch)) => sink.write(batch),
            _ => unreachable!("a sink is opened by the encoder that it writes for"),
        }
    }

    fn finish(self) -> Result<(), EngineError> {
        match self {
            Sink::Text(sink) => sink.finish(),
            Sink::Columnar(sink) => sink.finish(),
        }
    }
}

#[cfg(test)]
mod tests;

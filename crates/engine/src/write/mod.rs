//! The release, written class by class.
//!
//! Rows leave in the order of their classes and, within a class, of what is published: nothing of
//! the input's order is left. A chunk of classes is gathered, ordered and encoded at a time,
//! several chunks side by side. A release that does not fit into memory comes as pieces, one after
//! another. Neither pieces nor chunks show in the bytes: row groups and batches are cut anew
//! ([`cut`]), and the parts of a folder end where the sizes of the classes say ([`Breaks`]).

mod breaks;
mod columnar;
mod compared;
mod csv_sink;
mod cut;
mod gather;
mod json_lines;
mod memory;
mod ordered;
mod parts;
mod plain;
mod released;
mod text;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use incrowd_data::{Codes, Dictionary, Kind, Labels};

use crate::batches::own_bytes;
use crate::encode::Values;
use crate::error::Detail;
use crate::format::csv_write::Dialect;
use crate::read::{Kept, KeptColumn};
use crate::value::content::{ColumnContent, Content};
use crate::value::stored::holds_text;
use crate::{Engine, EngineError, Format, SourceColumn, Staging};

use breaks::Breaks;
use columnar::{Columnar, ColumnarSink, Form};
use compared::Compared;
use csv_sink::CsvSink;
use gather::{Chunk, Columns, Gathered, Gatherer};
use json_lines::JsonLines;
use parts::Parts;
use text::Text;

pub(crate) use gather::ranks_of;
pub use plain::write_plain;

/// A column of the release: what it is, without its rows.
#[derive(Clone, Copy, Debug)]
pub enum Published<'a> {
    /// A recoded column.
    Labels {
        /// Its labels.
        labels: &'a Labels,
        /// The values that they were made from.
        dictionary: &'a Dictionary,
        /// What the values are in the source.
        column: &'a SourceColumn,
    },
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
            Published::Labels { labels, .. } => &labels.name,
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

/// Where files are divided. It shows in the bytes, so it depends on the release alone.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Rows from which a part of a folder may end, with a class.
    break_rows: u64,
    /// Rows per row group of a Parquet file.
    group_rows: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { break_rows: 1 << 16, group_rows: columnar::GROUP_ROWS }
    }
}

/// Bytes of the rows that are gathered at a time, unless there is less room.
const CHUNK_BYTES: u64 = 16 << 20;
/// Rows that are gathered at a time at most, and about the least that is worth it.
const CHUNK_ROWS: u64 = 1 << 16;
const LEAST_CHUNK: u64 = 64;

/// A release that is being written.
pub struct Writer<'a> {
    engine: &'a Engine,
    staging: &'a Staging,
    columns: Columns<'a>,
    encoder: Encoder,
    /// What is compared with the bytes when they are read back.
    compared: Compared,
    /// Bytes that rows on their way may take; a lot if it is not said.
    room: Option<u64>,
    written: Written<'a>,
}

/// What chunks of rows are made with.
struct ChunkMaker<'a> {
    engine: &'a Engine,
    room: Option<u64>,
    columns: &'a Columns<'a>,
    encoder: &'a Encoder,
    compared: &'a Compared,
}

/// What is written so far, and where more goes.
struct Written<'a> {
    parts: Parts<'a>,
    breaks: Breaks,
    /// By published column, what was written of it.
    contents: Vec<Content>,
    n_rows: u64,
}

/// How chunks become bytes.
enum Encoder {
    Text(Text),
    JsonLines(Box<JsonLines>),
    Columnar(Box<Columnar>),
}

/// A chunk that is ready to be written.
enum Encoded {
    Lines(Vec<u8>),
    Batch(RecordBatch),
}

/// An open file, or batches in memory.
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
        let breaks = Breaks::new(sizes.break_rows);
        let compared = Compared::new(&columns, matches!(encoder, Encoder::Text(_)));
        let compared = compared.map_err(|error| not_encoded(&error))?;
        let contents = compared.nothing();
        let written = Written { parts, breaks, contents, n_rows: 0 };
        Ok(Writer { engine, staging, columns, encoder, compared, room: None, written })
    }

    /// The writer that keeps rows on their way within these bytes.
    #[must_use]
    pub fn within(self, room: u64) -> Writer<'a> {
        Writer { room: Some(room), ..self }
    }

    /// Writes the next classes.
    pub fn write(&mut self, piece: &Piece) -> Result<(), EngineError> {
        let Writer { engine, columns, encoder, compared, room, written, .. } = self;
        let maker = ChunkMaker { engine, room: *room, columns, encoder, compared };
        written.add(&maker, piece, false)
    }

    /// Writes the next classes with columns of their own: the same, with the labels of these
    /// classes alone. Where the last class `goes_on`, more of its rows follow, none of which comes
    /// before those of this piece.
    pub fn write_as(
        &mut self,
        columns: &[Published<'_>],
        piece: &Piece,
        goes_on: bool,
    ) -> Result<(), EngineError> {
        let columns = &self.columns.with_labels(columns);
        let encoder = &self.encoder.with_labels(columns, self.staging)?;
        let Writer { engine, compared, room, written, .. } = self;
        let maker = ChunkMaker { engine, room: *room, columns, encoder, compared };
        written.add(&maker, piece, goes_on)
    }

    /// Writes what is left. Without it the last file is not whole. Gives what the columns that are
    /// released as they are must say when they are read back.
    pub fn finish(self) -> Result<Vec<ColumnContent>, EngineError> {
        self.written.parts.finish()?;
        Ok(self.compared.finish(self.written.contents))
    }
}

impl Written<'_> {
    /// Writes the classes of a piece.
    fn add(&mut self, maker: &ChunkMaker, piece: &Piece, goes_on: bool) -> Result<(), EngineError> {
        let ChunkMaker { engine, room, columns, encoder, compared } = *maker;
        let Written { parts, breaks, contents, n_rows } = self;
        let most_rows = chunk_rows(engine, columns, piece, room);
        let chunks = gather::chunks(piece.rows, most_rows, breaks, goes_on);
        let encode = |gathered: &Gathered| {
            Ok(EncodedChunk {
                encoded: encoder.encode(columns, gathered)?,
                contents: compared.contents(gathered).map_err(|error| not_encoded(&error))?,
                n_rows: gathered.rows.len() as u64,
                may_break: gathered.may_break,
            })
        };
        in_order(engine, &Gatherer { columns, piece }, chunks, *n_rows, encode, |chunk| {
            contents.iter_mut().zip(chunk.contents).for_each(|(all, more)| all.add(more));
            parts.write(encoder, chunk.encoded, chunk.n_rows, chunk.may_break)
        })?;
        *n_rows += piece.rows.order.len() as u64;
        Ok(())
    }
}

/// A chunk that is ready to be written, and what it says.
struct EncodedChunk {
    encoded: Encoded,
    contents: Vec<Content>,
    n_rows: u64,
    /// Whether a part of a folder may end after it.
    may_break: bool,
}

/// The rows that are gathered at a time: as many as there is room for, of several chunks on their
/// way.
fn chunk_rows(engine: &Engine, columns: &Columns, piece: &Piece, room: Option<u64>) -> u64 {
    let n_rows = piece.rows.order.len().max(1) as u64;
    let kept = piece.kept.batches.iter().flatten();
    let kept_bytes: u64 = kept.map(own_bytes).sum();
    // Cells as they are and as they leave, ordered and not.
    let row_bytes = 2 * kept_bytes / n_rows + 24 * columns.published.len() as u64;
    let row_bytes = row_bytes + columns.published.iter().map(list_bytes).sum::<u64>();
    let most_bytes = room.map_or(CHUNK_BYTES, |room| room / (6 * engine.n_threads() as u64));
    (most_bytes.min(CHUNK_BYTES) / row_bytes.max(1)).clamp(LEAST_CHUNK, CHUNK_ROWS)
}

/// Bytes of the longest list of a column of sets: every row has its own.
fn list_bytes(column: &Published) -> u64 {
    let Published::Labels { labels, .. } = column else { return 0 };
    let texts = labels.texts.iter().flatten().filter(|_| labels.are_sets);
    // A member of one byte takes two in a label, and four more for its end in a list.
    texts.map(|text| 3 * text.len() as u64).max().unwrap_or(0)
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
    let most_rows = chunk_rows(engine, &columns, piece, None);
    let chunks = gather::chunks(piece.rows, most_rows, &mut Breaks::new(u64::MAX), false);
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
    make: impl Fn(&Gathered) -> Result<T, EngineError> + Sync,
    hand_over: impl FnMut(T) -> Result<(), EngineError> + Send,
) -> Result<(), EngineError> {
    let chunks = chunks.into_iter().map(|chunk| {
        let end = n_before + chunk.rows.end as u64;
        (chunk, end)
    });
    let make = |chunk: &Chunk| make(&gatherer.gather(chunk).map_err(|error| not_encoded(&error))?);
    ordered::in_order(engine, chunks, make, hand_over)
}

/// Rows that could not be made ready for a file.
fn not_encoded(error: &ArrowError) -> EngineError {
    EngineError::Read(Detail::of_arrow(error))
}

impl Encoder {
    fn new(columns: &Columns, staging: &Staging) -> Result<Encoder, EngineError> {
        let format = staging.format();
        match format {
            Format::Csv(compression) => {
                Text::new(columns, Dialect::of(&staging.first_name()), compression)
                    .map(Encoder::Text)
            }
            Format::Parquet | Format::Arrow => {
                let is_parquet = format == Format::Parquet;
                let form = if is_parquet { Form::Parquet } else { Form::Arrow };
                let columnar = Columnar::new(columns, staging.target(), form)?;
                Ok(Encoder::Columnar(Box::new(columnar)))
            }
            Format::JsonLines(compression) => {
                let lines = JsonLines::new(columns, staging, compression)?;
                Ok(Encoder::JsonLines(Box::new(lines)))
            }
        }
    }

    /// The encoder of other classes: what is made of other columns than labels is shared.
    fn with_labels(&self, columns: &Columns, staging: &Staging) -> Result<Encoder, EngineError> {
        Ok(match self {
            Encoder::Text(text) => Encoder::Text(text.with_labels(columns)),
            Encoder::JsonLines(lines) => {
                Encoder::JsonLines(Box::new(lines.with_labels(columns, staging)?))
            }
            Encoder::Columnar(columnar) => {
                Encoder::Columnar(Box::new(columnar.with_labels(columns, staging.target())?))
            }
        })
    }

    /// The place of a part: a file, or memory.
    fn open(&self, staging: &Staging, part: usize, sizes: Sizes) -> Result<Sink, EngineError> {
        match (self, staging.batches()) {
            (Encoder::Text(text), _) => Ok(Sink::Text(Box::new(text.open(staging.open(part)?)?))),
            (Encoder::JsonLines(lines), _) => {
                Ok(Sink::Text(Box::new(lines.open(staging.open(part)?)?)))
            }
            (Encoder::Columnar(columnar), Some(batches)) => {
                Ok(Sink::Columnar(columnar.in_memory(batches.clone(), staging.target())))
            }
            (Encoder::Columnar(columnar), None) => {
                columnar.open(staging.open(part)?, sizes.group_rows).map(Sink::Columnar)
            }
        }
    }

    fn encode(&self, columns: &Columns, gathered: &Gathered) -> Result<Encoded, EngineError> {
        let encoded = match self {
            Encoder::Text(text) => text.lines(columns, gathered).map(Encoded::Lines),
            Encoder::JsonLines(lines) => lines.lines(columns, gathered).map(Encoded::Lines),
            Encoder::Columnar(columnar) => columnar.batch(columns, gathered).map(Encoded::Batch),
        };
        encoded.map_err(|error| {
            self.not_text(columns, gathered).unwrap_or_else(|| not_encoded(&error))
        })
    }

    /// The column, if one is to blame, whose bytes are no text that a text file could hold.
    fn not_text(&self, columns: &Columns, gathered: &Gathered) -> Option<EngineError> {
        let format = match self {
            Encoder::Text(_) => "CSV",
            Encoder::JsonLines(_) => "JSON lines",
            Encoder::Columnar(_) => return None,
        };
        let mut kept = columns.published.iter().zip(&gathered.kept);
        kept.find_map(|(column, array)| match (column, array) {
            (Published::Kept(at), Some(array)) if !holds_text(array) => {
                let column = columns.kept[*at].name.clone();
                Some(EngineError::NotText { column, format })
            }
            _ => None,
        })
    }
}

impl Sink {
    fn write(&mut self, encoded: Encoded) -> Result<(), EngineError> {
        match (self, encoded) {
            (Sink::Text(sink), Encoded::Lines(lines)) => sink.write(&lines),
            (Sink::Columnar(sink), Encoded::Batch(batch)) => sink.write(&batch),
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

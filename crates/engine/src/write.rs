//! The release, written class by class.
//!
//! Rows leave in the order of their classes and, within a class, of what is published: nothing of the
//! input's order is left. A chunk of classes is gathered, ordered and encoded at a time, several
//! chunks side by side.

mod columnar;
mod ordered;
mod plain;

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{cast, interleave};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use incrowd_data::{Kind, Labels};

use crate::column::RawColumn;
use crate::csv_check::Compression;
use crate::csv_sink::{CsvSink, dialect_of};
use crate::csv_write::{Cells, Dialect};
use crate::error::Detail;
use crate::read::Kept;
use crate::{Engine, EngineError, Format, Staged};

pub use plain::write_plain;

/// A column of the release.
#[derive(Clone, Copy, Debug)]
pub enum Published<'a> {
    /// A recoded column.
    Labels(&'a Labels),
    /// A column that has codes but is released as it is.
    Coded {
        /// The column.
        column: &'a RawColumn,
        /// What its values are.
        kind: Kind,
    },
    /// A kept column, by its position.
    Kept(usize),
}

/// Which rows are released, in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Rows of the source, class by class.
    pub order: Vec<u32>,
    /// Where each class ends in `order`.
    pub class_ends: Vec<u32>,
}

/// Rows per chunk, unless a class is larger.
const CHUNK_ROWS: usize = 1 << 16;

/// Everything a chunk is made from.
struct Release<'a> {
    columns: &'a [Published<'a>],
    kept: &'a Kept,
    rows: &'a Rows,
    /// By column, the rank of each code within its column, for ordering rows.
    ranks: Vec<Vec<u32>>,
}

/// A run of classes: which ones, and which run of `order` they are.
#[derive(Clone, Debug)]
struct Chunk {
    classes: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
}

/// Rows of a chunk in memory.
struct Gathered {
    /// The source's row of each.
    rows: Vec<u32>,
    /// By column, the kept cells.
    kept: Vec<Option<ArrayRef>>,
    /// The order to write them in.
    order: Vec<u32>,
    /// The class of each.
    classes: Vec<u32>,
}

/// Writes a release into a staged file.
pub fn write(
    engine: &Engine,
    columns: &[Published<'_>],
    kept: &Kept,
    rows: &Rows,
    staged: &Staged,
    format: Format,
) -> Result<(), EngineError> {
    let ranks = columns.iter().map(ranks_of).collect();
    let release = Release { columns, kept, rows, ranks };
    match format {
        Format::Csv(compression) => write_csv(engine, &release, staged, compression),
        Format::Parquet => columnar::write_parquet(engine, &release, staged),
        Format::Arrow => columnar::write_arrow(engine, &release, staged),
        Format::JsonLines(_) => {
            Err(EngineError::UnwritableFormat { path: staged.target().display().to_string() })
        }
    }
}

/// Orders the rows of each class by what is published of them, without writing anything.
pub fn order_within(
    engine: &Engine,
    columns: &[Published<'_>],
    kept: &Kept,
    rows: &Rows,
) -> Result<Vec<u32>, EngineError> {
    let ranks = columns.iter().map(ranks_of).collect();
    let release = Release { columns, kept, rows, ranks };
    let mut ordered = Vec::with_capacity(rows.order.len());
    let order = |gathered: &Gathered| {
        Ok(gathered.order.iter().map(|&row| gathered.rows[row as usize]).collect::<Vec<u32>>())
    };
    in_order(engine, &release, order, |rows| {
        ordered.extend(rows);
        Ok(())
    })?;
    Ok(ordered)
}

/// The rank of each code among its column's values; missing comes last.
fn ranks_of(column: &Published) -> Vec<u32> {
    let Published::Coded { column, kind } = column else { return Vec::new() };
    let natural = column.values.rank(crate::Order::Natural(Some(*kind)));
    let by_value =
        natural.map_or_else(|_| vec![0; column.values.texts.len()], |ranked| ranked.code_of);
    let mut order: Vec<u32> = (0..).take(column.values.texts.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        by_value[a]
            .cmp(&by_value[b])
            .then_with(|| column.values.texts[a].cmp(&column.values.texts[b]))
    });
    let mut ranks = vec![u32::MAX; column.values.n_codes() as usize];
    for (rank, code) in (0u32..).zip(order) {
        ranks[code as usize] = rank;
    }
    ranks
}

fn chunks(rows: &Rows) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut first_class, mut first_row) = (0, 0);
    for (class, &end) in rows.class_ends.iter().enumerate() {
        let end = end as usize;
        let is_last = class + 1 == rows.class_ends.len();
        if end - first_row >= CHUNK_ROWS || (is_last && end > first_row) {
            chunks.push(Chunk { classes: first_class..class + 1, rows: first_row..end });
            (first_class, first_row) = (class + 1, end);
        }
    }
    chunks
}

impl Release<'_> {
    fn gather(&self, chunk: &Chunk) -> Result<Gathered, ArrowError> {
        let rows = self.rows.order[chunk.rows.clone()].to_vec();
        let places: Vec<(usize, usize)> = if self.kept.batches.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| self.kept.place(row)).collect()
        };
        let mut kept = Vec::with_capacity(self.columns.len());
        for column in self.columns {
            kept.push(match column {
                Published::Kept(at) => {
                    let arrays: Vec<&dyn Array> =
                        self.kept.batches.iter().map(|batch| batch[*at].as_ref()).collect();
                    Some(interleave(&arrays, &places)?)
                }
                Published::Labels(_) | Published::Coded { .. } => None,
            });
        }
        let mut classes = Vec::with_capacity(rows.len());
        for class in chunk.classes.clone() {
            let end = self.rows.class_ends[class] as usize - chunk.rows.start;
            classes.resize(end, u32::try_from(class).expect("fewer classes than rows"));
        }
        let order = (0..).take(rows.len()).collect();
        let mut gathered = Gathered { rows, kept, order, classes };
        self.sort(&mut gathered)?;
        Ok(gathered)
    }

    /// Orders the rows of each class by what is published of them.
    fn sort(&self, gathered: &mut Gathered) -> Result<(), ArrowError> {
        type Compare<'c> = Box<dyn Fn(u32, u32) -> Ordering + 'c>;
        let Gathered { rows, kept, order, classes } = gathered;
        let rows = &*rows;
        let mut compares: Vec<Compare> = Vec::new();
        for ((column, kept), ranks) in self.columns.iter().zip(kept.iter()).zip(&self.ranks) {
            match (column, kept) {
                (Published::Coded { column, .. }, _) => {
                    let keys: Vec<u32> = rows
                        .iter()
                        .map(|&row| ranks[column.codes.get(row as usize) as usize])
                        .collect();
                    compares.push(Box::new(move |a, b| keys[a as usize].cmp(&keys[b as usize])));
                }
                (Published::Kept(_), Some(array)) => {
                    let options = arrow::compute::SortOptions::default();
                    match arrow::array::make_comparator(array.as_ref(), array.as_ref(), options) {
                        Ok(compare) => {
                            compares.push(Box::new(move |a, b| compare(a as usize, b as usize)));
                        }
                        Err(_) => compares.push(text_compare(array)?),
                    }
                }
                _ => {}
            }
        }
        let mut start = 0;
        for class in classes.chunk_by(|a, b| a == b) {
            order[start..start + class.len()].sort_unstable_by(|&a, &b| {
                compares
                    .iter()
                    .map(|compare| compare(a, b))
                    .find(|o| o.is_ne())
                    .unwrap_or(Ordering::Equal)
            });
            start += class.len();
        }
        Ok(())
    }
}

/// Orders values of a type that has no order of its own by their text.
fn text_compare<'c>(
    array: &ArrayRef,
) -> Result<Box<dyn Fn(u32, u32) -> Ordering + 'c>, ArrowError> {
    let formatter = arrow::util::display::FormatOptions::default();
    let format = arrow::util::display::ArrayFormatter::try_new(array.as_ref(), &formatter)?;
    let texts: Vec<String> = (0..array.len()).map(|at| format.value(at).to_string()).collect();
    Ok(Box::new(move |a, b| texts[a as usize].cmp(&texts[b as usize])))
}

impl Kept {
    /// The batch and offset of a row.
    fn place(&self, row: u32) -> (usize, usize) {
        let batch = self.starts.partition_point(|&start| start <= row) - 1;
        (batch, (row - self.starts[batch]) as usize)
    }
}

impl Published<'_> {
    /// Its name in the release.
    #[must_use]
    pub fn name<'a>(&'a self, kept: &'a Kept) -> &'a str {
        match self {
            Published::Labels(labels) => &labels.name,
            Published::Coded { column, .. } => &column.values.name,
            Published::Kept(at) => &kept.columns[*at].name,
        }
    }
}

// CSV

fn write_csv(
    engine: &Engine,
    release: &Release,
    staged: &Staged,
    compression: Compression,
) -> Result<(), EngineError> {
    let dialect = dialect_of(staged.path());
    refuse_nested(release)?;
    let ready: Vec<Vec<Vec<u8>>> =
        release.columns.iter().map(|column| ready_cells(column, dialect)).collect();
    let mut sink = CsvSink::new(staged, compression)?;
    let names = release.columns.iter().map(|column| column.name(release.kept));
    sink.write(&dialect.header(names))?;
    in_order(
        engine,
        release,
        |gathered| csv_lines(release, gathered, &ready, dialect),
        |lines| sink.write(&lines),
    )?;
    sink.finish()
}

fn refuse_nested(release: &Release) -> Result<(), EngineError> {
    for column in release.columns {
        let Published::Kept(at) = column else { continue };
        let column = &release.kept.columns[*at];
        if !arrow::compute::can_cast_types(&column.data_type, &DataType::Utf8)
            || column.data_type.is_nested()
        {
            let (column, found) = (column.name.clone(), column.data_type.to_string());
            return Err(EngineError::NotForCsv { column, found });
        }
    }
    Ok(())
}

fn ready_cells(column: &Published, dialect: Dialect) -> Vec<Vec<u8>> {
    match column {
        Published::Labels(labels) => {
            labels.texts.iter().map(|text| dialect.cell(text.as_deref())).collect()
        }
        Published::Coded { column, .. } => {
            let mut cells: Vec<_> =
                column.values.texts.iter().map(|text| dialect.cell(Some(text))).collect();
            cells.push(Vec::new());
            cells
        }
        Published::Kept(_) => Vec::new(),
    }
}

fn csv_lines(
    release: &Release,
    gathered: &Gathered,
    ready: &[Vec<Vec<u8>>],
    dialect: Dialect,
) -> Result<Vec<u8>, ArrowError> {
    let mut cells = Vec::with_capacity(release.columns.len());
    for ((column, kept), texts) in release.columns.iter().zip(&gathered.kept).zip(ready) {
        cells.push(match (column, kept) {
            (Published::Labels(labels), _) => {
                let index = gathered.classes.iter().map(|&c| labels.of_class[c as usize]).collect();
                Cells::Ready { texts, index }
            }
            (Published::Coded { column, .. }, _) => {
                let index =
                    gathered.rows.iter().map(|&row| column.codes.get(row as usize)).collect();
                Cells::Ready { texts, index }
            }
            (Published::Kept(_), Some(array)) => {
                Cells::Raw(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
            }
            (Published::Kept(_), None) => unreachable!("kept columns are gathered"),
        });
    }
    Ok(dialect.lines(&cells, &gathered.order))
}

/// Makes something of every chunk of a release and hands the results over in order.
fn in_order<T: Send>(
    engine: &Engine,
    release: &Release,
    make: impl Fn(&Gathered) -> Result<T, ArrowError> + Sync,
    hand_over: impl FnMut(T) -> Result<(), EngineError> + Send,
) -> Result<(), EngineError> {
    let encoding = |error: ArrowError| EngineError::Read(Detail::of_arrow(&error));
    let chunks = chunks(release.rows).into_iter().map(|chunk| {
        let end = chunk.rows.end as u64;
        (chunk, end)
    });
    let make = |chunk: &Chunk| release.gather(chunk).and_then(|rows| make(&rows)).map_err(encoding);
    ordered::in_order(engine, chunks, make, hand_over)
}

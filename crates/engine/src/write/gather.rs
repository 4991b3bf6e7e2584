//! Rows of a chunk, gathered and ordered by what is published of them.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::interleave;
use arrow::error::ArrowError;
use incrowd_data::Codes;

use super::breaks::Breaks;
use super::{Piece, Published, Rows};
use crate::read::{Kept, KeptColumn};

/// The columns of a release, with what orders their rows.
pub(super) struct Columns<'a> {
    pub(super) published: &'a [Published<'a>],
    pub(super) kept: &'a [KeptColumn],
    /// By column, the rank of each code within its column.
    ranks: Vec<Arc<Vec<u32>>>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(published: &'a [Published<'a>], kept: &'a [KeptColumn]) -> Columns<'a> {
        let ranks = published.iter().map(|column| Arc::new(ranks_of(column))).collect();
        Columns { published, kept, ranks }
    }

    /// The same columns with other labels.
    pub(super) fn with_labels<'b>(&'b self, published: &'b [Published<'b>]) -> Columns<'b> {
        Columns { published, kept: self.kept, ranks: self.ranks.clone() }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.published.iter().map(|column| column.name(self.kept))
    }
}

/// The rank of each code among its column's values; missing comes last.
pub(crate) fn ranks_of(column: &Published) -> Vec<u32> {
    let Published::Coded { values, kind } = column else { return Vec::new() };
    let natural = values.rank(crate::Order::Natural(Some(*kind)));
    let by_value = natural.map_or_else(|_| vec![0; values.texts.len()], |ranked| ranked.code_of);
    let mut order: Vec<u32> = (0..).take(values.texts.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        by_value[a].cmp(&by_value[b]).then_with(|| values.texts[a].cmp(&values.texts[b]))
    });
    let mut ranks = vec![u32::MAX; values.n_codes() as usize];
    for (rank, code) in (0u32..).zip(order) {
        ranks[code as usize] = rank;
    }
    ranks
}

/// A run of classes of a piece: which ones, and which run of `order` they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    classes: Range<usize>,
    pub(super) rows: Range<usize>,
    /// Whether a part of a folder may end behind it.
    may_break: bool,
}

#[cfg(test)]
impl Chunk {
    /// The class behind it, and whether a part may end there.
    pub(super) fn end(&self) -> (usize, bool) {
        (self.classes.end, self.may_break)
    }
}

/// Whole classes, until they have so many rows or a part may end. The last class may go on in
/// another piece.
pub(super) fn chunks(
    rows: &Rows,
    most_rows: u64,
    breaks: &mut Breaks,
    goes_on: bool,
) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut first_class, mut first_row, mut last_end) = (0, 0, 0);
    for (class, &end) in rows.class_ends.iter().enumerate() {
        let is_last = class + 1 == rows.class_ends.len();
        let may_break = breaks.add(u64::from(end - last_end), goes_on && is_last);
        last_end = end;
        let end = end as usize;
        let is_full = (end - first_row) as u64 >= most_rows;
        if end > first_row && (is_full || may_break || is_last) {
            let rows = first_row..end;
            chunks.push(Chunk { classes: first_class..class + 1, rows, may_break });
            (first_class, first_row) = (class + 1, end);
        }
    }
    chunks
}

/// Makes chunks of a piece.
pub(super) struct Gatherer<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) piece: &'a Piece<'a>,
}

/// Rows of a chunk in memory.
pub(super) struct Gathered<'a> {
    /// By column, the codes of the piece's rows.
    codes: &'a [Option<&'a Codes>],
    /// The piece's row of each.
    pub(super) rows: Vec<u32>,
    /// By column, the kept cells.
    pub(super) kept: Vec<Option<ArrayRef>>,
    /// The order to write them in.
    pub(super) order: Vec<u32>,
    /// The class of each.
    pub(super) classes: Vec<u32>,
    /// Whether a part of a folder may end behind them.
    pub(super) may_break: bool,
}

impl Gathered<'_> {
    /// The codes of a coded column, for all rows of the piece.
    pub(super) fn codes(&self, column: usize) -> &Codes {
        self.codes[column].expect("a piece has the codes of every coded column")
    }
}

impl<'a> Gatherer<'a> {
    pub(super) fn gather(&self, chunk: &Chunk) -> Result<Gathered<'a>, ArrowError> {
        let Piece { codes, kept: cells, rows: of_piece } = self.piece;
        let rows = of_piece.order[chunk.rows.clone()].to_vec();
        let places: Vec<(usize, usize)> = if cells.batches.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| cells.place(row)).collect()
        };
        let mut kept = Vec::with_capacity(self.columns.published.len());
        for column in self.columns.published {
            kept.push(match column {
                Published::Kept(at) => {
                    let arrays: Vec<&dyn Array> =
                        cells.batches.iter().map(|batch| batch[*at].as_ref()).collect();
                    Some(interleave(&arrays, &places)?)
                }
                Published::Labels { .. } | Published::Coded { .. } => None,
            });
        }
        let mut classes = Vec::with_capacity(rows.len());
        for class in chunk.classes.clone() {
            let end = of_piece.class_ends[class] as usize - chunk.rows.start;
            let number = u32::try_from(of_piece.first_class + class);
            classes.resize(end, number.expect("classes are counted in 32 bits"));
        }
        let order = (0..).take(rows.len()).collect();
        let mut gathered =
            Gathered { codes, rows, kept, order, classes, may_break: chunk.may_break };
        self.sort(&mut gathered)?;
        Ok(gathered)
    }

    /// Orders the rows of each class by what is published of them.
    fn sort(&self, gathered: &mut Gathered) -> Result<(), ArrowError> {
        type Compare<'c> = Box<dyn Fn(u32, u32) -> Ordering + 'c>;
        let mut order = std::mem::take(&mut gathered.order);
        let mut compares: Vec<Compare> = Vec::new();
        for (at, column) in self.columns.published.iter().enumerate() {
            match (column, &gathered.kept[at]) {
                (Published::Coded { .. }, _) => {
                    let (codes, ranks) = (gathered.codes(at), &self.columns.ranks[at]);
                    let rank = |&row: &u32| ranks[codes.get(row as usize) as usize];
                    let keys: Vec<u32> = gathered.rows.iter().map(rank).collect();
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
        for class in gathered.classes.chunk_by(|a, b| a == b) {
            order[start..start + class.len()].sort_unstable_by(|&a, &b| {
                compares
                    .iter()
                    .map(|compare| compare(a, b))
                    .find(|o| o.is_ne())
                    .unwrap_or(Ordering::Equal)
            });
            start += class.len();
        }
        drop(compares);
        gathered.order = order;
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

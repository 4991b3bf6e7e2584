//! Whether the numbers in the metadata of a Parquet file fit the file.
//!
//! The reader allocates as many bytes as a footer or the head of a page says that something takes,
//! before it looks whether the file has them. Here the metadata alone is read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::decode::guarded;
use crate::error::Detail;

mod shape;
mod thrift;

use shape::{FILE_METADATA, PAGE_HEADER};
use thrift::{Fault, I32, LIST, Reader, SET, STRUCT};

/// How many bytes one compressed byte may stand for, about: more than Zstandard can do.
const MOST_PACKED: u64 = 40_000;
/// Bytes of a page that none is too small for, however well it is compressed.
const SMALL_PAGE: u64 = 1 << 20;
/// The length of the footer and the magic letters, at the end of a file.
const TAIL: u64 = 8;
/// Groups within groups of a schema.
const MOST_NESTED: usize = 100;
/// Bytes that are read for the head of a page at first.
const PAGE_HEAD: u64 = 256;

/// The footer of a file, or an error if it asks for more than the file has.
pub(crate) fn parquet_footer(path: &Path) -> Result<ParquetMetaData, Detail> {
    let mut file = File::open(path).map_err(|error| Detail::of_io(&error))?;
    check_footer(&mut file).map_err(detail)?;
    let reader = guarded(|| SerializedFileReader::new(file))
        .map_err(|error| Detail::of_datafusion(&error))?
        .map_err(|error| Detail::of_parquet(&error))?;
    Ok(reader.metadata().clone())
}

/// What the heads of the pages of a column in a row group say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pages {
    /// Bytes of the largest page in memory.
    pub(crate) largest: u64,
    /// The values of its dictionary, if it has one, and their bytes.
    pub(crate) dictionary: Option<(u64, u64)>,
}

/// By row group and column of a file, what its pages say. An error if the file asks for more than
/// it has.
pub(crate) fn parquet_pages(
    path: &Path,
    footer: &ParquetMetaData,
) -> Result<Vec<Vec<Pages>>, Detail> {
    let mut file = File::open(path).map_err(|error| Detail::of_io(&error))?;
    let n_bytes = file.metadata().map_err(|error| Detail::of_io(&error))?.len();
    let of_group = |group: &RowGroupMetaData| -> Result<Vec<Pages>, Damage> {
        group.columns().iter().map(|chunk| pages_of(&mut file, chunk, n_bytes)).collect()
    };
    footer.row_groups().iter().map(of_group).collect::<Result<_, _>>().map_err(detail)
}

enum Damage {
    Io(std::io::Error),
    Fault(Fault),
}

impl From<std::io::Error> for Damage {
    fn from(error: std::io::Error) -> Damage {
        Damage::Io(error)
    }
}

impl From<Fault> for Damage {
    fn from(fault: Fault) -> Damage {
        Damage::Fault(fault)
    }
}

fn detail(damage: Damage) -> Detail {
    match damage {
        Damage::Io(error) => Detail::of_io(&error),
        Damage::Fault(Fault::TooShort) => Detail::TOO_SHORT.into(),
        Damage::Fault(Fault::Damaged) => Detail::DAMAGED.into(),
    }
}

/// Looks at the lists and at the schema of the footer. What is no Parquet file at all is left to
/// the reader to say.
fn check_footer(file: &mut File) -> Result<(), Damage> {
    let n_bytes = file.metadata()?.len();
    let Some(end) = n_bytes.checked_sub(TAIL) else { return Ok(()) };
    let tail = read_at(file, end, TAIL)?;
    let footer_len = tail.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let Some(start) = end.checked_sub(footer_len).filter(|_| tail.ends_with(b"PAR1")) else {
        return Ok(());
    };
    let bytes = read_at(file, start, footer_len)?;
    FILE_METADATA.check(&mut Reader::new(&bytes), STRUCT)?;
    Reader::new(&bytes).fields(&mut |reader, id, kind| match (id, kind) {
        (2, LIST | SET) => check_schema(reader),
        _ => reader.pass(kind),
    })?;
    Ok(())
}

/// The elements of a schema are a tree in the order of a walk through it; each says how many
/// children follow it.
fn check_schema(reader: &mut Reader) -> Result<(), Fault> {
    let mut n_elements = 0usize;
    let mut n_children = 0usize;
    // By group that is open, how many of its children are still to come.
    let mut open: Vec<usize> = Vec::new();
    reader.list(&mut |reader, kind| {
        let mut n_own = 0;
        if kind != STRUCT {
            return Err(Fault::Damaged);
        }
        reader.fields(&mut |reader, id, kind| match (id, kind) {
            (5, I32) => {
                n_own = usize::try_from(reader.number()?).map_err(|_| Fault::Damaged)?;
                Ok(())
            }
            _ => reader.pass(kind),
        })?;
        n_elements += 1;
        n_children = n_children.saturating_add(n_own);
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(n_own);
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > MOST_NESTED { Err(Fault::Damaged) } else { Ok(()) }
    })?;
    if n_children < n_elements.max(1) { Ok(()) } else { Err(Fault::Damaged) }
}

/// The pages of a column in a row group.
fn pages_of(file: &mut File, chunk: &ColumnChunkMetaData, n_bytes: u64) -> Result<Pages, Damage> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let mut at = u64::try_from(start).map_err(|_| Fault::Damaged)?;
    let end = end_of(Some(start), Some(chunk.compressed_size()))?;
    let further = [
        end_of(chunk.column_index_offset(), chunk.column_index_length().map(i64::from))?,
        end_of(chunk.offset_index_offset(), chunk.offset_index_length().map(i64::from))?,
        end_of(chunk.bloom_filter_offset(), chunk.bloom_filter_length().map(i64::from))?,
    ];
    if further.into_iter().chain([end]).any(|end| end > n_bytes) {
        return Err(Fault::Damaged.into());
    }
    let mut pages = Pages::default();
    let mut n_left = chunk.num_values();
    while n_left > 0 && at < end {
        let page = page_at(file, at, end)?;
        let is_packed = page.unpacked > page.stored.saturating_mul(MOST_PACKED).max(SMALL_PAGE);
        at = at.saturating_add(page.head).saturating_add(page.stored);
        if is_packed || at > end {
            return Err(Fault::Damaged.into());
        }
        pages.largest = pages.largest.max(page.unpacked);
        if let Some(n_texts) = page.n_texts {
            pages.dictionary = Some((n_texts, page.unpacked));
        }
        n_left = n_left.saturating_sub(page.n_values);
    }
    Ok(pages)
}

/// Where a part of a file ends; at its start if there is none.
fn end_of(offset: Option<i64>, len: Option<i64>) -> Result<u64, Fault> {
    let number = |number: Option<i64>| u64::try_from(number.unwrap_or(0));
    match (number(offset), number(len)) {
        (Ok(offset), Ok(len)) => offset.checked_add(len).ok_or(Fault::Damaged),
        _ => Err(Fault::Damaged),
    }
}

/// What the head of a page says.
#[derive(Default)]
struct Page {
    /// Bytes of the head.
    head: u64,
    /// Bytes in the file, and in memory.
    stored: u64,
    unpacked: u64,
    /// Values of a page of data; none of a dictionary.
    n_values: i64,
    /// Values of a dictionary.
    n_texts: Option<u64>,
}

fn page_at(file: &mut File, at: u64, end: u64) -> Result<Page, Damage> {
    let mut n = PAGE_HEAD;
    loop {
        let is_all = n >= end - at;
        let bytes = read_at(file, at, n.min(end - at))?;
        match page(&bytes) {
            Err(Fault::TooShort) if !is_all => n *= 8,
            found => return Ok(found?),
        }
    }
}

fn page(bytes: &[u8]) -> Result<Page, Fault> {
    let mut page = Page::default();
    let size = |reader: &mut Reader| u64::try_from(reader.number()?).map_err(|_| Fault::Damaged);
    PAGE_HEADER.check(&mut Reader::new(bytes), STRUCT)?;
    let mut reader = Reader::new(bytes);
    reader.fields(&mut |reader, id, kind| match (id, kind) {
        (2, I32) => size(reader).map(|size| page.unpacked = size),
        (3, I32) => size(reader).map(|size| page.stored = size),
        // Of either version.
        (5 | 8, STRUCT) => reader.fields(&mut |reader, id, kind| match (id, kind) {
            (1, I32) => reader.number().map(|number| page.n_values = number.max(0)),
            _ => reader.pass(kind),
        }),
        (7, STRUCT) => reader.fields(&mut |reader, id, kind| match (id, kind) {
            (1, I32) => reader.number().map(|n| page.n_texts = u64::try_from(n).ok()),
            _ => reader.pass(kind),
        }),
        _ => reader.pass(kind),
    })?;
    page.head = (bytes.len() - reader.n_left()) as u64;
    Ok(page)
}

fn read_at(file: &mut File, at: u64, n_bytes: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(n_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of elements that say only how many children they have.
    fn schema(n_children: &[u8]) -> Result<(), Fault> {
        let n = u8::try_from(n_children.len()).unwrap();
        let mut bytes = vec![0xf0 | STRUCT, n & 0x7f | 0x80, n >> 7];
        // Numbers are doubled, so that their sign has a place.
        bytes.extend(n_children.iter().flat_map(|n| [0x55, 2 * n, 0]));
        check_schema(&mut Reader::new(&bytes))
    }

    #[test]
    fn a_schema_has_the_children_that_it_says() {
        assert_eq!(schema(&[2, 0, 0]), Ok(()));
        assert_eq!(schema(&[2, 1, 0, 0]), Ok(()));
        assert_eq!(schema(&[0]), Ok(()));
        assert_eq!(schema(&[3, 0, 0]), Err(Fault::Damaged));
        assert_eq!(schema(&[1, 60, 0]), Err(Fault::Damaged));
        let nested = |n: usize| [vec![1; n], vec![0]].concat();
        assert_eq!(schema(&nested(MOST_NESTED)), Ok(()));
        assert_eq!(schema(&nested(MOST_NESTED + 1)), Err(Fault::Damaged));
    }

    #[test]
    fn the_head_of_a_page_is_read() {
        // Type 0, 100 bytes of which 50 are stored; a page of data of 7 values in encoding 0.
        let bytes = [0x15, 0, 0x15, 200, 1, 0x15, 100, 0x2c, 0x15, 14, 0x15, 0, 0, 0, 99];
        let page = page(&bytes).unwrap_or_default();
        assert_eq!((page.head, page.stored, page.unpacked, page.n_values), (14, 50, 100, 7));
        assert!(super::page(&bytes[..13]).is_err_and(|fault| fault == Fault::TooShort));
    }
}

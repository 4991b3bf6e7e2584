//! Whether the numbers in an Arrow file fit the file.
//!
//! Arrow's reader allocates as many bytes as a footer or a message asks for before it looks whether
//! the file has them. So a damaged file could ask for terabytes, which ends the process. Here the
//! metadata alone is read, in the memory that it takes in the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use arrow::ipc::{Block, MessageHeader, RecordBatch, root_as_footer, root_as_message};

use super::decoded::Decoded;
use crate::error::Detail;

const MAGIC: &[u8; 6] = b"ARROW1";
/// The magic letters at the start, filled up to eight bytes.
const START: u64 = 8;
/// The length of the footer and the magic letters at the end.
const END: u64 = 10;
/// Rows that a batch may have beyond those that its bytes can hold: columns of nulls take none.
const MOST_NULLS: u64 = 1_000_000;
/// How many bytes one compressed byte may stand for, about: more than Zstandard can do.
const MOST_PACKED: u64 = 40_000;

/// Why a file cannot be read.
enum Fault {
    Io(std::io::Error),
    TooShort,
    Damaged,
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Fault::TooShort,
            _ => Fault::Io(error),
        }
    }
}

/// What the metadata of a sound file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrowFacts {
    /// Bytes of the largest batch in memory.
    pub(crate) largest_batch: u64,
    /// How much there is in all batches.
    pub(crate) decoded: Decoded,
}

/// What a file says; an error if it asks for more than it has.
pub(crate) fn check_arrow(path: &Path) -> Result<ArrowFacts, Detail> {
    check(path).map_err(|fault| match fault {
        Fault::Io(error) => Detail::of_io(&error),
        Fault::TooShort => Detail::TOO_SHORT.into(),
        Fault::Damaged => Detail::DAMAGED.into(),
    })
}

fn check(path: &Path) -> Result<ArrowFacts, Fault> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let end = len.checked_sub(END).filter(|end| *end >= START).ok_or(Fault::TooShort)?;
    let tail = read_at(&mut file, end, END)?;
    let (footer_len, magic) = tail.split_at(4);
    let footer_len = footer_len.try_into().map_or(0, i32::from_le_bytes);
    let footer_len = u64::try_from(footer_len).map_err(|_| Fault::Damaged)?;
    let is_arrow = magic == MAGIC && read_at(&mut file, 0, START)?.starts_with(MAGIC);
    let at = end.checked_sub(footer_len).filter(|at| *at >= START && is_arrow);
    let at = at.ok_or(Fault::Damaged)?;
    let footer = read_at(&mut file, at, footer_len)?;
    let footer = root_as_footer(&footer).map_err(|_| Fault::Damaged)?;
    if footer.schema().is_none() || footer.recordBatches().is_none() {
        return Err(Fault::Damaged);
    }
    let mut facts = ArrowFacts::default();
    // By dictionary, the bytes of a value.
    let mut value_bytes: BTreeMap<i64, u64> = BTreeMap::new();
    for block in footer.dictionaries().into_iter().flatten() {
        let Batch { n_bytes, n_rows, dictionary } = check_block(&mut file, block, at)?;
        facts.largest_batch = facts.largest_batch.max(n_bytes);
        if let Some(id) = dictionary {
            let of_value = value_bytes.entry(id).or_default();
            *of_value = n_bytes.div_ceil(n_rows.max(1)).max(*of_value);
        }
    }
    let fields = footer.schema().and_then(|schema| schema.fields());
    let coded = fields.into_iter().flatten().filter_map(|field| {
        let of_value = value_bytes.get(&field.dictionary()?.id())?;
        Some((field.name()?, *of_value))
    });
    let coded: Vec<(&str, u64)> = coded.collect();
    for block in footer.recordBatches().into_iter().flatten() {
        let Batch { n_bytes, n_rows, .. } = check_block(&mut file, block, at)?;
        facts.largest_batch = facts.largest_batch.max(n_bytes);
        let mut of_batch = n_bytes;
        for (name, of_value) in &coded {
            let n_bytes = n_rows.saturating_mul(*of_value);
            facts.decoded.add(name, n_bytes);
            of_batch = of_batch.saturating_add(n_bytes);
        }
        facts.decoded.add_others(n_bytes);
        facts.decoded.add_rows(n_rows, of_batch);
    }
    Ok(facts)
}

fn read_at(file: &mut File, at: u64, n_bytes: u64) -> Result<Vec<u8>, Fault> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(n_bytes).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == n_bytes { Ok(bytes) } else { Err(Fault::TooShort) }
}

/// What a message holds.
struct Batch {
    /// Bytes in memory.
    n_bytes: u64,
    n_rows: u64,
    /// Which dictionary it is, if it is one.
    dictionary: Option<i64>,
}

/// A message and its body lie before the footer, and the message asks for what is in the body.
fn check_block(file: &mut File, block: &Block, end: u64) -> Result<Batch, Fault> {
    let number = |number: i64| u64::try_from(number).map_err(|_| Fault::Damaged);
    let offset = number(block.offset())?;
    let (head, body) = (number(block.metaDataLength().into())?, number(block.bodyLength())?);
    let at = offset.checked_add(head).ok_or(Fault::Damaged)?;
    // A message begins with eight bytes of marks.
    if head <= 8 || at.checked_add(body).is_none_or(|after| after > end) {
        return Err(Fault::Damaged);
    }
    let bytes = read_at(file, offset, head)?;
    let marks = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(&bytes[marks..]).map_err(|_| Fault::Damaged)?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => {
            message.header_as_dictionary_batch().and_then(|batch| batch.data())
        }
        _ => None,
    };
    let batch = batch.ok_or(Fault::Damaged)?;
    let dictionary = message.header_as_dictionary_batch().map(|batch| batch.id());
    let n_rows = number(batch.length())?;
    Ok(Batch { n_bytes: check_batch(file, &batch, at, body)?, n_rows, dictionary })
}

/// The buffers of a batch lie in its body of `body` bytes at `at`, and hold as many rows as it
/// says.
fn check_batch(file: &mut File, batch: &RecordBatch, at: u64, body: u64) -> Result<u64, Fault> {
    let number = |number: i64| u64::try_from(number).map_err(|_| Fault::Damaged);
    let mut unpacked = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, len) = (number(buffer.offset())?, number(buffer.length())?);
        if offset.checked_add(len).is_none_or(|after| after > body) {
            return Err(Fault::Damaged);
        }
        let mut holds = len;
        if batch.compression().is_some() && len > 0 {
            let prefix = read_at(file, at + offset, len.min(8))?;
            let prefix = <[u8; 8]>::try_from(prefix).map_err(|_| Fault::Damaged)?;
            // -1 says that the bytes are not compressed.
            holds = match i64::from_le_bytes(prefix) {
                -1 => len,
                claimed => number(claimed)?,
            };
            if holds > len.saturating_mul(MOST_PACKED) {
                return Err(Fault::Damaged);
            }
        }
        unpacked = unpacked.saturating_add(holds);
    }
    // Every cell takes a bit at least.
    let most_rows = unpacked.saturating_mul(8).saturating_add(MOST_NULLS);
    let rows = batch.nodes().into_iter().flatten().map(|node| (node.length(), node.null_count()));
    for (rows, nulls) in rows.chain([(batch.length(), 0)]) {
        if number(rows)? > most_rows || number(nulls)? > number(rows)? {
            return Err(Fault::Damaged);
        }
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, NullArray, RecordBatch, StringArray};
    use arrow::ipc::writer::FileWriter;

    use super::*;

    fn sample() -> Vec<u8> {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
            ("b", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
            ("c", Arc::new(NullArray::new(3))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn is_sound(bytes: &[u8]) -> bool {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        check_arrow(file.path()).is_ok()
    }

    /// Whatever is accepted never makes Arrow's reader ask for much memory.
    #[test]
    fn what_a_file_asks_for_is_in_it() {
        let bytes = sample();
        assert!(is_sound(&bytes));
        assert!(!is_sound(b"ARROW1"));
        assert!(!is_sound(&bytes[..bytes.len() - 11]));
        for number in [i64::MAX, -1, 1 << 40] {
            for at in (0..bytes.len() - 8).step_by(4) {
                let mut damaged = bytes.clone();
                damaged[at..at + 8].copy_from_slice(&number.to_le_bytes());
                let _ = is_sound(&damaged);
            }
        }
        let mut damaged = bytes.clone();
        let at = bytes.len() - 10;
        damaged[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(!is_sound(&damaged));
    }
}

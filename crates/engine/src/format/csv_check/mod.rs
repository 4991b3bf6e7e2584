//! Strict inspection of a CSV file before an engine reads it.
//!
//! The engine splits a file into byte ranges and trusts what it is told about it, so [`inspect`]
//! reads the whole file once, in bounded memory, refuses everything that could be read in two ways,
//! and says what it found. Records are cut as csv-core cuts them with its default settings: `"`
//! quotes a field and is doubled inside it, a quote inside an unquoted field is an ordinary byte,
//! and CR, LF and CRLF each end a record.
//!
//! Three layers share the work:
//!
//! * [`Scanner`] is the authority: a state machine that can stop and go on at any byte, knows the
//!   exact line, and alone raises errors. It is fed in file order.
//! * [`certifier`] is the fast path: it looks at a chunk of whole lines 64 bytes at a time through
//!   bit masks and either vouches for the chunk or declines. It never says what is wrong.
//! * [`scan`] reads block after block, the next one while this one is judged. A block is split
//!   after line feeds into chunks, all judged in parallel on the guess that each starts with a
//!   record. In file order the scanner then takes over each result whose guess was right, and reads
//!   a chunk itself where it was wrong (a quoted field spans the cut) or the chunk is unsound.
//!
//! The error reported is the one with the smallest line number; on one line, the one that shows
//! first.

mod certifier;
mod header;
mod scanner;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::Compression;
use crate::CsvError;
use scanner::{Scanner, first_bad_byte};

/// Bytes read at a time; two blocks are held in memory.
const BLOCK: usize = 8 << 20;
/// Chunks a block is split into, small enough to stay in a core's cache while looked at repeatedly.
const CHUNKS_PER_BLOCK: usize = 32;
/// The header must end within this many bytes, and the delimiter is recognised from no more.
const HEAD: usize = 1 << 20;
/// Records, the header included, that a recognised delimiter must split evenly.
const SAMPLE_RECORDS: u64 = 100;
/// The delimiters recognised, in order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What [`inspect`] found in a sound file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CsvFacts {
    /// The byte that separates fields.
    pub delimiter: u8,
    /// The column names, unquoted; none is blank and no two are equal.
    pub header: Vec<String>,
    /// The number of records after the header.
    pub n_rows: u64,
    /// Whether some quoted field, of the header or of a record, contains CR or LF.
    pub has_newlines_in_values: bool,
    /// Whether the header looks like a row.
    pub looks_headerless: bool,
    /// How much text there is, and how much at a time.
    pub extent: Extent,
}

/// How much text a file is, after decompression. The figures for rows are upper bounds, within a
/// chunk of the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// All bytes.
    pub(crate) n_bytes: u64,
    /// Bytes of a row, where rows are longest on average.
    pub(crate) row_bytes: u64,
    /// Bytes of the longest row.
    pub(crate) longest_row: u64,
    /// Bytes since the last row that ended.
    open: u64,
}

impl Extent {
    /// Takes in some bytes in which so many rows end.
    pub(crate) fn add(&mut self, n_bytes: u64, n_rows: u64) {
        self.n_bytes += n_bytes;
        self.open += n_bytes;
        self.longest_row = self.longest_row.max(self.open);
        if n_rows > 0 {
            self.row_bytes = self.row_bytes.max(self.open.div_ceil(n_rows));
            self.open = 0;
        }
    }

    /// That of both files.
    pub(crate) fn and(self, other: Extent) -> Extent {
        Extent {
            n_bytes: self.n_bytes + other.n_bytes,
            row_bytes: self.row_bytes.max(other.row_bytes),
            longest_row: self.longest_row.max(other.longest_row),
            open: 0,
        }
    }
}

/// Reads the CSV file at `path` once, checks it strictly and says what it contains. Reading fails
/// soon after `cancelled` is raised.
///
/// Without a `delimiter`, the one of comma, semicolon, tab and vertical bar is taken that splits
/// the header into most fields (at least two) and the rest of the first hundred records into as
/// many each; if none does, the one that splits the header into most fields; if none splits it, the
/// comma.
///
/// # Errors
///
/// The first thing wrong in the file, see [`CsvError`].
pub(crate) fn inspect(
    path: &Path,
    compression: Compression,
    delimiter: Option<u8>,
    cancelled: &AtomicBool,
) -> Result<CsvFacts, CsvError> {
    let input = compression.reader(File::open(path)?)?;
    let input = Stoppable { input, cancelled };
    inspect_blocks(input, delimiter, BLOCK).map_err(|error| match error {
        // Only the system's errors have a number, the decoders' have none.
        CsvError::Io(source) if source.raw_os_error().is_none() => match compression {
            Compression::None => CsvError::Io(source),
            Compression::Gzip => CsvError::Decompress { format: "gzip", source },
            Compression::Zstd => CsvError::Decompress { format: "zstd", source },
        },
        error => error,
    })
}

/// A reader that fails once it is told to stop.
struct Stoppable<'a, R> {
    input: R,
    cancelled: &'a AtomicBool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        self.input.read(buffer)
    }
}

/// [`inspect`] for anything that can be read, `block` (at least 4) bytes at a time.
pub(crate) fn inspect_blocks(
    mut input: impl Read + Send,
    delimiter: Option<u8>,
    block: usize,
) -> Result<CsvFacts, CsvError> {
    if let Some(found @ (0 | b'"' | b'\n' | b'\r' | 0x80..)) = delimiter {
        return Err(CsvError::BadDelimiter { found });
    }
    let mut head = Vec::new();
    let limit = u64::try_from(HEAD).expect("a mebibyte fits in 64 bits");
    (&mut input).take(limit + 1).read_to_end(&mut head)?;
    let whole = head.len() <= HEAD;
    let head = head.strip_prefix(BOM).unwrap_or(&head);
    let start = if whole { head } else { &head[..cut_point(head)] };
    let delimiter = delimiter.unwrap_or_else(|| recognise(start, whole));
    let header = read_header(start, whole, delimiter)?;
    let expected = u64::try_from(header.len()).expect("a count of columns fits in 64 bits");
    let scanner = Scanner::new(delimiter, Some(expected));
    let (scanner, extent) = scan(head.chain(input), scanner, block)?;
    let n_rows = scanner.records.saturating_sub(1);
    let sample = records(start, whole, delimiter, SAMPLE_RECORDS);
    Ok(CsvFacts {
        delimiter,
        n_rows,
        has_newlines_in_values: scanner.newlines_in_values,
        looks_headerless: header::looks_like_a_row(&header, &sample[1.min(sample.len())..]),
        extent,
        header,
    })
}

/// The delimiter of a file that starts with (or, if `whole`, is) `head`.
fn recognise(head: &[u8], whole: bool) -> u8 {
    let mut best = (false, 1, b',');
    for delimiter in DELIMITERS {
        let mut scanner = Scanner::new(delimiter, None);
        let outcome = scanner.feed_records(head, whole, SAMPLE_RECORDS, |_| None);
        // A blank line ends the sample: the file will be refused there at the latest.
        let even = scanner.records >= SAMPLE_RECORDS
            || matches!(outcome, Ok(()) | Err(CsvError::BlankLine { .. }));
        let fields = scanner.expected.unwrap_or(scanner.fields);
        if fields > 1 && (even, fields) > (best.0, best.1) {
            best = (even, fields, delimiter);
        }
    }
    best.2
}

/// The column names of a file that starts with (or, if `whole`, is) `head`.
fn read_header(head: &[u8], whole: bool, delimiter: u8) -> Result<Vec<String>, CsvError> {
    let mut scanner = Scanner::new(delimiter, None);
    let outcome = scanner.feed_records(head, whole, 1, first_bad_byte);
    if scanner.records == 0 {
        outcome?;
        return Err(scanner.unfinished());
    }
    let names = first_record(head, delimiter);
    let mut columns = HashMap::with_capacity(names.len());
    for (column, name) in (1..).zip(&names) {
        if name.trim().is_empty() {
            return Err(CsvError::EmptyHeader { column });
        }
        if let Some(first) = columns.insert(name, column) {
            return Err(CsvError::DuplicateHeader { first, second: column });
        }
    }
    Ok(names)
}

/// The unquoted fields of the first record in `head`, which the scanner has found sound.
fn first_record(head: &[u8], delimiter: u8) -> Vec<String> {
    records(head, true, delimiter, 1).pop().unwrap_or_default()
}

/// The unquoted fields of the first records in `head`, which the scanner has found sound. The last
/// one is left out unless `head` is the `whole` file.
fn records(head: &[u8], whole: bool, delimiter: u8, most: u64) -> Vec<Vec<String>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut all: Vec<Vec<String>> = Vec::new();
    let (mut fields, mut field) = (Vec::new(), Vec::new());
    let (mut fresh, mut quoted) = (true, false);
    let text = |field: Vec<u8>| String::from_utf8_lossy(&field).into_owned();
    let mut bytes = head.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if fresh => quoted = true,
            b'"' if quoted && bytes.next_if_eq(&b'"').is_none() => quoted = false,
            _ if quoted => field.push(byte),
            b'\n' | b'\r' => {
                if byte == b'\r' {
                    let _ = bytes.next_if_eq(&b'\n');
                }
                fields.push(text(std::mem::take(&mut field)));
                all.push(std::mem::take(&mut fields));
                if all.len() == most {
                    return all;
                }
                fresh = true;
                continue;
            }
            _ if byte == delimiter => {
                fields.push(text(std::mem::take(&mut field)));
                fresh = true;
                continue;
            }
            _ => field.push(byte),
        }
        fresh = false;
    }
    if whole && !(fresh && fields.is_empty()) {
        fields.push(text(field));
        all.push(fields);
    }
    all
}

/// Feeds all of `input` to `scanner`, `block` bytes at a time.
fn scan(
    mut input: impl Read + Send,
    mut scanner: Scanner,
    block: usize,
) -> Result<(Scanner, Extent), CsvError> {
    let mut extent = Extent::default();
    let (mut now, mut next) = (vec![0; block], vec![0; block]);
    let mut len = fill(&mut input, &mut now, 0)?;
    loop {
        let last = len < block;
        let cut = if last { len } else { cut_point(&now) };
        let rest = len - cut;
        next[..rest].copy_from_slice(&now[cut..len]);
        let size = block.div_ceil(CHUNKS_PER_BLOCK);
        let judge = || feed_block(&mut scanner, &mut extent, &now[..cut], size);
        let read = || if last { Ok(0) } else { fill(&mut input, &mut next, rest) };
        let (judged, filled) = rayon::join(judge, read);
        judged?;
        len = filled?;
        if last {
            scanner.finish()?;
            return Ok((scanner, extent));
        }
        std::mem::swap(&mut now, &mut next);
    }
}

/// Reads into `buffer` from `len` on until it is full or the input ends; the length then filled.
fn fill(input: &mut impl Read, buffer: &mut [u8], mut len: usize) -> io::Result<usize> {
    while len < buffer.len() {
        match input.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Where to cut a full buffer: after its last line feed, or in a very long line between characters.
fn cut_point(buffer: &[u8]) -> usize {
    if let Some(at) = memrchr(b'\n', buffer) {
        return at + 1;
    }
    let len = buffer.len();
    let started = (1..=len.min(3)).find(|&back| buffer[len - back] >= 0xc0);
    match started {
        Some(back) if back < buffer[len - back].leading_ones() as usize => len - back,
        _ => len,
    }
}

/// Feeds `block` to `scanner` in chunks of about `size` bytes, judged in parallel.
fn feed_block(
    scanner: &mut Scanner,
    extent: &mut Extent,
    block: &[u8],
    size: usize,
) -> Result<(), CsvError> {
    let chunks = split_lines(block, size);
    let judge = |chunk: &&[u8]| match first_bad_byte(chunk) {
        None => (None, scanner.guess(chunk)),
        bad => (bad, None),
    };
    let verdicts: Vec<_> = chunks.par_iter().map(judge).collect();
    for (chunk, verdict) in chunks.into_iter().zip(verdicts) {
        let n_before = scanner.records;
        match verdict {
            (_, Some(ahead)) if scanner.is_fresh() => scanner.absorb(&ahead),
            (bad, _) => scanner.feed_checked(chunk, bad)?,
        }
        extent.add(chunk.len() as u64, scanner.records - n_before);
    }
    Ok(())
}

/// Splits `block` after line feeds into chunks of at least `size` bytes, but for the last.
fn split_lines(mut block: &[u8], size: usize) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while !block.is_empty() {
        let from = size.saturating_sub(1).min(block.len());
        let end = memchr(b'\n', &block[from..]).map_or(block.len(), |at| from + at + 1);
        let (chunk, rest) = block.split_at(end);
        chunks.push(chunk);
        block = rest;
    }
    chunks
}

#[cfg(test)]
mod tests;

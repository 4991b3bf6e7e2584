//! Records of 64-bit words in private files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::key::merge_runs;
use super::spilling;
use crate::EngineError;

/// Bytes that are read at a time from one of many files.
const BUFFER: usize = 1 << 16;

/// Appends records to a file, which is not kept open: there may be more of them than a process may
/// have open.
pub(super) fn append<const W: usize>(path: &Path, records: &[[u64; W]]) -> Result<(), EngineError> {
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(&bytes)).map_err(spilling)
}

/// A file of records that is being read, and removed then.
pub(super) struct RecordReader<const W: usize> {
    file: BufReader<File>,
    path: PathBuf,
    n_left: usize,
}

impl<const W: usize> RecordReader<W> {
    pub(super) fn open(path: &Path, n_records: usize) -> Result<RecordReader<W>, EngineError> {
        let file = BufReader::with_capacity(BUFFER, File::open(path).map_err(spilling)?);
        Ok(RecordReader { file, path: path.to_owned(), n_left: n_records })
    }

    /// The next record; none behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<[u64; W]>, EngineError> {
        if self.n_left == 0 {
            return Ok(None);
        }
        self.n_left -= 1;
        let mut record = [0; W];
        for word in &mut record {
            let mut bytes = [0; 8];
            self.file.read_exact(&mut bytes).map_err(spilling)?;
            *word = u64::from_le_bytes(bytes);
        }
        Ok(Some(record))
    }

    /// Adds up to `most` records; whether there were any.
    pub(super) fn read_into(
        &mut self,
        records: &mut Vec<[u64; W]>,
        most: usize,
    ) -> Result<bool, EngineError> {
        let before = records.len();
        while records.len() < before + most
            && let Some(record) = self.next()?
        {
            records.push(record);
        }
        Ok(records.len() > before)
    }
}

impl<const W: usize> Drop for RecordReader<W> {
    fn drop(&mut self) {
        // The folder goes at the end, whatever is left in it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Tells the records of a file in ascending order with `most` of them in memory at a time: they are
/// sorted piece by piece, and the pieces merged.
pub(super) fn in_order<const W: usize>(
    mut from: RecordReader<W>,
    most: usize,
    mut tell: impl FnMut([u64; W]),
) -> Result<(), EngineError> {
    let mut pieces: Vec<RecordReader<W>> = Vec::new();
    let mut records = Vec::new();
    while from.read_into(&mut records, most)? {
        records.sort_unstable();
        merge_runs(&mut records);
        let path = from.path.with_extension(pieces.len().to_string());
        append(&path, &records)?;
        pieces.push(RecordReader::open(&path, records.len())?);
        records.clear();
    }
    drop(records);
    let mut heads = BinaryHeap::new();
    for (at, piece) in pieces.iter_mut().enumerate() {
        heads.extend(piece.next()?.map(|record| Reverse((record, at))));
    }
    while let Some(Reverse((record, at))) = heads.pop() {
        tell(record);
        heads.extend(pieces[at].next()?.map(|record| Reverse((record, at))));
    }
    Ok(())
}

//! Columns of codes in a private file, block by block.
//!
//! A block is its number of rows, then column by column a byte for the width of its codes and the
//! codes.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use incrowd_data::Codes;

use super::{Scratch, spilling};
use crate::EngineError;

/// Bytes that are read or written at a time.
const BUFFER: usize = 1 << 14;
/// The same where few columns are read: enough for the width of one.
const SMALL_BUFFER: usize = 16;

/// A file of codes that is complete. It keeps the folder that it is in: whoever has the file can
/// read it.
#[derive(Clone, Debug)]
pub struct CodeFile {
    path: PathBuf,
    _scratch: Arc<Scratch>,
    n_columns: usize,
    n_rows: u64,
}

/// A file of codes that is being written.
#[derive(Debug)]
pub struct CodeWriter {
    file: BufWriter<File>,
    made: CodeFile,
}

impl CodeWriter {
    /// Starts a file of so many columns.
    pub fn new(
        scratch: &Arc<Scratch>,
        name: &str,
        n_columns: usize,
    ) -> Result<CodeWriter, EngineError> {
        let path = scratch.path(name);
        let file = BufWriter::with_capacity(BUFFER, File::create(&path).map_err(spilling)?);
        let made = CodeFile { path, _scratch: Arc::clone(scratch), n_columns, n_rows: 0 };
        Ok(CodeWriter { file, made })
    }

    /// Appends a block: the codes of its rows, column by column.
    pub fn write(&mut self, columns: &[Codes]) -> Result<(), EngineError> {
        self.write_rows(columns.first().map_or(0, Codes::len), columns)
    }

    /// Appends a block of so many rows, also to a file without columns.
    pub fn write_rows(&mut self, n_rows: usize, columns: &[Codes]) -> Result<(), EngineError> {
        assert_eq!(columns.len(), self.made.n_columns, "a block has the columns of its file");
        self.made.n_rows += n_rows as u64;
        self.write_block(n_rows, columns).map_err(spilling)
    }

    fn write_block(&mut self, n_rows: usize, columns: &[Codes]) -> std::io::Result<()> {
        let n_rows = u32::try_from(n_rows).expect("a block has fewer than 2^32 rows");
        self.file.write_all(&n_rows.to_le_bytes())?;
        for codes in columns {
            match codes {
                Codes::U8(codes) => {
                    self.file.write_all(&[1])?;
                    self.file.write_all(codes)?;
                }
                Codes::U16(codes) => {
                    self.file.write_all(&[2])?;
                    self.file.write_all(
                        &codes.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>(),
                    )?;
                }
                Codes::U32(codes) => {
                    self.file.write_all(&[4])?;
                    self.file.write_all(
                        &codes.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>(),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Rows so far.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.made.n_rows
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<CodeFile, EngineError> {
        self.file.flush().map_err(spilling)?;
        Ok(self.made)
    }
}

impl CodeFile {
    /// Rows of the file.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Reads the file from its beginning.
    pub fn read(&self) -> Result<CodeReader, EngineError> {
        self.read_only(|_| true)
    }

    /// The same for some columns; the others have no codes in any block.
    pub fn read_only(&self, is_read: impl Fn(usize) -> bool) -> Result<CodeReader, EngineError> {
        let file = File::open(&self.path).map_err(spilling)?;
        let is_read: Vec<bool> = (0..self.n_columns).map(is_read).collect();
        // What is passed over empties the buffer.
        let buffer = if is_read.iter().all(|is_read| *is_read) { BUFFER } else { SMALL_BUFFER };
        Ok(CodeReader {
            file: BufReader::with_capacity(buffer, file),
            is_read,
            n_left: self.n_rows,
        })
    }

    /// Removes the file, which nobody needs any more.
    pub fn remove(self) -> Result<(), EngineError> {
        std::fs::remove_file(&self.path).map_err(spilling)
    }
}

/// A file of codes that is being read.
#[derive(Debug)]
pub struct CodeReader {
    file: BufReader<File>,
    /// By column, whether it is read or passed over.
    is_read: Vec<bool>,
    n_left: u64,
}

impl CodeReader {
    /// The next block, column by column; none behind the last one.
    pub fn next_block(&mut self) -> Result<Option<Vec<Codes>>, EngineError> {
        Ok(self.next_rows()?.map(|(_, columns)| columns))
    }

    /// The same with its number of rows.
    pub fn next_rows(&mut self) -> Result<Option<(usize, Vec<Codes>)>, EngineError> {
        if self.n_left == 0 {
            return Ok(None);
        }
        let (n_rows, columns) = self.read_block().map_err(spilling)?;
        self.n_left -= n_rows as u64;
        Ok(Some((n_rows, columns)))
    }

    fn read_block(&mut self) -> std::io::Result<(usize, Vec<Codes>)> {
        let mut n_rows = [0; 4];
        self.file.read_exact(&mut n_rows)?;
        let n_rows = u32::from_le_bytes(n_rows) as usize;
        let mut columns = Vec::with_capacity(self.is_read.len());
        for &is_read in &self.is_read {
            let mut width = [0];
            self.file.read_exact(&mut width)?;
            let n_bytes = n_rows * usize::from(width[0]);
            if !is_read {
                let n_bytes = i64::try_from(n_bytes).expect("a block is in memory");
                self.file.seek_relative(n_bytes)?;
                columns.push(Codes::U8(Vec::new()));
                continue;
            }
            let mut bytes = vec![0; n_bytes];
            self.file.read_exact(&mut bytes)?;
            columns.push(match width[0] {
                1 => Codes::U8(bytes),
                2 => {
                    let (codes, _) = bytes.as_chunks::<2>();
                    Codes::U16(codes.iter().map(|code| u16::from_le_bytes(*code)).collect())
                }
                _ => {
                    let (codes, _) = bytes.as_chunks::<4>();
                    Codes::U32(codes.iter().map(|code| u32::from_le_bytes(*code)).collect())
                }
            });
        }
        Ok((n_rows, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Arc::new(Scratch::new(Some(folder.path())).unwrap());
        let blocks = [
            vec![Codes::pack(3, [0, 2, 1].into_iter()), Codes::pack(70_000, 69_997..70_000)],
            vec![Codes::pack(300, [299].into_iter()), Codes::pack(2, [1].into_iter())],
        ];
        let mut writer = CodeWriter::new(&scratch, "codes", 2).unwrap();
        // The file is there as long as somebody has it.
        drop(scratch);
        for block in &blocks {
            writer.write(block).unwrap();
        }
        let file = writer.finish().unwrap();
        assert_eq!(file.n_rows(), 4);
        for _ in 0..2 {
            let mut reader = file.read().unwrap();
            for block in &blocks {
                assert_eq!(reader.next_block().unwrap().as_ref(), Some(block));
            }
            assert_eq!(reader.next_block().unwrap(), None);
        }
        let mut reader = file.read_only(|column| column == 1).unwrap();
        for block in &blocks {
            let found = reader.next_block().unwrap().unwrap();
            assert_eq!((found[0].len(), &found[1]), (0, &block[1]));
        }
    }
}

//! Where CSV text goes: a staged file, perhaps through a compressor.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::publish::stage::Opened;
use crate::{Compression, EngineError, FileAction};

type Buffered = BufWriter<File>;

/// Bytes that a compressor is given at a time: what it makes of them may depend on that.
const PORTION: usize = 1 << 16;

/// An open text file.
pub(crate) struct CsvSink {
    target: PathBuf,
    encoder: Encoder,
    /// Bytes that wait for a portion to be complete.
    waiting: Vec<u8>,
}

enum Encoder {
    Plain(Buffered),
    Gzip(flate2::write::GzEncoder<Buffered>),
    Zstd(zstd::Encoder<'static, Buffered>),
}

impl CsvSink {
    pub(crate) fn new(file: Opened, compression: Compression) -> Result<CsvSink, EngineError> {
        let Opened { file, target } = file;
        let file = BufWriter::new(file);
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => {
                let level = flate2::Compression::new(6);
                Encoder::Gzip(flate2::write::GzEncoder::new(file, level))
            }
            Compression::Zstd => Encoder::Zstd(
                zstd::Encoder::new(file, 3).map_err(|source| not_written(&target, source))?,
            ),
        };
        Ok(CsvSink { target, encoder, waiting: Vec::new() })
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), EngineError> {
        if memchr::memchr(0, bytes).is_some() {
            return Err(EngineError::NulForCsv { path: self.target.clone() });
        }
        if let Encoder::Plain(to) = &mut self.encoder {
            return to.write_all(bytes).map_err(|source| not_written(&self.target, source));
        }
        while !bytes.is_empty() {
            let n = (PORTION - self.waiting.len()).min(bytes.len());
            self.waiting.extend_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            if self.waiting.len() == PORTION {
                self.compress()?;
            }
        }
        Ok(())
    }

    fn compress(&mut self) -> Result<(), EngineError> {
        let written = match &mut self.encoder {
            Encoder::Plain(to) => to.write_all(&self.waiting),
            Encoder::Gzip(to) => to.write_all(&self.waiting),
            Encoder::Zstd(to) => to.write_all(&self.waiting),
        };
        self.waiting.clear();
        written.map_err(|source| not_written(&self.target, source))
    }

    /// Writes what is left. A sink that is merely dropped would hide that the last bytes have no
    /// room.
    pub(crate) fn finish(mut self) -> Result<(), EngineError> {
        self.compress()?;
        let ended = match self.encoder {
            Encoder::Plain(to) => Ok(to),
            Encoder::Gzip(to) => to.finish(),
            Encoder::Zstd(to) => to.finish(),
        };
        ended.and_then(|mut file| file.flush()).map_err(|source| not_written(&self.target, source))
    }
}

fn not_written(target: &Path, source: std::io::Error) -> EngineError {
    EngineError::Io { action: FileAction::Write, path: target.to_owned(), source }
}

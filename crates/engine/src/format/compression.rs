//! Text files that are compressed as a whole.

use std::fs::File;
use std::io::{self, Read};

/// How the file is compressed as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not at all.
    None,
    /// One or more gzip members.
    Gzip,
    /// One or more zstd frames.
    Zstd,
}

impl Compression {
    pub(crate) fn reader(self, file: File) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Self::Zstd => Box::new(zstd::Decoder::new(file)?),
        })
    }
}

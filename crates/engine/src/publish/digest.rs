//! What tells a file from every other one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{EngineError, FileAction};

/// The SHA-256 of a file's bytes, as `sha256sum` prints it.
pub fn sha256(path: &Path) -> Result<String, EngineError> {
    let unreadable =
        |source| EngineError::Io { action: FileAction::Read, path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => break,
            n => digest.update(&buffer[..n]),
        }
    }
    let hex = |byte: &u8| format!("{byte:02x}");
    Ok(digest.finalize().iter().map(hex).collect::<Vec<String>>().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_the_standard() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(file.path()).unwrap(), expected);
    }
}

//! Reading small files that a user names: jobs, hierarchies, recodings, queries.

use std::io;
use std::path::Path;

/// The bytes of a file. A device is refused: it may never end. A pipe is read once, as shells offer them.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_char_device() || kind.is_block_device() || kind.is_socket() {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    std::fs::read(path)
}

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

//! Reading small files that a user names: jobs, hierarchies, recodings, queries.

use std::io;
use std::path::Path;

use incrowd_engine::refuse_address;

use crate::spec::error::Problem;

/// The bytes of a file. A device is refused: it may never end. A pipe is read once, as shells offer
/// them.
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

/// Why a file cannot be read. What it is begins the sentence: `the recoding`.
pub(crate) fn unreadable(what: &str, path: &Path, error: &io::Error) -> Problem {
    if let Some(problem) = address_problem(path) {
        return problem;
    }
    let name = path.display();
    let why = match error.kind() {
        io::ErrorKind::NotFound => return Problem::new(format!("{what} `{name}` does not exist")),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        io::ErrorKind::Unsupported => "it is not a file".to_owned(),
        kind => kind.to_string(),
    };
    Problem::new(format!("{what} `{name}` cannot be read: {why}"))
}

/// What to say of a path that is the address of something else than a file, if it is one. A path
/// in a job file has the folder of that file before it.
#[must_use]
pub fn address_problem(path: &Path) -> Option<Problem> {
    let name = path.to_string_lossy();
    let (before, _) = name.split_once("://")?;
    let scheme = before.rsplit('/').next()?;
    let refused = refuse_address(&format!("{scheme}://")).err().filter(|_| !path.exists())?;
    Some(
        Problem::new(refused.to_string())
            .help("name a path on this machine, and copy the file from or to it"),
    )
}

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

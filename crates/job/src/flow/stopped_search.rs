//! A search that was stopped, as a file: `--resume FILE`.
//!
//! The file has numbers only, no value of the table; yet they come from the table, so it is for
//! those who may see that.

use std::path::Path;

use incrowd_data::Cuts;
use incrowd_search::{OpenNode, Problem as SearchProblem, Stopped};
use serde::{Deserialize, Serialize};

use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::{read_text, unreadable};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Version of the tool that wrote it.
    incrowd: String,
    /// Which problem it is about.
    problem: String,
    nodes: u64,
    floor: u64,
    /// By column, the codes before which the best recoding cuts.
    best: Vec<Vec<u32>>,
    /// Steps that are made, and steps that may be.
    open: Vec<(Vec<u32>, Vec<u32>)>,
    /// Changes with anything above.
    check: String,
}

impl File {
    /// The checksum of all but the check itself.
    fn sum(&self) -> String {
        let File { incrowd, problem, nodes, floor, best, open, check: _ } = self;
        let text = format!("{incrowd} {problem} {nodes} {floor} {best:?} {open:?}");
        checksum(&text)
    }
}

/// The text of a search with the check of its contents; none if it does not have the form of one.
pub(crate) fn sealed(text: &str) -> Option<String> {
    let mut file: File = serde_json::from_str(text).ok()?;
    file.check = file.sum();
    serde_json::to_string(&file).ok()
}

/// FNV-1a: changes with anything in a text. It guards against mistakes, not against anybody.
pub(crate) fn checksum(text: &str) -> String {
    let mut sum = Checksum::default();
    sum.add(text.as_bytes());
    sum.text()
}

/// The checksum of bytes that come piece by piece.
pub(crate) struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// More nodes than any search can visit: counting on from here never overflows.
const MOST_NODES: u64 = 1 << 60;

/// Reads a search; none if there is no such file yet.
pub(crate) fn read(path: &Path) -> Result<Option<Stopped>, JobError> {
    let name = path.display();
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable("the search", path, &error).into()),
    };
    let damaged = || {
        Problem::new(format!("`{name}` is not a search that can be resumed"))
            .help("name a file that --resume wrote, or one that is not there yet")
    };
    let file: File = serde_json::from_str(&text).map_err(|_| damaged())?;
    if file.check != file.sum() || file.nodes > MOST_NODES {
        return Err(damaged().into());
    }
    let problem = u64::from_str_radix(&file.problem, 16).map_err(|_| damaged())?;
    let mut best = Cuts::none(file.best.len());
    for (attribute, codes) in file.best.iter().enumerate() {
        for &code in codes {
            best.insert(attribute, code);
        }
    }
    let open = file.open.into_iter().map(|(made, tail)| OpenNode { made, tail }).collect();
    Ok(Some(Stopped { problem, best, floor: file.floor, nodes: file.nodes, open }))
}

/// Refuses a search of something else.
pub(crate) fn check(path: &Path, stopped: &Stopped, at: &SearchProblem) -> Result<(), JobError> {
    if stopped.fits(at) {
        return Ok(());
    }
    let name = path.display();
    Err(Problem::new(format!("`{name}` is a search of another table or for another job"))
        .help("name another file; columns, k, measure and suppression must be the same")
        .into())
}

/// The text of a file that keeps a search.
pub(crate) fn text_of(stopped: &Stopped) -> String {
    let n_attributes = stopped.best.n_attributes();
    let mut file = File {
        incrowd: crate::VERSION.to_owned(),
        problem: format!("{:016x}", stopped.problem),
        nodes: stopped.nodes,
        floor: stopped.floor,
        best: (0..n_attributes).map(|at| stopped.best.of(at).to_vec()).collect(),
        open: stopped.open.iter().map(|node| (node.made.clone(), node.tail.clone())).collect(),
        check: String::new(),
    };
    file.check = file.sum();
    serde_json::to_string(&file).expect("numbers have a JSON form") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_nodes_that_no_search_reaches_is_refused() {
        let stopped =
            Stopped { problem: 7, best: Cuts::none(1), floor: 0, nodes: 12, open: Vec::new() };
        let file = tempfile::NamedTempFile::new().unwrap();
        let read_with = |nodes: u64| {
            let text = text_of(&Stopped { nodes, ..stopped.clone() });
            std::fs::write(file.path(), text).unwrap();
            read(file.path()).is_ok()
        };
        assert!(read_with(12));
        assert!(!read_with(u64::MAX));
    }
}

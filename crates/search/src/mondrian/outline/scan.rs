//! Points that are provided chunk by chunk.

use std::io;

use incrowd_data::Codes;

/// Some of the points of a table.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Their codes on the attributes, one column each.
    pub vectors: &'a [Codes],
    /// Their codes on the extra columns, in the order of the problem.
    pub extras: &'a [Codes],
    /// The rows of each point; `None` if each has one row.
    pub counts: Option<&'a [u32]>,
    /// The number of points.
    pub len: usize,
}

/// Points that do not fit in memory and can be scanned repeatedly.
pub trait Scan: Sync {
    /// Calls `visit` with every chunk, in any order and from any number of threads. Ends early, and
    /// without an error, only if the budget of the search is cancelled.
    ///
    /// # Errors
    ///
    /// If the points cannot be read.
    fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> io::Result<()>;
}

//! Points that are handed over chunk by chunk.

use std::io;

use incrowd_data::Codes;

/// Some of the points of a table.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Their codes on the attributes, a column each.
    pub vectors: &'a [Codes],
    /// Their codes on the extra columns, in the order of the problem's.
    pub extras: &'a [Codes],
    /// The rows of each; one if none.
    pub counts: Option<&'a [u32]>,
    /// How many they are.
    pub len: usize,
}

/// Points that are too many to hold, handed over again and again.
pub trait Scan: Sync {
    /// Hands every chunk to `visit`, in any order and from any number of threads. Ends early, and
    /// without an error, only if the budget of the search is cancelled.
    ///
    /// # Errors
    ///
    /// If the points cannot be read.
    fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> io::Result<()>;
}

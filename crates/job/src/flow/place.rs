//! Where the rows of a table are held while a command works on them. This is the one place that
//! decides it.

use std::sync::Arc;

use incrowd_engine::{Engine, EngineError, Scratch, Source, Spilled, Use};

use crate::flow::bounds::Bounds;

/// Bytes that distinct values and what is underway may take each, however low the limit: the
/// program itself has more room than that beyond the limit.
pub(crate) const LEAST_ROOM: u64 = 32_000_000;

/// Where rows are held.
#[derive(Debug)]
pub(crate) enum Place<'a> {
    /// All in memory.
    Memory,
    /// In private files.
    Files {
        /// What may be held.
        bounds: &'a Bounds,
        /// Bytes for what is underway; what is left of the limit if it is not said.
        room: Option<u64>,
    },
    /// In private files, as the engine's cluster reads them.
    Cluster {
        /// What may be held.
        bounds: &'a Bounds,
    },
}

impl<'a> Place<'a> {
    /// Of a table that is recoded: in memory unless its size, before anything is read, says that
    /// searching and ordering it there would take more than the limit.
    pub(crate) fn recoded(
        engine: &Engine,
        bounds: &'a Bounds,
        source: &Source,
        uses: &[Use],
    ) -> Place<'a> {
        if engine.is_remote() {
            Place::Cluster { bounds }
        } else if bounds.is_exceeded_by(source, uses) {
            Place::files(bounds)
        } else {
            Place::Memory
        }
    }

    /// Of a table that is measured as it stands.
    pub(crate) fn measured(
        engine: &Engine,
        bounds: &'a Bounds,
        source: &Source,
        uses: &[Use],
    ) -> Place<'a> {
        if engine.is_remote() {
            Place::Cluster { bounds }
        } else {
            Place::measured_here(bounds, source, uses)
        }
    }

    /// The same of a table that only this machine has, such as a release that was just written: in
    /// memory if there is no limit or the columns certainly fit.
    pub(crate) fn measured_here(bounds: &'a Bounds, source: &Source, uses: &[Use]) -> Place<'a> {
        let n_wanted = uses.iter().filter(|usage| **usage == Use::Code).count() as u64;
        if !bounds.is_bounded() || n_wanted == 0 {
            return Place::Memory;
        }
        // A code, a distinct value and its place in a table; a key to sort by and what comes of it;
        // the hashes of a row and of what it is released with.
        let of_row = 72 * n_wanted + 48 + 48;
        let of_text = source.n_text_bytes().saturating_mul(2);
        let needed = source.size(uses).rows.saturating_mul(of_row).saturating_add(of_text);
        if needed <= bounds.left() && !bounds.is_forced() {
            Place::Memory
        } else {
            Place::files(bounds)
        }
    }

    /// Private files of this machine.
    pub(crate) fn files(bounds: &'a Bounds) -> Place<'a> {
        Place::Files { bounds, room: None }
    }
}

/// Reads a source into private files.
pub(crate) type ReadSpilled =
    fn(&Engine, &Source, &[Use], bool, &Arc<Scratch>, u64) -> Result<Spilled, EngineError>;

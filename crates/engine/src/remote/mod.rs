//! Questions about a source that any engine can answer, this process or a cluster: which values
//! columns have, the rows as codes, and how often each combination of codes occurs.
//!
//! A question is a logical plan of DataFusion over a `table::SourceTable` with two functions of
//! ours: `incrowd_values` finds values and counts rows, `incrowd_code` gives a value its code. All
//! three are encoded by [`encoded`] for whoever sends plans about.
//!
//! A cluster finds values, gives codes and counts. Every row then passes through the client once,
//! which writes the release. So equal rows are grouped on the client, too.

pub(crate) mod coder;
mod query;
pub(crate) mod table;
pub(crate) mod tally;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use datafusion::error::DataFusionError;

pub use crate::engine::cluster::{Address, Cluster, Connector, PATIENCE};
pub use crate::error::fault::WorkerFault;
pub use query::{coded, grouped, values};

use crate::error::fault::Fault;
use crate::{EngineError, Source};

pub mod encoded;

/// What is wrong with a job, as far as a worker's message may be repeated. For a [`Cluster`].
#[must_use]
pub fn job_failed(message: &str) -> EngineError {
    let fault = Fault::find(message);
    fault.map_or(EngineError::Cluster { what: "a worker could not do its part" }, |fault| {
        EngineError::Fault(WorkerFault(fault))
    })
}

/// The error of a stream that [`coded`] or [`grouped`] gave.
#[must_use]
pub fn of_stream(error: DataFusionError) -> EngineError {
    match error {
        DataFusionError::External(error) => match error.downcast::<EngineError>() {
            Ok(error) => *error,
            Err(_) => EngineError::Cluster { what: "its answer ended too early" },
        },
        error => EngineError::Read(crate::error::Detail::of_datafusion(&error)),
    }
}

/// An error in terms of the source that was asked.
fn tell(error: EngineError, source: &Source) -> EngineError {
    match error {
        EngineError::Fault(WorkerFault(fault)) => {
            fault.tell(source.files().first().map_or(Path::new("the input"), PathBuf::as_path))
        }
        error => error,
    }
}

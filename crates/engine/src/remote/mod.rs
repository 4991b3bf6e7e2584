//! Questions about a source that any engine can answer, this process or a cluster: which values columns
//! have, the rows as codes, and how often each combination of codes occurs.
//!
//! A question is a logical plan of DataFusion over a `table::SourceTable` with two functions of ours:
//! `incrowd_values` finds values and counts rows, `incrowd_code` gives a value its code. All three are encoded
//! by [`encoded`] for whoever sends plans about.
//!
//! A cluster finds values, gives codes and counts. Every row then passes through the client once,
//! which writes the release. So equal rows are grouped on the client, too.

pub(crate) mod coder;
mod fault;
mod query;
pub(crate) mod table;
pub(crate) mod tally;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use std::fmt::{self, Debug};
use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use futures::future::BoxFuture;

pub(crate) use query::until_cancelled;
pub use query::{coded, grouped, values};

use crate::{EngineError, Source};

pub mod encoded;

/// How long a client tries to reach a scheduler, and how long a scheduler that does not answer is
/// believed to be alive.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Where a scheduler listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name or an IP address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The scheme of addresses.
const SCHEME: &str = "ballista://";

impl Address {
    /// The address that an engine's name says: nothing for `embedded`, an error for what is neither that nor
    /// `ballista://HOST:PORT`.
    pub fn of_engine(name: &str) -> Result<Option<Address>, EngineError> {
        if name == "embedded" {
            return Ok(None);
        }
        let address = name.strip_prefix(SCHEME).and_then(Address::parse);
        address.map(Some).ok_or_else(|| EngineError::BadEngine { found: name.to_owned() })
    }

    /// Parses `HOST:PORT`, where an IPv6 address stands in brackets.
    #[must_use]
    pub fn parse(text: &str) -> Option<Address> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|&port| port > 0)?;
        let is_bare = |host: &str| {
            !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        };
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None if is_bare(host) => host.to_owned(),
            None => return None,
        };
        Some(Address { host, port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Knows how to reach clusters; a binary without one has no cluster engine.
pub trait Connector: Debug + Send + Sync {
    /// A cluster whose scheduler answers at the address.
    fn connect(
        &self,
        address: &Address,
    ) -> BoxFuture<'static, Result<Arc<dyn Cluster>, EngineError>>;
}

/// Runs plans somewhere else.
pub trait Cluster: Debug + Send + Sync {
    /// Runs a plan, divided into about so many parts where rows are exchanged, and streams what it gives,
    /// some rows a stream. The work ends when the future or all of the streams are dropped.
    fn run(
        &self,
        plan: LogicalPlan,
        n_parts: usize,
    ) -> BoxFuture<'static, Result<Vec<SendableRecordBatchStream>, EngineError>>;
}

/// What is wrong with a job, as far as a worker's message may be repeated. For a [`Cluster`].
#[must_use]
pub fn job_failed(message: &str) -> EngineError {
    let fault = fault::Fault::find(message);
    fault.map_or(EngineError::Cluster { what: "a worker could not do its part" }, |fault| {
        EngineError::Fault(Fault(fault))
    })
}

/// What a worker said went wrong. It is told in terms of the source before a user sees it.
#[derive(Debug, Clone, Copy)]
pub struct Fault(fault::Fault);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a worker could not read its part")
    }
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
        EngineError::Fault(Fault(fault)) => fault.tell(source),
        error => error,
    }
}

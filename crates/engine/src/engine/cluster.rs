//! What an engine knows of a cluster: where it is, how to reach it, and that it runs plans.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use futures::future::BoxFuture;

use crate::{Engine, EngineError};

/// How often a wish to stop is looked for while waiting.
pub(crate) const BEAT: Duration = Duration::from_millis(50);

/// How long a client tries to reach a scheduler, and how long a scheduler that does not answer is
/// believed to be alive.
pub const PATIENCE: Duration = Duration::from_secs(20);

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
    /// The address that an engine's name says: nothing for `embedded`, an error for what is neither
    /// that nor `ballista://HOST:PORT`.
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
    /// Runs a plan, divided into about so many parts where rows are exchanged, and streams what it
    /// gives, some rows a stream. The work ends when the future or all of the streams are dropped.
    fn run(
        &self,
        plan: LogicalPlan,
        n_parts: usize,
    ) -> BoxFuture<'static, Result<Vec<SendableRecordBatchStream>, EngineError>>;
}

/// Waits for something, looking now and then whether it is still wanted.
pub(crate) fn until_cancelled<T>(
    engine: &Engine,
    mut wanted: BoxFuture<'static, Result<T, EngineError>>,
) -> Result<T, EngineError> {
    engine.runtime().block_on(async {
        loop {
            engine.go_on()?;
            if let Ok(done) = tokio::time::timeout(BEAT, &mut wanted).await {
                return done;
            }
        }
    })
}

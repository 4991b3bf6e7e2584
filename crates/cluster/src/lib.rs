//! The cluster engine on Apache DataFusion Ballista, and the parts of a cluster.
//!
//! [`Ballista`] is what `--engine ballista://HOST:PORT` needs; [`run_part`] is `incrowd-cluster scheduler` and
//! `incrowd-cluster executor`. All parts are of one build, so that they know our table and our
//! functions, which travel inside of plans (`codec`).
//!
//! Nothing here logs: messages of Ballista, DataFusion and Arrow may quote cells.

mod client;
mod codec;
mod executor;
mod scheduler;
mod work_dir;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use ballista_core::error::BallistaError;
use clap::Subcommand;

pub use client::Ballista;
pub use executor::ExecutorArgs;
pub use scheduler::SchedulerArgs;

/// The largest message: all values of a column travel in one.
const MESSAGE_BYTES: u32 = i32::MAX.unsigned_abs();

/// Workers say that they are alive this often.
const HEARTBEAT_SECONDS: u64 = 2;

/// A part of a cluster.
#[derive(Clone, Debug, Subcommand)]
pub enum Part {
    /// Take plans from clients and hand their parts to executors
    Scheduler(SchedulerArgs),
    /// Do parts of plans for a scheduler
    Executor(ExecutorArgs),
}

/// Why a part of a cluster ended. No message carries a cell's value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum PartError {
    /// The port is taken, or the address is not of this machine.
    #[error("listening on {at} failed: {source}")]
    Listen { at: SocketAddr, source: std::io::Error },
    /// Executors cannot reach "all addresses".
    #[error("say with --advertise HOST how executors reach this machine")]
    NoAdvertised,
    /// The folder cannot be made.
    #[error("making a private folder in `{}` failed: {source}", path.display())]
    WorkDir { path: PathBuf, source: std::io::Error },
    /// The scheduler of an executor.
    #[error("the scheduler does not answer")]
    NoScheduler,
    /// Something else.
    #[error("the part ended: {what}")]
    Ended { what: &'static str },
}

impl PartError {
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    fn of(error: BallistaError) -> PartError {
        match error {
            BallistaError::GrpcConnectionError(_) | BallistaError::GrpcError(_) => {
                PartError::NoScheduler
            }
            BallistaError::General(_) => PartError::NoScheduler,
            BallistaError::IoError(_) => PartError::Ended { what: "a file or a socket failed" },
            BallistaError::Configuration(_) => PartError::Ended { what: "an option is wrong" },
            BallistaError::TonicError(_) => {
                PartError::Ended { what: "its service could not start" }
            }
            _ => PartError::Ended { what: "it failed" },
        }
    }
}

/// Runs a part until SIGTERM or Ctrl-C.
pub fn run_part(part: Part) -> Result<(), PartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|_| PartError::Ended { what: "the system gives no threads" })?;
    let ended = runtime.block_on(async {
        match part {
            Part::Scheduler(args) => scheduler::run(args).await,
            Part::Executor(args) => executor::run(args).await,
        }
    });
    // What still runs need not end first.
    runtime.shutdown_background();
    ended
}

/// A line for whoever started the part.
fn say(line: &str) {
    // Nobody may be listening any more.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Waits for SIGTERM or Ctrl-C. They are listened for as soon as this is called.
fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    async move {
        #[cfg(unix)]
        if let Ok(mut terminate) = terminate {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}

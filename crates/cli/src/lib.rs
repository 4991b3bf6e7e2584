//! The `incrowd` command: arguments, messages and exit codes. A library, so that a binary with a
//! cluster engine is the same command.
//!
//! Exit codes: 0 released and verified, or the check passed; 1 no release satisfies the job, or the
//! check failed; 2 the request or the input is wrong; 130 interrupted. Files are written only on 0.

mod args;
mod cli;
mod commands;
mod failure;
mod log;
mod message;
mod print;
mod progress;
mod record;
mod signals;
mod spec;
mod terminal;
mod usage;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};
pub use incrowd_job::Connector;

/// Does what the arguments of the process say, as the binary `name`, with a cluster engine if there
/// is a connector.
#[must_use]
pub fn main(name: &'static str, connector: Option<Arc<dyn Connector>>) -> ExitCode {
    mute_panics();
    let mut command = cli::Cli::command().name(name);
    if connector.is_some() {
        command = command.before_help(format!(
            "{name} scheduler and {name} executor start the parts of a cluster (see their --help)."
        ));
    }
    let matches = command.try_get_matches();
    let cli = match matches.and_then(|matches| cli::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let code = usage::usage(error);
            record::end(code);
            return ExitCode::from(code);
        }
    };
    if usage::asks_for_json() {
        record::ask();
    }
    let run = std::panic::AssertUnwindSafe(|| cli::run(cli, name, connector));
    let code = std::panic::catch_unwind(run).unwrap_or(message::EXIT_REQUEST);
    record::end(code);
    ExitCode::from(code)
}

/// A panic says where it happened and nothing else: messages may quote cells. Nor is a closed pipe
/// a reason to panic with a message: whoever reads has read enough.
pub fn mute_panics() {
    std::panic::set_hook(Box::new(message::panicked));
}

/// Says why something else than a job failed; the code to exit with.
#[must_use]
pub fn failed(why: &str) -> ExitCode {
    message::note(&format!("error: {why}"));
    ExitCode::from(message::EXIT_REQUEST)
}

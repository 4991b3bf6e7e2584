//! The `incrowd` command: arguments, messages and exit codes.
//!
//! Exit codes: 0 released and verified, or the check passed; 1 no release satisfies the job, or the
//! check failed; 2 the request or the input is wrong; 130 interrupted. Nothing is written but on 0.

mod args;
mod attack;
mod commands;
mod demo;
mod message;
mod progress;
mod query;

use std::process::ExitCode;

/// Large buffers come and go from stage to stage; the system's allocator hands them back to the kernel
/// and faults them in again, a tenth of all time at 10 million rows.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use clap::Parser;

fn main() -> ExitCode {
    // A closed pipe is no reason to panic with a message: whoever reads has read enough.
    std::panic::set_hook(Box::new(message::panicked));
    let cli = args::Cli::parse();
    let code = std::panic::catch_unwind(|| commands::run(cli)).unwrap_or(message::EXIT_REQUEST);
    ExitCode::from(code)
}

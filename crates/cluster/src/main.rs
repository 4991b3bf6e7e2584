//! The `incrowd-cluster` binary: the whole `incrowd` command with the cluster engine, and the parts
//! of a cluster.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use incrowd_cluster::{Ballista, Part, run_part};

/// As in the plain binary: large buffers come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Parts of a cluster.
#[derive(Debug, Parser)]
#[command(name = "incrowd-cluster", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    part: Part,
}

fn main() -> ExitCode {
    let is_part =
        std::env::args().nth(1).is_some_and(|arg| arg == "scheduler" || arg == "executor");
    if !is_part {
        return incrowd::main("incrowd-cluster", Some(Arc::new(Ballista)));
    }
    incrowd::mute_panics();
    match run_part(Cli::parse().part) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => incrowd::failed(&error.to_string()),
    }
}

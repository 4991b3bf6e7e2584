//! The `incrowd` binary.

use std::process::ExitCode;

/// Large buffers come and go from stage to stage; the system's allocator hands them back to the
/// kernel and faults them in again, a tenth of all time at 10 million rows.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    incrowd::main("incrowd", None)
}

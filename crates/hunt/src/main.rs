//! `incrowd-hunt [JOBS]`: random jobs against the command. `INCROWD_SEED` repeats a hunt.

use std::process::ExitCode;

use incrowd_hunt::{Config, find_binary, hunt};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let jobs = args.next().and_then(|jobs| jobs.parse().ok()).unwrap_or(1000);
    let Some(binary) = find_binary() else {
        eprintln!("there is no `incrowd` beside this command; set INCROWD_BIN to its path");
        return ExitCode::from(2);
    };
    let seed = incrowd_hunt::seed();
    eprintln!("{jobs} jobs with INCROWD_SEED={seed} against {}", binary.display());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let summary = hunt(&Config { binary, seed, jobs, threads, told: 3 });
    eprintln!("{summary}");
    if summary.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

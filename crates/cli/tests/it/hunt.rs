//! Random jobs, judged by a verifier that shares no code with the command (see `crates/hunt`).
//!
//! `INCROWD_SEED` repeats a hunt, `INCROWD_JOBS` sets its length. `.ci/run` picks a fresh seed and
//! prints it, so that the output of every CI run says which cases it tried.

use incrowd_hunt::{Config, hunt};

/// As many as take about half a minute of two cores.
const JOBS: usize = 300;

#[test]
fn random_jobs_keep_every_promise() {
    let seed = incrowd_hunt::seed();
    let jobs = crate::harness::number("INCROWD_JOBS").unwrap_or(JOBS);
    let summary = hunt(&Config {
        binary: env!("CARGO_BIN_EXE_incrowd").into(),
        seed,
        jobs,
        threads: 2,
        told: 2,
    });
    eprintln!("hunt: INCROWD_SEED={seed}, {jobs} jobs: {summary}");
    assert!(summary.failed.is_empty(), "INCROWD_SEED={seed}\n{summary}");
    // A hunt in which most jobs are refused proves nothing.
    assert!(summary.released * 2 > jobs, "INCROWD_SEED={seed}\n{summary}");
}

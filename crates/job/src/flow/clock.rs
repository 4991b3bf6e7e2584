//! Times that are reported.

use std::time::{Duration, Instant};

/// Time since it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "timings are reported, never acted on")]
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Seconds so far; starts again.
    pub(crate) fn lap(&mut self) -> f64 {
        let elapsed: Duration = self.0.elapsed();
        *self = Stopwatch::start();
        (elapsed.as_secs_f64() * 1e6).round() / 1e6
    }
}

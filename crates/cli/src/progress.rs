//! A line on the terminal while a job takes long: stage, rows, rate.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use incrowd_job::{Run, Stage, Standing};

use crate::message::count;
use crate::terminal::status;

/// Draws until it is stopped or dropped. Nothing is drawn if standard error is no terminal.
pub(crate) struct Progress {
    is_done: Arc<AtomicBool>,
    drawer: Mutex<Option<std::thread::JoinHandle<()>>>,
}

const EVERY: Duration = Duration::from_millis(100);

impl Progress {
    pub(crate) fn start(run: &Run, is_quiet: bool) -> Progress {
        let is_done = Arc::new(AtomicBool::new(false));
        // Lines about stages would stand in the middle of it.
        if is_quiet || crate::log::is_verbose() || !std::io::stderr().is_terminal() {
            return Progress { is_done, drawer: Mutex::new(None) };
        }
        let (run, done) = (run.clone(), Arc::clone(&is_done));
        let drawer = std::thread::spawn(move || draw(&run, &done));
        Progress { is_done, drawer: Mutex::new(Some(drawer)) }
    }
}

impl Progress {
    /// Takes the line away, so that something else can be printed.
    pub(crate) fn stop(&self) {
        self.is_done.store(true, Ordering::Relaxed);
        let drawer = self.drawer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(drawer) = drawer {
            let _ = drawer.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop();
    }
}

#[expect(clippy::disallowed_methods, reason = "shown to a person, never acted on")]
fn now() -> Instant {
    Instant::now()
}

fn draw(run: &Run, is_done: &AtomicBool) {
    let start = now();
    let mut stage_since: (Stage, Instant) = (Stage::Open, start);
    let mut has_drawn = false;
    while !is_done.load(Ordering::Relaxed) {
        std::thread::sleep(EVERY);
        let (stage, rows) = run.progress();
        if stage != stage_since.0 {
            stage_since = (stage, now());
        }
        if start.elapsed() < Duration::from_secs(1) {
            continue;
        }
        let seconds = stage_since.1.elapsed().as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate for the eye"
        )]
        let rate = if seconds > 0.2 { (rows as f64 / seconds) as u64 } else { 0 };
        let mut line = format!("{:<10} {:>6.1} s", stage.word(), start.elapsed().as_secs_f64());
        if rows > 0 {
            line.push_str(&format!("  {} rows  {} rows/s", count(rows), count(rate)));
        }
        if let (Stage::Search, Some(standing)) = (stage, run.standing()) {
            line.push_str(&search_line(&standing, seconds));
        }
        status(&line);
        has_drawn = true;
    }
    if has_drawn {
        status("");
    }
}

/// How far a search is: best cost, bound, gap, nodes.
fn search_line(standing: &Standing, seconds: f64) -> String {
    let Standing { best, lower_bound, nodes } = *standing;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for the eye"
    )]
    let rate = (nodes as f64 / seconds.max(0.1)) as u64;
    let (nodes, rate) = (count(nodes), count(rate));
    let Some(best) = best else { return format!("  bound {lower_bound:.6}  {nodes} nodes") };
    // Local search proves nothing.
    if lower_bound <= 0.0 && best > 0.0 {
        return format!("  best {best:.6}  {nodes} nodes, {rate} a second");
    }
    let gap = if best > 0.0 { 100.0 * (best - lower_bound) / best } else { 0.0 };
    format!(
        "  best {best:.6}  bound {lower_bound:.6}  gap {gap:.1}%  {nodes} nodes, {rate} a second"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_told_in_one_line() {
        let standing = Standing { best: Some(0.5), lower_bound: 0.4, nodes: 3000 };
        let line = search_line(&standing, 2.0);
        assert_eq!(line, "  best 0.500000  bound 0.400000  gap 20.0%  3,000 nodes, 1,500 a second");
        let line = search_line(&Standing { lower_bound: 0.0, ..standing }, 2.0);
        assert_eq!(line, "  best 0.500000  3,000 nodes, 1,500 a second");
    }
}

//! How a run ends when it is asked to.
//!
//! SIGTERM and SIGHUP cancel the run. Ctrl-C ends a search that has something to show with that;
//! otherwise, or the second time, it cancels the run as well. A cancelled run ends by itself as
//! soon as it notices; where it waits for a slow disk or is deep in a computation, it is ended from
//! here after [`GRACE`], and its temporary files are removed. One more signal ends it at once.

use std::time::Duration;

use incrowd_job::{Abandoned, Run};

use crate::failure::Failure;
use crate::{log, message, record, terminal};

/// How long a cancelled run may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// How long a run may take to say how it ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

struct Watcher {
    run: Run,
    is_cancelled: bool,
}

impl Watcher {
    fn take(&mut self, wish: Wish) {
        if self.is_cancelled {
            end(Duration::ZERO);
        }
        if wish == Wish::Interrupt && self.run.interrupt() {
            terminal::note("the best so far will be released; Ctrl-C again gives up");
            return;
        }
        self.run.cancel();
        self.is_cancelled = true;
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            end(LAST_WORDS);
        });
    }
}

/// Ends the process: removes what is temporary, unless its outputs are published.
#[expect(clippy::exit, reason = "the run does not end by itself")]
fn end(last_words: Duration) -> ! {
    loop {
        match incrowd_job::abandon() {
            Abandoned::Nothing => {
                // Nobody may be reading what is said, and another thread may hold the stream.
                std::thread::spawn(|| {
                    std::thread::sleep(LAST_WORDS);
                    std::process::exit(i32::from(message::EXIT_INTERRUPTED));
                });
                terminal::status("");
                let message = "interrupted; nothing was written".to_owned();
                terminal::note(&message);
                record::problem_at_once(Failure { message, ..Failure::default() });
                finish(message::EXIT_INTERRUPTED);
                std::process::exit(i32::from(message::EXIT_INTERRUPTED));
            }
            Abandoned::Published => {
                std::thread::sleep(last_words);
                finish(0);
                std::process::exit(0);
            }
            Abandoned::Publishing => {}
        }
    }
}

/// Ends what is told to programs, as far as no other thread is at it.
fn finish(code: u8) {
    log::end_at_once(code);
    record::end_at_once(code);
}

/// Lets signals stop a run. Called before there are other threads, which then leave signals to the
/// one that waits for them here.
#[cfg(unix)]
pub(crate) fn watch(run: &Run) {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    if !is_hangup_ignored() {
        signals.add(Signal::SIGHUP);
    }
    if signals.thread_block().is_err() {
        return;
    }
    let mut watcher = Watcher { run: run.clone(), is_cancelled: false };
    std::thread::spawn(move || {
        while let Ok(signal) = signals.wait() {
            watcher.take(match signal {
                Signal::SIGINT => Wish::Interrupt,
                _ => Wish::Terminate,
            });
        }
    });
}

/// Whether `nohup` or the like wants the run to outlive its terminal.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the first signal.
    ignored
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & 1 == 1)
}

#[cfg(not(unix))]
pub(crate) fn watch(run: &Run) {
    let mut watcher = Watcher { run: run.clone(), is_cancelled: false };
    let _ = ctrlc::set_handler(move || watcher.take(Wish::Interrupt));
}

//! Limits of a search in time, nodes and memory, and cancellation. The only reader of the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The progress of a search. Clones can be read while the search is running.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    state: Arc<Mutex<Option<Standing>>>,
}

/// What a search has reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The cost of the best recoding so far, if there is one.
    pub best: Option<f64>,
    /// No recoding costs less.
    pub lower_bound: f64,
    /// Nodes visited so far.
    pub nodes: u64,
}

impl Watch {
    /// The last reported progress, if any.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, standing: Standing) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(standing);
    }
}

/// Cancellation, a time limit, a memory limit and a node limit. Clones share the cancellation.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    cancelled: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    watch: Watch,
    deadline: Option<Instant>,
    memory: Option<u64>,
    nodes: Option<u64>,
}

/// The default memory limit, in bytes beside the table.
const MEMORY: u64 = 1 << 30;

impl Budget {
    /// No limit, until [`Budget::cancel`] is called.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// A budget that ends when the flag is set.
    #[must_use]
    pub fn until(cancelled: Arc<AtomicBool>) -> Budget {
        Budget { cancelled, ..Budget::default() }
    }

    /// The same budget; when another flag is set, the search also ends, with the best result so
    /// far.
    #[must_use]
    pub fn or_stopped(self, stopped: Arc<AtomicBool>) -> Budget {
        Budget { stopped, ..self }
    }

    /// The same budget, which also ends after this time from now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub fn within(self, time: Option<Duration>) -> Budget {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Budget { deadline, ..self }
    }

    /// The same budget with this memory limit, in bytes.
    #[must_use]
    pub fn holding(self, memory: Option<u64>) -> Budget {
        Budget { memory, ..self }
    }

    /// The same budget; the search also reports its progress here.
    #[must_use]
    pub fn watched_by(self, watch: Watch) -> Budget {
        Budget { watch, ..self }
    }

    /// The same budget, which also ends after this number of nodes.
    #[must_use]
    pub fn visiting(self, nodes: Option<u64>) -> Budget {
        Budget { nodes, ..self }
    }

    /// Whether there is a node limit.
    pub(crate) fn counts_nodes(&self) -> bool {
        self.nodes.is_some()
    }

    /// The same budget for a search that resumes after this number of nodes.
    pub(crate) fn after(self, nodes: u64) -> Budget {
        Budget { nodes: self.nodes.map(|most| most.saturating_add(nodes)), ..self }
    }

    /// The same budget, which ends after this number of nodes at the latest.
    pub(crate) fn visiting_at_most(self, nodes: Option<u64>) -> Budget {
        let nodes = self.nodes.into_iter().chain(nodes).min();
        Budget { nodes, ..self }
    }

    /// The same budget with only a share of the remaining time.
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub(crate) fn sooner(&self, share: f64) -> Budget {
        let now = Instant::now();
        let part = |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share);
        Budget { deadline: self.deadline.map(part), ..self.clone() }
    }

    /// Only the cancellation, without limits: for the steps a search needs to finish properly.
    pub(crate) fn to_the_end(&self) -> Budget {
        Budget::until(Arc::clone(&self.cancelled))
    }

    /// Whether the node limit is reached.
    pub(crate) fn has_seen(&self, nodes: u64) -> bool {
        self.nodes.is_some_and(|most| nodes >= most)
    }

    /// Reports the progress of the search.
    pub(crate) fn say(&self, standing: Standing) {
        self.watch.say(standing);
    }

    /// Asks all users of this budget to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the search was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether to stop: cancelled, or out of time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub fn is_spent(&self) -> bool {
        self.is_cancelled()
            || self.stopped.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether there is a time limit.
    #[must_use]
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// Bytes that a search may hold beside the table.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory.unwrap_or(MEMORY)
    }
}

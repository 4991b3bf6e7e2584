//! When a search stops before its end, and what it may hold: the only reader of the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far a search is. Whoever holds a clone may look at it while the search goes on.
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
    /// Nodes that were looked at.
    pub nodes: u64,
}

impl Watch {
    /// What the search last said; none if it has said nothing.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, standing: Standing) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(standing);
    }
}

/// The user's wish to stop, a time limit and a memory limit. Clones share the wish.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    cancelled: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    watch: Watch,
    deadline: Option<Instant>,
    memory: Option<u64>,
    nodes: Option<u64>,
}

/// What a search may hold beside the table if nobody says otherwise.
const MEMORY: u64 = 1 << 30;

impl Budget {
    /// No limit, until [`Budget::cancel`] is called.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// A budget that ends when the flag is raised.
    #[must_use]
    pub fn until(cancelled: Arc<AtomicBool>) -> Budget {
        Budget { cancelled, ..Budget::default() }
    }

    /// The same budget, whose search ends with what it has when another flag is raised.
    #[must_use]
    pub fn or_stopped(self, stopped: Arc<AtomicBool>) -> Budget {
        Budget { stopped, ..self }
    }

    /// The same budget, which ends after some time from now as well.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub fn within(self, time: Option<Duration>) -> Budget {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Budget { deadline, ..self }
    }

    /// The same budget with so many bytes to hold snapshots in.
    #[must_use]
    pub fn holding(self, memory: Option<u64>) -> Budget {
        Budget { memory, ..self }
    }

    /// The same budget, whose search says how far it is.
    #[must_use]
    pub fn watched_by(self, watch: Watch) -> Budget {
        Budget { watch, ..self }
    }

    /// The same budget, which ends after so many nodes as well.
    #[must_use]
    pub fn visiting(self, nodes: Option<u64>) -> Budget {
        Budget { nodes, ..self }
    }

    /// Whether it ends after some number of nodes.
    pub(crate) fn counts_nodes(&self) -> bool {
        self.nodes.is_some()
    }

    /// The same budget for a search that goes on after so many nodes.
    pub(crate) fn after(self, nodes: u64) -> Budget {
        Budget { nodes: self.nodes.map(|most| most.saturating_add(nodes)), ..self }
    }

    /// The same budget, which ends after so many nodes if not before.
    pub(crate) fn visiting_at_most(self, nodes: Option<u64>) -> Budget {
        let nodes = self.nodes.into_iter().chain(nodes).min();
        Budget { nodes, ..self }
    }

    /// The same budget with only a share of the time that is left.
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub(crate) fn sooner(&self, share: f64) -> Budget {
        let now = Instant::now();
        let part = |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share);
        Budget { deadline: self.deadline.map(part), ..self.clone() }
    }

    /// The same wish to stop without the limits, for what a search needs in order to end.
    pub(crate) fn to_the_end(&self) -> Budget {
        Budget::until(Arc::clone(&self.cancelled))
    }

    /// Whether a search may look at no more nodes.
    pub(crate) fn has_seen(&self, nodes: u64) -> bool {
        self.nodes.is_some_and(|most| nodes >= most)
    }

    /// Says how far the search is.
    pub(crate) fn say(&self, standing: Standing) {
        self.watch.say(standing);
    }

    /// Asks whoever uses this budget to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the user wants it to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether to stop, by wish or because the time is up.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where a search reads the clock")]
    pub fn is_spent(&self) -> bool {
        self.is_cancelled()
            || self.stopped.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether time ends it at last.
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

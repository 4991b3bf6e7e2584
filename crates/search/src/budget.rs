//! When a search stops before its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user's wish to stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    cancelled: Arc<AtomicBool>,
}

impl Budget {
    /// No limit, until [`Budget::cancel`] is called.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// A budget that ends when the flag is raised.
    #[must_use]
    pub fn until(cancelled: Arc<AtomicBool>) -> Budget {
        Budget { cancelled }
    }

    /// Asks whoever uses this budget to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

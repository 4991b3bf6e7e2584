//! What a table is like before anything is done to it, as it is reported.

use super::{PrivacyReport, ReleaseReport};

/// What a table is like before anything is done to it.
pub(crate) struct Before {
    /// By quasi-identifier set.
    pub(crate) privacy: Vec<PrivacyReport>,
    /// Rows and classes over all quasi-identifier columns.
    pub(crate) classes: ReleaseReport,
}

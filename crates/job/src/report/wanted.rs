//! Who reads an HTML report, and what is drawn on it.

use incrowd_engine::Access;

/// Who reads a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever may see the table itself.
    #[default]
    Internal,
    /// Whoever may see the release: nothing is said that the release does not tell.
    Public,
}

impl Audience {
    pub(crate) const NAMES: [(&'static str, Audience); 2] =
        [("internal", Audience::Internal), ("public", Audience::Public)];
}

/// An HTML report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HtmlWanted {
    pub(crate) audience: Audience,
    /// The columns whose partition is drawn, if they are named.
    pub(crate) picture: Option<[String; 2]>,
    /// What is drawn at random where not all can be shown.
    pub(crate) seed: u64,
}

impl HtmlWanted {
    /// Who may read the report of a job.
    pub(crate) fn access(wanted: Option<&HtmlWanted>) -> Access {
        match wanted {
            Some(HtmlWanted { audience: Audience::Public, .. }) => Access::Shared,
            _ => Access::Private,
        }
    }

    /// Whether the report may say what only the table tells.
    pub(crate) fn is_internal(&self) -> bool {
        self.audience == Audience::Internal
    }
}

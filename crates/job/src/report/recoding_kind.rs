//! The kinds of recodings, as files and reports name them.

use serde::{Deserialize, Serialize};

/// What the classes of a recoding depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "&'static str")]
pub enum RecodingKind {
    /// All columns together: a tree of cuts.
    Multidimensional,
    /// A level of its hierarchy for each column.
    FullDomain,
    /// Cuts of each column.
    SingleDimensional,
    /// The rows of one table.
    Local,
    /// What a file says that no version of ours wrote.
    #[default]
    Unknown,
}

impl RecodingKind {
    const WORDS: [(RecodingKind, &'static str); 4] = [
        (RecodingKind::Multidimensional, "multidimensional"),
        (RecodingKind::FullDomain, "full-domain"),
        (RecodingKind::SingleDimensional, "single-dimensional"),
        (RecodingKind::Local, "local"),
    ];

    /// The kind as files and reports have it.
    fn word(self) -> &'static str {
        RecodingKind::WORDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("unknown", |(_, word)| word)
    }
}

impl From<String> for RecodingKind {
    fn from(word: String) -> RecodingKind {
        let found = RecodingKind::WORDS.iter().find(|(_, known)| *known == word);
        found.map_or(RecodingKind::Unknown, |(kind, _)| *kind)
    }
}

impl From<RecodingKind> for &'static str {
    fn from(kind: RecodingKind) -> &'static str {
        kind.word()
    }
}

impl std::fmt::Display for RecodingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

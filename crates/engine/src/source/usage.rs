//! What a job does with the columns of a source.

use super::{Source, SourceColumn};
use crate::value::content::Meaning;

/// What the job does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Give its values codes.
    Code,
    /// Give its cells hashes of 64 bits, where it only matters which are equal and the values are
    /// too many; for rows in private files.
    Hash,
    /// Keep it as it is for the release.
    Keep,
    /// Put its cells into a hash of the whole row, where it only matters which rows are equal. With
    /// a meaning, also find out [what the column says](crate::ColumnContent).
    Mix(Option<Meaning>),
    /// Count how often its values occur, some of them if they are many.
    Count,
    /// Both of that.
    MixAndCount(Option<Meaning>),
    /// Never read it.
    Skip,
}

impl Use {
    /// Whether cells go into the hash of their row.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        matches!(self, Use::Mix(_) | Use::MixAndCount(_))
    }

    /// What cells are compared as, where the content of the column is wanted.
    pub(crate) fn meaning(self) -> Option<Meaning> {
        match self {
            Use::Mix(meaning) | Use::MixAndCount(meaning) => meaning,
            _ => None,
        }
    }

    /// Whether values are counted.
    #[must_use]
    pub fn is_counted(self) -> bool {
        matches!(self, Use::Count | Use::MixAndCount(_))
    }
}

/// A column and what is done with it.
#[derive(Clone, Debug)]
pub(crate) struct UsedColumn {
    pub(crate) usage: Use,
    pub(crate) column: SourceColumn,
}

impl UsedColumn {
    /// Some columns of a source.
    pub(crate) fn of_source(source: &Source, uses: &[Use], columns: &[usize]) -> Vec<UsedColumn> {
        let of_column =
            |&at: &usize| UsedColumn { usage: uses[at], column: source.columns()[at].clone() };
        columns.iter().map(of_column).collect()
    }
}

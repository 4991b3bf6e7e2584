//! Aggregate queries over released cells.
//!
//! A recoded cell represents a set of values. These are assumed to be equally likely and
//! independent of the other cells of the row, as in section 5 of the Mondrian report. An answer is
//! the expected value under this assumption, together with certain bounds. Columns that are
//! released unchanged have one value per cell, so answers over them are the same as in any
//! database.
//!
//! # Source
//!
//! LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity* (TR 1521), sections 5 and 6.3.
//!
//! # Guarantees
//!
//! - Exact: an answer marked exact is the answer over the original table. This is the case if every
//!   class is wholly inside or outside of the condition and the aggregate needs no estimate.
//! - Bounds hold for every table that agrees with the labels.
//!
//! # Invariants
//!
//! - Q1: the regions of a condition are disjoint, so that their probabilities add up.
//! - Q2: all values of a segment satisfy the same tests.
//!
//! # Cost
//!
//! For `v` distinct vectors of labels, `r` regions and `s` segments of a label: O(v·r·s) time.

mod answer;
mod deviation;
mod domain;
mod form;
mod groups;
mod place;
mod segment;
mod spread;
mod tally;
#[cfg(test)]
mod tests;
mod weigh;

use incrowd_data::{Codes, Kind};

pub use answer::{Answer, GroupAnswers, answer, mistakes};
pub use deviation::{Deviation, Summary, deviation, summary};
pub use domain::{Domain, Line, List, ListOrder, Parse, Value};
pub use place::near;
pub use spread::{LabelKnowledge, Span, Spread, Unreadable, Values, read_bounds, read_labels};

/// A released column: its distinct labels and their meanings.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's name in queries.
    pub name: String,
    /// The possible values of the column.
    pub domain: Domain,
    /// By label, the values that it represents.
    pub spreads: Vec<Spread>,
    /// Whether all rows of a class have the same label: a quasi-identifier column.
    pub is_of_class: bool,
    /// Whether the least and the greatest value of a label occur in every class with that label.
    pub has_ends: bool,
}

/// A release as queries see it: distinct vectors of labels with the number of rows of each.
#[derive(Clone, Debug)]
pub struct Release {
    /// The columns.
    pub columns: Vec<Column>,
    /// By column, the label of every vector.
    pub vectors: Vec<Codes>,
    /// Rows per vector.
    pub counts: Vec<u32>,
    /// The parser of constants.
    pub parse: Parse,
}

/// A query that a release cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum QueryError {
    /// A column that was not read.
    #[error("column `{column}` is not in the release")]
    UnknownColumn { column: String },
    /// The constant and the column have different kinds.
    #[error(
        "column `{column}` holds values of type {kind}, and a constant that it is compared with does not"
    )]
    ConstantKind { column: String, kind: Kind },
    /// Constants that fall together on the line.
    #[error(
        "column `{column}` is compared with whole numbers beyond 2^53 that are too close to be told apart"
    )]
    TooClose { column: String },
    /// A constant outside of a declared order or hierarchy.
    #[error("a constant that column `{column}` is compared with is not in its {what}")]
    NotInList { column: String, what: &'static str },
    /// A constant that no label of a column mentions, if nothing says what labels mean.
    #[error(
        "a constant that column `{column}` is compared with stands in none of its labels, and nothing says what these stand for"
    )]
    UnknownConstant { column: String },
    /// A sum of values that are not numbers.
    #[error("column `{column}` does not hold numbers, so that it has no {aggregate}")]
    NoNumbers { column: String, aggregate: &'static str },
    /// A condition with too many regions.
    #[error("the condition falls apart into too many regions; say less with OR")]
    TooManyRegions,
    /// Groups of a column whose values cannot be listed.
    #[error("column `{column}` holds ranges of {kind}s, whose values cannot be listed in GROUP BY")]
    GroupOfRanges { column: String, kind: Kind },
    /// Groups of a column about which nothing is known.
    #[error(
        "nothing says which values column `{column}` holds, so that they cannot be listed in GROUP BY"
    )]
    UnknownGroups { column: String },
    /// Too many groups.
    #[error("GROUP BY makes more than {most} groups")]
    TooManyGroups { most: usize },
}

//! What the classes of a table do not tell: rows that are unique on columns released as they are,
//! and people who have several rows.

use serde::Serialize;

use crate::report::page::{count, percent};

/// Columns that a sentence names.
const MOST_NAMED: usize = 6;

/// Rows that are unique on the columns that are released as they are.
#[derive(Clone, Debug, Serialize)]
pub struct AsTheyAreReport {
    /// The columns that are released and are not quasi-identifiers.
    pub columns: Vec<String>,
    /// Those of them that have no role, in a table that is checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undeclared: Vec<String>,
    /// All rows of the table, starred ones included.
    pub rows: u64,
    /// Rows that no other row equals on the columns.
    pub unique: u64,
    /// Their share of the rows.
    pub unique_share: f64,
    /// Rows that no other row equals on the columns and all quasi-identifier labels.
    pub unique_with_quasi: u64,
    /// Their share of the rows.
    pub unique_with_quasi_share: f64,
    /// Whether so many rows are unique on the columns that readers are warned.
    #[serde(skip)]
    pub(crate) is_large: bool,
}

/// A column that numbers people who have several rows, where the job declares no entity.
#[derive(Clone, Debug, Serialize)]
pub struct RepeatsReport {
    /// The column.
    pub column: String,
    /// Rows of a value on average.
    pub rows_per_value: f64,
    /// Whether it is recoded as a quasi-identifier.
    #[serde(skip)]
    pub(crate) is_quasi: bool,
}

/// What is reported beside the classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exposure {
    pub(crate) as_they_are: Option<AsTheyAreReport>,
    pub(crate) repeats: Option<RepeatsReport>,
}

impl Exposure {
    /// What the user should know of it.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let as_they_are = self.as_they_are.as_ref().and_then(AsTheyAreReport::warning);
        as_they_are.into_iter().chain(self.repeats.as_ref().map(RepeatsReport::warning))
    }
}

impl AsTheyAreReport {
    /// The figures in one sentence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let told = |rows: u64, share: f64| match rows {
            0 => "0".to_owned(),
            rows => format!("{} ({})", count(rows), percent(share)),
        };
        let undeclared = match self.undeclared.len() {
            0 => String::new(),
            1 => format!(";\n  1 of these columns has no role: {}", names(&self.undeclared)),
            n => format!(";\n  {n} of these columns have no role: {}", names(&self.undeclared)),
        };
        format!(
            "of {} rows, {} are unique on the columns released as they are ({}),\n  \
             and {} together with the quasi-identifiers' labels{undeclared}",
            count(self.rows),
            told(self.unique, self.unique_share),
            names(&self.columns),
            told(self.unique_with_quasi, self.unique_with_quasi_share)
        )
    }

    /// What it means that many rows are unique.
    pub(crate) fn warning(&self) -> Option<String> {
        self.is_large.then(|| {
            format!(
                "{} of the rows are unique on the columns released as they are ({}): anyone who \
                 knows a person's values in them finds that person's row, whatever k is; declare \
                 such columns quasi, round their values, or leave them out",
                percent(self.unique_share),
                names(&self.columns)
            )
        })
    }
}

impl RepeatsReport {
    fn warning(&self) -> String {
        let RepeatsReport { column, rows_per_value, is_quasi } = self;
        let way_out = if *is_quasi { "take it out of the quasi-identifiers and " } else { "" };
        format!(
            "`{column}` seems to number people, and a value has {rows_per_value:.2} rows on \
             average: k counts rows, so k rows may be fewer than k people; {way_out}declare it as \
             the entity (--entity {column}) to count people"
        )
    }
}

/// Columns, as far as a sentence can name them.
fn names(columns: &[String]) -> String {
    let named = columns[..columns.len().min(MOST_NAMED)].join(", ");
    match columns.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

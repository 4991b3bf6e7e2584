//! What a table holds and what could single people out, as it is reported.

use serde::Serialize;

/// A table at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Rows.
    pub rows: u64,
    /// Columns in their order.
    pub columns: Vec<ColumnProfile>,
    /// Columns whose values cannot be grouped, and row indexes: they were not looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_looked_at: Vec<String>,
    /// What each of them holds; none for a row index.
    #[serde(skip)]
    pub(crate) hold: Vec<Option<&'static str>>,
    /// Minimal combinations of up to four columns that single out most rows, a few of each size,
    /// worst first.
    pub combinations: Vec<Combination>,
    /// The columns that were combined with each other.
    pub combined: Vec<String>,
    /// Whether no other combination of them singles out more rows.
    pub exact: bool,
}

/// A column at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnProfile {
    /// Its name.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: String,
    /// Distinct values, missing not counted.
    pub distinct: u64,
    /// Rows without a value.
    pub missing: u64,
    /// Rows whose value no other row has.
    pub unique: u64,
    /// The role that it probably has.
    pub suggested_role: &'static str,
    /// Whether k should count its distinct values: it numbers people, and they have several rows.
    /// At most one column is the entity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suggested_entity: bool,
    /// Why.
    pub reason: String,
    /// Another column that tells the same rows apart and was combined in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

/// Columns that an attacker could put together.
#[derive(Clone, Debug, Serialize)]
pub struct Combination {
    /// The columns.
    pub columns: Vec<String>,
    /// Classes of rows that look the same on them.
    pub classes: u64,
    /// Rows that are alone in their class.
    pub unique_rows: u64,
    /// Their share of all rows.
    pub unique_share: f64,
    /// Rows in classes of fewer than five, those that are alone included.
    pub below_5: u64,
}

impl ColumnProfile {
    /// The suggested role, and whether k counts the column's values, in words.
    #[must_use]
    pub fn role_in_words(&self) -> String {
        let more = if self.suggested_entity { ", entity" } else { "" };
        format!("{}{more}", self.suggested_role)
    }
}

impl Profile {
    /// The columns that were not looked at, each with its suggested role (none for a row index,
    /// which needs none) and the reason.
    pub fn passed_over(&self) -> impl Iterator<Item = (&str, &'static str, String)> {
        self.not_looked_at.iter().zip(&self.hold).map(|(name, holds)| {
            if let Some(holds) = holds {
                let why = format!(
                    "it holds {holds}, which cannot be recoded: never released, unless you declare it \
                     insensitive"
                );
                (name.as_str(), "identifier", why)
            } else {
                let why = "a row index that pandas added: it needs no role, and is left out";
                (name.as_str(), "", why.to_owned())
            }
        })
    }
}

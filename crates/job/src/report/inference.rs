//! Values of records that follow from what a release prints of their class.

use indexmap::IndexMap;
use serde::Serialize;

use crate::report::page::count;

/// Rows whose value in a column follows from what is printed of their class: range, mean and number
/// of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct InferenceReport {
    /// All values are taken for multiples of it: the last decimal place of the numbers that are
    /// printed, or their greatest common divisor where there are ten of them. None where they have
    /// more than nine decimal places.
    pub step: Option<f64>,
    /// Rows whose cell is their value.
    pub exact_rows: u64,
    /// Rows of classes whose cell is a range, of which all values follow nevertheless.
    pub determined_rows: u64,
    /// Their classes.
    pub determined_classes: u64,
    /// Rows of classes whose mean is withheld, since it would tell all their values.
    pub withheld_rows: u64,
    /// Their classes.
    pub withheld_classes: u64,
}

/// What the user should know of it.
pub(crate) fn warnings(
    found: &IndexMap<String, InferenceReport>,
) -> impl Iterator<Item = String> + '_ {
    found.iter().flat_map(|(column, found)| {
        let withheld = (found.withheld_rows > 0).then(|| {
            format!(
                "the mean of {column} is left out of {} ({}): with what else is printed of them it would tell every value",
                classes(found.withheld_classes),
                rows(found.withheld_rows)
            )
        });
        let determined = (found.determined_rows > 0).then(|| {
            format!(
                "every value of {column} follows from the range in {} of two rows; ask for a k of 3, or for --labels region",
                classes(found.determined_classes)
            )
        });
        withheld.into_iter().chain(determined)
    })
}

fn classes(n: u64) -> String {
    if n == 1 { "1 class".to_owned() } else { format!("{} classes", count(n)) }
}

fn rows(n: u64) -> String {
    if n == 1 { "1 row".to_owned() } else { format!("{} rows", count(n)) }
}

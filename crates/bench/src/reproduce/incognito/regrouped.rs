//! Hierarchies with which the printed numbers of nodes come out to the last digit.
//!
//! The paper prints heights, not groups. These have the paper's heights and put other values
//! together than the hierarchies of the examples do.

use super::{Column, adult_columns};

/// Married or not: whether a spouse lives in the household.
const MARITAL_STATUS: &[(&str, &[&str])] = &[
    ("Married-civ-spouse", &["Spouse-present"]),
    ("Married-AF-spouse", &["Spouse-present"]),
    ("Never-married", &["No-spouse-present"]),
    ("Married-spouse-absent", &["No-spouse-present"]),
    ("Separated", &["No-spouse-present"]),
    ("Divorced", &["No-spouse-present"]),
    ("Widowed", &["No-spouse-present"]),
];

/// School up to its last year or not, college without a degree, and any degree.
const EDUCATION: &[(&str, &[&str])] = &[
    ("Preschool", &["Left-school", "School"]),
    ("1st-4th", &["Left-school", "School"]),
    ("5th-6th", &["Left-school", "School"]),
    ("7th-8th", &["Left-school", "School"]),
    ("9th", &["Left-school", "School"]),
    ("10th", &["Left-school", "School"]),
    ("11th", &["Left-school", "School"]),
    ("12th", &["Finished-school", "School"]),
    ("HS-grad", &["Finished-school", "School"]),
    ("Some-college", &["Some-college", "Some-college"]),
    ("Assoc-voc", &["Degree", "Degree"]),
    ("Assoc-acdm", &["Degree", "Degree"]),
    ("Bachelors", &["Degree", "Degree"]),
    ("Masters", &["Degree", "Degree"]),
    ("Prof-school", &["Degree", "Degree"]),
    ("Doctorate", &["Degree", "Degree"]),
];

/// The columns of the Adult table with these hierarchies in place of the examples'.
pub(super) fn columns() -> Vec<Column> {
    let mut columns = adult_columns();
    for (name, hierarchy) in &mut columns {
        match *name {
            "marital-status" => *hierarchy = inline(MARITAL_STATUS),
            "education" => *hierarchy = inline(EDUCATION),
            _ => {}
        }
    }
    columns
}

/// A hierarchy as rows of a job, from the leaf to the root.
fn inline(rows: &[(&str, &[&str])]) -> String {
    let row = |(leaf, groups): &(&str, &[&str])| {
        let cells: Vec<String> = (std::iter::once(leaf).chain(*groups).chain(&["*"]))
            .map(|cell| format!("\"{cell}\""))
            .collect();
        format!("[{}]", cells.join(", "))
    };
    format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(", "))
}

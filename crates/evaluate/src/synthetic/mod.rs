//! Synthetic tables: seeded generators of rows, without files.
//!
//! Every kind has a `Config` and a table of its name; [`Generator`] is any of them. A table is
//! endless: rows are numbered from 0 and `rows(range)` generates some of them. A row depends only
//! on the kind, its parameters, the seed and the row's number: batches of any size, generated in
//! any order on any number of threads, make up the same table on every machine (see [`random`] for
//! how).
//!
//! # Source
//!
//! - [`uniform`] and [`skewed`]: LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity*,
//!   University of Wisconsin technical report 1521, section 6.1 and Figure 9.
//! - [`agrawal`]: Agrawal, Imielinski, Swami: *Database Mining: A Performance Perspective*, TKDE
//!   1993, as LeFevre, DeWitt and Ramakrishnan use it in *Workload-Aware Anonymization*, KDD 2006,
//!   Figure 6.
//! - [`census`]: our own.
//!
//! # Example
//!
//! ```
//! use incrowd_evaluate::synthetic::agrawal;
//!
//! let config = agrawal::Config { functions: vec![2, 7], ..agrawal::Config::default() };
//! let table = agrawal::AgrawalTable::new(config).expect("functions 2 and 7 exist");
//! let rows = table.rows(0..1000);
//! let salary = rows.numbers("salary").expect("a column");
//! let group = rows.texts("group_2").expect("a column of texts");
//! assert!(salary.iter().all(|s| (20_000.0..=150_000.0).contains(s)));
//! assert!(group.iter().all(|g| ["A", "B"].contains(g)));
//! ```

pub mod agrawal;
pub mod census;
pub mod random;
pub mod skewed;
pub mod uniform;

use std::ops::Range;
use std::sync::Arc;

use incrowd_data::{PlainColumn, PlainTable, PlainValues};

/// A parameter that is not valid for a kind of table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum ParameterError {
    /// Too few or too many columns.
    #[error("attributes must be 1 to {}, found {found}", uniform::MOST_ATTRIBUTES)]
    Attributes { found: usize },
    /// Too few or too many values of a column.
    #[error("cardinality must be 1 to {}, found {found}", uniform::MOST_VALUES)]
    Cardinality { found: u32 },
    /// The centre of the distribution is not among the values.
    #[error("the mean must be among the values, 0 to {greatest}, found {found}")]
    Mean { found: f64, greatest: u32 },
    /// A standard deviation that is not positive, or for which almost every draw would be rejected.
    #[error("the deviation must be above 0 and at most {}, found {found}", skewed::MOST_DEVIATION)]
    Deviation { found: f64 },
    /// There is no such label function.
    #[error("functions are 1 to 10, found {found}")]
    Function { found: u8 },
    /// A label function is given twice.
    #[error("function {found} is named twice")]
    FunctionTwice { found: u8 },
}

/// A table of any kind.
#[derive(Clone, Debug)]
pub enum Generator {
    /// Codes, all equally likely.
    Uniform(uniform::UniformTable),
    /// Codes around a centre.
    Skewed(skewed::SkewedTable),
    /// Loan applicants with class labels.
    Agrawal(agrawal::AgrawalTable),
    /// People.
    Census(Box<census::CensusTable>),
}

impl Generator {
    /// A range of rows of the table.
    #[must_use]
    pub fn rows(&self, rows: Range<u64>) -> PlainTable {
        match self {
            Generator::Uniform(table) => table.rows(rows),
            Generator::Skewed(table) => table.rows(rows),
            Generator::Agrawal(table) => table.rows(rows),
            Generator::Census(table) => table.rows(rows),
        }
    }
}

fn integers(name: impl Into<String>, values: Vec<i64>) -> PlainColumn {
    PlainColumn { name: name.into(), values: PlainValues::Integers(values) }
}

/// Amounts of money: numbers with two decimals, from hundredths.
fn money(name: &str, hundredths: &[i64]) -> PlainColumn {
    let values = hundredths.iter().map(|&value| value as f64 / 100.0).collect();
    PlainColumn { name: name.to_owned(), values: PlainValues::Decimals { values, places: 2 } }
}

fn texts(name: impl Into<String>, codes: Vec<u32>, dictionary: &Arc<[String]>) -> PlainColumn {
    let values = PlainValues::Texts { codes, dictionary: Arc::clone(dictionary) };
    PlainColumn { name: name.into(), values }
}

fn dictionary<'a>(texts: impl IntoIterator<Item = &'a str>) -> Arc<[String]> {
    texts.into_iter().map(str::to_owned).collect()
}

/// The number of rows of a range.
fn n_rows(rows: &Range<u64>) -> usize {
    usize::try_from(rows.end.saturating_sub(rows.start)).expect("a batch fits into memory")
}

//! Codes that are all equally likely, column by column.
//!
//! The *discrete uniform* distribution of Figure 9: attributes `a1`, `a2`, ... are independent,
//! each one of the integers 0 to `cardinality` - 1.

use std::ops::Range;

use incrowd_data::PlainTable;

use super::random::{Random, Source};
use super::{ParameterError, integers, n_rows};

/// The most columns of a table.
pub const MOST_ATTRIBUTES: usize = 1000;

/// The most values of a column.
pub const MOST_VALUES: u32 = 1_000_000_000;

/// The parameters of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of columns.
    pub attributes: usize,
    /// The number of values of each column.
    pub cardinality: u32,
    /// The seed of the rows.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { attributes: 5, cardinality: 8, seed: 0 }
    }
}

/// An endless table.
#[derive(Clone, Debug)]
pub struct UniformTable {
    config: Config,
}

impl UniformTable {
    /// The table with these parameters, or everything that is wrong with them.
    pub fn new(config: Config) -> Result<UniformTable, Vec<ParameterError>> {
        let problems = problems(config.attributes, config.cardinality);
        if problems.is_empty() { Ok(UniformTable { config }) } else { Err(problems) }
    }

    /// A range of rows.
    #[must_use]
    pub fn rows(&self, rows: Range<u64>) -> PlainTable {
        let values = u64::from(self.config.cardinality);
        let source = Source::new(self.config.seed, 1);
        codes(self.config.attributes, source, rows, |random| {
            i64::try_from(random.below(values)).expect("values are 32-bit numbers")
        })
    }
}

pub(super) fn problems(attributes: usize, cardinality: u32) -> Vec<ParameterError> {
    let mut problems = Vec::new();
    if !(1..=MOST_ATTRIBUTES).contains(&attributes) {
        problems.push(ParameterError::Attributes { found: attributes });
    }
    if !(1..=MOST_VALUES).contains(&cardinality) {
        problems.push(ParameterError::Cardinality { found: cardinality });
    }
    problems
}

/// Columns `a1`, `a2`, ... whose values are drawn one by one along a row.
pub(super) fn codes(
    attributes: usize,
    source: Source,
    rows: Range<u64>,
    draw: impl Fn(&mut Random) -> i64,
) -> PlainTable {
    let column = || Vec::with_capacity(n_rows(&rows));
    let mut columns: Vec<Vec<i64>> = std::iter::repeat_with(column).take(attributes).collect();
    for row in rows {
        let mut random = source.of_row(row);
        for column in &mut columns {
            column.push(draw(&mut random));
        }
    }
    let named = (1..).zip(columns).map(|(at, column)| integers(format!("a{at}"), column));
    PlainTable { columns: named.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_equally_likely() {
        let config = Config { attributes: 2, cardinality: 10, seed: 4 };
        let rows = UniformTable::new(config).unwrap().rows(0..50_000);
        assert_eq!(rows.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a1", "a2"]);
        let (a, b) = (rows.integers("a1").unwrap(), rows.integers("a2").unwrap());
        let mut counts = [[0; 10]; 10];
        for (a, b) in a.iter().zip(b) {
            counts[index(*a)][index(*b)] += 1;
        }
        // 500 are expected of each pair, with a standard deviation of 22.
        assert!(counts.as_flattened().iter().all(|count| (400..600).contains(count)), "{counts:?}");
    }

    fn index(code: i64) -> usize {
        usize::try_from(code).unwrap()
    }

    #[test]
    fn joined_batches_are_the_table() {
        let table = UniformTable::new(Config::default()).unwrap();
        let (all, one, two) = (table.rows(0..100), table.rows(0..37), table.rows(37..100));
        for column in &all.columns {
            let parts = [&one, &two].map(|part| part.numbers(&column.name).unwrap()).concat();
            assert_eq!(all.numbers(&column.name), Some(parts));
        }
        assert_ne!(
            all,
            UniformTable::new(Config { seed: 1, ..Config::default() }).unwrap().rows(0..100)
        );
        assert_eq!(table.rows(5..5).n_rows(), 0);
    }

    #[test]
    fn all_problems_are_reported() {
        let config = Config { attributes: 0, cardinality: 0, seed: 0 };
        let problems = UniformTable::new(config).unwrap_err();
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[1].to_string(), "cardinality must be 1 to 1000000000, found 0");
    }
}

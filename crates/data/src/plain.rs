//! Columns of plain values, before they have codes: what generators produce and sinks write.

use std::sync::Arc;

/// The values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValues {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers written with a fixed number of decimals, to which they are already rounded.
    Decimals {
        /// The numbers.
        values: Vec<f64>,
        /// Digits after the decimal point.
        places: u8,
    },
    /// Days since 1970-01-01.
    Dates(Vec<i32>),
    /// Texts of a dictionary, which all batches of a table share.
    Texts {
        /// The place of each row's text in the dictionary.
        codes: Vec<u32>,
        /// The texts, each once.
        dictionary: Arc<[String]>,
    },
}

/// A column of plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainColumn {
    /// The column's name.
    pub name: String,
    /// One value per row.
    pub values: PlainValues,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainTable {
    /// The columns in their order.
    pub columns: Vec<PlainColumn>,
}

impl PlainValues {
    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            PlainValues::Integers(values) => values.len(),
            PlainValues::Decimals { values, .. } => values.len(),
            PlainValues::Dates(values) => values.len(),
            PlainValues::Texts { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PlainTable {
    /// Rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The values of a column.
    #[must_use]
    pub fn values(&self, name: &str) -> Option<&PlainValues> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// A column of integers.
    #[must_use]
    pub fn integers(&self, name: &str) -> Option<&[i64]> {
        match self.values(name)? {
            PlainValues::Integers(values) => Some(values),
            _ => None,
        }
    }

    /// A column as numbers: integers, decimals and days as they are, texts by their place in the
    /// dictionary.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "plain integers are far below 2^53")]
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        Some(match self.values(name)? {
            PlainValues::Integers(values) => values.iter().map(|&value| value as f64).collect(),
            PlainValues::Decimals { values, .. } => values.clone(),
            PlainValues::Dates(values) => values.iter().map(|&value| f64::from(value)).collect(),
            PlainValues::Texts { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
        })
    }

    /// A column of texts, row by row.
    #[must_use]
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        match self.values(name)? {
            PlainValues::Texts { codes, dictionary } => {
                Some(codes.iter().map(|&code| dictionary[code as usize].as_str()).collect())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let column = |name: &str, values| PlainColumn { name: name.to_owned(), values };
        let dictionary = ["x".to_owned(), "y".to_owned()].into();
        let table = PlainTable {
            columns: vec![
                column("n", PlainValues::Integers(vec![3, -1])),
                column("t", PlainValues::Texts { codes: vec![1, 0], dictionary }),
            ],
        };
        assert_eq!(table.n_rows(), 2);
        assert_eq!(table.numbers("n"), Some(vec![3.0, -1.0]));
        assert_eq!((table.integers("n"), table.integers("t")), (Some(&[3, -1][..]), None));
        assert_eq!(table.numbers("t"), Some(vec![1.0, 0.0]));
        assert_eq!(table.texts("t"), Some(vec!["y", "x"]));
        assert_eq!((table.texts("n"), table.numbers("z")), (None, None));
        assert_eq!(PlainTable::default().n_rows(), 0);
    }
}

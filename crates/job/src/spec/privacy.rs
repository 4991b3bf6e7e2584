//! What must hold of a release.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::error::Problem;

/// What must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PrivacySpec {
    /// Least size of a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// A level of protection by its name; its k holds where no other is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// By risk (`prosecutor`, `journalist`, `marketer`), the greatest that is allowed.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub fail_above: IndexMap<String, f64>,
    /// l-diversity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub l_diversity: Vec<DiversitySpec>,
    /// t-closeness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub t_closeness: Vec<ValueLimit>,
    /// Squared-error diversity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub squared_error: Vec<ValueLimit>,
    /// What a missing sensitive cell is to the models and figures of diversity: `ignore` or
    /// `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_sensitive: Option<String>,
    /// Suppression limit: a share, a percentage or a number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress: Option<SuppressLimit>,
}

/// l-diversity of a column, or of every sensitive column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiversitySpec {
    /// The sensitive column; all of them if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Distinct l.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<f64>,
    /// Entropy l.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// Recursive `[c, l]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<(f64, u32)>,
}

/// A limit on a column, or on every sensitive column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueLimit {
    /// The sensitive column; all of them if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The limit.
    pub value: f64,
}

/// How many rows may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SuppressLimit {
    /// A share from 0 to 1.
    Share(f64),
    /// `"2%"`, `"100rows"` or `"0.02"`.
    Text(String),
}

impl SuppressLimit {
    /// Whether it allows no row at all, of however many.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.rows(u64::MAX), Ok(0))
    }

    /// The number of rows of a table that it allows.
    ///
    /// # Errors
    ///
    /// What is wrong with its form.
    pub fn rows(&self, n_rows: u64) -> Result<u64, Problem> {
        let wrong = || {
            Problem::new(
                "the suppression limit must be a share from 0 to 1, a percentage or a number of rows",
            )
            .help("write 0.02, \"2%\" or \"100rows\"")
        };
        let share = match self {
            SuppressLimit::Share(share) => *share,
            SuppressLimit::Text(text) => {
                let text = text.trim();
                if let Some(rows) = text.strip_suffix("rows") {
                    return rows.trim().parse::<u64>().map_err(|_| wrong());
                }
                match text.strip_suffix('%') {
                    Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
                    None => text.parse().map_err(|_| wrong())?,
                }
            }
        };
        if !(0.0..=1.0).contains(&share) {
            return Err(wrong());
        }
        // A share of 2% of 50 rows is one row, not 0.9999999.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of rows"
        )]
        Ok((share * n_rows as f64 + 1e-9).floor() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppression_limits() {
        let rows = |text: &str, n| SuppressLimit::Text(text.to_owned()).rows(n);
        assert_eq!(rows("2%", 50), Ok(1));
        assert_eq!(rows("100rows", 5), Ok(100));
        assert_eq!(rows("0.02", 1000), Ok(20));
        assert_eq!(SuppressLimit::Share(1.0).rows(7), Ok(7));
        for wrong in ["2", "-1%", "101%", "x", "1.5rows", "nan"] {
            assert!(rows(wrong, 10).is_err(), "{wrong}");
        }
    }
}

//! The ordered dictionary of a column: a code is the rank of a value.

use std::fmt;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction.
    Decimal,
    /// `true` and `false`.
    Boolean,
    /// Calendar days, `2024-01-03`.
    Date,
    /// Points in time, `2024-01-03T10:00:00`.
    Timestamp,
    /// Anything else.
    Text,
}

impl Kind {
    /// Every kind with its name in job files and reports.
    pub const NAMES: [(&'static str, Kind); 6] = [
        ("integer", Kind::Integer),
        ("decimal", Kind::Decimal),
        ("boolean", Kind::Boolean),
        ("date", Kind::Date),
        ("timestamp", Kind::Timestamp),
        ("text", Kind::Text),
    ];

    /// Whether distances between values are meaningful.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        !matches!(self, Kind::Boolean | Kind::Text)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Kind::NAMES.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// The distinct values of a column in their order. Code `c` stands for `texts[c]`; if the column
/// has missing cells, their code is the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// The kind of the values.
    pub kind: Kind,
    /// Each value as it is written in the source (one spelling for equal numbers).
    pub texts: Vec<String>,
    /// Each value's place on the number line: the number itself, days for dates, nanoseconds for
    /// timestamps, otherwise the rank.
    pub positions: Vec<f64>,
    /// Whether the column has missing cells.
    pub has_missing: bool,
}

impl Dictionary {
    /// A dictionary of text values in the given order.
    #[must_use]
    pub fn of_texts(texts: Vec<String>, has_missing: bool) -> Dictionary {
        let positions = ranks(texts.len());
        Dictionary { kind: Kind::Text, texts, positions, has_missing }
    }

    /// The number of codes, the missing one included.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        u32::try_from(self.texts.len()).expect("a dictionary holds fewer than 2^32 values")
            + u32::from(self.has_missing)
    }

    /// The code of a missing cell, if the column has any.
    #[must_use]
    pub fn missing(&self) -> Option<u32> {
        self.has_missing.then(|| self.n_codes() - 1)
    }

    /// The text of a code; a missing cell has none.
    #[must_use]
    pub fn text(&self, code: u32) -> Option<&str> {
        self.texts.get(code as usize).map(String::as_str)
    }
}

/// The ranks `0, 1, 2, ...` as positions.
#[must_use]
pub(crate) fn ranks(len: usize) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a dictionary holds fewer than 2^32 values")]
    (0..len).map(|rank| rank as f64).collect()
}

//! The values that a column can have, each with a key: a number that orders them.

use incrowd_data::{Kind, Literal};

use super::QueryError;

/// The position of a text of a kind on the number line, if it is of that kind.
pub type Parse = fn(Kind, &str) -> Option<f64>;

/// The values that a column can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// Numbers, dates or times between two ends.
    Line(Line),
    /// The values of a list.
    List(List),
}

/// Numbers, dates or times; the key of a value is its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The kind of the values.
    pub kind: Kind,
    /// The number of digits, if there are leading zeros.
    pub width: Option<usize>,
    /// The least value that is known to be possible.
    pub lo: f64,
    /// The greatest value that is known to be possible.
    pub hi: f64,
}

impl Line {
    /// Whether neighbouring values are 1 apart: whole numbers and days, if they can be told apart.
    #[must_use]
    pub fn is_discrete(&self) -> bool {
        let is_rounded = self.lo <= self.hi && !(is_exact(self.lo) && is_exact(self.hi));
        matches!(self.kind, Kind::Integer | Kind::Date) && !is_rounded
    }
}

/// How the values of a list compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// In the order of the list, which was declared.
    Declared,
    /// As numbers or dates.
    Natural(Kind),
    /// As texts.
    Text,
}

/// A list of values: a declared order, the leaves of a hierarchy, or texts.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The values.
    pub texts: Vec<String>,
    /// The key of each value.
    pub keys: Vec<f64>,
    /// The indexes of the values, in the order of their keys.
    pub(super) by_key: Vec<usize>,
    /// How the values compare.
    pub order: ListOrder,
    /// The name of the list in messages, if a constant that is not in it must be a mistake.
    pub what: Option<&'static str>,
    /// Whether labels may hide values that are not in the list, since nothing says what the labels
    /// mean.
    pub is_open: bool,
}

impl List {
    /// A list in an order.
    #[must_use]
    pub fn new(texts: Vec<String>, order: ListOrder, parse: Parse) -> List {
        let keys = match order {
            ListOrder::Declared => (0..texts.len()).map(|rank| rank as f64).collect(),
            ListOrder::Natural(kind) => {
                texts.iter().map(|text| parse(kind, text).unwrap_or(f64::NAN)).collect()
            }
            ListOrder::Text => {
                let mut sorted: Vec<usize> = (0..texts.len()).collect();
                sorted.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
                let mut keys = vec![0.0; texts.len()];
                for (rank, at) in sorted.into_iter().enumerate() {
                    keys[at] = rank as f64;
                }
                keys
            }
        };
        let mut by_key: Vec<usize> = (0..texts.len()).collect();
        by_key.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        List { texts, keys, by_key, order, what: None, is_open: false }
    }

    /// A list that compares as numbers if all its values are numbers, otherwise as texts.
    #[must_use]
    pub fn natural(texts: Vec<String>, parse: Parse) -> List {
        let kinds = [Kind::Decimal, Kind::Date, Kind::Timestamp];
        let is_of =
            |kind: &Kind| !texts.is_empty() && texts.iter().all(|t| parse(*kind, t).is_some());
        let order = kinds.into_iter().find(is_of).map_or(ListOrder::Text, ListOrder::Natural);
        List::new(texts, order, parse)
    }

    /// The place of a text.
    fn place(&self, text: &str) -> Option<usize> {
        match self.order {
            ListOrder::Text => {
                let found = self.by_key.binary_search_by(|&at| self.texts[at].as_str().cmp(text));
                found.ok().map(|rank| self.by_key[rank])
            }
            _ => self.texts.iter().position(|known| known == text),
        }
    }

    /// The key of a text that is not in the list: halfway between its neighbours.
    fn key_between(&self, text: &str) -> f64 {
        let n_less = self.by_key.partition_point(|&at| self.texts[at].as_str() < text);
        let rank = n_less as f64;
        rank - 0.5
    }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A place on a line.
    Position(&'a Line, f64),
    /// A value of a list.
    Text(&'a str),
}

impl Domain {
    /// Whether its values can be summed.
    #[must_use]
    pub fn is_number(&self) -> bool {
        let kind = match self {
            Domain::Line(line) => line.kind,
            // A column without values can be anything.
            Domain::List(list) if list.texts.is_empty() => Kind::Integer,
            Domain::List(List { order: ListOrder::Natural(kind), .. }) => *kind,
            Domain::List(_) => Kind::Text,
        };
        matches!(kind, Kind::Integer | Kind::Decimal)
    }

    /// The value of a key that a cell can have.
    #[must_use]
    pub fn value(&self, key: f64) -> Option<Value<'_>> {
        match self {
            Domain::Line(line) => Some(Value::Position(line, key)),
            Domain::List(list) => {
                let found = list.by_key.binary_search_by(|&at| list.keys[at].total_cmp(&key));
                Some(Value::Text(&list.texts[list.by_key[found.ok()?]]))
            }
        }
    }

    /// The key of a constant, and whether a value has it.
    pub(super) fn key(
        &self,
        column: &str,
        literal: &Literal,
        parse: Parse,
    ) -> Result<(f64, bool), QueryError> {
        let text = literal.text.as_str();
        let wrong = |kind: Kind| QueryError::ConstantKind { column: column.to_owned(), kind };
        match self {
            Domain::Line(line) => {
                let is_padded = line.width.is_some_and(|width| width == text.len());
                let key = match line.kind {
                    Kind::Integer if is_padded => text.parse().ok(),
                    kind => number(kind, text, parse),
                };
                key.map(|key| (key, true)).ok_or_else(|| wrong(line.kind))
            }
            Domain::List(list) => match list.order {
                ListOrder::Natural(kind) => {
                    number(kind, text, parse).map(|key| (key, true)).ok_or_else(|| wrong(kind))
                }
                ListOrder::Declared | ListOrder::Text => {
                    let at = list.place(text).or_else(|| {
                        let is_boolean = matches!(text, "true" | "false");
                        let alike = |known: &String| known.eq_ignore_ascii_case(text);
                        list.texts.iter().position(|known| is_boolean && alike(known))
                    });
                    match (at, list.what) {
                        (Some(at), _) => Ok((list.keys[at], true)),
                        (None, Some(what)) => {
                            Err(QueryError::NotInList { column: column.to_owned(), what })
                        }
                        (None, None) => Ok((list.key_between(text), false)),
                    }
                }
            },
        }
    }
}

/// Whether a whole number at this place has it for itself.
pub(super) fn is_exact(key: f64) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    key.abs() < EXACT
}

/// The place of a whole number that is too great to be told from its neighbours.
pub(super) fn beyond(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let key = text.parse::<f64>().ok().filter(|_| is_whole)?;
    (key.abs() >= 9e15).then(|| key.clamp(f64::MIN, f64::MAX))
}

/// The key of a constant: a number may have a fraction even if the column has none, and a time is a
/// part of a day.
fn number(kind: Kind, text: &str, parse: Parse) -> Option<f64> {
    match kind {
        Kind::Integer | Kind::Decimal => {
            let found = parse(Kind::Decimal, text).or_else(|| parse(Kind::Integer, text));
            found.or_else(|| beyond(text))
        }
        Kind::Date => parse(Kind::Date, text)
            .or_else(|| parse(Kind::Timestamp, text).map(|nanos| nanos / 86_400e9)),
        kind => parse(kind, text),
    }
}

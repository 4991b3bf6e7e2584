//! From the distinct texts of a column to its kind, its order and its codes.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use incrowd_data::{Dictionary, Kind};

use crate::ValueList;

/// The order of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Numbers and dates by value, text by its characters; the kind found out if none is given.
    Natural(Option<Kind>),
    /// Just these values in this order (a declared order, or the leaves of a hierarchy). Values
    /// that no row has keep their place.
    Listed {
        /// The values.
        texts: Vec<String>,
        /// What the list is.
        what: ValueList,
    },
}

/// A dictionary and the code of each distinct text it was built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The values in order.
    pub dictionary: Dictionary,
    /// By distinct text, its code.
    pub code_of: Vec<u32>,
}

/// A value to sort by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Whole(i64),
    Real(f64),
}

impl Key {
    #[expect(clippy::cast_precision_loss, reason = "a place on a line, to be compared by ratio")]
    fn position(self) -> f64 {
        match self {
            Key::Whole(value) => value as f64,
            Key::Real(value) => value,
        }
    }

    fn compare(&self, other: &Key) -> std::cmp::Ordering {
        match (self, other) {
            (Key::Whole(a), Key::Whole(b)) => a.cmp(b),
            _ => self.position().total_cmp(&other.position()),
        }
    }
}

/// The narrowest kind that all texts are of. A number with a leading zero is text.
#[must_use]
pub fn kind_of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Kind {
    infer(texts.into_iter())
}

pub(crate) fn infer<'a>(texts: impl Iterator<Item = &'a str>) -> Kind {
    let mut found = None;
    for text in texts {
        let joined = join(found, kind_of(text));
        if joined == Kind::Text {
            return Kind::Text;
        }
        found = Some(joined);
    }
    found.unwrap_or(Kind::Text)
}

/// The narrowest kind that holds values of both.
pub(crate) fn join(a: Option<Kind>, b: Kind) -> Kind {
    match (a, b) {
        (None, b) => b,
        (Some(a), b) if a == b => a,
        (Some(Kind::Integer | Kind::Decimal), Kind::Integer | Kind::Decimal) => Kind::Decimal,
        (Some(Kind::Date | Kind::Timestamp), Kind::Date | Kind::Timestamp) => Kind::Timestamp,
        _ => Kind::Text,
    }
}

pub(crate) fn kind_of(text: &str) -> Kind {
    let first = text.as_bytes().first().copied().unwrap_or(b' ');
    let candidates: &[Kind] = match first {
        b'0'..=b'9' => &[Kind::Integer, Kind::Decimal, Kind::Date, Kind::Timestamp],
        b'-' | b'.' => &[Kind::Integer, Kind::Decimal],
        b't' | b'T' | b'f' | b'F' => &[Kind::Boolean],
        _ => &[],
    };
    candidates.iter().copied().find(|&kind| key(kind, text).is_some()).unwrap_or(Kind::Text)
}

/// Whether a text is of a kind.
pub(crate) fn is_of(kind: Kind, text: &str) -> bool {
    kind == Kind::Text || key(kind, text).is_some()
}

/// The value of a text, if it is of the kind.
fn key(kind: Kind, text: &str) -> Option<Key> {
    match kind {
        Kind::Integer => is_plain_number(text, false).then(|| text.parse().ok().map(Key::Whole))?,
        Kind::Decimal => {
            // What is too small for a float is not zero.
            let is_told = |v: &f64| v.is_finite() && (*v != 0.0 || is_zero(text));
            let value = || text.parse::<f64>().ok().filter(is_told).map(|v| v + 0.0);
            is_plain_number(text, true).then(|| value().map(Key::Real))?
        }
        Kind::Boolean => match text.to_ascii_lowercase().as_str() {
            "false" => Some(Key::Whole(0)),
            "true" => Some(Key::Whole(1)),
            _ => None,
        },
        Kind::Date => date(text).map(|day| Key::Whole(days(day))),
        Kind::Timestamp => nanos(text).map(Key::Whole),
        Kind::Text => None,
    }
}

/// The place of a text on the number line, if it is of the kind: the number itself, days or
/// nanoseconds. Whole numbers that a float cannot tell apart have none.
#[must_use]
pub fn position(kind: Kind, text: &str) -> Option<f64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let found = key(kind, text)?.position();
    let is_whole = matches!(kind, Kind::Integer) || !text.contains(['.', 'e', 'E']);
    let is_number = matches!(kind, Kind::Integer | Kind::Decimal);
    (!is_number || !is_whole || found.abs() < EXACT).then_some(found)
}

/// The text of a place on the number line: the inverse of [`position`].
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "positions of dates and times are whole numbers"
)]
pub fn text_at(kind: Kind, position: f64) -> String {
    match kind {
        Kind::Date => NaiveDate::default()
            .checked_add_signed(chrono::TimeDelta::days(position as i64))
            .map_or_else(String::new, |day| day.to_string()),
        Kind::Timestamp => {
            let at = DateTime::from_timestamp_nanos(position as i64).naive_utc();
            at.format("%Y-%m-%dT%H:%M:%S%.f").to_string()
        }
        _ => position.to_string(),
    }
}

/// Digits without a needless leading zero, a sign before and a fraction and exponent behind them.
fn is_plain_number(text: &str, is_decimal: bool) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let bytes = digits.as_bytes();
    let n_whole = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if n_whole == 0 || (n_whole > 1 && bytes[0] == b'0') {
        return false;
    }
    match bytes[n_whole..] {
        [] => true,
        _ if !is_decimal => false,
        [b'.', ref rest @ ..] => {
            rest.first().is_some_and(u8::is_ascii_digit) && rest.iter().copied().all(is_number_byte)
        }
        [b'e' | b'E', ref rest @ ..] => {
            !rest.is_empty() && rest.iter().copied().all(is_number_byte)
        }
        _ => false,
    }
}

fn is_zero(text: &str) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or(text);
    !digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'e' | b'E' | b'+' | b'-')
}

fn date(text: &str) -> Option<NaiveDate> {
    if text.len() != 10 {
        return None;
    }
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()
}

fn days(day: NaiveDate) -> i64 {
    day.signed_duration_since(NaiveDate::default()).num_days()
}

/// Nanoseconds since 1970, if the text is a timestamp or a date.
pub(crate) fn nanos(text: &str) -> Option<i64> {
    if let Some(day) = date(text) {
        return days(day).checked_mul(86_400_000_000_000);
    }
    instant(text)?.0.and_utc().timestamp_nanos_opt()
}

/// The time that a text tells, in the world's time where it says its zone, and whether it does.
pub(crate) fn instant(text: &str) -> Option<(NaiveDateTime, bool)> {
    if text.len() < 16 || !matches!(text.as_bytes()[10], b'T' | b' ') {
        return None;
    }
    let mut form = text.replacen(' ', "T", 1);
    if matches!(form.as_bytes().get(16), Some(b'Z' | b'z' | b'+' | b'-')) {
        form.insert_str(16, ":00");
    }
    let found = if let Ok(instant) = DateTime::parse_from_rfc3339(&form) {
        (instant.naive_utc(), true)
    } else {
        let read = |pattern| NaiveDateTime::parse_from_str(&form, pattern).ok();
        let instant = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"].into_iter().find_map(read)?;
        (instant, false)
    };
    // What is finer than a nanosecond, or a leap second, has no number of its own.
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let n_digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let is_leap = found.0.and_utc().timestamp_subsec_nanos() >= 1_000_000_000;
    (n_digits <= 9 && !is_leap).then_some(found)
}

/// Ranks distinct texts in their natural order. The error is the distinct texts that are not of the
/// kind, by index.
pub(crate) fn rank_naturally(
    texts: &[String],
    has_missing: bool,
    kind: Option<Kind>,
) -> Result<Ranked, Vec<usize>> {
    let kind = kind.unwrap_or_else(|| infer(texts.iter().map(String::as_str)));
    let keyed = sorted(texts, kind)?;
    let mut labels: Vec<String> = Vec::new();
    let mut positions: Vec<f64> = Vec::new();
    let (code_of, _) = number(texts, &keyed, |key, at| {
        #[expect(clippy::cast_precision_loss, reason = "a rank")]
        positions.push(key.map_or(labels.len() as f64, Key::position));
        labels.push(texts[at].clone());
    });
    let dictionary = Dictionary { kind, texts: labels, positions, has_missing };
    Ok(Ranked { dictionary, code_of })
}

/// By distinct text the rank of its value, which texts of one value share (`7` and `7.0`), and the
/// number of values. As [`rank_naturally`], without a dictionary.
pub(crate) fn identify(
    texts: &[String],
    kind: Option<Kind>,
) -> Result<(Vec<u32>, u32), Vec<usize>> {
    let kind = kind.unwrap_or_else(|| infer(texts.iter().map(String::as_str)));
    Ok(number(texts, &sorted(texts, kind)?, |_, _| ()))
}

/// The indexes of distinct texts in their natural order, with what they are sorted by.
fn sorted(texts: &[String], kind: Kind) -> Result<Vec<(Option<Key>, usize)>, Vec<usize>> {
    let mut keyed: Vec<(Option<Key>, usize)> = Vec::with_capacity(texts.len());
    let mut misfits = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let key = if kind == Kind::Text { None } else { key(kind, text) };
        if kind != Kind::Text && key.is_none() {
            misfits.push(at);
        }
        keyed.push((key, at));
    }
    if !misfits.is_empty() {
        return Err(misfits);
    }
    keyed.sort_by(|(keyed_a, at_a), (keyed_b, at_b)| {
        let by_key = match (keyed_a, keyed_b) {
            (Some(a), Some(b)) => a.compare(b),
            _ => std::cmp::Ordering::Equal,
        };
        // Of several spellings of one number the shortest stands first and gives the label.
        let (a, b) = (&texts[*at_a], &texts[*at_b]);
        let by_key = by_key.then_with(|| match (keyed_a, kind) {
            // Numbers that a float cannot tell apart are ordered by their digits.
            (Some(key), Kind::Decimal) => {
                compare_digits(&plain_digits(a, *key), &plain_digits(b, *key))
            }
            _ => std::cmp::Ordering::Equal,
        });
        by_key.then_with(|| {
            if kind == Kind::Text { a.cmp(b) } else { (a.len(), a).cmp(&(b.len(), b)) }
        })
    });
    Ok(keyed)
}

/// Numbers the values of sorted texts; `is_new` sees the first text of each.
fn number(
    texts: &[String],
    keyed: &[(Option<Key>, usize)],
    mut is_new: impl FnMut(Option<Key>, usize),
) -> (Vec<u32>, u32) {
    let mut code_of = vec![0; texts.len()];
    let mut n_values = 0u32;
    let mut last: Option<(Key, usize)> = None;
    for &(key, at) in keyed {
        // Numbers that differ beyond what a float can tell stay apart.
        let is_same_value = match (key, last) {
            (Some(key), Some((last, before))) => {
                key.compare(&last).is_eq() && is_same_number(key, &texts[before], &texts[at])
            }
            _ => false,
        };
        if !is_same_value {
            is_new(key, at);
            n_values += 1;
        }
        last = key.map(|key| (key, at));
        code_of[at] = n_values - 1;
    }
    (code_of, n_values)
}

/// Whether two spellings of numbers with the same key are one number.
fn is_same_number(key: Key, a: &str, b: &str) -> bool {
    matches!(key, Key::Whole(_)) || plain_digits(a, key) == plain_digits(b, key)
}

/// The order of two decimals without exponents.
fn compare_digits(a: &str, b: &str) -> std::cmp::Ordering {
    let parts = |text: &str| {
        let is_negative = text.starts_with('-');
        let digits = text.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_zero = whole.is_empty() && fraction.is_empty();
        (is_negative && !is_zero, whole.len(), whole.to_owned(), fraction.to_owned())
    };
    let (a, b) = (parts(a), parts(b));
    match (a.0, b.0) {
        (false, false) => a.cmp(&b),
        (true, true) => b.cmp(&a),
        (a_is_negative, _) => {
            if a_is_negative {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        }
    }
}

/// A decimal without needless zeros; one with an exponent as its float reads.
fn plain_digits(text: &str, key: Key) -> String {
    if text.contains(['e', 'E']) {
        return key.position().to_string();
    }
    let digits = match text.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{}", fraction.trim_end_matches('0')),
        None => format!("{text}."),
    };
    let digits = digits.trim_end_matches('.');
    if digits == "-0" { "0".to_owned() } else { digits.to_owned() }
}

/// Ranks distinct texts by their place in a list. The error is the distinct texts that are not in
/// it, by index.
pub(crate) fn rank_by_list(
    texts: &[String],
    has_missing: bool,
    list: Vec<String>,
) -> Result<Ranked, Vec<usize>> {
    let place: BTreeMap<&str, u32> = list.iter().map(String::as_str).zip(0u32..).collect();
    let mut misfits = Vec::new();
    let mut code_of = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        match place.get(text.as_str()) {
            Some(&code) => code_of.push(code),
            None => misfits.push(at),
        }
    }
    if misfits.is_empty() {
        Ok(Ranked { dictionary: Dictionary::of_texts(list, has_missing), code_of })
    } else {
        Err(misfits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], kind: Kind, order: &[&str]) {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let ranked = rank_naturally(&texts, false, None).unwrap();
        assert_eq!(ranked.dictionary.kind, kind);
        assert_eq!(ranked.dictionary.texts, order);
        for (text, &code) in texts.iter().zip(&ranked.code_of) {
            let label = &ranked.dictionary.texts[code as usize];
            assert!(label == text || key(kind, label) == key(kind, text), "{text} became {label}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        check(&["10", "9", "-3"], Kind::Integer, &["-3", "9", "10"]);
        check(&["1.5", "10", "2"], Kind::Decimal, &["1.5", "2", "10"]);
        check(&["1e-400", "1"], Kind::Text, &["1", "1e-400"]);
        check(&["0e-400", "1"], Kind::Decimal, &["0e-400", "1"]);
        check(&["1e3", "2.5e-1"], Kind::Decimal, &["2.5e-1", "1e3"]);
    }

    #[test]
    fn a_leading_zero_anywhere_makes_text() {
        check(&["02174", "53711"], Kind::Text, &["02174", "53711"]);
        check(&["0", "53711"], Kind::Integer, &["0", "53711"]);
        check(&["00.5"], Kind::Text, &["00.5"]);
        check(&["0.5"], Kind::Decimal, &["0.5"]);
    }

    #[test]
    fn equal_numbers_share_a_code() {
        check(&["1.50", "1.5", "2.0"], Kind::Decimal, &["1.5", "2.0"]);
        check(&["1000", "1e3", "0.0", "-0.0"], Kind::Decimal, &["0.0", "1e3"]);
    }

    /// What tells people apart is compared as any other value: numbers by value, text by its
    /// characters.
    #[test]
    fn texts_of_one_value_are_identified() {
        let identified = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            identify(&texts, None).unwrap()
        };
        assert_eq!(identified(&["7", "12", "7.0", "7.00"]), (vec![0, 1, 0, 0], 2));
        assert_eq!(identified(&["007", "7", "7.0"]), (vec![0, 1, 2], 3));
        assert_eq!(identified(&["7", " 7"]), (vec![1, 0], 2));
        assert_eq!(identified(&["p9", "p10"]), (vec![1, 0], 2));
        assert_eq!(
            identified(&["2024-01-03", "2024-01-03T00:00", "2024-01-03T01:00:00"]),
            (vec![0, 0, 1], 2)
        );
        // Their order beyond a float's precision does not matter here, only that they stay apart.
        assert_eq!(identified(&["9007199254740993", "9007199254740992.0"]).1, 2);
    }

    #[test]
    fn numbers_beyond_a_float_stay_apart() {
        let (a, b) = ("9223372036854775808", "9223372036854775809");
        check(&[b, a], Kind::Decimal, &[a, b]);
        let (a, b) = ("0.12345678901234567891", "0.12345678901234567899");
        check(&[b, a], Kind::Decimal, &[a, b]);
        let (a, b) = ("2024-01-01T00:00:00.1234567", "2024-01-01T00:00:00.1234569");
        check(&[b, a], Kind::Timestamp, &[a, b]);
    }

    #[test]
    fn dates_and_times() {
        check(&["2024-02-29", "2023-12-31"], Kind::Date, &["2023-12-31", "2024-02-29"]);
        check(&["2023-02-29"], Kind::Text, &["2023-02-29"]);
        check(
            &["2024-01-03T10:00:00", "2024-01-03 09:59"],
            Kind::Timestamp,
            &["2024-01-03 09:59", "2024-01-03T10:00:00"],
        );
        check(
            &["2024-01-03T10:00:00+02:00", "2024-01-03T09:00:00Z"],
            Kind::Timestamp,
            &["2024-01-03T10:00:00+02:00", "2024-01-03T09:00:00Z"],
        );
        check(
            &["2024-01-03T10:00+02:00", "2024-01-03 07:59Z"],
            Kind::Timestamp,
            &["2024-01-03 07:59Z", "2024-01-03T10:00+02:00"],
        );
        check(&["2024-01-03T10:0\u{e9}+02:00"], Kind::Text, &["2024-01-03T10:0\u{e9}+02:00"]);
    }

    #[test]
    fn everything_else_is_text() {
        check(&["b", "a", "B"], Kind::Text, &["B", "a", "b"]);
        check(&["true", "FALSE"], Kind::Boolean, &["FALSE", "true"]);
        check(&["1", "x"], Kind::Text, &["1", "x"]);
        check(&["1", "2024-01-01"], Kind::Text, &["1", "2024-01-01"]);
        check(&["nan", "inf"], Kind::Text, &["inf", "nan"]);
        check(&["9223372036854775808"], Kind::Decimal, &["9223372036854775808"]);
    }

    #[test]
    fn positions_and_their_texts() {
        for (kind, text) in [
            (Kind::Integer, "-25"),
            (Kind::Decimal, "2.5"),
            (Kind::Date, "2024-02-29"),
            (Kind::Timestamp, "2024-02-29T10:00:00"),
        ] {
            assert_eq!(text_at(kind, position(kind, text).unwrap()), text);
        }
        assert_eq!(position(Kind::Integer, "9007199254740993"), None);
        assert_eq!(position(Kind::Decimal, "90071992547409930"), None);
        assert_eq!(position(Kind::Text, "1"), None);
    }

    #[test]
    fn a_declared_kind_names_its_misfits() {
        let texts = vec!["1".to_owned(), "x".to_owned()];
        assert_eq!(rank_naturally(&texts, false, Some(Kind::Integer)), Err(vec![1]));
        let declared = rank_naturally(&texts, false, Some(Kind::Text)).unwrap();
        assert_eq!(declared.dictionary.kind, Kind::Text);
    }

    #[test]
    fn a_list_gives_the_order_and_covers() {
        let list = || ["low", "mid", "high"].map(String::from).to_vec();
        let ranked = rank_by_list(&["high".to_owned(), "low".to_owned()], true, list()).unwrap();
        assert_eq!(ranked.code_of, [2, 0]);
        assert_eq!(ranked.dictionary.missing(), Some(3));
        assert_eq!(rank_by_list(&["other".to_owned()], false, list()), Err(vec![0]));
    }
}

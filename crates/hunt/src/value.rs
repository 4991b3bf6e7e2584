//! Values of cells, typed by the rules that the guide states, with exact comparisons.

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers of at most 18 digits.
    Integer,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    Text,
}

/// A cell's value. Numbers are multiples of 10^-12, so that they compare exactly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Missing,
    Number(i128),
    Boolean(bool),
    /// Days since an epoch.
    Date(i64),
    /// Nanoseconds since the same epoch.
    Timestamp(i128),
    Text(String),
}

pub(crate) const SCALE: i128 = 1_000_000_000_000;

impl Kind {
    /// The kind of a column with these cells: the narrowest that all of them fit.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Kind {
        let present: Vec<&str> = cells.flatten().collect();
        let fit = |kind: Kind| present.iter().all(|cell| kind.parse(cell).is_some());
        let kinds = [Kind::Integer, Kind::Decimal, Kind::Boolean, Kind::Date, Kind::Timestamp];
        if present.is_empty() {
            return Kind::Text;
        }
        kinds.into_iter().find(|&kind| fit(kind)).unwrap_or(Kind::Text)
    }

    /// The value of a cell that fits this kind.
    pub(crate) fn parse(self, cell: &str) -> Option<Value> {
        match self {
            Kind::Integer => integer(cell),
            Kind::Decimal => number(cell),
            Kind::Boolean => match cell {
                "true" => Some(Value::Boolean(true)),
                "false" => Some(Value::Boolean(false)),
                _ => None,
            },
            Kind::Date => days(cell).map(Value::Date),
            Kind::Timestamp => instant(cell).map(Value::Timestamp),
            Kind::Text => Some(Value::Text(cell.to_owned())),
        }
    }

    /// The value of a cell; one that does not fit is text.
    pub(crate) fn value(self, cell: Option<&str>) -> Value {
        match cell {
            None => Value::Missing,
            Some(cell) => self.parse(cell).unwrap_or_else(|| Value::Text(cell.to_owned())),
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Decimal)
    }

    /// Numbers, dates and timestamps have an order of their own.
    pub(crate) fn is_ordered(self) -> bool {
        self.is_number() || matches!(self, Kind::Date | Kind::Timestamp)
    }
}

fn integer(cell: &str) -> Option<Value> {
    let is_whole = !cell.contains('.');
    let digits = cell.trim_start_matches('-');
    number(cell).filter(|_| is_whole && digits.len() <= 18)
}

fn number(cell: &str) -> Option<Value> {
    let (is_negative, digits) = match cell.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, cell),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
    if whole.is_empty() || whole.len() > 24 || fraction.len() > 12 || has_leading_zero {
        return None;
    }
    if !all_digits(whole) || !all_digits(fraction) || digits.ends_with('.') {
        return None;
    }
    let scaled: i128 = format!("{whole}{fraction:0<12}").parse().ok()?;
    Some(Value::Number(if is_negative { -scaled } else { scaled }))
}

/// Days of a date `YYYY-MM-DD`, counted from 0000-03-01.
fn days(cell: &str) -> Option<i64> {
    let bytes = cell.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' || !cell.is_ascii() {
        return None;
    }
    let part = |from: usize, to: usize| -> Option<i64> {
        let text = &cell[from..to];
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day < 1 || day > length {
        return None;
    }
    // Years that begin in March, so that the leap day is the last one.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (153 * month + 2) / 5 + day - 1)
}

/// Nanoseconds of `YYYY-MM-DDTHH:MM[:SS[.fraction]]`, also with a blank instead of `T`.
fn instant(cell: &str) -> Option<i128> {
    if !cell.is_ascii() || cell.len() < 16 {
        return None;
    }
    let day = days(&cell[..10])?;
    if !matches!(cell.as_bytes()[10], b'T' | b' ') {
        return None;
    }
    let mut parts = cell[11..].split(':');
    let two = |text: &str| -> Option<i128> {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse().ok())?
    };
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let (second, nanos) = match parts.next() {
        None => (0, 0),
        Some(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
            let is_fraction = !fraction.is_empty()
                && fraction.len() <= 9
                && fraction.bytes().all(|byte| byte.is_ascii_digit());
            if !is_fraction {
                return None;
            }
            (two(whole)?, format!("{fraction:0<9}").parse().ok()?)
        }
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = i128::from(day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000_000_000 + nanos)
}

/// A number as a float, where rounding does not matter.
pub(crate) fn float(scaled: i128) -> f64 {
    (scaled / SCALE) as f64 + (scaled % SCALE) as f64 / SCALE as f64
}

pub(crate) fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::{Kind, Value};

    #[track_caller]
    fn check(cells: &[&str], kind: Kind) {
        assert_eq!(Kind::of(cells.iter().map(|&cell| Some(cell))), kind, "{cells:?}");
    }

    #[test]
    fn kinds_are_the_narrowest_that_fit() {
        check(&["1", "-20"], Kind::Integer);
        check(&["1", "2.50"], Kind::Decimal);
        check(&["01", "2"], Kind::Text);
        check(&["12345678901234567890123"], Kind::Decimal);
        check(&["2024-02-29"], Kind::Date);
        check(&["2023-02-29"], Kind::Text);
        check(&["2024-02-29T10:00", "2024-02-29 10:00:00.5"], Kind::Timestamp);
        check(&["true", "false"], Kind::Boolean);
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        assert_eq!(Kind::Decimal.parse("7"), Kind::Decimal.parse("7.00"));
        assert!(Kind::Decimal.parse("-16.9") < Kind::Decimal.parse("-4.6"));
        assert_eq!(Kind::Decimal.parse("1."), None);
        assert_eq!(Kind::Date.value(None), Value::Missing);
    }
}

//! Numbers in JSON lines that a float of 64 bits does not tell exactly.
//!
//! A reader of JSON takes every number that is not a whole number of 64 bits for a float, so that
//! account numbers of twenty digits become others. Such columns are read as decimal numbers of up
//! to 38 digits.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use crate::value::stored::{is_float, plain_digits};

/// The digits of a decimal column in Arrow.
const MOST_DIGITS: i64 = 38;

/// What the numbers of a column need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Whether a float would change one of them.
    is_inexact: bool,
    /// Digits before the point.
    n_whole: i64,
    /// Digits after the point.
    n_places: i64,
}

impl Numbers {
    /// The precision and the scale of a decimal column that holds the numbers; none where floats
    /// will do, and an error where nothing does.
    pub(crate) fn decimal(self) -> Result<Option<(u8, i8)>, ()> {
        if !self.is_inexact {
            return Ok(None);
        }
        if self.n_whole + self.n_places > MOST_DIGITS {
            return Err(());
        }
        let digits = u8::try_from(MOST_DIGITS).map_err(|_| ())?;
        Ok(Some((digits, i8::try_from(self.n_places).map_err(|_| ())?)))
    }

    fn add(&mut self, text: &str) {
        // What is a whole number of 64 bits is read as that, unless another number makes it a
        // float.
        self.is_inexact |= !is_float(text);
        let Some((_, digits, power)) = plain_digits(text) else {
            self.is_inexact = true;
            self.n_whole = MOST_DIGITS + 1;
            return;
        };
        let n_digits = i64::try_from(digits.len()).unwrap_or(i64::MAX / 2);
        self.n_whole = self.n_whole.max(power);
        self.n_places = self.n_places.max(n_digits.saturating_sub(power));
    }

    pub(crate) fn and(&mut self, other: Numbers) {
        self.is_inexact |= other.is_inexact;
        self.n_whole = self.n_whole.max(other.n_whole);
        self.n_places = self.n_places.max(other.n_places);
    }
}

/// What the numbers of each column need, by name. What breaks the rules of JSON is passed over:
/// whoever reads it says so.
pub(crate) fn numbers(text: impl Read) -> std::io::Result<BTreeMap<String, Numbers>> {
    let mut reader = BufReader::with_capacity(1 << 16, text);
    let mut found = BTreeMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        scan(&line, &mut found);
    }
}

/// Adds the numbers that are values of the object in a line.
fn scan(line: &[u8], found: &mut BTreeMap<String, Numbers>) {
    let (mut at, mut depth) = (0, 0_u32);
    let mut key: &[u8] = &[];
    let mut is_value = false;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(line, at);
                if depth == 1 && !is_value {
                    key = &line[at..end];
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                is_value = false;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => is_value = false,
            b'-' | b'0'..=b'9' if depth == 1 && is_value => {
                let end = end_of_number(line, at);
                let number = std::str::from_utf8(&line[at..end]);
                let name = serde_json::from_slice::<String>(key);
                if let (Ok(number), Ok(name)) = (number, name) {
                    found.entry(name).or_default().add(number);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The place after a string that begins here.
fn end_of_string(line: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    line.len()
}

fn end_of_number(line: &[u8], start: usize) -> usize {
    let is_part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    start + line[start..].iter().take_while(|byte| is_part(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Option<(u8, i8)>, ()>) {
        let found = numbers(text.as_bytes()).unwrap();
        assert_eq!(found.get("a").copied().unwrap_or_default().decimal(), expected, "{text}");
    }

    #[test]
    fn long_numbers_are_decimals() {
        check(r#"{"a":12345678901234567890123}"#, Ok(Some((38, 0))));
        check("{\"a\":18446744073709551615}\n{\"a\":1}", Ok(Some((38, 0))));
        check("{\"a\":9007199254740993}\n{\"a\":0.5}", Ok(Some((38, 1))));
        check(r#"{"a" : -0.12345678901234567891 }"#, Ok(Some((38, 20))));
        check(r#"{"a":1e-400}"#, Err(()));
        check("{\"a\":12345678901234567890123456789012345678.5}", Err(()));
    }

    #[test]
    fn other_numbers_are_floats() {
        check(r#"{"a":0.1,"b":12345678901234567890123}"#, Ok(None));
        check(r#"{"a":1e300}"#, Ok(None));
        check(r#"{"a":1.50}"#, Ok(None));
        check(r#"{"b":{"a":12345678901234567890123},"c":[12345678901234567890123]}"#, Ok(None));
        check(r#"{"b":"\"a\":12345678901234567890123","a":7}"#, Ok(None));
        check(r#"{"a":"12345678901234567890123"}"#, Ok(None));
        check("not JSON: \"a\": {", Ok(None));
    }

    #[test]
    fn names_may_be_escaped() {
        let found = numbers(&br#"{"\u0061":12345678901234567890123}"#[..]).unwrap();
        assert_eq!(found["a"].decimal(), Ok(Some((38, 0))));
    }
}

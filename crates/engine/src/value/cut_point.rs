//! Where a line of numbers, dates or times is cut: the roundest place between two neighbouring
//! values.
//!
//! A cut point is made of the two values beside the cut and of nothing else. It is the greater one
//! rounded down as far as it stays above the smaller one, so that it tells as little of both as a
//! place between them can.

use chrono::{DateTime, NaiveDateTime};
use incrowd_data::Kind;

use crate::value::typing::{instant, nanos, position};

/// A place between two values of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct CutPoint {
    /// The first value above the cut, as a value of the column would be written.
    pub text: String,
    /// Its place on the number line.
    pub position: f64,
    /// The last value below the cut, where neighbouring values are 1 apart: whole numbers and days.
    pub last_below: Option<(String, f64)>,
}

impl CutPoint {
    /// The cut point between two values of a kind, the first of which is less than the second.
    #[must_use]
    pub fn between(kind: Kind, below: &str, above: &str) -> CutPoint {
        let text = match kind {
            Kind::Integer => whole(below, above),
            Kind::Decimal => decimal(below, above),
            Kind::Date => date(below, above),
            Kind::Timestamp => timestamp(below, above),
            Kind::Boolean | Kind::Text => None,
        };
        CutPoint::at(kind, text.as_deref().unwrap_or(above))
    }

    /// The cut point whose first value above it is this one.
    #[must_use]
    pub fn at(kind: Kind, text: &str) -> CutPoint {
        let place = |text: &str| match kind {
            // Ordered exactly, but placed as a float places it.
            Kind::Integer | Kind::Decimal => text.parse().unwrap_or(f64::NAN),
            _ => position(kind, text).unwrap_or(f64::NAN),
        };
        let last_below = match kind {
            Kind::Integer => {
                let number: Option<i64> = text.parse().ok();
                number.and_then(|number| number.checked_sub(1)).map(|last| last.to_string())
            }
            Kind::Date => text
                .parse::<chrono::NaiveDate>()
                .ok()
                .and_then(|day| day.pred_opt())
                .map(|last| last.to_string())
                .filter(|last| position(kind, last).is_some()),
            _ => None,
        };
        let last_below = last_below.map(|last| {
            let position = place(&last);
            (last, position)
        });
        CutPoint { text: text.to_owned(), position: place(text), last_below }
    }
}

/// The multiple of the greatest power of ten that is above the one and not above the other.
fn whole(below: &str, above: &str) -> Option<String> {
    let (below, above): (i128, i128) =
        (below.parse::<i64>().ok()?.into(), above.parse::<i64>().ok()?.into());
    let powers = (0..20).rev().map(|power| 10i128.pow(power));
    let rounded = powers.map(|power| above.div_euclid(power) * power);
    rounded.into_iter().find(|&rounded| rounded > below).map(|rounded| rounded.to_string())
}

/// The same for numbers with a fraction: with as few digits as tell the two apart.
fn decimal(below: &str, above: &str) -> Option<String> {
    let (below, above): (f64, f64) = (below.parse().ok()?, above.parse().ok()?);
    if below < 0.0 && above >= 0.0 {
        return Some("0".to_owned());
    }
    let written = format!("{:e}", above.abs());
    let (mantissa, exponent) = written.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let fits = |number: &f64| below < *number && *number <= above;
    let candidates = (1..=digits.len()).map(|n| {
        let kept: i128 = digits[..n].parse().ok()?;
        // Below zero rounding down is away from zero.
        let is_exact = digits[n..].bytes().all(|digit| digit == b'0');
        let kept = if above < 0.0 { -kept - i128::from(!is_exact) } else { kept };
        let places = i32::try_from(n).ok()? - 1;
        format!("{kept}e{}", exponent - places).parse::<f64>().ok()
    });
    // A negative number rounds down to a power of ten first.
    let power = (above < 0.0).then(|| format!("-1e{}", exponent + 1).parse::<f64>().ok()).flatten();
    let found = power.into_iter().chain(candidates.flatten()).find(fits)?;
    let is_short = found == 0.0 || (1e-7..1e16).contains(&found.abs());
    Some(if is_short { found.to_string() } else { format!("{found:e}") })
}

/// The first day of a decade, a year or a month, or the day itself.
fn date(below: &str, above: &str) -> Option<String> {
    let (decade, year, month) = (above.get(..3)?, above.get(..4)?, above.get(..7)?);
    let rounded = [format!("{decade}0-01-01"), format!("{year}-01-01"), format!("{month}-01")];
    let below = position(Kind::Date, below)?;
    rounded.into_iter().find(|day| position(Kind::Date, day).is_some_and(|day| below < day))
}

/// The first instant of a year, a month, a day, an hour, a minute or a second.
fn timestamp(below: &str, above: &str) -> Option<String> {
    let from = DateTime::from_timestamp_nanos(nanos(above)?).naive_utc();
    let says_zone = instant(above).is_some_and(|(_, says_zone)| says_zone);
    let below = nanos(below)?;
    let forms = [
        "%Y-01-01T00:00:00",
        "%Y-%m-01T00:00:00",
        "%Y-%m-%dT00:00:00",
        "%Y-%m-%dT%H:00:00",
        "%Y-%m-%dT%H:%M:00",
        "%Y-%m-%dT%H:%M:%S",
    ];
    let text = |form: &&str| {
        let text = from.format(form).to_string();
        let at = NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S").ok()?;
        let text = text + if says_zone { "Z" } else { "" };
        let is_between = at.and_utc().timestamp_nanos_opt()? > below && nanos(&text)? > below;
        is_between.then_some(text)
    };
    forms.iter().find_map(text)
}

#[cfg(test)]
mod tests {
    use incrowd_data::Kind;

    use super::CutPoint;

    #[track_caller]
    fn check(kind: Kind, below: &str, above: &str, text: &str, last_below: Option<&str>) {
        let found = CutPoint::between(kind, below, above);
        assert_eq!(found.text, text);
        assert_eq!(found.last_below.map(|(last, _)| last).as_deref(), last_below);
    }

    #[test]
    fn cut_points_are_round() {
        check(Kind::Integer, "3", "10", "10", Some("9"));
        check(Kind::Integer, "28", "29", "29", Some("28"));
        check(Kind::Integer, "17", "43", "40", Some("39"));
        check(Kind::Integer, "-7", "5", "0", Some("-1"));
        check(Kind::Integer, "-43", "-17", "-20", Some("-21"));
        check(
            Kind::Integer,
            "9223372036854775806",
            "9223372036854775807",
            "9223372036854775807",
            Some("9223372036854775806"),
        );
        check(
            Kind::Integer,
            "-9223372036854775808",
            "-9223372036854775807",
            "-9223372036854775807",
            Some("-9223372036854775808"),
        );
        check(Kind::Decimal, "3.25", "10.5", "10", None);
        check(Kind::Decimal, "0.31", "0.347", "0.34", None);
        check(Kind::Decimal, "-0.347", "-0.31", "-0.31", None);
        check(Kind::Decimal, "-0.347", "-0.312", "-0.32", None);
        check(Kind::Decimal, "-3", "-1.5", "-2", None);
        check(Kind::Decimal, "-300", "-15", "-100", None);
        check(Kind::Decimal, "-1", "0.5", "0", None);
        check(Kind::Decimal, "1e300", "1.7e308", "1e308", None);
        check(Kind::Decimal, "0.1", "0.10000000000000002", "0.10000000000000002", None);
        check(Kind::Date, "2024-01-03", "2024-02-11", "2024-02-01", Some("2024-01-31"));
        check(Kind::Date, "1998-12-31", "2006-05-05", "2000-01-01", Some("1999-12-31"));
        check(Kind::Date, "2024-02-03", "2024-02-11", "2024-02-11", Some("2024-02-10"));
        let (from, to) = ("2024-01-03T10:00", "2024-01-03T13:45:20");
        check(Kind::Timestamp, from, to, "2024-01-03T13:00:00", None);
        check(
            Kind::Timestamp,
            "2024-01-03",
            "2024-01-04T01:00:00+02:00",
            "2024-01-03T23:00:00Z",
            None,
        );
    }

    #[test]
    fn a_cut_point_lies_between_the_values_it_was_made_of() {
        let mut state = 7u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        for _ in 0..20_000 {
            let (a, b) = (next(), next());
            let scale = 10f64.powi(i32::try_from(next() % 40).unwrap() - 20);
            #[expect(clippy::cast_precision_loss, reason = "any numbers will do")]
            let (mut a, mut b) = (
                (a % 2000) as f64 * scale - scale * 900.0,
                (b % 2000) as f64 * scale - scale * 900.0,
            );
            if a.total_cmp(&b).is_eq() {
                continue;
            }
            if a > b {
                (a, b) = (b, a);
            }
            let found = CutPoint::between(Kind::Decimal, &a.to_string(), &b.to_string());
            let place = found.position;
            assert!(a < place && place <= b, "{a} {b} {}", found.text);
            assert!(found.text.len() <= b.to_string().len().max(8) + 3, "{a} {b} {}", found.text);
        }
    }
}

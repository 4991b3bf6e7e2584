//! What values are stored as in typed files, and how texts become that without a loss.
//!
//! A text file says nothing of its types. A column is stored as the narrowest type that tells every
//! one of its texts apart and exactly; where there is none it stays text. No conversion here turns
//! a value into a missing cell or into another value: it fails instead.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Float64Array, PrimitiveArray, StringArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowTimestampType, DataType, Date32Type, Date64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow::error::ArrowError;
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use incrowd_data::Kind;

use super::kind::{day, kind_of_type};
use super::typing::{instant, join, kind_of};
use crate::decode::guarded;

/// What some texts have in common, as far as it decides what they can be stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Fit {
    kind: Kind,
    /// Whether a float of 64 bits tells every number.
    is_float: bool,
    /// Whether some time is finer than a microsecond.
    is_nanos: bool,
    /// Whether some time says its zone, and whether some does not.
    has_zone: bool,
    lacks_zone: bool,
}

impl Fit {
    /// That of one text.
    pub(crate) fn of(text: &str) -> Fit {
        let kind = kind_of(text);
        let is_number = matches!(kind, Kind::Integer | Kind::Decimal);
        let mut fit = Fit {
            kind,
            is_float: is_number && is_float(text),
            is_nanos: false,
            has_zone: false,
            lacks_zone: kind == Kind::Date,
        };
        if kind == Kind::Timestamp
            && let Some((at, has_zone)) = instant(text)
        {
            fit.is_nanos = !at.and_utc().timestamp_subsec_nanos().is_multiple_of(1_000);
            (fit.has_zone, fit.lacks_zone) = (has_zone, !has_zone);
        }
        fit
    }

    /// That of all texts, none if there are none.
    pub(crate) fn of_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Fit> {
        texts.into_iter().fold(None, |fit, text| Some(Fit::join(fit, Fit::of(text))))
    }

    /// That of the texts of both.
    pub(crate) fn join(a: Option<Fit>, b: Fit) -> Fit {
        let Some(a) = a else { return b };
        Fit {
            kind: join(Some(a.kind), b.kind),
            is_float: a.is_float && b.is_float,
            is_nanos: a.is_nanos || b.is_nanos,
            has_zone: a.has_zone || b.has_zone,
            lacks_zone: a.lacks_zone || b.lacks_zone,
        }
    }

    /// The narrowest kind of the texts.
    pub(crate) fn kind(self) -> Kind {
        self.kind
    }

    /// What the texts are stored as.
    pub(crate) fn data_type(self) -> DataType {
        self.data_type_as(self.kind)
    }

    /// What the texts are stored as where a job says that they are of this kind.
    pub(crate) fn data_type_as(self, kind: Kind) -> DataType {
        match kind {
            Kind::Integer => DataType::Int64,
            Kind::Decimal if self.is_float => DataType::Float64,
            Kind::Boolean => DataType::Boolean,
            Kind::Date => DataType::Date32,
            // A time of the world is not one of a place.
            Kind::Timestamp if self.has_zone && self.lacks_zone => DataType::Utf8,
            Kind::Timestamp => {
                let unit = if self.is_nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                DataType::Timestamp(unit, self.has_zone.then(|| "+00:00".into()))
            }
            Kind::Decimal | Kind::Text => DataType::Utf8,
        }
    }
}

/// So many digits of any decimal number come back from a float of 64 bits as they were.
pub(crate) const FLOAT_DIGITS: u8 = 15;

/// Whether a float of 64 bits tells a number exactly, or as well as its text does.
pub(crate) fn is_float(text: &str) -> bool {
    let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_digit).collect();
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let is_short = digits.len() - zeros <= usize::from(FLOAT_DIGITS);
    // A number with an exponent may be too small for a float, and one of many zeros, too.
    if is_short && power.is_empty() && text.len() <= 300 {
        return true;
    }
    let Ok(number) = text.parse::<f64>() else { return false };
    plain_digits(text) == plain_digits(&format!("{number:e}"))
}

/// The digits of a number without zeros at either end, and the power of ten of the first one.
pub(crate) fn plain_digits(text: &str) -> Option<(bool, Vec<u8>, i64)> {
    let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let power: i64 = power.parse().ok()?;
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let n_zeros = all.iter().take_while(|&&digit| digit == b'0').count();
    let end = all.iter().rposition(|&digit| digit != b'0').map_or(n_zeros, |last| last + 1);
    let place = i64::try_from(whole.len()).ok()? - i64::try_from(n_zeros).ok()?;
    Some((is_negative, all[n_zeros..end].to_vec(), power.checked_add(place)?))
}

/// The type of a column of labels that are plain values of a column: its own type, or what fits all
/// its values where it is text.
pub(crate) fn type_of_values(kind: Kind, own: &DataType, texts: &[String]) -> DataType {
    let own = plain_type(own);
    let is_own = kind_of_type(&own) == Some(kind);
    match kind {
        Kind::Text => DataType::Utf8,
        _ if is_own => own,
        _ => {
            let fit = Fit::of_all(texts.iter().map(String::as_str));
            fit.map_or(DataType::Utf8, |fit| fit.data_type_as(kind))
        }
    }
}

/// The type of the values, where an array holds indexes into them.
pub(crate) fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        data_type => data_type.clone(),
    }
}

/// The same values as another type. What does not fit is an error, never a missing cell; so is what
/// Arrow cannot write, such as a decimal with more places than there can be.
pub(crate) fn strict_cast(array: &dyn Array, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    guarded(|| cast_with_options(array, data_type, &options)).unwrap_or_else(|_| Err(misfit()))
}

/// Whether all bytes of an array, those within lists and records too, are text.
pub(crate) fn holds_text(array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => strict_cast(array, &DataType::Utf8).is_ok(),
        DataType::List(_) => holds_text(array.as_list::<i32>().values()),
        DataType::LargeList(_) => holds_text(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => holds_text(array.as_fixed_size_list().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().all(holds_text),
        DataType::Dictionary(_, values) => {
            strict_cast(array, values).is_ok_and(|values| holds_text(&values))
        }
        _ => true,
    }
}

/// Days, all of which have a date. A time within a day is not a day.
pub(crate) fn days(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let found = strict_cast(array, &DataType::Date32)?;
    let is_whole = match array.data_type() {
        DataType::Date64 => {
            let millis = array.as_primitive::<Date64Type>();
            millis.iter().flatten().all(|millis| millis % 86_400_000 == 0)
        }
        _ => true,
    };
    let has_date = |value: i32| day(value.into()).is_some();
    if is_whole && found.as_primitive::<Date32Type>().iter().flatten().all(has_date) {
        return Ok(found);
    }
    Err(misfit())
}

/// What a Parquet file holds values of a type as: it has no seconds, and 64-bit days would be read
/// as whole numbers. None if it has nothing like it.
pub(crate) fn parquet_type(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Date64 => DataType::Date32,
        DataType::Interval(_) => return None,
        data_type => data_type.clone(),
    })
}

/// Values of a type from their texts, or values of one type as another; what does not fit is an
/// error.
pub(crate) fn convert(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        from if from == data_type => Ok(Arc::clone(array)),
        DataType::Utf8 => typed(array.as_string::<i32>(), data_type),
        DataType::Date64 if data_type == &DataType::Date32 => days(array),
        _ => strict_cast(array, data_type),
    }
}

/// Values of a type from their texts.
pub(crate) fn typed(texts: &StringArray, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match data_type {
        DataType::Timestamp(Second, zone) => times::<TimestampSecondType>(texts, 1, zone.as_ref())?,
        DataType::Timestamp(Millisecond, zone) => {
            times::<TimestampMillisecondType>(texts, 1_000, zone.as_ref())?
        }
        DataType::Timestamp(Microsecond, zone) => {
            times::<TimestampMicrosecondType>(texts, 1_000_000, zone.as_ref())?
        }
        DataType::Timestamp(Nanosecond, zone) => {
            times::<TimestampNanosecondType>(texts, 1_000_000_000, zone.as_ref())?
        }
        DataType::Date32 | DataType::Date64 => {
            let days = |text: &str| {
                let day = text.parse::<NaiveDate>().map_err(|_| misfit())?;
                let days = day.signed_duration_since(NaiveDate::default()).num_days();
                i32::try_from(days).map_err(|_| misfit())
            };
            let days = texts.iter().map(|text| text.map(days).transpose());
            let days: ArrayRef = Arc::new(days.collect::<Result<Date32Array, _>>()?);
            strict_cast(&days, data_type)?
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let number = |text: &str| text.parse::<f64>().map_err(|_| misfit());
            let numbers = texts.iter().map(|text| text.map(number).transpose());
            let numbers: ArrayRef = Arc::new(numbers.collect::<Result<Float64Array, _>>()?);
            strict_cast(&numbers, data_type)?
        }
        DataType::Null if texts.null_count() == texts.len() => {
            new_null_array(data_type, texts.len())
        }
        _ => strict_cast(texts, data_type)?,
    })
}

/// Times in units of which so many are a second.
fn times<T: ArrowTimestampType>(
    texts: &StringArray,
    in_second: i64,
    zone: Option<&Arc<str>>,
) -> Result<ArrayRef, ArrowError> {
    let time = |text: &str| units(text, in_second).ok_or_else(misfit);
    let times = texts.iter().map(|text| text.map(time).transpose());
    let times = times.collect::<Result<PrimitiveArray<T>, _>>()?;
    Ok(Arc::new(times.with_timezone_opt(zone.cloned())))
}

/// The time that a text tells, in units of which so many are a second, if it is a whole number of
/// them.
fn units(text: &str, in_second: i64) -> Option<i64> {
    let at = time_of(text)?.and_utc();
    let nanos = i64::from(at.timestamp_subsec_nanos());
    let in_nanos = 1_000_000_000 / in_second;
    let fraction = (nanos % in_nanos == 0).then_some(nanos / in_nanos)?;
    // The first nanoseconds that there are begin within a second whose start is none.
    let whole = i128::from(at.timestamp()) * i128::from(in_second);
    i64::try_from(whole + i128::from(fraction)).ok()
}

/// The time that a text tells; a day begins at midnight.
pub(crate) fn time_of(text: &str) -> Option<NaiveDateTime> {
    if let Some((at, _)) = instant(text) {
        return Some(at);
    }
    // Years of more than four digits have a sign before them.
    let written = text.strip_suffix('Z').unwrap_or(text);
    let day = || written.parse::<NaiveDate>().ok().map(|day| day.and_time(NaiveTime::MIN));
    written.parse::<NaiveDateTime>().ok().or_else(day)
}

fn misfit() -> ArrowError {
    ArrowError::CastError("a text is not of its column's type".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &DataType) {
        let fit = Fit::of_all(texts.iter().copied()).unwrap();
        assert_eq!(fit.data_type(), *expected, "{texts:?}");
        // Whatever the type, every text comes back as the same value.
        let array = StringArray::from_iter_values(texts);
        let values = typed(&array, expected).unwrap();
        assert_eq!(values.null_count(), 0, "{texts:?}");
    }

    #[test]
    fn a_column_is_stored_as_what_tells_all_its_texts() {
        let time = |unit, zone: Option<&str>| DataType::Timestamp(unit, zone.map(Into::into));
        let (micros, nanos) = (TimeUnit::Microsecond, TimeUnit::Nanosecond);
        check(&["1", "-7", "9223372036854775807"], &DataType::Int64);
        check(&["1", "1.5", "0.1", "1e300"], &DataType::Float64);
        check(&["12345678901234567890123"], &DataType::Utf8);
        check(&["9007199254740993", "1.5"], &DataType::Utf8);
        check(&["9007199254740992", "1.5"], &DataType::Float64);
        check(&["0.1234567890123456789"], &DataType::Utf8);
        check(&["0.1000000000000000055511151231257827"], &DataType::Utf8);
        check(&["1.0000000000000000000"], &DataType::Float64);
        check(&["100000000000000000000"], &DataType::Float64);
        check(&["0.00000000000000000000001"], &DataType::Float64);
        check(&["2024-01-01T10:00"], &time(micros, None));
        check(&["2024-01-01 10:00", "2024-01-01"], &time(micros, None));
        check(&["2024-01-01T10:00:00.123456"], &time(micros, None));
        check(&["2024-01-01T10:00:00.1234567", "2024-01-01T10:00"], &time(nanos, None));
        check(
            &["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+02:00"],
            &time(micros, Some("+00:00")),
        );
        check(&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], &DataType::Utf8);
        check(&["2024-01-01T10:00:00Z", "2024-01-01"], &DataType::Utf8);
        check(&["2024-01-01T10:00:00.1234567891"], &DataType::Utf8);
        check(&["2016-12-31T23:59:60"], &DataType::Utf8);
        check(&["2016-12-31T23:59:60Z"], &DataType::Utf8);
        check(&["2024-01-01", "1677-01-01"], &DataType::Date32);
        check(&["true", "FALSE"], &DataType::Boolean);
        check(&["007", "1"], &DataType::Utf8);
        check(&["true", "1"], &DataType::Utf8);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let time = |unit| DataType::Timestamp(unit, None);
        for (text, data_type) in [
            ("2024-01-01T10:00:00.123456789", time(TimeUnit::Microsecond)),
            ("2024-01-01T10:00:00.1", time(TimeUnit::Second)),
            ("9999-01-01T10:00:00", time(TimeUnit::Nanosecond)),
            ("x", time(TimeUnit::Second)),
            ("x", DataType::Date32),
            ("x", DataType::Float64),
            ("300", DataType::UInt8),
            ("1.5", DataType::Int64),
        ] {
            let made = typed(&StringArray::from(vec![text]), &data_type);
            assert!(made.is_err(), "{text} as {data_type}: {made:?}");
        }
    }

    #[test]
    fn times_beyond_four_digits_come_back() {
        let texts = StringArray::from(vec!["+20000-01-01T10:00:00Z", "+20000-01-01T10:00:00"]);
        let made = typed(&texts, &DataType::Timestamp(TimeUnit::Microsecond, None)).unwrap();
        assert_eq!(made.null_count(), 0);
    }
}

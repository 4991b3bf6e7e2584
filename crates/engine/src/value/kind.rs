//! What values the types of Arrow hold, and how those of 64 bits read.

use arrow::datatypes::{DataType, TimeUnit};
use chrono::{DateTime, NaiveDate, TimeDelta};
use incrowd_data::Kind;

/// What a 64-bit value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Render {
    Integer,
    Decimal,
    Date,
    /// In micro- or nanoseconds, of a place or of the world.
    Timestamp {
        is_nanos: bool,
        is_utc: bool,
    },
}

pub(crate) fn render(data_type: &DataType) -> Option<Render> {
    match data_type {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => Some(Render::Integer),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(Render::Decimal),
        DataType::Date32 | DataType::Date64 => Some(Render::Date),
        DataType::Timestamp(unit, zone) => Some(Render::Timestamp {
            is_nanos: *unit == TimeUnit::Nanosecond,
            is_utc: zone.is_some(),
        }),
        _ => None,
    }
}

/// Whether values of an Arrow type can be given codes: whether they have a text.
pub(crate) fn can_be_coded(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => can_be_coded(values),
        DataType::Null => true,
        _ => kind_of_type(data_type).is_some(),
    }
}

/// The kind of values that an Arrow type holds, if it says one.
pub(crate) fn kind_of_type(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::UInt64 => Some(Kind::Integer),
        DataType::Decimal128(..) | DataType::Decimal256(..) => Some(Kind::Decimal),
        DataType::Boolean => Some(Kind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Text),
        DataType::Dictionary(_, values) => kind_of_type(values),
        _ => render(data_type).map(|render| match render {
            Render::Integer => Kind::Integer,
            Render::Decimal => Kind::Decimal,
            Render::Date => Kind::Date,
            Render::Timestamp { .. } => Kind::Timestamp,
        }),
    }
}

impl Render {
    pub(crate) fn text(self, value: i64) -> String {
        match self {
            Render::Integer => value.to_string(),
            Render::Decimal => f64::from_bits(value.cast_unsigned()).to_string(),
            Render::Date => day(value).map_or_else(String::new, |day| day.to_string()),
            Render::Timestamp { is_nanos, is_utc } => {
                let at = if is_nanos {
                    Some(DateTime::from_timestamp_nanos(value))
                } else {
                    DateTime::from_timestamp_micros(value)
                };
                let text = at.map(|at| at.naive_utc().format("%Y-%m-%dT%H:%M:%S%.f").to_string());
                text.unwrap_or_else(|| value.to_string()) + if is_utc { "Z" } else { "" }
            }
        }
    }
}

/// The day so many days after 1970-01-01, if the calendar reaches so far.
pub(crate) fn day(value: i64) -> Option<NaiveDate> {
    NaiveDate::default().checked_add_signed(TimeDelta::try_days(value)?)
}

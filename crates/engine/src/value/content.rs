//! What a column says, as a multiset of cells: to compare a release with what it was made from.
//!
//! Cells of different types are compared by their values. A column that is text in one file and a
//! time in another has the same content if every text tells the time in its place. The content of
//! all rows is the sum of the contents of any division of them.

use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Float32Type, Float64Type, Int64Type, TimeUnit,
};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use hashbrown::DefaultHashBuilder;

use super::stored::{plain_digits, strict_cast, time_of};

/// What the cells of a column are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The characters.
    Text,
    /// A whole number.
    Whole,
    /// A number of 64 bits.
    Real,
    /// A number of 32 bits, whose text has fewer digits.
    Real32,
    /// A number of any digits, whatever zeros are written after its last one.
    Decimal,
    /// True or false.
    Truth,
    /// Days, hours and what is finer.
    Time,
}

/// A multiset of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    n_missing: u64,
    n_cells: u64,
    sum: u64,
}

/// The contents of some columns, by name.
#[derive(Clone, Debug, Default)]
pub struct Contents(Vec<(String, Content)>);

impl Contents {
    pub(crate) fn push(&mut self, column: &str) {
        self.0.push((column.to_owned(), Content::default()));
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Content> {
        self.0.iter_mut().map(|(_, content)| content)
    }

    /// Adds the contents of other rows.
    pub(crate) fn add(&mut self, more: Contents) {
        for (name, content) in more.0 {
            match self.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(content),
                None => self.0.push((name, content)),
            }
        }
    }

    /// The content of a column.
    #[must_use]
    pub fn of(&self, column: &str) -> Option<Content> {
        self.0.iter().find(|(name, _)| name == column).map(|(_, content)| *content)
    }
}

/// The content of a column that was written, and what it is called in the release.
#[derive(Clone, Debug)]
pub struct ColumnContent {
    /// The column's name in the release.
    pub name: String,
    meaning: Meaning,
    content: Content,
}

impl Content {
    /// Adds the cells of another part of the column.
    pub(crate) fn add(&mut self, other: Content) {
        self.n_missing += other.n_missing;
        self.n_cells += other.n_cells;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Adds a cell by its hash; a missing one has none.
    pub(crate) fn add_cell(&mut self, hash: Option<u64>) {
        self.add_cells(hash, 1);
    }

    /// Adds so many equal cells.
    pub(crate) fn add_cells(&mut self, hash: Option<u64>, n_cells: u64) {
        self.n_cells += n_cells;
        match hash {
            None => self.n_missing += n_cells,
            Some(hash) => self.sum = self.sum.wrapping_add(hash.wrapping_mul(n_cells)),
        }
    }
}

impl Meaning {
    pub(crate) fn of(data_type: &DataType) -> Meaning {
        match data_type {
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32 => Meaning::Whole,
            DataType::Float64 => Meaning::Real,
            DataType::Float32 => Meaning::Real32,
            data_type if data_type.is_decimal() => Meaning::Decimal,
            DataType::Boolean => Meaning::Truth,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Meaning::Time,
            DataType::Dictionary(_, values) => Meaning::of(values),
            _ => Meaning::Text,
        }
    }

    /// The content of cells.
    pub(crate) fn content(self, array: &ArrayRef) -> Result<Content, ArrowError> {
        let mut content = Content::default();
        self.each(array, |hash| content.add_cell(hash))?;
        Ok(content)
    }

    /// Hands over the hash of every cell, none where it is missing.
    pub(crate) fn each(
        self,
        array: &ArrayRef,
        mut to: impl FnMut(Option<u64>),
    ) -> Result<(), ArrowError> {
        if array.data_type() == &DataType::Utf8 {
            let texts = array.as_string::<i32>();
            texts.iter().for_each(|text| to(text.map(|text| self.of_text(text))));
            return Ok(());
        }
        match self {
            Meaning::Text if is_bytes(array.data_type()) => {
                let array = strict_cast(array, &DataType::LargeBinary)?;
                array.as_binary::<i64>().iter().for_each(|cell| to(cell.map(hash_of)));
            }
            Meaning::Text => texts_of(array)?.iter().for_each(|text| to(text.map(hash_of))),
            Meaning::Decimal => {
                let texts = texts_of(array)?;
                texts.iter().for_each(|text| to(text.map(|text| self.of_text(text))));
            }
            Meaning::Whole => {
                let array = strict_cast(array, &DataType::Int64)?;
                array.as_primitive::<Int64Type>().iter().for_each(|cell| to(cell.map(whole)));
            }
            Meaning::Real => {
                let array = strict_cast(array, &DataType::Float64)?;
                array.as_primitive::<Float64Type>().iter().for_each(|cell| to(cell.map(real)));
            }
            Meaning::Real32 => {
                let array = strict_cast(array, &DataType::Float32)?;
                let real = |cell: f32| real(f64::from(cell));
                array.as_primitive::<Float32Type>().iter().for_each(|cell| to(cell.map(real)));
            }
            Meaning::Truth => {
                let array = strict_cast(array, &DataType::Boolean)?;
                array.as_boolean().iter().for_each(|cell| to(cell.map(|cell| whole(cell.into()))));
            }
            Meaning::Time => times(array, to)?,
        }
        Ok(())
    }

    /// The hash of a value that is written as a text. One that is not of the meaning is only
    /// itself.
    fn of_text(self, text: &str) -> u64 {
        let found = match self {
            Meaning::Text => None,
            Meaning::Decimal => decimal(text),
            Meaning::Whole => text.parse().ok().map(whole),
            Meaning::Real => text.parse().ok().map(real),
            Meaning::Real32 => text.parse::<f32>().ok().map(|number| real(number.into())),
            Meaning::Truth => match text.to_ascii_lowercase().as_str() {
                "true" => Some(whole(1)),
                "false" => Some(whole(0)),
                _ => None,
            },
            Meaning::Time => time_of(text).map(|at| {
                let at = at.and_utc();
                time(i128::from(at.timestamp()), i128::from(at.timestamp_subsec_nanos()))
            }),
        };
        found.unwrap_or_else(|| hash_of(text))
    }
}

/// Whether values are bytes, which need not be text.
fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    matches!(data_type, Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
}

/// Texts of any values.
fn texts_of(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    let is_plain = arrow::compute::can_cast_types(array.data_type(), &DataType::Utf8);
    if is_plain && !array.data_type().is_nested() {
        return Ok(strict_cast(array, &DataType::Utf8)?.as_string::<i32>().clone());
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let text = |at: usize| -> Result<Option<String>, ArrowError> {
        if array.is_null(at) {
            return Ok(None);
        }
        let mut text = String::new();
        write!(text, "{}", formatter.value(at).try_to_string()?)
            .map_err(|_| ArrowError::CastError(String::new()))?;
        Ok(Some(text))
    };
    (0..array.len()).map(text).collect()
}

/// Hands over the hashes of days and times of any unit.
fn times(array: &ArrayRef, mut to: impl FnMut(Option<u64>)) -> Result<(), ArrowError> {
    const DAY: i128 = 86_400;
    match array.data_type() {
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            days.iter().for_each(|cell| to(cell.map(|day| time(DAY * i128::from(day), 0))));
        }
        DataType::Date64 => {
            let millis = array.as_primitive::<Date64Type>();
            millis.iter().for_each(|cell| to(cell.map(|at| in_units(at, 1_000))));
        }
        DataType::Timestamp(unit, _) => {
            let in_second = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            };
            let units = strict_cast(array, &DataType::Int64)?;
            let units = units.as_primitive::<Int64Type>();
            units.iter().for_each(|cell| to(cell.map(|at| in_units(at, in_second))));
        }
        _ => texts_of(array)?.iter().for_each(|text| to(text.map(hash_of))),
    }
    Ok(())
}

fn in_units(at: i64, in_second: i64) -> u64 {
    let nanos = at.rem_euclid(in_second) * (1_000_000_000 / in_second);
    time(i128::from(at.div_euclid(in_second)), i128::from(nanos))
}

fn time(seconds: i128, nanos: i128) -> u64 {
    let at = (seconds * 1_000_000_000 + nanos).to_le_bytes();
    let [low, high] = [0, 8].map(|from| {
        let mut half = [0; 8];
        half.copy_from_slice(&at[from..from + 8]);
        u64::from_le_bytes(half)
    });
    mix(mix(low) ^ high)
}

fn whole(value: i64) -> u64 {
    mix(value.cast_unsigned())
}

fn real(value: f64) -> u64 {
    // Zero has one sign, and what is not a number one form.
    let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
    mix(value.to_bits())
}

/// The hash of a decimal number by its digits, if a text is one.
fn decimal(text: &str) -> Option<u64> {
    let is_part =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    if !text.bytes().all(is_part) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (is_negative, digits, power) = plain_digits(text)?;
    if digits.is_empty() {
        return Some(whole(0));
    }
    let power = if is_negative { !power } else { power };
    Some(mix(hash_of(digits) ^ whole(power)))
}

/// The hash of a text: quick, and the same throughout a run, which is as long as contents are
/// compared.
fn hash_of(text: impl AsRef<[u8]>) -> u64 {
    static BUILDER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);
    BUILDER.hash_one(text.as_ref())
}

/// Spreads the bits of a number (the finalizer of `SplitMix64`).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl ColumnContent {
    pub(crate) fn new(name: &str, meaning: Meaning, content: Content) -> ColumnContent {
        ColumnContent { name: name.to_owned(), meaning, content }
    }

    /// What the cells of the column are compared as.
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// Whether a column says what was written.
    #[must_use]
    pub fn is(&self, found: Content) -> bool {
        self.content == found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::value::stored::{Fit, typed};

    #[track_caller]
    fn check(texts: &[&str]) {
        let array = StringArray::from_iter_values(texts);
        let data_type = Fit::of_all(texts.iter().copied()).unwrap().data_type();
        let meaning = Meaning::of(&data_type);
        let values = typed(&array, &data_type).unwrap();
        let texts: ArrayRef = Arc::new(array);
        let [content, as_text] = [&values, &texts].map(|array| meaning.content(array).unwrap());
        assert_eq!(content, as_text, "{data_type}");
        assert_eq!(content.n_missing, 0);
        // One cell less, or another one, is another content.
        let less = meaning.content(&values.slice(1, values.len() - 1)).unwrap();
        assert_ne!(content, less);
        let (mut left, right) = (less, meaning.content(&values.slice(0, 1)).unwrap());
        left.add(right);
        assert_eq!(content, left);
    }

    #[test]
    fn the_same_values_have_the_same_content_in_any_form() {
        check(&["1", "2", "-9223372036854775808"]);
        check(&["1", "0.1", "1e10", "-0.0", "123456.789"]);
        check(&["true", "FALSE"]);
        check(&["2024-01-01", "1600-02-29"]);
        check(&["2024-01-01T10:00", "2024-01-01 10:00:00.5", "1969-12-31T23:59:59.999999"]);
        check(&["2024-01-01T10:00:00.123456789", "1969-12-31T23:59:59.999999999"]);
        check(&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+05:30"]);
        check(&["a", "", "007"]);
    }

    #[test]
    fn decimals_are_what_their_digits_say() {
        let cents: ArrayRef = Arc::new(
            arrow::array::Decimal128Array::from(vec![150, -7, 0, 1_000_000])
                .with_precision_and_scale(10, 2)
                .unwrap(),
        );
        let floats: ArrayRef =
            Arc::new(arrow::array::Float64Array::from(vec![1.5, -0.07, 0.0, 1e4]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["1.5", "-7e-2", "0.00", "10000"]));
        let of = |array: &ArrayRef| Meaning::Decimal.content(array).unwrap();
        assert_eq!(Meaning::of(cents.data_type()), Meaning::Decimal);
        assert_eq!((of(&cents), of(&cents)), (of(&floats), of(&texts)));
        for other in ["1.51", "-1.5", "15", "x", "-"] {
            let other: ArrayRef =
                Arc::new(StringArray::from(vec![other, "-7e-2", "0.00", "10000"]));
            assert_ne!(of(&cents), of(&other));
        }
    }

    #[test]
    fn missing_cells_are_counted() {
        let one: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let other: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("")]));
        let contents = [&one, &other].map(|array| Meaning::Text.content(array).unwrap());
        assert_ne!(contents[0], contents[1]);
    }
}

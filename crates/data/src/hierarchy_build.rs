//! Builders of hierarchies: from the distinct values of a column to rows `leaf, level 1, ...,
//! root`.
//!
//! Every builder returns rows of one length under the root `*`, nested so that
//! [`Hierarchy::from_rows`](crate::Hierarchy::from_rows) accepts them. Rows keep the order of the
//! values, a repeated value has one row, and no values produce no rows.

mod relabel;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::iter;

use crate::{closed_label, half_open_label, values_label};

pub use relabel::{relabel_fan_out, relabel_intervals, relabel_mask};

const ROOT: &str = "*";

/// The greatest absolute value of a number, in units of the last decimal place that counts. It
/// leaves room in an `i128` for the few sums and doublings that intervals need.
const MAX_UNITS: i128 = 10i128.pow(36);

/// A masked value has at most this many levels, within what a hierarchy can have.
const MAX_MASK_LEVELS: usize = 190;

/// The labels of a fan-out over text take at most this many bytes.
const MAX_LABEL_BYTES: usize = 1 << 30;

/// Why no hierarchy can be built. Rows are the positions of the given values, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum BuildError {
    /// A value is neither an integer nor a decimal number.
    #[error("the value of row {row} is not a number")]
    NotANumber { row: usize },
    /// A number does not fit, counted in the decimal places of the width and the origin.
    #[error(
        "the number of row {row} has more than 36 digits with the decimals of width and origin"
    )]
    NumberTooLarge { row: usize },
    /// The width of the intervals is not usable.
    #[error(
        "the width must be positive and have at most 36 digits with the decimals of the origin"
    )]
    BadWidth,
    /// The origin of the intervals is not usable.
    #[error("the origin must be a number of at most 36 digits with the decimals of the width")]
    BadOrigin,
    /// A level merges fewer than two intervals.
    #[error("level {level} must merge at least 2 intervals of the level below")]
    BadMerge { level: usize },
    /// The intervals of a level are too wide to be counted.
    #[error("the intervals of level {level} are wider than a number of 36 digits")]
    TooWide { level: usize },
    /// A value is neither a date nor a timestamp.
    #[error("the value of row {row} is not a date such as 2024-01-03, alone or before a time")]
    NotADate { row: usize },
    /// The parts of a date do not go from fine to coarse.
    #[error("`{part}` cannot follow `{after}`: each part of a date must be coarser than the last")]
    PartsNotCoarser { part: DatePart, after: DatePart },
    /// A part of a date follows `week`, which nests into none.
    #[error("`{part}` cannot follow `week`: a week may lie in two months or years")]
    WeekDoesNotNest { part: DatePart },
    /// The fan-out is below 2 and would merge nothing.
    #[error("the fan-out must be at least 2")]
    BadFanOut,
    /// A group of values gets the label of another group, or of a value outside of it, because of
    /// the signs within the values.
    #[error("a group of level {level} would have the label of another group or of another value")]
    SameLabel { level: usize },
    /// Text groups list their values, which takes too much space.
    #[error("{n_values} values are too many for labels that list every value of a group")]
    LabelsTooLong { n_values: usize },
}

/// The end of a value at which masking starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskSide {
    /// The first character is masked first.
    Left,
    /// The last character is masked first.
    Right,
}

/// What a level keeps of a date, from fine to coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatePart {
    /// `2024-01-03`.
    Day,
    /// The ISO week, `2024-W01`; nests into no coarser part.
    Week,
    /// `2024-01`.
    Month,
    /// `2024-Q1`.
    Quarter,
    /// `2024`.
    Year,
    /// `[2020-2029]`.
    Decade,
    /// `[2000-2099]`.
    Century,
}

impl DatePart {
    /// Every part with its name in job files and reports.
    pub const NAMES: [(&'static str, DatePart); 7] = [
        ("day", DatePart::Day),
        ("week", DatePart::Week),
        ("month", DatePart::Month),
        ("quarter", DatePart::Quarter),
        ("year", DatePart::Year),
        ("decade", DatePart::Decade),
        ("century", DatePart::Century),
    ];
}

impl fmt::Display for DatePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            DatePart::NAMES.iter().find(|(_, part)| part == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Groups numbers into intervals of `width` counted from `origin`, by default 0. If it were the
/// least value, labels would reveal that value even if its row is suppressed. Each entry of
/// `levels` adds a level that merges that number of neighbouring intervals, also counted from the
/// origin. Without entries, each level merges 2, as long as that leaves more than one interval.
///
/// Intervals are `[17-21]`, both ends included, if all numbers are whole, including the width and
/// the origin; otherwise `[1.5-2.5)`, without the right end. Numbers are read as exact decimals, so
/// 0.3 is the start of the fourth interval of width 0.1.
///
/// # Errors
///
/// A value that is not a number, or parameters that define no intervals.
pub fn intervals(
    values: &[&str],
    width: f64,
    origin: Option<f64>,
    levels: &[u32],
) -> Result<Vec<Vec<String>>, BuildError> {
    let grid = Grid::new(width, origin)?;
    let values = distinct(values);
    let numbers = in_units(&values, grid.places)?;
    let span = numbers.iter().map(|n| n.floor).min().zip(numbers.iter().map(|n| n.floor).max());
    let widths = match span {
        Some((least, greatest)) if levels.is_empty() => grid.doubled_widths(least, greatest),
        _ => grid.merged_widths(levels)?,
    };
    let is_whole = grid.places == 0 && numbers.iter().all(|number| number.is_exact);
    let labels = |number: &Units| {
        let floor = number.floor;
        widths.iter().map(|&width| grid.label(floor, width, is_whole)).collect::<Vec<_>>()
    };
    Ok(values
        .iter()
        .zip(&numbers)
        .map(|(&(_, leaf), number)| full_row(leaf, labels(number)))
        .collect())
}

/// Replaces one more character per level by `character`, from `side` on: `53711`, `5371*`, `537**`
/// and so on. Masked labels are as long as the longest value, shorter values are padded with
/// `character` at `side`. A label of nothing but `character` is the root.
///
/// If the longest value has more than 190 characters, each level masks several, to limit the depth.
#[must_use]
pub fn mask(values: &[&str], side: MaskSide, character: char) -> Vec<Vec<String>> {
    let values = distinct(values);
    let longest = values.iter().map(|(_, value)| value.chars().count()).max().unwrap_or(0);
    let step = longest.div_ceil(MAX_MASK_LEVELS).max(1);
    // A masked label determines the next one, because all have the same length: levels nest.
    let labels = |value: &str| {
        let padded = pad(value, side, character, longest);
        let masked = |n_masked| mask_label(&padded, side, character, n_masked);
        (step..longest).step_by(step).map(masked).collect::<Vec<_>>()
    };
    values.iter().map(|&(_, value)| full_row(value, labels(value))).collect()
}

/// Reduces dates, or the dates of timestamps, to one part per level. The time of a timestamp and
/// its offset from UTC are ignored.
///
/// # Errors
///
/// A value that is not a date in the years 1 to 9999, or parts that do not nest.
pub fn dates(values: &[&str], parts: &[DatePart]) -> Result<Vec<Vec<String>>, BuildError> {
    check_parts(parts)?;
    let build = |(row, value): (usize, &str)| {
        let date = Date::parse(value).ok_or(BuildError::NotADate { row })?;
        Ok(full_row(value, parts.iter().map(|&part| date.label(part)).collect()))
    };
    distinct(values).into_iter().map(build).collect()
}

/// Each level groups `fan_out` neighbours of the level below, until one group is left, the root.
/// The label of a group is `[first-last]`, or for text `{a|b|c}` with all its values; the label of
/// a single value is that value.
///
/// # Errors
///
/// A fan-out below 2, groups with the same label, or labels that take more than a gigabyte over all
/// rows.
pub fn fan_out(
    values: &[&str],
    fan_out: usize,
    is_text: bool,
) -> Result<Vec<Vec<String>>, BuildError> {
    if fan_out < 2 {
        return Err(BuildError::BadFanOut);
    }
    let values: Vec<&str> = distinct(values).into_iter().map(|(_, value)| value).collect();
    let sizes = iter::successors(Some(fan_out), |size| size.checked_mul(fan_out));
    let levels: Vec<(usize, Vec<String>)> = sizes
        .take_while(|&size| size < values.len())
        .map(|size| (size, values.chunks(size).map(|group| group_label(group, is_text)).collect()))
        .collect();
    check_labels(&levels, &values)?;
    let labels =
        |at: usize| levels.iter().map(|(size, labels)| labels[at / size].clone()).collect();
    Ok(values.iter().enumerate().map(|(at, value)| full_row(value, labels(at))).collect())
}

/// The values without repetitions, each with its row counted from 1.
fn distinct<'a>(values: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut seen = BTreeSet::new();
    (1..).zip(values.iter().copied()).filter(|&(_, value)| seen.insert(value)).collect()
}

fn full_row(leaf: &str, labels: Vec<String>) -> Vec<String> {
    iter::once(leaf.to_owned()).chain(labels).chain(iter::once(ROOT.to_owned())).collect()
}

fn in_units(values: &[(usize, &str)], places: usize) -> Result<Vec<Units>, BuildError> {
    let convert = |&(row, text): &(usize, &str)| {
        let number = Number::parse(text).ok_or(BuildError::NotANumber { row })?;
        number.in_units(places).ok_or(BuildError::NumberTooLarge { row })
    };
    values.iter().map(convert).collect()
}

/// A decimal number as written.
struct Number<'a> {
    is_negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: i32,
}

/// A number in units of a decimal place.
struct Units {
    /// Rounded down.
    floor: i128,
    /// Whether nothing was lost by rounding.
    is_exact: bool,
}

impl<'a> Number<'a> {
    fn parse(text: &'a str) -> Option<Number<'a>> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse().ok()?),
            None => (unsigned, 0),
        };
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let has_digits = !integer.is_empty() || !fraction.is_empty();
        let is_number = has_digits && is_digits(integer) && is_digits(fraction);
        let is_negative = text.starts_with('-');
        is_number.then_some(Number { is_negative, integer, fraction, exponent })
    }

    /// The number in units of `10^-places`, unless it is too large.
    fn in_units(&self, places: usize) -> Option<Units> {
        let n_digits = i64::try_from(self.integer.len() + self.fraction.len()).ok()?;
        let n_counted = i64::try_from(self.integer.len() + places).ok()? + i64::from(self.exponent);
        let digits =
            self.integer.bytes().chain(self.fraction.bytes()).map(|b| i128::from(b - b'0'));
        let (mut units, mut is_exact) = (0i128, true);
        for (at, digit) in (0..).zip(digits) {
            if at < n_counted {
                units = units.checked_mul(10)?.checked_add(digit)?;
            } else {
                is_exact &= digit == 0;
            }
        }
        if units != 0 && n_counted > n_digits {
            let zeros = u32::try_from(n_counted - n_digits).ok()?;
            units = units.checked_mul(10i128.checked_pow(zeros)?)?;
        }
        let floor = if self.is_negative { -units - i128::from(!is_exact) } else { units };
        (units <= MAX_UNITS).then_some(Units { floor, is_exact })
    }
}

/// The decimal places of the shortest decimal that represents this number.
fn decimal_places(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// Where intervals start, in units of `10^-places`: exact, since width and origin have no more
/// decimal places. Rounding a value down to units never moves it to another interval.
struct Grid {
    places: usize,
    width: i128,
    origin: i128,
}

impl Grid {
    fn new(width: f64, origin: Option<f64>) -> Result<Grid, BuildError> {
        let places = decimal_places(width).max(origin.map_or(0, decimal_places));
        let units = |number: f64| Some(Number::parse(&number.to_string())?.in_units(places)?.floor);
        let width = units(width).filter(|&width| width > 0).ok_or(BuildError::BadWidth)?;
        let origin = units(origin.unwrap_or(0.0)).ok_or(BuildError::BadOrigin)?;
        Ok(Grid { places, width, origin })
    }

    /// The widths of all levels: an interval of level `i` merges `levels[i]` of those below.
    fn merged_widths(&self, levels: &[u32]) -> Result<Vec<i128>, BuildError> {
        let mut widths = vec![self.width];
        let mut width = self.width;
        for (level, &merged) in (2..).zip(levels) {
            if merged < 2 {
                return Err(BuildError::BadMerge { level });
            }
            let product = width.checked_mul(merged.into()).filter(|&product| product <= MAX_UNITS);
            width = product.ok_or(BuildError::TooWide { level })?;
            widths.push(width);
        }
        Ok(widths)
    }

    /// The widths of all levels if each doubles that below, up to the last level that separates
    /// `least` from `greatest`. One interval is left on each side of the origin; these two never
    /// merge.
    fn doubled_widths(&self, least: i128, greatest: i128) -> Vec<i128> {
        let ends = |width| (self.index(least, width), self.index(greatest, width));
        let can_merge = |&width: &i128| {
            let (low, high) = ends(width * 2);
            low != high && ends(width) != (-1, 0)
        };
        iter::successors(Some(self.width), |width| can_merge(width).then_some(width * 2)).collect()
    }

    fn index(&self, number: i128, width: i128) -> i128 {
        (number - self.origin).div_euclid(width)
    }

    fn label(&self, number: i128, width: i128, is_whole: bool) -> String {
        let start = self.origin + self.index(number, width) * width;
        if is_whole {
            closed_label(&start.to_string(), &(start + width - 1).to_string())
        } else {
            half_open_label(&self.decimal(start), &self.decimal(start + width))
        }
    }

    /// A number of units as a decimal without trailing zeros.
    fn decimal(&self, units: i128) -> String {
        let sign = if units < 0 { "-" } else { "" };
        let digits = format!("{:0>1$}", units.unsigned_abs(), self.places + 1);
        let (integer, fraction) = digits.split_at(digits.len() - self.places);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{integer}{point}{fraction}")
    }
}

fn pad(value: &str, side: MaskSide, character: char, length: usize) -> Vec<char> {
    let missing = iter::repeat_n(character, length - value.chars().count());
    match side {
        MaskSide::Left => missing.chain(value.chars()).collect(),
        MaskSide::Right => value.chars().chain(missing).collect(),
    }
}

fn mask_label(padded: &[char], side: MaskSide, character: char, n_masked: usize) -> String {
    let n_kept = padded.len() - n_masked;
    let masked = match side {
        MaskSide::Left => 0..n_masked,
        MaskSide::Right => n_kept..padded.len(),
    };
    let replace = |(at, &kept)| if masked.contains(&at) { character } else { kept };
    let label: String = padded.iter().enumerate().map(replace).collect();
    if label.chars().all(|c| c == character) { ROOT.to_owned() } else { label }
}

fn check_parts(parts: &[DatePart]) -> Result<(), BuildError> {
    for pair in parts.windows(2) {
        let (after, part) = (pair[0], pair[1]);
        if part <= after {
            return Err(BuildError::PartsNotCoarser { part, after });
        }
        if after == DatePart::Week {
            return Err(BuildError::WeekDoesNotNest { part });
        }
    }
    Ok(())
}

/// A day of the Gregorian calendar.
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    /// The date that `text` consists of, or starts with if a time follows.
    fn parse(text: &str) -> Option<Date> {
        let (date, rest) = text.split_at_checked(10)?;
        let [year, month, day] = fields(date, '-')?;
        let is_date =
            [year.len(), month.len(), day.len()] == [4, 2, 2] && (rest.is_empty() || is_time(rest));
        let date = Date { year: number(year)?, month: number(month)?, day: number(day)? };
        (is_date && date.is_valid()).then_some(date)
    }

    fn is_valid(&self) -> bool {
        self.year >= 1
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
    }

    fn label(&self, part: DatePart) -> String {
        let Date { year, month, day } = self;
        match part {
            DatePart::Day => format!("{year:04}-{month:02}-{day:02}"),
            DatePart::Week => self.week(),
            DatePart::Month => format!("{year:04}-{month:02}"),
            DatePart::Quarter => format!("{year:04}-Q{}", month.div_ceil(3)),
            DatePart::Year => format!("{year:04}"),
            DatePart::Decade => years(year - year % 10, 10),
            DatePart::Century => years(year - year % 100, 100),
        }
    }

    /// The ISO week: it belongs to the year of its Thursday.
    fn week(&self) -> String {
        let day_of_year =
            (1..self.month).map(|m| days_in_month(self.year, m)).sum::<u32>() + self.day;
        let past = self.year - 1;
        // Day 1 of year 1 was a Monday; Mondays are 0.
        let weekday = (past * 365 + past / 4 - past / 100 + past / 400 + day_of_year - 1) % 7;
        let thursday = day_of_year + 3;
        let in_year = days_in_year(self.year);
        let (year, thursday) = if thursday <= weekday {
            (past, thursday + days_in_year(past) - weekday)
        } else if thursday - weekday > in_year {
            (self.year + 1, thursday - weekday - in_year)
        } else {
            (self.year, thursday - weekday)
        };
        format!("{year:04}-W{:02}", thursday.div_ceil(7))
    }
}

fn years(first: u32, n_years: u32) -> String {
    format!("[{first:04}-{:04}]", first + n_years - 1)
}

fn fields(text: &str, separator: char) -> Option<[&str; 3]> {
    text.split(separator).collect::<Vec<_>>().try_into().ok()
}

fn number(digits: &str) -> Option<u32> {
    // `parse` would accept a sign.
    is_digits(digits).then(|| digits.parse().ok())?
}

/// Whether `T10:00` or ` 10:00` starts the text; seconds and offsets do not matter.
fn is_time(text: &str) -> bool {
    let Some(time) = text.strip_prefix(['T', ' ']).and_then(|time| time.get(..5)) else {
        return false;
    };
    let Some((hour, minute)) = time.split_once(':') else { return false };
    hour.len() == 2
        && number(hour).is_some_and(|hour| hour < 24)
        && number(minute).is_some_and(|minute| minute < 60)
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in_year(year: u32) -> u32 {
    365 + u32::from(is_leap(year))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn group_label(group: &[&str], is_text: bool) -> String {
    match group {
        // Only missing cells have an empty label.
        [value] if !value.is_empty() => (*value).to_owned(),
        [_] => "{}".to_owned(),
        [first, .., last] if !is_text => closed_label(first, last),
        _ => values_label(group.iter().copied()),
    }
}

/// Refuses labels that stand for two groups, or for a group and a value outside of it, and labels
/// that rows would repeat into the gigabytes.
fn check_labels(levels: &[(usize, Vec<String>)], values: &[&str]) -> Result<(), BuildError> {
    let place_of: BTreeMap<&str, usize> = values.iter().copied().zip(0..).collect();
    let mut bytes = 0usize;
    for (level, (size, labels)) in (1..).zip(levels) {
        let distinct: BTreeSet<&String> = labels.iter().collect();
        let is_elsewhere = |(group, label): (usize, &String)| {
            place_of.get(label.as_str()).is_some_and(|place| place / size != group)
        };
        if distinct.len() < labels.len() || labels.iter().enumerate().any(is_elsewhere) {
            return Err(BuildError::SameLabel { level });
        }
        let length: usize = labels.iter().map(String::len).sum();
        bytes = bytes.saturating_add(length.saturating_mul(*size));
    }
    if bytes > MAX_LABEL_BYTES {
        return Err(BuildError::LabelsTooLong { n_values: values.len() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Axes: linear, logarithmic, or one place for each name.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The label of the axis.
    pub name: String,
    /// How values become places.
    pub kind: Kind,
}

/// How values become places.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// In proportion, starting at zero if that is not far.
    Linear,
    /// By their logarithms. Values that are not positive are drawn at the lower end.
    Log,
    /// The n-th name is at n.
    Names(Vec<String>),
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), kind: Kind::Linear }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), kind: Kind::Log }
    }

    /// An axis with a place for each name.
    #[must_use]
    pub fn names<S: Into<String>>(
        name: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Axis {
        Axis { name: name.into(), kind: Kind::Names(names.into_iter().map(Into::into).collect()) }
    }

    /// The axis over some values.
    pub(crate) fn over(&self, values: impl Iterator<Item = f64>) -> Scale {
        let finite = values.filter(|value| value.is_finite());
        let is_log = self.kind == Kind::Log;
        let (least, greatest) = finite
            .filter(|value| !is_log || *value > 0.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
        let range = match &self.kind {
            Kind::Names(names) => -0.5..names.len() as f64 - 0.5,
            _ if least > greatest => 0.0..1.0,
            Kind::Log => least / 1.15..greatest * 1.15,
            Kind::Linear => {
                let low = if least > 0.0 && least < 0.6 * greatest { 0.0 } else { least };
                let room = ((greatest - low).max(greatest.abs() * 1e-3).max(1e-9)) * 0.05;
                let low = if low == 0.0 { 0.0 } else { low - room };
                low..greatest + room
            }
        };
        Scale { kind: self.kind.clone(), range }
    }
}

/// An axis over a range of values.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    kind: Kind,
    range: Range<f64>,
}

impl Scale {
    /// A linear axis over exactly this range.
    pub(crate) fn exact(range: Range<f64>) -> Scale {
        Scale { kind: Kind::Linear, range }
    }

    /// The place of a value, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        match self.kind {
            Kind::Log if start > 0.0 => {
                ((value.max(start)).ln() - start.ln()) / (end.ln() - start.ln())
            }
            _ => (value - start) / (end - start),
        }
    }

    /// At most `most` round values at which the axis is marked.
    fn marks(&self, most: usize) -> Vec<f64> {
        let Range { start, end } = self.range;
        match &self.kind {
            Kind::Names(names) => (0..names.len()).map(|at| at as f64).collect(),
            Kind::Log if start > 0.0 => log_marks(start, end, most),
            _ => linear_marks(start, end, most),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_marks(start: f64, end: f64, most: usize) -> Vec<f64> {
    let most = most.clamp(2, 11) as f64;
    let rough = (end - start) / (most - 1.0);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter();
    let step = step.filter(|step| *step >= rough * 0.999).fold(10.0 * power, f64::min);
    #[expect(clippy::cast_possible_truncation, reason = "a few steps from the start")]
    let (first, last) = ((start / step).ceil() as i64, (end / step).floor() as i64);
    let marks = (first..=last).map(|n| n as f64 * step);
    marks.collect()
}

/// Powers of ten, and 2 and 5 times them if there is room.
fn log_marks(start: f64, end: f64, most: usize) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "exponents are small")]
    let (first, last) = (start.log10().floor() as i32, end.log10().ceil() as i32);
    for digits in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
        let marks: Vec<f64> = (first..=last)
            .flat_map(|exponent| digits.iter().map(move |digit| digit * 10f64.powi(exponent)))
            .filter(|mark| (start..=end).contains(mark))
            .collect();
        if marks.len() <= most.max(3) {
            return marks;
        }
    }
    #[expect(clippy::cast_sign_loss, reason = "last is not below first")]
    let step = ((last - first) as usize).div_ceil(most.max(2));
    (first..=last).step_by(step).map(|exponent| 10f64.powi(exponent)).collect()
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let width = f64::from(limit.1 - limit.0);
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of the picture")]
        let offset = (width * self.share(*value).clamp(-1.0, 2.0)).round() as i32;
        limit.0 + offset
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.marks(hint.bold_points())
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        match &self.kind {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
            Kind::Names(names) => {
                let is_place = *value >= 0.0 && value.fract() == 0.0;
                let name = is_place.then(|| names.get(*value as usize)).flatten();
                name.cloned().unwrap_or_default()
            }
            // Marks close to each other need all their digits.
            Kind::Linear if is_narrow(&self.range) => {
                let text = format!("{value:.2}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => short(*value),
        }
    }
}

/// Whether the large numbers of a range would look alike in short form.
fn is_narrow(range: &Range<f64>) -> bool {
    let (width, size) = (range.end - range.start, range.end.abs().max(range.start.abs()));
    (1e4..1e10).contains(&size) && (1.0..size / 20.0).contains(&width)
}

/// A number in few characters: 0.25, 1000, 25k, 3M, 2G.
pub(crate) fn short(value: f64) -> String {
    let trimmed = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e15).contains(&size) => format!("{value:.0e}"),
        size if size >= 1e9 => trimmed(value / 1e9) + "G",
        size if size >= 1e6 => trimmed(value / 1e6) + "M",
        size if size >= 1e4 => trimmed(value / 1e3) + "k",
        _ => trimmed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_close_together_read_differently() {
        let text = |range: Range<f64>, value: f64| Scale::exact(range).format_ext(&value);
        assert_eq!(text(53_709.5..53_712.5, 53_711.0), "53711");
        assert_eq!(text(53_709.5..53_712.5, 53_711.5), "53711.5");
        assert_eq!(text(0.0..60_000.0, 50_000.0), "50k");
        assert_eq!(text(10_000.0..60_000.0, 50_000.0), "50k");
    }

    #[test]
    fn linear_marks_are_round() {
        assert_eq!(linear_marks(0.0, 1.0, 6), [0.0, 0.2, 0.4, 0.600_000_000_000_000_1, 0.8, 1.0]);
        assert_eq!(linear_marks(0.0, 73.0, 5), [0.0, 20.0, 40.0, 60.0]);
    }

    #[test]
    fn log_marks_are_powers() {
        assert_eq!(log_marks(2.0, 1000.0, 4), [10.0, 100.0, 1000.0]);
        assert_eq!(log_marks(1.0, 100.0, 10), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.25, 1000.0, 25_000.0, 3e6].map(short), ["0.25", "1000", "25k", "3M"]);
    }

    #[test]
    fn log_axis_accepts_zeros() {
        let scale = Axis::log("").over([0.0, 10.0, 1000.0].into_iter());
        assert!((scale.share(0.0)).abs() < 1e-12);
        assert!(scale.share(1000.0) < 1.0);
    }
}

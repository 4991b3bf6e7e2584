//! The line on which the values of an ordered column lie.

use incrowd_data::{Attribute, Cell, Kind, Shape};

/// The line on which the values of an ordered column lie.
#[derive(Debug)]
pub(super) struct Line {
    /// What the line shows.
    pub(super) axis: &'static str,
    /// By code, its place; a missing value has none.
    pub(super) places: Vec<f64>,
    /// Half of what a value takes up on the line: whole numbers and ranks have no gaps between
    /// them.
    pub(super) half: f64,
}

/// Times lie on the number line by their nanoseconds.
pub(super) const NANOS_PER_DAY: f64 = 86_400e9;

const DAYS_PER_YEAR: f64 = 365.2425;

impl Line {
    /// The line of an attribute whose values have an order.
    pub(super) fn of(attribute: &Attribute) -> Option<Line> {
        let dictionary = &attribute.dictionary;
        let year = |days: f64| 1970.0 + days / DAYS_PER_YEAR;
        let positions = dictionary.positions.iter().copied();
        let (axis, places, half) = match (&attribute.shape, dictionary.kind) {
            (Shape::Unordered, _) => return None,
            (Shape::Numeric, Kind::Date) => ("year", positions.map(year).collect(), 0.0),
            (Shape::Numeric, Kind::Timestamp) => {
                ("year", positions.map(|nanos| year(nanos / NANOS_PER_DAY)).collect(), 0.0)
            }
            (Shape::Numeric, _) => {
                ("value", positions.clone().collect(), half_of("value", positions))
            }
            (Shape::Ordinal, _) => ("place in the order", ranks(attribute), 0.5),
            (Shape::Tree(_), _) => ("place in the hierarchy", ranks(attribute), 0.5),
        };
        Some(Line { axis, places, half })
    }

    /// A line for values without an order: they lie side by side, the commonest first.
    pub(super) fn of_unordered(attribute: &Attribute) -> Line {
        Line { axis: "the commonest first", places: ranks(attribute), half: 0.5 }
    }

    /// The stretches of the line that a cell covers, if it says something: one, or several of a
    /// set.
    pub(super) fn stretches(&self, attribute: &Attribute, cell: &Cell) -> Vec<(f64, f64)> {
        if !matches!(cell, Cell::Set(_) | Cell::Nodes(_)) {
            return self.ends(attribute, cell).into_iter().collect();
        }
        let place = |code: u32| self.places.get(code as usize).copied();
        let runs = attribute.runs(cell);
        let next_to = |a: &(u32, u32), b: &(u32, u32)| a.1 + 1 == b.0 && place(b.1).is_some();
        // A missing value has no place.
        let ends = |runs: &[(u32, u32)]| place(runs[0].0).zip(place(runs[runs.len() - 1].1));
        runs.chunk_by(next_to).filter_map(ends).collect()
    }

    /// The ends of all values.
    pub(super) fn whole(&self) -> Option<(f64, f64)> {
        Some((*self.places.first()?, *self.places.last()?))
    }

    /// The ends of a cell, if it says something.
    pub(super) fn ends(&self, attribute: &Attribute, cell: &Cell) -> Option<(f64, f64)> {
        if matches!(cell, Cell::All | Cell::Set(_) | Cell::Nodes(_)) {
            return None;
        }
        let (lo, hi) = attribute.extent(cell);
        Some((*self.places.get(lo as usize)?, *self.places.get(hi as usize)?))
    }
}

/// Half of what a value takes up on an axis that has these: whole numbers have no gaps between
/// them.
pub(super) fn half_of(axis: &str, mut places: impl Iterator<Item = f64>) -> f64 {
    if axis == "value" && places.all(|place| place.fract() == 0.0) { 0.5 } else { 0.0 }
}

/// The ranks of the values.
fn ranks(attribute: &Attribute) -> Vec<f64> {
    (0..attribute.n_values()).map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::Dictionary;

    #[test]
    fn times_lie_in_their_year() {
        let texts = vec!["2024-07-02T12:00".to_owned()];
        let at = |text: &String| incrowd_engine::position(Kind::Timestamp, text).unwrap();
        let positions = texts.iter().map(at).collect();
        let dictionary = Dictionary { kind: Kind::Timestamp, texts, positions, has_missing: false };
        let attribute = Attribute { name: "at".to_owned(), dictionary, shape: Shape::Numeric };
        let line = Line::of(&attribute).unwrap();
        assert_eq!(line.axis, "year");
        assert!((line.places[0] - 2024.5).abs() < 0.01, "{:?}", line.places);
    }
}

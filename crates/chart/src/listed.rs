//! Names one below the other, with bars next to them or below them.

use plotters::prelude::*;

use crate::axis::short;
use crate::frame::{
    Drawn, FONT, LINE_HEIGHT, Sheet, TEXT_SIZE, WIDTH, colour, framed, legend_rows, text_width,
    told_apart,
};

/// A list of names with a bar for every series: for names that are too long or too many to be
/// placed side by side.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The title above the chart.
    pub title: String,
    /// The names from the top down.
    pub names: Vec<String>,
    /// The name of each series and its value for each of `names`; NaN has no bar.
    pub series: Vec<(String, Vec<f64>)>,
}

/// The height of a bar, including the space below it.
const BAR: i32 = 15;
/// Characters of a name beside its bars.
const MOST_BESIDE: usize = 20;
/// Characters of a name above its bars.
const MOST_ABOVE: usize = 58;
/// Room for a number at the end of a bar.
const NUMBER: i32 = 52;

/// A value with three significant digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => short(value),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.0e}"),
    }
}

impl Listed {
    /// The chart as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let legend: Vec<&str> = self.series.iter().map(|(name, _)| name.as_str()).collect();
        let legend = if legend.len() > 1 { legend } else { Vec::new() };
        let mark = |sheet: &Sheet, at: usize, (x, y): (i32, i32)| {
            sheet.draw(&Rectangle::new([(x + 4, y - 6), (x + 18, y + 6)], colour(at).filled()))
        };
        let n_rows = i32::try_from(self.names.len()).unwrap_or(i32::MAX / 1000);
        let room = 44 + LINE_HEIGHT * legend_rows(WIDTH, &legend);
        let height = room + n_rows * self.row_height();
        framed((WIDTH.unsigned_abs(), height.unsigned_abs()), &self.title, &legend, mark, |sheet| {
            self.draw(sheet)
        })
    }

    /// Whether a name is too long to be placed beside its bars.
    fn is_above(&self) -> bool {
        self.names.iter().any(|name| name.chars().count() > MOST_BESIDE)
    }

    fn row_height(&self) -> i32 {
        let bars = BAR * i32::try_from(self.series.len().max(1)).unwrap_or(1) + 7;
        if self.is_above() { bars + LINE_HEIGHT - 4 } else { bars }
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let is_above = self.is_above();
        let names = told_apart(&self.names, if is_above { MOST_ABOVE } else { MOST_BESIDE });
        let widest = names.iter().map(|name| text_width(name)).max().unwrap_or(0);
        let left = if is_above { 14 } else { 20 + widest };
        let values = self.series.iter().flat_map(|(_, values)| values).copied();
        let most = values.filter(|value| value.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        for (row, name) in (0..).zip(&names) {
            let top = row * self.row_height() + 4;
            let bars = if is_above { top + LINE_HEIGHT - 4 } else { top };
            let middle = top + (self.row_height() - 7) / 2;
            let place = if is_above { (12, top) } else { (10, middle - 7) };
            sheet.draw(&Text::new(name.clone(), place, (FONT, TEXT_SIZE)))?;
            for (at, (_, values)) in self.series.iter().enumerate() {
                let Some(value) = values.get(usize::try_from(row).unwrap_or(usize::MAX)) else {
                    continue;
                };
                if !value.is_finite() {
                    continue;
                }
                let y = bars + BAR * i32::try_from(at).unwrap_or(0);
                #[expect(clippy::cast_possible_truncation, reason = "pixels")]
                let right = left + (f64::from(WIDTH - left - NUMBER) * value / most).round() as i32;
                let bar = [(left, y), (right.max(left + 1), y + BAR - 3)];
                sheet.draw(&Rectangle::new(bar, colour(at).filled()))?;
                let place = (right.max(left + 1) + 5, y - 1);
                sheet.draw(&Text::new(rounded(*value), place, (FONT, TEXT_SIZE - 1)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_not_shortened_to_equal_names() {
        let names = ["age, sex, education", "age, sex, marital-status, native-country, occupation"];
        let of = |last: &str| format!("{}, {last}", names[1]);
        let names = vec![names[0].to_owned(), of("race"), of("relationship")];
        let series = vec![("rows".to_owned(), vec![1.0, 2.0, 3.0])];
        let svg = Listed { title: "t".to_owned(), names, series }.svg();
        assert!(svg.contains("age, sex, education") && svg.contains("occupation, race"));
        assert!(svg.contains(", relationship"));
    }
}

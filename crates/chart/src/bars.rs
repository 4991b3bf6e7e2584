//! Groups of bars.

use plotters::prelude::*;

use crate::axis::Kind;
use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, WIDTH, colour, faint, framed, text_width};
use crate::{Axis, Listed};

/// The width of all groups: the sheet without its axis and margins.
const ACROSS: i32 = WIDTH - 64 - 10 - 24;

/// A chart of bars: groups side by side, each with a bar for every series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title above the chart.
    pub title: String,
    /// The name of the groups' axis.
    pub x: String,
    /// The vertical axis; linear or logarithmic.
    pub y: Axis,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The name of each series and its value for each group; NaN has no bar.
    pub series: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// The chart as SVG. Groups whose names would overlap are listed one below the other.
    #[must_use]
    pub fn svg(&self) -> String {
        if !self.has_room() {
            let (title, names) = (self.title.clone(), self.groups.clone());
            return Listed { title, names, series: self.series.clone() }.svg();
        }
        let legend: Vec<&str> = self.series.iter().map(|(name, _)| name.as_str()).collect();
        let legend = if legend.len() > 1 { legend } else { Vec::new() };
        let mark = |sheet: &Sheet, at: usize, (x, y): (i32, i32)| {
            sheet.draw(&Rectangle::new([(x + 4, y - 6), (x + 18, y + 6)], colour(at).filled()))
        };
        framed((WIDTH.unsigned_abs(), 320), &self.title, &legend, mark, |sheet| self.draw(sheet))
    }

    /// Whether neighbouring names fit side by side. Lists have no logarithmic scale, so logarithmic
    /// bars always stay.
    fn has_room(&self) -> bool {
        let widths: Vec<i32> = self.groups.iter().map(|name| text_width(name)).collect();
        let room = ACROSS / i32::try_from(self.groups.len().max(1)).unwrap_or(i32::MAX);
        let fit = widths.windows(2).all(|two| i32::midpoint(two[0], two[1]) <= room);
        fit || self.y.kind == Kind::Log
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let values = self.series.iter().flat_map(|(_, values)| values.iter().copied());
        // A bar is as long as its value only if it begins at zero.
        let y = self.y.over(values.chain([0.0]));
        let floor = plotters::coord::ranged1d::Ranged::range(&y).start;
        let x = Axis::names(self.x.as_str(), self.groups.iter().cloned());
        let mut chart = ChartBuilder::on(sheet)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(x.over(std::iter::empty()), y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(faint())
            .x_desc(self.x.as_str())
            .y_desc(self.y.name.as_str())
            .y_labels(7)
            .label_style((FONT, TEXT_SIZE))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        let (width, places) = (0.8 / self.series.len().max(1) as f64, |at: usize| at as f64);
        for (at, (_, values)) in self.series.iter().enumerate() {
            let bars = values.iter().enumerate().filter(|(_, value)| value.is_finite());
            chart.draw_series(bars.map(|(group, &value)| {
                let left = places(group) - 0.4 + width * places(at);
                let corners = [(left, floor), (left + width * 0.94, value)];
                Rectangle::new(corners, colour(at).filled())
            }))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(groups: &[&str], values: &[f64]) -> String {
        let groups = groups.iter().map(|&name| name.to_owned()).collect();
        let series = vec![("a".to_owned(), values.to_vec())];
        let (title, x) = ("t".to_owned(), "groups".to_owned());
        Bars { title, x, y: Axis::linear("y"), groups, series }.svg()
    }

    #[test]
    fn long_names_are_listed() {
        assert!(bars(&["a", "b", "c"], &[1.0; 3]).contains("groups"));
        let names = ["marital-status", "occupation", "native-country", "a", "b", "c", "d", "e"];
        let listed = bars(&names, &[1.0; 8]);
        assert!(!listed.contains("groups") && listed.contains("native-country"));
    }

    #[test]
    fn bars_begin_at_zero() {
        assert!(bars(&["a", "b"], &[0.9, 1.0]).contains("0.2"));
    }
}

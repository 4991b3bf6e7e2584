//! Groups of bars.

use plotters::prelude::*;

use crate::Axis;
use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, colour, faint, framed};

/// A chart of bars: groups side by side, each with a bar for every series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What the chart shows.
    pub title: String,
    /// The name of the groups' axis.
    pub x: String,
    /// Up; linear or logarithmic.
    pub y: Axis,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// By series, its name and a value for each group; one that is no number has no bar.
    pub series: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// The chart as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let legend: Vec<&str> = self.series.iter().map(|(name, _)| name.as_str()).collect();
        let legend = if legend.len() > 1 { legend } else { Vec::new() };
        let mark = |sheet: &Sheet, at: usize, (x, y): (i32, i32)| {
            sheet.draw(&Rectangle::new([(x + 4, y - 6), (x + 18, y + 6)], colour(at).filled()))
        };
        framed((640, 420), &self.title, &legend, mark, |sheet| self.draw(sheet))
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let values = self.series.iter().flat_map(|(_, values)| values.iter().copied());
        let y = self.y.over(values);
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
        #[expect(clippy::cast_precision_loss, reason = "few series and groups")]
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

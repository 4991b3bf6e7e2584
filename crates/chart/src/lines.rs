//! Lines through points.

use plotters::prelude::*;

use crate::Axis;
use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, WIDTH, colour, faint, framed};

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The title above the chart.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the line in the legend.
    pub name: String,
    /// Its points from left to right. A NaN leaves a gap in the line.
    pub points: Vec<(f64, f64)>,
    /// Whether each value holds until the next one, which makes the line a staircase.
    pub is_step: bool,
}

impl Series {
    /// A line through points.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, is_step: false }
    }

    /// A staircase.
    #[must_use]
    pub fn steps(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, is_step: true }
    }

    /// The stretches without a gap, with the corners of a staircase.
    fn stretches(&self) -> Vec<Vec<(f64, f64)>> {
        let mut stretches = vec![Vec::new()];
        for &(x, y) in &self.points {
            let Some(last) = stretches.last_mut() else { continue };
            if !(x.is_finite() && y.is_finite()) {
                stretches.push(Vec::new());
                continue;
            }
            if let Some(&(_, before)) = last.last().filter(|_| self.is_step) {
                last.push((x, before));
            }
            last.push((x, y));
        }
        stretches.retain(|stretch| !stretch.is_empty());
        stretches
    }
}

impl Lines {
    /// The chart as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let legend: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        let mark = |sheet: &Sheet, at: usize, (x, y): (i32, i32)| {
            let line = [(x, y), (x + 20, y)];
            sheet.draw(&PathElement::new(line.to_vec(), colour(at).stroke_width(2)))?;
            let shape = Polygon::new(shape(at), colour(at).filled());
            sheet.draw(&(EmptyElement::at((x + 10, y)) + shape))
        };
        framed((WIDTH.unsigned_abs(), 320), &self.title, &legend, mark, |sheet| self.draw(sheet))
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (x, y) = (self.x.over(points().map(|p| p.0)), self.y.over(points().map(|p| p.1)));
        let mut chart = ChartBuilder::on(sheet)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(faint())
            .x_desc(self.x.name.as_str())
            .y_desc(self.y.name.as_str())
            .x_labels(7)
            .y_labels(7)
            .label_style((FONT, TEXT_SIZE))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        for (at, series) in self.series.iter().enumerate() {
            for stretch in series.stretches() {
                chart.draw_series(LineSeries::new(stretch, colour(at).stroke_width(2)))?;
            }
            if !series.is_step {
                let marked = series.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
                chart.draw_series(marked.map(|&place| {
                    EmptyElement::at(place) + Polygon::new(shape(at), colour(at).filled())
                }))?;
            }
        }
        Ok(())
    }
}

/// The outline of a point's mark: its shape, like its colour, identifies the series.
fn shape(at: usize) -> Vec<(i32, i32)> {
    let corners: &[(i32, i32)] = match at % 4 {
        0 => &[(-4, -2), (-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2)],
        1 => &[(-5, 4), (0, -5), (5, 4)],
        2 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        _ => &[(-5, 0), (0, -5), (5, 0), (0, 5)],
    };
    corners.to_vec()
}

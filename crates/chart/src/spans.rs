//! Ranges along an axis, each as tall as its share.

use std::ops::Range;

use plotters::prelude::*;

use crate::axis::Scale;
use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, WIDTH, colour, framed};

/// A picture of ranges: from bottom to top, each from its least to its greatest value and as tall
/// as its share.
#[derive(Clone, Debug)]
pub struct Spans {
    /// The title above the picture.
    pub title: String,
    /// The name of the horizontal axis, and its range.
    pub x: (String, Range<f64>),
    /// The ranges from the bottom up: least, greatest, and share of the height.
    pub spans: Vec<(f64, f64, f64)>,
}

impl Spans {
    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        framed(
            (WIDTH.unsigned_abs(), 260),
            &self.title,
            &[],
            |_, _, _| Ok(()),
            |sheet| self.draw(sheet),
        )
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let Range { start, end } = self.x.1;
        let whole = self.spans.iter().map(|span| span.2).sum::<f64>().max(f64::MIN_POSITIVE);
        let mut chart = ChartBuilder::on(sheet)
            .margin(10)
            .margin_right(20)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(Scale::exact(start..end), Scale::exact(0.0..100.0))?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc(self.x.0.as_str())
            .y_desc("% of records")
            .x_labels(7)
            .y_labels(5)
            .label_style((FONT, TEXT_SIZE))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        // A single value has no width: it is drawn as a thin line.
        let least_width = (end - start) / 300.0;
        let mut from = 0.0;
        let mut bars = Vec::new();
        for (at, &(least, greatest, share)) in self.spans.iter().enumerate() {
            let to = from + 100.0 * share / whole;
            let widened = ((least_width - (greatest - least)) / 2.0).max(0.0);
            let corners = [(least - widened, from), (greatest + widened, to)];
            let strength = if at % 2 == 0 { 0.85 } else { 0.6 };
            bars.push(Rectangle::new(corners, colour(0).mix(strength).filled()));
            from = to;
        }
        chart.draw_series(bars)?;
        Ok(())
    }
}

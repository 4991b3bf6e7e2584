//! Tiles over points: how a recoding divides two attributes.

use std::ops::Range;

use plotters::prelude::*;

use crate::axis::Scale;
use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, WIDTH, framed};

/// A picture of tiles over points.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// The title above the picture.
    pub title: String,
    /// The attribute on the horizontal axis, and its range.
    pub x: (String, Range<f64>),
    /// The attribute on the vertical axis, and its range.
    pub y: (String, Range<f64>),
    /// The tiles.
    pub tiles: Vec<Tile>,
    /// The points, with the number of rows at each.
    pub points: Vec<(f64, f64, u64)>,
}

/// Up to this number, tiles are drawn with full opacity.
const FEW_TILES: f64 = 250.0;

/// A tile: the region of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// The left and right edges.
    pub x: (f64, f64),
    /// The lower and upper edges.
    pub y: (f64, f64),
}

impl Tiles {
    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        framed(
            (WIDTH.unsigned_abs(), 440),
            &self.title,
            &[],
            |_, _, _| Ok(()),
            |sheet| self.draw(sheet),
        )
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let mut chart = ChartBuilder::on(sheet)
            .margin(10)
            .margin_right(20)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(Scale::exact(self.x.1.clone()), Scale::exact(self.y.1.clone()))?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc(self.x.0.as_str())
            .y_desc(self.y.0.as_str())
            .x_labels(7)
            .y_labels(8)
            .label_style((FONT, TEXT_SIZE))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        // Many tiles overlap, so each is fainter, to let what is below show through.
        let strength = (FEW_TILES / self.tiles.len().max(1) as f64).min(1.0);
        chart.draw_series(self.tiles.iter().flat_map(|tile| {
            let corners = [(tile.x.0, tile.y.0), (tile.x.1, tile.y.1)];
            let fill = RGBColor(86, 180, 233).mix(0.18 * strength).filled();
            let edge = RGBColor(0, 114, 178).mix(strength.max(0.12)).stroke_width(1);
            [Rectangle::new(corners, fill), Rectangle::new(corners, edge)]
        }))?;
        let most = self.points.iter().map(|point| point.2).max().unwrap_or(1).max(1);
        chart.draw_series(self.points.iter().map(|&(x, y, rows)| {
            let share = (rows as f64 / most as f64).sqrt();
            #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
            let size = (1.0 + 3.0 * share).round() as i32;
            Circle::new((x, y), size, RGBColor(213, 94, 0).mix(0.75).filled())
        }))?;
        Ok(())
    }
}

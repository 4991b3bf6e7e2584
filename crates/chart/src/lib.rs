//! Charts as SVG text: numbers in, a picture out.
//!
//! Drawn with `plotters`. A chart depends on its numbers and on nothing else: no fonts are looked
//! up and no clock is read, so the same numbers give the same bytes on every machine. Text that
//! comes from data is escaped by the backend.
//!
//! # Example
//!
//! ```
//! use incrowd_chart::{Axis, Lines, Series};
//!
//! let chart = Lines {
//!     title: "Cost by k".to_owned(),
//!     x: Axis::log("k"),
//!     y: Axis::linear("cost"),
//!     series: vec![Series::new("greedy", vec![(2.0, 10.0), (10.0, 30.0), (100.0, 90.0)])],
//! };
//! let svg = chart.svg();
//! assert!(svg.starts_with("<svg") && svg.contains("greedy"));
//! ```

mod axis;
mod bars;
mod frame;
mod lines;
mod listed;
mod matrix;
mod spans;
mod tiles;

pub use axis::Axis;
pub use bars::Bars;
pub use lines::{Lines, Series};
pub use listed::Listed;
pub use matrix::Matrix;
pub use spans::Spans;
pub use tiles::{Tile, Tiles};

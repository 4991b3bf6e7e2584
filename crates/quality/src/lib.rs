//! Quality measures: what a release loses. Lower is better for all of them.
//!
//! A measure sees classes (their sizes and cells), never rows. The table of measures in
//! `docs/src/report.md` defines them.

mod class_size;
mod classification;
mod entropy;
mod loss;
mod measure;
mod precision;

pub use class_size::{ClassSizes, average_class_size, discernibility};
pub use classification::classification;
pub use entropy::entropy;
pub use loss::{loss, loss_by_column};
pub use measure::Measure;
pub use precision::precision;

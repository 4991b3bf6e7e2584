//! Regions of points and how they move: what every partitioning search shares.
//!
//! Points are the distinct vectors of a frequency set, stored row by row in the narrowest integer
//! that holds every code, so that a region is one run of memory and a cut is one pass over it.

mod extent;
mod points;

pub(crate) use extent::{Extent, extents, loss, width};
pub(crate) use points::{Buffers, CodeWidth, PackedCode, Points, starts};

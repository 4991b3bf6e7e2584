//! Regions of points and how points move between them: shared by all partitioning searches.
//!
//! Points are the distinct vectors of a frequency set, stored row by row in the narrowest integer
//! that holds every code, so a region is a contiguous run of memory and a cut is one pass over it.

mod extent;
mod points;

pub(crate) use extent::{Extent, extents, loss, width};
pub(crate) use points::{Buffers, CodeWidth, PackedCode, Points, starts};

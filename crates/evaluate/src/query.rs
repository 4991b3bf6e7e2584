//! Aggregate queries over released cells.

//! Synthetic tables.

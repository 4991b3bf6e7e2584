//! Models that are trained on one table and tried on another.

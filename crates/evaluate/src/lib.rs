//! The utility of a release: answers to aggregate queries and their errors, models trained on it,
//! and synthetic tables to test both.
//!
//! This crate compares tables; it cannot see the searches that made them.

pub mod association;
pub mod attack;
pub mod folds;
pub mod learn;
pub mod query;
pub mod synthetic;

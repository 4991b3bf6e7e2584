//! How good a release is at what it is for: answers to aggregate queries and their error, models
//! that are trained on it, and synthetic tables to try both on.
//!
//! This crate compares tables; it cannot see the searches that made them.

pub mod association;
pub mod attack;
pub mod folds;
pub mod learn;
pub mod query;
pub mod synthetic;

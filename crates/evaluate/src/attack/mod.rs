//! The linking attack: the rows of a release that a row of an outside table could be.
//!
//! A cell of either table represents a set of values. Two cells are compatible if they could
//! represent the same value; a released row is a candidate of an outside row if all compared cells
//! are. The outside table may hold plain values (a register of voters), or be another release of
//! the same people.
//!
//! # Source
//!
//! Pei, Tao, Li, Xiao: *Privacy Preserving Publishing on Multiple Quasi-Identifiers*, ICDE 2009,
//! section I (two releases compared); LeFevre, DeWitt, Ramakrishnan: *Multidimensional
//! K-Anonymity*, TR 1521, section 1 (a release joined with a register). Departure: labels are
//! compared as sets of values.
//!
//! # Guarantees
//!
//! - No candidate is missed: a row is ruled out only by a cell that cannot represent the other
//!   row's value.
//! - Deterministic: yes, on any number of threads.
//!
//! # Invariants
//!
//! - A1: the labels of a column of both tables are read together, so that equal keys are equal
//!   values.
//! - A2: each bit of a label's set is a vector of the release whose cell is compatible with the
//!   label.
//!
//! # Cost
//!
//! For `v` and `w` distinct vectors of the release and of the outside table and `c` columns:
//! O(v·w·c/64) time at worst, less if few vectors are compatible; with a sensitive column, one more
//! step for each compatible pair. At most 256 MB of sets at a time, or the sets of one vector if
//! these take more.

mod cell;
mod count;
mod index;
mod summary;
#[cfg(test)]
mod tests;

pub use cell::{Both, Cell, Read, read_both};
pub use count::{Column, Found, Posterior, Sensitive, Tables, candidates};
pub use summary::{Bucket, Linked, Spread, Summary, linked, posterior, summary};

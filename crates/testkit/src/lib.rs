//! For tests only: table literals, generators, and slow, obvious oracles.
//!
//! Everything here works on rows of codes and is written from the papers and the documented facts,
//! not from the searches, so that a search and its oracle share no mistakes except those of the
//! data types. Panics on a bad literal: a test that cannot be set up must fail.

pub mod assignment;
pub mod butterfly;
pub mod full_domain;
pub mod generate;
pub mod oracle;
pub mod single_dimensional;
mod table;
pub mod workload;

pub use table::{Form, Table, table};

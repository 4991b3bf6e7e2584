//! What a job means for a table: its columns and their roles, the sets of quasi-identifiers, the
//! models, how it searches, what the release is for.

pub(crate) mod cases;
mod checked;
pub(crate) mod columns;
pub(crate) mod condition;
pub(crate) mod method;
pub(crate) mod models;
pub(crate) mod naming;
pub(crate) mod sets;
pub(crate) mod wanted;
pub(crate) mod workload;

pub(crate) use checked::Plan;
pub(crate) use columns::{PlannedColumn, Purpose};

//! The commands.

mod anonymize;
mod apply;
mod attack;
mod check;
mod compare;
mod evaluate;
mod generate;
pub mod hierarchy;
mod in_memory;
mod profile;
mod query;

pub use anonymize::anonymize;
pub use apply::{ApplyOptions, apply};
pub use attack::{AttackOptions, Attacked, attack};
pub use check::check;
pub use compare::{CompareOptions, compare};
pub use evaluate::{EvaluateOptions, evaluate, evaluate_all};
pub use generate::{GenerateSpec, Generated, LabelRule, generate};
pub use in_memory::{Anonymized, anonymize_batches, apply_batches, check_batches};
pub use profile::{ProfileFiles, ProfileOptions, profile};
pub use query::query;

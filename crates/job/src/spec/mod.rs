//! What was asked: job files, flags as data, limits, the files that a job names, and what is wrong
//! with any of it.

mod about;
pub(crate) mod choice;
mod column;
pub(crate) mod error;
pub(crate) mod hierarchy_file;
mod input_file;
mod job;
pub(crate) mod limits;
mod privacy;
pub(crate) mod queries;
mod role;
mod run;
mod search;
pub(crate) mod small_file;

pub use about::AboutSpec;
pub use column::{BinsSpec, BuiltSpec, ColumnSpec, CountedBins, HierarchySpec, QuasiSpec};
pub use input_file::InputFile;
pub use job::JobSpec;
pub use privacy::{DiversitySpec, PrivacySpec, SuppressLimit, ValueLimit};
pub(crate) use role::Role;
pub use run::{ReleaseSpec, RunSpec};
pub(crate) use search::LevelBounds;
pub use search::{LevelSpec, QuerySpec, SearchSpec, WeightedQuerySpec, WorkloadSpec};

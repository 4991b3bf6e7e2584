//! What was asked: job files, flags as data, limits, the files that a job names, and what is wrong with any of it.

mod about;
pub(crate) mod choice;
pub(crate) mod error;
pub(crate) mod hierarchy_file;
mod input_file;
mod job;
pub(crate) mod limits;
pub(crate) mod queries;
mod role;
pub(crate) mod small_file;

pub use about::AboutSpec;
pub use input_file::InputFile;
pub(crate) use job::LevelBounds;
pub use job::{
    BinsSpec, BuiltSpec, ColumnSpec, CountedBins, DiversitySpec, HierarchySpec, JobSpec, LevelSpec,
    PrivacySpec, QuasiSpec, QuerySpec, ReleaseSpec, RunSpec, SearchSpec, SuppressLimit, ValueLimit,
    WeightedQuerySpec, WorkloadSpec,
};
pub(crate) use role::Role;

//! The facade: a job specification in, an outcome out. The only public interface that is kept stable,
//! and the only types that are serialized.
//!
//! A [`JobSpec`] comes from a TOML file, from flags, or from both; [`anonymize()`], [`apply()`], [`check()`],
//! [`query()`], [`attack()`], [`evaluate()`], [`profile()`], [`generate()`] and the functions on [`hierarchy`] do what the commands
//! of the same names do. [`anonymize_batches`], [`apply_batches`] and [`check_batches`] do it with tables in
//! memory.

mod about;
mod anonymize;
mod apply;
mod attack;
mod bins;
mod bounded;
mod bounds;
mod cases;
mod check;
mod coding;
mod compare;
mod error;
mod evaluate;
mod figures;
#[doc(hidden)]
pub mod fuzzing;
mod generate;
pub mod hierarchy;
mod in_memory;
mod infeasible;
mod input;
mod labelling;
mod limits;
mod measure;
mod method;
mod model;
mod naming;
mod outputs;
mod page;
mod plan;
mod profile;
mod publish;
mod query;
mod recoding_file;
mod regions;
mod relabel;
mod report;
mod run;
mod sets;
mod small_file;
mod spec;
mod stopped_search;
mod workload;

pub use about::AboutSpec;
pub use anonymize::anonymize;
pub use apply::{ApplyOptions, apply};
pub use attack::{
    AttackOptions, AttackReport, Attacked, AttackedColumn, BeforeReport, CandidateBucket,
    CandidatesReport, LinkedReport, PosteriorReport, attack,
};
pub use check::check;
pub use compare::{
    Advice, Against, CompareOptions, Compared, Comparison, FoundCase, HeldOut, HeldOutScore,
    WithoutScore, compare,
};
pub use error::{JobError, Problem};
pub use evaluate::{
    BetweenReport, DifferenceReport, EvaluateOptions, EvaluatedCase, Evaluation, Evaluations,
    Figure, LeftOutColumn, ModelReport, PredictorReport, ProjectionReport, Protocol, ReleaseMeans,
    SelectionReport, TargetReport, evaluate, evaluate_all,
};
pub use generate::{GenerateSpec, Generated, LabelRule, generate};
pub use in_memory::{Anonymized, anonymize_batches, apply_batches, check_batches};
pub use incrowd_search::Standing;
pub use limits::{PRESETS, Preset};
pub use outputs::{InputFile, output_problems};
pub use page::{count, percent};
pub use profile::{ColumnProfile, Combination, Profile, ProfileOptions, profile};
pub use query::{
    AnswerReport, ErrorSummary, ErrorsReport, GroupReport, QueryAnswers, QueryOptions, QueryReport,
    QueryText, TableReport, TruthReport, queries_of_file, query,
};
pub use report::{
    AsTheyAreReport, CollusionReport, Done, InferenceReport, InputReport, MeasuresReport,
    MinimalReport, Outcome, PrivacyReport, RecodingReport, ReleaseReport, RepeatsReport, Report,
    RiskReport, SearchReport, SizesReport, Timings,
};
pub use run::{Event, Run, Stage};
pub use spec::{
    BinsSpec, BuiltSpec, ColumnSpec, CountedBins, DiversitySpec, HierarchySpec, JobSpec, LevelSpec,
    PrivacySpec, QuasiSpec, QuerySpec, ReleaseSpec, RunSpec, SearchSpec, SuppressLimit, ValueLimit,
    WeightedQuerySpec, WorkloadSpec,
};

pub use incrowd_data::Level;
pub use incrowd_engine::remote::Connector;
pub use incrowd_engine::{Abandoned, Access, Batches, EngineError, abandon, arrow, is_decoding};
pub use publish::{SmallFile, write_files};
pub use workload::{SelectionFigures, TargetFigures, WorkloadReport};

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

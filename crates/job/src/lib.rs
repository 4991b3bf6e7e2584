//! The facade: a job specification in, an outcome out. The only public interface that is kept
//! stable, and the only types that are serialized.
//!
//! A [`JobSpec`] comes from a TOML file, from flags, or from both; [`anonymize()`], [`apply()`],
//! [`check()`], [`query()`], [`attack()`], [`evaluate()`], [`profile()`], [`generate()`] and the functions on [`hierarchy`] do what the commands
//! of the same names do. [`anonymize_batches`], [`apply_batches`] and [`check_batches`] do it with
//! tables in memory.
//!
//! The modules are rooms in the order of the flow, each depends on those before it only: `spec`
//! (what was asked), `plan` (what it means for a table), `report` (what is said of it), `flow`
//! (what happens), `command` (one of them each).

mod command;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
mod plan;
mod report;
mod spec;

pub use command::{
    Anonymized, ApplyOptions, AttackOptions, Attacked, CompareOptions, EvaluateOptions,
    GenerateSpec, Generated, LabelRule, ProfileFiles, ProfileOptions, anonymize, anonymize_batches,
    apply, apply_batches, attack, check, check_batches, compare, evaluate, evaluate_all, generate,
    hierarchy, profile, query,
};
pub use flow::answers::QueryOptions;
pub use flow::outputs::output_problems;
pub use flow::publish::{SmallFile, write_files};
pub use flow::report_file::{FileReport, ReportFile, refuse_outputs};
pub use flow::run::{Event, Run, Stage};
pub use report::page::{count, percent};
pub use report::{
    Advice, Against, AnswerReport, AsTheyAreReport, AttackReport, AttackedColumn, BeforeReport,
    BetweenReport, CandidateBucket, CandidatesReport, CollusionReport, ColumnProfile, Combination,
    Compared, Comparison, DifferenceReport, Done, ErrorSummary, ErrorsReport, EvaluatedCase,
    Evaluation, Evaluations, Figure, FoundCase, GroupReport, HeldOut, HeldOutScore,
    InferenceReport, InputReport, LeftOutColumn, LinkedReport, MeasuresReport, MinimalReport,
    ModelReport, Outcome, PosteriorReport, PredictorReport, PrivacyReport, Profile,
    ProjectionReport, Protocol, QueryAnswers, QueryReport, RecodingKind, RecodingReport,
    ReleaseMeans, ReleaseReport, RepeatsReport, Report, RiskReport, SearchReport, SelectionFigures,
    SelectionReport, SizesReport, TableReport, TargetFigures, TargetReport, Timings, TruthReport,
    WithoutScore, WorkloadReport,
};
pub use spec::error::{JobError, Problem};
pub use spec::limits::{PRESETS, Preset};
pub use spec::queries::{QueryText, queries_of_file};
pub use spec::small_file::address_problem;
pub use spec::{
    AboutSpec, BinsSpec, BuiltSpec, ColumnSpec, CountedBins, DiversitySpec, HierarchySpec,
    InputFile, JobSpec, LevelSpec, PrivacySpec, QuasiSpec, QuerySpec, ReleaseSpec, RunSpec,
    SearchSpec, SuppressLimit, ValueLimit, WeightedQuerySpec, WorkloadSpec,
};

pub use incrowd_data::Level;
pub use incrowd_engine::remote::Connector;
pub use incrowd_engine::{
    Abandoned, Access, Batches, Elsewhere, EngineError, FileAction, ValueList, abandon, arrow,
    is_decoding,
};
pub use incrowd_search::Standing;

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

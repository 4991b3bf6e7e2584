//! What is reported: for programs the types of every report, for people their pages and pictures.

mod answers;
mod attack;
mod attack_page;
mod before;
pub(crate) mod comparison;
mod comparison_page;
mod evaluation;
mod evaluation_page;
pub(crate) mod exposure;
pub(crate) mod inference;
pub(crate) mod page;
pub(crate) mod pictures;
mod profile;
mod profile_page;
mod recoding_kind;
mod release;
pub(crate) mod release_page;
pub(crate) mod wanted;
mod workload;

pub use answers::{
    AnswerReport, ErrorSummary, ErrorsReport, GroupReport, QueryAnswers, QueryReport, TableReport,
    TruthReport,
};
pub use attack::{
    AttackReport, AttackedColumn, BeforeReport, CandidateBucket, CandidatesReport, LinkedReport,
    PosteriorReport,
};
pub(crate) use before::Before;
pub use comparison::{
    Advice, Against, Compared, Comparison, FoundCase, HeldOut, HeldOutScore, WithoutScore,
};
pub use evaluation::{
    BetweenReport, DifferenceReport, EvaluatedCase, Evaluation, Evaluations, Figure, LeftOutColumn,
    ModelReport, PredictorReport, ProjectionReport, Protocol, ReleaseMeans, SelectionReport,
    TargetReport,
};
pub use exposure::{AsTheyAreReport, RepeatsReport};
pub use inference::InferenceReport;
pub use profile::{ColumnProfile, Combination, Profile};
pub use recoding_kind::RecodingKind;
pub(crate) use release::{BrokenReport, SensitiveReport};
pub use release::{
    CollusionReport, Done, InputReport, MeasuresReport, MinimalReport, Outcome, PrivacyReport,
    RecodingReport, ReleaseReport, Report, RiskReport, SearchReport, SizesReport, Timings,
};
pub use workload::{SelectionFigures, TargetFigures, WorkloadReport};

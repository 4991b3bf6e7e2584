//! `query`: aggregates over a release, and how far they lie from the truth.

use crate::flow::answers::{QueryOptions, query_in};
use crate::flow::run::Run;
use crate::report::QueryReport;
use crate::spec::error::JobError;

/// Answers queries over a release.
pub fn query(run: &Run, options: &QueryOptions) -> Result<QueryReport, JobError> {
    run.with_engine(options.threads, |engine| query_in(run, engine, options))
}

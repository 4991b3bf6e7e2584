//! `query`: aggregates over a release, and how far they lie from the truth.

use incrowd_engine::Source;

use crate::flow::answers::{OpenTable, QueriedTables, QueryOptions, query_in};
use crate::flow::run::Run;
use crate::report::QueryReport;
use crate::spec::error::JobError;

/// Answers queries over a release.
pub fn query(run: &Run, options: &QueryOptions) -> Result<QueryReport, JobError> {
    run.with_engine(options.threads, |engine| {
        let open = |table: &str| -> Result<Source, JobError> { Ok(Source::open(engine, table)?) };
        let original = options.original.as_deref().map(|original| move || open(original));
        let tables = QueriedTables {
            release: &|| open(&options.release),
            original: original.as_ref().map(|open| open as OpenTable),
        };
        query_in(run, engine, options, &tables)
    })
}

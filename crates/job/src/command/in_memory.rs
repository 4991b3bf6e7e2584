//! Jobs over tables in memory: Arrow batches in, Arrow batches out.
//!
//! The functions do what the commands of the same names do, by the same code. Only where rows come
//! from and where they go differs. A release is handed out at the point at which a file would get
//! its name: after it was read back and every model holds for it. The report and the recoding are
//! published with it, if the job names files for them.

use std::path::Path;

use incrowd_engine::{Batches, Slot};

use super::anonymize::anonymize_in;
use super::apply::{ApplyOptions, apply_in};
use super::check::check_in;
use crate::flow::input::{InMemory, refuse_named};
use crate::flow::run::Run;
use crate::report::Outcome;
use crate::spec::JobSpec;
use crate::spec::error::JobError;

/// What became of a job over a table in memory.
#[derive(Clone, Debug)]
pub struct Anonymized {
    /// The report, or why there is no release.
    pub outcome: Outcome,
    /// The release, only if the job was done: it was read back, every model holds for it, and the
    /// columns released as they are hold what they held.
    pub release: Option<Batches>,
}

/// Turns a table in memory into a release in memory, as [`anonymize`](crate::anonymize()) does with
/// files. The job names neither an input nor an output. `force` lets a report and a recoding
/// replace files.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use incrowd_job::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use incrowd_job::{Batches, JobSpec, Outcome, Run, anonymize_batches, check_batches};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let age: ArrayRef = Arc::new(Int64Array::from(vec![31, 32, 33, 64, 65, 66]));
/// let diagnosis: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a", "b", "a", "b"]));
/// let rows = RecordBatch::try_from_iter([("age", age), ("diagnosis", diagnosis)])?;
/// let table = Batches::new(&rows.schema(), vec![rows])?;
///
/// let job = JobSpec::from_toml(
///     r#"
///     [columns]
///     age = { role = "quasi" }
///     diagnosis = { role = "insensitive" }
///     [privacy]
///     k = 3
///     "#,
/// )?;
/// let anonymized = anonymize_batches(&Run::default(), &job, &table, false)?;
/// let Outcome::Done(done) = &anonymized.outcome else { panic!("3 rows are alike twice") };
/// assert_eq!(done.report.release.classes, 2);
///
/// let release = anonymized.release.expect("the job was done");
/// assert_eq!(release.n_rows(), 6);
/// assert!(matches!(check_batches(&Run::default(), &job, &release, false)?, Outcome::Done(_)));
/// # Ok(())
/// # }
/// ```
pub fn anonymize_batches(
    run: &Run,
    spec: &JobSpec,
    table: &Batches,
    force: bool,
) -> Result<Anonymized, JobError> {
    refuse_named(spec.input.as_deref(), spec.output.as_deref(), spec.release.part_rows)?;
    let slot = Slot::default();
    let outcome = anonymize_in(run, spec, Some(InMemory { table, release: &slot }), force)?;
    Ok(Anonymized { outcome, release: slot.take() })
}

/// Puts a table in memory through a saved recoding, as [`apply`](crate::apply()) does with files.
/// The options name neither an input nor an output: both are empty.
pub fn apply_batches(
    run: &Run,
    recoding: &Path,
    options: &ApplyOptions,
    table: &Batches,
) -> Result<Anonymized, JobError> {
    let named = |name| Some(name).filter(|name: &&String| !name.is_empty()).map(String::as_str);
    refuse_named(named(&options.input), named(&options.output), options.part_rows)?;
    let slot = Slot::default();
    let in_memory = Some(InMemory { table, release: &slot });
    let outcome = apply_in(run, recoding, options, in_memory)?;
    Ok(Anonymized { outcome, release: slot.take() })
}

/// Measures a table in memory, as [`check`](crate::check()) does with files. The job names no
/// input.
pub fn check_batches(
    run: &Run,
    spec: &JobSpec,
    table: &Batches,
    force: bool,
) -> Result<Outcome, JobError> {
    refuse_named(spec.input.as_deref(), None, None)?;
    check_in(run, spec, Some(table), force)
}

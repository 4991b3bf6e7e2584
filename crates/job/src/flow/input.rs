//! Where the table of a job is, and where its release goes: what the job names, or memory.

use incrowd_engine::{Batches, Engine, Output, Slot, Source};

use crate::flow::outputs::{check_outputs, check_small_outputs};
use crate::flow::run::Run;
use crate::spec::error::{JobError, Problem};
use crate::spec::{InputFile, JobSpec};

/// A table in memory, and where its release is handed out, instead of what a job names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InMemory<'a> {
    pub(crate) table: &'a Batches,
    pub(crate) release: &'a Slot,
}

/// The table of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// A file, a folder or a glob.
    Named(&'a str),
    /// A table that the caller holds.
    Held(&'a Batches),
}

impl<'a> Input<'a> {
    /// The table that the caller holds, else the one that is named, if one is.
    pub(crate) fn of(held: Option<&'a Batches>, named: Option<&'a str>) -> Option<Input<'a>> {
        held.map(Input::Held).or(named.map(Input::Named))
    }

    pub(crate) fn open(self, engine: &Engine) -> Result<Source, JobError> {
        match self {
            Input::Named(input) => Ok(Source::open(engine, input)?),
            Input::Held(table) => Ok(Source::of_batches(table.clone())),
        }
    }
}

/// Where the release of a job goes. Refuses outputs that cannot or must not be written; `read` are
/// the files that the job reads, beside those that it names.
pub(crate) fn output_of(
    run: &Run,
    spec: &JobSpec,
    in_memory: Option<InMemory>,
    read: Vec<InputFile>,
    force: bool,
) -> Result<Output, JobError> {
    let Some(InMemory { release, .. }) = in_memory else {
        return check_outputs(run, spec, read, force);
    };
    check_small_outputs(run, spec, read, force)?;
    Ok(Output::in_memory(release))
}

/// Refuses a job that names what is in memory: nobody could say which of the two is meant.
pub(crate) fn refuse_named(
    input: Option<&str>,
    output: Option<&str>,
    part_rows: Option<u64>,
) -> Result<(), JobError> {
    let mut problems = Vec::new();
    if input.is_some() {
        problems.push(
            Problem::new("the job names an input, but its table is in memory")
                .help("remove `input` from the job"),
        );
    }
    if output.is_some() {
        problems.push(
            Problem::new("the job names an output, but its release stays in memory")
                .help("remove `output` from the job"),
        );
    }
    if part_rows.is_some() {
        problems.push(
            Problem::new("the job says how many rows a part has, but its release stays in memory")
                .help("remove `part-rows` from the job"),
        );
    }
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

//! What commands print for programs, and when: reports before any file is published.

use std::sync::Arc;

use incrowd_job::{JobError, JobSpec, Report, Run};
use serde_json::{Value, json};

use crate::progress::Progress;
use crate::{message, record, terminal};

/// A run that prints its report before its files are published, where that is asked for.
pub(crate) fn telling(run: &Run, is_quiet: bool, print: Option<Print>) -> (Run, Arc<Progress>) {
    let progress = Arc::new(Progress::start(run, is_quiet));
    let Some(print) = print else { return (run.clone(), progress) };
    let shown = Arc::clone(&progress);
    let run = run.clone().telling(move |report| {
        shown.stop();
        print(report)
    });
    (run, progress)
}

/// Prints a report.
pub(crate) type Print = fn(&Report) -> Result<(), JobError>;

pub(crate) fn print_json(report: &Report) -> Result<(), JobError> {
    record::result(&report.to_json())
}

pub(crate) fn print_summary(report: &Report) -> Result<(), JobError> {
    let lines = message::summary(report);
    let line = |line: &String| format!("{}\n", message::visible(line));
    terminal::text(&lines.iter().map(line).collect::<String>())
}

/// Prints an effective job, which is not done.
pub(crate) fn print_job(spec: &JobSpec, is_json: bool) -> Result<u8, JobError> {
    if is_json {
        return print_object(&json!({ "incrowd": incrowd_job::VERSION, "job": spec }));
    }
    terminal::file(&spec.to_toml()).map(|()| 0)
}

/// Prints an object; the exit code if nothing else is to be said.
pub(crate) fn print_object(object: &Value) -> Result<u8, JobError> {
    let text = serde_json::to_string_pretty(object).expect("it has a JSON form");
    record::result(&(text + "\n")).map(|()| 0)
}

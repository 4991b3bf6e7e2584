//! `check`: what holds for a table as it is.

use clap::Args;
use incrowd_job::{JobError, Run};

use crate::args::JobArgs;
use crate::message;
use crate::print::{Print, print_job, print_json, print_summary, telling};
use crate::spec::{job, set};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The table: a file, a folder or a glob
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    /// Write the report: .html for people, .json for programs
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Who reads an HTML report: internal (default; it tells of the table, too) or public (only
    /// what the release tells)
    #[arg(long, value_name = "WHO")]
    pub(crate) audience: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(run: &Run, args: &CheckArgs) -> Result<u8, JobError> {
    let mut spec = job(&args.job)?;
    set(&mut spec.input, args.input.as_ref());
    spec.report.clone_from(&args.report);
    spec.audience.clone_from(&args.audience);
    spec.picture = None;
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let print = match (args.job.json, args.job.quiet) {
        (true, _) => Some(print_json as Print),
        (false, false) => Some(print_summary as Print),
        (false, true) => None,
    };
    let (run, progress) = telling(run, args.job.quiet, print);
    let outcome = incrowd_job::check(&run, &spec, args.force)?;
    progress.stop();
    Ok(message::outcome(&outcome, args.job.quiet))
}

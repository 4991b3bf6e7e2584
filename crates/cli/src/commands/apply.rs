//! `apply`: new rows through a saved recoding.

use std::path::PathBuf;

use clap::Args;
use incrowd_job::{ApplyOptions, JobError, Outcome, Run, SuppressLimit};

use crate::args::{LogArgs, MachineArgs, k_of_all};
use crate::message;
use crate::print::{Print, print_json, telling};
use crate::spec::machine;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct ApplyArgs {
    /// A file that `anonymize --recoding` wrote
    pub(crate) recoding: PathBuf,
    /// The new rows
    pub(crate) input: String,
    /// The release; end its name with / for a folder of parts
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// What to do with a column that the recoding does not know: error or drop
    #[arg(long, value_name = "WHAT")]
    pub(crate) undeclared: Option<String>,
    /// Verify with this k instead of the one that the recoding was found with
    #[arg(short, value_name = "N", value_parser = k_of_all)]
    pub(crate) k: Option<u64>,
    /// What to do with values outside of the recoding's hierarchies, orders and regions: error
    /// (default) or suppress their rows, within --suppress
    #[arg(long, value_name = "WHAT")]
    pub(crate) unknown: Option<String>,
    /// How many rows may be left out (default: as the recoding says)
    #[arg(long, value_name = "LIMIT")]
    pub(crate) suppress: Option<String>,
    /// What becomes of suppressed rows: drop or star
    #[arg(long, value_name = "WHAT")]
    pub(crate) suppressed: Option<String>,
    /// Rows per part, where the output is a folder (default: 10000000)
    #[arg(long, value_name = "N")]
    pub(crate) part_rows: Option<u64>,
    /// Publish even if a model does not hold: for held-out test rows that are not handed on
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Write the report: .html for people, .json for programs
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Who reads an HTML report: internal (default; it tells of the table, too) or public (only
    /// what the release tells)
    #[arg(long, value_name = "WHO")]
    pub(crate) audience: Option<String>,
    /// The two quasi-identifier columns whose partition an HTML report draws (default: two that
    /// have an order)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) picture: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Replace existing outputs
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(run: &Run, args: &ApplyArgs) -> Result<u8, JobError> {
    let options = ApplyOptions {
        input: args.input.clone(),
        output: args.output.clone(),
        report: args.report.clone(),
        audience: args.audience.clone(),
        picture: args.picture.clone(),
        undeclared: args.undeclared.clone(),
        k: args.k,
        unknown: args.unknown.clone(),
        suppress: args.suppress.clone().map(SuppressLimit::Text),
        suppressed: args.suppressed.clone(),
        part_rows: args.part_rows,
        unverified: args.unverified,
        force: args.force,
        run: machine(&args.machine),
    };
    let (run, progress) = telling(run, args.quiet, args.json.then_some(print_json as Print));
    let outcome = incrowd_job::apply(&run, &args.recoding, &options)?;
    progress.stop();
    let code = message::outcome(&outcome, args.quiet);
    if let (Outcome::Done(done), false) = (&outcome, args.quiet) {
        for line in message::summary(&done.report) {
            message::note(&line);
        }
        let found_with = done.report.recoding.as_ref().and_then(|recoding| recoding.found_with_k);
        if let (Some(found_with), Some(k)) = (found_with, args.k) {
            message::note(&format!(
                "the recoding was found with k = {found_with}, verified with {k}"
            ));
        }
        message::note(&format!("written: {}", args.output));
    }
    Ok(code)
}

//! `anonymize`: from a table to a verified release.

use std::path::Path;

use clap::Args;
use incrowd_job::{JobError, Outcome, Run};

use crate::args::{JobArgs, SearchArgs};
use crate::message;
use crate::print::{Print, print_job, print_json, telling};
use crate::spec::{job, search, set};

#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// A file, a folder or a glob (.csv, .tsv, .parquet, .arrow, .jsonl; text also as .gz or .zst)
    pub(crate) input: Option<String>,
    /// The release (.csv, .tsv, .parquet, .arrow or .jsonl; text also as .gz or .zst); end its name
    /// with / for a folder of parts
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// After how many nodes koptimize ends with the best that it has
    #[arg(long, value_name = "N")]
    pub(crate) node_limit: Option<u64>,
    /// The file that koptimize goes on from if it is there, and in which its search is kept when it
    /// ends
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<String>,
    /// A recoding file whose cuts koptimize begins with
    #[arg(long, value_name = "FILE")]
    pub(crate) start: Option<String>,
    /// What stands in a recoded cell: range, region, bounds, mean or range+mean
    #[arg(long, value_name = "FORM")]
    pub(crate) labels: Option<String>,
    /// What becomes of suppressed rows: drop or star
    #[arg(long, value_name = "WHAT")]
    pub(crate) suppressed: Option<String>,
    /// Rows per part, where the output is a folder (default: 10000000)
    #[arg(long, value_name = "N")]
    pub(crate) part_rows: Option<u64>,
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
    /// Write the recoding, so that `incrowd apply` can use it
    #[arg(long, value_name = "FILE.json")]
    pub(crate) recoding: Option<String>,
    /// Replace existing outputs
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(run: &Run, args: &AnonymizeArgs) -> Result<u8, JobError> {
    let mut spec = job(&args.job)?;
    set(&mut spec.input, args.input.as_ref());
    set(&mut spec.output, args.output.as_ref());
    set(&mut spec.report, args.report.as_ref());
    if args.report.as_ref().is_some_and(|path| !is_html(path)) {
        // What the job file says of its page does not hold for another report.
        (spec.audience, spec.picture) = (None, None);
    }
    set(&mut spec.audience, args.audience.as_ref());
    set(&mut spec.picture, args.picture.as_ref());
    set(&mut spec.recoding, args.recoding.as_ref());
    search(&args.search, &mut spec)?;
    set(&mut spec.run.node_limit, args.node_limit.as_ref());
    set(&mut spec.run.resume, args.resume.as_ref());
    set(&mut spec.search.start, args.start.as_ref());
    set(&mut spec.release.labels, args.labels.as_ref());
    set(&mut spec.release.suppressed, args.suppressed.as_ref());
    set(&mut spec.release.part_rows, args.part_rows.as_ref());
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let print = args.job.json.then_some(print_json as Print);
    let (run, progress) = telling(run, args.job.quiet, print);
    let outcome = incrowd_job::anonymize(&run, &spec, args.force)?;
    progress.stop();
    let code = message::outcome(&outcome, args.job.quiet);
    if let (Outcome::Done(done), false) = (&outcome, args.job.quiet) {
        for line in message::summary(&done.report) {
            message::note(&line);
        }
        message::note(&format!("written: {}", spec.output.as_deref().unwrap_or_default()));
    }
    Ok(code)
}

fn is_html(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

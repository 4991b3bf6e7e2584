//! `attack`: how many candidates outside rows have, as tables or as JSON.

use std::path::Path;

use clap::Args;
use incrowd_job::{
    AttackOptions, AttackReport, CandidateBucket, CandidatesReport, JobError, Problem, Run,
};

use crate::args::{JobArgs, LabelArgs};
use crate::commands::{job, refuse_html};
use crate::message;
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct AttackArgs {
    /// The release: a file, a folder or a glob
    pub(crate) release: String,
    /// The outside table: plain values, or another release of the same people
    #[arg(long, value_name = "OTHER")]
    pub(crate) with: String,
    /// The columns that are compared (default: all that both tables have, but the sensitive one)
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// The column of the release that an attacker is after
    #[arg(long, value_name = "A")]
    pub(crate) sensitive: Option<String>,
    /// Count the outside rows with fewer candidates (default: as the job says, otherwise 2)
    #[arg(short, value_name = "N")]
    pub(crate) k: Option<u64>,
    /// Exit with code 1 if an outside row has candidates, but fewer than N
    #[arg(long, value_name = "N")]
    pub(crate) fail_below: Option<u64>,
    #[command(flatten)]
    pub(crate) about: LabelArgs,
    /// Write the report
    #[arg(long, value_name = "FILE.json")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
    /// Threads (default: all cores)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only beside the result
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn attack(run: &Run, args: &AttackArgs) -> Result<u8, JobError> {
    refuse_html(args.report.as_deref())?;
    refuse_existing(args)?;
    let flags = JobArgs {
        job: args.about.job.clone(),
        quasi: args.about.quasi.clone(),
        hierarchy: args.about.hierarchy.clone(),
        ..JobArgs::default()
    };
    let hierarchies = args.about.hierarchy.iter().filter_map(|text| text.split_once('='));
    let options = AttackOptions {
        release: args.release.clone(),
        with: args.with.clone(),
        on: args.on.iter().map(|name| name.trim().to_owned()).collect(),
        sensitive: args.sensitive.clone(),
        k: args.k,
        fail_below: args.fail_below,
        recoding: args.about.recoding.clone(),
        job: job(&flags)?,
        has_job_file: args.about.job.is_some(),
        labels: args.about.labels.clone(),
        named: hierarchies.map(|(column, _)| column.to_owned()).collect(),
        threads: args.threads,
    };
    let progress = Progress::start(run, args.quiet);
    let attacked = incrowd_job::attack(run, &options)?;
    drop(progress);
    let report = &attacked.report;
    if let Some(path) = &args.report {
        incrowd_job::write_text(Path::new(path), &report.to_json(), args.force)?;
    }
    for warning in attacked.warnings.iter().filter(|_| !args.quiet) {
        message::note(&format!("warning: {warning}"));
    }
    message::data(&if args.json { report.to_json() } else { text(report) });
    match report.fail_below.zip(report.failed) {
        Some((limit, failed)) if failed > 0 => {
            let rows = counted(failed, "outside row");
            let verb = if failed == 1 { "has" } else { "have" };
            message::note(&format!(
                "not satisfied: {rows} {verb} candidates, but fewer than {limit}"
            ));
            Ok(message::EXIT_FAILED)
        }
        _ => Ok(0),
    }
}

fn refuse_existing(args: &AttackArgs) -> Result<(), JobError> {
    let exists = |path: &&String| Path::new(path).exists() && !args.force;
    match args.report.as_ref().filter(exists) {
        Some(path) => Err(Problem {
            message: format!("`{path}` exists already"),
            help: Some("choose another name, or replace it with --force".to_owned()),
        }
        .into()),
        None => Ok(()),
    }
}

fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {what}{ending}", message::count(n))
}

/// What was found, for a person.
fn text(report: &AttackReport) -> String {
    let columns: Vec<&str> = report.on.iter().map(|column| column.column.as_str()).collect();
    let rows = report.outside.rows;
    let mut text = format!(
        "{} against {} of the release, compared on {}\n\n",
        counted(rows, "outside row"),
        counted(report.release.rows, "row"),
        columns.join(", ")
    );
    text.push_str(&distribution(&report.candidates, rows));
    text.push('\n');
    let CandidatesReport { below_k, least, median, mean, greatest, .. } = report.candidates;
    if let (Some(least), Some(median), Some(mean), Some(greatest)) = (least, median, mean, greatest)
    {
        text.push_str(&format!(
            "candidates of a row that has some: at least {}, median {}, mean {mean:.1}, at most {}\n",
            message::count(least),
            message::count(median),
            message::count(greatest)
        ));
    }
    text.push_str(&format!(
        "fewer than {} candidates: {}; links expected by chance: {:.1}\n",
        report.k,
        counted(below_k, "outside row"),
        report.candidates.expected_links
    ));
    let linked = &report.linked;
    if linked.rows > 0 {
        text.push_str(&format!(
            "linked: {} to {} of the release; both tables together say more of {}, and make {} unique\n",
            counted(linked.rows, "outside row"),
            counted(linked.release_rows, "row"),
            message::count(linked.finer),
            message::count(linked.unique)
        ));
    }
    if let Some(learned) = &report.sensitive {
        text.push_str(&format!(
            "{}: known for certain of {}; commonest value of the candidates: share {:.3} on \
             average, at most {:.3}\n",
            learned.column,
            counted(learned.certain, "outside row"),
            learned.mean_share,
            learned.greatest_share
        ));
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a percentage")]
fn distribution(candidates: &CandidatesReport, rows: u64) -> String {
    let mut lines = vec![["candidates", "outside rows", "share"].map(str::to_owned).to_vec()];
    lines.extend(candidates.distribution.iter().map(|bucket: &CandidateBucket| {
        let (from, to) = (message::count(bucket.from), bucket.to.map(message::count));
        let name = match to {
            _ if bucket.from == 0 => "none".to_owned(),
            Some(to) if to == from => from,
            Some(to) => format!("{from} to {to}"),
            None => format!("{from} or more"),
        };
        let share = format!("{:.1}%", bucket.rows as f64 / rows.max(1) as f64 * 100.0);
        vec![name, message::count(bucket.rows), share]
    }));
    message::table(&lines, &[1, 2])
}

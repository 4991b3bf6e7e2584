//! `attack`: how many candidates outside rows have, as tables or as JSON.

use clap::Args;
use incrowd_job::{
    AttackOptions, AttackReport, BeforeReport, CandidatesReport, FileReport, InputFile, JobError,
    JobSpec, PosteriorReport, ReportFile, Run,
};

use crate::args::{JobArgs, LabelArgs, LogArgs, k_of_all};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::spec::job;
use crate::{message, record, terminal};

#[derive(Debug, Args)]
pub(crate) struct AttackArgs {
    /// The release: a file, a folder or a glob
    pub(crate) release: String,
    /// The outside table: plain values, or another release of the same people
    #[arg(long, value_name = "OTHER")]
    pub(crate) with: String,
    /// The table that the release was made from: attack it too, and show both side by side
    #[arg(long, value_name = "ORIGINAL")]
    pub(crate) before: Option<String>,
    /// The columns that are compared (default: all that both tables have, but sensitive ones)
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// The column of the release that an attacker is after
    #[arg(long, value_name = "A")]
    pub(crate) sensitive: Option<String>,
    /// Count the outside rows with fewer candidates (default: as the job says, otherwise 2)
    #[arg(short, value_name = "N", value_parser = k_of_all)]
    pub(crate) k: Option<u64>,
    /// Exit with code 1 if an outside row has candidates, but fewer than N
    #[arg(long, value_name = "N")]
    pub(crate) fail_below: Option<u64>,
    #[command(flatten)]
    pub(crate) about: LabelArgs,
    /// Write the report: JSON, or one HTML page
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
    /// Threads (default: all cores)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the result and errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(run: &Run, args: &AttackArgs) -> Result<u8, JobError> {
    let flags = JobArgs {
        job: args.about.job.clone(),
        quasi: args.about.quasi.clone(),
        hierarchy: args.about.hierarchy.clone(),
        ..JobArgs::default()
    };
    let job = job(&flags)?;
    let file = report_file(run, args, &job)?;
    let hierarchies = args.about.hierarchy.iter().filter_map(|text| text.split_once('='));
    let options = AttackOptions {
        release: args.release.clone(),
        with: args.with.clone(),
        before: args.before.clone(),
        on: args.on.iter().map(|name| name.trim().to_owned()).collect(),
        sensitive: args.sensitive.clone(),
        k: args.k,
        fail_below: args.fail_below,
        recoding: args.about.recoding.clone(),
        job,
        has_job_file: args.about.job.is_some(),
        labels: args.about.labels.clone(),
        named: hierarchies.map(|(column, _)| column.to_owned()).collect(),
        threads: args.threads,
    };
    let progress = Progress::start(run, args.quiet);
    let attacked = incrowd_job::attack(run, &options)?;
    drop(progress);
    let report = &attacked.report;
    message::warn(&attacked.warnings, args.quiet);
    if args.json {
        record::result(&report.to_json())?;
    } else {
        terminal::text(&text(report))?;
    }
    if let Some(file) = file {
        file.write(run, FileReport::Attack(report))?;
    }
    match report.fail_below.zip(report.failed) {
        Some((limit, failed)) if failed > 0 => {
            let rows = counted(failed, "outside row");
            let verb = if failed == 1 { "has" } else { "have" };
            let message = format!("{rows} {verb} candidates, but fewer than {limit}");
            message::not_satisfied(vec![Failure { message, ..Failure::default() }]);
            Ok(message::EXIT_FAILED)
        }
        _ => Ok(0),
    }
}

/// The file of the report. One that cannot be written is refused before anything is read.
fn report_file(
    run: &Run,
    args: &AttackArgs,
    job: &JobSpec,
) -> Result<Option<ReportFile>, JobError> {
    let Some(path) = &args.report else { return Ok(None) };
    let mut inputs = InputFile::of_job(job);
    inputs.extend(args.about.recoding.iter().map(|path| InputFile::new(path, "the recoding")));
    let tables = [
        (Some(&args.release), "the release"),
        (Some(&args.with), "the outside table"),
        (args.before.as_ref(), "the original table"),
    ];
    for (table, what) in tables {
        if let Some(table) = table {
            inputs.extend(InputFile::of_table(run, table, what)?);
        }
    }
    ReportFile::new(run, "a report", path, inputs, args.force).map(Some)
}

fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {what}{ending}", message::count(n))
}

/// What was found, for a person.
fn text(report: &AttackReport) -> String {
    if let Some(before) = &report.before {
        return side_by_side(report, before);
    }
    let columns: Vec<_> = report.on.iter().map(|of| message::visible(&of.column)).collect();
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
            message::visible(&learned.column),
            counted(learned.certain, "outside row"),
            learned.mean_share,
            learned.greatest_share
        ));
    }
    text
}

fn distribution(candidates: &CandidatesReport, rows: u64) -> String {
    let mut lines = vec![["candidates", "outside rows", "share"].map(str::to_owned).to_vec()];
    lines.extend(
        candidates.distribution.iter().map(|bucket| {
            vec![bucket.name(), message::count(bucket.rows), share(bucket.rows, rows)]
        }),
    );
    message::table(&lines, &[1, 2])
}

fn share(part: u64, rows: u64) -> String {
    format!("{:.1}%", part as f64 / rows.max(1) as f64 * 100.0)
}

/// What was found in the original table and in the release.
fn side_by_side(report: &AttackReport, before: &BeforeReport) -> String {
    let columns: Vec<_> = report.on.iter().map(|of| message::visible(&of.column)).collect();
    let rows = report.outside.rows;
    let mut lines =
        vec![["candidates", "before", "share", "release", "share"].map(str::to_owned).to_vec()];
    lines.extend(report.side_by_side().into_iter().map(|(bucket, earlier, now)| {
        let (before, release) = (message::count(earlier), message::count(now));
        vec![bucket.name(), before, share(earlier, rows), release, share(now, rows)]
    }));
    format!(
        "{} against {} of the original table and {} of the release, compared on {}\n\n{}\n{}\n{}\n",
        counted(rows, "outside row"),
        counted(before.original.rows, "row"),
        counted(report.release.rows, "row"),
        columns.join(", "),
        message::table(&lines, &[1, 2, 3, 4]),
        message::table(&figures(report, before), &[1, 2]),
        message::visible(&report.conclusion)
    )
}

/// The figures of both tables, a line for each.
fn figures(report: &AttackReport, before: &BeforeReport) -> Vec<Vec<String>> {
    let both = [&before.candidates, &report.candidates];
    let line = |name: &str, of: &dyn Fn(&CandidatesReport) -> String| {
        vec![name.to_owned(), of(both[0]), of(both[1])]
    };
    let some = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), message::count);
    let mut lines = vec![
        ["", "before", "release"].map(str::to_owned).to_vec(),
        line("pinned down to one record", &|of| message::count(of.one)),
        line(&format!("fewer than {} candidates", report.k), &|of| message::count(of.below_k)),
        line("links expected by chance", &|of| format!("{:.1}", of.expected_links)),
        line("candidates, of rows that have some: least", &|of| some(of.least)),
        line("  median", &|of| some(of.median)),
        line("  mean", &|of| of.mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}"))),
        line("  greatest", &|of| some(of.greatest)),
    ];
    let learned = [before.sensitive.as_ref(), report.sensitive.as_ref()];
    if let Some(PosteriorReport { column, .. }) = learned.iter().flatten().next() {
        let line = |name: String, of: fn(&PosteriorReport) -> String| {
            let [before, release] = learned.map(|of_table| of_table.map_or("-".to_owned(), of));
            vec![name, before, release]
        };
        lines.push(line(format!("{column}: known for certain"), |of| message::count(of.certain)));
        lines.push(line("  commonest value of the candidates: mean share".to_owned(), |of| {
            format!("{:.3}", of.mean_share)
        }));
        lines.push(line("  greatest share".to_owned(), |of| format!("{:.3}", of.greatest_share)));
    }
    lines
}

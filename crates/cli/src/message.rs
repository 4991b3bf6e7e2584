//! What people read: errors, summaries, tables. Everything but data goes to standard error.

use incrowd_job::{CollusionReport, JobError, Outcome, Problem, Report, RiskReport};

use crate::failure::Failure;
use crate::record;

pub(crate) use crate::terminal::{note, visible};
pub(crate) use incrowd_job::count;

pub(crate) const EXIT_FAILED: u8 = 1;
pub(crate) const EXIT_REQUEST: u8 = 2;
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// An error with its causes and the way out; gives the exit code.
pub(crate) fn error(error: &JobError) -> u8 {
    let label = if matches!(error, JobError::Cancelled) { "" } else { "error: " };
    let is_unreviewed = matches!(error, JobError::Unreviewed(_));
    for told in told(error) {
        note(&format!("{label}{}", told.message));
        let because = if is_unreviewed { "" } else { "because: " };
        for cause in &told.because {
            note(&format!("  {because}{cause}"));
        }
        if let Some(help) = &told.help {
            note(&format!("  help: {help}"));
        }
        record::problem(told);
    }
    match error {
        JobError::Cancelled => EXIT_INTERRUPTED,
        JobError::Infeasible(_) => EXIT_FAILED,
        _ => EXIT_REQUEST,
    }
}

/// What an error has to say: all that is wrong.
fn told(error: &JobError) -> Vec<Failure> {
    let of = |problem: &Problem| Failure {
        message: problem.message.clone(),
        because: Vec::new(),
        help: problem.help.clone(),
    };
    match error {
        JobError::Infeasible(problem) => vec![of(problem)],
        JobError::Request(problems) => problems.iter().map(of).collect(),
        JobError::Unreviewed(guesses) => vec![Failure {
            message: error.to_string(),
            because: guesses.clone(),
            help: Some(
                "go through every role, correct what is wrong, then set `reviewed = true` \
                 in the job file"
                    .to_owned(),
            ),
        }],
        _ => {
            let mut because = Vec::new();
            let mut cause = std::error::Error::source(error);
            while let Some(source) = cause {
                because.push(source.to_string());
                cause = source.source();
            }
            let help = help_for(error).map(str::to_owned);
            vec![Failure { message: error.to_string(), because, help }]
        }
    }
}

/// Says what does not hold.
pub(crate) fn not_satisfied(reasons: Vec<Failure>) {
    for told in reasons {
        let causes = told.because.iter().map(String::as_str);
        let parts: Vec<&str> = std::iter::once(told.message.as_str()).chain(causes).collect();
        note(&format!("not satisfied: {}", parts.join(": ")));
        if let Some(help) = &told.help {
            note(&format!("  help: {help}"));
        }
        record::problem(told);
    }
}

fn help_for(error: &JobError) -> Option<&'static str> {
    use incrowd_job::{Elsewhere, EngineError as E, FileAction, ValueList};
    let JobError::Engine(error) = error else { return None };
    match error {
        E::NotCovered { what: ValueList::Hierarchy, .. } => Some(
            "add the values as leaves; `incrowd hierarchy check FILE --input TABLE --column COLUMN` counts them",
        ),
        E::NotCovered { what: ValueList::Order, .. } => Some("add the values to the order"),
        E::NotOfKind { .. } => Some("declare another type, or fix the rows"),
        E::UnsupportedType { .. } => Some(
            "declare it insensitive to release it as it is, leave it out with identifier, or convert it to text or numbers first",
        ),
        E::NotAPath { what: Elsewhere::File, .. } => Some("write the path without file://"),
        E::NotAPath { what: Elsewhere::Database, .. } => {
            Some("export the rows that you need to a .parquet or .csv file, and name that file")
        }
        E::NotAPath { .. } => Some(
            "copy the table to a folder of this machine, or mount the store as one; copy the release back when it is published",
        ),
        E::Changed { .. } => Some("run it again when nothing writes to the input"),
        E::Exists { .. } => Some("choose another name, or replace it with --force"),
        E::Write { .. } => Some(
            "see that the disk has room; what one format cannot hold (bytes that are not text, in CSV) another may",
        ),
        E::Io {
            action: FileAction::CreateBeside | FileAction::Write | FileAction::Publish,
            ..
        } => Some("see that the folder can be written to and the disk has room"),
        _ => None,
    }
}

/// A panic is a bug of ours; its text names an invariant, never a value.
pub(crate) fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    // It is caught, and the error names the input.
    if incrowd_job::is_decoding() {
        return;
    }
    let place =
        info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let message = format!("a bug in incrowd{place}; nothing was written");
    note(&format!("error: {message}"));
    record::problem_at_once(Failure { message, ..Failure::default() });
}

/// What became of a job: the code to exit with. The report was told before anything was published.
pub(crate) fn outcome(outcome: &Outcome, is_quiet: bool) -> u8 {
    match outcome {
        Outcome::Done(done) => {
            warn(&done.warnings, is_quiet);
            0
        }
        Outcome::Failed { reasons, help, report } => {
            let warnings = report.as_ref().map_or(&[][..], |report| report.warnings.as_slice());
            warn(warnings, is_quiet);
            let told = |(at, reason): (usize, &String)| Failure {
                message: reason.clone(),
                because: Vec::new(),
                // The way out of all of them is told once, after the last.
                help: help.clone().filter(|_| at + 1 == reasons.len()),
            };
            not_satisfied(reasons.iter().enumerate().map(told).collect());
            EXIT_FAILED
        }
    }
}

/// Tells what may be amiss.
pub(crate) fn warn(warnings: &[String], is_quiet: bool) {
    for warning in warnings {
        if !is_quiet {
            note(&format!("warning: {warning}"));
        }
        crate::log::warning(warning);
    }
}

/// The levels of a full-domain recoding, and what is proved about them.
fn levels(report: &Report) -> Vec<String> {
    let Some(levels) = report.recoding.as_ref().and_then(|recoding| recoding.levels.as_ref())
    else {
        return Vec::new();
    };
    let levels: Vec<String> =
        levels.iter().map(|(name, level)| format!("{name} {level}")).collect();
    let mut lines = vec![format!("levels: {}", levels.join(", "))];
    if let Some(search) = &report.search {
        let known = match (search.optimal, search.lower_bound) {
            (true, _) => "proved to be the least".to_owned(),
            (false, Some(bound)) => format!("proved: not below {bound}"),
            (false, None) => "nothing is proved about the least".to_owned(),
        };
        let cost = search.cost.map_or_else(String::new, |cost| format!("cost {cost}, {known}; "));
        let of_all =
            search.nodes_total.map_or_else(String::new, |total| format!(" of {}", count(total)));
        lines.push(format!("{cost}{}{of_all} nodes checked", count(search.nodes_checked)));
    }
    lines
}

/// What holds for each quasi-identifier set.
fn sets(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let is_check = report.search.is_none() && report.recoding.is_none();
    let verb = if is_check { "is" } else { "is now" };
    for set in &report.privacy {
        let mut line = format!(
            "{}: the table {verb} {}-anonymous with respect to {{{}}}",
            set.quasi,
            set.k,
            set.columns.join(", ")
        );
        if report.privacy.len() > 1 {
            let asked = set.required.get("k");
            line += &asked.map_or_else(String::new, |k| format!(", {k} asked for"));
            line += &format!("; {}", risk(&set.risk));
        }
        lines.push(line);
        for (column, found) in &set.sensitive {
            lines.push(format!(
                "  {column}: at least {} values in a class, entropy l {:.2}, t {:.3}",
                found.l_distinct, found.l_entropy, found.t
            ));
            if is_check {
                let recursive = found.l_recursive.map_or_else(String::new, |(c, l)| {
                    format!("recursive with l {l} for every c above {c:.2}, ")
                });
                lines.push(format!(
                    "  {column}: {recursive}alpha {:.2}, delta {:.2}, beta {:.2}",
                    found.alpha, found.delta, found.beta
                ));
            }
        }
    }
    lines
}

/// What attackers would find who put their knowledge together.
fn collusion(found: &CollusionReport) -> String {
    let names = found.quasi.as_slice();
    let who = match names {
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    };
    let asked = if found.required {
        "a set or coalition of the job covers it".to_owned()
    } else {
        format!("nothing in the job covers it; --collude {} would", names.join(","))
    };
    let (k, risk) = (found.k, risk(&found.risk));
    format!(
        "{who}, if they put their knowledge together, would find classes as small as {k} ({asked}); {risk}"
    )
}

fn risk(risk: &RiskReport) -> String {
    format!(
        "risk of a record: at most {:.4}, {:.4} on average; {} records at risk",
        risk.prosecutor_max,
        risk.prosecutor_average,
        count(risk.records_at_risk)
    )
}

/// What a release or a checked table is like, for a person.
pub(crate) fn summary(report: &Report) -> Vec<String> {
    let mut lines = sets(report);
    lines.extend(report.collusion.iter().map(collusion));
    lines.extend(levels(report));
    let release = &report.release;
    let over = if report.privacy.len() > 1 { " over all columns together" } else { "" };
    lines.push(format!(
        "{} rows in {} classes of {} to {}{over}; {} suppressed",
        count(release.rows),
        count(release.classes),
        count(release.smallest_class),
        count(release.largest_class),
        count(release.suppressed)
    ));
    if report.privacy.len() == 1 {
        lines.push(risk(&report.risk));
    }
    let as_they_are = report.as_they_are.iter().filter(|found| found.rows > 0);
    for found in as_they_are {
        lines.extend(found.in_words().lines().map(str::to_owned));
    }
    for set in report.privacy.iter().filter(|_| release.rows > 0) {
        let words = format!("in words: {}", set.in_words());
        lines.extend(words.lines().map(str::to_owned));
    }
    if let Some(preset) = report.job.privacy.chosen_preset() {
        lines.push(format!("preset {}: {}", preset.name, preset.source));
    }
    let measures = &report.measures;
    let mut lost = vec![format!("discernibility {:.0}", measures.discernibility)];
    let more = [
        ("average class size", measures.average_class_size),
        ("loss", measures.loss),
        ("entropy", measures.entropy),
        ("precision", measures.precision),
        ("classification", measures.classification),
    ];
    lost.extend(more.iter().filter_map(|(name, value)| value.map(|v| format!("{name} {v:.4}"))));
    lines.push(format!("lost: {}", lost.join(", ")));
    lines
}

/// Aligned columns; those in `right` are numbers.
pub(crate) fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let shown = |row: &Vec<String>| row.iter().map(|cell| visible(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let pad = " ".repeat(widths[at] - cell.chars().count());
                if right.contains(&at) { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let rows =
            vec![vec!["a".to_owned(), "1".to_owned()], vec!["bcd".to_owned(), "10".to_owned()]];
        assert_eq!(table(&rows, &[1]), "a     1\nbcd  10\n");
    }
}

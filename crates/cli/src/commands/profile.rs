//! `profile`: columns and combinations as tables or JSON, an HTML page, a job file to start from.

use clap::Args;
use incrowd_job::{JobError, Profile, ProfileFiles, ProfileOptions, Run};

use crate::args::{LogArgs, MachineArgs};
use crate::message::count;
use crate::progress::Progress;
use crate::spec::machine;
use crate::{message, record, terminal};

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// A file, a folder or a glob (.csv, .tsv, .parquet, .arrow, .jsonl; text also as .gz or .zst)
    pub(crate) input: String,
    /// The columns that an attacker can know (default: those that look like it); 20 at most
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) quasi: Vec<String>,
    /// Write a page for people, with pictures; no value of the table is in it
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<String>,
    /// Write a job file to start from: the suggested roles with their reasons
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) job_file: Option<String>,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Take the first line of a text file for the names of columns even if it looks like a row
    #[arg(long)]
    pub(crate) header: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

pub(crate) fn run(run: &Run, args: &ProfileArgs) -> Result<u8, JobError> {
    let files = ProfileFiles {
        html: args.html.clone(),
        job_file: args.job_file.clone(),
        force: args.force,
    };
    files.refuse(run, &args.input)?;
    let mut quasi: Vec<String> = Vec::new();
    for name in args.quasi.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !quasi.iter().any(|known| known == name) {
            quasi.push(name.to_owned());
        }
    }
    let options = ProfileOptions {
        input: args.input.clone(),
        quasi,
        has_header: args.header,
        run: machine(&args.machine),
    };
    let progress = Progress::start(run, false);
    let profile = incrowd_job::profile(run, &options)?;
    drop(progress);
    if args.json {
        let json = serde_json::to_string_pretty(&profile).expect("a profile has a JSON form");
        record::result(&(json + "\n"))?;
    } else {
        terminal::text(&text(&profile))?;
    }
    files.write(run, &profile, &args.input)?;
    if let Some(path) = &args.html {
        message::note(&format!("written: {path}"));
    }
    if let Some(path) = &args.job_file {
        message::note(&format!(
            "written: {path}; go through its roles, then set `reviewed = true` in it"
        ));
    }
    Ok(0)
}

/// About how wide a line may be.
const WIDTH: usize = 116;

/// Characters of a column's name that are shown.
const NAME: usize = 24;

/// A profile as aligned tables.
fn text(profile: &Profile) -> String {
    let header = ["column", "type", "distinct", "missing", "unique", "suggested role", "because"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(profile.columns.iter().map(|column| {
        let same_as = column.same_as.as_ref();
        let same_as = same_as
            .map_or_else(String::new, |other| format!("; tells the same rows apart as {other}"));
        vec![
            shortened(&column.name),
            column.kind.clone(),
            count(column.distinct),
            count(column.missing),
            count(column.unique),
            column.role_in_words(),
            format!("{}{same_as}", column.reason),
        ]
    }));
    rows.extend(profile.passed_over().map(|(name, role, why)| {
        [&shortened(name), "", "", "", "", role, &why].map(str::to_owned).to_vec()
    }));
    let n_columns = rows.len() - 1;
    let mut text = format!("{} rows, {n_columns} columns\n\n", count(profile.rows));
    text.push_str(&message::table(&wrapped(rows), &[2, 3, 4]));
    if profile.combinations.is_empty() {
        return text;
    }
    text.push_str("\nwho could be singled out by what others may know:\n\n");
    let header = ["columns", "unique rows", "share", "in classes below 5", "by"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut found: Vec<_> = profile.combinations.iter().collect();
    found.sort_by_key(|found| found.columns.len());
    rows.extend(found.iter().map(|found| {
        vec![
            found.columns.len().to_string(),
            count(found.unique_rows),
            incrowd_job::percent(found.unique_share),
            count(found.below_5),
            found.columns.join(", "),
        ]
    }));
    text.push_str(&message::table(&wrapped(rows), &[0, 1, 2, 3]));
    text.push_str(if profile.exact {
        "\nno other combination of as many of the columns that were combined singles out more rows\n"
    } else {
        "\nnot all combinations were searched, the table is too large: the worst pairs were grown\n"
    });
    text
}

/// A name with its end left out if it is long.
fn shortened(name: &str) -> String {
    let name = message::visible(name).into_owned();
    if name.chars().count() <= NAME {
        return name;
    }
    name.chars().take(NAME - 1).chain(['\u{2026}']).collect()
}

/// The rows with the last cell broken into lines, so that no line is much wider than a terminal.
fn wrapped(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let n_cells = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0) + 2;
    let room = WIDTH.saturating_sub((0..n_cells - 1).map(width).sum()).max(30);
    let mut lines = Vec::new();
    for mut row in rows {
        let last = row.pop().unwrap_or_default();
        for part in broken(&last, room) {
            let mut line = std::mem::replace(&mut row, vec![String::new(); n_cells - 1]);
            line.push(part);
            lines.push(line);
        }
    }
    lines
}

/// A text in lines of so many characters at most, broken at blanks; a longer word has a line of its
/// own.
fn broken(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one from the start");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= most {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("", 7), [""]);
        assert_eq!(broken("a longerword b", 4), ["a", "longerword", "b"]);
    }
}

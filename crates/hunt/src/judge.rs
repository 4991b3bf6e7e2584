//! One case: the job is done, its release verified, and the job done again in other ways.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::case::{Case, Hierarchy};
use crate::generate::CANARY;
use crate::random::Random;
use crate::run::{Ended, Folder, shell};
use crate::{Fault, csv, oracle, vary, verify};

/// How a case ended that has no fault.
pub(crate) enum Outcome {
    Released,
    Infeasible,
    /// By what was said, without names and numbers.
    Refused(String),
}

/// The rows of all hierarchies, by column.
pub(crate) type Trees = BTreeMap<usize, Vec<Vec<String>>>;

/// Runs a case and everything that is checked of it.
pub(crate) fn judge(binary: &Path, case: &Case, seed: u64) -> Result<Outcome, Fault> {
    let folder = Folder::new(binary)?;
    folder.prepare(case)?;
    folder.write_table(case, &case.table, "input.csv")?;
    let trees = trees(&folder, case)?;
    let before = folder.files();
    let mut args = arguments(case, "input.csv", "release.csv", case.format.by_file);
    args.extend(["--report", "report.json", "--recoding", "recoding.json"].map(str::to_owned));
    args.extend(["--threads", "1"].map(str::to_owned));
    let ended = folder.run(&args)?;
    sound(&folder, &ended, &before)?;
    let mut random = Random::new(seed ^ 0x5eed);
    match ended.code {
        Some(0) => {}
        Some(1) => {
            oracle::infeasible(case, &trees, &ended)?;
            vary::repeat(&folder, case, &mut random, None)?;
            return Ok(Outcome::Infeasible);
        }
        _ => return refused(&ended),
    }
    let release = folder.read_table("release.csv")?;
    let report = folder.json("report.json")?;
    verify::verify(case, &trees, &release, &report)?;
    oracle::optimal(case, &trees, &report)?;
    secrets(&folder, case, &release)?;
    vary::repeat(&folder, case, &mut random, Some(&release))?;
    vary::formats(&folder, case, &mut random, &release)?;
    vary::readers(&folder, case, &release)?;
    vary::apply(&folder, case, &release)?;
    Ok(Outcome::Released)
}

/// The arguments of `anonymize`.
pub(crate) fn arguments(case: &Case, input: &str, output: &str, by_file: bool) -> Vec<String> {
    let mut args: Vec<String> = ["anonymize", input, "-o", output].map(str::to_owned).to_vec();
    if by_file {
        args.extend(["--job", "job.toml"].map(str::to_owned));
    } else {
        args.extend(case.flags());
    }
    args
}

/// A command ends in good order: a code that is documented, no cell in what it says, no file unless
/// it was well.
pub(crate) fn sound(
    folder: &Folder,
    ended: &Ended,
    before: &BTreeSet<PathBuf>,
) -> Result<(), Fault> {
    let Some(code) = ended.code else { return Err(Fault::new("signal", ended.said())) };
    if !(0..=2).contains(&code) || ended.stderr.contains("panicked") {
        return Err(Fault::new("panic", ended.said()));
    }
    if ended.stderr.contains(CANARY) || ended.stdout.contains(CANARY) {
        return Err(Fault::new("message", ended.said()));
    }
    let files = folder.files();
    if code != 0 && files != *before {
        let new: Vec<_> = files.difference(before).collect();
        return Err(Fault::new("leftover", format!("{new:?}\n{}", ended.said())));
    }
    let hidden = files
        .difference(before)
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    match hidden {
        Some(path) => Err(Fault::new("leftover", format!("{}\n{}", path.display(), ended.said()))),
        None => Ok(()),
    }
}

/// Jobs that a command may refuse, and how it says so. Anything else is a job that should have been
/// done.
const REFUSALS: [&str; 0] = [];

fn refused(ended: &Ended) -> Result<Outcome, Fault> {
    let line = ended.stderr.lines().find(|line| line.starts_with("error")).unwrap_or("nothing");
    let mut is_name = false;
    let kind: String = line
        .chars()
        .filter(|&char| {
            is_name ^= char == '`';
            !is_name && char != '`' && !char.is_ascii_digit()
        })
        .collect();
    if REFUSALS.is_empty() || REFUSALS.iter().any(|known| line.contains(known)) {
        return Ok(Outcome::Refused(kind));
    }
    Err(Fault::new("refused", ended.said()))
}

/// The trees of all hierarchies; those that the command builds are made by it and looked at.
fn trees(folder: &Folder, case: &Case) -> Result<Trees, Fault> {
    let mut trees = Trees::new();
    for (column, name) in case.table.header.iter().enumerate() {
        match &case.columns[column].hierarchy {
            Some(Hierarchy::Rows(rows)) => {
                trees.insert(column, rows.clone());
            }
            Some(Hierarchy::Built { flags, .. }) => {
                let file = format!("h{column}.csv");
                let mut args: Vec<String> =
                    ["hierarchy", "make", "input.csv", "--column", name, "-o", &file]
                        .map(str::to_owned)
                        .to_vec();
                args.extend(flags.iter().cloned());
                let before = folder.files();
                let ended = folder.run(&args)?;
                sound(folder, &ended, &before)?;
                if ended.code != Some(0) {
                    continue;
                }
                let text = folder.text(&file);
                let table = csv::read(&header(&text), ';')
                    .map_err(|why| Fault::new("hierarchy", format!("{why}\n{text}")))?;
                let rows = table.rows.into_iter();
                let rows = rows.map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
                trees.insert(column, rows.collect());
            }
            None => {}
        }
    }
    Ok(trees)
}

/// A hierarchy's text with a header before it.
fn header(text: &str) -> String {
    let n = csv::width(text, ';');
    format!("{}\n{text}", vec!["x"; n].join(";"))
}

/// What stands beside the release tells no value that the release does not tell.
fn secrets(folder: &Folder, case: &Case, release: &crate::table::Table) -> Result<(), Fault> {
    // Cut points are values of rows that were released.
    let released = verify::released(case, release);
    let orders = case.columns.iter().filter_map(|column| column.order.as_ref());
    let ordered: BTreeSet<&str> = orders.flatten().map(String::as_str).collect();
    let published: String = release.rows.iter().flatten().flatten().cloned().collect();
    for name in ["report.json", "recoding.json"] {
        let text = folder.text(name);
        for column in 0..case.table.header.len() {
            for cell in case.table.cells(column).flatten().filter(|cell| cell.contains(CANARY)) {
                // The job, which the report repeats, may name values of orders.
                if ordered.contains(cell) {
                    continue;
                }
                let quoted = serde_json::to_string(cell).map_err(Fault::machine)?;
                let is_there = text.contains(&quoted);
                let is_released = released.contains(&(column, cell));
                if is_there && (name == "report.json" || !published.contains(cell) && !is_released)
                {
                    return Err(Fault::new("secret", format!("{name} has {cell:?}")));
                }
            }
        }
    }
    Ok(())
}

/// The files of a case and its first command, as a shell script.
pub(crate) fn script(case: &Case) -> String {
    let mut text = String::new();
    let mut file = |name: &str, content: &str| {
        let content = content.strip_suffix('\n').unwrap_or(content);
        text.push_str(&format!("cat > {name} <<'EOF'\n{content}\nEOF\n"));
    };
    file("input.csv", &csv::write(&case.table, case.format.delimiter));
    for (number, column) in case.columns.iter().enumerate() {
        if let Some(Hierarchy::Rows(rows)) = &column.hierarchy {
            let lines: Vec<String> = rows.iter().map(|row| row.join(";")).collect();
            file(&format!("h{number}.csv"), &lines.join("\n"));
        }
    }
    if case.format.by_file {
        file("job.toml", &case.toml());
    }
    let args = arguments(case, "input.csv", "release.csv", case.format.by_file);
    format!("{text}incrowd {}", shell(&args))
}

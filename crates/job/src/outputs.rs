//! Where the files of a job go: what is refused before any work is done, and what is said of a folder.

use std::path::Path;

use incrowd_engine::{Format, Output, Part, Source, is_folder_of_parts};
use serde::Serialize;

use crate::error::{JobError, Problem};
use crate::spec::JobSpec;

/// Refuses an output that cannot or must not be written.
pub(crate) fn check_outputs(
    spec: &JobSpec,
    source: &Source,
    force: bool,
) -> Result<Output, JobError> {
    let name = spec.output.as_deref().ok_or_else(|| {
        Problem::new("the job has no output").help("say where the release goes: -o release.csv")
    })?;
    let mut problems: Vec<Problem> =
        part_rows_problem(name, spec.release.part_rows).into_iter().collect();
    let output = Output::named(name, spec.release.part_rows)?;
    let more = [&spec.report, &spec.recoding].into_iter().flatten();
    let all: Vec<&str> = std::iter::once(name).chain(more.map(String::as_str)).collect();
    let resume = spec.run.resume.as_deref();
    for (at, &name) in all.iter().enumerate() {
        let path = Path::new(name);
        if source.reads(path) {
            problems.push(Problem::new(format!("`{name}` is the input; it is never overwritten")));
        } else if at == 0 && Output::is_folder(name) {
            problems.extend(folder_problem(&output, force));
        } else {
            problems.extend(output_problem(path, force));
        }
        if resume.map(Path::new) == Some(path) {
            problems.push(
                Problem::new(format!("`{name}` is named both as an output and with --resume"))
                    .help("keep the search in a file of its own"),
            );
        }
        if all[..at].iter().any(|other| Path::new(other) == path) {
            problems.push(Problem::new(format!("`{name}` is named twice as an output")));
        }
    }
    if let Some(name) = resume {
        let path = Path::new(name);
        if source.reads(path) {
            problems.push(Problem::new(format!("`{name}` is the input; it is never overwritten")));
        } else {
            problems.extend(parent_problem(path));
        }
    }
    for name in all[1..].iter().copied().chain(resume) {
        // The folder is replaced as a whole.
        if Output::is_folder(all[0]) && Path::new(name).starts_with(output.path()) {
            let problem = Problem::new(format!("`{name}` would lie in the folder of the release"));
            problems.push(problem.help("put it beside the folder"));
        }
    }
    if problems.is_empty() { Ok(output) } else { Err(JobError::Request(problems)) }
}

fn part_rows_problem(output: &str, part_rows: Option<u64>) -> Option<Problem> {
    match part_rows? {
        0 => Some(Problem::new("a part of a release has at least 1 row, found part-rows 0")),
        _ if !Output::is_folder(output) => {
            let problem = Problem::new(format!("`{output}` is one file; it has no parts"));
            Some(problem.help("for a folder of parts, put / behind its name: -o release.parquet/"))
        }
        _ => None,
    }
}

/// Why a file cannot be written, as far as can be seen before.
#[must_use]
pub fn output_problem(path: &Path, force: bool) -> Option<Problem> {
    let name = path.display();
    if path.is_dir() || Output::is_folder(&path.to_string_lossy()) {
        Some(Problem::new(format!("`{name}` is a folder")).help("name a file in it"))
    } else if path.exists() && !force {
        let problem = Problem::new(format!("`{name}` exists already"));
        Some(problem.help("choose another name, or replace it with --force"))
    } else {
        parent_problem(path)
    }
}

/// Why a folder of parts cannot be written.
fn folder_problem(output: &Output, force: bool) -> Option<Problem> {
    let (path, name) = (output.path(), output.path().display());
    if !path.exists() {
        parent_problem(path)
    } else if !path.is_dir() {
        let problem = Problem::new(format!("`{name}` is a file and no folder of parts"));
        Some(problem.help("choose another name"))
    } else if !force {
        let problem = Problem::new(format!("`{name}` exists already"));
        Some(problem.help("choose another name, or replace it with --force"))
    } else if !is_folder_of_parts(path) {
        let problem = Problem::new(format!("`{name}` holds files that are no parts of a release"));
        Some(problem.help("choose another name; --force replaces releases only"))
    } else {
        None
    }
}

fn parent_problem(path: &Path) -> Option<Problem> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.filter(|folder| !folder.is_dir())?;
    let problem = Problem::new(format!("the folder `{}` does not exist", folder.display()));
    Some(problem.help("create it first"))
}

/// What stands in a folder of parts beside them, for whoever reads it. Nothing of the input.
#[derive(Serialize)]
struct Manifest<'a> {
    incrowd: &'a str,
    format: &'a str,
    rows: u64,
    parts: Vec<ManifestPart<'a>>,
}

#[derive(Serialize)]
struct ManifestPart<'a> {
    name: &'a str,
    rows: u64,
    bytes: u64,
}

/// The manifest of a folder.
pub(crate) fn manifest(format: Format, parts: &[Part]) -> String {
    fn part(part: &Part) -> ManifestPart<'_> {
        ManifestPart { name: &part.name, rows: part.n_rows, bytes: part.n_bytes }
    }
    let manifest = Manifest {
        incrowd: crate::VERSION,
        format: match format {
            Format::Csv(_) => "csv",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::JsonLines(_) => "jsonl",
        },
        rows: parts.iter().map(|part| part.n_rows).sum(),
        parts: parts.iter().map(part).collect(),
    };
    serde_json::to_string_pretty(&manifest).expect("a manifest has a JSON form") + "\n"
}

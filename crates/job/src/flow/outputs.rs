//! Where the files of a job go: what is refused before any work is done, and what is said of a
//! folder.

use std::path::{Path, PathBuf};

use incrowd_engine::{Format, Output, Part, find_files, foreign_in, refuse_address};
use serde::Serialize;

use crate::flow::recoding_file::private_path;
use crate::flow::run::Run;
use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::address_problem;
use crate::spec::{InputFile, JobSpec};

impl InputFile {
    /// The files of a table: a file, a folder or a pattern.
    pub fn of_table(
        run: &Run,
        table: &str,
        what: &'static str,
    ) -> Result<Vec<InputFile>, JobError> {
        let go_on = || run.go_on().map_err(|_| incrowd_engine::EngineError::Cancelled);
        let files = find_files(table, &go_on).map_err(|error| match error {
            incrowd_engine::EngineError::Cancelled => JobError::Cancelled,
            error => error.into(),
        })?;
        Ok(files.into_iter().map(|path| InputFile { path, what }).collect())
    }
}

/// Refuses an output that cannot or must not be written. `read` are the files that the job reads,
/// beside those that it names.
pub(crate) fn check_outputs(
    run: &Run,
    spec: &JobSpec,
    read: Vec<InputFile>,
    force: bool,
) -> Result<Output, JobError> {
    let name = spec.output.as_deref().ok_or_else(|| {
        Problem::new("the job has no output").help("say where the release goes: -o release.csv")
    })?;
    let outputs = [Some(name), spec.report.as_deref(), spec.recoding.as_deref()];
    outputs.into_iter().flatten().try_for_each(refuse_address)?;
    let mut problems: Vec<Problem> =
        part_rows_problem(name, spec.release.part_rows).into_iter().collect();
    let output = Output::named(name, spec.release.part_rows)?;
    match output.path().filter(|_| Output::is_folder(name)) {
        Some(path) => problems.extend(folder_problem(path, force)),
        None => problems.extend(output_problem(Path::new(name), force)),
    }
    problems.extend(file_problems(run, spec, Some(name), read, force)?);
    if problems.is_empty() { Ok(output) } else { Err(JobError::Request(problems)) }
}

/// The same for a job whose release stays in memory.
pub(crate) fn check_small_outputs(
    run: &Run,
    spec: &JobSpec,
    read: Vec<InputFile>,
    force: bool,
) -> Result<(), JobError> {
    let outputs = [spec.report.as_deref(), spec.recoding.as_deref()];
    outputs.into_iter().flatten().try_for_each(refuse_address)?;
    let problems = file_problems(run, spec, None, read, force)?;
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

/// What is wrong with the files of a job, beside its release of this name.
fn file_problems(
    run: &Run,
    spec: &JobSpec,
    release: Option<&str>,
    read: Vec<InputFile>,
    force: bool,
) -> Result<Vec<Problem>, JobError> {
    let private = spec.recoding.as_deref().map(|path| private_path(Path::new(path)));
    let private = private.map(|path| path.to_string_lossy().into_owned());
    let more = [&spec.report, &spec.recoding, &private].into_iter().flatten();
    let more: Vec<&str> = more.map(String::as_str).collect();
    let resume = spec.run.resume.as_deref();
    let of_more = more.iter().filter_map(|name| output_problem(Path::new(name), force));
    let mut problems: Vec<Problem> = of_more.collect();
    problems.extend(resume.and_then(|name| parent_problem(Path::new(name))));
    let mut inputs = read;
    inputs.extend(run.log_file());
    if let Some(input) = &spec.input {
        inputs.extend(InputFile::of_table(run, input, "the input")?);
    }
    inputs.extend(InputFile::of_job(spec));
    let all: Vec<&str> = release.into_iter().chain(more).collect();
    problems.extend(overlaps(&all, resume, &inputs));
    Ok(problems)
}

/// All that is wrong with the names of small files that a command writes, as far as can be seen
/// before any work is done: they cannot be written, are the same, or are files that the command
/// reads.
#[must_use]
pub fn output_problems(outputs: &[&str], inputs: &[InputFile], force: bool) -> Vec<Problem> {
    let mut problems: Vec<Problem> =
        outputs.iter().filter_map(|name| output_problem(Path::new(name), force)).collect();
    problems.extend(overlaps(outputs, None, inputs));
    problems
}

/// Outputs that are the same file, or one that is read, whatever they are called. The first of them
/// may be a folder, which is replaced as a whole. `resume` is read and written.
fn overlaps(outputs: &[&str], resume: Option<&str>, inputs: &[InputFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let places: Vec<Identity> = outputs.iter().map(|name| Identity::of(Path::new(name))).collect();
    for (at, (&name, place)) in outputs.iter().zip(&places).enumerate() {
        let read = inputs.iter().find(|input| place.holds(&Identity::of(&input.path)));
        if let Some(InputFile { what, .. }) = read {
            problems.push(Problem::new(format!("`{name}` is {what}; it is never overwritten")));
        }
        let twice = places[..at].iter().position(|other| other.is(place));
        if let Some(other) = twice {
            let other = outputs[other];
            let also = if other == name { String::new() } else { format!(", also as `{other}`") };
            problems.push(
                Problem::new(format!("`{name}` is named twice as an output{also}"))
                    .help("give every output a name of its own"),
            );
        } else if at > 0 && places[0].holds(place) {
            problems.push(
                Problem::new(format!("`{name}` would lie in the folder of the release"))
                    .help("put it beside the folder"),
            );
        }
    }
    let Some(name) = resume else { return problems };
    let place = Identity::of(Path::new(name));
    if let Some(input) = inputs.iter().find(|input| place.is(&Identity::of(&input.path))) {
        let what = input.what;
        problems.push(Problem::new(format!("`{name}` is {what}; it is never overwritten")));
    }
    if let Some(at) = places.iter().position(|other| other.is(&place)) {
        let output = outputs[at];
        problems.push(
            Problem::new(format!("`{output}` is named both as an output and with --resume"))
                .help("keep the search in a file of its own"),
        );
    } else if places.first().is_some_and(|release| release.holds(&place)) {
        problems.push(
            Problem::new(format!("`{name}` would lie in the folder of the release"))
                .help("put it beside the folder"),
        );
    }
    problems
}

/// Which file a path is, whatever it is called.
#[derive(Debug)]
struct Identity {
    /// The path without links, `.` and `..`, as far as it exists.
    path: PathBuf,
    /// What tells a file from every other one on this machine, if it exists.
    number: Option<(u64, u64)>,
}

impl Identity {
    fn of(path: &Path) -> Identity {
        let path: PathBuf = path.components().collect();
        let number = std::fs::metadata(&path).ok().and_then(|found| number(&found));
        let path = without_links(&path);
        Identity { path, number }
    }

    /// Whether both are one file. Names of files to come that differ only in case may be.
    fn is(&self, other: &Identity) -> bool {
        let is_new = self.number.is_none() && other.number.is_none();
        self.path == other.path
            || self.number.is_some() && self.number == other.number
            || is_new && lower(&self.path) == lower(&other.path)
    }

    /// Whether the other one is this one or lies in it.
    fn holds(&self, other: &Identity) -> bool {
        self.is(other) || other.path.starts_with(&self.path)
    }
}

/// A path without links, `.` and `..`, as far as it exists.
fn without_links(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        let shown = if known.as_os_str().is_empty() { Path::new(".") } else { known };
        if let (Ok(found), Ok(rest)) = (shown.canonicalize(), path.strip_prefix(known)) {
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path.to_owned()
}

fn lower(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn number(found: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(_found: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

fn part_rows_problem(output: &str, part_rows: Option<u64>) -> Option<Problem> {
    match part_rows? {
        0 => Some(Problem::new("a part of a release has at least 1 row, found part-rows 0")),
        _ if !Output::is_folder(output) => {
            let problem = Problem::new(format!("`{output}` is one file; it has no parts"));
            Some(problem.help("for a folder of parts, end its name with /: -o release.parquet/"))
        }
        _ => None,
    }
}

/// Why a file cannot be written, as far as can be seen before.
#[must_use]
pub(crate) fn output_problem(path: &Path, force: bool) -> Option<Problem> {
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
fn folder_problem(path: &Path, force: bool) -> Option<Problem> {
    let name = path.display();
    if !path.exists() {
        parent_problem(path)
    } else if !path.is_dir() {
        let problem = Problem::new(format!("`{name}` is a file, not a folder of parts"));
        Some(problem.help("choose another name"))
    } else if !force {
        let problem = Problem::new(format!("`{name}` exists already"));
        Some(problem.help("choose another name, or replace it with --force"))
    } else if let Some(file) = foreign_in(path) {
        let file = file.display();
        let problem =
            Problem::new(format!("`{name}` is not replaced: `{file}` is not part of a release"));
        Some(
            problem
                .help("choose another name, or move the file away; --force replaces releases only"),
        )
    } else {
        None
    }
}

fn parent_problem(path: &Path) -> Option<Problem> {
    if let Some(problem) = address_problem(path) {
        return Some(problem);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_file_is_itself_under_every_name() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::write(path("h.csv"), "x").unwrap();
        std::fs::create_dir(path("deep")).unwrap();
        std::os::unix::fs::symlink("h.csv", path("link.csv")).unwrap();
        std::os::unix::fs::symlink("deep", path("way")).unwrap();
        std::fs::hard_link(path("h.csv"), path("hard.csv")).unwrap();
        let same = |a: &str, b: &str| Identity::of(&path(a)).is(&Identity::of(&path(b)));
        for name in ["h.csv", "./h.csv", "deep/../h.csv", "way/../h.csv", "link.csv", "hard.csv"] {
            assert!(same(name, "h.csv"), "{name}");
        }
        assert!(!same("other.csv", "h.csv"));
        // What is not there yet.
        for name in ["deep/x.json", "./way/x.json", "deep/./x.json", "deep/X.json"] {
            assert!(same(name, "deep/x.json"), "{name}");
        }
        assert!(!same("deep/y.json", "deep/x.json"));
        let deep = Identity::of(&path("way/"));
        assert!(deep.holds(&Identity::of(&path("deep/x"))));
        assert!(!deep.holds(&Identity::of(&path("deeper"))));
    }

    #[test]
    fn outputs_never_meet_each_other_or_what_is_read() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("h.csv"), "x").unwrap();
        let (x, dotted, h) = (path("x.json"), path("./x.json"), path("h.csv"));
        let inputs = [InputFile::new(&h, "a hierarchy of the job")];
        let said = |outputs: &[&str], resume: Option<&str>| -> Vec<String> {
            overlaps(outputs, resume, &inputs).into_iter().map(|found| found.message).collect()
        };
        assert_eq!(said(&[&x], None), [""; 0]);
        assert!(said(&[&x, &dotted], None)[0].contains("named twice"));
        assert!(said(&[&x, &h], None)[0].contains("is a hierarchy of the job"));
        assert!(said(&[&x], Some(&dotted))[0].contains("with --resume"));
        assert!(said(&[&x], Some(&h))[0].contains("never overwritten"));
        let folder = format!("{}/", place.path().display());
        assert!(said(&[&folder, &x], None).iter().any(|all| all.contains("would lie in")));
    }
}

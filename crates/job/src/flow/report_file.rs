//! The files that commands without a release write their reports to.

use std::path::Path;

use crate::flow::outputs::output_problems;
use crate::flow::publish::{SmallFile, write_files};
use crate::flow::run::Run;
use crate::report::{AttackReport, Comparison, Evaluations};
use crate::spec::error::{JobError, Problem};
use crate::spec::{InputFile, JobSpec};

/// A report that goes to a file of its own.
#[derive(Clone, Copy, Debug)]
pub enum FileReport<'a> {
    /// Of an attack.
    Attack(&'a AttackReport),
    /// Of a comparison.
    Comparison(&'a Comparison),
    /// Of an evaluation.
    Evaluations(&'a Evaluations),
}

impl FileReport<'_> {
    fn text(self, is_html: bool) -> String {
        match (self, is_html) {
            (FileReport::Attack(report), true) => report.to_html(),
            (FileReport::Attack(report), false) => report.to_json(),
            (FileReport::Comparison(report), true) => report.to_html(),
            (FileReport::Comparison(report), false) => report.to_json(),
            (FileReport::Evaluations(report), true) => report.to_html(),
            (FileReport::Evaluations(report), false) => report.to_json(),
        }
    }
}

/// A file that a report can be written to: HTML for people or JSON for programs, as its name ends.
#[derive(Clone, Debug)]
pub struct ReportFile {
    path: String,
    is_html: bool,
    force: bool,
}

impl ReportFile {
    /// Refuses a name that says neither, a file that cannot be written, and one of `inputs`. `what`
    /// is the report with its article.
    ///
    /// # Errors
    ///
    /// All that is wrong with the name.
    pub fn new(
        run: &Run,
        what: &str,
        path: &str,
        inputs: Vec<InputFile>,
        force: bool,
    ) -> Result<ReportFile, JobError> {
        let is_html = is_html(what, path, "name it .html to read it, .json for programs")?;
        refuse_outputs(run, &[path], inputs, force)?;
        Ok(ReportFile { path: path.to_owned(), is_html, force })
    }

    /// The same for the report of a job, which reads its table and what it names.
    ///
    /// # Errors
    ///
    /// All that is wrong with the name, and an input that cannot be found.
    pub fn of_job(
        run: &Run,
        what: &str,
        path: &str,
        spec: &JobSpec,
        force: bool,
    ) -> Result<ReportFile, JobError> {
        is_html(what, path, "name it .json or .html")?;
        let mut inputs = InputFile::of_job(spec);
        if let Some(input) = &spec.input {
            inputs.extend(InputFile::of_table(run, input, "the input")?);
        }
        ReportFile::new(run, what, path, inputs, force)
    }

    /// Writes a report.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, run: &Run, report: FileReport) -> Result<(), JobError> {
        let text = report.text(self.is_html);
        write_files(run, &[SmallFile::private(&self.path, &text)], self.force)
    }
}

/// Whether a report is HTML, or JSON.
fn is_html(what: &str, path: &str, help: &str) -> Result<bool, Problem> {
    let is_html = ends_with(path, ".html");
    if is_html || ends_with(path, ".json") {
        return Ok(is_html);
    }
    Err(Problem::new(format!("{what} is a .json or .html file, found `{path}`")).help(help))
}

pub(crate) fn ends_with(path: &str, ending: &str) -> bool {
    path.to_ascii_lowercase().ends_with(ending)
}

/// Refuses small files that cannot be written, are the same, or are files that the command reads,
/// its log included.
///
/// # Errors
///
/// All that is wrong with their names.
pub fn refuse_outputs(
    run: &Run,
    outputs: &[impl AsRef<Path>],
    mut inputs: Vec<InputFile>,
    force: bool,
) -> Result<(), JobError> {
    inputs.extend(run.log_file());
    let names: Vec<String> =
        outputs.iter().map(|path| path.as_ref().to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let problems = output_problems(&names, &inputs, force);
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

//! The files of a profile: a page for people, a job file to start from.

use std::path::Path;

use crate::flow::publish::{SmallFile, write_files};
use crate::flow::report_file::{ends_with, refuse_outputs};
use crate::flow::run::Run;
use crate::report::Profile;
use crate::spec::InputFile;
use crate::spec::error::{JobError, Problem};

/// The files that a profile is written to.
#[derive(Clone, Debug, Default)]
pub struct ProfileFiles {
    /// A page for people.
    pub html: Option<String>,
    /// A job file to start from.
    pub job_file: Option<String>,
    /// Whether they may replace other files.
    pub force: bool,
}

impl ProfileFiles {
    /// Refuses files that cannot or must not be written, before anything is read.
    ///
    /// # Errors
    ///
    /// All that is wrong with their names.
    pub fn refuse(&self, run: &Run, input: &str) -> Result<(), JobError> {
        let outputs = [(&self.html, "a page", ".html"), (&self.job_file, "a job", ".toml")];
        let problem = |(path, what, ending): &(&Option<String>, &str, &str)| {
            let path = path.as_deref().filter(|path| !ends_with(path, ending))?;
            let problem = Problem::new(format!("{what} is a {ending} file, found `{path}`"));
            Some(problem.help(format!("name it {ending}")))
        };
        let problems: Vec<Problem> = outputs.iter().filter_map(problem).collect();
        if !problems.is_empty() {
            return Err(JobError::Request(problems));
        }
        let outputs: Vec<&String> = outputs.iter().filter_map(|(path, ..)| path.as_ref()).collect();
        if outputs.is_empty() {
            return Ok(());
        }
        let inputs = InputFile::of_table(run, input, "the input")?;
        refuse_outputs(run, &outputs, inputs, self.force)
    }

    /// Writes them.
    ///
    /// # Errors
    ///
    /// A file cannot be written; then none is.
    pub fn write(&self, run: &Run, profile: &Profile, input: &str) -> Result<(), JobError> {
        let html = self.html.as_deref().map(|path| (path, profile.to_html(input)));
        let job = self.job_file.as_deref();
        let job = job.map(|path| (path, profile.to_job(input, Path::new(path))));
        let files: Vec<SmallFile> =
            html.iter().chain(&job).map(|(path, text)| SmallFile::private(path, text)).collect();
        write_files(run, &files, self.force)
    }
}

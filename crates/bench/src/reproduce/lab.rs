//! Where an experiment works: a folder of its own, a seed, and the commands of the product.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use incrowd_job::{
    EvaluateOptions, Evaluation, GenerateSpec, JobError, JobSpec, Outcome, Report, Run, anonymize,
    evaluate, generate,
};
use tempfile::TempDir;

use crate::Failure;

/// Where an experiment works.
#[derive(Debug)]
pub(crate) struct Lab {
    /// Whether a smaller version is enough.
    pub(crate) is_quick: bool,
    /// What everything random is drawn from.
    pub(crate) seed: u64,
    folder: TempDir,
}

/// The parts of the bundled Adult table that the papers use, both without rows that lack a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Adult {
    /// The training part: 30,162 rows.
    Training,
    /// All of it: 45,222 rows.
    All,
}

/// The folder of the bundled Adult table.
pub(crate) fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

impl Lab {
    /// An empty lab.
    pub(crate) fn new(is_quick: bool, seed: u64) -> Result<Lab, Failure> {
        Ok(Lab { is_quick, seed, folder: TempDir::new()? })
    }

    /// One of two sizes.
    pub(crate) fn size<T>(&self, quick: T, full: T) -> T {
        if self.is_quick { quick } else { full }
    }

    /// A file of the lab.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the lab.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        Ok(std::fs::write(self.path(name), text)?)
    }

    /// Reads a file of the lab.
    pub(crate) fn read(&self, name: &str) -> Result<String, Failure> {
        Ok(std::fs::read_to_string(self.path(name))?)
    }

    /// Puts a part of the Adult table into `adult.csv` and its hierarchies into `hierarchies/`.
    pub(crate) fn adult(&self, part: Adult) -> Result<(), Failure> {
        let from = bundled("adult");
        let mut text = String::new();
        let file = std::fs::File::open(from.join("adult.csv.gz"))?;
        flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
        // The training part comes first (examples/README.md).
        let most = if part == Adult::Training { 32_562 } else { usize::MAX };
        let is_complete = |line: &&str| line.split(',').all(|cell| !cell.is_empty());
        let lines: Vec<&str> = text.lines().take(most).filter(is_complete).collect();
        self.write("adult.csv", &(lines.join("\n") + "\n"))?;
        std::fs::create_dir_all(self.path("hierarchies"))?;
        for entry in std::fs::read_dir(from.join("hierarchies"))? {
            let entry = entry?;
            std::fs::copy(entry.path(), self.path("hierarchies").join(entry.file_name()))?;
        }
        Ok(())
    }

    /// A synthetic table as a CSV file of the lab.
    pub(crate) fn generate(&self, name: &str, spec: GenerateSpec) -> Result<(), Failure> {
        let output = self.path(name).to_string_lossy().into_owned();
        let spec = GenerateSpec { output, force: true, ..spec };
        generate(&Run::default(), &spec).map_err(told)?;
        Ok(())
    }

    /// A job from TOML; its paths are in the lab.
    pub(crate) fn job(&self, toml: &str) -> Result<JobSpec, Failure> {
        self.write("job.toml", toml)?;
        JobSpec::from_file(&self.path("job.toml")).map_err(told)
    }

    /// `incrowd anonymize --job`; no release is an error.
    pub(crate) fn anonymize(&self, toml: &str) -> Result<Report, Failure> {
        match anonymize(&Run::default(), &self.job(toml)?, true).map_err(told)? {
            Outcome::Done(done) => Ok(done.report),
            Outcome::Failed { reasons, .. } => Err(reasons.join("; ").into()),
        }
    }

    /// `incrowd evaluate --job`.
    pub(crate) fn evaluate(
        &self,
        toml: &str,
        options: &EvaluateOptions,
    ) -> Result<Evaluation, Failure> {
        evaluate(&Run::default(), &self.job(toml)?, options).map_err(told)
    }
}

/// An error with all that is wrong.
pub(crate) fn told(error: JobError) -> Failure {
    match error {
        JobError::Request(problems) => {
            let messages: Vec<&str> =
                problems.iter().map(|problem| problem.message.as_str()).collect();
            messages.join("; ").into()
        }
        other => other.into(),
    }
}

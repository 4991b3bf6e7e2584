//! Files that a command reads.

use std::path::PathBuf;

use super::{HierarchySpec, JobSpec};

/// A file that a command reads, and what it is to the command, such as "the input".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it is, with its article.
    pub what: &'static str,
}

impl InputFile {
    /// A file that is read as it is named.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, what: &'static str) -> InputFile {
        InputFile { path: path.into(), what }
    }

    /// What a job reads beside its table.
    #[must_use]
    pub fn of_job(spec: &JobSpec) -> Vec<InputFile> {
        let named = [
            (&spec.search.start, "the recoding that the search starts with"),
            (&spec.workload.queries_file, "the file of queries"),
        ];
        let named = named.into_iter().filter_map(|(path, what)| Some((path.as_ref()?, what)));
        let mut all: Vec<InputFile> =
            named.map(|(path, what)| InputFile::new(path, what)).collect();
        all.extend(spec.file.iter().map(|path| InputFile::new(path, "the job file")));
        for column in spec.columns.values() {
            let hierarchy = match &column.hierarchy {
                Some(HierarchySpec::File(path)) => Some(path),
                _ => None,
            };
            for path in hierarchy.into_iter().chain(&column.order_from) {
                all.push(InputFile::new(path, "a hierarchy of the job"));
            }
        }
        all
    }
}

//! Why a job was not done.

use incrowd_engine::EngineError;

/// One thing that is wrong with a request, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// Why a job was not done. All are the request's or the input's fault, but the last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Everything that is wrong with the request, at once.
    #[error("the request has {} problems", .0.len())]
    Request(Vec<Problem>),
    /// Roles that `profile` guessed and nobody has reviewed, each with its reason.
    #[error("the roles of this job are guesses that nobody has reviewed (`reviewed = false`):")]
    Unreviewed(Vec<String>),
    /// No release satisfies the job.
    #[error("{}", .0.message)]
    Infeasible(Problem),
    /// A source or a sink.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was found could not be printed.
    #[error("writing to standard output failed; nothing was written")]
    Print(#[source] std::io::Error),
    /// The user stopped it.
    #[error("interrupted; nothing was written")]
    Cancelled,
}

impl From<Problem> for JobError {
    fn from(problem: Problem) -> JobError {
        JobError::Request(vec![problem])
    }
}

/// The name among `known` that is nearest to `name`, if one is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| {
            let (a, b) = (name.to_lowercase(), candidate.to_lowercase());
            (strsim::damerau_levenshtein(&a, &b), candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

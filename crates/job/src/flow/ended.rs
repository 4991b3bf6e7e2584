//! Jobs that end without a release.

use incrowd_engine::EngineError;

use crate::report::Outcome;
use crate::spec::error::{JobError, Problem};

/// Why a job ends before its release: no release satisfies it, or an error.
pub(crate) enum Ended {
    Without(Outcome),
    Failed(JobError),
}

impl From<JobError> for Ended {
    fn from(error: JobError) -> Ended {
        Ended::Failed(error)
    }
}

impl From<EngineError> for Ended {
    fn from(error: EngineError) -> Ended {
        Ended::Failed(error.into())
    }
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Ended {
        Ended::Failed(problem.into())
    }
}

/// What became of a job, however it ended.
pub(crate) fn outcome(result: Result<Outcome, Ended>) -> Result<Outcome, JobError> {
    match result {
        Ok(outcome) | Err(Ended::Without(outcome)) => Ok(outcome),
        Err(Ended::Failed(error)) => Err(error),
    }
}

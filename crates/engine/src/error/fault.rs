//! What goes wrong on a worker, as a number: messages of libraries may quote cells, and they travel
//! as text.

use std::fmt;
use std::path::Path;

use datafusion::error::DataFusionError;

use super::{Detail, EngineError};

/// Something that went wrong on a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A file is not there, or cannot be read.
    Unseen,
    /// A file has another size, or a value that it did not have.
    Changed,
    /// No memory, or no space to spill to.
    Memory,
    /// Something could not be decoded, as the text says.
    Decode(usize),
}

/// What a worker said went wrong. It is told in terms of the source before a user sees it.
#[derive(Debug, Clone, Copy)]
pub struct WorkerFault(pub(crate) Fault);

impl fmt::Display for WorkerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a worker could not read its part")
    }
}

/// What stands in an error before the number.
const MARK: &str = "incrowd fault ";
const N_OTHERS: usize = 3;

impl Fault {
    pub(crate) fn of(error: &DataFusionError) -> Fault {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => Fault::Memory,
            DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => Fault::Unseen,
            DataFusionError::Execution(text) => Fault::find(text).unwrap_or(Fault::Decode(0)),
            error => {
                let text = Detail::of_datafusion(error).to_string();
                let known = Detail::TEXTS.iter().position(|known| *known == text);
                Fault::Decode(known.unwrap_or(0))
            }
        }
    }

    pub(crate) fn error(self) -> DataFusionError {
        let number = match self {
            Fault::Unseen => 0,
            Fault::Changed => 1,
            Fault::Memory => 2,
            Fault::Decode(text) => N_OTHERS + text,
        };
        DataFusionError::Execution(format!("{MARK}{number}."))
    }

    /// The fault that a message of a worker speaks of.
    pub(crate) fn find(message: &str) -> Option<Fault> {
        let (_, rest) = message.split_once(MARK)?;
        let number: usize = rest.split('.').next()?.parse().ok()?;
        match number {
            0 => Some(Fault::Unseen),
            1 => Some(Fault::Changed),
            2 => Some(Fault::Memory),
            _ => Some(Fault::Decode(number - N_OTHERS)),
        }
    }

    /// What to tell the user of a source with this first file.
    pub(crate) fn tell(self, first_file: &Path) -> EngineError {
        let path = first_file.to_owned();
        match self {
            Fault::Unseen => EngineError::UnseenByWorker { path },
            Fault::Changed => EngineError::Changed { path },
            Fault::Memory => EngineError::Cluster { what: "a worker ran out of memory" },
            Fault::Decode(text) => EngineError::Read(Detail::known(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::error::DataFusionError;

    use super::Fault;

    #[test]
    fn faults_are_found_in_messages() {
        for fault in [Fault::Unseen, Fault::Changed, Fault::Memory, Fault::Decode(2)] {
            let message = format!("Job 7 failed: {}. More", fault.error());
            assert_eq!(Fault::find(&message), Some(fault));
            assert_eq!(Fault::of(&fault.error()), fault);
        }
        assert_eq!(Fault::find("cell 12345 is no number"), None);
        let quoting = DataFusionError::Execution("cell 12345 is no number".to_owned());
        assert!(!Fault::of(&quoting).error().to_string().contains("12345"));
    }
}

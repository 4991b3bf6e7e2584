//! k-anonymity: every class holds at least k rows (or k distinct entities).

use crate::{Class, Model, ParameterError};

/// k-anonymity (Samarati and Sweeney 1998).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KAnonymity {
    k: u64,
}

impl KAnonymity {
    /// Checks the parameter, which must be at least 2.
    pub fn new(k: u64) -> Result<KAnonymity, ParameterError> {
        if k < 2 { Err(ParameterError::KTooSmall { k }) } else { Ok(KAnonymity { k }) }
    }

    /// The least size of a class.
    #[must_use]
    pub fn k(&self) -> u64 {
        self.k
    }
}

impl Model for KAnonymity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        class.n_entities >= self.k
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn holds_for_supersets(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        None
    }

    fn least_rows(&self) -> Option<u64> {
        Some(self.k)
    }

    fn describe(&self) -> String {
        format!("{}-anonymity", self.k)
    }
}

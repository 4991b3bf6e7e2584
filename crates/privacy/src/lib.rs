//! Privacy models: what must hold for every class of a release.
//!
//! A model sees the statistics of one class ([`Class`]), never rows, and answers whether it holds.
//! Each model has its own file and says whether it is monotone, since only monotone models may
//! prune a lattice or a search tree.

mod class;
pub mod disclosure;
mod k_anonymity;
mod l_diversity;
mod squared_error;
mod t_closeness;

pub use class::{Class, Column, Histogram, Tally, Valued};
pub use k_anonymity::KAnonymity;
pub use l_diversity::{DistinctDiversity, EntropyDiversity, RecursiveDiversity};
pub use squared_error::SquaredErrorDiversity;
pub use t_closeness::{Distance, TCloseness};

/// Tolerance for rounding when a model compares a computed number with a limit.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// A requirement on every class.
pub trait Model: std::fmt::Debug + Send + Sync {
    /// Whether the class satisfies the model.
    fn holds(&self, class: &Class) -> bool;

    /// Whether merging two classes that satisfy the model always gives a class that satisfies it.
    fn is_monotone(&self) -> bool;

    /// Whether a class that satisfies the model still does after adding any rows. This is stronger
    /// than being monotone. A search that suppresses the classes that break a model needs it: only
    /// then does a finer recoding suppress all rows that a coarser one suppresses.
    fn holds_for_supersets(&self) -> bool {
        false
    }

    /// Whether a class that satisfies the model also satisfies it relative to the released rows,
    /// `release`, if others are suppressed. Only a model that compares with the table can answer
    /// no.
    fn holds_within(&self, release: &Class, class: &Class) -> bool {
        let _ = (release, class);
        true
    }

    /// The index of the extra column that the model uses; `None` if it only counts rows.
    fn looks_at(&self) -> Option<usize>;

    /// The least number of rows (or entities) of a class, if the model requires nothing else.
    fn least_rows(&self) -> Option<u64> {
        None
    }

    /// A boxed copy of the model.
    fn boxed(&self) -> Box<dyn Model>;

    /// The model and its parameter, e.g. `entropy 3-diversity`.
    fn describe(&self) -> String;
}

/// Whether every model holds.
#[must_use]
pub fn all_hold(models: &[Box<dyn Model>], class: &Class) -> bool {
    models.iter().all(|model| model.holds(class))
}

/// A parameter that is not valid for its model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum ParameterError {
    /// A k of 1 requires nothing.
    #[error("k must be at least 2, found {k}")]
    KTooSmall { k: u64 },
    /// An l below 1 requires nothing.
    #[error("l must be a number of at least 1, found {l}")]
    LTooSmall { l: f64 },
    /// c must be positive.
    #[error("c of recursive (c,l)-diversity must be above 0, found {c}")]
    CNotPositive { c: f64 },
    /// t is a distance between distributions.
    #[error("t must be between 0 and 1, found {t}")]
    TOutOfRange { t: f64 },
    /// A squared error cannot be negative.
    #[error("the squared error must be a number of at least 0, found {error}")]
    NegativeError { error: f64 },
}

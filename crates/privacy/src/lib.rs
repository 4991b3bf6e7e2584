//! Privacy models: what must hold for every class of a release.
//!
//! A model sees the statistics of one class ([`Class`]), never rows, and answers whether it holds.
//! Each model is a file; each says itself whether it is monotone, since only monotone models may
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

/// Room for rounding where a model compares a computed number with a limit.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// A requirement on every class.
pub trait Model: std::fmt::Debug + Send + Sync {
    /// Whether the class satisfies the model.
    fn holds(&self, class: &Class) -> bool;

    /// Whether merging two classes for which it holds always gives one for which it holds.
    fn is_monotone(&self) -> bool;

    /// Whether adding any rows to a class for which it holds never breaks it. This is more than
    /// being monotone, and what a search needs that leaves out the classes for which a model does
    /// not hold: only then are the rows of a coarser recoding that are left out also left out of a
    /// finer one.
    fn holds_for_supersets(&self) -> bool {
        false
    }

    /// Whether a class for which it holds also satisfies it measured against the rows that are
    /// released, `release`, where others are left out. Only a model that compares with the table
    /// can say no.
    fn holds_within(&self, release: &Class, class: &Class) -> bool {
        let _ = (release, class);
        true
    }

    /// The extra column that it looks at, by index; none if it only counts.
    fn looks_at(&self) -> Option<usize>;

    /// The least number of rows (or entities) of a class, if that is all that the model asks for.
    fn least_rows(&self) -> Option<u64> {
        None
    }

    /// A copy of it.
    fn boxed(&self) -> Box<dyn Model>;

    /// The model and its parameter, e.g. `entropy 3-diversity`.
    fn describe(&self) -> String;
}

/// Whether every model holds.
#[must_use]
pub fn all_hold(models: &[Box<dyn Model>], class: &Class) -> bool {
    models.iter().all(|model| model.holds(class))
}

/// A parameter that a model does not take.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum ParameterError {
    /// k of 1 asks for nothing.
    #[error("k must be at least 2, found {k}")]
    KTooSmall { k: u64 },
    /// l of less than 1 asks for nothing.
    #[error("l must be a number of at least 1, found {l}")]
    LTooSmall { l: f64 },
    /// c must be positive.
    #[error("c of recursive (c,l)-diversity must be above 0, found {c}")]
    CNotPositive { c: f64 },
    /// t is a distance between distributions.
    #[error("t must be between 0 and 1, found {t}")]
    TOutOfRange { t: f64 },
    /// A squared error is not negative.
    #[error("the squared error must be a number of at least 0, found {error}")]
    NegativeError { error: f64 },
}

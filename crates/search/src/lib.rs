//! The searches: a frequency set in, a recoding out.
//!
//! A search is pure: no input or output, no clock but the [`Budget`]'s, no randomness but the seed's.
//! Every algorithm takes the same [`Problem`] and gives the same [`Outcome`].

mod budget;
pub mod mondrian;
mod partition;

use incrowd_data::{Assignment, FrequencySet, PartitionTree};
use incrowd_privacy::Model;

pub use budget::Budget;

/// What every algorithm is given.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The distinct vectors with their counts.
    pub set: &'a FrequencySet,
    /// What must hold for every class; k-anonymity is always among them.
    pub models: &'a [Box<dyn Model>],
    /// The k of k-anonymity.
    pub k: u64,
    /// The extra column whose distinct codes k counts; rows if none.
    pub entity: Option<usize>,
    /// When to stop.
    pub budget: &'a Budget,
}

impl Problem<'_> {
    /// Whether k-anonymity over rows is all that is asked: then counts decide everything.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        let is_k = |model: &dyn Model| model.least_rows().is_some_and(|least| least <= self.k);
        self.entity.is_none() && self.models.iter().all(|model| is_k(model.as_ref()))
    }
}

/// What a search comes back with.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A recoding for which every model holds.
    Found(Box<Found>),
    /// There is none.
    Infeasible(Infeasible),
    /// The user stopped the search, and it has nothing to show.
    Cancelled,
}

/// A recoding and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Which class each vector is in.
    pub assignment: Assignment,
    /// The recoding as a function of the values; a local recoding is none.
    pub recoding: Recoding,
    /// Nodes of the search space whose statistics were looked at.
    pub nodes_checked: u64,
}

/// The recoding as a function.
#[derive(Debug, Clone, PartialEq)]
pub enum Recoding {
    /// A tree of cuts (strict multidimensional).
    Partition(PartitionTree),
    /// No function of the values (relaxed multidimensional).
    Local,
}

/// Why no release satisfies the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Infeasible {
    /// The table has no row.
    Empty,
    /// The whole table as one class breaks these models; no recoding can mend that.
    WholeTable {
        /// The models, described.
        broken: Vec<String>,
    },
}

/// The algorithms by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Strict multidimensional partitioning.
    Mondrian,
    /// Relaxed multidimensional partitioning: a local recoding.
    MondrianRelaxed,
}

impl Algorithm {
    /// Every algorithm with its name.
    pub const ALL: [(&'static str, Algorithm); 2] =
        [("mondrian", Algorithm::Mondrian), ("mondrian-relaxed", Algorithm::MondrianRelaxed)];

    /// Runs it.
    #[must_use]
    pub fn run(self, problem: &Problem) -> Outcome {
        if let Some(reason) = infeasible(problem) {
            return Outcome::Infeasible(reason);
        }
        match self {
            Algorithm::Mondrian => mondrian::strict(problem),
            Algorithm::MondrianRelaxed => mondrian::relaxed(problem),
        }
    }
}

/// With monotone models nothing is feasible unless the whole table as one class is: it is the union
/// of all classes of any recoding.
fn infeasible(problem: &Problem) -> Option<Infeasible> {
    if problem.set.is_empty() {
        return Some(Infeasible::Empty);
    }
    let mut tally = incrowd_privacy::Tally::new(problem.set, problem.entity);
    for (vector, &rows) in problem.set.counts.iter().enumerate() {
        tally.add(vector, rows);
    }
    let broken: Vec<String> = problem
        .models
        .iter()
        .filter(|model| !model.holds(tally.class()))
        .map(|model| model.describe())
        .collect();
    if broken.is_empty() { None } else { Some(Infeasible::WholeTable { broken }) }
}

//! The searches: a frequency set in, a recoding out.
//!
//! A search is pure: no input or output, no clock except the [`Budget`]'s, no randomness except the
//! seed's. Every algorithm takes a [`Problem`] and returns an [`Outcome`].

mod algorithm;
mod bottom_up;
mod budget;
pub mod butterfly;
mod datafly;
mod frequency;
mod full_domain;
mod hill_climb;
mod incognito;
mod intervals;
mod koptimize;
pub mod lattice;
pub mod mondrian;
pub mod optimal;
mod partition;
mod random;
mod samarati;
mod single_dimensional;
mod tds;
mod workload;

use incrowd_data::{Assignment, Block, Cuts, Divided, FrequencySet, Level, Levels, PartitionTree};
use incrowd_privacy::Model;
use incrowd_quality::Measure;

pub use algorithm::{Algorithm, RecodingKind, RowGrouping, WorkloadUse};
pub use budget::{Budget, Standing, Watch};
pub use incognito::Sharing;
pub use koptimize::{OpenNode, Stopped};
pub use mondrian::outline::{Chunk, NoOutline, OpenRegion, Outline, OutlineLimits, Scan};
pub use workload::{QueryValue, Split, Target, WeightedQuery, Workload};

/// What one attacker can know, and the number of rows that must look the same to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuasiSet {
    /// The attributes, ascending.
    pub attributes: Vec<usize>,
    /// The k of k-anonymity with respect to them.
    pub k: u64,
}

/// The input of every algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The distinct vectors with their counts.
    pub set: &'a FrequencySet,
    /// What must hold for every class; k-anonymity is always among them.
    pub models: &'a [Box<dyn Model>],
    /// The k of k-anonymity; the greatest of all sets.
    pub k: u64,
    /// The quasi-identifier sets of several attackers, for a search that [protects each
    /// set](Algorithm::protects_each_set). The others protect their union, and so does every search
    /// if this is empty.
    pub sets: &'a [QuasiSet],
    /// The extra column whose distinct codes k counts; `None` if k counts rows.
    pub entity: Option<usize>,
    /// The most rows that may be suppressed.
    pub limit: u64,
    /// Whether suppressed rows are released as a class of their own.
    pub stars: bool,
    /// The measure to minimise, for an algorithm that [can](Algorithm::minimises).
    pub measure: Measure,
    /// The extra column that the classification measure uses.
    pub target: Option<usize>,
    /// By attribute, its weight in loss and precision; 1 for attributes beyond the end.
    pub weights: &'a [f64],
    /// By attribute, the least and greatest level of a full-domain recoding; any level if empty.
    pub levels: &'a [(Level, Level)],
    /// By attribute, the codes before which a single-dimensional search may cut, ascending; before
    /// any code if there is no list.
    pub places: &'a [Option<Vec<u32>>],
    /// Whether a full-domain search lists all minimal nodes.
    pub wants_minimal: bool,
    /// The seed of random choices.
    pub seed: u64,
    /// Cuts to start from, for a search that accepts them.
    pub start: Option<&'a Cuts>,
    /// Whether a search that starts from a good recoding also looks for one itself.
    pub seeds_itself: bool,
    /// A stopped search of the same problem to resume, for a search that can.
    pub resume: Option<&'a Stopped>,
    /// The purpose of the release, for a search that can use it.
    pub workload: Option<&'a Workload>,
    /// When to stop.
    pub budget: &'a Budget,
}

impl<'a> Problem<'a> {
    /// A problem with these models, no suppression, and the loss as the measure.
    #[must_use]
    pub fn new(
        set: &'a FrequencySet,
        models: &'a [Box<dyn Model>],
        k: u64,
        budget: &'a Budget,
    ) -> Problem<'a> {
        Problem {
            set,
            models,
            k,
            sets: &[],
            entity: None,
            limit: 0,
            stars: false,
            measure: Measure::Loss,
            target: None,
            weights: &[],
            levels: &[],
            places: &[],
            wants_minimal: false,
            seed: 0,
            start: None,
            seeds_itself: true,
            resume: None,
            workload: None,
            budget,
        }
    }
}

impl Problem<'_> {
    /// Whether a single-dimensional search may cut an ordered attribute before a code.
    pub(crate) fn may_cut(&self, attribute: usize, code: u32) -> bool {
        let places = self.places.get(attribute).and_then(Option::as_ref);
        places.is_none_or(|places| places.binary_search(&code).is_ok())
    }

    /// Whether k-anonymity over rows is the only requirement, so that counts decide everything.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        let is_k = |model: &dyn Model| model.least_rows().is_some_and(|least| least <= self.k);
        self.entity.is_none() && self.models.iter().all(|model| is_k(model.as_ref()))
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A recoding that satisfies every model.
    Found(Box<Found>),
    /// There is no such recoding, or none was found.
    Infeasible(Infeasible),
    /// The search was cancelled and has no result.
    Cancelled,
}

/// A recoding and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The class of each vector.
    pub assignment: Assignment,
    /// The recoding as a function of the values, unless it is local.
    pub recoding: Recoding,
    /// What is proved about the cost.
    pub proof: Proof,
    /// Statistics of the search.
    pub counters: Counters,
    /// All minimal nodes of a full-domain search in lexicographic order, if they were requested and
    /// the budget sufficed.
    pub minimal: Option<Vec<MinimalNode>>,
    /// The state of the search when it ended, if it can be resumed.
    pub stopped: Option<Stopped>,
}

/// What is proved about the cost of a recoding.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Proof {
    /// Whether no recoding of its kind costs less.
    pub is_optimal: bool,
    /// The cost, if the search minimises one.
    pub cost: Option<f64>,
    /// No recoding of its kind costs less than this.
    pub lower_bound: Option<f64>,
    /// Whether the budget ended the search.
    pub is_cut_short: bool,
}

/// Statistics of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Nodes of the search space whose statistics were examined.
    pub nodes_checked: u64,
    /// Nodes that a breadth-first search would have examined if marked nodes passed marks on.
    pub nodes_checked_transitive: Option<u64>,
    /// Nodes of the search space, if the number fits in 64 bits.
    pub nodes_total: Option<u64>,
    /// Passes over the table.
    pub table_scans: u64,
    /// Frequency sets that were rolled up from others.
    pub rollups: u64,
}

/// A node that can be released while nothing below it can.
#[derive(Debug, Clone, PartialEq)]
pub struct MinimalNode {
    /// The levels of the node.
    pub levels: Levels,
    /// Rows that it suppresses.
    pub n_suppressed: u64,
    /// Its cost under the problem's measure.
    pub cost: f64,
}

/// The recoding as a function.
#[derive(Debug, Clone, PartialEq)]
pub enum Recoding {
    /// A tree of cuts (strict multidimensional).
    Partition(PartitionTree),
    /// A level per attribute.
    FullDomain(Levels),
    /// Intervals of codes per attribute (single-dimensional).
    Intervals(Cuts),
    /// Groups of rows by block of columns (several quasi-identifier sets).
    Blocks(Vec<Block>),
    /// Not a function of the values (relaxed multidimensional). By attribute, the nodes of its
    /// hierarchy that were divided on the way to each class.
    Local(Vec<Divided>),
}

impl Recoding {
    /// How it recodes values.
    #[must_use]
    pub fn kind(&self) -> RecodingKind {
        match self {
            Recoding::Partition(_) => RecodingKind::Multidimensional,
            Recoding::FullDomain(_) => RecodingKind::FullDomain,
            Recoding::Intervals(_) => RecodingKind::SingleDimensional,
            Recoding::Blocks(_) | Recoding::Local(_) => RecodingKind::Local,
        }
    }
}

/// Why no release satisfies the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Infeasible {
    /// The table has no rows.
    Empty,
    /// The whole table as one class breaks these models; no recoding can fix that.
    WholeTable {
        /// The models, described.
        broken: Vec<String>,
    },
    /// A single-dimensional search found no set of cuts within the suppression limit.
    EveryCut {
        /// The models that the whole table as one class breaks, described.
        broken: Vec<String>,
        /// Whether it is proved that there is none; otherwise the search is greedy and tried only
        /// some sets.
        is_proved: bool,
    },
    /// No node of the lattice is within the suppression limit. The fields describe the most general
    /// node.
    EveryNode {
        /// The models that classes break, described, with the rows of these classes.
        broken: Vec<(String, u64)>,
        /// Rows that would have to be suppressed.
        n_suppressed: u64,
        /// Whether these rows, released as a class of their own, would break a model.
        breaks_as_stars: bool,
        /// The greatest k that is within the limit, if k-anonymity is the only model.
        largest_k: Option<u64>,
        /// Whether the levels that the job allows keep an attribute below its root.
        is_bounded: bool,
        /// Whether higher levels than those would be feasible.
        higher_levels_help: bool,
        /// Whether no other node suppresses fewer rows.
        is_least: bool,
    },
    /// A single-dimensional search for a measure other than discernibility, classification and
    /// loss; callers check that first.
    NotMeasured,
    /// A full-domain search of an attribute without a hierarchy; callers check that first.
    NoHierarchy,
    /// Too many columns or values for keys of 1,024 bits.
    TooWide,
    /// The time limit ended the search before it found anything.
    OutOfTime,
    /// The search needs more than the memory limit.
    OutOfMemory,
}

/// A partitioning starts with the whole table as one class: it finds nothing unless that is
/// feasible.
fn whole_table(problem: &Problem) -> Option<Outcome> {
    infeasible_whole(problem, |_| true)
}

/// What a search that suppresses rows knows before it starts. Merging classes that satisfy a
/// monotone model gives a class that satisfies it, so there is no solution if the whole table
/// breaks the model and no row may be suppressed. If rows may be suppressed, only a model that
/// holds for supersets decides: a table that breaks entropy diversity may have a part that does
/// not.
fn hopeless(problem: &Problem) -> Option<Outcome> {
    let limit = problem.limit;
    infeasible_whole(problem, |model| {
        model.holds_for_supersets() || limit == 0 && model.is_monotone()
    })
}

/// The outcome if the table is empty, or breaks, as one class, a model that decides.
fn infeasible_whole(problem: &Problem, decides: impl Fn(&dyn Model) -> bool) -> Option<Outcome> {
    if problem.set.is_empty() {
        return Some(Outcome::Infeasible(Infeasible::Empty));
    }
    let whole = whole(problem);
    let mut models = problem.models.iter().map(AsRef::as_ref);
    models.find(|&model| !model.holds(&whole) && decides(model))?;
    broken_by(problem, &whole)
}

/// The table as one class.
fn whole(problem: &Problem) -> incrowd_privacy::Class {
    let mut tally = incrowd_privacy::Tally::new(problem.set, problem.entity);
    for (vector, &rows) in problem.set.counts.iter().enumerate() {
        tally.add(vector, rows);
    }
    tally.class().clone()
}

/// The outcome if the table as one class breaks a model.
fn broken_by(problem: &Problem, whole: &incrowd_privacy::Class) -> Option<Outcome> {
    let broken = broken_models(problem, whole);
    let is_feasible = broken.is_empty();
    (!is_feasible).then_some(Outcome::Infeasible(Infeasible::WholeTable { broken }))
}

/// The models that the table as one class breaks, described.
fn broken_models(problem: &Problem, whole: &incrowd_privacy::Class) -> Vec<String> {
    let broken = problem.models.iter().filter(|model| !model.holds(whole));
    broken.map(|model| model.describe()).collect()
}

//! The searches: a frequency set in, a recoding out.
//!
//! A search is pure: no input or output, no clock but the [`Budget`]'s, no randomness but the
//! seed's. Every algorithm takes the same [`Problem`] and gives the same [`Outcome`].

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

/// What one attacker can know, and how many rows must look the same to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuasiSet {
    /// The attributes, ascending.
    pub attributes: Vec<usize>,
    /// The k of k-anonymity with respect to them.
    pub k: u64,
}

/// What every algorithm is given.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The distinct vectors with their counts.
    pub set: &'a FrequencySet,
    /// What must hold for every class; k-anonymity is always among them.
    pub models: &'a [Box<dyn Model>],
    /// The k of k-anonymity; the greatest of all sets.
    pub k: u64,
    /// The quasi-identifier sets of several attackers, for a search that can tell them apart. The
    /// others protect their union, and so does one that is given none.
    pub sets: &'a [QuasiSet],
    /// The extra column whose distinct codes k counts; rows if none.
    pub entity: Option<usize>,
    /// Rows that may be left out.
    pub limit: u64,
    /// Whether rows that are left out are released as a class of their own.
    pub stars: bool,
    /// What is minimised. Mondrian is greedy and minimises nothing.
    pub measure: Measure,
    /// The extra column that the classification measure looks at.
    pub target: Option<usize>,
    /// By attribute, its weight in loss and precision; 1 where there is none.
    pub weights: &'a [f64],
    /// By attribute, the least and greatest level of a full-domain recoding; any if it is empty.
    pub levels: &'a [(Level, Level)],
    /// By attribute, the codes before which a single-dimensional search may cut, ascending; before
    /// any if there is no such list.
    pub places: &'a [Option<Vec<u32>>],
    /// Whether a full-domain search lists all minimal nodes.
    pub wants_minimal: bool,
    /// What random choices are made from.
    pub seed: u64,
    /// Cuts to begin with, for a search that takes any.
    pub start: Option<&'a Cuts>,
    /// Whether a search that begins with a good recoding looks for one itself, beside those it is
    /// given.
    pub seeds_itself: bool,
    /// A search of the same problem to go on with, for a search that can.
    pub resume: Option<&'a Stopped>,
    /// What the release is for, for a search that can make use of it.
    pub workload: Option<&'a Workload>,
    /// When to stop.
    pub budget: &'a Budget,
}

impl<'a> Problem<'a> {
    /// A problem that asks for k-anonymity and whatever else is among the models, with nothing left
    /// out and the loss as the measure.
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
    /// What is proved about its cost.
    pub proof: Proof,
    /// What the search did.
    pub counters: Counters,
    /// All minimal nodes of a full-domain search in lexicographic order, if they were asked for and
    /// the budget sufficed.
    pub minimal: Option<Vec<MinimalNode>>,
    /// Where the search stood when it ended, if it can go on from there.
    pub stopped: Option<Stopped>,
}

/// What is proved about the cost of a recoding.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Proof {
    /// Whether no recoding of its kind costs less.
    pub is_optimal: bool,
    /// The cost, where the search minimises one.
    pub cost: Option<f64>,
    /// No recoding of its kind costs less than this.
    pub lower_bound: Option<f64>,
    /// Whether the budget ended the search.
    pub is_cut_short: bool,
}

/// What a search did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Nodes of the search space whose statistics were looked at.
    pub nodes_checked: u64,
    /// Nodes that a breadth-first search would have looked at if marks were handed on by marked
    /// nodes.
    pub nodes_checked_transitive: Option<u64>,
    /// Nodes of the search space, where that is finite and fits 64 bits.
    pub nodes_total: Option<u64>,
    /// Passes over the table.
    pub table_scans: u64,
    /// Frequency sets that were rolled up from others.
    pub rollups: u64,
}

/// A node that can be released while nothing below it can.
#[derive(Debug, Clone, PartialEq)]
pub struct MinimalNode {
    /// The node.
    pub levels: Levels,
    /// Rows that it leaves out.
    pub n_suppressed: u64,
    /// What it costs.
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
    /// No function of the values (relaxed multidimensional). By attribute, the nodes of its
    /// hierarchy that were divided on the way to each class.
    Local(Vec<Divided>),
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
    /// A single-dimensional search found no set of cuts within the suppression limit.
    EveryCut {
        /// The models that the whole table as one class breaks, described.
        broken: Vec<String>,
        /// Whether there is none; otherwise the search is greedy and looked at some sets only.
        is_proved: bool,
    },
    /// No node of the lattice is within the suppression limit. What is said holds for the most
    /// general one.
    EveryNode {
        /// The models that classes break, described, with the rows of these classes.
        broken: Vec<(String, u64)>,
        /// Rows that would have to be left out.
        n_suppressed: u64,
        /// Whether these rows, released as a class of their own, would break a model.
        breaks_as_stars: bool,
        /// The greatest k that is within the limit, where k decides alone.
        largest_k: Option<u64>,
        /// Whether the levels that the job allows keep an attribute below its root.
        is_bounded: bool,
        /// Whether higher levels than those would be feasible.
        higher_levels_help: bool,
        /// Whether no other node leaves out fewer rows.
        is_least: bool,
    },
    /// A single-dimensional search for another measure than discernibility, classification and
    /// loss; the caller checks that.
    NotMeasured,
    /// A full-domain search of an attribute without a hierarchy; the caller checks that.
    NoHierarchy,
    /// More columns, or columns with more values, than keys of 1,024 bits hold.
    TooWide,
    /// The time limit ended the search before it found anything.
    OutOfTime,
    /// What the search has to hold exceeds the memory limit.
    OutOfMemory,
}

/// A partitioning starts with the whole table as one class: nothing is found unless that is
/// feasible.
fn whole_table(problem: &Problem) -> Option<Outcome> {
    infeasible_whole(problem, |_| true)
}

/// What a search that leaves rows out can say before it starts. Classes for which a monotone model
/// holds add up to one for which it holds, so nothing is found if the whole table breaks one and no
/// row may be left out. Where rows may be, only a model that holds for supersets settles the
/// matter: a table that breaks entropy diversity may have a part that does not.
fn hopeless(problem: &Problem) -> Option<Outcome> {
    let limit = problem.limit;
    infeasible_whole(problem, |model| {
        model.holds_for_supersets() || limit == 0 && model.is_monotone()
    })
}

/// What to say if the table is empty, or as one class breaks a model that decides.
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

/// What to say if the table as one class breaks a model.
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

//! Strict Mondrian for points that do not fit in memory: the top of its tree from scans.
//!
//! Grows the tree level by level from the points projected on one attribute at a time, until every
//! region is small enough to be finished by the in-memory search. The tree is the same as that of
//! the in-memory search for all points.
//!
//! # Source
//!
//! LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity*, TR 1521, section 4.2: frequency
//! sets of single attributes fit in memory even if the table does not. Departures:
//!
//! - All regions of a level share a scan, and small regions are finished in memory.
//! - Scans read codes in private files, not the source: 16 bytes per row take a tenth of the time
//!   of parsing the row again.
//!
//! # Guarantees
//!
//! - Exact: the same tree and classes as [`Algorithm::Mondrian`](crate::Algorithm) for every model
//!   and every criterion; with a deadline, each stops wherever it is.
//! - Asks of the models: that they use only the extra column that they name.
//! - Deterministic: yes, on any number of threads, for any order of the points.
//!
//! # Invariants
//!
//! - O1: a criterion or a model that sees the rows by code of an attribute and kind of point
//!   (`kinds`) decides as if it saw the points, since it adds up integers.
//! - O2: what a criterion derives from the whole table is the same for every region (`Facts`).
//!
//! # Cost
//!
//! One scan to find the kinds, if there are any, and one scan per level, unless the tables of a
//! level exceed the memory limit. Then its regions are processed in batches with a scan each, and a
//! region that is too large by itself attribute by attribute. In addition, the kinds are held: one
//! for each combination of sensitive values, targets, entities, values that queries add up and
//! boxes of the workload. Regardless of the limit, at least the table of one attribute of one
//! region is held.
//!
//! # Example
//!
//! ```
//! use incrowd_data::{Attribute, Codes, Dictionary, FrequencySet, Kind, Shape};
//! use incrowd_privacy::{KAnonymity, Model};
//! use incrowd_search::{Budget, Chunk, Outcome, Outline, OutlineLimits, Problem, Recoding, Scan};
//!
//! // Eight people, ages 20 to 90; no vectors are held.
//! let dictionary = Dictionary {
//!     kind: Kind::Integer,
//!     texts: (2..10).map(|tens| format!("{tens}0")).collect(),
//!     positions: (2..10).map(|tens| 10.0 * f64::from(tens)).collect(),
//!     has_missing: false,
//! };
//! let attributes = vec![Attribute { name: "age".into(), dictionary, shape: Shape::Numeric }];
//! let whole =
//!     FrequencySet { attributes, vectors: vec![], counts: vec![], extras: vec![], n_rows: 8 };
//! let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(2).unwrap())];
//! let budget = Budget::unlimited();
//! let problem = Problem::new(&whole, &models, 2, &budget);
//!
//! struct Ages;
//! impl Scan for Ages {
//!     fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> std::io::Result<()> {
//!         for ages in [[0, 3, 1, 7], [5, 4, 2, 6]] {
//!             let vectors = [Codes::pack(8, ages.into_iter())];
//!             visit(&Chunk { vectors: &vectors, extras: &[], counts: None, len: 4 });
//!         }
//!         Ok(())
//!     }
//! }
//! let limits = OutlineLimits { points: 4, bytes: 1 << 20 };
//! let outline = Outline::grow(&problem, &Ages, limits).expect("feasible");
//! let rows: Vec<u64> = outline.regions().iter().map(|region| region.rows).collect();
//! assert_eq!(rows, [4, 4]);
//!
//! // Each region in memory, one after another.
//! let mut trees = Vec::new();
//! for codes in [[0, 3, 1, 2], [7, 5, 4, 6]] {
//!     let set = FrequencySet {
//!         vectors: vec![Codes::pack(8, codes.into_iter())],
//!         counts: vec![1; 4],
//!         n_rows: 4,
//!         ..whole.clone()
//!     };
//!     let Outcome::Found(found) = outline.finish(&Problem { set: &set, ..problem }) else { panic!() };
//!     let Recoding::Partition(tree) = found.recoding else { panic!() };
//!     trees.push(tree);
//! }
//! let tree = outline.graft(trees);
//! assert_eq!([0, 1, 2, 4, 7].map(|age| tree.class_of(|_| age)), [0, 0, 1, 2, 3]);
//! ```
//!
//! # See also
//!
//! `strict` for the search in memory, `split` for the choice of cuts.

mod count;
mod decide;
mod grow;
mod kinds;
mod scan;
mod sketch;
mod table;

use std::io;

use incrowd_data::{Attribute, Level, PartitionTree};

use super::split::{Facts, Splits};
use super::strict::strict_part;
use crate::{Infeasible, Outcome, Problem};
use grow::Growth;
use kinds::Kinds;
use sketch::Sketch;

pub use scan::{Chunk, Scan};

/// The top of a tree of cuts, down to regions that fit in memory.
#[derive(Debug)]
pub struct Outline {
    sketch: Sketch,
    /// In depth-first order.
    regions: Vec<OpenRegion>,
    /// By number in the sketch, the place in `regions`.
    place_of: Vec<u32>,
    facts: Facts,
    n_scans: u64,
    is_cut_short: bool,
}

/// A region of an [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRegion {
    /// An upper bound of its points. They are not counted exactly if the number of rows shows that
    /// they fit.
    pub points: u64,
    /// The rows of the region.
    pub rows: u64,
    /// Whether it is known to be a class: it need not be finished, and may have any number of
    /// points.
    pub is_class: bool,
}

/// How far an [`Outline`] grows, and what that may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineLimits {
    /// Regions with more points than this are cut.
    pub points: u64,
    /// Bytes that tables may take, but see the module about the least that is needed.
    pub bytes: u64,
}

/// Why there is no [`Outline`].
#[derive(Debug)]
pub enum NoOutline {
    /// The points cannot be read.
    Unreadable(io::Error),
    /// The search ends with this outcome, which is not [`Outcome::Found`].
    Ended(Outcome),
}

impl From<io::Error> for NoOutline {
    fn from(error: io::Error) -> NoOutline {
        NoOutline::Unreadable(error)
    }
}

impl From<Outcome> for NoOutline {
    fn from(outcome: Outcome) -> NoOutline {
        NoOutline::Ended(outcome)
    }
}

impl Outline {
    /// Grows the top of the tree until no region has more points than the limit, except those that
    /// cannot be cut.
    ///
    /// The problem's set has the attributes, the extra columns and the number of rows of the whole
    /// table; its vectors, its counts and the codes of the extra columns are not used.
    ///
    /// # Errors
    ///
    /// If the points cannot be read, or if there is nothing to grow.
    ///
    /// # Panics
    ///
    /// If there are more than 2^32 - 1 rows.
    pub fn grow(
        problem: &Problem,
        scan: &dyn Scan,
        limits: OutlineLimits,
    ) -> Result<Outline, NoOutline> {
        let n_rows = problem.set.n_rows;
        if n_rows == 0 {
            return Err(Outcome::Infeasible(Infeasible::Empty).into());
        }
        assert!(u32::try_from(n_rows).is_ok(), "rows are counted in 32 bits");
        let kinds = Kinds::find(problem, scan, limits.bytes)?;
        if problem.budget.is_cancelled() {
            return Err(Outcome::Cancelled.into());
        }
        let kinds = kinds.ok_or(Outcome::Infeasible(Infeasible::OutOfMemory))?;
        let whole = kinds.whole(problem.entity);
        if let Some(infeasible) = crate::broken_by(problem, whole.class()) {
            return Err(infeasible.into());
        }
        let splits = Splits::over(problem, kinds.points(problem), None);
        let facts = splits.facts(n_rows);
        let mut growth = Growth::new(problem, scan, limits, &kinds, &splits);
        growth.grow()?;
        Ok(growth.outline(facts))
    }

    /// The regions in depth-first order, which is the order of their classes.
    #[must_use]
    pub fn regions(&self) -> &[OpenRegion] {
        &self.regions
    }

    /// Appends the region of each point of a chunk, by its place in [`Outline::regions`].
    pub fn place(&self, chunk: &Chunk<'_>, regions: &mut Vec<u32>) {
        let start = regions.len();
        regions.resize(start + chunk.len, 0);
        let regions = &mut regions[start..];
        let leads = self.sketch.leading_to(|_| true);
        self.sketch.sift(chunk, &leads, &mut |region, points| {
            for &point in points {
                regions[point as usize] = self.place_of[region];
            }
        });
    }

    /// By region and attribute, the node of the attribute's hierarchy that was divided last on the
    /// way to the region.
    #[must_use]
    pub fn divided(&self, attributes: &[Attribute]) -> Vec<Vec<Option<(Level, u32)>>> {
        self.sketch.divided(attributes)
    }

    /// Finishes a region in memory: `problem` is that of the whole table with the region's points
    /// as its set.
    #[must_use]
    pub fn finish(&self, problem: &Problem) -> Outcome {
        strict_part(problem, Some(&self.facts))
    }

    /// The whole tree, given those of the regions that are not classes yet, in order.
    ///
    /// # Panics
    ///
    /// If there are fewer trees than such regions, or more.
    #[must_use]
    pub fn graft(self, parts: impl IntoIterator<Item = PartitionTree>) -> PartitionTree {
        let mut parts = parts.into_iter();
        let tree = self.sketch.graft(&mut |region| {
            let is_class = self.regions[self.place_of[region] as usize].is_class;
            (!is_class).then(|| parts.next().expect("a tree for every region"))
        });
        assert!(parts.next().is_none(), "a region for every tree");
        tree
    }

    /// The number of passes over the points so far.
    #[must_use]
    pub fn n_scans(&self) -> u64 {
        self.n_scans
    }

    /// Whether the time limit ended it; regions that were not cut yet are classes then.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }
}

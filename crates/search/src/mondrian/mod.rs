//! Mondrian: greedy multidimensional partitioning.
//!
//! Starts with all points in one region, then keeps cutting regions at the median of the attribute
//! on which they are widest, while every part satisfies the models.
//!
//! # Source
//!
//! LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity*, TR 1521, University of Wisconsin,
//! 2005: Figure 7 (strict), section 4 (relaxed). Departures:
//!
//! - The allowable cut nearest the median is made: with many equal values at the median, the cut
//!   after it may leave too few points where the one before it does not. If no cut on the widest
//!   attribute is allowable, the next widest is tried, so that a leaf has no allowable cut at all
//!   (Theorem 2 needs this; the proof of Theorem 4 assumes it).
//! - Equal widths go to the attribute with the fewest codes (missing counts as one), then to the
//!   first. That gives the paper's Figure 3.
//! - An attribute with a hierarchy is cut into the children of the node that contains the region,
//!   as in *Workload-Aware Anonymization* (KDD 2006, section 2.2). There every child with rows must
//!   satisfy the models; here those that do not stay together as one part (see `children`), which
//!   lowers the loss on the Adult table with hierarchies at k = 10 from 0.29 to 0.09.
//! - With a workload the cut is chosen by a criterion of `split`, from *Workload-Aware
//!   Anonymization* (KDD 2006, section 3) and, for queries, from section 5 of the report.
//! - If only some points of a region lack a value of an ordered attribute, the cut between values
//!   and missing cells is tried before other cuts on that attribute.
//!
//! # Guarantees
//!
//! - Exact: no. Greedy; a cut is never undone.
//! - Asks of the models: nothing. A model that is not monotone only makes it stop earlier.
//! - Strict: every class has at most `2d(k-1) + m` rows for `d` ordered attributes, where `m` is
//!   the greatest number of copies of a vector (Theorem 4), if k-anonymity is the only model and a
//!   cut is made wherever one is allowable (not if selections alone decide).
//! - Relaxed: at most `2k-1` rows (Theorem 5), except for rows that are equal on every attribute.
//! - Deterministic: yes, on any number of threads.
//!
//! # Invariants
//!
//! - M1: open and closed regions together contain every row exactly once.
//! - M2: every region that has rows, open or closed, satisfies the models. A child of a hierarchy
//!   node may have no rows: it is a class of the recoding, for new rows, but not of the release.
//! - M3: a closed region has no allowable cut on any attribute, or, if selections alone decide,
//!   none that lowers their imprecision.
//!
//! # Cost
//!
//! For `n` distinct vectors and `d` attributes: O(d·n·log(n/k)) time when medians split evenly,
//! O(d·n²/k) at worst; O(d·n) memory.
//!
//! # Example
//!
//! ```
//! use incrowd_data::{Attribute, Codes, Dictionary, FrequencySet, Kind, Shape};
//! use incrowd_privacy::{KAnonymity, Model};
//! use incrowd_search::{Algorithm, Budget, Outcome, Problem};
//!
//! // Four people, ages 20 30 40 50.
//! let dictionary = Dictionary {
//!     kind: Kind::Integer,
//!     texts: ["20", "30", "40", "50"].map(String::from).to_vec(),
//!     positions: vec![20.0, 30.0, 40.0, 50.0],
//!     has_missing: false,
//! };
//! let set = FrequencySet {
//!     attributes: vec![Attribute { name: "age".into(), dictionary, shape: Shape::Numeric }],
//!     vectors: vec![Codes::pack(4, 0..4)],
//!     counts: vec![1; 4],
//!     extras: vec![],
//!     n_rows: 4,
//! };
//! let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(2).unwrap())];
//! let budget = Budget::unlimited();
//! let problem = Problem::new(&set, &models, 2, &budget);
//! let Outcome::Found(found) = Algorithm::Mondrian.run(&problem) else { panic!("feasible") };
//! assert_eq!(found.assignment.class_of, [0, 0, 1, 1]);
//! ```
//!
//! # See also
//!
//! `partition` for how points are stored and moved.

mod children;
mod cut;
pub mod outline;
mod relaxed;
mod split;
mod strict;

use incrowd_data::Attribute;

use crate::partition::{Buffers, Extent, PackedCode, width};

pub(crate) use cut::{Cut, nearest as nearest_cut};
pub(crate) use relaxed::relaxed;
pub(crate) use split::{Splits, entropy};
pub(crate) use strict::{Branch, hierarchy, strict};

/// The attributes on which a region has any width, widest first (`choose_dimension` of Figure 7).
fn by_width<C: PackedCode>(
    attributes: &[Attribute],
    region: &Buffers<'_, C>,
    extents: &[Extent],
) -> Vec<usize> {
    let widths = attributes
        .iter()
        .zip(extents)
        .enumerate()
        .filter(|(_, (_, extent))| extent.lo < extent.hi)
        .map(|(id, (attribute, &extent))| {
            let codes = region.column(id).map(|(code, _)| code);
            (width(attribute, extent, codes), attribute.n_codes(), id)
        })
        .collect();
    widest_first(widths)
}

/// Attributes by width, their number of codes and their number.
fn widest_first(mut order: Vec<(f64, u32, usize)>) -> Vec<usize> {
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    order.into_iter().map(|(_, _, id)| id).collect()
}

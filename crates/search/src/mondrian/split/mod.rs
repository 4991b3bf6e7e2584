//! Which of the allowable cuts of a region is made: one file a criterion.
//!
//! A criterion gives every part of a cut a cost, from counts and sums over the part's rows; the cut whose
//! parts cost least in all is made. Sums are kept by value of each attribute in one pass over the region
//! (the AVC sets of `RainForest`, Gehrke, Ramakrishnan, Ganti, VLDB 1998) and are integers, so that they do
//! not depend on the order of the rows. Costs are compared in steps of a 2^24th of what the region costs as it
//! is, so that what differs by rounding alone is equal; equal costs go to the attribute on which the region
//! reaches widest, then to the cut nearest the median.

mod boxes;
mod buffer;
mod infogain;
mod lsd;
mod median;
mod queries;
mod selection;
mod sweep;
mod targets;

use incrowd_privacy::Tally;
use rayon::prelude::*;

use super::by_width;
use super::cut::Cut;
use crate::partition::{Buffers, Extent, PackedCode, extents};
use crate::{Problem, Split};
use sweep::{Scored, best};

pub(crate) use infogain::entropy;

/// What makes one cut better than another.
pub(super) trait Criterion: Sync {
    /// What it knows of one region.
    type Region<'a>: RegionCriterion
    where
        Self: 'a;

    /// Looks at a region; none if no cut of it can be better than another.
    fn at<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        extents: &[Extent],
    ) -> Option<Self::Region<'_>>;
}

/// A criterion within one region.
pub(super) trait RegionCriterion: Sync {
    /// How many sums are kept.
    fn n_sums(&self) -> usize;

    /// Adds the rows of a point of the region to the sums of a part.
    fn add(&self, point: usize, rows: u32, sums: &mut [i64]);

    /// Adds the rows of all points to a table of an attribute's values: `width` cells a value from `lo` on,
    /// its rows first, then its sums. `column` has the code and the rows of each point.
    fn tabulate(
        &self,
        column: impl Iterator<Item = (u32, u32)>,
        lo: u32,
        width: usize,
        table: &mut [i64],
    ) {
        for (point, (code, rows)) in column.enumerate() {
            let at = (code - lo) as usize * width;
            let value = &mut table[at..at + width];
            value[0] += i64::from(rows);
            self.add(point, rows, &mut value[1..]);
        }
    }

    /// What a part costs that reaches so far on an attribute.
    fn cost(&self, attribute: usize, extent: Extent, rows: u64, sums: &[i64]) -> f64;

    /// Whether a cut between two neighbouring values with these sums is worth trying. Where none is that
    /// is allowable, the one nearest the median is tried.
    fn is_candidate(&self, _before: &[i64], _after: &[i64]) -> bool {
        true
    }

    /// Whether a cut is only made if it costs less than the region as it is.
    fn must_lower(&self) -> bool;

    /// The step in which costs are compared in a region that costs so much as it is.
    fn step(&self, whole: f64) -> f64 {
        whole / f64::from(1u32 << 24)
    }
}

/// The criteria of a search in the order in which they are asked, ready for its table.
pub(crate) struct Splits<'a> {
    problem: &'a Problem<'a>,
    stages: Vec<Stage<'a>>,
}

enum Stage<'a> {
    Median,
    Targets(targets::Targets),
    Selection(selection::Selection),
    Queries(queries::Queries<'a>),
}

impl<'a> Splits<'a> {
    pub(crate) fn new(problem: &'a Problem<'a>) -> Splits<'a> {
        let Some(workload) = problem.workload.filter(|workload| !workload.splits.is_empty()) else {
            return Splits { problem, stages: vec![Stage::Median] };
        };
        let stage = |split: &Split| match split {
            Split::Median => Stage::Median,
            Split::Targets => Stage::Targets(targets::Targets::new(problem.set, &workload.targets)),
            Split::Selection => {
                Stage::Selection(selection::Selection::new(problem.set, &workload.selections))
            }
            Split::Queries => Stage::Queries(queries::Queries::new(problem.set, &workload.queries)),
        };
        Splits { problem, stages: workload.splits.iter().map(stage).collect() }
    }

    /// An empty tally of the search's table.
    pub(crate) fn tally(&self) -> Tally<'a> {
        Tally::new(self.problem.set, self.problem.entity)
    }

    /// The cut of a region that the first criterion with one to offer chooses.
    pub(crate) fn choose<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        tally: &mut Tally,
    ) -> Option<(usize, Cut)> {
        let problem = self.problem;
        if region.len() < 2 || problem.budget.is_spent() {
            return None;
        }
        let n_rows: u64 = region.rows.iter().map(|&rows| u64::from(rows)).sum();
        if problem.entity.is_none() && n_rows < 2 * problem.k {
            return None;
        }
        let extents = extents(region);
        let look = Look { problem, region, extents: &extents, n_rows };
        self.stages.iter().find_map(|stage| match stage {
            Stage::Median => median::choose(&look, tally),
            Stage::Targets(criterion) => look.choose(criterion, tally),
            Stage::Selection(criterion) => look.choose(criterion, tally),
            Stage::Queries(criterion) => look.choose(criterion, tally),
        })
    }
}

/// A region that is to be cut.
struct Look<'a, 'b, C> {
    problem: &'a Problem<'a>,
    region: &'a Buffers<'b, C>,
    extents: &'a [Extent],
    n_rows: u64,
}

/// Points from which attributes are looked at by several threads.
const PARALLEL_FROM: usize = 1 << 15;

impl<C: PackedCode> Look<'_, '_, C> {
    /// The attributes on which it reaches at all, widest first.
    fn by_width(&self) -> Vec<usize> {
        by_width(&self.problem.set.attributes, self.region, self.extents)
    }

    /// The cut that costs least under a criterion.
    fn choose(&self, criterion: &impl Criterion, tally: &mut Tally) -> Option<(usize, Cut)> {
        let node = criterion.at(self.region, self.extents)?;
        let first =
            (0..self.extents.len()).find(|&at| self.extents[at].lo < self.extents[at].hi)?;
        let mut sums = vec![0; 1 + node.n_sums()];
        let width = sums.len();
        node.tabulate(self.region.rows.iter().map(|&rows| (0, rows)), 0, width, &mut sums);
        let whole = node.cost(first, self.extents[first], self.n_rows, &sums[1..]);
        let step = node.step(whole);
        // Also where the cost is no number that can be compared.
        if !(whole > 0.0 && whole.is_finite() && step > 0.0) {
            let is_over = node.must_lower();
            return if is_over { None } else { self.first_cut(&node, &sums[1..], tally) };
        }
        let costs = Costs { node: &node, step };
        let limit = if node.must_lower() { costs.steps(whole) - 1 } else { i64::MAX };
        let cuts = self.cuts(&costs, &sums[1..], tally, limit);
        let least = cuts.iter().map(|(_, cut)| cut.cost).min()?;
        let mut best: Vec<(usize, Scored)> =
            cuts.into_iter().filter(|(_, cut)| cut.cost <= least).collect();
        if best.len() > 1 {
            let order = self.by_width();
            best.sort_by_key(|(attribute, _)| order.iter().position(|at| at == attribute));
        }
        best.into_iter().next().map(|(attribute, scored)| (attribute, scored.cut))
    }

    /// By attribute, the cut that costs least; those of attributes that cannot have the least cost of all
    /// may be left out.
    fn cuts<R: RegionCriterion>(
        &self,
        costs: &Costs<R>,
        sums: &[i64],
        tally: &mut Tally,
        limit: i64,
    ) -> Vec<(usize, Scored)> {
        let attributes = (0..self.extents.len())
            .filter(|&at| self.extents[at].lo < self.extents[at].hi)
            .collect::<Vec<usize>>();
        if self.region.len() >= PARALLEL_FROM {
            let of = |&attribute: &usize| {
                let mut tally = Tally::new(self.problem.set, self.problem.entity);
                Some((attribute, best(self, costs, attribute, sums, &mut tally, limit)?))
            };
            return attributes.par_iter().filter_map(of).collect();
        }
        let mut at_most = limit;
        let mut cuts = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            if let Some(cut) = best(self, costs, attribute, sums, tally, at_most) {
                at_most = cut.cost;
                cuts.push((attribute, cut));
            }
        }
        cuts
    }

    /// The cut of a region that costs nothing as it is: on the widest attribute that has one.
    fn first_cut<R: RegionCriterion>(
        &self,
        node: &R,
        sums: &[i64],
        tally: &mut Tally,
    ) -> Option<(usize, Cut)> {
        let costs = Costs { node, step: f64::INFINITY };
        self.by_width().into_iter().find_map(|attribute| {
            let cut = best(self, &costs, attribute, sums, tally, i64::MAX)?;
            Some((attribute, cut.cut))
        })
    }
}

/// The costs of parts under a criterion, in steps.
struct Costs<'a, R> {
    node: &'a R,
    step: f64,
}

impl<R> Costs<'_, R> {
    #[expect(clippy::cast_possible_truncation, reason = "a cost beyond 2^63 steps is the greatest")]
    fn steps(&self, cost: f64) -> i64 {
        (cost / self.step).round() as i64
    }
}

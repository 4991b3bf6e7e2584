//! The choice among the allowable cuts of a region: one file per criterion.
//!
//! A criterion assigns every part of a cut a cost, from counts and sums over the part's rows; the
//! cut with the least total cost is made. Sums are kept by value of each attribute in one pass over
//! the region (the AVC sets of `RainForest`, Gehrke, Ramakrishnan, Ganti, VLDB 1998) and are
//! integers, so that they do not depend on the order of the rows. Costs are compared in steps of a
//! 2^24th of the cost of the uncut region, so that differences due to rounding do not count; on
//! ties, the attribute on which the region is widest wins, then the cut nearest the median.

mod boxes;
mod buffer;
mod infogain;
mod lsd;
mod median;
mod points;
mod queries;
mod selection;
mod sweep;
mod targets;

use incrowd_privacy::{Tally, all_hold};
use rayon::prelude::*;

use super::by_width;
use super::cut::{self, Cut};
use crate::partition::{Buffers, Extent, PackedCode, extents};
use crate::{Problem, Split};
use sweep::{Scored, best};

pub(crate) use boxes::Admitted;
pub(crate) use infogain::entropy;
pub(crate) use points::{Facts, Masks, PointColumns, Scale};

/// A criterion for choosing cuts.
pub(super) trait Criterion: Sync {
    /// The state of the criterion for one region.
    type Region<'a>: RegionCriterion
    where
        Self: 'a;

    /// Examines a region; `None` if no cut of it can be better than another.
    fn at<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        extents: &[Extent],
    ) -> Option<Self::Region<'_>>;
}

/// A criterion within one region.
pub(super) trait RegionCriterion: Sync {
    /// The number of sums.
    fn n_sums(&self) -> usize;

    /// Adds the rows of a point of the region to the sums of a part.
    fn add(&self, point: usize, rows: u32, sums: &mut [i64]);

    /// Adds the rows of all points to a table of an attribute's values: `width` cells per value
    /// from `lo` on, first its rows, then its sums. `column` has the code and the rows of each
    /// point.
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

    /// The cost of a part with this extent on an attribute.
    fn cost(&self, attribute: usize, extent: Extent, rows: u64, sums: &[i64]) -> f64;

    /// Whether a cut between two neighbouring values with these sums is worth trying. If no such
    /// cut is allowable, the one nearest the median is tried.
    fn is_candidate(&self, _before: &[i64], _after: &[i64]) -> bool {
        true
    }

    /// Whether a cut is only made if it costs less than the uncut region.
    fn must_lower(&self) -> bool;

    /// The step for comparing costs in a region, given the cost of the uncut region.
    fn step(&self, whole: f64) -> f64 {
        whole / f64::from(1u32 << 24)
    }
}

/// The criteria of a search in order of precedence, prepared for its table.
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
        Splits::over(problem, PointColumns::of(problem.set), None)
    }

    /// The criteria for points that are not those of the problem's set, or only some of the
    /// table's. Facts about the whole table are computed from the points unless given.
    pub(crate) fn over(
        problem: &'a Problem<'a>,
        points: PointColumns<'a>,
        facts: Option<&Facts>,
    ) -> Splits<'a> {
        let Some(workload) = problem.workload.filter(|workload| !workload.splits.is_empty()) else {
            return Splits { problem, stages: vec![Stage::Median] };
        };
        let stage = |split: &Split| match split {
            Split::Median => Stage::Median,
            Split::Targets => {
                Stage::Targets(targets::Targets::new(&points, &workload.targets, facts))
            }
            Split::Selection => {
                Stage::Selection(selection::Selection::new(&points, &workload.selections))
            }
            Split::Queries => {
                Stage::Queries(queries::Queries::new(points, &workload.queries, facts))
            }
        };
        Splits { problem, stages: workload.splits.iter().map(stage).collect() }
    }

    /// The criteria's facts about the whole table.
    pub(crate) fn facts(&self, n_rows: u64) -> Facts {
        let mut facts = Facts { n_rows, ..Facts::default() };
        for stage in &self.stages {
            match stage {
                Stage::Median | Stage::Selection(_) => {}
                Stage::Targets(criterion) => facts.weights = criterion.weights(),
                Stage::Queries(criterion) => facts.scales = criterion.scales(),
            }
        }
        facts
    }

    /// The number of criteria.
    pub(crate) fn n_stages(&self) -> usize {
        self.stages.len()
    }

    /// The cut that a criterion offers on one attribute. The points of the region may be those of a
    /// projection: points that are equal on the attribute and in everything else that matters count
    /// as one. The cheapest offer of all attributes is made, or the first one in the order of
    /// widths.
    pub(crate) fn offer<C: PackedCode>(
        &self,
        stage: usize,
        attribute: usize,
        region: &Buffers<'_, C>,
        extents: &[Extent],
        tally: &mut Tally,
    ) -> Option<Offer> {
        let n_rows = region.rows.iter().map(|&rows| u64::from(rows)).sum();
        let look = Look { problem: self.problem, region, extents, n_rows };
        match &self.stages[stage] {
            Stage::Median => {
                let cut = cut::best(self.problem, region, attribute, extents[attribute], tally)?;
                Some(Offer { cost: None, cut })
            }
            Stage::Targets(criterion) => look.offer(criterion, attribute, tally),
            Stage::Selection(criterion) => look.offer(criterion, attribute, tally),
            Stage::Queries(criterion) => look.offer(criterion, attribute, tally),
        }
    }

    /// An empty tally of the search's table.
    pub(crate) fn tally(&self) -> Tally<'a> {
        Tally::new(self.problem.set, self.problem.entity)
    }

    /// The cut of a region by the first criterion that offers one.
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

    /// Whether a region has no rows or satisfies the models (M2).
    pub(super) fn may_be_class<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        tally: &mut Tally,
    ) -> bool {
        tally.clear();
        for (&vector, &rows) in region.vectors.iter().zip(region.rows.iter()) {
            tally.add(vector as usize, rows);
        }
        region.len() == 0 || all_hold(self.problem.models, tally.class())
    }
}

/// A region that is to be cut.
struct Look<'a, 'b, C> {
    problem: &'a Problem<'a>,
    region: &'a Buffers<'b, C>,
    extents: &'a [Extent],
    n_rows: u64,
}

/// From this number of points on, attributes are examined in parallel.
const PARALLEL_FROM: usize = 1 << 15;

impl<C: PackedCode> Look<'_, '_, C> {
    /// The attributes on which it has any width, widest first.
    fn by_width(&self) -> Vec<usize> {
        by_width(&self.problem.set.attributes, self.region, self.extents)
    }

    /// The cut that costs least under a criterion.
    fn choose(&self, criterion: &impl Criterion, tally: &mut Tally) -> Option<(usize, Cut)> {
        let node = criterion.at(self.region, self.extents)?;
        let judged = self.judge(&node)?;
        if judged.is_free {
            return self.first_cut(&judged, tally);
        }
        let cuts = self.cuts(&judged.costs, &judged.sums, tally, judged.limit);
        let least = cuts.iter().map(|(_, cut)| cut.cost).min()?;
        let mut best: Vec<(usize, Scored)> =
            cuts.into_iter().filter(|(_, cut)| cut.cost <= least).collect();
        if best.len() > 1 {
            let order = self.by_width();
            best.sort_by_key(|(attribute, _)| order.iter().position(|at| at == attribute));
        }
        best.into_iter().next().map(|(attribute, scored)| (attribute, scored.cut))
    }

    /// The cut on one attribute that costs least under a criterion.
    fn offer(
        &self,
        criterion: &impl Criterion,
        attribute: usize,
        tally: &mut Tally,
    ) -> Option<Offer> {
        let node = criterion.at(self.region, self.extents)?;
        let judged = self.judge(&node)?;
        let scored = best(self, &judged.costs, attribute, &judged.sums, tally, judged.limit)?;
        Some(Offer { cost: (!judged.is_free).then_some(scored.cost), cut: scored.cut })
    }

    /// The cost of the uncut region; `None` if no cut can be worthwhile.
    fn judge<'r, R: RegionCriterion>(&self, node: &'r R) -> Option<Judged<'r, R>> {
        let first =
            (0..self.extents.len()).find(|&at| self.extents[at].lo < self.extents[at].hi)?;
        let mut sums = vec![0; 1 + node.n_sums()];
        let width = sums.len();
        node.tabulate(self.region.rows.iter().map(|&rows| (0, rows)), 0, width, &mut sums);
        sums.remove(0);
        let whole = node.cost(first, self.extents[first], self.n_rows, &sums);
        let step = node.step(whole);
        // Also if the cost is not a comparable number.
        if !(whole > 0.0 && whole.is_finite() && step > 0.0) {
            let costs = Costs { node, step: f64::INFINITY };
            let free = Judged { costs, sums, limit: i64::MAX, is_free: true };
            return (!node.must_lower()).then_some(free);
        }
        let costs = Costs { node, step };
        let limit = if node.must_lower() { costs.steps(whole) - 1 } else { i64::MAX };
        Some(Judged { costs, sums, limit, is_free: false })
    }

    /// By attribute, the cut that costs least; attributes that cannot have the least cost overall
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

    /// The cut of a region that costs nothing when uncut: on the widest attribute that has one.
    fn first_cut<R: RegionCriterion>(
        &self,
        judged: &Judged<'_, R>,
        tally: &mut Tally,
    ) -> Option<(usize, Cut)> {
        self.by_width().into_iter().find_map(|attribute| {
            let cut = best(self, &judged.costs, attribute, &judged.sums, tally, judged.limit)?;
            Some((attribute, cut.cut))
        })
    }
}

/// A cut that a criterion offers on one attribute.
#[derive(Clone)]
pub(crate) struct Offer {
    /// The cost of the parts in steps; `None` if the widest attribute with an offer is to be cut.
    pub(crate) cost: Option<i64>,
    pub(crate) cut: Cut,
}

/// The cost of a region under a criterion.
struct Judged<'a, R> {
    costs: Costs<'a, R>,
    /// The sums of the region.
    sums: Vec<i64>,
    /// The greatest cost that a cut may have.
    limit: i64,
    /// Whether the region costs nothing, so that costs cannot be compared.
    is_free: bool,
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

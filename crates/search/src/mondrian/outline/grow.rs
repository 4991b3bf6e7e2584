//! Growing level by level: which regions are examined in which scan.

use std::io;

use rayon::prelude::*;

use super::count::{Counted, Job, count, measure};
use super::decide::{Chosen, Decider, Looked};
use super::kinds::Kinds;
use super::sketch::Sketch;
use super::table::Size;
use super::{NoOutline, OpenRegion, Outline, OutlineLimits, Scan};
use crate::mondrian::split::{Facts, Splits};
use crate::partition::Extent;
use crate::{Outcome, Problem};

/// An outline that grows.
pub(super) struct Growth<'a> {
    problem: &'a Problem<'a>,
    scan: &'a dyn Scan,
    limits: OutlineLimits,
    decider: Decider<'a>,
    sketch: Sketch,
    regions: Vec<Region>,
    n_scans: u64,
    is_cut_short: bool,
}

/// A region.
pub(super) struct Region {
    /// Its node in the sketch, until it is cut.
    node: usize,
    rows: u64,
    /// An upper bound of its number of points.
    points: u64,
    /// Upper bounds of its extents.
    extents: Vec<Extent>,
    is_class: bool,
}

/// Regions and their cuts, if they have any.
type Decided = Vec<(usize, Option<Chosen>)>;

impl<'a> Growth<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        scan: &'a dyn Scan,
        limits: OutlineLimits,
        kinds: &'a Kinds,
        splits: &'a Splits<'a>,
    ) -> Growth<'a> {
        let whole = problem.set.attributes.iter();
        let rows = problem.set.n_rows;
        let root = Region {
            node: 0,
            rows,
            points: rows,
            extents: whole.map(|of| Extent { lo: 0, hi: of.n_codes().max(1) - 1 }).collect(),
            is_class: false,
        };
        Growth {
            problem,
            scan,
            limits,
            decider: Decider { problem, kinds, splits },
            sketch: Sketch::new(),
            regions: vec![root],
            n_scans: kinds.n_scans(),
            is_cut_short: false,
        }
    }

    /// Cuts regions until all fit.
    pub(super) fn grow(&mut self) -> Result<(), NoOutline> {
        let mut level = vec![0];
        loop {
            level.retain(|&region| self.must_look(region));
            if level.is_empty() {
                return Ok(());
            }
            if self.problem.budget.is_spent() {
                self.is_cut_short = true;
                self.regions.iter_mut().for_each(|region| region.is_class = true);
                return self.go_on();
            }
            let looked = self.look(level)?;
            level = Vec::new();
            for (region, chosen) in looked {
                level.extend(self.apply(region, chosen));
            }
        }
    }

    /// An error if the search was cancelled.
    fn go_on(&self) -> Result<(), NoOutline> {
        if self.problem.budget.is_cancelled() { Err(Outcome::Cancelled.into()) } else { Ok(()) }
    }

    /// Whether a region is too large and may have a cut.
    fn must_look(&mut self, region: usize) -> bool {
        let problem = self.problem;
        let region = &mut self.regions[region];
        let has_room = problem.entity.is_some() || region.rows >= 2 * problem.k;
        let has_reach = region.extents.iter().any(|extent| extent.lo < extent.hi);
        region.is_class |= region.rows == 0 || !has_room || !has_reach;
        !region.is_class && region.points > self.limits.points
    }

    /// The cut of each region of a level that turns out to be too large.
    fn look(&mut self, level: Vec<usize>) -> Result<Decided, NoOutline> {
        let (mut large, mut fitting) = self.divide(level);
        if !large.is_empty() {
            // Measures their extents first, which may be far smaller than their bounds.
            let measured =
                self.pass(|growth| measure(growth.problem, growth.scan, &growth.sketch, &large))?;
            for (&region, (extents, points)) in large.iter().zip(measured) {
                (self.regions[region].extents, self.regions[region].points) = (extents, points);
            }
            large.retain(|&region| self.must_look(region));
            let more;
            (large, more) = self.divide(large);
            fitting.extend(more);
        }
        let mut found = Vec::new();
        for batch in self.batches(&fitting) {
            let counted = self.count(&batch)?;
            let of_region = |(job, counted): (&Job, Counted)| {
                let is_large = counted.points > self.limits.points;
                let extents = &self.regions[job.region].extents;
                let choose = || self.decider.choose(counted.tables, extents);
                (job.region, counted.points, is_large.then(choose))
            };
            let decided: Vec<_> = batch.par_iter().zip(counted).map(of_region).collect();
            for (region, points, chosen) in decided {
                self.regions[region].points = points;
                found.extend(chosen.map(|chosen| (region, chosen)));
            }
        }
        found.extend(self.look_piecemeal(&large)?);
        Ok(found)
    }

    /// The cuts of regions whose extents are known, some attributes at a time.
    fn look_piecemeal(&mut self, large: &[usize]) -> Result<Decided, NoOutline> {
        let mut looked: Vec<Vec<Looked>> = large.iter().map(|_| Vec::new()).collect();
        for batch in self.piecemeal(large) {
            let counted = self.count(&batch)?;
            let of_job = |(job, counted): (&Job, Counted)| {
                let extents = &self.regions[job.region].extents;
                self.decider.look(counted.tables, extents)
            };
            let here: Vec<Vec<Looked>> = batch.par_iter().zip(counted).map(of_job).collect();
            for (job, here) in batch.iter().zip(here) {
                let at = large.iter().position(|&region| region == job.region);
                looked[at.expect("a job of this level")].extend(here);
            }
        }
        let chosen = large.iter().zip(looked).map(|(&region, looked)| {
            let extents = self.regions[region].extents.clone();
            (region, self.decider.choose_from(looked, extents))
        });
        Ok(chosen.collect())
    }

    fn count(&mut self, jobs: &[Job]) -> Result<Vec<Counted>, NoOutline> {
        self.pass(|growth| {
            let sizes = |job: &Job| {
                let size = |&attribute: &usize| growth.size(job.region, attribute);
                job.attributes.iter().map(size).collect()
            };
            let sizes: Vec<Vec<Size>> = jobs.iter().map(sizes).collect();
            count(&growth.decider, growth.scan, &growth.sketch, jobs, &sizes)
        })
    }

    /// Passes over the points.
    fn pass<T>(&mut self, scan: impl FnOnce(&Growth) -> io::Result<T>) -> Result<T, NoOutline> {
        self.n_scans += 1;
        let found = scan(self)?;
        self.go_on()?;
        Ok(found)
    }

    /// Regions whose tables do not fit alone, and those whose tables do.
    fn divide(&self, regions: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        regions.into_iter().partition(|&region| {
            let (tables, projected) = self.bytes(&self.job(region));
            tables + projected > self.limits.bytes
        })
    }

    fn job(&self, region: usize) -> Job {
        let extents = &self.regions[region].extents;
        let attributes = (0..extents.len()).filter(|&at| extents[at].lo < extents[at].hi).collect();
        Job { region, attributes }
    }

    fn size(&self, region: usize, attribute: usize) -> Size {
        let Region { extents, points, .. } = &self.regions[region];
        let n_kinds = self.decider.kinds.len();
        Size { extent: extents[attribute], n_kinds, points: *points }
    }

    /// Bytes of the tables of a job, and of their projections.
    fn bytes(&self, job: &Job) -> (u64, u64) {
        let sizes = || job.attributes.iter().map(|&attribute| self.size(job.region, attribute));
        (sizes().map(|size| size.bytes()).sum(), sizes().map(|size| size.projected_bytes()).sum())
    }

    /// Regions that are counted in the same scan.
    fn batches(&self, regions: &[usize]) -> Vec<Vec<Job>> {
        let n_threads = rayon::current_num_threads();
        let mut batches: Vec<Vec<Job>> = Vec::new();
        let (mut sum, mut largest) = (0, 0);
        for job in regions.iter().map(|&region| self.job(region)) {
            let (tables, projected) = self.bytes(&job);
            let at_once = batches.last().map_or(0, |batch| n_threads.min(batch.len() + 1)) as u64;
            let held = sum + tables + at_once * projected.max(largest);
            if let Some(batch) = batches.last_mut().filter(|_| held <= self.limits.bytes) {
                batch.push(job);
                (sum, largest) = (sum + tables, projected.max(largest));
            } else {
                batches.push(vec![job]);
                (sum, largest) = (tables, projected);
            }
        }
        batches
    }

    /// Attributes of regions that are counted in the same scan.
    fn piecemeal(&self, regions: &[usize]) -> Vec<Vec<Job>> {
        let mut batches: Vec<Vec<Job>> = Vec::new();
        let mut sum = 0;
        for &region in regions {
            for attribute in self.job(region).attributes {
                let job = Job { region, attributes: vec![attribute] };
                let (tables, projected) = self.bytes(&job);
                sum += tables + projected;
                let fits = sum <= self.limits.bytes;
                match batches.last_mut().filter(|_| fits) {
                    None => {
                        batches.push(vec![job]);
                        sum = tables + projected;
                    }
                    Some(batch) => match batch.last_mut().filter(|last| last.region == region) {
                        Some(last) => last.attributes.push(attribute),
                        None => batch.push(job),
                    },
                }
            }
        }
        batches
    }

    /// Cuts a region, or closes it; returns its parts.
    fn apply(&mut self, region: usize, chosen: Option<Chosen>) -> std::ops::Range<usize> {
        let first = self.regions.len();
        let Some(Chosen { attribute, cut, parts, extents }) = chosen else {
            self.regions[region].is_class = true;
            return first..first;
        };
        let nodes = self.sketch.cut(self.regions[region].node, attribute, cut, first);
        let points = self.regions[region].points;
        for (node, part) in nodes.into_iter().zip(parts) {
            let mut extents = extents.clone();
            extents[attribute] = part.extent;
            let points = points.min(part.rows);
            self.regions.push(Region { node, rows: part.rows, points, extents, is_class: false });
        }
        self.regions[region].extents = Vec::new();
        first..self.regions.len()
    }

    /// The outline that was grown.
    pub(super) fn outline(self, facts: Facts) -> Outline {
        let order = self.sketch.in_order();
        let mut place_of = vec![0; self.regions.len()];
        for (place, &region) in (0..).zip(&order) {
            place_of[region] = place;
        }
        let open = |&region: &usize| {
            let Region { rows, points, is_class, .. } = self.regions[region];
            OpenRegion { points, rows, is_class }
        };
        let regions = order.iter().map(open).collect();
        let (n_scans, is_cut_short) = (self.n_scans, self.is_cut_short);
        Outline { sketch: self.sketch, regions, place_of, facts, n_scans, is_cut_short }
    }
}

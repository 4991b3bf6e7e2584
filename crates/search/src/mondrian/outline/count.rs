//! Counting in one scan.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::decide::Decider;
use super::sketch::Sketch;
use super::table::{KindTable, Size};
use super::{Chunk, Scan};
use crate::Problem;
use crate::partition::Extent;

/// A region to be counted, and on which attributes.
pub(super) struct Job {
    pub(super) region: usize,
    pub(super) attributes: Vec<usize>,
}

/// The counts of a region.
pub(super) struct Counted {
    pub(super) points: u64,
    /// By attribute of the job.
    pub(super) tables: Vec<(usize, KindTable)>,
}

/// Points of a chunk by job.
struct Sifted {
    points: Vec<u32>,
    /// A job, and the end of its points.
    runs: Vec<(usize, usize)>,
}

impl Sifted {
    fn new(sketch: &Sketch, leads: &[bool], job_of: &[usize], chunk: &Chunk) -> Sifted {
        let mut sifted = Sifted { points: Vec::with_capacity(chunk.len), runs: Vec::new() };
        sketch.sift(chunk, leads, &mut |region, points| {
            sifted.points.extend_from_slice(points);
            sifted.runs.push((job_of[region], sifted.points.len()));
        });
        sifted
    }

    fn runs(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.1));
        self.runs.iter().zip(starts).map(|(&(job, end), start)| (job, &self.points[start..end]))
    }
}

/// The nodes that lead to some wanted regions.
struct Ways {
    leads: Vec<bool>,
    /// By region, its place among them.
    job_of: Vec<usize>,
}

impl Ways {
    fn new(sketch: &Sketch, regions: impl Iterator<Item = usize>) -> Ways {
        let mut job_of = Vec::new();
        for (job, region) in regions.enumerate() {
            if job_of.len() <= region {
                job_of.resize(region + 1, usize::MAX);
            }
            job_of[region] = job;
        }
        let is_wanted = |region| job_of.get(region).is_some_and(|&job| job != usize::MAX);
        Ways { leads: sketch.leading_to(is_wanted), job_of }
    }

    fn sift(&self, sketch: &Sketch, chunk: &Chunk) -> Sifted {
        Sifted::new(sketch, &self.leads, &self.job_of, chunk)
    }
}

/// Counts the points of some regions by code and kind. `sizes` are those of the tables.
pub(super) fn count(
    decider: &Decider,
    scan: &dyn Scan,
    sketch: &Sketch,
    jobs: &[Job],
    sizes: &[Vec<Size>],
) -> io::Result<Vec<Counted>> {
    let Decider { problem, kinds, .. } = *decider;
    let ways = Ways::new(sketch, jobs.iter().map(|job| job.region));
    let n_points: Vec<AtomicU64> = jobs.iter().map(|_| AtomicU64::new(0)).collect();
    // Threads share the tables; each thread holds those of one attribute at a time.
    let of_attribute = |attribute: usize| {
        let table = |(job, sizes): (&Job, &Vec<Size>)| {
            let at = job.attributes.iter().position(|&of| of == attribute)?;
            Some(KindTable::new(sizes[at]))
        };
        Mutex::new(jobs.iter().zip(sizes).map(table).collect::<Vec<Option<KindTable>>>())
    };
    let tables: Vec<_> = (0..problem.set.attributes.len()).map(of_attribute).collect();
    let is_counted = |at: &usize| jobs.iter().any(|job| job.attributes.contains(at));
    let counted: Vec<usize> = (0..tables.len()).filter(is_counted).collect();
    let turn = AtomicUsize::new(0);
    scan.scan(&|chunk| {
        if problem.budget.is_cancelled() || chunk.len == 0 {
            return;
        }
        let sifted = ways.sift(sketch, chunk);
        let of_kind = kinds.of(chunk);
        for (job, points) in sifted.runs() {
            n_points[job].fetch_add(points.len() as u64, Ordering::Relaxed);
        }
        let mut left = counted.clone();
        left.rotate_left(turn.fetch_add(1, Ordering::Relaxed) % counted.len().max(1));
        while let Some((attribute, mut tables)) = take_any(&mut left, &tables) {
            let codes = &chunk.vectors[attribute];
            for (job, points) in sifted.runs() {
                if let Some(table) = &mut tables[job] {
                    table.add(codes, points, chunk.counts, of_kind.as_deref());
                }
            }
        }
    })?;
    let mut tables: Vec<Vec<Option<KindTable>>> = tables
        .into_iter()
        .map(|tables| tables.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let of_job = |(at, (job, points)): (usize, (&Job, AtomicU64))| Counted {
        points: points.into_inner(),
        tables: job
            .attributes
            .iter()
            .filter_map(|&attribute| Some((attribute, tables[attribute][at].take()?)))
            .collect(),
    };
    Ok(jobs.iter().zip(n_points).enumerate().map(of_job).collect())
}

/// One of the remaining attributes and its tables, preferably one that no other thread holds.
fn take_any<'a, T>(
    left: &mut Vec<usize>,
    tables: &'a [Mutex<T>],
) -> Option<(usize, MutexGuard<'a, T>)> {
    for at in 0..left.len() {
        if let Ok(guard) = tables[left[at]].try_lock() {
            return Some((left.swap_remove(at), guard));
        }
    }
    let attribute = left.pop()?;
    Some((attribute, tables[attribute].lock().unwrap_or_else(PoisonError::into_inner)))
}

/// The extents of some regions, and their numbers of points.
pub(super) fn measure(
    problem: &Problem,
    scan: &dyn Scan,
    sketch: &Sketch,
    regions: &[usize],
) -> io::Result<Vec<(Vec<Extent>, u64)>> {
    let ways = Ways::new(sketch, regions.iter().copied());
    let nothing = vec![Extent { lo: u32::MAX, hi: 0 }; problem.set.attributes.len()];
    let found = Mutex::new(vec![(nothing, 0u64); regions.len()]);
    scan.scan(&|chunk| {
        if problem.budget.is_cancelled() {
            return;
        }
        let sifted = ways.sift(sketch, chunk);
        let extent = |attribute: usize, points: &[u32]| {
            let codes = points.iter().map(|&point| chunk.vectors[attribute].get(point as usize));
            codes.fold((u32::MAX, 0), |(lo, hi), code| (code.min(lo), code.max(hi)))
        };
        let of_run = |(region, points): (usize, &[u32])| {
            let extents = (0..chunk.vectors.len()).map(|at| extent(at, points));
            (region, points.len() as u64, extents.collect::<Vec<(u32, u32)>>())
        };
        let here: Vec<_> = sifted.runs().map(of_run).collect();
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        for (region, points, extents) in here {
            let (known, n_points) = &mut found[region];
            *n_points += points;
            for (known, (lo, hi)) in known.iter_mut().zip(extents) {
                *known = Extent { lo: known.lo.min(lo), hi: known.hi.max(hi) };
            }
        }
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

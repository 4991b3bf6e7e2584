//! Mondrian from scans gives the same result as in memory.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use incrowd_data::{Attribute, Codes, Extra, FrequencySet, PartitionTree};
use incrowd_search::{
    Algorithm, Budget, Chunk, NoOutline, Outcome, Outline, OutlineLimits, Problem, Recoding, Scan,
    Workload,
};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::workload::generate;
use incrowd_testkit::{Form, Table};
use rayon::prelude::*;

use super::{Aim, some_job, told};
use crate::{Job, jobs};

/// Points in chunks, and the number of scans.
struct Points {
    n_codes: Vec<u32>,
    n_attributes: usize,
    /// The codes of each point and its rows.
    chunks: Vec<Vec<(Vec<u32>, u32)>>,
    are_counted: bool,
    n_scans: AtomicU64,
    fails_at: u64,
}

impl Points {
    /// The rows of a table in chunks of different sizes, in a random order, equal ones as one if
    /// they are counted.
    fn new(rng: &mut Rng, table: &Table, set: &FrequencySet, are_counted: bool) -> Points {
        let mut points: Vec<(Vec<u32>, u32)> = if are_counted {
            let codes = |vector: usize| {
                let attributes = set.vectors.iter().map(move |codes| codes.get(vector));
                attributes.chain(set.extras.iter().map(move |extra| extra.codes.get(vector)))
            };
            (0..set.len()).map(|vector| (codes(vector).collect(), set.counts[vector])).collect()
        } else {
            table.rows.iter().map(|row| (row.clone(), 1)).collect()
        };
        rng.shuffle(&mut points);
        let mut chunks = Vec::new();
        while !points.is_empty() {
            let n =
                ([0, 1, 3, 7, 50][rng.below(5)] * (1 + table.rows.len() / 500)).min(points.len());
            chunks.push(points.drain(..n).collect());
        }
        let n_codes = set.attributes.iter().map(Attribute::n_codes);
        let n_codes = n_codes.chain(set.extras.iter().map(|extra| extra.n_codes)).collect();
        let n_attributes = set.attributes.len();
        let n_scans = AtomicU64::new(0);
        Points { n_codes, n_attributes, chunks, are_counted, n_scans, fails_at: u64::MAX }
    }

    fn with_chunk(&self, points: &[(Vec<u32>, u32)], call: &mut dyn FnMut(&Chunk<'_>)) {
        let column = |at: usize| Codes::pack(self.n_codes[at], points.iter().map(|p| p.0[at]));
        let columns: Vec<Codes> = (0..self.n_codes.len()).map(column).collect();
        let (vectors, extras) = columns.split_at(self.n_attributes);
        let counts: Vec<u32> = points.iter().map(|point| point.1).collect();
        let counts = self.are_counted.then_some(&counts[..]);
        call(&Chunk { vectors, extras, counts, len: points.len() });
    }
}

impl Scan for Points {
    fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> io::Result<()> {
        let scan = self.n_scans.fetch_add(1, Ordering::Relaxed);
        if scan >= self.fails_at {
            return Err(io::Error::other("gone"));
        }
        self.chunks
            .par_iter()
            .for_each(|points| self.with_chunk(points, &mut |chunk| visit(chunk)));
        Ok(())
    }
}

/// Points during one scan of which the user cancels.
struct Cancelling<'a> {
    points: Points,
    budget: &'a Budget,
    at: u64,
}

impl Scan for Cancelling<'_> {
    fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> io::Result<()> {
        if self.points.n_scans.load(Ordering::Relaxed) == self.at {
            self.budget.cancel();
        }
        self.points.scan(visit)
    }
}

/// The table without its points.
fn stub(set: &FrequencySet) -> FrequencySet {
    let none = || Codes::U8(Vec::new());
    FrequencySet {
        attributes: set.attributes.clone(),
        vectors: set.vectors.iter().map(|_| none()).collect(),
        counts: Vec::new(),
        extras: set.extras.iter().map(|of| Extra { codes: none(), ..of.clone() }).collect(),
        n_rows: set.n_rows,
    }
}

/// The problem of a job.
fn problem<'a>(
    set: &'a FrequencySet,
    job: &'a Job,
    workload: &'a Workload,
    budget: &'a Budget,
) -> Problem<'a> {
    let problem = Problem::new(set, &job.models, job.k, budget);
    Problem { entity: job.entity, workload: Some(workload), ..problem }
}

/// The outline, or why there is none, from points that can be read.
fn grow(whole: &Problem, points: &dyn Scan, limits: OutlineLimits) -> Result<Outline, Outcome> {
    Outline::grow(whole, points, limits).map_err(|none| match none {
        NoOutline::Unreadable(error) => panic!("{error}"),
        NoOutline::Ended(outcome) => outcome,
    })
}

/// The tree from scans and regions in memory, or why there is none.
fn outlined(
    points: &Points,
    whole: &Problem,
    limits: OutlineLimits,
) -> Result<PartitionTree, Outcome> {
    let outline = grow(whole, points, limits)?;
    let mut of_region: Vec<Vec<(Vec<u32>, u32)>> = vec![Vec::new(); outline.regions().len()];
    for chunk in &points.chunks {
        let mut places = vec![7];
        points.with_chunk(chunk, &mut |chunk| outline.place(chunk, &mut places));
        for (point, &place) in chunk.iter().zip(&places[1..]) {
            of_region[place as usize].push(point.clone());
        }
    }
    let mut trees = Vec::new();
    for (region, members) in outline.regions().iter().zip(of_region) {
        let rows: u64 = members.iter().map(|point| u64::from(point.1)).sum();
        assert_eq!(region.rows, rows, "rows of a region");
        assert!(region.points >= members.len() as u64, "points of a region");
        assert!(region.is_class || region.points <= limits.points, "{region:?} is too large");
        if !region.is_class {
            trees.push(finished(&outline, points, whole, &members));
        }
    }
    assert_eq!(outline.n_scans(), points.n_scans.load(Ordering::Relaxed), "scans");
    Ok(outline.graft(trees))
}

fn finished(
    outline: &Outline,
    points: &Points,
    whole: &Problem,
    members: &[(Vec<u32>, u32)],
) -> PartitionTree {
    let column = |at: usize| Codes::pack(points.n_codes[at], members.iter().map(|p| p.0[at]));
    let extra =
        |(at, of): (usize, &Extra)| Extra { codes: column(points.n_attributes + at), ..of.clone() };
    let set = FrequencySet {
        attributes: whole.set.attributes.clone(),
        vectors: (0..points.n_attributes).map(column).collect(),
        counts: members.iter().map(|point| point.1).collect(),
        extras: whole.set.extras.iter().enumerate().map(extra).collect(),
        n_rows: members.iter().map(|point| u64::from(point.1)).sum(),
    };
    let Outcome::Found(found) = outline.finish(&Problem { set: &set, ..*whole }) else {
        panic!("a region is feasible")
    };
    let Recoding::Partition(tree) = found.recoding else { panic!("strict Mondrian gives a tree") };
    for (vector, &class) in found.assignment.class_of.iter().enumerate() {
        assert_eq!(tree.class_of(|at| set.vectors[at].get(vector)), class);
    }
    tree
}

/// Random limits for a table of `n_rows` rows.
fn any_limits(rng: &mut Rng, n_rows: usize) -> OutlineLimits {
    let most = [1, 2 + rng.below(9), 1 + rng.below(n_rows), n_rows][rng.below(4)] as u64;
    let memory = [0, 1 << rng.below(22), 1 << 30][rng.below(3)];
    OutlineLimits { points: most, bytes: memory }
}

/// Compares for some limits, chunks and numbers of threads. Gives the number of cuts in memory.
fn check(rng: &mut Rng, table: &Table, job: &Job, workload: &Workload) -> usize {
    let limits = [0; 2].map(|_| any_limits(rng, table.rows.len()));
    check_within(rng, table, job, workload, limits)
}

fn check_within(
    rng: &mut Rng,
    table: &Table,
    job: &Job,
    workload: &Workload,
    limits: [OutlineLimits; 2],
) -> usize {
    let set = table.frequency_set();
    let stub = stub(&set);
    let budget = Budget::unlimited();
    let expected = Algorithm::Mondrian.run(&problem(&set, job, workload, &budget));
    let whole = problem(&stub, job, workload, &budget);
    for ((are_counted, n_threads), limits) in [(true, 1), (false, 4)].into_iter().zip(limits) {
        let points = Points::new(rng, table, &set, are_counted);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let context = || format!("{limits:?}, {} and {workload:?} of {table:?}", job.describe());
        match (pool.install(|| outlined(&points, &whole, limits)), &expected) {
            (Ok(tree), Outcome::Found(found)) => {
                assert_eq!(Recoding::Partition(tree), found.recoding, "{}", context());
            }
            (Err(outcome), expected) => assert_eq!(outcome, *expected, "{}", context()),
            (Ok(_), expected) => panic!("{expected:?} in memory: {}", context()),
        }
    }
    match expected {
        Outcome::Found(found) => found.assignment.n_classes as usize - 1,
        _ => 0,
    }
}

#[test]
fn every_model_cuts_as_in_memory() {
    let mut n_cuts = 0;
    for seed in 0..120 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 1 + rng.below(120),
            n_attributes: rng.below(5),
            forms: &Form::ALL,
            max_values: [4, 30, 300][rng.below(3)],
            missing: rng.one_in(2),
        };
        let table = random_table(rng, &recipe);
        for job in jobs(&table, 2 + rng.below(4) as u64) {
            n_cuts += check(rng, &table, &job, &Workload::default());
        }
    }
    assert!(n_cuts > 10_000, "{n_cuts} cuts");
}

#[test]
fn every_criterion_cuts_as_in_memory() {
    for aim in Aim::all() {
        let mut n_cuts = 0;
        for seed in 0..60 {
            let rng = &mut Rng::new(seed);
            let table = generate::table(rng, 90);
            let workload = told(&aim.workload(rng, &table));
            let job = some_job(rng, &table);
            n_cuts += check(rng, &table, &job, &workload);
        }
        assert!(n_cuts > 50, "{n_cuts} cuts for {aim:?}");
    }
}

/// Too many rows for one merge of a sparse table, with many values and kinds.
#[test]
fn many_values_and_kinds() {
    for seed in 0..4 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 6_000,
            n_attributes: 3,
            forms: &Form::ALL,
            max_values: 2_000,
            missing: true,
        };
        let table = generate::with_targets(random_table(rng, &recipe), rng);
        let job = jobs(&table, 5).swap_remove([1, 7, 8, 10][rng.below(4)]);
        let workload = told(&Aim::ALONE[rng.below(Aim::ALONE.len())].workload(rng, &table));
        let most = 500 + rng.below(2_000) as u64;
        let limits = [1 << 16, 1 << 24].map(|bytes| OutlineLimits { points: most, bytes });
        assert!(check_within(rng, &table, &job, &workload, limits) > 0, "no cut");
    }
}

/// One numeric column of different values.
fn line(n_rows: usize) -> Table {
    let cells: Vec<String> = (0..n_rows).map(|at| at.to_string()).collect();
    let cells: Vec<Option<&str>> = cells.iter().map(|cell| Some(cell.as_str())).collect();
    let mut table = Table::of_rows(n_rows);
    table.push_attribute("at", Form::Numeric, &[], &cells);
    table.push_attribute("again", Form::Numeric, &[], &cells);
    let answers: Vec<Option<&str>> = (0..n_rows).map(|at| Some(["yes", "no"][at % 2])).collect();
    table.push_extra("answer", &answers);
    table
}

/// Grows an outline over a line of 1,024 values; returns the number of scans, and the outline or
/// why there is none.
fn grown(job: &Job, limits: OutlineLimits, budget: &Budget) -> (u64, Result<Outline, Outcome>) {
    let table = line(1 << 10);
    let set = table.frequency_set();
    let stub = stub(&set);
    let points = Points::new(&mut Rng::new(1), &table, &set, false);
    let whole = Problem::new(&stub, &job.models, job.k, budget);
    let outline = grow(&whole, &points, limits);
    (points.n_scans.load(Ordering::Relaxed), outline)
}

#[test]
fn a_level_takes_one_scan_if_memory_suffices() {
    let budget = Budget::unlimited();
    let (of_k, ample) = (Job::of_k(2), 1 << 20);
    let diverse = Job::of_k(2).with(incrowd_privacy::DistinctDiversity::new(0, 2.0).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // Levels of 1, 2, 4 and 8 regions are cut. A region of n points may have 2 n codes on the
    // attribute that was not cut last, and takes 4 (n + 2 n) bytes; its projections, one region at
    // a time, take 2 * 12 n.
    for (job, most, memory, n_scans, n_regions) in [
        (&of_k, 1024, ample, 0, 1),
        (&of_k, 1023, ample, 1, 2),
        (&of_k, 64, ample, 4, 16),
        // One scan more finds the kinds, even if there is nothing to cut.
        (&diverse, 1024, ample, 1, 1),
        (&diverse, 64, ample, 5, 16),
        // Just enough for the root.
        (&of_k, 64, 32 << 10, 4, 16),
        // The root is measured and looked at one attribute after the other; its parts are measured,
        // take 8 n bytes then and are looked at one after the other; of the next four, three fit.
        (&of_k, 64, 16 << 10, 3 + 3 + 2 + 1, 16),
        // Nothing fits: every region is measured with its level, every attribute has a scan of its
        // own.
        (&of_k, 64, 0, (1 + 2) + (1 + 4) + (1 + 8) + (1 + 16), 16),
    ] {
        let limits = OutlineLimits { points: most, bytes: memory };
        let (scans, outline) = pool.install(|| grown(job, limits, &budget));
        let outline = outline.unwrap();
        assert_eq!((scans, outline.n_scans()), (n_scans, n_scans), "{limits:?}");
        assert_eq!(outline.regions().len(), n_regions, "{limits:?}");
        assert!(!outline.is_cut_short());
    }
}

#[test]
fn a_cancelled_search_gives_nothing_and_out_of_time_gives_a_class() {
    let limits = OutlineLimits { points: 64, bytes: 1 << 20 };
    let budget = Budget::unlimited();
    budget.cancel();
    let (_, outline) = grown(&Job::of_k(2), limits, &budget);
    assert_eq!(outline.unwrap_err(), Outcome::Cancelled);
    let (table, job) = (line(100), Job::of_k(2));
    let set = table.frequency_set();
    for at in 0..3 {
        let points = Points::new(&mut Rng::new(1), &table, &set, false);
        let budget = Budget::unlimited();
        let (stub, points) = (stub(&set), Cancelling { points, budget: &budget, at });
        let whole = Problem::new(&stub, &job.models, job.k, &budget);
        let limits = OutlineLimits { points: 10, ..limits };
        let outline = grow(&whole, &points, limits);
        assert_eq!(outline.unwrap_err(), Outcome::Cancelled);
        assert_eq!(points.points.n_scans.load(Ordering::Relaxed), at + 1);
    }
    let budget = Budget::unlimited().within(Some(std::time::Duration::ZERO));
    let outline = grown(&Job::of_k(2), limits, &budget).1.unwrap();
    assert!(outline.is_cut_short());
    let tree = outline.graft([]);
    assert_eq!(tree.n_classes, 1);
}

#[test]
fn points_that_cannot_be_read_are_an_error() {
    let table = line(100);
    let set = table.frequency_set();
    let (stub, job, budget) = (stub(&set), Job::of_k(2), Budget::unlimited());
    let whole = Problem::new(&stub, &job.models, job.k, &budget);
    for fails_at in 0..3 {
        let points = Points { fails_at, ..Points::new(&mut Rng::new(1), &table, &set, false) };
        let limits = OutlineLimits { points: 10, bytes: 1 << 20 };
        let none = Outline::grow(&whole, &points, limits).unwrap_err();
        assert!(matches!(none, NoOutline::Unreadable(_)));
    }
}

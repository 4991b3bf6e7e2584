//! A release of a table that does not fit in memory.
//!
//! The source is read once into private files: codes, and kept cells as they are. Most tables have
//! far fewer distinct vectors than rows; these are put together and searched as ever, by any
//! algorithm. Where they do not fit either, strict Mondrian grows the top of its tree from scans
//! ([`incrowd_search::Outline`]) until every region fits, and finishes one region after another.
//! The recoding is the same as in memory. The rows are then put into buckets by the place of their
//! class in the release and written bucket by bucket; what is written is the same bytes as in
//! memory.

mod points;
mod regions;
mod release;

use incrowd_data::{
    Assignment, Attribute, Codes, Divided, Level, Node, PartitionTree, VectorShare,
};
use incrowd_engine::{
    Engine, EngineError, Format, Output, Source, Spilled, read_remote, read_spilled,
};
use incrowd_release::{Classes, Gathering, LabelForm, recode};
use incrowd_search::{
    Budget, Counters, Found, NoOutline, Outcome as SearchOutcome, Outline, OutlineLimits, Proof,
    Recoding, RowGrouping,
};
use indexmap::IndexMap;

use crate::flow::bounds::Bounds;
use crate::flow::clock::Stopwatch;
use crate::flow::coding::{CodedAs, Coding, Grouped, Scheme, group, scheme};
use crate::flow::draft::{Released, ReportDraft};
use crate::flow::ended::Ended;
use crate::flow::job::{Job, ReleaseNotes};
use crate::flow::labelling::{Assigned, Labelling, Ordering, kinds_of, released_as};
use crate::flow::people::{Repeats, among_quasi, uses_counting};
use crate::flow::place::{Place, ReadSpilled};
use crate::flow::publish::{PrintedCells, Unverified};
use crate::flow::run::Stage;
use crate::flow::search::{budget, classes, search, with_problem};
use crate::flow::values::refuse_missing;
use crate::plan::Plan;
use crate::report::{InferenceReport, Outcome, Timings};
use crate::spec::error::{JobError, Problem};
use regions::{ClassOfRow, Regions, Scanned};
use release::{Release, WrittenRows};

pub(crate) use points::{GroupedRows, Points};
pub(crate) use release::RowClasses;

/// By attribute, the mean of each class where labels tell it.
type Means = Vec<Option<Vec<Option<f64>>>>;

/// What a search in bounded memory found.
struct Searched {
    coding: Coding,
    found: Found,
    classes: Classes,
    means: Means,
    rows: RowClasses,
}

/// Turns the job's input into a release in bounded memory.
pub(crate) fn run(
    job: &Job,
    source: &Source,
    plan: &Plan,
    output: &Output,
    (bounds, place): (&Bounds, &Place),
) -> Result<Outcome, Ended> {
    let mut clock = Stopwatch::start();
    let mut timings = Timings::default();
    job.run.enter(Stage::Read);
    let wants_fits = !matches!(output.format(), Format::Csv(_));
    let spilled = read(job.engine, source, plan, wants_fits, place)?;
    timings.read = clock.lap();
    let (mut draft, mut spilled) =
        ReportDraft::of_files(job.engine, plan, (source, spilled), bounds)?;
    clock.lap();
    let repeats = among_quasi(plan, &spilled, spilled.n_rows);
    let mut scheme = scheme(plan, &spilled)?;
    let columns = std::mem::take(&mut scheme.columns);
    // Dictionaries in their order stand in the scheme; that of a target is looked at again.
    plan.with_role(crate::spec::Role::Quasi)
        .filter(|&at| !plan.columns[at].spec.target)
        .for_each(|at| spilled.forget(&plan.columns[at].name));
    timings.read += clock.lap();
    job.run.enter(Stage::Search);
    let in_memory = bounds.in_memory(source, &plan.uses());
    let search = Search { job, plan, bounds, in_memory, spilled: &spilled, columns: &columns };
    let Searched { coding, found, classes, mut means, rows } = search.run(scheme)?;
    timings.search = clock.lap();
    job.run.enter(Stage::Write);
    let attributes = &coding.set.attributes;
    let (shares, assigned) = (&found.assignment.shares, Assigned::of(&found));
    let (set, entity) = (&coding.set, coding.entity);
    let labelling = Labelling { plan, set, entity, classes: &classes, assigned };
    let inference = labelling.withhold(&mut means);
    let labelled =
        Labelled { plan, attributes, classes: &classes, means: &means, inference, shares, repeats };
    let written = write(job.engine, labelled, &spilled, &rows, (output, bounds))?;
    source.check_unchanged()?;
    timings.write = clock.lap();
    draft.look(&Released { plan, coding: &coding, classes: &classes, assigned, table: None })?;
    let figures = job.figures(plan, &coding, &found, &classes)?;
    // What is written is measured on its own.
    drop((coding, found, classes, means, rows, spilled));
    let notes = ReleaseNotes { figures, draft };
    Ok(job.finish(source, plan, notes, written, bounds, timings)?)
}

/// Reads a source into private files.
pub(crate) fn read(
    engine: &Engine,
    source: &Source,
    plan: &Plan,
    wants_fits: bool,
    place: &Place,
) -> Result<Spilled, JobError> {
    let (bounds, read): (_, ReadSpilled) = match place {
        Place::Files { bounds, .. } => (bounds, read_spilled),
        Place::Cluster { bounds } => (bounds, read_remote),
        Place::Memory => unreachable!("these rows are not held in memory"),
    };
    let scratch = bounds.scratch()?;
    // While the table is read nothing else is held; then the values are put into their order.
    let most_bytes = bounds.limit.unwrap_or(u64::MAX) / 4;
    let spilled = read(engine, source, &uses_counting(plan), wants_fits, &scratch, most_bytes)?;
    refuse_missing(plan, &spilled)?;
    Ok(spilled)
}

/// Classes and what is published of them.
pub(crate) struct Labelled<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) attributes: &'a [Attribute],
    pub(crate) classes: &'a Classes,
    pub(crate) means: &'a [Option<Vec<Option<f64>>>],
    /// By column, what follows from what is printed of it.
    pub(crate) inference: IndexMap<String, InferenceReport>,
    /// Vectors that are divided among classes.
    pub(crate) shares: &'a [VectorShare],
    /// The quasi-identifiers that number people who have several rows.
    pub(crate) repeats: Vec<Repeats>,
}

/// Writes the release of rows that are in private files.
pub(crate) fn write(
    engine: &Engine,
    labelled: Labelled,
    spilled: &Spilled,
    rows: &RowClasses,
    (output, bounds): (&Output, &Bounds),
) -> Result<Unverified, JobError> {
    let Labelled { plan, attributes, classes, means, inference, shares, repeats } = labelled;
    let ordering = &Ordering::new(plan, attributes, classes, means);
    let staged = output.stage()?;
    let release = Release { plan, spilled, bounds, classes, ordering, rows, shares };
    let WrittenRows { n_rows, starred, entity, contents } = release.write(engine, &staged)?;
    let released_as = released_as(plan, &ordering.columns);
    let counted = spilled.counted.iter().filter_map(Repeats::of_counted);
    let repeats = counted.chain(repeats).collect();
    let kinds = kinds_of(plan, spilled);
    let names = attributes.iter().map(|attribute| attribute.name.clone());
    let n_cells = names.zip(ordering.n_cells.iter().copied()).collect();
    let printed = PrintedCells { n_cells, inference };
    Ok(Unverified {
        staged,
        released_as,
        entity,
        contents,
        n_rows,
        starred,
        repeats,
        kinds,
        printed,
    })
}

/// Bytes that are kept of a class.
const CLASS: u64 = 60;

/// Buffers grow with the limit, by about so many bytes at the most: a limit that is named has room
/// for that.
const GROWTH: u64 = 64_000_000;

/// An error with an estimate and a `way_out`, unless this many distinct vectors fit in memory while
/// they are found and searched. A table that can be held `in_memory` altogether needs no more than
/// that.
pub(crate) fn check_fits(
    (bounds, in_memory): (&Bounds, u64),
    way_out: &str,
    n_distinct: u64,
    n_columns: usize,
    n_parts: usize,
) -> Result<(), Problem> {
    let cells = 4 * n_columns as u64;
    let vector_bytes = (cells + 24) * n_parts as u64 + 3 * cells + 48;
    let needs = n_distinct.saturating_mul(vector_bytes);
    let left = bounds.left();
    if needs <= left / 5 * 3 {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    let needed = bounds.held().saturating_add(needs / 3 * 5).saturating_add(GROWTH);
    Err(Problem::new(format!(
        "about {n_distinct} distinct rows have to be held, which needs a memory limit of about {} MB; the limit is {} MB",
        megabytes(needed.min(in_memory)),
        megabytes(bounds.limit.unwrap_or(left))
    ))
    .help(format!("raise --memory-limit, {way_out}, or make the columns coarser")))
}

/// What would need no more memory than it is given, for a job that does.
fn way_out(plan: &Plan) -> &'static str {
    match plan.method.algorithm {
        algorithm if algorithm.is_relaxed() => "leave out --relaxed",
        algorithm if algorithm.can_outline() && plan.labels == LabelForm::Region => {
            "choose other labels than `region`"
        }
        _ => "use --algorithm mondrian, which needs no more than it is given",
    }
}

/// The search of a job whose rows are in private files.
struct Search<'a> {
    job: &'a Job<'a>,
    plan: &'a Plan,
    bounds: &'a Bounds,
    /// The bytes that the table would need in memory.
    in_memory: u64,
    spilled: &'a Spilled,
    columns: &'a [CodedAs],
}

impl Search<'_> {
    fn run(&self, scheme: Scheme) -> Result<Searched, Ended> {
        let points = Points::new(self.plan, self.columns, self.spilled);
        let n_distinct = points.estimate_distinct()?;
        self.job.run.go_on()?;
        let (n_columns, n_parts) = (self.columns.len(), self.spilled.n_parts());
        let can_be_outlined =
            self.plan.method.algorithm.can_outline() && self.plan.labels != LabelForm::Region;
        let is_forced = self.bounds.forced_points(self.spilled.n_rows).is_some();
        let fits = check_fits(
            (self.bounds, self.in_memory),
            way_out(self.plan),
            n_distinct,
            n_columns,
            n_parts,
        );
        if fits.is_ok() && !(can_be_outlined && is_forced) {
            return self.whole(scheme, &points);
        }
        if can_be_outlined {
            return self.outlined(scheme, &points);
        }
        Err(fits.err().map_or(JobError::Cancelled, JobError::from).into())
    }

    /// All distinct vectors at once.
    fn whole(&self, scheme: Scheme, points: &Points) -> Result<Searched, Ended> {
        let Search { job, plan, .. } = *self;
        let GroupedRows { vectors, counts, rows } = points.group()?;
        let levels = plan.method.level_bounds(&plan.columns, &scheme.attributes)?;
        let n_rows = self.spilled.n_rows;
        let mut coding = scheme.coding(self.columns, vectors, counts, Vec::new(), n_rows);
        let memory = Some(self.bounds.left() / 2);
        let outcome = search(job.run, job.spec, plan, &coding, &levels, memory)?;
        let mut found = job.found(plan, outcome, n_rows)?;
        let classes = classes(plan, &mut coding, &mut found);
        let assigned = Assigned::of(&found);
        let Coding { set, entity, .. } = &coding;
        let labelling = Labelling { plan, set, entity: *entity, classes: &classes, assigned };
        let means = labelling.all_means();
        let rows = RowClasses::Vectors { rows, class_of: found.assignment.class_of.clone() };
        Ok(Searched { coding, found, classes, means, rows })
    }

    /// The top of the tree from scans, then region after region.
    fn outlined(&self, scheme: Scheme, points: &Points) -> Result<Searched, Ended> {
        let Search { job, plan, .. } = *self;
        self.check_classes()?;
        let grouping = scheme.grouping;
        let none = points.n_codes().map(|n| Codes::pack(n, std::iter::empty())).collect();
        let n_rows = self.spilled.n_rows;
        let coding = scheme.coding(self.columns, none, Vec::new(), Vec::new(), n_rows);
        let n_attributes = coding.set.attributes.len();
        let scanned = Scanned { points, n_attributes, is_cancelled: &|| job.run.is_cancelled() };
        let budget = budget(job.run, job.spec, plan, None);
        let grown = with_problem(job.spec, plan, &coding, &[], &budget, |problem| {
            let (left, most) = (self.bounds.left(), self.most_points(n_attributes));
            let limits = OutlineLimits { points: most, bytes: left / 4 };
            Outline::grow(problem, &scanned, limits)
        })?;
        let outline = match grown {
            Ok(outline) => outline,
            Err(NoOutline::Unreadable(source)) => return Err(EngineError::Spill { source }.into()),
            Err(NoOutline::Ended(outcome)) => {
                job.found(plan, outcome, n_rows)?;
                unreachable!("an outline that was not grown has no recoding")
            }
        };
        Finish { search: self, points, coding, budget, grouping }.run(outline).map_err(Ended::from)
    }

    /// An error with an estimate, unless what is kept of each class fits.
    fn check_classes(&self) -> Result<(), Problem> {
        let Some(limit) = self.bounds.limit else { return Ok(()) };
        let keeps_tree = self.job.spec.recoding.is_some();
        // A class has a leaf and a cut; lists of them grow by leaps.
        let of_tree = if keeps_tree { 3 * size_of::<Node>() as u64 } else { 0 };
        let n_classes = self.spilled.n_rows / self.plan.k.unwrap_or(1).max(1);
        let needed = n_classes.saturating_mul(CLASS + of_tree);
        if needed <= limit {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let way_out = if keeps_tree { "leave --recoding out, " } else { "" };
        Err(Problem::new(format!(
            "up to {n_classes} classes have to be kept, which needs a memory limit of about {} MB; the limit is {} MB",
            megabytes(needed),
            megabytes(limit)
        ))
        .help(format!("raise --memory-limit, {way_out}or ask for a larger k")))
    }

    /// How many points of a region fit in memory while it is read, grouped and searched.
    fn most_points(&self, n_attributes: usize) -> u64 {
        if let Some(most) = self.bounds.forced_points(self.spilled.n_rows) {
            return most;
        }
        let n_codes = |column: &CodedAs| column.n_codes;
        let widest = self.columns[..n_attributes].iter().map(n_codes).max().unwrap_or(0);
        let width: u64 = match widest {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        // The rows as columns, their keys while they are grouped, and the points twice while they
        // are cut.
        let (d, all) = (n_attributes as u64, self.columns.len() as u64);
        let bytes = all * width + 36 + 2 * (d * width + 8) + 16;
        (self.bounds.left() / 2 / bytes).max(1)
    }
}

/// Finishes the regions of an outline.
struct Finish<'a> {
    search: &'a Search<'a>,
    points: &'a Points<'a>,
    /// The set is that of one region after another: the dictionaries of its attributes may be
    /// large.
    coding: Coding,
    budget: Budget,
    grouping: RowGrouping,
}

/// The node of an attribute's hierarchy that was divided last, if one was.
type DividedNode = Option<(Level, u32)>;

/// What was found of the regions so far.
struct Finished {
    classes: Gathering,
    means: Means,
    rows: ClassOfRow,
    trees: Vec<PartitionTree>,
    counters: Counters,
    is_cut_short: bool,
}

impl Finish<'_> {
    fn run(mut self, outline: Outline) -> Result<Searched, JobError> {
        let keeps_tree = self.search.job.spec.recoding.is_some();
        let (n_attributes, n_rows) = (self.coding.set.attributes.len(), self.coding.set.n_rows);
        let mut regions = Regions::divide(self.points, &outline, n_attributes)?;
        let mut found = Finished {
            classes: Gathering::new(n_attributes),
            means: vec![None; n_attributes],
            rows: ClassOfRow::new(&regions),
            trees: Vec::new(),
            counters: Counters { table_scans: outline.n_scans(), ..Counters::default() },
            is_cut_short: outline.is_cut_short(),
        };
        let divided = outline.divided(&self.coding.set.attributes);
        for (region, divided) in divided.iter().enumerate() {
            self.search.job.run.go_on()?;
            if outline.regions()[region].is_class {
                self.take_class(&mut regions, (region, divided), &mut found)?;
            } else {
                self.finish(&outline, &mut regions, (region, divided), &mut found)?;
            }
        }
        self.fill(Vec::new(), Vec::new(), n_rows);
        let Finished { classes, means, rows, trees, counters, is_cut_short } = found;
        let n_classes = u32::try_from(classes.len()).expect("fewer classes than 2^32");
        let tree = if keeps_tree {
            outline.graft(trees)
        } else {
            PartitionTree { nodes: Vec::new(), n_classes }
        };
        let found = Found {
            assignment: Assignment::of_whole_vectors(Vec::new(), n_classes),
            recoding: Recoding::Partition(tree),
            proof: Proof { is_cut_short, ..Proof::default() },
            counters,
            minimal: None,
            stopped: None,
        };
        let (classes, rows) = (classes.finish(), RowClasses::Regions(rows));
        Ok(Searched { coding: self.coding, found, classes, means, rows })
    }

    /// A region that is a class as it is, of any number of rows: its distinct vectors tell all of
    /// it.
    fn take_class(
        &mut self,
        regions: &mut Regions,
        (region, divided): (usize, &[DividedNode]),
        found: &mut Finished,
    ) -> Result<(), JobError> {
        let ((vectors, counts), n_rows) = regions.take_distinct(region)?;
        self.coding.n_vectors += counts.len() as u64;
        let assignment = Assignment::of_whole_vectors(vec![0; counts.len()], 1);
        self.fill(vectors, counts, n_rows.iter().map(|&rows| rows as u64).sum());
        let divided = PartitionTree::one_class().divided(&self.coding.set.attributes, divided);
        self.add((&assignment, &divided), |_| 0, &n_rows, found)
    }

    /// Searches a region in memory.
    fn finish(
        &mut self,
        outline: &Outline,
        regions: &mut Regions,
        (region, divided): (usize, &[DividedNode]),
        found: &mut Finished,
    ) -> Result<(), JobError> {
        let Search { job, plan, .. } = *self.search;
        let (columns, n_rows) = regions.take(region)?;
        let n_region = n_rows.iter().sum();
        let Grouped { columns, counts, vector_of } = group(columns, n_region, self.grouping);
        self.coding.n_vectors += counts.len() as u64;
        self.fill(columns, counts, n_region as u64);
        let outcome = with_problem(job.spec, plan, &self.coding, &[], &self.budget, |problem| {
            outline.finish(problem)
        })?;
        let SearchOutcome::Found(of_region) = outcome else { return Err(JobError::Cancelled) };
        found.counters.nodes_checked += of_region.counters.nodes_checked;
        found.is_cut_short |= of_region.proof.is_cut_short;
        let Recoding::Partition(tree) = of_region.recoding else {
            unreachable!("a region is finished by strict partitioning")
        };
        let divided = tree.divided(&self.coding.set.attributes, divided);
        if job.spec.recoding.is_some() {
            found.trees.push(tree);
        }
        let assignment = of_region.assignment;
        let class_of = |row: usize| assignment.class_of[vector_of[row] as usize];
        self.add((&assignment, &divided), class_of, &n_rows, found)
    }

    /// Adds the classes of the region in the set to those that were found; by part it has so many
    /// rows.
    fn add(
        &self,
        (assignment, divided): (&Assignment, &[Divided]),
        class_of: impl Fn(usize) -> u32,
        n_rows: &[usize],
        found: &mut Finished,
    ) -> Result<(), JobError> {
        let first = u32::try_from(found.classes.len()).expect("fewer classes than 2^32");
        found.rows.add(self.points, |row| first + class_of(row), n_rows)?;
        let (plan, set) = (self.search.plan, &self.coding.set);
        let classes = recode(set, assignment, divided);
        let assigned = Assigned {
            class_of: &assignment.class_of,
            shares: &[],
            blocks: &[],
            is_tight: true,
            may_be_tight: false,
        };
        let entity = self.coding.entity;
        let of_region = Labelling { plan, set, entity, classes: &classes, assigned }.all_means();
        for (means, of_region) in found.means.iter_mut().zip(of_region) {
            if let Some(of_region) = of_region {
                means.get_or_insert_default().extend(of_region);
            }
        }
        found.classes.add(classes);
        Ok(())
    }

    /// Puts vectors into the set: a column for each of the scheme, or none at all.
    fn fill(&mut self, mut columns: Vec<Codes>, counts: Vec<u32>, n_rows: u64) {
        let set = &mut self.coding.set;
        let extras = columns.split_off(set.attributes.len().min(columns.len()));
        set.vectors = columns;
        set.counts = counts;
        set.n_rows = n_rows;
        for (extra, codes) in set.extras.iter_mut().zip(extras) {
            extra.codes = codes;
        }
    }
}

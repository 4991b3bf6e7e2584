//! From classes to published files: write, verify from the written bytes, publish all or nothing.

use std::path::Path;

use incrowd_data::{Codes, FrequencySet, Kind, SUPPRESSED};
use incrowd_engine::{
    Access, ColumnContent, Engine, EngineError, Format, Manifest, Output, Part, Piece, Published,
    Rows, Source, Staged, Staging, Table, Writer, order_within, stage_bytes,
};
use incrowd_release::{Classes, order_by_labels};
use indexmap::IndexMap;

use crate::flow::bounds::Bounds;
use crate::flow::clock::Stopwatch;
use crate::flow::coding::CodedAs;
use crate::flow::labelling::{
    Assigned, Labelling, kinds_of, label_columns, n_cells, published, refuse_equal_names,
    released_as,
};
use crate::flow::measure::{Entities, Measured, Starred, Subject, Unique, measure_release};
use crate::flow::ordered::raw_column;
use crate::flow::outputs::manifest;
use crate::flow::people::Repeats;
use crate::flow::run::{Run, Stage};
use crate::plan::Plan;
use crate::report::exposure::Exposure;
use crate::report::{AsTheyAreReport, InferenceReport, RepeatsReport, Timings};
use crate::spec::Role;
use crate::spec::error::{JobError, Problem};

/// A release that is about to be written.
pub(crate) struct Release<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) table: &'a Table,
    pub(crate) set: &'a FrequencySet,
    /// The extra column that k counts, if the job declares an entity.
    pub(crate) entity: Option<usize>,
    pub(crate) classes: &'a Classes,
    pub(crate) assigned: Assigned<'a>,
    /// By row, its vector.
    pub(crate) vector_of: &'a [u32],
    /// The quasi-identifiers that number people who have several rows.
    pub(crate) repeats: Vec<Repeats>,
}

/// A release that was written and measured, and waits to be published.
pub(crate) struct Written {
    pub(crate) staged: Staging,
    pub(crate) measured: Measured,
    pub(crate) starred: Starred,
    /// The column of the input or the release that numbers people who have several rows.
    repeats: Option<Repeats>,
    pub(crate) printed: PrintedCells,
}

/// What is known of the labels of a release.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrintedCells {
    /// By quasi-identifier column, its different cells.
    pub(crate) n_cells: IndexMap<String, usize>,
    /// By column of numbers or dates, the rows whose values follow from what is printed.
    pub(crate) inference: IndexMap<String, InferenceReport>,
}

impl Written {
    /// The report of what was measured of the rows beside their classes.
    pub(crate) fn exposure(&self, plan: &Plan) -> Exposure {
        exposure(plan, self.measured.unique.as_ref(), self.repeats.as_ref())
    }
}

/// A release that was written but not yet read back.
pub(crate) struct Unverified {
    pub(crate) staged: Staging,
    pub(crate) released_as: Vec<Vec<String>>,
    pub(crate) entity: Option<Entities>,
    /// What the columns that are released as they are must say.
    pub(crate) contents: Vec<ColumnContent>,
    pub(crate) n_rows: u64,
    pub(crate) starred: Starred,
    /// The columns that number people who have several rows and are not released as they are.
    pub(crate) repeats: Vec<Repeats>,
    /// By column of the plan, what the values of a sensitive column are in the table.
    pub(crate) kinds: Vec<Option<Kind>>,
    pub(crate) printed: PrintedCells,
}

impl Unverified {
    /// Measures what was written, from its bytes.
    pub(crate) fn verify(
        self,
        engine: &Engine,
        run: &Run,
        plan: &Plan,
        bounds: &Bounds,
        timings: &mut Timings,
    ) -> Result<Written, JobError> {
        let mut clock = Stopwatch::start();
        run.enter(Stage::Verify);
        let Unverified { staged, released_as, entity, contents, n_rows, .. } = self;
        let Unverified { starred, repeats, kinds, printed, .. } = self;
        if n_rows == 0 && matches!(staged.format(), Format::JsonLines(_)) {
            let message = "no row is left, and JSON lines without rows have no columns";
            return Err(Problem::new(message).help("write .csv, .parquet or .arrow").into());
        }
        let plan = &plan.with_kinds(&kinds);
        let subject = Subject { plan, released_as, entity, contents, is_given: false };
        // The disk catches up while the bytes are read back.
        let (measured, flushed) = std::thread::scope(|scope| {
            let flusher = scope.spawn(|| staged.flush());
            let measured = Source::of_staged(engine, &staged)
                .map_err(JobError::from)
                .and_then(|source| measure_release(engine, &source, &subject, bounds));
            (measured, flusher.join().expect("flushing does not panic"))
        });
        flushed?;
        let mut measured = measured?;
        assert_eq!(measured.n_rows, n_rows, "every row that was written is read back");
        timings.verify += clock.lap();
        run.go_on()?;
        let repeats = repeats.into_iter().chain(std::mem::take(&mut measured.repeats));
        let repeats = Repeats::nearest(repeats);
        Ok(Written { staged, measured, starred, repeats, printed })
    }
}

impl Release<'_> {
    /// Writes the release beside its place.
    pub(crate) fn write(
        &self,
        engine: &Engine,
        run: &Run,
        output: &Output,
        timings: &mut Timings,
    ) -> Result<Unverified, JobError> {
        let mut clock = Stopwatch::start();
        let Release { plan, set, entity, classes, assigned, .. } = *self;
        let labelling = Labelling { plan, set, entity, classes, assigned };
        let mut means = labelling.all_means();
        let inference = labelling.withhold(&mut means);
        let mut label_columns = label_columns(plan, &set.attributes, classes, &means);
        let star = classes.recoded.n_suppressed > 0;
        let n_cells = set.attributes.iter().zip(&label_columns).map(|(attribute, of_attribute)| {
            (attribute.name.clone(), n_cells(plan, of_attribute, star))
        });
        let printed = PrintedCells { n_cells: n_cells.collect(), inference };
        let place_of = order_by_labels(&mut label_columns);
        let published =
            published(plan, &set.attributes, &label_columns, self.table, self.table.kept.columns());
        refuse_equal_names(&published, self.table.kept.columns())?;
        let rows = self.rows(engine, &published, &place_of)?;
        timings.recode += clock.lap();
        run.enter(Stage::Write);
        let staged = output.stage()?;
        let kept = self.table.kept.columns();
        let mut writer = Writer::new(engine, &published, kept, &staged)?;
        writer.write(&self.piece(&published, &rows))?;
        let contents = writer.finish()?;
        timings.write += clock.lap();
        Ok(Unverified {
            staged,
            released_as: released_as(plan, &label_columns),
            entity: self.entity_in(&rows)?,
            contents,
            n_rows: rows.order.len() as u64,
            starred: self.starred()?,
            repeats: self.repeats(),
            kinds: kinds_of(plan, self.table),
            printed,
        })
    }

    /// The columns that number people who have several rows and are not released as they are.
    fn repeats(&self) -> Vec<Repeats> {
        let counted = self.table.counted.iter().filter_map(Repeats::of_counted);
        counted.chain(self.repeats.iter().cloned()).collect()
    }

    fn starred(&self) -> Result<Starred, JobError> {
        if !self.plan.stars_suppressed {
            return Ok(Starred::default());
        }
        let n_rows = self.classes.recoded.n_suppressed;
        let target = self.plan.target();
        let target = target.filter(|&at| self.table.column(&self.plan.columns[at].name).is_some());
        let Some(at) = target else { return Ok(Starred { n_rows, n_minority: 0 }) };
        let CodedAs { map, n_codes, .. } = CodedAs::identified(self.plan, at, self.table)?;
        let raw = raw_column(self.plan, self.table, at);
        let mut rows_of = vec![0u64; n_codes as usize];
        for (row, &vector) in self.vector_of.iter().enumerate() {
            if self.assigned.class_of[vector as usize] == SUPPRESSED {
                rows_of[map[raw.codes.get(row) as usize] as usize] += 1;
            }
        }
        Ok(Starred { n_rows, n_minority: n_rows - rows_of.into_iter().max().unwrap_or(0) })
    }

    /// Rows of the table, as a piece of the release.
    fn piece<'b>(&'b self, published: &[Published], rows: &'b Rows) -> Piece<'b> {
        let codes = |column: &Published| match column {
            Published::Coded { values, .. } => {
                Some(&self.table.column(&values.name).expect("it was read").codes)
            }
            Published::Labels { .. } | Published::Kept(_) => None,
        };
        Piece { codes: published.iter().map(codes).collect(), kept: &self.table.kept, rows }
    }

    /// The rows of each class in turn, by the places of the classes. Starred rows are one more
    /// class.
    fn rows(
        &self,
        engine: &Engine,
        published: &[Published],
        place_of: &[u32],
    ) -> Result<Rows, EngineError> {
        let n_places = place_of.iter().max().map_or(0, |&last| last as usize + 1);
        let star = self.plan.stars_suppressed.then(|| place_of.last().copied()).flatten();
        let number = |class: u32| match self.classes.number_of.get(class as usize) {
            Some(&number) if number != SUPPRESSED => Some(place_of[number as usize]),
            _ => star,
        };
        let of_vector: Vec<Option<u32>> =
            self.assigned.class_of.iter().map(|&c| number(c)).collect();
        let mut of_row: Vec<Option<u32>> =
            self.vector_of.iter().map(|&vector| of_vector[vector as usize]).collect();
        for (row, class) in self.rows_of_parts(engine, published)? {
            of_row[row as usize] = number(class);
        }
        let mut ends = vec![0u32; n_places + 1];
        of_row.iter().flatten().for_each(|&class| ends[class as usize + 1] += 1);
        for class in 1..ends.len() {
            ends[class] += ends[class - 1];
        }
        let mut order = vec![0; *ends.last().expect("never empty") as usize];
        let mut next = ends.clone();
        for (row, class) in (0u32..).zip(&of_row) {
            if let Some(class) = class {
                order[next[*class as usize] as usize] = row;
                next[*class as usize] += 1;
            }
        }
        Ok(Rows { first_class: 0, order, class_ends: ends.split_off(1) })
    }

    /// Which row of a divided vector goes to which of its classes: by what is published of the
    /// rows, so that the order of the input has no say.
    fn rows_of_parts(
        &self,
        engine: &Engine,
        published: &[Published],
    ) -> Result<Vec<(u32, u32)>, EngineError> {
        let divided = self.assigned.divided();
        if divided.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows: Vec<(u32, u32)> = (0u32..)
            .zip(self.vector_of)
            .filter(|(_, vector)| divided[**vector as usize])
            .map(|(row, &vector)| (vector, row))
            .collect();
        rows.sort_unstable();
        let ends = rows.chunk_by(|a, b| a.0 == b.0).scan(0u32, |end, of_vector| {
            *end += u32::try_from(of_vector.len()).expect("rows are counted in 32 bits");
            Some(*end)
        });
        let groups = Rows {
            first_class: 0,
            class_ends: ends.collect(),
            order: rows.iter().map(|(_, row)| *row).collect(),
        };
        let rest: Vec<Published> =
            published.iter().filter(|c| !matches!(c, Published::Labels { .. })).copied().collect();
        let ordered = order_within(engine, &rest, &self.piece(&rest, &groups))?;
        let classes = self
            .assigned
            .shares
            .iter()
            .flat_map(|share| std::iter::repeat_n(share.class, share.n_rows as usize));
        Ok(ordered.into_iter().zip(classes).collect())
    }

    /// The entity of each released row, where the release does not say it.
    fn entity_in(&self, rows: &Rows) -> Result<Option<Entities>, JobError> {
        let Some(at) = self.plan.entity() else { return Ok(None) };
        let CodedAs { map, n_codes, .. } = CodedAs::identified(self.plan, at, self.table)?;
        let raw = raw_column(self.plan, self.table, at);
        let codes = rows.order.iter().map(|&row| map[raw.codes.get(row as usize) as usize]);
        Ok(Some(Entities::Memory(Codes::pack(n_codes, codes), n_codes)))
    }
}

/// A small file that a command writes.
#[derive(Clone, Copy, Debug)]
pub struct SmallFile<'a> {
    /// Where it goes.
    pub path: &'a str,
    /// All its bytes.
    pub bytes: &'a [u8],
    /// Who may read it.
    pub access: Access,
    /// Whether it takes the place of another file in any case.
    pub replaces: bool,
}

impl<'a> SmallFile<'a> {
    /// A file for those who may see the table.
    #[must_use]
    pub fn private(path: &'a str, text: &'a str) -> SmallFile<'a> {
        SmallFile { path, bytes: text.as_bytes(), access: Access::Private, replaces: false }
    }
}

/// Publishes the files of a job, all or none: those that are staged and the small ones first, the
/// release last.
pub(crate) fn publish(
    run: &Run,
    release: Staging,
    staged: Vec<Staged>,
    more: &[SmallFile],
    force: bool,
) -> Result<(), JobError> {
    run.enter(Stage::Publish);
    let format = release.format();
    let manifest = |parts: &[Part]| manifest(format, parts);
    publish_all(run, Some((release, &manifest)), staged, more, force)
}

/// Writes small files, all or none.
pub fn write_files(run: &Run, files: &[SmallFile], force: bool) -> Result<(), JobError> {
    publish_all(run, None, Vec::new(), files, force)
}

fn publish_all(
    run: &Run,
    release: Option<(Staging, Manifest)>,
    mut staged: Vec<Staged>,
    files: &[SmallFile],
    force: bool,
) -> Result<(), JobError> {
    for SmallFile { path, bytes, access, replaces } in files {
        let file = stage_bytes(Path::new(path), bytes, *access)?;
        staged.push(if *replaces { file.replacing() } else { file });
    }
    let go_on = || run.go_on().map_err(|_| EngineError::Cancelled);
    match incrowd_engine::publish(staged, release, force, go_on) {
        Err(EngineError::Cancelled) => Err(JobError::Cancelled),
        done => Ok(done?),
    }
}

/// From this share on, rows that are unique on what is released as it is draw a warning.
const LARGE_SHARE: f64 = 0.05;

/// Rows that must be unique for a warning where the job asks for no k.
const LEAST_ROWS: u64 = 5;

/// Columns as a report names them, and those among them that have no role. Without a header a name
/// that the job does not say may be a cell, so they have numbers.
fn columns_in_words(plan: &Plan, names: &[String]) -> (Vec<String>, Vec<String>) {
    let place = |name: &String| plan.columns.iter().position(|column| column.name == *name);
    let word = |name: &String| match place(name) {
        Some(at) if !plan.may_name(name) => format!("column {}", at + 1),
        _ => name.clone(),
    };
    let has_no_role =
        |name: &&String| place(name).is_some_and(|at| plan.columns[at].role.is_none());
    (names.iter().map(word).collect(), names.iter().filter(has_no_role).map(word).collect())
}

/// What is reported beside the classes.
pub(crate) fn exposure(
    plan: &Plan,
    unique: Option<&Unique>,
    repeats: Option<&Repeats>,
) -> Exposure {
    let as_they_are = unique.map(|found| {
        let share = |rows: u64| rows as f64 / found.rows.max(1) as f64;
        let is_large =
            found.alone >= plan.k.unwrap_or(LEAST_ROWS) && share(found.alone) >= LARGE_SHARE;
        let (columns, undeclared) = columns_in_words(plan, &found.columns);
        AsTheyAreReport {
            columns,
            undeclared,
            rows: found.rows,
            unique: found.alone,
            unique_share: share(found.alone),
            unique_with_quasi: found.with_quasi,
            unique_with_quasi_share: share(found.with_quasi),
            is_large,
        }
    });
    let quasi: Vec<&String> =
        plan.with_role(Role::Quasi).map(|at| &plan.columns[at].name).collect();
    let repeats = repeats.map(|found| RepeatsReport {
        column: found.column.clone(),
        is_quasi: quasi.contains(&&found.column),
        rows_per_value: found.rows as f64 / found.values.max(1) as f64,
    });
    Exposure { as_they_are, repeats }
}

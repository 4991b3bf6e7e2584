//! `apply`: put new rows through a saved recoding.
//!
//! Every new row falls into a class of the recoding. A class's cells cover what they covered when
//! the recoding was made and what the new rows bring, so that no released cell is untrue.

mod extend;
mod first_leaves;
mod recognise;
mod regions;

use std::path::Path;
use std::sync::Arc;

use incrowd_data::{Codes, Levels};
use incrowd_engine::{Engine, EngineError, Format, Output, Source, read_within};
use indexmap::IndexMap;

use crate::flow::bounds::Bounds;
use crate::flow::clock::Stopwatch;
use crate::flow::coding::{Coding, prepare, scheme};
use crate::flow::draft::{Ending, Released, ReportDraft};
use crate::flow::ended::{Ended, outcome};
use crate::flow::in_files;
use crate::flow::in_files::{GroupedRows, Points, RowClasses};
use crate::flow::input::{InMemory, Input, output_of};
use crate::flow::labelling::{Assigned, Labelling};
use crate::flow::measure::{
    collusion_report, failures, measures_report, privacy_report, release_report, risk_report,
};
use crate::flow::people::{among_quasi, uses_counting};
use crate::flow::place::Place;
use crate::flow::publish::{Release, SmallFile, Unverified, publish};
use crate::flow::recoding_file::{RecodingFile, private_path};
use crate::flow::run::{Run, Stage};
use crate::flow::values::refuse_missing;
use crate::plan::{Plan, Purpose};
use crate::report::exposure::Exposure;
use crate::report::wanted::HtmlWanted;
use crate::report::{
    Done, InputReport, MeasuresReport, Outcome, RecodingReport, Report, Timings, inference,
};
use crate::spec::error::{JobError, Problem};
use crate::spec::{InputFile, JobSpec, QuasiSpec, ReleaseSpec, Role, RunSpec, SuppressLimit};
use extend::{cells_without_unknown, without_unknown};
use recognise::{Lookup, Recognised};

/// What can be said beside the recoding.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// The new rows.
    pub input: String,
    /// The release.
    pub output: String,
    /// Where the report goes: `.json` for programs, `.html` for people.
    pub report: Option<String>,
    /// Who reads an HTML report: `internal` or `public`.
    pub audience: Option<String>,
    /// The two quasi-identifier columns whose partition an HTML report draws.
    pub picture: Option<Vec<String>>,
    /// What to do with a column that the recoding does not know: `error` or `drop`.
    pub undeclared: Option<String>,
    /// Another k to verify than the recoding was found with.
    pub k: Option<u64>,
    /// What to do with values that the recoding does not know: `error` or `suppress`.
    pub unknown: Option<String>,
    /// Another suppression limit than the recoding's.
    pub suppress: Option<SuppressLimit>,
    /// What becomes of suppressed rows: `drop` or `star`.
    pub suppressed: Option<String>,
    /// Publish even if a model does not hold (held-out test rows).
    pub unverified: bool,
    /// With how many rows a part is complete, where the output is a folder.
    pub part_rows: Option<u64>,
    /// Replace existing outputs.
    pub force: bool,
    /// What the run may take of the machine.
    pub run: RunSpec,
}

/// Applies a recoding to new rows.
pub fn apply(run: &Run, recoding: &Path, options: &ApplyOptions) -> Result<Outcome, JobError> {
    apply_in(run, recoding, options, None)
}

/// The same, with new rows in memory instead of those that the options name if there are any.
pub(super) fn apply_in(
    run: &Run,
    recoding: &Path,
    options: &ApplyOptions,
    in_memory: Option<InMemory>,
) -> Result<Outcome, JobError> {
    let bounds = run.bounds(&options.run)?;
    let n_bytes = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let n_bytes = n_bytes(recoding).max(n_bytes(&private_path(recoding)));
    let read = vec![
        InputFile::new(recoding, "the recoding"),
        InputFile::new(private_path(recoding), "the private part of the recoding"),
    ];
    run.with_engine_named(options.run.engine.as_deref(), options.run.threads, |engine| {
        run.enter(Stage::Open);
        let held = in_memory.map(|in_memory| in_memory.table);
        let open = || held.map_or(Input::Named(&options.input), Input::Held).open(engine);
        let bounds = &bounds.beside_recoding(n_bytes, open)?;
        let file = RecodingFile::read(recoding)?;
        let named = |name: &String| in_memory.is_none().then(|| name.clone());
        let (input, output) = (named(&options.input), named(&options.output));
        let places = JobSpec {
            input,
            output,
            report: options.report.clone(),
            release: ReleaseSpec { part_rows: options.part_rows, ..ReleaseSpec::default() },
            ..JobSpec::default()
        };
        let output = output_of(run, &places, in_memory, read, options.force)?;
        let source = open()?;
        let job = job(&file, options, &source);
        let spec = JobSpec { input: places.input, output: places.output, ..job };
        let application =
            Application { run, engine, recoding, file: &file, options, spec: &spec, bounds };
        application.run(&source, &output)
    })
}

/// The job that the recoding was made for, with the new rows. Columns that are missing from them
/// are passed over unless the recoding or a model needs them.
fn job(file: &RecodingFile, options: &ApplyOptions, source: &Source) -> JobSpec {
    let is_asked = |name: &String| {
        let diversity = file.privacy.l_diversity.iter().filter_map(|model| model.column.as_ref());
        let limits = file.privacy.t_closeness.iter().chain(&file.privacy.squared_error);
        diversity
            .chain(limits.filter_map(|model| model.column.as_ref()))
            .any(|column| column == name)
    };
    let mut columns = file.columns.clone();
    columns.retain(|name, column| {
        let is_quasi = column.role.as_deref() == Some("quasi");
        is_quasi || column.entity || is_asked(name) || source.position(name).is_some()
    });
    JobSpec {
        report: options.report.clone(),
        audience: options.audience.clone(),
        picture: options.picture.clone(),
        undeclared: options.undeclared.clone(),
        collude: file.collude.clone(),
        columns,
        quasi: file
            .quasi
            .iter()
            .map(|set| QuasiSpec { k: options.k.or(set.k), ..set.clone() })
            .collect(),
        privacy: crate::spec::PrivacySpec {
            k: options.k.or(file.privacy.k),
            suppress: options.suppress.clone().or_else(|| file.privacy.suppress.clone()),
            ..file.privacy.clone()
        },
        release: ReleaseSpec {
            labels: Some(file.labels.clone()),
            suppressed: options.suppressed.clone(),
            part_rows: options.part_rows,
        },
        run: options.run.clone(),
        ..JobSpec::default()
    }
}

struct Application<'a> {
    run: &'a Run,
    engine: &'a Engine,
    recoding: &'a Path,
    file: &'a RecodingFile,
    options: &'a ApplyOptions,
    spec: &'a JobSpec,
    bounds: &'a Bounds,
}

impl Application<'_> {
    fn run(&self, source: &Source, output: &Output) -> Result<Outcome, JobError> {
        let missing = self.missing_columns(source);
        let mut plan = match (Plan::new(self.spec, source, Purpose::Apply), missing.is_empty()) {
            (Err(JobError::Request(problems)), _) => {
                return Err(JobError::Request(missing.into_iter().chain(problems).collect()));
            }
            (Ok(_), false) => return Err(JobError::Request(missing)),
            (plan, _) => plan?,
        };
        self.suppresses_unknown()?;
        self.run.tell_notes(&plan.notes);
        for column in &mut plan.columns {
            column.sequence = self.file.sequences.get(&column.name).cloned().unwrap_or_default();
        }
        let bounds = self.bounds;
        self.run.enter(Stage::Read);
        let wants_fits = !matches!(output.format(), Format::Csv(_));
        let new_rows = NewRows { source, plan: &plan, output, bounds, wants_fits };
        bounds.refuse_large_portions(self.engine, source, &plan.uses())?;
        outcome(match Place::recoded(self.engine, bounds, source, &plan.uses()) {
            Place::Memory => self.in_memory(&new_rows),
            place => self.in_files(&new_rows, &place),
        })
    }

    /// All new rows at once.
    fn in_memory(&self, rows: &NewRows) -> Result<Outcome, Ended> {
        let NewRows { source, plan, output, bounds, wants_fits } = *rows;
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let mut draft = ReportDraft::of_source(plan, source);
        let most_values = bounds.values_in_memory(source, &plan.uses());
        let table =
            read_within(self.engine, source, &uses_counting(plan), wants_fits, most_values)?;
        let Some(mut table) = table else {
            return self.in_files(rows, &Place::files(bounds));
        };
        refuse_missing(plan, &table)?;
        let repeats = among_quasi(plan, &table, table.n_rows as u64);
        timings.read = clock.lap();
        self.run.enter(Stage::Recode);
        for at in plan.with_role(Role::Quasi) {
            let name = &plan.columns[at].name;
            let raw = table.coded.iter_mut().find(|raw| &raw.values.name == name);
            let raw = raw.expect("it was read");
            let old_missing =
                u32::try_from(raw.values.texts.len()).expect("fewer values than rows");
            self.file.widen(&mut raw.values);
            let missing = u32::try_from(raw.values.texts.len()).expect("fewer values than rows");
            let codes = raw.codes.iter().map(|c| if c == old_missing { missing } else { c });
            raw.codes = Codes::pack(missing + 1, codes);
        }
        let table = Arc::new(table);
        self.refuse_retyped(plan, &*table)?;
        let (extended, unknown) = self.extended(plan, &*table)?;
        let prepared = prepare(&extended, &table).map_err(unlike)?;
        let lookup = Lookup::new(plan, &prepared.scheme().columns, &*table, &unknown);
        let mut coding = prepared.collapse();
        draft.measure(self.engine, plan, (&table, &coding))?;
        let recognised = self.recognise(plan, &mut coding, &lookup)?;
        let classes = &recognised.classes;
        timings.recode = clock.lap();
        let release = Release {
            plan,
            table: &table,
            set: &coding.set,
            entity: coding.entity,
            classes,
            assigned: assigned(&recognised),
            vector_of: &coding.vector_of,
            repeats,
        };
        let written = release.write(self.engine, self.run, output, &mut timings)?;
        source.check_unchanged()?;
        let (assigned, rows_held) = (release.assigned, Some(&*table));
        draft.look(&Released { plan, coding: &coding, classes, assigned, table: rows_held })?;
        drop(table);
        Ok(self.finish(rows, &coding, &recognised, (written, draft), timings)?)
    }

    /// New rows in private files; their distinct vectors in memory.
    fn in_files(&self, rows: &NewRows, place: &Place) -> Result<Outcome, Ended> {
        let NewRows { source, plan, output, bounds, .. } = *rows;
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let spilled = in_files::read(self.engine, source, plan, rows.wants_fits, place)?;
        let (mut draft, mut spilled) =
            ReportDraft::of_files(self.engine, plan, (source, spilled), bounds)?;
        timings.read = clock.lap();
        self.run.enter(Stage::Recode);
        for at in plan.with_role(Role::Quasi) {
            spilled.widen(&plan.columns[at].name, |values| self.file.widen(values));
        }
        self.refuse_retyped(plan, &spilled)?;
        let (extended, unknown) = self.extended(plan, &spilled)?;
        let mut scheme = scheme(&extended, &spilled).map_err(unlike)?;
        let columns = std::mem::take(&mut scheme.columns);
        let lookup = Lookup::new(plan, &columns, &spilled, &unknown);
        let points = Points::new(plan, &columns, &spilled);
        let n_distinct = points.estimate_distinct()?;
        let way_out = "apply the recoding to fewer rows at a time";
        let in_memory = bounds.in_memory(source, &plan.uses());
        let n_parts = spilled.n_parts();
        in_files::check_fits((bounds, in_memory), way_out, n_distinct, columns.len(), n_parts)?;
        let GroupedRows { vectors, counts, rows: vector_of } = points.group()?;
        let mut coding = scheme.coding(&columns, vectors, counts, Vec::new(), spilled.n_rows);
        let recognised = self.recognise(plan, &mut coding, &lookup)?;
        let Recognised { class_of, classes, .. } = &recognised;
        let assigned = assigned(&recognised);
        let entity = coding.entity;
        let labelling = Labelling { plan, set: &coding.set, entity, classes, assigned };
        let mut means = labelling.all_means();
        let inference = labelling.withhold(&mut means);
        timings.recode = clock.lap();
        let row_classes = RowClasses::Vectors { rows: vector_of, class_of: class_of.clone() };
        let attributes = &coding.set.attributes;
        self.run.enter(Stage::Write);
        let written = in_files::write(
            self.engine,
            in_files::Labelled {
                plan,
                attributes,
                classes,
                means: &means,
                inference,
                shares: &[],
                repeats: among_quasi(plan, &spilled, spilled.n_rows),
            },
            &spilled,
            &row_classes,
            (output, bounds),
        )?;
        source.check_unchanged()?;
        timings.write = clock.lap();
        draft.look(&Released { plan, coding: &coding, classes, assigned, table: None })?;
        Ok(self.finish(rows, &coding, &recognised, (written, draft), timings)?)
    }

    /// Verifies what was written and publishes it.
    fn finish(
        &self,
        rows: &NewRows,
        coding: &Coding,
        recognised: &Recognised,
        (written, mut draft): (Unverified, ReportDraft),
        mut timings: Timings,
    ) -> Result<Outcome, JobError> {
        let NewRows { source, plan, bounds, .. } = *rows;
        let Recognised { classes, levels, whole, .. } = recognised;
        let measured = whole.as_ref().unwrap_or(&classes.recoded);
        draft.take(plan, &written.staged);
        let written = written.verify(self.engine, self.run, plan, bounds, &mut timings)?;
        let reasons = failures(&written.measured);
        if !reasons.is_empty() && !self.options.unverified {
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        let exposure = written.exposure(plan);
        let inferred = inference::warnings(&written.printed.inference);
        let warnings: Vec<String> =
            reasons.into_iter().chain(inferred).chain(exposure.warnings()).collect();
        let Exposure { as_they_are, repeats } = exposure;
        let n_suppressed = classes.recoded.n_suppressed;
        let attributes = &coding.set.attributes;
        let names = || attributes.iter().map(|attribute| attribute.name.clone());
        let known = without_unknown(attributes, &recognised.n_unknown);
        let measured = &cells_without_unknown(measured, attributes, &known);
        let attributes = &known;
        let by_column = incrowd_quality::loss_by_column(attributes, measured);
        let mut report = Report {
            incrowd: crate::VERSION,
            input: InputReport { rows: coding.set.n_rows, columns: source.columns().len() },
            job: self.job_without_rows(),
            search: None,
            recoding: Some(RecodingReport {
                kind: self.file.kind,
                found_with_k: self.options.k.and(self.found_with_k()),
                levels: levels.is_some().then(|| self.file.levels.clone()),
                cells: written.printed.n_cells.clone(),
            }),
            release: release_report(&written.measured, n_suppressed, written.starred),
            privacy: privacy_report(plan, &written.measured),
            collusion: collusion_report(plan, &written.measured),
            risk: risk_report(&written.measured),
            as_they_are,
            repeats,
            measures: MeasuresReport {
                loss: Some(incrowd_quality::loss(attributes, measured)),
                loss_by_column: names().zip(by_column).collect::<IndexMap<_, _>>(),
                height: levels.as_ref().map(Levels::height),
                ..measures_report(plan, &written.measured, n_suppressed, written.starred)
            },
            inference: written.printed.inference.clone(),
            workload: None,
            warnings: warnings.clone(),
            timings_s: timings,
        };
        let Application { run, engine, spec, .. } = *self;
        let staged = &written.staged;
        let warned = &warnings;
        let ending = Ending { run, engine, spec, source, plan, staged, bounds, warnings: warned };
        let text = draft.text(&ending, &mut report)?;
        source.check_unchanged()?;
        run.tell(&report)?;
        let access = HtmlWanted::access(plan.html.as_ref());
        let file = |path| SmallFile { access, ..SmallFile::private(path, &text) };
        let files: Vec<SmallFile> = spec.report.iter().map(|path| file(path)).collect();
        publish(run, written.staged, Vec::new(), &files, self.options.force)?;
        Ok(Outcome::Done(Box::new(Done { report, warnings })))
    }

    /// The greatest k that the recoding was found with.
    fn found_with_k(&self) -> Option<u64> {
        self.file.quasi.iter().filter_map(|set| set.k).chain(self.file.privacy.k).max()
    }

    /// The job for the report: hierarchies and orders stand in the recoding.
    fn job_without_rows(&self) -> JobSpec {
        let mut spec = self.spec.clone();
        for column in spec.columns.values_mut() {
            column.hierarchy = None;
            (column.order, column.order_from) = (None, None);
        }
        spec
    }
}

/// What to do about values that are not what the recoding says of their column.
fn unlike(error: JobError) -> JobError {
    let help = match &error {
        JobError::Engine(EngineError::NotOfKind { .. }) => {
            "the recoding was made for a column of this type: convert the column, or make another recoding"
        }
        JobError::Engine(EngineError::NotCovered { .. }) => {
            "leave these rows out with --unknown suppress, or make another recoding with a hierarchy or an order that has \
             the values"
        }
        _ => return error,
    };
    Problem::new(error.to_string()).help(help).into()
}

/// Vectors and their classes. A class's cells cover what they did when the recoding was made, not
/// only its rows.
fn assigned(recognised: &Recognised) -> Assigned<'_> {
    let may_be_tight = recognised.levels.is_none() && recognised.cuts.is_none();
    let class_of = &recognised.class_of;
    Assigned { class_of, shares: &[], blocks: &[], is_tight: false, may_be_tight }
}

/// New rows that a recoding is applied to.
#[derive(Clone, Copy)]
struct NewRows<'a> {
    source: &'a Source,
    plan: &'a Plan,
    output: &'a Output,
    bounds: &'a Bounds,
    wants_fits: bool,
}

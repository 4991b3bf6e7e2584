//! What an HTML report gathers while its job goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use incrowd_data::{Attribute, Shape};
use incrowd_engine::{Engine, EngineError, Source, Spilled, Staging, Table, sha256};
use incrowd_release::Classes;

use crate::flow::answers::{QueriedTables, QueryOptions, query_in};
use crate::flow::bounds::Bounds;
use crate::flow::clock::Stopwatch;
use crate::flow::coding::Coding;
use crate::flow::labelling::Assigned;
use crate::flow::ordered::{OrderedColumn, order_column};
use crate::flow::run::Run;
use crate::plan::{Plan, PlannedColumn};
use crate::report::pictures::{Declared, NodeNames, OtherColumn, PictureSource, Pictures};
use crate::report::release_page::{Column, Digests, PageContent, html};
use crate::report::wanted::HtmlWanted;
use crate::report::{Before, Outcome, QueryReport, Report};
use crate::spec::error::JobError;
use crate::spec::queries::queries_of;
use crate::spec::{HierarchySpec, JobSpec, Role};

/// What a report for people says beside what a program is told. Empty where no such report is
/// wanted.
#[derive(Default)]
pub(crate) struct ReportDraft {
    before: Option<Before>,
    pictures: Option<Pictures>,
    /// What tells the files of the input and of the release from all others, while it is worked
    /// out.
    input: Option<Hashing>,
    release: Option<Hashing>,
    /// What gathering took.
    seconds: f64,
}

/// Files by name that are being hashed beside the job.
type Hashing = JoinHandle<Result<Vec<(String, String)>, EngineError>>;

/// Begins to hash files: whatever else is done leaves a processor idle now and then.
fn hash(files: Vec<(String, PathBuf)>) -> Hashing {
    std::thread::spawn(move || {
        files.into_iter().map(|(name, path)| Ok((name, sha256(&path)?))).collect()
    })
}

/// What was hashed, if anything was.
fn hashed(hashing: Option<Hashing>) -> Result<Vec<(String, String)>, EngineError> {
    hashing.map_or(Ok(Vec::new()), |hashing| hashing.join().expect("hashing does not panic"))
}

/// A table and its classes, as pictures show them.
pub(crate) struct Released<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) coding: &'a Coding,
    pub(crate) classes: &'a Classes,
    pub(crate) assigned: Assigned<'a>,
    /// The rows, if they are in memory.
    pub(crate) table: Option<&'a Table>,
}

impl<'a> Released<'a> {
    fn picture_source(&self, wanted: &'a HtmlWanted) -> Result<PictureSource<'a>, JobError> {
        let Released { plan, coding, classes, assigned, .. } = *self;
        let declared = |attribute: &Attribute| {
            let column = plan.columns.iter().find(|column| column.name == attribute.name)?;
            match (&column.spec.order, &column.spec.hierarchy) {
                (Some(_), _) => Some(Declared::Order),
                (_, Some(spec)) => Some(Declared::Hierarchy(node_names(spec, &attribute.shape))),
                _ => None,
            }
        };
        Ok(PictureSource {
            wanted,
            labels: plan.labels,
            declared: coding.set.attributes.iter().map(declared).collect(),
            set: &coding.set,
            value_rows: &coding.value_rows,
            vector_of: &coding.vector_of,
            classes,
            class_of: assigned.class_of,
            others: if wanted.is_internal() { self.other_columns()? } else { Vec::new() },
        })
    }

    /// The columns that are released as they are, if the rows are in memory and it is known which
    /// class each is in.
    fn other_columns(&self) -> Result<Vec<OtherColumn>, JobError> {
        let Some(table) = self.table.filter(|_| self.assigned.shares.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut others = Vec::new();
        for planned in &self.plan.columns {
            let is_released = matches!(planned.role, Some(Role::Sensitive | Role::Insensitive));
            let raw = table.column(&planned.name).filter(|_| is_released && !planned.spec.entity);
            let Some(raw) = raw else { continue };
            let OrderedColumn { ordered, codes } = order_column(planned, raw)?;
            let attribute = Attribute {
                name: planned.name.clone(),
                dictionary: ordered.ranked.dictionary,
                shape: ordered.shape,
            };
            others.push(OtherColumn { attribute, codes });
        }
        Ok(others)
    }
}

/// How the nodes of a hierarchy are named. A rule says so itself: what it made of the table is not
/// looked at, since the public may know it as little as the table.
fn node_names(spec: &HierarchySpec, shape: &Shape) -> NodeNames {
    match (spec, shape) {
        (HierarchySpec::Built(rule), _) => {
            if let Some(parts) = &rule.dates {
                NodeNames::Dates { are_days_values: !parts.iter().any(|part| part == "day") }
            } else if rule.width.is_some() {
                NodeNames::Numbers
            } else if rule.fan_out.is_some() {
                NodeNames::Ranges
            } else {
                NodeNames::Masked(rule.character.unwrap_or('*'))
            }
        }
        (_, Shape::Tree(hierarchy)) => NodeNames::of(hierarchy),
        _ => NodeNames::Ranges,
    }
}

/// The columns of a table, as far as a page tells of them.
fn page_columns(plan: &Plan) -> Vec<Column> {
    let column = |column: &PlannedColumn| Column {
        name: column.name.clone(),
        role: column.role,
        is_target: column.spec.target,
        is_entity: column.spec.entity,
    };
    plan.columns.iter().map(column).collect()
}

/// A job that has come to its report.
pub(crate) struct Ending<'a> {
    pub(crate) run: &'a Run,
    pub(crate) engine: &'a Engine,
    pub(crate) spec: &'a JobSpec,
    pub(crate) source: &'a Source,
    pub(crate) plan: &'a Plan,
    pub(crate) staged: &'a Staging,
    pub(crate) bounds: &'a Bounds,
    pub(crate) warnings: &'a [String],
}

/// Whether a report tells of the table itself.
pub(crate) fn tells_table(plan: &Plan) -> bool {
    plan.html.as_ref().is_some_and(HtmlWanted::is_internal)
}

fn hash_source(source: &Source) -> Hashing {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, path.clone())
    };
    hash(source.files().iter().map(named).collect())
}

impl ReportDraft {
    /// Begins with a source that is about to be read into memory.
    pub(crate) fn of_source(plan: &Plan, source: &Source) -> ReportDraft {
        let input = tells_table(plan).then(|| hash_source(source));
        ReportDraft { input, ..ReportDraft::default() }
    }

    /// Measures a table that is in memory, if the report tells of it.
    pub(crate) fn measure(
        &mut self,
        engine: &Engine,
        plan: &Plan,
        (table, coding): (&Arc<Table>, &Coding),
    ) -> Result<(), JobError> {
        if tells_table(plan) {
            let mut clock = Stopwatch::start();
            let grouped = coding.equal_rows(table);
            self.before = Some(Before::of_table(engine, plan, table, grouped)?);
            self.seconds += clock.lap();
        }
        Ok(())
    }

    /// Measures a table that is in private files, if the report tells of it.
    pub(crate) fn of_files(
        engine: &Engine,
        plan: &Plan,
        (source, spilled): (&Source, Spilled),
        bounds: &Bounds,
    ) -> Result<(ReportDraft, Spilled), JobError> {
        if !tells_table(plan) {
            return Ok((ReportDraft::default(), spilled));
        }
        let mut clock = Stopwatch::start();
        // The files of a cluster's input may lie elsewhere.
        let input = (!engine.is_remote()).then(|| hash_source(source));
        let (before, spilled) = Before::of_files(engine, plan, spilled, bounds)?;
        let before = Some(before);
        Ok((ReportDraft { before, input, seconds: clock.lap(), ..ReportDraft::default() }, spilled))
    }

    /// Looks at the table and its classes, if the report has pictures of them.
    pub(crate) fn look(&mut self, released: &Released) -> Result<(), JobError> {
        if let Some(wanted) = &released.plan.html {
            let mut clock = Stopwatch::start();
            self.pictures = Some(released.picture_source(wanted)?.pictures());
            self.seconds += clock.lap();
        }
        Ok(())
    }

    /// Takes note of the release that was written.
    pub(crate) fn take(&mut self, plan: &Plan, staged: &Staging) {
        if plan.html.is_some() {
            self.release = Some(hash(staged.files()));
        }
    }

    /// The report as the job wants it: HTML, or JSON.
    pub(crate) fn text(self, ending: &Ending, report: &mut Report) -> Result<String, JobError> {
        let Some(wanted) = &ending.plan.html else { return Ok(report.to_json()) };
        let mut clock = Stopwatch::start();
        let queries = if wanted.is_internal() { ending.queries()? } else { None };
        let digests = Digests { input: hashed(self.input)?, release: hashed(self.release)? };
        let text = html(&PageContent {
            columns: &page_columns(ending.plan),
            stars_suppressed: ending.plan.stars_suppressed,
            wanted,
            report,
            before: self.before.as_ref(),
            pictures: self.pictures.as_ref(),
            queries: queries.as_ref(),
            digests: &digests,
            failed: &[],
            warnings: ending.warnings,
        });
        report.timings_s.report = self.seconds + clock.lap();
        Ok(text)
    }
}

impl Ending<'_> {
    /// The queries of the workload over the release, and how far they are off; or why they cannot
    /// be answered.
    fn queries(&self) -> Result<Option<Result<QueryReport, String>>, JobError> {
        let queries = queries_of(&self.spec.workload)?;
        if queries.is_empty() || self.engine.is_remote() {
            return Ok(None);
        }
        if self.bounds.is_bounded() {
            let why = "both tables would have to be held, and there is a memory limit";
            return Ok(Some(Err(why.to_owned())));
        }
        let options = QueryOptions {
            queries,
            job: self.spec.clone(),
            has_job_file: true,
            ..QueryOptions::default()
        };
        let tables = QueriedTables {
            release: &|| Ok(Source::of_staged(self.engine, self.staged)?),
            original: Some(&|| Ok(self.source.clone())),
        };
        match query_in(self.run, self.engine, &options, &tables) {
            Ok(found) => Ok(Some(Ok(found))),
            Err(JobError::Request(problems)) => {
                let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
                Ok(Some(Err(messages.join("; "))))
            }
            Err(error) => Err(error),
        }
    }
}

/// The report of a table that was only measured, as the job wants it.
pub(crate) fn text_of_check(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let (report, failed): (&Report, &[String]) = match outcome {
        Outcome::Done(done) => (&done.report, &[]),
        Outcome::Failed { report, reasons, .. } => (report.as_deref()?, reasons),
    };
    let Some(wanted) = &plan.html else { return Some(report.to_json()) };
    Some(html(&PageContent {
        columns: &page_columns(plan),
        stars_suppressed: plan.stars_suppressed,
        wanted,
        report,
        before: None,
        pictures: None,
        queries: None,
        digests: &Digests::default(),
        failed,
        warnings: &report.warnings,
    }))
}

//! `apply`: put new rows through a saved recoding.
//!
//! Every new row falls into a class of the recoding. A class's cells cover what they covered when the
//! recoding was made and what the new rows bring, so that no released cell is untrue.

use std::path::Path;

use incrowd_data::{
    Assignment, Attribute, Branches, Codes, Collapsed, Cuts, FrequencySet, Level, Levels, Node,
    PartitionTree, SUPPRESSED, Shape, collapse,
};
use incrowd_engine::{Engine, Format, RawColumn, Source, Table, read};
use incrowd_privacy::{Tally, all_hold};
use incrowd_release::{Classes, recode, recode_cuts, recode_levels};
use indexmap::IndexMap;

use crate::anonymize::refuse_missing;
use crate::coding::{Coding, OrderedColumn, code, order_column, raw_column};
use crate::error::{JobError, Problem};
use crate::measure::{
    collusion_report, failures, measures_report, privacy_report, release_report, risk_report,
};
use crate::plan::{Plan, Purpose, Role};
use crate::publish::{Assigned, Release, check_outputs, publish};
use crate::recoding_file::{NodeRecord, RecodingFile};
use crate::report::{Done, InputReport, MeasuresReport, Outcome, RecodingReport, Report, Timings};
use crate::run::{Run, Stage, Stopwatch};
use crate::spec::{JobSpec, ReleaseSpec, RunSpec, SuppressLimit};

/// What can be said beside the recoding.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// The new rows.
    pub input: String,
    /// The release.
    pub output: String,
    /// Where the JSON report goes.
    pub report: Option<String>,
    /// What to do with a column that the recoding does not know: `error` or `drop`.
    pub undeclared: Option<String>,
    /// Another suppression limit than the recoding's.
    pub suppress: Option<SuppressLimit>,
    /// What becomes of suppressed rows: `drop` or `star`.
    pub suppressed: Option<String>,
    /// Publish even if a model does not hold (held-out test rows).
    pub unverified: bool,
    /// Replace existing outputs.
    pub force: bool,
    /// Threads; all cores if it is not said.
    pub threads: Option<usize>,
    /// Who reads and counts: `embedded`, which it is if it is not said, or `ballista://HOST:PORT`.
    pub engine: Option<String>,
}

/// Applies a recoding to new rows.
pub fn apply(run: &Run, recoding: &Path, options: &ApplyOptions) -> Result<Outcome, JobError> {
    let file = RecodingFile::read(recoding)?;
    run.with_engine_named(options.engine.as_deref(), options.threads, |engine| {
        run.enter(Stage::Open);
        let source = Source::open(engine, &options.input)?;
        let spec = job(&file, options, &source);
        Application { run, engine, file: &file, options, spec: &spec }.run(&source)
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
        input: Some(options.input.clone()),
        output: Some(options.output.clone()),
        report: options.report.clone(),
        undeclared: options.undeclared.clone(),
        collude: file.collude.clone(),
        columns,
        quasi: file.quasi.clone(),
        privacy: crate::spec::PrivacySpec {
            suppress: options.suppress.clone().or_else(|| file.privacy.suppress.clone()),
            ..file.privacy.clone()
        },
        release: ReleaseSpec {
            // Regions were written as ranges; a class's cells cover them.
            labels: Some(if file.labels == "region" { "range" } else { &file.labels }.to_owned()),
            suppressed: options.suppressed.clone(),
        },
        run: RunSpec { threads: options.threads, ..RunSpec::default() },
        ..JobSpec::default()
    }
}

struct Application<'a> {
    run: &'a Run,
    engine: &'a Engine,
    file: &'a RecodingFile,
    options: &'a ApplyOptions,
    spec: &'a JobSpec,
}

/// New rows in the recoding's terms.
struct Recognised {
    /// The vectors of the new rows, then vectors without rows that stand for what classes cover.
    set: FrequencySet,
    vector_of: Vec<u32>,
    assignment: Assignment,
    /// The levels of a full-domain recoding.
    levels: Option<Levels>,
    /// The cuts of a single-dimensional one.
    cuts: Option<Cuts>,
}

impl Recognised {
    fn classes(&self) -> Classes {
        match (&self.levels, &self.cuts) {
            (Some(levels), _) => recode_levels(&self.set, &self.assignment, levels),
            (None, Some(cuts)) => recode_cuts(&self.set, &self.assignment, cuts),
            (None, None) => recode(&self.set, &self.assignment),
        }
    }
}

impl Application<'_> {
    fn run(&self, source: &Source) -> Result<Outcome, JobError> {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let mut plan = Plan::new(self.spec, source, Purpose::Release)?;
        for column in &mut plan.columns {
            column.sequence = self.file.sequences.get(&column.name).cloned().unwrap_or_default();
        }
        let (output, format) = check_outputs(self.spec, source, self.options.force)?;
        self.run.enter(Stage::Read);
        let wants_kinds = !matches!(format, Format::Csv(_));
        let mut table = read(self.engine, source, &plan.uses(), wants_kinds)?;
        refuse_missing(&plan, &table)?;
        timings.read = clock.lap();
        self.run.enter(Stage::Recode);
        self.widen(&plan, &mut table);
        let mut found = self.recognise(&plan, &table)?;
        if table.n_rows == 0 {
            let reasons = vec!["the table has no rows".to_owned()];
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        if let Some(failed) = self.suppress(&plan, &table, &mut found)? {
            return Ok(failed);
        }
        let classes = found.classes();
        timings.recode = clock.lap();
        let assigned = Assigned {
            class_of: &found.assignment.class_of,
            parts: &[],
            blocks: &[],
            vector_of: &found.vector_of,
        };
        let release =
            Release { plan: &plan, table: &table, set: &found.set, classes: &classes, assigned };
        let written = release.write(self.engine, self.run, &output, format, &mut timings)?;
        source.check_unchanged()?;
        let n_rows = table.n_rows as u64;
        drop(table);
        let written = written.verify(self.engine, self.run, &plan, &mut timings)?;
        let reasons = failures(&written.measured);
        if !reasons.is_empty() && !self.options.unverified {
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        let n_suppressed = classes.recoded.n_suppressed;
        let attributes = &found.set.attributes;
        let names = || attributes.iter().map(|attribute| attribute.name.clone());
        let by_column = incrowd_quality::loss_by_column(attributes, &classes.recoded);
        let cells = names().zip(classes.recoded.columns.iter().map(|column| column.cells.len()));
        let report = Report {
            incrowd: crate::VERSION,
            input: InputReport { rows: n_rows, columns: source.columns().len() },
            job: self.job_without_rows(),
            search: None,
            recoding: Some(RecodingReport {
                kind: match (&found.levels, &found.cuts) {
                    (Some(_), _) => "full-domain",
                    (None, Some(_)) => "single-dimensional",
                    (None, None) => "multidimensional",
                },
                levels: found.levels.is_some().then(|| self.file.levels.clone()),
                cells: cells.collect(),
            }),
            release: release_report(&written.measured, n_suppressed, written.starred),
            privacy: privacy_report(&plan, &written.measured),
            collusion: collusion_report(&plan, &written.measured),
            risk: risk_report(&written.measured),
            measures: MeasuresReport {
                loss: Some(incrowd_quality::loss(attributes, &classes.recoded)),
                loss_by_column: names().zip(by_column).collect::<IndexMap<_, _>>(),
                height: found.levels.as_ref().map(Levels::height),
                ..measures_report(&plan, &written.measured, n_suppressed, written.starred)
            },
            workload: None,
            timings_s: timings,
        };
        publish(written.staged, &[(&self.spec.report, &|| report.to_json())], self.options.force)?;
        Ok(Outcome::Done(Box::new(Done { report, warnings: reasons })))
    }

    /// The job for the report: hierarchies and orders stand in the recoding.
    fn job_without_rows(&self) -> JobSpec {
        let mut spec = self.spec.clone();
        for column in spec.columns.values_mut() {
            column.hierarchy = None;
            column.order = None;
        }
        spec
    }

    /// Adds the values that the recoding speaks of to those of the new rows, so that one order holds
    /// for both.
    fn widen(&self, plan: &Plan, table: &mut Table) {
        for at in plan.with_role(Role::Quasi) {
            let name = &plan.columns[at].name;
            let raw =
                table.coded.iter_mut().find(|column| &column.name == name).expect("it was read");
            let mut texts = std::mem::take(&mut raw.texts);
            let old_missing = u32::try_from(texts.len()).expect("fewer values than rows");
            let mut known: std::collections::BTreeSet<String> = texts.iter().cloned().collect();
            let mut mentions_missing = false;
            let mut add = |text: Option<&String>| match text {
                Some(text) if known.insert(text.clone()) => texts.push(text.clone()),
                Some(_) => {}
                None => mentions_missing = true,
            };
            for value in self.file.cuts.get(name).into_iter().flatten() {
                add(value.as_ref());
            }
            for node in &self.file.nodes {
                match node {
                    NodeRecord::Cut { column, at_most, .. } if column == name => add(Some(at_most)),
                    NodeRecord::Children { column, children } if column == name => {
                        for (end, _) in children {
                            add(end.as_ref());
                        }
                    }
                    NodeRecord::Class { cells, .. } => {
                        for cell in cells.get(name).into_iter().flatten() {
                            add(cell.as_ref());
                        }
                    }
                    NodeRecord::Cut { .. } | NodeRecord::Children { .. } => {}
                }
            }
            let missing = u32::try_from(texts.len()).expect("fewer values than rows");
            let codes = raw.codes.iter().map(|c| if c == old_missing { missing } else { c });
            raw.codes = Codes::pack(missing + 1, codes);
            raw.texts = texts;
            raw.has_missing |= mentions_missing;
        }
    }

    /// Finds the class of every new row.
    fn recognise(&self, plan: &Plan, table: &Table) -> Result<Recognised, JobError> {
        let mut attributes = Vec::new();
        let mut columns: Vec<(OrderedColumn, &RawColumn)> = Vec::new();
        for at in plan.with_role(Role::Quasi) {
            let raw = raw_column(plan, table, at);
            let ordered = order_column(&plan.columns[at], raw)?;
            attributes.push(Attribute {
                name: plan.columns[at].name.clone(),
                dictionary: ordered.ranked.dictionary.clone(),
                shape: ordered.shape.clone(),
            });
            columns.push((ordered, raw));
        }
        let lookup = Lookup::new(&columns);
        if self.file.kind == "full-domain" {
            let level = |attribute: &Attribute| self.file.levels.get(&attribute.name).copied();
            let levels = Levels::new(attributes.iter().map(|a| Level(level(a).unwrap_or(0))));
            let of_value = |at: usize, code: u32| match &columns[at].0.shape {
                Shape::Tree(hierarchy) => hierarchy.group_of(levels.get(at), code),
                _ => code,
            };
            let found = generalise(attributes, &columns, table.n_rows, of_value);
            return Ok(Recognised { levels: Some(levels), ..found });
        }
        if self.file.kind == "single-dimensional" {
            let mut cuts = Cuts::none(attributes.len());
            for (at, attribute) in attributes.iter().enumerate() {
                let values = self.file.cuts.get(&attribute.name).map_or(&[] as &[_], Vec::as_slice);
                for value in values {
                    cuts.insert(at, lookup.code(at, value.as_ref()));
                }
            }
            let of_value = |at: usize, code: u32| {
                u32::try_from(cuts.interval_of(at, code)).expect("no more intervals than codes")
            };
            let found = generalise(attributes, &columns, table.n_rows, of_value);
            return Ok(Recognised { cuts: Some(cuts), ..found });
        }
        let tree = self.tree(&attributes, &lookup)?;
        let codes: Vec<(&Codes, u32)> = columns
            .iter()
            .map(|(ordered, _)| (&ordered.codes, ordered.ranked.dictionary.n_codes()))
            .collect();
        let collapsed = collapse(&codes, table.n_rows);
        Ok(self.assemble(attributes, &codes, collapsed, &tree, &lookup))
    }

    fn tree(&self, attributes: &[Attribute], lookup: &Lookup) -> Result<PartitionTree, JobError> {
        let position = |name: &String| {
            attributes.iter().position(|attribute| &attribute.name == name).ok_or_else(|| {
                JobError::from(Problem::new(format!(
                    "the recoding cuts `{name}`, which is not quasi"
                )))
            })
        };
        let mut nodes = Vec::with_capacity(self.file.nodes.len());
        let mut n_classes = 0;
        for node in &self.file.nodes {
            nodes.push(match node {
                NodeRecord::Class { class, .. } => {
                    n_classes = n_classes.max(class + 1);
                    Node::Leaf { class: *class }
                }
                NodeRecord::Cut { column, at_most, low, high } => {
                    let attribute = position(column)?;
                    let at = lookup.code(attribute, Some(at_most));
                    Node::Cut {
                        attribute,
                        branches: Branches::Binary { at, low: *low, high: *high },
                    }
                }
                NodeRecord::Children { column, children } => {
                    let attribute = position(column)?;
                    let runs = children
                        .iter()
                        .map(|(end, child)| (lookup.code(attribute, end.as_ref()), *child))
                        .collect();
                    Node::Cut { attribute, branches: Branches::Runs(runs) }
                }
            });
        }
        Ok(PartitionTree { nodes, n_classes })
    }

    fn assemble(
        &self,
        attributes: Vec<Attribute>,
        codes: &[(&Codes, u32)],
        collapsed: Collapsed,
        tree: &PartitionTree,
        lookup: &Lookup,
    ) -> Recognised {
        let vectors: Vec<Codes> =
            codes.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
        let mut class_of: Vec<u32> = (0..collapsed.counts.len())
            .map(|vector| tree.class_of(|attribute| vectors[attribute].get(vector)))
            .collect();
        let mut wide: Vec<Vec<u32>> = vectors.iter().map(|codes| codes.iter().collect()).collect();
        let mut counts = collapsed.counts;
        for node in &self.file.nodes {
            let NodeRecord::Class { class, cells } = node else { continue };
            let covered: Vec<Vec<u32>> = attributes
                .iter()
                .enumerate()
                .map(|(at, attribute)| {
                    let cells = cells.get(&attribute.name).map_or(&[] as &[_], Vec::as_slice);
                    cells.iter().map(|cell| lookup.code(at, cell.as_ref())).collect()
                })
                .collect();
            let n_vectors = covered.iter().map(Vec::len).max().unwrap_or(0);
            if covered.iter().any(Vec::is_empty) {
                continue;
            }
            for vector in 0..n_vectors {
                for (column, covered) in wide.iter_mut().zip(&covered) {
                    column.push(covered[vector.min(covered.len() - 1)]);
                }
                counts.push(0);
                class_of.push(*class);
            }
        }
        let vectors = wide.into_iter().zip(codes).map(|(c, (_, n))| Codes::pack(*n, c.into_iter()));
        let n_rows = collapsed.vector_of.len() as u64;
        let set = FrequencySet {
            vectors: vectors.collect(),
            attributes,
            counts,
            extras: Vec::new(),
            n_rows,
        };
        let assignment = Assignment { class_of, n_classes: tree.n_classes, parts: Vec::new() };
        Recognised { set, vector_of: collapsed.vector_of, assignment, levels: None, cuts: None }
    }

    /// Leaves out classes of new rows that break a model, within the limit.
    fn suppress(
        &self,
        plan: &Plan,
        table: &Table,
        found: &mut Recognised,
    ) -> Result<Option<Outcome>, JobError> {
        if self.options.unverified {
            return Ok(None);
        }
        let Coding { set, vector_of, models, entity, .. } = code(plan, table)?;
        // The class of each vector of the richer set, through any row that has it.
        let mut class_of = vec![0; set.len()];
        for (&vector, &of_row) in vector_of.iter().zip(&found.vector_of) {
            class_of[vector as usize] = found.assignment.class_of[of_row as usize];
        }
        let mut order: Vec<u32> = (0..).take(class_of.len()).collect();
        order.sort_by_key(|&vector| class_of[vector as usize]);
        let mut tally = Tally::new(&set, entity);
        let mut broken: Vec<(u32, u64)> = Vec::new();
        for class in order.chunk_by(|&a, &b| class_of[a as usize] == class_of[b as usize]) {
            tally.clear();
            for &v in class {
                tally.add(v as usize, set.counts[v as usize]);
            }
            if !all_hold(&models, tally.class()) {
                broken.push((class_of[class[0] as usize], tally.class().n_rows));
            }
        }
        let n_broken: u64 = broken.iter().map(|(_, rows)| rows).sum();
        let limit = plan.suppress.rows(table.n_rows as u64)?;
        if n_broken > limit {
            let reason = format!(
                "{} of the {} rows fall into classes of this recoding for which {} does not hold",
                n_broken,
                table.n_rows,
                models.iter().map(|model| model.describe()).collect::<Vec<_>>().join(", ")
            );
            let help = format!(
                "leave them out with --suppress {n_broken}rows, bring more rows, or (for held-out test \
                 rows that are not handed on) add --unverified"
            );
            return Ok(Some(Outcome::Failed {
                reasons: vec![reason],
                help: Some(help),
                report: None,
            }));
        }
        let is_broken: std::collections::BTreeSet<u32> =
            broken.iter().map(|(class, _)| *class).collect();
        if plan.stars_suppressed && n_broken > 0 {
            tally.clear();
            for vector in (0..set.len()).filter(|&vector| is_broken.contains(&class_of[vector])) {
                tally.add(vector, set.counts[vector]);
            }
            if !all_hold(&models, tally.class()) {
                let reasons = vec![format!(
                    "the {n_broken} suppressed rows, released as `*`, would be a class that breaks a model"
                )];
                let help = Some("leave them out with --suppressed drop".to_owned());
                return Ok(Some(Outcome::Failed { reasons, help, report: None }));
            }
        }
        for class in &mut found.assignment.class_of {
            if is_broken.contains(class) {
                *class = SUPPRESSED;
            }
        }
        Ok(None)
    }
}

/// Classes of rows whose values become the same: `group` says what a value of an attribute becomes.
fn generalise(
    attributes: Vec<Attribute>,
    columns: &[(OrderedColumn, &RawColumn)],
    n_rows: usize,
    group: impl Fn(usize, u32) -> u32,
) -> Recognised {
    let codes: Vec<(&Codes, u32)> = columns
        .iter()
        .map(|(ordered, _)| (&ordered.codes, ordered.ranked.dictionary.n_codes()))
        .collect();
    let collapsed = collapse(&codes, n_rows);
    let vectors: Vec<Codes> = codes.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
    let groups: Vec<(Codes, u32)> = vectors
        .iter()
        .zip(&attributes)
        .enumerate()
        .map(|(at, (codes, attribute))| {
            let n_codes = attribute.n_codes();
            (Codes::pack(n_codes, codes.iter().map(|code| group(at, code))), n_codes)
        })
        .collect();
    let groups: Vec<(&Codes, u32)> = groups.iter().map(|(codes, n)| (codes, *n)).collect();
    let classes = collapse(&groups, collapsed.counts.len());
    let n_classes = u32::try_from(classes.counts.len()).expect("no more classes than rows");
    let assignment = Assignment { class_of: classes.vector_of, n_classes, parts: Vec::new() };
    let set = FrequencySet {
        attributes,
        vectors,
        counts: collapsed.counts,
        extras: Vec::new(),
        n_rows: n_rows as u64,
    };
    Recognised { set, vector_of: collapsed.vector_of, assignment, levels: None, cuts: None }
}

/// The code of a text, by attribute.
struct Lookup {
    codes: Vec<std::collections::BTreeMap<String, u32>>,
    missing: Vec<u32>,
}

impl Lookup {
    fn new(columns: &[(OrderedColumn, &RawColumn)]) -> Lookup {
        let codes = columns
            .iter()
            .map(|(ordered, raw)| {
                raw.texts.iter().cloned().zip(ordered.ranked.code_of.iter().copied()).collect()
            })
            .collect();
        let missing = columns
            .iter()
            .map(|(ordered, _)| ordered.ranked.dictionary.missing().unwrap_or(u32::MAX))
            .collect();
        Lookup { codes, missing }
    }

    fn code(&self, attribute: usize, text: Option<&String>) -> u32 {
        match text {
            Some(text) => self.codes[attribute][text],
            None => self.missing[attribute],
        }
    }
}

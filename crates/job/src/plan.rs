//! A job checked against its source: every name resolved, every parameter in range.

use incrowd_data::{Dictionary, Kind};
use incrowd_engine::{DeclaredOrder, Source, SourceColumn, Use};
use incrowd_quality::Measure;
use incrowd_release::LabelForm;

use crate::error::{JobError, Problem, nearest};
use crate::limits::{RiskLimit, limits};
use crate::method::{Method, method};
use crate::model::ModelSpec;
use crate::naming::{GIVE_A_HEADER, listed, not_in_input};
use crate::report::MeasuresReport;
use crate::report::wanted::{HtmlWanted, html_wanted};
use crate::run::Run;
use crate::sets::{QuasiSet, sets};
use crate::spec::{BinsSpec, ColumnSpec, JobSpec, SuppressLimit};
use crate::workload::WorkloadPlan;

/// What a column is to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Identifier,
    Quasi,
    Sensitive,
    Insensitive,
}

impl Role {
    const NAMES: [(&'static str, Role); 4] = [
        ("identifier", Role::Identifier),
        ("quasi", Role::Quasi),
        ("sensitive", Role::Sensitive),
        ("insensitive", Role::Insensitive),
    ];
}

/// A column of the source and what the job says of it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedColumn {
    pub(crate) name: String,
    /// What it is in the source.
    pub(crate) source: SourceColumn,
    /// None for a column that is dropped.
    pub(crate) role: Option<Role>,
    pub(crate) kind: Option<Kind>,
    pub(crate) spec: ColumnSpec,
    /// The order of unordered values that a recoding was made with.
    pub(crate) sequence: Vec<String>,
    /// Whether the search looks at its values though they are released as they are.
    pub(crate) is_asked: bool,
    /// Whether a model predicts it that the search does not look at.
    pub(crate) is_predicted: bool,
    /// Whether a model learns from it though it is released as it is.
    pub(crate) is_predictor: bool,
}

impl PlannedColumn {
    /// What the reader does with it.
    pub(crate) fn usage(&self) -> Use {
        let is_looked_at = self.spec.target
            || self.spec.entity
            || self.is_asked
            || self.is_predicted
            || self.is_predictor;
        match self.role {
            Some(Role::Quasi | Role::Sensitive) => Use::Code,
            Some(_) if is_looked_at => Use::Code,
            Some(Role::Insensitive) => Use::Keep,
            Some(Role::Identifier) | None => Use::Skip,
        }
    }
}

/// The value of a measure among all of them.
pub(crate) fn value_of(measure: Measure, measures: &MeasuresReport) -> Option<f64> {
    match measure {
        Measure::Discernibility => Some(measures.discernibility),
        Measure::AverageClassSize => measures.average_class_size,
        Measure::Loss => measures.loss,
        Measure::Entropy => measures.entropy,
        Measure::Classification => measures.classification,
        Measure::Height => measures.height.map(|height| height as f64),
        Measure::Precision => measures.precision,
    }
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A release: every column needs a role, and k is needed.
    Release,
    /// A release by a recoding that is at hand: the same, but nothing is searched.
    Apply,
    /// Measuring a table: what is not named is ignored.
    Measure,
}

/// A checked job.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
pub(crate) struct Plan {
    pub(crate) columns: Vec<PlannedColumn>,
    /// What must hold: the sets as they are named, then the coalitions.
    pub(crate) sets: Vec<QuasiSet>,
    /// The greatest k of all sets.
    pub(crate) k: Option<u64>,
    pub(crate) models: Vec<ModelSpec>,
    /// The risks that are allowed.
    pub(crate) limits: Vec<RiskLimit>,
    pub(crate) suppress: SuppressLimit,
    pub(crate) method: Method,
    pub(crate) workload: WorkloadPlan,
    pub(crate) measure: Measure,
    pub(crate) labels: LabelForm,
    pub(crate) stars_suppressed: bool,
    pub(crate) missing_is_error: bool,
    /// Whether a missing sensitive cell counts as one more value.
    pub(crate) missing_is_value: bool,
    /// The HTML report, if one is wanted.
    pub(crate) html: Option<HtmlWanted>,
    /// Whether the names of columns may be cells, which no message tells.
    pub(crate) looks_headerless: bool,
    /// What to know about the columns, though nothing is amiss.
    notes: Vec<String>,
}

impl Plan {
    /// Tells what there is to know about the columns.
    pub(crate) fn tell_notes(&self, run: &Run) {
        self.notes.iter().for_each(|note| run.note(note));
    }

    /// The plan for a table that says less of its columns than the source: by column, what its values are.
    pub(crate) fn with_kinds(&self, kinds: &[Option<Kind>]) -> Plan {
        let mut plan = self.clone();
        for (column, kind) in plan.columns.iter_mut().zip(kinds) {
            column.kind = column.kind.or(*kind);
        }
        plan
    }

    pub(crate) fn uses(&self) -> Vec<Use> {
        self.columns.iter().map(PlannedColumn::usage).collect()
    }

    pub(crate) fn with_role(&self, role: Role) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(move |&at| self.columns[at].role == Some(role))
    }

    /// How many rows share a cell of a quasi-identifier column at least.
    pub(crate) fn least_rows_of(&self, name: &str) -> u64 {
        let knows = |set: &&QuasiSet| set.columns.iter().any(|&at| self.columns[at].name == name);
        self.sets.iter().filter(knows).filter_map(|set| set.k).max().unwrap_or(2)
    }

    pub(crate) fn entity(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.spec.entity)
    }

    /// The code of a sensitive column's missing cells, if they count for nothing.
    pub(crate) fn counts_for_nothing(&self, dictionary: &Dictionary) -> Option<u32> {
        dictionary.missing().filter(|_| !self.missing_is_value)
    }

    /// The first target, which the classification measure looks at.
    pub(crate) fn target(&self) -> Option<usize> {
        self.targets().next()
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        let is_target = |column: &PlannedColumn| column.spec.target && column.role.is_some();
        (0..self.columns.len()).filter(move |&at| is_target(&self.columns[at]))
    }

    /// Checks a job against its source. Everything that is wrong is reported at once.
    pub(crate) fn new(spec: &JobSpec, source: &Source, purpose: Purpose) -> Result<Plan, JobError> {
        let mut problems = Vec::new();
        let mut columns = columns(spec, source, purpose, &mut problems);
        let notes = take_declared(source, &mut columns, purpose);
        let sets = sets(spec, source, &columns, &mut problems);
        let models = models(spec, &columns, &mut problems);
        check_privacy(spec, purpose, &mut problems);
        let set_ks = spec.quasi.iter().filter_map(|set| set.k);
        let limits = limits(&spec.privacy, set_ks, &mut problems);
        let html = html_wanted(spec, &columns, &mut problems);
        let plan = Plan {
            html,
            looks_headerless: source.looks_headerless(),
            notes,
            columns,
            k: sets.iter().filter_map(|set| set.k).max(),
            sets,
            models,
            limits,
            suppress: spec.privacy.suppress.clone().unwrap_or(SuppressLimit::Share(0.0)),
            method: Method::default(),
            workload: WorkloadPlan::default(),
            measure: choice(
                "measure",
                spec.search.measure.as_deref(),
                &Measure::ALL,
                &mut problems,
            )
            .unwrap_or(Measure::Loss),
            labels: choice(
                "labels",
                spec.release.labels.as_deref(),
                &LabelForm::NAMES,
                &mut problems,
            )
            .unwrap_or(LabelForm::Range),
            stars_suppressed: choice(
                "suppressed",
                spec.release.suppressed.as_deref(),
                &[("drop", false), ("star", true)],
                &mut problems,
            )
            .unwrap_or(false),
            missing_is_error: choice(
                "missing",
                spec.missing.as_deref(),
                &[("category", false), ("error", true)],
                &mut problems,
            )
            .unwrap_or(false),
            missing_is_value: choice(
                "missing-sensitive",
                spec.privacy.missing_sensitive.as_deref(),
                &[("ignore", false), ("value", true)],
                &mut problems,
            )
            .unwrap_or(false),
        };
        let method = method(spec, &plan, &mut problems);
        if purpose == Purpose::Release {
            method.check(spec, &plan, &mut problems);
        }
        let mut plan = Plan { method, ..plan };
        if purpose != Purpose::Measure {
            plan.workload = WorkloadPlan::new(spec, &plan, &mut problems);
            let asked: Vec<String> = plan.workload.asked_columns().map(str::to_owned).collect();
            for column in &mut plan.columns {
                column.is_asked = asked.contains(&column.name);
            }
        }
        if plan.method.is_local() && plan.labels == LabelForm::Region {
            problems.push(
                Problem::new("`region` labels need a recoding with regions; a local one has none")
                    .help("use --labels range, or --algorithm mondrian without --relaxed"),
            );
        }
        if problems.is_empty() { Ok(plan) } else { Err(JobError::Request(problems)) }
    }
}

/// The value that a name stands for, or a problem that lists the names.
pub(crate) fn choice<T: Copy>(
    what: &str,
    name: Option<&str>,
    names: &[(&str, T)],
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let name = name?;
    let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    if found.is_none() {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        let problem = Problem::new(format!("`{name}` is not a valid `{what}`"));
        problems.push(match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("known values are {}", known.join(", "))),
        });
    }
    found
}

fn columns(
    spec: &JobSpec,
    source: &Source,
    purpose: Purpose,
    problems: &mut Vec<Problem>,
) -> Vec<PlannedColumn> {
    let names: Vec<&str> = source.columns().iter().map(|column| column.name.as_str()).collect();
    let in_sets = spec.quasi.iter().flat_map(|set| set.columns.iter().map(String::as_str));
    let in_sets = in_sets.chain(spec.workload.targets.iter().map(String::as_str));
    let mut seen: Vec<&str> = Vec::new();
    for name in spec.columns.keys().map(String::as_str).chain(in_sets) {
        if names.contains(&name) || seen.contains(&name) {
            continue;
        }
        seen.push(name);
        problems.push(not_in_input(source, name));
    }
    let drops = choice(
        "undeclared",
        spec.undeclared.as_deref(),
        &[("error", false), ("drop", true)],
        problems,
    )
    .unwrap_or(false);
    let columns: Vec<PlannedColumn> =
        source.columns().iter().map(|column| planned(spec, column, problems)).collect();
    let is_undeclared = |at: &usize| columns[*at].role.is_none() && !source.is_row_index(*at);
    let undeclared: Vec<usize> = (0..columns.len()).filter(is_undeclared).collect();
    if !undeclared.is_empty() && !drops && purpose != Purpose::Measure {
        let undeclared = listed(source, &undeclared);
        let help = "declare each with --quasi, --sensitive, --insensitive or --identifier, \
                    or leave them out with --undeclared drop";
        let (what, help) = match purpose {
            Purpose::Apply => (
                "the recoding does not know these columns",
                "leave them out with --undeclared drop, or make a recoding that has them",
            ),
            _ => ("these columns have no role", help),
        };
        let help = if source.looks_headerless() { GIVE_A_HEADER } else { help };
        problems.push(Problem::new(format!("{what}: {undeclared}")).help(help));
    }
    columns
}

/// Takes over what the source declares of its columns, where the job says nothing else: the orders of
/// dictionaries. Gives what is to be known about it.
fn take_declared(source: &Source, columns: &mut [PlannedColumn], purpose: Purpose) -> Vec<String> {
    let mut notes = Vec::new();
    for (at, column) in columns.iter_mut().enumerate() {
        let name = &column.name;
        if source.is_row_index(at) && column.role.is_none() && purpose != Purpose::Measure {
            notes.push(format!(
                "column `{name}` is a row index that pandas added; it is left out of the release"
            ));
        }
        let is_coded = matches!(column.role, Some(Role::Quasi | Role::Sensitive));
        let spec = &mut column.spec;
        if !is_coded || spec.order.is_some() || spec.hierarchy.is_some() || spec.kind.is_some() {
            continue;
        }
        let lost = match source.declared_order(at) {
            None => continue,
            Some(DeclaredOrder::Known(texts)) => {
                spec.order = Some(texts.clone());
                continue;
            }
            Some(DeclaredOrder::Unknown) => "its file does not say which",
            Some(DeclaredOrder::Several) => "its files differ in it",
        };
        notes.push(format!(
            "the values of column `{name}` are said to be ordered, but {lost}: they are taken as \
             unordered; declare `order = [...]` for it in the job file"
        ));
    }
    notes
}

fn planned(spec: &JobSpec, source: &SourceColumn, problems: &mut Vec<Problem>) -> PlannedColumn {
    let name = source.name.as_str();
    let mut column = spec.columns.get(name).cloned().unwrap_or_default();
    column.target |= spec.workload.targets.iter().any(|target| target == name);
    let in_set = spec.quasi.iter().any(|set| set.columns.iter().any(|column| column == name));
    let mut role = choice("role", column.role.as_deref(), &Role::NAMES, problems);
    if in_set && role.is_some_and(|role| role != Role::Quasi) {
        let role = column.role.as_deref().unwrap_or_default();
        problems.push(
            Problem::new(format!("column `{name}` is {role} and in a quasi-identifier set"))
                .help("a column has one role: take it out of the set, or declare it quasi"),
        );
    }
    role = role.or(in_set.then_some(Role::Quasi));
    if role == Some(Role::Sensitive) && column.target {
        problems.push(Problem::new(format!("column `{name}` is sensitive and a target")).help(
            "a release made to predict it would undo its protection, and an attacker who knows \
                     that it was made so learns more still; drop one of the two",
        ));
    }
    if role == Some(Role::Identifier) && column.target {
        problems.push(
            Problem::new(format!("column `{name}` is an identifier and a target"))
                .help("an identifier is never released, so that nothing can predict it"),
        );
    }
    if role == Some(Role::Quasi) && column.entity {
        problems.push(
            Problem::new(format!("column `{name}` is quasi and the entity")).help(
                "a column that tells people apart cannot be a quasi-identifier: take it out of the set, or drop --entity",
            ),
        );
    }
    // A target is released, an entity is what identifies someone.
    role = role.or(column.target.then_some(Role::Insensitive));
    role = role.or(column.entity.then_some(Role::Identifier));
    let kind = choice("type", column.kind.as_deref(), &Kind::NAMES, problems);
    let has_order = column.order.is_some() || column.order_from.is_some();
    if has_order && column.hierarchy.is_some() {
        problems.push(
            Problem::new(format!("column `{name}` has an order and a hierarchy"))
                .help("a hierarchy brings its own order; drop one of the two"),
        );
    }
    take_order(name, &mut column, problems);
    check_keys(name, &column, role, problems);
    PlannedColumn {
        name: name.to_owned(),
        source: source.clone(),
        role,
        kind,
        spec: column,
        sequence: Vec::new(),
        is_asked: false,
        is_predicted: false,
        is_predictor: false,
    }
}

/// Reads the order that a column takes from a hierarchy; it is an order like any other from here on.
fn take_order(name: &str, column: &mut ColumnSpec, problems: &mut Vec<Problem>) {
    let Some(path) = column.order_from.take() else { return };
    if column.order.is_some() {
        problems.push(
            Problem::new(format!("column `{name}` has an order, and one from a hierarchy"))
                .help("drop one of the two"),
        );
        return;
    }
    match crate::hierarchy::leaves_of(&path) {
        Ok(leaves) => column.order = Some(leaves),
        Err(JobError::Request(found)) => problems.extend(found),
        Err(other) => problems.push(Problem::new(other.to_string())),
    }
}

/// Refuses bins that are none.
fn check_bins(name: &str, column: &ColumnSpec, problems: &mut Vec<Problem>) {
    let Some((width, origin)) = column.bins.as_ref().map(BinsSpec::width_and_origin) else {
        return;
    };
    if !(width.is_finite() && width > 0.0 && origin.is_finite()) {
        problems.push(
            Problem::new(format!(
                "the bins of column `{name}` need a width above 0, found {width}"
            ))
            .help("write bins = 5, or bins = { width = 5, origin = 17 }"),
        );
    }
    if column.order.is_some() || column.hierarchy.is_some() {
        problems.push(
            Problem::new(format!("column `{name}` has bins, and an order or a hierarchy"))
                .help("bins are ranges of numbers; drop one of the two"),
        );
    }
}

/// Refuses what the role of a column cannot honour, and an order that names a value twice.
fn check_keys(name: &str, column: &ColumnSpec, role: Option<Role>, problems: &mut Vec<Problem>) {
    let is_coded = matches!(role, Some(Role::Quasi | Role::Sensitive));
    let is_looked_at = is_coded || column.target || column.entity;
    // The roles of a column that each key means something for.
    let keys = [
        ("a hierarchy", column.hierarchy.is_some(), role == Some(Role::Quasi), "quasi"),
        ("an order", column.order.is_some(), is_coded, "quasi or sensitive"),
        ("bins", column.bins.is_some(), role == Some(Role::Quasi), "quasi"),
        (
            "a type",
            column.kind.is_some(),
            is_looked_at || role == Some(Role::Insensitive),
            "quasi, sensitive or insensitive, a target or the entity",
        ),
    ];
    for (what, is_said, is_honoured, roles) in keys {
        if is_said && !is_honoured {
            problems.push(
                Problem::new(format!("column `{name}` has {what}, but is not {roles}"))
                    .help("drop it, or declare the column so"),
            );
        }
    }
    check_bins(name, column, problems);
    if let Some(order) = &column.order {
        problems.extend(crate::coding::check_order(name, order).err());
    }
}

fn models(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Vec<ModelSpec> {
    let sensitive: Vec<usize> =
        (0..columns.len()).filter(|&at| columns[at].role == Some(Role::Sensitive)).collect();
    let mut models = Vec::new();
    for (named, make) in ModelSpec::all(&spec.privacy, problems) {
        let chosen: Vec<usize> = match &named {
            None => sensitive.clone(),
            Some(name) => {
                sensitive.iter().copied().filter(|&at| &columns[at].name == name).collect()
            }
        };
        if chosen.is_empty() {
            let problem = match &named {
                None => Problem::new(
                    "a diversity or closeness model is asked for, but no column is sensitive",
                ),
                Some(name) => {
                    Problem::new(format!("a model names `{name}`, which is not a sensitive column"))
                }
            };
            problems.push(problem.help("declare the column with --sensitive"));
        }
        models.extend(chosen.into_iter().map(|column| ModelSpec { column, ..make }));
    }
    models
}

fn check_privacy(spec: &JobSpec, purpose: Purpose, problems: &mut Vec<Problem>) {
    let is_said = spec.privacy.least_k().is_some() || spec.quasi.iter().any(|set| set.k.is_some());
    if let Some(Err(error)) = spec.privacy.k.map(incrowd_privacy::KAnonymity::new) {
        problems.push(Problem::new(error.to_string()).help("ask for -k 2 or more"));
    }
    if purpose != Purpose::Measure && !is_said {
        problems.push(
            Problem::new("the job has no k").help("say how large a class is at least: -k 10"),
        );
    }
    for set in &spec.quasi {
        let name = &set.name;
        if let Some(Err(error)) = set.k.map(incrowd_privacy::KAnonymity::new) {
            problems.push(
                Problem::new(format!("quasi-identifier set `{name}`: {error}"))
                    .help(format!("ask for -k {name}=2 or more")),
            );
        }
        let k = set.k.or(spec.privacy.least_k());
        if purpose != Purpose::Measure && is_said && k.is_none() {
            problems.push(
                Problem::new(format!("the quasi-identifier set `{name}` has no k")).help(format!(
                    "say -k {name}=10, or -k 10 for all sets without a k of their own"
                )),
            );
        }
    }
    if let Some(limit) = &spec.privacy.suppress {
        problems.extend(limit.rows(0).err());
    }
}

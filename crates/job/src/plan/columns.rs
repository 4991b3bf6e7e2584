//! The columns of a source and what the job says of each.

use incrowd_data::Kind;
use incrowd_engine::{DeclaredOrder, Source, SourceColumn, Use};

use crate::plan::naming::{GIVE_A_HEADER, listed, not_in_input};
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::{BinsSpec, ColumnSpec, JobSpec, Role};

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

/// The places of the columns with a role.
pub(crate) fn with_role(columns: &[PlannedColumn], role: Role) -> impl Iterator<Item = usize> {
    (0..columns.len()).filter(move |&at| columns[at].role == Some(role))
}

/// The places of the columns that models will predict.
pub(crate) fn targets(columns: &[PlannedColumn]) -> impl Iterator<Item = usize> {
    let is_target = |column: &PlannedColumn| column.spec.target && column.role.is_some();
    (0..columns.len()).filter(move |&at| is_target(&columns[at]))
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

pub(crate) fn columns(
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

/// Takes over what the source declares of its columns, where the job says nothing else: the orders
/// of dictionaries. Gives what is to be known about it.
pub(crate) fn take_declared(
    source: &Source,
    columns: &mut [PlannedColumn],
    purpose: Purpose,
) -> Vec<String> {
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

/// Reads the order that a column takes from a hierarchy; it is an order like any other from here
/// on.
fn take_order(name: &str, column: &mut ColumnSpec, problems: &mut Vec<Problem>) {
    let Some(path) = column.order_from.take() else { return };
    if column.order.is_some() {
        problems.push(
            Problem::new(format!("column `{name}` has an order, and one from a hierarchy"))
                .help("drop one of the two"),
        );
        return;
    }
    match crate::spec::hierarchy_file::leaves_of(&path) {
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
        problems.extend(check_order(name, order).err());
    }
}

/// Refuses an order that names a value twice.
pub(crate) fn check_order(column: &str, texts: &[String]) -> Result<(), Problem> {
    for (at, text) in texts.iter().enumerate() {
        if let Some(first) = texts[..at].iter().position(|earlier| earlier == text) {
            let (at, first) = (at + 1, first + 1);
            return Err(Problem::new(format!(
                "the order of column `{column}` has value {at} twice, first as value {first}"
            ))
            .help("name every value once"));
        }
    }
    Ok(())
}

//! Measuring a table that was written, by us or by others, from its bytes.

mod before;
mod in_files;
mod read_rows;
mod reported;
mod unique;

use std::borrow::Cow;
use std::collections::BTreeMap;

use incrowd_data::Codes;
use incrowd_engine::{ColumnContent, Engine, Meaning, Source, Spilled, Table, Use, first_changed};
use incrowd_privacy::Model;
use incrowd_release::{Asked, Privacy, Risk, Rows, Sensitive, verify, verify_classes};

use crate::flow::bounds::Bounds;
use crate::flow::coding::{CodedAs, EqualRows, model_on};
use crate::flow::guess::words::is_quantity_name;
use crate::flow::ordered::{Ordered, is_ordered, order_sensitive};
use crate::flow::people::{MOST_UNSAID, Repeats, among_quasi, may_number_people};
use crate::flow::place::Place;
use crate::flow::values::{DistinctValues, missing_in};
use crate::plan::models::k_anonymity;
use crate::plan::sets::QuasiSet;
use crate::plan::{Plan, PlannedColumn};
use crate::spec::Role;
use crate::spec::error::{JobError, Problem};
use crate::spec::limits::RiskLimit;
use in_files::{Columns, Entity, Mapped, as_read};
use read_rows::ReadRows;

pub(crate) use read_rows::Entities;
pub(crate) use reported::{
    Starred, collusion_report, failures, measures_report, privacy_report, release_report,
    risk_report,
};
pub(crate) use unique::Unique;

/// A table to be measured, and how its columns relate to the plan's.
pub(crate) struct Subject<'a> {
    pub(crate) plan: &'a Plan,
    /// By column of the plan, the columns of the table that stand for it.
    pub(crate) released_as: Vec<Vec<String>>,
    /// The entities in the table's row order, where it does not say them.
    pub(crate) entity: Option<Entities>,
    /// What the columns that are released as they are must say, where that is known.
    pub(crate) contents: Vec<ColumnContent>,
    /// Whether the table was not made by this job: columns without a role are in it, and its
    /// quasi-identifiers may hold values.
    pub(crate) is_given: bool,
}

impl Subject<'_> {
    /// The columns that the table has as they are. In one that another made, those without a role
    /// are there as well, unless the job is to drop them.
    fn as_they_are(&self) -> impl Iterator<Item = &String> {
        let is_left = |column: &PlannedColumn| match column.role {
            Some(Role::Sensitive | Role::Insensitive) => true,
            Some(Role::Quasi | Role::Identifier) => false,
            None => self.is_given && !self.plan.drops_undeclared,
        };
        let planned = self.plan.columns.iter().zip(&self.released_as);
        planned.filter(move |(column, _)| is_left(column)).flat_map(|(_, names)| names)
    }

    /// What a column of the table is compared as, where it is.
    fn meaning(&self, name: &str) -> Option<Meaning> {
        let column = self.contents.iter().find(|column| column.name == name);
        column.map(ColumnContent::meaning)
    }
}

/// What was found, by quasi-identifier set.
pub(crate) struct Measured {
    pub(crate) n_rows: u64,
    pub(crate) sets: Vec<MeasuredSet>,
    /// What some of the named sets know together: every two, and all if there are more.
    collusion: Vec<MeasuredSet>,
    pub(crate) union: Privacy,
    /// The risks that are allowed.
    limits: Vec<RiskLimit>,
    /// Rows that are unique on what is released as it is, where something is.
    pub(crate) unique: Option<Unique>,
    /// The columns that number people who have several rows, where no entity is declared.
    pub(crate) repeats: Vec<Repeats>,
}

/// A quasi-identifier set and what was found.
pub(crate) struct MeasuredSet {
    set: QuasiSet,
    columns: Vec<String>,
    found: Privacy,
    risk: Risk,
}

impl MeasuredSet {
    /// The limits that its risk is above, in sentences.
    fn exceeded(&self, limits: &[RiskLimit]) -> Vec<String> {
        limits.iter().filter_map(|limit| limit.broken(&self.risk)).collect()
    }
}

impl Measured {
    pub(crate) fn is_satisfied(&self) -> bool {
        self.sets
            .iter()
            .all(|set| set.found.is_satisfied() && set.exceeded(&self.limits).is_empty())
    }
}

/// Reads a release that was just written and measures it.
pub(crate) fn measure_release(
    engine: &Engine,
    source: &Source,
    subject: &Subject,
    bounds: &Bounds,
) -> Result<Measured, JobError> {
    let place = Place::measured_here(bounds, source, &uses(source, subject));
    measure_in(engine, source, subject, &place)
}

/// Reads a table as it stands and measures it.
pub(crate) fn measure_table(
    engine: &Engine,
    source: &Source,
    subject: &Subject,
    bounds: &Bounds,
) -> Result<Measured, JobError> {
    let place = Place::measured(engine, bounds, source, &uses(source, subject));
    measure_in(engine, source, subject, &place)
}

fn measure_in(
    engine: &Engine,
    source: &Source,
    subject: &Subject,
    place: &Place,
) -> Result<Measured, JobError> {
    let held = ReadRows::read(engine, source, &uses(source, subject), &hashable(subject), place)?;
    let measured = measure_rows(engine, subject, &held, None)?;
    refuse_changed(engine, source, subject, &held)?;
    let as_they_are = unique::columns(source, subject);
    let unique = unique::count(engine, subject, &held, as_they_are)?;
    Ok(Measured { unique, repeats: repeats(subject, &held), ..measured })
}

/// Refuses a release in which a column that should leave as it is says something else than the
/// table.
fn refuse_changed(
    engine: &Engine,
    source: &Source,
    subject: &Subject,
    held: &ReadRows,
) -> Result<(), JobError> {
    let mut unread = Vec::new();
    let mut changed = None;
    for column in &subject.contents {
        match held.content_of(column)? {
            Some(content) if column.is(content) => {}
            Some(_) => changed = changed.or(Some(column.name.clone())),
            None => unread.push(column),
        }
    }
    if changed.is_none() {
        changed = first_changed(engine, source, &unread)?;
    }
    match changed {
        None => Ok(()),
        Some(column) => Err(Problem::new(format!(
            "cells of column `{column}` would not come back from the release as they are in the table"
        ))
        .help("write another format, or declare the column's type as text in the job file")
        .into()),
    }
}

/// The columns of a table that number people who have several rows.
fn repeats(subject: &Subject, held: &ReadRows) -> Vec<Repeats> {
    let plan = subject.plan;
    if plan.entity().is_some() {
        return Vec::new();
    }
    let n_rows = held.n_rows();
    let quasi = if subject.is_given { among_quasi(plan, held, n_rows) } else { Vec::new() };
    let counted = held.counted().iter().filter_map(Repeats::of_counted);
    let identifiers: Vec<&String> =
        plan.with_role(Role::Identifier).map(|at| &plan.columns[at].name).collect();
    let others = subject.as_they_are().chain(identifiers.iter().copied());
    let coded = others.filter_map(|name| Repeats::of_values(held.values(name)?, n_rows));
    let is_sure = |found: &Repeats| found.is_often() || identifiers.contains(&&found.column);
    counted.chain(coded).filter(is_sure).chain(quasi).collect()
}

/// The columns of a table that are counted, since they may number people: by their names, and the
/// first ones of those that nobody is known to look at otherwise.
fn people<'a>(subject: &'a Subject, wanted: &[String]) -> Vec<&'a String> {
    let plan = subject.plan;
    if plan.entity().is_some() {
        return Vec::new();
    }
    let planned = plan.columns.iter().zip(&subject.released_as);
    let said = planned.filter(|(column, _)| may_number_people(plan, column));
    let mut people: Vec<&String> = said.flat_map(|(_, names)| names).collect();
    let is_other = |name: &&String| {
        let is_counted = people.contains(name) || wanted.contains(name);
        !is_counted && !is_quantity_name(name) && plan.may_name(name)
    };
    let unsaid: Vec<&String> = subject.as_they_are().filter(is_other).take(MOST_UNSAID).collect();
    people.extend(unsaid);
    people
}

fn measure_rows(
    engine: &Engine,
    subject: &Subject,
    held: &ReadRows,
    grouped: Option<EqualRows>,
) -> Result<Measured, JobError> {
    let plan = subject.plan;
    let sensitive = sensitive_columns(plan, held)?;
    let mut ks: Vec<u64> = plan.sets.iter().filter_map(|set| set.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let models = models(plan, &ks, &sensitive)?;
    let target = Identified::of(plan, plan.target(), held)?;
    if let Some(problem) = plan.entity().and_then(|at| missing_in(&plan.columns[at], held)) {
        return Err(problem.into());
    }
    let entity = Identified::of(plan, plan.entity(), held)?;
    let n_rows = held.n_rows();
    let found = BTreeMap::new();
    let mut measuring =
        Measuring { engine, subject, held, grouped, sensitive, target, entity, ks, models, found };
    let all: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let sets = measuring.measure_all(&plan.sets, Depth::Models)?;
    let collusion = measuring.measure_all(&colluding(&plan.sets), Depth::Sizes)?;
    let union = measuring.of_columns(&all, Depth::Sizes)?.into_owned();
    let limits = plan.limits.clone();
    Ok(Measured { n_rows, sets, collusion, union, limits, unique: None, repeats: Vec::new() })
}

/// The columns of which only matters which cells are equal.
fn hashable(subject: &Subject) -> Vec<String> {
    let plan = subject.plan;
    let quasi = plan.with_role(Role::Quasi);
    let is_other = |at: &usize| plan.columns[*at].spec.target || plan.columns[*at].spec.entity;
    let names = quasi.filter(|at| !is_other(at)).flat_map(|at| &subject.released_as[at]);
    names.cloned().collect()
}

/// The columns that are looked at.
pub(crate) fn uses(source: &Source, subject: &Subject) -> Vec<Use> {
    let (wanted, mixed) = (wanted(subject), unique::columns(source, subject));
    let counted = people(subject, &wanted);
    let usage = |name: &String| match (mixed.contains(name), counted.contains(&name)) {
        _ if wanted.contains(name) => Use::Code,
        (true, true) => Use::MixAndCount(subject.meaning(name)),
        (true, false) => Use::Mix(subject.meaning(name)),
        (false, true) => Use::Count,
        (false, false) => Use::Skip,
    };
    source.columns().iter().map(|column| usage(&column.name)).collect()
}

/// What is to be found out about some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// How large classes are, and what a target is in them.
    Sizes,
    /// What the models and the sensitive columns say as well.
    Models,
}

/// What every two of the named sets know together, and what all do.
fn colluding(sets: &[QuasiSet]) -> Vec<QuasiSet> {
    let n_named = sets.iter().filter(|set| !set.is_coalition()).count();
    let pairs = (0..n_named).flat_map(|b| (0..b).map(move |a| vec![a, b]));
    let mut members: Vec<Vec<usize>> = pairs.collect();
    members.sort_unstable();
    if n_named > 2 {
        members.push((0..n_named).collect());
    }
    members.into_iter().map(|members| QuasiSet::together(sets, members)).collect()
}

/// A table that was read and what it is measured with.
struct Measuring<'a> {
    engine: &'a Engine,
    subject: &'a Subject<'a>,
    held: &'a ReadRows,
    grouped: Option<EqualRows<'a>>,
    sensitive: Vec<SensitiveColumn>,
    /// The target, if it is in the table.
    target: Option<Identified>,
    /// The entity, if it is in the table.
    entity: Option<Identified>,
    /// The different ks that are asked for.
    ks: Vec<u64>,
    /// k-anonymity for each of them, then the other models.
    models: Vec<Box<dyn Model>>,
    /// What was found of sets, by columns.
    found: BTreeMap<Vec<usize>, Privacy>,
}

/// A sensitive column of the table.
struct SensitiveColumn {
    at: usize,
    ordered: Ordered,
    /// Its codes, if the rows are in memory.
    codes: Option<Codes>,
}

/// A column of the table of which only matters which cells are equal.
struct Identified {
    name: String,
    /// By code of the table, the rank of its value.
    map: Vec<u32>,
    n_codes: u32,
    /// Its ranks, if the rows are in memory.
    codes: Option<Codes>,
}

impl Identified {
    fn of(plan: &Plan, at: Option<usize>, held: &ReadRows) -> Result<Option<Identified>, JobError> {
        let is_there = |at: &usize| held.values(&plan.columns[*at].name).is_some();
        let Some(at) = at.filter(is_there) else { return Ok(None) };
        let CodedAs { map, n_codes, .. } = CodedAs::identified(plan, at, held)?;
        let name = plan.columns[at].name.clone();
        let codes = match held {
            ReadRows::Memory(table) => {
                table.column(&name).map(|raw| raw.codes.remap(&map, n_codes))
            }
            ReadRows::Files { .. } => None,
        };
        Ok(Some(Identified { name, map, n_codes, codes }))
    }

    fn in_files(&self, spilled: &Spilled) -> Option<Mapped> {
        Some((spilled.position(&self.name)?, self.map.clone(), self.n_codes))
    }
}

impl Measuring<'_> {
    fn measure_all(
        &mut self,
        sets: &[QuasiSet],
        depth: Depth,
    ) -> Result<Vec<MeasuredSet>, JobError> {
        sets.iter().map(|set| self.measure(set, depth)).collect()
    }

    fn measure(&mut self, set: &QuasiSet, depth: Depth) -> Result<MeasuredSet, JobError> {
        let plan = self.subject.plan;
        let columns = set.columns.iter().map(|&at| plan.columns[at].name.clone()).collect();
        let found = self.of_columns(&set.columns, depth)?;
        let risk = Risk::of(&found.sizes, set.k.unwrap_or(5));
        let mut found = found.into_owned();
        // Of the ks only that of the set counts.
        let mut ks = self.ks.iter();
        found.broken.retain(|_| ks.next().is_none_or(|k| Some(*k) == set.k));
        Ok(MeasuredSet { set: set.clone(), columns, found, risk })
    }

    /// What whoever knows these columns finds.
    fn of_columns(
        &mut self,
        columns: &[usize],
        depth: Depth,
    ) -> Result<Cow<'_, Privacy>, JobError> {
        if depth == Depth::Models && !self.found.contains_key(columns) {
            let found = self.verify(columns, depth)?;
            self.found.insert(columns.to_vec(), found);
        }
        match self.found.get(columns) {
            Some(found) => Ok(Cow::Borrowed(found)),
            None => Ok(Cow::Owned(self.verify(columns, depth)?)),
        }
    }

    fn verify(&self, columns: &[usize], depth: Depth) -> Result<Privacy, JobError> {
        let plan = self.subject.plan;
        let wants_models = depth == Depth::Models;
        let sensitive: Vec<&SensitiveColumn> =
            self.sensitive.iter().filter(|_| wants_models).collect();
        let asked = Asked {
            sensitive: sensitive
                .iter()
                .map(|column| Sensitive {
                    name: &plan.columns[column.at].name,
                    is_ordered: is_ordered(&column.ordered.shape),
                    whole: &column.ordered.counts,
                    missing: plan.counts_for_nothing(&column.ordered.ranked.dictionary),
                })
                .collect(),
            target: self.target.as_ref().map(|target| target.n_codes),
            models: if wants_models { &self.models } else { &[] },
        };
        match self.held {
            ReadRows::Memory(table) => self.verify_in_memory(table, columns, &sensitive, &asked),
            ReadRows::Files { spilled, room } => {
                let columns = self.columns_in_files(spilled, columns, &sensitive)?;
                in_files::verify(self.engine, spilled, *room, &columns, &asked)
            }
        }
    }

    fn verify_in_memory(
        &self,
        table: &Table,
        columns: &[usize],
        sensitive: &[&SensitiveColumn],
        asked: &Asked,
    ) -> Result<Privacy, JobError> {
        let raw = |name: &String| table.column(name).ok_or_else(not_in_table);
        let names = columns.iter().flat_map(|&at| &self.subject.released_as[at]);
        let quasi: Vec<_> = names.map(raw).collect::<Result<_, Problem>>()?;
        let target = self.target.as_ref().and_then(|target| target.codes.as_ref());
        let counted = sensitive.iter().filter_map(|column| column.codes.as_ref());
        let plan = self.subject.plan;
        let apart;
        let entity = match (&self.entity, &self.subject.entity) {
            (None, None) => None,
            (Some(in_table), _) => in_table.codes.as_ref().map(|codes| (codes, in_table.n_codes)),
            (None, Some(Entities::Memory(codes, n_codes))) => Some((codes, *n_codes)),
            (None, Some(Entities::File(file, n_codes))) => {
                apart = in_files::load(file, *n_codes)?;
                Some((&apart, *n_codes))
            }
        };
        let rows = Rows {
            quasi: quasi.iter().map(|raw| (&raw.codes, raw.values.n_codes())).collect(),
            counted: counted.chain(target).collect(),
            entity,
            n_rows: table.n_rows,
        };
        // Whoever knows all quasi-identifier columns sees the groups.
        let is_all = plan.with_role(Role::Quasi).eq(columns.iter().copied());
        Ok(match self.grouped.filter(|_| is_all) {
            Some(EqualRows { counts, group_of }) => verify_classes(asked, &rows, counts, group_of),
            None => verify(asked, &rows),
        })
    }

    fn columns_in_files(
        &self,
        spilled: &Spilled,
        columns: &[usize],
        sensitive: &[&SensitiveColumn],
    ) -> Result<Columns<'_>, JobError> {
        let plan = self.subject.plan;
        let position = |name: &String| spilled.position(name);
        let names = columns.iter().flat_map(|&at| &self.subject.released_as[at]);
        let mut quasi: Vec<Mapped> = Vec::new();
        for name in names {
            match spilled.hash_positions(name) {
                Some(halves) => quasi.extend(halves.map(|at| (at, Vec::new(), u32::MAX))),
                None => quasi.push(as_read(spilled, position(name).ok_or_else(not_in_table)?)),
            }
        }
        let counted = sensitive.iter().filter_map(|column| {
            let at = position(&plan.columns[column.at].name)?;
            let ranked = &column.ordered.ranked;
            Some((at, spilled.values[at].map_to(ranked), ranked.dictionary.n_codes()))
        });
        let target = self.target.as_ref().and_then(|target| target.in_files(spilled));
        let entity = match &self.entity {
            Some(entity) => entity.in_files(spilled).map(Entity::Column),
            None => self.subject.entity.as_ref().map(Entity::Apart),
        };
        if quasi.is_empty() {
            // All rows are one class: they need a column to be counted by.
            quasi.push((0, vec![0; spilled.values[0].n_codes() as usize], 1));
        }
        Ok(Columns { quasi, counted: counted.chain(target).collect(), entity })
    }
}

fn not_in_table() -> Problem {
    Problem::new("a quasi-identifier column is not in the table")
}

fn wanted(subject: &Subject) -> Vec<String> {
    let plan = subject.plan;
    let is_wanted = |column: &PlannedColumn| {
        matches!(column.role, Some(Role::Quasi | Role::Sensitive))
            || column.spec.target
            || column.spec.entity
    };
    plan.columns
        .iter()
        .zip(&subject.released_as)
        .filter(|(column, _)| is_wanted(column))
        .flat_map(|(_, names)| names.iter().cloned())
        .collect()
}

fn sensitive_columns(plan: &Plan, held: &ReadRows) -> Result<Vec<SensitiveColumn>, JobError> {
    let mut columns = Vec::new();
    for at in plan.with_role(Role::Sensitive) {
        let planned = &plan.columns[at];
        if let Some(values) = held.values(&planned.name) {
            let ordered = order_sensitive(plan, at, values, held)?;
            let codes = match held {
                ReadRows::Memory(table) => table.column(&planned.name),
                ReadRows::Files { .. } => None,
            };
            let codes = codes.map(|raw| raw.coded(&ordered.ranked));
            columns.push(SensitiveColumn { at, ordered, codes });
        }
    }
    Ok(columns)
}

fn models(
    plan: &Plan,
    ks: &[u64],
    sensitive: &[SensitiveColumn],
) -> Result<Vec<Box<dyn Model>>, JobError> {
    let mut models: Vec<Box<dyn Model>> = ks.iter().filter_map(|&k| k_anonymity(Some(k))).collect();
    for spec in &plan.models {
        let index = sensitive.iter().position(|column| column.at == spec.column);
        let index = index.ok_or_else(|| {
            let name = &plan.columns[spec.column].name;
            Problem::new(format!("the sensitive column `{name}` is not in the table"))
        })?;
        models.push(model_on(plan, spec, index, &sensitive[index].ordered)?);
    }
    Ok(models)
}

/// A plan's columns all standing for themselves.
pub(crate) fn as_they_are(plan: &Plan) -> Vec<Vec<String>> {
    plan.columns.iter().map(|column| vec![column.name.clone()]).collect()
}

#[cfg(test)]
mod tests;

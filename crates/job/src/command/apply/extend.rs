//! Values of new rows that are in no hierarchy and no declared order of the recoding.
//!
//! A hierarchy that was made by a rule (masks, dates, intervals) is extended by it. Other values
//! are unknown: an error, or rows that are left out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Attribute, Cell, Hierarchy, Kind, Level, Recoded, Shape};
use incrowd_engine::kind_of_texts;

use super::Application;
use crate::flow::hierarchy::rows_by_rule;
use crate::flow::values::DistinctValues;
use crate::plan::Plan;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::{BuiltSpec, HierarchySpec, Role};

/// By column of the plan, the values of the new rows that the recoding does not know.
pub(super) type Unknown = BTreeMap<usize, BTreeSet<String>>;

type Rows = Vec<Vec<String>>;

impl Application<'_> {
    /// Whether rows with unknown values are left out.
    pub(super) fn suppresses_unknown(&self) -> Result<bool, JobError> {
        let mut problems = Vec::new();
        let said = self.options.unknown.as_deref();
        let known = [("error", false), ("suppress", true)];
        let found = choice("unknown", said, &known, &mut problems);
        if problems.is_empty() {
            Ok(found.unwrap_or(false))
        } else {
            Err(JobError::Request(problems))
        }
    }

    /// The plan with hierarchies that have the values of the new rows, and the values that no rule
    /// gives a place: those are put beside all others, so that their rows can be left out.
    pub(super) fn extended(
        &self,
        plan: &Plan,
        known: &dyn DistinctValues,
    ) -> Result<(Plan, Unknown), JobError> {
        let suppresses = self.suppresses_unknown()?;
        let (mut plan, mut unknown) = (plan.clone(), Unknown::new());
        let quasi: Vec<usize> = plan.with_role(Role::Quasi).collect();
        for at in quasi {
            let column = &mut plan.columns[at];
            let Some(values) = known.values(&column.name) else { continue };
            match (&mut column.spec.hierarchy, &mut column.spec.order) {
                (Some(HierarchySpec::Rows(rows)), _) => {
                    let leaves: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
                    let is_new = |text: &&String| !leaves.contains(text.as_str());
                    let mut new: Vec<String> =
                        values.texts.iter().filter(is_new).cloned().collect();
                    new.sort_unstable();
                    if new.is_empty() {
                        continue;
                    }
                    let rest = match self.file.rules.get(&column.name) {
                        Some(rule) => extend(rule, rows, new),
                        None => new,
                    };
                    if suppresses && set_aside(rows, &rest) {
                        unknown.insert(at, rest.into_iter().collect());
                    }
                }
                (None, Some(order)) if suppresses => {
                    let listed: BTreeSet<&String> = order.iter().collect();
                    let mut rest: Vec<String> = values
                        .texts
                        .iter()
                        .filter(|text| !listed.contains(text))
                        .cloned()
                        .collect();
                    rest.sort_unstable();
                    order.extend(rest.iter().cloned());
                    unknown.insert(at, rest.into_iter().collect());
                }
                _ => {}
            }
        }
        unknown.retain(|_, values| !values.is_empty());
        Ok((plan, unknown))
    }
}

/// Gives values a place of their own below the root. A hierarchy of leaves alone has none.
fn set_aside(rows: &mut Rows, values: &[String]) -> bool {
    let Some(first) = rows.first().filter(|row| row.len() > 1) else { return false };
    let (depth, root) = (first.len(), first[first.len() - 1].clone());
    for value in values {
        let mut row = vec![root.clone(); depth];
        row[0].clone_from(value);
        rows.push(row);
    }
    true
}

/// Adds new values to a hierarchy by the rule that it was made by; gives those for which the rule
/// would change what the others are, or does not hold.
fn extend(rule: &BuiltSpec, rows: &mut Rows, new: Vec<String>) -> Vec<String> {
    let old: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let Some(by_rule) = rows_by_rule(rule, &old).filter(|made| {
        made.len() == rows.len() && made.first().map(Vec::len) == rows.first().map(Vec::len)
    }) else {
        return new;
    };
    let mut accepted: Vec<String> = Vec::new();
    let mut rest = Vec::new();
    let mut open = vec![new];
    while let Some(mut batch) = open.pop() {
        let all: Vec<&str> =
            old.iter().copied().chain(accepted.iter().chain(&batch).map(String::as_str)).collect();
        let fits = rows_by_rule(rule, &all)
            .is_some_and(|made| made.len() == all.len() && made[..by_rule.len()] == by_rule[..]);
        if fits {
            accepted.append(&mut batch);
        } else if batch.len() == 1 {
            rest.append(&mut batch);
        } else {
            let second = batch.split_off(batch.len() / 2);
            open.extend([second, batch]);
        }
    }
    let all: Vec<&str> = old.iter().copied().chain(accepted.iter().map(String::as_str)).collect();
    let made = rows_by_rule(rule, &all).map(|mut made| made.split_off(old.len()));
    let extended = with_rows(rows, &by_rule, made.unwrap_or_default());
    if Hierarchy::from_rows(&extended).is_ok() {
        *rows = extended;
    } else {
        rest.append(&mut accepted);
    }
    rest.sort_unstable();
    rest
}

/// Puts new rows among those of a hierarchy. `by_rule` has the rows as the rule makes them: labels
/// may have been made again from released values. A new leaf comes before the first leaf of the
/// smallest node that it belongs to: a cut ends with the last leaf of a node, which stays the last.
fn with_rows(rows: &Rows, by_rule: &Rows, new: Rows) -> Rows {
    let depth = rows.first().map_or(0, Vec::len);
    // By level and label of the rule, the label and the first leaf of the node.
    let mut nodes: Vec<BTreeMap<&str, (&str, usize)>> = vec![BTreeMap::new(); depth];
    for (at, (row, made)) in rows.iter().zip(by_rule).enumerate() {
        for level in 1..depth {
            nodes[level].entry(made[level].as_str()).or_insert((row[level].as_str(), at));
        }
    }
    // What belongs to a greater node comes first, so that no node ends with it.
    let mut placed: Vec<(usize, Reverse<usize>, Vec<String>)> = Vec::with_capacity(new.len());
    for mut row in new {
        // The root is no place.
        let found = (1..depth.saturating_sub(1))
            .find_map(|level| Some((level, nodes[level].get(row[level].as_str())?.1)));
        let (level, before) = found.unwrap_or((depth, rows.len()));
        for (level, label) in row.iter_mut().enumerate().skip(1) {
            if let Some((known, _)) = nodes[level].get(label.as_str()) {
                *label = (*known).to_owned();
            }
        }
        placed.push((before, Reverse(level), row));
    }
    placed.sort();
    let mut placed = placed.into_iter().peekable();
    let mut all = Vec::with_capacity(rows.len() + placed.len());
    for (at, row) in rows.iter().enumerate() {
        while let Some((.., new)) = placed.next_if(|(before, ..)| *before <= at) {
            all.push(new);
        }
        all.push(row.clone());
    }
    all.extend(placed.map(|(.., row)| row));
    all
}

impl Application<'_> {
    /// The quasi-identifier columns that new rows lack, and those that the release would lack:
    /// every one is a problem.
    pub(super) fn missing_columns(&self, source: &incrowd_engine::Source) -> Vec<Problem> {
        let is_released = |role: Option<&str>| matches!(role, Some("sensitive" | "insensitive"));
        let missing = self.file.columns.iter().filter(|(name, column)| {
            is_released(column.role.as_deref()) && source.position(name).is_none()
        });
        let problem = |(name, _): (&String, _)| {
            let problem = crate::plan::naming::not_in_input(source, name);
            let near = problem.help.as_ref().filter(|help| help.starts_with("did you mean"));
            let near = near.map(|help| format!("{help} otherwise ")).unwrap_or_default();
            Problem::new(format!(
                "{}, but the recoding's releases have it",
                problem.message
            ))
            .help(format!(
                "{near}add the column, which may be empty, or make a recoding of a table without it"
            ))
        };
        missing.map(problem).collect()
    }
}

impl Application<'_> {
    /// Refuses columns of another type than those that the recoding was made of: columns of texts
    /// without an order that now hold other values, none of which it knows, and sensitive columns
    /// whose models would measure something else.
    pub(super) fn refuse_retyped(
        &self,
        plan: &Plan,
        known: &dyn DistinctValues,
    ) -> Result<(), JobError> {
        let mut problems = Vec::new();
        for column in plan.columns.iter().filter(|column| column.role.is_some()) {
            let name = &column.name;
            let Some(values) = known.values(name) else { continue };
            let rows = values.texts.iter().zip(&values.counts);
            let new = rows.filter(|(text, rows)| **rows > 0 && !text.trim().is_empty());
            let new: Vec<&str> = new.map(|(text, _)| text.as_str()).collect();
            if new.is_empty() {
                continue;
            }
            let is = kind_of_texts(new.iter().copied());
            let was = if let Some(texts) = self.file.sequences.get(name) {
                let texts: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
                let is_known = new.iter().any(|text| texts.contains(text));
                Some(kind_of_texts(texts)).filter(|was| !is_known && is != Kind::Text && is != *was)
            } else {
                let said = self.file.types.get(name);
                let was =
                    Kind::NAMES.iter().find(|(name, _)| said.is_some_and(|said| said == name));
                was.map(|(_, was)| *was).filter(|was| was.is_numeric() && !is.is_numeric())
            };
            if let Some(was) = was {
                problems.push(
                    Problem::new(format!(
                        "column `{name}` is {is} now, and was {was} when the recoding was made"
                    ))
                    .help("convert the column, or make another recoding"),
                );
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
    }
}

/// The columns as the recoding knows them: without the values that it does not know, which come
/// last.
pub(super) fn without_unknown(attributes: &[Attribute], n_unknown: &[usize]) -> Vec<Attribute> {
    let known = |(attribute, &n_unknown): (&Attribute, &usize)| {
        let mut known = attribute.clone();
        let dictionary = &mut known.dictionary;
        dictionary.texts.truncate(dictionary.texts.len() - n_unknown);
        dictionary.positions.truncate(dictionary.texts.len());
        if let (Shape::Tree(hierarchy), true) = (&attribute.shape, n_unknown > 0) {
            let rows = hierarchy.rows().take(dictionary.texts.len());
            let rows: Vec<Vec<String>> =
                rows.map(|row| row.into_iter().map(str::to_owned).collect()).collect();
            if let Ok(smaller) = Hierarchy::from_rows(&rows) {
                let has_missing = dictionary.has_missing;
                let smaller = if has_missing { smaller.with_missing() } else { smaller };
                known.shape = Shape::Tree(smaller);
            }
        }
        known
    };
    attributes.iter().zip(n_unknown).map(known).collect()
}

/// The cells in terms of such columns: missing cells have the code after the last value, and every
/// level of a hierarchy ends with theirs.
pub(super) fn cells_without_unknown(
    recoded: &Recoded,
    attributes: &[Attribute],
    known: &[Attribute],
) -> Recoded {
    let mut recoded = recoded.clone();
    for ((column, attribute), known) in recoded.columns.iter_mut().zip(attributes).zip(known) {
        let missing = attribute.dictionary.missing().zip(known.dictionary.missing());
        let Some((was, is)) = missing.filter(|(was, is)| was != is) else { continue };
        let node = |(level, group): (u8, u32)| match (&attribute.shape, &known.shape) {
            (Shape::Tree(all), Shape::Tree(known)) => {
                let is_missing = all.group_of(Level(level), was) == group;
                (level, if is_missing { known.group_of(Level(level), is) } else { group })
            }
            _ => (level, group),
        };
        for cell in &mut column.cells {
            match cell {
                Cell::Value(code) if *code == was => *code = is,
                Cell::Node(level, group) => (*level, *group) = node((*level, *group)),
                Cell::Nodes(nodes) => nodes.iter_mut().for_each(|of| *of = node(*of)),
                _ => {}
            }
        }
    }
    recoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Rows {
        text.split(' ').map(|row| row.split(';').map(str::to_owned).collect()).collect()
    }

    fn check(rule: &BuiltSpec, old: &str, new: &[&str], expected: &str, rest: &[&str]) {
        let mut all = rows(old);
        let left = extend(rule, &mut all, new.iter().map(|&text| text.to_owned()).collect());
        assert_eq!(left, rest);
        assert_eq!(all, rows(expected));
    }

    #[test]
    fn rules_give_new_values_their_place() {
        let mask = BuiltSpec { mask: Some("right".to_owned()), ..BuiltSpec::default() };
        check(
            &mask,
            "531;53*;5**;* 532;53*;5**;* 710;71*;7**;*",
            &["533", "545", "9", "1234"],
            "545;54*;5**;* 533;53*;5**;* 531;53*;5**;* 532;53*;5**;* 710;71*;7**;* 9;9**;9**;*",
            &["1234"],
        );
        let width = BuiltSpec { width: Some(10.0), levels: Some(vec![2]), ..BuiltSpec::default() };
        check(
            &width,
            "3;[0-9];[0-19];* 12;[10-19];[0-19];*",
            &["-5", "14", "x", "25"],
            "3;[0-9];[0-19];* 14;[10-19];[0-19];* 12;[10-19];[0-19];* -5;[-10..-1];[-20..-1];* 25;[20-29];[20-39];*",
            &["x"],
        );
        let dates = BuiltSpec {
            dates: Some(vec!["month".to_owned(), "year".to_owned()]),
            ..BuiltSpec::default()
        };
        check(
            &dates,
            "2024-01-03;2024-01;2024;* 2024-03-03;2024-03;2024;*",
            &["2024-03-09", "soon", "2024-02-01"],
            "2024-02-01;2024-02;2024;* 2024-01-03;2024-01;2024;* 2024-03-09;2024-03;2024;* 2024-03-03;2024-03;2024;*",
            &["soon"],
        );
    }
}

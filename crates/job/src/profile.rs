//! `profile`: what a table holds and what could single people out.

mod combinations;
mod in_files;
pub(crate) mod number;
mod page;
pub(crate) mod people;
mod refined;
mod shape;
mod suggest;
mod suggested_job;
mod vocabulary;
mod words;

use std::cmp::Reverse;
use std::path::Path;

use incrowd_data::Codes;
use incrowd_engine::{Engine, Sample, Source, SourceColumn, Use, Values, read};
use rayon::prelude::*;
use serde::Serialize;

use self::combinations::{Found, Grouped, MOST_COLUMNS, worst};
use self::number::Whose;
use self::refined::Refined;
use self::suggest::{Facts, Suggested, suggest};
use crate::error::{JobError, Problem};
use crate::measure::Way;
use crate::naming::not_in_input;
use crate::run::{Run, Stage};
use crate::spec::RunSpec;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// A file, a folder or a glob.
    pub input: String,
    /// The columns that an attacker can know; those that look like it if none are named.
    pub quasi: Vec<String>,
    /// Take the first line of a text file for the names of columns even if it looks like a row.
    pub has_header: bool,
    /// What may be taken of the machine.
    pub run: RunSpec,
}

/// A table at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Rows.
    pub rows: u64,
    /// Columns in their order.
    pub columns: Vec<ColumnProfile>,
    /// Columns whose values cannot be grouped, and row indexes: they were not looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_looked_at: Vec<String>,
    /// What each of them holds; none for a row index.
    #[serde(skip)]
    hold: Vec<Option<&'static str>>,
    /// Minimal combinations of up to four columns that single out most rows, a few of each size, worst first.
    pub combinations: Vec<Combination>,
    /// The columns that were combined with each other.
    pub combined: Vec<String>,
    /// Whether no other combination of them singles out more rows.
    pub exact: bool,
}

/// A column at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnProfile {
    /// Its name.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: String,
    /// Distinct values, missing not counted.
    pub distinct: u64,
    /// Rows without a value.
    pub missing: u64,
    /// Rows whose value no other row has.
    pub unique: u64,
    /// The role that it probably has.
    pub suggested_role: &'static str,
    /// Whether k should count its distinct values: it numbers people, and they have several rows.
    /// At most one column is the entity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suggested_entity: bool,
    /// Why.
    pub reason: String,
    /// Whose numbers its values are, where they repeat.
    #[serde(skip)]
    repeats: Option<Whose>,
    /// Another column that tells the same rows apart and was combined in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

/// Columns that an attacker could put together.
#[derive(Clone, Debug, Serialize)]
pub struct Combination {
    /// The columns.
    pub columns: Vec<String>,
    /// Classes of rows that look the same on them.
    pub classes: u64,
    /// Rows that are alone in their class.
    pub unique_rows: u64,
    /// Their share of all rows.
    pub unique_share: f64,
    /// Rows in classes of fewer than five, those that are alone included.
    pub below_5: u64,
}

impl ColumnProfile {
    /// The suggested role, and whether k counts the column's values, in words.
    #[must_use]
    pub fn role_in_words(&self) -> String {
        let more = if self.suggested_entity { ", entity" } else { "" };
        format!("{}{more}", self.suggested_role)
    }
}

impl Profile {
    /// The columns that were not looked at, each with its suggested role (none for a row index, which
    /// needs none) and the reason.
    pub fn passed_over(&self) -> impl Iterator<Item = (&str, &'static str, String)> {
        self.not_looked_at.iter().zip(&self.hold).map(|(name, holds)| {
            if let Some(holds) = holds {
                let why = format!(
                    "it holds {holds}, which cannot be recoded: never released, unless you declare it \
                     insensitive"
                );
                (name.as_str(), "identifier", why)
            } else {
                let why = "a row index that pandas added: it needs no role, and is left out";
                (name.as_str(), "", why.to_owned())
            }
        })
    }

    /// One HTML file for people; no value of the table is in it.
    #[must_use]
    pub fn to_html(&self, input: &str) -> String {
        page::html(self, input)
    }

    /// A job file to start from, to be written to `path`: the suggested roles with their reasons.
    #[must_use]
    pub fn to_job(&self, input: &str, path: &Path) -> String {
        suggested_job::toml(self, input, path)
    }
}

/// Looks at every column of an input.
pub fn profile(run: &Run, options: &ProfileOptions) -> Result<Profile, JobError> {
    let how = &options.run;
    let bounds = run.bounds(how)?;
    if how.engine.as_deref().is_some_and(|engine| engine != "embedded") {
        let message = "a table is profiled by the embedded engine";
        return Err(Problem::new(message).help("leave --engine out").into());
    }
    run.with_engine(how.threads, |engine| {
        run.enter(Stage::Open);
        let source = Source::open(engine, &options.input)?;
        if source.looks_headerless() && !options.has_header {
            let message = format!(
                "the first line of `{}` looks like a row, not like a header; a profile would show its cells",
                options.input
            );
            let help = "give the file a first line with the names of the columns, or say with --header that it has one";
            return Err(Problem::new(message).help(help).into());
        }
        let wanted = Wanted::new(&source, &options.quasi)?;
        bounds.refuse_large_portions(engine, &source, &wanted.uses)?;
        let way = Way::within(&bounds, &source, &wanted.uses);
        profile_in(engine, run, &wanted, &way)
    })
}

/// What of a source is looked at.
struct Wanted<'a> {
    source: &'a Source,
    uses: Vec<Use>,
    /// The columns that are named to be combined.
    named: &'a [String],
}

impl<'a> Wanted<'a> {
    fn new(source: &'a Source, named: &'a [String]) -> Result<Wanted<'a>, JobError> {
        let usage = |(at, column): (usize, &SourceColumn)| {
            let is_passed_over = source.is_row_index(at) && !named.contains(&column.name);
            if column.can_be_coded() && !is_passed_over { Use::Code } else { Use::Skip }
        };
        let uses: Vec<Use> = source.columns().iter().enumerate().map(usage).collect();
        let known: Vec<&str> = source.columns().iter().map(|column| column.name.as_str()).collect();
        let problem = |name: &String| match known.iter().position(|known| known == name) {
            Some(at) if uses[at] == Use::Code => None,
            Some(at) => {
                let holds = source.columns()[at].holds().unwrap_or_default();
                let message = format!("column `{name}` holds {holds}, which cannot be grouped");
                Some(Problem::new(message).help("leave it out of --quasi"))
            }
            None => Some(not_in_input(source, name)),
        };
        let mut problems: Vec<Problem> = named.iter().filter_map(problem).collect();
        if named.len() > MOST_COLUMNS {
            let message = format!("--quasi names {} columns", named.len());
            problems.push(Problem::new(message).help(format!("name {MOST_COLUMNS} at most")));
        }
        if problems.is_empty() {
            Ok(Wanted { source, uses, named })
        } else {
            Err(JobError::Request(problems))
        }
    }

    /// The profile of columns and rows that were read.
    fn combine(
        &self,
        run: &Run,
        mut columns: Vec<ColumnProfile>,
        n_rows: u64,
        rows: &impl Grouped,
    ) -> Result<Profile, JobError> {
        for column in columns.iter_mut().filter(|column| self.named.contains(&column.name)) {
            column.suggested_role = "quasi";
            column.repeats = None;
            "named with --quasi".clone_into(&mut column.reason);
        }
        choose_entity(&mut columns);
        let candidates = self.candidates(&mut columns, rows)?;
        let found = worst(run, rows, &candidates, n_rows)?;
        run.go_on()?;
        let mut combinations: Vec<Combination> = found
            .found
            .iter()
            .map(|found| combination(&columns, &candidates, found, n_rows))
            .collect();
        // Stable: fewer columns first, then as they were found.
        combinations.sort_by_key(|found| Reverse(found.unique_rows));
        let is_skipped = |(usage, _): &(&Use, _)| **usage == Use::Skip;
        let skipped = self.uses.iter().zip(self.source.columns()).filter(is_skipped);
        let skipped = skipped.map(|(_, column)| (column.name.clone(), column.holds()));
        let (not_looked_at, hold) = skipped.unzip();
        Ok(Profile {
            rows: n_rows,
            not_looked_at,
            hold,
            combined: named(&columns, &candidates[..found.n_columns]),
            columns,
            combinations,
            exact: found.is_exact,
        })
    }

    /// The columns that are combined, those with most values first. One that tells the same rows apart as
    /// another is said to be the same and left out.
    fn candidates(
        &self,
        columns: &mut [ColumnProfile],
        rows: &impl Grouped,
    ) -> Result<Vec<usize>, JobError> {
        let is_wanted = |column: &ColumnProfile| match self.named {
            [] => column.suggested_role == "quasi",
            named => named.contains(&column.name),
        };
        let n_classes = |column: &ColumnProfile| column.distinct + u64::from(column.missing > 0);
        let mut known: Vec<usize> = (0..columns.len())
            .filter(|&at| is_wanted(&columns[at]) && n_classes(&columns[at]) > 1)
            .collect();
        known.sort_by_key(|&at| Reverse(columns[at].distinct));
        let figures = |column: &ColumnProfile| (column.distinct, column.missing, column.unique);
        let mut candidates: Vec<usize> = Vec::new();
        for at in known {
            if candidates.len() == MOST_COLUMNS {
                break;
            }
            let mut same_as = None;
            for &other in &candidates {
                let (column, other_column) = (&columns[at], &columns[other]);
                // Where every value is a row's own, columns are alike by chance.
                if column.unique < column.distinct
                    && figures(column) == figures(other_column)
                    && rows.by(other)?.tally_by(at)?.classes == n_classes(column)
                {
                    same_as = Some(other_column.name.clone());
                    break;
                }
            }
            if same_as.is_none() {
                candidates.push(at);
            }
            columns[at].same_as = same_as;
        }
        Ok(candidates)
    }
}

/// Makes one of the columns that number people and repeat the entity: the one nearest to a person;
/// of several, the one with fewest values, since a person has many cases and a case has one person.
fn choose_entity(columns: &mut [ColumnProfile]) {
    let entity = columns
        .iter_mut()
        .filter(|column| column.repeats.is_some())
        .min_by_key(|column| (column.repeats, column.distinct));
    if let Some(column) = entity {
        column.suggested_entity = true;
        column.reason.push_str("; its values repeat, so that k should count them");
    }
}

/// The names of columns in the order of the table.
fn named(columns: &[ColumnProfile], at: &[usize]) -> Vec<String> {
    let mut at = at.to_vec();
    at.sort_unstable();
    at.iter().map(|&at| columns[at].name.clone()).collect()
}

fn combination(
    columns: &[ColumnProfile],
    candidates: &[usize],
    found: &Found,
    n_rows: u64,
) -> Combination {
    let at: Vec<usize> = found.columns.iter().map(|&column| candidates[column]).collect();
    Combination {
        columns: named(columns, &at),
        classes: found.tally.classes,
        unique_rows: found.tally.unique,
        unique_share: found.tally.unique as f64 / n_rows as f64,
        below_5: found.tally.below_5,
    }
}

/// Looks at every column, with the rows in memory or in private files.
fn profile_in(engine: &Engine, run: &Run, wanted: &Wanted, way: &Way) -> Result<Profile, JobError> {
    run.enter(Stage::Read);
    if let Way::Files { bounds, room } = way {
        return in_files::profile(engine, run, wanted, (bounds, *room));
    }
    let table = read(engine, wanted.source, &wanted.uses, false)?;
    run.enter(Stage::Search);
    let n_rows = table.n_rows as u64;
    let columns: Vec<ColumnProfile> =
        table.coded.par_iter().map(|raw| describe_values(&raw.values, n_rows)).collect();
    let codes: Vec<(&Codes, u32)> =
        table.coded.iter().map(|raw| (&raw.codes, raw.values.n_codes())).collect();
    wanted.combine(run, columns, n_rows, &Refined::all(&codes, table.n_rows))
}

fn describe_values(values: &Values, n_rows: u64) -> ColumnProfile {
    let sample = Sample::of(values.texts.iter().map(String::as_str));
    describe(&values.name, &facts_of(values, n_rows, &sample))
}

/// What is known of a column all of whose values are known.
fn facts_of<'a>(values: &Values, n_rows: u64, sample: &'a Sample) -> Facts<'a> {
    let missing = values.n_missing();
    let n_values = values.texts.len();
    Facts {
        kind: values.natural_kind(),
        distinct: n_values as u64,
        unique: values.counts[..n_values].iter().filter(|&&count| count == 1).count() as u64,
        present: n_rows - missing,
        missing,
        bytes: values.texts.iter().map(|text| text.len() as u64).sum(),
        sample,
    }
}

fn describe(name: &str, facts: &Facts) -> ColumnProfile {
    let Suggested { role, reason, repeats } = suggest(name, facts);
    ColumnProfile {
        name: name.to_owned(),
        kind: facts.kind.to_string(),
        distinct: facts.distinct,
        missing: facts.missing,
        unique: facts.unique,
        suggested_role: role,
        suggested_entity: false,
        reason,
        repeats,
        same_as: None,
    }
}

#[cfg(test)]
mod tests;

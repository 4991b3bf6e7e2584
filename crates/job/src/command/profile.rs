//! `profile`: what a table holds and what could single people out.

mod combinations;
mod files;
mod in_files;
mod refined;
mod suggested_job;

use std::cmp::Reverse;

use incrowd_data::Codes;
use incrowd_engine::{Engine, Sample, Source, SourceColumn, Use, Values, read};
use rayon::prelude::*;

use self::combinations::{Found, Grouped, MOST_COLUMNS, worst};
use self::refined::Refined;
use crate::flow::guess::number::Whose;
use crate::flow::guess::suggest::{Facts, Suggested, facts_of, suggest};
use crate::flow::place::Place;
use crate::flow::run::{Run, Stage};
use crate::plan::naming::not_in_input;
use crate::report::{ColumnProfile, Combination, Profile};
use crate::spec::RunSpec;
use crate::spec::error::{JobError, Problem};

pub use files::ProfileFiles;

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
        let place = Place::measured(engine, &bounds, &source, &wanted.uses);
        profile_in(engine, run, &wanted, &place)
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
        mut described: Vec<Described>,
        n_rows: u64,
        rows: &impl Grouped,
    ) -> Result<Profile, JobError> {
        let is_named = |column: &&mut Described| self.named.contains(&column.profile.name);
        for Described { profile, repeats } in described.iter_mut().filter(is_named) {
            profile.suggested_role = "quasi";
            "named with --quasi".clone_into(&mut profile.reason);
            *repeats = None;
        }
        choose_entity(&mut described);
        let mut columns: Vec<ColumnProfile> =
            described.into_iter().map(|column| column.profile).collect();
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

    /// The columns that are combined, those with most values first. One that tells the same rows
    /// apart as another is said to be the same and left out.
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
fn choose_entity(columns: &mut [Described]) {
    let entity = columns
        .iter_mut()
        .filter(|column| column.repeats.is_some())
        .min_by_key(|column| (column.repeats, column.profile.distinct));
    if let Some(Described { profile, .. }) = entity {
        profile.suggested_entity = true;
        profile.reason.push_str("; its values repeat, so that k should count them");
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
fn profile_in(
    engine: &Engine,
    run: &Run,
    wanted: &Wanted,
    place: &Place,
) -> Result<Profile, JobError> {
    run.enter(Stage::Read);
    if let Place::Files { bounds, room } = place {
        return in_files::profile(engine, run, wanted, (bounds, *room));
    }
    let table = read(engine, wanted.source, &wanted.uses, false)?;
    run.enter(Stage::Search);
    let n_rows = table.n_rows as u64;
    let columns: Vec<Described> =
        table.coded.par_iter().map(|raw| describe_values(&raw.values, n_rows)).collect();
    let codes: Vec<(&Codes, u32)> =
        table.coded.iter().map(|raw| (&raw.codes, raw.values.n_codes())).collect();
    wanted.combine(run, columns, n_rows, &Refined::all(&codes, table.n_rows))
}

fn describe_values(values: &Values, n_rows: u64) -> Described {
    let sample = Sample::of(values.texts.iter().map(String::as_str));
    describe(&values.name, &facts_of(values, n_rows, &sample))
}

/// A column, described on its own.
struct Described {
    profile: ColumnProfile,
    /// Whose numbers its values are, where they repeat.
    repeats: Option<Whose>,
}

fn describe(name: &str, facts: &Facts) -> Described {
    let Suggested { role, reason, repeats } = suggest(name, facts);
    let profile = ColumnProfile {
        name: name.to_owned(),
        kind: facts.kind.to_string(),
        distinct: facts.distinct,
        missing: facts.missing,
        unique: facts.unique,
        suggested_role: role,
        suggested_entity: false,
        reason,
        same_as: None,
    };
    Described { profile, repeats }
}

#[cfg(test)]
mod tests;

//! `profile`: what a table holds and what could single people out.

mod in_files;

use incrowd_data::{Codes, Kind, collapse};
use incrowd_engine::{Engine, RawColumn, Source, SourceColumn, Use, Values, read};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::{JobError, Problem};
use crate::measure::Way;
use crate::run::{Run, Stage};
use crate::spec::RunSpec;

/// A table at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Rows.
    pub rows: u64,
    /// Columns in their order.
    pub columns: Vec<ColumnProfile>,
    /// Combinations of columns that single out most rows, worst first.
    pub combinations: Vec<Combination>,
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
    /// Why.
    pub reason: String,
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
}

/// Looks at every column of an input.
pub fn profile(run: &Run, input: &str, how: &RunSpec) -> Result<Profile, JobError> {
    let bounds = run.bounds(how)?;
    if how.engine.as_deref().is_some_and(|engine| engine != "embedded") {
        let message = "a table is profiled by the embedded engine";
        return Err(Problem::new(message).help("leave --engine out").into());
    }
    run.with_engine(how.threads, |engine| {
        run.enter(Stage::Open);
        let source = Source::open(engine, input)?;
        let way = Way::within(&bounds, &source, &uses(&source));
        profile_in(engine, run, &source, &way)
    })
}

/// All columns that have values.
fn uses(source: &Source) -> Vec<Use> {
    let usage = |column: &SourceColumn| if column.can_be_coded() { Use::Code } else { Use::Skip };
    source.columns().iter().map(usage).collect()
}

/// Looks at every column, with the rows in memory or in private files.
fn profile_in(engine: &Engine, run: &Run, source: &Source, way: &Way) -> Result<Profile, JobError> {
    run.enter(Stage::Read);
    if let Way::Files { bounds, room } = way {
        return in_files::profile(engine, run, source, &uses(source), (bounds, *room));
    }
    let table = read(engine, source, &uses(source), false)?;
    run.enter(Stage::Search);
    let n_rows = table.n_rows as u64;
    let columns: Vec<ColumnProfile> =
        table.coded.par_iter().map(|raw| describe_values(&raw.values, n_rows)).collect();
    let count = |sets: Vec<Vec<usize>>| {
        let singled_out = |set| singled_out(&table.coded, set, table.n_rows);
        Ok(sets.into_par_iter().map(singled_out).collect())
    };
    let combinations = combinations(&columns, n_rows, &count)?;
    run.go_on()?;
    Ok(Profile { rows: n_rows, columns, combinations })
}

fn describe_values(values: &Values, n_rows: u64) -> ColumnProfile {
    let missing = values.n_missing();
    let n_values = values.texts.len();
    let facts = Facts {
        kind: values.natural_kind(),
        distinct: n_values as u64,
        unique: values.counts[..n_values].iter().filter(|&&count| count == 1).count() as u64,
        present: n_rows - missing,
        is_long: values.texts.iter().map(String::len).sum::<usize>() > 30 * n_values.max(1),
    };
    describe(&values.name, &facts, missing)
}

fn describe(name: &str, facts: &Facts, missing: u64) -> ColumnProfile {
    let (suggested_role, reason) = suggest(name, facts);
    ColumnProfile {
        name: name.to_owned(),
        kind: facts.kind.to_string(),
        distinct: facts.distinct,
        missing,
        unique: facts.unique,
        suggested_role,
        reason,
    }
}

struct Facts {
    kind: Kind,
    distinct: u64,
    unique: u64,
    present: u64,
    is_long: bool,
}

/// Words in column names that say what a column is.
const WORDS: [(&str, &[&str]); 3] = [
    (
        "identifier",
        &[
            "name", "surname", "ssn", "email", "phone", "passport", "iban", "account", "mrn",
            "uuid", "address",
        ],
    ),
    (
        "quasi",
        &[
            "age",
            "sex",
            "gender",
            "race",
            "ethnicity",
            "birth",
            "dob",
            "zip",
            "postcode",
            "zipcode",
            "postal",
            "city",
            "county",
            "state",
            "region",
            "country",
            "nationality",
            "education",
            "marital",
            "occupation",
            "job",
            "workclass",
            "relationship",
            "height",
            "weight",
            "vehicle",
        ],
    ),
    (
        "sensitive",
        &[
            "disease",
            "diagnosis",
            "icd",
            "salary",
            "income",
            "wage",
            "hiv",
            "religion",
            "medication",
            "treatment",
            "crime",
            "debt",
            "loan",
            "grade",
            "result",
        ],
    ),
];

fn suggest(name: &str, facts: &Facts) -> (&'static str, String) {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let is_id = words.iter().any(|word| ["id", "no", "nr", "key"].contains(word));
    let is_near_unique = facts.present >= 20 && facts.unique * 10 >= facts.present * 9;
    if is_near_unique && facts.kind != Kind::Decimal {
        return ("identifier", "almost every row has a value of its own".to_owned());
    }
    if is_id && facts.distinct * 2 > facts.present {
        return ("identifier", "its name and its many values say so".to_owned());
    }
    if facts.is_long && facts.kind == Kind::Text && facts.distinct > 100 {
        return ("identifier", "it looks like free text, which may hold anything".to_owned());
    }
    for (role, known) in WORDS {
        if let Some(word) = words.iter().find(|word| known.contains(word)) {
            return (role, format!("`{word}` in its name"));
        }
    }
    match facts.kind {
        Kind::Date | Kind::Timestamp => ("quasi", "dates are often known to others".to_owned()),
        Kind::Integer | Kind::Decimal if facts.distinct > 100 => {
            ("insensitive", "a measured number; sensitive if people would mind".to_owned())
        }
        _ => ("quasi", "few values that others may know".to_owned()),
    }
}

/// How many columns are combined with each other.
const MOST_COLUMNS: usize = 10;
/// How many combinations are shown.
const MOST_SHOWN: usize = 10;

/// Rows that columns single out, classes that they have, and the columns.
type Counted = (u64, u64, Vec<usize>);

fn combinations(
    columns: &[ColumnProfile],
    n_rows: u64,
    count: &dyn Fn(Vec<Vec<usize>>) -> Result<Vec<Counted>, JobError>,
) -> Result<Vec<Combination>, JobError> {
    if n_rows == 0 {
        return Ok(Vec::new());
    }
    let mut known: Vec<usize> = (0..columns.len())
        .filter(|&at| matches!(columns[at].suggested_role, "quasi"))
        .filter(|&at| columns[at].distinct > 1)
        .collect();
    known.sort_by_key(|&at| std::cmp::Reverse(columns[at].distinct));
    known.truncate(MOST_COLUMNS);
    let count = |sets: Vec<Vec<usize>>| -> Result<Vec<Counted>, JobError> {
        let mut counted = count(sets)?;
        counted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
        Ok(counted)
    };
    let mut all = count(known.iter().map(|&at| vec![at]).collect())?;
    let mut sets: Vec<Vec<usize>> = known.iter().map(|&at| vec![at]).collect();
    for _ in 2..=4 {
        // Every pair; then the worst combinations and one column more.
        let mut larger: Vec<Vec<usize>> = sets
            .iter()
            .flat_map(|set| {
                known.iter().filter(|at| !set.contains(at)).map(|&at| {
                    let mut larger = set.clone();
                    larger.push(at);
                    larger.sort_unstable();
                    larger
                })
            })
            .collect();
        larger.sort();
        larger.dedup();
        let counted = count(larger)?;
        sets = counted.iter().take(3).map(|(_, _, set)| set.clone()).collect();
        all.extend(counted.into_iter().take(3));
    }
    all.retain(|(unique, ..)| *unique > 0);
    all.sort_by(|a, b| {
        b.0.cmp(&a.0).then_with(|| a.2.len().cmp(&b.2.len())).then_with(|| a.2.cmp(&b.2))
    });
    let shown = all.into_iter().take(MOST_SHOWN).map(|(unique_rows, classes, set)| Combination {
        columns: set.iter().map(|&at| columns[at].name.clone()).collect(),
        classes,
        unique_rows,
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        unique_share: unique_rows as f64 / n_rows as f64,
    });
    Ok(shown.collect())
}

fn singled_out(raw: &[RawColumn], set: Vec<usize>, n_rows: usize) -> Counted {
    let columns: Vec<(&Codes, u32)> =
        set.iter().map(|&at| (&raw[at].codes, raw[at].values.n_codes())).collect();
    let counts = collapse(&columns, n_rows).counts;
    let unique = counts.iter().filter(|&&count| count == 1).count() as u64;
    (unique, counts.len() as u64, set)
}

#[cfg(test)]
mod tests;

//! `profile`: what a table holds and what could single people out.

use incrowd_data::{Codes, Kind, collapse};
use incrowd_engine::{Order, RawColumn, Source, SourceColumn, Use, read};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::JobError;
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
    run.with_engine_named(how.engine.as_deref(), how.threads, |engine| {
        run.enter(Stage::Open);
        let source = Source::open(engine, input)?;
        let can_be_coded: Vec<bool> =
            source.columns().iter().map(SourceColumn::can_be_coded).collect();
        let uses: Vec<Use> =
            can_be_coded.iter().map(|&coded| if coded { Use::Code } else { Use::Skip }).collect();
        run.enter(Stage::Read);
        let table = read(engine, &source, &uses, false)?;
        run.enter(Stage::Search);
        let columns: Vec<ColumnProfile> =
            table.coded.par_iter().map(|raw| describe(raw, table.n_rows)).collect();
        let combinations = combinations(&table.coded, &columns, table.n_rows);
        run.go_on()?;
        Ok(Profile { rows: table.n_rows as u64, columns, combinations })
    })
}

fn describe(raw: &RawColumn, n_rows: usize) -> ColumnProfile {
    let kind = raw.rank(Order::Natural(None)).map_or(Kind::Text, |ranked| ranked.dictionary.kind);
    let missing = raw.values.n_missing();
    let unique =
        raw.values.counts[..raw.values.texts.len()].iter().filter(|&&count| count == 1).count()
            as u64;
    let distinct = raw.values.texts.len() as u64;
    let is_long = raw.values.texts.iter().map(String::len).sum::<usize>()
        > 30 * raw.values.texts.len().max(1);
    let facts = Facts { kind, distinct, unique, present: n_rows as u64 - missing, is_long };
    let (suggested_role, reason) = suggest(&raw.values.name, &facts);
    ColumnProfile {
        name: raw.values.name.clone(),
        kind: kind.to_string(),
        distinct,
        missing,
        unique,
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

fn combinations(raw: &[RawColumn], columns: &[ColumnProfile], n_rows: usize) -> Vec<Combination> {
    if n_rows == 0 {
        return Vec::new();
    }
    let mut known: Vec<usize> = (0..raw.len())
        .filter(|&at| matches!(columns[at].suggested_role, "quasi"))
        .filter(|&at| columns[at].distinct > 1)
        .collect();
    known.sort_by_key(|&at| std::cmp::Reverse(columns[at].distinct));
    known.truncate(MOST_COLUMNS);
    let count = |sets: Vec<Vec<usize>>| -> Vec<(u64, u64, Vec<usize>)> {
        let mut counted: Vec<_> =
            sets.into_par_iter().map(|set| singled_out(raw, set, n_rows)).collect();
        counted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
        counted
    };
    let mut all = count(known.iter().map(|&at| vec![at]).collect());
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
        let counted = count(larger);
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
    shown.collect()
}

fn singled_out(raw: &[RawColumn], set: Vec<usize>, n_rows: usize) -> (u64, u64, Vec<usize>) {
    let columns: Vec<(&Codes, u32)> =
        set.iter().map(|&at| (&raw[at].codes, raw[at].values.n_codes())).collect();
    let counts = collapse(&columns, n_rows).counts;
    let unique = counts.iter().filter(|&&count| count == 1).count() as u64;
    (unique, counts.len() as u64, set)
}

//! Recoding files put to use: applying one ends in an error or in a release that keeps the k that
//! the file asks for, in bounded memory.
//!
//! The first byte of an input says how the file is applied, bit by bit; the rest is the file.

use std::path::Path;

use incrowd_job::{anonymize, apply, ApplyOptions, JobSpec, Outcome, Run, RunSpec, SuppressLimit};

use crate::{mutation, release, sandbox, table, Seed};

/// By algorithm, the columns of the job that a recoding is made with.
const HIERARCHIES: &str = "\
age = { role = \"quasi\", hierarchy = { width = 5.0, levels = [2, 2] } }
zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }
sex = { role = \"quasi\", hierarchy = [[\"m\", \"*\"], [\"f\", \"*\"], [\"x\", \"*\"]] }
";
const PLAIN: &str = "\
age = { role = \"quasi\" }
zip = { role = \"quasi\" }
sex = { role = \"quasi\", order = [\"m\", \"f\", \"x\"] }
";

/// Puts the tables into place.
pub fn start() {
    for (at, table) in [table::TABLE, table::OTHER, table::EMPTY].iter().enumerate() {
        sandbox::write(&format!("rows{at}.csv"), table.as_bytes());
    }
}

/// Recodings of the table, of every kind.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    start();
    let ways = [
        ("mondrian", PLAIN),
        ("mondrian", HIERARCHIES),
        ("tds", HIERARCHIES),
        ("single-dimensional", PLAIN),
        ("hill-climb", PLAIN),
        ("koptimize", PLAIN),
        ("optimal", HIERARCHIES),
        ("datafly", HIERARCHIES),
        ("butterfly", PLAIN),
    ];
    let made = ways.iter().enumerate().filter_map(|(at, (algorithm, columns))| {
        let file = made_by(algorithm, columns)?;
        Some((format!("{algorithm}-{at}"), [b"\0".as_slice(), &file[..]].concat()))
    });
    let made: Vec<Seed> = made.collect();
    assert!(made.len() > 5, "recodings can be made");
    made
}

/// The recoding file of a job on the table, if there is a release.
fn made_by(algorithm: &str, columns: &str) -> Option<Vec<u8>> {
    let text = format!(
        "undeclared = \"drop\"\n[columns]\n{columns}income = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n[privacy]\nk = 2\n[search]\nalgorithm = \"{algorithm}\"\n"
    );
    let text = if algorithm == "optimal" || algorithm == "datafly" || algorithm == "tds" {
        text.replace("income = { role = \"quasi\" }\n", "income = { role = \"insensitive\" }\n")
    } else {
        text
    };
    let mut spec = JobSpec::from_toml(&text).expect("a sound job");
    spec.input = Some(sandbox::path("rows0.csv"));
    spec.output = Some(sandbox::path("seed.csv"));
    spec.recoding = Some(sandbox::path("seed.json"));
    let outcome = anonymize(&Run::default(), &spec, true);
    if !matches!(outcome, Ok(Outcome::Done(_))) {
        eprintln!("no recoding by {algorithm}: {outcome:?}");
        return None;
    }
    std::fs::read(sandbox::path("seed.json")).ok()
}

/// The tree of the file is changed most of the time.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let words = [
        "age",
        "zip",
        "sex",
        "income",
        "disease",
        "quasi",
        "27",
        "x",
        "full-domain",
        "single-dimensional",
        "multidimensional",
        "text",
        "integer",
        "decimal",
        "date",
        "bounds",
        "region",
        "mean",
        "range+mean",
        "",
    ];
    mutation::of_json(data, (size, most), 1, seed, &words)
}

/// Applies a recoding.
pub fn run(input: &[u8]) {
    let Some((&choice, file)) = input.split_first() else { return };
    let has = |bit: u8| choice >> bit & 1 == 1;
    let path = sandbox::write("recoding.json", file);
    let rows = if has(0) { 1 + usize::from(has(1)) } else { 0 };
    let output = if has(2) { "applied.parquet" } else { "applied.csv" };
    sandbox::remove(output);
    let options = ApplyOptions {
        input: sandbox::path(&format!("rows{rows}.csv")),
        output: sandbox::path(output),
        undeclared: has(3).then(|| "drop".to_owned()),
        suppress: has(4).then(|| SuppressLimit::Text("100%".to_owned())),
        suppressed: has(5).then(|| "star".to_owned()),
        unverified: has(6),
        run: RunSpec { threads: Some(1), temp_dir: Some(sandbox::path("")), ..RunSpec::default() },
        ..ApplyOptions::default()
    };
    let outcome = apply(&Run::default(), Path::new(&path), &options);
    let is_done = matches!(outcome, Ok(Outcome::Done(_)));
    let written = Path::new(&options.output).exists();
    assert_eq!(written, is_done, "a release is there just if the recoding was applied");
    if is_done && !options.unverified && output == "applied.csv" {
        check_k(file, &options.output);
    }
}

/// Checks the k of a release against what the recoding says.
fn check_k(file: &[u8], output: &str) {
    let Ok(tree) = serde_json::from_slice::<serde_json::Value>(file) else { return };
    let columns = tree["columns"].as_object();
    let has_entity = |column: &serde_json::Value| column["entity"] == true;
    let is_plain = columns.is_some_and(|all| !all.values().any(has_entity));
    if !is_plain || tree["quasi"].as_array().is_some_and(|sets| !sets.is_empty()) {
        return;
    }
    let quasi = columns.into_iter().flatten().filter(|(_, column)| column["role"] == "quasi");
    let quasi: Vec<String> = quasi.map(|(name, _)| name.clone()).collect();
    release::check_k(output, &quasi, tree["privacy"]["k"].as_u64().unwrap_or(2));
}

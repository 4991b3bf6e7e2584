//! What a purpose costs: every split criterion against the median, and queries over the release, in
//! one run.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Failure, census, now, run};

/// A way to cut, by the flags that ask for it.
const WAYS: [(&str, &[&str]); 4] = [
    ("median", &["--split", "median"]),
    ("infogain, 27 labels", &["--split", "infogain", "--target", "diagnosis"]),
    ("lsd", &["--split", "lsd", "--target", "hours"]),
    ("queries, 100 ranges", &["--split", "queries", "--queries", "queries.sql"]),
];

const JOB: [&str; 10] = [
    "-k",
    "10",
    "--quasi",
    "age,sex,race,marital,education,occupation,country,postcode",
    "--insensitive",
    "diagnosis,hours,amount,visit",
    "--identifier",
    "note",
    "--quiet",
    "--force",
];

/// Times every way on a synthetic census table, whole commands and searches alone; the best of some
/// runs counts.
pub(crate) fn times(folder: &Path, rows: u64, runs: usize) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    census::write(&folder.join("census.csv"), rows, 7)?;
    std::fs::write(folder.join("queries.sql"), range_counts())?;
    println!("| {rows} rows, k = 10 | search s | of median | command s | of median |");
    println!("|---|---|---|---|---|");
    let mut median = (0.0, 0.0);
    for (name, flags) in WAYS {
        let (search, command) = best(folder, flags, runs)?;
        if median.0 == 0.0 {
            median = (search, command);
        }
        let (of_search, of_command) = (search / median.0, command / median.1);
        println!("| {name} | {search:.2} | {of_search:.1} | {command:.2} | {of_command:.1} |");
    }
    println!("\n| query over the release | s |\n|---|---|");
    for release in ["release.csv", "release.parquet"] {
        let flags = ["anonymize", "census.csv", "-o", release];
        run(folder, &[&flags[..], &JOB[..]].concat())?;
        let sql =
            "SELECT COUNT(*) WHERE age BETWEEN 30 AND 40 AND sex = 'Male' AND postcode < 12000";
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            let start = now();
            run(folder, &["query", release, sql])?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("| {release}, three conditions | {best:.2} |");
    }
    Ok(())
}

/// The least seconds of the search and of the whole command.
fn best(folder: &Path, flags: &[&str], runs: usize) -> Result<(f64, f64), Failure> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..runs {
        let start = now();
        let args = ["anonymize", "census.csv", "-o", "out.csv", "--report", "report.json"];
        run(folder, &[&args[..], &JOB[..], flags].concat())?;
        let command = start.elapsed().as_secs_f64();
        let report = std::fs::read_to_string(folder.join("report.json"))?;
        let report: serde_json::Value = serde_json::from_str(&report)?;
        let search = report["search"]["elapsed_s"].as_f64().ok_or("no time in the report")?;
        best = (best.0.min(search), best.1.min(command));
    }
    Ok(best)
}

/// One hundred range counts over two columns each, always the same.
fn range_counts() -> String {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::new();
    for _ in 0..100 {
        let (age, years) = (17 + below(60), 3 + below(20));
        let (postcode, span) = (10_000 + below(4_000), 100 + below(2_000));
        let by_place = match below(3) {
            0 => format!("country = 'Country-{}'", below(6)),
            1 => format!("education IN ('Level-{}', 'Level-{}')", below(8), 8 + below(8)),
            _ => format!("postcode BETWEEN {postcode} AND {}", postcode + span),
        };
        let _ = writeln!(
            text,
            "SELECT COUNT(*) WHERE age BETWEEN {age} AND {} AND {by_place}",
            age + years
        );
    }
    text
}

//! Full-domain searches: times within one run, and instruction counts that a noisy machine does not
//! change.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Failure, census, now};

/// The quasi-identifier of the bundled census table.
const COLUMNS: [&str; 8] = [
    "age",
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
];

/// Searches that prove the optimum, the first being the one that is compared.
const SEARCHES: [&[&str]; 4] = [
    &["optimal"],
    &["incognito", "--variant", "super-roots"],
    &["incognito", "--variant", "cube"],
    &["bottom-up"],
];

fn adult() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult")
}

fn incrowd() -> Result<PathBuf, Failure> {
    let incrowd = std::env::current_exe()?.with_file_name("incrowd");
    if incrowd.exists() { Ok(incrowd) } else { Err("build it first: cargo build --release".into()) }
}

/// The arguments of a job on the bundled census table.
fn job(k: u64, suppress: &str, output: &Path) -> Vec<String> {
    let adult = adult();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut args: Vec<String> =
        ["anonymize", &text(adult.join("adult.csv.gz")), "-o"].map(str::to_owned).to_vec();
    args.push(output.to_string_lossy().into_owned());
    let more = format!(
        "--force --quiet --json --undeclared drop --measure discernibility -k {k} --suppress {suppress} --quasi {}",
        COLUMNS.join(",")
    );
    args.extend(more.split(' ').map(str::to_owned));
    for column in COLUMNS {
        let file = text(adult.join(format!("hierarchies/{column}.csv")));
        args.extend(["--hierarchy".to_owned(), format!("{column}={file}")]);
    }
    args
}

fn report(args: &[String]) -> Result<(Value, f64), Failure> {
    let start = now();
    let output = Command::new(incrowd()?).args(args).output()?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok((serde_json::from_slice(&output.stdout)?, seconds))
}

/// Times all exact searches on the bundled census table.
pub(crate) fn times(runs: usize) -> Result<(), Failure> {
    let output = std::env::temp_dir().join(format!("incrowd-bench-{}.csv", std::process::id()));
    println!("| k | limit | search | ms | of optimal | nodes | of | whole command ms |");
    println!("|---|---|---|---|---|---|---|---|");
    for k in [5, 10, 100] {
        for suppress in ["0", "5%", "100%"] {
            let mut optimal = 0.0;
            for search in SEARCHES {
                let mut args = job(k, suppress, &output);
                args.push("--algorithm".to_owned());
                args.extend(search.iter().map(|&word| word.to_owned()));
                let (mut fastest, mut whole, mut last) = (f64::MAX, f64::MAX, Value::Null);
                for _ in 0..runs {
                    let (found, seconds) = report(&args)?;
                    fastest =
                        fastest.min(found["timings_s"]["search"].as_f64().unwrap_or(f64::MAX));
                    whole = whole.min(seconds);
                    last = found;
                }
                if search == SEARCHES[0] {
                    optimal = fastest;
                }
                let name = search.join(" ");
                println!(
                    "| {k} | {suppress} | {name} | {:.1} | {:.1} | {} | {} | {:.0} |",
                    fastest * 1e3,
                    fastest / optimal,
                    last["search"]["nodes_checked"],
                    last["search"]["nodes_total"],
                    whole * 1e3
                );
            }
        }
    }
    std::fs::remove_file(output)?;
    Ok(())
}

/// Times the optimal search on the synthetic census with hierarchies.
pub(crate) fn census(rows: u64) -> Result<(), Failure> {
    let dir = std::env::temp_dir().join(format!("incrowd-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    census::write(&dir.join("census.csv"), rows, 7)?;
    let job = dir.join("job.toml");
    std::fs::write(&job, census::FULL_DOMAIN_JOB)?;
    println!("| {rows} rows | limit | measure | search s | nodes | of | whole command s |");
    println!("|---|---|---|---|---|---|---|");
    for suppress in ["0", "5%", "100%"] {
        for measure in ["discernibility", "loss"] {
            let args = [
                "anonymize",
                "--job",
                &job.to_string_lossy(),
                "--suppress",
                suppress,
                "--measure",
                measure,
                "--force",
                "--json",
                "--quiet",
            ];
            let (found, seconds) = report(&args.map(str::to_owned))?;
            println!(
                "| | {suppress} | {measure} | {:.2} | {} | {} | {seconds:.2} |",
                found["timings_s"]["search"].as_f64().unwrap_or(0.0),
                found["search"]["nodes_checked"],
                found["search"]["nodes_total"],
            );
        }
    }
    std::fs::remove_dir_all(dir)?;
    Ok(())
}

/// Instructions of the search alone when they were last looked at: k, limit, millions.
const BASELINE: [(u64, &str, f64); 2] = [(5, "0", 50.8), (10, "5%", 320.5)];

/// Counts the instructions of the search on one thread with callgrind, as ratios to the baseline.
pub(crate) fn instructions() -> Result<(), Failure> {
    let dir = std::env::temp_dir();
    let id = std::process::id();
    let output = dir.join(format!("incrowd-bench-{id}.csv"));
    let profile = dir.join(format!("incrowd-bench-{id}.callgrind"));
    println!("| k | limit | million instructions | of the baseline |");
    println!("|---|---|---|---|");
    for (k, suppress, baseline) in BASELINE {
        let mut args = job(k, suppress, &output);
        args.extend(["--algorithm", "optimal", "--threads", "1"].map(str::to_owned));
        let ended = Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg("--toggle-collect=incrowd_search::algorithm::Algorithm::run*")
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(incrowd()?)
            .args(args)
            .output()
            .map_err(|error| format!("valgrind: {error}; install the package valgrind"))?;
        let said = String::from_utf8_lossy(&ended.stderr);
        let count: f64 = said
            .lines()
            .find_map(|line| line.split("Collected :").nth(1))
            .and_then(|count| count.trim().parse().ok())
            .ok_or("callgrind counted nothing")?;
        let millions = count / 1e6;
        println!("| {k} | {suppress} | {millions:.1} | {:.2} |", millions / baseline);
    }
    std::fs::remove_file(output)?;
    std::fs::remove_file(profile)?;
    Ok(())
}

//! Benchmarks of Incrowd, as ratios to a plain copy in the same run on the same machine.
//!
//! `incrowd-bench speed --rows N` generates a synthetic census table (8 quasi-identifiers, 1
//! sensitive, 4 other columns; seeded), copies it with DataFusion, anonymizes it with the `incrowd`
//! binary that stands beside this one, and prints both times, their ratio, and where the time went.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod butterfly;
mod census;
mod copy;
mod full_domain;
mod koptimize;
mod memory;
mod pictures;
mod reproduce;
mod workload;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "incrowd-bench", about = "Benchmarks, as ratios within one run")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Time a whole anonymize command against a plain copy of the same file
    Speed {
        /// Rows of the table
        #[arg(long, default_value_t = 1_000_000)]
        rows: u64,
        /// Runs of each; the best counts
        #[arg(long, default_value_t = 2)]
        runs: usize,
        /// Where the tables are made (removed afterwards if not given)
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Time the exact full-domain searches on the bundled census table
    FullDomain {
        /// Runs of each; the best counts
        #[arg(long, default_value_t = 3)]
        runs: usize,
        /// Time the optimal search on the synthetic census table of so many rows instead
        #[arg(long)]
        rows: Option<u64>,
        /// Count the instructions of the search with callgrind instead
        #[arg(long)]
        instructions: bool,
    },
    /// Run K-Optimize on the bundled Adult table, case by case
    Koptimize {
        /// The time limit of a case
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Only `fine` or `coarse` ages
        #[arg(long)]
        ages: Option<String>,
        /// Only `DM` or `CM`
        #[arg(long)]
        measure: Option<String>,
        /// Only the suppression limit `0`, `100` or `any`
        #[arg(long)]
        limit: Option<String>,
        /// Only one k
        #[arg(short)]
        k: Option<u64>,
    },
    /// Time every split criterion against the median, and queries over the release
    Workload {
        /// Rows of the table
        #[arg(long, default_value_t = 1_000_000)]
        rows: u64,
        /// Runs of each; the best counts
        #[arg(long, default_value_t = 3)]
        runs: usize,
        /// Where the tables are made
        folder: PathBuf,
    },
    /// Losses and times of several quasi-identifier sets: their union, the paper's butterflies,
    /// ours
    Butterfly {
        /// Rows of the table whose times are compared
        #[arg(long, default_value_t = 1_000_000)]
        rows: u64,
        /// Runs of each; the best counts
        #[arg(long, default_value_t = 2)]
        runs: usize,
        /// Where the tables are made
        folder: PathBuf,
    },
    /// Anonymize with a memory limit and without one: time, memory and bytes
    Memory {
        /// Rows of the table
        #[arg(long, default_value_t = 10_000_000)]
        rows: u64,
        /// The limit
        #[arg(long, default_value = "1GB")]
        limit: String,
        /// One more quasi-identifier column with so many distinct values
        #[arg(long)]
        distinct: Option<u64>,
        /// Leave out the run without a limit
        #[arg(long)]
        alone: bool,
        /// Where the tables are made
        folder: PathBuf,
    },
    /// Reproduce the tables and figures of the papers: numbers, pictures, and what agrees
    Reproduce {
        /// A paper (mondrian, incognito, koptimize, workload, butterfly), one of its figures, or
        /// all
        #[arg(default_value = "all")]
        name: String,
        /// Where `reproduction.md` and the folder `reproduction` go
        #[arg(long)]
        out: PathBuf,
        /// Smaller versions, minutes in all
        #[arg(long)]
        quick: bool,
        /// What everything random is drawn from
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Measure nothing: judge the CSV files in the folder again and rewrite the page
        #[arg(long, conflicts_with_all = ["quick", "seed"])]
        judge: bool,
    },
    /// Draw how each algorithm divides the same small table, for the user guide
    Pictures {
        /// Where the pictures go
        #[arg(long)]
        out: PathBuf,
    },
    /// Write the synthetic census table
    Census {
        /// Rows
        #[arg(long, default_value_t = 1_000_000)]
        rows: u64,
        /// A CSV file
        output: PathBuf,
    },
    /// Copy a file with DataFusion (its own process, so that its time is comparable)
    Copy {
        /// From
        input: PathBuf,
        /// To
        output: PathBuf,
    },
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Task::Speed { rows, runs, dir } => speed(rows, runs, dir),
        Task::FullDomain { instructions: true, .. } => full_domain::instructions(),
        Task::FullDomain { rows: Some(rows), .. } => full_domain::census(rows),
        Task::FullDomain { runs, .. } => full_domain::times(runs),
        Task::Koptimize { seconds, ages, measure, limit, k } => {
            koptimize::cases(seconds, &koptimize::Chosen { grain: ages, measure, limit, k })
        }
        Task::Workload { rows, runs, folder } => workload::times(&folder, rows, runs),
        Task::Butterfly { rows, runs, folder } => butterfly::cases(&folder, rows, runs),
        Task::Memory { rows, limit, distinct, alone, folder } => {
            memory::compare(&folder, rows, &limit, distinct, alone)
        }
        Task::Reproduce { out, judge: true, .. } => reproduce::judge(&out),
        Task::Reproduce { name, out, quick, seed, .. } => {
            reproduce::reproduce(&name, &out, quick, seed)
        }
        Task::Pictures { out } => pictures::write(&out),
        Task::Census { rows, output } => census::write(&output, rows, 7).map_err(Into::into),
        Task::Copy { input, output } => copy::copy(&input, &output),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn speed(rows: u64, runs: usize, dir: Option<PathBuf>) -> Result<(), Failure> {
    let is_ours = dir.is_none();
    let dir = dir.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("incrowd-bench-{}", std::process::id()))
    });
    std::fs::create_dir_all(&dir)?;
    let csv = dir.join("census.csv");
    let parquet = dir.join("census.parquet");
    census::write(&csv, rows, 7)?;
    run_self(&["copy".as_ref(), csv.as_os_str(), parquet.as_os_str()])?;
    println!(
        "| {rows} rows | copy s | anonymize s | ratio | bytes a row | read | search | recode | write | verify |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, input, ending) in
        [("CSV to CSV", &csv, "csv"), ("Parquet to Parquet", &parquet, "parquet")]
    {
        let measured =
            compare(input, &dir.join(format!("out.{ending}")), &dir.join("report.json"), runs)?;
        println!("| {name} | {measured}");
    }
    if is_ours {
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(())
}

/// The best of some runs of both commands, as the cells of a table row.
fn compare(input: &Path, output: &Path, report: &Path, runs: usize) -> Result<String, Failure> {
    let (mut copied, mut anonymized) = (f64::MAX, f64::MAX);
    let mut best_report = serde_json::Value::Null;
    for _ in 0..runs {
        let _ = std::fs::remove_file(output);
        let start = now();
        run_self(&["copy".as_ref(), input.as_os_str(), output.as_os_str()])?;
        copied = copied.min(start.elapsed().as_secs_f64());
        std::fs::remove_file(output)?;
        let start = now();
        anonymize(input, output, report)?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds < anonymized {
            anonymized = seconds;
            best_report = serde_json::from_str(&std::fs::read_to_string(report)?)?;
        }
    }
    let timing = |stage: &str| best_report["timings_s"][stage].as_f64().unwrap_or(0.0);
    let peak = best_report["search"]["peak_memory_bytes"].as_f64().unwrap_or(0.0);
    let rows = best_report["input"]["rows"].as_f64().unwrap_or(1.0);
    Ok(format!(
        "{copied:.2} | {anonymized:.2} | {:.2} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        anonymized / copied,
        peak / rows,
        timing("read"),
        timing("search"),
        timing("recode"),
        timing("write"),
        timing("verify")
    ))
}

fn anonymize(input: &Path, output: &Path, report: &Path) -> Result<(), Failure> {
    let incrowd = std::env::current_exe()?.with_file_name("incrowd");
    if !incrowd.exists() {
        return Err("build the command first: cargo build --release".into());
    }
    let status = Command::new(incrowd)
        .arg("anonymize")
        .arg(input)
        .arg("-o")
        .arg(output)
        .args(["-k", "10", "--quasi", census::QUASI, "--sensitive", "diagnosis"])
        .args(["--insensitive", "hours,amount,visit,note", "--quiet", "--force", "--report"])
        .arg(report)
        .status()?;
    if status.success() { Ok(()) } else { Err("incrowd failed".into()) }
}

fn run_self(args: &[&std::ffi::OsStr]) -> Result<(), Failure> {
    let status = Command::new(std::env::current_exe()?).args(args).status()?;
    if status.success() { Ok(()) } else { Err("the copy failed".into()) }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Runs the command that stands beside this one.
fn run(folder: &Path, args: &[&str]) -> Result<(), Failure> {
    let binary = std::env::current_exe()?.with_file_name("incrowd");
    let ended = Command::new(binary).current_dir(folder).args(args).output()?;
    if ended.status.success() {
        return Ok(());
    }
    Err(format!("incrowd {}: {}", args.join(" "), String::from_utf8_lossy(&ended.stderr)).into())
}

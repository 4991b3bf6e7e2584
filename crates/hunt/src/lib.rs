//! Random jobs against the `incrowd` command, judged by a verifier that shares no code with it.
//!
//! A case is a small random table with a random job ([`generate`](self)). The command is run on it
//! as a user would, and its release is judged from the files alone: rows, models, printed values,
//! means, figures of the report. Then the job is done again in other ways that must make no
//! difference. Whatever fails is shrunk to a small table and job, and told with the commands that
//! show it.

mod case;
mod columnar;
mod csv;
mod generate;
mod judge;
mod label;
mod oracle;
mod random;
mod run;
mod shrink;
mod table;
mod value;
mod vary;
mod verify;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use judge::Outcome;
use random::Random;

/// What to hunt with.
pub struct Config {
    /// The command.
    pub binary: PathBuf,
    /// Cases depend on it and on their number alone.
    pub seed: u64,
    /// How many cases to try.
    pub jobs: usize,
    /// Workers.
    pub threads: usize,
    /// Failures of one kind that are shrunk and told; more are only counted.
    pub told: usize,
}

/// What came of a hunt.
#[derive(Default)]
pub struct Summary {
    /// Cases that ended with a release.
    pub released: usize,
    /// Cases without a release.
    pub infeasible: usize,
    /// Cases that were refused, by what was said.
    pub refused: BTreeMap<String, usize>,
    /// Failures by kind.
    pub failed: BTreeMap<&'static str, usize>,
    /// What failed and how to see it, shrunk.
    pub failures: Vec<String>,
}

/// Something that must not be.
#[derive(Debug)]
struct Fault {
    kind: &'static str,
    detail: String,
}

impl Fault {
    fn new(kind: &'static str, detail: impl Into<String>) -> Fault {
        Fault { kind, detail: detail.into() }
    }

    /// A fault of the machine or of the hunt itself.
    fn machine(error: impl fmt::Display) -> Fault {
        Fault::new("machine", error.to_string())
    }
}

/// Tries `jobs` random cases.
#[must_use]
pub fn hunt(config: &Config) -> Summary {
    let next = AtomicUsize::new(0);
    let summary = Mutex::new(Summary::default());
    std::thread::scope(|scope| {
        for _ in 0..config.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= config.jobs {
                        break;
                    }
                    try_one(config, number, &summary);
                }
            });
        }
    });
    summary.into_inner().unwrap_or_default()
}

/// The seed of the case with this number.
fn seed_of(seed: u64, number: usize) -> u64 {
    let number = u64::try_from(number).unwrap_or_default();
    Random::new(seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)).next()
}

fn try_one(config: &Config, number: usize, summary: &Mutex<Summary>) {
    let seed = seed_of(config.seed, number);
    let case = generate::case(seed);
    let outcome = judge::judge(&config.binary, &case, seed);
    let mut told = summary.lock().expect("no worker panics");
    match outcome {
        Ok(Outcome::Released) => told.released += 1,
        Ok(Outcome::Infeasible) => told.infeasible += 1,
        Ok(Outcome::Refused(why)) => *told.refused.entry(why).or_insert(0) += 1,
        Err(fault) => {
            let times = told.failed.entry(fault.kind).or_insert(0);
            *times += 1;
            let is_new = *times <= config.told;
            drop(told);
            if is_new {
                let text = failure(config, number, seed, case, fault);
                summary.lock().expect("no worker panics").failures.push(text);
            }
        }
    }
}

/// The failure of a case, shrunk.
fn failure(config: &Config, number: usize, seed: u64, case: case::Case, fault: Fault) -> String {
    let (case, fault) = shrink::shrink(&config.binary, seed, case, fault);
    format!(
        "case {number} of seed {} ({seed}): {}: {}\n{}",
        config.seed,
        fault.kind,
        fault.detail,
        judge::script(&case)
    )
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        for failure in &self.failures {
            writeln!(formatter, "{failure}\n")?;
        }
        for (why, times) in &self.refused {
            writeln!(formatter, "refused {times} times: {why}")?;
        }
        let refused: usize = self.refused.values().sum();
        write!(
            formatter,
            "{} released, {} infeasible, {refused} refused; failed: {:?}",
            self.released, self.infeasible, self.failed
        )
    }
}

/// Where the command is: `INCROWD_BIN`, or beside this executable or its folder.
#[must_use]
pub fn find_binary() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("INCROWD_BIN") {
        return Some(PathBuf::from(path));
    }
    let own = std::env::current_exe().ok()?;
    let name = format!("incrowd{}", std::env::consts::EXE_SUFFIX);
    let folders = own.ancestors().skip(1).take(2);
    let mut paths = folders.map(|folder: &Path| folder.join(&name));
    paths.find(|path| path.is_file())
}

/// The seed of a hunt: `INCROWD_SEED`, or one that nobody has seen before.
#[must_use]
pub fn seed() -> u64 {
    if let Ok(seed) = std::env::var("INCROWD_SEED").map(|seed| seed.parse()) {
        return seed.expect("INCROWD_SEED is a whole number");
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = now.map_or(0, |since| since.as_nanos());
    Random::new(u64::try_from(nanos % u128::from(u64::MAX)).unwrap_or_default()).next() >> 24
}

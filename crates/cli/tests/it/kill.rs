//! Runs that are killed at any moment. Every output is then what it was before or the complete new
//! one, the next run succeeds, and it leaves no temporary file behind.
//!
//! Moments are seeded: `INCROWD_SEED` repeats them as far as the machine allows. `INCROWD_KILLS`
//! sets how many runs are killed.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::faults::signal;
use crate::harness::{Folder, PEOPLE_JOB, Random, number, people};

/// As many as take about half a minute of two cores.
const KILLS: usize = 100;
const WORKERS: usize = 2;
/// How long an unkilled run may take: far longer than any needs.
const PATIENCE: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_micros(200);

/// A job whose runs are killed.
struct Scenario {
    /// Path from a worker's folder.
    input: &'static str,
    /// The release; a folder of parts where it ends in `/`.
    output: &'static str,
    more: &'static str,
    /// How often it is chosen.
    weight: u64,
}

const SCENARIOS: [Scenario; 7] = [
    Scenario { input: "../t.csv", output: "r.csv", more: "", weight: 4 },
    Scenario { input: "../t.csv", output: "r.csv.gz", more: "--labels bounds", weight: 2 },
    Scenario { input: "../t.parquet", output: "r.parquet", more: "", weight: 4 },
    Scenario { input: "../parts.csv", output: "r.csv/", more: "--part-rows 1", weight: 2 },
    Scenario { input: "../t.csv", output: "r/", more: "", weight: 3 },
    Scenario {
        input: "../small.csv",
        output: "r.csv",
        more: "--force-files 3 --temp-dir tmp",
        weight: 4,
    },
    // Too large for its limit, so that rows go to private files on their own account.
    Scenario {
        input: "../large.csv",
        output: "r.parquet",
        more: "--memory-limit 64MB --temp-dir tmp",
        weight: 1,
    },
];

const REPORT: &str = "report.json";
const RECODING: &str = "recoding.json";

/// The files of an output by name; a single file has no name; none if the output is not there.
type Content = Option<BTreeMap<String, Vec<u8>>>;

/// What a scenario writes.
struct Expected {
    old: Vec<Content>,
    new: Vec<Content>,
    takes: Duration,
}

impl Scenario {
    /// Its outputs, the release last.
    fn outputs(&self) -> [&'static str; 3] {
        [REPORT, RECODING, self.output]
    }

    fn args(&self, k: u32) -> String {
        format!(
            "anonymize {} -o {} -k {k} {PEOPLE_JOB} {} --report {REPORT} --recoding {RECODING} \
             --force --quiet",
            self.input, self.output, self.more
        )
    }

    fn contents(&self, place: &Path) -> Vec<Content> {
        self.outputs().iter().map(|name| content(&place.join(name))).collect()
    }

    /// Gives the outputs the state from before a run.
    fn restore(&self, place: &Path, contents: &[Content]) {
        empty(place);
        std::fs::create_dir(place.join("tmp")).unwrap();
        for (name, content) in self.outputs().iter().zip(contents) {
            let Some(files) = content else { continue };
            let path = place.join(name);
            if name.ends_with('/') {
                std::fs::create_dir(&path).unwrap();
            }
            for (file, bytes) in files {
                let path = if file.is_empty() { path.clone() } else { path.join(file) };
                std::fs::write(path, bytes).unwrap();
            }
        }
    }
}

fn empty(place: &Path) {
    let _ = std::fs::remove_dir_all(place);
    std::fs::create_dir(place).unwrap();
}

fn content(path: &Path) -> Content {
    if !path.is_dir() {
        let bytes = std::fs::read(path).ok()?;
        let is_report = path.file_name().is_some_and(|name| name == REPORT);
        let bytes = if is_report { without_times(&bytes) } else { bytes };
        return Some(BTreeMap::from([(String::new(), bytes)]));
    }
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    };
    Some(entries.map(file).collect())
}

/// A report without what differs from run to run. One that is not complete stays as it is, and is
/// then equal to nothing.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut report) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return bytes.to_vec();
    };
    let all = report.as_object_mut().unwrap();
    all.remove("timings_s");
    if let Some(search) = all.get_mut("search").and_then(|search| search.as_object_mut()) {
        search.remove("elapsed_s");
        search.remove("peak_memory_bytes");
    }
    serde_json::to_vec(&report).unwrap()
}

fn start(place: &Path, args: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
    command.current_dir(place).args(args.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command that must succeed; how long it took.
#[track_caller]
fn succeed(place: &Path, args: &str) -> Duration {
    let started = now();
    let ended = start(place, args).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{:?}: incrowd {args}\n{said}", ended.status);
    started.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "a harness that waits reads the clock")]
fn now() -> Instant {
    Instant::now()
}

/// When a run is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after its start.
    After(Duration),
    /// So long after the first staged file was seen.
    Staged(Duration),
    /// So long after the first output changed.
    Published(Duration),
}

impl Moment {
    fn random(random: &mut Random, takes: Duration) -> Moment {
        let mut micros = |most: u128| {
            let most = u64::try_from(most).unwrap_or(u64::MAX);
            Duration::from_micros(random.below(most.max(1)))
        };
        let after = micros(takes.as_micros() * 12 / 10);
        // Names are given within microseconds, so half of these kills come at once.
        let (staged, published) = (micros(takes.as_micros() / 3), micros(200));
        let published = if micros(2).is_zero() { Duration::ZERO } else { published };
        match random.below(4) {
            0 | 1 => Moment::After(after),
            2 => Moment::Staged(staged),
            _ => Moment::Published(published),
        }
    }

    /// Waits for it, or until the run ends by itself.
    fn wait(self, child: &mut Child, place: &Path, scenario: &Scenario) {
        let before = inodes(place, scenario);
        let started = now();
        let is_over =
            |child: &mut Child| child.try_wait().unwrap().is_some() || started.elapsed() > PATIENCE;
        let delay = match self {
            Moment::After(delay) => delay,
            Moment::Staged(delay) => {
                while !is_over(child) && leftovers(place).is_empty() {
                    std::thread::sleep(GLANCE);
                }
                delay
            }
            Moment::Published(delay) => {
                while !is_over(child) && leftovers(place).is_empty() {
                    std::thread::sleep(GLANCE);
                }
                // No sleep from here on: all names are given within microseconds.
                let is_published = || inodes(place, scenario) != before;
                while !(0..16).any(|_| is_published()) && !is_over(child) {}
                delay
            }
        };
        let seen = now();
        while !is_over(child) && seen.elapsed() < delay {
            std::thread::sleep(GLANCE.min(delay.saturating_sub(seen.elapsed())));
        }
    }
}

fn inodes(place: &Path, scenario: &Scenario) -> Vec<Option<u64>> {
    let inode = |name: &&str| std::fs::metadata(place.join(name)).ok().map(|found| found.ino());
    scenario.outputs().iter().map(inode).collect()
}

/// Temporary files beside the outputs and in the folder for private files.
fn leftovers(place: &Path) -> Vec<PathBuf> {
    let hidden = std::fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with('.')));
    let spilled = std::fs::read_dir(place.join("tmp")).into_iter().flatten().flatten();
    hidden.chain(spilled).map(|entry| entry.path()).collect()
}

/// The tables that jobs read, and what the jobs write when nobody kills them.
fn prepare(folder: &Folder) -> Vec<Expected> {
    let tables =
        [("t.csv", 12_000), ("small.csv", 1_500), ("two.csv", 70_000), ("large.csv", 230_000)];
    for (name, n_rows) in tables {
        std::fs::write(folder.path(name), people(n_rows, 17)).unwrap();
    }
    let keep = "-k 2 --quasi sex --insensitive age,city,status,diagnosis,note --quiet";
    let place = folder.path("");
    succeed(&place, &format!("anonymize t.csv -o t.parquet {keep}"));
    succeed(&place, &format!("anonymize two.csv -o parts.csv/ --part-rows 1 {keep}"));
    let place = folder.path("reference");
    SCENARIOS
        .iter()
        .map(|scenario| {
            scenario.restore_nothing(&place);
            succeed(&place, &scenario.args(9));
            let old = scenario.contents(&place);
            let takes = succeed(&place, &scenario.args(5));
            let new = scenario.contents(&place);
            assert!(leftovers(&place).is_empty(), "{:?}", leftovers(&place));
            let pairs = || old.iter().zip(&new);
            assert!(pairs().all(|(old, new)| old.is_some() && new.is_some() && old != new));
            Expected { old, new, takes }
        })
        .collect()
}

impl Scenario {
    fn restore_nothing(&self, place: &Path) {
        self.restore(place, &[None, None, None]);
    }
}

/// What became of the releases of killed runs.
#[derive(Debug, Default)]
struct Counts {
    absent: usize,
    old: usize,
    new: usize,
    /// Runs that were over before the signal came.
    over: usize,
    /// Kills after which temporary files were left for the next run to remove.
    untidy: usize,
    /// Kills between two renames.
    between: usize,
}

/// Kills one run and looks at what it left.
fn kill_one(place: &Path, all: &[Expected], mut random: Random, counts: &Mutex<Counts>) {
    let total: u64 = SCENARIOS.iter().map(|scenario| scenario.weight).sum();
    let mut draw = random.below(total);
    let at = SCENARIOS.iter().position(|scenario| {
        let is_it = draw < scenario.weight;
        draw = draw.wrapping_sub(scenario.weight);
        is_it
    });
    let at = at.unwrap();
    let (scenario, expected) = (&SCENARIOS[at], &all[at]);
    let absent = vec![None, None, None];
    let before = if random.below(3) == 0 { &absent } else { &expected.old };
    let moment = Moment::random(&mut random, expected.takes);
    scenario.restore(place, before);

    let args = scenario.args(5);
    let mut child = start(place, &args);
    moment.wait(&mut child, place, scenario);
    let is_over = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();

    let found = scenario.contents(place);
    let what = || format!("{moment:?}, {}: incrowd {args}", place.display());
    for (at, name) in scenario.outputs().iter().enumerate() {
        let is_whole = found[at] == before[at] || found[at] == expected.new[at];
        assert!(is_whole, "`{name}` is neither the old nor the new one: {}", what());
    }
    let is_new: Vec<bool> = found.iter().zip(&expected.new).map(|(is, new)| is == new).collect();
    // The release gets its name last, so that it never lacks what belongs to it.
    assert!(!is_new[2] || is_new.iter().all(|is| *is), "a release without its report: {}", what());
    {
        let mut counts = counts.lock().unwrap();
        match (is_new[2], &found[2]) {
            (true, _) => counts.new += 1,
            (_, None) => counts.absent += 1,
            (_, Some(_)) => counts.old += 1,
        }
        counts.over += usize::from(is_over);
        counts.untidy += usize::from(!leftovers(place).is_empty());
        counts.between += usize::from(is_new[0] && !is_new[2]);
    }

    succeed(place, &args);
    assert!(scenario.contents(place) == expected.new, "the next run differs: {}", what());
    assert!(leftovers(place).is_empty(), "{:?} after the next run: {}", leftovers(place), what());
}

#[test]
fn a_killed_run_leaves_every_output_old_or_new() {
    let seed = incrowd_hunt::seed();
    let kills = number("INCROWD_KILLS").unwrap_or(KILLS);
    let folder = Folder::with(&[]);
    let all = prepare(&folder);
    let (next, counts) = (AtomicUsize::new(0), Mutex::default());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (all, next, counts, folder) = (&all, &next, &counts, &folder);
            scope.spawn(move || {
                let place = folder.path(&format!("worker{worker}"));
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= kills {
                        break;
                    }
                    let random = Random::new(seed ^ Random::new(at as u64).next());
                    let tried = std::panic::AssertUnwindSafe(|| {
                        kill_one(&place, all, random, counts);
                    });
                    if let Err(panic) = std::panic::catch_unwind(tried) {
                        eprintln!("kill {at} of INCROWD_SEED={seed}");
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    eprintln!("kill: INCROWD_SEED={seed}, {kills} kills: {counts:?}");
    // Moments that are all too early or too late prove nothing.
    let is_mixed = counts.absent > 0 && counts.old > 0 && counts.new > 0 && counts.untidy > 0;
    assert!(kills < 50 || is_mixed, "INCROWD_SEED={seed}: {counts:?}");
}

/// Waits until a run takes signals itself: before that, the system ends it, and it has no files
/// yet.
#[cfg(target_os = "linux")]
fn wait_for_signals(child: &Child) {
    const TERM: u64 = 1 << 14;
    let path = format!("/proc/{}/status", child.id());
    let blocked = || {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let bits = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?;
        u64::from_str_radix(bits.trim(), 16).ok()
    };
    let started = now();
    while blocked().is_some_and(|bits| bits & TERM == 0) && started.elapsed() < PATIENCE {
        std::thread::sleep(GLANCE);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminated_run_ends_soon_and_leaves_nothing() {
    const RUNS: u64 = 8;
    let seed = incrowd_hunt::seed();
    let folder = Folder::with(&[("large.csv", &people(230_000, 18))]);
    let place = folder.path("work");
    let in_memory = Scenario { input: "../large.csv", output: "r.csv/", more: "", weight: 1 };
    let mut n_ended = 0;
    for run in 0..RUNS {
        let scenario = if run % 2 == 0 { &in_memory } else { &SCENARIOS[6] };
        scenario.restore_nothing(&place);
        let mut child = start(&place, &scenario.args(5));
        wait_for_signals(&child);
        let mut random = Random::new(seed ^ run);
        std::thread::sleep(Duration::from_millis(run * 60 + random.below(60)));
        let sent = now();
        signal(child.id(), "TERM");
        let code = child.wait().unwrap().code();
        let what = format!("INCROWD_SEED={seed}, run {run}: {code:?}");
        assert!(sent.elapsed() < Duration::from_secs(2), "{what} after {:?}", sent.elapsed());
        assert!(leftovers(&place).is_empty(), "{what} left {:?}", leftovers(&place));
        match code {
            Some(130) => {
                n_ended += 1;
                assert_eq!(scenario.contents(&place), [None, None, None], "{what}");
            }
            // It was done already.
            Some(0) => assert!(scenario.contents(&place).iter().all(Option::is_some), "{what}"),
            _ => panic!("{what}"),
        }
    }
    assert!(n_ended >= RUNS / 2, "INCROWD_SEED={seed}: only {n_ended} runs were still going on");
}

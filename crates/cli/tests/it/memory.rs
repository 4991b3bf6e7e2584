//! The memory limit holds: a run takes at most 150 MB more, or is refused with a message that says
//! what it needs; and what succeeds under a limit succeeds under every higher one.
//!
//! `INCROWD_MEMORY=full` takes larger tables, which need minutes and several gigabytes of disk.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::harness::{Folder, Random};

/// What the program, its threads and the buffers of file formats may take beside the limit.
const BESIDE: u64 = 150_000_000;
/// Megabytes.
const LIMITS: [u64; 3] = [64, 200, 500];
/// Runs under one limit take a third of the time; other tables see that more is enough where less is.
const LEAST: [u64; 1] = [64];

fn is_full() -> bool {
    std::env::var("INCROWD_MEMORY").is_ok_and(|value| value == "full")
}

/// How a run ended.
struct Ended {
    code: Option<i32>,
    said: String,
    /// The most that was resident at a time, in bytes, read from outside the process.
    peak: u64,
}

/// The peak of a process so far; none once it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Runs the command and watches its memory. The kernel keeps the peak, so that only what happens
/// between the last look and the end is missed.
fn run(folder: &Folder, args: &str) -> Ended {
    let said = folder.path("said");
    let mut child = Command::new(env!("CARGO_BIN_EXE_incrowd"))
        .current_dir(folder.path(""))
        .args(args.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let mut greatest = 0;
    let code = loop {
        greatest = peak(&child).unwrap_or(0).max(greatest);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ended { code, said: std::fs::read_to_string(said).unwrap(), peak: greatest }
}

/// Runs a command under each limit; `{}` in its arguments stands for the limit's flag.
#[track_caller]
fn holds(folder: &Folder, args: &str, limits: &[u64]) {
    let mut is_possible = false;
    let mut faults = Vec::new();
    for limit in limits {
        let ended = run(folder, &args.replace("{}", &format!("--memory-limit {limit}MB")));
        let megabytes = ended.peak / 1_000_000;
        let what = format!("{limit} MB: code {:?}, {megabytes} MB: {}", ended.code, ended.said);
        eprintln!("{args}\n  {}", what.trim_end());
        if ended.peak > limit * 1_000_000 + BESIDE {
            faults.push(format!("too much memory: {what}"));
        }
        match ended.code {
            // A check that fails has been done too.
            Some(0 | 1) => is_possible = true,
            Some(2) if ended.said.contains("MB") && !is_possible => {}
            Some(2) if is_possible => faults.push(format!("refused, but less was enough: {what}")),
            _ => faults.push(format!("neither done nor refused: {what}")),
        }
    }
    assert!(faults.is_empty(), "{args}\n{}", faults.join("\n"));
}

/// The same for the commands that read a whole table; `roles` are those of an anonymization.
#[track_caller]
fn commands_hold(folder: &Folder, input: &str, roles: &str, limits: &[u64]) {
    let anonymize = format!("anonymize {input} -o r.csv -k 5 {roles} --recoding recoding.json");
    holds(folder, &format!("{anonymize} --force --quiet {{}}"), limits);
    let check = format!("check {input} -k 2 --quasi age,zip,sex --undeclared drop");
    holds(folder, &format!("{check} {{}}"), limits);
    let apply = format!("apply recoding.json {input} -o a.csv --force --quiet");
    holds(folder, &format!("{apply} {{}}"), limits);
}

/// Writes a table of three columns that an attacker knows and others.
fn write_table(
    path: &Path,
    n_rows: u64,
    header: &str,
    mut others: impl FnMut(&mut dyn Write, u64) -> std::io::Result<()>,
) {
    // With many, nearly every row of a million has a combination of its own.
    let zips = if is_full() { 40_000 } else { 30 };
    let mut file = BufWriter::new(File::create(path).unwrap());
    write!(file, "age,zip,sex{header}").unwrap();
    for row in 0..n_rows {
        let mixed = Random::new(row).next();
        let (age, zip) = (18 + mixed % 70, 10_000 + (mixed >> 16) % zips);
        write!(file, "\n{age},{zip},{}", row % 2).unwrap();
        others(&mut file, row).unwrap();
    }
    writeln!(file).unwrap();
    file.flush().unwrap();
}

fn names(n: u64) -> Vec<String> {
    (0..n).map(|at| format!("c{at}")).collect()
}

/// A table with 200 columns that leave as they are.
fn wide(folder: &Folder, n_rows: u64) -> String {
    const MORE: u64 = 200;
    let names = names(MORE).join(",");
    write_table(&folder.path("t.csv"), n_rows, &format!(",{names}"), |file, row| {
        (0..MORE).try_for_each(|at| write!(file, ",{}", (row * 7919 + at * 104_729) % 1_000_003))
    });
    format!("--quasi age,zip,sex --insensitive {names}")
}

#[test]
fn of_wide_tables() {
    let folder = Folder::with(&[]);
    let roles = wide(&folder, if is_full() { 300_000 } else { 60_000 });
    commands_hold(&folder, "t.csv", &roles, if is_full() { &LIMITS } else { &LEAST });
    if is_full() {
        holds(&folder, "profile t.csv {}", &LIMITS);
    }
}

#[test]
fn of_narrow_tables() {
    let folder = Folder::with(&[]);
    let n_rows = if is_full() { 4_000_000 } else { 300_000 };
    write_table(&folder.path("t.csv"), n_rows, ",disease", |file, row| {
        write!(file, ",d{}", row * 7919 % 23)
    });
    commands_hold(&folder, "t.csv", "--quasi age,zip,sex --sensitive disease", &LIMITS);
    holds(&folder, "profile t.csv {}", &LIMITS);
}

/// A text of its own in every row.
#[test]
fn of_tables_with_many_values() {
    let folder = Folder::with(&[]);
    let n_rows = if is_full() { 5_000_000 } else { 300_000 };
    write_table(&folder.path("t.csv"), n_rows, ",c0", |file, row| {
        write!(file, ",remark {} on a visit", row * 7919 % 10_000_019)
    });
    let limits: &[u64] = if is_full() { &LIMITS } else { &LEAST };
    commands_hold(&folder, "t.csv", "--quasi age,zip,sex --insensitive c0", limits);
    holds(&folder, "profile t.csv {}", limits);
    if is_full() {
        // An attacker knows the texts.
        let job = "-k 5 --quasi age,c0 --identifier zip,sex";
        holds(&folder, &format!("anonymize t.csv -o r.csv {job} --force --quiet {{}}"), limits);
    }
}

/// A small compressed file with a large cell.
#[test]
fn of_large_compressed_cells() {
    let folder = Folder::with(&[]);
    let megabytes = if is_full() { 1_500 } else { 10 };
    let file = File::create(folder.path("t.csv.gz")).unwrap();
    let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    file.write_all(b"age,zip,sex,c0\n30,10000,0,").unwrap();
    let piece = vec![b'x'; 1_000_000];
    (0..megabytes).for_each(|_| file.write_all(&piece).unwrap());
    file.write_all(b"\n").unwrap();
    (0..20).for_each(|row| writeln!(file, "{},10001,1,y", 20 + row % 3).unwrap());
    file.finish().unwrap();
    commands_hold(&folder, "t.csv.gz", "--quasi age,zip,sex --insensitive c0", &LIMITS);
}

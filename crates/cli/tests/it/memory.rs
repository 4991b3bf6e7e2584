//! The memory limit holds: a run takes at most 150 MB more, or is refused with a message that says
//! what it needs; and what succeeds under a limit succeeds under every higher one.
//!
//! `INCROWD_MEMORY=full` takes larger tables, which need minutes and several gigabytes of disk.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;

use crate::harness::{Folder, Random};

/// What the program, its threads and the buffers of file formats may take beside the limit.
const BESIDE: u64 = 150_000_000;
/// Megabytes.
const LIMITS: [u64; 3] = [64, 200, 500];
/// Runs under one limit take a third of the time; other tables see that more is enough where less
/// is.
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
    /// Bytes that it read from files, about.
    n_read: u64,
}

/// The peak of a process so far; none once it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The bytes that a process has read so far; none once it has ended.
fn n_read(child: &Child) -> Option<u64> {
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    io.lines().find_map(|line| line.strip_prefix("rchar:"))?.trim().parse().ok()
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
    let (mut greatest, mut most_read) = (0, 0);
    let code = loop {
        greatest = peak(&child).unwrap_or(0).max(greatest);
        most_read = n_read(&child).unwrap_or(0).max(most_read);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said = std::fs::read_to_string(said).unwrap();
    Ended { code, said, peak: greatest, n_read: most_read }
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

/// A command that is refused under 64 MB can be done under the limit that its message ends with.
#[track_caller]
fn what_is_asked_for_is_enough(folder: &Folder, args: &str) {
    let refused = run(folder, &args.replace("{}", "--memory-limit 64MB"));
    if refused.code == Some(0) {
        return;
    }
    let before = refused.said.rfind(" MB; the limit").or_else(|| refused.said.rfind(" MB"));
    let before = &refused.said[..before.expect("what it needs")];
    let asked = before.rsplit(' ').next().and_then(|number| number.parse().ok());
    holds(folder, args, &[64, asked.expect("a number of megabytes")]);
    let again = run(folder, &args.replace("{}", &format!("--memory-limit {}MB", asked.unwrap())));
    assert_eq!(again.code, Some(0), "{args}\n{}{}", refused.said, again.said);
}

/// The same for the commands that read a whole table; `roles` are those of an anonymization.
#[track_caller]
fn commands_hold(folder: &Folder, input: &str, roles: &str, limits: &[u64]) {
    let anonymize = format!("anonymize {input} -o r.csv -k 5 {roles} --recoding recoding.json");
    holds(folder, &format!("{anonymize} --force --quiet {{}}"), limits);
    let check = format!("check {input} -k 2 --quasi age,zip,sex --undeclared drop");
    holds(folder, &format!("{check} {{}}"), limits);
    // An anonymization that was refused under every limit leaves nothing to apply.
    if folder.path("recoding.json").exists() {
        let apply = format!("apply recoding.json {input} -o a.csv --force --quiet");
        holds(folder, &format!("{apply} {{}}"), limits);
    }
}

/// Writes a table of three columns that an attacker knows and others.
fn write_table(
    path: &Path,
    n_rows: u64,
    header: &str,
    others: impl FnMut(&mut dyn Write, u64) -> std::io::Result<()>,
) {
    let zips = if is_full() { MANY_ZIPS } else { 30 };
    write_table_of(zips, path, n_rows, header, others);
}

/// With so many, nearly every row of a million has a combination of its own.
const MANY_ZIPS: u64 = 40_000;

fn write_table_of(
    zips: u64,
    path: &Path,
    n_rows: u64,
    header: &str,
    mut others: impl FnMut(&mut dyn Write, u64) -> std::io::Result<()>,
) {
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

/// A recoding with a class for every few rows.
#[test]
fn of_recodings_with_many_classes() {
    let folder = Folder::with(&[]);
    write_table_of(MANY_ZIPS, &folder.path("t.csv"), 300_000, "", |_, _| Ok(()));
    let job = "-k 2 --quasi age,zip,sex --recoding recoding.json";
    holds(&folder, &format!("anonymize t.csv -o r.csv {job} --force --quiet {{}}"), &LEAST);
    let apply = "apply recoding.json t.csv -o a.csv --force --quiet {}";
    holds(&folder, apply, &LIMITS);
    what_is_asked_for_is_enough(&folder, apply);
}

/// Columns of which a file holds each long text once.
#[test]
fn of_long_texts_in_dictionaries() {
    let folder = Folder::with(&[]);
    let text = |n: usize| format!("{n} ").repeat(1_000);
    let (n_batches, n_rows) = (20, 5_000);
    let number = |modulus: u64, seed: u64| -> ArrayRef {
        let of_row = |row: u64| (Random::new(row ^ seed).next() % modulus).cast_signed();
        Arc::new((0..n_rows).map(|row| Some(of_row(row))).collect::<Int64Array>())
    };
    let coded: DictionaryArray<Int32Type> =
        (0..n_rows).zip(["a", "b", "c"].into_iter().cycle()).map(|(_, text)| text).collect();
    let values = Arc::new(StringArray::from_iter_values((0..3).map(text)));
    let coded: ArrayRef = Arc::new(coded.with_values(values));
    let columns = [("age", number(70, 0)), ("zip", number(30, 1 << 32)), ("c0", coded)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let file = File::create(folder.path("t.parquet")).unwrap();
    let mut parquet = ArrowWriter::try_new(file, Arc::clone(&schema), None).unwrap();
    let file = File::create(folder.path("t.arrow")).unwrap();
    let mut arrow = FileWriter::try_new(file, &schema).unwrap();
    for _ in 0..n_batches {
        parquet.write(&batch).unwrap();
        arrow.write(&batch).unwrap();
    }
    parquet.close().unwrap();
    arrow.finish().unwrap();
    for input in ["t.parquet", "t.arrow"] {
        let job = "-k 5 --quasi age,zip --insensitive c0";
        let args = format!("anonymize {input} -o r.parquet {job} --force --quiet {{}}");
        holds(&folder, &args, &[100, 200]);
    }
}

/// Columns whose values do not fit leave together, not one in every pass over the table.
#[test]
fn of_profiles_of_wide_tables() {
    let folder = Folder::with(&[]);
    wide(&folder, 20_000);
    holds(&folder, "profile t.csv {}", &LEAST);
    let n_bytes = std::fs::metadata(folder.path("t.csv")).unwrap().len();
    let Ended { code, said, n_read, .. } = run(&folder, "profile t.csv --memory-limit 64MB");
    assert_eq!(code, Some(0), "{said}");
    assert!(n_read < 15 * n_bytes, "{n_read} bytes were read of a table of {n_bytes}");
}

//! Parquet and Arrow files whose bytes are wrong end in an error or in a table: never in a panic, a
//! signal or gigabytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float64Array, Int32Array, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::Int32Type;
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::harness::{Folder, Random, number};

/// What a run may map into memory, in kilobytes. Far more is reserved than used: the code of the
/// dev profile alone takes 300 MB, threads and the allocator reserve as much.
const MOST_KB: u64 = 2_000_000;
const WORKERS: usize = 2;
/// Mutated files in all.
const FILES: usize = 300;
const SEED: u64 = 2026;

/// Runs the command with an address space of [`MOST_KB`]; its exit code and what it said.
fn run(place: &Path, args: &str) -> (Option<i32>, String) {
    let incrowd = env!("CARGO_BIN_EXE_incrowd");
    let script = format!("ulimit -c 0; ulimit -v {MOST_KB}; exec {incrowd} {args} --threads 1");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place).env_remove("RUST_BACKTRACE");
    let ended = command.output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

/// What is wrong with how a run ended, if anything is.
fn fault(code: Option<i32>, said: &str) -> Option<String> {
    let is_sound = match code {
        Some(0 | 1) => true,
        Some(2) => said.contains("error:"),
        _ => false,
    };
    let is_bug = said.contains("a bug in incrowd") || said.contains("panicked");
    (!is_sound || is_bug).then(|| format!("{code:?}: {said}"))
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn texts() -> RecordBatch {
    let texts = || ["Ann", "Bob", "Ann", "größe"].into_iter().cycle().take(64).map(Some);
    let dictionary: DictionaryArray<Int32Type> = texts().collect();
    let lists = (0..64).map(|row| (row % 5 > 0).then(|| vec![Some(row), None]));
    batch(vec![
        ("a", Arc::new(texts().collect::<StringArray>())),
        ("b", Arc::new(texts().collect::<LargeStringArray>())),
        ("c", Arc::new(dictionary)),
        ("d", Arc::new((0..64).map(|row| Some(row % 3 == 0)).collect::<BooleanArray>())),
        ("e", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
    ])
}

fn numbers() -> RecordBatch {
    let some = |row: i64| (row % 7 > 0).then_some(row % 9);
    let decimals: Decimal128Array = (0..64).map(|row| some(row).map(i128::from)).collect();
    batch(vec![
        ("a", Arc::new((0..64).map(some).collect::<Int64Array>())),
        ("b", Arc::new((0..64).map(|row: i32| Some(row % 4)).collect::<Int32Array>())),
        ("c", Arc::new((0..64).map(|row: u64| Some(row % 5)).collect::<UInt64Array>())),
        (
            "d",
            Arc::new((0..64).map(|row: i32| Some(f64::from(row) / 8.0)).collect::<Float64Array>()),
        ),
        ("e", Arc::new(decimals.with_precision_and_scale(20, 2).unwrap())),
    ])
}

fn times() -> RecordBatch {
    let some = |row: i64| (row % 7 > 0).then_some(row * 1_000_000_007 % 1_700_000_000);
    let days = |row: i32| Some(row * 997 % 20_000);
    batch(vec![
        ("a", Arc::new((0..64).map(days).collect::<Date32Array>())),
        ("b", Arc::new((0..64).map(some).collect::<TimestampSecondArray>())),
        ("c", Arc::new((0..64).map(some).collect::<TimestampMicrosecondArray>())),
        ("d", Arc::new((0..64).map(some).collect::<TimestampNanosecondArray>())),
        ("e", Arc::new((0..64).map(some).collect::<Date64Array>())),
    ])
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.write(&batch.slice(1, batch.num_rows() - 1)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn parquet_file(batch: &RecordBatch, is_packed: bool) -> Vec<u8> {
    let properties = if is_packed {
        WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
    } else {
        WriterProperties::builder()
    };
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Sound files: their ending and their bytes.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    [texts(), numbers(), times()]
        .iter()
        .flat_map(|batch| {
            [
                ("arrow", arrow_file(batch)),
                ("parquet", parquet_file(batch, false)),
                ("arrow", arrow_file(&batch.slice(0, 3))),
                ("parquet", parquet_file(batch, true)),
            ]
        })
        .collect()
}

/// Changes bytes in one to three places, half of them near the end, where footers are.
fn mutate(bytes: &mut [u8], random: &mut Random) {
    const WORDS: [u32; 8] =
        [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff0, 0x1000_0000, 0x00ff_ffff];
    const LONG: [u64; 5] = [1 << 31, 1 << 32, 1 << 40, i64::MAX as u64, u64::MAX];
    let len = bytes.len() as u64;
    for _ in 0..=random.below(3) {
        let from = if random.below(2) == 0 { 0 } else { len - len.min(700) };
        let at = usize::try_from(from + random.below(len - from)).unwrap();
        let rest = &mut bytes[at..];
        let mut put = |new: &[u8]| {
            let n = new.len().min(rest.len());
            rest[..n].copy_from_slice(&new[..n]);
        };
        let pick = random.next();
        match random.below(4) {
            0 => put(&[pick.to_le_bytes()[0]]),
            1 => put(&WORDS[usize::try_from(pick % 8).unwrap()].to_le_bytes()),
            2 => put(&LONG[usize::try_from(pick % 5).unwrap()].to_le_bytes()),
            _ => rest[0] ^= 1 << (pick % 8),
        }
    }
}

const ROLES: &str = "--quasi a,b,c,d --insensitive e";

#[test]
fn mutated_files_are_errors_or_tables() {
    let seed = number("INCROWD_MALFORMED_SEED").map_or(SEED, |seed| seed as u64);
    let files = number("INCROWD_MALFORMED").unwrap_or(FILES);
    let samples = samples();
    let folder = Folder::with(&[]);
    for (at, (ending, bytes)) in samples.iter().enumerate() {
        std::fs::write(folder.path(&format!("sound{at}.{ending}")), bytes).unwrap();
        let (code, said) = run(&folder.path(""), &format!("check sound{at}.{ending} {ROLES} -k 2"));
        assert!(matches!(code, Some(0 | 1)), "{code:?} {said}");
    }
    let next = AtomicUsize::new(0);
    let faults = std::sync::Mutex::new(Vec::new());
    let codes = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= files {
                        break;
                    }
                    let (ending, bytes) = &samples[at % samples.len()];
                    let mut bytes = bytes.clone();
                    mutate(&mut bytes, &mut Random::new(seed ^ Random::new(at as u64).next()));
                    let name = format!("m{at}.{ending}");
                    std::fs::write(folder.path(&name), bytes).unwrap();
                    let args = if (at / samples.len()).is_multiple_of(2) {
                        format!("check {name} {ROLES} -k 2")
                    } else {
                        format!("anonymize {name} -o r{at}.parquet {ROLES} -k 2")
                    };
                    let (code, said) = run(&folder.path(""), &args);
                    *codes.lock().unwrap().entry(code).or_insert(0) += 1;
                    if let Some(fault) = fault(code, &said) {
                        faults.lock().unwrap().push(format!("file {at}: incrowd {args}\n{fault}"));
                        if let Some(kept) = std::env::var_os("INCROWD_MALFORMED_KEEP") {
                            let kept = Path::new(&kept).join(&name);
                            std::fs::copy(folder.path(&name), kept).unwrap();
                        }
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    let codes = codes.into_inner().unwrap();
    eprintln!("malformed: {files} files of seed {seed} by exit code: {codes:?}");
    assert!(faults.is_empty(), "{} of {files}, seed {seed}:\n{}", faults.len(), faults.join("\n"));
}

/// Dates and instants that no calendar has.
#[test]
fn times_at_the_ends_of_their_types() {
    fn of<T>(least: T, greatest: T, plain: T) -> [Option<T>; 6]
    where
        T: Copy,
    {
        [Some(least), Some(greatest), Some(plain), Some(plain), None, Some(least)]
    }
    let long = || of(i64::MIN, i64::MAX, 0).to_vec();
    let columns: [(&str, ArrayRef); 7] = [
        ("date32", Arc::new(Date32Array::from(of(i32::MIN, i32::MAX, 0).to_vec()))),
        ("date64", Arc::new(Date64Array::from(long()))),
        ("s", Arc::new(TimestampSecondArray::from(long()))),
        ("ms", Arc::new(TimestampMillisecondArray::from(long()))),
        ("us", Arc::new(TimestampMicrosecondArray::from(long()))),
        ("ns", Arc::new(TimestampNanosecondArray::from(long()))),
        ("zoned", Arc::new(TimestampMicrosecondArray::from(long()).with_timezone("+01:00"))),
    ];
    let other: ArrayRef = Arc::new(Int32Array::from(vec![1, 1, 1, 2, 2, 2]));
    let folder = Folder::with(&[]);
    let mut faults = Vec::new();
    for (name, column) in columns {
        let batch = batch(vec![("x", Arc::clone(&other)), ("t", column)]);
        for (ending, bytes) in
            [("arrow", arrow_file(&batch)), ("parquet", parquet_file(&batch, false))]
        {
            let file = format!("{name}.{ending}");
            std::fs::write(folder.path(&file), bytes).unwrap();
            for args in [
                format!("check {file} --quasi x,t -k 2"),
                format!("check {file} --quasi x --sensitive t -k 2"),
                format!("profile {file}"),
                format!("anonymize {file} -o {name}1.csv --quasi x,t -k 2 --force"),
                format!("anonymize {file} -o {name}1.parquet --quasi x,t -k 2 --force"),
                format!("anonymize {file} -o {name}2.csv --quasi x --insensitive t -k 2 --force"),
                format!("anonymize {file} -o {name}3.csv --quasi x --sensitive t -k 2 --force"),
                format!("anonymize {file} -o {name}2.arrow --quasi x --insensitive t -k 2 --force"),
                format!(
                    "anonymize {file} -o {name}4.csv --quasi t --insensitive x -k 2 --force \
                         --force-files 3"
                ),
                format!(
                    "anonymize {file} -o {name}5.csv --quasi t --insensitive x -k 2 --force \
                         --labels bounds"
                ),
            ] {
                let (code, said) = run(&folder.path(""), &args);
                if let Some(fault) = fault(code, &said) {
                    faults.push(format!("incrowd {args}\n{fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

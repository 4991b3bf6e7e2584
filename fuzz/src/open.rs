//! Parquet, Arrow and JSON files of any bytes: opening and reading one ends in an error or in a
//! table, in bounded memory. What the file is, its first bytes say.

use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};

use incrowd_engine::{read, Order, Source, Use};

use crate::{sandbox, Seed};

mod mutator;
mod samples;

/// A panic that a caller catches is none of ours; the ones that reach us end the process below.
/// With `INCROWD_FUZZ_STRICT` every panic does.
pub fn start() {
    if std::env::var_os("INCROWD_FUZZ_STRICT").is_none() {
        set_hook(Box::new(|info| {
            if std::env::var_os("INCROWD_FUZZ_VERBOSE").is_some() {
                eprintln!("{info}");
            }
        }));
    }
}

/// Files of every format, with every type of column.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    samples::all()
}

/// Numbers in the files' metadata are changed most of the time.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    mutator::mutate(data, size, most, seed)
}

/// Opens and reads a file.
pub fn run(input: &[u8]) {
    let name = match input {
        [b'P', b'A', b'R', b'1', ..] => "file.parquet",
        [b'A', b'R', b'R', b'O', b'W', ..] => "file.arrow",
        _ => "file.jsonl",
    };
    let path = sandbox::write(name, input);
    let read = catch_unwind(AssertUnwindSafe(|| read_file(&path)));
    if let Err(panic) = read {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        eprintln!("a panic: {text}");
        std::process::abort();
    }
}

/// Reads a file as codes, and as it is.
fn read_file(path: &str) {
    let engine = sandbox::engine();
    let Ok(source) = Source::open(engine, path) else { return };
    let coded = |column: &incrowd_engine::SourceColumn| {
        if column.can_be_coded() {
            Use::Code
        } else {
            Use::Keep
        }
    };
    let uses: Vec<Use> = source.columns().iter().map(coded).collect();
    let _ = source.size(&uses);
    if let Ok(table) = read(engine, &source, &uses, false) {
        for column in &table.coded {
            assert_eq!(column.codes.len(), table.n_rows, "a code a row");
            let n_codes = column.values.n_codes();
            assert!(column.codes.iter().all(|code| code < n_codes), "codes of values");
            let _ = column.rank(Order::Natural(None));
        }
    }
    let _ = read(engine, &source, &vec![Use::Keep; uses.len()], true);
}

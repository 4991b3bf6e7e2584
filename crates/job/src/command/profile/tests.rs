//! A profile is the same with rows in private files, and with columns that have too many values for
//! codes.

use super::*;
use crate::flow::bounds::{Bounds, Tried};
use crate::spec::RunSpec;

/// Rows with a key, texts that are long, numbers with a missing one, words and dates.
fn table(n_rows: u64) -> String {
    let mut text = String::from("key,remark,zip,score,sex,born\n");
    let mut state = 5u64;
    let mut below = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for row in 0..n_rows {
        let score = if row % 7 == 0 { String::new() } else { format!("{}.5", below(n_rows)) };
        let remark = format!("a remark of some length with number {}", below(n_rows / 2 + 1));
        text.push_str(&format!(
            "k{row},{remark},{},{score},{},19{:02}-0{}-11\n",
            10_000 + below(n_rows / 2 + 1),
            ["f", "m", ""][usize::try_from(below(3)).unwrap()],
            40 + below(60),
            1 + below(9),
        ));
    }
    text
}

/// Profiles a table in memory and in files of which so many bytes may be held.
#[track_caller]
fn check(text: &str, threads: usize, room: u64) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("t.csv");
    std::fs::write(&input, text).unwrap();
    let place = folder.path().display().to_string();
    let spec = RunSpec { temp_dir: Some(place), ..RunSpec::default() };
    let bounds = Bounds::new(&spec, Tried::default()).unwrap();
    let run = Run::default();
    let found = run.with_engine(Some(threads), |engine| {
        let source = Source::open(engine, &input.display().to_string())?;
        let wanted = Wanted::new(&source, &[])?;
        let ways = [Place::Memory, Place::Files { bounds: &bounds, room: Some(room) }];
        ways.iter().map(|way| profile_in(engine, &run, &wanted, way)).collect::<Result<Vec<_>, _>>()
    });
    let found: Vec<String> =
        found.unwrap().iter().map(|found| serde_json::json!(found).to_string()).collect();
    assert_eq!(found[0], found[1], "{threads} threads, {room} bytes");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the table is left");
}

#[test]
fn a_profile_is_the_same_in_and_out_of_memory() {
    // Room for all values, for those of some columns, and for none.
    for (n_rows, room) in
        [(0, 1), (1, 1), (100, 1), (300, 1 << 14), (3000, 1 << 18), (300, 1 << 24)]
    {
        check(&table(n_rows), 1, room);
        check(&table(n_rows), 2, room);
    }
}

/// Several parts, some of whose columns have hashes.
#[test]
fn a_profile_of_many_rows_is_the_same() {
    check(&table(150_000), 2, 1 << 23);
}

//! A source in private files: the same values and rows as in memory, and rows put into buckets by
//! number.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use incrowd_engine::{
    Buckets, Engine, EngineError, NOWHERE, Scratch, Source, Spilled, Use, Values, read,
    read_spilled,
};

fn engine() -> Engine {
    Engine::new(2, Arc::default(), Arc::default())
}

/// 300,000 rows: an id, a word or nothing, a small number, and a text that is kept.
fn table(folder: &std::path::Path) -> String {
    let path = folder.join("t.csv");
    let mut text = String::from("id,word,small,rest\n");
    for row in 0..300_000u32 {
        let word = if row % 11 == 0 { String::new() } else { format!("w{}", row % 1000) };
        text.push_str(&format!("{},{word},{},rest {}\n", row * 7 % 300_000, row % 5, row % 77));
    }
    std::fs::write(&path, &text).unwrap();
    path.to_string_lossy().into_owned()
}

const USES: [Use; 4] = [Use::Code, Use::Code, Use::Code, Use::Keep];

fn spilled(engine: &Engine, input: &str, folder: &std::path::Path) -> Result<Spilled, EngineError> {
    let source = Source::open(engine, input).unwrap();
    let scratch = Arc::new(Scratch::new(Some(folder)).unwrap());
    read_spilled(engine, &source, &USES, true, &scratch, 1 << 30)
}

#[test]
fn rows_in_files_are_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, input) = (engine(), table(folder.path()));
    let source = Source::open(&engine, &input).unwrap();
    let table = read(&engine, &source, &USES, true).unwrap();
    let spilled = spilled(&engine, &input, folder.path()).unwrap();
    assert_eq!(spilled.n_rows, 300_000);
    assert_eq!(spilled.kept_columns()[0].name, "rest");
    assert!(spilled.n_parts() > 1, "read side by side");
    for (column, values) in spilled.values.iter().enumerate() {
        let raw = &table.coded[column];
        let text = |codes: u32, texts: &[String]| texts.get(codes as usize).cloned();
        let in_memory = raw.codes.iter().map(|code| text(code, &raw.values.texts));
        let in_files = spilled.codes_of(column).map(|code| text(code, &values.texts));
        assert!(in_memory.eq(in_files), "column {column}");
        assert_eq!(values.n_missing(), raw.values.n_missing());
        let count = |counts: &[u64]| counts.iter().sum::<u64>();
        assert_eq!(count(&values.counts), 300_000);
    }
    let mut n_kept = 0;
    for part in 0..spilled.n_parts() {
        let mut reader = spilled.read_part_with_kept(part, &[]).unwrap();
        while let Some(block) = reader.next_block().unwrap() {
            n_kept += block.kept.iter().map(|columns| columns[0].len()).sum::<usize>();
        }
    }
    assert_eq!(n_kept, 300_000);
}

#[test]
fn buckets_hold_every_row_with_its_cells() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, input) = (engine(), table(folder.path()));
    let spilled = spilled(&engine, &input, folder.path()).unwrap();
    let n_codes: Vec<u32> = spilled.values.iter().map(Values::n_codes).collect();
    let identity: Vec<Vec<u32>> = n_codes.iter().map(|&n| (0..n).collect()).collect();
    let wanted = [(0, &identity[0][..], n_codes[0]), (2, &identity[2][..], n_codes[2])];
    let ends = vec![100_000, 100_001, 300_000];
    let buckets = Buckets::new(
        spilled.scratch(),
        "bucket",
        ends,
        vec![n_codes[0], n_codes[2]],
        spilled.kept_columns(),
    );
    // Rows go by the number that their id is; every third one goes nowhere.
    let id = |code: u32| spilled.values[0].texts[code as usize].parse::<u32>().unwrap();
    let number = |id: u32| if id.is_multiple_of(3) { NOWHERE } else { id };
    for part in 0..spilled.n_parts() {
        let mut filling = buckets.fill(part);
        let mut reader = spilled.read_part_with_kept(part, &wanted).unwrap();
        while let Some(block) = reader.next_block().unwrap() {
            let numbers: Vec<u32> = block.codes[0].iter().map(|code| number(id(code))).collect();
            filling.add(&numbers, &block).unwrap();
        }
        filling.finish().unwrap();
    }
    let mut seen = 0;
    for bucket in 0..buckets.len() {
        let range = buckets.numbers(bucket);
        let found = buckets.take(bucket, spilled.n_parts()).unwrap();
        let texts: Vec<String> = found
            .kept
            .iter()
            .flat_map(|columns| {
                use arrow::array::AsArray;
                columns[0]
                    .as_string::<i32>()
                    .iter()
                    .map(|t| t.unwrap().to_owned())
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(texts.len(), found.numbers.len());
        for (row, &number) in found.numbers.iter().enumerate() {
            assert!(range.contains(&number) && number % 3 != 0);
            assert_eq!(id(found.codes[0].get(row)), number);
            // The row that has this id: 7 is the inverse of 42,857 x 7 = 299,999 = -1.
            let row_number = (u64::from(number) * (300_000 - 42_857)) % 300_000;
            let small = found.codes[1].get(row) as usize;
            assert_eq!(spilled.values[2].texts[small], (row_number % 5).to_string());
            assert_eq!(texts[row], format!("rest {}", row_number % 77));
            seen += 1;
        }
    }
    assert_eq!(seen, 200_000);
}

#[test]
fn values_that_do_not_fit_are_refused_with_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, input) = (engine(), table(folder.path()));
    let source = Source::open(&engine, &input).unwrap();
    let scratch = Arc::new(Scratch::new(Some(folder.path())).unwrap());
    let found = read_spilled(&engine, &source, &USES, false, &scratch, 1 << 20);
    let Err(EngineError::TooManyValues { column, needed }) = found else {
        panic!("{:?}", found.err())
    };
    assert_eq!(column, "id");
    // What it asks for is enough, and not far too much.
    let enough = needed * 1_000_000 / 2;
    assert!(read_spilled(&engine, &source, &USES, false, &scratch, enough).is_ok(), "{needed}");
    let little = needed * 1_000_000 / 20;
    assert!(read_spilled(&engine, &source, &USES, false, &scratch, little).is_err(), "{needed}");
}

//! The bytes of a release do not depend on how it is divided into pieces.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::DataType;

use super::*;
use crate::{Output, Source, Use, read};

const SIZES: Sizes = Sizes { chunk_rows: 20, group_rows: 50 };

/// Class sizes with small, large and empty classes.
fn class_sizes() -> Vec<u64> {
    (0..60).map(|class| [3, 0, 11, 40, 1, 7][class % 6]).collect()
}

/// The rows of some classes as they could stand in memory: in an order of their own.
struct Loaded {
    codes: Codes,
    kept: Kept,
    rows: Rows,
}

fn kept_columns() -> Vec<KeptColumn> {
    let column = |name: &str, data_type| KeptColumn { name: name.into(), data_type, kind: None };
    vec![column("note", DataType::Utf8), column("n", DataType::Int64)]
}

fn load(classes: std::ops::Range<usize>) -> Loaded {
    let sizes = class_sizes();
    let first_row: u64 = sizes[..classes.start].iter().sum();
    let n_rows: u64 = sizes[classes.clone()].iter().sum();
    // Row `i` of the piece is row `n_rows - 1 - i` of its part of the release.
    let in_release: Vec<u64> = (0..n_rows).map(|row| first_row + n_rows - 1 - row).collect();
    let codes = Codes::pack(4, in_release.iter().map(|row| (row * 7 % 4) as u32));
    let batches = in_release.chunks(17).map(|rows| {
        let note = |row: &u64| (!row.is_multiple_of(5)).then(|| format!("note, {}", row * 31 % 13));
        let notes: ArrayRef = Arc::new(rows.iter().map(note).collect::<StringArray>());
        let numbers: ArrayRef = Arc::new(
            rows.iter().map(|&row| Some(row.cast_signed() * 17 % 101)).collect::<Int64Array>(),
        );
        vec![notes, numbers]
    });
    let kept = Kept::new(kept_columns(), batches.collect());
    let order = (0..u32::try_from(n_rows).unwrap()).rev().collect();
    let class_ends = sizes[classes.clone()].iter().scan(0, |end, &size| {
        *end += u32::try_from(size).unwrap();
        Some(*end)
    });
    let rows = Rows { first_class: classes.start, order, class_ends: class_ends.collect() };
    Loaded { codes, kept, rows }
}

/// The release, written as pieces that end behind these classes.
fn stage(engine: &Engine, path: &Path, part_rows: Option<u64>, ends: &[usize]) -> Staging {
    let values = Values {
        name: "color".into(),
        kind: None,
        texts: ["red", "blue", "a, b"].map(str::to_owned).into(),
        has_missing: true,
        data_type: DataType::Utf8,
        counts: vec![0; 4],
    };
    let labels = Labels {
        name: "age".into(),
        kind: Kind::Text,
        texts: vec![Some("[1, 5]".into()), None, Some("*".into())],
        of_class: (0..60).map(|class| class * 5 % 3).collect(),
    };
    let published = [
        Published::Kept(1),
        Published::Labels(&labels),
        Published::Coded { values: &values, kind: Kind::Text },
        Published::Kept(0),
    ];
    let output = Output::named(path.to_str().unwrap(), part_rows).unwrap();
    let staging = output.stage().unwrap();
    let kept = kept_columns();
    let columns = Columns::new(&published, &kept);
    let mut writer = Writer::with_sizes(engine, columns, &staging, SIZES).unwrap();
    let mut start = 0;
    for &end in ends {
        let loaded = load(start..end);
        let codes = vec![None, None, Some(&loaded.codes), None];
        writer.write(&Piece { codes, kept: &loaded.kept, rows: &loaded.rows }).unwrap();
        start = end;
    }
    writer.finish().unwrap();
    staging
}

#[test]
fn pieces_that_end_where_chunks_end_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let chunks = gather::chunk_ends(class_sizes(), SIZES.chunk_rows);
    assert!(chunks.len() >= 20, "{chunks:?}");
    let bytes = |name: &str, ends: &[usize]| {
        std::fs::read(stage(&engine, &folder.path().join(name), None, ends).path()).unwrap()
    };
    for name in ["r.csv", "r.csv.gz", "r.tsv.zst", "r.parquet", "r.arrow"] {
        let whole = bytes(name, &[class_sizes().len()]);
        for n_pieces in [2, 3, 7, chunks.len()] {
            let end = |piece: usize| chunks[piece * chunks.len() / n_pieces - 1];
            let ends: Vec<usize> = (1..=n_pieces).map(end).collect();
            assert!(bytes(name, &ends) == whole, "{name} in {n_pieces} pieces");
        }
    }
}

#[test]
fn a_piece_is_ordered_like_what_is_written_of_it() {
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let loaded = load(0..class_sizes().len());
    let piece = Piece { codes: vec![None], kept: &loaded.kept, rows: &loaded.rows };
    let ordered = order_within(&engine, &[Published::Kept(1)], &piece).unwrap();
    let number = |row: &u32| (loaded.rows.order.len() as u64 - 1 - u64::from(*row)) * 17 % 101;
    let mut start = 0;
    for &end in &loaded.rows.class_ends {
        assert!(ordered[start..end as usize].is_sorted_by_key(number));
        start = end as usize;
    }
}

#[test]
fn chunks_end_with_classes() {
    for (sizes, ends) in [
        (vec![], vec![]),
        (vec![0, 0], vec![]),
        (vec![4, 5], vec![2]),
        (vec![10, 9, 1, 30, 0, 2], vec![1, 3, 4, 6]),
        (vec![10, 0], vec![1]),
    ] {
        assert_eq!(gather::chunk_ends(sizes.iter().copied(), 10), ends, "{sizes:?}");
    }
}

/// All cells of an input, row by row.
fn cells(engine: &Engine, path: &Path) -> Vec<Vec<String>> {
    let source = Source::open(engine, path.to_str().unwrap()).unwrap();
    let uses = vec![Use::Code; source.columns().len()];
    let table = read(engine, &source, &uses, false).unwrap();
    let text = |column: &crate::RawColumn, row: usize| {
        let code = column.codes.get(row) as usize;
        column.values.texts.get(code).cloned().unwrap_or_default()
    };
    let row = |row| table.coded.iter().map(|column| text(column, row)).collect();
    (0..table.n_rows).map(row).collect()
}

#[test]
fn parts_put_together_are_the_single_file() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let n_rows: u64 = class_sizes().iter().sum();
    for name in ["r.csv", "r.tsv.gz", "r.parquet", "r.arrow"] {
        let file = stage(&engine, &folder.path().join(name), None, &[class_sizes().len()]);
        for (part_rows, n_parts) in [(1, 20), (100, 6), (n_rows, 1), (u64::MAX, 1)] {
            let ends = gather::chunk_ends(class_sizes(), SIZES.chunk_rows);
            let path = folder.path().join(format!("{name}/"));
            let parts = stage(&engine, &path, Some(part_rows), &ends);
            assert_eq!(std::fs::read_dir(parts.path()).unwrap().count(), n_parts, "{name}");
            assert_eq!(cells(&engine, parts.path()), cells(&engine, file.path()), "{name}");
            let publish = |noted: &[crate::Part]| {
                assert_eq!(noted.len(), n_parts);
                assert_eq!(noted.iter().map(|part| part.n_rows).sum::<u64>(), n_rows);
                assert!(noted.iter().rev().skip(1).all(|part| part.n_rows >= part_rows));
                String::new()
            };
            parts.publish(true, publish).unwrap();
        }
    }
}

#[test]
fn a_release_without_a_row_has_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let parts = stage(&engine, &folder.path().join("r.parquet/"), Some(1), &[]);
    assert_eq!(std::fs::read_dir(parts.path()).unwrap().count(), 1);
    assert!(cells(&engine, parts.path()).is_empty());
}

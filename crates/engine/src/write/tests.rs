//! The bytes of a release do not depend on how it is divided into pieces.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::DataType;

use super::*;
use crate::Output;

const SIZES: Sizes = Sizes { chunk_rows: 20, group_rows: 50 };

/// Class sizes with small, large and empty classes.
fn class_sizes() -> Vec<u64> {
    (0..60u64).map(|class| [3, 0, 11, 40, 1, 7][class as usize % 6]).collect()
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
        let note = |row: &u64| (row % 5 > 0).then(|| format!("note, {}", row * 31 % 13));
        let notes: ArrayRef = Arc::new(rows.iter().map(note).collect::<StringArray>());
        let numbers: ArrayRef =
            Arc::new(rows.iter().map(|&row| Some(row as i64 * 17 % 101)).collect::<Int64Array>());
        vec![notes, numbers]
    });
    let kept = Kept::new(kept_columns(), batches.collect());
    let order = (0..n_rows as u32).rev().collect();
    let class_ends = sizes[classes.clone()].iter().scan(0, |end, &size| {
        *end += size as u32;
        Some(*end)
    });
    let rows = Rows { first_class: classes.start, order, class_ends: class_ends.collect() };
    Loaded { codes, kept, rows }
}

/// The bytes of the release, written as pieces that end behind these classes.
fn written(engine: &Engine, folder: &Path, name: &str, ends: &[usize]) -> Vec<u8> {
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
        of_class: (0..class_sizes().len() as u32).map(|class| class * 5 % 3).collect(),
    };
    let published = [
        Published::Kept(1),
        Published::Labels(&labels),
        Published::Coded { values: &values, kind: Kind::Text },
        Published::Kept(0),
    ];
    let output = Output::named(folder.join(name).to_str().unwrap(), None).unwrap();
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
    std::fs::read(staging.path()).unwrap()
}

#[test]
fn pieces_that_end_where_chunks_end_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let chunks = gather::chunk_ends(class_sizes(), SIZES.chunk_rows);
    assert!(chunks.len() >= 20, "{chunks:?}");
    for name in ["r.csv", "r.csv.gz", "r.tsv.zst", "r.parquet", "r.arrow"] {
        let whole = written(&engine, folder.path(), name, &[class_sizes().len()]);
        for n_pieces in [2, 3, 7, chunks.len()] {
            let end = |piece: usize| chunks[piece * chunks.len() / n_pieces - 1];
            let ends: Vec<usize> = (1..=n_pieces).map(end).collect();
            let pieces = written(&engine, folder.path(), name, &ends);
            assert!(pieces == whole, "{name} in {n_pieces} pieces");
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

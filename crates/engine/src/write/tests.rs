//! The bytes of a release do not depend on how it is divided into pieces.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::DataType;

use super::*;
use crate::{Output, Slot, Source, Use, read};

const SIZES: Sizes = Sizes { break_rows: 20, group_rows: 50 };

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
    let column = |name: &str, data_type| KeptColumn { name: name.into(), data_type, fit: None };
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

/// The release, written as pieces that end after these classes.
fn stage(engine: &Engine, path: &Path, part_rows: Option<u64>, ends: &[usize]) -> Staging {
    write(engine, path, part_rows, ends).0
}

/// The same, with what its columns must say when they are read back.
fn write(
    engine: &Engine,
    path: &Path,
    part_rows: Option<u64>,
    ends: &[usize],
) -> (Staging, Vec<ColumnContent>) {
    write_to(engine, &Output::named(path.to_str().unwrap(), part_rows).unwrap(), ends)
}

fn write_to(engine: &Engine, output: &Output, ends: &[usize]) -> (Staging, Vec<ColumnContent>) {
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
        is_mean: false,
        are_sets: false,
        texts: vec![Some("[1, 5]".into()), None, Some("*".into())],
        of_class: (0..60).map(|class| class * 5 % 3).collect(),
    };
    let cities = Labels {
        name: "city".into(),
        kind: Kind::Text,
        is_mean: false,
        are_sets: true,
        texts: [Some("{Oslo|Rome}"), Some("*"), None, Some(r"\*"), Some("{|Bonn}")]
            .map(|label| label.map(str::to_owned))
            .into(),
        of_class: (0..60).map(|class| class * 7 % 5).collect(),
    };
    let dictionary = Dictionary::of_texts(Vec::new(), false);
    let column = SourceColumn { name: "age".into(), data_type: DataType::Utf8 };
    let published = [
        Published::Kept(1),
        Published::Labels { labels: &labels, dictionary: &dictionary, column: &column },
        Published::Labels { labels: &cities, dictionary: &dictionary, column: &column },
        Published::Coded { values: &values, kind: Kind::Text },
        Published::Kept(0),
    ];
    let staging = output.stage().unwrap();
    let kept = kept_columns();
    let columns = Columns::new(&published, &kept);
    let mut writer = Writer::with_sizes(engine, columns, &staging, SIZES).unwrap();
    let mut start = 0;
    for &end in ends {
        let loaded = load(start..end);
        let codes = vec![None, None, None, Some(&loaded.codes), None];
        writer.write(&Piece { codes, kept: &loaded.kept, rows: &loaded.rows }).unwrap();
        start = end;
    }
    let contents = writer.finish().unwrap();
    (staging, contents)
}

#[test]
fn pieces_give_the_same_bytes_wherever_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let bytes = |name: &str, ends: &[usize]| {
        std::fs::read(stage(&engine, &folder.path().join(name), None, ends).path()).unwrap()
    };
    let n_classes = class_sizes().len();
    for name in ["r.csv", "r.csv.gz", "r.tsv.zst", "r.parquet", "r.arrow"] {
        let whole = bytes(name, &[n_classes]);
        for n_pieces in [2, 3, 7, n_classes] {
            let ends: Vec<usize> = (1..=n_pieces).map(|at| at * n_classes / n_pieces).collect();
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
        (vec![4, 5], vec![(2, false)]),
        (vec![10, 9, 1, 30, 0, 2], vec![(1, true), (2, false), (3, true), (4, true), (6, false)]),
        (vec![10, 0], vec![(1, true)]),
        (vec![4, 4, 4], vec![(2, false), (3, true)]),
    ] {
        let class_ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let class_ends: Vec<u32> = class_ends.collect();
        let n_rows = class_ends.last().copied().unwrap_or(0);
        let rows = Rows { first_class: 0, order: (0..n_rows).collect(), class_ends };
        let found = gather::chunks(&rows, 8, &mut Breaks::new(10), false);
        let found: Vec<(usize, bool)> = found.iter().map(gather::Chunk::end).collect();
        assert_eq!(found, ends, "{sizes:?}");
    }
}

/// All cells of an input, row by row.
fn cells(engine: &Engine, path: &Path) -> Vec<Vec<String>> {
    let source = Source::open(engine, path.to_str().unwrap()).unwrap().with_sets(|_| true);
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
            let ends: Vec<usize> = (1..=class_sizes().len()).collect();
            let path = folder.path().join(format!("{name}/"));
            let parts = stage(&engine, &path, Some(part_rows), &ends);
            assert_eq!(std::fs::read_dir(parts.path()).unwrap().count(), n_parts, "{name}");
            assert_eq!(cells(&engine, parts.path()), cells(&engine, file.path()), "{name}");
            let publish = |noted: &[crate::Part]| {
                assert_eq!(noted.len(), n_parts);
                assert_eq!(noted.iter().map(|part| part.n_rows).sum::<u64>(), n_rows);
                assert!(noted.iter().rev().skip(1).all(|part| part.n_rows >= part_rows));
                let part = |part: &crate::Part| format!(r#"{{"name": "{}"}}"#, part.name);
                let parts: Vec<String> = noted.iter().map(part).collect();
                format!(r#"{{"incrowd": "test", "parts": [{}]}}"#, parts.join(", "))
            };
            crate::publish(Vec::new(), Some((parts, &publish)), true, || Ok(())).unwrap();
        }
    }
}

/// Sets are lists where a format has them, and are read back as the labels that CSV has.
#[test]
fn sets_are_lists_that_are_read_as_labels() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let file = |name: &str| stage(&engine, &folder.path().join(name), None, &[class_sizes().len()]);
    let text = file("r.csv");
    let expected = cells(&engine, text.path());
    for label in ["{Oslo|Rome}", "*", "", r"\*", "{|Bonn}"] {
        assert!(expected.iter().any(|row| row[2] == label), "{label}");
    }
    let list = DataType::new_list(DataType::Utf8, true);
    for (name, data_type) in
        [("r.parquet", &list), ("r.arrow", &list), ("r.jsonl", &DataType::Utf8)]
    {
        let staged = file(name);
        assert_eq!(cells(&engine, staged.path()), expected, "{name}");
        let source = Source::open(&engine, staged.path().to_str().unwrap()).unwrap();
        let at = source.position("city").unwrap();
        assert_eq!(&source.columns()[at].data_type, data_type, "{name}");
        // A table that is no release has lists that stand for nothing.
        let uses = vec![Use::Code; source.columns().len()];
        let is_refused = matches!(
            read(&engine, &source, &uses, false),
            Err(EngineError::UnsupportedType { column, .. }) if column == "city"
        );
        assert_eq!(is_refused, data_type == &list, "{name}");
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

/// A cell that changes on the way into the file is found when the file is read back.
#[test]
fn a_changed_cell_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    for name in ["r.csv", "r.csv.gz", "r.parquet", "r.arrow"] {
        let path = folder.path().join(name);
        let (staging, contents) = write(&engine, &path, None, &[class_sizes().len()]);
        let release = Source::open(&engine, staging.path().to_str().unwrap()).unwrap();
        let names: Vec<&str> = contents.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["n", "color", "note"]);
        assert_eq!(
            crate::first_changed(&engine, &release, &contents.iter().collect::<Vec<_>>()).unwrap(),
            None,
            "{name}"
        );
    }
    let (staging, contents) = write(&engine, &folder.path().join("r.csv"), None, &[60]);
    let text = std::fs::read_to_string(staging.path()).unwrap();
    for (from, to, column) in [
        ("blue", "brue", "color"),
        ("note, 3", "note, 4", "note"),
        ("\"note, 3\"", "", "note"),
        ("blue", "", "color"),
        ("\n17,", "\n18,", "n"),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = folder.path().join("changed.csv");
        std::fs::write(&changed, text.replacen(from, to, 1)).unwrap();
        let release = Source::open(&engine, changed.to_str().unwrap()).unwrap();
        let found =
            crate::first_changed(&engine, &release, &contents.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found.as_deref(), Some(column), "{from} as {to}");
    }
}

/// The rows of `load` on their way to a place in memory.
fn in_memory(slot: &Slot) -> (Staging, Vec<ColumnContent>) {
    let engine = Engine::new(2, Arc::default(), Arc::default());
    write_to(&engine, &Output::in_memory(slot), &[class_sizes().len()])
}

/// A release in memory holds the rows of an Arrow file, and is handed out when it is published.
#[test]
fn a_release_in_memory_is_handed_out_when_it_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let file = stage(&engine, &folder.path().join("r.arrow"), None, &[class_sizes().len()]);
    let reader =
        arrow::ipc::reader::FileReader::try_new(std::fs::File::open(file.path()).unwrap(), None);
    let expected: Vec<_> = reader.unwrap().map(Result::unwrap).collect();
    let slot = Slot::default();
    let (staging, _) = in_memory(&slot);
    assert!(slot.take().is_none());
    drop(staging);
    assert!(slot.take().is_none(), "what is not published is gone");
    let (staging, _) = in_memory(&slot);
    let stopped = || Err(EngineError::Cancelled);
    assert!(
        crate::publish(Vec::new(), Some((staging, &|_| String::new())), true, stopped).is_err()
    );
    assert!(slot.take().is_none(), "what could not be published is gone");
    let (staging, _) = in_memory(&slot);
    crate::publish(Vec::new(), Some((staging, &|_| String::new())), false, || Ok(())).unwrap();
    let release = slot.take().unwrap();
    assert_eq!(release.batches(), expected);
    assert!(slot.take().is_none());
}

/// What is read back from memory is compared like what is read back from a file.
#[test]
fn a_changed_cell_in_memory_is_found() {
    let engine = Engine::new(2, Arc::default(), Arc::default());
    let (staging, contents) = in_memory(&Slot::default());
    let contents: Vec<&ColumnContent> = contents.iter().collect();
    let release = Source::of_staged(&engine, &staging).unwrap();
    assert_eq!(crate::first_changed(&engine, &release, &contents).unwrap(), None);
    let batches = staging.written().unwrap();
    let less = batches.batches()[0].slice(1, batches.batches()[0].num_rows() - 1);
    let changed = crate::Batches::new(batches.schema(), vec![less]).unwrap();
    let found = crate::first_changed(&engine, &Source::of_batches(changed), &contents).unwrap();
    assert!(found.is_some());
}

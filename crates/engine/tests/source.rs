//! Reading: what is found, what is refused, and a source that changes under our hands.

use std::path::Path;
use std::sync::Arc;

use incrowd_engine::{Engine, EngineError, Order, Source, Table, Use, read};

fn engine() -> Engine {
    Engine::new(2, Arc::default(), Arc::default())
}

fn read_all(engine: &Engine, path: &Path) -> Result<Table, EngineError> {
    let source = Source::open(engine, &path.to_string_lossy())?;
    let uses = vec![Use::Code; source.columns().len()];
    read(engine, &source, &uses, false)
}

#[test]
fn a_source_that_changes_between_opening_and_reading_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let engine = engine();
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    std::fs::write(&path, "a,b\n1,2\n3,4\n").unwrap();
    let found = read(&engine, &source, &[Use::Code, Use::Keep], false);
    assert!(matches!(found, Err(EngineError::Changed { .. })), "{found:?}");
    std::fs::remove_file(&path).unwrap();
    assert!(source.check_unchanged().is_err());
}

#[test]
fn a_large_file_is_read_in_parallel_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let mut text = String::from("id,word,rest\n");
    for row in 0..400_000 {
        text.push_str(&format!("{row},w{},some more text here\n", row % 1000));
    }
    std::fs::write(&path, &text).unwrap();
    let table = read_all(&engine(), &path).unwrap();
    assert_eq!(table.n_rows, 400_000);
    let ids = &table.coded[0];
    for row in [0usize, 1, 199_999, 200_000, 399_999] {
        assert_eq!(ids.values.texts[ids.codes.get(row) as usize], row.to_string());
    }
    assert_eq!(table.coded[1].values.texts.len(), 1000);
    let ranked = ids.rank(Order::Natural(None)).unwrap();
    assert_eq!(ranked.dictionary.texts[0], "0");
    assert_eq!(ranked.dictionary.texts[399_999], "399999");
}

#[test]
fn line_breaks_in_values_do_not_split_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let mut text = String::from("id,note\n");
    for row in 0..300_000 {
        text.push_str(&format!("{row},\"line one\nline two, of {row}\"\n"));
    }
    std::fs::write(&path, &text).unwrap();
    let table = read_all(&engine(), &path).unwrap();
    assert_eq!(table.n_rows, 300_000);
    assert_eq!(table.coded[0].values.texts.len(), 300_000);
}

#[test]
fn missing_cells_have_the_last_code() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,x\n,x\n2,\n").unwrap();
    let table = read_all(&engine(), &path).unwrap();
    let a = &table.coded[0];
    assert!(a.values.has_missing);
    assert_eq!(a.codes.get(1), a.values.n_codes() - 1);
    let ranked = a.rank(Order::Natural(None)).unwrap();
    assert_eq!(a.coded(&ranked).iter().collect::<Vec<_>>(), [0, 2, 1]);
}

#[test]
fn a_cancelled_read_stops() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "a\n1\n2\n").unwrap();
    let cancelled: Arc<std::sync::atomic::AtomicBool> = Arc::default();
    let engine = Engine::new(1, Arc::clone(&cancelled), Arc::default());
    let source = Source::open(&engine, &path.to_string_lossy()).unwrap();
    cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(read(&engine, &source, &[Use::Code], false), Err(EngineError::Cancelled)));
}

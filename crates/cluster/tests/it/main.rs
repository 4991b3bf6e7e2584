//! A scheduler and two executors on this machine answer as the embedded engine does, and when they
//! die, nothing hangs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, UInt32Type, UInt64Type};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use incrowd_cluster::Ballista;
use incrowd_engine::Values;
use incrowd_engine::remote::{Address, coded, grouped, of_stream, values};
use incrowd_engine::{Engine, EngineError, Source, Use};

/// Nothing here takes longer, on however busy a machine.
const DEADLINE: Duration = Duration::from_mins(2);

/// A part of the cluster, killed when dropped.
struct Part {
    child: Child,
    lines: Receiver<String>,
}

impl Part {
    fn start(args: &[&str]) -> Part {
        let mut child = Command::new(env!("CARGO_BIN_EXE_incrowd-cluster"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let from = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            from.lines().map_while(Result::ok).try_for_each(|l| send.send(l))
        });
        Part { child, lines }
    }

    /// The rest of the first line that begins like this.
    fn line(&self, start: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(DEADLINE).expect("a line before the deadline");
            if let Some(rest) = line.strip_prefix(start) {
                return rest.to_owned();
            }
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end; its exit code.
    fn terminate(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Cluster {
    executors: Vec<Part>,
    scheduler: Part,
    address: Address,
    folder: tempfile::TempDir,
}

impl Cluster {
    fn start(n_executors: usize) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let scheduler = Part::start(&["scheduler", "--port", "0"]);
        let address = Address::parse(&scheduler.line("scheduler listening on ")).unwrap();
        let mut cluster = Cluster { executors: Vec::new(), scheduler, address, folder };
        for number in 0..n_executors {
            let work = cluster.work(number);
            std::fs::create_dir(&work).unwrap();
            let (scheduler, work) = (cluster.address.to_string(), work.display().to_string());
            let executor = Part::start(&[
                "executor",
                "--scheduler",
                &scheduler,
                "--port",
                "0",
                "--control-port",
                "0",
                "--slots",
                "1",
                "--work-dir",
                &work,
            ]);
            cluster.executors.push(executor);
        }
        for executor in &cluster.executors {
            executor.line("executor ready on ");
        }
        cluster
    }

    fn work(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("work-{number}"))
    }

    fn engine(&self, cancelled: &Arc<AtomicBool>) -> Engine {
        Engine::new(2, Arc::clone(cancelled), Arc::default())
            .with_parts(6)
            .with_cluster(&Ballista, &self.address)
            .unwrap()
    }
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let beat = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    while !holds() {
        std::thread::sleep(beat);
        waited += beat;
        assert!(waited < DEADLINE, "in vain: {what}");
    }
}

type Rows = BTreeMap<Vec<String>, u64>;

/// Everything that can be asked of a source, in a form that does not depend on any order.
#[derive(Debug, PartialEq)]
struct Answers {
    n_rows: u64,
    values: Vec<BTreeMap<String, u64>>,
    rows: Rows,
    groups: Rows,
}

fn collect(
    engine: &Engine,
    streams: Vec<SendableRecordBatchStream>,
) -> Result<Vec<RecordBatch>, EngineError> {
    engine.runtime().block_on(async {
        let mut batches = Vec::new();
        for mut stream in streams {
            while let Some(batch) = stream.next().await {
                batches.push(batch.map_err(of_stream)?);
            }
        }
        Ok(batches)
    })
}

fn text(values: &Values, code: u32) -> String {
    values.texts.get(code as usize).map_or_else(String::new, |text| format!("={text}"))
}

fn shown(array: &ArrayRef, row: usize) -> String {
    let array = cast(array, &DataType::Utf8).unwrap();
    if array.is_null(row) { String::new() } else { array.as_string::<i32>().value(row).to_owned() }
}

/// Asks with the first columns coded and the last one kept.
fn ask(engine: &Engine, path: &Path) -> Result<Answers, EngineError> {
    let source = Source::open(engine, &path.to_string_lossy())?;
    let n_coded = source.columns().len() - 1;
    let columns: Vec<usize> = (0..n_coded).collect();
    let mut uses = vec![Use::Code; n_coded];
    uses.push(Use::Keep);
    let (n_rows, found) = values(engine, &source, &columns)?;
    let mut rows = Rows::new();
    for batch in collect(engine, coded(engine, &source, &uses, &found)?)? {
        for row in 0..batch.num_rows() {
            let code = |at: usize| batch.column(at).as_primitive::<UInt32Type>().value(row);
            let mut cells: Vec<String> =
                columns.iter().map(|&at| text(&found[at], code(at))).collect();
            cells.push(shown(batch.column(n_coded), row));
            *rows.entry(cells).or_default() += 1;
        }
    }
    let mut groups = Rows::new();
    for batch in collect(engine, grouped(engine, &source, &columns[..2], &found[..2])?)? {
        for row in 0..batch.num_rows() {
            let code = |at: usize| batch.column(at).as_primitive::<UInt32Type>().value(row);
            let cells = (0..2).map(|at| text(&found[at], code(at))).collect();
            let count = batch.column(2).as_primitive::<UInt64Type>().value(row);
            assert!(groups.insert(cells, count).is_none());
        }
    }
    let values = found.iter().map(|values| {
        (0u32..).zip(&values.counts).map(|(code, count)| (text(values, code), *count)).collect()
    });
    Ok(Answers { n_rows, values: values.collect(), rows, groups })
}

fn parquet(path: &Path, n_rows: i64) {
    let some = |row: i64| row % 11 != 3;
    let pick = |row: i64, n: i64| (row * 7919 + row / 3) % n;
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "town",
            Arc::new(
                (0..n_rows)
                    .map(|row| some(row).then(|| format!("town {}", pick(row, 50))))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "age",
            Arc::new(
                (0..n_rows).map(|row| some(row + 1).then(|| pick(row, 90))).collect::<Int64Array>(),
            ),
        ),
        (
            "born",
            Arc::new(
                (0..n_rows)
                    .map(|row| Some(i32::try_from(pick(row, 4000)).unwrap()))
                    .collect::<Date32Array>(),
            ),
        ),
        (
            "weight",
            Arc::new(
                (0..n_rows)
                    .map(|row| Some(f64::from(i32::try_from(pick(row, 500)).unwrap()) / 4.0))
                    .collect::<Float64Array>(),
            ),
        ),
        (
            "note",
            Arc::new(
                (0..n_rows)
                    .map(|row| Some(format!("note {}", row % 1000)))
                    .collect::<StringArray>(),
            ),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(5000))
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(options)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn csv(path: &Path, n_rows: u32) {
    let row = |row: u32| {
        let town = ["Köln", "\"Aachen, \"\"Stadt\"\"\"", "", "Bonn"][(row % 4) as usize];
        format!("{town},{},{},{row}\n", row * 31 % 97, row * 7 % 1013)
    };
    std::fs::write(
        path,
        "town,age,zip,id\n".to_owned() + &(0..n_rows).map(row).collect::<String>(),
    )
    .unwrap();
}

#[test]
fn a_cluster_answers_as_the_embedded_engine_and_its_parts_may_die() {
    let mut cluster = Cluster::start(2);
    let cancelled: Arc<AtomicBool> = Arc::default();
    let (here, there) =
        (Engine::new(2, Arc::default(), Arc::default()), cluster.engine(&cancelled));
    assert!(there.is_remote() && !here.is_remote());
    let small = cluster.folder.path().join("small.parquet");
    parquet(&small, 40_000);
    assert!(ask(&there, &small).unwrap() == ask(&here, &small).unwrap());
    let large = cluster.folder.path().join("large.csv");
    csv(&large, 300_000);
    let expected = ask(&here, &large).unwrap();
    assert!(ask(&there, &large).unwrap() == expected);
    until("results are removed", || {
        files(&cluster.work(0)).is_empty() && files(&cluster.work(1)).is_empty()
    });

    a_cancelled_job_ends(&cluster, &large);

    // One dies in the middle: the other does its part, or there is an error that says so.
    let answers = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&there, &large));
        until("a part is written", || !files(&cluster.work(0)).is_empty() || asking.is_finished());
        cluster.executors[0].kill();
        asking.join().unwrap()
    });
    match answers {
        Ok(answers) => assert!(answers == expected),
        Err(error) => assert!(matches!(error, EngineError::Cluster { .. }), "{error}"),
    }
    assert!(ask(&there, &small).unwrap() == ask(&here, &small).unwrap());

    // A worker that is asked to end does, and leaves nothing.
    assert_eq!(cluster.executors[1].terminate(), Some(0));
    assert_eq!(std::fs::read_dir(cluster.work(1)).unwrap().count(), 0);

    // Without workers, and then without a scheduler, nothing hangs.
    let error = ask(&there, &small).unwrap_err();
    assert!(matches!(error, EngineError::Cluster { .. }), "{error}");
    cluster.scheduler.kill();
    let error = ask(&there, &small).unwrap_err();
    assert!(matches!(error, EngineError::Cluster { .. }), "{error}");
    let error = Engine::new(1, Arc::default(), Arc::default())
        .with_cluster(&Ballista, &cluster.address)
        .unwrap_err();
    assert!(matches!(error, EngineError::NoScheduler { .. }), "{error}");
}

fn a_cancelled_job_ends(cluster: &Cluster, large: &Path) {
    let cancelled: Arc<AtomicBool> = Arc::default();
    let engine = cluster.engine(&cancelled);
    let found = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&engine, large));
        until("a part is written", || !files(&cluster.work(0)).is_empty() || asking.is_finished());
        cancelled.store(true, Ordering::Relaxed);
        asking.join().unwrap()
    });
    // Unless it was done before it could be cancelled.
    assert!(matches!(found, Err(EngineError::Cancelled) | Ok(_)), "{:?}", found.err());
    drop(engine);
    until("results are removed", || {
        files(&cluster.work(0)).is_empty() && files(&cluster.work(1)).is_empty()
    });
}

#[test]
fn a_scheduler_is_asked_to_end_and_does() {
    let mut cluster = Cluster::start(0);
    assert_eq!(cluster.scheduler.terminate(), Some(0));
}

#[test]
fn wrong_options_are_told() {
    for args in [
        &["executor"][..],
        &["executor", "--scheduler", "nowhere"],
        &["executor", "--scheduler", "a:1", "--memory-limit", "1MB"],
        &["scheduler", "--bind", "0.0.0.0", "--port", "0"],
        &["profile", "x.csv", "--engine", "ballista://nowhere"],
        &["profile", "x.csv", "--engine", "spark://a:1"],
        &["profile", "x.csv", "--engine", "ballista://127.0.0.1:1"],
    ] {
        let done = Command::new(env!("CARGO_BIN_EXE_incrowd-cluster")).args(args).output().unwrap();
        assert_eq!(
            done.status.code(),
            Some(2),
            "{args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert!(!done.stderr.is_empty());
    }
}

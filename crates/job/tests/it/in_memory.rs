//! A table in memory gives the same release, report and recoding as the same table in a file, and
//! no release is handed out that was not verified.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use arrow::ipc::reader::FileReader;
use incrowd_job::{
    ApplyOptions, Batches, JobError, JobSpec, Outcome, Report, Run, anonymize, anonymize_batches,
    apply, apply_batches, check, check_batches,
};
use parquet::arrow::ArrowWriter;

/// Rows of every kind of column, some cells of which are missing. Another seed is another table.
fn people(n_rows: usize, seed: u64) -> RecordBatch {
    let mut state = seed;
    let mut below = |n: i64| -> i64 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 33).unwrap() % n
    };
    let mut numbers = |n: i64| -> Vec<i64> { (0..n_rows).map(|_| below(n)).collect() };
    let small = |number: i64| i32::try_from(number).unwrap();
    // One cell in twelve is missing.
    let some = |numbers: Vec<i64>| -> Vec<Option<i64>> {
        let cell = |(row, number): (usize, i64)| (row % 12 != 7).then_some(number);
        numbers.into_iter().enumerate().map(cell).collect()
    };
    let text = |words: &'static [&'static str]| {
        move |at: i64| words[usize::try_from(at).unwrap() % words.len()]
    };
    let age: Int32Array = some(numbers(60)).into_iter().map(|n| n.map(small)).collect();
    let sex: StringArray = some(numbers(2)).into_iter().map(|n| n.map(text(&["f", "m"]))).collect();
    let city = text(&["Aachen", "Bonn", "Cologne", "Dortmund", "Essen"]);
    let city: DictionaryArray<Int32Type> =
        some(numbers(5)).into_iter().map(|n| n.map(city)).collect();
    let weight: Float64Array = some(numbers(400))
        .into_iter()
        .map(|n| n.map(|n| 40.0 + f64::from(small(n)) / 4.0))
        .collect();
    let born: Date32Array = some(numbers(20_000)).into_iter().map(|n| n.map(small)).collect();
    let disease = text(&["flu", "cold", "asthma", "gout"]);
    let disease: LargeStringArray = numbers(4).into_iter().map(|n| Some(disease(n))).collect();
    let visits: Int64Array = some(numbers(9)).into_iter().collect();
    let last_seen: TimestampMicrosecondArray = some(numbers(1 << 30)).into_iter().collect();
    let cost: Decimal128Array = numbers(100_000).into_iter().map(|n| Some(i128::from(n))).collect();
    let smokes: BooleanArray = some(numbers(2)).into_iter().map(|n| n.map(|n| n == 1)).collect();
    let note: StringViewArray =
        (0..n_rows).map(|row| Some(format!("a note of row {row}"))).collect();
    let doses =
        numbers(3).into_iter().map(|n| Some((0..n).map(|n| Some(small(n))).collect::<Vec<_>>()));
    let doses = ListArray::from_iter_primitive::<Int32Type, _, _>(doses);
    let columns: [(&str, ArrayRef); 12] = [
        ("age", Arc::new(age)),
        ("sex", Arc::new(sex)),
        ("city", Arc::new(city)),
        ("weight", Arc::new(weight)),
        ("born", Arc::new(born)),
        ("disease", Arc::new(disease)),
        ("visits", Arc::new(visits)),
        ("seen", Arc::new(last_seen)),
        ("cost", Arc::new(cost.with_precision_and_scale(10, 2).unwrap())),
        ("smokes", Arc::new(smokes)),
        ("note", Arc::new(note)),
        ("doses", Arc::new(doses)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// The same rows as batches of different lengths, one of them empty.
fn batches(rows: &RecordBatch) -> Batches {
    let n = rows.num_rows();
    let slice = |from: usize, to: usize| rows.slice(from, to - from);
    let parts = vec![slice(0, n / 5), slice(n / 5, n / 5), slice(n / 5, n - 3), slice(n - 3, n)];
    Batches::new(&rows.schema(), parts).unwrap()
}

fn write_parquet(rows: &RecordBatch, path: &Path) {
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn read_arrow(path: &Path) -> RecordBatch {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn whole(table: &Batches) -> RecordBatch {
    concat_batches(table.schema(), table.batches()).unwrap()
}

/// A report without the names of files, the time and the memory it took.
fn figures(report: &Report) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    json.as_object_mut().unwrap().remove("timings_s");
    for name in ["input", "output", "recoding", "report"] {
        json["job"].as_object_mut().unwrap().remove(name);
    }
    for name in ["elapsed_s", "peak_memory_bytes"] {
        json["search"].as_object_mut().map(|search| search.remove(name));
    }
    json
}

#[track_caller]
fn done(outcome: Outcome) -> Report {
    let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
    done.report
}

const KEPT: &str = r#"
    disease = { role = "sensitive" }
    visits = { role = "insensitive" }
    seen = { role = "insensitive" }
    cost = { role = "insensitive" }
    smokes = { role = "sensitive" }
    note = { role = "insensitive" }
    doses = { role = "insensitive" }
"#;

const PLAIN: &str = r#"
    age = { role = "quasi" }
    sex = { role = "quasi" }
    city = { role = "quasi" }
    weight = { role = "quasi" }
    born = { role = "quasi" }
"#;

const TREES: &str = r#"
    age = { role = "quasi", hierarchy = { width = 10.0, levels = [2] } }
    sex = { role = "quasi", hierarchy = { fan-out = 2 } }
    city = { role = "quasi", hierarchy = { mask = "right" } }
    weight = { role = "insensitive" }
    born = { role = "insensitive" }
"#;

fn job(columns: &str, rest: &str, folder: &Path) -> JobSpec {
    let toml = format!("[columns]\n{columns}\n{KEPT}\n[privacy]\nk = 4\n{rest}\n");
    let mut spec = JobSpec::from_toml(&toml).unwrap();
    spec.run.temp_dir = Some(folder.display().to_string());
    spec
}

/// The release, the report and the recoding of a job over a file and over batches.
#[track_caller]
fn same(columns: &str, rest: &str, has_recoding: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let name = |name: &str| Some(path(name).display().to_string());
    for (n_rows, seed) in [(60, 1), (900, 2)] {
        let rows = people(n_rows, seed);
        write_parquet(&rows, &path("t.parquet"));
        let of_batches = job(columns, rest, folder.path());
        let recoding = |at: &str| has_recoding.then(|| name(at)).flatten();
        let of_file = JobSpec {
            input: name("t.parquet"),
            output: name("r.arrow"),
            recoding: recoding("file.json"),
            ..of_batches.clone()
        };
        let of_batches = JobSpec { recoding: recoding("memory.json"), ..of_batches };
        let expected = done(anonymize(&Run::default(), &of_file, true).unwrap());
        let table = batches(&rows);
        for run in [Run::default(), Run::default().forced_into_files(3)] {
            let found = anonymize_batches(&run, &of_batches, &table, true).unwrap();
            let report = done(found.outcome);
            let release = found.release.unwrap();
            assert_eq!(whole(&release), read_arrow(&path("r.arrow")), "{n_rows} rows: {rest}");
            if !has_recoding {
                continue;
            }
            let text = |name: &str| std::fs::read_to_string(path(name)).unwrap();
            assert_eq!(text("memory.json"), text("file.json"), "{n_rows} rows: {rest}");
            assert_eq!(text("memory.private.json"), text("file.private.json"), "{n_rows}: {rest}");
            assert_eq!(
                figures(&report)["release"],
                figures(&expected)["release"],
                "{n_rows} rows: {rest}"
            );
        }
        let found = anonymize_batches(&Run::default(), &of_batches, &table, true).unwrap();
        assert_eq!(figures(&done(found.outcome)), figures(&expected), "{n_rows} rows: {rest}");
    }
}

#[test]
fn every_label() {
    for labels in ["range", "bounds", "mean", "range+mean", "region"] {
        same(PLAIN, &format!("[release]\nlabels = \"{labels}\""), true);
    }
}

#[test]
fn algorithms() {
    same(PLAIN, "[search]\nalgorithm = \"mondrian\"\nvariant = \"relaxed\"", false);
    same(PLAIN, "[search]\nalgorithm = \"single-dimensional\"", true);
    for algorithm in ["optimal", "datafly", "incognito"] {
        let rest = format!(
            "suppress = \"10%\"\n[search]\nalgorithm = \"{algorithm}\"\n[release]\nsuppressed = \"star\""
        );
        same(TREES, &rest, algorithm != "datafly");
    }
}

/// The order of an ordered dictionary is that of the column, as in a file.
#[test]
fn an_ordered_dictionary() {
    let keys = Int32Array::from_iter_values((0..40).map(|row| row * 7 % 4));
    let values: ArrayRef = Arc::new(StringArray::from(vec!["low", "fair", "high", "top"]));
    let grade: ArrayRef = Arc::new(DictionaryArray::try_new(keys, values).unwrap());
    let ordered = |is_ordered: bool| {
        let field = Field::new_dictionary("grade", DataType::Int32, DataType::Utf8, true);
        let schema = Schema::new(vec![field.with_dict_is_ordered(is_ordered)]);
        let rows = RecordBatch::try_new(Arc::new(schema), vec![Arc::clone(&grade)]).unwrap();
        let table = Batches::new(&rows.schema(), vec![rows]).unwrap();
        let toml = "[columns]\ngrade = { role = \"quasi\" }\n[privacy]\nk = 20\n";
        let spec = JobSpec::from_toml(toml).unwrap();
        let found = anonymize_batches(&Run::default(), &spec, &table, false).unwrap();
        let release = whole(&found.release.unwrap());
        let labels = arrow::compute::cast(release.column(0), &DataType::Utf8).unwrap();
        let labels: &StringArray = labels.as_any().downcast_ref().unwrap();
        let mut texts: Vec<String> = labels.iter().flatten().map(str::to_owned).collect();
        texts.dedup();
        texts
    };
    let texts = ordered(true);
    assert_eq!(texts.len(), 2);
    // In the dictionary's order, low and fair are neighbours; in no other.
    assert!(texts.iter().any(|text| text.contains("low") && text.contains("fair")), "{texts:?}");
}

#[test]
fn a_table_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let rows = people(300, 3);
    write_parquet(&rows, &folder.path().join("t.parquet"));
    let mut spec =
        job("sex = { role = \"quasi\" }\ncity = { role = \"quasi\" }", "", folder.path());
    spec.undeclared = Some("drop".to_owned());
    let of_batches = check_batches(&Run::default(), &spec, &batches(&rows), false).unwrap();
    spec.input = Some(folder.path().join("t.parquet").display().to_string());
    let of_file = check(&Run::default(), &spec, false).unwrap();
    let [found, expected] =
        [&of_batches, &of_file].map(|outcome| figures(outcome.report().unwrap()));
    assert_eq!(found, expected);
    let has_failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
    assert_eq!(has_failed(&of_batches), has_failed(&of_file));
}

#[test]
fn a_recoding_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let table = batches(&people(400, 4));
    let mut spec = job(PLAIN, "[release]\nlabels = \"region\"", folder.path());
    spec.recoding = Some(path("recoding.json").display().to_string());
    done(anonymize_batches(&Run::default(), &spec, &table, false).unwrap().outcome);
    let rows = people(500, 4);
    write_parquet(&rows, &path("new.parquet"));
    let options = ApplyOptions { unverified: true, force: true, ..ApplyOptions::default() };
    let of_file = ApplyOptions {
        input: path("new.parquet").display().to_string(),
        output: path("r.arrow").display().to_string(),
        ..options.clone()
    };
    let recoding = path("recoding.json");
    let expected = done(apply(&Run::default(), &recoding, &of_file).unwrap());
    let found = apply_batches(&Run::default(), &recoding, &options, &batches(&rows)).unwrap();
    assert_eq!(whole(&found.release.unwrap()), read_arrow(&path("r.arrow")));
    assert_eq!(figures(&done(found.outcome)), figures(&expected));
}

/// What is not verified stays where it is: with the engine.
#[test]
fn a_release_that_fails_is_never_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let table = batches(&people(200, 5));
    let refused = |rest: &str| {
        let spec = job(PLAIN, rest, folder.path());
        let found = anonymize_batches(&Run::default(), &spec, &table, false).unwrap();
        assert!(matches!(found.outcome, Outcome::Failed { .. }), "{rest}: {:?}", found.outcome);
        assert!(found.release.is_none(), "{rest}");
    };
    // No search aims at this limit: it breaks in the written rows.
    refused("fail-above = { marketer = 0.001 }");
    refused("l-diversity = [{ column = \"disease\", distinct = 9 }]");
    // A report that cannot be told keeps the release back.
    let spec = job(PLAIN, "", folder.path());
    let deaf = Run::default().telling(|_| Err(JobError::Cancelled));
    assert!(anonymize_batches(&deaf, &spec, &table, false).is_err());
}

#[test]
fn a_job_names_files_or_is_given_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = batches(&people(60, 6));
    let named = JobSpec {
        input: Some("t.csv".to_owned()),
        output: Some("r.csv".to_owned()),
        ..job(PLAIN, "", folder.path())
    };
    let refused = anonymize_batches(&Run::default(), &named, &table, false);
    let Err(JobError::Request(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(check_batches(&Run::default(), &named, &table, false).is_err());
    // A file beside the release is not replaced unasked.
    let report = folder.path().join("report.json");
    std::fs::write(&report, "mine").unwrap();
    let spec =
        JobSpec { report: Some(report.display().to_string()), ..job(PLAIN, "", folder.path()) };
    assert!(anonymize_batches(&Run::default(), &spec, &table, false).is_err());
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "mine");
    let found = anonymize_batches(&Run::default(), &spec, &table, true).unwrap();
    assert!(
        found.release.is_some() && std::fs::read_to_string(&report).unwrap().contains("privacy")
    );
}

/// A page for people is made of tables in memory, too, with the answers to queries over both.
#[test]
fn a_page_with_queries() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let rest = "[workload]\nqueries = [\"SELECT COUNT(*) WHERE age <= 30\"]";
    let spec =
        JobSpec { report: Some(page.display().to_string()), ..job(PLAIN, rest, folder.path()) };
    let found =
        anonymize_batches(&Run::default(), &spec, &batches(&people(300, 7)), false).unwrap();
    assert!(found.release.is_some());
    assert!(std::fs::read_to_string(page).unwrap().contains("SELECT COUNT(*) WHERE age"));
}

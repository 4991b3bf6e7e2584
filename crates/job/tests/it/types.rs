//! A release holds the values of the table in types that tell them exactly, or it is not made.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Date64Array, Float32Array, Int64Array, RecordBatch,
    StringArray, Time32SecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    TimestampSecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{
    DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;
use incrowd_job::{JobError, JobSpec, Outcome, Run, anonymize};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Makes the release of a job over a file in a folder.
fn make(folder: &Path, input: &str, output: &str, more: &str) -> Result<(), JobError> {
    let toml = format!("undeclared = \"error\"\n{more}\n[privacy]\nk = 2\n");
    let mut spec = JobSpec::from_toml(&toml).unwrap();
    let target = folder.join(output);
    spec.input = Some(folder.join(input).display().to_string());
    spec.output = Some(target.display().to_string());
    match anonymize(&Run::default(), &spec, true)? {
        Outcome::Done(_) => {}
        outcome @ Outcome::Failed { .. } => panic!("{outcome:?}"),
    }
    Ok(())
}

/// The rows of a release in a typed file.
fn release(folder: &Path, input: &str, output: &str, more: &str) -> Result<RecordBatch, JobError> {
    make(folder, input, output, more)?;
    let target = folder.join(output);
    let batches: Vec<RecordBatch> = if output.ends_with(".parquet") {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(target).unwrap()).unwrap();
        reader.build().unwrap().map(Result::unwrap).collect()
    } else {
        FileReader::try_new(File::open(target).unwrap(), None)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    Ok(concat_batches(&batches[0].schema(), &batches).unwrap())
}

fn micros() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

/// Texts become the narrowest type that tells all of them, and no cell becomes missing.
#[test]
fn texts_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = "q,minute,account,fine,zoned,mixed,number,big\n\
        1,2024-01-01T10:00,12345678901234567890123,2024-01-01T10:00:00.123456789,2024-01-01T10:00:00+02:00,2024-01-01T10:00:00Z,0.1,9007199254740993\n\
        1,2024-01-01T10:01,12345678901234567890124,2024-01-01T10:00:00.5,2024-01-01T10:00:00Z,2024-01-01T10:00:00,2,1.5\n";
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let names = ["minute", "account", "fine", "zoned", "mixed", "number", "big"];
    for role in ["insensitive", "sensitive"] {
        let columns: Vec<String> =
            names.iter().map(|name| format!("{name} = {{ role = \"{role}\" }}")).collect();
        let job = format!("[columns]\nq = {{ role = \"quasi\" }}\n{}\n", columns.join("\n"));
        for output in ["r.parquet", "r.arrow"] {
            let found = release(folder.path(), "t.csv", output, &job).unwrap();
            let column = |name: &str| found.column_by_name(name).unwrap();
            for name in names {
                assert_eq!(column(name).null_count(), 0, "{name} as {role} in {output}");
            }
            assert_eq!(column("minute").data_type(), &micros());
            let minutes = column("minute").as_primitive::<TimestampMicrosecondType>();
            let ten = 1_704_103_200_000_000;
            assert_eq!(minutes.values().to_vec(), [ten, ten + 60_000_000]);
            let account = column("account").as_string::<i32>();
            assert_eq!(account.value(0), "12345678901234567890123");
            let fine = column("fine").as_primitive::<TimestampNanosecondType>();
            let mut fine = fine.values().to_vec();
            fine.sort_unstable();
            assert_eq!(fine, [ten * 1000 + 123_456_789, ten * 1000 + 500_000_000]);
            let zoned = column("zoned").data_type();
            assert!(matches!(zoned, DataType::Timestamp(_, Some(_))), "{zoned}");
            assert_eq!(column("mixed").data_type(), &DataType::Utf8);
            assert_eq!(column("number").data_type(), &DataType::Float64);
            assert_eq!(column("big").data_type(), &DataType::Utf8);
        }
    }
}

#[test]
fn bounds_are_values_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = "at,id\n2024-01-01T10:00:00.123456789,10000000000000000001\n\
        2024-01-01T10:00:00.987654321,10000000000000000003\n";
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let job = "[columns]\nat = { role = \"quasi\" }\nid = { role = \"quasi\" }\n\
        [release]\nlabels = \"bounds\"\n";
    let found = release(folder.path(), "t.csv", "r.parquet", job).unwrap();
    let at = |name: &str| {
        found.column_by_name(name).unwrap().as_primitive::<TimestampNanosecondType>().value(0)
    };
    let ten = 1_704_103_200_000_000_000;
    assert_eq!((at("at_min"), at("at_max")), (ten + 123_456_789, ten + 987_654_321));
    let id =
        |name: &str| found.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
    assert_eq!(
        (id("id_min"), id("id_max")),
        ("10000000000000000001".into(), "10000000000000000003".into())
    );
}

/// A mean is a number, unless suppressed rows are released as stars beside it.
#[test]
fn means_beside_stars() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "x\n1\n2\n100\n").unwrap();
    for (suppressed, expected) in [("drop", DataType::Float64), ("star", DataType::Utf8)] {
        let job = format!(
            "[columns]\nx = {{ role = \"quasi\" }}\n[search]\nalgorithm = \"hill-climb\"\n\
             [release]\nlabels = \"mean\"\nsuppressed = \"{suppressed}\"\n"
        );
        for output in ["r.parquet", "r.arrow"] {
            let found = release(folder.path(), "t.csv", output, &job).unwrap();
            assert_eq!(found.column(0).data_type(), &expected, "{suppressed} {output}");
        }
    }
}

/// Writes an Arrow file of one column `q` of equal cells and the given one, `x`.
fn arrow_file(folder: &Path, x: ArrayRef) {
    let q: ArrayRef = Arc::new(Int64Array::from(vec![1; x.len()]));
    let batch = RecordBatch::try_from_iter_with_nullable([("q", q, true), ("x", x, true)]).unwrap();
    let file = File::create(folder.join("t.arrow")).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

/// A column of an Arrow file as it is in the releases of it, in Parquet and in CSV.
#[track_caller]
fn check(x: &ArrayRef, expected: &DataType, texts: [&str; 2]) {
    let folder = tempfile::tempdir().unwrap();
    arrow_file(folder.path(), Arc::clone(x));
    for role in ["insensitive", "sensitive"] {
        let job = format!("[columns]\nq = {{ role = \"quasi\" }}\nx = {{ role = \"{role}\" }}\n");
        // Times of the day have no order here, so that they can only be kept.
        if role == "sensitive" && matches!(x.data_type(), DataType::Time32(_)) {
            continue;
        }
        let found = release(folder.path(), "t.arrow", "r.parquet", &job).unwrap();
        let column = found.column_by_name("x").unwrap();
        assert_eq!(column.data_type(), expected, "{} as {role}", x.data_type());
        assert_eq!(column.null_count(), 0);
        let same = release(folder.path(), "t.arrow", "r.arrow", &job).unwrap();
        assert_eq!(same.column_by_name("x").unwrap().data_type(), x.data_type());
        make(folder.path(), "t.arrow", "r.csv", &job).unwrap();
        let text = std::fs::read_to_string(folder.path().join("r.csv")).unwrap();
        for cell in texts {
            assert!(text.contains(cell), "{} as {role}: {text}", x.data_type());
        }
    }
}

#[test]
fn types_that_parquet_does_not_have() {
    let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
    let (days, at) = (["2024-01-01", "2024-01-02"], 1_704_067_200_000);
    let nanos = TimestampNanosecondArray::from(vec![1_704_103_200_123_456_789, 1]);
    let own = nanos.data_type().clone();
    let columns: [(ArrayRef, DataType, [&str; 2]); 5] = [
        (Arc::new(TimestampSecondArray::from(vec![at / 1000, at / 1000 + 86_400])), millis, days),
        (Arc::new(Date64Array::from(vec![at, at + 86_400_000])), DataType::Date32, days),
        (
            Arc::new(Time32SecondArray::from(vec![3_600, 7_200])),
            DataType::Time32(TimeUnit::Millisecond),
            ["01:00:00", "02:00:00"],
        ),
        (Arc::new(Float32Array::from(vec![0.1, 2.5])), DataType::Float32, ["0.1", "2.5"]),
        (Arc::new(nanos), own, ["10:00:00.123456789", "00:00:00.000000001"]),
    ];
    for (x, expected, texts) in columns {
        check(&x, &expected, texts);
    }
}

/// The millisecond type is not that of seconds, but its values are the same.
#[test]
fn seconds_are_milliseconds() {
    let folder = tempfile::tempdir().unwrap();
    arrow_file(folder.path(), Arc::new(TimestampSecondArray::from(vec![7, 7])));
    let job = "[columns]\nq = { role = \"quasi\" }\nx = { role = \"insensitive\" }\n";
    let found = release(folder.path(), "t.arrow", "r.parquet", job).unwrap();
    let x = found.column_by_name("x").unwrap().as_primitive::<TimestampMillisecondType>();
    assert_eq!(x.values().to_vec(), [7_000, 7_000]);
}

/// Values that no calendar has are an error, wherever they are.
#[test]
fn times_without_a_date() {
    let folder = tempfile::tempdir().unwrap();
    let columns: [ArrayRef; 5] = [
        Arc::new(Date32Array::from(vec![i32::MAX, i32::MAX])),
        Arc::new(Date32Array::from(vec![i32::MIN, i32::MIN])),
        Arc::new(Date64Array::from(vec![i64::MAX, i64::MAX])),
        Arc::new(TimestampSecondArray::from(vec![i64::MAX, i64::MAX])),
        Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN, i64::MIN])),
    ];
    for x in columns {
        arrow_file(folder.path(), Arc::clone(&x));
        for role in ["quasi", "sensitive"] {
            let job =
                format!("[columns]\nq = {{ role = \"quasi\" }}\nx = {{ role = \"{role}\" }}\n");
            let failed = release(folder.path(), "t.arrow", "r.parquet", &job);
            assert!(matches!(failed, Err(JobError::Engine(_))), "{}: {failed:?}", x.data_type());
        }
    }
}

/// A missing text and an empty one are not the same, in any format.
#[test]
fn empty_texts_stay_empty() {
    let folder = tempfile::tempdir().unwrap();
    arrow_file(folder.path(), Arc::new(StringArray::from(vec![Some(""), None, Some("a")])));
    let job = "[columns]\nq = { role = \"quasi\" }\nx = { role = \"insensitive\" }\n";
    let found = release(folder.path(), "t.arrow", "r.parquet", job).unwrap();
    let x = found.column_by_name("x").unwrap().as_string::<i32>();
    assert_eq!((x.null_count(), x.iter().flatten().filter(|text| text.is_empty()).count()), (1, 1));
}

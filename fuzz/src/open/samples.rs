//! Small files of every format, with columns of every type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::{Field, Int32Type};
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use crate::Seed;

pub(super) fn all() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = Vec::new();
    for (name, batch) in
        [("texts", texts()), ("numbers", numbers()), ("times", times()), ("nested", nested())]
    {
        seeds.push((format!("{name}.arrow"), arrow_file(&batch)));
        for (at, properties) in properties().into_iter().enumerate() {
            seeds.push((format!("{name}-{at}.parquet"), parquet_file(&batch, properties)));
        }
    }
    let lines = [
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":2.5,\"b\":null}\n",
        "{\"a\":[1,2],\"b\":{\"c\":true}}\n\n{\"b\":{\"d\":1e400}}",
        "{\"a\":\"\\ud83d\\ude00\",\"a\":1}\n[1]\nnull\n",
    ];
    seeds.extend(
        lines
            .iter()
            .enumerate()
            .map(|(at, text)| (format!("{at}.jsonl"), text.as_bytes().to_vec())),
    );
    seeds
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &batch.schema()).expect("a sound schema");
    writer.write(batch).expect("a sound batch");
    writer.write(&batch.slice(1, 1)).expect("a sound batch");
    writer.finish().expect("bytes in memory");
    drop(writer);
    bytes
}

fn parquet_file(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a sound schema");
    writer.write(batch).expect("a sound batch");
    writer.close().expect("bytes in memory");
    bytes
}

fn properties() -> Vec<WriterProperties> {
    let base: fn() -> WriterPropertiesBuilder =
        || WriterProperties::builder().set_created_by(String::new());
    vec![
        base().build(),
        base().set_dictionary_enabled(false).set_compression(Compression::SNAPPY).build(),
        base()
            .set_dictionary_enabled(false)
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_encoding(Encoding::PLAIN)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build(),
    ]
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .expect("columns of one length")
}

fn texts() -> RecordBatch {
    let texts = [Some("a"), None, Some("größe"), Some("a")];
    let dictionary: DictionaryArray<Int32Type> = texts.into_iter().collect();
    batch(vec![
        ("text", Arc::new(StringArray::from(texts.to_vec()))),
        ("large", Arc::new(LargeStringArray::from(texts.to_vec()))),
        ("indexed", Arc::new(dictionary)),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
    ])
}

fn numbers() -> RecordBatch {
    let decimals = Decimal128Array::from(vec![Some(12_345), None, Some(-1), Some(0)]);
    let decimals = decimals.with_precision_and_scale(20, 2).expect("a sound precision");
    batch(vec![
        ("small", Arc::new(Int16Array::from(vec![Some(1), None, Some(-1), Some(i16::MAX)]))),
        ("int", Arc::new(Int32Array::from(vec![1, 2, 3, i32::MIN]))),
        ("long", Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MAX), Some(0)]))),
        ("unsigned", Arc::new(UInt64Array::from(vec![Some(1), None, Some(u64::MAX), Some(0)]))),
        ("float", Arc::new(Float32Array::from(vec![0.5, f32::NAN, f32::INFINITY, -0.0]))),
        ("double", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(1e300), Some(-0.0)]))),
        ("decimal", Arc::new(decimals)),
    ])
}

fn times() -> RecordBatch {
    let instants = vec![Some(0), None, Some(1_700_000_000), Some(-1)];
    batch(vec![
        ("date", Arc::new(Date32Array::from(vec![Some(0), None, Some(19_000), Some(-1)]))),
        ("date64", Arc::new(Date64Array::from(instants.clone()))),
        ("s", Arc::new(TimestampSecondArray::from(instants.clone()))),
        ("us", Arc::new(TimestampMicrosecondArray::from(instants.clone()).with_timezone("+01:00"))),
        ("ns", Arc::new(TimestampNanosecondArray::from(instants))),
    ])
}

fn nested() -> RecordBatch {
    let lists = vec![Some(vec![Some(1), None]), None, Some(vec![]), Some(vec![Some(2)])];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let inner: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let field = Field::new("inner", inner.data_type().clone(), true);
    batch(vec![
        ("list", Arc::new(lists)),
        ("struct", Arc::new(StructArray::from(vec![(Arc::new(field), inner)]))),
    ])
}

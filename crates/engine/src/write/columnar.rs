//! Releases as Parquet and Arrow files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use incrowd_data::Kind;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::Published;
use super::cut::Cut;
use super::gather::{Columns, Gathered};
use super::memory::MemorySink;
use super::released::released;
use crate::EngineError;
use crate::error::Detail;
use crate::publish::memory::StagedBatches;
use crate::publish::stage::Opened;
use crate::read::KeptColumn;
use crate::source::in_words;
use crate::value::sets::{PATH_OF_VALUES, lists_of_labels, set_type};
use crate::value::stored::{Fit, convert, parquet_type, plain_type, type_of_values, typed};

/// Rows per row group of a Parquet file, and the bytes of its cells from which it is complete with
/// fewer: a group is held in memory.
pub(super) const GROUP_ROWS: usize = 1 << 18;
const GROUP_BYTES: u64 = 32 << 20;
/// The same for tables of many columns, each of which has an encoder with tables of its own.
const MANY_COLUMNS: usize = 64;
const WIDE_GROUP_BYTES: u64 = 16 << 20;
/// The same for the batches of an Arrow file.
pub(super) const BATCH_ROWS: usize = 1 << 16;
pub(super) const BATCH_BYTES: u64 = 16 << 20;

/// What arrays are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Parquet,
    /// Arrow files and memory.
    Arrow,
    /// Lines of text, in which sets are labels like others.
    Text,
}

/// What every columnar file of a release is made from.
pub(super) struct Columnar {
    /// The columns with their types.
    schema: SchemaRef,
    /// The schema of batches. For the Parquet writer texts are indexes into their values, which
    /// spares a copy of every text; in the file they are plain texts.
    of_batches: SchemaRef,
    /// By column, for labels and codes the array to take from.
    values: Vec<Option<ArrayRef>>,
    /// By column, whether it is one of labels.
    is_label: Vec<bool>,
    /// How a Parquet file is written; none for an Arrow file.
    properties: Option<WriterProperties>,
}

/// An open columnar file.
pub(super) enum ColumnarSink {
    Parquet(Box<ParquetSink>),
    Arrow(Box<ArrowSink>),
    Memory(Box<MemorySink>),
}

impl Columnar {
    pub(super) fn new(
        columns: &Columns,
        target: &Path,
        form: Form,
    ) -> Result<Columnar, EngineError> {
        let is_parquet = form == Form::Parquet;
        let failed = |error: ArrowError| not_made(target, &error);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        for column in columns.published {
            let name = column.name(columns.kept);
            let own = match column {
                Published::Labels { labels, .. } if labels.are_sets && form != Form::Text => {
                    set_type()
                }
                _ => type_of(column, columns.kept),
            };
            let held = if is_parquet { parquet_type(&own) } else { Some(own.clone()) };
            let data_type = held.ok_or_else(|| EngineError::NotForParquet {
                column: name.to_owned(),
                holds: in_words(&own),
            })?;
            values.push(values_of(column, &data_type).map_err(failed)?);
            fields.push(Field::new(name, data_type, true));
        }
        let schema = Arc::new(Schema::new(fields));
        let is_label =
            columns.published.iter().map(|c| matches!(c, Published::Labels { .. })).collect();
        if !is_parquet {
            let of_batches = Arc::clone(&schema);
            return Ok(Columnar { schema, of_batches, values, is_label, properties: None });
        }
        let properties = Some(properties(&schema, &values, target)?);
        let of_batches = indexed(&schema, &values);
        Ok(Columnar { schema, of_batches, values, is_label, properties })
    }

    /// The columns with their types.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The same for other classes: the columns with labels that are told.
    pub(super) fn with_labels(
        &self,
        columns: &Columns,
        target: &Path,
    ) -> Result<Columnar, EngineError> {
        let mut values = self.values.clone();
        for (at, column) in
            columns.published.iter().enumerate().filter(|(at, _)| self.is_label[*at])
        {
            let data_type = self.schema.field(at).data_type();
            values[at] = values_of(column, data_type).map_err(|error| not_made(target, &error))?;
        }
        Ok(Columnar {
            schema: Arc::clone(&self.schema),
            of_batches: Arc::clone(&self.of_batches),
            values,
            is_label: self.is_label.clone(),
            properties: None,
        })
    }

    pub(super) fn open(
        &self,
        file: Opened,
        group_rows: usize,
    ) -> Result<ColumnarSink, EngineError> {
        if let Some(properties) = self.properties.clone() {
            let sink = ParquetSink::new(file, &self.schema, &self.of_batches, properties)?;
            return Ok(ColumnarSink::Parquet(Box::new(sink.with_group_rows(group_rows))));
        }
        ArrowSink::new(file, &self.schema).map(|sink| ColumnarSink::Arrow(Box::new(sink)))
    }

    /// A release that stays in memory.
    pub(super) fn in_memory(&self, place: StagedBatches, target: &Path) -> ColumnarSink {
        ColumnarSink::Memory(Box::new(MemorySink::new(place, &self.schema, target)))
    }

    /// The rows of a chunk.
    pub(super) fn batch(
        &self,
        columns: &Columns,
        gathered: &Gathered,
    ) -> Result<RecordBatch, ArrowError> {
        let mut arrays = Vec::with_capacity(columns.published.len());
        let order = UInt32Array::from(gathered.order.clone());
        for (at, column) in columns.published.iter().enumerate() {
            let data_type = self.of_batches.field(at).data_type();
            let index: UInt32Array = match column {
                Published::Labels { labels, .. } => {
                    let class = |&row: &u32| gathered.classes[row as usize] as usize;
                    gathered.order.iter().map(|row| Some(labels.of_class[class(row)])).collect()
                }
                Published::Coded { values, .. } => {
                    let missing =
                        u32::try_from(values.texts.len()).expect("fewer values than rows");
                    let codes = gathered.codes(at);
                    let code = |&row: &u32| codes.get(gathered.rows[row as usize] as usize);
                    gathered.order.iter().map(code).map(|c| (c != missing).then_some(c)).collect()
                }
                Published::Kept(_) => order.clone(),
            };
            let from = self.values[at].as_ref().or(gathered.kept[at].as_ref());
            let from = from.expect("a column has values or is gathered");
            arrays.push(if let DataType::Dictionary(..) = data_type {
                Arc::new(DictionaryArray::try_new(index, Arc::clone(from))?)
            } else {
                convert(&take(from, &index, None)?, data_type)?
            });
        }
        RecordBatch::try_new(Arc::clone(&self.of_batches), arrays)
    }
}

/// What a column is released as.
pub(super) fn type_of(column: &Published, kept: &[KeptColumn]) -> DataType {
    match column {
        // With stars among them, means are texts.
        Published::Labels { labels, .. } if labels.is_mean && labels.kind != Kind::Text => {
            DataType::Float64
        }
        Published::Labels { labels, dictionary, column } => {
            type_of_values(labels.kind, &column.data_type, &dictionary.texts)
        }
        Published::Coded { values, kind } => match &values.data_type {
            DataType::Utf8 => type_of_values(*kind, &DataType::Utf8, &values.texts),
            data_type => plain_type(data_type),
        },
        Published::Kept(at) => {
            let column = &kept[*at];
            column.fit.map_or_else(|| column.data_type.clone(), Fit::data_type)
        }
    }
}

/// For labels and codes the array to take from.
fn values_of(column: &Published, data_type: &DataType) -> Result<Option<ArrayRef>, ArrowError> {
    let texts = match column {
        Published::Labels { labels, .. } if *data_type == set_type() => {
            return Ok(Some(Arc::new(lists_of_labels(&labels.texts)?)));
        }
        Published::Labels { labels, .. } => labels.texts.iter().collect::<StringArray>(),
        Published::Coded { values, .. } => StringArray::from_iter_values(&values.texts),
        Published::Kept(_) => return Ok(None),
    };
    typed(&texts, data_type).map(Some)
}

fn indexed(schema: &Schema, values: &[Option<ArrayRef>]) -> SchemaRef {
    let field = |(field, values): (&Arc<Field>, &Option<ArrayRef>)| {
        let is_text = values.is_some() && field.data_type() == &DataType::Utf8;
        let data_type = if is_text { indexed_text() } else { field.data_type().clone() };
        Field::new(field.name(), data_type, true)
    };
    Arc::new(Schema::new(schema.fields().iter().zip(values).map(field).collect::<Vec<_>>()))
}

impl ColumnarSink {
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        match self {
            ColumnarSink::Parquet(sink) => sink.write(batch),
            ColumnarSink::Arrow(sink) => sink.write(batch),
            ColumnarSink::Memory(sink) => sink.write(batch),
        }
    }

    pub(super) fn finish(self) -> Result<(), EngineError> {
        match self {
            ColumnarSink::Parquet(sink) => sink.finish(),
            ColumnarSink::Arrow(sink) => sink.finish(),
            ColumnarSink::Memory(sink) => sink.finish(),
        }
    }
}

pub(super) fn not_made(target: &Path, error: &ArrowError) -> EngineError {
    EngineError::Write { path: target.to_owned(), source: Detail::of_arrow(error) }
}

fn not_written(target: &Path, error: &ParquetError) -> EngineError {
    EngineError::Write { path: target.to_owned(), source: Detail::of_parquet(error) }
}

/// The type in which texts are handed to the Parquet writer.
pub(super) fn indexed_text() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// An Arrow file that is written a batch at a time.
pub(super) struct ArrowSink {
    target: PathBuf,
    writer: FileWriter<BufWriter<File>>,
    schema: SchemaRef,
    batch: Cut,
}

impl ArrowSink {
    fn new(file: Opened, schema: &SchemaRef) -> Result<ArrowSink, EngineError> {
        let Opened { file, target } = file;
        let writer = FileWriter::try_new(BufWriter::new(file), schema);
        let writer = writer.map_err(|error| not_made(&target, &error))?;
        let batch = Cut::new(BATCH_ROWS, BATCH_BYTES);
        Ok(ArrowSink { target, writer, schema: Arc::clone(schema), batch })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), EngineError> {
        let ArrowSink { target, writer, schema, batch } = self;
        let failed = |error: ArrowError| not_made(target, &error);
        let run = |run: Vec<RecordBatch>| writer.write(&released(schema, &run)?);
        batch.add(rows, run).map_err(failed)
    }

    fn finish(mut self) -> Result<(), EngineError> {
        let rest = self.batch.take();
        let rest = if rest.is_empty() {
            Ok(())
        } else {
            released(&self.schema, &rest).and_then(|rest| self.writer.write(&rest))
        };
        let ended = rest.and_then(|()| self.writer.finish());
        ended.map_err(|error| not_made(&self.target, &error))
    }
}

/// A Parquet file that is written a row group at a time.
pub(super) struct ParquetSink {
    target: PathBuf,
    writer: SerializedFileWriter<BufWriter<File>>,
    /// The schema of the batches.
    indexed: SchemaRef,
    /// What the next row group will hold.
    group: Cut,
}

impl ParquetSink {
    /// Opens a file of schema `plain` for batches of schema `indexed`, in which texts are indexed.
    pub(super) fn new(
        file: Opened,
        plain: &SchemaRef,
        indexed: &SchemaRef,
        mut properties: WriterProperties,
    ) -> Result<ParquetSink, EngineError> {
        let Opened { file, target } = file;
        let failed = |error| not_written(&target, &error);
        let schema = parquet::arrow::ArrowSchemaConverter::new().convert(plain).map_err(failed)?;
        parquet::arrow::add_encoded_arrow_schema_to_metadata(plain, &mut properties);
        let file = BufWriter::new(file);
        let writer =
            SerializedFileWriter::new(file, schema.root_schema_ptr(), Arc::new(properties))
                .map_err(failed)?;
        Ok(ParquetSink {
            target,
            writer,
            indexed: Arc::clone(indexed),
            group: Cut::new(GROUP_ROWS, group_bytes(indexed)),
        })
    }

    /// The same with shorter row groups.
    pub(super) fn with_group_rows(self, group_rows: usize) -> ParquetSink {
        let group = Cut::new(group_rows, group_bytes(&self.indexed));
        ParquetSink { group, ..self }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        let ParquetSink { target, writer, indexed, group } = self;
        let run = |run: Vec<RecordBatch>| write_group(writer, indexed, &run);
        group.add(batch, run).map_err(|error| not_written(target, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), EngineError> {
        let failed = |error| not_written(&self.target, &error);
        let rest = self.group.take();
        if !rest.is_empty() {
            write_group(&mut self.writer, &self.indexed, &rest).map_err(failed)?;
        }
        self.writer.close().map(|_| ()).map_err(failed)
    }
}

fn group_bytes(schema: &Schema) -> u64 {
    if schema.fields().len() > MANY_COLUMNS { WIDE_GROUP_BYTES } else { GROUP_BYTES }
}

/// How every file is written.
pub(super) fn builder(target: &Path) -> Result<WriterPropertiesBuilder, EngineError> {
    let level = ZstdLevel::try_new(1).map_err(|error| not_written(target, &error))?;
    Ok(WriterProperties::builder().set_compression(Codec::ZSTD(level)))
}

/// How a release is written. The least and greatest label say nothing, so labels have no
/// statistics.
fn properties(
    schema: &Schema,
    values: &[Option<ArrayRef>],
    target: &Path,
) -> Result<WriterProperties, EngineError> {
    let mut builder = builder(target)?;
    for (field, values) in schema.fields().iter().zip(values) {
        let below: &[&str] = match field.data_type() {
            DataType::Utf8 => &[],
            DataType::List(_) => &PATH_OF_VALUES,
            _ => continue,
        };
        if values.is_some() {
            let name = std::iter::once(field.name().as_str());
            let path = name.chain(below.iter().copied()).map(str::to_owned).collect();
            let path = ColumnPath::new(path);
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(builder.build())
}

/// Encodes the columns of a row group side by side.
fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> parquet::errors::Result<()> {
    let factory = ArrowRowGroupWriterFactory::new(writer, Arc::clone(schema));
    let n_groups = writer.flushed_row_groups().len();
    let mut writers = factory.create_column_writers(n_groups)?.into_iter();
    let mut jobs = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        // A nested column has a writer per leaf.
        let n_leaves = match batches.first() {
            Some(batch) => compute_leaves(field, batch.column(at))?.len(),
            None => 1,
        };
        jobs.push((at, field, writers.by_ref().take(n_leaves).collect::<Vec<_>>()));
    }
    let encoded: Vec<_> = jobs
        .into_par_iter()
        .map(|(at, field, mut writers)| {
            // Pages end by what is written at once: all of the column, however it arrived.
            let parts: Vec<&dyn Array> = batches.iter().map(|b| b.column(at).as_ref()).collect();
            let column = concat(&parts)?;
            for (writer, leaf) in writers.iter_mut().zip(compute_leaves(field, &column)?) {
                writer.write(&leaf)?;
            }
            writers
                .into_iter()
                .map(parquet::arrow::arrow_writer::ArrowColumnWriter::close)
                .collect()
        })
        .collect::<parquet::errors::Result<Vec<Vec<_>>>>()?;
    let mut group = writer.next_row_group()?;
    for chunk in encoded.into_iter().flatten() {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close().map(|_| ())
}

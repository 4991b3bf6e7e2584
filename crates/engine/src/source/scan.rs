//! A scan of some columns of a source, as DataFusion streams in row order.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::config::CsvOptions;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{
    ArrowSource, CsvSource, FileGroup, FileScanConfigBuilder, FileSource, JsonSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::DataFusionError;
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path as StorePath;
use datafusion::physical_plan::ExecutionPlan;

use super::{Files, Origin, Source, Use};
use crate::decode::guarded;
use crate::{Batches, Compression, Engine, Format};

/// The plan that reads the columns of a source that are used. Its partitions, one after another,
/// are the rows in their order.
pub(crate) fn plan(
    engine: &Engine,
    source: &Source,
    columns: &[usize],
    uses: &[Use],
) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let files = match &source.origin {
        Origin::Files(files) => files,
        Origin::Memory(batches) => return plan_of_batches(engine, source, columns, batches),
    };
    let parts = files.with_rows().map(|path| partitioned(path)).collect::<Result<_, _>>()?;
    let state = engine.session().state();
    // A damaged schema can name types that cannot be.
    guarded(|| {
        let schema = schema(source, uses);
        let plan: Arc<dyn ExecutionPlan> = plan_of_files(files, &schema, columns, vec![parts])?;
        let options = state.config_options();
        Ok(plan.repartitioned(engine.n_threads(), options)?.unwrap_or(plan))
    })?
}

/// The plan that hands over rows that are in memory, as many at a time as are read from a file.
fn plan_of_batches(
    engine: &Engine,
    source: &Source,
    columns: &[usize],
    batches: &Batches,
) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let rows = engine.portions().of_rows(source.row_bytes(), columns.len()).batch_rows;
    let runs = batches.divided(rows, engine.n_threads());
    let schema = Arc::clone(batches.schema());
    Ok(MemorySourceConfig::try_new_exec(&runs, schema, Some(columns.to_vec()))?)
}

/// The plan that reads these files, or parts of them, a group a partition.
pub(crate) fn plan_of_files(
    files: &Files,
    schema: &SchemaRef,
    columns: &[usize],
    groups: Vec<Vec<PartitionedFile>>,
) -> Result<Arc<DataSourceExec>, DataFusionError> {
    let file = |file: PartitionedFile| file.with_arrow_schema(Arc::clone(schema));
    let group = |files: Vec<_>| FileGroup::new(files.into_iter().map(file).collect());
    let config =
        FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), file_source(files, schema))
            .with_file_groups(groups.into_iter().map(group).collect())
            .with_file_compression_type(compression(files.format.compression()))
            .with_preserve_order(true)
            .with_projection_indices(Some(columns.to_vec()))?
            .build();
    Ok(DataSourceExec::from_data_source(config))
}

/// The schema to read with. Texts that get codes come from a Parquet file as they are stored there,
/// as indexes into a dictionary, so that each text is looked at once and not in every row.
pub(crate) fn schema(source: &Source, uses: &[Use]) -> SchemaRef {
    let schema = source.schema();
    if source.as_files().is_none_or(|files| files.format != Format::Parquet) {
        return schema;
    }
    let field = |(field, usage): (&Arc<Field>, &Use)| {
        if *usage == Use::Code && field.data_type() == &DataType::Utf8 {
            let index = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Field::new(field.name(), index, field.is_nullable())
        } else {
            field.as_ref().clone()
        }
    };
    Arc::new(Schema::new(schema.fields().iter().zip(uses).map(field).collect::<Vec<_>>()))
}

fn file_source(files: &Files, schema: &SchemaRef) -> Arc<dyn FileSource> {
    match files.format {
        Format::Csv(_) => {
            let options = CsvOptions {
                has_header: Some(true),
                delimiter: files.delimiter,
                newlines_in_values: Some(files.has_newlines_in_values),
                ..CsvOptions::default()
            };
            Arc::new(CsvSource::new(Arc::clone(schema)).with_csv_options(options))
        }
        Format::Parquet => Arc::new(ParquetSource::new(Arc::clone(schema))),
        Format::Arrow => Arc::new(ArrowSource::new_file_source(Arc::clone(schema))),
        Format::JsonLines(_) => Arc::new(JsonSource::new(Arc::clone(schema))),
    }
}

pub(crate) fn compression(compression: Compression) -> FileCompressionType {
    match compression {
        Compression::None => FileCompressionType::UNCOMPRESSED,
        Compression::Gzip => FileCompressionType::GZIP,
        Compression::Zstd => FileCompressionType::ZSTD,
    }
}

fn partitioned(path: &std::path::Path) -> Result<PartitionedFile, DataFusionError> {
    Ok(PartitionedFile::new_from_meta(object_meta(path)?))
}

pub(crate) fn object_meta(path: &std::path::Path) -> Result<ObjectMeta, DataFusionError> {
    let meta = std::fs::metadata(path)?;
    let location = StorePath::from_absolute_path(std::fs::canonicalize(path)?)
        .map_err(|error| DataFusionError::External(Box::new(error)))?;
    Ok(ObjectMeta {
        location,
        last_modified: chrono::DateTime::from(meta.modified()?),
        size: meta.len(),
        e_tag: None,
        version: None,
    })
}

/// A schema without the metadata that a writer may have put there.
pub(crate) fn plain(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().clone()))
}

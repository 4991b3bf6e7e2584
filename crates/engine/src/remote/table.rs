//! A source as a table that can be sent: the scheduler divides it into parts, the workers read them
//! as the embedded engine would.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::{ConfigOptions, CsvOptions};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{
    CsvSource, FileGroup, FileScanConfig, FileScanConfigBuilder,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path as StorePath;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::TryStreamExt;

use crate::error::fault::Fault;
use crate::format::Compression;
use crate::source::{Files, Fingerprint, plan_of_files, schema};
use crate::wire::{Reader, Writer};
use crate::{EngineError, FileAction, Format, Source, SourceColumn, Use};

/// A source, what its columns are used for, and into how many parts a scan is divided.
#[derive(Clone, Debug)]
pub(crate) struct SourceTable {
    source: Source,
    uses: Vec<Use>,
    n_parts: usize,
}

/// A part of a file: its number, and the bytes if not all.
#[derive(Clone, Debug)]
struct Piece {
    file: usize,
    range: Option<(i64, i64)>,
}

impl SourceTable {
    pub(crate) fn new(source: &Source, uses: &[Use], n_parts: usize) -> Result<Self, EngineError> {
        let mut files = source.as_files().ok_or(EngineError::NotForCluster)?.clone();
        for file in &mut files.paths {
            let absolute = file.canonicalize().map_err(|error| EngineError::Io {
                action: FileAction::Read,
                path: file.clone(),
                source: error,
            })?;
            if absolute.to_str().is_none() {
                return Err(EngineError::Cluster { what: "a path is not UTF-8" });
            }
            *file = absolute;
        }
        let source = Source::of_files(files, source.columns().to_vec());
        Ok(SourceTable { source, uses: uses.to_vec(), n_parts })
    }

    /// The files of the source.
    fn files(&self) -> &Files {
        self.source.as_files().expect("a table that can be sent is made of files")
    }

    /// A scan of some columns, divided.
    fn divided(&self, columns: &[usize]) -> Result<SourceExec> {
        let has_rows = |file: &usize| self.files().is_empty.get(*file) != Some(&true);
        let files = (0..self.files().paths.len()).filter(has_rows);
        let files = files.map(|file| Piece { file, range: None }).collect();
        let whole = SourceExec::new(self.clone(), columns.to_vec(), &[files])?;
        let mut options = ConfigOptions::default();
        options.optimizer.repartition_file_min_size = 1;
        let Some(parts) = whole.inner.repartitioned(self.n_parts, &options)? else {
            return Ok(whole);
        };
        let groups = parts
            .downcast_ref::<DataSourceExec>()
            .and_then(|plan| plan.data_source().downcast_ref::<FileScanConfig>())
            .map(|scan| scan.file_groups.iter().map(|group| self.pieces(group.files())).collect());
        let groups: Option<Vec<Vec<Piece>>> =
            groups.and_then(|groups: Vec<Option<Vec<Piece>>>| groups.into_iter().collect());
        match groups {
            Some(groups) => SourceExec::new(self.clone(), columns.to_vec(), &groups),
            None => Ok(whole),
        }
    }

    fn pieces(&self, files: &[PartitionedFile]) -> Option<Vec<Piece>> {
        let piece = |part: &PartitionedFile| {
            let same = |file: &PathBuf| {
                StorePath::from_absolute_path(file).ok().as_ref()
                    == Some(&part.object_meta.location)
            };
            let file = self.files().paths.iter().position(same)?;
            Some(Piece { file, range: part.range.as_ref().map(|range| (range.start, range.end)) })
        };
        files.iter().map(piece).collect()
    }

    fn partitioned(&self, piece: &Piece) -> Result<PartitionedFile> {
        let location = StorePath::from_absolute_path(&self.files().paths[piece.file])
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        let file = PartitionedFile::new_from_meta(ObjectMeta {
            location,
            last_modified: chrono::DateTime::default(),
            size: self.files().prints[piece.file].len,
            e_tag: None,
            version: None,
        });
        Ok(PartitionedFile {
            range: piece.range.map(|(start, end)| FileRange { start, end }),
            ..file
        })
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        let files = self.files();
        let (format, compression) = match files.format {
            Format::Csv(compression) => (0, Some(compression)),
            Format::Parquet => (1, None),
            Format::Arrow => (2, None),
            Format::JsonLines(compression) => (3, Some(compression)),
        };
        to.byte(format);
        to.byte(match compression {
            None | Some(Compression::None) => 0,
            Some(Compression::Gzip) => 1,
            Some(Compression::Zstd) => 2,
        });
        to.byte(files.delimiter);
        to.byte(u8::from(files.has_newlines_in_values));
        to.number(self.n_parts as u64);
        to.number(files.paths.len() as u64);
        for (file, print) in files.paths.iter().zip(&files.prints) {
            to.text(file.to_str().unwrap_or_default());
            to.number(print.len);
        }
        to.bytes(&schema_bytes(&self.source.schema()));
        for usage in &self.uses {
            to.byte(match usage {
                Use::Code => 0,
                Use::Keep => 1,
                Use::Hash | Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => 2,
            });
        }
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Option<SourceTable> {
        let (format, compression) = (from.byte()?, from.byte()?);
        let compression = match compression {
            0 => Compression::None,
            1 => Compression::Gzip,
            2 => Compression::Zstd,
            _ => return None,
        };
        let format = match format {
            0 => Format::Csv(compression),
            1 => Format::Parquet,
            2 => Format::Arrow,
            3 => Format::JsonLines(compression),
            _ => return None,
        };
        let delimiter = from.byte()?;
        let has_newlines_in_values = from.byte()? == 1;
        let n_parts = from.size()?;
        let (mut files, mut prints) = (Vec::new(), Vec::new());
        for _ in 0..from.size()? {
            files.push(PathBuf::from(from.text()?));
            prints.push(Fingerprint::of_len(from.number()?));
        }
        let schema = StreamReader::try_new(from.bytes()?, None).ok()?.schema();
        let column = |field: &Arc<Field>| SourceColumn {
            name: field.name().clone(),
            data_type: field.data_type().clone(),
        };
        let columns: Vec<SourceColumn> = schema.fields().iter().map(column).collect();
        let is_required = schema.fields().iter().map(|field| !field.is_nullable()).collect();
        let mut uses = Vec::new();
        for _ in &columns {
            uses.push(match from.byte()? {
                0 => Use::Code,
                1 => Use::Keep,
                2 => Use::Skip,
                _ => return None,
            });
        }
        let mut files = Files::told(format, files, prints);
        files.delimiter = delimiter;
        files.has_newlines_in_values = has_newlines_in_values;
        files.is_required = is_required;
        let source = Source::of_files(files, columns);
        Some(SourceTable { source, uses, n_parts })
    }
}

fn schema_bytes(schema: &Schema) -> Vec<u8> {
    let mut bytes = Vec::new();
    StreamWriter::try_new(&mut bytes, schema)
        .and_then(|mut writer| writer.finish())
        .expect("memory can be written");
    bytes
}

#[async_trait::async_trait]
impl TableProvider for SourceTable {
    fn schema(&self) -> SchemaRef {
        schema(&self.source, &self.uses)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.uses.len()).collect();
        Ok(Arc::new(self.divided(&projection.cloned().unwrap_or_else(all))?))
    }
}

/// A scan of some columns of a source. It is DataFusion's, but travels with everything that ours
/// says of it: DataFusion's own encoding loses that texts are read as indexes.
///
/// Which files, or parts of them, a partition reads is said by its child, a scan that is never
/// executed and whose files are numbers. A scheduler gives every task a plan that is cut down to
/// the task's partitions, but cuts leaves of DataFusion only: a leaf of ours would be read as a
/// whole by every task.
#[derive(Debug)]
pub(crate) struct SourceExec {
    table: SourceTable,
    columns: Vec<usize>,
    groups: Vec<Vec<Piece>>,
    share: Arc<dyn ExecutionPlan>,
    inner: Arc<DataSourceExec>,
}

impl SourceExec {
    fn new(table: SourceTable, columns: Vec<usize>, groups: &[Vec<Piece>]) -> Result<SourceExec> {
        let share = share(groups);
        SourceExec::of_share(table, columns, share)
    }

    fn of_share(
        table: SourceTable,
        columns: Vec<usize>,
        share: Arc<dyn ExecutionPlan>,
    ) -> Result<SourceExec> {
        let groups = groups_of(&share, table.files().paths.len());
        let groups = groups.ok_or_else(|| Fault::Decode(0).error())?;
        let files =
            |group: &Vec<Piece>| group.iter().map(|piece| table.partitioned(piece)).collect();
        let files = groups.iter().map(files).collect::<Result<Vec<_>>>()?;
        let schema = schema(&table.source, &table.uses);
        let inner = plan_of_files(table.files(), &schema, &columns, files)?;
        Ok(SourceExec { table, columns, groups, share, inner })
    }

    /// All but the share, which travels as a plan.
    pub(crate) fn write(&self, to: &mut Writer) {
        self.table.write(to);
        to.number(self.columns.len() as u64);
        for &column in &self.columns {
            to.number(column as u64);
        }
    }

    pub(crate) fn read(from: &mut Reader<'_>, share: Arc<dyn ExecutionPlan>) -> Option<SourceExec> {
        let table = SourceTable::read(from)?;
        let columns = (0..from.size()?).map(|_| from.size()).collect::<Option<Vec<_>>>()?;
        let is_sound = columns.iter().all(|&column| column < table.uses.len());
        if is_sound { SourceExec::of_share(table, columns, share).ok() } else { None }
    }

    /// A fault if a file that the partition reads is not what the client saw.
    fn check(&self, partition: usize) -> Result<()> {
        for piece in self.groups.get(partition).into_iter().flatten() {
            let path: &Path = &self.table.files().paths[piece.file];
            match std::fs::metadata(path) {
                Err(_) => return Err(Fault::Unseen.error()),
                Ok(meta) if meta.len() != self.table.files().prints[piece.file].len => {
                    return Err(Fault::Changed.error());
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

impl DisplayAs for SourceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n_columns, n_parts) = (self.columns.len(), self.groups.len());
        write!(f, "SourceExec: columns={n_columns}, partitions={n_parts}")
    }
}

impl ExecutionPlan for SourceExec {
    fn name(&self) -> &'static str {
        "SourceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.share]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let share = children.into_iter().next().ok_or_else(|| Fault::Decode(0).error())?;
        let (table, columns) = (self.table.clone(), self.columns.clone());
        Ok(Arc::new(SourceExec::of_share(table, columns, share)?))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.check(partition)?;
        let stream = self.inner.execute(partition, context).map_err(|e| Fault::of(&e).error())?;
        let stream = stream.map_err(|error| Fault::of(&error).error());
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream)))
    }
}

/// The plan that says who reads what. It looks like a scan of text that cannot be divided further.
fn share(groups: &[Vec<Piece>]) -> Arc<dyn ExecutionPlan> {
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Utf8, true)]));
    let options = CsvOptions { newlines_in_values: Some(true), ..CsvOptions::default() };
    let source = CsvSource::new(schema).with_csv_options(options);
    let file = |piece: &Piece| PartitionedFile {
        range: piece.range.map(|(start, end)| FileRange { start, end }),
        ..PartitionedFile::new(piece.file.to_string(), 1)
    };
    let group = |group: &Vec<Piece>| FileGroup::new(group.iter().map(file).collect());
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups.iter().map(group).collect())
        .with_preserve_order(true)
        .build();
    DataSourceExec::from_data_source(config)
}

fn groups_of(share: &Arc<dyn ExecutionPlan>, n_files: usize) -> Option<Vec<Vec<Piece>>> {
    let scan = share.downcast_ref::<DataSourceExec>()?;
    let scan = scan.data_source().downcast_ref::<FileScanConfig>()?;
    let piece = |part: &PartitionedFile| {
        let file =
            part.object_meta.location.as_ref().parse().ok().filter(|&file| file < n_files)?;
        Some(Piece { file, range: part.range.as_ref().map(|range| (range.start, range.end)) })
    };
    let group = |group: &FileGroup| group.files().iter().map(piece).collect();
    scan.file_groups.iter().map(group).collect()
}

/// What a kept column is released as.
pub(crate) fn kept_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        data_type => data_type,
    }
}

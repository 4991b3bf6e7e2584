//! How our parts of a plan travel: as the bytes of [`encoded`], beside Ballista's own.

use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use incrowd_engine::remote::encoded;

/// For plans on their way from the client to the scheduler.
#[derive(Debug, Default)]
pub(crate) struct LogicalCodec(BallistaLogicalExtensionCodec);

/// For plans on their way from the scheduler to the workers.
#[derive(Debug, Default)]
pub(crate) struct PhysicalCodec(BallistaPhysicalExtensionCodec);

fn damaged() -> DataFusionError {
    DataFusionError::Internal("a part of a plan is of another build".to_owned())
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[LogicalPlan],
        context: &TaskContext,
    ) -> Result<Extension> {
        self.0.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, to: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, to)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if encoded::is_ours(bytes) {
            return encoded::table(bytes).ok_or_else(damaged);
        }
        self.0.try_decode_table_provider(bytes, table, schema, context)
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        match encoded::of_table(node.as_ref()) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode_table_provider(table, node, to),
        }
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(
        &self,
        to: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.0.try_encode_file_format(to, node)
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        match encoded::function(name, bytes) {
            Some(function) => Ok(Arc::new(function)),
            None => self.0.try_decode_udf(name, bytes),
        }
    }

    fn try_encode_udf(&self, function: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
        match encoded::of_function(function) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode_udf(function, to),
        }
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        match encoded::aggregate(name, bytes) {
            Some(function) => Ok(Arc::new(function)),
            None => self.0.try_decode_udaf(name, bytes),
        }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, to: &mut Vec<u8>) -> Result<()> {
        match encoded::of_aggregate(function) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode_udaf(function, to),
        }
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if encoded::is_ours(bytes) {
            return encoded::scan(bytes, inputs).ok_or_else(damaged);
        }
        self.0.try_decode(bytes, inputs, context, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        to: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match encoded::of_scan(node.as_ref()) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode(node, to, converter),
        }
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        match encoded::function(name, bytes) {
            Some(function) => Ok(Arc::new(function)),
            None => self.0.try_decode_udf(name, bytes),
        }
    }

    fn try_encode_udf(&self, function: &ScalarUDF, to: &mut Vec<u8>) -> Result<()> {
        match encoded::of_function(function) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode_udf(function, to),
        }
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        match encoded::aggregate(name, bytes) {
            Some(function) => Ok(Arc::new(function)),
            None => self.0.try_decode_udaf(name, bytes),
        }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, to: &mut Vec<u8>) -> Result<()> {
        match encoded::of_aggregate(function) {
            Some(bytes) => {
                to.extend(bytes);
                Ok(())
            }
            None => self.0.try_encode_udaf(function, to),
        }
    }
}

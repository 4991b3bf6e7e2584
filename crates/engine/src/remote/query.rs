//! The questions and their answers.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::DataFrame;
use futures::{StreamExt, stream};

use super::coder::Coder;
use super::table::{SourceTable, kept_type};
use super::tally::find_values;
use super::{of_stream, tell};
use crate::Values;
use crate::encode::tally::Tally;
use crate::engine::cluster::{BEAT, until_cancelled};
use crate::error::fault::Fault;
use crate::{Engine, EngineError, Source, Use};

/// The name of the table in plans.
const TABLE: &str = "t";

/// The number of rows, and by column its values: one scan.
pub fn values(
    engine: &Engine,
    source: &Source,
    columns: &[usize],
) -> Result<(u64, Vec<Values>), EngineError> {
    let mut uses = vec![Use::Skip; source.columns().len()];
    for &at in columns {
        uses[at] = Use::Code;
    }
    crate::read::refuse_uncodable(source, &uses)?;
    let find = find_values();
    let mut found: Vec<Expr> =
        columns.iter().map(|&at| find.call(vec![column(source, at)]).alias(name(at))).collect();
    found.push(count_all().alias("rows"));
    let n_parts = n_parts(engine, source);
    let plan = scan(source, &uses, n_parts)?
        .aggregate(Vec::<Expr>::new(), found)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planning)?;
    let streams = run(engine, source, plan, n_parts)?;
    let batches = collect(engine, streams)?;
    source.check_unchanged()?;
    let row = batches.iter().find(|batch| batch.num_rows() > 0);
    let row = row.ok_or(EngineError::Cluster { what: "its answer has no row" })?;
    let n_rows = row.column(columns.len()).as_primitive::<Int64Type>().value(0).cast_unsigned();
    let mut values = Vec::new();
    for (answer, &at) in row.columns().iter().zip(columns) {
        let column = &source.columns()[at];
        let mut tally = Tally::new(&column.data_type);
        let damaged = EngineError::Cluster { what: "its answer is damaged" };
        tally.merge(answer.as_binary::<i64>().value(0)).ok_or(damaged)?;
        if tally.n_rows() != n_rows {
            return Err(EngineError::Cluster { what: "its counts do not add up" });
        }
        values.push(tally.into_values(&column.name, &column.data_type, source.is_text()));
    }
    Ok((n_rows, values))
}

/// Every row once, in any order: of the columns that are not skipped, in the source's order, codes
/// as 32-bit numbers (the number of texts for a missing cell) or the cells as they are. `values`
/// has one entry a coded column. The errors of the streams are for [`of_stream`].
pub fn coded(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    values: &[Values],
) -> Result<Vec<SendableRecordBatchStream>, EngineError> {
    crate::read::refuse_uncodable(source, uses)?;
    let mut values = values.iter();
    let mut cells = Vec::new();
    for (at, known) in source.columns().iter().enumerate() {
        let cell = match uses[at] {
            Use::Hash | Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => continue,
            Use::Code => code(source, at, values.next().expect("a coded column has its values")),
            Use::Keep => match kept_type(&known.data_type) {
                kept if *kept != known.data_type => cast(column(source, at), kept.clone()),
                _ => column(source, at),
            },
        };
        cells.push(cell.alias(known.name.clone()));
    }
    let n_parts = n_parts(engine, source);
    let plan = scan(source, uses, n_parts)?
        .project(cells)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planning)?;
    run(engine, source, plan, n_parts)
}

/// The combinations of codes of some columns, each once, as 32-bit numbers in the order of
/// `columns`, and the number of their rows as a 64-bit number. At least one column.
pub fn grouped(
    engine: &Engine,
    source: &Source,
    columns: &[usize],
    values: &[Values],
) -> Result<Vec<SendableRecordBatchStream>, EngineError> {
    let mut uses = vec![Use::Skip; source.columns().len()];
    for &at in columns {
        uses[at] = Use::Code;
    }
    crate::read::refuse_uncodable(source, &uses)?;
    let keys: Vec<Expr> = columns
        .iter()
        .zip(values)
        .map(|(&at, values)| code(source, at, values).alias(name(at)))
        .collect();
    let n_parts = n_parts(engine, source);
    let mut answer: Vec<Expr> =
        columns.iter().map(|&at| Expr::Column(Column::new_unqualified(name(at)))).collect();
    let rows = Expr::Column(Column::new_unqualified("rows"));
    answer.push(cast(rows, DataType::UInt64).alias("count"));
    // Codes are found once, below the grouping, and not again in what is above it.
    let plan = scan(source, &uses, n_parts)?
        .project(keys)
        .and_then(|plan| {
            plan.aggregate(answer[..columns.len()].to_vec(), [count_all().alias("rows")])
        })
        .and_then(|plan| plan.project(answer))
        .and_then(LogicalPlanBuilder::build)
        .map_err(planning)?;
    run(engine, source, plan, n_parts)
}

fn name(at: usize) -> String {
    format!("c{at}")
}

fn column(source: &Source, at: usize) -> Expr {
    let name = &source.columns()[at].name;
    Expr::Column(Column::new(Some(TableReference::bare(TABLE)), name))
}

fn code(source: &Source, at: usize, values: &Values) -> Expr {
    Coder::of_texts(values.texts.iter().map(String::as_str)).call(vec![column(source, at)])
}

fn scan(source: &Source, uses: &[Use], n_parts: usize) -> Result<LogicalPlanBuilder, EngineError> {
    let table = provider_as_source(Arc::new(SourceTable::new(source, uses, n_parts)?));
    let columns = (0..uses.len()).filter(|&at| uses[at] != Use::Skip).collect();
    LogicalPlanBuilder::scan(TABLE, table, Some(columns)).map_err(planning)
}

fn planning(_: DataFusionError) -> EngineError {
    EngineError::Cluster { what: "a plan could not be made" }
}

/// Into how many parts a scan is divided: enough to keep a few workers busy with a small input, and
/// parts that are cheap to do again with a large one.
fn n_parts(engine: &Engine, source: &Source) -> usize {
    const SMALL: u64 = 16 << 20;
    const LARGE: u64 = 64 << 20;
    let by_size = (source.n_bytes() / SMALL).clamp(1, 8).max(source.n_bytes() / LARGE).min(1024);
    engine.n_parts().unwrap_or(usize::try_from(by_size).unwrap_or(1))
}

/// Starts a plan where the engine is.
fn run(
    engine: &Engine,
    source: &Source,
    plan: LogicalPlan,
    n_parts: usize,
) -> Result<Vec<SendableRecordBatchStream>, EngineError> {
    let streams = if let Some(cluster) = engine.cluster() {
        until_cancelled(engine, cluster.run(plan, n_parts))
    } else {
        let frame = DataFrame::new(engine.session().state(), plan);
        let streams = engine.runtime().block_on(frame.execute_stream_partitioned());
        streams.map_err(|error| super::job_failed(&Fault::of(&error).error().to_string()))
    };
    let streams = streams.map_err(|error| tell(error, source))?;
    Ok(streams.into_iter().map(|stream| watched(engine, source, stream)).collect())
}

/// A stream that ends when the user stops the run, and whose errors are ours.
fn watched(
    engine: &Engine,
    source: &Source,
    from: SendableRecordBatchStream,
) -> SendableRecordBatchStream {
    let (schema, cancelled, source) = (from.schema(), engine.cancelled_flag(), source.clone());
    let told = move |error: DataFusionError| {
        let error = match error {
            DataFusionError::External(error) => of_stream(DataFusionError::External(error)),
            error => super::job_failed(&Fault::of(&error).error().to_string()),
        };
        DataFusionError::External(Box::new(tell(error, &source)))
    };
    let next = move |mut from: SendableRecordBatchStream| {
        let (cancelled, told) = (Arc::clone(&cancelled), told.clone());
        async move {
            loop {
                if cancelled.load(std::sync::atomic::Ordering::Relaxed) {
                    let error = DataFusionError::External(Box::new(EngineError::Cancelled));
                    return Some((Err(error), from));
                }
                if let Ok(batch) = tokio::time::timeout(BEAT, from.next()).await {
                    return batch.map(|batch| (batch.map_err(told), from));
                }
            }
        }
    };
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::unfold(from, next)))
}

/// All batches of all streams.
fn collect(
    engine: &Engine,
    streams: Vec<SendableRecordBatchStream>,
) -> Result<Vec<RecordBatch>, EngineError> {
    let mut batches = Vec::new();
    engine.runtime().block_on(async {
        for mut stream in streams {
            while let Some(batch) = stream.next().await {
                batches.push(batch.map_err(of_stream)?);
            }
        }
        Ok(())
    })?;
    Ok(batches)
}

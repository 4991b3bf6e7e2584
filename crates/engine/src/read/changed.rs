//! Whether the columns of a release say what was written, read from its bytes.

use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::{Watch, plain_array};
use crate::error::Detail;
use crate::source::plan;
use crate::value::content::{ColumnContent, Content, Meaning};
use crate::{Engine, EngineError, Source, Use};

/// The first column of a release whose cells are not those that were to be written, read from its
/// bytes.
pub fn first_changed(
    engine: &Engine,
    release: &Source,
    written: &[&ColumnContent],
) -> Result<Option<String>, EngineError> {
    let mut uses = vec![Use::Skip; release.columns().len()];
    let mut wanted: Vec<(usize, &ColumnContent)> = Vec::new();
    for &column in written {
        let Some(at) = release.position(&column.name) else {
            return Ok(Some(column.name.clone()));
        };
        uses[at] = Use::Keep;
        wanted.push((at, column));
    }
    if wanted.is_empty() {
        return Ok(None);
    }
    wanted.sort_by_key(|(at, _)| *at);
    let meanings: Vec<Meaning> = wanted.iter().map(|(_, column)| column.meaning()).collect();
    let columns: Vec<usize> = wanted.iter().map(|(at, _)| *at).collect();
    let reading = |error: DataFusionError| EngineError::Read(Detail::of_datafusion(&error));
    let scan = plan(engine, release, &columns, &uses).map_err(reading)?;
    let mut tasks = Vec::new();
    for part in 0..scan.properties().output_partitioning().partition_count() {
        let stream = scan
            .execute(part, engine.task_of(release.row_bytes(), columns.len()))
            .map_err(reading)?;
        let watch = Watch::new(engine);
        tasks.push(engine.runtime().spawn(contents(stream, meanings.clone(), watch)));
    }
    let mut found = vec![Content::default(); wanted.len()];
    for task in tasks {
        let of_part = engine.runtime().block_on(task).expect("a reading task does not panic");
        engine.go_on()?;
        found.iter_mut().zip(of_part.map_err(reading)?).for_each(|(all, part)| all.add(part));
    }
    let changed = wanted.iter().zip(&found).find(|((_, column), found)| !column.is(**found));
    Ok(changed.map(|((_, column), _)| column.name.clone()))
}

async fn contents(
    mut stream: SendableRecordBatchStream,
    meanings: Vec<Meaning>,
    watch: Watch,
) -> Result<Vec<Content>, DataFusionError> {
    let mut contents = vec![Content::default(); meanings.len()];
    while let Some(batch) = stream.next().await {
        if watch.is_cancelled() {
            break;
        }
        for ((content, meaning), array) in contents.iter_mut().zip(&meanings).zip(batch?.columns())
        {
            content.add(meaning.content(&plain_array(array.clone())?)?);
        }
    }
    Ok(contents)
}

//! Bytes for the parts of plans that DataFusion does not know: our table, its scan and our
//! functions. What does not belong to us gives nothing.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;

use super::coder::{self, Coder};
use super::table::{SourceExec, SourceTable};
use super::tally;
use crate::wire::{Reader, Writer};

/// What all our bytes begin with, so that they are not taken for another library's.
const MARK: &[u8] = b"incrowd1";

fn marked(to: Writer) -> Vec<u8> {
    [MARK, &to.packed()].concat()
}

fn unmarked<T>(bytes: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
    let bytes = Reader::unpacked(bytes.strip_prefix(MARK)?)?;
    let mut from = Reader::new(&bytes);
    read(&mut from).filter(|_| from.is_at_end())
}

/// Whether bytes are ours.
#[must_use]
pub fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// The bytes of a table.
#[must_use]
pub fn of_table(table: &dyn TableProvider) -> Option<Vec<u8>> {
    let table = (table as &dyn std::any::Any).downcast_ref::<SourceTable>()?;
    let mut to = Writer::default();
    table.write(&mut to);
    Some(marked(to))
}

/// The table of bytes.
#[must_use]
pub fn table(bytes: &[u8]) -> Option<Arc<dyn TableProvider>> {
    unmarked(bytes, |from| Some(Arc::new(SourceTable::read(from)?) as Arc<dyn TableProvider>))
}

/// The bytes of a scan, but for its child.
#[must_use]
pub fn of_scan(plan: &dyn ExecutionPlan) -> Option<Vec<u8>> {
    let scan = plan.downcast_ref::<SourceExec>()?;
    let mut to = Writer::default();
    scan.write(&mut to);
    Some(marked(to))
}

/// The scan of bytes and a child.
#[must_use]
pub fn scan(bytes: &[u8], children: &[Arc<dyn ExecutionPlan>]) -> Option<Arc<dyn ExecutionPlan>> {
    let [share] = children else { return None };
    unmarked(bytes, |from| {
        Some(Arc::new(SourceExec::read(from, Arc::clone(share))?) as Arc<dyn ExecutionPlan>)
    })
}

/// The bytes of a function.
#[must_use]
pub fn of_function(function: &ScalarUDF) -> Option<Vec<u8>> {
    let coder = (function.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Coder>()?;
    Some([MARK, coder.bytes()].concat())
}

/// The function of bytes.
#[must_use]
pub fn function(name: &str, bytes: &[u8]) -> Option<ScalarUDF> {
    let bytes = bytes.strip_prefix(MARK)?;
    (name == coder::NAME).then(|| Coder::of_bytes(bytes))
}

/// The bytes of an aggregate function.
#[must_use]
pub fn of_aggregate(function: &AggregateUDF) -> Option<Vec<u8>> {
    (function.name() == tally::NAME).then(|| MARK.to_vec())
}

/// The aggregate function of bytes.
#[must_use]
pub fn aggregate(name: &str, bytes: &[u8]) -> Option<AggregateUDF> {
    (name == tally::NAME && bytes == MARK).then(tally::find_values)
}

//! What a table is like before anything is done to it.

use std::sync::Arc;

use incrowd_engine::{Engine, Spilled, Table};

use super::reported::{privacy_report, release_report};
use super::{ReadRows, Subject, as_they_are, measure_rows};
use crate::flow::bounds::Bounds;
use crate::flow::coding::EqualRows;
use crate::flow::measure::Starred;
use crate::flow::place::LEAST_ROOM;
use crate::plan::Plan;
use crate::report::Before;
use crate::spec::error::JobError;

impl Before {
    fn of(
        engine: &Engine,
        plan: &Plan,
        held: &ReadRows,
        grouped: Option<EqualRows>,
    ) -> Result<Before, JobError> {
        let (released_as, contents) = (as_they_are(plan), Vec::new());
        let subject = Subject { plan, released_as, entity: None, contents, is_given: false };
        let measured = measure_rows(engine, &subject, held, grouped)?;
        let classes = release_report(&measured, 0, Starred::default());
        Ok(Before { privacy: privacy_report(plan, &measured), classes })
    }

    /// Measures a table in memory, whose equal rows may be known already.
    pub(crate) fn of_table(
        engine: &Engine,
        plan: &Plan,
        table: &Arc<Table>,
        grouped: Option<EqualRows>,
    ) -> Result<Before, JobError> {
        Before::of(engine, plan, &ReadRows::Memory(Arc::clone(table)), grouped)
    }

    /// Measures a table in private files, and gives it back.
    pub(crate) fn of_files(
        engine: &Engine,
        plan: &Plan,
        spilled: Spilled,
        bounds: &Bounds,
    ) -> Result<(Before, Spilled), JobError> {
        let held = ReadRows::Files { spilled, room: bounds.room(LEAST_ROOM) };
        let before = Before::of(engine, plan, &held, None)?;
        match held {
            ReadRows::Files { spilled, .. } => Ok((before, spilled)),
            ReadRows::Memory(_) => unreachable!("it is in files"),
        }
    }
}

//! The distinct values of columns, wherever their rows are held.

use incrowd_data::Codes;
use incrowd_engine::{Misfits, RawColumn, Spilled, Table, Values};

use crate::plan::{Plan, PlannedColumn};
use crate::spec::error::{JobError, Problem};

/// Distinct values of columns, and a way to find the rows that have them.
pub(crate) trait DistinctValues: Sync {
    /// The values of a column that was read with codes.
    fn values(&self, column: &str) -> Option<&Values>;

    /// The error for values that do not fit, which names the first row that has one.
    fn explain(&self, values: &Values, misfits: Misfits) -> JobError;

    /// The number of the first row that has this code, from one on.
    fn first_row(&self, values: &Values, code: u32) -> Option<u64>;
}

impl DistinctValues for RawColumn {
    fn values(&self, column: &str) -> Option<&Values> {
        (self.values.name == column).then_some(&self.values)
    }

    fn explain(&self, values: &Values, misfits: Misfits) -> JobError {
        misfits.found_in(values, self.codes.iter()).into()
    }

    fn first_row(&self, _: &Values, code: u32) -> Option<u64> {
        row_of(self.codes.iter(), code)
    }
}

impl DistinctValues for Table {
    fn values(&self, column: &str) -> Option<&Values> {
        self.column(column).map(|raw| &raw.values)
    }

    fn explain(&self, values: &Values, misfits: Misfits) -> JobError {
        let codes = self.column(&values.name).map(|raw| &raw.codes);
        misfits.found_in(values, codes.into_iter().flat_map(Codes::iter)).into()
    }

    fn first_row(&self, values: &Values, code: u32) -> Option<u64> {
        row_of(self.column(&values.name)?.codes.iter(), code)
    }
}

/// The number of the first row with a code, from one on.
pub(crate) fn row_of(codes: impl Iterator<Item = u32>, code: u32) -> Option<u64> {
    (1..).zip(codes).find_map(|(row, found)| (found == code).then_some(row))
}

/// An error if cells are missing that must not be: those of the entity, and all if the job says so.
pub(crate) fn refuse_missing(plan: &Plan, known: &dyn DistinctValues) -> Result<(), JobError> {
    let all = plan.columns.iter().filter(|_| plan.missing_is_error);
    let entity = plan.entity().map(|at| &plan.columns[at]).filter(|_| !plan.missing_is_error);
    let problems: Vec<Problem> =
        all.chain(entity).filter_map(|column| missing_in(column, known)).collect();
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

/// What is to say of a column with missing cells that must have none.
pub(crate) fn missing_in(column: &PlannedColumn, known: &dyn DistinctValues) -> Option<Problem> {
    let values = known.values(&column.name)?;
    let missing = values.has_missing.then(|| values.n_codes() - 1);
    // A blank text names nobody.
    let is_unnamed = |text: &String| column.spec.entity && is_blank(text);
    let unnamed = (0u32..).zip(&values.texts).filter(|(_, text)| is_unnamed(text));
    let codes: Vec<u32> = unnamed.map(|(code, _)| code).chain(missing).collect();
    if codes.is_empty() {
        return None;
    }
    let rows_of = |&code: &u32| values.counts[code as usize];
    let (name, n_missing) = (&values.name, codes.iter().map(rows_of).sum::<u64>());
    let first_row = codes.iter().filter_map(|&code| known.first_row(values, code)).min();
    let first_row = first_row.unwrap_or(1);
    let rows = if n_missing == 1 { "row" } else { "rows" };
    let what = format!(
        "column `{name}` is missing in {n_missing} {rows}; the first is data row {first_row}"
    );
    Some(if column.spec.entity {
        Problem::new(format!(
            "{what}: it is not known whose rows they are, so people cannot be counted"
        ))
        .help("fill them in, or leave these rows out")
    } else {
        Problem::new(what)
            .help("fill them in, or make them a category of their own with --missing category")
    })
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

impl DistinctValues for Spilled {
    fn values(&self, column: &str) -> Option<&Values> {
        Spilled::values(self, column)
    }

    fn explain(&self, values: &Values, misfits: Misfits) -> JobError {
        let column = self.position(&values.name).expect("a column of the table");
        misfits.found_in(values, self.codes_of(column)).into()
    }

    fn first_row(&self, values: &Values, code: u32) -> Option<u64> {
        row_of(self.codes_of(self.position(&values.name)?), code)
    }
}

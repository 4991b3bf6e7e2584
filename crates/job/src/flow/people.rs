//! Whether the rows of a table repeat per person: whether a column numbers people, and its values
//! come up more than once.

use incrowd_engine::{CountedColumn, Sample, Use, Values};

use crate::flow::guess::number::{Whose, numbered};
use crate::flow::guess::suggest::{Facts, facts_of, suggest};
use crate::flow::guess::words::{is_own_name, is_remark_name};
use crate::flow::values::DistinctValues;
use crate::plan::{Plan, PlannedColumn};
use crate::spec::Role;

/// A column that numbers people, and of whose values some have several rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeats {
    pub(crate) column: String,
    whose: Whose,
    /// Values that were counted: all, or a sample of them.
    pub(crate) values: u64,
    /// Their rows.
    pub(crate) rows: u64,
}

/// Columns that are counted though their names say nothing: each costs memory and time.
pub(crate) const MOST_UNSAID: usize = 8;

/// Whether a name says that a column may number people.
fn is_said(name: &str) -> bool {
    numbered(name).is_some() || is_own_name(name)
}

/// Whether a column is worth counting: the job declares no entity, and the column may number people
/// by its name, or is declared to identify them. The values of a quasi-identifier are at hand.
pub(crate) fn may_number_people(plan: &Plan, column: &PlannedColumn) -> bool {
    if plan.entity().is_some() {
        return false;
    }
    match column.role {
        Some(Role::Quasi) => false,
        Some(Role::Identifier) => !is_remark_name(&column.name),
        Some(Role::Sensitive | Role::Insensitive) => is_said(&column.name),
        // Without a header its name may be a cell.
        None => !plan.looks_headerless && is_said(&column.name),
    }
}

/// What the reader of a job's input does with each column, those that may number people counted.
pub(crate) fn uses_counting(plan: &Plan) -> Vec<Use> {
    let usage = |column: &PlannedColumn| match column.usage() {
        Use::Skip if may_number_people(plan, column) => Use::Count,
        usage => usage,
    };
    plan.columns.iter().map(usage).collect()
}

/// The quasi-identifiers of a table that number people who have several rows. Their values have to
/// be at hand: labels that stand for several of them are no numbers.
pub(crate) fn among_quasi(plan: &Plan, known: &impl DistinctValues, n_rows: u64) -> Vec<Repeats> {
    if plan.entity().is_some() {
        return Vec::new();
    }
    let quasi = plan.with_role(Role::Quasi).map(|at| &plan.columns[at].name);
    let values = quasi.filter_map(|name| known.values(name)).filter(|values| are_plain(values));
    values
        .filter_map(|values| Repeats::of_values(values, n_rows))
        .filter(Repeats::is_often)
        .collect()
}

/// Whether most values are values, not labels.
fn are_plain(values: &Values) -> bool {
    let is_label =
        |text: &str| text.starts_with(['[', '{', '(', '<', '>', '*']) || text.ends_with('*');
    let texts = values.texts.iter().take(1000);
    let (n_texts, n_labels) =
        texts.fold((0, 0), |(all, labels), text| (all + 1, labels + usize::from(is_label(text))));
    2 * n_labels <= n_texts
}

impl Repeats {
    /// Whether the name says so, or many values have a second row: where hardly any has, the column
    /// may be a measure with a few values that are equal by chance.
    pub(crate) fn is_often(&self) -> bool {
        is_said(&self.column) || self.rows * 5 >= self.values * 6
    }

    /// What all values of a column tell.
    pub(crate) fn of_values(values: &Values, n_rows: u64) -> Option<Repeats> {
        let sample = Sample::of(values.texts.iter().map(String::as_str));
        Repeats::of(&values.name, &facts_of(values, n_rows, &sample), 1)
    }

    /// What a sample of the values of a column tells.
    pub(crate) fn of_counted(column: &CountedColumn) -> Option<Repeats> {
        let (scale, sample) = (column.scale(), column.sample());
        let (n_texts, n_bytes) = sample
            .texts()
            .fold((0u64, 0u64), |(n, bytes), text| (n + 1, bytes + text.len() as u64));
        let distinct = column.n_values() * scale;
        let facts = Facts {
            kind: column.kind(),
            distinct,
            unique: column.n_unique() * scale,
            present: column.n_rows() * scale,
            missing: column.n_missing(),
            bytes: n_bytes * distinct / n_texts.max(1),
            sample,
        };
        Repeats::of(&column.name, &facts, scale)
    }

    fn of(name: &str, facts: &Facts, scale: u64) -> Option<Repeats> {
        let whose = suggest(name, facts).repeats?;
        let (values, rows) = (facts.distinct / scale, facts.present / scale);
        // A few numbers that were given twice are mistakes rather than people.
        let is_repeated = rows * 100 >= values * 101;
        is_repeated.then(|| Repeats { column: name.to_owned(), whose, values, rows })
    }

    /// Of several columns the one nearest to a person; of those the one with fewest values, since
    /// a person has many cases and a case has one person.
    pub(crate) fn nearest(all: impl IntoIterator<Item = Repeats>) -> Option<Repeats> {
        let values = |found: &Repeats| (found.whose, found.values, found.column.clone());
        all.into_iter().min_by_key(values)
    }
}

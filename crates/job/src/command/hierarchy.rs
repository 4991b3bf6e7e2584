//! Hierarchies: read, built, checked and shown.

use incrowd_data::{Hierarchy, Level, fan_out};
use incrowd_engine::{Engine, Order, RawColumn, Source, Use, ValueList, read};

use crate::flow::hierarchy::{build, problem};
use crate::flow::run::{Run, Stage};
use crate::plan::naming::not_in_input;
use crate::spec::BuiltSpec;
use crate::spec::error::{JobError, Problem};
use crate::spec::hierarchy_file::tree;

pub use crate::spec::hierarchy_file::{Loaded, from_file, to_text};

/// What is wrong with the values of a column under a hierarchy, if anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Distinct values of the column.
    pub n_values: usize,
    /// How many of them are not leaves, in how many rows, and the first such row.
    pub uncovered: Option<(u64, u64, u64)>,
}

/// Builds a hierarchy from the values of a column of a table.
pub fn make(run: &Run, input: &str, column: &str, spec: &BuiltSpec) -> Result<Loaded, JobError> {
    run.with_engine(None, |engine| {
        let raw = read_column(run, engine, input, column)?;
        build(column, spec, &raw.values, &raw, None)
    })
}

/// Builds a hierarchy whose levels are those of a declared order: neighbours are joined by
/// `fan_out`.
pub fn make_ordered(values: &[String], fan_out_by: usize) -> Result<Loaded, JobError> {
    for (at, value) in values.iter().enumerate() {
        if let Some(first) = values[..at].iter().position(|earlier| earlier == value) {
            let (at, first) = (at + 1, first + 1);
            return Err(Problem::new(format!(
                "--order has value {at} twice, first as value {first}"
            ))
            .help("name every value once")
            .into());
        }
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let rows = fan_out(&values, fan_out_by, false).map_err(|error| problem("the order", &error))?;
    let hierarchy = tree(&rows).map_err(|error| JobError::from(Problem::new(error.to_string())))?;
    Ok(Loaded { hierarchy, rows })
}

/// Whether every value of a column is a leaf.
pub fn coverage(
    run: &Run,
    loaded: &Loaded,
    input: &str,
    column: &str,
) -> Result<Coverage, JobError> {
    run.with_engine(None, |engine| {
        let raw = read_column(run, engine, input, column)?;
        let texts = loaded.hierarchy.leaves().map(str::to_owned).collect();
        let uncovered = match raw.rank(Order::Listed { texts, what: ValueList::Hierarchy }) {
            Ok(_) => None,
            Err(incrowd_engine::EngineError::NotCovered {
                n_values, n_rows, first_row, ..
            }) => Some((n_values, n_rows, first_row)),
            Err(error) => return Err(error.into()),
        };
        Ok(Coverage { n_values: raw.values.texts.len(), uncovered })
    })
}

fn read_column(
    run: &Run,
    engine: &Engine,
    input: &str,
    column: &str,
) -> Result<RawColumn, JobError> {
    run.enter(Stage::Open);
    let source = Source::open(engine, input)?;
    let Some(at) = source.position(column) else {
        return Err(not_in_input(&source, column).into());
    };
    let mut uses = vec![Use::Skip; source.columns().len()];
    uses[at] = Use::Code;
    run.enter(Stage::Read);
    let mut table = read(engine, &source, &uses, false)?;
    Ok(table.coded.remove(0))
}

/// The tree as text, the root first, at most `most` leaves of a node.
#[must_use]
pub fn show(hierarchy: &Hierarchy, most: usize) -> String {
    let mut lines = String::new();
    show_node(hierarchy, hierarchy.height(), 0, "", most, &mut lines);
    lines
}

fn show_node(
    hierarchy: &Hierarchy,
    level: Level,
    group: u32,
    indent: &str,
    most: usize,
    to: &mut String,
) {
    let node = &hierarchy.groups(level)[group as usize];
    let n_leaves = node.hi - node.lo + 1;
    let count = if level == Level(0) { String::new() } else { format!("  ({n_leaves})") };
    to.push_str(&format!("{}{count}\n", node.label));
    let children = hierarchy.children(level, group);
    let below = Level(level.0.saturating_sub(1));
    for (at, child) in children.iter().enumerate() {
        let is_last = at + 1 == children.len();
        if at == most && !is_last {
            to.push_str(&format!("{indent}└─ … {} more\n", children.len() - at));
            return;
        }
        to.push_str(indent);
        to.push_str(if is_last { "└─ " } else { "├─ " });
        let deeper = format!("{indent}{}", if is_last { "   " } else { "│  " });
        show_node(hierarchy, below, hierarchy.group_of(below, child.lo), &deeper, most, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_shown_root_first() {
        let rows = [["fr", "eu", "*"], ["de", "eu", "*"], ["jp", "as", "*"]];
        let rows: Vec<Vec<String>> = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        let shown = show(&tree(&rows).unwrap(), 10);
        assert_eq!(shown, "*  (3)\n├─ eu  (2)\n│  ├─ fr\n│  └─ de\n└─ as  (1)\n   └─ jp\n");
    }
}

//! How messages refer to the columns of a source.
//!
//! Where a text file has no header, the names of its columns are the cells of its first row, which
//! no message may tell: columns are referred to by their positions then.

use incrowd_engine::Source;

use crate::spec::error::{Problem, nearest};

/// What to do about a file without a header.
pub(crate) const GIVE_A_HEADER: &str = "the first line of the input looks like a row, not like a header, so that its cells are \
     not shown: give the file a first line with the names of the columns";

/// A problem with a column that the input does not have, and the names that could be meant.
pub(crate) fn not_in_input(source: &Source, name: &str) -> Problem {
    let names: Vec<&str> = source.columns().iter().map(|column| column.name.as_str()).collect();
    let problem = Problem::new(format!("column `{name}` is not in the input"));
    suggest(source.looks_headerless(), problem, name, &names)
}

/// Adds the nearest of the names that come from a source, or all of them.
pub(crate) fn suggest(
    looks_headerless: bool,
    problem: Problem,
    name: &str,
    names: &[&str],
) -> Problem {
    if looks_headerless {
        return problem.help(GIVE_A_HEADER);
    }
    match nearest(name, names.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("its columns are {}", names.join(", "))),
    }
}

/// Columns of a source in a message, as a list.
pub(crate) fn listed(source: &Source, positions: &[usize]) -> String {
    let name = |&at: &usize| {
        if source.looks_headerless() {
            format!("column {}", at + 1)
        } else {
            source.columns()[at].name.clone()
        }
    };
    positions.iter().map(name).collect::<Vec<_>>().join(", ")
}

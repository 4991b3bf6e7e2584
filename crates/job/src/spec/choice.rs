//! Words of a job that stand for one of several values.

use super::error::{Problem, nearest};

/// The value that a name stands for, or a problem that lists the names.
pub(crate) fn choice<T: Copy>(
    what: &str,
    name: Option<&str>,
    names: &[(&str, T)],
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let name = name?;
    let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    if found.is_none() {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        let problem = Problem::new(format!("`{name}` is not a valid `{what}`"));
        problems.push(match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("known values are {}", known.join(", "))),
        });
    }
    found
}

//! A job file to start from.

use std::path::Path;

use crate::report::{ColumnProfile, Profile};

impl Profile {
    /// A job file to start from, to be written to `path`: the suggested roles with their reasons.
    #[must_use]
    pub fn to_job(&self, input: &str, path: &Path) -> String {
        toml(self, input, path)
    }
}

const HEAD: &str = "\
# Suggested by `incrowd profile`. These are guesses from names and values, to be reviewed by someone who
# knows the data and what others know: go through every role, then say true here. Until then
# `incrowd anonymize` refuses this job.
reviewed = false

# identifier: never released    quasi: known to others, recoded
# sensitive: released as it is, nobody should learn it about a person    insensitive: released as it is
# entity = true: tells people apart who have several rows; k counts people instead of rows
";

/// The suggested roles of the columns of an input as a job file that will be at `path`.
pub(super) fn toml(profile: &Profile, input: &str, path: &Path) -> String {
    let mut text = format!("{HEAD}\ninput = {}\n\n[columns]\n", quoted(&seen_from(path, input)));
    let role = |column: &ColumnProfile| {
        let entity = if column.suggested_entity { ", entity = true" } else { "" };
        format!("{{ role = {}{entity} }}", quoted(column.suggested_role))
    };
    let suggested = (profile.columns.iter())
        .map(|column| [key(&column.name), role(column), in_one_line(&column.reason)]);
    let passed_over = profile.passed_over().filter(|(_, role, _)| !role.is_empty());
    let passed_over = passed_over
        .map(|(name, role, why)| [key(name), format!("{{ role = {} }}", quoted(role)), why]);
    let lines: Vec<[String; 3]> = suggested.chain(passed_over).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths = (width(0).min(30), width(1));
    for [name, role, reason] in &lines {
        text.push_str(&format!("{name:<0$} = {role:<1$}  # {reason}\n", widths.0, widths.1));
    }
    if profile.columns.iter().all(|column| column.suggested_role != "quasi") {
        text.push_str(
            "# No column looks like one that others know: a release needs one at least.\n",
        );
    }
    text + "\n[privacy]\nk = 5\n"
}

/// The input as a job file at `path` names it: from its own folder.
fn seen_from(path: &Path, input: &str) -> String {
    let is_here = path
        .parent()
        .is_none_or(|folder| folder.as_os_str().is_empty() || folder == Path::new("."));
    match std::path::absolute(input) {
        Ok(whole) if !is_here => whole.to_string_lossy().into_owned(),
        _ => input.to_owned(),
    }
}

fn in_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A name as a key: with quotes unless it is of letters, digits, `_` and `-` only.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A text in quotes on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_needed() {
        let names = ["age", "zip-code", "a b", "", "a.b", "q\"\\", "new\nline", "größe", "<b>"];
        for name in names {
            let text = format!("{} = 1", key(name));
            let table: toml::Table = text.parse().unwrap();
            assert_eq!(table.keys().collect::<Vec<_>>(), [name], "{text}");
        }
        assert_eq!(["age", "zip-code", "a b"].map(key), ["age", "zip-code", "\"a b\""]);
    }

    #[test]
    fn an_input_is_named_from_the_folder_of_the_job() {
        let here = |path: &str| seen_from(Path::new(path), "t.csv");
        assert_eq!([here("job.toml"), here("./job.toml")], ["t.csv", "t.csv"]);
        let there = here("jobs/job.toml");
        assert!(Path::new(&there).is_absolute() && there.ends_with("t.csv"), "{there}");
    }
}

//! Queries as they are written.

use std::path::Path;

use crate::error::{JobError, Problem};
use crate::spec::{QuerySpec, WorkloadSpec};

/// A query as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryText {
    /// The SQL.
    pub text: String,
    /// Its first line in the file that it stands in, from 1.
    pub line: Option<usize>,
}

impl QueryText {
    /// A query that stands in no file.
    #[must_use]
    pub fn new(text: impl Into<String>) -> QueryText {
        QueryText { text: text.into(), line: None }
    }

    /// A message with the place of the query.
    pub(crate) fn at(&self, message: &str) -> String {
        match self.line {
            Some(line) => format!("query in line {line}: {message}"),
            None => message.to_owned(),
        }
    }
}

/// The queries of a workload: those that it lists, then those of its file.
pub(crate) fn queries_of(workload: &WorkloadSpec) -> Result<Vec<QueryText>, JobError> {
    let listed = workload.queries.iter().map(|query| match query {
        QuerySpec::Sql(sql) => QueryText::new(sql.clone()),
        QuerySpec::Weighted(query) => QueryText::new(query.sql.clone()),
    });
    let mut all: Vec<QueryText> = listed.collect();
    if let Some(path) = &workload.queries_file {
        all.extend(queries_of_file(Path::new(path))?);
    }
    Ok(all)
}

/// The queries of a file: one a line, or with a semicolon behind each. Blank lines and lines that begin with
/// `#` or `--` are passed over.
pub fn queries_of_file(path: &Path) -> Result<Vec<QueryText>, JobError> {
    let name = path.display();
    let text = crate::small_file::read_text(path).map_err(|error| {
        Problem::new(format!("the queries `{name}` cannot be read: {}", error.kind()))
    })?;
    let queries = split(text.strip_prefix('\u{feff}').unwrap_or(&text));
    if queries.is_empty() {
        return Err(Problem::new(format!("`{name}` holds no query"))
            .help("write one query a line; lines that begin with # are passed over")
            .into());
    }
    Ok(queries)
}

fn split(text: &str) -> Vec<QueryText> {
    let is_comment = |line: &str| line.starts_with('#') || line.starts_with("--");
    let lines = || {
        let lines = (1..).zip(text.lines()).map(|(at, line)| (at, line.trim()));
        lines.filter(|(_, line)| !line.is_empty() && !is_comment(line))
    };
    if !lines().any(|(_, line)| line.ends_with(';')) {
        return lines()
            .map(|(at, line)| QueryText { text: line.to_owned(), line: Some(at) })
            .collect();
    }
    let mut queries: Vec<QueryText> = Vec::new();
    let mut open: Option<QueryText> = None;
    let mut quote = None;
    for (at, line) in lines() {
        for char in line.chars() {
            match (quote, char) {
                (Some(closing), _) if char == closing => quote = None,
                (None, '\'' | '"' | '`') => quote = Some(char),
                (None, ';') => {
                    queries.extend(open.take());
                    continue;
                }
                (None, _) if open.is_none() && char.is_whitespace() => continue,
                _ => {}
            }
            let open =
                open.get_or_insert_with(|| QueryText { text: String::new(), line: Some(at) });
            open.text.push(char);
        }
        if let Some(open) = &mut open {
            open.text.push(' ');
        }
    }
    queries.extend(open);
    for query in &mut queries {
        query.text = query.text.trim().to_owned();
    }
    queries.retain(|query| !query.text.is_empty());
    queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        let found: Vec<(usize, String)> =
            split(text).into_iter().map(|query| (query.line.unwrap(), query.text)).collect();
        let found: Vec<(usize, &str)> =
            found.iter().map(|(at, text)| (*at, text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn one_query_a_line_or_one_a_semicolon() {
        check("# first\nSELECT 1\n\n  SELECT 2\n-- no", &[(2, "SELECT 1"), (4, "SELECT 2")]);
        check(
            "SELECT 1;\nSELECT\n 2 ; SELECT ';'",
            &[(1, "SELECT 1"), (2, "SELECT 2"), (3, "SELECT ';'")],
        );
        check("SELECT ';' FROM t", &[(1, "SELECT ';' FROM t")]);
        check(";;\n;", &[]);
    }
}

//! Queries as they are written.

use std::path::Path;

use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::{read_text, unreadable};
use crate::spec::{QuerySpec, WorkloadSpec};

/// A query as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryText {
    /// The SQL.
    pub text: String,
    /// Its first line in the file that it stands in, from 1.
    pub line: Option<usize>,
    /// How much it counts beside the others.
    pub weight: f64,
}

impl QueryText {
    /// A query that stands in no file.
    #[must_use]
    pub fn new(text: impl Into<String>) -> QueryText {
        QueryText { text: text.into(), line: None, weight: 1.0 }
    }

    /// A query that stands in no file and may begin with its weight.
    pub fn weighted(text: &str) -> Result<QueryText, JobError> {
        let (weight, sql) = weighted(text)?;
        Ok(QueryText { weight, ..QueryText::new(sql) })
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
        QuerySpec::Sql(sql) => QueryText::weighted(sql),
        QuerySpec::Weighted(query) => {
            Ok(QueryText { weight: query.weight, ..QueryText::new(query.sql.clone()) })
        }
    });
    let mut all: Vec<QueryText> = listed.collect::<Result<_, JobError>>()?;
    if let Some(path) = &workload.queries_file {
        all.extend(queries_of_file(Path::new(path))?);
    }
    Ok(all)
}

/// The weight that a query begins with, as in `weight 2.5: SELECT ...`, and the rest; 1 where none
/// is written.
pub(crate) fn weighted(text: &str) -> Result<(f64, &str), Problem> {
    const WORD: &str = "weight";
    let text = text.trim();
    let rest = text.get(..WORD.len()).filter(|word| word.eq_ignore_ascii_case(WORD));
    let Some(rest) = rest.map(|_| &text[WORD.len()..]) else { return Ok((1.0, text)) };
    let wrong = |what: &str| Problem::new(what).help("write it as in `weight 2.5: SELECT ...`");
    let (weight, sql) =
        rest.split_once(':').ok_or_else(|| wrong("a colon must follow the weight of a query"))?;
    match weight.trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok((weight, sql.trim_start())),
        _ => Err(wrong("the weight of a query must be a number above 0")),
    }
}

/// The queries of a file: one a line, or each ended by a semicolon. Each may begin with its weight.
/// Blank lines and lines that begin with `#` or `--` are skipped.
pub fn queries_of_file(path: &Path) -> Result<Vec<QueryText>, JobError> {
    let name = path.display();
    let text = read_text(path).map_err(|error| unreadable("the file of queries", path, &error))?;
    let queries = split(text.strip_prefix('\u{feff}').unwrap_or(&text));
    if queries.is_empty() {
        return Err(Problem::new(format!("`{name}` holds no query"))
            .help("write one query a line; lines that begin with # are passed over")
            .into());
    }
    let mut problems = Vec::new();
    let mut weigh = |query: QueryText| match weighted(&query.text) {
        Ok((weight, sql)) => QueryText { weight, text: sql.to_owned(), ..query },
        Err(problem) => {
            problems.push(Problem { message: query.at(&problem.message), ..problem });
            query
        }
    };
    let queries = queries.into_iter().map(&mut weigh).collect();
    if problems.is_empty() { Ok(queries) } else { Err(JobError::Request(problems)) }
}

fn split(text: &str) -> Vec<QueryText> {
    let is_comment = |line: &str| line.starts_with('#') || line.starts_with("--");
    let lines = || {
        let lines = (1..).zip(text.lines()).map(|(at, line)| (at, line.trim()));
        lines.filter(|(_, line)| !line.is_empty() && !is_comment(line))
    };
    if !lines().any(|(_, line)| line.ends_with(';')) {
        return lines()
            .map(|(at, line)| QueryText { line: Some(at), ..QueryText::new(line) })
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
                open.get_or_insert_with(|| QueryText { line: Some(at), ..QueryText::new("") });
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

    #[test]
    fn a_query_may_begin_with_its_weight() {
        let of = |text: &'static str| weighted(text).map_err(|problem| problem.message);
        assert_eq!(of("SELECT 1"), Ok((1.0, "SELECT 1")));
        assert_eq!(of(" weight 2.5: SELECT ':'"), Ok((2.5, "SELECT ':'")));
        assert_eq!(of("WEIGHT 1e-3 :SELECT 1"), Ok((1e-3, "SELECT 1")));
        assert_eq!(of("wéight 2: SELECT 1"), Ok((1.0, "wéight 2: SELECT 1")));
        for (text, says) in [
            ("weight 2 SELECT 1", "a colon"),
            ("weight: SELECT 1", "above 0"),
            ("weight 0: SELECT 1", "above 0"),
            ("weight -1: SELECT 1", "above 0"),
            ("weight inf: SELECT 1", "above 0"),
            ("weight NaN: SELECT 1", "above 0"),
            ("weight two: SELECT 1", "above 0"),
        ] {
            assert!(of(text).unwrap_err().contains(says), "{text}");
        }
    }
}

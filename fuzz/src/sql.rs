//! SQL conditions and queries: drawn from a grammar, printed in many ways, and answered three
//! times: by an interpreter of SQL's three-valued logic, by the parsed condition over the rows and
//! as regions of codes, and by `query` over the table as a file. Texts of any form must not make
//! the parser panic.
//!
//! The first byte of an input says what follows: `q` a text, anything else choices of the grammar.

mod grammar;

use std::cmp::Ordering;

use arbitrary::Unstructured;
use incrowd_data::{CodeSet, Condition, Literal, Test};
use incrowd_engine::{parse_condition, parse_query};
use incrowd_job::{query, ColumnSpec, JobSpec, QueryOptions, QueryText, Run};

use crate::{mutation, sandbox, Seed};
use grammar::{Cell, Column, Tree, COLUMNS};

/// The rows: a cell a column; none is missing.
const ROWS: [[Option<&str>; 5]; 9] = [
    [Some("25"), Some("1.5"), Some("a"), Some("2020-01-05"), Some("true")],
    [Some("25"), Some("-0.25"), Some("b"), Some("2020-02-05"), Some("false")],
    [Some("-3"), Some("1000"), Some("it's"), Some("1999-12-31"), None],
    [None, Some("1.5"), Some("a b"), Some("2020-01-05"), Some("true")],
    [Some("0"), None, Some("B"), None, Some("false")],
    [Some("7"), Some("0"), None, Some("2024-02-29"), Some("true")],
    [Some("123456789"), Some("2.75"), Some("é"), Some("2020-01-06"), None],
    [Some("25"), Some("1.5"), Some("a"), Some("2020-01-05"), Some("true")],
    [None, None, None, None, None],
];

/// Puts the table into place.
pub fn start() {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let header: Vec<String> = COLUMNS.iter().map(|column| quoted(column.name())).collect();
    let row = |row: &[Option<&str>; 5]| row.map(|cell| quoted(cell.unwrap_or(""))).join(",");
    let rows: Vec<String> = ROWS.iter().map(row).collect();
    let text = format!("{}\n{}\n", header.join(","), rows.join("\n"));
    sandbox::write("rows.csv", text.as_bytes());
}

/// Choices of the grammar, and texts.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let texts = [
        "qSELECT COUNT(*), SUM(n) FROM t WHERE n >= 3 AND NOT (t = 'a' OR day IS NULL) GROUP BY t",
        "qn BETWEEN -3 AND 5 OR t IN ('a', 'it''s')",
        "qNOT NOT n <> 5 AND DATE '2020-01-01' <= day",
        "q((((((n = 1))))))",
        "qSELECT MIN(n), MAX(d), AVG(n), COUNT(t) WHERE TRUE;",
        "qn = 1 -- comment\nAND /* other */ t IS NOT NULL",
    ];
    let mut all: Vec<Seed> =
        (0..).zip(texts).map(|(at, t): (u32, _)| (format!("text-{at}"), t.into())).collect();
    for at in 0..12u8 {
        let choices =
            (0..240u8).map(|byte| byte.wrapping_mul(53).wrapping_add(at.wrapping_mul(11)));
        all.push((format!("drawn-{at}"), std::iter::once(at).chain(choices).collect()));
    }
    all
}

/// Words of SQL are put in now and then.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let words: [&[u8]; 16] = [
        b" AND ",
        b" OR ",
        b" NOT ",
        b"(",
        b")",
        b" IS NULL",
        b" IN (",
        b" BETWEEN ",
        b"'",
        b"\"",
        b" = ",
        b"SELECT ",
        b" WHERE ",
        b" GROUP BY ",
        b"COUNT(*)",
        b"-",
    ];
    mutation::of_text(data, size, most, seed, &words)
}

/// Parses a text, or draws conditions and answers them.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((b'q', text)) => {
            if let Ok(text) = std::str::from_utf8(text) {
                let _ = (parse_query(text), parse_condition(text));
            }
        }
        Some((_, choices)) => {
            let mut u = Unstructured::new(choices);
            let n_conditions = u.int_in_range(1..=4).unwrap_or(1);
            let drawn: Vec<(Tree, String)> =
                (0..n_conditions).map_while(|_| grammar::draw(&mut u).ok()).collect();
            for (tree, text) in &drawn {
                check_condition(tree, text);
            }
            check_answers(&drawn);
        }
        None => {}
    }
}

/// The cell of a row in a column.
fn cell(row: usize, column: Column) -> Option<Cell> {
    ROWS[row][column.place()].map(|text| column.cell(text))
}

fn satisfied(tree: &Tree) -> Vec<bool> {
    (0..ROWS.len()).map(|row| tree.value(&|column| cell(row, column)) == Some(true)).collect()
}

/// A printed condition means what it meant before, test by test and as regions.
fn check_condition(tree: &Tree, text: &str) {
    let condition = parse_condition(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let truth = satisfied(tree);
    let found: Vec<bool> = (0..ROWS.len()).map(|row| holds(&condition, row)).collect();
    assert_eq!(found, truth, "the parsed condition: {text}");
    // A value's code is its first row, a missing cell's is behind the last row.
    let n_rows = u32::try_from(ROWS.len()).expect("few rows");
    let code = |row: usize, column: Column| {
        let same = |other: &usize| cell(*other, column) == cell(row, column);
        let first = (0..ROWS.len()).find(same).expect("the row itself");
        let is_missing = cell(row, column).is_none();
        if is_missing {
            n_rows
        } else {
            u32::try_from(first).expect("few rows")
        }
    };
    let codes = |name: &str, test: &Test| {
        let column = Column::named(name).expect("a column of the table");
        let set = CodeSet::of(n_rows + 1, |code| {
            let cell = ROWS.get(code as usize).and_then(|_| cell(code as usize, column));
            passes(test, column, cell.as_ref())
        });
        (column.place(), set)
    };
    let Ok(regions) = condition.regions(&codes) else { return };
    for (row, is_true) in truth.into_iter().enumerate() {
        let is_in = |column: &usize, set: &CodeSet| set.contains(code(row, COLUMNS[*column]));
        let n_in = regions.iter().filter(|r| r.sides.iter().all(|(c, s)| is_in(c, s))).count();
        assert_eq!(n_in, usize::from(is_true), "regions of row {row}: {text}");
    }
}

fn holds(condition: &Condition, row: usize) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, row)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, row)),
        Condition::Test { column, test } => {
            let column = Column::named(column).expect("a column of the table");
            passes(test, column, cell(row, column).as_ref())
        }
    }
}

/// Whether a cell passes a test. A missing one passes none but that for missing ones.
fn passes(test: &Test, column: Column, cell: Option<&Cell>) -> bool {
    let Some(cell) = cell else { return *test == Test::IsMissing };
    let lies = |literal: &Literal| -> Ordering { cell.compare(&column.cell(&literal.text)) };
    match test {
        Test::Compare(comparison, literal) => comparison.holds(lies(literal)),
        Test::In(literals) => literals.iter().any(|literal| lies(literal).is_eq()),
        Test::NotIn(literals) => !literals.iter().any(|literal| lies(literal).is_eq()),
        Test::IsMissing => false,
        Test::IsPresent => true,
    }
}

/// `query` over the table gives the answers of the interpreter.
fn check_answers(drawn: &[(Tree, String)]) {
    if drawn.is_empty() {
        return;
    }
    let mut job = JobSpec::default();
    for column in COLUMNS {
        let role = Some("insensitive".to_owned());
        job.columns.insert(column.name().to_owned(), ColumnSpec { role, ..ColumnSpec::default() });
    }
    let sql = |text: &str| {
        format!("SELECT COUNT(*), COUNT(n), SUM(n), MIN(n), MAX(n) FROM x WHERE {text}")
    };
    let options = QueryOptions {
        release: sandbox::path("rows.csv"),
        queries: drawn.iter().map(|(_, text)| QueryText::new(sql(text))).collect(),
        job,
        threads: Some(1),
        ..QueryOptions::default()
    };
    let report = match query(&Run::default(), &options) {
        Ok(report) => report,
        Err(error) => panic!("{error:?}: {:?}", options.queries),
    };
    for ((tree, text), found) in drawn.iter().zip(&report.queries) {
        let rows: Vec<usize> =
            satisfied(tree).iter().enumerate().filter(|(_, is)| **is).map(|(row, _)| row).collect();
        let values: Vec<f64> = rows.iter().filter_map(|&row| ROWS[row][0]?.parse().ok()).collect();
        let some = |value: f64| (!values.is_empty()).then_some(value);
        #[expect(clippy::cast_precision_loss, reason = "few rows")]
        let expected = [
            Some(rows.len() as f64),
            Some(values.len() as f64),
            some(values.iter().sum()),
            some(values.iter().copied().fold(f64::INFINITY, f64::min)),
            some(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ];
        let answers = &found.rows[0].answers;
        let estimates: Vec<Option<f64>> = answers.iter().map(|a| a.estimate.as_f64()).collect();
        assert_eq!(estimates, expected, "the answers: {text}");
        assert!(answers.iter().all(|answer| answer.exact), "every answer is exact: {text}");
    }
}

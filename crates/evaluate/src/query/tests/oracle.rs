//! Small random releases, whose answers are found by enumerating all values that a row can have.

use super::*;

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A value: a number or a text; `None` if missing.
type Cell = Option<String>;

/// A label and the values that it represents.
fn label(random: &mut Random, column: usize) -> (String, Vec<Cell>) {
    let some = |text: String| Some(text);
    match column {
        // Whole numbers from 0 to 5.
        0 => {
            let lo = random.below(6);
            let hi = lo + random.below(6 - lo);
            match random.below(10) {
                0 => return (String::new(), vec![None]),
                1 => {
                    let values = (0..6).map(|value| some(value.to_string()));
                    return ("*".to_owned(), values.chain([None]).collect());
                }
                _ => {}
            }
            let text = if lo == hi { lo.to_string() } else { format!("[{lo}-{hi}]") };
            (text, (lo..=hi).map(|value| some(value.to_string())).collect())
        }
        1 => {
            let values: Vec<&str> =
                ["", "a", "b", "c"].into_iter().filter(|_| random.below(2) == 0).collect();
            match values[..] {
                [] => ("a".to_owned(), vec![some("a".to_owned())]),
                [one] => (one.to_owned(), vec![some(one.to_owned()).filter(|t| !t.is_empty())]),
                _ => {
                    let cells =
                        values.iter().map(|v| Some((*v).to_owned()).filter(|t| !t.is_empty()));
                    (format!("{{{}}}", values.join("|")), cells.collect())
                }
            }
        }
        _ => {
            let text = random.pick(&["x", "y", ""]).to_string();
            (text.clone(), vec![Some(text).filter(|t| !t.is_empty())])
        }
    }
}

const NAMES: [&str; 3] = ["n", "s", "z"];

fn random_test(random: &mut Random) -> Condition {
    let column = random.below(3);
    let constants: &[&str] = match column {
        0 => &["0", "1", "2.5", "3", "4", "5", "9"],
        1 => &["a", "b", "c"],
        _ => &["x", "y"],
    };
    let constant = *random.pick(constants);
    let other = *random.pick(constants);
    let name = NAMES[column];
    let sign = *random.pick(&["<", "<=", ">", ">=", "=", "<>", "in", "not-in", "is", "is"]);
    match sign {
        "in" | "not-in" => test(&format!("{name} {sign} {constant},{other}")),
        "is" => test(&format!("{name} is {}", random.pick(&["missing", "present"]))),
        _ => test(&format!("{name} {sign} {constant}")),
    }
}

fn random_condition(random: &mut Random, depth: usize) -> Condition {
    match random.below(if depth == 0 { 1 } else { 3 }) {
        0 => random_test(random),
        1 => Condition::All(
            (0..random.below(4)).map(|_| random_condition(random, depth - 1)).collect(),
        ),
        _ => Condition::Any(
            (0..random.below(4)).map(|_| random_condition(random, depth - 1)).collect(),
        ),
    }
}

/// Whether a row of values satisfies a condition.
fn satisfies(condition: &Condition, row: &[&Cell]) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| satisfies(part, row)),
        Condition::Any(parts) => parts.iter().any(|part| satisfies(part, row)),
        Condition::Test { column, test } => {
            let at = NAMES.iter().position(|name| name == column).unwrap();
            let Some(value) = row[at] else { return *test == Test::IsMissing };
            let compare = |literal: &Literal| match at {
                0 => value.parse::<f64>().unwrap().total_cmp(&literal.text.parse().unwrap()),
                _ => value.cmp(&literal.text),
            };
            match test {
                Test::Compare(comparison, literal) => comparison.holds(compare(literal)),
                Test::In(literals) => literals.iter().any(|literal| compare(literal).is_eq()),
                Test::NotIn(literals) => !literals.iter().any(|literal| compare(literal).is_eq()),
                Test::IsMissing => false,
                Test::IsPresent => true,
            }
        }
    }
}

/// The result of enumerating all values of all rows.
#[derive(Default)]
struct Counted {
    rows: f64,
    certain: f64,
    possible: f64,
    sum: f64,
    with_number: f64,
    certain_numbers: f64,
    possible_numbers: f64,
    sum_lo: f64,
    sum_hi: f64,
    min: Option<f64>,
    max: Option<f64>,
}

/// The probability of a value of a label. A star counts missing among its likely values only if the
/// column has empty cells, but may be missing in any case.
fn likelihood(label: &str, values: &[Cell], at: usize, has_missing: bool) -> f64 {
    let n = f64::from(u32::try_from(values.len()).unwrap());
    match (label, &values[at]) {
        ("*", None) if !has_missing => 0.0,
        ("*", Some(_)) if !has_missing => 1.0 / (n - 1.0),
        _ => 1.0 / n,
    }
}

fn count(rows: &[Vec<(String, Vec<Cell>)>], condition: &Condition) -> Counted {
    let has_missing = rows.iter().any(|row| row[0].0.is_empty());
    let mut counted = Counted::default();
    for row in rows {
        let n: usize = row.iter().map(|(_, values)| values.len()).product();
        // The contribution of the row to the sum under each combination.
        let mut added: Vec<f64> = Vec::new();
        let (mut n_in, mut n_numbers) = (0, 0);
        for mut at in 0..n {
            let mut cells = Vec::new();
            let mut share = 1.0;
            for (label, values) in row {
                share *= likelihood(label, values, at % values.len(), has_missing);
                cells.push(&values[at % values.len()]);
                at /= values.len();
            }
            added.push(0.0);
            if satisfies(condition, &cells) {
                n_in += 1;
                counted.rows += share;
                if let Some(number) = cells[0] {
                    let number: f64 = number.parse().unwrap();
                    n_numbers += 1;
                    *added.last_mut().unwrap() = number;
                    counted.with_number += share;
                    counted.sum += share * number;
                    if share > 0.0 {
                        counted.min = Some(counted.min.map_or(number, |min| min.min(number)));
                        counted.max = Some(counted.max.map_or(number, |max| max.max(number)));
                    }
                }
            }
        }
        counted.certain += f64::from(u8::from(n_in == n));
        counted.possible += f64::from(u8::from(n_in > 0));
        counted.certain_numbers += f64::from(u8::from(n_numbers == n));
        counted.possible_numbers += f64::from(u8::from(n_numbers > 0));
        counted.sum_lo += added.iter().copied().fold(f64::INFINITY, f64::min);
        counted.sum_hi += added.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    counted
}

fn made(rows: &[Vec<(String, Vec<Cell>)>], is_plain: bool) -> Release {
    let column = |at: usize| rows.iter().map(|row| row[at].0.as_str()).collect::<Vec<_>>();
    let (n, s, z) = (column(0), column(1), column(2));
    let known = |at: usize| match (at, is_plain) {
        (0, false) => LabelKnowledge::Kind(Kind::Integer),
        (1, false) => LabelKnowledge::Values(vec!["a".to_owned()]),
        (0, true) => LabelKnowledge::Plain(Some(Kind::Integer)),
        _ => LabelKnowledge::Plain(None),
    };
    release(&[("n", known(0), &n), ("s", known(1), &s), ("z", known(2), &z)])
}

#[track_caller]
fn near(found: Option<f64>, expected: f64, what: &str) {
    let found = found.unwrap_or(0.0);
    assert!((found - expected).abs() < 1e-9, "{what}: {found}, expected {expected}");
}

#[track_caller]
fn check_against_enumeration(
    rows: &[Vec<(String, Vec<Cell>)>],
    condition: Condition,
    is_plain: bool,
) {
    let expected = count(rows, &condition);
    let release = made(rows, is_plain);
    let number = || "n".to_owned();
    let aggregates = vec![
        Aggregate::Count,
        Aggregate::CountOf(number()),
        Aggregate::Sum(number()),
        Aggregate::Min(number()),
        Aggregate::Max(number()),
    ];
    let query = Query { aggregates: aggregates.clone(), condition, group_by: Vec::new() };
    let found = answer(&release, &query).unwrap().remove(0).answers;
    near(found[0].estimate, expected.rows, "rows");
    let alone = Query { aggregates: vec![Aggregate::Count], ..query.clone() };
    let alone = answer(&release, &alone).unwrap().remove(0).answers[0];
    near(alone.estimate, expected.rows, "rows alone");
    assert_eq!((alone.least, alone.greatest), (found[0].least, found[0].greatest));
    near(found[0].least, expected.certain, "certain rows");
    near(found[0].greatest, expected.possible, "possible rows");
    near(found[1].estimate, expected.with_number, "rows with a number");
    near(found[1].least, expected.certain_numbers, "certain numbers");
    near(found[1].greatest, expected.possible_numbers, "possible numbers");
    near(found[2].estimate, expected.sum, "sum");
    if found[2].estimate.is_some() {
        near(found[2].least, expected.sum_lo, "least sum");
        near(found[2].greatest, expected.sum_hi, "greatest sum");
    }
    assert_eq!((found[3].estimate, found[4].estimate), (expected.min, expected.max));
    if is_plain {
        assert!(found.iter().all(|answer| answer.exact), "{query:?}: {found:?}");
    }
    // Groups add up to the whole.
    for by in [vec!["z"], vec!["s"], vec!["n", "s"]] {
        let group_by = by.into_iter().map(str::to_owned).collect();
        let groups = answer(&release, &Query { group_by, ..query.clone() }).unwrap();
        let total = |at: usize| groups.iter().filter_map(|g| g.answers[at].estimate).sum::<f64>();
        near(Some(total(0)), expected.rows, "rows of groups");
        near(Some(total(2)), expected.sum, "sum of groups");
        if is_plain {
            assert!(groups.iter().flat_map(|group| &group.answers).all(|answer| answer.exact));
        }
    }
}

#[test]
fn answers_agree_with_the_enumeration_of_values() {
    let mut random = Random(7);
    for _ in 0..1500 {
        let n_rows = 1 + random.below(6);
        let row = |random: &mut Random| (0..3).map(|column| label(random, column)).collect();
        let rows: Vec<Vec<(String, Vec<Cell>)>> = (0..n_rows).map(|_| row(&mut random)).collect();
        let condition = random_condition(&mut random, 2);
        check_against_enumeration(&rows, condition, false);
    }
}

#[test]
fn answers_over_an_untouched_table_are_exact() {
    let mut random = Random(8);
    for _ in 0..1000 {
        let n_rows = 1 + random.below(8);
        let row = |random: &mut Random| {
            let cell = |column: usize, random: &mut Random| {
                let (_, values) = label(random, column);
                let value = random.pick(&values).clone();
                (value.clone().unwrap_or_default(), vec![value])
            };
            (0..3).map(|column| cell(column, random)).collect()
        };
        let rows: Vec<Vec<(String, Vec<Cell>)>> = (0..n_rows).map(|_| row(&mut random)).collect();
        let condition = random_condition(&mut random, 2);
        check_against_enumeration(&rows, condition, true);
    }
}

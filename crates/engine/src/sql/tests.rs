use incrowd_data::{Comparison, Test};

use super::*;

/// A condition as text, to be compared.
fn shown(condition: &Condition) -> String {
    let list = |parts: &[Condition], between: &str| {
        let parts: Vec<String> = parts.iter().map(shown).collect();
        format!("({})", parts.join(between))
    };
    match condition {
        Condition::All(parts) => list(parts, " & "),
        Condition::Any(parts) => list(parts, " | "),
        Condition::Test { column, test } => {
            let literal = |literal: &incrowd_data::Literal| {
                if literal.is_number { literal.text.clone() } else { format!("'{}'", literal.text) }
            };
            let all = |literals: &[incrowd_data::Literal]| {
                literals.iter().map(literal).collect::<Vec<_>>().join(",")
            };
            match test {
                Test::Compare(comparison, constant) => {
                    let sign = match comparison {
                        Comparison::Less => "<",
                        Comparison::AtMost => "<=",
                        Comparison::Greater => ">",
                        Comparison::AtLeast => ">=",
                        Comparison::Equal => "=",
                        Comparison::NotEqual => "<>",
                    };
                    format!("{column}{sign}{}", literal(constant))
                }
                Test::In(literals) => format!("{column} in {}", all(literals)),
                Test::NotIn(literals) => format!("{column} not in {}", all(literals)),
                Test::IsMissing => format!("{column} missing"),
                Test::IsPresent => format!("{column} present"),
            }
        }
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(&parse_condition(text).unwrap()), expected, "{text}");
}

#[track_caller]
fn check_refused(text: &str, says: &str) {
    let message = parse_condition(text).unwrap_err().to_string();
    assert!(message.contains(says), "{text} gave: {message}");
}

#[track_caller]
fn check_query_refused(text: &str, says: &str) {
    let message = parse_query(text).unwrap_err().to_string();
    assert!(message.contains(says), "{text} gave: {message}");
}

#[test]
fn comparisons() {
    check("age <= 26", "age<=26");
    check("26 >= age", "age<=26");
    check("-1.5 < age", "age>-1.5");
    check("age = +3", "age=3");
    check("age > - -3", "age>3");
    check("x != .5", "x<>0.5");
    check("(x) <> (5.)", "x<>5");
    check("sex = 'Male'", "sex='Male'");
    check("note = 'it''s'", "note='it's'");
    check("\"hours-per-week\" > 40", "hours-per-week>40");
    check("`a b` = 1", "a b=1");
    check("Age = 1 and age = 2", "(Age=1 & age=2)");
    check("married = TRUE", "married='true'");
    check("born >= DATE '2024-01-03'", "born>='2024-01-03'");
    check("seen < TIMESTAMP '2024-01-03 10:00:00'", "seen<'2024-01-03 10:00:00'");
}

#[test]
fn lists_ranges_and_missing() {
    check("a BETWEEN 1 AND 2", "(a>=1 & a<=2)");
    check("a NOT BETWEEN -2 AND -1", "(a<-2 | a>-1)");
    check("NOT a NOT BETWEEN 1 AND 2", "(a>=1 & a<=2)");
    check("a IN ('x', 'y')", "a in 'x','y'");
    check("a NOT IN (1, -2)", "a not in 1,-2");
    check("NOT a IN (1)", "a not in 1");
    check("a IS NULL", "a missing");
    check("NOT a IS NULL", "a present");
    check("a IS NOT NULL", "a present");
}

#[test]
fn negation_is_pushed_down() {
    check("NOT (a = 1 AND b < 2)", "(a<>1 | b>=2)");
    check("NOT (a = 1 OR NOT b < 2)", "(a<>1 & b<2)");
    check("NOT (NOT (a >= 1))", "a>=1");
    check("a = 1 OR b = 2 AND c = 3", "(a=1 | (b=2 & c=3))");
    check("(a = 1 OR b = 2) AND c = 3 AND d = 4", "((a=1 | b=2) & c=3 & d=4)");
    check("a = 1 AND (b = 2 AND (c = 3))", "(a=1 & b=2 & c=3)");
    check("TRUE", "()");
    check("a = 1 AND NOT FALSE", "a=1");
    check("a = 1;", "a=1");
}

#[test]
fn long_chains_and_deep_nests() {
    let chain = vec!["a=1"; 1500].join(" OR ");
    let Condition::Any(parts) = parse_condition(&chain).unwrap() else { panic!("a list") };
    assert_eq!(parts.len(), 1500);
    check_refused(&vec!["a=1"; 5000].join(" OR "), "too long");
    check_refused(&format!("{}a=1{}", "(".repeat(2000), ")".repeat(2000)), "too long or too deep");
    check_refused(&format!("{}a=1", "NOT ".repeat(3000)), "cannot be read");
    check_refused(&format!("a = 1{}", "+1".repeat(7000)), "the operator +");
}

#[test]
fn conditions_that_are_refused() {
    check_refused("", "was expected");
    check_refused("a = ", "was expected");
    check_refused("a = 'x", "not closed");
    check_refused("a = 1 b", "line 1, column 7");
    check_refused("a = b", "`a` and `b`");
    check_refused("1 = 1", "two constants");
    check_refused("'a' = \"b c\" AND 'x' = 'y'", "two constants");
    check_refused("a = NULL", "IS NULL");
    check_refused("a IN (1, NULL)", "IS NULL");
    check_refused("a LIKE 'x%'", "LIKE is not supported");
    check_refused("a + 1 = 2", "the operator +");
    check_refused("a = 1 + 1", "the operator +");
    check_refused("lower(a) = 'x'", "the function `lower`");
    check_refused("a IN (SELECT b FROM c)", "a subquery");
    check_refused("EXISTS (SELECT 1)", "a subquery");
    check_refused("a", "a column alone");
    check_refused("1", "a constant alone");
    check_refused("t.a = 1", "a name with a dot");
    check_refused("a IS TRUE", "IS TRUE");
    check_refused("5 BETWEEN a AND b", "BETWEEN of a constant");
    check_refused("a BETWEEN b AND 5", "a column where a constant");
    check_refused("CASE WHEN a = 1 THEN b END = 2", "CASE");
    check_refused("CAST(a AS INT) = 2", "CAST");
    check_refused("a = -'x'", "- before a text");
}

#[test]
fn messages_leave_out_what_was_found() {
    let message = parse_condition("a = 1 AND 'secret' 'more'").unwrap_err().to_string();
    assert!(!message.contains("secret") && !message.contains("more"), "{message}");
    let message = parse_query("SELECT COUNT(* 'secret'").unwrap_err().to_string();
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn queries() {
    let query = parse_query(
        "select sex, Count(*), COUNT(zip) AS n, sum(age), Avg(age) a, MIN(age), max(\"a-b\") \
         from anything t where age <= 26 group by sex, \"a-b\", sex;",
    )
    .unwrap();
    let of = |name: &str| name.to_owned();
    let expected = [
        Aggregate::Count,
        Aggregate::CountOf(of("zip")),
        Aggregate::Sum(of("age")),
        Aggregate::Avg(of("age")),
        Aggregate::Min(of("age")),
        Aggregate::Max(of("a-b")),
    ];
    assert_eq!(query.aggregates, expected);
    assert_eq!(query.group_by, ["sex", "a-b"]);
    assert_eq!(shown(&query.condition), "age<=26");
    let query = parse_query("SELECT COUNT(*) WHERE sex = 'Male' AND age <= 26").unwrap();
    assert_eq!(shown(&query.condition), "(sex='Male' & age<=26)");
    assert!(query.group_by.is_empty());
    assert_eq!(parse_query("SELECT COUNT(*)").unwrap().condition, Condition::All(vec![]));
    assert!(parse_query("SELECT COUNT(*) FROM 'release.csv'").is_ok());
    assert!(parse_query("SELECT SUM(ALL x)").is_ok());
}

#[test]
fn queries_that_are_refused() {
    check_query_refused("", "found nothing");
    check_query_refused("SELECT COUNT(*); SELECT COUNT(*)", "2 statements");
    check_query_refused("DELETE FROM t", "another statement");
    check_query_refused("SELECT COUNT(*) FROM a JOIN b ON a.x = b.x", "JOIN");
    check_query_refused("SELECT COUNT(*) FROM a, b", "join");
    check_query_refused("SELECT COUNT(*) FROM (SELECT 1)", "a subquery");
    check_query_refused("SELECT COUNT(*) GROUP BY a HAVING COUNT(*) > 1", "HAVING");
    check_query_refused("SELECT COUNT(*) ORDER BY 1", "ORDER BY");
    check_query_refused("SELECT COUNT(*) LIMIT 1", "LIMIT");
    check_query_refused("WITH t AS (SELECT 1) SELECT COUNT(*)", "WITH");
    check_query_refused("SELECT COUNT(*) UNION SELECT COUNT(*)", "UNION");
    check_query_refused("SELECT DISTINCT COUNT(*)", "DISTINCT");
    check_query_refused("SELECT COUNT(DISTINCT a)", "DISTINCT");
    check_query_refused("SELECT *", "`*` alone");
    check_query_refused("SELECT a, COUNT(*)", "`a` is in SELECT");
    check_query_refused("SELECT a GROUP BY a", "no aggregate");
    check_query_refused("SELECT SUM(*)", "SUM(*)");
    check_query_refused("SELECT SUM(a + 1)", "SUM of the operator +");
    check_query_refused("SELECT SUM(a) + 1", "the operator +");
    check_query_refused("SELECT MEDIAN(a)", "the function `MEDIAN`");
    check_query_refused("SELECT COUNT(*) OVER ()", "OVER");
    check_query_refused("SELECT COUNT(*) FILTER (WHERE a = 1)", "FILTER");
    check_query_refused("SELECT COUNT(*) GROUP BY ROLLUP (a)", "GROUP BY");
    check_query_refused("SELECT COUNT(*) GROUP BY 1", "GROUP BY a constant");
    check_query_refused("SELECT COUNT(*) WHERE a LIKE 'x'", "LIKE");
    check_query_refused("SELECT SUM(a, b)", "anything but one column");
}

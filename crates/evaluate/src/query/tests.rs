use incrowd_data::{
    Aggregate, Codes, Comparison, Condition, Hierarchy, Kind, Literal, Query, Test, collapse,
};

use super::*;

mod oracle;

fn parse(kind: Kind, text: &str) -> Option<f64> {
    let is_number =
        |text: &str| text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    match kind {
        Kind::Integer if is_number(text) => text.parse::<i32>().ok().map(f64::from),
        Kind::Decimal if is_number(text) => text.parse().ok(),
        // Days of January 2024 suffice.
        Kind::Date => text.strip_prefix("2024-01-")?.parse().ok(),
        _ => None,
    }
}

/// A release of columns with a label per row; an empty one is missing.
fn release(columns: &[(&str, LabelKnowledge, &[&str])]) -> Release {
    let n_rows = columns[0].2.len();
    let mut made = Vec::new();
    let mut codes: Vec<(Codes, u32)> = Vec::new();
    for (name, known, cells) in columns {
        let mut labels: Vec<&str> = cells.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let n = u32::try_from(labels.len()).unwrap();
        let code = |cell: &&str| u32::try_from(labels.binary_search(cell).unwrap()).unwrap();
        codes.push((Codes::pack(n, cells.iter().map(code)), n));
        let labels: Vec<Option<&str>> =
            labels.iter().map(|&label| Some(label).filter(|label| !label.is_empty())).collect();
        let span = Span { lo: 0.0, hi: 5.0, is_whole: true, has_missing: false };
        let span = (*known == LabelKnowledge::Kind(Kind::Integer)).then_some(span);
        let (domain, spreads) = read_labels(&labels, known, span, parse).unwrap();
        let is_plain = matches!(known, LabelKnowledge::Plain(_));
        let has_ends =
            !is_plain && !matches!(known, LabelKnowledge::Tree(_) | LabelKnowledge::Means { .. });
        let name = (*name).to_owned();
        made.push(Column { name, domain, spreads, is_of_class: !is_plain, has_ends });
    }
    let borrowed: Vec<(&Codes, u32)> = codes.iter().map(|(codes, n)| (codes, *n)).collect();
    let collapsed = collapse(&borrowed, n_rows);
    let vectors = codes.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
    Release { columns: made, vectors, counts: collapsed.counts, parse }
}

fn literal(text: &str) -> Literal {
    let is_number = parse(Kind::Decimal, text).is_some();
    Literal { text: text.to_owned(), is_number }
}

/// `column sign constant`, where constants of `in` and `not-in` have commas between them.
fn test(text: &str) -> Condition {
    let [column, sign, constant] = text.splitn(3, ' ').collect::<Vec<_>>()[..] else {
        panic!("three words")
    };
    let all = || constant.split(',').map(literal).collect();
    let asked = match sign {
        "<" => Test::Compare(Comparison::Less, literal(constant)),
        "<=" => Test::Compare(Comparison::AtMost, literal(constant)),
        ">" => Test::Compare(Comparison::Greater, literal(constant)),
        ">=" => Test::Compare(Comparison::AtLeast, literal(constant)),
        "=" => Test::Compare(Comparison::Equal, literal(constant)),
        "<>" => Test::Compare(Comparison::NotEqual, literal(constant)),
        "in" => Test::In(all()),
        "not-in" => Test::NotIn(all()),
        "is" if constant == "missing" => Test::IsMissing,
        _ => Test::IsPresent,
    };
    Condition::Test { column: column.to_owned(), test: asked }
}

fn all(tests: &[&str]) -> Condition {
    Condition::All(tests.iter().map(|text| test(text)).collect())
}

fn ask(release: &Release, aggregate: Aggregate, condition: Condition) -> Answer {
    let query = Query { aggregates: vec![aggregate], condition, group_by: Vec::new() };
    answer(release, &query).unwrap()[0].answers[0]
}

/// Checks the estimate, whether it is exact, and its bounds.
#[track_caller]
fn check(release: &Release, aggregate: Aggregate, tests: &[&str], expected: (f64, bool, f64, f64)) {
    let found = ask(release, aggregate, all(tests));
    let is_near = |found: Option<f64>, expected: f64| {
        found.map_or(expected.is_nan(), |found| (found - expected).abs() < 1e-9)
    };
    let (estimate, exact, least, greatest) = expected;
    assert!(
        is_near(found.estimate, estimate)
            && found.exact == exact
            && is_near(found.least, least)
            && is_near(found.greatest, greatest),
        "{tests:?}: {found:?}"
    );
}

fn of(column: &str) -> String {
    column.to_owned()
}

const NONE: f64 = f64::NAN;

#[test]
fn whole_numbers_are_counted() {
    let ages = release(&[("age", LabelKnowledge::Nothing, &["[25-28]", "[25-28]", "30", "-3"])]);
    check(&ages, Aggregate::Count, &[], (4.0, true, 4.0, 4.0));
    check(&ages, Aggregate::Count, &["age <= 26"], (2.0, false, 1.0, 3.0));
    check(&ages, Aggregate::Count, &["age < 26.5"], (2.0, false, 1.0, 3.0));
    check(&ages, Aggregate::Count, &["age > 28"], (1.0, true, 1.0, 1.0));
    check(&ages, Aggregate::Count, &["age = 27"], (0.5, false, 0.0, 2.0));
    check(&ages, Aggregate::Count, &["age = 27.5"], (0.0, true, 0.0, 0.0));
    check(&ages, Aggregate::Count, &["age in 25,28,30"], (2.0, false, 1.0, 3.0));
    check(&ages, Aggregate::Count, &["age not-in 25,28,30"], (2.0, false, 1.0, 3.0));
    check(&ages, Aggregate::Count, &["age is present"], (4.0, true, 4.0, 4.0));
    check(&ages, Aggregate::Sum(of("age")), &["age > 20"], (83.0, false, 80.0, 86.0));
    check(&ages, Aggregate::Sum(of("age")), &["age < 27"], (22.5, false, -3.0, 49.0));
    check(&ages, Aggregate::Avg(of("age")), &["age >= 25", "age <= 28"], (26.5, false, NONE, NONE));
    check(&ages, Aggregate::Min(of("age")), &["age > 20"], (25.0, true, 25.0, 25.0));
    check(&ages, Aggregate::Min(of("age")), &["age > 26"], (27.0, false, 27.0, 30.0));
    check(&ages, Aggregate::Max(of("age")), &["age <= 27"], (27.0, false, -3.0, 27.0));
    check(&ages, Aggregate::Max(of("age")), &[], (30.0, true, 30.0, 30.0));
    check(&ages, Aggregate::Max(of("age")), &["age > 99"], (NONE, true, NONE, NONE));
}

#[test]
fn negative_numbers_decimals_and_dates() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["[-5..-2]", "[-2..2]"])]);
    check(&x, Aggregate::Count, &["x < -3"], (0.5, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x >= -2"], (1.25, false, 1.0, 2.0));
    let x = release(&[("x", LabelKnowledge::Nothing, &["[1.5-2.5]", "4"])]);
    check(&x, Aggregate::Count, &["x < 2"], (0.5, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x = 2"], (0.0, false, 0.0, 1.0));
    check(&x, Aggregate::Sum(of("x")), &["x < 2"], (0.875, false, 0.0, 2.0));
    let day =
        release(&[("day", LabelKnowledge::Nothing, &["[2024-01-03..2024-01-06]", "2024-01-09"])]);
    check(&day, Aggregate::Count, &["day < 2024-01-05"], (0.5, false, 0.0, 1.0));
    check(&day, Aggregate::Min(of("day")), &[], (3.0, true, 3.0, 3.0));
}

#[test]
fn stars_are_the_whole_domain() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["*", "[1-2]", "4"])]);
    check(&x, Aggregate::Count, &["x <= 2"], (1.5, false, 1.0, 2.0));
    // A star may be a missing cell, about which nothing is certain.
    check(&x, Aggregate::Count, &["x >= 0"], (3.0, false, 2.0, 3.0));
    let x = release(&[("x", LabelKnowledge::Nothing, &["*", "1", "4", ""])]);
    check(&x, Aggregate::Count, &["x is missing"], (1.2, false, 1.0, 2.0));
    check(&x, Aggregate::CountOf(of("x")), &[], (2.8, false, 2.0, 3.0));
    let x = release(&[("x", LabelKnowledge::Nothing, &["*", "a", "b", "c"])]);
    check(&x, Aggregate::Count, &["x = b"], (4.0 / 3.0, false, 1.0, 2.0));
    assert!(read_labels(&[Some("*")], &LabelKnowledge::Nothing, None, parse).is_err());
}

#[test]
fn sets_orders_and_hierarchies() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["{a|b}", "c", "{|c}", "{a\\|b|d}"])]);
    check(&x, Aggregate::Count, &["x = a"], (0.5, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x = a|b"], (0.5, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x in a,b"], (1.0, true, 1.0, 1.0));
    check(&x, Aggregate::Count, &["x is missing"], (0.5, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x <> c"], (2.0, true, 2.0, 2.0));
    let order =
        LabelKnowledge::Order(["low", "mid", "top-most", "x-large"].map(String::from).to_vec());
    let x = release(&[("x", order, &["[low..top-most]", "[top-most..x-large]", "mid"])]);
    check(&x, Aggregate::Count, &["x <= mid"], (5.0 / 3.0, false, 1.0, 2.0));
    check(&x, Aggregate::Max(of("x")), &[], (3.0, true, 3.0, 3.0));
    let rows = ["fr;Europe;*", "de;Europe;*", "jp;Asia;*"]
        .map(|row| row.split(';').map(str::to_owned).collect());
    let tree = LabelKnowledge::Tree(Hierarchy::from_rows(&rows).unwrap());
    let x = release(&[("x", tree, &["Europe", "jp", "Asia", "*"])]);
    check(&x, Aggregate::Count, &["x = fr"], (0.5 + 1.0 / 3.0, false, 0.0, 2.0));
    check(&x, Aggregate::Count, &["x in fr,de"], (1.0 + 2.0 / 3.0, false, 1.0, 2.0));
    let query = Query {
        aggregates: vec![Aggregate::Count],
        condition: test("x = Europe"),
        group_by: Vec::new(),
    };
    let error = answer(&x, &query).unwrap_err();
    assert_eq!(error, QueryError::NotInList { column: of("x"), what: "hierarchy" });
}

#[test]
fn masks_are_ranges_of_digits() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["537**", "5371*", "02174"])]);
    check(&x, Aggregate::Count, &["x = 53711"], (0.11, false, 0.0, 2.0));
    check(&x, Aggregate::Count, &["x = 02174"], (1.0, true, 1.0, 1.0));
    assert!(read_labels(&[Some("AB*")], &LabelKnowledge::Nothing, None, parse).is_err());
    assert!(read_labels(&[Some("[low-high]")], &LabelKnowledge::Nothing, None, parse).is_err());
}

#[test]
fn bounds_are_ranges() {
    let star = (Some("*"), Some("*"));
    let pairs = [(Some("25"), Some("28")), (Some("30"), Some("30")), (None, None), star];
    let (domain, spreads) = read_bounds(&pairs, &LabelKnowledge::Nothing, None, parse).unwrap();
    let column = Column { name: of("age"), domain, spreads, is_of_class: true, has_ends: true };
    let vectors = vec![Codes::pack(4, [0, 1, 2, 3].into_iter())];
    let ages = Release { columns: vec![column], vectors, counts: vec![4, 2, 1, 3], parse };
    check(&ages, Aggregate::Count, &["age <= 26"], (3.0, false, 0.0, 8.0));
    check(&ages, Aggregate::Count, &["age is missing"], (1.0, false, 0.0, 4.0));
}

#[test]
fn means_are_exact_over_whole_classes() {
    let labels = ["25.5", "25.5", "27.5", "27.5"];
    let sex = ["m", "m", "f", "f"];
    let x = release(&[
        ("age", LabelKnowledge::Means { is_number: true, may_miss: false }, &labels),
        ("sex", LabelKnowledge::Nothing, &sex),
        ("disease", LabelKnowledge::Plain(None), &["flu", "cold", "flu", "cold"]),
    ]);
    check(&x, Aggregate::Avg(of("age")), &["sex = m"], (25.5, true, 25.5, 25.5));
    check(&x, Aggregate::Avg(of("age")), &["disease = flu"], (26.5, false, NONE, NONE));
    check(&x, Aggregate::Count, &["age <= 26"], (2.0, false, 0.0, 4.0));
    // A range with its mean: the mean if the condition does not mention the column, the range if it
    // does.
    let mut x = release(&[("age", LabelKnowledge::Nothing, &["[20-29]", "[20-29]", "40", "40"])]);
    x.columns[0].spreads[1].mean = Some(22.0);
    let ranged = x.columns[0].spreads.iter().position(|s| s.values == Values::Range(20.0, 29.0));
    assert_eq!(ranged, Some(1));
    check(&x, Aggregate::Sum(of("age")), &[], (124.0, true, 124.0, 124.0));
    check(&x, Aggregate::Sum(of("age")), &["age < 25"], (22.0, false, 0.0, 48.0));
    check(&x, Aggregate::Avg(of("age")), &["age < 39"], (22.0, true, 22.0, 22.0));
}

#[test]
fn the_patients_of_the_paper() {
    // Figure 8: a strict multidimensional 2-anonymization.
    let mut x = release(&[
        (
            "age",
            LabelKnowledge::Nothing,
            &["[25-26]", "[25-26]", "[25-27]", "[25-27]", "[27-28]", "[27-28]"],
        ),
        ("sex", LabelKnowledge::Nothing, &["Male", "Male", "Female", "Female", "Male", "Male"]),
    ]);
    let males = ["sex = Male", "age <= 26"];
    check(&x, Aggregate::Count, &males, (2.0, true, 2.0, 2.0));
    check(&x, Aggregate::Avg(of("age")), &["sex = Male"], (26.5, false, NONE, NONE));
    for (spread, mean) in x.columns[0].spreads.iter_mut().zip([25.5, 26.0, 27.5]) {
        spread.mean = Some(mean);
    }
    check(&x, Aggregate::Avg(of("age")), &["sex = Male"], (26.5, true, 26.5, 26.5));
    // Figure 2: a single-dimensional one cannot decide.
    let x = release(&[("age", LabelKnowledge::Nothing, &["[25-28]"; 6])]);
    check(&x, Aggregate::Count, &["age <= 26"], (3.0, false, 0.0, 6.0));
}

#[test]
fn groups_are_spread_over_their_values() {
    let x = release(&[
        ("age", LabelKnowledge::Nothing, &["[1-2]", "[1-2]", "3", "", "*"]),
        ("sex", LabelKnowledge::Nothing, &["f", "f", "m", "m", "f"]),
    ]);
    let groups = |aggregates: Vec<Aggregate>, condition: Condition, by: &[&str]| {
        let group_by = by.iter().map(|&name| name.to_owned()).collect();
        answer(&x, &Query { aggregates, condition, group_by }).unwrap()
    };
    let found = groups(vec![Aggregate::Count], Condition::All(Vec::new()), &["age"]);
    let keys: Vec<Option<f64>> = found.iter().map(|group| group.group[0]).collect();
    assert_eq!(keys, [Some(1.0), Some(2.0), Some(3.0), None]);
    let rows: Vec<f64> = found.iter().map(|group| group.answers[0].estimate.unwrap()).collect();
    assert_eq!(rows, [1.25, 1.25, 1.25, 1.25]);
    assert!(found.iter().all(|group| !group.answers[0].exact));
    let sum = Aggregate::Sum(of("age"));
    let found = groups(vec![Aggregate::Count, sum.clone()], test("age <= 2"), &["sex"]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].answers[0].estimate, Some(2.5));
    assert_eq!(found[0].answers[1].estimate, Some(3.75));
    let found = groups(vec![sum], test("sex = f"), &["age", "sex"]);
    assert_eq!(found[0].group, [Some(1.0), Some(0.0)]);
    assert_eq!(found[0].answers[0].estimate, Some(1.25));
    let x = release(&[("x", LabelKnowledge::Nothing, &["[1.5-2.5]"])]);
    let by = Query {
        aggregates: vec![Aggregate::Count],
        condition: Condition::All(Vec::new()),
        group_by: vec![of("x")],
    };
    assert!(matches!(answer(&x, &by), Err(QueryError::GroupOfRanges { .. })));
}

#[test]
fn what_cannot_be_answered() {
    let x = release(&[
        ("c", LabelKnowledge::Nothing, &["Europe", "Asia"]),
        ("n", LabelKnowledge::Nothing, &["1", "2"]),
    ]);
    let fails = |aggregate: Aggregate, condition: Condition| {
        let query = Query { aggregates: vec![aggregate], condition, group_by: Vec::new() };
        answer(&x, &query).unwrap_err()
    };
    assert_eq!(
        fails(Aggregate::Count, test("c = fr")),
        QueryError::UnknownConstant { column: of("c") }
    );
    assert_eq!(
        fails(Aggregate::Count, test("n = fr")),
        QueryError::ConstantKind { column: of("n"), kind: Kind::Integer }
    );
    assert_eq!(
        fails(Aggregate::Avg(of("c")), all(&[])),
        QueryError::NoNumbers { column: of("c"), aggregate: "AVG" }
    );
    assert_eq!(
        fails(Aggregate::Count, test("d = 1")),
        QueryError::UnknownColumn { column: of("d") }
    );
}

/// Without a recoding a star may be any value: possible everywhere, certain nowhere.
#[test]
fn stars_of_an_unknown_domain_may_be_anything() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["*", "[1-2]", "4"])]);
    check(&x, Aggregate::Count, &["x > 99"], (0.0, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x <= 99"], (3.0, false, 2.0, 3.0));
    check(&x, Aggregate::Max(of("x")), &[], (4.0, false, 4.0, NONE));
    check(&x, Aggregate::Max(of("x")), &["x < 9"], (4.0, false, 4.0, 8.0));
    check(&x, Aggregate::Sum(of("x")), &["x > 3"], (4.25 + 0.75, false, 4.0, NONE));
    check(&x, Aggregate::Count, &["x = 2.5"], (0.0, true, 0.0, 0.0));
    // A column of a known type that is all stars: nothing is likely, anything is possible.
    let x = release(&[("x", LabelKnowledge::Kind(Kind::Decimal), &["*", "*"])]);
    check(&x, Aggregate::Count, &["x > 3"], (1.0, false, 0.0, 2.0));
    check(&x, Aggregate::Count, &["x >= 3", "x <= 4"], (2.0 / 3.0, false, 0.0, 2.0));
    check(&x, Aggregate::Count, &[], (2.0, true, 2.0, 2.0));
    check(&x, Aggregate::Sum(of("x")), &[], (NONE, false, NONE, NONE));
    check(&x, Aggregate::Min(of("x")), &["x > 3"], (NONE, false, 3.0, NONE));
    let x = release(&[("x", LabelKnowledge::Kind(Kind::Text), &["*", "b"])]);
    check(&x, Aggregate::Count, &["x = z"], (0.0, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x < a"], (0.0, false, 0.0, 1.0));
}

#[test]
fn a_boolean_star_is_true_or_false() {
    for known in [LabelKnowledge::Kind(Kind::Boolean), LabelKnowledge::Nothing] {
        let x = release(&[("x", known, &["*", "TRUE"])]);
        check(&x, Aggregate::Count, &["x = false"], (0.5, false, 0.0, 1.0));
        check(&x, Aggregate::Count, &["x = true"], (1.5, false, 1.0, 2.0));
    }
    let x = release(&[("x", LabelKnowledge::Kind(Kind::Boolean), &["*", "*"])]);
    check(&x, Aggregate::Count, &["x = false"], (1.0, false, 0.0, 2.0));
}

#[test]
fn empty_bounds_are_missing_or_anything() {
    let pairs = [(Some("25"), Some("28")), (None, None)];
    let (domain, spreads) = read_bounds(&pairs, &LabelKnowledge::Nothing, None, parse).unwrap();
    let column = Column { name: of("age"), domain, spreads, is_of_class: true, has_ends: true };
    let vectors = vec![Codes::pack(2, [0, 1].into_iter())];
    let ages = Release { columns: vec![column], vectors, counts: vec![4, 2], parse };
    check(&ages, Aggregate::Count, &["age > 30"], (0.0, false, 0.0, 2.0));
    check(&ages, Aggregate::CountOf(of("age")), &[], (4.0, false, 4.0, 6.0));
    check(&ages, Aggregate::Count, &["age is missing"], (2.0, false, 0.0, 2.0));
    check(&ages, Aggregate::Max(of("age")), &[], (28.0, false, 28.0, NONE));
}

#[test]
fn means_may_hide_missing_cells() {
    let known = LabelKnowledge::Means { is_number: true, may_miss: true };
    let x = release(&[("age", known, &["25.5", "25.5", "*"])]);
    check(&x, Aggregate::CountOf(of("age")), &[], (3.0, false, 0.0, 3.0));
    check(&x, Aggregate::Avg(of("age")), &[], (25.5, false, NONE, NONE));
    check(&x, Aggregate::Sum(of("age")), &[], (76.5, false, NONE, NONE));
    // In a column of unknown type, labels that are not numbers are not means.
    let known = LabelKnowledge::Means { is_number: false, may_miss: true };
    let x = release(&[("day", known.clone(), &["[2024-01-03..2024-01-06]", "2024-01-09"])]);
    check(&x, Aggregate::Count, &["day < 2024-01-05"], (0.5, false, 0.0, 1.0));
    let x = release(&[("b", known, &["{false|true}", "true"])]);
    check(&x, Aggregate::Count, &["b = true"], (1.5, false, 1.0, 2.0));
}

#[test]
fn whole_numbers_beyond_the_range() {
    let x = release(&[("x", LabelKnowledge::Nothing, &["1", "2"])]);
    check(&x, Aggregate::Count, &["x > 99999999999999999999999"], (0.0, true, 0.0, 0.0));
    check(&x, Aggregate::Count, &["x > -99999999999999999999999"], (2.0, true, 2.0, 2.0));
    let huge = format!("x < {}", "9".repeat(400));
    check(&x, Aggregate::Count, &[&huge], (2.0, true, 2.0, 2.0));
}

/// Epoch nanoseconds: a float tells them apart from 256 on. What falls together is possible, not
/// certain.
#[test]
fn ranges_of_whole_numbers_that_floats_cannot_tell_apart() {
    let labels = &["[1700000000000000001-1700000000000000005]", "1700000000000001000"];
    let t = release(&[("t", LabelKnowledge::Nothing, labels)]);
    check(&t, Aggregate::Count, &["t < 1700000500000000000"], (2.0, true, 2.0, 2.0));
    check(&t, Aggregate::Count, &["t > 1700000500000000000"], (0.0, true, 0.0, 0.0));
    check(&t, Aggregate::Count, &["t <= 1700000000000000003"], (1.0, false, 0.0, 1.0));
    check(&t, Aggregate::Count, &["t = 1700000000000001000"], (1.0, false, 0.0, 1.0));
    let condition = all(&["t >= 1700000000000000003", "t < 1700000000000000004"]);
    let query = Query { aggregates: vec![Aggregate::Count], condition, group_by: Vec::new() };
    assert_eq!(answer(&t, &query), Err(QueryError::TooClose { column: of("t") }));
}

#[test]
fn unlisted_texts_have_places_of_their_own() {
    let x = release(&[("x", LabelKnowledge::Kind(Kind::Text), &["*", "b"])]);
    check(&x, Aggregate::Count, &["x > c", "x < e"], (0.0, false, 0.0, 1.0));
    check(&x, Aggregate::Count, &["x > e", "x < c"], (0.0, true, 0.0, 0.0));
    check(&x, Aggregate::Count, &["x > a", "x < c"], (2.0, false, 1.0, 2.0));
    let by = |known: LabelKnowledge, cells: &[&str]| {
        let group_by = vec![of("x")];
        let x = release(&[("x", known, cells)]);
        answer(&x, &Query { aggregates: vec![Aggregate::Count], condition: all(&[]), group_by })
    };
    for kind in [Kind::Integer, Kind::Text, Kind::Date] {
        let found = by(LabelKnowledge::Kind(kind), &["*", "*"]);
        assert_eq!(found.is_err(), kind != Kind::Integer, "{found:?}");
    }
}

/// Of rows that may or may not be in a group, those with negative values may be the only ones.
#[test]
fn sums_of_groups_that_rows_may_be_in() {
    let x = release(&[
        ("s", LabelKnowledge::Nothing, &["{a|b}", "{a|b}", "{a|b}"]),
        ("n", LabelKnowledge::Plain(None), &["-5", "7", "1"]),
    ]);
    let aggregates = vec![Aggregate::Sum(of("n"))];
    let query = Query { aggregates, condition: all(&[]), group_by: vec![of("s")] };
    for group in answer(&x, &query).unwrap() {
        let answer = group.answers[0];
        assert_eq!((answer.least, answer.greatest), (Some(-5.0), Some(8.0)));
    }
}

#[test]
fn regions_end_before_their_second_end() {
    let labels = &["<10", "[10-20)", ">=20"];
    let x = release(&[("x", LabelKnowledge::Kind(Kind::Decimal), labels)]);
    check(&x, Aggregate::Count, &["x < 10"], (1.0, true, 1.0, 1.0));
    check(&x, Aggregate::Count, &["x < 20"], (2.0, true, 2.0, 2.0));
    check(&x, Aggregate::Count, &["x >= 20"], (1.0, true, 1.0, 1.0));
    check(&x, Aggregate::Count, &["x < 15"], (1.5, false, 1.0, 2.0));
    // Nothing says how far the first region extends.
    check(&x, Aggregate::Count, &["x < -1000"], (0.0, false, 0.0, 1.0));
    let whole = release(&[("x", LabelKnowledge::Kind(Kind::Decimal), &["<10", ">=10"])]);
    check(&whole, Aggregate::Count, &["x < 10"], (1.0, true, 1.0, 1.0));
    check(&whole, Aggregate::Count, &["x > 50"], (0.0, false, 0.0, 1.0));
}

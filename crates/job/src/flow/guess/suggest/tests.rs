//! A line for every kind of column.

mod names;

use super::*;

/// The suggestion for a column of texts, a row each.
fn suggested(name: &str, kind: Kind, texts: &[String]) -> Suggested {
    let mut counts = std::collections::BTreeMap::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        *counts.entry(text.as_str()).or_insert(0u64) += 1;
    }
    let sample = Sample::of(counts.keys().copied());
    let present = counts.values().sum();
    let facts = Facts {
        kind,
        distinct: counts.len() as u64,
        unique: counts.values().filter(|rows| **rows == 1).count() as u64,
        present,
        missing: texts.len() as u64 - present,
        bytes: counts.keys().map(|text| text.len() as u64).sum(),
        sample: &sample,
    };
    suggest(name, &facts)
}

/// A column of 200 rows made from their numbers.
#[track_caller]
fn check(name: &str, kind: Kind, of: impl Fn(u64) -> String, role: &str, because: &str) {
    let texts: Vec<String> = (0..200).map(of).collect();
    let Suggested { role: found, reason, .. } = suggested(name, kind, &texts);
    assert_eq!(found, role, "{name}: {reason}");
    assert!(reason.contains(because), "{name}: {reason}");
}

/// Numbers that do not repeat soon and look random.
fn mixed(row: u64) -> u64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn letters(n: u64) -> String {
    let letter = |at: u32| char::from(b'a' + u8::try_from(n / 26u64.pow(at) % 26).unwrap());
    (0..6).map(letter).collect()
}

#[test]
fn values_that_name_someone_are_identifiers() {
    let (text, few) = (Kind::Text, |row: u64| row % 9);
    let id = "identifier";
    check("a", text, |row| format!("p{}@example.org", few(row)), id, "e-mail");
    check("a", text, |row| format!("+44 20 7946 000{}", few(row)), id, "telephone");
    check("a", text, |row| format!("https://example.org/{}", few(row)), id, "web addresses");
    check("a", text, |row| format!("10.0.0.{}", few(row)), id, "IP addresses");
    check("a", text, |row| format!("123e4567-e89b-12d3-a456-42661417400{}", few(row)), id, "UUID");
    check("a", text, |row| format!("DE8937040044053201300{}", few(row)), id, "bank account");
    check("a", text, |row| format!("123-45-678{}", few(row)), id, "social security");
    check("a", text, |row| format!("k{row}"), id, "a value of its own");
    check("a", Kind::Integer, |row| (7 * row).to_string(), id, "a value of its own");
    // A number that repeats is a number still.
    check("case_id", Kind::Integer, |row| (row / 3 * 2).to_string(), id, "its name says");
    check("caseNo", Kind::Integer, |row| (row * 2 / 3).to_string(), id, "its name says");
    let name = |row: u64| format!("A{} B{}", letters(mixed(row / 2)), letters(mixed(row / 4)));
    check("who", text, name, id, "names of people");
}

#[test]
fn free_text_is_dropped() {
    let remark = |row: u64| format!("seen on day {} and sent home again", row / 2);
    check("seen", Kind::Text, remark, "identifier", "may hold anything");
    let label = |row: u64| format!("one of the {} departments of this hospital", row % 8);
    check("department", Kind::Text, label, "quasi", "few values");
}

#[test]
fn what_others_may_know_is_quasi() {
    let (text, whole) = (Kind::Text, Kind::Integer);
    check("a", Kind::Date, |row| format!("19{:02}-01-02", row % 90), "quasi", "dates");
    check("a", Kind::Date, |row| format!("{}-01-02", 1000 + row), "quasi", "dates");
    check("a", text, |row| format!("{}.12.1999", 1 + row % 28), "quasi", "look like dates");
    check("a", text, |row| format!("SW{} 1AA", row % 90), "quasi", "look like postcodes");
    check("a", text, |row| format!("0{}", 1000 + row / 2), "quasi", "look like postcodes");
    check("a", whole, |row| (10_001 + mixed(row % 60) % 80_000).to_string(), "quasi", "postcodes");
    check("a", whole, |row| (1930 + row % 70).to_string(), "quasi", "years");
    check("lat", Kind::Decimal, |row| format!("52.{}", mixed(row)), "quasi", "coordinates");
    check("a", text, |row| format!("52.{}, 13.4", 100 + row), "quasi", "coordinates");
    check(
        "a",
        text,
        |row| ["x", "y", "z"][usize::try_from(row % 3).unwrap()].into(),
        "quasi",
        "few",
    );
    check("ZipCode", whole, |row| (row % 50).to_string(), "quasi", "`zip` in its name");
    check("birthYear", whole, |row| (row % 50).to_string(), "quasi", "`birth` in its name");
}

#[test]
fn measures_are_no_postcodes() {
    let salary = |row: u64| (10_000 + 100 * (mixed(row % 60) % 800)).to_string();
    check("a", Kind::Integer, salary, "quasi", "few values");
    let measure = |row: u64| (10_000 + mixed(row * 2 / 3) % 90_000).to_string();
    check("a", Kind::Integer, measure, "quasi", "a number that others may know");
    let own = |row: u64| (mixed(row * 4 / 5) % 900_000).to_string();
    check("a", Kind::Integer, own, "quasi", "a number that others may know");
}

#[test]
fn names_warn_of_what_is_sensitive() {
    let few = |row: u64| format!("d{}", row % 9);
    check("Diagnosis", Kind::Text, few, "sensitive", "`diagnosis` in its name");
    check("HIV_status", Kind::Text, |_| "no".to_owned(), "sensitive", "`hiv` in its name");
    let income = |row: u64| (20_000 + mixed(row) % 60_000).to_string();
    check("yearlyIncome", Kind::Integer, income, "sensitive", "`income` in its name");
}

#[test]
fn one_value_says_nothing() {
    check("country", Kind::Text, |_| "here".to_owned(), "insensitive", "the same value");
    check("a", Kind::Text, |_| String::new(), "insensitive", "no values");
    // A value or none says something.
    let deceased = |row: u64| if row.is_multiple_of(9) { "yes".to_owned() } else { String::new() };
    check("deceased", Kind::Text, deceased, "quasi", "few values");
    check("name", Kind::Text, |_| "Ada".to_owned(), "identifier", "`name` in its name");
}

//! What is left of a column's values, in the column's own units.

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Cell, End, Kind, Label, LabelsOf, Level, RecodedColumn, Shape};

use super::MISSING;
use super::line::NANOS_PER_DAY;
use super::names::{Covers, NodeNames};
use crate::report::page::{count, decimal, percent};

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Number,
    Days,
    /// Values, of so many; none where it is not told how many there are.
    Values(Option<u32>),
}

const DAYS_PER_YEAR: f64 = 365.2425;

/// Labels of so many different kinds are told of.
const MOST_KINDS: usize = 3;

/// What the cells of an attribute keep, in words. `names` are those of the nodes of its hierarchy.
pub(super) fn kept(
    attribute: &Attribute,
    column: &RecodedColumn,
    names: Option<NodeNames>,
    (texts, rows): (&[String], &[u64]),
) -> String {
    if let Some(said) = names.and_then(|names| named(texts, rows, names)) {
        return said;
    }
    let unit = match (&attribute.shape, attribute.dictionary.kind) {
        (Shape::Numeric, Kind::Date | Kind::Timestamp) => Unit::Days,
        (Shape::Numeric, _) => Unit::Number,
        _ => Unit::Values(Some(attribute.n_values())),
    };
    let cells = column.cells.iter().map(|cell| covers(attribute, cell));
    in_words(cells.zip(rows.iter().copied()), unit)
}

/// How much a cell of an attribute covers.
fn covers(attribute: &Attribute, cell: &Cell) -> Covers {
    let position = |code: u32| attribute.dictionary.positions.get(code as usize).copied();
    let in_days = match attribute.dictionary.kind {
        Kind::Timestamp => NANOS_PER_DAY,
        _ => 1.0,
    };
    match cell {
        Cell::All => Covers::All,
        Cell::Value(code) if attribute.dictionary.missing() == Some(*code) => Covers::Missing,
        Cell::Value(_) => Covers::Exact,
        Cell::Set(codes) => Covers::Values(u32::try_from(codes.len()).unwrap_or(u32::MAX)),
        Cell::Range(lo, hi) if matches!(attribute.shape, Shape::Numeric) => {
            let ends = position(*lo).zip(position(*hi));
            ends.map_or(Covers::All, |(lo, hi)| Covers::Width((hi - lo) / in_days))
        }
        Cell::Between(part) => {
            let width = |from: &End, to: &End| (to.position() - from.position()) / in_days;
            match (&part.from, part.last.as_ref().or(part.below.as_ref())) {
                (Some(from), Some(to)) => Covers::Width(width(from, to)),
                (None, None) => Covers::All,
                _ => Covers::Open,
            }
        }
        Cell::Nodes(_) => {
            let runs = attribute.runs(cell);
            Covers::Values(runs.iter().map(|(lo, hi)| hi - lo + 1).sum())
        }
        Cell::Node(level, group) if is_whole(attribute, *level, *group) => Covers::All,
        Cell::Node(..) | Cell::Range(..) => {
            let (lo, hi) = attribute.extent(cell);
            if lo == hi { Covers::Exact } else { Covers::Values(hi - lo + 1) }
        }
    }
}

/// Whether a node is all there is.
fn is_whole(attribute: &Attribute, level: u8, group: u32) -> bool {
    let Shape::Tree(hierarchy) = &attribute.shape else { return true };
    let node = &hierarchy.groups(Level(level))[group as usize];
    node.hi - node.lo + 1 >= hierarchy.n_leaves()
}

/// What some cells keep, each with its rows.
pub(super) fn in_words(cells: impl Iterator<Item = (Covers, u64)>, unit: Unit) -> String {
    let mut widths: Vec<(f64, u64)> = Vec::new();
    let (mut exact, mut all, mut open, mut missing) = (0, 0, 0, 0);
    for (covers, rows) in cells {
        match covers {
            Covers::Exact => exact += rows,
            Covers::All => all += rows,
            Covers::Open => open += rows,
            Covers::Missing => missing += rows,
            Covers::Width(width) => widths.push((width, rows)),
            Covers::Values(n) => widths.push((f64::from(n), rows)),
        }
    }
    let ranged: u64 = widths.iter().map(|(_, rows)| rows).sum();
    let whole = exact + all + open + missing + ranged;
    if whole == 0 {
        return String::new();
    }
    let share = |rows: u64| percent(rows as f64 / whole as f64);
    widths.sort_by(|a, b| a.0.total_cmp(&b.0));
    if exact == whole {
        return "the exact value".to_owned();
    }
    let mut says = Vec::new();
    if ranged > 0 {
        let (half, most) = (at(&widths, ranged, 1, 2), at(&widths, ranged, 9, 10));
        // Decades differ by a day.
        let most = length(most, unit, false);
        let is_more = most != length(half, unit, false);
        let tail = if is_more { format!(" (9 in 10: at most {most})") } else { String::new() };
        let what = format!("typically {}{tail}", length(half, unit, true));
        says.push(if ranged == whole { what } else { format!("{}: {what}", share(ranged)) });
    }
    let shares = [
        (open, "a range without an end"),
        (exact, "the exact value"),
        (all, "nothing"),
        (missing, "no value in the table either"),
    ];
    for (rows, what) in shares.into_iter().filter(|(rows, _)| *rows > 0) {
        says.push(format!("{}: {what}", share(rows)));
    }
    says.join("; ")
}

/// The width that so large a part of the rows has at most.
fn at(widths: &[(f64, u64)], whole: u64, part: u64, of: u64) -> f64 {
    let wanted = (whole * part).div_ceil(of).max(1);
    let mut seen = 0;
    for (width, rows) in widths {
        seen += rows;
        if seen >= wanted {
            return *width;
        }
    }
    widths.last().map_or(0.0, |(width, _)| *width)
}

/// A width with its unit.
fn length(width: f64, unit: Unit, is_first: bool) -> String {
    let plural = |n: f64, one: &str| {
        let text = round(n);
        if text == "1" { format!("1 {one}") } else { format!("{text} {one}s") }
    };
    let wide = if is_first { " wide" } else { "" };
    match unit {
        Unit::Number => format!("{}{wide}", round(width)),
        Unit::Days if width < 1.0 => format!("{}{wide}", plural(width * 24.0, "hour")),
        Unit::Days if width < 60.0 => format!("{}{wide}", plural(width, "day")),
        Unit::Days if width < 730.0 => {
            format!("{}{wide}", plural((width / (DAYS_PER_YEAR / 12.0)).round(), "month"))
        }
        Unit::Days => format!("{}{wide}", plural(width / DAYS_PER_YEAR, "year")),
        Unit::Values(Some(n)) if is_first => {
            format!("{} of {} values", round(width), count(n.into()))
        }
        Unit::Values(_) => format!("{} values", round(width)),
    }
}

/// A number with few digits.
fn round(value: f64) -> String {
    match value {
        _ if value.fract() == 0.0 => decimal(value),
        value if value >= 100.0 => decimal(value.round()),
        value => {
            let text = if value >= 1.0 { format!("{value:.1}") } else { format!("{value:.3}") };
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// What labels of a hierarchy keep, in the unit of its values, if the names of its nodes tell.
pub(super) fn named(texts: &[String], rows: &[u64], names: NodeNames) -> Option<String> {
    let in_unit = |names: NodeNames, unit: Unit| {
        let covers = |text: &String| match text.as_str() {
            MISSING => Some(Covers::Missing),
            text => names.covers(text),
        };
        let all = texts.iter().map(covers).collect::<Option<Vec<Covers>>>()?;
        Some(in_words(all.into_iter().zip(rows.iter().copied()), unit))
    };
    let said = match names {
        NodeNames::Numbers => in_unit(names, Unit::Number),
        NodeNames::Dates { .. } => in_unit(names, Unit::Days),
        NodeNames::Ranges => in_unit(NodeNames::Numbers, Unit::Number)
            .or_else(|| in_unit(NodeNames::Dates { are_days_values: true }, Unit::Days)),
        NodeNames::Masked(character) => return masked(texts, rows, character),
    };
    // Numbers of equal length may have been masked by hand.
    said.or_else(|| masked(texts, rows, '*'))
}

/// How many characters a label shows of how many. Of a set it is the member that shows least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    kept: usize,
    of: usize,
    is_set: bool,
}

impl Shown {
    /// What a label shows that has `character` at one end in place of those that it hides; none of
    /// another label.
    fn of(label: &str, character: char) -> Option<Shown> {
        let shown = |name: &str| {
            let of = name.chars().count();
            let hidden = name.chars().filter(|char| *char == character).count();
            let stars = character.to_string().repeat(hidden);
            let is_masked = name.ends_with(&stars) || name.starts_with(&stars);
            is_masked.then_some(Shown { kept: of - hidden, of, is_set: false })
        };
        match Label::parse(label, LabelsOf::Texts) {
            Label::Set(members) => {
                let all = members.iter().flatten().map(|name| shown(name));
                let least = all.collect::<Option<Vec<Shown>>>()?.into_iter().min()?;
                Some(Shown { is_set: true, ..least })
            }
            Label::Value(name) => shown(&name),
            _ => None,
        }
    }

    fn in_words(self, what: &str) -> String {
        let Shown { kept, of, is_set } = self;
        let shown =
            if kept == of { format!("all {of} {what}") } else { format!("{kept} of {of} {what}") };
        if is_set { format!("one of several with {shown}") } else { shown }
    }
}

/// What labels keep that hide characters of a value: "73.0% keep 2 of 5 digits". None where labels
/// are something else.
pub(super) fn masked(texts: &[String], rows: &[u64], character: char) -> Option<String> {
    let mut rows_of: BTreeMap<Shown, u64> = BTreeMap::new();
    let (mut nothing, mut missing, mut whole) = (0, 0, 0);
    let (mut is_any_hidden, mut is_digits) = (false, true);
    for (text, &rows) in texts.iter().zip(rows) {
        whole += rows;
        if text == MISSING {
            missing += rows;
            continue;
        }
        // The root is `*`, whatever hides characters.
        let shown = if text == "*" { None } else { Some(Shown::of(text, character)?) };
        let Some(shown) = shown.filter(|shown| shown.kept > 0) else {
            nothing += rows;
            continue;
        };
        is_any_hidden |= shown.kept < shown.of;
        let is_known = |c: char| c.is_ascii_digit() || c == character;
        is_digits &= text.chars().all(|c| is_known(c) || shown.is_set && "{|}".contains(c));
        *rows_of.entry(shown).or_default() += rows;
    }
    if !is_any_hidden || whole == 0 {
        return None;
    }
    let share = |rows: u64| percent(rows as f64 / whole as f64);
    let what = if is_digits { "digits" } else { "characters" };
    let mut kinds: Vec<(Shown, u64)> = rows_of.into_iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
    let others: u64 = kinds.iter().skip(MOST_KINDS).map(|kind| kind.1).sum();
    kinds.truncate(MOST_KINDS);
    let mut says: Vec<String> = (kinds.into_iter())
        .map(|(shown, rows)| format!("{}: {}", share(rows), shown.in_words(what)))
        .collect();
    if others > 0 {
        says.push(format!("{}: another number of them", share(others)));
    }
    let shares = [(nothing, "nothing"), (missing, "no value in the table either")];
    for (rows, what) in shares.into_iter().filter(|(rows, _)| *rows > 0) {
        says.push(format!("{}: {what}", share(rows)));
    }
    Some(says.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::Dictionary;

    #[test]
    fn widths_are_in_the_columns_own_units() {
        let cells = |widths: &[(f64, u64)]| {
            widths.iter().map(|&(width, rows)| (Covers::Width(width), rows)).collect::<Vec<_>>()
        };
        let said = |widths: &[(f64, u64)], unit: Unit| in_words(cells(widths).into_iter(), unit);
        assert_eq!(said(&[(10.0, 50)], Unit::Number), "typically 10 wide");
        assert_eq!(
            said(&[(4.0, 40), (10.0, 40), (24.0, 20)], Unit::Number),
            "typically 10 wide (9 in 10: at most 24)"
        );
        assert_eq!(said(&[(20.0, 5)], Unit::Days), "typically 20 days wide");
        assert_eq!(said(&[(92.0, 5)], Unit::Days), "typically 3 months wide");
        assert_eq!(said(&[(3652.425, 5)], Unit::Days), "typically 10 years wide");
        let open = [(Covers::Open, 3), (Covers::Exact, 1)];
        assert_eq!(
            in_words(open.into_iter(), Unit::Number),
            "75.0%: a range without an end; 25.0%: the exact value"
        );
        let mixed = [(Covers::Exact, 25), (Covers::Values(3), 50), (Covers::All, 25)];
        assert_eq!(
            in_words(mixed.into_iter(), Unit::Values(Some(16))),
            "50.0%: typically 3 of 16 values; 25.0%: the exact value; 25.0%: nothing"
        );
        assert_eq!(in_words([(Covers::Exact, 1)].into_iter(), Unit::Number), "the exact value");
    }

    /// Labels with their rows.
    fn split(labels: &[(&str, u64)]) -> (Vec<String>, Vec<u64>) {
        labels.iter().map(|&(text, rows)| (text.to_owned(), rows)).unzip()
    }

    #[test]
    fn masks_are_told_by_what_they_keep() {
        let said = |labels: &[(&str, u64)], character: char| {
            let (texts, rows) = split(labels);
            masked(&texts, &rows, character)
        };
        assert_eq!(
            said(&[("53***", 73), ("537**", 20), ("*", 5), ("53711", 2)], '*').as_deref(),
            Some("73.0%: 2 of 5 digits; 20.0%: 3 of 5 digits; 2.0%: all 5 digits; 5.0%: nothing")
        );
        assert_eq!(
            said(&[("*1A", 1), ("**B", 1)], '*').as_deref(),
            Some("50.0%: 2 of 3 characters; 50.0%: 1 of 3 characters")
        );
        // A set shows what its least specific member shows.
        assert_eq!(
            said(&[("531**", 90), ("{530**|5321*}", 8), ("{53711|53712}", 2)], '*').as_deref(),
            Some(
                "90.0%: 3 of 5 digits; 8.0%: one of several with 3 of 5 digits; \
                 2.0%: one of several with all 5 digits"
            )
        );
        assert_eq!(
            said(&[("53###", 1), ("*", 1)], '#').as_deref(),
            Some("50.0%: 2 of 5 digits; 50.0%: nothing")
        );
        assert_eq!(said(&[("Europe", 1), ("*", 1)], '*'), None);
        assert_eq!(said(&[("5*3", 1)], '*'), None);
        assert_eq!(said(&[("{53***|x*y}", 1), ("53***", 1)], '*'), None);
    }

    #[test]
    fn names_of_nodes_are_told_in_the_unit_of_the_values() {
        let said = |labels: &[(&str, u64)], names: NodeNames| {
            let (texts, rows) = split(labels);
            named(&texts, &rows, names)
        };
        let dates = NodeNames::Dates { are_days_values: true };
        let born = [("[1990-1999]", 9), ("(missing)", 1)];
        assert_eq!(
            said(&born, dates).as_deref(),
            Some("90.0%: typically 10 years wide; 10.0%: no value in the table either")
        );
        // What looks like a number is a year.
        assert_eq!(said(&[("1987", 1)], dates).as_deref(), Some("typically 12 months wide"));
        let income = [("[8000-8999]", 8), ("{[1000-1999]|[3000-3999]}", 1), ("*", 1)];
        for names in [NodeNames::Numbers, NodeNames::Ranges] {
            assert_eq!(
                said(&income, names).as_deref(),
                Some("90.0%: typically 1,000 wide (9 in 10: at most 2,000); 10.0%: nothing")
            );
        }
        let days = [("[2024-01-03..2024-01-05]", 1)];
        assert_eq!(said(&days, NodeNames::Ranges).as_deref(), Some("typically 3 days wide"));
        let zips = [("537**", 1), ("53711", 1)];
        assert_eq!(
            said(&zips, NodeNames::Numbers).as_deref(),
            Some("50.0%: all 5 digits; 50.0%: 3 of 5 digits")
        );
        assert_eq!(said(&[("Europe", 1), ("17", 1)], NodeNames::Numbers), None);
    }

    #[test]
    fn times_are_told_in_days() {
        let texts = ["2024-01-03T10:00", "2024-01-13T10:00"].map(str::to_owned).to_vec();
        let at = |text: &String| incrowd_engine::position(Kind::Timestamp, text).unwrap();
        let positions = texts.iter().map(at).collect();
        let dictionary = Dictionary { kind: Kind::Timestamp, texts, positions, has_missing: false };
        let attribute = Attribute { name: "at".to_owned(), dictionary, shape: Shape::Numeric };
        assert_eq!(covers(&attribute, &Cell::Range(0, 1)), Covers::Width(10.0));
    }
}

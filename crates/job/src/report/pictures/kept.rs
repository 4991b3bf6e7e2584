//! What is left of a column's values, in the column's own units.

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Cell, End, Kind, Level, RecodedColumn, Shape};

use crate::report::page::{count, decimal, percent};

/// How much a cell covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Covers {
    /// Nothing but its value.
    Exact,
    /// So far from its least to its greatest value, in the unit of the column.
    Width(f64),
    /// So many values.
    Values(u32),
    /// Anything.
    All,
    /// No value was there.
    Missing,
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Number,
    Days,
    /// Values, of so many; none where it is not told how many there are.
    Values(Option<u32>),
}

const DAYS_PER_YEAR: f64 = 365.2425;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Labels of so many different kinds are told of.
const MOST_KINDS: usize = 3;

/// What the cells of an attribute keep, in words.
pub(super) fn kept(
    attribute: &Attribute,
    column: &RecodedColumn,
    (texts, rows): (&[String], &[u64]),
) -> String {
    if let (Shape::Tree(_), Some(masked)) = (&attribute.shape, masked(texts, rows)) {
        return masked;
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
        Kind::Timestamp => SECONDS_PER_DAY,
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
            let ends = part.from.as_ref().zip(part.last.as_ref().or(part.below.as_ref()));
            let width = |(from, to): (&End, &End)| (to.position() - from.position()) / in_days;
            ends.map_or(Covers::All, |ends| Covers::Width(width(ends)))
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
    let (mut exact, mut all, mut missing) = (0, 0, 0);
    for (covers, rows) in cells {
        match covers {
            Covers::Exact => exact += rows,
            Covers::All => all += rows,
            Covers::Missing => missing += rows,
            Covers::Width(width) => widths.push((width, rows)),
            Covers::Values(n) => widths.push((f64::from(n), rows)),
        }
    }
    let ranged: u64 = widths.iter().map(|(_, rows)| rows).sum();
    let whole = exact + all + missing + ranged;
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
        let tail = if most > half {
            format!(" (9 in 10: at most {})", length(most, unit, false))
        } else {
            String::new()
        };
        let what = format!("typically {}{tail}", length(half, unit, true));
        says.push(if ranged == whole { what } else { format!("{}: {what}", share(ranged)) });
    }
    let shares =
        [(exact, "the exact value"), (all, "nothing"), (missing, "no value in the table either")];
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

/// What labels keep that hide characters of a value: "73.0% keep 2 of 5 digits". None where labels are something else.
pub(super) fn masked(texts: &[String], rows: &[u64]) -> Option<String> {
    let mut rows_of: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let (mut nothing, mut missing, mut whole) = (0, 0, 0);
    let (mut is_any_hidden, mut is_digits) = (false, true);
    for (text, &rows) in texts.iter().zip(rows) {
        whole += rows;
        if text == "(missing)" {
            missing += rows;
            continue;
        }
        let of = text.chars().count();
        let hidden = text.chars().filter(|c| *c == '*').count();
        let kept = of - hidden;
        // Hidden characters are all at one end.
        let stars = "*".repeat(hidden);
        if !(text.ends_with(&stars) || text.starts_with(&stars)) {
            return None;
        }
        if kept == 0 {
            nothing += rows;
            continue;
        }
        is_any_hidden |= hidden > 0;
        is_digits &= text.chars().all(|c| c.is_ascii_digit() || c == '*');
        *rows_of.entry((kept, of)).or_default() += rows;
    }
    if !is_any_hidden || whole == 0 {
        return None;
    }
    let share = |rows: u64| percent(rows as f64 / whole as f64);
    let what = if is_digits { "digits" } else { "characters" };
    let mut kinds: Vec<((usize, usize), u64)> = rows_of.into_iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
    let others: u64 = kinds.iter().skip(MOST_KINDS).map(|kind| kind.1).sum();
    kinds.truncate(MOST_KINDS);
    let mut says: Vec<String> = (kinds.into_iter())
        .map(|((kept, of), rows)| {
            if kept == of {
                format!("{}: all {of} {what}", share(rows))
            } else {
                format!("{}: {kept} of {of} {what}", share(rows))
            }
        })
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
        let mixed = [(Covers::Exact, 25), (Covers::Values(3), 50), (Covers::All, 25)];
        assert_eq!(
            in_words(mixed.into_iter(), Unit::Values(Some(16))),
            "50.0%: typically 3 of 16 values; 25.0%: the exact value; 25.0%: nothing"
        );
        assert_eq!(in_words([(Covers::Exact, 1)].into_iter(), Unit::Number), "the exact value");
    }

    #[test]
    fn masks_are_told_by_what_they_keep() {
        let said = |labels: &[(&str, u64)]| {
            let texts: Vec<String> = labels.iter().map(|(text, _)| (*text).to_owned()).collect();
            masked(&texts, &labels.iter().map(|(_, rows)| *rows).collect::<Vec<u64>>())
        };
        assert_eq!(
            said(&[("53***", 73), ("537**", 20), ("*", 5), ("53711", 2)]).as_deref(),
            Some("73.0%: 2 of 5 digits; 20.0%: 3 of 5 digits; 2.0%: all 5 digits; 5.0%: nothing")
        );
        assert_eq!(
            said(&[("*1A", 1), ("**B", 1)]).as_deref(),
            Some("50.0%: 2 of 3 characters; 50.0%: 1 of 3 characters")
        );
        assert_eq!(said(&[("Europe", 1), ("*", 1)]), None);
        assert_eq!(said(&[("5*3", 1)]), None);
    }
}

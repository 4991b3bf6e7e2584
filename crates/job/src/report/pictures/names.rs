//! How much cells cover, and what the names of hierarchy nodes tell of that.

use incrowd_data::{Hierarchy, Kind, Label, LabelsOf, Level};
use incrowd_engine::position;

/// How much a cell covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Covers {
    /// Nothing but its value.
    Exact,
    /// So far from its least to its greatest value, in the unit of the column.
    Width(f64),
    /// So many values.
    Values(u32),
    /// All below or all above some value.
    Open,
    /// Anything.
    All,
    /// No value was there.
    Missing,
}

/// How the nodes of a hierarchy are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeNames {
    /// By numbers and intervals of numbers.
    Numbers,
    /// By dates, parts of dates and ranges of them. A day is a value or, where values are times, a
    /// node.
    Dates { are_days_values: bool },
    /// By ranges of values; what the values are is not known.
    Ranges,
    /// By values with this character in place of some of theirs.
    Masked(char),
}

/// What a name says.
enum Room {
    /// A single value, and the room that it takes among others: 1 for a whole number or a day.
    Value(f64),
    Wide(f64),
    /// A range without an end.
    Open,
}

impl NodeNames {
    /// How the nodes of a hierarchy are named, by its leaves.
    pub(crate) fn of(hierarchy: &Hierarchy) -> NodeNames {
        // Only the category of missing values has an empty label.
        let leaves = || hierarchy.leaves().filter(|leaf| !leaf.is_empty());
        let is_number = |name: &str| position(Kind::Decimal, name).is_some();
        let is_date = |name: &str| {
            position(Kind::Date, name).or_else(|| position(Kind::Timestamp, name)).is_some()
        };
        // A node that is called `20` is no value.
        let is_misleading = |level: u8| {
            let nodes = hierarchy.groups(Level(level));
            nodes.iter().any(|node| node.lo < node.hi && is_number(&node.label))
        };
        if leaves().next().is_none() {
            NodeNames::Masked('*')
        } else if leaves().all(is_date) {
            NodeNames::Dates { are_days_values: leaves().all(|leaf| leaf.len() == DAY.len()) }
        } else if leaves().all(is_number) && !(1..=hierarchy.height().0).any(is_misleading) {
            NodeNames::Numbers
        } else {
            NodeNames::Masked('*')
        }
    }

    /// How much a label covers; none if it is not of these names.
    pub(super) fn covers(self, label: &str) -> Option<Covers> {
        let room = match Label::parse(label, LabelsOf::Texts) {
            Label::Any => return Some(Covers::All),
            Label::Set(members) => {
                let mut width = 0.0;
                for name in members.iter().flatten() {
                    width += match self.room(name)? {
                        Room::Value(width) | Room::Wide(width) => width,
                        Room::Open => return Some(Covers::Open),
                    };
                }
                Room::Wide(width)
            }
            Label::Value(name) => self.room(&name)?,
            _ => self.room(label)?,
        };
        Some(match room {
            Room::Value(_) => Covers::Exact,
            Room::Wide(width) => Covers::Width(width),
            Room::Open => Covers::Open,
        })
    }

    fn room(self, name: &str) -> Option<Room> {
        match self {
            NodeNames::Numbers => of_number(name),
            NodeNames::Dates { are_days_values } => of_date(name, are_days_values),
            NodeNames::Ranges | NodeNames::Masked(_) => None,
        }
    }
}

/// The last whole number of an interval belongs to it: `[8000-8999]` is 1,000 wide.
fn of_number(name: &str) -> Option<Room> {
    let at = |text: &str| position(Kind::Decimal, text);
    let last = |is_whole: bool| if is_whole { 1.0 } else { 0.0 };
    match Label::parse(name, LabelsOf::Line) {
        Label::Value(_) => at(name).map(|at| Room::Value(last(at.fract() == 0.0))),
        Label::Closed(lo, hi) => {
            let (lo, hi) = at(&lo).zip(at(&hi)).filter(|(lo, hi)| lo <= hi)?;
            Some(Room::Wide(hi - lo + last(lo.fract() == 0.0 && hi.fract() == 0.0)))
        }
        Label::HalfOpen(lo, below) => {
            let (lo, below) = at(&lo).zip(at(&below)).filter(|(lo, below)| lo <= below)?;
            Some(Room::Wide(below - lo))
        }
        Label::Below(end) | Label::From(end) => at(&end).map(|_| Room::Open),
        Label::Any | Label::Set(_) => None,
    }
}

/// A day: what is written longer is a time.
const DAY: &str = "2024-01-03";

fn of_date(name: &str, are_days_values: bool) -> Option<Room> {
    match Label::parse(name, LabelsOf::Line) {
        Label::Value(_) => {
            let (from, below) = days_of(name)?;
            Some(match name.len() {
                length if length > DAY.len() => Room::Value(0.0),
                length if length == DAY.len() && are_days_values => Room::Value(1.0),
                _ => Room::Wide(below - from),
            })
        }
        Label::Closed(lo, hi) => {
            let ((from, _), (_, below)) = days_of(&lo).zip(days_of(&hi))?;
            (from < below).then_some(Room::Wide(below - from))
        }
        Label::HalfOpen(lo, end) => {
            let ((from, _), (below, _)) = days_of(&lo).zip(days_of(&end))?;
            (from <= below).then_some(Room::Wide(below - from))
        }
        Label::Below(end) | Label::From(end) => days_of(&end).map(|_| Room::Open),
        Label::Any | Label::Set(_) => None,
    }
}

/// The first day of a date or of a part of dates and the first day after it, as numbers of days.
fn days_of(name: &str) -> Option<(f64, f64)> {
    let day = |text: &str| position(Kind::Date, text);
    let (year, part) = name.split_once('-').map_or((name, None), |(year, rest)| (year, Some(rest)));
    let is_number = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(year, 4) {
        return None;
    }
    let first = |month: u32| day(&format!("{year}-{month:02}-01"));
    let months = |from: u32, last: u32| {
        let below = match last {
            12 => day(&format!("{year}-12-31")).map(|last| last + 1.0),
            last => first(last + 1),
        };
        first(from).zip(below)
    };
    let number = |text: &str, most: u32| {
        text.parse::<u32>().ok().filter(|number| (1..=most).contains(number))
    };
    let Some(part) = part else { return months(1, 12) };
    if let Some(quarter) = part.strip_prefix('Q').filter(|quarter| is_number(quarter, 1)) {
        let quarter = number(quarter, 4)?;
        return months(3 * quarter - 2, 3 * quarter);
    }
    if let Some(week) = part.strip_prefix('W').filter(|week| is_number(week, 2)) {
        // The first week has January 4; day 0 was a Thursday.
        let fourth = day(&format!("{year}-01-04"))?;
        let monday = fourth - (fourth + 3.0).rem_euclid(7.0);
        let from = monday + 7.0 * f64::from(number(week, 53)? - 1);
        return Some((from, from + 7.0));
    }
    if is_number(part, 2) {
        let month = number(part, 12)?;
        return months(month, month);
    }
    let is_whole = name.len() == DAY.len() || position(Kind::Timestamp, name).is_some();
    let from = day(name.get(..DAY.len())?).filter(|_| is_whole)?;
    Some((from, from + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATES: NodeNames = NodeNames::Dates { are_days_values: true };

    #[track_caller]
    fn check(names: NodeNames, label: &str, expected: Option<Covers>) {
        assert_eq!(names.covers(label), expected, "{label}");
    }

    #[test]
    fn intervals_are_as_wide_as_their_rule_says() {
        let width = |width| Some(Covers::Width(width));
        check(NodeNames::Numbers, "17", Some(Covers::Exact));
        check(NodeNames::Numbers, "[8000-8999]", width(1000.0));
        check(NodeNames::Numbers, "[-10..-1]", width(10.0));
        check(NodeNames::Numbers, "[0.5-1)", width(0.5));
        check(NodeNames::Numbers, "{[10-14]|[20-24]|7}", width(11.0));
        check(NodeNames::Numbers, ">=65", Some(Covers::Open));
        check(NodeNames::Numbers, "{<18|[20-24]}", Some(Covers::Open));
        check(NodeNames::Numbers, "*", Some(Covers::All));
        for other in ["young", "{10|young}", "[a-b]", "[2-1]", "0530", "1990-01"] {
            check(NodeNames::Numbers, other, None);
        }
    }

    #[test]
    fn parts_of_dates_are_counted_in_days() {
        let width = |days| Some(Covers::Width(days));
        check(DATES, "1990-01-03", Some(Covers::Exact));
        check(DATES, "1990-01-03T10:00", Some(Covers::Exact));
        check(NodeNames::Dates { are_days_values: false }, "1990-01-03", width(1.0));
        check(DATES, "1990-02", width(28.0));
        check(DATES, "1990-12", width(31.0));
        check(DATES, "1990-Q4", width(92.0));
        check(DATES, "1990-W01", width(7.0));
        check(DATES, "1988", width(366.0));
        check(DATES, "[1990-1999]", width(3652.0));
        check(DATES, "{1988|1990}", width(731.0));
        check(DATES, "[2024-01-03..2024-01-05]", width(3.0));
        for other in ["x", "199", "1990-13", "1990-Q5", "1990-W54", "1990-02-30", "1990-01-03x"] {
            check(DATES, other, None);
        }
        // Weeks begin on Mondays: 2024-12-30 was one.
        assert_eq!(days_of("2025-W01").map(|days| days.0), position(Kind::Date, "2024-12-30"));
    }

    #[test]
    fn leaves_say_what_nodes_are_named_by() {
        let of = |text: &str| {
            let row = |row: &str| row.split(';').map(str::to_owned).collect();
            let rows: Vec<Vec<String>> = text.split(' ').map(row).collect();
            NodeNames::of(&Hierarchy::from_rows(&rows).unwrap().with_missing())
        };
        assert_eq!(of("17;[10-19];* 23;[20-29];*"), NodeNames::Numbers);
        assert_eq!(of("20;20;* 23;20;* 31;30;*"), NodeNames::Masked('*'));
        assert_eq!(of("1990-01-03;1990;* 1991-02-03;1991;*"), DATES);
        let times = NodeNames::Dates { are_days_values: false };
        assert_eq!(of("1990-01-03T10:00;1990-01-03;* 1990-01-04;1990-01-04;*"), times);
        assert_eq!(of("53711;5371*;* A3712;A371*;*"), NodeNames::Masked('*'));
    }
}

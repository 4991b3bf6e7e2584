//! What the cells of a release say, read as the guide says they are to be read.
//!
//! Some texts can be read in more than one way (a name of a node that looks like a set). All
//! readings are kept; a check fails only where none of them passes.

use std::collections::BTreeSet;

use crate::case::Labels;
use crate::table::Table;
use crate::value::{Kind, SCALE, Value};

/// A quasi-identifier column: how its values compare, and where the release has it.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) name: String,
    /// Its place in the input.
    pub(crate) input: usize,
    pub(crate) kind: Kind,
    pub(crate) order: Option<Vec<String>>,
    /// Rows of its hierarchy, from leaf to root.
    pub(crate) tree: Option<Vec<Vec<String>>>,
    /// Its columns in the release.
    pub(crate) cells: Cells,
}

/// The columns of a release that tell of one column of the input.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    Label { label: usize, mean: Option<usize> },
    Mean(usize),
    Bounds(usize, usize),
}

/// The values that a cell may stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    All,
    /// One value or several, all of them printed.
    Values(Vec<Value>),
    Range(Value, Value),
    /// From a cut point on, and below another one.
    Region(Option<Value>, Option<Value>),
    /// Leaves of a hierarchy: those below nodes, which are not printed, and others, which are.
    Leaves(BTreeSet<Value>, Vec<Value>),
}

impl Cover {
    pub(crate) fn has(&self, value: &Value) -> bool {
        match self {
            Cover::All => true,
            Cover::Values(values) => values.contains(value),
            Cover::Range(least, greatest) => {
                *value != Value::Missing && least <= value && value <= greatest
            }
            Cover::Region(from, below) => {
                *value != Value::Missing
                    && from.as_ref().is_none_or(|from| from <= value)
                    && below.as_ref().is_none_or(|below| value < below)
            }
            Cover::Leaves(below, printed) => below.contains(value) || printed.contains(value),
        }
    }

    /// The values that stand in the cell.
    pub(crate) fn printed(&self) -> Vec<&Value> {
        match self {
            Cover::Values(values) | Cover::Leaves(_, values) => values.iter().collect(),
            Cover::Range(least, greatest) => vec![least, greatest],
            // Cut points are nobody's values.
            Cover::All | Cover::Region(..) => Vec::new(),
        }
    }
}

impl Axis {
    /// Where the release has this column.
    pub(crate) fn find(&mut self, release: &Table, labels: Labels) -> Option<()> {
        let at = |suffix: &str| release.column(&format!("{}{suffix}", self.name));
        self.cells = match (at(""), at("_min"), at("_max")) {
            (None, Some(least), Some(greatest)) if labels == Labels::Bounds => {
                Cells::Bounds(least, greatest)
            }
            // A column with a hierarchy is labelled by its nodes.
            (Some(label), _, _)
                if labels == Labels::Mean && self.kind.is_number() && self.tree.is_none() =>
            {
                Cells::Mean(label)
            }
            (Some(label), _, _) if labels == Labels::RangeMean => {
                Cells::Label { label, mean: at("_mean") }
            }
            (Some(label), _, _) => Cells::Label { label, mean: None },
            _ => return None,
        };
        Some(())
    }

    /// The columns of the release that an attacker sees of this one.
    pub(crate) fn published(&self) -> Vec<usize> {
        match self.cells {
            Cells::Label { label, mean } => [Some(label), mean].into_iter().flatten().collect(),
            Cells::Mean(mean) => vec![mean],
            Cells::Bounds(least, greatest) => vec![least, greatest],
        }
    }

    pub(crate) fn mean(&self) -> Option<usize> {
        match self.cells {
            Cells::Label { mean, .. } => mean,
            Cells::Mean(mean) => Some(mean),
            Cells::Bounds(..) => None,
        }
    }

    /// A cell of the input, so that comparing values follows the column's order.
    pub(crate) fn value(&self, cell: Option<&str>) -> Value {
        match (&self.order, cell) {
            (Some(order), Some(cell)) => rank(order, cell).unwrap_or(Value::Missing),
            _ => self.kind.value(cell),
        }
    }

    fn parse(&self, text: &str) -> Option<Value> {
        match &self.order {
            Some(order) => rank(order, text),
            None => self.kind.parse(text),
        }
    }

    /// Whether values lie on a line, so that a cell of some and missing ones says nothing.
    pub(crate) fn has_ranges(&self) -> bool {
        self.order.is_some() || self.kind.is_ordered()
    }

    /// Everything that the cells of a row may mean.
    pub(crate) fn read(&self, row: &[Option<String>]) -> Vec<Cover> {
        match self.cells {
            // A mean rules no value out.
            Cells::Mean(_) => vec![Cover::All],
            Cells::Label { label, .. } => match row[label].as_deref() {
                Some(text) => self.readings(text),
                None => vec![Cover::Values(vec![Value::Missing])],
            },
            Cells::Bounds(least, greatest) => match (&row[least], &row[greatest]) {
                // Suppressed rows have stars here, too, though the guide says that bounds are
                // empty.
                (Some(least), Some(greatest)) if least == "*" && greatest == "*" => {
                    // Bounds are values as they are: one of a declared order may be called so.
                    let value = self.order.as_ref().and_then(|order| rank(order, "*"));
                    let of_value = value.map(|value| Cover::Range(value.clone(), value));
                    of_value.into_iter().chain([Cover::All]).collect()
                }
                (Some(least), Some(greatest)) => {
                    let ends = (self.parse(least), self.parse(greatest));
                    let (Some(least), Some(greatest)) = ends else { return Vec::new() };
                    vec![Cover::Range(least, greatest)]
                }
                (None, None) => vec![Cover::All],
                _ => Vec::new(),
            },
        }
    }

    fn readings(&self, text: &str) -> Vec<Cover> {
        let mut found = Vec::new();
        if text == "*" {
            return vec![Cover::All];
        }
        if let Some(value) = text.strip_prefix('\\') {
            // The backslash says that the rest is a value, or is one of the value itself.
            let of = |text: &str| match &self.tree {
                Some(_) => self.node(text),
                None => self.parse(text).map(|value| Cover::Values(vec![value])),
            };
            return [of(value), of(text)].into_iter().flatten().collect();
        }
        match &self.tree {
            Some(_) => found.extend(self.node(text)),
            None => found.extend(self.parse(text).map(|value| Cover::Values(vec![value]))),
        }
        if let Some(inner) = within(text, '[', ']').filter(|_| self.has_ranges()) {
            found.extend(self.ranges(inner));
        }
        if self.kind.is_ordered() && self.order.is_none() && self.tree.is_none() {
            found.extend(self.regions(text));
        }
        if let Some(inner) = within(text, '{', '}') {
            found.extend(self.set(&members(inner)));
        }
        found
    }

    /// The leaves below a node, or the leaf itself.
    fn node(&self, text: &str) -> Option<Cover> {
        let rows = self.tree.as_ref()?;
        let own = self.parse(text);
        let is_leaf =
            |row: &Vec<String>| row[0] == text || own.is_some() && self.parse(&row[0]) == own;
        if let Some(leaf) = rows.iter().find(|row| is_leaf(row)) {
            return Some(Cover::Values(vec![self.value(Some(&leaf[0]))]));
        }
        let below: BTreeSet<Value> = rows
            .iter()
            .filter(|row| row[1..].iter().any(|label| label == text))
            .map(|row| self.value(Some(&row[0])))
            .collect();
        (!below.is_empty()).then(|| Cover::Leaves(below, Vec::new()))
    }

    /// `<10`, `>=20` and `[10-20)`.
    fn regions(&self, text: &str) -> Vec<Cover> {
        if let Some(below) = text.strip_prefix('<') {
            return self
                .parse(below)
                .map(|end| Cover::Region(None, Some(end)))
                .into_iter()
                .collect();
        }
        if let Some(from) = text.strip_prefix(">=") {
            return self
                .parse(from)
                .map(|end| Cover::Region(Some(end), None))
                .into_iter()
                .collect();
        }
        let Some(inner) = within(text, '[', ')') else { return Vec::new() };
        let region = |cover| match cover {
            Cover::Range(from, below) => Some(Cover::Region(Some(from), Some(below))),
            _ => None,
        };
        self.ranges(inner).into_iter().filter_map(region).collect()
    }

    fn ranges(&self, inner: &str) -> Vec<Cover> {
        let mut found = Vec::new();
        // A hyphen within an end takes dots in between; dots within one have backslashes before
        // them.
        let between = if inner.contains("..") { ".." } else { "-" };
        for (at, _) in inner.match_indices(between) {
            let end = |text: &str| self.parse(&end_of(text)?);
            let ends = (end(&inner[..at]), end(&inner[at + between.len()..]));
            if let (Some(least), Some(greatest)) = ends {
                found.push(Cover::Range(least, greatest));
            }
        }
        found
    }

    fn set(&self, members: &[Option<String>]) -> Option<Cover> {
        let mut values = Vec::new();
        let mut below = BTreeSet::new();
        for member in members {
            let Some(member) = member else {
                values.push(Value::Missing);
                continue;
            };
            match &self.tree {
                None => values.push(self.parse(member)?),
                Some(_) => match self.node(member)? {
                    Cover::Values(more) => values.extend(more),
                    Cover::Leaves(more, _) => below.extend(more),
                    _ => return None,
                },
            }
        }
        if below.is_empty() {
            return Some(Cover::Values(values));
        }
        Some(Cover::Leaves(below, values))
    }
}

fn rank(order: &[String], text: &str) -> Option<Value> {
    let rank = order.iter().position(|value| value == text)?;
    Some(Value::Number(i128::try_from(rank).ok()? * SCALE))
}

fn within(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// The members of a set, none of an empty one, which is missing.
fn members(inner: &str) -> Vec<Option<String>> {
    let mut found = vec![String::new()];
    let mut is_escaped = false;
    for char in inner.chars() {
        if char == '|' && !is_escaped {
            found.push(String::new());
        } else {
            found.last_mut().expect("never empty").push(char);
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    found.iter().map(|member| end_of(member)).collect()
}

/// An end of a range or a member of a set: `{}` is an empty text, nothing is none, and a backslash
/// says that the next character is one of the value.
fn end_of(text: &str) -> Option<String> {
    match text {
        "" => return None,
        "{}" => return Some(String::new()),
        _ => {}
    }
    let mut found = String::new();
    let mut is_escaped = false;
    for char in text.chars() {
        is_escaped = char == '\\' && !is_escaped;
        if !is_escaped {
            found.push(char);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{Axis, Cells, Cover};
    use crate::value::Kind;

    fn axis(kind: Kind) -> Axis {
        Axis {
            name: "a".to_owned(),
            input: 0,
            kind,
            order: None,
            tree: None,
            cells: Cells::Label { label: 0, mean: None },
        }
    }

    #[track_caller]
    fn check(axis: &Axis, label: &str, inside: &[&str], outside: &[&str]) {
        let covers = axis.read(&[Some(label.to_owned())]);
        let has = |cell: &str| {
            let cell = Some(cell).filter(|cell| !cell.is_empty());
            covers.iter().any(|cover: &Cover| cover.has(&axis.value(cell)))
        };
        for cell in inside {
            assert!(has(cell), "{label} has {cell}");
        }
        for cell in outside {
            assert!(!has(cell), "{label} has not {cell}");
        }
    }

    #[test]
    fn labels_say_what_they_cover() {
        check(&axis(Kind::Decimal), "[-16.9..-4.6]", &["-5", "-16.90"], &["-17", "4.6", ""]);
        check(&axis(Kind::Date), "[2024-01-03..2024-02-11]", &["2024-02-01"], &["2024-03-01"]);
        check(&axis(Kind::Decimal), "[0.5-1)", &["0.5", "0.99"], &["1", "0.4", ""]);
        check(&axis(Kind::Integer), "<-5", &["-6"], &["-5", ""]);
        check(&axis(Kind::Date), ">=2024-01-01", &["2024-01-01"], &["2023-12-31"]);
        check(&axis(Kind::Text), r"\[1-2]", &["[1-2]"], &["1"]);
        check(&axis(Kind::Text), r"{|{}|\{}|a\\b}", &["{}", r"a\b"], &["b"]);
        check(&axis(Kind::Text), "{|a|b\\|c}", &["", "a", "b|c"], &["b"]);
        let mut ordered = axis(Kind::Text);
        ordered.order = Some(["x", "5th-6th", "a"].map(str::to_owned).to_vec());
        check(&ordered, "[5th-6th..a]", &["a", "5th-6th"], &["x", ""]);
        let mut tree = axis(Kind::Text);
        let rows = [["de", "Europe", "*"], ["fr", "Europe", "*"], ["jp", "Asia", "*"]];
        tree.tree = Some(rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect());
        check(&tree, "Europe", &["de", "fr"], &["jp", ""]);
        check(&tree, "{Asia|fr}", &["jp", "fr"], &["de"]);
        check(&tree, "*", &["jp", ""], &[]);
        let rows = [["de", "any"], ["jp", "any"]];
        tree.tree = Some(rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect());
        check(&tree, "any", &["jp", "de"], &[""]);
    }
}

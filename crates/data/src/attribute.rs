//! A quasi-identifier column as the searches see it, and the cells that replace its values.

use crate::{Dictionary, Hierarchy, Level};

/// How the values of a column lie to one another.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// On a line: numbers and dates. Distances count.
    Numeric,
    /// In a declared order. Ranks count.
    Ordinal,
    /// In no order that means anything; cut along the dictionary, released as a set.
    Unordered,
    /// Leaves of a tree. The dictionary is the leaf order.
    Tree(Hierarchy),
}

/// A quasi-identifier column.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The column's name.
    pub name: String,
    /// Its values in order.
    pub dictionary: Dictionary,
    /// How they lie to one another.
    pub shape: Shape,
}

/// What stands in place of a value, in codes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// One value, or missing.
    Value(u32),
    /// All values from the first to the second, both included.
    Range(u32, u32),
    /// A node of the hierarchy, by level and group.
    Node(u8, u32),
    /// Just these values, ascending.
    Set(Vec<u32>),
    /// Anything, missing included.
    All,
}

/// Sets of more values than this are released as "anything": nobody reads them, and they would stand
/// in every row of their class.
const LARGEST_SET: usize = 256;

impl Attribute {
    /// The number of codes, the missing one included.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        self.dictionary.n_codes()
    }

    /// The cell that stands for exactly the run of codes `lo..=hi` of which `present` (ascending)
    /// occur. `present` is looked at for unordered columns only.
    #[must_use]
    pub fn cell(&self, lo: u32, hi: u32, present: &[u32]) -> Cell {
        if lo == hi {
            return Cell::Value(lo);
        }
        match &self.shape {
            Shape::Tree(hierarchy) => {
                let (Level(level), group) = hierarchy.common(lo, hi);
                if Level(level) == hierarchy.height() {
                    Cell::All
                } else {
                    Cell::Node(level, group)
                }
            }
            Shape::Unordered if present.len() > LARGEST_SET => Cell::All,
            Shape::Unordered => Cell::Set(present.to_vec()),
            // A missing value lies outside every range, so a mixed class is "anything".
            Shape::Numeric | Shape::Ordinal if Some(hi) == self.dictionary.missing() => Cell::All,
            Shape::Numeric | Shape::Ordinal => Cell::Range(lo, hi),
        }
    }

    /// The cell of a group of a level, as a full-domain recoding has it. Columns without a hierarchy
    /// have values and nothing above.
    #[must_use]
    pub fn cell_at(&self, level: Level, group: u32) -> Cell {
        match &self.shape {
            _ if level == Level(0) => Cell::Value(group),
            Shape::Tree(hierarchy) if level < hierarchy.height() => Cell::Node(level.0, group),
            _ => Cell::All,
        }
    }

    /// How much of the value is lost, from 0 (nothing) to 1 (all): `loss` in
    /// `docs/src/report.md`.
    #[must_use]
    pub fn loss(&self, cell: &Cell) -> f64 {
        match cell {
            Cell::Value(_) => 0.0,
            Cell::All => 1.0,
            Cell::Range(lo, hi) => self.span(*lo, *hi),
            Cell::Node(level, group) => {
                let Shape::Tree(hierarchy) = &self.shape else { return 1.0 };
                let node = &hierarchy.groups(Level(*level))[*group as usize];
                f64::from(node.hi - node.lo) / f64::from(hierarchy.n_leaves().max(2) - 1)
            }
            Cell::Set(values) => share_of(values.len() - 1, self.n_codes()),
        }
    }

    /// The part of the column's whole range that lies between two codes: by distance for numbers, by
    /// rank otherwise; all of it where one is a value and the other missing.
    #[must_use]
    pub fn span(&self, lo: u32, hi: u32) -> f64 {
        if lo == hi {
            return 0.0;
        }
        if matches!(self.shape, Shape::Numeric | Shape::Ordinal)
            && Some(hi) == self.dictionary.missing()
        {
            return 1.0;
        }
        match &self.shape {
            Shape::Numeric => {
                let at = &self.dictionary.positions;
                let range = at[at.len() - 1] - at[0];
                if range > 0.0 && range.is_finite() {
                    (at[hi as usize] - at[lo as usize]) / range
                } else {
                    // Values that a float cannot tell apart, or too far apart for one.
                    share_of((hi - lo) as usize, self.n_values())
                }
            }
            Shape::Ordinal => share_of((hi - lo) as usize, self.n_values()),
            Shape::Unordered => share_of((hi - lo) as usize, self.n_codes()),
            Shape::Tree(hierarchy) => {
                let (Level(level), group) = hierarchy.common(lo, hi);
                self.loss(&Cell::Node(level, group))
            }
        }
    }

    /// The loss of the least cell that covers codes from `lo` to `hi`, `n_present` of which occur. Only an
    /// unordered column looks at their number.
    #[must_use]
    pub fn cover_loss(&self, lo: u32, hi: u32, n_present: usize) -> f64 {
        match self.shape {
            Shape::Unordered if n_present > LARGEST_SET => 1.0,
            Shape::Unordered => share_of(n_present - 1, self.n_codes()),
            _ => self.span(lo, hi),
        }
    }

    /// The loss of the cell that stands for all values from one code to another.
    #[must_use]
    pub fn interval_loss(&self, lo: u32, hi: u32) -> f64 {
        let is_large = (hi - lo) as usize >= LARGEST_SET;
        if matches!(self.shape, Shape::Unordered) && is_large { 1.0 } else { self.span(lo, hi) }
    }

    /// The number of values, missing not counted.
    #[must_use]
    pub fn n_values(&self) -> u32 {
        self.n_codes() - u32::from(self.dictionary.has_missing)
    }
}

fn share_of(steps: usize, n: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "steps are below 2^32")]
    let steps = steps as f64;
    steps / f64::from(n.saturating_sub(1).max(1))
}

/// The label of a set of values. A bar within a value is written `\|`, so that it does not read as one
/// between values, and a backslash `\\`.
#[must_use]
pub fn set_label<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('|', "\\|");
    format!("{{{}}}", values.into_iter().map(escaped).collect::<Vec<_>>().join("|"))
}

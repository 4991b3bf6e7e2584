//! A quasi-identifier column as the searches see it, and the cells that replace its values.

use crate::{Dictionary, Hierarchy, Label, Level};

/// How the values of a column relate to one another.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// On a line: numbers and dates. Distances count.
    Numeric,
    /// In a declared order. Ranks count.
    Ordinal,
    /// Without a meaningful order; cut along the dictionary, released as a set.
    Unordered,
    /// Leaves of a tree. The dictionary is the leaf order.
    Tree(Hierarchy),
}

/// A quasi-identifier column.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The column's name in the source.
    pub name: String,
    /// Its values in order.
    pub dictionary: Dictionary,
    /// How the values relate to one another.
    pub shape: Shape,
}

/// What replaces a value, in codes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// One value, or missing.
    Value(u32),
    /// All values from the first to the second, both included.
    Range(u32, u32),
    /// A node of the hierarchy, by level and group.
    Node(u8, u32),
    /// Two or more nodes of the hierarchy, values being nodes of level 0, in leaf order. None of
    /// them contains another.
    Nodes(Vec<(u8, u32)>),
    /// Just these values, ascending.
    Set(Vec<u32>),
    /// All values between two cut points.
    Between(Box<Between>),
    /// Anything, missing included.
    All,
}

/// The part of a line of numbers, dates or times between two cut points.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Between {
    /// The least value of the table between the cut points.
    pub lo: u32,
    /// The greatest value of the table between the cut points.
    pub hi: u32,
    /// The first value, inclusive; `None` if the part is unbounded below.
    pub from: Option<End>,
    /// The first value above the part; `None` if the part is unbounded above.
    pub below: Option<End>,
    /// The last value, if the part is bounded above and neighbouring values are 1 apart.
    pub last: Option<End>,
}

/// One end of a part of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// The text of the value.
    pub text: String,
    /// The bits of the value's place on the number line, a float.
    place: u64,
}

impl End {
    /// An end at a place on the number line.
    #[must_use]
    pub fn new(text: String, position: f64) -> End {
        End { text, place: position.to_bits() }
    }

    /// The value's place on the number line.
    #[must_use]
    pub fn position(&self) -> f64 {
        f64::from_bits(self.place)
    }
}

impl Between {
    /// The label that says the same.
    #[must_use]
    pub fn label(&self) -> Label {
        let text = |end: &End| end.text.clone();
        match (&self.from, &self.below, &self.last) {
            (None, None, _) => Label::Any,
            (Some(from), None, _) => Label::From(text(from)),
            (None, Some(below), _) => Label::Below(text(below)),
            (Some(from), _, Some(last)) if from.text == last.text => Label::Value(text(from)),
            (Some(from), _, Some(last)) => Label::Closed(text(from), text(last)),
            (Some(from), Some(below), None) => Label::HalfOpen(text(from), text(below)),
        }
    }
}

/// Sets of more values than this are released as "anything": nobody reads them, and every row of
/// the class would repeat them.
const LARGEST_SET: usize = 256;

impl Attribute {
    /// The number of codes, the missing one included.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        self.dictionary.n_codes()
    }

    /// The cell for the run of codes `lo..=hi`, of which those in `present` (ascending) occur. Only
    /// unordered columns use `present`.
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

    /// The cell of a group of a level, for a full-domain recoding. Columns without a hierarchy have
    /// only level 0, the values.
    #[must_use]
    pub fn cell_at(&self, level: Level, group: u32) -> Cell {
        match &self.shape {
            _ if level == Level(0) => Cell::Value(group),
            Shape::Tree(hierarchy) if level < hierarchy.height() => Cell::Node(level.0, group),
            _ => Cell::All,
        }
    }

    /// The cell of a class of a hierarchy column that has these leaves (ascending runs, at least
    /// one): the highest nodes that cover them and none of the `divided` nodes (see
    /// [`Hierarchy::cover`]). Other columns have the cell of all codes from the first to the last.
    #[must_use]
    pub fn cover(&self, leaves: &[(u32, u32)], divided: &[(Level, u32)]) -> Cell {
        let Shape::Tree(hierarchy) = &self.shape else {
            let (lo, hi) = (leaves[0].0, leaves[leaves.len() - 1].1);
            return self.cell(lo, hi, &(lo..=hi).collect::<Vec<u32>>());
        };
        match hierarchy.cover(leaves, divided)[..] {
            [(level, group)] => self.cell_at(level, group),
            ref nodes => {
                Cell::Nodes(nodes.iter().map(|&(level, group)| (level.0, group)).collect())
            }
        }
    }

    /// The cell for exactly these codes (ascending), regardless of other classes. In a hierarchy,
    /// the highest nodes whose children each contain one of the codes (see
    /// [`Hierarchy::least_cover`]).
    #[must_use]
    pub fn least_cell(&self, present: &[u32]) -> Cell {
        let (lo, hi) = (present[0], present[present.len() - 1]);
        let Shape::Tree(hierarchy) = &self.shape else { return self.cell(lo, hi, present) };
        let leaves: Vec<(u32, u32)> = present.iter().map(|&code| (code, code)).collect();
        match hierarchy.least_cover(&leaves)[..] {
            [(level, group)] => self.cell_at(level, group),
            ref nodes if nodes.len() > LARGEST_SET => self.cell(lo, hi, present),
            ref nodes => {
                Cell::Nodes(nodes.iter().map(|&(level, group)| (level.0, group)).collect())
            }
        }
    }

    /// The least and greatest code that a cell covers.
    #[must_use]
    pub fn extent(&self, cell: &Cell) -> (u32, u32) {
        let last = self.n_codes().max(1) - 1;
        let runs = self.runs(cell);
        runs.first().zip(runs.last()).map_or((0, last), |(first, last)| (first.0, last.1))
    }

    /// The runs of codes that a cell covers, ascending. Each code of a set is a run of its own.
    #[must_use]
    pub fn runs(&self, cell: &Cell) -> Vec<(u32, u32)> {
        let all = (0, self.n_codes().max(1) - 1);
        let node = |&(level, group): &(u8, u32)| match &self.shape {
            Shape::Tree(hierarchy) => {
                let node = &hierarchy.groups(Level(level))[group as usize];
                (node.lo, node.hi)
            }
            _ => all,
        };
        match cell {
            Cell::Value(code) => vec![(*code, *code)],
            Cell::Range(lo, hi) => vec![(*lo, *hi)],
            Cell::Node(level, group) => vec![node(&(*level, *group))],
            Cell::Nodes(nodes) => nodes.iter().map(node).collect(),
            Cell::Set(codes) => codes.iter().map(|&code| (code, code)).collect(),
            Cell::Between(part) => vec![(part.lo, part.hi)],
            Cell::All => vec![all],
        }
    }

    /// Whether a cell covers a code.
    #[must_use]
    pub fn covers(&self, cell: &Cell, code: u32) -> bool {
        match cell {
            Cell::Value(value) => *value == code,
            // A missing value has the last code and is in no range.
            Cell::Range(lo, hi) => (*lo..=*hi).contains(&code),
            Cell::Between(part) => (part.lo..=part.hi).contains(&code),
            Cell::Node(level, group) => match &self.shape {
                Shape::Tree(hierarchy) => hierarchy.group_of(Level(*level), code) == *group,
                _ => false,
            },
            Cell::Nodes(_) => self.runs(cell).iter().any(|(lo, hi)| (*lo..=*hi).contains(&code)),
            Cell::Set(values) => values.contains(&code),
            Cell::All => true,
        }
    }

    /// How much of the value is lost, from 0 (nothing) to 1 (all). In a hierarchy: (leaves below
    /// the cell's nodes - 1) / (all leaves - 1).
    #[must_use]
    pub fn loss(&self, cell: &Cell) -> f64 {
        match cell {
            Cell::Value(_) => 0.0,
            Cell::All => 1.0,
            Cell::Range(lo, hi) => self.span(*lo, *hi),
            Cell::Between(between) => self.share_between(between),
            Cell::Node(..) | Cell::Nodes(_) => {
                let Shape::Tree(hierarchy) = &self.shape else { return 1.0 };
                let covered: u32 = self.runs(cell).iter().map(|(lo, hi)| hi - lo + 1).sum();
                f64::from(covered - 1) / f64::from(hierarchy.n_leaves().max(2) - 1)
            }
            Cell::Set(values) => share_of(values.len() - 1, self.n_codes()),
        }
    }

    /// The part of the column's whole range that lies between two cut points.
    fn share_between(&self, between: &Between) -> f64 {
        let at = &self.dictionary.positions;
        let (Some(&least), Some(&greatest)) = (at.first(), at.last()) else { return 0.0 };
        let range = greatest - least;
        let from = between.from.as_ref().map_or(least, End::position).max(least);
        let to = between.last.as_ref().or(between.below.as_ref());
        let to = to.map_or(greatest, End::position).min(greatest);
        let share = (to - from) / range;
        if range > 0.0 && range.is_finite() && share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            self.span(between.lo, between.hi)
        }
    }

    /// The part of the column's whole range that lies between two codes: by distance for numbers,
    /// by rank otherwise; the whole range if one is a value and the other missing.
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
                    // Values that floats cannot tell apart, or whose distance no float holds.
                    share_of((hi - lo) as usize, self.n_values())
                }
            }
            Shape::Ordinal => share_of((hi - lo) as usize, self.n_values()),
            Shape::Unordered => share_of((hi - lo) as usize, self.n_codes()),
            Shape::Tree(hierarchy) => {
                let (level, group) = hierarchy.common(lo, hi);
                let node = &hierarchy.groups(level)[group as usize];
                f64::from(node.hi - node.lo) / f64::from(hierarchy.n_leaves().max(2) - 1)
            }
        }
    }

    /// The loss of the least cell that covers codes from `lo` to `hi`, `n_present` of which occur.
    /// Only an unordered column uses `n_present`; in a hierarchy, the cell is taken to be one node.
    #[must_use]
    pub fn cover_loss(&self, lo: u32, hi: u32, n_present: usize) -> f64 {
        match self.shape {
            Shape::Unordered if n_present > LARGEST_SET => 1.0,
            Shape::Unordered => share_of(n_present - 1, self.n_codes()),
            _ => self.span(lo, hi),
        }
    }

    /// The loss of the cell for all values from one code to another.
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

/// The label of a set of values. A bar within a value is written `\|`, to tell it from a bar
/// between values, and a backslash `\\`.
#[must_use]
pub fn set_label<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('|', "\\|");
    format!("{{{}}}", values.into_iter().map(escaped).collect::<Vec<_>>().join("|"))
}

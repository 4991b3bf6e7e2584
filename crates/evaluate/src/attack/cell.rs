//! The values that a cell can represent, and those that two cells have in common.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use incrowd_data::{Hierarchy, Kind};

use super::index::Index;
use crate::query::{self, Domain, LabelKnowledge, Parse, Unreadable, Values, read_labels};

/// The values that a cell can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The least key.
    pub(super) lo: f64,
    /// The greatest key; less than the least one if there are none.
    pub(super) hi: f64,
    /// The keys between both that are possible, if not all are.
    pub(super) some: Option<Vec<u32>>,
    /// Whether the cell may be missing.
    pub(super) may_be_missing: bool,
    /// Whether the cell may be anything.
    pub(super) is_any: bool,
}

impl Cell {
    /// `*`: anything, including a missing value.
    pub const ANY: Cell = Cell { is_any: true, may_be_missing: true, ..Cell::NOTHING };
    /// An empty cell.
    pub const MISSING: Cell = Cell { may_be_missing: true, ..Cell::NOTHING };
    const NOTHING: Cell = Cell {
        lo: f64::INFINITY,
        hi: f64::NEG_INFINITY,
        some: None,
        may_be_missing: false,
        is_any: false,
    };

    /// A value that no label of the release can name; `at` distinguishes it from others.
    fn strange(at: usize) -> Cell {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        Cell { some: Some(vec![at]), ..Cell::NOTHING }
    }

    fn range(lo: f64, hi: f64) -> Cell {
        Cell { lo, hi, ..Cell::NOTHING }
    }

    fn set(codes: &[u32]) -> Cell {
        let (Some(&lo), Some(&hi)) = (codes.first(), codes.last()) else { return Cell::NOTHING };
        let is_whole = (hi - lo) as usize + 1 == codes.len();
        let some = (!is_whole).then(|| codes.to_vec());
        Cell { some, ..Cell::range(f64::from(lo), f64::from(hi)) }
    }

    fn of(spread: &query::Spread) -> Cell {
        let cell = match &spread.values {
            _ if spread.is_open => return Cell::ANY,
            Values::None => Cell::NOTHING,
            Values::Range(..) if spread.reach.is_some() => {
                let (lo, hi) = spread.reach.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                Cell::range(lo, hi)
            }
            Values::Range(lo, hi) => Cell::range(*lo, *hi),
            Values::Run(lo, hi) => Cell::range(f64::from(*lo), f64::from(*hi)),
            Values::Set(codes) => Cell::set(codes),
            // A mean says nothing about a single value.
            Values::About(_) => Cell::range(f64::NEG_INFINITY, f64::INFINITY),
        };
        Cell { may_be_missing: spread.may_be_missing, ..cell }
    }

    /// Whether both cells could represent the same value.
    #[must_use]
    pub fn is_compatible(&self, other: &Cell) -> bool {
        self.is_any
            || other.is_any
            || (self.may_be_missing && other.may_be_missing)
            || self.shares_value(other)
    }

    fn shares_value(&self, other: &Cell) -> bool {
        if self.lo.max(other.lo) > self.hi.min(other.hi) {
            return false;
        }
        match (&self.some, &other.some) {
            (None, None) => true,
            (Some(keys), None) => holds_between(keys, other),
            (None, Some(keys)) => holds_between(keys, self),
            (Some(keys), Some(others)) => keys.iter().any(|key| others.binary_search(key).is_ok()),
        }
    }

    /// The values that both cells allow.
    #[must_use]
    pub fn meet(&self, other: &Cell) -> Cell {
        if self.is_any || other.is_any {
            return if self.is_any { other.clone() } else { self.clone() };
        }
        let may_be_missing = self.may_be_missing && other.may_be_missing;
        if !self.shares_value(other) {
            return Cell { may_be_missing, ..Cell::NOTHING };
        }
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        let keys = match (&self.some, &other.some) {
            (None, None) => return Cell { may_be_missing, ..Cell::range(lo, hi) },
            (Some(keys), None) | (None, Some(keys)) => keys
                .iter()
                .copied()
                .filter(|key| lo <= f64::from(*key) && f64::from(*key) <= hi)
                .collect(),
            (Some(keys), Some(others)) => keys
                .iter()
                .copied()
                .filter(|key| others.binary_search(key).is_ok())
                .collect::<Vec<u32>>(),
        };
        Cell { may_be_missing, ..Cell::set(&keys) }
    }

    /// A total order, in which equal cells are equal.
    pub(super) fn compare(&self, other: &Cell) -> Ordering {
        let rest = |cell: &Cell| (cell.may_be_missing, cell.is_any);
        self.lo
            .total_cmp(&other.lo)
            .then_with(|| self.hi.total_cmp(&other.hi))
            .then_with(|| self.some.cmp(&other.some))
            .then_with(|| rest(self).cmp(&rest(other)))
    }
}

/// Whether one of some keys is between the ends of a cell.
fn holds_between(keys: &[u32], cell: &Cell) -> bool {
    let first = keys.partition_point(|&key| f64::from(key) < cell.lo);
    keys.get(first).is_some_and(|&key| f64::from(key) <= cell.hi)
}

/// How the labels of a column were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Values and ranges of a kind.
    Line(Kind),
    /// Leaves and nodes of a hierarchy.
    Hierarchy,
    /// Values and ranges of a declared order.
    Order,
    /// Values and sets of values, all of which are known.
    Values,
    /// Texts that are only compared for equality.
    Texts,
    /// Means of classes, which are compatible with everything.
    Means,
}

/// The distinct labels of a column in both tables, read together.
#[derive(Clone, Debug, PartialEq)]
pub struct Both {
    /// By label of the release.
    pub release: Vec<Cell>,
    /// By label of the outside table.
    pub outside: Vec<Cell>,
    /// How the labels were read.
    pub read: Read,
}

impl Both {
    /// The number of outside labels that are not compatible with any label of the release.
    #[must_use]
    pub fn n_unmatched(&self) -> usize {
        let index = Index::new(&self.release);
        let is_unmatched = |cell: &&Cell| {
            let mut is_found = false;
            index.compatible(cell, |_| is_found = true);
            !is_found
        };
        self.outside.iter().filter(is_unmatched).count()
    }
}

/// The cells of the distinct labels of a column in both tables. A label of the outside table that
/// cannot be understood is a value that only `*` covers; such a label of the release is an error.
pub fn read_both(
    release: &[Option<&str>],
    outside: &[Option<&str>],
    known: &LabelKnowledge,
    parse: Parse,
) -> Result<Both, Unreadable> {
    if let LabelKnowledge::Means { is_number, .. } = known {
        let is_mean =
            |label: &str| label == "*" || query::near(Kind::Decimal, label, parse).is_some();
        if release.iter().flatten().all(|label| is_mean(label)) {
            return Ok(means(release, outside));
        }
        if *is_number {
            let is_wrong = |at: &usize| release[*at].is_some_and(|label| !is_mean(label));
            return Err(Unreadable((0..release.len()).filter(is_wrong).collect()));
        }
    }
    let is_raw = matches!(known, LabelKnowledge::Leaves(_));
    let known = match known {
        // The outside table may be another release.
        LabelKnowledge::Leaves(hierarchy) => LabelKnowledge::Tree(hierarchy.clone()),
        // Another release may hold labels where this one holds values.
        LabelKnowledge::Plain(Some(kind)) => LabelKnowledge::Kind(*kind),
        LabelKnowledge::Plain(None) | LabelKnowledge::Means { .. } => LabelKnowledge::Nothing,
        other => other.clone(),
    };
    let labels = Labels { release, outside, parse };
    let mut is_left_out = vec![false; outside.len()];
    let found = match labels.read(&known, &mut is_left_out) {
        Err(_) => {
            is_left_out.fill(false);
            let (alone, parse) = labels.kind_of_release(&known)?;
            Labels { parse, ..labels }.read(&alone, &mut is_left_out)
        }
        found => found,
    };
    let (domain, cells) = found?;
    let mut cells = cells.into_iter();
    let mut of_release: Vec<Cell> = cells.by_ref().take(release.len()).collect();
    let mut of_outside: Vec<Cell> = cells.collect();
    if let LabelKnowledge::Tree(hierarchy) = &known {
        read_leaves(hierarchy, outside, &mut of_outside);
        if is_raw {
            read_leaves(hierarchy, release, &mut of_release);
        }
    }
    Ok(Both { release: of_release, outside: of_outside, read: taken_for(&known, &domain) })
}

/// A leaf of a table of values is that leaf, though a node above it may have the same name.
fn read_leaves(hierarchy: &Hierarchy, texts: &[Option<&str>], cells: &mut [Cell]) {
    let codes: BTreeMap<&str, u32> = hierarchy.leaves().zip(0..).collect();
    for (text, cell) in texts.iter().zip(cells) {
        let code = text.filter(|text| *text != "*").and_then(|text| codes.get(text));
        if let Some(&code) = code {
            *cell = Cell::set(&[code]);
        }
    }
}

/// Means are compatible with everything. So are empty cells: they represent a class without values,
/// or a mean that was withheld because it would reveal too much about a few people.
fn means(release: &[Option<&str>], outside: &[Option<&str>]) -> Both {
    let release = vec![Cell::ANY; release.len()];
    let outside = outside.iter().enumerate().map(|(at, label)| match label {
        None => Cell::MISSING,
        Some("*") => Cell::ANY,
        Some(_) => Cell::strange(at),
    });
    Both { release, outside: outside.collect(), read: Read::Means }
}

fn taken_for(known: &LabelKnowledge, domain: &Domain) -> Read {
    match (known, domain) {
        (LabelKnowledge::Tree(_), _) => Read::Hierarchy,
        (LabelKnowledge::Order(_), _) => Read::Order,
        (_, Domain::Line(line)) => Read::Line(line.kind),
        (LabelKnowledge::Nothing, Domain::List(_)) => Read::Texts,
        (_, Domain::List(_)) => Read::Values,
    }
}

struct Labels<'a> {
    release: &'a [Option<&'a str>],
    outside: &'a [Option<&'a str>],
    parse: Parse,
}

impl<'a> Labels<'a> {
    /// Reads the labels of both tables together, without labels of the outside table that cannot be
    /// understood.
    fn read(
        &self,
        known: &LabelKnowledge,
        is_left_out: &mut [bool],
    ) -> Result<(Domain, Vec<Cell>), Unreadable> {
        loop {
            // Stars cover anything, regardless of what else the column contains.
            let (texts, places) = self.said(is_left_out);
            if texts.is_empty() {
                let domain = Domain::List(query::List::natural(Vec::new(), self.parse));
                return Ok((domain, self.cells(&[], &[], is_left_out)));
            }
            let wrong = match read_labels(&texts, known, None, self.parse) {
                Ok((domain, spreads)) => {
                    let cells = self.cells(&places, &spreads, is_left_out);
                    return Ok((domain, cells));
                }
                Err(Unreadable(wrong)) => wrong,
            };
            let wrong: Vec<usize> = wrong.into_iter().map(|at| places[at]).collect();
            let n = self.release.len();
            let of_release: Vec<usize> = wrong.iter().copied().filter(|at| *at < n).collect();
            if !of_release.is_empty() || wrong.is_empty() {
                return Err(Unreadable(of_release));
            }
            for at in wrong {
                is_left_out[at - n] = true;
            }
        }
    }

    /// The labels that have a meaning, and their places among the labels of both tables.
    fn said(&self, is_left_out: &[bool]) -> (Vec<Option<&'a str>>, Vec<usize>) {
        let all = self.release.iter().chain(self.outside).enumerate();
        let n = self.release.len();
        let is_left_out = |at: usize| at.checked_sub(n).is_some_and(|at| is_left_out[at]);
        let said = all.filter(|(at, label)| **label != Some("*") && !is_left_out(*at));
        said.map(|(at, label)| (*label, at)).unzip()
    }

    fn cells(
        &self,
        places: &[usize],
        spreads: &[query::Spread],
        is_left_out: &[bool],
    ) -> Vec<Cell> {
        let n = self.release.len();
        let mut cells = vec![Cell::ANY; n + self.outside.len()];
        for (at, is_left_out) in is_left_out.iter().enumerate() {
            if *is_left_out {
                cells[n + at] = Cell::strange(at);
            }
        }
        for (&at, spread) in places.iter().zip(spreads) {
            cells[at] = Cell::of(spread);
        }
        cells
    }

    /// The kind of the release's labels alone, if those of the other table obscure it.
    fn kind_of_release(
        &self,
        known: &LabelKnowledge,
    ) -> Result<(LabelKnowledge, Parse), Unreadable> {
        let places: Vec<usize> =
            (0..self.release.len()).filter(|&at| self.release[at] != Some("*")).collect();
        let texts: Vec<Option<&str>> = places.iter().map(|&at| self.release[at]).collect();
        match read_labels(&texts, known, None, self.parse) {
            Ok((Domain::Line(line), _)) => {
                let parse = if line.kind == Kind::Integer { digits } else { self.parse };
                Ok((LabelKnowledge::Kind(line.kind), parse))
            }
            Ok(_) => Ok((known.clone(), self.parse)),
            Err(Unreadable(wrong)) => {
                Err(Unreadable(wrong.into_iter().map(|at| places[at]).collect()))
            }
        }
    }
}

/// A whole number, possibly with leading zeros, which codes may have lost in one of the tables.
fn digits(_: Kind, text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_whole && digits.len() <= 15)
}

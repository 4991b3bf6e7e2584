//! The cells of regions: everything between cuts, whether or not the table has it.

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Between, Cell, End, Shape};

/// A place where a line is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPlace {
    /// The first value above the cut.
    pub first: End,
    /// The last value below the cut, if neighbouring values are 1 apart.
    pub last_below: Option<End>,
}

/// What the cells of regions are made from.
#[derive(Clone, Copy, Debug)]
pub struct Regions<'a> {
    /// By attribute, the place of each cut, by the first code above it. Only lines of numbers,
    /// dates and times have cut places.
    pub places: &'a [BTreeMap<u32, CutPlace>],
    /// By attribute, the codes that a set of unordered values may name.
    pub is_known: &'a [Vec<bool>],
}

impl Regions<'_> {
    /// The cell of a run of codes. Missing values are in no range: with them the cell is
    /// "anything".
    pub(crate) fn cell(
        &self,
        at: usize,
        attribute: &Attribute,
        (lo, hi): (u32, u32),
        has_missing: bool,
    ) -> Cell {
        let n_values = attribute.n_values();
        if lo >= n_values {
            return Cell::Value(lo);
        }
        let last = hi.min(n_values - 1);
        let is_whole = lo == 0 && last == n_values - 1;
        match &attribute.shape {
            Shape::Numeric | Shape::Ordinal if has_missing => Cell::All,
            Shape::Numeric => self.between(at, lo, last),
            Shape::Ordinal if is_whole => Cell::All,
            Shape::Ordinal => attribute.cell(lo, last, &[]),
            Shape::Unordered => {
                let is_known = &self.is_known[at];
                let known: Vec<u32> = (lo..=hi).filter(|&code| is_known[code as usize]).collect();
                let n_known = is_known.iter().filter(|is_known| **is_known).count();
                match (known.first(), known.last()) {
                    _ if known.len() == n_known => Cell::All,
                    (Some(&first), Some(&last)) => attribute.cell(first, last, &known),
                    _ => Cell::All,
                }
            }
            Shape::Tree(_) => attribute.cell(lo, if has_missing { hi } else { last }, &[]),
        }
    }

    fn between(&self, at: usize, lo: u32, hi: u32) -> Cell {
        let places = &self.places[at];
        let (first, above) = (places.get(&lo), places.get(&(hi + 1)));
        // The line is not cut here; a table may have values on only one side of a cut.
        if first.is_none() && above.is_none() {
            return Cell::All;
        }
        Cell::Between(Box::new(Between {
            lo,
            hi,
            from: first.map(|place| place.first.clone()),
            below: above.map(|place| place.first.clone()),
            last: above.and_then(|place| place.last_below.clone()),
        }))
    }
}

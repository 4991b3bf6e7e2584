//! An index of the cells of a released column, to find those that are compatible with another cell.

use super::cell::Cell;

/// Cells sorted by their least keys.
pub(super) struct Index<'a> {
    cells: &'a [Cell],
    /// Cells with values, by least key.
    by_least: Vec<u32>,
    /// By place in that order, the greatest key so far.
    farthest: Vec<f64>,
    any: Vec<u32>,
    missing: Vec<u32>,
}

impl<'a> Index<'a> {
    pub(super) fn new(cells: &'a [Cell]) -> Index<'a> {
        let all = || (0u32..).zip(cells);
        let places = |is: fn(&Cell) -> bool| -> Vec<u32> {
            all().filter(|(_, cell)| is(cell)).map(|(at, _)| at).collect()
        };
        let any = places(|cell| cell.is_any);
        let missing = places(|cell| cell.may_be_missing && !cell.is_any);
        let mut by_least = places(|cell| !cell.is_any && cell.lo <= cell.hi);
        by_least.sort_by(|&a, &b| cells[a as usize].lo.total_cmp(&cells[b as usize].lo));
        let farthest = by_least
            .iter()
            .scan(f64::NEG_INFINITY, |hi, &at| {
                *hi = hi.max(cells[at as usize].hi);
                Some(*hi)
            })
            .collect();
        Index { cells, by_least, farthest, any, missing }
    }

    /// Calls `each` with every compatible cell, possibly more than once.
    pub(super) fn compatible(&self, cell: &Cell, mut each: impl FnMut(u32)) {
        if cell.is_any {
            (0u32..).zip(self.cells).for_each(|(at, _)| each(at));
            return;
        }
        self.any.iter().for_each(|&at| each(at));
        if cell.may_be_missing {
            self.missing.iter().for_each(|&at| each(at));
        }
        let before = |&at: &u32| self.cells[at as usize].lo <= cell.hi;
        let end = self.by_least.partition_point(before);
        for place in (0..end).rev() {
            if self.farthest[place] < cell.lo {
                break;
            }
            let at = self.by_least[place];
            if self.cells[at as usize].is_compatible(cell) {
                each(at);
            }
        }
    }
}

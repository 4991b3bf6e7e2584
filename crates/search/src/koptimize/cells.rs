//! How atoms change as cuts are removed: new keys, and the numbers of the cells that they fall
//! into.

use super::grid::Grid;
use super::price::Price;
use super::{Field, Ground, Key};

/// Removed cuts of one attribute.
pub(super) struct Change<'a> {
    field: Field,
    is_touched: &'a [bool],
    placed: &'a [u64],
}

impl<'a> Change<'a> {
    /// The change of an attribute.
    pub(super) fn new<P: Price, const N: usize>(
        ground: &Ground<P, N>,
        grid: &'a Grid<N>,
        attribute: usize,
    ) -> Change<'a> {
        let (is_touched, placed) = grid.line(attribute);
        Change { field: ground.fields[attribute], is_touched, placed }
    }

    /// Whether a cut was removed within the interval of a key.
    #[inline]
    pub(super) fn touches<const N: usize>(&self, key: &Key<N>) -> bool {
        self.is_touched[self.field.code(key)]
    }

    /// Puts the first code of its interval into a key.
    #[inline]
    pub(super) fn apply<const N: usize>(&self, key: &mut Key<N>) {
        let placed = self.placed[self.field.code(key)];
        key[self.field.word] &= !(self.field.mask << self.field.shift);
        key[self.field.word] |= placed;
    }
}

/// The numbered cells of a class: on every attribute, an interval between cuts that may still be
/// made.
pub(super) struct Cells<const N: usize> {
    /// The field of the code in a key, and the place of its entry.
    attributes: Vec<(Field, usize)>,
    /// By code, the first code of its interval, shifted to its place in a key, and the contribution
    /// of the interval to the cell's number.
    entries: Vec<(u64, usize)>,
    /// The key of the other attributes, which do not matter.
    rest: Key<N>,
    pub(super) n_all: usize,
}

impl<const N: usize> Cells<N> {
    /// `None` if there are more than `most` cells.
    pub(super) fn new<P: Price>(
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        intervals: &[(u32, u32)],
        most: usize,
    ) -> Option<Cells<N>> {
        let mut n_all = 1usize;
        for (attribute, &interval) in intervals.iter().enumerate() {
            n_all = n_all.checked_mul(grid.live(attribute, interval).len() + 1)?;
            if n_all > most {
                return None;
            }
        }
        let mut cells =
            Cells { attributes: Vec::new(), entries: Vec::new(), rest: [0; N], n_all: 1 };
        for (attribute, &(lo, hi)) in intervals.iter().enumerate() {
            let field = ground.fields[attribute];
            let (_, placed) = grid.line(attribute);
            let n_live = grid.n_live(attribute);
            let first = n_live[lo as usize];
            if first == n_live[hi as usize] {
                cells.rest[field.word] |= placed[lo as usize];
                continue;
            }
            // Codes start at `lo`.
            cells.attributes.push((field, cells.entries.len().wrapping_sub(lo as usize)));
            cells.entries.extend(
                (lo as usize..=hi as usize)
                    .map(|code| (placed[code], (n_live[code] - first) as usize * cells.n_all)),
            );
            cells.n_all *= (n_live[hi as usize] - first) as usize + 1;
        }
        Some(cells)
    }

    /// The key of the first codes of an atom's cell, and the number of the cell.
    #[inline]
    pub(super) fn of(&self, key: &Key<N>) -> (Key<N>, usize) {
        let mut cell = 0;
        let mut new = self.rest;
        for (field, from) in &self.attributes {
            let code = field.code(key);
            let (placed, counts) = self.entries[from.wrapping_add(code)];
            new[field.word] |= placed;
            cell += counts;
        }
        (new, cell)
    }
}

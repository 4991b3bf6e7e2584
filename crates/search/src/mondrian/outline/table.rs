//! Rows by code and kind: a region's points projected on one attribute.

use incrowd_data::Codes;

use crate::partition::{Buffers, Extent};

/// Rows by code of an attribute and kind of point.
pub(super) struct KindTable {
    lo: u32,
    n_kinds: usize,
    cells: Cells,
}

enum Cells {
    /// All possible entries.
    Dense(Vec<u32>),
    /// The entries that occur; the first `n_merged` of them are ascending and distinct.
    Sparse { entries: Vec<Entry>, n_merged: usize },
}

#[derive(Clone, Copy)]
struct Entry {
    code: u32,
    kind: u32,
    rows: u32,
}

/// Below this number, entries are not merged.
const FEW: usize = 1 << 12;

/// The size of a table that counts the points of a region.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// Codes that can occur.
    pub(super) extent: Extent,
    pub(super) n_kinds: usize,
    /// An upper bound of the number of points.
    pub(super) points: u64,
}

impl Size {
    fn dense_bytes(&self) -> u64 {
        let n_codes = u64::from(self.extent.hi - self.extent.lo) + 1;
        n_codes.saturating_mul(4 * self.n_kinds as u64)
    }

    /// Twice the possible entries: those that are merged and those that are not yet.
    fn sparse_bytes(&self) -> u64 {
        let n_entries = self.points.min(self.dense_bytes() / 4);
        2 * size_of::<Entry>() as u64 * n_entries.max(FEW as u64)
    }

    fn is_dense(&self) -> bool {
        self.dense_bytes() <= self.sparse_bytes()
    }

    /// Bytes of the table.
    pub(super) fn bytes(&self) -> u64 {
        self.dense_bytes().min(self.sparse_bytes())
    }

    /// An upper bound of the bytes of its projection.
    pub(super) fn projected_bytes(&self) -> u64 {
        12 * self.points.min(self.dense_bytes() / 4)
    }
}

impl KindTable {
    pub(super) fn new(size: Size) -> KindTable {
        let Size { extent, n_kinds, .. } = size;
        let cells = if size.is_dense() {
            let n_cells = usize::try_from(size.dense_bytes() / 4).expect("fits the memory");
            Cells::Dense(vec![0; n_cells])
        } else {
            Cells::Sparse { entries: Vec::new(), n_merged: 0 }
        };
        KindTable { lo: extent.lo, n_kinds, cells }
    }

    /// Counts some points of a chunk.
    pub(super) fn add(
        &mut self,
        codes: &Codes,
        points: &[u32],
        counts: Option<&[u32]>,
        kinds: Option<&[u32]>,
    ) {
        match codes {
            Codes::U8(codes) => self.add_codes(codes, points, counts, kinds),
            Codes::U16(codes) => self.add_codes(codes, points, counts, kinds),
            Codes::U32(codes) => self.add_codes(codes, points, counts, kinds),
        }
    }

    fn add_codes<C: Copy + Into<u32>>(
        &mut self,
        codes: &[C],
        points: &[u32],
        counts: Option<&[u32]>,
        kinds: Option<&[u32]>,
    ) {
        let code = |point: usize| codes[point].into();
        match (counts, kinds) {
            (None, None) => self.add_points(points, code, |_| 1, |_| 0),
            (Some(counts), None) => self.add_points(points, code, |at| counts[at], |_| 0),
            (None, Some(kinds)) => self.add_points(points, code, |_| 1, |at| kinds[at]),
            (Some(counts), Some(kinds)) => {
                self.add_points(points, code, |at| counts[at], |at| kinds[at]);
            }
        }
    }

    #[inline]
    fn add_points(
        &mut self,
        points: &[u32],
        code: impl Fn(usize) -> u32,
        rows: impl Fn(usize) -> u32,
        kind: impl Fn(usize) -> u32,
    ) {
        match &mut self.cells {
            Cells::Dense(cells) => {
                for point in points.iter().map(|&point| point as usize) {
                    let at = (code(point) - self.lo) as usize * self.n_kinds;
                    cells[at + kind(point) as usize] += rows(point);
                }
            }
            Cells::Sparse { entries, n_merged } => {
                entries.extend(points.iter().map(|&point| {
                    let point = point as usize;
                    Entry { code: code(point), kind: kind(point), rows: rows(point) }
                }));
                if entries.len() >= FEW.max(2 * *n_merged) {
                    merge(entries);
                    *n_merged = entries.len();
                }
            }
        }
    }

    /// The points that were counted, grouped by code and kind.
    pub(super) fn project(self, attribute: usize) -> Projection {
        let mut found = Projection { attribute, codes: vec![], rows: vec![], kinds: vec![] };
        match self.cells {
            Cells::Dense(cells) => {
                for (code, of_code) in (self.lo..).zip(cells.chunks_exact(self.n_kinds)) {
                    for (kind, &rows) in (0..).zip(of_code) {
                        if rows > 0 {
                            found.push(Entry { code, kind, rows });
                        }
                    }
                }
            }
            Cells::Sparse { mut entries, .. } => {
                merge(&mut entries);
                for entry in entries {
                    found.push(entry);
                }
            }
        }
        found
    }
}

/// Sorts entries and adds up those of the same code and kind.
fn merge(entries: &mut Vec<Entry>) {
    entries.sort_unstable_by_key(|entry| (entry.code, entry.kind));
    entries.dedup_by(|next, kept| {
        let is_same = (next.code, next.kind) == (kept.code, kept.kind);
        kept.rows += if is_same { next.rows } else { 0 };
        is_same
    });
}

/// The points of a region projected on one attribute, ascending.
pub(super) struct Projection {
    pub(super) attribute: usize,
    pub(super) codes: Vec<u32>,
    pub(super) rows: Vec<u32>,
    kinds: Vec<u32>,
}

impl Projection {
    fn push(&mut self, entry: Entry) {
        self.codes.push(entry.code);
        self.rows.push(entry.rows);
        self.kinds.push(entry.kind);
    }

    /// The extent of its points.
    pub(super) fn extent(&self) -> Extent {
        let (first, last) = (self.codes.first(), self.codes.last());
        let (lo, hi) = first.zip(last).expect("a region that is cut has points");
        Extent { lo: *lo, hi: *hi }
    }

    /// The projection as points whose vectors are kinds.
    pub(super) fn buffers(&mut self) -> Buffers<'_, u32> {
        Buffers {
            first: self.attribute,
            n_attributes: 1,
            codes: &mut self.codes,
            rows: &mut self.rows,
            vectors: &mut self.kinds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the points twice: in a dense table and in a sparse one.
    #[test]
    fn dense_and_sparse_tables_agree() {
        let (n, n_kinds) = (50_000u32, 7);
        let extent = Extent { lo: 100, hi: 40_099 };
        let codes = Codes::pack(1 << 17, (0..n).map(|at| 100 + at.wrapping_mul(7919) % 3_000));
        let kinds: Vec<u32> = (0..n).map(|at| at % 7).collect();
        let counts: Vec<u32> = (0..n).map(|at| 1 + at % 3).collect();
        let project = |points: u64| {
            let mut table = KindTable::new(Size { extent, n_kinds, points });
            let is_dense = matches!(table.cells, Cells::Dense(_));
            for part in (0..n).collect::<Vec<u32>>().chunks(999) {
                table.add(&codes, part, Some(&counts), Some(&kinds));
            }
            if let Cells::Sparse { entries, .. } = &table.cells {
                assert!(entries.len() <= 2 * 21_000, "{} entries are held", entries.len());
            }
            (is_dense, table.project(3))
        };
        let ((is_dense, dense), (is_other, sparse)) = (project(1 << 20), project(5_000));
        assert!(is_dense && !is_other);
        assert_eq!(dense.codes, sparse.codes);
        assert_eq!((&dense.rows, &dense.kinds), (&sparse.rows, &sparse.kinds));
        assert_eq!(dense.rows.iter().sum::<u32>(), counts.iter().sum());
        assert_eq!(dense.codes.len(), 21_000);
        assert_eq!(dense.extent(), Extent { lo: 100, hi: 3_099 });
    }
}

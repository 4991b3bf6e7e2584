//! The classes of an assignment and the cells that stand for them.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use incrowd_data::{
    Assignment, Attribute, Cell, Codes, FrequencySet, PartitionTree, Recoded, RecodedColumn,
    SUPPRESSED, Shape,
};
use rayon::prelude::*;

/// The classes of a release, numbered in the order of their cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Sizes and cells.
    pub recoded: Recoded,
    /// By class of the assignment, its number here; [`SUPPRESSED`] for classes that are not
    /// released or have no rows. Classes with the same cells are one.
    pub number_of: Vec<u32>,
}

/// The vectors of each class.
struct Members {
    starts: Vec<usize>,
    vectors: Vec<u32>,
    sizes: Vec<u64>,
}

impl Members {
    fn of(&self, class: usize) -> &[u32] {
        &self.vectors[self.starts[class]..self.starts[class + 1]]
    }
}

/// The least cells that cover the rows of each class.
#[must_use]
pub fn recode(set: &FrequencySet, assignment: &Assignment) -> Classes {
    let members = members(set, assignment);
    let columns: Vec<RecodedColumn> = set
        .attributes
        .par_iter()
        .zip(&set.vectors)
        .map(|(attribute, codes)| cover(attribute, codes, &members))
        .collect();
    number(columns, &members.sizes, suppressed(set, assignment))
}

/// Cells that cover the whole region of each class, which tell less about its rows. Missing values
/// are covered only where the class has some.
#[must_use]
pub fn recode_regions(
    set: &FrequencySet,
    assignment: &Assignment,
    tree: &PartitionTree,
) -> Classes {
    let members = members(set, assignment);
    let n_codes: Vec<u32> = set.attributes.iter().map(Attribute::n_codes).collect();
    let regions = tree.regions(&n_codes);
    let columns = set
        .attributes
        .iter()
        .enumerate()
        .map(|(at, attribute)| {
            let codes = &set.vectors[at];
            let cells = (0..members.sizes.len()).map(|class| {
                let (lo, mut hi) = regions[class][at];
                if attribute.dictionary.missing() == Some(hi)
                    && members.of(class).iter().all(|&v| codes.get(v as usize) != hi)
                {
                    hi = hi.saturating_sub(1).max(lo);
                }
                attribute.cell(lo, hi, &(lo..=hi).collect::<Vec<u32>>())
            });
            intern(cells)
        })
        .collect();
    number(columns, &members.sizes, suppressed(set, assignment))
}

fn suppressed(set: &FrequencySet, assignment: &Assignment) -> u64 {
    let of_class = assignment.class_of.iter().zip(&set.counts);
    of_class.filter(|(class, _)| **class == SUPPRESSED).map(|(_, &rows)| u64::from(rows)).sum()
}

fn members(set: &FrequencySet, assignment: &Assignment) -> Members {
    let n_classes = assignment.n_classes as usize;
    // A divided vector is in several classes; the others in one.
    let divided: BTreeSet<u32> = assignment.parts.iter().map(|(vector, ..)| *vector).collect();
    let whole = (0u32..).zip(assignment.class_of.iter().zip(&set.counts));
    let whole = whole
        .filter(|(vector, (class, _))| **class != SUPPRESSED && !divided.contains(vector))
        .map(|(vector, (&class, &rows))| (vector, class, rows));
    let all: Vec<(u32, u32, u32)> = whole.chain(assignment.parts.iter().copied()).collect();
    let mut starts = vec![0usize; n_classes + 1];
    let mut sizes = vec![0u64; n_classes];
    for &(_, class, rows) in &all {
        starts[class as usize + 1] += 1;
        sizes[class as usize] += u64::from(rows);
    }
    for class in 0..n_classes {
        starts[class + 1] += starts[class];
    }
    let mut next = starts.clone();
    let mut vectors = vec![0; all.len()];
    for (vector, class, _) in all {
        vectors[next[class as usize]] = vector;
        next[class as usize] += 1;
    }
    Members { starts, vectors, sizes }
}

/// The cells of one attribute.
fn cover(attribute: &Attribute, codes: &Codes, members: &Members) -> RecodedColumn {
    let n_classes = members.sizes.len();
    let is_unordered = matches!(attribute.shape, Shape::Unordered);
    if is_unordered && attribute.n_codes() > 64 {
        return intern((0..n_classes).map(|class| {
            let mut present: Vec<u32> =
                members.of(class).iter().map(|&vector| codes.get(vector as usize)).collect();
            present.sort_unstable();
            present.dedup();
            match (present.first(), present.last()) {
                (Some(&lo), Some(&hi)) => attribute.cell(lo, hi, &present),
                _ => Cell::All,
            }
        }));
    }
    // Cells are known by a 64-bit key: the set as bits, or the least and greatest code.
    let mut column = RecodedColumn::default();
    let mut known: HashMap<u64, u32> = HashMap::new();
    for class in 0..n_classes {
        let of_class = members.of(class).iter().map(|&vector| codes.get(vector as usize));
        let key = if is_unordered {
            of_class.fold(0, |bits, code| bits | 1 << code)
        } else {
            let (lo, hi) = of_class.fold((u32::MAX, 0), |(lo, hi), c| (lo.min(c), hi.max(c)));
            u64::from(lo) << 32 | u64::from(hi)
        };
        let cell = *known.entry(key).or_insert_with(|| {
            column.cells.push(cell_of_key(attribute, key, is_unordered));
            u32::try_from(column.cells.len() - 1).expect("fewer cells than classes")
        });
        column.of_class.push(cell);
    }
    column
}

fn cell_of_key(attribute: &Attribute, key: u64, is_unordered: bool) -> Cell {
    if is_unordered {
        let present: Vec<u32> = (0..64).filter(|code| key >> code & 1 == 1).collect();
        match (present.first(), present.last()) {
            (Some(&lo), Some(&hi)) => attribute.cell(lo, hi, &present),
            _ => Cell::All,
        }
    } else {
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits");
        let (lo, hi) = (half(key >> 32), half(key));
        // A class without rows covers nothing; it is never released.
        if lo > hi { Cell::All } else { attribute.cell(lo, hi, &[]) }
    }
}

fn intern(cells: impl Iterator<Item = Cell>) -> RecodedColumn {
    let mut column = RecodedColumn::default();
    let mut known: HashMap<Cell, u32> = HashMap::new();
    for cell in cells {
        let next = u32::try_from(column.cells.len()).expect("fewer cells than classes");
        let id = *known.entry(cell.clone()).or_insert(next);
        if id == next {
            column.cells.push(cell);
        }
        column.of_class.push(id);
    }
    column
}

/// Numbers the classes that have rows by their cells, column by column.
fn number(columns: Vec<RecodedColumn>, sizes: &[u64], n_suppressed: u64) -> Classes {
    let ranks: Vec<Vec<u32>> = columns.iter().map(|column| ranks(&column.cells)).collect();
    let key = |class: u32| {
        columns.iter().zip(&ranks).map(move |(c, ranks)| ranks[c.of_class[class as usize] as usize])
    };
    let mut order: Vec<u32> = (0..).take(sizes.len()).collect();
    order.retain(|&class| sizes[class as usize] > 0);
    order.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    let mut number_of = vec![SUPPRESSED; sizes.len()];
    let mut first_of: Vec<u32> = Vec::new();
    let mut merged: Vec<u64> = Vec::new();
    for &class in &order {
        let is_same = first_of.last().is_some_and(|&last| key(last).eq(key(class)));
        if !is_same {
            first_of.push(class);
            merged.push(0);
        }
        *merged.last_mut().expect("a class is open") += sizes[class as usize];
        number_of[class as usize] = u32::try_from(merged.len() - 1).expect("as many as before");
    }
    let columns = columns
        .into_par_iter()
        .map(|column| {
            let of_class: Vec<u32> =
                first_of.iter().map(|&c| column.of_class[c as usize]).collect();
            RecodedColumn { cells: column.cells, of_class }
        })
        .map(drop_unused)
        .collect();
    Classes { recoded: Recoded { sizes: merged, columns, n_suppressed }, number_of }
}

/// Cells of classes that are not released must not stand in any list that is.
fn drop_unused(column: RecodedColumn) -> RecodedColumn {
    let mut used = vec![false; column.cells.len()];
    column.of_class.iter().for_each(|&cell| used[cell as usize] = true);
    let mut next = 0;
    let new_id: Vec<u32> = used
        .iter()
        .map(|&is_used| {
            next += u32::from(is_used);
            next.saturating_sub(1)
        })
        .collect();
    let cells =
        column.cells.into_iter().zip(&used).filter(|(_, used)| **used).map(|(c, _)| c).collect();
    let of_class = column.of_class.iter().map(|&cell| new_id[cell as usize]).collect();
    RecodedColumn { cells, of_class }
}

/// The place of each cell in the order of least code, then greatest.
fn ranks(cells: &[Cell]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(cells.len()).collect();
    let key = |cell: &Cell| match cell {
        Cell::Value(code) => (0, *code, *code),
        Cell::Range(lo, hi) => (0, *lo, *hi),
        Cell::Node(level, group) => (1, u32::from(*level), *group),
        Cell::Set(codes) => (0, codes[0], codes[codes.len() - 1]),
        Cell::All => (2, 0, 0),
    };
    order.sort_by(|&a, &b| {
        let (a, b) = (&cells[a as usize], &cells[b as usize]);
        key(a).cmp(&key(b)).then_with(|| a.cmp(b))
    });
    let mut ranks = vec![0; cells.len()];
    for (rank, cell) in (0..).zip(order) {
        ranks[cell as usize] = rank;
    }
    ranks
}

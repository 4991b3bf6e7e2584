//! The classes of an assignment and their cells.

use hashbrown::HashMap;
use incrowd_data::{
    Assignment, Attribute, Block, Cell, Codes, Cuts, Divided, FrequencySet, Level, Levels,
    PartitionTree, Recoded, RecodedColumn, SUPPRESSED, Shape,
};
use rayon::prelude::*;

use crate::Regions;

/// The classes of a release that have rows, in the order of the assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Sizes and cells.
    pub recoded: Recoded,
    /// By class of the assignment, its number here; [`SUPPRESSED`] for classes without rows.
    pub number_of: Vec<u32>,
}

/// The rows of each vector by class.
struct Placing<'a> {
    set: &'a FrequencySet,
    assignment: &'a Assignment,
    /// By vector, whether it is divided among several classes; empty if no vector is.
    is_divided: Vec<bool>,
}

impl<'a> Placing<'a> {
    fn new(set: &'a FrequencySet, assignment: &'a Assignment) -> Placing<'a> {
        let mut is_divided = Vec::new();
        if !assignment.shares.is_empty() {
            is_divided = vec![false; set.len()];
            for share in &assignment.shares {
                is_divided[share.vector as usize] = true;
            }
        }
        Placing { set, assignment, is_divided }
    }

    /// Vector, class and number of rows of everything that is released.
    fn iter(&self) -> impl Iterator<Item = (usize, usize, u32)> {
        let whole = self.assignment.class_of.iter().zip(&self.set.counts).enumerate();
        let is_whole = |vector: usize| !self.is_divided.get(vector).copied().unwrap_or(false);
        let whole = whole
            .filter(move |(vector, (class, _))| **class != SUPPRESSED && is_whole(*vector))
            .map(|(vector, (&class, &rows))| (vector, class as usize, rows));
        let shares = self.assignment.shares.iter();
        whole.chain(shares.map(|share| (share.vector as usize, share.class as usize, share.n_rows)))
    }

    fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.assignment.n_classes as usize];
        for (_, class, rows) in self.iter() {
            sizes[class] += u64::from(rows);
        }
        sizes
    }

    fn n_suppressed(&self) -> u64 {
        let of_class = self.assignment.class_of.iter().zip(&self.set.counts);
        of_class.filter(|(class, _)| **class == SUPPRESSED).map(|(_, &rows)| u64::from(rows)).sum()
    }
}

/// The least cells that cover the rows of each class. `divided` has, by attribute, the nodes of its
/// hierarchy that must not represent a class: cells overlap only if regions do.
#[must_use]
pub fn recode(set: &FrequencySet, assignment: &Assignment, divided: &[Divided]) -> Classes {
    let placing = Placing::new(set, assignment);
    let none = Divided::default();
    let columns: Vec<RecodedColumn> = (0..set.attributes.len())
        .into_par_iter()
        .map(|at| {
            let divided = divided.get(at).unwrap_or(&none);
            cover(&set.attributes[at], &set.vectors[at], &placing, divided)
        })
        .collect();
    number(columns, &placing.sizes(), placing.n_suppressed())
}

/// Cells that cover the whole region of each class and so reveal less about its rows. If given,
/// `says_missing` decides for a class and an attribute whether the cell covers missing values;
/// otherwise it does if the class has some.
#[must_use]
pub fn recode_regions(
    set: &FrequencySet,
    assignment: &Assignment,
    tree: &PartitionTree,
    regions: &Regions,
    says_missing: Option<&dyn Fn(usize, usize) -> bool>,
) -> Classes {
    let placing = Placing::new(set, assignment);
    let n_codes: Vec<u32> = set.attributes.iter().map(Attribute::n_codes).collect();
    let runs = tree.regions(&n_codes);
    let divided = tree.divided(&set.attributes, &[]);
    let sizes = placing.sizes();
    let column = |(at, attribute): (usize, &Attribute)| {
        let mut has_missing = vec![false; runs.len()];
        for (vector, class, _) in placing.iter() {
            let code = set.vectors[at].get(vector);
            has_missing[class] |= attribute.dictionary.missing() == Some(code);
        }
        if let Some(says_missing) = says_missing {
            has_missing = (0..runs.len()).map(|class| says_missing(class, at)).collect();
        }
        if matches!(attribute.shape, Shape::Tree(_)) {
            let leaves = tree.runs(at, attribute.n_codes());
            let cells = leaves.iter().zip(has_missing).enumerate();
            return intern(cells.map(|(class, (leaves, has_missing))| {
                let missing = attribute.dictionary.missing().filter(|_| !has_missing);
                nodes_of_region(attribute, leaves, missing, divided[at].of(class))
            }));
        }
        let cell = |(class, runs): (usize, &Vec<(u32, u32)>)| match runs.get(at) {
            Some(&run) if sizes[class] > 0 => regions.cell(at, attribute, run, has_missing[class]),
            // No row has this cell.
            _ => Cell::All,
        };
        intern(runs.iter().enumerate().map(cell))
    };
    let columns = set.attributes.iter().enumerate().map(column).collect();
    number(columns, &sizes, placing.n_suppressed())
}

/// The nodes of a region, without missing values if its class has none.
fn nodes_of_region(
    attribute: &Attribute,
    leaves: &[(u32, u32)],
    without: Option<u32>,
    divided: &[(Level, u32)],
) -> Cell {
    let last = |hi: u32| if Some(hi) == without { hi.checked_sub(1) } else { Some(hi) };
    let values = leaves.iter().filter_map(|&(lo, hi)| Some((lo, last(hi)?)));
    let values: Vec<(u32, u32)> = values.filter(|(lo, hi)| lo <= hi).collect();
    match (values.is_empty(), leaves.is_empty()) {
        (false, _) => attribute.cover(&values, divided),
        // A region of missing values only.
        (true, false) => attribute.cover(leaves, divided),
        (true, true) => Cell::All,
    }
}

/// The cells of a full-domain recoding: each class at the levels of a node.
#[must_use]
pub fn recode_levels(set: &FrequencySet, assignment: &Assignment, levels: &Levels) -> Classes {
    let placing = Placing::new(set, assignment);
    // Every vector of a class has the same cells.
    let mut vector_of = vec![None; assignment.n_classes as usize];
    for (vector, class, _) in placing.iter() {
        vector_of[class] = Some(vector);
    }
    let column = |attribute: &Attribute, codes: &Codes, level: Level| {
        intern(vector_of.iter().map(|vector| match (vector, &attribute.shape) {
            (Some(vector), Shape::Tree(hierarchy)) => {
                attribute.cell_at(level, hierarchy.group_of(level, codes.get(*vector)))
            }
            (Some(vector), _) => Cell::Value(codes.get(*vector)),
            (None, _) => Cell::All,
        }))
    };
    let columns = set.attributes.iter().zip(&set.vectors).zip(levels.iter());
    let columns = columns.map(|((attribute, codes), level)| column(attribute, codes, level));
    number(columns.collect(), &placing.sizes(), placing.n_suppressed())
}

/// The cells of a single-dimensional recoding that cover whole intervals. If given, `says_missing`
/// decides for an attribute whether the cell of its last interval covers missing values; otherwise
/// it does if a row has one.
#[must_use]
pub fn recode_intervals(
    set: &FrequencySet,
    assignment: &Assignment,
    cuts: &Cuts,
    regions: &Regions,
    says_missing: Option<&dyn Fn(usize) -> bool>,
) -> Classes {
    let placing = Placing::new(set, assignment);
    let cells = |at: usize| {
        let (attribute, codes) = (&set.attributes[at], &set.vectors[at]);
        let is_missing =
            |(vector, ..): (usize, _, _)| attribute.dictionary.missing() == Some(codes.get(vector));
        let has_missing =
            says_missing.map_or_else(|| placing.iter().any(is_missing), |says| says(at));
        let of_interval = |(lo, hi): (u32, u32)| {
            let is_last = attribute.dictionary.missing() == Some(hi);
            regions.cell(at, attribute, (lo, hi), has_missing && is_last)
        };
        cuts.intervals(at, attribute.n_codes()).map(of_interval).collect()
    };
    by_interval(set, &placing, cuts, cells)
}

/// The cells of a single-dimensional recoding: the interval of each class, the same for all classes
/// that share it. A cell covers only the part of its interval that released rows use, so that no
/// value of a suppressed row is printed; in a hierarchy, the cell is the interval's node.
#[must_use]
pub fn recode_cuts(set: &FrequencySet, assignment: &Assignment, cuts: &Cuts) -> Classes {
    let placing = Placing::new(set, assignment);
    let cells = |at: usize| {
        let (attribute, codes) = (&set.attributes[at], &set.vectors[at]);
        let mut is_released = vec![false; attribute.n_codes() as usize];
        placing.iter().for_each(|(vector, ..)| is_released[codes.get(vector) as usize] = true);
        let of_interval = |(lo, hi): (u32, u32)| {
            let present: Vec<u32> = (lo..=hi).filter(|&code| is_released[code as usize]).collect();
            let (Some(&first), Some(&last)) = (present.first(), present.last()) else {
                // Without released rows, no row has this cell.
                return Cell::All;
            };
            if !matches!(attribute.shape, Shape::Tree(_)) {
                return attribute.cell(first, last, &present);
            }
            let is_missing = attribute.dictionary.missing() == Some(hi);
            attribute.cell(lo, if is_missing && last < hi { hi - 1 } else { hi }, &[])
        };
        cuts.intervals(at, attribute.n_codes()).map(of_interval).collect()
    };
    let mut classes = by_interval(set, &placing, cuts, cells);
    hide_whole_sets(&set.attributes, &mut classes.recoded);
    classes
}

/// The same classes with cells that cover whole intervals, as a search that minimises a measure
/// counts them. These are for measures only: their ends may be values that only suppressed rows
/// have.
#[must_use]
pub fn whole_intervals(set: &FrequencySet, assignment: &Assignment, cuts: &Cuts) -> Recoded {
    let placing = Placing::new(set, assignment);
    let cells = |at: usize| {
        let attribute = &set.attributes[at];
        cuts.intervals(at, attribute.n_codes())
            .map(|(lo, hi)| attribute.cell(lo, hi, &(lo..=hi).collect::<Vec<u32>>()))
            .collect()
    };
    by_interval(set, &placing, cuts, cells).recoded
}

/// Classes whose cells are those of their intervals; `cells` returns the cells of an attribute.
fn by_interval(
    set: &FrequencySet,
    placing: &Placing,
    cuts: &Cuts,
    cells: impl Fn(usize) -> Vec<Cell>,
) -> Classes {
    let mut vector_of = vec![None; placing.assignment.n_classes as usize];
    for (vector, class, _) in placing.iter() {
        vector_of[class] = Some(vector);
    }
    let column = |at: usize| {
        let (codes, cells) = (&set.vectors[at], cells(at));
        let cell = |vector: usize| cells[cuts.interval_of(at, codes.get(vector))].clone();
        intern(vector_of.iter().map(|vector| vector.map_or(Cell::All, cell)))
    };
    let columns = (0..set.attributes.len()).map(column).collect();
    number(columns, &placing.sizes(), placing.n_suppressed())
}

/// Replaces sets of all values that a column of the release has by "anything". Whether a set is
/// complete must not depend on values that only suppressed rows have.
pub fn hide_whole_sets(attributes: &[Attribute], recoded: &mut Recoded) {
    for (attribute, column) in attributes.iter().zip(&mut recoded.columns) {
        if !matches!(attribute.shape, Shape::Unordered) {
            continue;
        }
        let mut released: Vec<u32> = Vec::new();
        for cell in &column.cells {
            match cell {
                Cell::Set(codes) => released.extend(codes),
                Cell::Value(code) => released.push(*code),
                // Larger than any set that is listed.
                _ => released.extend(0..attribute.n_codes()),
            }
        }
        released.sort_unstable();
        released.dedup();
        // If these are all values of the table, the label says so anyway.
        if released.len() == attribute.n_codes() as usize {
            continue;
        }
        for cell in &mut column.cells {
            if matches!(cell, Cell::Set(codes) if *codes == released) {
                *cell = Cell::All;
            }
        }
    }
}

/// The cells of a recoding by blocks of columns: the least cells that cover the rows of each group.
/// Groups are not regions, so the nodes of a hierarchy depend on the rows of the group alone.
#[must_use]
pub fn recode_blocks(set: &FrequencySet, assignment: &Assignment, blocks: &[Block]) -> Classes {
    let placing = Placing::new(set, assignment);
    let none = Divided::default();
    let mut columns = vec![RecodedColumn::default(); set.attributes.len()];
    for block in blocks {
        let grouped = Assignment::of_whole_vectors(block.group_of.clone(), block.n_groups);
        let group_of_class =
            group_of_class(&assignment.class_of, assignment.n_classes as usize, block);
        let groups = Placing::new(set, &grouped);
        for &at in &block.attributes {
            let (attribute, codes) = (&set.attributes[at], &set.vectors[at]);
            let by_group = if matches!(attribute.shape, Shape::Tree(_)) {
                cover_sets(codes, &groups, |present| attribute.least_cell(present))
            } else {
                cover(attribute, codes, &groups, &none)
            };
            let of_class = group_of_class.iter().map(|&group| by_group.of_class[group as usize]);
            columns[at] = RecodedColumn { of_class: of_class.collect(), cells: by_group.cells };
        }
    }
    number(columns, &placing.sizes(), placing.n_suppressed())
}

/// By class, its group in a block.
#[must_use]
pub fn group_of_class(class_of: &[u32], n_classes: usize, block: &Block) -> Vec<u32> {
    let mut group_of_class = vec![0; n_classes];
    for (&class, &group) in class_of.iter().zip(&block.group_of) {
        if class != SUPPRESSED {
            group_of_class[class as usize] = group;
        }
    }
    group_of_class
}

/// The cells of one attribute. Visits the vectors in their order and the classes at random: the
/// statistics of all classes fit a cache better than the vectors do.
fn cover(
    attribute: &Attribute,
    codes: &Codes,
    placing: &Placing,
    divided: &Divided,
) -> RecodedColumn {
    let n_classes = placing.assignment.n_classes as usize;
    if !matches!(attribute.shape, Shape::Unordered) {
        let mut extents = vec![(u32::MAX, 0); n_classes];
        for (vector, class, _) in placing.iter() {
            let (code, extent) = (codes.get(vector), &mut extents[class]);
            *extent = (extent.0.min(code), extent.1.max(code));
        }
        let is_several = several(attribute, &extents, divided);
        if !is_several.is_empty() {
            let listed = listed(codes, placing, &is_several);
            return cover_divided(attribute, &extents, divided, &listed);
        }
        let keys = extents.into_iter().map(|(lo, hi)| u64::from(lo) << 32 | u64::from(hi));
        return by_key(keys, |key| cell_of_extent(attribute, key));
    }
    if attribute.n_codes() > 64 {
        return cover_sets(codes, placing, |present| {
            attribute.cell(present[0], present[present.len() - 1], present)
        });
    }
    let mut bits = vec![0; n_classes];
    for (vector, class, _) in placing.iter() {
        bits[class] |= 1 << codes.get(vector);
    }
    by_key(bits.into_iter(), |bits| {
        let present: Vec<u32> = (0..64).filter(|code| bits >> code & 1 == 1).collect();
        match (present.first(), present.last()) {
            (Some(&lo), Some(&hi)) => attribute.cell(lo, hi, &present),
            _ => Cell::All,
        }
    })
}

/// The cells of classes, each given by a key.
fn by_key(keys: impl Iterator<Item = u64>, cell_of: impl Fn(u64) -> Cell) -> RecodedColumn {
    let mut column = RecodedColumn::default();
    let mut known: HashMap<u64, u32> = HashMap::new();
    for key in keys {
        let cell = *known.entry(key).or_insert_with(|| {
            column.cells.push(cell_of(key));
            u32::try_from(column.cells.len() - 1).expect("fewer cells than classes")
        });
        column.of_class.push(cell);
    }
    column
}

/// By class, whether the lowest node above all its leaves must not represent it; empty if there is
/// no such class.
fn several(attribute: &Attribute, extents: &[(u32, u32)], divided: &Divided) -> Vec<bool> {
    let Shape::Tree(hierarchy) = &attribute.shape else { return Vec::new() };
    if divided.is_empty() {
        return Vec::new();
    }
    let is_several = |(class, &(lo, hi)): (usize, &(u32, u32))| {
        lo < hi && hierarchy.holds_any(hierarchy.common(lo, hi), divided.of(class))
    };
    let is_several: Vec<bool> = extents.iter().enumerate().map(is_several).collect();
    if is_several.contains(&true) { is_several } else { Vec::new() }
}

/// The wanted classes with their codes, ascending.
fn listed(codes: &Codes, placing: &Placing, is_wanted: &[bool]) -> Vec<(usize, u32)> {
    let of_wanted = placing.iter().filter(|(_, class, _)| is_wanted[*class]);
    let mut pairs: Vec<(usize, u32)> =
        of_wanted.map(|(vector, class, _)| (class, codes.get(vector))).collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

/// The cells of a hierarchy column in which some classes (`listed` with their codes) need several
/// nodes.
fn cover_divided(
    attribute: &Attribute,
    extents: &[(u32, u32)],
    divided: &Divided,
    listed: &[(usize, u32)],
) -> RecodedColumn {
    let mut listed = listed.chunk_by(|a, b| a.0 == b.0).peekable();
    let cell = |(class, &(lo, hi)): (usize, &(u32, u32))| {
        if let Some(pairs) = listed.next_if(|pairs| pairs[0].0 == class) {
            let present: Vec<(u32, u32)> = pairs.iter().map(|&(_, code)| (code, code)).collect();
            return attribute.cover(&present, divided.of(class));
        }
        cell_of_extent(attribute, u64::from(lo) << 32 | u64::from(hi))
    };
    intern(extents.iter().enumerate().map(cell))
}

/// The cells of classes from all their codes, which `cell_of` receives in ascending order.
fn cover_sets(codes: &Codes, placing: &Placing, cell_of: impl Fn(&[u32]) -> Cell) -> RecodedColumn {
    let n_classes = placing.assignment.n_classes as usize;
    let mut cells = vec![Cell::All; n_classes];
    for of_class in listed(codes, placing, &vec![true; n_classes]).chunk_by(|a, b| a.0 == b.0) {
        let present: Vec<u32> = of_class.iter().map(|(_, code)| *code).collect();
        cells[of_class[0].0] = cell_of(&present);
    }
    intern(cells.into_iter())
}

/// The cell of a least and a greatest code, packed into one number.
fn cell_of_extent(attribute: &Attribute, key: u64) -> Cell {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits");
    let (lo, hi) = (half(key >> 32), half(key));
    // A class without rows covers nothing; it is never released.
    if lo > hi { Cell::All } else { attribute.cell(lo, hi, &[]) }
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

/// Numbers the classes that have rows.
fn number(columns: Vec<RecodedColumn>, sizes: &[u64], n_suppressed: u64) -> Classes {
    let mut number_of = vec![SUPPRESSED; sizes.len()];
    let mut with_rows: Vec<usize> = Vec::new();
    for (class, _) in sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
        number_of[class] = u32::try_from(with_rows.len()).expect("fewer classes than 2^32");
        with_rows.push(class);
    }
    let columns = columns
        .into_par_iter()
        .map(|column| {
            let of_class = with_rows.iter().map(|&class| column.of_class[class]).collect();
            let mut column = RecodedColumn { cells: column.cells, of_class };
            drop_unused(&mut column);
            column
        })
        .collect();
    let sizes = with_rows.iter().map(|&class| sizes[class]).collect();
    Classes { recoded: Recoded { sizes, columns, n_suppressed }, number_of }
}

/// Drops the cells that no class has: the cells of classes that are not released must not be in any
/// list that is.
pub fn drop_unused(column: &mut RecodedColumn) {
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
    let mut is_used = used.iter();
    column.cells.retain(|_| is_used.next().copied().unwrap_or(false));
    column.of_class.iter_mut().for_each(|cell| *cell = new_id[*cell as usize]);
}

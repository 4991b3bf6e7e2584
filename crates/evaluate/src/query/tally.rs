//! Sums over the vectors of labels.

use super::segment::Share;
use super::weigh::Weight;

/// What is known about the rows that satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally {
    /// Expected rows.
    pub(super) rows: f64,
    /// Rows that certainly satisfy it.
    pub(super) certain: u64,
    /// Rows that may satisfy it.
    pub(super) possible: u64,
    /// One tally per measured column.
    pub(super) columns: Vec<ColumnTally>,
}

impl Tally {
    pub(super) fn new(n_columns: usize) -> Tally {
        Tally {
            rows: 0.0,
            certain: 0,
            possible: 0,
            columns: vec![ColumnTally::default(); n_columns],
        }
    }

    pub(super) fn add_rows(&mut self, rows: u64, weight: Weight) {
        let expected = rows as f64 * weight.share;
        self.rows += expected;
        self.certain += if weight.is_certain { rows } else { 0 };
        self.possible += if weight.is_possible { rows } else { 0 };
    }

    /// Adds another tally, of which only a share is expected here; nothing is certain unless all of
    /// it is here.
    pub(super) fn add(&mut self, other: &Tally, share: f64, is_all: bool) {
        self.rows += other.rows * share;
        self.certain += if is_all { other.certain } else { 0 };
        self.possible += other.possible;
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.add(other, share, is_all);
        }
    }
}

/// What is known about one column over these rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColumnTally {
    /// Expected rows with a value.
    pub(super) rows: f64,
    pub(super) certain: u64,
    pub(super) possible: u64,
    /// Expected sum, and its bounds.
    pub(super) sum: f64,
    pub(super) sum_lo: f64,
    pub(super) sum_hi: f64,
    /// The bounds of the sum over any part of the rows.
    part_lo: f64,
    part_hi: f64,
    /// Whether every table that agrees with the labels has this sum.
    pub(super) is_sum_exact: bool,
    /// The least of the likely values, of the possible values, and of those that certainly occur.
    pub(super) min: Extreme,
    /// The same for the greatest value, all negated.
    pub(super) max: Extreme,
}

/// The least value of rows that may or may not satisfy a condition; infinite if there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    pub(super) likely: f64,
    pub(super) possible: f64,
    pub(super) attained: f64,
}

impl Default for Extreme {
    fn default() -> Extreme {
        Extreme { likely: f64::INFINITY, possible: f64::INFINITY, attained: f64::INFINITY }
    }
}

impl Extreme {
    fn add(&mut self, other: &Extreme, is_likely: bool, is_all: bool) {
        if is_likely {
            self.likely = self.likely.min(other.likely);
        }
        self.possible = self.possible.min(other.possible);
        if is_all {
            self.attained = self.attained.min(other.attained);
        }
    }

    fn certain(value: f64) -> Extreme {
        Extreme { likely: value, possible: value, attained: value }
    }
}

impl Default for ColumnTally {
    fn default() -> ColumnTally {
        ColumnTally {
            rows: 0.0,
            certain: 0,
            possible: 0,
            sum: 0.0,
            sum_lo: 0.0,
            sum_hi: 0.0,
            part_lo: 0.0,
            part_hi: 0.0,
            is_sum_exact: true,
            min: Extreme::default(),
            max: Extreme::default(),
        }
    }
}

/// Cells of a measured column under one vector of labels.
pub(super) struct Cells<'a> {
    pub(super) rows: u32,
    /// The parts of the label with a value, and how each satisfies the condition.
    pub(super) present: &'a [(Share, Weight)],
    /// Whether the cell may be missing.
    pub(super) may_be_missing: bool,
    /// The mean of the class.
    pub(super) mean: Option<f64>,
    /// Whether rows that certainly satisfy the condition form whole classes.
    pub(super) is_closed: bool,
    /// Whether the ends of the label occur in every class with that label.
    pub(super) has_ends: bool,
}

impl ColumnTally {
    pub(super) fn add_cells(&mut self, cells: &Cells) {
        let rows = f64::from(cells.rows);
        let Some(sums) = Sums::of(cells) else { return };
        let is_certain = cells.present.iter().all(|(_, weight)| weight.is_certain);
        let is_present = !cells.may_be_missing;
        self.rows += rows * sums.share;
        self.certain += if is_certain && is_present { u64::from(cells.rows) } else { 0 };
        self.possible += u64::from(cells.rows);
        self.sum += rows * sums.sum;
        let is_mean_exact = cells.mean.is_some() && cells.is_closed && is_certain && is_present;
        let is_one_value = cells.present.len() == 1 && sums.lo.total_cmp(&sums.hi).is_eq();
        let is_exact = is_certain && is_present && (is_one_value || is_mean_exact);
        self.is_sum_exact &= is_exact;
        let (lo, hi) = match (is_exact, is_certain && is_present) {
            (true, _) => (sums.sum, sums.sum),
            (false, true) => (sums.lo, sums.hi),
            (false, false) => (sums.lo.min(0.0), sums.hi.max(0.0)),
        };
        self.sum_lo += rows * lo;
        self.sum_hi += rows * hi;
        self.part_lo += rows * sums.lo.min(0.0);
        self.part_hi += rows * sums.hi.max(0.0);
        let is_whole_class = cells.has_ends && cells.is_closed && is_present;
        let attains = is_certain && (is_whole_class || (is_one_value && is_present));
        let attained = |end: f64| if attains { end } else { f64::INFINITY };
        let min = Extreme { likely: sums.likely.0, possible: sums.lo, attained: attained(sums.lo) };
        let max =
            Extreme { likely: -sums.likely.1, possible: -sums.hi, attained: attained(-sums.hi) };
        self.min.add(&min, true, true);
        self.max.add(&max, true, true);
    }

    /// Adds rows that all have one value.
    pub(super) fn add_value(&mut self, key: f64, of: &Tally, share: f64, is_all: bool) {
        let certain = if is_all { of.certain } else { 0 };
        let (n_certain, n_doubtful) = (certain as f64, (of.possible - certain) as f64);
        self.rows += of.rows * share;
        self.certain += certain;
        self.possible += of.possible;
        self.sum += of.rows * share * key;
        self.sum_lo += n_certain * key + n_doubtful * key.min(0.0);
        self.sum_hi += n_certain * key + n_doubtful * key.max(0.0);
        self.is_sum_exact &= certain == of.possible;
        self.min.add(&Extreme::certain(key), of.rows * share > 0.0, certain > 0);
        self.max.add(&Extreme::certain(-key), of.rows * share > 0.0, certain > 0);
    }

    fn add(&mut self, other: &ColumnTally, share: f64, is_all: bool) {
        self.rows += other.rows * share;
        self.certain += if is_all { other.certain } else { 0 };
        self.possible += other.possible;
        self.sum += other.sum * share;
        self.sum_lo += if is_all { other.sum_lo } else { other.part_lo };
        self.sum_hi += if is_all { other.sum_hi } else { other.part_hi };
        self.is_sum_exact &= other.is_sum_exact && (is_all || other.possible == 0);
        self.min.add(&other.min, share > 0.0, is_all);
        self.max.add(&other.max, share > 0.0, is_all);
    }
}

/// The contribution of one row under a vector of labels.
struct Sums {
    /// The probability that it has a value and satisfies the condition.
    share: f64,
    sum: f64,
    /// The least and the greatest of the possible values.
    lo: f64,
    hi: f64,
    /// The least and the greatest of the likely values.
    likely: (f64, f64),
}

impl Sums {
    /// `None` if no value can satisfy the condition.
    fn of(cells: &Cells) -> Option<Sums> {
        let mut sums = Sums {
            share: 0.0,
            sum: 0.0,
            lo: f64::INFINITY,
            hi: f64::NEG_INFINITY,
            likely: (f64::INFINITY, f64::NEG_INFINITY),
        };
        let mut present = 0.0;
        for (share, weight) in cells.present.iter().filter(|(_, weight)| weight.is_possible) {
            sums.lo = sums.lo.min(share.lo);
            sums.hi = sums.hi.max(share.hi);
            let both = share.weight * weight.share;
            if both > 0.0 {
                sums.share += both;
                sums.sum += both * share.mean;
                sums.likely.0 = sums.likely.0.min(share.likely.0);
                sums.likely.1 = sums.likely.1.max(share.likely.1);
            }
        }
        for (share, _) in cells.present {
            present += share.weight;
        }
        // The condition does not restrict the column here: its mean is that of the class.
        let first = cells.present.first()?.1.share;
        let is_alike = |weight: &Weight| weight.share.total_cmp(&first).is_eq();
        let is_alike = cells.present.iter().all(|(_, weight)| is_alike(weight));
        if let (Some(mean), true) = (cells.mean, is_alike) {
            sums.sum = first * present * mean;
        }
        (sums.lo <= sums.hi).then_some(sums)
    }
}

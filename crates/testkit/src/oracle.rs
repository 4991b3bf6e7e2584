//! Slow, obvious answers: what a class is, whether it can be cut, the result of strict Mondrian,
//! and the least cost of any partition.
//!
//! Written from LeFevre, DeWitt, Ramakrishnan: *Multidimensional K-Anonymity*, TR 1521, and the
//! departures from it that the module doc of `search::mondrian` lists. Works on rows, one at a
//! time, and recounts everything each time.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Hierarchy, Level, Shape};
use incrowd_privacy::{Class, Histogram, Model, all_hold};

use crate::Table;
use crate::assignment::Rows;

/// A table and the models for its classes.
#[derive(Clone, Copy, Debug)]
pub struct Oracle<'a> {
    /// The rows.
    pub table: &'a Table,
    /// What must hold.
    pub models: &'a [Box<dyn Model>],
    /// The extra column whose distinct codes k counts.
    pub entity: Option<usize>,
}

impl Oracle<'_> {
    /// The statistics of some rows.
    ///
    /// # Panics
    ///
    /// If `entity` is not an extra column.
    #[must_use]
    pub fn class(&self, rows: &[usize]) -> Class {
        let extra =
            |column: usize| rows.iter().map(move |&row| self.table.extra_codes(row)[column]);
        let histograms = (self.table.extras.iter().enumerate())
            .map(|(column, (_, dictionary))| {
                let mut histogram = Histogram::new(dictionary.n_codes());
                extra(column).for_each(|code| histogram.add(code, 1));
                histogram
            })
            .collect();
        let n_rows = rows.len() as u64;
        let n_entities = match self.entity {
            Some(column) => extra(column).collect::<BTreeSet<u32>>().len() as u64,
            None => n_rows,
        };
        Class { n_rows, n_entities, histograms }
    }

    /// Whether the rows may be a class.
    #[must_use]
    pub fn holds(&self, rows: &[usize]) -> bool {
        all_hold(self.models, &self.class(rows))
    }

    /// Whether every class satisfies the models relative to the rows of all classes.
    #[must_use]
    pub fn hold_within(&self, classes: &[Rows]) -> bool {
        let release = self.class(&classes.concat());
        classes.iter().all(|rows| {
            let class = self.class(rows);
            self.models.iter().all(|model| model.holds_within(&release, &class))
        })
    }

    /// Whether any cut of the rows leaves parts that may all be classes: the negation of minimality
    /// (TR 1521, section 2.3).
    #[must_use]
    pub fn has_allowable_cut(&self, rows: &[usize]) -> bool {
        (0..self.table.attributes.len())
            .any(|attribute| self.cuts(rows, attribute).iter().any(|cut| self.allows(cut)))
    }

    /// The cuts of some rows perpendicular to one attribute: between any two neighbouring codes, or
    /// the one along a tree.
    pub(crate) fn cuts(&self, rows: &[usize], attribute: usize) -> Vec<Vec<Rows>> {
        match &self.table.attributes[attribute].shape {
            Shape::Tree(tree) => self.tree_cut(tree, rows, attribute).into_iter().collect(),
            _ => cuts(self.table, rows, attribute),
        }
    }

    /// The cut along a tree: children of the lowest node that holds all rows. Children that may be
    /// a class are parts of their own; the others form one part, which absorbs the smallest of the
    /// former until it may be a class.
    fn tree_cut(&self, tree: &Hierarchy, rows: &[usize], attribute: usize) -> Option<Vec<Rows>> {
        let code = |row: usize| self.table.quasi(row)[attribute];
        let leaves = rows.iter().map(|&row| code(row)).collect();
        let below = lowest_node(tree, &leaves)?.0.checked_sub(1)?;
        let mut children: BTreeMap<u32, Rows> = BTreeMap::new();
        for &row in rows {
            children.entry(tree.group_of(Level(below), code(row))).or_default().push(row);
        }
        let (mut alone, others): (Vec<Rows>, Vec<Rows>) =
            children.into_values().partition(|child| self.holds(child));
        let mut rest = others.concat();
        while !rest.is_empty() && !self.holds(&rest) {
            let smallest = (0..alone.len()).min_by_key(|&at| alone[at].len())?;
            rest.extend(alone.remove(smallest));
        }
        if !rest.is_empty() {
            alone.push(rest);
        }
        (alone.len() > 1).then_some(alone)
    }

    pub(crate) fn allows(&self, cut: &[Rows]) -> bool {
        cut.iter().all(|part| self.holds(part))
    }

    /// Strict Mondrian, Figure 7: the classes of all rows. The whole table must be a class.
    #[must_use]
    pub fn mondrian(&self) -> Vec<Rows> {
        self.anonymize((0..self.table.rows.len()).collect())
    }

    fn anonymize(&self, partition: Rows) -> Vec<Rows> {
        let cut = self
            .choose_dimension(&partition)
            .into_iter()
            .find_map(|dim| self.nearest_median(&partition, dim));
        match cut {
            None => vec![partition],
            Some(parts) => parts.into_iter().flat_map(|part| self.anonymize(part)).collect(),
        }
    }

    /// Relaxed Mondrian, section 4, if k-anonymity over rows is the only requirement, no attribute
    /// has a hierarchy and no cell is missing: the rows at the median are divided so that the
    /// halves are equal, the lower one having one more of an odd number. Rows that are equal on the
    /// attribute are ordered by all their codes.
    #[must_use]
    pub fn relaxed(&self, k: usize) -> Vec<Rows> {
        self.halve((0..self.table.rows.len()).collect(), k)
    }

    fn halve(&self, mut partition: Rows, k: usize) -> Vec<Rows> {
        let dim = self.choose_dimension(&partition)[0];
        if partition.len() < 2 * k || width(self.table, &partition, dim) == 0.0 {
            return vec![partition];
        }
        partition.sort_by_key(|&row| (self.table.quasi(row)[dim], &self.table.rows[row]));
        let high = partition.split_off(partition.len().div_ceil(2));
        [self.halve(partition, k), self.halve(high, k)].concat()
    }

    /// The attributes, widest first; equal widths by the number of values (missing is one, where it
    /// occurs), then by position.
    pub(crate) fn choose_dimension(&self, partition: &[usize]) -> Vec<usize> {
        let mut dims: Vec<usize> = (0..self.table.attributes.len()).collect();
        dims.sort_by(|&a, &b| {
            let widths = [a, b].map(|dim| width(self.table, partition, dim));
            let values = [a, b].map(|dim| self.table.attributes[dim].n_codes());
            widths[1].total_cmp(&widths[0]).then(values[0].cmp(&values[1])).then(a.cmp(&b))
        });
        dims
    }

    /// The allowable cut to take on an attribute: the children of a tree's node; on a line or in an
    /// order the one that separates the missing values (a class of both would be "anything"; a set
    /// just has one more element); else the one nearest the median, the lower of two.
    pub(crate) fn nearest_median(&self, partition: &[usize], dim: usize) -> Option<Vec<Rows>> {
        let attribute = &self.table.attributes[dim];
        let missing = attribute.dictionary.missing();
        let separates = |cut: &[Rows]| {
            matches!(attribute.shape, Shape::Numeric | Shape::Ordinal)
                && cut[1].iter().all(|&row| Some(self.table.quasi(row)[dim]) == missing)
        };
        let mut cuts = self.cuts(partition, dim);
        cuts.retain(|cut| self.allows(cut));
        if matches!(attribute.shape, Shape::Tree(_)) {
            return cuts.pop();
        }
        if let Some(at) = cuts.iter().position(|cut| separates(cut)) {
            return Some(cuts.swap_remove(at));
        }
        cuts.into_iter().min_by_key(|cut| (2 * cut[0].len()).abs_diff(partition.len()))
    }
}

/// Every way to cut some rows between two neighbouring codes of one attribute, from the lowest up.
fn cuts(table: &Table, rows: &[usize], attribute: usize) -> Vec<Vec<Rows>> {
    let code = |row: usize| table.quasi(row)[attribute];
    let mut codes: Vec<u32> =
        rows.iter().map(|&row| code(row)).collect::<BTreeSet<u32>>().into_iter().collect();
    codes.pop();
    codes
        .into_iter()
        .map(|at| {
            let (low, high) = rows.iter().partition(|&&row| code(row) <= at);
            vec![low, high]
        })
        .collect()
}

/// The lowest level on which all leaves are in one group; `None` without leaves.
pub(crate) fn lowest_node(tree: &Hierarchy, leaves: &BTreeSet<u32>) -> Option<Level> {
    let groups = |level| leaves.iter().map(move |&leaf| tree.group_of(level, leaf));
    (0..=tree.height().0)
        .map(Level)
        .find(|&level| groups(level).collect::<BTreeSet<_>>().len() == 1)
}

/// The share of the attribute's range that the rows cover. A mix of numbers (or ranks) and missing
/// cells covers all of it.
fn width(table: &Table, rows: &[usize], dim: usize) -> f64 {
    let attribute = &table.attributes[dim];
    let present: BTreeSet<u32> = rows.iter().map(|&row| table.quasi(row)[dim]).collect();
    let (Some(&lo), Some(&hi)) = (present.first(), present.last()) else { return 0.0 };
    if lo == hi {
        return 0.0;
    }
    let is_mixed = Some(hi) == attribute.dictionary.missing();
    match &attribute.shape {
        Shape::Unordered => (present.len() - 1) as f64 / f64::from(attribute.n_codes() - 1),
        Shape::Tree(tree) => {
            let level = lowest_node(tree, &present).unwrap_or(Level(0));
            let node = tree.group_of(level, lo);
            let below = (0..tree.n_leaves()).filter(|&leaf| tree.group_of(level, leaf) == node);
            (below.count() - 1) as f64 / f64::from(tree.n_leaves() - 1)
        }
        Shape::Numeric | Shape::Ordinal if is_mixed => 1.0,
        Shape::Numeric => {
            let at = &attribute.dictionary.positions;
            (at[hi as usize] - at[lo as usize]) / (at[at.len() - 1] - at[0])
        }
        Shape::Ordinal => f64::from(hi - lo) / f64::from(attribute.n_values() - 1),
    }
}

/// The least discernibility (the sum of squared class sizes) over all ways to combine the groups
/// into valid classes; `None` if there is none. Tries every set partition: at most ten groups.
#[must_use]
pub fn least_discernibility(groups: &[Rows], may_be: &dyn Fn(&[usize]) -> bool) -> Option<u64> {
    let mut least = None;
    extend(groups, &mut Vec::new(), &mut |classes| {
        if classes.iter().all(|rows| may_be(rows)) {
            let cost = classes.iter().map(|rows| (rows.len() * rows.len()) as u64).sum();
            least = Some(least.map_or(cost, |least: u64| least.min(cost)));
        }
    });
    least
}

/// Every partition of the first `n_rows` rows: at most nine.
#[must_use]
pub fn set_partitions(n_rows: usize) -> Vec<Vec<Rows>> {
    let singles: Vec<Rows> = (0..n_rows).map(|row| vec![row]).collect();
    let mut found = Vec::new();
    extend(&singles, &mut Vec::new(), &mut |classes| found.push(classes.to_vec()));
    found
}

/// Calls `found` with every way to complete the classes with the groups.
fn extend(groups: &[Rows], classes: &mut Vec<Rows>, found: &mut dyn FnMut(&[Rows])) {
    let Some((group, rest)) = groups.split_first() else { return found(classes) };
    for at in 0..=classes.len() {
        if at == classes.len() {
            classes.push(group.clone());
            extend(rest, classes, found);
            classes.pop();
        } else {
            let before = classes[at].len();
            classes[at].extend(group);
            extend(rest, classes, found);
            classes[at].truncate(before);
        }
    }
}

/// Groups of rows with the same quasi-identifier.
#[must_use]
pub fn equal_rows(table: &Table) -> Vec<Rows> {
    let mut groups: BTreeMap<&[u32], Rows> = BTreeMap::new();
    for row in 0..table.rows.len() {
        groups.entry(table.quasi(row)).or_default().push(row);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use incrowd_privacy::KAnonymity;

    use super::*;
    use crate::assignment::canonical;
    use crate::table;

    fn k(k: u64) -> Vec<Box<dyn Model>> {
        vec![Box::new(KAnonymity::new(k).unwrap())]
    }

    #[track_caller]
    fn check(table: &Table, least: u64, expected: &[&[usize]]) {
        let oracle = Oracle { table, models: &k(least), entity: None };
        assert_eq!(canonical(oracle.mondrian()), expected);
    }

    #[test]
    fn figure_3_by_hand() {
        let patients = table(
            "age:num sex:cat zip:num",
            "25 M 53711\n25 F 53712\n26 M 53711\n27 M 53710\n27 F 53712\n28 M 53711",
        );
        check(&patients, 2, &[&[0, 2], &[1, 4], &[3, 5]]);
    }

    #[test]
    fn the_cut_before_the_median_if_the_one_after_it_is_not_allowable() {
        check(&table("a:num", "1\n1\n2\n2\n2\n2\n2"), 2, &[&[0, 1], &[2, 3, 4, 5, 6]]);
    }

    #[test]
    fn a_tree_is_cut_into_children_and_the_small_ones_stay_together() {
        let header = "a:tree=a;x;*,b;x;*,c;y;*,d;z;*";
        check(&table(header, "a\nb\nc\nc\nb\na"), 2, &[&[0, 5], &[1, 4], &[2, 3]]);
        check(&table(header, "a\nb\nc\nc\nb\nd"), 2, &[&[0, 1, 4], &[2, 3, 5]]);
        check(&table(header, "a\nb\nc"), 2, &[&[0, 1, 2]]);
    }

    #[test]
    fn missing_first() {
        check(&table("a:num", "1\n2\n3\n4\n?\n?"), 2, &[&[0, 1], &[2, 3], &[4, 5]]);
        check(&table("a:num", "1\n2\n3\n4\n?"), 2, &[&[0, 1], &[2, 3, 4]]);
    }

    #[test]
    fn all_set_partitions_are_tried() {
        let singles: Vec<Rows> = (0..5).map(|row| vec![row]).collect();
        assert_eq!(set_partitions(5).len(), 52, "the fifth Bell number");
        assert_eq!(least_discernibility(&singles, &|rows| rows.len() >= 2), Some(4 + 9));
        assert_eq!(least_discernibility(&singles, &|rows| rows.len() >= 6), None);
    }
}

//! Hierarchies: a tree over a column's values in which all leaves have the same depth.
//!
//! Leaves are codes in leaf order, so the leaves below any node are a run of codes. A node is a
//! [`Group`] of a [`Level`]; level 0 holds the leaves, the last level the root.

use std::collections::BTreeMap;

/// The label for anything, missing included.
const ANYTHING: &str = "*";

/// A level of a hierarchy: 0 is the values themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub u8);

/// A node: the run of leaves `lo..=hi` under one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What is released in place of these leaves.
    pub label: String,
    /// First leaf.
    pub lo: u32,
    /// Last leaf.
    pub hi: u32,
}

/// A tree over the codes of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// By level, the groups in leaf order.
    levels: Vec<Vec<Group>>,
    /// By level, the group of each leaf.
    group_of: Vec<Vec<u32>>,
}

/// What is wrong with the rows of a hierarchy. Rows count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum HierarchyError {
    /// There are no rows.
    #[error("the hierarchy is empty")]
    Empty,
    /// A row and the first row have different numbers of labels.
    #[error("row {row} has {found} labels where the first row has {expected}")]
    UnequalLength { row: usize, found: usize, expected: usize },
    /// A leaf is in two rows.
    #[error("the value of row {row} stands already in row {first}")]
    DuplicateLeaf { row: usize, first: usize },
    /// A label has two different parents.
    #[error("the label at level {level} of row {row} has another parent than in row {first}")]
    TwoParents { row: usize, level: usize, first: usize },
    /// A label stands for a node and for leaves that are not below it.
    #[error(
        "the label at level {level} of row {row} is also that of the node at level {node_level} of row {node_row}, \
         which does not hold row {row}: rename one of the two, so that the label stands for one set of values"
    )]
    SameLabel { row: usize, level: usize, node_row: usize, node_level: usize },
    /// The top level has more than one label.
    #[error("the last label of row {row} is not that of row 1: a hierarchy has one root")]
    TwoRoots { row: usize },
    /// An empty label would read like a missing value.
    #[error("the label at level {level} of row {row} is empty, which would read as missing")]
    EmptyLabel { row: usize, level: usize },
    /// More levels than a hierarchy can have.
    #[error("a hierarchy has at most 200 levels, row 1 has {found}")]
    TooDeep { found: usize },
}

impl Hierarchy {
    /// Builds the tree from rows `leaf, level 1, ..., root` (the form that ARX uses), with the
    /// leaves in leaf order: siblings stay together, otherwise the order of the rows is kept.
    ///
    /// # Errors
    ///
    /// The first rule that the rows break, with the row's number.
    pub fn from_rows(rows: &[Vec<String>]) -> Result<Hierarchy, HierarchyError> {
        check_lengths(rows)?;
        check_leaves(rows)?;
        check_labels(rows)?;
        check_nesting(rows)?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let n_levels = rows[0].len();
        // Rank of each label by first appearance within its level: sorting by these ranks from the
        // root down puts siblings side by side and keeps the rows' order otherwise.
        let mut ranks = Vec::with_capacity(n_levels);
        for level in 0..n_levels {
            let mut seen = BTreeMap::new();
            ranks.push(
                rows.iter()
                    .map(|row| {
                        let next = seen.len();
                        *seen.entry(row[level].as_str()).or_insert(next)
                    })
                    .collect::<Vec<usize>>(),
            );
        }
        order.sort_by_key(|&row| (0..n_levels).rev().map(|l| ranks[l][row]).collect::<Vec<_>>());
        let levels: Vec<Vec<Group>> = (0..n_levels)
            .map(|level| group_runs(order.iter().map(|&row| rows[row][level].as_str())))
            .collect();
        check_meaning(&levels, &order)?;
        Ok(Hierarchy::from_levels(levels))
    }

    fn from_levels(levels: Vec<Vec<Group>>) -> Hierarchy {
        let group_of = levels
            .iter()
            .map(|groups| {
                (0u32..).zip(groups).flat_map(|(id, g)| (g.lo..=g.hi).map(move |_| id)).collect()
            })
            .collect();
        Hierarchy { levels, group_of }
    }

    /// The same tree with one more leaf, the last, for missing cells: a category of its own on
    /// every level below the root. A root that is not called `*` describes values, so missing cells
    /// are not below it: a new root `*` is added above both.
    #[must_use]
    pub fn with_missing(&self) -> Hierarchy {
        let leaf = self.n_leaves();
        let mut levels = self.levels.clone();
        if levels.len() == 1 || self.root_label() != ANYTHING {
            levels.push(vec![Group { label: ANYTHING.to_owned(), lo: 0, hi: leaf - 1 }]);
        }
        let top = levels.len() - 1;
        for groups in &mut levels[..top] {
            groups.push(Group { label: String::new(), lo: leaf, hi: leaf });
        }
        for root in &mut levels[top] {
            root.hi = leaf;
        }
        Hierarchy::from_levels(levels)
    }

    /// The same tree with other labels between the leaves and the root. `label` receives the level
    /// and the marked leaves of a node, in leaf order, and returns `None` to keep the label. Nodes
    /// without a marked leaf keep theirs, and so does the category of missing cells.
    #[must_use]
    pub fn relabelled(
        &self,
        is_marked: &[bool],
        label: impl Fn(Level, &Group, &[&str]) -> Option<String>,
    ) -> Hierarchy {
        let mut levels = self.levels.clone();
        let top = levels.len() - 1;
        let is_marked = |leaf: u32| is_marked.get(leaf as usize).copied().unwrap_or(false);
        for (level, groups) in (1u8..).zip(levels.iter_mut().take(top).skip(1)) {
            for group in groups.iter_mut().filter(|group| !group.label.is_empty()) {
                let marked: Vec<&str> = (group.lo..=group.hi)
                    .filter(|&leaf| is_marked(leaf))
                    .map(|leaf| self.levels[0][leaf as usize].label.as_str())
                    .collect();
                if !marked.is_empty()
                    && let Some(label) = label(Level(level), group, &marked)
                {
                    group.label = label;
                }
            }
        }
        Hierarchy::from_levels(levels)
    }

    /// The number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> u32 {
        self.levels[0].last().map_or(0, |group| group.hi + 1)
    }

    /// The level of the root.
    #[must_use]
    pub fn height(&self) -> Level {
        Level(u8::try_from(self.levels.len() - 1).expect("checked when built"))
    }

    /// The nodes of a level in leaf order.
    #[must_use]
    pub fn groups(&self, level: Level) -> &[Group] {
        &self.levels[usize::from(level.0)]
    }

    /// Which group of `level` a leaf is in.
    #[must_use]
    #[inline]
    pub fn group_of(&self, level: Level, leaf: u32) -> u32 {
        self.group_of[usize::from(level.0)][leaf as usize]
    }

    /// What the root is called.
    #[must_use]
    pub fn root_label(&self) -> &str {
        self.levels.last().and_then(|groups| groups.first()).map_or("", |root| &root.label)
    }

    /// The lowest node above both leaves, as level and group.
    #[must_use]
    pub fn common(&self, a: u32, b: u32) -> (Level, u32) {
        let level = (0..self.levels.len())
            .find(|&l| self.group_of[l][a as usize] == self.group_of[l][b as usize])
            .expect("one root holds every leaf");
        (Level(u8::try_from(level).expect("checked when built")), self.group_of[level][a as usize])
    }

    /// The children of a node: the groups one level below within its leaves. A leaf has none.
    #[must_use]
    pub fn children(&self, level: Level, group: u32) -> &[Group] {
        let Some(below) = level.0.checked_sub(1) else { return &[] };
        let node = &self.levels[usize::from(level.0)][group as usize];
        let of = &self.group_of[usize::from(below)];
        &self.levels[usize::from(below)]
            [of[node.lo as usize] as usize..=of[node.hi as usize] as usize]
    }

    /// The children of the lowest node above both leaves: at least two, or none if it is a leaf.
    #[must_use]
    pub fn parts(&self, lo: u32, hi: u32) -> &[Group] {
        let (level, group) = self.common(lo, hi);
        self.children(level, group)
    }

    /// The nodes that represent some leaves of a region, in leaf order. The leaves are given as
    /// ascending runs. The region has some but not all children of the `divided` nodes, so neither
    /// these nor any node above them may represent it. The result is the lowest node above all the
    /// leaves if that is allowed; otherwise, the nodes that represent the leaves below each of its
    /// children.
    ///
    /// If every child of such a node turns out to be covered, the node itself is returned.
    #[must_use]
    pub fn cover(&self, leaves: &[(u32, u32)], divided: &[(Level, u32)]) -> Vec<(Level, u32)> {
        let mut nodes = Vec::new();
        self.add_cover(leaves, divided, &mut nodes);
        nodes
    }

    fn add_cover(
        &self,
        leaves: &[(u32, u32)],
        divided: &[(Level, u32)],
        to: &mut Vec<(Level, u32)>,
    ) {
        let Some((&(lo, _), &(_, hi))) = leaves.first().zip(leaves.last()) else { return };
        let node = self.common(lo, hi);
        if !self.holds_any(node, divided) {
            return to.push(node);
        }
        let first = to.len();
        for child in self.children(node.0, node.1) {
            self.add_cover(&within(leaves, child), divided, to);
        }
        let size = |&(level, group): &(Level, u32)| {
            let node = &self.groups(level)[group as usize];
            node.hi - node.lo + 1
        };
        if to[first..].iter().map(size).sum::<u32>() == size(&node) {
            to.truncate(first);
            to.push(node);
        }
    }

    /// The highest nodes, in leaf order, that may represent some leaves (given as ascending runs):
    /// a node may represent leaves if each of its children contains one of them.
    #[must_use]
    pub fn least_cover(&self, leaves: &[(u32, u32)]) -> Vec<(Level, u32)> {
        let mut nodes = Vec::new();
        self.add_least_cover(leaves, &mut nodes);
        nodes
    }

    fn add_least_cover(&self, leaves: &[(u32, u32)], to: &mut Vec<(Level, u32)>) {
        let Some((&(lo, _), &(_, hi))) = leaves.first().zip(leaves.last()) else { return };
        let (level, group) = self.common(lo, hi);
        let children = self.children(level, group);
        let below = |child: &Group| within(leaves, child);
        if children.iter().all(|child| !below(child).is_empty()) {
            return to.push((level, group));
        }
        for child in children {
            self.add_least_cover(&below(child), to);
        }
    }

    /// Whether any of some inner nodes is the given node or below it.
    #[must_use]
    pub fn holds_any(&self, (level, group): (Level, u32), nodes: &[(Level, u32)]) -> bool {
        nodes.iter().any(|&(below, node)| {
            let first = self.groups(below)[node as usize].lo;
            Level(0) < below && below <= level && self.group_of(level, first) == group
        })
    }

    /// The labels of the leaves in leaf order.
    pub fn leaves(&self) -> impl Iterator<Item = &str> {
        self.levels[0].iter().map(|group| group.label.as_str())
    }

    /// The rows `leaf, level 1, ..., root` in leaf order.
    pub fn rows(&self) -> impl Iterator<Item = Vec<&str>> {
        (0..self.n_leaves()).map(|leaf| {
            self.levels
                .iter()
                .zip(&self.group_of)
                .map(|(groups, of)| groups[of[leaf as usize] as usize].label.as_str())
                .collect()
        })
    }
}

/// The parts of ascending runs that lie within a node.
fn within(runs: &[(u32, u32)], node: &Group) -> Vec<(u32, u32)> {
    let first = runs.partition_point(|(_, hi)| *hi < node.lo);
    let runs = runs[first..].iter().take_while(|(lo, _)| *lo <= node.hi);
    runs.map(|&(lo, hi)| (lo.max(node.lo), hi.min(node.hi))).collect()
}

fn group_runs<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (leaf, label) in (0u32..).zip(labels) {
        match groups.last_mut() {
            Some(group) if group.label == label => group.hi = leaf,
            _ => groups.push(Group { label: label.to_owned(), lo: leaf, hi: leaf }),
        }
    }
    groups
}

fn check_lengths(rows: &[Vec<String>]) -> Result<(), HierarchyError> {
    let expected = rows.first().filter(|row| !row.is_empty()).ok_or(HierarchyError::Empty)?.len();
    if expected > 200 {
        return Err(HierarchyError::TooDeep { found: expected });
    }
    match rows.iter().position(|row| row.len() != expected) {
        Some(at) => {
            Err(HierarchyError::UnequalLength { row: at + 1, found: rows[at].len(), expected })
        }
        None => Ok(()),
    }
}

fn check_leaves(rows: &[Vec<String>]) -> Result<(), HierarchyError> {
    let mut seen = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(first) = seen.insert(row[0].as_str(), at) {
            return Err(HierarchyError::DuplicateLeaf { row: at + 1, first: first + 1 });
        }
    }
    Ok(())
}

fn check_labels(rows: &[Vec<String>]) -> Result<(), HierarchyError> {
    for (at, row) in rows.iter().enumerate() {
        if let Some(level) = (1..row.len()).find(|&level| row[level].is_empty()) {
            return Err(HierarchyError::EmptyLabel { row: at + 1, level });
        }
    }
    Ok(())
}

fn check_nesting(rows: &[Vec<String>]) -> Result<(), HierarchyError> {
    let top = rows[0].len() - 1;
    for level in 0..top {
        let mut parents: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            let first = *parents.entry(row[level].as_str()).or_insert(at);
            if rows[first][level + 1] != row[level + 1] {
                return Err(HierarchyError::TwoParents { row: at + 1, level, first: first + 1 });
            }
        }
    }
    match rows.iter().position(|row| top > 0 && row[top] != rows[0][top]) {
        Some(at) => Err(HierarchyError::TwoRoots { row: at + 1 }),
        None if top == 0 && rows.len() > 1 => Err(HierarchyError::TwoRoots { row: 2 }),
        None => Ok(()),
    }
}

/// Checks that the highest node of a label holds all other nodes and leaves of that label: a
/// release that prints the label means that node or a part of it. `order` gives the row of a leaf.
fn check_meaning(levels: &[Vec<Group>], order: &[usize]) -> Result<(), HierarchyError> {
    let mut highest: BTreeMap<&str, (usize, &Group)> = BTreeMap::new();
    for (level, groups) in levels.iter().enumerate().rev() {
        for group in groups {
            let (node_level, node) = *highest.entry(&group.label).or_insert((level, group));
            if group.lo < node.lo || node.hi < group.hi {
                let row = |group: &Group| order[group.lo as usize] + 1;
                return Err(HierarchyError::SameLabel {
                    row: row(group),
                    level,
                    node_row: row(node),
                    node_level,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        text.split_whitespace().map(|row| row.split(';').map(str::to_owned).collect()).collect()
    }

    fn tree(text: &str) -> Hierarchy {
        Hierarchy::from_rows(&rows(text)).expect("a sound hierarchy")
    }

    #[track_caller]
    fn check_error(text: &str, expected: &HierarchyError) {
        assert_eq!(&Hierarchy::from_rows(&rows(text)).expect_err("must be refused"), expected);
    }

    #[test]
    fn siblings_are_moved_together() {
        let tree = tree("fr;eu;* jp;as;* de;eu;* cn;as;*");
        assert_eq!(tree.leaves().collect::<Vec<_>>(), ["fr", "de", "jp", "cn"]);
        assert_eq!(tree.groups(Level(1)).len(), 2);
        assert_eq!(tree.common(0, 1), (Level(1), 0));
        assert_eq!(tree.common(1, 2), (Level(2), 0));
        assert_eq!(tree.common(3, 3), (Level(0), 3));
        let labels: Vec<_> = tree.children(Level(2), 0).iter().map(|g| g.label.as_str()).collect();
        assert_eq!(labels, ["eu", "as"]);
        assert!(tree.children(Level(0), 0).is_empty());
    }

    #[test]
    fn an_empty_label_is_refused_but_an_empty_leaf_is_not() {
        check_error("a;;* b;x;*", &HierarchyError::EmptyLabel { row: 1, level: 1 });
        assert_eq!(tree(";x;* b;x;*").n_leaves(), 2);
    }

    #[test]
    fn the_same_label_may_be_on_two_levels() {
        let tree = tree("a;a;* b;b;*");
        assert_eq!(tree.height(), Level(2));
        assert_eq!(tree.common(0, 0), (Level(0), 0));
    }

    /// Codes of decades over ages: `2` would be the age and the twenties.
    #[test]
    fn a_label_stands_for_one_set_of_values() {
        let same = |row, level, node_row, node_level| HierarchyError::SameLabel {
            row,
            level,
            node_row,
            node_level,
        };
        check_error("1;0s;* 2;0s;* 20;2;* 25;2;*", &same(2, 0, 3, 1));
        check_error("a;x;y;* b;x;y;* c;y;z;*", &same(3, 1, 1, 2));
        // The node holds whatever else has its label.
        assert_eq!(tree("a;a;a;* b;a;a;* c;c;a;*").n_leaves(), 3);
        assert_eq!(tree("*;x;* b;x;*").n_leaves(), 2);
    }

    #[test]
    fn missing_is_a_category_below_the_root() {
        let tree = tree("fr;eu;* jp;as;*").with_missing();
        assert_eq!(tree.n_leaves(), 3);
        assert_eq!(tree.groups(Level(1)).len(), 3);
        assert_eq!(tree.common(1, 2), (Level(2), 0));
    }

    #[test]
    fn missing_is_not_below_a_root_that_describes_values() {
        let tree = tree("53715;5371*;537** 53703;5370*;537**").with_missing();
        assert_eq!((tree.height(), tree.root_label()), (Level(3), "*"));
        let (level, group) = tree.common(0, 1);
        assert_eq!(tree.groups(level)[group as usize].label, "537**");
        assert_eq!(tree.common(1, 2), (Level(3), 0));
        assert_eq!(tree.groups(Level(2))[1].label, "");
    }

    #[test]
    fn the_rest_of_a_divided_node_is_represented_child_by_child() {
        let tree = tree("fr;w;eu;* de;w;eu;* it;s;eu;* es;s;eu;* gr;s;eu;* jp;a;as;*");
        let labels = |leaves: &[u32], divided: &[(Level, u32)]| -> Vec<&str> {
            let leaves: Vec<(u32, u32)> = leaves.iter().map(|&leaf| (leaf, leaf)).collect();
            let nodes = tree.cover(&leaves, divided);
            nodes.iter().map(|&(l, g)| tree.groups(l)[g as usize].label.as_str()).collect()
        };
        let (west, south, europe) = ((Level(1), 0), (Level(1), 1), (Level(2), 0));
        assert_eq!(labels(&[2, 4], &[]), ["s"]);
        assert_eq!(labels(&[2, 4], &[south]), ["it", "gr"]);
        assert_eq!(labels(&[2, 4], &[europe]), ["s"]);
        assert_eq!(labels(&[1, 2, 4], &[europe]), ["de", "s"]);
        assert_eq!(labels(&[0, 1, 2], &[south]), ["w", "it"]);
        assert_eq!(labels(&[0, 1, 2, 5], &[south]), ["w", "it", "jp"]);
        assert_eq!(labels(&[0, 2, 5], &[europe]), ["fr", "it", "jp"]);
        assert_eq!(labels(&[0, 1, 2, 3, 4], &[west, south]), ["eu"]);
        assert_eq!(labels(&[3], &[south, europe]), ["es"]);
    }

    #[test]
    fn a_node_represents_leaves_of_all_its_children() {
        let tree = tree("fr;w;eu;* de;w;eu;* it;s;eu;* es;s;eu;* gr;s;eu;* jp;a;as;*");
        let labels = |leaves: &[(u32, u32)]| -> Vec<&str> {
            let nodes = tree.least_cover(leaves);
            nodes.iter().map(|&(l, g)| tree.groups(l)[g as usize].label.as_str()).collect()
        };
        assert_eq!(labels(&[(2, 3)]), ["it", "es"]);
        assert_eq!(labels(&[(0, 0), (2, 2)]), ["eu"]);
        assert_eq!(labels(&[(0, 3)]), ["eu"]);
        assert_eq!(labels(&[(2, 3), (5, 5)]), ["*"]);
        assert_eq!(labels(&[(3, 3)]), ["es"]);
    }

    #[test]
    fn broken_rows_are_refused_with_their_number() {
        check_error("", &HierarchyError::Empty);
        check_error("a;x;* b;*", &HierarchyError::UnequalLength { row: 2, found: 2, expected: 3 });
        check_error("a;x;* a;x;*", &HierarchyError::DuplicateLeaf { row: 2, first: 1 });
        check_error("a;x;y;* b;x;z;*", &HierarchyError::TwoParents { row: 2, level: 1, first: 1 });
        check_error("a;* b;+", &HierarchyError::TwoRoots { row: 2 });
    }
}

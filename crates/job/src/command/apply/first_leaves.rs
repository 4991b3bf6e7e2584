//! Hierarchies without the leaves that new rows brought.
//!
//! Region labels are the recoding's: a leaf that a rule added must not change them, whether its row
//! is released or not. So cells are found in the hierarchies as they were, and then named in the
//! extended ones.

use std::collections::BTreeSet;

use incrowd_data::{
    Attribute, Branches, Cell, Codes, Cuts, FrequencySet, Hierarchy, Level, Node, PartitionTree,
    Shape,
};
use incrowd_release::Classes;

use super::Application;
use super::regions::Division;
use crate::spec::HierarchySpec;

/// One column's hierarchy as it was, and its codes in both.
struct FirstLeaves {
    attribute: Attribute,
    /// By code of the extended hierarchy, the code as it was; a new leaf has that of the first leaf
    /// before it, or 0.
    last_of: Vec<u32>,
    /// The same, but that a new leaf has the code of the first leaf after it, if there is one: new
    /// leaves of a node come before its first one.
    first_of: Vec<u32>,
    /// By code as it was, the code in the extended hierarchy.
    code_of: Vec<u32>,
}

/// The columns whose hierarchies have leaves that new rows brought.
pub(super) struct Narrowed(Vec<Option<FirstLeaves>>);

impl Application<'_> {
    /// The hierarchies as they were when the recoding was made.
    pub(super) fn narrowed(&self, attributes: &[Attribute]) -> Narrowed {
        let of_attribute = |attribute: &Attribute| {
            let Some(HierarchySpec::Rows(rows)) =
                &self.file.columns.get(&attribute.name)?.hierarchy
            else {
                return None;
            };
            FirstLeaves::new(attribute, rows)
        };
        Narrowed(attributes.iter().map(of_attribute).collect())
    }
}

impl Narrowed {
    /// Whether no hierarchy has new leaves.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The first code above a cut before this code. New leaves of a node come before its first one,
    /// and belong above the cut.
    pub(super) fn first_above(&self, at: usize, code: u32) -> u32 {
        let Some(of_column) = &self.0[at] else { return code };
        let first = of_column.last_code(code);
        first.checked_sub(1).map_or(0, |below| of_column.code_of[below as usize] + 1)
    }

    /// The classes that `cells_of` finds for the hierarchies as they were, in terms of the extended
    /// ones.
    pub(super) fn classes(
        &self,
        set: &FrequencySet,
        division: Division,
        cells_of: impl FnOnce(&FrequencySet, Division) -> Classes,
    ) -> Classes {
        let first = self.set(set);
        let mut classes = match division {
            Division::Tree(tree) => cells_of(&first, Division::Tree(&self.tree(tree))),
            Division::Cuts(cuts) => cells_of(&first, Division::Cuts(&self.cuts(cuts))),
        };
        let columns = classes.recoded.columns.iter_mut().zip(&self.0).zip(&set.attributes);
        for ((column, first), attribute) in columns {
            let Some(first) = first else { continue };
            for cell in &mut column.cells {
                first.name_in(attribute, cell);
            }
        }
        classes
    }

    fn set(&self, set: &FrequencySet) -> FrequencySet {
        let mut first = set.clone();
        let columns = first.attributes.iter_mut().zip(&mut first.vectors).zip(&self.0);
        for ((attribute, codes), of_column) in columns {
            let Some(of_column) = of_column else { continue };
            let n_codes = of_column.attribute.n_codes();
            let packed = codes.iter().map(|code| of_column.first_of[code as usize]);
            *codes = Codes::pack(n_codes, packed.collect::<Vec<u32>>().into_iter());
            attribute.clone_from(&of_column.attribute);
        }
        first
    }

    /// Every cut of a hierarchy column comes after a leaf that was there.
    fn tree(&self, tree: &PartitionTree) -> PartitionTree {
        let mut first = tree.clone();
        for node in &mut first.nodes {
            let Node::Cut { attribute, branches } = node else { continue };
            let Some(of_column) = &self.0[*attribute] else { continue };
            match branches {
                Branches::Binary { at, .. } => *at = of_column.last_code(*at),
                Branches::Runs(runs) => {
                    for (end, _) in runs {
                        *end = of_column.last_code(*end);
                    }
                }
            }
        }
        first
    }

    fn cuts(&self, cuts: &Cuts) -> Cuts {
        let mut first = Cuts::none(cuts.n_attributes());
        for (at, of_column) in self.0.iter().enumerate() {
            for &code in cuts.of(at) {
                // The first code above a cut.
                let code = of_column
                    .as_ref()
                    .map_or(code, |of_column| of_column.last_code(code.saturating_sub(1)) + 1);
                first.insert(at, code);
            }
        }
        first
    }
}

impl FirstLeaves {
    /// `None` if the hierarchy has no new leaf.
    fn new(attribute: &Attribute, rows: &[Vec<String>]) -> Option<FirstLeaves> {
        let Shape::Tree(hierarchy) = &attribute.shape else { return None };
        let known: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        let texts = &attribute.dictionary.texts;
        let is_first: Vec<bool> = texts.iter().map(|text| known.contains(text.as_str())).collect();
        if !is_first.contains(&false) {
            return None;
        }
        let kept = hierarchy.rows().take(texts.len()).zip(&is_first);
        let kept = kept.filter(|(_, is_first)| **is_first).map(|(row, _)| row);
        let kept: Vec<Vec<String>> =
            kept.map(|row| row.into_iter().map(str::to_owned).collect()).collect();
        let smaller = Hierarchy::from_rows(&kept).ok()?;
        let mut dictionary = attribute.dictionary.clone();
        let (mut last_of, mut first_of, mut code_of) = (Vec::new(), Vec::new(), Vec::new());
        let count = |code_of: &[u32]| u32::try_from(code_of.len()).expect("as many as codes");
        for (code, is_first) in (0u32..).zip(&is_first) {
            first_of.push(count(&code_of));
            if *is_first {
                code_of.push(code);
            }
            last_of.push(count(&code_of).saturating_sub(1));
        }
        let n_values = count(&code_of);
        let last = n_values.saturating_sub(1);
        for code in &mut first_of {
            *code = last.min(*code);
        }
        if dictionary.has_missing {
            last_of.push(n_values);
            first_of.push(n_values);
            code_of.push(attribute.n_values());
        }
        retain(&mut dictionary.texts, &is_first);
        retain(&mut dictionary.positions, &is_first);
        let smaller = if dictionary.has_missing { smaller.with_missing() } else { smaller };
        let name = attribute.name.clone();
        let attribute = Attribute { name, dictionary, shape: Shape::Tree(smaller) };
        Some(FirstLeaves { attribute, last_of, first_of, code_of })
    }

    /// The code as it was of the last leaf up to a code; an end that is open stays open.
    fn last_code(&self, code: u32) -> u32 {
        self.last_of.get(code as usize).copied().unwrap_or(code)
    }

    /// A cell of the hierarchy as it was, in the extended one: the same nodes.
    fn name_in(&self, attribute: &Attribute, cell: &mut Cell) {
        let (Shape::Tree(first), Shape::Tree(extended)) = (&self.attribute.shape, &attribute.shape)
        else {
            return;
        };
        let node = |(level, group): (u8, u32)| {
            let leaf = first.groups(Level(level))[group as usize].lo;
            (level, extended.group_of(Level(level), self.code_of[leaf as usize]))
        };
        match cell {
            Cell::Value(code) => *code = self.code_of[*code as usize],
            Cell::Node(level, group) => (*level, *group) = node((*level, *group)),
            Cell::Nodes(nodes) => nodes.iter_mut().for_each(|of| *of = node(*of)),
            Cell::Range(lo, hi) => {
                (*lo, *hi) = (self.code_of[*lo as usize], self.code_of[*hi as usize]);
            }
            Cell::Set(_) | Cell::Between(_) | Cell::All => {}
        }
    }
}

fn retain<T>(of_codes: &mut Vec<T>, is_first: &[bool]) {
    let mut is_first = is_first.iter();
    of_codes.retain(|_| is_first.next().is_none_or(|is_first| *is_first));
}

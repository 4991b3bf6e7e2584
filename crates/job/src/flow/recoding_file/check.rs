//! Whether a recoding file is sound in itself. Reasons name nodes, classes and columns, never a
//! value.

use std::collections::BTreeSet;

use incrowd_release::LabelForm;

use super::{Covered, NodeRecord, RecodingFile};
use crate::report::RecodingKind;
use crate::spec::HierarchySpec;

impl RecodingFile {
    /// What is wrong with the file, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        if !LabelForm::NAMES.iter().any(|(name, _)| *name == self.labels) {
            return Err("its labels are of no known form".to_owned());
        }
        self.check_columns()?;
        match self.kind {
            RecodingKind::Local => self.check_empty(true, true, true),
            _ if !self.private.is_empty() => self.check_empty(true, true, true),
            RecodingKind::FullDomain => {
                self.check_empty(true, false, true)?;
                self.check_levels()
            }
            RecodingKind::SingleDimensional => {
                self.check_empty(true, true, false)?;
                self.check_cuts()
            }
            RecodingKind::Multidimensional => {
                self.check_empty(false, true, true)?;
                self.check_tree()?;
                self.check_cells()
            }
            RecodingKind::Unknown => Err("it is of no known kind".to_owned()),
        }
    }

    fn is_quasi(&self, name: &str) -> bool {
        self.columns.get(name).is_some_and(|column| column.role.as_deref() == Some("quasi"))
    }

    /// Every column that it speaks of is one of its columns.
    fn check_columns(&self) -> Result<(), String> {
        if let Some(name) = self.private.iter().find(|name| !self.columns.contains_key(*name)) {
            return Err(format!("`{name}` is none of its columns"));
        }
        for (name, values) in &self.sequences {
            let distinct: BTreeSet<&String> = values.iter().collect();
            if !self.is_quasi(name) || distinct.len() < values.len() {
                return Err(format!("the sequence of `{name}` repeats values or is not wanted"));
            }
        }
        if let Some(name) = self.known.keys().chain(&self.any).find(|name| !self.is_quasi(name)) {
            return Err(format!("`{name}` is none of its quasi columns"));
        }
        for name in self.built.keys().chain(self.rules.keys()) {
            let hierarchy = self.columns.get(name).and_then(|column| column.hierarchy.as_ref());
            if !self.is_quasi(name) || !matches!(hierarchy, Some(HierarchySpec::Rows(_))) {
                return Err(format!("`{name}` has no hierarchy"));
            }
        }
        Ok(())
    }

    /// A recoding of its kind has no nodes, levels or cuts.
    fn check_empty(&self, nodes: bool, levels: bool, cuts: bool) -> Result<(), String> {
        let named = [
            (nodes && !self.nodes.is_empty(), "nodes"),
            (levels && !self.levels.is_empty(), "levels"),
            (cuts && !self.cuts.is_empty(), "cuts"),
        ];
        match named.iter().find(|(is_there, _)| *is_there) {
            Some((_, what)) => Err(format!("a {} recoding has no {what} here", self.kind)),
            None => Ok(()),
        }
    }

    /// Every quasi-identifier column has a level of its hierarchy.
    fn check_levels(&self) -> Result<(), String> {
        for (name, column) in &self.columns {
            if column.role.as_deref() == Some("quasi") {
                let Some(HierarchySpec::Rows(rows)) = &column.hierarchy else {
                    return Err(format!("`{name}` has no hierarchy"));
                };
                let level = self.levels.get(name).map(|level| usize::from(*level));
                let n_levels = rows.first().map_or(0, |row| row.len().max(2));
                if level.is_none_or(|level| level >= n_levels) {
                    return Err(format!("`{name}` has no level of its hierarchy"));
                }
            }
        }
        match self.levels.keys().find(|name| !self.is_quasi(name)) {
            Some(name) => Err(format!("`{name}` has a level but is not quasi")),
            None => Ok(()),
        }
    }

    /// Only quasi-identifier columns are cut, and nowhere twice.
    fn check_cuts(&self) -> Result<(), String> {
        for (name, cuts) in &self.cuts {
            let distinct: BTreeSet<&Option<String>> = cuts.iter().collect();
            if !self.is_quasi(name) {
                return Err(format!("`{name}` is cut but is not quasi"));
            }
            if distinct.len() < cuts.len() {
                return Err(format!("`{name}` is cut twice at one place"));
            }
        }
        Ok(())
    }

    /// Every node is named once, after its parent, and cuts a quasi-identifier column.
    fn check_tree(&self) -> Result<(), String> {
        if self.nodes.is_empty() {
            return Err("it has no nodes".to_owned());
        }
        let mut n_named = vec![0u32; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            let (column, children): (&String, BTreeSet<u32>) = match node {
                NodeRecord::Class { .. } => continue,
                NodeRecord::Cut { column, low, high, .. }
                | NodeRecord::Below { column, low, high, .. } => {
                    if low == high {
                        return Err(format!("both sides of node {at} are the same"));
                    }
                    (column, [*low, *high].into())
                }
                // Several runs of a hierarchy may share a node.
                NodeRecord::Children { column, children } => {
                    (column, children.iter().map(|(_, node)| *node).collect())
                }
            };
            if !self.is_quasi(column) {
                return Err(format!("node {at} cuts `{column}`, which is not quasi"));
            }
            if children.is_empty() {
                return Err(format!("node {at} has no children"));
            }
            for child in children {
                let named = n_named.get_mut(child as usize).filter(|_| child as usize > at);
                let named = named
                    .ok_or_else(|| format!("node {at} names node {child}, which cannot be"))?;
                *named += 1;
            }
        }
        match n_named.iter().enumerate().find(|(at, n)| **n != u32::from(*at > 0)) {
            Some((at, n)) => Err(format!("node {at} is named {n} times")),
            None => Ok(()),
        }
    }

    /// The classes are numbered from 0 without a gap, and each says what it covers of every column,
    /// or nothing at all if it never had a row.
    fn check_cells(&self) -> Result<(), String> {
        let classes = || {
            self.nodes.iter().filter_map(|node| match node {
                NodeRecord::Class { class, cells } => Some((*class, cells)),
                _ => None,
            })
        };
        let n_quasi = self.columns.keys().filter(|name| self.is_quasi(name)).count();
        let mut is_there = vec![false; classes().count()];
        for (class, cells) in classes() {
            match is_there.get_mut(class as usize) {
                Some(is_there) if !*is_there => *is_there = true,
                Some(_) => return Err(format!("class {class} is there twice")),
                None => return Err(format!("there are not enough classes for class {class}")),
            }
            if !cells.is_empty() && cells.len() != n_quasi
                || cells.keys().any(|name| !self.is_quasi(name))
            {
                return Err(format!("class {class} does not cover every quasi column once"));
            }
            for covered in cells.values() {
                let is_sound = match covered {
                    Covered::Values(values) => !values.is_empty(),
                    Covered::Any(text) => text == "*",
                };
                if !is_sound {
                    return Err(format!("class {class} does not say what it covers"));
                }
            }
        }
        Ok(())
    }
}

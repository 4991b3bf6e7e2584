//! The part of a recoding that may be handed on: what the release tells, and no more.
//!
//! A value is told if a label prints it. Where cuts can be said in told values so that every
//! released row falls into its class, they are; of any other column only the private part tells how
//! it is recoded. That is so of every column with a hierarchy: its leaves are not told by the
//! labels above them.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{
    Attribute, Branches, Cell, Cuts, FrequencySet, Kind, Node, PartitionTree, RecodedColumn, Shape,
};
use incrowd_release::{Classes, CutPlace, LabelForm};
use incrowd_search::{Found, Recoding};
use indexmap::IndexMap;

use super::{Covered, NodeRecord, RecodingFile, covered};
use crate::flow::coding::Coding;
use crate::flow::labelling::tells_means;
use crate::flow::regions::places_of;
use crate::flow::relabel::released_codes;
use crate::plan::Plan;
use crate::spec::ColumnSpec;

/// A column of the release: which of its codes released rows have, and which its labels print.
struct PublicColumn<'a> {
    attribute: &'a Attribute,
    is_released: Vec<bool>,
    is_told: Vec<bool>,
    /// By first code above a cut of a line, the cut point, if a label prints it.
    points: BTreeMap<u32, Option<String>>,
    /// Whether its labels say where its regions are cut.
    is_region: bool,
}

/// Cuts in values that the release tells.
#[derive(Default)]
struct PublicCuts {
    /// By last code below a cut of a tree, the value that is said in its place.
    at_most: BTreeMap<u32, String>,
    /// The first values of the intervals of a single-dimensional recoding, but of the first one.
    firsts: Vec<Option<String>>,
    /// The values of an unordered or ordinal column in their order; empty if not all are told.
    values: Vec<String>,
}

/// The columns of a tree and their cuts in values that the release tells.
pub(super) struct PublicTree<'a> {
    columns: Vec<PublicColumn<'a>>,
    cuts: Vec<PublicCuts>,
}

/// The part of a complete recoding that may be handed on, and what its nodes are made of if it
/// tells any.
pub(super) fn public<'a>(
    complete: &RecodingFile,
    plan: &Plan,
    coding: &'a Coding,
    found: &Found,
    classes: &Classes,
) -> (RecodingFile, Option<PublicTree<'a>>) {
    let set = &coding.set;
    let released = if classes.recoded.n_suppressed == 0 {
        let has_rows = |rows: &Vec<u64>| rows.iter().map(|&rows| rows > 0).collect();
        coding.value_rows.iter().map(has_rows).collect()
    } else {
        released_codes(set, &found.assignment.class_of)
    };
    let columns = set.attributes.iter().zip(&classes.recoded.columns).zip(released);
    let mut columns: Vec<PublicColumn> = columns
        .map(|((attribute, column), is_released)| PublicColumn {
            attribute,
            is_released,
            is_told: told_codes(plan, attribute, column),
            points: BTreeMap::new(),
            is_region: plan.labels == LabelForm::Region,
        })
        .collect();
    if plan.labels == LabelForm::Region {
        for ((column, recoded), places) in
            columns.iter_mut().zip(&classes.recoded.columns).zip(places_of(set, found))
        {
            column.points = told_points(recoded, &places);
        }
    }
    let cuts = |(at, column): (usize, &PublicColumn)| match &found.recoding {
        Recoding::Intervals(cuts) => column.told_intervals(cuts, at),
        Recoding::Partition(tree) => column.told_cuts(tree, at),
        Recoding::Blocks(_) | Recoding::Local(_) => column.told_values(),
        Recoding::FullDomain(_) => None,
    };
    let cuts: Vec<Option<PublicCuts>> = columns.iter().enumerate().map(cuts).collect();
    let mut file = RecodingFile {
        sequences: IndexMap::new(),
        levels: IndexMap::new(),
        cuts: IndexMap::new(),
        built: IndexMap::new(),
        known: IndexMap::new(),
        rules: IndexMap::new(),
        columns: public_columns(complete, &columns, &cuts),
        ..complete.clone()
    };
    file.private = private_columns(complete, &columns, &cuts);
    for (column, told) in columns.iter().zip(&cuts) {
        if column.is_whole()
            && let Some(known) = complete.known.get(&column.attribute.name)
        {
            file.known.insert(column.attribute.name.clone(), known.clone());
        }
        let is_unordered = matches!(column.attribute.shape, Shape::Unordered);
        if let Some(told) = told.as_ref().filter(|told| is_unordered && !told.values.is_empty()) {
            file.sequences.insert(column.attribute.name.clone(), told.values.clone());
        }
    }
    let Some(cuts) = cuts.into_iter().collect::<Option<Vec<PublicCuts>>>() else {
        return (file, None);
    };
    if !file.private.is_empty() {
        return (file, None);
    }
    match &found.recoding {
        Recoding::Intervals(_) => {
            let firsts = columns.iter().zip(cuts);
            file.cuts = firsts.map(|(of, cuts)| (of.attribute.name.clone(), cuts.firsts)).collect();
        }
        Recoding::Partition(_) => return (file, Some(PublicTree { columns, cuts })),
        Recoding::FullDomain(_) | Recoding::Blocks(_) | Recoding::Local(_) => {}
    }
    (file, None)
}

/// Which codes of a column its labels print.
fn told_codes(plan: &Plan, attribute: &Attribute, column: &RecodedColumn) -> Vec<bool> {
    let mut is_told = vec![false; attribute.n_codes() as usize];
    if plan.labels == LabelForm::Mean && tells_means(plan, attribute) {
        return is_told;
    }
    for cell in &column.cells {
        match cell {
            Cell::Value(code) => is_told[*code as usize] = true,
            Cell::Range(lo, hi) => {
                is_told[*lo as usize] = true;
                is_told[*hi as usize] = true;
            }
            // All values of a column read as `*`.
            Cell::Set(codes) if codes.len() < attribute.n_codes() as usize => {
                for &code in codes {
                    is_told[code as usize] = true;
                }
            }
            Cell::Set(_) | Cell::Between(_) | Cell::Node(..) | Cell::Nodes(_) | Cell::All => {}
        }
    }
    is_told
}

/// The cut points of a column, by first code above them, as far as its labels print them.
fn told_points(
    column: &RecodedColumn,
    places: &BTreeMap<u32, CutPlace>,
) -> BTreeMap<u32, Option<String>> {
    let ends = column.cells.iter().flat_map(|cell| match cell {
        Cell::Between(part) => vec![part.from.as_ref(), part.below.as_ref()],
        _ => Vec::new(),
    });
    let told: BTreeSet<&str> = ends.flatten().map(|end| end.text.as_str()).collect();
    let text = |place: &CutPlace| {
        Some(place.first.text.clone()).filter(|text| told.contains(text.as_str()))
    };
    places.iter().map(|(first, place)| (*first, text(place))).collect()
}

impl PublicColumn<'_> {
    fn text(&self, code: u32) -> Option<String> {
        self.attribute.dictionary.text(code).map(str::to_owned)
    }

    fn released(&self, codes: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        codes.filter(|&code| self.is_released[code as usize]).collect()
    }

    /// Whether every value that released rows have is printed.
    fn is_whole(&self) -> bool {
        self.is_released.iter().zip(&self.is_told).all(|(released, told)| *told || !*released)
    }

    /// The texts of some codes; those of an unordered column by their characters, which says
    /// nothing of how often they occur.
    fn texts(&self, codes: &[u32]) -> Vec<String> {
        let mut texts: Vec<String> = codes.iter().filter_map(|&code| self.text(code)).collect();
        if matches!(self.attribute.shape, Shape::Unordered) {
            texts.sort_unstable();
        }
        texts
    }

    /// A column that is not cut.
    fn told_values(&self) -> Option<PublicCuts> {
        let last = self.attribute.n_codes().max(1) - 1;
        let is_listed = matches!(self.attribute.shape, Shape::Unordered | Shape::Ordinal);
        match self.attribute.shape {
            Shape::Tree(_) => None,
            Shape::Ordinal if !self.is_whole() => None,
            _ if is_listed && self.is_whole() && self.attribute.n_codes() > 0 => {
                let values = self.texts(&self.released(0..=last));
                Some(PublicCuts { values, ..PublicCuts::default() })
            }
            _ => Some(PublicCuts::default()),
        }
    }

    /// The intervals of a single-dimensional recoding that released rows are in.
    fn told_intervals(&self, cuts: &Cuts, at: usize) -> Option<PublicCuts> {
        let mut told = self.told_values()?;
        let n_codes = self.attribute.n_codes();
        let intervals = cuts.intervals(at, n_codes).filter(|(lo, hi)| lo <= hi && *hi < n_codes);
        if !self.points.is_empty() {
            for text in self.points.values() {
                told.firsts.push(Some(text.clone()?));
            }
            told.firsts.dedup();
            // Missing may be cut off behind all values.
            let missing = self.attribute.dictionary.missing();
            told.firsts.extend(missing.filter(|code| cuts.of(at).contains(code)).map(|_| None));
            return Some(told);
        }
        let mut intervals: Vec<Vec<u32>> =
            intervals.map(|(lo, hi)| self.released(lo..=hi)).filter(|of| !of.is_empty()).collect();
        if intervals.len() < 2 {
            return Some(told);
        }
        if !matches!(self.attribute.shape, Shape::Unordered) {
            for first in intervals[1..].iter().map(|interval| interval[0]) {
                if !self.is_told[first as usize] {
                    return None;
                }
                told.firsts.push(self.text(first));
            }
            return Some(told);
        }
        if !self.is_whole() {
            return None;
        }
        // Their order says nothing either; only missing has its place, which is the last.
        let missing = self.attribute.dictionary.missing();
        let key = |interval: &Vec<u32>| {
            let has_missing = interval.iter().any(|&code| Some(code) == missing);
            (has_missing, self.texts(interval).into_iter().next())
        };
        intervals.sort_by_cached_key(key);
        told.values = intervals.iter().flat_map(|interval| self.texts(interval)).collect();
        told.firsts = intervals[1..].iter().map(|of| self.texts(of).into_iter().next()).collect();
        Some(told)
    }

    /// The cuts of a tree on this column.
    fn told_cuts(&self, tree: &PartitionTree, at: usize) -> Option<PublicCuts> {
        let mut told = self.told_values()?;
        let mut ends = Vec::new();
        for node in &tree.nodes {
            if let Node::Cut { attribute, branches } = node
                && *attribute == at
            {
                // Only a hierarchy has runs.
                let Branches::Binary { at, .. } = branches else { return None };
                ends.push(*at);
            }
        }
        ends.sort_unstable();
        ends.dedup();
        if ends.is_empty() {
            return Some(told);
        }
        if !matches!(self.attribute.shape, Shape::Unordered) {
            for end in ends {
                if self.is_region && self.attribute.dictionary.missing() == Some(end + 1) {
                    continue;
                }
                if let Some(point) = self.points.get(&(end + 1)) {
                    told.at_most.insert(end, point.clone()?);
                    continue;
                }
                // The ends of regions in a declared order need not be released.
                if let (Shape::Ordinal, true) = (&self.attribute.shape, self.is_told[end as usize])
                {
                    told.at_most.insert(end, self.text(end)?);
                    continue;
                }
                let below = (0..=end).rev().find(|&code| self.is_released[code as usize])?;
                let text = self.text(below).filter(|_| self.is_told[below as usize])?;
                told.at_most.insert(end, text);
            }
            return Some(told);
        }
        if !self.is_whole() {
            return None;
        }
        told.values.clear();
        let mut start = 0;
        for end in ends {
            let run = self.texts(&self.released(start..=end));
            told.at_most.insert(end, run.last()?.clone());
            told.values.extend(run);
            start = end + 1;
        }
        let last = self.attribute.n_codes().max(1) - 1;
        told.values.extend(self.texts(&self.released(start..=last)));
        Some(told)
    }
}

/// The columns without values that the release does not tell.
fn public_columns(
    complete: &RecodingFile,
    columns: &[PublicColumn],
    cuts: &[Option<PublicCuts>],
) -> IndexMap<String, ColumnSpec> {
    let public = |(name, spec): (&String, &ColumnSpec)| {
        let mut spec = ColumnSpec { order: None, hierarchy: None, ..spec.clone() };
        let told = columns.iter().zip(cuts).find(|(of, _)| &of.attribute.name == name);
        if let Some((column, told)) = told {
            let is_ordinal = matches!(column.attribute.shape, Shape::Ordinal);
            spec.order = told.as_ref().filter(|_| is_ordinal).map(|told| told.values.clone());
            // A fraction may be that of a suppressed row.
            let dictionary = &column.attribute.dictionary;
            let texts = dictionary.texts.iter().zip(&column.is_told);
            let has_fraction =
                texts.filter(|(_, is_told)| **is_told).any(|(text, _)| text.contains(['.', 'e']));
            // The labels of regions show what the column is.
            if dictionary.kind == Kind::Decimal && !has_fraction && !column.is_region {
                spec.kind = None;
            }
        }
        (name.clone(), spec)
    };
    complete.columns.iter().map(public).collect()
}

/// The columns of which only the private part tells how they are recoded or ordered.
fn private_columns(
    complete: &RecodingFile,
    columns: &[PublicColumn],
    cuts: &[Option<PublicCuts>],
) -> Vec<String> {
    let is_private = |(name, spec): &(&String, &ColumnSpec)| {
        let told = columns.iter().zip(cuts).find(|(of, _)| &of.attribute.name == *name);
        match told {
            Some((_, told)) => told.is_none(),
            None => spec.order.is_some() || spec.hierarchy.is_some(),
        }
    };
    complete.columns.iter().filter(is_private).map(|(name, _)| name.clone()).collect()
}

impl PublicTree<'_> {
    /// A node in values that the release tells: a cut in those that stand for it, and no leaves of
    /// what a class covers but what its labels say.
    pub(super) fn node(
        &self,
        mut record: NodeRecord,
        node: &Node,
        (plan, set, classes): (&Plan, &FrequencySet, &Classes),
    ) -> NodeRecord {
        match (&mut record, node) {
            (
                NodeRecord::Cut { at_most, .. },
                Node::Cut { attribute, branches: Branches::Binary { at, .. } },
            ) => {
                debug_assert!(*attribute < self.columns.len(), "a cut has its column");
                if let Some(text) = self.cuts[*attribute].at_most.get(at) {
                    at_most.clone_from(text);
                }
            }
            (NodeRecord::Class { cells, .. }, Node::Leaf { class }) => {
                hide_cells(cells, plan, set, *class, classes);
            }
            _ => {}
        }
        record
    }
}

/// Leaves of what a class covers what its labels say.
fn hide_cells(
    cells: &mut IndexMap<String, Covered>,
    plan: &Plan,
    set: &FrequencySet,
    class: u32,
    classes: &Classes,
) {
    let number = classes.number_of[class as usize];
    for (attribute, column) in set.attributes.iter().zip(&classes.recoded.columns) {
        let Some(said) = cells.get_mut(&attribute.name) else { continue };
        let cell = &column.cells[column.of_class[number as usize] as usize];
        let is_mean = plan.labels == LabelForm::Mean && tells_means(plan, attribute);
        *said = match cell {
            _ if is_mean => Covered::anything(),
            Cell::Set(codes) if codes.len() == attribute.n_codes() as usize => Covered::anything(),
            Cell::All | Cell::Node(..) | Cell::Nodes(_) => Covered::anything(),
            cell => covered(attribute, cell),
        };
    }
}

//! The classes of a saved recoding that new rows fall into.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{
    Assignment, Attribute, Branches, Cell, Codes, Cuts, FrequencySet, Level, Levels, Node,
    PartitionTree, Recoded, SUPPRESSED, Shape, collapse,
};
use incrowd_engine::Values;
use incrowd_privacy::{Tally, all_hold};
use incrowd_release::{
    Classes, LabelForm, drop_unused, hide_whole_sets, recode, recode_cuts, recode_levels,
    whole_intervals,
};

use super::Application;
use super::extend::Unknown;
use super::regions::Division;
use crate::flow::coding::{CodedAs, Coding};
use crate::flow::ended::Ended;
use crate::flow::recoding_file::{Covered, NodeRecord, RecodingFile, damaged};
use crate::flow::relabel::{relabelled, released_codes};
use crate::flow::values::DistinctValues;
use crate::plan::Plan;
use crate::report::Outcome;
use crate::report::RecodingKind;
use crate::spec::error::{JobError, Problem};

impl RecodingFile {
    /// Adds the values that the recoding speaks of to those of the new rows, so that one order
    /// holds for both.
    pub(super) fn widen(&self, values: &mut Values) {
        let name = &values.name;
        let n_missing = values.has_missing.then(|| values.n_missing());
        let texts = &mut values.texts;
        let mut known: BTreeSet<String> = texts.iter().cloned().collect();
        let mut mentions_missing = false;
        let mut add = |text: Option<&String>| match text {
            Some(text) if known.insert(text.clone()) => texts.push(text.clone()),
            Some(_) => {}
            None => mentions_missing = true,
        };
        let cuts = self.cuts.get(name).into_iter().flatten();
        for value in cuts.chain(self.known.get(name).into_iter().flatten()) {
            add(value.as_ref());
        }
        for node in &self.nodes {
            match node {
                NodeRecord::Cut { column, at_most, .. } if column == name => add(Some(at_most)),
                NodeRecord::Below { column, below: Some(below), .. } if column == name => {
                    add(Some(below));
                }
                NodeRecord::Children { column, children } if column == name => {
                    for (end, _) in children {
                        add(end.as_ref());
                    }
                }
                NodeRecord::Class { cells, .. } => {
                    for cell in cells.get(name).into_iter().flat_map(Covered::values) {
                        add(cell.as_ref());
                    }
                }
                NodeRecord::Cut { .. } | NodeRecord::Below { .. } | NodeRecord::Children { .. } => {
                }
            }
        }
        values.has_missing |= mentions_missing;
        // Rows of the added values: none.
        let n_known = values.counts.len() - usize::from(n_missing.is_some());
        values.counts.truncate(n_known);
        values.counts.resize(values.texts.len(), 0);
        values.counts.extend(values.has_missing.then_some(n_missing.unwrap_or(0)));
    }
}

/// New rows in the recoding's terms.
pub(super) struct Recognised {
    /// By vector, those that stand for what classes cover included.
    pub(super) class_of: Vec<u32>,
    pub(super) classes: Classes,
    /// The levels of a full-domain recoding.
    pub(super) levels: Option<Levels>,
    /// The cuts of a single-dimensional one.
    pub(super) cuts: Option<Cuts>,
    /// By attribute, its last values that the recoding does not know, whose rows are left out.
    pub(super) n_unknown: Vec<usize>,
    /// Its classes with whole intervals, which are measured.
    pub(super) whole: Option<Recoded>,
}

impl Application<'_> {
    /// Finds the class of every vector of the new rows, and leaves out those that break a model.
    /// Vectors without rows that stand for what classes cover are added to the set.
    pub(super) fn recognise(
        &self,
        plan: &Plan,
        coding: &mut Coding,
        lookup: &Lookup,
    ) -> Result<Recognised, Ended> {
        if coding.set.n_rows == 0 {
            let reasons = vec!["the table has no rows".to_owned()];
            return Err(Ended::Without(Outcome::Failed { reasons, help: None, report: None }));
        }
        let set = &coding.set;
        let (mut levels, mut cuts, mut tree) = (None, None, None);
        let mut assignment = match self.file.kind {
            RecodingKind::FullDomain => {
                let levels = levels.insert(self.levels(&set.attributes)?);
                generalise(set, |at, code| match &set.attributes[at].shape {
                    Shape::Tree(hierarchy) => hierarchy.group_of(levels.get(at), code),
                    _ => code,
                })
            }
            RecodingKind::SingleDimensional => {
                let cuts = cuts.insert(self.cuts(&set.attributes, lookup)?);
                generalise(set, |at, code| {
                    u32::try_from(cuts.interval_of(at, code)).expect("no more intervals than codes")
                })
            }
            RecodingKind::Multidimensional | RecodingKind::Local | RecodingKind::Unknown => {
                let tree = tree.insert(self.tree(&set.attributes, lookup)?);
                let class_of = |vector: usize| tree.class_of(|at| set.vectors[at].get(vector));
                Assignment::of_whole_vectors((0..set.len()).map(class_of).collect(), tree.n_classes)
            }
        };
        let is_region = plan.labels == LabelForm::Region;
        let division = match (&tree, &cuts) {
            (Some(tree), _) if is_region => Some(Division::Tree(tree)),
            (None, Some(cuts)) if is_region => Some(Division::Cuts(cuts)),
            _ => None,
        };
        self.leave_out_unknown(set, &mut assignment.class_of, (division, lookup))?;
        self.suppress(plan, coding, &mut assignment.class_of)?;
        if tree.is_some() && division.is_none() {
            self.cover(&mut coding.set, &mut assignment.class_of, lookup);
        }
        self.relabel(&mut coding.set, &assignment.class_of, is_region);
        let set = &coding.set;
        let classes = match (&levels, &cuts) {
            _ if division.is_some() => {
                let division = division.expect("it was just looked at");
                let mut classes = self.region_classes(set, &assignment, division, lookup);
                self.keep_anything(&set.attributes, &mut classes);
                classes
            }
            (Some(levels), _) => recode_levels(set, &assignment, levels),
            (None, Some(cuts)) => recode_cuts(set, &assignment, cuts),
            (None, None) => {
                let divided = tree.as_ref().map(|tree| tree.divided(&set.attributes, &[]));
                let mut classes = recode(set, &assignment, divided.as_deref().unwrap_or(&[]));
                self.keep_anything(&set.attributes, &mut classes);
                hide_whole_sets(&set.attributes, &mut classes.recoded);
                classes
            }
        };
        let whole = cuts.as_ref().filter(|_| !is_region);
        let whole = whole.map(|cuts| whole_intervals(set, &assignment, cuts));
        let n_unknown = lookup.unknown.iter().map(BTreeSet::len).collect();
        let class_of = assignment.class_of;
        Ok(Recognised { class_of, classes, levels, cuts, n_unknown, whole })
    }

    /// Makes the labels of hierarchies that were built from values again: from the leaves that were
    /// released when the recoding was made, and, but for region labels, those of the new rows that
    /// are.
    fn relabel(&self, set: &mut FrequencySet, class_of: &[u32], is_region: bool) {
        if self.file.built.is_empty() {
            return;
        }
        let released = released_codes(set, class_of);
        for (attribute, mut is_released) in set.attributes.iter_mut().zip(released) {
            let Some(built) = self.file.built.get(&attribute.name) else { continue };
            let known: BTreeSet<&String> = built.leaves.iter().collect();
            for (text, is_released) in attribute.dictionary.texts.iter().zip(&mut is_released) {
                *is_released = known.contains(text) || *is_released && !is_region;
            }
            if let Shape::Tree(hierarchy) = &mut attribute.shape {
                *hierarchy = relabelled(hierarchy, &built.by, &is_released);
            }
        }
    }

    /// A class that covered anything of a column still does.
    fn keep_anything(&self, attributes: &[Attribute], classes: &mut Classes) {
        for node in &self.file.nodes {
            let NodeRecord::Class { class, cells } = node else { continue };
            let number = classes.number_of[*class as usize];
            if number == SUPPRESSED {
                continue;
            }
            for (attribute, column) in attributes.iter().zip(&mut classes.recoded.columns) {
                if matches!(cells.get(&attribute.name), Some(Covered::Any(_))) {
                    let all = column.cells.iter().position(|cell| *cell == Cell::All);
                    let all = all.unwrap_or_else(|| {
                        column.cells.push(Cell::All);
                        column.cells.len() - 1
                    });
                    column.of_class[number as usize] =
                        u32::try_from(all).expect("fewer cells than classes");
                }
            }
        }
        classes.recoded.columns.iter_mut().for_each(drop_unused);
    }

    fn damaged(&self, reason: &str) -> JobError {
        damaged(self.recoding, reason).into()
    }

    fn levels(&self, attributes: &[Attribute]) -> Result<Levels, JobError> {
        let level = |attribute: &Attribute| {
            let level = self.file.levels.get(&attribute.name).copied().unwrap_or(0);
            match &attribute.shape {
                Shape::Tree(hierarchy) if Level(level) > hierarchy.height() => {
                    Err(self.damaged(&format!("`{}` has no level {level}", attribute.name)))
                }
                _ => Ok(Level(level)),
            }
        };
        let levels: Vec<Level> = attributes.iter().map(level).collect::<Result<_, _>>()?;
        Ok(Levels::new(levels))
    }

    fn cuts(&self, attributes: &[Attribute], lookup: &Lookup) -> Result<Cuts, JobError> {
        let mut cuts = Cuts::none(attributes.len());
        let narrowed = self.narrowed(attributes);
        for (at, attribute) in attributes.iter().enumerate() {
            let values = self.file.cuts.get(&attribute.name).into_iter().flatten();
            let codes: Vec<u32> = values.map(|value| lookup.code(at, value.as_ref())).collect();
            if !codes.is_sorted_by(|a, b| a < b) {
                let name = &attribute.name;
                return Err(self.damaged(&format!("the cuts of `{name}` are not in their order")));
            }
            let codes = codes.into_iter().map(|code| narrowed.first_above(at, code));
            // Before the least value there is nothing to be cut off.
            codes.filter(|&code| code > 0).for_each(|code| cuts.insert(at, code));
        }
        Ok(cuts)
    }

    fn tree(&self, attributes: &[Attribute], lookup: &Lookup) -> Result<PartitionTree, JobError> {
        let position = |name: &String| {
            attributes.iter().position(|attribute| &attribute.name == name).ok_or_else(|| {
                JobError::from(Problem::new(format!(
                    "the recoding cuts `{name}`, which is not quasi"
                )))
            })
        };
        let mut nodes = Vec::with_capacity(self.file.nodes.len());
        let is_class = |node: &&NodeRecord| matches!(node, NodeRecord::Class { .. });
        // They are numbered without a gap, which was checked.
        let n_classes = self.file.nodes.iter().filter(is_class).count();
        let n_classes = u32::try_from(n_classes).expect("fewer classes than nodes");
        for (at, node) in self.file.nodes.iter().enumerate() {
            nodes.push(match node {
                NodeRecord::Class { class, .. } => Node::Leaf { class: *class },
                NodeRecord::Cut { column, at_most, low, high } => {
                    let attribute = position(column)?;
                    let at = lookup.code(attribute, Some(at_most));
                    Node::Cut {
                        attribute,
                        branches: Branches::Binary { at, low: *low, high: *high },
                    }
                }
                NodeRecord::Below { column, below, low, high } => {
                    let attribute = position(column)?;
                    let first = below.as_ref().map(|below| lookup.code(attribute, Some(below)));
                    let last = Self::last_below(&attributes[attribute], first);
                    let branches = last.map_or_else(
                        || Branches::Runs(vec![(u32::MAX, *high)]),
                        |at| Branches::Binary { at, low: *low, high: *high },
                    );
                    Node::Cut { attribute, branches }
                }
                NodeRecord::Children { column, children } => {
                    let attribute = position(column)?;
                    let runs: Vec<(u32, u32)> = children
                        .iter()
                        .map(|(end, child)| (lookup.code(attribute, end.as_ref()), *child))
                        .collect();
                    if !runs.is_sorted_by_key(|(end, _)| *end) {
                        let reason = format!("the children of node {at} are not in their order");
                        return Err(self.damaged(&reason));
                    }
                    Node::Cut { attribute, branches: Branches::Runs(runs) }
                }
            });
        }
        Ok(PartitionTree { nodes, n_classes })
    }

    /// Adds vectors without rows that stand for what each class of the recoding covers.
    fn cover(&self, set: &mut FrequencySet, class_of: &mut Vec<u32>, lookup: &Lookup) {
        let mut first_of: BTreeMap<u32, usize> = BTreeMap::new();
        for (vector, &class) in class_of.iter().enumerate() {
            first_of.entry(class).or_insert(vector);
        }
        for node in &self.file.nodes {
            let NodeRecord::Class { class, cells } = node else { continue };
            let covered: Vec<Vec<u32>> = set
                .attributes
                .iter()
                .enumerate()
                .map(|(at, attribute)| {
                    let cells = cells.get(&attribute.name).map_or(&[] as &[_], Covered::values);
                    cells.iter().map(|cell| lookup.code(at, cell.as_ref())).collect()
                })
                .collect();
            let n_vectors = covered.iter().map(Vec::len).max().unwrap_or(0);
            // A class that covers anything of a column adds nothing to what its rows have of it.
            let stand_in = first_of.get(class).copied();
            let Some(stand_in) = stand_in.filter(|_| !cells.is_empty()) else { continue };
            let covered = covered.into_iter().zip(&set.vectors).map(|(covered, codes)| {
                if covered.is_empty() { vec![codes.get(stand_in)] } else { covered }
            });
            let covered: Vec<Vec<u32>> = covered.collect();
            for (column, covered) in set.vectors.iter_mut().zip(&covered) {
                let codes = (0..n_vectors).map(|vector| covered[vector.min(covered.len() - 1)]);
                column.extend(codes);
            }
            set.counts.resize(set.counts.len() + n_vectors, 0);
            class_of.resize(class_of.len() + n_vectors, *class);
        }
    }

    /// Leaves out classes of new rows that break a model, within the limit.
    fn suppress(&self, plan: &Plan, coding: &Coding, class_of: &mut [u32]) -> Result<(), Ended> {
        if self.options.unverified {
            return Ok(());
        }
        let Coding { set, models, entity, .. } = coding;
        let mut order: Vec<u32> = (0..).take(class_of.len()).collect();
        order.sort_by_key(|&vector| class_of[vector as usize]);
        let mut tally = Tally::new(set, *entity);
        let mut broken: Vec<(u32, u64)> = Vec::new();
        order.retain(|&vector| class_of[vector as usize] != SUPPRESSED);
        for class in order.chunk_by(|&a, &b| class_of[a as usize] == class_of[b as usize]) {
            tally.clear();
            for &v in class {
                tally.add(v as usize, set.counts[v as usize]);
            }
            if !all_hold(models, tally.class()) {
                broken.push((class_of[class[0] as usize], tally.class().n_rows));
            }
        }
        let n_broken: u64 = broken.iter().map(|(_, rows)| rows).sum();
        let limit = plan.suppress.rows(set.n_rows)?;
        let n_unknown = left_out(set, class_of);
        if n_unknown > 0 && n_unknown + n_broken > limit {
            let reasons = vec![format!(
                "{n_unknown} of the {} rows have values that the recoding does not know, and {n_broken} more fall into \
                 classes that break a model; {limit} may be left out",
                set.n_rows
            )];
            let n_all = n_unknown + n_broken;
            let help =
                Some(format!("leave them out with --suppress {n_all}rows, or fix the values"));
            return Err(Ended::Without(Outcome::Failed { reasons, help, report: None }));
        }
        if n_broken > limit {
            let reason = format!(
                "{} of the {} rows fall into classes of this recoding for which {} does not hold",
                n_broken,
                set.n_rows,
                models.iter().map(|model| model.describe()).collect::<Vec<_>>().join(", ")
            );
            let help = format!(
                "leave them out with --suppress {n_broken}rows, bring more rows, or (for held-out test \
                 rows that are not handed on) add --unverified"
            );
            return Err(Ended::Without(Outcome::Failed {
                reasons: vec![reason],
                help: Some(help),
                report: None,
            }));
        }
        let is_broken: BTreeSet<u32> = broken.iter().map(|(class, _)| *class).collect();
        let n_broken = n_broken + n_unknown;
        if plan.stars_suppressed && n_broken > 0 {
            tally.clear();
            let is_out = |class: u32| class == SUPPRESSED || is_broken.contains(&class);
            for vector in (0..set.len()).filter(|&vector| is_out(class_of[vector])) {
                tally.add(vector, set.counts[vector]);
            }
            if !all_hold(models, tally.class()) {
                let reasons = vec![format!(
                    "the {n_broken} suppressed rows, released as `*`, would be a class that breaks a model"
                )];
                let help = Some("leave them out with --suppressed drop".to_owned());
                return Err(Ended::Without(Outcome::Failed { reasons, help, report: None }));
            }
        }
        for class in class_of {
            if is_broken.contains(class) {
                *class = SUPPRESSED;
            }
        }
        Ok(())
    }
}

/// The rows of vectors that are in no class.
fn left_out(set: &FrequencySet, class_of: &[u32]) -> u64 {
    let of_class = class_of.iter().zip(&set.counts);
    of_class.filter(|(class, _)| **class == SUPPRESSED).map(|(_, &rows)| u64::from(rows)).sum()
}

/// Classes of vectors whose values become the same: `group` says what a value of an attribute
/// becomes.
fn generalise(set: &FrequencySet, group: impl Fn(usize, u32) -> u32) -> Assignment {
    let groups: Vec<(Codes, u32)> = set
        .vectors
        .iter()
        .zip(&set.attributes)
        .enumerate()
        .map(|(at, (codes, attribute))| {
            let n_codes = attribute.n_codes();
            (Codes::pack(n_codes, codes.iter().map(|code| group(at, code))), n_codes)
        })
        .collect();
    let groups: Vec<(&Codes, u32)> = groups.iter().map(|(codes, n)| (codes, *n)).collect();
    let classes = collapse(&groups, set.len());
    let n_classes = u32::try_from(classes.counts.len()).expect("no more classes than rows");
    Assignment::of_whole_vectors(classes.vector_of, n_classes)
}

/// The code of a text, by attribute.
pub(super) struct Lookup {
    codes: Vec<BTreeMap<String, u32>>,
    missing: Vec<u32>,
    /// By attribute, the codes of values that the recoding does not know.
    pub(super) unknown: Vec<BTreeSet<u32>>,
}

impl Lookup {
    /// The codes of the quasi-identifier columns, which come first among those of a scheme.
    pub(super) fn new(
        plan: &Plan,
        columns: &[CodedAs],
        known: &dyn DistinctValues,
        unknown: &Unknown,
    ) -> Lookup {
        let (mut codes, mut missing, mut of_unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (column, _) in columns.iter().zip(plan.with_role(crate::spec::Role::Quasi)) {
            let name = &plan.columns[column.at].name;
            let texts = &known.values(name).expect("it was read with codes").texts;
            let of_text: BTreeMap<String, u32> =
                texts.iter().cloned().zip(column.map.iter().copied()).collect();
            let unknown = unknown.get(&column.at).into_iter().flatten();
            of_unknown.push(unknown.map(|text| of_text[text]).collect());
            codes.push(of_text);
            missing.push(column.map.get(texts.len()).copied().unwrap_or(u32::MAX));
        }
        Lookup { codes, missing, unknown: of_unknown }
    }

    pub(super) fn code(&self, attribute: usize, text: Option<&String>) -> u32 {
        match text {
            Some(text) => self.codes[attribute][text],
            None => self.missing[attribute],
        }
    }
}

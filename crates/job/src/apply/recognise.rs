//! The classes of a saved recoding that new rows fall into.

use incrowd_data::{
    Assignment, Attribute, Branches, Codes, Cuts, FrequencySet, Level, Levels, Node, PartitionTree,
    SUPPRESSED, Shape, collapse,
};
use incrowd_engine::Values;
use incrowd_privacy::{Tally, all_hold};
use incrowd_release::{Classes, recode, recode_cuts, recode_levels};

use super::Application;
use crate::coding::{CodedAs, Coding, Known};
use crate::error::{JobError, Problem};
use crate::plan::Plan;
use crate::recoding_file::{NodeRecord, RecodingFile};
use crate::report::Outcome;

impl RecodingFile {
    /// Adds the values that the recoding speaks of to those of the new rows, so that one order holds for
    /// both.
    pub(super) fn widen(&self, values: &mut Values) {
        let name = &values.name;
        let n_missing = values.has_missing.then(|| values.n_missing());
        let texts = &mut values.texts;
        let mut known: std::collections::BTreeSet<String> = texts.iter().cloned().collect();
        let mut mentions_missing = false;
        let mut add = |text: Option<&String>| match text {
            Some(text) if known.insert(text.clone()) => texts.push(text.clone()),
            Some(_) => {}
            None => mentions_missing = true,
        };
        for value in self.cuts.get(name).into_iter().flatten() {
            add(value.as_ref());
        }
        for node in &self.nodes {
            match node {
                NodeRecord::Cut { column, at_most, .. } if column == name => add(Some(at_most)),
                NodeRecord::Children { column, children } if column == name => {
                    for (end, _) in children {
                        add(end.as_ref());
                    }
                }
                NodeRecord::Class { cells, .. } => {
                    for cell in cells.get(name).into_iter().flatten() {
                        add(cell.as_ref());
                    }
                }
                NodeRecord::Cut { .. } | NodeRecord::Children { .. } => {}
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
}

impl Application<'_> {
    /// Finds the class of every vector of the new rows, and leaves out those that break a model. Vectors
    /// without rows that stand for what classes cover are added to the set.
    pub(super) fn recognise(
        &self,
        plan: &Plan,
        coding: &mut Coding,
        lookup: &Lookup,
    ) -> Result<Result<Recognised, Outcome>, JobError> {
        if coding.set.n_rows == 0 {
            let reasons = vec!["the table has no rows".to_owned()];
            return Ok(Err(Outcome::Failed { reasons, help: None, report: None }));
        }
        let set = &coding.set;
        let (mut levels, mut cuts, mut tree) = (None, None, None);
        let mut assignment = match self.file.kind.as_str() {
            "full-domain" => {
                let levels = levels.insert(self.levels(&set.attributes));
                generalise(set, |at, code| match &set.attributes[at].shape {
                    Shape::Tree(hierarchy) => hierarchy.group_of(levels.get(at), code),
                    _ => code,
                })
            }
            "single-dimensional" => {
                let cuts = cuts.insert(self.cuts(&set.attributes, lookup));
                generalise(set, |at, code| {
                    u32::try_from(cuts.interval_of(at, code)).expect("no more intervals than codes")
                })
            }
            _ => {
                let tree = tree.insert(self.tree(&set.attributes, lookup)?);
                let class_of = |vector: usize| tree.class_of(|at| set.vectors[at].get(vector));
                Assignment {
                    class_of: (0..set.len()).map(class_of).collect(),
                    n_classes: tree.n_classes,
                    parts: Vec::new(),
                }
            }
        };
        if let Some(failed) = self.suppress(plan, coding, &mut assignment.class_of)? {
            return Ok(Err(failed));
        }
        if tree.is_some() {
            self.cover(&mut coding.set, &mut assignment.class_of, lookup);
        }
        let classes = match (&levels, &cuts) {
            (Some(levels), _) => recode_levels(&coding.set, &assignment, levels),
            (None, Some(cuts)) => recode_cuts(&coding.set, &assignment, cuts),
            (None, None) => recode(&coding.set, &assignment),
        };
        Ok(Ok(Recognised { class_of: assignment.class_of, classes, levels, cuts }))
    }

    fn levels(&self, attributes: &[Attribute]) -> Levels {
        let level = |attribute: &Attribute| self.file.levels.get(&attribute.name).copied();
        Levels::new(attributes.iter().map(|attribute| Level(level(attribute).unwrap_or(0))))
    }

    fn cuts(&self, attributes: &[Attribute], lookup: &Lookup) -> Cuts {
        let mut cuts = Cuts::none(attributes.len());
        for (at, attribute) in attributes.iter().enumerate() {
            for value in self.file.cuts.get(&attribute.name).into_iter().flatten() {
                cuts.insert(at, lookup.code(at, value.as_ref()));
            }
        }
        cuts
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
        let mut n_classes = 0;
        for node in &self.file.nodes {
            nodes.push(match node {
                NodeRecord::Class { class, .. } => {
                    n_classes = n_classes.max(class + 1);
                    Node::Leaf { class: *class }
                }
                NodeRecord::Cut { column, at_most, low, high } => {
                    let attribute = position(column)?;
                    let at = lookup.code(attribute, Some(at_most));
                    Node::Cut {
                        attribute,
                        branches: Branches::Binary { at, low: *low, high: *high },
                    }
                }
                NodeRecord::Children { column, children } => {
                    let attribute = position(column)?;
                    let runs = children
                        .iter()
                        .map(|(end, child)| (lookup.code(attribute, end.as_ref()), *child))
                        .collect();
                    Node::Cut { attribute, branches: Branches::Runs(runs) }
                }
            });
        }
        Ok(PartitionTree { nodes, n_classes })
    }

    /// Adds vectors without rows that stand for what each class of the recoding covers.
    fn cover(&self, set: &mut FrequencySet, class_of: &mut Vec<u32>, lookup: &Lookup) {
        for node in &self.file.nodes {
            let NodeRecord::Class { class, cells } = node else { continue };
            let covered: Vec<Vec<u32>> = set
                .attributes
                .iter()
                .enumerate()
                .map(|(at, attribute)| {
                    let cells = cells.get(&attribute.name).map_or(&[] as &[_], Vec::as_slice);
                    cells.iter().map(|cell| lookup.code(at, cell.as_ref())).collect()
                })
                .collect();
            let n_vectors = covered.iter().map(Vec::len).max().unwrap_or(0);
            if covered.iter().any(Vec::is_empty) {
                continue;
            }
            for (column, covered) in set.vectors.iter_mut().zip(&covered) {
                let codes = (0..n_vectors).map(|vector| covered[vector.min(covered.len() - 1)]);
                column.extend(codes);
            }
            set.counts.resize(set.counts.len() + n_vectors, 0);
            class_of.resize(class_of.len() + n_vectors, *class);
        }
    }

    /// Leaves out classes of new rows that break a model, within the limit.
    fn suppress(
        &self,
        plan: &Plan,
        coding: &Coding,
        class_of: &mut [u32],
    ) -> Result<Option<Outcome>, JobError> {
        if self.options.unverified {
            return Ok(None);
        }
        let Coding { set, models, entity, .. } = coding;
        let mut order: Vec<u32> = (0..).take(class_of.len()).collect();
        order.sort_by_key(|&vector| class_of[vector as usize]);
        let mut tally = Tally::new(set, *entity);
        let mut broken: Vec<(u32, u64)> = Vec::new();
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
            return Ok(Some(Outcome::Failed {
                reasons: vec![reason],
                help: Some(help),
                report: None,
            }));
        }
        let is_broken: std::collections::BTreeSet<u32> =
            broken.iter().map(|(class, _)| *class).collect();
        if plan.stars_suppressed && n_broken > 0 {
            tally.clear();
            for vector in (0..set.len()).filter(|&vector| is_broken.contains(&class_of[vector])) {
                tally.add(vector, set.counts[vector]);
            }
            if !all_hold(models, tally.class()) {
                let reasons = vec![format!(
                    "the {n_broken} suppressed rows, released as `*`, would be a class that breaks a model"
                )];
                let help = Some("leave them out with --suppressed drop".to_owned());
                return Ok(Some(Outcome::Failed { reasons, help, report: None }));
            }
        }
        for class in class_of {
            if is_broken.contains(class) {
                *class = SUPPRESSED;
            }
        }
        Ok(None)
    }
}

/// Classes of vectors whose values become the same: `group` says what a value of an attribute becomes.
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
    Assignment { class_of: classes.vector_of, n_classes, parts: Vec::new() }
}

/// The code of a text, by attribute.
pub(super) struct Lookup {
    codes: Vec<std::collections::BTreeMap<String, u32>>,
    missing: Vec<u32>,
}

impl Lookup {
    /// The codes of the quasi-identifier columns, which come first among those of a scheme.
    pub(super) fn new(plan: &Plan, columns: &[CodedAs], known: &dyn Known) -> Lookup {
        let (mut codes, mut missing) = (Vec::new(), Vec::new());
        for (column, _) in columns.iter().zip(plan.with_role(crate::plan::Role::Quasi)) {
            let name = &plan.columns[column.at].name;
            let texts = &known.values(name).expect("it was read with codes").texts;
            codes.push(texts.iter().cloned().zip(column.map.iter().copied()).collect());
            missing.push(column.map.get(texts.len()).copied().unwrap_or(u32::MAX));
        }
        Lookup { codes, missing }
    }

    fn code(&self, attribute: usize, text: Option<&String>) -> u32 {
        match text {
            Some(text) => self.codes[attribute][text],
            None => self.missing[attribute],
        }
    }
}

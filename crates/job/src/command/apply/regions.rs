//! Region labels of new rows: those of the recoding, whatever the new rows are.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Assignment, Attribute, Cuts, FrequencySet, PartitionTree, SUPPRESSED, Shape};
use incrowd_engine::CutPoint;
use incrowd_release::{Classes, CutPlace, Regions, recode_intervals, recode_regions};

use super::Application;
use super::recognise::Lookup;
use crate::flow::recoding_file::{Covered, NodeRecord};
use crate::flow::regions::{Places, cut_place};
use crate::spec::error::{JobError, Problem};

/// What divides new rows into classes.
#[derive(Clone, Copy)]
pub(super) enum Division<'a> {
    Tree(&'a PartitionTree),
    Cuts(&'a Cuts),
}

impl Application<'_> {
    /// The last code below a cut point; none if all values are above it. Without a cut point all
    /// values are below.
    pub(super) fn last_below(attribute: &Attribute, cut_point: Option<u32>) -> Option<u32> {
        cut_point.unwrap_or(attribute.n_values()).checked_sub(1)
    }

    /// The classes with the cells of their regions, which leaves that the new rows brought to a
    /// hierarchy do not change.
    pub(super) fn region_classes(
        &self,
        set: &FrequencySet,
        assignment: &Assignment,
        division: Division,
        lookup: &Lookup,
    ) -> Classes {
        let is_known: Vec<Vec<bool>> = set
            .attributes
            .iter()
            .enumerate()
            .map(|(at, attribute)| self.known_codes(at, attribute, lookup))
            .collect();
        let places = self.places(&set.attributes, lookup);
        let regions = Regions { places: &places, is_known: &is_known };
        let cells = |set: &FrequencySet, division: Division| {
            self.cells_of_regions(set, assignment, division, &regions)
        };
        let narrowed = self.narrowed(&set.attributes);
        if narrowed.is_empty() {
            cells(set, division)
        } else {
            narrowed.classes(set, division, cells)
        }
    }

    fn cells_of_regions(
        &self,
        set: &FrequencySet,
        assignment: &Assignment,
        division: Division,
        regions: &Regions,
    ) -> Classes {
        let name = |at: usize| &set.attributes[at].name;
        match division {
            Division::Cuts(cuts) => {
                let says_missing = |at: usize| {
                    let is_unordered = matches!(set.attributes[at].shape, Shape::Unordered);
                    is_unordered || self.file.any.contains(name(at))
                };
                recode_intervals(set, assignment, cuts, regions, Some(&says_missing))
            }
            Division::Tree(tree) => {
                let [any, with_missing] = self.with_missing();
                let says_missing = |class: usize, at: usize| {
                    let class = u32::try_from(class).expect("fewer classes than 2^32");
                    let cell = (class, name(at).as_str());
                    let is_tree = matches!(set.attributes[at].shape, Shape::Tree(_));
                    any.contains(&cell) || (is_tree && with_missing.contains(&cell))
                };
                recode_regions(set, assignment, tree, regions, Some(&says_missing))
            }
        }
    }

    /// The classes and columns whose cell was `*`, and those whose cell named missing values.
    fn with_missing(&self) -> [BTreeSet<(u32, &str)>; 2] {
        let (mut any, mut named) = (BTreeSet::new(), BTreeSet::new());
        for node in &self.file.nodes {
            let NodeRecord::Class { class, cells } = node else { continue };
            for (name, covered) in cells {
                let cell = (*class, name.as_str());
                if matches!(covered, Covered::Any(_)) {
                    any.insert(cell);
                } else if covered.values().contains(&None) {
                    named.insert(cell);
                }
            }
        }
        [any, named]
    }

    /// The codes that a set may name.
    fn known_codes(&self, at: usize, attribute: &Attribute, lookup: &Lookup) -> Vec<bool> {
        let is_unordered = matches!(attribute.shape, Shape::Unordered);
        let mut is_known = vec![!is_unordered; attribute.n_codes() as usize];
        for value in self.file.known.get(&attribute.name).into_iter().flatten() {
            is_known[lookup.code(at, value.as_ref()) as usize] = true;
        }
        is_known
    }

    /// Where the lines are cut.
    fn places(&self, attributes: &[Attribute], lookup: &Lookup) -> Places {
        let of_attribute = |(at, attribute): (usize, &Attribute)| {
            if !matches!(attribute.shape, Shape::Numeric) {
                return BTreeMap::new();
            }
            let name = &attribute.name;
            let of_node = |node: &'_ NodeRecord| match node {
                NodeRecord::Below { column, below: Some(below), .. } if column == name => {
                    Some(below.clone())
                }
                _ => None,
            };
            let below = self.file.nodes.iter().filter_map(of_node);
            let cuts = self.file.cuts.get(name).into_iter().flatten().flatten().cloned();
            let place = |text: String| -> (u32, CutPlace) {
                let point = CutPoint::at(attribute.dictionary.kind, &text);
                (lookup.code(at, Some(&text)), cut_place(&point))
            };
            below.chain(cuts).map(place).collect()
        };
        attributes.iter().enumerate().map(of_attribute).collect()
    }

    /// Leaves out the vectors with values that the recoding does not know, or refuses them: values
    /// that are in no hierarchy, and for region labels those that lie outside of what the label of
    /// their class says.
    pub(super) fn leave_out_unknown(
        &self,
        set: &FrequencySet,
        class_of: &mut [u32],
        (division, lookup): (Option<Division>, &Lookup),
    ) -> Result<(), JobError> {
        for (codes, unknown) in set.vectors.iter().zip(&lookup.unknown) {
            if !unknown.is_empty() {
                let vectors = class_of.iter_mut().zip(codes.iter());
                for (class, _) in vectors.filter(|(_, code)| unknown.contains(code)) {
                    *class = SUPPRESSED;
                }
            }
        }
        let Some(division) = division else { return Ok(()) };
        let n_classes = class_of.iter().filter(|class| **class != SUPPRESSED).max();
        let n_classes = match division {
            Division::Tree(tree) => tree.n_classes,
            Division::Cuts(_) => n_classes.map_or(0, |last| last + 1),
        };
        let assignment = Assignment::of_whole_vectors(class_of.to_vec(), n_classes);
        let classes = self.region_classes(set, &assignment, division, lookup);
        let suppresses = self.suppresses_unknown()?;
        let mut problems = Vec::new();
        for (at, attribute) in set.attributes.iter().enumerate() {
            let column = &classes.recoded.columns[at];
            let mut n_outside = 0;
            for (vector, class) in assignment.class_of.iter().enumerate() {
                let Some(&number) = classes.number_of.get(*class as usize) else { continue };
                let Some(&cell) = column.of_class.get(number as usize) else { continue };
                if !attribute.covers(&column.cells[cell as usize], set.vectors[at].get(vector)) {
                    n_outside += u64::from(set.counts[vector]);
                    class_of[vector] = SUPPRESSED;
                }
            }
            if n_outside > 0 && !suppresses {
                problems.push(outside(&attribute.name, n_outside));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
    }
}

fn outside(column: &str, n_rows: u64) -> Problem {
    let rows = if n_rows == 1 {
        "1 row has a value".to_owned()
    } else {
        format!("{n_rows} rows have values")
    };
    Problem::new(format!(
        "{rows} of column `{column}` that the recoding's regions do not cover: a value that it does not know, or a \
         missing cell in a class that had none"
    ))
    .help("leave the rows out with --unknown suppress, or make a recoding with --labels range")
}

//! Rows as points for models: original rows by their values, released rows by the region that stands for
//! them.
//!
//! A region of a multidimensional recoding is a point with two coordinates an attribute, its least and its
//! greatest value (KDD 2006, section 4.2). A single-dimensional or full-domain recoding gives every value
//! one group, which is one coordinate.

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Cell, Codes, Level, SUPPRESSED, Shape};
use incrowd_engine::{Table, position};
use incrowd_evaluate::learn::Features;
use incrowd_release::Classes;
use incrowd_search::{Found, Recoding};

use super::{is_number, predicted};
use crate::coding::{Coding, OrderedColumn, order_column, raw_column};
use crate::error::JobError;
use crate::plan::{Plan, Role};

/// The columns of the whole table, as models see them.
pub(super) struct Truth {
    pub(super) predictors: Vec<Predictor>,
    pub(super) targets: Vec<TargetColumn>,
}

/// A quasi-identifier column.
pub(super) struct Predictor {
    pub(super) name: String,
    pub(super) is_nominal: bool,
    codes: Codes,
    /// By code, its place; missing values have one as well.
    places: Vec<f64>,
}

/// A column to predict.
pub(super) struct TargetColumn {
    pub(super) name: String,
    pub(super) codes: Codes,
    pub(super) n_labels: u32,
    /// By code, its number; none for labels.
    pub(super) numbers: Option<Vec<f64>>,
}

impl TargetColumn {
    /// The number of a row, if it has one.
    pub(super) fn number(&self, row: u32) -> Option<f64> {
        self.numbers.as_ref()?.get(self.codes.get(row as usize) as usize).copied()
    }
}

/// Where codes lie: values on the line, a missing one behind the last; ranks where there is no line.
fn places(attribute: &Attribute) -> Vec<f64> {
    let positions = &attribute.dictionary.positions;
    match (&attribute.shape, positions.first(), positions.last()) {
        (Shape::Numeric, Some(first), Some(last)) => {
            let behind = last + (last - first) / 10.0 + 1.0;
            let missing = attribute.dictionary.missing().map(|_| behind);
            positions.iter().copied().chain(missing).collect()
        }
        _ => (0..attribute.n_codes()).map(f64::from).collect(),
    }
}

fn is_nominal(shape: &Shape) -> bool {
    matches!(shape, Shape::Unordered | Shape::Tree(_))
}

impl Truth {
    pub(super) fn new(plan: &Plan, table: &Table) -> Result<Truth, JobError> {
        let mut predictors = Vec::new();
        for at in plan.with_role(Role::Quasi) {
            let OrderedColumn { ordered, codes } =
                order_column(&plan.columns[at], raw_column(plan, table, at))?;
            let name = plan.columns[at].name.clone();
            let dictionary = ordered.ranked.dictionary;
            let attribute = Attribute { name, dictionary, shape: ordered.shape };
            predictors.push(Predictor {
                places: places(&attribute),
                is_nominal: is_nominal(&attribute.shape),
                name: attribute.name,
                codes,
            });
        }
        let mut targets = Vec::new();
        for at in predicted(plan) {
            let OrderedColumn { ordered, codes } =
                order_column(&plan.columns[at], raw_column(plan, table, at))?;
            let dictionary = ordered.ranked.dictionary;
            let is_number = is_number(plan, dictionary.kind, dictionary.n_codes());
            targets.push(TargetColumn {
                name: plan.columns[at].name.clone(),
                codes,
                n_labels: dictionary.n_codes(),
                numbers: is_number.then_some(dictionary.positions),
            });
        }
        Ok(Truth { predictors, targets })
    }

    /// Original rows as points; `kept` says which predictors.
    pub(super) fn points(&self, rows: &[u32], kept: &[usize]) -> Features {
        let mut values = Vec::with_capacity(rows.len() * kept.len());
        for &row in rows {
            values.extend(kept.iter().map(|&at| {
                let predictor = &self.predictors[at];
                predictor.places[predictor.codes.get(row as usize) as usize]
            }));
        }
        let is_nominal = kept.iter().map(|&at| self.predictors[at].is_nominal).collect();
        Features { n_rows: rows.len(), values, is_nominal }
    }
}

/// A recoding that was learned, and how to apply it.
pub(super) struct Release {
    pub(super) coding: Coding,
    pub(super) found: Found,
    pub(super) classes: Classes,
    /// By attribute, by code of the whole table's raw column, the code that the recoding knows.
    known: Vec<Vec<u32>>,
    /// By attribute, the raw codes of the whole table.
    raw: Vec<Codes>,
    /// By attribute and code, its place.
    places: Vec<Vec<f64>>,
    /// By class of a partition, the codes that its region covers.
    regions: Vec<Vec<(u32, u32)>>,
}

impl Release {
    pub(super) fn new(
        plan: &Plan,
        table: &Table,
        coding: Coding,
        found: Found,
        classes: Classes,
    ) -> Release {
        let mut known = Vec::new();
        let mut raw = Vec::new();
        for (at, attribute) in plan.with_role(Role::Quasi).zip(&coding.set.attributes) {
            let column = raw_column(plan, table, at);
            let texts: BTreeMap<&str, u32> =
                attribute.dictionary.texts.iter().map(String::as_str).zip(0..).collect();
            let mut codes: Vec<u32> = column
                .values
                .texts
                .iter()
                .map(|text| known_code(attribute, &texts, text))
                .collect();
            let last = attribute.n_codes().max(1) - 1;
            codes.push(attribute.dictionary.missing().unwrap_or(last));
            known.push(codes);
            raw.push(column.codes.clone());
        }
        let places = coding.set.attributes.iter().map(places).collect();
        let n_codes: Vec<u32> = coding.set.attributes.iter().map(Attribute::n_codes).collect();
        let regions = match &found.recoding {
            Recoding::Partition(tree) => tree.regions(&n_codes),
            _ => Vec::new(),
        };
        Release { coding, found, classes, known, raw, places, regions }
    }

    /// The code of a row that the recoding knows.
    fn code(&self, attribute: usize, row: u32) -> u32 {
        self.known[attribute][self.raw[attribute].get(row as usize) as usize]
    }

    /// Released rows as points; `kept` says which attributes.
    pub(super) fn points(&self, rows: &[u32], kept: &[usize]) -> Features {
        let attributes = &self.coding.set.attributes;
        let mut values = Vec::new();
        if let Recoding::Partition(tree) = &self.found.recoding {
            for &row in rows {
                let class = tree.class_of(|attribute| self.code(attribute, row)) as usize;
                let number = self.classes.number_of[class];
                for &at in kept {
                    // A class that no training row is in has a region all the same.
                    let (lo, hi) = match number {
                        SUPPRESSED => self.regions[class][at],
                        number => self.extent(at, number),
                    };
                    let places = &self.places[at];
                    values.extend([places[lo as usize], places[hi as usize]]);
                }
            }
            return Features {
                n_rows: rows.len(),
                values,
                is_nominal: vec![false; 2 * kept.len()],
            };
        }
        for &row in rows {
            values.extend(kept.iter().map(|&at| f64::from(self.group(at, self.code(at, row)))));
        }
        let is_nominal = kept.iter().map(|&at| is_nominal(&attributes[at].shape)).collect();
        Features { n_rows: rows.len(), values, is_nominal }
    }

    /// The group of a code under a recoding that treats attributes apart.
    fn group(&self, at: usize, code: u32) -> u32 {
        match &self.found.recoding {
            Recoding::Intervals(cuts) => {
                u32::try_from(cuts.interval_of(at, code)).expect("no more intervals than codes")
            }
            Recoding::FullDomain(levels) => match &self.coding.set.attributes[at].shape {
                Shape::Tree(hierarchy) => hierarchy.group_of(levels.get(at), code),
                _ => code,
            },
            Recoding::Partition(_) | Recoding::Blocks(_) | Recoding::Local => code,
        }
    }

    /// The least and greatest code that a class covers on an attribute.
    fn extent(&self, at: usize, class: u32) -> (u32, u32) {
        let attribute = &self.coding.set.attributes[at];
        let column = &self.classes.recoded.columns[at];
        cell_extent(attribute, &column.cells[column.of_class[class as usize] as usize])
    }
}

/// The least and greatest code of a cell.
pub(crate) fn cell_extent(attribute: &Attribute, cell: &Cell) -> (u32, u32) {
    let last = attribute.n_codes().max(1) - 1;
    match cell {
        Cell::Value(code) => (*code, *code),
        Cell::Range(lo, hi) => (*lo, *hi),
        Cell::Between(part) => (part.lo, part.hi),
        Cell::Set(codes) => {
            (codes.first().copied().unwrap_or(0), codes.last().copied().unwrap_or(last))
        }
        Cell::Node(level, group) => match &attribute.shape {
            Shape::Tree(hierarchy) => {
                let node = &hierarchy.groups(Level(*level))[*group as usize];
                (node.lo, node.hi)
            }
            _ => (0, last),
        },
        Cell::All => (0, last),
    }
}

/// The code of a value, or where it would stand if the training rows do not have it: before the next
/// greater number, or last where there is no line. `texts` are the codes of known values.
fn known_code(attribute: &Attribute, texts: &BTreeMap<&str, u32>, text: &str) -> u32 {
    let dictionary = &attribute.dictionary;
    let last = attribute.n_values().max(1) - 1;
    if let Some(&known) = texts.get(text) {
        return known;
    }
    if !matches!(attribute.shape, Shape::Numeric) {
        return last;
    }
    let before =
        |at: f64| u32::try_from(dictionary.positions.partition_point(|known| *known < at)).ok();
    position(dictionary.kind, text).and_then(before).map_or(last, |before| before.min(last))
}

//! Rows as points for models: original rows by their values, released rows by the region that
//! stands for them.
//!
//! A region of a multidimensional recoding is a point with two coordinates an attribute, its least
//! and its greatest value (KDD 2006, section 4.2). A single-dimensional or full-domain recoding
//! gives every value one group, which is one coordinate. Columns that are released as they are,
//! sensitive ones among them, are one coordinate for original and released rows alike.

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Codes, Kind, SUPPRESSED, Shape};
use incrowd_engine::{Table, position};
use incrowd_evaluate::learn::{Features, LARGEST_VALUE};
use incrowd_release::Classes;
use incrowd_search::{Found, Recoding};

use super::predicted;
use crate::flow::coding::Coding;
use crate::flow::ordered::{OrderedColumn, order_column, raw_column};
use crate::plan::workload::MOST_LABELS;
use crate::plan::{Plan, PlannedColumn};
use crate::report::LeftOutColumn;
use crate::report::page::count;
use crate::spec::Role;
use crate::spec::error::JobError;

/// The columns of the whole table, as models see them.
pub(super) struct Truth {
    /// The quasi-identifier columns, then those that are released as they are.
    pub(super) predictors: Vec<Predictor>,
    /// How many of them are recoded.
    pub(super) n_recoded: usize,
    pub(super) targets: Vec<TargetColumn>,
    /// Released columns that are neither.
    pub(super) left_out: Vec<LeftOutColumn>,
}

/// A column that models learn from.
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

/// Where codes lie: values on the line, a missing one behind the last; ranks where there is no
/// line.
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

/// Whether a column is released as it is, and nothing that models predict or that tells people
/// apart.
pub(super) fn is_released_as_it_is(column: &PlannedColumn) -> bool {
    matches!(column.role, Some(Role::Sensitive | Role::Insensitive))
        && !(column.spec.target || column.is_predicted || column.spec.entity)
}

/// A column as a predictor.
fn predictor(plan: &Plan, table: &Table, at: usize) -> Result<Predictor, JobError> {
    let OrderedColumn { ordered, codes } =
        order_column(&plan.columns[at], raw_column(plan, table, at))?;
    let dictionary = ordered.ranked.dictionary;
    let name = plan.columns[at].name.clone();
    let attribute = Attribute { name, dictionary, shape: ordered.shape };
    Ok(Predictor {
        places: places(&attribute),
        is_nominal: is_nominal(&attribute.shape),
        name: attribute.name,
        codes,
    })
}

/// Why models cannot learn from a column that is released as it is, if they cannot.
fn unusable(predictor: &Predictor) -> Option<String> {
    let n_values = predictor.places.len();
    if predictor.is_nominal && n_values > MOST_LABELS as usize {
        let (n_values, most) = (count(n_values as u64), count(MOST_LABELS.into()));
        return Some(format!("it has {n_values} values without an order, the most are {most}"));
    }
    let is_usable = predictor.places.iter().all(|place| place.abs() <= LARGEST_VALUE);
    (!is_usable).then(|| format!("it has numbers beyond {LARGEST_VALUE:e}"))
}

impl Truth {
    /// `is_number` says whether a target of a kind with so many values is predicted as a number.
    pub(super) fn new(
        plan: &Plan,
        table: &Table,
        is_number: impl Fn(Kind, u32) -> bool,
    ) -> Result<Truth, JobError> {
        let recoded = plan.with_role(Role::Quasi).map(|at| predictor(plan, table, at));
        let mut predictors: Vec<Predictor> = recoded.collect::<Result<_, JobError>>()?;
        let n_recoded = predictors.len();
        let mut left_out = Vec::new();
        for (at, column) in plan.columns.iter().enumerate() {
            if !is_released_as_it_is(column) {
                continue;
            }
            let reason = if column.source.can_be_coded() {
                let found = predictor(plan, table, at)?;
                let reason = unusable(&found);
                if reason.is_none() {
                    predictors.push(found);
                }
                reason
            } else {
                Some(format!("models cannot learn from values of type {}", column.source.data_type))
            };
            let column = column.name.clone();
            left_out.extend(reason.map(|reason| LeftOutColumn { column, reason }));
        }
        let mut targets = Vec::new();
        for at in predicted(plan) {
            let OrderedColumn { ordered, codes } =
                order_column(&plan.columns[at], raw_column(plan, table, at))?;
            let dictionary = ordered.ranked.dictionary;
            let is_number = is_number(dictionary.kind, dictionary.n_codes());
            targets.push(TargetColumn {
                name: plan.columns[at].name.clone(),
                codes,
                n_labels: dictionary.n_codes(),
                numbers: is_number.then_some(dictionary.positions),
            });
        }
        Ok(Truth { predictors, n_recoded, targets, left_out })
    }

    /// Original rows as points; `kept` says which predictors.
    pub(super) fn points(&self, rows: &[u32], kept: &[usize]) -> Features {
        let mut values = Vec::with_capacity(rows.len() * kept.len());
        for &row in rows {
            values.extend(kept.iter().map(|&at| self.predictors[at].place(row)));
        }
        let is_nominal = kept.iter().map(|&at| self.predictors[at].is_nominal).collect();
        Features { n_rows: rows.len(), values, is_nominal }
    }
}

impl Predictor {
    fn place(&self, row: u32) -> f64 {
        self.places[self.codes.get(row as usize) as usize]
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

    /// Released rows as points; `kept` says which predictors.
    pub(super) fn points(&self, truth: &Truth, rows: &[u32], kept: &[usize]) -> Features {
        let n_recoded = kept.partition_point(|&at| at < truth.n_recoded);
        let (recoded, as_they_are) = kept.split_at(n_recoded);
        let attributes = &self.coding.set.attributes;
        let mut is_nominal: Vec<bool> = match &self.found.recoding {
            Recoding::Partition(_) => vec![false; 2 * recoded.len()],
            _ => recoded.iter().map(|&at| is_nominal(&attributes[at].shape)).collect(),
        };
        is_nominal.extend(as_they_are.iter().map(|&at| truth.predictors[at].is_nominal));
        let mut values = Vec::with_capacity(rows.len() * is_nominal.len());
        for &row in rows {
            self.place(row, recoded, &mut values);
            values.extend(as_they_are.iter().map(|&at| truth.predictors[at].place(row)));
        }
        Features { n_rows: rows.len(), values, is_nominal }
    }

    /// Adds the coordinates of a row on some attributes.
    fn place(&self, row: u32, attributes: &[usize], values: &mut Vec<f64>) {
        let Recoding::Partition(tree) = &self.found.recoding else {
            let group = |&at: &usize| f64::from(self.group(at, self.code(at, row)));
            values.extend(attributes.iter().map(group));
            return;
        };
        let class = tree.class_of(|attribute| self.code(attribute, row)) as usize;
        let number = self.classes.number_of[class];
        for &at in attributes {
            // A class that no training row is in has a region all the same.
            let (lo, hi) = match number {
                SUPPRESSED => self.regions[class][at],
                number => self.extent(at, number),
            };
            let places = &self.places[at];
            values.extend([places[lo as usize], places[hi as usize]]);
        }
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
            Recoding::Partition(_) | Recoding::Blocks(_) | Recoding::Local(_) => code,
        }
    }

    /// The least and greatest code that a class covers on an attribute.
    fn extent(&self, at: usize, class: u32) -> (u32, u32) {
        let attribute = &self.coding.set.attributes[at];
        let column = &self.classes.recoded.columns[at];
        attribute.extent(&column.cells[column.of_class[class as usize] as usize])
    }
}

/// The code of a value, or where it would stand if the training rows do not have it: before the
/// next greater number, or last where there is no line. `texts` are the codes of known values.
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

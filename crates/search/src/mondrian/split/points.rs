//! The input of the criteria.

use incrowd_data::{Attribute, Codes, Extra, FrequencySet};

/// The points that criteria look up, and the attributes. They are those of a frequency set, or
/// represent all points that agree in everything that matters besides the attribute that is cut.
#[derive(Clone, Copy)]
pub(crate) struct PointColumns<'a> {
    pub(crate) attributes: &'a [Attribute],
    pub(crate) vectors: &'a [Codes],
    pub(crate) extras: &'a [Extra],
    pub(crate) counts: &'a [u32],
    pub(crate) n_rows: u64,
    /// Computed from the vectors unless given.
    pub(crate) masks: Option<&'a Masks>,
}

/// By point, a bit for each box of the workload that contains it.
#[derive(Default)]
pub(crate) struct Masks {
    pub(crate) selections: Vec<u64>,
    pub(crate) queries: Vec<u64>,
}

/// What criteria derive from the whole table, for criteria that see only a part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) n_rows: u64,
    /// By target, its weight.
    pub(crate) weights: Vec<f64>,
    pub(crate) scales: Vec<Scale>,
}

/// The scale of a query's errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// The value that counts as 0: the true mean if the query returns the mean.
    pub(crate) centre: f64,
    /// The mean distance of the selected values from the centre.
    pub(crate) unit: f64,
    /// The true answer in units, at least 1.
    pub(crate) answer: f64,
}

impl<'a> PointColumns<'a> {
    pub(crate) fn of(set: &'a FrequencySet) -> PointColumns<'a> {
        PointColumns {
            attributes: &set.attributes,
            vectors: &set.vectors,
            extras: &set.extras,
            counts: &set.counts,
            n_rows: set.n_rows,
            masks: None,
        }
    }
}

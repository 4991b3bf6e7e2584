//! What a table and its release look like: the numbers of the pictures in an HTML report.
//!
//! For the public nothing is worked out that the release does not tell: [`public`] sees its labels
//! and how many rows have them, and nothing else.

mod distribution;
mod kept;
mod line;
mod matrix;
mod names;
mod partition;
mod public;
mod records;
mod sample;

use std::collections::BTreeMap;

use incrowd_data::{
    Attribute, Cell, Codes, FrequencySet, Kind, Labels, Recoded, RecodedColumn, SUPPRESSED, Shape,
};
use incrowd_release::{Classes, LabelForm, labels};

use crate::report::wanted::HtmlWanted;
use line::Line;

pub(crate) use distribution::Distribution;
pub(crate) use matrix::Associations;
pub(crate) use names::NodeNames;
pub(crate) use partition::{Partition, Sampled};
pub(crate) use records::Records;

/// What a table and its release look like.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    pub(crate) columns: Vec<ColumnPicture>,
    pub(crate) associations: Associations,
    pub(crate) partition: Option<Partition>,
    /// Some records before and after, if the table may be told of.
    pub(crate) records: Option<Records>,
}

/// A quasi-identifier column.
#[derive(Debug)]
pub(crate) struct ColumnPicture {
    pub(crate) name: String,
    /// What its values are and how they lie to one another.
    pub(crate) values: String,
    /// What is left of its values, in its own units; empty where the release does not tell.
    pub(crate) kept: String,
    pub(crate) cells: CellsShown,
    pub(crate) distribution: Option<Distribution>,
}

/// The cells of a column in the release, with how many rows have each.
#[derive(Debug)]
pub(crate) enum CellsShown {
    /// Means are released, not ranges.
    Means,
    /// Ranges on a line.
    Spans(SpansShown),
    /// Labels with their rows, the commonest first, and what the others come to: labels and rows.
    Listed { labels: Vec<(String, u64)>, others: (usize, u64) },
}

/// Ranges on a line.
#[derive(Debug)]
pub(crate) struct SpansShown {
    pub(crate) axis: &'static str,
    /// The line's ends.
    pub(crate) line: (f64, f64),
    /// Least and greatest value, and rows, in the order of their middles.
    pub(crate) spans: Vec<(f64, f64, f64)>,
    /// Whether there were too many, so that these are those of rows at even distances.
    pub(crate) is_sample: bool,
    /// Rows whose cell says nothing.
    pub(crate) n_hidden: u64,
    /// Rows without a value.
    pub(crate) n_missing: u64,
}

/// What pictures are made of.
pub(crate) struct PictureSource<'a> {
    pub(crate) wanted: &'a HtmlWanted,
    /// What recoded cells say.
    pub(crate) labels: LabelForm,
    /// By attribute, what the job declares of its values.
    pub(crate) declared: Vec<Option<Declared>>,
    pub(crate) set: &'a FrequencySet,
    /// By attribute, the rows of each code.
    pub(crate) value_rows: &'a [Vec<u64>],
    /// By row, its vector, if the rows are in memory.
    pub(crate) vector_of: &'a [u32],
    pub(crate) classes: &'a Classes,
    /// By vector, its class.
    pub(crate) class_of: &'a [u32],
    /// The columns that are released as they are, for an internal report, if the rows are in
    /// memory.
    pub(crate) others: Vec<OtherColumn>,
}

/// What a job declares of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    Order,
    Hierarchy(NodeNames),
}

impl Declared {
    /// How the nodes of its hierarchy are named, if there is one.
    fn node_names(self) -> Option<NodeNames> {
        match self {
            Declared::Order => None,
            Declared::Hierarchy(names) => Some(names),
        }
    }
}

/// A column that is released as it is.
pub(crate) struct OtherColumn {
    pub(crate) attribute: Attribute,
    /// By row, its code.
    pub(crate) codes: Codes,
}

/// The label of a cell without a value.
const MISSING: &str = "(missing)";

/// Labels that are listed.
const MOST_LABELS: usize = 12;

/// Ranges that are drawn.
const MOST_SPANS: usize = 150;

impl PictureSource<'_> {
    /// Looks at the table and its release.
    pub(crate) fn pictures(&self) -> Pictures {
        if !self.is_internal() {
            return self.public_pictures();
        }
        let columns = (0..self.set.attributes.len()).map(|at| self.column(at)).collect();
        let (associations, partition) = (self.associations(), self.partition());
        Pictures { columns, associations, partition, records: self.records() }
    }

    /// Whether whoever reads the report may know the table.
    fn is_internal(&self) -> bool {
        self.wanted.is_internal()
    }

    fn recoded(&self) -> &Recoded {
        &self.classes.recoded
    }

    /// Whether the cells of an attribute stand in the release: means stand in their place.
    fn is_told(&self, attribute: &Attribute) -> bool {
        let is_mean = self.labels == LabelForm::Mean
            && matches!(attribute.shape, Shape::Numeric)
            && !matches!(attribute.dictionary.kind, Kind::Date | Kind::Timestamp);
        !is_mean
    }

    /// The class of a vector among those that are released.
    fn class_of(&self, vector: usize) -> Option<u32> {
        let class = self.class_of[vector];
        let number = *self.classes.number_of.get(class as usize)?;
        (class != SUPPRESSED && number != SUPPRESSED).then_some(number)
    }

    fn column(&self, at: usize) -> ColumnPicture {
        let (attribute, column) = (&self.set.attributes[at], &self.recoded().columns[at]);
        let is_told = self.is_told(attribute);
        let rows = rows_of_cells(column, &self.recoded().sizes);
        let line = Line::of(attribute);
        let cells = match &line {
            _ if !is_told => CellsShown::Means,
            Some(line) if matches!(attribute.shape, Shape::Numeric) => {
                CellsShown::Spans(spans(attribute, column, &rows, line))
            }
            _ => listed(attribute, column, &rows),
        };
        let value_rows = &self.value_rows[at];
        ColumnPicture {
            name: attribute.name.clone(),
            values: values(attribute),
            kept: if is_told {
                let names = self.declared[at].and_then(Declared::node_names);
                kept::kept(attribute, column, names, (&texts_of(attribute, column), &rows))
            } else {
                "the mean of its class".to_owned()
            },
            cells,
            distribution: is_told
                .then(|| Distribution::of(attribute, column, &rows, (line.as_ref(), value_rows)))
                .flatten(),
        }
    }
}

/// The cells of a column on its line.
fn spans(attribute: &Attribute, column: &RecodedColumn, rows: &[u64], line: &Line) -> SpansShown {
    let mut spans: Vec<(f64, f64, u64)> = Vec::new();
    let (mut n_hidden, mut n_missing) = (0, 0);
    for (cell, &rows) in column.cells.iter().zip(rows) {
        match (cell, line.ends(attribute, cell)) {
            (_, Some((least, greatest))) => spans.push((least, greatest, rows)),
            (Cell::Value(_), None) => n_missing += rows,
            _ => n_hidden += rows,
        }
    }
    spans_shown(line.axis, spans, line.whole(), (n_hidden, n_missing))
}

/// Ranges with their rows, as they are drawn on a line: that of the whole column, if it is known.
/// Rows without a range are hidden or missing.
fn spans_shown(
    axis: &'static str,
    mut spans: Vec<(f64, f64, u64)>,
    whole: Option<(f64, f64)>,
    (n_hidden, n_missing): (u64, u64),
) -> SpansShown {
    spans.sort_by(|a, b| {
        let by_middle = (a.0 + a.1).total_cmp(&(b.0 + b.1));
        by_middle.then(a.0.total_cmp(&b.0))
    });
    // Cells that read the same are one.
    spans.dedup_by(|next, kept| {
        let is_same = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if is_same { next.2 } else { 0 };
        is_same
    });
    let least = spans.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
    let greatest = spans.iter().map(|span| span.1).fold(f64::NEG_INFINITY, f64::max);
    let line = whole.unwrap_or((least, greatest));
    let is_sample = spans.len() > MOST_SPANS;
    let spans = if is_sample {
        sampled(&spans)
    } else {
        spans.iter().map(|&(least, greatest, rows)| (least, greatest, rows as f64)).collect()
    };
    SpansShown { axis, line, spans, is_sample, n_hidden, n_missing }
}

/// The ranges of rows at even distances, from the lowest to the highest.
fn sampled(spans: &[(f64, f64, u64)]) -> Vec<(f64, f64, f64)> {
    let whole: u64 = spans.iter().map(|span| span.2).sum();
    let mut sample = Vec::with_capacity(MOST_SPANS);
    let (mut at, mut end) = (0, spans.first().map_or(0, |span| span.2));
    for place in 0..MOST_SPANS as u64 {
        let row = (2 * place + 1) * whole / (2 * MOST_SPANS as u64);
        while row >= end && at + 1 < spans.len() {
            at += 1;
            end += spans[at].2;
        }
        let (least, greatest, _) = spans[at];
        sample.push((least, greatest, whole as f64 / MOST_SPANS as f64));
    }
    sample
}

/// Rows by cell.
fn rows_of_cells(column: &RecodedColumn, sizes: &[u64]) -> Vec<u64> {
    let mut rows = vec![0; column.cells.len()];
    for (&cell, size) in column.of_class.iter().zip(sizes) {
        rows[cell as usize] += size;
    }
    rows
}

/// The commonest labels of a column. Cells that read the same have one label.
fn listed(attribute: &Attribute, column: &RecodedColumn, rows: &[u64]) -> CellsShown {
    let mut rows_of: BTreeMap<String, u64> = BTreeMap::new();
    for (text, rows) in texts_of(attribute, column).into_iter().zip(rows) {
        *rows_of.entry(text).or_default() += rows;
    }
    listed_labels(rows_of.into_iter().collect())
}

/// The commonest of some labels.
fn listed_labels(mut all: Vec<(String, u64)>) -> CellsShown {
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let others = all.split_off(all.len().min(MOST_LABELS));
    let n_rows = others.iter().map(|(_, rows)| rows).sum();
    CellsShown::Listed { labels: all, others: (others.len(), n_rows) }
}

/// The cells of a column as they read.
fn texts_of(attribute: &Attribute, column: &RecodedColumn) -> Vec<String> {
    let cells = RecodedColumn { cells: column.cells.clone(), of_class: Vec::new() };
    let read = labels(attribute, &cells, LabelForm::Range, None);
    let texts = read.into_iter().next().map(|Labels { texts, .. }| texts).unwrap_or_default();
    texts.into_iter().map(|text| text.unwrap_or_else(|| MISSING.to_owned())).collect()
}

/// What the values of an attribute are and how they lie to one another.
fn values(attribute: &Attribute) -> String {
    let kind = attribute.dictionary.kind;
    match &attribute.shape {
        Shape::Numeric => format!("{kind}, in their natural order"),
        Shape::Ordinal => format!("{kind}, in the declared order"),
        Shape::Unordered => format!("{kind}, without an order"),
        Shape::Tree(hierarchy) => {
            format!("{kind}, a hierarchy of {} levels", hierarchy.height().0)
        }
    }
}

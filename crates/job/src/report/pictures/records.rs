//! Some records before and after, for those who may know the table.

use incrowd_data::{Attribute, Labels, RecodedColumn};
use incrowd_release::{LabelForm, labels};

use super::PictureSource;
use super::sample::drawn_by;

/// Some records before and after.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) names: Vec<String>,
    /// Quasi-identifier columns, those included that are not shown.
    pub(crate) n_columns: usize,
    pub(crate) shown: Vec<Shown>,
}

/// A record: what it was, and what is released of it, if it is.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) before: Vec<String>,
    pub(crate) after: Option<Vec<String>>,
}

/// Records that are shown.
const MOST_RECORDS: usize = 4;

/// Quasi-identifier columns that are shown.
const MOST_COLUMNS: usize = 10;

/// Characters of a cell.
const MOST_CHARACTERS: usize = 60;

/// A cell without a value.
const MISSING: &str = "(missing)";

impl PictureSource<'_> {
    /// Some different records, drawn with the seed of the job; none where the rows are not at hand.
    pub(super) fn records(&self) -> Option<Records> {
        let set = self.set;
        if set.counts.is_empty() || set.attributes.is_empty() {
            return None;
        }
        let key = |vector: usize| -> Vec<u32> {
            set.vectors.iter().map(|codes| codes.get(vector)).collect()
        };
        let vectors = drawn_by((0..set.counts.len()).map(key), MOST_RECORDS, self.seed());
        let columns = 0..set.attributes.len().min(MOST_COLUMNS);
        let shown = |vector: usize| {
            let value = |at: usize| {
                let text = set.attributes[at].dictionary.text(set.vectors[at].get(vector));
                short(text.unwrap_or(MISSING))
            };
            let class = self.class_of(vector);
            let label = |at: usize, class: u32| self.label(&set.attributes[at], at, class);
            Shown {
                before: columns.clone().map(value).collect(),
                after: class.map(|class| columns.clone().map(|at| label(at, class)).collect()),
            }
        };
        let names = columns.clone().map(|at| set.attributes[at].name.clone()).collect();
        let shown = vectors.into_iter().map(shown).collect();
        Some(Records { names, n_columns: set.attributes.len(), shown })
    }

    /// What is released of an attribute in a class: the labels, one below another where there are
    /// two.
    fn label(&self, attribute: &Attribute, at: usize, class: u32) -> String {
        if !self.is_told(attribute) {
            return "(mean of its crowd)".to_owned();
        }
        let column = &self.recoded().columns[at];
        let cell = column.cells[column.of_class[class as usize] as usize].clone();
        let cell = RecodedColumn { cells: vec![cell], of_class: vec![0] };
        let form = match self.labels {
            LabelForm::RangeMean => LabelForm::Range,
            form => form,
        };
        let read = labels(attribute, &cell, form, None);
        let text = |labels: &Labels| labels.texts.first().cloned().flatten();
        let texts: Vec<String> =
            read.iter().map(|labels| short(text(labels).as_deref().unwrap_or(MISSING))).collect();
        texts.join(" to ")
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
    }
}

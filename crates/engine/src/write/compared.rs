//! What is released as it is, counted on its way into the file, to be compared with the file's
//! bytes.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::Published;
use super::columnar::type_of;
use super::gather::{Columns, Gathered};
use crate::value::content::{ColumnContent, Content, Meaning};

/// The same cells, those with an empty text missing.
fn without_empty(array: &ArrayRef) -> ArrayRef {
    let Some(texts) = array.as_string_opt::<i32>() else { return Arc::clone(array) };
    if texts.iter().all(|text| text != Some("")) {
        return Arc::clone(array);
    }
    let texts = texts.iter().map(|text| text.filter(|text| !text.is_empty()));
    Arc::new(texts.collect::<StringArray>())
}

/// The columns of a release that are compared.
pub(super) struct Compared {
    /// By published column; none for labels.
    columns: Vec<Option<Column>>,
}

struct Column {
    name: String,
    meaning: Meaning,
    /// Whether empty texts come back as missing cells, as they do from CSV.
    is_empty_missing: bool,
    /// By code, the hash of its value; none if the column has no codes.
    hashes: Vec<Option<u64>>,
}

impl Compared {
    /// The columns of a release that goes into a text or a typed file.
    pub(super) fn new(columns: &Columns, is_text: bool) -> Result<Compared, ArrowError> {
        let column = |column: &Published| {
            let (own, hashes) = match column {
                Published::Labels { .. } => return Ok(None),
                Published::Coded { values, .. } => (&values.data_type, &values.texts[..]),
                Published::Kept(at) => (&columns.kept[*at].data_type, &[][..]),
            };
            let meaning = if is_text && own == &DataType::Utf8 {
                Meaning::Text
            } else {
                Meaning::of(&type_of(column, columns.kept))
            };
            let texts: ArrayRef = Arc::new(StringArray::from_iter_values(hashes));
            let mut hashes = Vec::with_capacity(texts.len());
            let is_empty_missing = is_text && meaning == Meaning::Text;
            let texts = if is_empty_missing { without_empty(&texts) } else { texts };
            meaning.each(&texts, |hash| hashes.push(hash))?;
            let name = column.name(columns.kept).to_owned();
            Ok(Some(Column { name, meaning, is_empty_missing, hashes }))
        };
        let columns = columns.published.iter().map(column).collect::<Result<_, ArrowError>>()?;
        Ok(Compared { columns })
    }

    /// By published column, the content of no rows.
    pub(super) fn nothing(&self) -> Vec<Content> {
        vec![Content::default(); self.columns.len()]
    }

    /// By published column, the content of some rows.
    pub(super) fn contents(&self, rows: &Gathered) -> Result<Vec<Content>, ArrowError> {
        let mut contents = self.nothing();
        for (at, (content, column)) in contents.iter_mut().zip(&self.columns).enumerate() {
            let Some(column) = column else { continue };
            if let Some(array) = &rows.kept[at] {
                *content = if column.is_empty_missing {
                    column.meaning.content(&without_empty(array))?
                } else {
                    column.meaning.content(array)?
                };
                continue;
            }
            let codes = rows.codes(at);
            for &row in &rows.rows {
                // A code without a value is that of missing cells.
                let code = codes.get(row as usize) as usize;
                content.add_cell(column.hashes.get(code).copied().flatten());
            }
        }
        Ok(contents)
    }

    /// The columns with what was written of them.
    pub(super) fn finish(self, contents: Vec<Content>) -> Vec<ColumnContent> {
        let columns = self.columns.into_iter().zip(contents);
        columns
            .filter_map(|(column, content)| {
                let Column { name, meaning, .. } = column?;
                Some(ColumnContent::new(&name, meaning, content))
            })
            .collect()
    }
}

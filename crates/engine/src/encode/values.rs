//! The distinct values of columns, and columns with a code for every cell.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use incrowd_data::{Codes, Kind};

use crate::error::Detail;
use crate::value::content::{ColumnContent, Content};
use crate::value::typing::{Order, Ranked, identify, infer, is_of, rank_by_list, rank_naturally};
use crate::{EngineError, ValueList};

/// A column's distinct values, in no particular order; a value's code is its place.
#[derive(Clone, Debug)]
pub struct Values {
    /// The column's name.
    pub name: String,
    /// The kind that the source says; text files say none.
    pub kind: Option<Kind>,
    /// Distinct values as text.
    pub texts: Vec<String>,
    /// Whether cells are missing; they have the code after the last value.
    pub has_missing: bool,
    /// What the values are in Arrow.
    pub data_type: DataType,
    /// Rows by code.
    pub counts: Vec<u64>,
}

/// Values that do not fit what their column should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfits {
    values: Vec<usize>,
    /// The kind or the list that they do not fit.
    what: Misfit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misfit {
    Kind(Kind),
    List(ValueList),
}

impl Misfits {
    /// What is wrong, told with the first row that has such a value. `codes` are those of all rows.
    #[must_use]
    pub fn found_in(self, values: &Values, codes: impl Iterator<Item = u32>) -> EngineError {
        let mut is_in = vec![false; values.texts.len() + 1];
        for &value in &self.values {
            is_in[value] = true;
        }
        let n_rows = self.values.iter().filter_map(|&value| values.counts.get(value)).sum();
        let first = (1u64..).zip(codes).find(|(_, code)| is_in[*code as usize]);
        let (column, first_row) = (values.name.clone(), first.map_or(0, |(row, _)| row));
        match self.what {
            Misfit::Kind(kind) => {
                let kind = Kind::NAMES.iter().find(|(_, k)| *k == kind).map_or("", |(n, _)| n);
                EngineError::NotOfKind { column, kind, n_rows, first_row }
            }
            Misfit::List(what) => {
                let n_values = self.values.len() as u64;
                EngineError::NotCovered { column, what, n_values, n_rows, first_row }
            }
        }
    }
}

impl Values {
    /// The number of codes, the missing one included.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        u32::try_from(self.texts.len()).expect("fewer values than rows")
            + u32::from(self.has_missing)
    }

    /// Rows without a value.
    #[must_use]
    pub fn n_missing(&self) -> u64 {
        self.counts.get(self.texts.len()).copied().unwrap_or(0)
    }

    /// The dictionary of the values in an order.
    pub fn rank(&self, order: Order) -> Result<Ranked, Misfits> {
        match order {
            Order::Natural(kind) => {
                self.naturally(kind, |kind| rank_naturally(&self.texts, self.has_missing, kind))
            }
            Order::Listed { texts, what } => rank_by_list(&self.texts, self.has_missing, texts)
                .map_err(|values| Misfits { values, what: Misfit::List(what) }),
        }
    }

    /// By code the rank of its value, and the number of ranks: texts of one value (`7` and `7.0`)
    /// share a rank, as they do in [`Values::rank`], and missing cells have the last one.
    pub fn identify(&self, kind: Option<Kind>) -> Result<(Vec<u32>, u32), Misfits> {
        let (mut ranks, n_values) = self.naturally(kind, |kind| identify(&self.texts, kind))?;
        if self.has_missing {
            ranks.push(n_values);
        }
        Ok((ranks, n_values + u32::from(self.has_missing)))
    }

    /// What is made of the values by a kind: the declared one, else what the source says. Where its
    /// values go beyond what that kind can order (unsigned numbers, times long ago), the kind is
    /// found out from them.
    fn naturally<T>(
        &self,
        declared: Option<Kind>,
        make: impl Fn(Option<Kind>) -> Result<T, Vec<usize>>,
    ) -> Result<T, Misfits> {
        let misfits = |values| {
            let what = Misfit::Kind(declared.unwrap_or(Kind::Text));
            Misfits { values, what }
        };
        match make(declared.or(self.kind)) {
            Err(_) if declared.is_none() => make(None).map_err(misfits),
            found => found.map_err(misfits),
        }
    }

    /// What the values are: what the source says if they all are that, else found out from them.
    #[must_use]
    pub fn natural_kind(&self) -> Kind {
        let texts = || self.texts.iter().map(String::as_str);
        let is_all = |kind: &Kind| texts().all(|text| is_of(*kind, text));
        self.kind.filter(is_all).unwrap_or_else(|| infer(texts()))
    }

    /// By code, the code in a ranked dictionary.
    #[must_use]
    pub fn map_to(&self, ranked: &Ranked) -> Vec<u32> {
        let mut map = ranked.code_of.clone();
        map.extend(ranked.dictionary.missing());
        map
    }

    /// No value and no row.
    fn without_values(&self) -> Values {
        Values {
            name: self.name.clone(),
            kind: self.kind,
            texts: Vec::new(),
            has_missing: self.has_missing,
            data_type: self.data_type.clone(),
            counts: Vec::new(),
        }
    }
}

/// A column's distinct values, with a code for every cell.
#[derive(Clone, Debug)]
pub struct RawColumn {
    /// The values.
    pub values: Values,
    /// A code per row.
    pub codes: Codes,
}

impl RawColumn {
    /// The dictionary of the values in an order.
    pub fn rank(&self, order: Order) -> Result<Ranked, EngineError> {
        self.values.rank(order).map_err(|misfits| misfits.found_in(&self.values, self.codes.iter()))
    }

    /// The cells with the codes of a ranked dictionary.
    #[must_use]
    pub fn coded(&self, ranked: &Ranked) -> Codes {
        self.codes.remap(&self.values.map_to(ranked), ranked.dictionary.n_codes())
    }

    /// Just some of the rows. Values that they do not have are left out, unless `keeps_values`.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32], keeps_values: bool) -> RawColumn {
        let values = &self.values;
        let n_values = values.texts.len();
        let mut rows_of = vec![0u64; n_values + 1];
        for &row in rows {
            rows_of[self.codes.get(row as usize) as usize] += 1;
        }
        let (mut texts, mut counts) = (Vec::new(), Vec::new());
        let mut new_code = vec![0; n_values + 1];
        for value in 0..n_values {
            if keeps_values || rows_of[value] > 0 {
                new_code[value] = u32::try_from(texts.len()).expect("fewer values than rows");
                texts.push(values.texts[value].clone());
                counts.push(rows_of[value]);
            }
        }
        let missing = u32::try_from(texts.len()).expect("fewer values than rows");
        new_code[n_values] = missing;
        let codes = rows.iter().map(|&row| new_code[self.codes.get(row as usize) as usize]);
        let codes = Codes::pack(missing + 1, codes);
        let has_missing = values.has_missing && (keeps_values || rows_of[n_values] > 0);
        if has_missing {
            counts.push(rows_of[n_values]);
        }
        RawColumn {
            values: Values { texts, has_missing, counts, ..values.without_values() },
            codes,
        }
    }
}

impl ColumnContent {
    /// What a column of values and their rows says.
    pub fn of_values(&self, values: &Values) -> Result<Content, EngineError> {
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(&values.texts));
        let mut content = Content::default();
        let mut counts = values.counts.iter();
        let unreadable = |error| EngineError::Read(Detail::of_arrow(&error));
        self.meaning()
            .each(&texts, |hash| content.add_cells(hash, counts.next().copied().unwrap_or(0)))
            .map_err(unreadable)?;
        content.add_cells(None, values.n_missing());
        Ok(content)
    }
}

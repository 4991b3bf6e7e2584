//! The cells of one column of one partition become codes as they arrive.

use std::sync::Arc;

use arrow::array::{AnyDictionaryArray, Array, ArrayRef, AsArray, DictionaryArray};
use arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow::error::ArrowError;
use chrono::DateTime;
use incrowd_data::Codes;

use super::cells::{Cells, MISSING};
use super::interned::{Interned, Texts, Wholes};
use crate::value::kind::{Render, render};
use crate::value::sets::{can_be_sets, labels_of_lists};
use crate::value::stored::{days, strict_cast};

/// The cells of one column of one partition, as they arrive.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(super) values: Interned,
    pub(super) cells: Cells,
    indexed: Indexed,
    /// Rows by code of the cells that were taken away, and those of missing cells.
    pub(super) counts: Vec<u64>,
    pub(super) n_missing: u64,
}

/// Texts that arrive as indexes into a dictionary, which is often the same from batch to batch.
#[derive(Debug, Default)]
struct Indexed {
    dictionary: Option<ArrayRef>,
    /// By index, the code; unknown until a cell has it.
    codes: Vec<Option<u32>>,
}

impl Indexed {
    fn add(&mut self, array: &DictionaryArray<Int32Type>, texts: &mut Texts, cells: &mut Cells) {
        let values = array.values();
        let is_known = self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, values));
        if !is_known {
            self.dictionary = Some(Arc::clone(values));
            self.codes.clear();
            self.codes.resize(values.len(), None);
        }
        let values = values.as_string::<i32>();
        cells.extend(array.keys().iter().map(|key| {
            let Some(at) = key.and_then(|key| usize::try_from(key).ok()) else { return MISSING };
            *self.codes[at].get_or_insert_with(|| {
                if values.is_null(at) { MISSING } else { texts.code(values.value(at)) }
            })
        }));
    }
}

fn indexed(array: &dyn AnyDictionaryArray) -> Option<DictionaryArray<Int32Type>> {
    let array = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>()?;
    (array.values().data_type() == &DataType::Utf8).then(|| array.clone())
}

impl Encoder {
    pub(crate) fn new(data_type: &DataType) -> Encoder {
        let values = match render(data_type) {
            None => Interned::Text(Texts::default()),
            Some(render) => Interned::Whole(Wholes::default(), render),
        };
        Encoder {
            values,
            cells: Cells(Codes::U8(Vec::new())),
            indexed: Indexed::default(),
            counts: Vec::new(),
            n_missing: 0,
        }
    }

    /// The codes that arrived since the last time. The greatest code of their width stands for
    /// missing.
    pub(crate) fn take_cells(&mut self) -> Codes {
        let empty = match &self.cells.0 {
            Codes::U8(cells) => Codes::U8(Vec::with_capacity(cells.len())),
            Codes::U16(cells) => Codes::U16(Vec::with_capacity(cells.len())),
            Codes::U32(cells) => Codes::U32(Vec::with_capacity(cells.len())),
        };
        let taken = std::mem::replace(&mut self.cells.0, empty);
        self.counts.resize(self.values.len(), 0);
        self.n_missing += match &taken {
            Codes::U8(cells) => tally(cells, u8::MAX, &mut self.counts),
            Codes::U16(cells) => tally(cells, u16::MAX, &mut self.counts),
            Codes::U32(cells) => tally(cells, MISSING, &mut self.counts),
        };
        taken
    }

    /// About what the distinct values take in memory, without the room that tables and lists have
    /// to grow: that makes up to as much again, and changes by leaps.
    pub(crate) fn held_bytes(&self) -> usize {
        let interned = match &self.values {
            Interned::Text(texts) => {
                texts.bytes.len()
                    + texts.ends.len() * (size_of::<usize>() + size_of::<(u64, u32)>())
            }
            Interned::Whole(wholes, _) => {
                wholes.values.len() * (size_of::<i64>() + size_of::<u32>())
            }
        };
        interned + self.counts.len() * size_of::<u64>()
    }

    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<(), ArrowError> {
        match &mut self.values {
            Interned::Text(texts) => {
                if let Some(indexed) = array.as_any_dictionary_opt().and_then(indexed) {
                    self.indexed.add(&indexed, texts, &mut self.cells);
                    return Ok(());
                }
                let array = as_text(array)?;
                let array = array.as_string::<i32>();
                self.cells.extend(array.iter().map(|cell| cell.map_or(MISSING, |t| texts.code(t))));
            }
            Interned::Whole(wholes, Render::Integer) => {
                let array = strict_cast(array, &DataType::Int64)?;
                let array = array.as_primitive::<Int64Type>();
                self.cells
                    .extend(array.iter().map(|cell| cell.map_or(MISSING, |v| wholes.code(v))));
            }
            Interned::Whole(wholes, Render::Date) => {
                let array = days(array)?;
                let array = array.as_primitive::<Date32Type>();
                let code = |v: i32| wholes.code(v.into());
                let mut code = code;
                self.cells.extend(array.iter().map(|cell| cell.map_or(MISSING, &mut code)));
            }
            Interned::Whole(wholes, Render::Timestamp { is_nanos: true, .. }) => {
                let array = strict_cast(array, &DataType::Timestamp(TimeUnit::Nanosecond, None))?;
                let array = array.as_primitive::<TimestampNanosecondType>();
                let code = |cell: Option<i64>| cell.map_or(MISSING, |v| wholes.code(v));
                self.cells.extend(array.iter().map(code));
            }
            Interned::Whole(wholes, Render::Timestamp { .. }) => {
                let array = micros(array)?;
                let array = array.as_primitive::<TimestampMicrosecondType>();
                self.cells
                    .extend(array.iter().map(|cell| cell.map_or(MISSING, |v| wholes.code(v))));
            }
            Interned::Whole(wholes, Render::Decimal) => {
                let array = strict_cast(array, &DataType::Float64)?;
                let array = array.as_primitive::<Float64Type>();
                let code = |v: f64| {
                    if v.is_nan() {
                        MISSING
                    } else {
                        wholes.code((v + 0.0).to_bits().cast_signed())
                    }
                };
                let mut code = code;
                self.cells.extend(array.iter().map(|cell| cell.map_or(MISSING, &mut code)));
            }
        }
        Ok(())
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        match &self.values {
            Interned::Text(texts) => {
                (0..texts.len()).map(|code| texts.get(code).to_owned()).collect()
            }
            Interned::Whole(wholes, render) => {
                wholes.values.iter().map(|&v| render.text(v)).collect()
            }
        }
    }
}

/// Adds cells to the rows of their codes; gives how many are missing.
fn tally<C: Copy + Into<u32> + Eq>(cells: &[C], missing: C, counts: &mut [u64]) -> u64 {
    let mut n_missing = 0;
    for &cell in cells {
        if cell == missing {
            n_missing += 1;
        } else {
            let code: u32 = cell.into();
            counts[code as usize] += 1;
        }
    }
    n_missing
}

/// Times in microseconds, all of which have a date.
fn micros(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let found = strict_cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
    let has_date = |value: i64| DateTime::from_timestamp_micros(value).is_some();
    if found.as_primitive::<TimestampMicrosecondType>().iter().flatten().all(has_date) {
        return Ok(found);
    }
    Err(ArrowError::CastError("a time has no date".to_owned()))
}

fn as_text(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Utf8 => Ok(Arc::clone(array)),
        data_type if can_be_sets(data_type) => Ok(Arc::new(labels_of_lists(array)?)),
        _ => strict_cast(array, &DataType::Utf8),
    }
}

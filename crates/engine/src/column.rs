//! Columns as they are read: distinct values in order of appearance, and a code per cell.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{AnyDictionaryArray, Array, ArrayRef, AsArray, DictionaryArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use chrono::{DateTime, NaiveDate, TimeDelta};
use hashbrown::{DefaultHashBuilder, HashTable};
use incrowd_data::{Codes, Kind};

use crate::EngineError;
use crate::typing::{Order, Ranked, rank_by_list, rank_naturally};

pub(crate) mod tally;

/// A column's distinct values, in no particular order, with a code for every cell.
#[derive(Clone, Debug)]
pub struct RawColumn {
    /// The column's name.
    pub name: String,
    /// The kind that the source says; text files say none.
    pub kind: Option<Kind>,
    /// Distinct values as text.
    pub texts: Vec<String>,
    /// Whether cells are missing; they have the code after the last value.
    pub has_missing: bool,
    /// A code per row.
    pub codes: Codes,
    /// What the values are in Arrow.
    pub data_type: DataType,
}

impl RawColumn {
    /// The number of codes, the missing one included.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        u32::try_from(self.texts.len()).expect("fewer values than rows")
            + u32::from(self.has_missing)
    }

    /// The dictionary of the values in an order.
    pub fn rank(&self, order: Order) -> Result<Ranked, EngineError> {
        match order {
            Order::Natural(kind) => {
                let kind = kind.or(self.kind);
                rank_naturally(&self.texts, self.has_missing, kind).map_err(|misfits| {
                    let (n_rows, first_row) = self.rows_with(&misfits);
                    let kind = kind.unwrap_or(Kind::Text);
                    let kind = Kind::NAMES.iter().find(|(_, k)| *k == kind).map_or("", |(n, _)| n);
                    EngineError::NotOfKind { column: self.name.clone(), kind, n_rows, first_row }
                })
            }
            Order::Listed { texts, what } => rank_by_list(&self.texts, self.has_missing, texts)
                .map_err(|misfits| {
                    let (n_rows, first_row) = self.rows_with(&misfits);
                    EngineError::NotCovered {
                        column: self.name.clone(),
                        what,
                        n_values: misfits.len() as u64,
                        n_rows,
                        first_row,
                    }
                }),
        }
    }

    /// The cells with the codes of a ranked dictionary.
    #[must_use]
    pub fn coded(&self, ranked: &Ranked) -> Codes {
        let mut map = ranked.code_of.clone();
        map.extend(ranked.dictionary.missing());
        self.codes.remap(&map, ranked.dictionary.n_codes())
    }

    /// Just some of the rows. Values that they do not have are left out, unless `keeps_values`.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32], keeps_values: bool) -> RawColumn {
        let n_values = self.texts.len();
        let mut is_kept = vec![keeps_values; n_values + 1];
        for &row in rows {
            is_kept[self.codes.get(row as usize) as usize] = true;
        }
        let mut texts = Vec::new();
        let mut new_code = vec![0; n_values + 1];
        for value in 0..n_values {
            if is_kept[value] {
                new_code[value] = u32::try_from(texts.len()).expect("fewer values than rows");
                texts.push(self.texts[value].clone());
            }
        }
        let missing = u32::try_from(texts.len()).expect("fewer values than rows");
        new_code[n_values] = missing;
        let codes = rows.iter().map(|&row| new_code[self.codes.get(row as usize) as usize]);
        let codes = Codes::pack(missing + 1, codes);
        let has_missing = self.has_missing && is_kept[n_values];
        RawColumn { texts, has_missing, codes, ..self.without_cells() }
    }

    /// The column with no value and no row.
    fn without_cells(&self) -> RawColumn {
        RawColumn {
            name: self.name.clone(),
            kind: self.kind,
            texts: Vec::new(),
            has_missing: self.has_missing,
            codes: Codes::pack(1, std::iter::empty()),
            data_type: self.data_type.clone(),
        }
    }

    /// How many rows have one of these values, and the first of them, counted from 1.
    fn rows_with(&self, values: &[usize]) -> (u64, u64) {
        let mut is_in = vec![false; self.texts.len() + 1];
        for &value in values {
            is_in[value] = true;
        }
        let mut rows = (1u64..).zip(self.codes.iter()).filter(|(_, code)| is_in[*code as usize]);
        let first = rows.next().map_or(0, |(row, _)| row);
        (rows.count() as u64 + u64::from(first > 0), first)
    }
}

/// The cells of one column of one partition, as they arrive.
#[derive(Debug)]
pub(crate) struct Encoder {
    values: Values,
    cells: Cells,
    indexed: Indexed,
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

/// The code of a missing cell while the number of values is not known.
const MISSING: u32 = u32::MAX;

#[derive(Debug)]
enum Values {
    Text(Texts),
    Whole(Wholes, Render),
}

/// What a 64-bit value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Render {
    Integer,
    Decimal,
    Date,
    /// In micro- or nanoseconds, of a place or of the world.
    Timestamp {
        is_nanos: bool,
        is_utc: bool,
    },
}

impl Encoder {
    pub(crate) fn new(data_type: &DataType) -> Encoder {
        let values = match render(data_type) {
            None => Values::Text(Texts::default()),
            Some(render) => Values::Whole(Wholes::default(), render),
        };
        Encoder { values, cells: Cells(Codes::U8(Vec::new())), indexed: Indexed::default() }
    }

    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<(), arrow::error::ArrowError> {
        match &mut self.values {
            Values::Text(texts) => {
                if let Some(indexed) = array.as_any_dictionary_opt().and_then(indexed) {
                    self.indexed.add(&indexed, texts, &mut self.cells);
                    return Ok(());
                }
                let array = as_text(array)?;
                let array = array.as_string::<i32>();
                self.cells.extend(array.iter().map(|cell| cell.map_or(MISSING, |t| texts.code(t))));
            }
            Values::Whole(wholes, Render::Integer) => {
                let array = cast(array, &DataType::Int64)?;
                let array = array.as_primitive::<Int64Type>();
                self.cells
                    .extend(array.iter().map(|cell| cell.map_or(MISSING, |v| wholes.code(v))));
            }
            Values::Whole(wholes, Render::Date) => {
                let array = cast(array, &DataType::Date32)?;
                let array = array.as_primitive::<Date32Type>();
                let code = |v: i32| wholes.code(v.into());
                let mut code = code;
                self.cells.extend(array.iter().map(|cell| cell.map_or(MISSING, &mut code)));
            }
            Values::Whole(wholes, Render::Timestamp { is_nanos: true, .. }) => {
                let array = cast(array, &DataType::Timestamp(TimeUnit::Nanosecond, None))?;
                let array = array.as_primitive::<TimestampNanosecondType>();
                let code = |cell: Option<i64>| cell.map_or(MISSING, |v| wholes.code(v));
                self.cells.extend(array.iter().map(code));
            }
            Values::Whole(wholes, Render::Timestamp { .. }) => {
                let array = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
                let array = array.as_primitive::<TimestampMicrosecondType>();
                self.cells
                    .extend(array.iter().map(|cell| cell.map_or(MISSING, |v| wholes.code(v))));
            }
            Values::Whole(wholes, Render::Decimal) => {
                let array = cast(array, &DataType::Float64)?;
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

    fn texts(&self) -> Vec<String> {
        match &self.values {
            Values::Text(texts) => {
                (0..texts.len()).map(|code| texts.get(code).to_owned()).collect()
            }
            Values::Whole(wholes, render) => {
                wholes.values.iter().map(|&v| render.text(v)).collect()
            }
        }
    }
}

fn render(data_type: &DataType) -> Option<Render> {
    match data_type {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => Some(Render::Integer),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(Render::Decimal),
        DataType::Date32 | DataType::Date64 => Some(Render::Date),
        DataType::Timestamp(unit, zone) => Some(Render::Timestamp {
            is_nanos: *unit == TimeUnit::Nanosecond,
            is_utc: zone.is_some(),
        }),
        _ => None,
    }
}

/// Whether values of an Arrow type can be given codes: whether they have a text.
pub(crate) fn can_be_coded(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => can_be_coded(values),
        DataType::Null => true,
        _ => kind_of_type(data_type).is_some(),
    }
}

/// The kind of values that an Arrow type holds, if it says one.
pub(crate) fn kind_of_type(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::UInt64 => Some(Kind::Integer),
        DataType::Decimal128(..) | DataType::Decimal256(..) => Some(Kind::Decimal),
        DataType::Boolean => Some(Kind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Text),
        DataType::Dictionary(_, values) => kind_of_type(values),
        _ => render(data_type).map(|render| match render {
            Render::Integer => Kind::Integer,
            Render::Decimal => Kind::Decimal,
            Render::Date => Kind::Date,
            Render::Timestamp { .. } => Kind::Timestamp,
        }),
    }
}

impl Render {
    fn text(self, value: i64) -> String {
        match self {
            Render::Integer => value.to_string(),
            Render::Decimal => f64::from_bits(value.cast_unsigned()).to_string(),
            Render::Date => (NaiveDate::default() + TimeDelta::days(value)).to_string(),
            Render::Timestamp { is_nanos, is_utc } => {
                let at = if is_nanos {
                    Some(DateTime::from_timestamp_nanos(value))
                } else {
                    DateTime::from_timestamp_micros(value)
                };
                let text = at.map(|at| at.naive_utc().format("%Y-%m-%dT%H:%M:%S%.f").to_string());
                text.unwrap_or_default() + if is_utc { "Z" } else { "" }
            }
        }
    }
}

fn as_text(array: &ArrayRef) -> Result<ArrayRef, arrow::error::ArrowError> {
    if array.data_type() == &DataType::Utf8 {
        Ok(array.clone())
    } else {
        cast(array, &DataType::Utf8)
    }
}

/// Distinct texts in one buffer.
#[derive(Debug, Default)]
struct Texts {
    bytes: String,
    ends: Vec<usize>,
    table: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    /// The code that was asked for last: sorted tables repeat themselves.
    last: u32,
    /// Short texts that were asked for lately, by a cheap hash.
    recent: Vec<Recent>,
}

/// A text of at most 16 bytes, as a number, with its code and its length plus one.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    bytes: u128,
    len: u32,
    code: u32,
}

/// Places for recent texts: a power of two that stays in the first-level cache.
const RECENT_BITS: u32 = 9;

impl Texts {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, code: usize) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }

    fn code(&mut self, text: &str) -> u32 {
        if !self.ends.is_empty() && self.get(self.last as usize) == text {
            return self.last;
        }
        self.last = if text.len() <= 16 { self.short(text) } else { self.find_or_add(text) };
        self.last
    }

    fn short(&mut self, text: &str) -> u32 {
        let mut padded = [0; 16];
        padded[..text.len()].copy_from_slice(text.as_bytes());
        let bytes = u128::from_le_bytes(padded);
        let len = u32::try_from(text.len()).unwrap_or(0) + 1;
        let [low, high] = [bytes & u128::from(u64::MAX), bytes >> 64]
            .map(|half| u64::try_from(half).unwrap_or(0));
        let hash = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = usize::try_from(hash >> (64 - RECENT_BITS)).unwrap_or(0);
        if self.recent.is_empty() {
            self.recent = vec![Recent::default(); 1 << RECENT_BITS];
        }
        let recent = self.recent[place];
        if recent.bytes == bytes && recent.len == len {
            return recent.code;
        }
        let code = self.find_or_add(text);
        self.recent[place] = Recent { bytes, len, code };
        code
    }

    fn find_or_add(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let found =
            self.table.find(hash, |&(h, code)| h == hash && self.get(code as usize) == text);
        if let Some(&(_, code)) = found {
            return code;
        }
        let code = u32::try_from(self.ends.len()).expect("fewer values than rows");
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        self.table.insert_unique(hash, (hash, code), |&(hash, _)| hash);
        code
    }
}

/// Distinct 64-bit values.
#[derive(Debug, Default)]
struct Wholes {
    values: Vec<i64>,
    table: HashTable<(i64, u32)>,
    hasher: DefaultHashBuilder,
}

impl Wholes {
    fn code(&mut self, value: i64) -> u32 {
        let hash = self.hasher.hash_one(value);
        if let Some(&(_, code)) = self.table.find(hash, |&(v, _)| v == value) {
            return code;
        }
        let code = u32::try_from(self.values.len()).expect("fewer values than rows");
        self.values.push(value);
        let hasher = &self.hasher;
        self.table.insert_unique(hash, (value, code), |&(v, _)| hasher.hash_one(v));
        code
    }
}

/// Codes that widen when they must. The greatest value of each width stands for missing.
#[derive(Debug)]
struct Cells(Codes);

impl Cells {
    fn extend(&mut self, codes: impl Iterator<Item = u32>) {
        for code in codes {
            self.push(code);
        }
    }

    #[inline]
    fn push(&mut self, code: u32) {
        match &mut self.0 {
            Codes::U8(cells) if code < 0xff => cells.push(code.to_le_bytes()[0]),
            Codes::U8(cells) if code == MISSING => cells.push(u8::MAX),
            Codes::U16(cells) if code < 0xffff => {
                let [a, b, ..] = code.to_le_bytes();
                cells.push(u16::from_le_bytes([a, b]));
            }
            Codes::U16(cells) if code == MISSING => cells.push(u16::MAX),
            Codes::U32(cells) => cells.push(code),
            Codes::U8(_) | Codes::U16(_) => {
                self.widen();
                self.push(code);
            }
        }
    }

    #[cold]
    fn widen(&mut self) {
        self.0 = match &self.0 {
            Codes::U8(cells) => Codes::U16(
                cells.iter().map(|&c| if c == u8::MAX { u16::MAX } else { u16::from(c) }).collect(),
            ),
            Codes::U16(cells) => Codes::U32(
                cells.iter().map(|&c| if c == u16::MAX { MISSING } else { u32::from(c) }).collect(),
            ),
            Codes::U32(cells) => Codes::U32(cells.clone()),
        };
    }

    fn has_missing(&self) -> bool {
        match &self.0 {
            Codes::U8(cells) => cells.contains(&u8::MAX),
            Codes::U16(cells) => cells.contains(&u16::MAX),
            Codes::U32(cells) => cells.contains(&MISSING),
        }
    }

    /// Appends the cells to `to`, their codes replaced by `map` and missing ones by `missing`.
    fn append_to(&self, to: &mut Codes, mut map: Vec<u32>, missing: u32) {
        match &self.0 {
            Codes::U8(_) => map.resize(usize::from(u8::MAX) + 1, missing),
            Codes::U16(_) => map.resize(usize::from(u16::MAX) + 1, missing),
            // Too wide for a table with a place for the greatest code.
            Codes::U32(cells) => {
                let dense = |&code: &u32| if code == MISSING { map.len() } else { code as usize };
                let dense =
                    cells.iter().map(dense).map(|code| u32::try_from(code).unwrap_or(MISSING));
                let dense = Codes::U32(dense.collect());
                map.push(missing);
                return to.extend_mapped(&dense, &map);
            }
        }
        to.extend_mapped(&self.0, &map);
    }
}

/// One column of all partitions, in their order.
pub(crate) fn merge(
    name: &str,
    data_type: &DataType,
    is_text_file: bool,
    parts: &[Encoder],
) -> RawColumn {
    let mut texts = Texts::default();
    let maps: Vec<Vec<u32>> = parts
        .iter()
        .map(|part| part.texts().iter().map(|text| texts.code(text)).collect())
        .collect();
    let has_missing = parts.iter().any(|part| part.cells.has_missing());
    let missing = u32::try_from(texts.len()).expect("fewer values than rows");
    let mut codes = Codes::pack(missing + u32::from(has_missing), std::iter::empty());
    for (part, map) in parts.iter().zip(maps) {
        part.cells.append_to(&mut codes, map, missing);
    }
    let texts = (0..texts.len()).map(|code| texts.get(code).to_owned()).collect();
    let kind = if is_text_file { None } else { kind_of_type(data_type) };
    RawColumn {
        name: name.to_owned(),
        kind,
        texts,
        has_missing,
        codes,
        data_type: data_type.clone(),
    }
}

/// The texts as an Arrow array of the given type.
pub(crate) fn typed(
    texts: &[String],
    data_type: &DataType,
) -> Result<ArrayRef, arrow::error::ArrowError> {
    let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    cast(&array, data_type)
}

//! Columns as they are read: distinct values in order of appearance, and a code per cell.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{AnyDictionaryArray, Array, ArrayRef, AsArray, DictionaryArray};
use arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow::error::ArrowError;
use chrono::DateTime;
use hashbrown::{DefaultHashBuilder, HashTable};
use incrowd_data::{Codes, Kind};

use crate::stored::{day, days, strict_cast};
use crate::typing::{Order, Ranked, identify, infer, is_of, rank_by_list, rank_naturally};
use crate::{EngineError, ValueList};

pub(crate) mod tally;

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

    /// By code the rank of its value, and the number of ranks: texts of one value (`7` and `7.0`) share a rank,
    /// as they do in [`Values::rank`], and missing cells have the last one.
    pub fn identify(&self, kind: Option<Kind>) -> Result<(Vec<u32>, u32), Misfits> {
        let (mut ranks, n_values) = self.naturally(kind, |kind| identify(&self.texts, kind))?;
        if self.has_missing {
            ranks.push(n_values);
        }
        Ok((ranks, n_values + u32::from(self.has_missing)))
    }

    /// What is made of the values by a kind: the declared one, else what the source says. Where its values go
    /// beyond what that kind can order (unsigned numbers, times long ago), the kind is found out from them.
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

/// The cells of one column of one partition, as they arrive.
#[derive(Debug)]
pub(crate) struct Encoder {
    values: Interned,
    cells: Cells,
    indexed: Indexed,
    /// Rows by code of the cells that were taken away, and those of missing cells.
    counts: Vec<u64>,
    n_missing: u64,
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
enum Interned {
    Text(Texts),
    Whole(Wholes, Render),
}

impl Interned {
    fn len(&self) -> usize {
        match self {
            Interned::Text(texts) => texts.len(),
            Interned::Whole(wholes, _) => wholes.values.len(),
        }
    }

    /// Takes in the values of another part of the same column; gives their codes here.
    fn absorb(&mut self, other: Interned) -> Vec<u32> {
        match (self, other) {
            (Interned::Text(to), Interned::Text(from)) => {
                (0..from.len()).map(|code| to.code(from.get(code))).collect()
            }
            (Interned::Whole(to, _), Interned::Whole(from, _)) => {
                from.values.iter().map(|&value| to.code(value)).collect()
            }
            _ => unreachable!("the parts of a column are of one type"),
        }
    }

    fn into_texts(self) -> Vec<String> {
        match self {
            Interned::Text(texts) => {
                (0..texts.len()).map(|code| texts.get(code).to_owned()).collect()
            }
            Interned::Whole(Wholes { values, .. }, render) => {
                values.into_iter().map(|value| render.text(value)).collect()
            }
        }
    }
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

    /// The codes that arrived since the last time. The greatest code of their width stands for missing.
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

    /// About what the distinct values take in memory.
    pub(crate) fn held_bytes(&self) -> usize {
        let interned = match &self.values {
            Interned::Text(texts) => {
                texts.bytes.capacity()
                    + texts.ends.capacity() * size_of::<usize>()
                    + texts.table.allocation_size()
            }
            Interned::Whole(wholes, _) => {
                wholes.values.capacity() * size_of::<i64>() + wholes.table.allocation_size()
            }
        };
        interned + self.counts.capacity() * size_of::<u64>()
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
            Render::Date => day(value).map_or_else(String::new, |day| day.to_string()),
            Render::Timestamp { is_nanos, is_utc } => {
                let at = if is_nanos {
                    Some(DateTime::from_timestamp_nanos(value))
                } else {
                    DateTime::from_timestamp_micros(value)
                };
                let text = at.map(|at| at.naive_utc().format("%Y-%m-%dT%H:%M:%S%.f").to_string());
                text.unwrap_or_else(|| value.to_string()) + if is_utc { "Z" } else { "" }
            }
        }
    }
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
    if array.data_type() == &DataType::Utf8 {
        Ok(array.clone())
    } else {
        strict_cast(array, &DataType::Utf8)
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
    /// Codes: with the values beside them the table would take three times as much.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Wholes {
    fn code(&mut self, value: i64) -> u32 {
        let hash = self.hasher.hash_one(value);
        if let Some(&code) = self.table.find(hash, |&code| self.values[code as usize] == value) {
            return code;
        }
        let code = u32::try_from(self.values.len()).expect("fewer values than rows");
        self.values.push(value);
        let Wholes { values, table, hasher } = self;
        table.insert_unique(hash, code, |&code| hasher.hash_one(values[code as usize]));
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
    let n_codes = missing + u32::from(has_missing);
    let mut codes = Codes::pack(n_codes, std::iter::empty());
    for (part, map) in parts.iter().zip(maps) {
        part.cells.append_to(&mut codes, map, missing);
    }
    let texts = (0..texts.len()).map(|code| texts.get(code).to_owned()).collect();
    let kind = if is_text_file { None } else { kind_of_type(data_type) };
    let values = Values {
        name: name.to_owned(),
        kind,
        texts,
        has_missing,
        data_type: data_type.clone(),
        counts: codes.count(n_codes),
    };
    RawColumn { values, codes }
}

/// The values of one column of all partitions, whose cells were taken away, and by partition the codes
/// of its values among them.
pub(crate) fn merge_values(
    name: &str,
    data_type: &DataType,
    is_text_file: bool,
    parts: Vec<Encoder>,
) -> (Values, Vec<Vec<u32>>) {
    let mut all: Option<Interned> = None;
    let mut counts: Vec<u64> = Vec::new();
    let mut n_missing = 0;
    let mut maps = Vec::new();
    for part in parts {
        let n_values = u32::try_from(part.values.len()).expect("fewer values than rows");
        let map = match &mut all {
            None => {
                all = Some(part.values);
                (0..n_values).collect()
            }
            Some(all) => all.absorb(part.values),
        };
        counts.resize(all.as_ref().map_or(0, Interned::len), 0);
        for (&code, rows) in map.iter().zip(part.counts) {
            counts[code as usize] += rows;
        }
        n_missing += part.n_missing;
        maps.push(map);
    }
    let has_missing = n_missing > 0;
    counts.extend(has_missing.then_some(n_missing));
    let values = Values {
        name: name.to_owned(),
        kind: if is_text_file { None } else { kind_of_type(data_type) },
        texts: all.map_or_else(Vec::new, Interned::into_texts),
        has_missing,
        data_type: data_type.clone(),
        counts,
    };
    (values, maps)
}

/// Codes of values that are known, as an encoder would give them: the code behind the last value is that of
/// missing cells.
pub(crate) fn as_encoded(n_values: usize, codes: impl Iterator<Item = u32>) -> Codes {
    let missing = u32::try_from(n_values).expect("fewer values than rows");
    // The greatest code of a width is not one of a value.
    let mut cells = Cells(Codes::pack(missing.saturating_add(1), std::iter::empty()));
    cells.extend(codes.map(|code| if code == missing { MISSING } else { code }));
    cells.0
}

/// What becomes of the codes that a partition's encoder gave.
#[derive(Debug)]
pub(crate) struct CellMap {
    /// By code, for cells of four bytes.
    wide: Vec<u32>,
    /// The same for narrower cells, in which the greatest code stands for missing.
    narrow: Vec<u32>,
    middle: Vec<u32>,
    missing: u32,
    n_codes: u32,
}

impl CellMap {
    /// Sends code `c` to `map[c]` and missing cells to `missing`; all of that is below `n_codes`.
    pub(crate) fn new(map: Vec<u32>, missing: u32, n_codes: u32) -> CellMap {
        let up_to = |most: usize| {
            let mut short: Vec<u32> = map.iter().copied().take(most).collect();
            short.resize(most + 1, missing);
            short
        };
        let narrow = up_to(usize::from(u8::MAX));
        let is_wider = map.len() > usize::from(u8::MAX);
        let middle = if is_wider { up_to(usize::from(u16::MAX)) } else { Vec::new() };
        CellMap { narrow, middle, wide: map, missing, n_codes }
    }

    pub(crate) fn apply(&self, cells: &Codes) -> Codes {
        match cells {
            Codes::U8(_) => cells.remap(&self.narrow, self.n_codes),
            Codes::U16(_) => cells.remap(&self.middle, self.n_codes),
            Codes::U32(cells) => {
                let code = |&cell: &u32| match cell {
                    MISSING => self.missing,
                    code => self.wide[code as usize],
                };
                Codes::pack(self.n_codes, cells.iter().map(code))
            }
        }
    }
}

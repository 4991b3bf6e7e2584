//! Values without cells: how often each occurs, and codes for values that are known already. This
//! is what a worker does of reading, with the same [`Encoder`].

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use incrowd_data::Codes;

use super::Encoder;
use super::cells::MISSING;
use super::interned::{Interned, Texts};
use crate::value::kind::kind_of_type;
use crate::wire::{Reader, Writer};

/// Distinct values of one column of some rows, with the number of rows of each.
#[derive(Debug)]
pub(crate) struct Tally {
    encoder: Encoder,
    counts: Vec<u64>,
    n_missing: u64,
}

const OF_TEXTS: u8 = 0;
const OF_WHOLES: u8 = 1;

impl Tally {
    pub(crate) fn new(data_type: &DataType) -> Tally {
        Tally { encoder: Encoder::new(data_type), counts: Vec::new(), n_missing: 0 }
    }

    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<(), ArrowError> {
        self.encoder.add(array)?;
        self.counts.resize(self.encoder.n_values(), 0);
        let (counts, n_missing) = (&mut self.counts, &mut self.n_missing);
        self.encoder.drain(|code| match counts.get_mut(code as usize) {
            Some(count) => *count += 1,
            None => *n_missing += 1,
        });
        Ok(())
    }

    /// About how much memory it holds.
    pub(crate) fn n_bytes(&self) -> usize {
        let values = match &self.encoder.values {
            Interned::Text(texts) => texts.bytes.capacity() + 32 * texts.ends.capacity(),
            Interned::Whole(wholes, _) => 32 * wholes.values.capacity(),
        };
        values + 8 * self.counts.capacity()
    }

    /// What [`Tally::merge`] takes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(self.n_missing);
        to.number(self.counts.len() as u64);
        match &self.encoder.values {
            Interned::Text(texts) => {
                to.byte(OF_TEXTS);
                for code in 0..texts.len() {
                    to.text(texts.get(code));
                }
            }
            Interned::Whole(wholes, _) => {
                to.byte(OF_WHOLES);
                for &value in &wholes.values {
                    to.number(value.cast_unsigned());
                }
            }
        }
        for &count in &self.counts {
            to.number(count);
        }
        to.packed()
    }

    /// Adds what another one of a column of the same type has counted; nothing if the bytes are
    /// damaged.
    pub(crate) fn merge(&mut self, bytes: &[u8]) -> Option<()> {
        let bytes = Reader::unpacked(bytes)?;
        let mut from = Reader::new(&bytes);
        self.n_missing += from.number()?;
        let n_values = usize::try_from(from.number()?).ok()?;
        let mut codes = Vec::new();
        match (from.byte()?, &mut self.encoder.values) {
            (OF_TEXTS, Interned::Text(texts)) => {
                for _ in 0..n_values {
                    codes.push(texts.find_or_add(from.text()?));
                }
            }
            (OF_WHOLES, Interned::Whole(wholes, _)) => {
                for _ in 0..n_values {
                    codes.push(wholes.code(from.number()?.cast_signed()));
                }
            }
            _ => return None,
        }
        self.counts.resize(self.encoder.n_values(), 0);
        for code in codes {
            self.counts[code as usize] += from.number()?;
        }
        from.is_at_end().then_some(())
    }

    /// The rows that were counted.
    pub(crate) fn n_rows(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.n_missing
    }

    /// The values as texts, each once.
    pub(crate) fn into_values(
        self,
        name: &str,
        data_type: &DataType,
        is_text_file: bool,
    ) -> crate::Values {
        let mut texts = Texts::default();
        let mut counts: Vec<u64> = Vec::new();
        for (text, count) in self.encoder.texts().iter().zip(&self.counts) {
            let code = texts.find_or_add(text) as usize;
            counts.resize(texts.len(), 0);
            counts[code] += count;
        }
        let has_missing = self.n_missing > 0;
        counts.extend(has_missing.then_some(self.n_missing));
        crate::Values {
            name: name.to_owned(),
            kind: if is_text_file { None } else { kind_of_type(data_type) },
            texts: (0..texts.len()).map(|code| texts.get(code).to_owned()).collect(),
            has_missing,
            data_type: data_type.clone(),
            counts,
        }
    }
}

/// Texts by which values are found.
#[derive(Debug, Default)]
pub(crate) struct KnownTexts(Texts);

impl KnownTexts {
    /// Texts that are all different get the codes of their order.
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> KnownTexts {
        let mut known = Texts::default();
        for text in texts {
            known.find_or_add(text);
        }
        KnownTexts(known)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Gives the cells of one column known codes, batch after batch. Every value is rendered and looked
/// up once, however many rows have it.
#[derive(Debug)]
pub(crate) struct Lookup {
    encoder: Encoder,
    /// By the encoder's code, the known one.
    codes: Vec<u32>,
}

/// A value that is not among the known ones.
#[derive(Debug)]
pub(crate) enum NoCode {
    Unknown,
    Arrow(ArrowError),
}

impl Lookup {
    pub(crate) fn new(data_type: &DataType) -> Lookup {
        Lookup { encoder: Encoder::new(data_type), codes: Vec::new() }
    }

    /// The codes of a batch; missing cells have the one after the last value's.
    pub(crate) fn codes(
        &mut self,
        array: &ArrayRef,
        known: &KnownTexts,
    ) -> Result<Vec<u32>, NoCode> {
        self.encoder.add(array).map_err(NoCode::Arrow)?;
        for value in self.codes.len()..self.encoder.n_values() {
            let code = self.encoder.with_text(value, |text| known.0.find(text));
            self.codes.push(code.ok_or(NoCode::Unknown)?);
        }
        let missing = u32::try_from(known.len()).expect("fewer values than rows");
        let mut found = Vec::with_capacity(array.len());
        let codes = &self.codes;
        self.encoder.drain(|code| found.push(codes.get(code as usize).copied().unwrap_or(missing)));
        Ok(found)
    }
}

impl Encoder {
    fn n_values(&self) -> usize {
        match &self.values {
            Interned::Text(texts) => texts.len(),
            Interned::Whole(wholes, _) => wholes.values.len(),
        }
    }

    fn with_text<T>(&self, value: usize, then: impl FnOnce(&str) -> T) -> T {
        match &self.values {
            Interned::Text(texts) => then(texts.get(value)),
            Interned::Whole(wholes, render) => then(&render.text(wholes.values[value])),
        }
    }

    /// Hands over the cells and forgets them; a missing one has the code [`MISSING`].
    fn drain(&mut self, mut each: impl FnMut(u32)) {
        match &mut self.cells.0 {
            Codes::U8(cells) => {
                cells.drain(..).for_each(|c| each(if c == u8::MAX { MISSING } else { c.into() }));
            }
            Codes::U16(cells) => {
                cells.drain(..).for_each(|c| each(if c == u16::MAX { MISSING } else { c.into() }));
            }
            Codes::U32(cells) => cells.drain(..).for_each(each),
        }
    }
}

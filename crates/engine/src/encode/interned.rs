//! Distinct values, each held once; its code is its place.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::value::kind::Render;

/// The distinct values of a column.
#[derive(Debug)]
pub(super) enum Interned {
    Text(Texts),
    Whole(Wholes, Render),
}

impl Interned {
    pub(super) fn len(&self) -> usize {
        match self {
            Interned::Text(texts) => texts.len(),
            Interned::Whole(wholes, _) => wholes.values.len(),
        }
    }

    /// Takes in the values of another part of the same column; gives their codes here.
    pub(super) fn absorb(&mut self, other: Interned) -> Vec<u32> {
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

    pub(super) fn into_texts(self) -> Vec<String> {
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

/// Distinct texts in one buffer.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) bytes: String,
    pub(super) ends: Vec<usize>,
    pub(super) table: HashTable<(u64, u32)>,
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
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, code: usize) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }

    pub(super) fn code(&mut self, text: &str) -> u32 {
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

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        let found =
            self.table.find(hash, |&(h, code)| h == hash && self.get(code as usize) == text);
        found.map(|&(_, code)| code)
    }

    pub(super) fn find_or_add(&mut self, text: &str) -> u32 {
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
pub(super) struct Wholes {
    pub(super) values: Vec<i64>,
    /// Codes: with the values beside them the table would take three times as much.
    pub(super) table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Wholes {
    pub(super) fn code(&mut self, value: i64) -> u32 {
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

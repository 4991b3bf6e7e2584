//! Some of a column's distinct values: which ones depends on the values alone, not on their order
//! or on who reads them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

/// Values that a sample has at most.
const MOST_VALUES: usize = 1000;
/// Bytes of a value that it has at most.
const MOST_BYTES: usize = 128;

/// The values with the least hashes, long ones cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    by_hash: BTreeMap<u64, String>,
}

/// The hash of a value, the same on every machine.
pub(crate) fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

impl Sample {
    /// A sample of these values; equal ones count as one.
    #[must_use]
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Sample {
        let mut sample = Sample::default();
        for text in texts {
            sample.add(hash_of(text), text);
        }
        sample
    }

    /// Whether a value with this hash would be among the sample.
    pub(crate) fn wants(&self, hash: u64) -> bool {
        let is_full = self.by_hash.len() >= MOST_VALUES;
        !is_full || self.by_hash.last_key_value().is_none_or(|(last, _)| hash < *last)
    }

    /// Looks at one more value, whose hash is known.
    pub(crate) fn add(&mut self, hash: u64, text: &str) {
        if !self.wants(hash) {
            return;
        }
        let kept = &text[..text.floor_char_boundary(MOST_BYTES)];
        self.by_hash.entry(hash).or_insert_with(|| kept.to_owned());
        if self.by_hash.len() > MOST_VALUES {
            self.by_hash.pop_last();
        }
    }

    /// The sample of both.
    #[must_use]
    pub fn and(mut self, other: &Sample) -> Sample {
        for (hash, text) in &other.by_hash {
            self.add(*hash, text);
        }
        self
    }

    /// The values.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.by_hash.values().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_depends_on_the_values_alone() {
        let texts: Vec<String> = (0..5000).map(|n| format!("{n} {}", "x".repeat(200))).collect();
        let of =
            |range: std::ops::Range<usize>| Sample::of(texts[range].iter().map(String::as_str));
        let whole = of(0..5000);
        assert_eq!(whole.texts().count(), MOST_VALUES);
        assert!(whole.texts().all(|text| text.len() == MOST_BYTES));
        assert_eq!(of(3000..5000).and(&of(0..4000)), whole);
        assert_eq!(Sample::of(texts.iter().rev().chain(&texts).map(String::as_str)), whole);
    }

    #[test]
    fn a_cut_value_is_still_text() {
        let text = "\u{e9}".repeat(100) + "x";
        assert_eq!(Sample::of([format!("x{text}").as_str()]).texts().next().unwrap().len(), 127);
    }
}

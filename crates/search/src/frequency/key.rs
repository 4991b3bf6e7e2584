//! Groups of all attributes packed into one key, a field of bits each.

use incrowd_data::bits_for;

use super::TooWide;

/// The most words that a key may have.
pub(super) const MOST_WORDS: usize = 16;

/// The position of an attribute's group in a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) word: usize,
    pub(crate) shift: u32,
    pub(crate) mask: u64,
}

impl Field {
    /// The code in this field of a key.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a field has no more bits than a code")]
    pub(crate) fn code<const N: usize>(&self, key: &[u64; N]) -> usize {
        ((key[self.word] >> self.shift) & self.mask) as usize
    }
}

/// A field per attribute; no field spans two words.
pub(crate) fn layout(n_codes: impl Iterator<Item = u32>) -> Result<(Vec<Field>, usize), TooWide> {
    let (mut word, mut shift) = (0, 0);
    let mut fields = Vec::new();
    for n_codes in n_codes {
        let bits = bits_for(n_codes);
        if bits == 0 {
            fields.push(Field { word: 0, shift: 0, mask: 0 });
            continue;
        }
        if shift + bits > u64::BITS {
            word += 1;
            shift = 0;
        }
        fields.push(Field { word, shift, mask: (1u64 << bits) - 1 });
        shift += bits;
    }
    // Keys are compiled for powers of two of words.
    let words = (word + 1).next_power_of_two();
    if words > MOST_WORDS { Err(TooWide) } else { Ok((fields, words)) }
}

/// How keys change: fields with a map are replaced by their entries in it; other fields are kept or
/// become 0.
pub(super) struct Change<'a> {
    pub(super) kept: [u64; MOST_WORDS],
    pub(super) maps: Vec<(Field, &'a [u32])>,
}

impl<'a> Change<'a> {
    pub(super) fn none() -> Change<'a> {
        Change { kept: [u64::MAX; MOST_WORDS], maps: Vec::new() }
    }

    #[inline]
    pub(super) fn apply<const W: usize>(&self, key: &[u64; W]) -> [u64; W] {
        let mut changed = *key;
        for (word, kept) in changed.iter_mut().zip(&self.kept) {
            *word &= kept;
        }
        for (Field { word, shift, mask }, map) in &self.maps {
            let old = usize::try_from(key[*word] >> shift & mask).expect("a group is a u32");
            changed[*word] |= u64::from(map[old]) << shift;
        }
        changed
    }
}

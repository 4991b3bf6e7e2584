//! Sets of codes.

/// Some of the codes `0..n`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodeSet {
    n_codes: u32,
    words: Vec<u64>,
}

impl CodeSet {
    /// No code.
    #[must_use]
    pub fn none(n_codes: u32) -> CodeSet {
        CodeSet { n_codes, words: vec![0; n_codes.div_ceil(64) as usize] }
    }

    /// The codes for which a condition holds.
    pub fn of(n_codes: u32, holds: impl Fn(u32) -> bool) -> CodeSet {
        let mut set = CodeSet::none(n_codes);
        (0..n_codes).filter(|&code| holds(code)).for_each(|code| set.insert(code));
        set
    }

    /// The number of possible codes, in the set or not.
    #[must_use]
    pub fn n_codes(&self) -> u32 {
        self.n_codes
    }

    /// Adds a code.
    pub fn insert(&mut self, code: u32) {
        self.words[code as usize / 64] |= 1 << (code % 64);
    }

    /// Whether the set contains a code.
    #[must_use]
    pub fn contains(&self, code: u32) -> bool {
        self.words[code as usize / 64] >> (code % 64) & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The codes in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.n_codes).filter(|&code| self.contains(code))
    }

    /// The intersection.
    #[must_use]
    pub fn and(&self, other: &CodeSet) -> CodeSet {
        self.with(other, |a, b| a & b)
    }

    /// The union.
    #[must_use]
    pub fn or(&self, other: &CodeSet) -> CodeSet {
        self.with(other, |a, b| a | b)
    }

    /// The codes that are not in the other set.
    #[must_use]
    pub fn without(&self, other: &CodeSet) -> CodeSet {
        self.with(other, |a, b| a & !b)
    }

    /// Its runs of neighbouring codes, first and last of each, ascending.
    #[must_use]
    pub fn runs(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for code in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == code => *last = code,
                _ => runs.push((code, code)),
            }
        }
        runs
    }

    fn with(&self, other: &CodeSet, word: impl Fn(u64, u64) -> u64) -> CodeSet {
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| word(a, b)).collect();
        CodeSet { n_codes: self.n_codes, words }
    }
}

//! Choices of a mutation, which must be the same for the same seed.

/// A small generator (`SplitMix64`).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u32) -> Rng {
        Rng(u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, 0 if that is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).expect("a length fits in 64 bits").max(1);
        usize::try_from(self.next() % n).expect("less than a length")
    }

    /// Whether one of `n` cases comes up.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

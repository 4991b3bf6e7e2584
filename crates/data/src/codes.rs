//! A column of codes in the narrowest of 1, 2 or 4 bytes.

/// A packed column of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codes {
    /// At most 2^8 distinct codes.
    U8(Vec<u8>),
    /// At most 2^16 distinct codes.
    U16(Vec<u16>),
    /// Any number of codes.
    U32(Vec<u32>),
}

/// The number of bits that hold every code below `n_codes`.
#[must_use]
pub fn bits_for(n_codes: u32) -> u32 {
    u32::BITS - n_codes.saturating_sub(1).leading_zeros()
}

impl Codes {
    /// Packs `codes`, all of them below `n_codes`.
    #[expect(clippy::cast_possible_truncation, reason = "every code is below n_codes")]
    pub fn pack(n_codes: u32, codes: impl Iterator<Item = u32>) -> Codes {
        match bits_for(n_codes) {
            0..=8 => Codes::U8(codes.map(|code| code as u8).collect()),
            9..=16 => Codes::U16(codes.map(|code| code as u16).collect()),
            _ => Codes::U32(codes.collect()),
        }
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Codes::U8(codes) => codes.len(),
            Codes::U16(codes) => codes.len(),
            Codes::U32(codes) => codes.len(),
        }
    }

    /// Whether the column is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of one cell.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Codes::U8(codes) => u32::from(codes[row]),
            Codes::U16(codes) => u32::from(codes[row]),
            Codes::U32(codes) => codes[row],
        }
    }

    /// Every code replaced by its entry in `map`, all of them below `n_codes`.
    #[must_use]
    pub fn remap(&self, map: &[u32], n_codes: u32) -> Codes {
        let mut remapped = Codes::pack(n_codes, std::iter::empty());
        remapped.extend_mapped(self, map);
        remapped
    }

    /// Appends the codes of `from`, each replaced by its entry in `map`, which must fit the width.
    pub fn extend_mapped(&mut self, from: &Codes, map: &[u32]) {
        match (self, from) {
            (Codes::U8(to), Codes::U8(from)) => extend(to, from, map),
            (Codes::U8(to), Codes::U16(from)) => extend(to, from, map),
            (Codes::U8(to), Codes::U32(from)) => extend(to, from, map),
            (Codes::U16(to), Codes::U8(from)) => extend(to, from, map),
            (Codes::U16(to), Codes::U16(from)) => extend(to, from, map),
            (Codes::U16(to), Codes::U32(from)) => extend(to, from, map),
            (Codes::U32(to), Codes::U8(from)) => extend(to, from, map),
            (Codes::U32(to), Codes::U16(from)) => extend(to, from, map),
            (Codes::U32(to), Codes::U32(from)) => extend(to, from, map),
        }
    }

    /// Appends codes, which must fit the width.
    pub fn extend(&mut self, codes: impl Iterator<Item = u32>) {
        match self {
            Codes::U8(to) => narrow(to, codes),
            Codes::U16(to) => narrow(to, codes),
            Codes::U32(to) => to.extend(codes),
        }
    }

    /// How often each code below `n_codes` occurs.
    #[must_use]
    pub fn count(&self, n_codes: u32) -> Vec<u64> {
        fn count<C: Copy + Into<u32>>(codes: &[C], counts: &mut [u64]) {
            for &code in codes {
                let code: u32 = code.into();
                counts[code as usize] += 1;
            }
        }
        let mut counts = vec![0; n_codes as usize];
        match self {
            Codes::U8(codes) => count(codes, &mut counts),
            Codes::U16(codes) => count(codes, &mut counts),
            Codes::U32(codes) => count(codes, &mut counts),
        }
        counts
    }

    /// All codes in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// One loop for each pair of widths.
fn extend<F: Copy + Into<u32>, T: TryFrom<u32> + Default>(
    to: &mut Vec<T>,
    from: &[F],
    map: &[u32],
) {
    narrow(
        to,
        from.iter().map(|&code| {
            let code: u32 = code.into();
            map[code as usize]
        }),
    );
}

/// Appends codes in a narrower width. A code that does not fit would turn into another value, so it
/// is a panic instead, checked once after the loop.
fn narrow<T: TryFrom<u32> + Default>(to: &mut Vec<T>, codes: impl Iterator<Item = u32>) {
    let mut do_all_fit = true;
    to.extend(codes.map(|code| {
        T::try_from(code).unwrap_or_else(|_| {
            do_all_fit = false;
            T::default()
        })
    }));
    assert!(do_all_fit, "every code fits the width of its column");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remapping_changes_width_and_codes() {
        let codes = Codes::pack(3, [0, 2, 1, 2].into_iter());
        let wide = codes.remap(&[7, 300, 70_000], 70_001);
        assert_eq!(wide.iter().collect::<Vec<_>>(), [7, 70_000, 300, 70_000]);
        assert!(matches!(wide, Codes::U32(_)));
    }

    #[test]
    fn a_code_that_does_not_fit_ends_the_run() {
        let fails = |append: &dyn Fn(&mut Codes)| {
            let append =
                std::panic::AssertUnwindSafe(|| append(&mut Codes::pack(3, [].into_iter())));
            std::panic::catch_unwind(append).is_err()
        };
        let wide = Codes::pack(70_000, [0, 1, 69_999].into_iter());
        assert!(fails(&|narrow| narrow.extend(wide.iter())));
        assert!(fails(&|narrow| narrow.extend_mapped(&wide, &(0..70_000).collect::<Vec<u32>>())));
        let small = Codes::pack(3, [0, 1, 2].into_iter());
        assert!(fails(&|narrow| narrow.extend_mapped(&small, &[0, 1, 256])));
        assert!(!fails(&|narrow| narrow.extend_mapped(&small, &[0, 1, 255])));
    }

    #[test]
    fn packing_keeps_codes_and_picks_the_width() {
        for (n_codes, bytes) in [(1, 1), (2, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)] {
            let codes = Codes::pack(n_codes, [0, n_codes - 1].into_iter());
            let found = match codes {
                Codes::U8(_) => 1,
                Codes::U16(_) => 2,
                Codes::U32(_) => 4,
            };
            assert_eq!(found, bytes, "{n_codes} codes");
            assert_eq!(codes.iter().collect::<Vec<_>>(), [0, n_codes - 1]);
        }
    }

    #[test]
    fn bits() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits_for), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}

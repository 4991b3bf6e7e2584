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

    /// Whether there is no cell.
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

    /// All codes in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! The codes of cells while the number of values is not known, and what becomes of them then.

use incrowd_data::Codes;

/// The code of a missing cell while the number of values is not known.
pub(super) const MISSING: u32 = u32::MAX;

/// Codes that widen when they must. The greatest value of each width stands for missing.
#[derive(Debug)]
pub(super) struct Cells(pub(super) Codes);

impl Cells {
    pub(super) fn extend(&mut self, codes: impl Iterator<Item = u32>) {
        for code in codes {
            self.push(code);
        }
    }

    #[inline]
    pub(super) fn push(&mut self, code: u32) {
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

    pub(super) fn has_missing(&self) -> bool {
        match &self.0 {
            Codes::U8(cells) => cells.contains(&u8::MAX),
            Codes::U16(cells) => cells.contains(&u16::MAX),
            Codes::U32(cells) => cells.contains(&MISSING),
        }
    }

    /// Appends the cells to `to`, their codes replaced by `map` and missing ones by `missing`.
    pub(super) fn append_to(&self, to: &mut Codes, mut map: Vec<u32>, missing: u32) {
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

/// Codes of values that are known, as an encoder would give them: the code behind the last value is
/// that of missing cells.
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

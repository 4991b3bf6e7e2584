//! The fast path: vouches for chunks in which nothing is out of the ordinary.
//!
//! 64 bytes at a time become masks, one bit a byte, for the delimiter, line feed, carriage return
//! and quote. The parity of the quotes up to a byte says whether it is inside quotes, as long as
//! every quote opens a field, closes one or is doubled, which is checked with shifts of the masks.

use memchr::memchr;

/// Bytes looked at together, a bit each in a mask; the first byte is the lowest bit.
const LANE: usize = 64;

/// Counts the fields of a chunk that starts with a record.
///
/// Fields named `after_` are carries: bit 0 says something of the last byte of the lane before.
#[derive(Default)]
pub(super) struct Certifier {
    delimiter: u8,
    /// Delimiters each record must have.
    wanted: u64,
    has_quotes: bool,
    has_returns: bool,
    /// All ones if the lane starts inside quotes, else zero.
    inside: u64,
    after_end: u64,
    after_return: u64,
    after_close: u64,
    /// After a delimiter, a line end or a closing quote, where a quote may stand.
    after_edge: u64,
    /// Delimiters of this record so far.
    seen: u64,
    pub(super) rows: u64,
    /// Line feeds inside quotes.
    pub(super) inner_lines: u64,
}

impl Certifier {
    /// The counts for `chunk` if it is whole records of `fields` fields each, without blank lines,
    /// without quotes inside unquoted fields and without CR other than before LF; else none.
    pub(super) fn certify(chunk: &[u8], delimiter: u8, fields: u64) -> Option<Self> {
        let mut certifier = Self {
            delimiter,
            wanted: fields - 1,
            has_quotes: memchr(b'"', chunk).is_some(),
            has_returns: memchr(b'\r', chunk).is_some(),
            after_end: 1,
            after_edge: 1,
            ..Self::default()
        };
        let (lanes, tail) = chunk.as_chunks::<LANE>();
        let mut padded = [0; LANE];
        padded[..tail.len()].copy_from_slice(tail);
        let sound = lanes.iter().chain([&padded]).all(|lane| certifier.take(lane));
        (sound && chunk.last() == Some(&b'\n') && certifier.inside == 0).then_some(certifier)
    }

    /// Takes the next lane; whether it is sound.
    fn take(&mut self, lane: &[u8; LANE]) -> bool {
        let delimiters = mask(lane, self.delimiter);
        let feeds = mask(lane, b'\n');
        let returns = if self.has_returns { mask(lane, b'\r') } else { 0 };
        let (inside, misquoted) = if self.has_quotes {
            self.quotes(lane, delimiters | feeds | returns)
        } else {
            (0, false)
        };
        if feeds & inside != 0 {
            self.inner_lines += u64::from((feeds & inside).count_ones());
        }
        let ends = feeds & !inside;
        let lone_return = shift(returns, &mut self.after_return) & !feeds;
        let blank = shift(ends, &mut self.after_end) & (feeds | returns);
        !misquoted && lone_return | blank == 0 && self.count(delimiters & !inside, ends)
    }

    /// The mask of the bytes inside quotes (with the opening quote, without the closing one), and
    /// whether a quote stands where it may not; `breaks` are the delimiters and line ends.
    fn quotes(&mut self, lane: &[u8; LANE], breaks: u64) -> (u64, bool) {
        let quotes = mask(lane, b'"');
        // Each bit becomes the parity of the quotes up to it.
        let inside =
            (0..6).fold(quotes, |parity, power| parity ^ (parity << (1 << power))) ^ self.inside;
        self.inside = (inside >> (LANE - 1)).wrapping_neg();
        let closing = quotes & !inside;
        let may_open = shift((breaks & !inside) | closing, &mut self.after_edge);
        let closed = shift(closing, &mut self.after_close);
        let misplaced = (quotes & inside & !may_open) | (closed & !(breaks | quotes));
        (inside, misplaced != 0)
    }

    /// Counts the fields of the records that end in a lane; whether they are as many as wanted.
    fn count(&mut self, delimiters: u64, mut ends: u64) -> bool {
        let mut left = delimiters;
        let mut even = true;
        while ends != 0 {
            let up_to_end = ends ^ (ends - 1);
            even &= self.seen + u64::from((left & up_to_end).count_ones()) == self.wanted;
            left &= !up_to_end;
            ends &= ends - 1;
            self.seen = 0;
            self.rows += 1;
        }
        self.seen += u64::from(left.count_ones());
        even
    }
}

/// The mask of the bytes that follow one in `mask`, with the last lane's carry, which is replaced.
fn shift(mask: u64, carry: &mut u64) -> u64 {
    mask << 1 | std::mem::replace(carry, mask >> (LANE - 1))
}

/// The mask of the bytes equal to `byte`; compilers turn the comparison into vector instructions.
#[inline]
fn mask(lane: &[u8; LANE], byte: u8) -> u64 {
    let equal = lane.map(|other| u8::from(other == byte));
    let (words, _) = equal.as_chunks::<8>();
    // The product moves the low bits of eight bytes next to each other into the highest byte.
    let gather =
        |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |mask, word| mask << 8 | gather(word))
}

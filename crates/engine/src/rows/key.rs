//! Rows of codes as fixed records of 64-bit words, so that they compare and travel fast.
//!
//! Columns are put into words one after another, the first in the highest bits, none across two
//! words: records then compare as the rows do. The last word is the number of rows that a record
//! stands for.

use incrowd_data::{Codes, bits_for};

/// Where a column is in a record.
#[derive(Clone, Copy, Debug)]
struct Place {
    word: usize,
    shift: u32,
    /// The greatest code, all its bits set.
    mask: u64,
}

/// Where the columns are in a record, and which of them decide what belongs together.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    places: Vec<Place>,
    n_prefix: usize,
}

impl Layout {
    /// For columns of so many codes, of which the first `n_prefix` decide what belongs together.
    pub(super) fn new(n_codes: &[u32], n_prefix: usize) -> Layout {
        let (mut word, mut left) = (0, u64::BITS);
        let place = |&n_codes: &u32| {
            let bits = bits_for(n_codes);
            if bits > left {
                word += 1;
                left = u64::BITS;
            }
            left -= bits;
            Place { word, shift: left.min(u64::BITS - 1), mask: (1 << bits) - 1 }
        };
        Layout { places: n_codes.iter().map(place).collect(), n_prefix }
    }

    /// Words of a record, that of its rows not counted.
    pub(super) fn n_words(&self) -> usize {
        self.places.last().map_or(1, |place| place.word + 1)
    }

    /// The bits of the columns that decide what belongs together.
    pub(super) fn prefix<const W: usize>(&self) -> [u64; W] {
        let mut bits = [0; W];
        for place in &self.places[..self.n_prefix] {
            bits[place.word] |= place.mask << place.shift;
        }
        bits
    }

    /// One record a row.
    pub(super) fn pack<const W: usize>(&self, columns: &[Codes], records: &mut Vec<[u64; W]>) {
        fn put<const W: usize, C: Copy + Into<u32>>(
            records: &mut [[u64; W]],
            codes: &[C],
            Place { word, shift, .. }: Place,
        ) {
            for (record, &code) in records.iter_mut().zip(codes) {
                record[word] |= u64::from(code.into()) << shift;
            }
        }
        let mut one = [0; W];
        one[W - 1] = 1;
        records.clear();
        records.resize(columns.first().map_or(0, Codes::len), one);
        for (codes, &place) in columns.iter().zip(&self.places) {
            match codes {
                Codes::U8(codes) => put(records, codes, place),
                Codes::U16(codes) => put(records, codes, place),
                Codes::U32(codes) => put(records, codes, place),
            }
        }
    }

    /// The codes of the columns behind those that decide.
    pub(super) fn rest<const W: usize>(&self, record: &[u64; W], rest: &mut Vec<u32>) {
        rest.clear();
        rest.extend(self.places[self.n_prefix..].iter().map(|place| {
            let code = record[place.word] >> place.shift & place.mask;
            u32::try_from(code).expect("a code has 32 bits")
        }));
    }
}

/// Mixes the words of a record that `of` has bits in.
pub(super) fn hash<const W: usize>(record: &[u64; W], of: &[u64; W]) -> u64 {
    let mut hash = 0u64;
    for (word, bits) in record[..W - 1].iter().zip(of) {
        let mixed = (hash ^ (word & bits)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = mixed ^ (mixed >> 32);
    }
    hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Whether two records are of the same row.
pub(super) fn is_same<const W: usize>(a: &[u64; W], b: &[u64; W]) -> bool {
    a[..W - 1] == b[..W - 1]
}

/// Equal neighbours as one record.
pub(super) fn merge_runs<const W: usize>(records: &mut Vec<[u64; W]>) {
    records.dedup_by(|next, kept| {
        let is_same = is_same(next, kept);
        kept[W - 1] += if is_same { next[W - 1] } else { 0 };
        is_same
    });
}

/// A few different records with their rows: most of what arrives is in it already.
#[derive(Debug)]
pub(super) struct Recent<const W: usize> {
    /// A record without rows is an empty place. Their number is a power of two.
    slots: Vec<[u64; W]>,
    n_records: usize,
    most_slots: usize,
}

impl<const W: usize> Recent<W> {
    /// Grows to about so many bytes.
    pub(super) fn new(most_bytes: usize) -> Recent<W> {
        let most_slots = (most_bytes / size_of::<[u64; W]>()).next_power_of_two() / 2;
        Recent { slots: vec![[0; W]; 256], n_records: 0, most_slots: most_slots.max(256) }
    }

    pub(super) fn len(&self) -> usize {
        self.n_records
    }

    /// Adds a record; whether there is still room afterwards.
    pub(super) fn add(&mut self, record: &[u64; W]) -> bool {
        self.put(record);
        if 2 * self.n_records < self.slots.len() {
            return true;
        }
        if self.slots.len() >= self.most_slots {
            return false;
        }
        let larger = vec![[0; W]; 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, larger);
        self.n_records = 0;
        old.iter().filter(|record| record[W - 1] > 0).for_each(|record| self.put(record));
        true
    }

    fn put(&mut self, record: &[u64; W]) {
        let last = self.slots.len() - 1;
        let shift = u64::BITS - self.slots.len().trailing_zeros();
        let mut at = usize::try_from(hash(record, &[u64::MAX; W]) >> shift).unwrap_or(0);
        loop {
            let slot = &mut self.slots[at];
            if slot[W - 1] == 0 {
                *slot = *record;
                self.n_records += 1;
                return;
            }
            if is_same(slot, record) {
                slot[W - 1] += record[W - 1];
                return;
            }
            at = (at + 1) & last;
        }
    }

    /// Takes all records out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = [u64; W]> {
        self.n_records = 0;
        self.slots
            .iter_mut()
            .filter(|slot| slot[W - 1] > 0)
            .map(|slot| std::mem::replace(slot, [0; W]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_compare_as_rows_and_give_their_codes_back() {
        let n_codes = [5, 1 << 31, 1, 1 << 31, 3];
        let rows = [[4, 0, 0, 9, 2], [0, 7, 0, 1, 1], [0, 7, 0, 0, 2], [0, 7, 0, 1, 0]];
        let columns: Vec<Codes> = (0..5)
            .map(|column| Codes::pack(n_codes[column], rows.iter().map(|row| row[column])))
            .collect();
        let layout = Layout::new(&n_codes, 2);
        assert_eq!(layout.n_words(), 2);
        let mut records: Vec<[u64; 3]> = Vec::new();
        layout.pack(&columns, &mut records);
        let mut by_record: Vec<usize> = (0..4).collect();
        by_record.sort_by_key(|&row| records[row]);
        assert_eq!(by_record, [2, 3, 1, 0]);
        let mut rest = Vec::new();
        for (record, row) in records.iter().zip(rows) {
            layout.rest(record, &mut rest);
            assert_eq!(rest, row[2..]);
        }
        let prefix = layout.prefix::<3>();
        let hashes: Vec<u64> = records.iter().map(|record| hash(record, &prefix)).collect();
        assert!(hashes[1] == hashes[2] && hashes[2] == hashes[3] && hashes[0] != hashes[1]);
    }

    #[test]
    fn what_arrives_again_is_counted() {
        let mut recent = Recent::<2>::new(1 << 20);
        for row in 0..3000 {
            assert!(recent.add(&[row % 1000, 1]));
        }
        assert_eq!(recent.len(), 1000);
        let mut found: Vec<[u64; 2]> = recent.drain().collect();
        found.sort_unstable();
        assert!(found.into_iter().eq((0..1000).map(|row| [row, 3])));
        assert_eq!(recent.len(), 0);
    }
}

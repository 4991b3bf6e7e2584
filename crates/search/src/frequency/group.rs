//! Equal keys counted in an open hash table.

use super::key::{Change, MOST_WORDS};

/// Groups of keys.
pub(super) struct Grouped {
    /// By source, its group; empty unless requested.
    pub(super) group_of: Vec<u32>,
    pub(super) keys: Vec<u64>,
    pub(super) counts: Vec<u32>,
}

/// Keys to be grouped, with their rows.
pub(super) struct Sources<'a> {
    pub(super) keys: &'a [u64],
    pub(super) rows: &'a [u32],
    pub(super) change: Change<'a>,
    /// An upper bound of the number of groups.
    pub(super) most: u128,
    pub(super) wants_groups: bool,
    /// Whether to give up if there are not far fewer groups than sources.
    pub(super) must_shrink: bool,
}

impl Sources<'_> {
    /// Groups equal keys; `None` if it gave up.
    pub(super) fn group(&self, words: usize) -> Option<Grouped> {
        match words {
            1 => self.group_words::<1>(),
            2 => self.group_words::<2>(),
            4 => self.group_words::<4>(),
            8 => self.group_words::<8>(),
            _ => self.group_words::<MOST_WORDS>(),
        }
    }

    fn group_words<const W: usize>(&self) -> Option<Grouped> {
        let (sources, _) = self.keys.as_chunks::<W>();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX).min(sources.len());
        if self.must_shrink && sources.len() >= LARGE && !self.shrinks(sources) {
            return None;
        }
        if !self.wants_groups && sources.len() >= LARGE {
            return Some(self.group_halves(sources, most));
        }
        let mut table = HashTable::<W>::new(most);
        let mut group_of = Vec::with_capacity(if self.wants_groups { sources.len() } else { 0 });
        for (source, &rows) in sources.iter().zip(self.rows) {
            let key = self.change.apply(source);
            let group = table.add(key, hash(&key), rows);
            if self.wants_groups {
                group_of.push(group);
            }
        }
        Some(Grouped { group_of, keys: table.groups.into_flattened(), counts: table.counts })
    }

    /// Whether a sample has clearly fewer groups than sources: if the ratio in the sample is nine
    /// tenths, it is about a sixth in the whole.
    fn shrinks<const W: usize>(&self, sources: &[[u64; W]]) -> bool {
        let n_sampled = sources.len() / 32;
        let mut table = HashTable::<W>::new(n_sampled);
        for source in &sources[..n_sampled] {
            let key = self.change.apply(source);
            table.add(key, hash(&key), 1);
        }
        table.groups.len() * 10 < n_sampled * 9
    }

    /// Groups both halves of many keys in parallel. There are always two, so that the order of the
    /// groups does not depend on the number of threads.
    fn group_halves<const W: usize>(&self, sources: &[[u64; W]], most: usize) -> Grouped {
        let count = |range: std::ops::Range<usize>| {
            let mut table = HashTable::<W>::new(most);
            for (source, &rows) in sources[range.clone()].iter().zip(&self.rows[range]) {
                let key = self.change.apply(source);
                table.add(key, hash(&key), rows);
            }
            table
        };
        let middle = sources.len() / 2;
        let (mut first, second) = rayon::join(|| count(0..middle), || count(middle..sources.len()));
        for (&key, &rows) in second.groups.iter().zip(&second.counts) {
            first.add(key, hash(&key), rows);
        }
        Grouped { group_of: Vec::new(), keys: first.groups.into_flattened(), counts: first.counts }
    }
}

/// From this number of sources on, work is shared and unprofitable roll-ups are abandoned.
pub(super) const LARGE: usize = 1 << 15;

/// An open hash table whose slots are group numbers. It starts small: most nodes have few groups,
/// and a small table stays in the cache.
struct HashTable<const W: usize> {
    groups: Vec<[u64; W]>,
    counts: Vec<u32>,
    /// Group number + 1, or 0 if free. The length is a power of two.
    slots: Vec<u32>,
    shift: u32,
}

/// The initial number of slots.
const FEW_SLOTS: usize = 1 << 12;

impl<const W: usize> HashTable<W> {
    fn new(most_groups: usize) -> HashTable<W> {
        let n_slots = (2 * most_groups).next_power_of_two().clamp(4, FEW_SLOTS);
        let shift = u64::BITS - n_slots.trailing_zeros();
        HashTable { groups: Vec::new(), counts: Vec::new(), slots: vec![0; n_slots], shift }
    }

    /// Counts rows of a key; returns its group.
    #[inline]
    fn add(&mut self, key: [u64; W], hash: u64, rows: u32) -> u32 {
        let mut slot = self.first_slot(hash);
        loop {
            let held = self.slots[slot];
            if held == 0 {
                return self.insert(slot, key, rows);
            }
            let group = held as usize - 1;
            if self.groups[group] == key {
                self.counts[group] += rows;
                return held - 1;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn first_slot(&self, hash: u64) -> usize {
        usize::try_from(hash >> self.shift).expect("below the number of slots")
    }

    fn insert(&mut self, slot: usize, key: [u64; W], rows: u32) -> u32 {
        self.groups.push(key);
        self.counts.push(rows);
        let number = u32::try_from(self.groups.len()).expect("fewer groups than 2^32");
        self.slots[slot] = number;
        if 2 * self.groups.len() > self.slots.len() {
            self.grow();
        }
        number - 1
    }

    fn grow(&mut self) {
        let n_slots = 4 * self.slots.len();
        self.shift -= 2;
        self.slots = vec![0; n_slots];
        for (number, key) in (1u32..).zip(&self.groups) {
            let mut slot = self.first_slot(hash(key));
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (n_slots - 1);
            }
            self.slots[slot] = number;
        }
    }
}

/// Multiplies and folds word by word; the high bits are the well-mixed ones.
#[inline]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    let mut hash = 0u64;
    for &word in key {
        hash = (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash ^= hash >> 32;
    hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

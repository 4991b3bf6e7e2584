//! Buffers for merging rows: the place of each key in a list, by hash or by cell number.

use super::Key;

/// The places of keys in a list.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// When a slot was filled, and with what.
    slots: Vec<(u32, u32)>,
    now: u32,
    mask: usize,
}

impl Scratch {
    /// Removes all keys, and makes room for `n_keys`.
    pub(super) fn clear(&mut self, n_keys: usize) {
        let n_slots = (2 * n_keys.max(4)).next_power_of_two();
        if self.slots.len() < n_slots {
            self.slots = vec![(0, 0); n_slots];
            self.now = 0;
        }
        if self.now == u32::MAX {
            self.slots.fill((0, 0));
            self.now = 0;
        }
        self.now += 1;
        self.mask = n_slots - 1;
    }

    /// The place of a key in the list of keys since [`Scratch::clear`], and whether it was just
    /// added.
    #[inline]
    pub(super) fn find<const N: usize>(
        &mut self,
        keys: &mut Vec<Key<N>>,
        key: Key<N>,
    ) -> (usize, bool) {
        if keys.len() * 2 > self.mask {
            self.grow(keys);
        }
        let mut slot = hash(&key) & self.mask;
        loop {
            let (when, at) = self.slots[slot];
            if when != self.now {
                let at = keys.len();
                self.slots[slot] = (self.now, u32::try_from(at).expect("no more than vectors"));
                keys.push(key);
                return (at, true);
            }
            if keys[at as usize] == key {
                return (at as usize, false);
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// Removes all cells, and makes room for those with numbers below `n_all`.
    pub(super) fn clear_cells(&mut self, n_all: usize) {
        self.clear(n_all.div_ceil(2));
    }

    /// The place of a cell's key in the list of keys since [`Scratch::clear_cells`], and whether it
    /// was just added.
    #[inline]
    pub(super) fn find_cell<const N: usize>(
        &mut self,
        keys: &mut Vec<Key<N>>,
        key: Key<N>,
        cell: usize,
    ) -> (usize, bool) {
        let (when, at) = self.slots[cell];
        if when == self.now {
            return (at as usize, false);
        }
        let at = keys.len();
        self.slots[cell] = (self.now, u32::try_from(at).expect("no more than vectors"));
        keys.push(key);
        (at, true)
    }

    #[cold]
    fn grow<const N: usize>(&mut self, keys: &[Key<N>]) {
        self.clear(2 * keys.len());
        for (at, key) in (0u32..).zip(keys) {
            let mut slot = hash(key) & self.mask;
            while self.slots[slot].0 == self.now {
                slot = (slot + 1) & self.mask;
            }
            self.slots[slot] = (self.now, at);
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
fn hash<const N: usize>(key: &Key<N>) -> usize {
    let mixed = key.iter().fold(0u64, |mixed, &word| {
        (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed ^ (mixed >> 32)) as usize
}

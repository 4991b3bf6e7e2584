//! What matters about a point besides its code on the attribute that may be cut.
//!
//! Models use extra columns; criteria use targets, the values that queries add up, and the boxes
//! that contain a point. Points that agree in all of these are of one kind. The kinds represent the
//! points wherever the in-memory code looks up a point.

use std::io;
use std::sync::{Mutex, PoisonError};

use incrowd_data::{Codes, Extra, Region};
use incrowd_privacy::Tally;

use super::{Chunk, Scan};
use crate::mondrian::split::{Admitted, Masks, PointColumns};
use crate::{Problem, QueryValue, Split, Target, Workload};

/// The kinds of a table's points.
pub(super) struct Kinds {
    key: Key,
    interned: Interned,
    /// As in a frequency set, but by kind; empty for columns that are not used.
    vectors: Vec<Codes>,
    extras: Vec<Extra>,
    /// Rows.
    counts: Vec<u32>,
    masks: Masks,
}

/// The key that distinguishes kinds.
struct Key {
    attributes: Vec<usize>,
    extras: Vec<usize>,
    selections: Admitted,
    queries: Admitted,
}

/// Kinds may always take this number of bytes.
const FEW_BYTES: u64 = 1 << 26;

impl Kinds {
    /// Finds the kinds, in one scan or without any if points do not differ in anything that
    /// matters. `None` if they take more than `memory` bytes.
    pub(super) fn find(
        problem: &Problem,
        scan: &dyn Scan,
        memory: u64,
    ) -> io::Result<Option<Kinds>> {
        let key = Key::new(problem);
        let found = Mutex::new((Interned::new(key.width()), Vec::new()));
        let most = memory.max(FEW_BYTES);
        if key.width() == 0 {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.intern(&[]);
            found.1.push(u32::try_from(problem.set.n_rows).expect("rows are counted in 32 bits"));
        } else {
            scan.scan(&|chunk| {
                if problem.budget.is_cancelled() {
                    return;
                }
                let mut here = Interned::new(key.width());
                let mut rows: Vec<u32> = Vec::new();
                let keys = key.of(chunk);
                for (point, key) in keys.chunks_exact(key.width()).enumerate() {
                    add(&mut here, &mut rows, key, chunk.counts.map_or(1, |counts| counts[point]));
                }
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                let (interned, counts) = &mut *found;
                if interned.bytes() <= most {
                    for (key, &rows) in here.keys.chunks_exact(key.width()).zip(&rows) {
                        add(interned, counts, key, rows);
                    }
                }
            })?;
        }
        let (interned, counts) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((interned.bytes() <= most).then(|| Kinds::new(problem, key, interned, counts)))
    }

    fn new(problem: &Problem, key: Key, interned: Interned, counts: Vec<u32>) -> Kinds {
        let width = key.width();
        let word = |at: usize| (0..counts.len()).map(move |kind| (kind, at));
        let of = |(kind, at): (usize, usize)| interned.keys[kind * width + at];
        let nothing = || Codes::U8(vec![0; counts.len()]);
        let vectors = problem.set.attributes.iter().enumerate().map(|(at, attribute)| {
            match key.attributes.iter().position(|&attribute| attribute == at) {
                Some(place) => Codes::pack(attribute.n_codes(), word(place).map(of)),
                None => Codes::U8(Vec::new()),
            }
        });
        let extras = problem.set.extras.iter().enumerate().map(|(at, extra)| {
            let place = key.extras.iter().position(|&extra| extra == at);
            let place = place.map(|place| place + key.attributes.len());
            let positions = place.map_or(Vec::new(), |_| extra.positions.clone());
            let n_codes = place.map_or(1, |_| extra.n_codes);
            let codes = place.map(|place| Codes::pack(n_codes, word(place).map(of)));
            let codes = codes.unwrap_or_else(nothing);
            Extra { name: extra.name.clone(), codes, n_codes, positions }
        });
        let mask = |first: usize, n_words: usize| -> Vec<u64> {
            let words = (0..counts.len()).flat_map(|kind| (0..n_words).map(move |at| (kind, at)));
            let half = |kind: usize, at: usize| u64::from(interned.keys[kind * width + first + at]);
            words.map(|(kind, at)| half(kind, 2 * at) | half(kind, 2 * at + 1) << 32).collect()
        };
        let first = key.attributes.len() + key.extras.len();
        let selections = mask(first, key.selections.n_words());
        let queries = mask(first + 2 * key.selections.n_words(), key.queries.n_words());
        let (vectors, extras) = (vectors.collect(), extras.collect());
        Kinds { vectors, extras, counts, masks: Masks { selections, queries }, interned, key }
    }

    /// The number of scans it took to find the kinds.
    pub(super) fn n_scans(&self) -> u64 {
        u64::from(self.key.width() > 0)
    }

    /// The number of kinds.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The kind of each point; `None` if all are of one kind.
    pub(super) fn of(&self, chunk: &Chunk) -> Option<Vec<u32>> {
        if self.len() <= 1 {
            return None;
        }
        let keys = self.key.of(chunk);
        let kind = |key: &[u32]| self.interned.find(key).expect("every scan gives the same points");
        Some(keys.chunks_exact(self.key.width()).map(kind).collect())
    }

    /// The kinds as points that criteria look up.
    pub(super) fn points<'a>(&'a self, problem: &'a Problem) -> PointColumns<'a> {
        PointColumns {
            attributes: &problem.set.attributes,
            vectors: &self.vectors,
            extras: &self.extras,
            counts: &self.counts,
            n_rows: problem.set.n_rows,
            masks: Some(&self.masks),
        }
    }

    /// An empty tally of points by kind.
    pub(super) fn tally(&self, entity: Option<usize>) -> Tally<'_> {
        Tally::over(&self.extras, entity)
    }

    /// The whole table.
    pub(super) fn whole(&self, entity: Option<usize>) -> Tally<'_> {
        let mut tally = self.tally(entity);
        for (kind, &rows) in self.counts.iter().enumerate() {
            tally.add(kind, rows);
        }
        tally
    }
}

fn add(interned: &mut Interned, counts: &mut Vec<u32>, key: &[u32], rows: u32) {
    let kind = interned.intern(key) as usize;
    if kind == counts.len() {
        counts.push(0);
    }
    counts[kind] += rows;
}

impl Key {
    fn new(problem: &Problem) -> Key {
        let nothing = Workload::default();
        let workload = problem.workload.unwrap_or(&nothing);
        let has = |split: Split| workload.splits.contains(&split);
        let mut extras: Vec<usize> = problem.entity.into_iter().collect();
        extras.extend(problem.models.iter().filter_map(|model| model.looks_at()));
        if has(Split::Targets) {
            extras.extend(workload.targets.iter().map(|target| match target {
                Target::Labels(extra) | Target::Numbers(extra) => *extra,
            }));
        }
        let (mut attributes, mut boxes): (Vec<usize>, Vec<&Region>) = (Vec::new(), Vec::new());
        if has(Split::Queries) {
            for query in &workload.queries {
                boxes.extend(&query.regions);
                match query.value {
                    QueryValue::Rows => {}
                    QueryValue::Attribute(at) => attributes.push(at),
                    QueryValue::Extra(at) => extras.push(at),
                }
            }
        }
        let mut selected: Vec<&Region> = Vec::new();
        if has(Split::Selection) {
            selected.extend(&workload.selections);
        }
        for columns in [&mut attributes, &mut extras] {
            columns.sort_unstable();
            columns.dedup();
        }
        let admitted = |boxes: &[&Region]| Admitted::new(&problem.set.attributes, boxes);
        let (selections, queries) = (admitted(&selected), admitted(&boxes));
        Key { attributes, extras, selections, queries }
    }

    /// The number of words of a key.
    fn width(&self) -> usize {
        let n_masks = self.selections.n_words() + self.queries.n_words();
        self.attributes.len() + self.extras.len() + 2 * n_masks
    }

    /// The keys of some points side by side.
    #[expect(clippy::cast_possible_truncation, reason = "a mask is kept in halves")]
    fn of(&self, chunk: &Chunk) -> Vec<u32> {
        let width = self.width();
        let mut keys = vec![0; width * chunk.len];
        let attributes = self.attributes.iter().map(|&at| &chunk.vectors[at]);
        let columns = attributes.chain(self.extras.iter().map(|&at| &chunk.extras[at]));
        let mut place = 0;
        for codes in columns {
            for (point, key) in keys.chunks_exact_mut(width).enumerate() {
                key[place] = codes.get(point);
            }
            place += 1;
        }
        for boxes in [&self.selections, &self.queries] {
            let n_words = boxes.n_words();
            if n_words > 0 {
                let masks = boxes.masks(chunk.vectors, chunk.len);
                for (key, mask) in keys.chunks_exact_mut(width).zip(masks.chunks_exact(n_words)) {
                    for (halves, word) in key[place..].chunks_exact_mut(2).zip(mask) {
                        halves.copy_from_slice(&[*word as u32, (word >> 32) as u32]);
                    }
                }
            }
            place += 2 * n_words;
        }
        keys
    }
}

/// Keys with numbers, in an open hash table.
struct Interned {
    width: usize,
    keys: Vec<u32>,
    n_keys: u32,
    /// Number + 1, or 0 if free. The length is a power of two.
    slots: Vec<u32>,
}

impl Interned {
    fn new(width: usize) -> Interned {
        Interned { width, keys: Vec::new(), n_keys: 0, slots: vec![0; 64] }
    }

    fn bytes(&self) -> u64 {
        // Includes the rows of each kind and what criteria store by kind.
        4 * (self.slots.len() + 3 * self.keys.len() + 2 * self.n_keys as usize) as u64
    }

    fn find(&self, key: &[u32]) -> Option<u32> {
        self.slots[self.slot(key)].checked_sub(1)
    }

    /// The number of a key, the next one if it is new.
    fn intern(&mut self, key: &[u32]) -> u32 {
        let slot = self.slot(key);
        if let Some(number) = self.slots[slot].checked_sub(1) {
            return number;
        }
        self.keys.extend_from_slice(key);
        self.n_keys += 1;
        self.slots[slot] = self.n_keys;
        if 2 * self.n_keys as usize > self.slots.len() {
            self.slots = vec![0; 4 * self.slots.len()];
            for number in 0..self.n_keys {
                let slot = self.slot(&self.keys[number as usize * self.width..][..self.width]);
                self.slots[slot] = number + 1;
            }
        }
        self.n_keys - 1
    }

    /// The slot of a key, or where it would be.
    fn slot(&self, key: &[u32]) -> usize {
        let mut hash = 0u64;
        for &word in key {
            hash = (hash.rotate_left(29) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 20;
        let last = self.slots.len() - 1;
        let mut slot = usize::try_from(hash).expect("44 bits") & last;
        loop {
            match self.slots[slot].checked_sub(1) {
                Some(number) if self.keys[number as usize * self.width..][..self.width] != *key => {
                    slot = (slot + 1) & last;
                }
                _ => return slot,
            }
        }
    }
}

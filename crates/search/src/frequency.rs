//! Frequency sets at nodes of the lattice, and how one rolls up into another.
//!
//! The groups of a node are packed into keys with a fixed field of bits per attribute, wide enough for
//! the values themselves. Rolling up from one node to another then touches only the attributes whose
//! level differs: a table look-up each, in place. Equal keys are counted in an open hash table whose
//! slots are group numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use incrowd_data::{Codes, FrequencySet, Hierarchy, Level, Levels, Shape, bits_for};

/// Stands for the level of an attribute that is not counted: one group of everything.
pub(crate) const ABSENT: Level = Level(u8::MAX);

/// Where the group of an attribute stands in a key.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

/// The groups of a node with their rows.
#[derive(Clone, Debug)]
pub(crate) struct Frequencies {
    pub(crate) levels: Levels,
    /// `words` words a group.
    keys: Vec<u64>,
    /// Rows per group.
    pub(crate) counts: Vec<u32>,
    /// By counted extra column.
    pub(crate) spreads: Vec<Spread>,
}

/// How often each code of an extra column occurs in each group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// By group, where its entries end.
    ends: Vec<u32>,
    /// Code and rows.
    entries: Vec<(u32, u32)>,
}

impl Spread {
    /// The codes of a group with their rows, each code once.
    pub(crate) fn of_group(&self, group: usize) -> &[(u32, u32)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        &self.entries[start..self.ends[group] as usize]
    }
}

impl Frequencies {
    /// The number of groups.
    pub(crate) fn n_groups(&self) -> usize {
        self.counts.len()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let spreads = self.spreads.iter().map(|s| 4 * s.ends.len() + 8 * s.entries.len());
        (8 * self.keys.len() + 4 * self.counts.len() + spreads.sum::<usize>()) as u64
    }
}

/// Why a table cannot be counted this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooWide;

/// Counts groups of a frequency set at any node.
#[derive(Debug)]
pub(crate) struct Counter<'a> {
    set: &'a FrequencySet,
    hierarchies: Vec<&'a Hierarchy>,
    fields: Vec<Field>,
    words: usize,
    /// By attribute, lower and upper level: the group of the upper level that holds each group of the
    /// lower one.
    up: Vec<Vec<Vec<Box<[u32]>>>>,
    /// The extra columns that are counted, by index.
    extras: Vec<usize>,
    n_scans: AtomicU64,
    n_rollups: AtomicU64,
}

/// The most words that a key may have.
const MOST_WORDS: usize = 16;

impl<'a> Counter<'a> {
    /// A counter over attributes that all have hierarchies, which also counts some extra columns.
    pub(crate) fn new(set: &'a FrequencySet, extras: Vec<usize>) -> Result<Counter<'a>, TooWide> {
        let hierarchies: Vec<&Hierarchy> = set
            .attributes
            .iter()
            .map(|attribute| match &attribute.shape {
                Shape::Tree(hierarchy) => hierarchy,
                _ => panic!("a full-domain search needs hierarchies; the caller checks that"),
            })
            .collect();
        let (fields, words) = layout(&hierarchies)?;
        let up = hierarchies.iter().map(|hierarchy| maps(hierarchy)).collect();
        let (n_scans, n_rollups) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Counter { set, hierarchies, fields, words, up, extras, n_scans, n_rollups })
    }

    pub(crate) fn hierarchies(&self) -> &[&'a Hierarchy] {
        &self.hierarchies
    }

    /// Passes over the table so far.
    pub(crate) fn n_scans(&self) -> u64 {
        self.n_scans.load(Ordering::Relaxed)
    }

    /// Frequency sets that were rolled up from others so far.
    pub(crate) fn n_rollups(&self) -> u64 {
        self.n_rollups.load(Ordering::Relaxed)
    }

    /// The group of an attribute in a group of vectors.
    pub(crate) fn group(&self, of: &Frequencies, at: usize, attribute: usize) -> u32 {
        let Field { word, shift, mask } = self.fields[attribute];
        let bits = of.keys[at * self.words + word] >> shift & mask;
        u32::try_from(bits).expect("a group is a u32")
    }

    /// The group of an attribute in every group of vectors.
    pub(crate) fn groups(&self, of: &Frequencies, attribute: usize) -> Vec<u32> {
        let Field { word, shift, mask } = self.fields[attribute];
        let words = of.keys.iter().skip(word).step_by(self.words);
        words.map(|bits| u32::try_from(bits >> shift & mask).expect("a group is a u32")).collect()
    }

    /// The number of groups of an attribute at a level.
    pub(crate) fn n_groups(&self, attribute: usize, level: Level) -> usize {
        if level == ABSENT { 1 } else { self.hierarchies[attribute].groups(level).len() }
    }

    /// The frequency set of a node, by a pass over the table.
    pub(crate) fn scan(&self, levels: &Levels) -> Frequencies {
        self.pass(levels, false).0
    }

    /// The frequency set of a node, by a pass over the table, and the group of each vector.
    pub(crate) fn scan_groups(&self, levels: &Levels) -> (Frequencies, Vec<u32>) {
        self.pass(levels, true)
    }

    fn pass(&self, levels: &Levels, wants_groups: bool) -> (Frequencies, Vec<u32>) {
        self.n_scans.fetch_add(1, Ordering::Relaxed);
        let keys = self.keys(levels);
        let rows = &self.set.counts;
        let sources = Sources {
            keys: &keys,
            rows,
            change: Change::none(),
            most: self.most_groups(levels),
            wants_groups: wants_groups || !self.extras.is_empty(),
            must_shrink: false,
        };
        let grouped = sources.group(self.words).expect("it never gives up");
        let Grouped { group_of, keys, counts } = grouped;
        let spreads = self
            .extras
            .iter()
            .map(|&extra| {
                let codes = &self.set.extras[extra].codes;
                let entries = (0..rows.len()).map(|vector| (codes.get(vector), rows[vector]));
                self.spread(extra, counts.len(), &group_of, entries.map(|entry| [entry]))
            })
            .collect();
        (Frequencies { levels: levels.clone(), keys, counts, spreads }, group_of)
    }

    /// The frequency set of a node, from that of a node below it (the roll-up property).
    pub(crate) fn roll_up(&self, source: &Frequencies, levels: &Levels) -> Frequencies {
        self.roll_up_as(source, levels, false).expect("it never gives up")
    }

    /// The frequency set of a node as [`Counter::roll_up`] gives it, unless that is large and not much
    /// smaller than the source: then it is not worth having.
    pub(crate) fn roll_up_if_smaller(
        &self,
        source: &Frequencies,
        levels: &Levels,
    ) -> Option<Frequencies> {
        self.roll_up_as(source, levels, true)
    }

    fn roll_up_as(
        &self,
        source: &Frequencies,
        levels: &Levels,
        must_shrink: bool,
    ) -> Option<Frequencies> {
        debug_assert!(levels.generalizes(&source.levels), "only upwards");
        if let Some(dense) = self.dense(source, levels) {
            self.n_rollups.fetch_add(1, Ordering::Relaxed);
            return Some(dense);
        }
        let sources = Sources {
            keys: &source.keys,
            rows: &source.counts,
            change: self.change(&source.levels, levels),
            most: self.most_groups(levels),
            wants_groups: !self.extras.is_empty(),
            must_shrink,
        };
        let Grouped { group_of, keys, counts } = sources.group(self.words)?;
        self.n_rollups.fetch_add(1, Ordering::Relaxed);
        let spreads = self
            .extras
            .iter()
            .zip(&source.spreads)
            .map(|(&extra, spread)| {
                let entries = (0..source.n_groups()).map(|group| spread.of_group(group));
                self.spread(extra, counts.len(), &group_of, entries)
            })
            .collect();
        Some(Frequencies { levels: levels.clone(), keys, counts, spreads })
    }

    /// Rolls up into an array with a place for every combination of groups, where there are few: no
    /// hashing, no comparing.
    fn dense(&self, source: &Frequencies, levels: &Levels) -> Option<Frequencies> {
        let n_cells = usize::try_from(self.most_groups(levels)).ok()?;
        if !self.extras.is_empty() || n_cells > FEW_CELLS.max(source.n_groups() / 4).min(MOST_CELLS)
        {
            return None;
        }
        // By attribute with several groups, what each group of the source adds to the place.
        let mut steps: Vec<(Field, Vec<u32>)> = Vec::new();
        let mut width = 1u32;
        for (attribute, (from, to)) in source.levels.iter().zip(levels.iter()).enumerate() {
            let n_groups = self.n_groups(attribute, to);
            if n_groups == 1 {
                continue;
            }
            let n_sources =
                u32::try_from(self.n_groups(attribute, from)).expect("a u32 counts them");
            let group = |old: u32| match to.0 - from.0 {
                0 => old,
                up => self.up[attribute][usize::from(from.0)][usize::from(up) - 1][old as usize],
            };
            steps.push((
                self.fields[attribute],
                (0..n_sources).map(|old| group(old) * width).collect(),
            ));
            width *= u32::try_from(n_groups).expect("no more than cells");
        }
        let cells = count_cells(source, self.words, &steps, n_cells);
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for (mut cell, rows) in (0u32..).zip(cells).filter(|(_, rows)| *rows > 0) {
            let start = keys.len();
            keys.resize(start + self.words, 0);
            for (attribute, level) in levels.iter().enumerate() {
                let n_groups = u32::try_from(self.n_groups(attribute, level)).expect("few cells");
                let Field { word, shift, .. } = self.fields[attribute];
                keys[start + word] |= u64::from(cell % n_groups) << shift;
                cell /= n_groups;
            }
            counts.push(rows);
        }
        Some(Frequencies { levels: levels.clone(), keys, counts, spreads: Vec::new() })
    }

    fn keys(&self, levels: &Levels) -> Vec<u64> {
        let mut keys = vec![0u64; self.set.len() * self.words];
        for (attribute, (codes, level)) in self.set.vectors.iter().zip(levels.iter()).enumerate() {
            if level == ABSENT || self.n_groups(attribute, level) == 1 {
                continue;
            }
            let hierarchy = self.hierarchies[attribute];
            let Field { word, shift, .. } = self.fields[attribute];
            let bits: Vec<u64> = (0..hierarchy.n_leaves())
                .map(|leaf| u64::from(hierarchy.group_of(level, leaf)) << shift)
                .collect();
            let words = keys.iter_mut().skip(word).step_by(self.words);
            match codes {
                Codes::U8(codes) => words.zip(codes).for_each(|(w, &c)| *w |= bits[usize::from(c)]),
                Codes::U16(codes) => {
                    words.zip(codes).for_each(|(w, &c)| *w |= bits[usize::from(c)]);
                }
                Codes::U32(codes) => words.zip(codes).for_each(|(w, &c)| *w |= bits[c as usize]),
            }
        }
        keys
    }

    /// What a roll-up does to every key.
    fn change(&self, from: &Levels, to: &Levels) -> Change<'_> {
        let mut change = Change { kept: [u64::MAX; MOST_WORDS], maps: Vec::new() };
        for (attribute, (from, to)) in from.iter().zip(to.iter()).enumerate() {
            if from == to {
                continue;
            }
            let field = self.fields[attribute];
            change.kept[field.word] &= !(field.mask << field.shift);
            if to != ABSENT && self.n_groups(attribute, to) > 1 {
                let steps = usize::from(to.0 - from.0) - 1;
                change.maps.push((field, &self.up[attribute][usize::from(from.0)][steps]));
            }
        }
        change
    }

    /// No more groups than combinations of groups of the attributes.
    fn most_groups(&self, levels: &Levels) -> u128 {
        let sizes = levels.iter().enumerate().map(|(at, level)| self.n_groups(at, level) as u128);
        sizes.fold(1u128, u128::saturating_mul)
    }

    /// Adds up the entries of an extra column by new group.
    fn spread(
        &self,
        extra: usize,
        n_groups: usize,
        group_of: &[u32],
        entries: impl Iterator<Item = impl AsRef<[(u32, u32)]>> + Clone,
    ) -> Spread {
        // Sources in the order of their groups, so that one dense histogram serves all groups.
        let mut ends = vec![0u32; n_groups + 1];
        for (&group, entries) in group_of.iter().zip(entries.clone()) {
            ends[group as usize + 1] +=
                u32::try_from(entries.as_ref().len()).expect("fewer entries than rows");
        }
        for group in 0..n_groups {
            ends[group + 1] += ends[group];
        }
        let mut sorted = vec![(0u32, 0u32); ends[n_groups] as usize];
        let mut next = ends.clone();
        for (&group, entries) in group_of.iter().zip(entries) {
            let place = &mut next[group as usize];
            for &entry in entries.as_ref() {
                sorted[*place as usize] = entry;
                *place += 1;
            }
        }
        let mut rows_of = vec![0u32; self.set.extras[extra].n_codes as usize];
        let mut spread = Spread { ends: Vec::with_capacity(n_groups), entries: Vec::new() };
        for group in 0..n_groups {
            let of_group = &sorted[ends[group] as usize..ends[group + 1] as usize];
            let start = spread.entries.len();
            for &(code, rows) in of_group {
                if rows_of[code as usize] == 0 {
                    spread.entries.push((code, 0));
                }
                rows_of[code as usize] += rows;
            }
            for entry in &mut spread.entries[start..] {
                entry.1 = std::mem::take(&mut rows_of[entry.0 as usize]);
            }
            spread.ends.push(u32::try_from(spread.entries.len()).expect("fewer than rows"));
        }
        spread
    }
}

/// Cells up to which a dense array is always worth it, and beyond which it never is.
const FEW_CELLS: usize = 1 << 8;
const MOST_CELLS: usize = 1 << 18;

/// Rows by place; the steps of a key's fields add up to its place.
fn count_cells(
    source: &Frequencies,
    words: usize,
    steps: &[(Field, Vec<u32>)],
    n_cells: usize,
) -> Vec<u32> {
    let count = |range: std::ops::Range<usize>| {
        let mut cells = vec![0u32; n_cells];
        let keys = source.keys[range.start * words..range.end * words].chunks_exact(words);
        for (key, &rows) in keys.zip(&source.counts[range]) {
            let mut cell = 0;
            for (Field { word, shift, mask }, step) in steps {
                let group = usize::try_from(key[*word] >> shift & mask).expect("a group is a u32");
                cell += step[group];
            }
            cells[cell as usize] += rows;
        }
        cells
    };
    let n_groups = source.n_groups();
    if n_groups < LARGE {
        return count(0..n_groups);
    }
    let (mut cells, second) =
        rayon::join(|| count(0..n_groups / 2), || count(n_groups / 2..n_groups));
    cells.iter_mut().zip(second).for_each(|(rows, more)| *rows += more);
    cells
}

/// Fields of every key that are replaced by their entries in maps; those that are not kept and have no
/// map become 0.
struct Change<'a> {
    kept: [u64; MOST_WORDS],
    maps: Vec<(Field, &'a [u32])>,
}

impl Change<'_> {
    fn none() -> Change<'static> {
        Change { kept: [u64::MAX; MOST_WORDS], maps: Vec::new() }
    }

    #[inline]
    fn apply<const W: usize>(&self, key: &[u64; W]) -> [u64; W] {
        let mut changed = *key;
        for (word, kept) in changed.iter_mut().zip(&self.kept) {
            *word &= kept;
        }
        for (Field { word, shift, mask }, map) in &self.maps {
            let old = usize::try_from(key[*word] >> shift & mask).expect("a group is a u32");
            changed[*word] |= u64::from(map[old]) << shift;
        }
        changed
    }
}

/// Groups of keys.
struct Grouped {
    /// By source, its group; empty if nobody wants it.
    group_of: Vec<u32>,
    keys: Vec<u64>,
    counts: Vec<u32>,
}

/// Keys with their rows that are to be grouped.
struct Sources<'a> {
    keys: &'a [u64],
    rows: &'a [u32],
    change: Change<'a>,
    /// No more groups can come of them.
    most: u128,
    wants_groups: bool,
    /// Give up where there would not be far fewer groups than sources.
    must_shrink: bool,
}

impl Sources<'_> {
    /// Groups equal keys; none if it gave up.
    fn group(&self, words: usize) -> Option<Grouped> {
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

    /// Whether a sample has clearly fewer groups than sources: where it has nine tenths, the whole has
    /// about a sixth.
    fn shrinks<const W: usize>(&self, sources: &[[u64; W]]) -> bool {
        let n_sampled = sources.len() / 32;
        let mut table = HashTable::<W>::new(n_sampled);
        for source in &sources[..n_sampled] {
            let key = self.change.apply(source);
            table.add(key, hash(&key), 1);
        }
        table.groups.len() * 10 < n_sampled * 9
    }

    /// Groups both halves of many keys side by side. There are two on any number of threads, so that the
    /// order of the groups is the same.
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

/// Sources from which on work is shared, and a poor roll-up given up.
const LARGE: usize = 1 << 15;

/// An open hash table whose slots are group numbers. It starts small: most nodes have few groups, and a
/// small table stays in the cache.
struct HashTable<const W: usize> {
    groups: Vec<[u64; W]>,
    counts: Vec<u32>,
    /// Group number and one; 0 is free. A power of two of them.
    slots: Vec<u32>,
    shift: u32,
}

/// Slots that a table starts with.
const FEW_SLOTS: usize = 1 << 12;

impl<const W: usize> HashTable<W> {
    fn new(most_groups: usize) -> HashTable<W> {
        let n_slots = (2 * most_groups).next_power_of_two().clamp(4, FEW_SLOTS);
        let shift = u64::BITS - n_slots.trailing_zeros();
        HashTable { groups: Vec::new(), counts: Vec::new(), slots: vec![0; n_slots], shift }
    }

    /// Counts rows of a key; gives its group.
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

/// Multiply and fold, a word at a time; the high bits are the good ones.
#[inline]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    let mut hash = 0u64;
    for &word in key {
        hash = (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash ^= hash >> 32;
    hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// A field per attribute, none of which lies across two words.
fn layout(hierarchies: &[&Hierarchy]) -> Result<(Vec<Field>, usize), TooWide> {
    let (mut word, mut shift) = (0, 0);
    let mut fields = Vec::with_capacity(hierarchies.len());
    for hierarchy in hierarchies {
        let bits = bits_for(hierarchy.n_leaves());
        if bits == 0 {
            fields.push(Field { word: 0, shift: 0, mask: 0 });
            continue;
        }
        if shift + bits > u64::BITS {
            word += 1;
            shift = 0;
        }
        fields.push(Field { word, shift, mask: (1u64 << bits) - 1 });
        shift += bits;
    }
    // Only so many widths of keys are compiled.
    let words = (word + 1).next_power_of_two();
    if words > MOST_WORDS { Err(TooWide) } else { Ok((fields, words)) }
}

fn maps(hierarchy: &Hierarchy) -> Vec<Vec<Box<[u32]>>> {
    let top = hierarchy.height().0;
    (0..top)
        .map(|from| {
            let groups = hierarchy.groups(Level(from));
            (from + 1..=top)
                .map(|to| groups.iter().map(|g| hierarchy.group_of(Level(to), g.lo)).collect())
                .collect()
        })
        .collect()
}

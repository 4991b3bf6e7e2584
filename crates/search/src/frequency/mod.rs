//! Frequency sets at nodes of the lattice, and how one rolls up into another.
//!
//! The groups of a node are packed into keys with a fixed field of bits per attribute, wide enough
//! for the values themselves. Rolling up from one node to another then touches only the attributes
//! whose level differs: a table look-up each, in place. Equal keys are counted in an open hash
//! table whose slots are group numbers.
//!
//! Keys have 64 to 1,024 bits. A full-domain search starts from the rows of the table and groups
//! them here, so nobody sorts them first.

mod dense;
mod group;
mod key;
mod spread;

use std::sync::atomic::{AtomicU64, Ordering};

use incrowd_data::{Codes, FrequencySet, Hierarchy, Level, Levels};

use group::{Grouped, LARGE, Sources};
use key::Change;
pub(crate) use key::{Field, layout};
use spread::Spread;

/// The level of an attribute that is not counted: a single group.
pub(crate) const ABSENT: Level = Level(u8::MAX);

/// The groups of a node with their rows.
#[derive(Clone, Debug)]
pub(crate) struct Frequencies {
    pub(crate) levels: Levels,
    /// `words` words per group.
    keys: Vec<u64>,
    /// Rows per group.
    pub(crate) counts: Vec<u32>,
    /// By counted extra column.
    pub(crate) spreads: Vec<Spread>,
}

impl Frequencies {
    /// The number of groups.
    pub(crate) fn n_groups(&self) -> usize {
        self.counts.len()
    }

    /// Its size in memory.
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
    /// By attribute, lower and upper level: the group of the upper level above each group of the
    /// lower one.
    up: Vec<Vec<Vec<Box<[u32]>>>>,
    /// The extra columns that are counted, by index.
    extras: Vec<usize>,
    n_scans: AtomicU64,
    n_rollups: AtomicU64,
}

impl<'a> Counter<'a> {
    /// A counter over attributes with these hierarchies, which also counts some extra columns.
    pub(crate) fn new(
        set: &'a FrequencySet,
        hierarchies: Vec<&'a Hierarchy>,
        extras: Vec<usize>,
    ) -> Result<Counter<'a>, TooWide> {
        let (fields, words) = layout(hierarchies.iter().map(|hierarchy| hierarchy.n_leaves()))?;
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

    /// The frequency set of a node as [`Counter::roll_up`] gives it, unless the result would be
    /// large and not much smaller than the source, and so not worthwhile.
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

    /// The change that a roll-up makes to every key.
    fn change(&self, from: &Levels, to: &Levels) -> Change<'_> {
        let mut change = Change::none();
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

    /// An upper bound of the number of groups: the combinations of the attributes' groups.
    fn most_groups(&self, levels: &Levels) -> u128 {
        let sizes = levels.iter().enumerate().map(|(at, level)| self.n_groups(at, level) as u128);
        sizes.fold(1u128, u128::saturating_mul)
    }
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

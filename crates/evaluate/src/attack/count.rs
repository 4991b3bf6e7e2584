//! The candidates of every outside row.

use incrowd_data::Codes;
use rayon::prelude::*;

use super::cell::Cell;
use super::index::Index;

/// A compared column: the cell of each label, and the label of each distinct vector, in both
/// tables.
#[derive(Clone, Debug)]
pub struct Column {
    /// By label of the release, its cell.
    pub release: Vec<Cell>,
    /// By label of the outside table, its cell.
    pub outside: Vec<Cell>,
    /// By vector of the release, its label.
    pub release_labels: Codes,
    /// By vector of the outside table, its label.
    pub outside_labels: Codes,
}

/// The sensitive column of a release.
#[derive(Clone, Debug)]
pub struct Sensitive {
    /// By vector of the release, its value.
    pub values: Codes,
    /// The number of values.
    pub n_values: u32,
    /// The code of `*`, which says nothing.
    pub hidden: Option<u32>,
}

/// Two tables as distinct vectors with counts. Vectors of the release are also distinguished by the
/// sensitive column.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The compared columns.
    pub columns: Vec<Column>,
    /// Rows per vector of the release.
    pub release: Vec<u32>,
    /// Rows per vector of the outside table.
    pub outside: Vec<u32>,
    /// The column that an attacker wants to learn.
    pub sensitive: Option<Sensitive>,
    /// By vector of the release, the person whose rows these are, and the number of people. If
    /// given, candidates are people.
    pub people: Option<(Codes, u32)>,
}

/// The candidates of an outside vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The rows of the release that it could be, or the people whose rows these are.
    pub candidates: u64,
    /// Rows of the release that it could be.
    pub rows: u64,
    /// The vector of the last of these rows.
    pub last: Option<u32>,
    /// What they reveal about the sensitive column.
    pub posterior: Option<Posterior>,
}

/// What candidates reveal about the sensitive column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// The share of the candidates that have the most frequent value.
    pub share: f64,
    /// Whether all candidates have it.
    pub is_certain: bool,
}

/// The bytes of sets held at a time.
const MOST_BYTES: usize = 256 << 20;

/// The candidates of every outside vector; `None` if `goes_on` returns false.
#[must_use]
pub fn candidates(tables: &Tables, goes_on: impl Fn() -> bool) -> Option<Vec<Found>> {
    within(tables, MOST_BYTES, goes_on)
}

/// The same with another limit for the sets.
pub(super) fn within(
    tables: &Tables,
    most_bytes: usize,
    goes_on: impl Fn() -> bool,
) -> Option<Vec<Found>> {
    let indexes: Vec<Index> = tables.columns.iter().map(|c| Index::new(&c.release)).collect();
    let rows: Vec<Rows> = tables.columns.iter().map(Rows::new).collect();
    let counts = Counts::new(&tables.release);
    let n_words = tables.release.len().div_ceil(64);
    let mut found = Vec::with_capacity(tables.outside.len());
    while found.len() < tables.outside.len() {
        if !goes_on() {
            return None;
        }
        let from = found.len();
        let (to, labels) = chunk(tables, from, most_bytes / (8 * n_words.max(1)));
        let sets: Vec<Sets> = labels
            .iter()
            .enumerate()
            .map(|(at, labels)| {
                let column = &tables.columns[at];
                Sets::new(column, labels, &indexes[at], &rows[at], n_words)
            })
            .collect();
        let new: Vec<Found> = (from..to)
            .into_par_iter()
            .map_init(
                || Tally::new(tables.sensitive.as_ref(), tables.people.as_ref()),
                |tally, vector| {
                    let mut chosen: Vec<Set> = sets
                        .iter()
                        .zip(&tables.columns)
                        .map(|(sets, column)| sets.of(column.outside_labels.get(vector)))
                        .collect();
                    chosen.sort_by_key(|set| set.n_bits);
                    look(&chosen, n_words, &counts, tally)
                },
            )
            .collect();
        found.extend(new);
    }
    Some(found)
}

/// The end of a run of vectors with at most `most` labels, and these labels by column.
fn chunk(tables: &Tables, from: usize, most: usize) -> (usize, Vec<Vec<u32>>) {
    let mut is_in: Vec<Vec<bool>> =
        tables.columns.iter().map(|column| vec![false; column.outside.len()]).collect();
    let mut labels: Vec<Vec<u32>> = vec![Vec::new(); tables.columns.len()];
    let mut n_labels = 0;
    for vector in from..tables.outside.len() {
        let of_vector: Vec<u32> =
            tables.columns.iter().map(|column| column.outside_labels.get(vector)).collect();
        let is_new = |(at, label): &(usize, &u32)| !is_in[*at][**label as usize];
        let n_new = of_vector.iter().enumerate().filter(is_new).count();
        if vector > from && n_labels + n_new > most {
            return (vector, labels);
        }
        for (at, &label) in of_vector.iter().enumerate() {
            if !is_in[at][label as usize] {
                is_in[at][label as usize] = true;
                labels[at].push(label);
                n_labels += 1;
            }
        }
    }
    (tables.outside.len(), labels)
}

/// By label of a released column, the vectors that have it.
struct Rows {
    starts: Vec<u32>,
    vectors: Vec<u32>,
}

impl Rows {
    fn new(column: &Column) -> Rows {
        let mut starts = vec![0u32; column.release.len() + 1];
        for label in column.release_labels.iter() {
            starts[label as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut vectors = vec![0u32; column.release_labels.len()];
        for (vector, label) in (0u32..).zip(column.release_labels.iter()) {
            vectors[next[label as usize] as usize] = vector;
            next[label as usize] += 1;
        }
        Rows { starts, vectors }
    }

    fn of(&self, label: u32) -> &[u32] {
        let at = label as usize;
        &self.vectors[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// By label of an outside column, the vectors of the release that it is compatible with.
struct Sets {
    words: Vec<u64>,
    n_words: usize,
    /// By label, its set.
    slots: Vec<u32>,
    /// By set, the words in which it has bits, and the number of bits.
    extents: Vec<(usize, usize, u64)>,
}

/// A set.
#[derive(Clone, Copy)]
struct Set<'a> {
    words: &'a [u64],
    from: usize,
    to: usize,
    n_bits: u64,
}

impl Sets {
    fn new(column: &Column, labels: &[u32], index: &Index, rows: &Rows, n_words: usize) -> Sets {
        let mut words = vec![0u64; labels.len() * n_words];
        let mut slots = vec![0; column.outside.len()];
        for (slot, &label) in (0u32..).zip(labels) {
            slots[label as usize] = slot;
        }
        let extents = words
            .par_chunks_mut(n_words.max(1))
            .zip(labels)
            .map(|(set, &label)| {
                index.compatible(&column.outside[label as usize], |label| {
                    for &vector in rows.of(label) {
                        set[vector as usize / 64] |= 1 << (vector % 64);
                    }
                });
                let from = set.iter().position(|word| *word != 0).unwrap_or(n_words);
                let to = set.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
                (from, to, set.iter().map(|word| u64::from(word.count_ones())).sum())
            })
            .collect();
        Sets { words, n_words, slots, extents }
    }

    fn of(&self, label: u32) -> Set<'_> {
        let slot = self.slots[label as usize] as usize;
        // A release without rows has no sets.
        let (from, to, n_bits) = self.extents.get(slot).copied().unwrap_or((0, 0, 0));
        let words = &self.words[slot * self.n_words..(slot + 1) * self.n_words];
        Set { words, from, to, n_bits }
    }
}

/// Rows per vector of the release, also as planes of bits: plane `p` holds the vectors whose count
/// has bit `p`.
struct Counts<'a> {
    counts: &'a [u32],
    planes: Vec<Vec<u64>>,
}

impl Counts<'_> {
    fn new(counts: &[u32]) -> Counts<'_> {
        let most = counts.iter().copied().max().unwrap_or(0);
        let plane = |p: u32| {
            let word = |of: &[u32]| {
                of.iter().rev().fold(0u64, |word, count| word << 1 | u64::from(count >> p & 1))
            };
            counts.chunks(64).map(word).collect()
        };
        Counts { counts, planes: (0..u32::BITS - most.leading_zeros()).map(plane).collect() }
    }

    /// The rows of the vectors in a word of a set.
    fn rows(&self, at: usize, word: u64) -> u64 {
        if word.count_ones() as usize <= self.planes.len() {
            return bits(word).map(|bit| u64::from(self.counts[at * 64 + bit])).sum();
        }
        let of_plane =
            |(p, plane): (usize, &Vec<u64>)| u64::from((plane[at] & word).count_ones()) << p;
        self.planes.iter().enumerate().map(of_plane).sum()
    }
}

/// The places of the bits of a word.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let next = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
    std::iter::successors(Some(word).filter(|word| *word != 0), next)
        .map(|word| word.trailing_zeros() as usize)
}

/// Candidates by sensitive value.
struct Tally<'a> {
    sensitive: Option<&'a Sensitive>,
    rows: Vec<u64>,
    /// The values that have rows.
    seen: Vec<u32>,
    people: Option<&'a Codes>,
    /// By person, whether one of their rows was seen.
    is_met: Vec<bool>,
    met: Vec<u32>,
}

impl Tally<'_> {
    fn new<'a>(sensitive: Option<&'a Sensitive>, people: Option<&'a (Codes, u32)>) -> Tally<'a> {
        let n_values = sensitive.map_or(0, |sensitive| sensitive.n_values as usize);
        let n_people = people.map_or(0, |(_, n_people)| *n_people as usize);
        Tally {
            sensitive,
            rows: vec![0; n_values],
            seen: Vec::new(),
            people: people.map(|(codes, _)| codes),
            is_met: vec![false; n_people],
            met: Vec::new(),
        }
    }

    /// Meets the people whose rows are the vectors in a word of a set.
    fn meet(&mut self, at: usize, word: u64) {
        let Some(people) = self.people else { return };
        for bit in bits(word) {
            let person = people.get(at * 64 + bit);
            if !std::mem::replace(&mut self.is_met[person as usize], true) {
                self.met.push(person);
            }
        }
    }

    /// The number of people that were met, who are then reset; `rows` if people are not
    /// distinguished.
    fn candidates(&mut self, rows: u64) -> u64 {
        if self.people.is_none() {
            return rows;
        }
        let n_people = self.met.len() as u64;
        for person in self.met.drain(..) {
            self.is_met[person as usize] = false;
        }
        n_people
    }

    fn add(&mut self, at: usize, word: u64, counts: &[u32]) {
        let Some(sensitive) = self.sensitive else { return };
        for bit in bits(word) {
            let vector = at * 64 + bit;
            let value = sensitive.values.get(vector);
            if self.rows[value as usize] == 0 {
                self.seen.push(value);
            }
            self.rows[value as usize] += u64::from(counts[vector]);
        }
    }

    /// The posterior of what was added, which is then reset.
    fn take(&mut self, candidates: u64) -> Option<Posterior> {
        let hidden = self.sensitive?.hidden;
        let told = self.seen.iter().filter(|value| Some(**value) != hidden);
        let most = told.map(|&value| self.rows[value as usize]).max().unwrap_or(0);
        for value in self.seen.drain(..) {
            self.rows[value as usize] = 0;
        }
        let share = most as f64 / candidates as f64;
        (candidates > 0).then_some(Posterior { share, is_certain: most == candidates })
    }
}

/// The candidates that are in all of some sets.
fn look(sets: &[Set], n_words: usize, counts: &Counts, tally: &mut Tally) -> Found {
    let from = sets.iter().map(|set| set.from).max().unwrap_or(0);
    let to = sets.iter().map(|set| set.to).min().unwrap_or(n_words);
    let mut rows = 0;
    let mut last = None;
    for at in from..to {
        let mut word = u64::MAX;
        for set in sets {
            word &= set.words[at];
            if word == 0 {
                break;
            }
        }
        if word != 0 {
            rows += counts.rows(at, word);
            last = Some((at, word));
            tally.add(at, word, counts.counts);
            tally.meet(at, word);
        }
    }
    let last = last.map(|(at, word)| at * 64 + 63 - word.leading_zeros() as usize);
    let last = last.map(|vector| u32::try_from(vector).expect("fewer vectors than rows"));
    Found { candidates: tally.candidates(rows), rows, last, posterior: tally.take(rows) }
}

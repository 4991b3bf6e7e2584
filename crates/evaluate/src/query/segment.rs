//! A column cut at the constants it is compared with, and the distribution of labels over the
//! pieces.

use std::collections::BTreeMap;

use incrowd_data::{CodeSet, Comparison, Literal, Test};

use super::domain::{Domain, Line, List, Parse, is_exact};
use super::spread::{Spread, Values};
use super::{Column, QueryError};

/// The pieces of a column between constants: before the first, the first itself, between it and the
/// second, and so on; the last piece is for missing cells. All values of a piece satisfy the same
/// tests.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    cuts: Vec<f64>,
    /// Texts that the column is compared with but that are not in its list, sorted.
    unlisted: Vec<String>,
}

impl Segments {
    /// Cuts a column at the constants of its tests.
    pub(super) fn new(
        column: &Column,
        tests: &[&Test],
        parse: Parse,
    ) -> Result<Segments, QueryError> {
        let is_open = matches!(&column.domain, Domain::List(list) if list.is_open);
        let mut unlisted = Vec::new();
        for test in tests {
            let is_equality = match test {
                Test::Compare(comparison, _) => {
                    matches!(comparison, Comparison::Equal | Comparison::NotEqual)
                }
                _ => true,
            };
            for literal in literals(test) {
                let (_, is_known) = column.domain.key(&column.name, literal, parse)?;
                if is_open && is_equality && !is_known {
                    return Err(QueryError::UnknownConstant { column: column.name.clone() });
                }
                if !is_known {
                    unlisted.push(literal.text.clone());
                }
            }
        }
        unlisted.sort_unstable();
        unlisted.dedup();
        let mut segments = Segments { cuts: Vec::new(), unlisted };
        let all = tests.iter().flat_map(|test| literals(test));
        let mut keyed: Vec<(f64, &str)> = all
            .map(|literal| (segments.key(column, literal, parse), literal.text.as_str()))
            .collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)));
        let is_number = matches!(&column.domain, Domain::Line(_)) && column.domain.is_number();
        let fall_together = |pair: &[(f64, &str)]| {
            pair[0].0.total_cmp(&pair[1].0).is_eq() && pair[0].1 != pair[1].1
        };
        if is_number && keyed.windows(2).any(|pair| !is_exact(pair[0].0) && fall_together(pair)) {
            return Err(QueryError::TooClose { column: column.name.clone() });
        }
        segments.cuts = keyed.into_iter().map(|(key, _)| key).collect();
        segments.cuts.dedup();
        Ok(segments)
    }

    /// The key of a constant of the tests. Constants that are not in a list have keys of their own
    /// between its values, in order.
    fn key(&self, column: &Column, literal: &Literal, parse: Parse) -> f64 {
        let (key, is_known) =
            column.domain.key(&column.name, literal, parse).unwrap_or((f64::NAN, true));
        if is_known {
            return key;
        }
        let before = self.unlisted.partition_point(|text| *text < literal.text);
        key - 0.5 + (before as f64 + 1.0) / (self.unlisted.len() as f64 + 1.0)
    }

    /// The number of pieces, including the one for missing cells.
    pub(super) fn n_codes(&self) -> u32 {
        u32::try_from(2 * self.cuts.len() + 2).expect("a query has fewer constants")
    }

    /// The piece for missing cells.
    pub(super) fn missing(&self) -> u32 {
        self.n_codes() - 1
    }

    /// The piece of a key.
    pub(super) fn of(&self, key: f64) -> u32 {
        let at = match self.cuts.binary_search_by(|cut| cut.total_cmp(&key)) {
            Ok(at) => 2 * at + 1,
            Err(at) => 2 * at,
        };
        u32::try_from(at).expect("a query has fewer constants")
    }

    /// The ends of a piece, and whether it is a single key.
    fn ends(&self, segment: u32) -> (f64, f64, bool) {
        let at = segment as usize / 2;
        if segment % 2 == 1 {
            return (self.cuts[at], self.cuts[at], true);
        }
        let before = at.checked_sub(1).map_or(f64::NEG_INFINITY, |at| self.cuts[at]);
        (before, self.cuts.get(at).copied().unwrap_or(f64::INFINITY), false)
    }

    /// The pieces that satisfy a test.
    pub(super) fn satisfying(&self, column: &Column, test: &Test, parse: Parse) -> CodeSet {
        let keys = literals(test).iter().map(|literal| self.key(column, literal, parse));
        let mut pieces: Vec<u32> = keys.map(|key| self.of(key)).collect();
        pieces.sort_unstable();
        CodeSet::of(self.n_codes(), |piece| {
            let is_missing = piece == self.missing();
            match test {
                Test::Compare(comparison, _) => {
                    !is_missing && comparison.holds(piece.cmp(&pieces[0]))
                }
                Test::In(_) => pieces.binary_search(&piece).is_ok(),
                Test::NotIn(_) => !is_missing && pieces.binary_search(&piece).is_err(),
                Test::IsMissing => is_missing,
                Test::IsPresent => !is_missing,
            }
        })
    }
}

/// The constants of a test.
fn literals(test: &Test) -> &[Literal] {
    match test {
        Test::Compare(_, literal) => std::slice::from_ref(literal),
        Test::In(literals) | Test::NotIn(literals) => literals,
        Test::IsMissing | Test::IsPresent => &[],
    }
}

/// The part of a label in one piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) segment: u32,
    /// The probability that the cell is in the piece. It may be 0 although the piece is possible.
    pub(super) weight: f64,
    /// The mean of the values in the piece.
    pub(super) mean: f64,
    /// The least possible value in the piece.
    pub(super) lo: f64,
    /// The greatest possible value in the piece.
    pub(super) hi: f64,
    /// The least and the greatest of the likely values in the piece.
    pub(super) likely: (f64, f64),
}

/// The distributions of a column's labels over the pieces. Labels with the same distribution share
/// an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Profiles {
    /// By label, its entry.
    of_label: Vec<u32>,
    /// By entry, the end of its shares.
    ends: Vec<usize>,
    shares: Vec<Share>,
}

impl Profiles {
    /// The profiles of all labels; `is_measured` if their values matter in addition to their
    /// segments.
    pub(super) fn new(column: &Column, segments: &Segments, is_measured: bool) -> Profiles {
        let mut profiles = Profiles::default();
        // The entries of labels within one segment, and of the others.
        let mut within: Vec<Option<u32>> = vec![None; segments.n_codes() as usize];
        let mut across: BTreeMap<Vec<(u32, u64)>, u32> = BTreeMap::new();
        for spread in &column.spreads {
            let shares = profile(&column.domain, spread, segments);
            let entry = if is_measured {
                profiles.add(&shares)
            } else if let [share] = shares[..] {
                let segment = share.segment as usize;
                *within[segment].get_or_insert_with(|| profiles.add(&shares))
            } else {
                let key = shares.iter().map(|share| (share.segment, share.weight.to_bits()));
                *across.entry(key.collect()).or_insert_with(|| profiles.add(&shares))
            };
            profiles.of_label.push(entry);
        }
        profiles
    }

    fn add(&mut self, shares: &[Share]) -> u32 {
        self.shares.extend_from_slice(shares);
        self.ends.push(self.shares.len());
        u32::try_from(self.ends.len() - 1).expect("fewer entries than labels")
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The entry of a label.
    pub(super) fn entry(&self, label: u32) -> usize {
        self.of_label[label as usize] as usize
    }

    /// The segments that the labels of an entry can have, ascending.
    pub(super) fn shares(&self, entry: usize) -> &[Share] {
        let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.shares[start..self.ends[entry]]
    }
}

fn profile(domain: &Domain, spread: &Spread, segments: &Segments) -> Vec<Share> {
    let present = 1.0 - spread.missing;
    let mut shares = match (&spread.values, domain) {
        (Values::None, _) => Vec::new(),
        (Values::Range(lo, hi), Domain::Line(line)) => range(line, *lo, *hi, segments),
        (Values::About(mean), _) => about(*mean, segments),
        (Values::Run(lo, hi), Domain::List(list)) => listed(list, *lo..=*hi, segments),
        (Values::Set(codes), Domain::List(list)) => listed(list, codes.iter().copied(), segments),
        _ => unreachable!("labels are read with their domain"),
    };
    if spread.is_open {
        shares = opened(domain, &shares, segments, (f64::NEG_INFINITY, f64::INFINITY));
    } else if let Some(reach) = spread.reach {
        shares = opened(domain, &shares, segments, reach);
    }
    if spread.missing > 0.0 {
        for share in &mut shares {
            share.weight *= present;
        }
    }
    if spread.may_be_missing {
        shares.push(Share {
            segment: segments.missing(),
            weight: spread.missing,
            mean: f64::NAN,
            lo: f64::NAN,
            hi: f64::NAN,
            likely: (f64::NAN, f64::NAN),
        });
    }
    shares
}

/// A range of a line: by the number of values if they can be counted, otherwise by length.
fn range(line: &Line, lo: f64, hi: f64, segments: &Segments) -> Vec<Share> {
    if lo >= hi {
        let (segment, likely) = (segments.of(lo), (lo, lo));
        return vec![Share { segment, weight: 1.0, mean: lo, lo, hi: lo, likely }];
    }
    let mut shares = Vec::new();
    for segment in segments.of(lo)..=segments.of(hi) {
        if let Some((first, last)) = piece(line, lo, hi, segments, segment) {
            let weight = if line.is_discrete() {
                (last - first + 1.0) / (hi - lo + 1.0)
            } else {
                (last - first) / (hi - lo)
            };
            let mean = first + (last - first) / 2.0;
            let likely = (first, last);
            shares.push(Share { segment, weight, mean, lo: first, hi: last, likely });
        }
    }
    shares
}

/// The least and greatest value of a range within a segment, if there is one.
fn piece(line: &Line, lo: f64, hi: f64, segments: &Segments, segment: u32) -> Option<(f64, f64)> {
    let (from, to, is_key) = segments.ends(segment);
    if line.is_discrete() {
        // Whole numbers strictly between two cuts, or the cut itself.
        let first = if is_key { from.ceil() } else { from.floor() + 1.0 }.max(lo);
        let last = if is_key { to.floor() } else { to.ceil() - 1.0 }.min(hi);
        (first <= last).then_some((first, last))
    } else {
        let (first, last) = (from.max(lo), to.min(hi));
        (first < last || is_key && first <= last).then_some((first, last))
    }
}

/// Values that may also be something unknown: as likely as before, but possible anywhere within
/// `everything`. If nothing is likely, all pieces between two constants are equally likely.
fn opened(
    domain: &Domain,
    likely: &[Share],
    segments: &Segments,
    everything: (f64, f64),
) -> Vec<Share> {
    let possible = |segment: u32| {
        let (lo, hi) = match domain {
            Domain::Line(line) => piece(line, everything.0, everything.1, segments, segment)?,
            Domain::List(_) => everything,
        };
        Some((segment, lo, hi))
    };
    let pieces: Vec<(u32, f64, f64)> = (0..segments.missing()).filter_map(possible).collect();
    let n_between = pieces.iter().filter(|(segment, ..)| segment % 2 == 0).count();
    let alike = if likely.is_empty() { 1.0 / n_between as f64 } else { 0.0 };
    pieces
        .into_iter()
        .map(|(segment, lo, hi)| match likely.iter().find(|share| share.segment == segment) {
            Some(share) => Share { lo, hi, ..*share },
            None => Share {
                segment,
                weight: if segment % 2 == 0 { alike } else { 0.0 },
                mean: if lo.is_finite() && hi.is_finite() {
                    lo + (hi - lo) / 2.0
                } else {
                    f64::NAN
                },
                lo,
                hi,
                likely: (f64::NAN, f64::NAN),
            },
        })
        .collect()
}

/// Values of which only the mean is known: likely at the mean, possible anywhere.
fn about(mean: f64, segments: &Segments) -> Vec<Share> {
    let likely = segments.of(mean);
    (0..segments.missing())
        .map(|segment| {
            let (lo, hi, _) = segments.ends(segment);
            let is_likely = segment == likely;
            let (weight, mean) = if is_likely { (1.0, mean) } else { (0.0, f64::NAN) };
            // Only the mean is known; it replaces infinite ends.
            let or_mean = |end: f64| if end.is_finite() { end } else { mean };
            Share { segment, weight, mean, lo, hi, likely: (or_mean(lo), or_mean(hi)) }
        })
        .collect()
}

/// Values of a list, by their number.
fn listed(list: &List, codes: impl Iterator<Item = u32>, segments: &Segments) -> Vec<Share> {
    let mut found: Vec<(u32, f64)> = codes
        .map(|code| {
            let key = list.keys[code as usize];
            (segments.of(key), key)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let n = |len: usize| len as f64;
    found
        .chunk_by(|a, b| a.0 == b.0)
        .map(|chunk| Share {
            segment: chunk[0].0,
            weight: n(chunk.len()) / n(found.len()),
            mean: chunk.iter().map(|(_, key)| key).sum::<f64>() / n(chunk.len()),
            lo: chunk[0].1,
            hi: chunk[chunk.len() - 1].1,
            likely: (chunk[0].1, chunk[chunk.len() - 1].1),
        })
        .collect()
}

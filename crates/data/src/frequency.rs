//! Frequency sets: the distinct vectors of a quasi-identifier with their counts.

use rayon::prelude::*;

use crate::{Attribute, Codes, bits_for};

/// An additional column that models or measures use: sensitive, target or entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// The column's name.
    pub name: String,
    /// One code per vector.
    pub codes: Codes,
    /// The number of codes.
    pub n_codes: u32,
    /// Each code's place on the number line, or its rank if the values are not numbers.
    pub positions: Vec<f64>,
}

/// The distinct vectors of the quasi-identifier (and of the extra columns that the job uses), in
/// ascending order, with the number of rows of each.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencySet {
    /// The quasi-identifier columns.
    pub attributes: Vec<Attribute>,
    /// Their codes, one packed column each, one cell per vector.
    pub vectors: Vec<Codes>,
    /// Rows per vector.
    pub counts: Vec<u32>,
    /// The columns that models and measures use.
    pub extras: Vec<Extra>,
    /// The rows of the table.
    pub n_rows: u64,
}

impl FrequencySet {
    /// The number of distinct vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// The distinct vectors of some columns of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collapsed {
    /// For each vector, in ascending order, a row that has it.
    pub representatives: Vec<u32>,
    /// Rows per vector.
    pub counts: Vec<u32>,
    /// The vector of each row.
    pub vector_of: Vec<u32>,
}

impl Collapsed {
    /// The column of `codes` reduced to one cell per vector.
    #[must_use]
    pub fn project(&self, codes: &Codes, n_codes: u32) -> Codes {
        Codes::pack(n_codes, self.representatives.iter().map(|&row| codes.get(row as usize)))
    }
}

/// Estimates the share of rows left after grouping equal ones. Counts exactly over the rows whose
/// hash falls into a 64th of its range, so that equal rows are sampled together.
#[must_use]
pub fn distinct_share(columns: &[(&Codes, u32)], n_rows: usize) -> f64 {
    let sampled: Vec<Vec<u64>> = (0..n_rows.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(n_rows);
            let mut hashes = vec![0u64; rows.len()];
            for (codes, _) in columns {
                match codes {
                    Codes::U8(codes) => mix_all(&mut hashes, &codes[rows.clone()]),
                    Codes::U16(codes) => mix_all(&mut hashes, &codes[rows.clone()]),
                    Codes::U32(codes) => mix_all(&mut hashes, &codes[rows.clone()]),
                }
            }
            hashes.retain(|hash| hash >> 58 == 0);
            hashes
        })
        .collect();
    let mut sampled = sampled.concat();
    let n_sampled = sampled.len();
    sampled.sort_unstable();
    sampled.dedup();
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = sampled.len() as f64 / n_sampled.max(1) as f64;
    share
}

/// Adds the hashes of rows that fall into a 64th of the range, so that equal rows are sampled
/// together wherever they are.
pub fn sample_hashes(columns: &[Codes], sample: &mut Vec<u64>) {
    let mut hashes = vec![0u64; columns.first().map_or(0, Codes::len)];
    for codes in columns {
        match codes {
            Codes::U8(codes) => mix_all(&mut hashes, codes),
            Codes::U16(codes) => mix_all(&mut hashes, codes),
            Codes::U32(codes) => mix_all(&mut hashes, codes),
        }
    }
    sample.extend(hashes.into_iter().filter(|hash| hash >> 58 == 0));
}

fn mix_all<C: Copy + Into<u32>>(hashes: &mut [u64], codes: &[C]) {
    for (hash, &code) in hashes.iter_mut().zip(codes) {
        let mixed = (*hash ^ u64::from(code.into())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *hash = mixed ^ (mixed >> 29);
    }
}

/// Groups equal rows of `columns` (each with its number of codes), at most 2^32 - 2 rows.
///
/// Runs of equal rows, as in a sorted table, count as one row first. Rows are packed into one 64-
/// or 128-bit key and sorted; wider rows are collapsed in two steps: the second uses the rank among
/// the first columns in place of these columns.
#[must_use]
pub fn collapse(columns: &[(&Codes, u32)], n_rows: usize) -> Collapsed {
    match run_starts(columns, n_rows) {
        Some(starts) => collapse_runs(columns, n_rows, &starts),
        None => collapse_rows(columns, n_rows),
    }
}

fn collapse_rows(columns: &[(&Codes, u32)], n_rows: usize) -> Collapsed {
    let mut bits = 0;
    for (at, (_, n_codes)) in columns.iter().enumerate() {
        bits += bits_for(*n_codes);
        if bits > 128 {
            let head = collapse_rows(&columns[..at], n_rows);
            let n_ranks = u32::try_from(head.counts.len()).expect("fewer vectors than rows");
            let ranks = Codes::pack(n_ranks, head.vector_of.iter().copied());
            let rest: Vec<(&Codes, u32)> =
                std::iter::once((&ranks, n_ranks)).chain(columns[at..].iter().copied()).collect();
            return collapse_rows(&rest, n_rows);
        }
    }
    if bits <= 64 {
        collapse_keys(&pack_keys::<u64>(columns, n_rows))
    } else {
        collapse_keys(&pack_keys::<u128>(columns, n_rows))
    }
}

/// Rows that are sampled to guess whether a table has long runs.
const SAMPLE: usize = 1 << 12;

/// The first row of every run of equal rows, if runs are at least two rows long on average.
fn run_starts(columns: &[(&Codes, u32)], n_rows: usize) -> Option<Vec<u32>> {
    let differs =
        |row: usize| columns.iter().any(|(codes, _)| codes.get(row - 1) != codes.get(row));
    let sample = n_rows.min(SAMPLE);
    if 2 * (1..sample).filter(|&row| differs(row)).count() > sample {
        return None;
    }
    let chunks: Vec<Vec<u32>> = (0..n_rows.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(n_rows);
            let starts = rows.filter(|&row| row == 0 || differs(row));
            starts.map(|row| u32::try_from(row).expect("rows are counted in 32 bits")).collect()
        })
        .collect();
    let starts = chunks.concat();
    (2 * starts.len() <= n_rows).then_some(starts)
}

fn collapse_runs(columns: &[(&Codes, u32)], n_rows: usize, starts: &[u32]) -> Collapsed {
    let reduced: Vec<Codes> = columns
        .par_iter()
        .map(|(codes, n)| Codes::pack(*n, starts.iter().map(|&row| codes.get(row as usize))))
        .collect();
    let reduced: Vec<(&Codes, u32)> =
        reduced.iter().zip(columns).map(|(c, (_, n))| (c, *n)).collect();
    let of_runs = collapse_rows(&reduced, starts.len());
    let mut counts = vec![0; of_runs.counts.len()];
    let mut vector_of = Vec::with_capacity(n_rows);
    for (run, &start) in starts.iter().enumerate() {
        let end = starts.get(run + 1).map_or(n_rows, |&next| next as usize);
        let vector = of_runs.vector_of[run];
        vector_of.resize(end, vector);
        counts[vector as usize] +=
            u32::try_from(end - start as usize).expect("rows are counted in 32 bits");
    }
    let representatives = of_runs.representatives.iter().map(|&run| starts[run as usize]).collect();
    Collapsed { representatives, counts, vector_of }
}

/// An integer that a row of codes is packed into.
trait Key: Copy + Ord + Send + Sync {
    fn zero() -> Self;
    fn push(self, bits: u32, code: u32) -> Self;
}

impl Key for u64 {
    fn zero() -> u64 {
        0
    }
    fn push(self, bits: u32, code: u32) -> u64 {
        self << bits | u64::from(code)
    }
}

impl Key for u128 {
    fn zero() -> u128 {
        0
    }
    fn push(self, bits: u32, code: u32) -> u128 {
        self << bits | u128::from(code)
    }
}

const CHUNK: usize = 1 << 16;

fn pack_keys<K: Key>(columns: &[(&Codes, u32)], n_rows: usize) -> Vec<(K, u32)> {
    let mut keys: Vec<(K, u32)> = (0u32..).take(n_rows).map(|row| (K::zero(), row)).collect();
    keys.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, keys)| {
        let start = chunk * CHUNK;
        for (codes, n_codes) in columns {
            let bits = bits_for(*n_codes);
            let end = start + keys.len();
            match codes {
                Codes::U8(codes) => push_all(keys, bits, &codes[start..end]),
                Codes::U16(codes) => push_all(keys, bits, &codes[start..end]),
                Codes::U32(codes) => push_all(keys, bits, &codes[start..end]),
            }
        }
    });
    keys.par_sort_unstable();
    keys
}

fn push_all<K: Key, C: Copy + Into<u32>>(keys: &mut [(K, u32)], bits: u32, codes: &[C]) {
    for (key, &code) in keys.iter_mut().zip(codes) {
        key.0 = key.0.push(bits, code.into());
    }
}

fn collapse_keys<K: Key>(sorted: &[(K, u32)]) -> Collapsed {
    let mut representatives = Vec::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut vector_of = vec![0; sorted.len()];
    let mut last = None;
    for &(key, row) in sorted {
        if last == Some(key) {
            *counts.last_mut().expect("a vector is open") += 1;
        } else {
            representatives.push(row);
            counts.push(1);
            last = Some(key);
        }
        vector_of[row as usize] = u32::try_from(counts.len() - 1).expect("fewer vectors than rows");
    }
    Collapsed { representatives, counts, vector_of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_collapse_in_ascending_order() {
        let a = Codes::pack(300, [2, 0, 2, 299].into_iter());
        let b = Codes::pack(2, [1, 0, 1, 0].into_iter());
        let found = collapse(&[(&a, 300), (&b, 2)], 4);
        assert_eq!(found.counts, [1, 2, 1]);
        assert_eq!(found.vector_of, [1, 0, 1, 2]);
        assert_eq!(found.project(&a, 300).iter().collect::<Vec<_>>(), [0, 2, 299]);
    }

    #[test]
    fn wide_rows_collapse_like_narrow_ones() {
        // Seven columns of 2^31 codes do not fit a key; the values are those of one column.
        let n_codes = 1 << 31;
        let cells = [5u32, 3, 5, 9, 3, 3];
        let column = Codes::pack(n_codes, cells.into_iter());
        let wide = collapse(&[(&column, n_codes); 7], cells.len());
        let narrow = collapse(&[(&column, n_codes)], cells.len());
        assert_eq!(wide.vector_of, narrow.vector_of);
        assert_eq!(wide.counts, narrow.counts);
    }

    #[test]
    fn the_share_of_distinct_rows_is_about_right() {
        let n = 200_000;
        for (n_codes, expected) in [(1_000u32, 0.005), (50_000, 0.25), (1 << 20, 0.9)] {
            let mut state = 1u32;
            let column = Codes::pack(
                n_codes,
                (0..n).map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8) % n_codes
                }),
            );
            let share = distinct_share(&[(&column, n_codes)], n);
            assert!((share - expected).abs() < 0.1, "{n_codes}: {share}");
        }
    }

    #[test]
    fn runs_of_equal_rows_change_nothing() {
        let cells: Vec<u32> = (0..5000).map(|row| (row / 7) % 100).collect();
        let column = Codes::pack(100, cells.iter().copied());
        let columns = [(&column, 100)];
        assert!(run_starts(&columns, cells.len()).is_some());
        let by_runs = collapse(&columns, cells.len());
        let by_rows = collapse_rows(&columns, cells.len());
        assert_eq!(by_runs.counts, by_rows.counts);
        assert_eq!(by_runs.vector_of, by_rows.vector_of);
        for (vector, &row) in by_runs.representatives.iter().enumerate() {
            assert_eq!(by_runs.vector_of[row as usize] as usize, vector);
        }
    }

    #[test]
    fn no_rows_and_no_columns() {
        assert!(collapse(&[], 0).counts.is_empty());
        assert_eq!(collapse(&[], 3).counts, [3]);
    }
}

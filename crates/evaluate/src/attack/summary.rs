//! Statistics of the candidates over all outside rows.

use std::cmp::Ordering;

use super::cell::Cell;
use super::count::{Found, Tables};

/// The numbers of candidates of outside rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Rows without candidates.
    pub none: u64,
    /// Rows with exactly one candidate.
    pub one: u64,
    /// Rows with at least one and fewer than k candidates.
    pub below_k: u64,
    /// The expected number of correct guesses, if every row with candidates is in the release.
    pub expected_links: f64,
    /// The distribution over the rows with candidates.
    pub spread: Option<Spread>,
    /// Rows by number of candidates, without empty buckets.
    pub buckets: Vec<Bucket>,
}

/// The distribution of the numbers of candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub least: u64,
    /// The median; the lower one of two in the middle.
    pub median: u64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub greatest: u64,
}

/// The outside rows in a range of numbers of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The least number of candidates.
    pub from: u64,
    /// The greatest number; `None` if there is no limit.
    pub to: Option<u64>,
    /// Outside rows.
    pub rows: u64,
}

const BUCKETS: [u64; 11] = [0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000];

/// Sums up the candidates of all vectors of the outside table.
#[must_use]
pub fn summary(found: &[Found], rows: &[u32], k: u64) -> Summary {
    let rows_with = |is: &dyn Fn(u64) -> bool| -> u64 {
        let all = found.iter().zip(rows).filter(|(found, _)| is(found.candidates));
        all.map(|(_, rows)| u64::from(*rows)).sum()
    };
    let mut sorted: Vec<(u64, u64)> = found
        .iter()
        .zip(rows)
        .filter(|(found, _)| found.candidates > 0)
        .map(|(found, rows)| (found.candidates, u64::from(*rows)))
        .collect();
    sorted.sort_unstable();
    let n: u64 = sorted.iter().map(|(_, rows)| rows).sum();
    let middle = sorted.iter().scan(0, |before, (candidates, rows)| {
        *before += rows;
        Some((*before, *candidates))
    });
    let median = middle.into_iter().find(|(up_to, _)| 2 * up_to >= n);
    let sum: f64 = sorted.iter().map(|(candidates, rows)| *candidates as f64 * *rows as f64).sum();
    let spread =
        sorted.first().zip(sorted.last()).zip(median).map(|((least, greatest), median)| Spread {
            least: least.0,
            median: median.1,
            mean: sum / n as f64,
            greatest: greatest.0,
        });
    let bucket = |(at, &from): (usize, &u64)| {
        let next = BUCKETS.get(at + 1).copied();
        let rows = rows_with(&|n| n >= from && next.is_none_or(|next| n < next));
        Bucket { from, to: next.map(|next| next - 1), rows }
    };
    Summary {
        none: rows_with(&|n| n == 0),
        one: rows_with(&|n| n == 1),
        below_k: rows_with(&|n| n > 0 && n < k),
        expected_links: sorted.iter().fold(0.0, |sum, (n, rows)| sum + *rows as f64 / *n as f64),
        spread,
        buckets: BUCKETS.iter().enumerate().map(bucket).filter(|b| b.rows > 0).collect(),
    }
}

/// What is learned about a sensitive column: the rows whose candidates all share one value, the
/// greatest share of a value among the candidates of a row, and the mean of that share over rows.
#[must_use]
pub fn posterior(found: &[Found], rows: &[u32]) -> Option<(u64, f64, f64)> {
    let (mut n, mut certain, mut greatest, mut sum) = (0.0, 0, 0.0f64, 0.0);
    for (found, &rows) in found.iter().zip(rows) {
        let Some(posterior) = found.posterior else { continue };
        n += f64::from(rows);
        sum += posterior.share * f64::from(rows);
        greatest = greatest.max(posterior.share);
        certain += if posterior.is_certain { u64::from(rows) } else { 0 };
    }
    (n > 0.0).then(|| (certain, greatest, sum / n))
}

/// Outside rows with exactly one candidate, for which the information of both tables can be
/// combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// Outside rows.
    pub rows: u64,
    /// Rows of the release that they link to.
    pub release_rows: u64,
    /// Outside rows about which the release says more than the outside table.
    pub finer: u64,
    /// Outside rows whose combined cells no other of them has.
    pub unique: u64,
}

/// Combines the cells of outside rows with those of their only candidates.
#[must_use]
pub fn linked(tables: &Tables, found: &[Found]) -> Linked {
    let mut linked = Linked::default();
    let mut targets = Vec::new();
    let mut joined: Vec<(Vec<Cell>, u64)> = Vec::new();
    for (vector, found) in found.iter().enumerate() {
        let (1, Some(only)) = (found.rows, found.last) else { continue };
        let rows = u64::from(tables.outside[vector]);
        let mut is_finer = false;
        let mut cells = Vec::with_capacity(tables.columns.len());
        for column in &tables.columns {
            let outside = &column.outside[column.outside_labels.get(vector) as usize];
            let release = &column.release[column.release_labels.get(only as usize) as usize];
            let cell = outside.meet(release);
            is_finer |= cell != *outside;
            cells.push(cell);
        }
        linked.rows += rows;
        linked.finer += if is_finer { rows } else { 0 };
        targets.push(only);
        joined.push((cells, rows));
    }
    targets.sort_unstable();
    targets.dedup();
    linked.release_rows = targets.len() as u64;
    joined.sort_by(|(a, _), (b, _)| order(a, b));
    let alike = joined.chunk_by(|(a, _), (b, _)| order(a, b).is_eq());
    let is_alone = |alike: &&[(Vec<Cell>, u64)]| matches!(alike, [(_, 1)]);
    linked.unique = alike.filter(is_alone).count() as u64;
    linked
}

fn order(a: &[Cell], b: &[Cell]) -> Ordering {
    let compared = a.iter().zip(b).map(|(a, b)| a.compare(b));
    compared.fold(Ordering::Equal, Ordering::then)
}

//! Whether a row certainly or possibly satisfies a condition, and with which probability.

use incrowd_data::{Condition, Region, Test};

use super::segment::{Profiles, Segments, Share};
use super::{Column, Parse, QueryError, Release};

/// A column of a query.
pub(super) struct Looked<'a> {
    /// Its index in the release.
    pub(super) at: usize,
    pub(super) column: &'a Column,
    pub(super) segments: Segments,
    /// The distributions of its labels over the segments.
    pub(super) profiles: Profiles,
    pub(super) is_tested: bool,
}

/// The columns of a query, those of its condition first.
pub(super) fn look<'a>(
    release: &'a Release,
    condition: &Condition,
    others: &[&str],
) -> Result<Vec<Looked<'a>>, QueryError> {
    let tested = condition.columns();
    let mut names = tested.clone();
    for &name in others {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|name| {
            let at = release.columns.iter().position(|column| column.name == name);
            let at = at.ok_or_else(|| QueryError::UnknownColumn { column: name.to_owned() })?;
            let column = &release.columns[at];
            let mut tests: Vec<&Test> = Vec::new();
            condition.each_test(&mut |of, test| {
                if of == name {
                    tests.push(test);
                }
            });
            let segments = Segments::new(column, &tests, release.parse)?;
            let profiles = Profiles::new(column, &segments, others.contains(&name));
            Ok(Looked { at, column, segments, profiles, is_tested: tested.contains(&name) })
        })
        .collect()
}

/// The disjoint regions of a condition over the segments of the query's columns.
pub(super) fn regions(
    looked: &[Looked],
    condition: &Condition,
    parse: Parse,
) -> Result<Vec<Region>, QueryError> {
    let codes = |name: &str, test: &Test| {
        let at = looked
            .iter()
            .position(|l| l.column.name == name)
            .expect("tested columns are looked at");
        (at, looked[at].segments.satisfying(looked[at].column, test, parse))
    };
    condition.regions(&codes).map_err(|_| QueryError::TooManyRegions)
}

/// Whether rows with some labels satisfy a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weight {
    /// The probability that a row does.
    pub(super) share: f64,
    pub(super) is_possible: bool,
    pub(super) is_certain: bool,
}

/// Weighs rows with these labels; the first `n_tested` columns are those of the condition. `pins`
/// has the segment of a column if it is given.
pub(super) fn weigh(
    regions: &[Region],
    n_tested: usize,
    profiles: &[&[Share]],
    pins: &[Option<u32>],
) -> Weight {
    // Combinations of segments that a row can have, and those that satisfy the condition.
    let mut n_all = Some(1u128);
    for at in 0..n_tested {
        let n = if pins[at].is_some() { 1 } else { profiles[at].len() as u128 };
        n_all = n_all.and_then(|all| all.checked_mul(n));
    }
    let mut n_satisfying = Some(0u128);
    let mut share = 0.0;
    let mut is_possible = false;
    for region in regions {
        let mut weight = 1.0;
        let mut n_within = Some(1u128);
        for at in 0..n_tested {
            let (part, n) = part_within(region, at, profiles[at], pins[at]);
            weight *= part;
            n_within = n_within.and_then(|within| within.checked_mul(n));
            if n == 0 {
                break;
            }
        }
        share += weight;
        is_possible |= n_within != Some(0);
        n_satisfying = n_satisfying.zip(n_within).and_then(|(a, b)| a.checked_add(b));
    }
    let is_certain = n_satisfying.is_some() && n_satisfying == n_all;
    // Rounding must not change that all shares add up to 1.
    let share = if is_certain { 1.0 } else { share.clamp(0.0, 1.0) };
    Weight { share, is_possible, is_certain }
}

/// The probability that a cell is within a side of a region, and the number of its segments that
/// are.
fn part_within(region: &Region, at: usize, profile: &[Share], pin: Option<u32>) -> (f64, u128) {
    match (region.side(at), pin) {
        (None, Some(_)) => (1.0, 1),
        (None, None) => (1.0, profile.len() as u128),
        (Some(set), Some(segment)) if set.contains(segment) => (1.0, 1),
        (Some(_), Some(_)) => (0.0, 0),
        (Some(set), None) => {
            let within = || profile.iter().filter(|share| set.contains(share.segment));
            let n = within().count();
            let is_whole = n == profile.len();
            (if is_whole { 1.0 } else { within().map(|share| share.weight).sum() }, n as u128)
        }
    }
}

//! Which of three or more sets are better merged.
//!
//! The body is what two or more sets share. If all sets overlap, the body has most attributes, and
//! a butterfly has almost no wings. Replacing sets by their union is a stronger requirement, but
//! attributes that only these sets share leave the body: of `ab`, `bc`, `cd` and `da`, which have a
//! body of four, `abc` and `cda` are left with a body of two and two wings.
//!
//! The sets to merge are guessed from the loss of butterflies on a table of uniform columns; the
//! guess is then built, and kept only if it loses less.

use super::anatomy::{body_and_wings, without_implied};
use crate::QuasiSet;

/// Up to this many sets, all ways to merge them are tried; beyond, pairs one after the other.
const MOST_SETS: usize = 6;

/// The sets with the least expected loss for `n_rows` rows, if they differ from the given ones.
pub(super) fn promising(
    sets: &[QuasiSet],
    is_monotone: bool,
    n_rows: u64,
) -> Option<Vec<QuasiSet>> {
    let mut best = (guess(sets, n_rows), None);
    let mut look = |candidate: Vec<QuasiSet>| {
        let candidate = without_implied(&candidate, is_monotone);
        let loss = guess(&candidate, n_rows);
        if candidate.len() > 1 && loss < best.0 {
            best = (loss, Some(candidate));
        }
    };
    if sets.len() <= MOST_SETS {
        divisions(sets.len(), &mut |of| look(merged(sets, of)));
        return best.1;
    }
    // One pair after the other, starting with the one that leaves the smallest body, even if that
    // alone is no improvement.
    let mut now = sets.to_vec();
    while now.len() > 2 {
        let pairs = (0..now.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let joined = pairs.map(|(first, second)| {
            let of = (0..now.len()).map(|at| if at == second { first } else { at });
            without_implied(&merged(&now, &of.collect::<Vec<usize>>()), is_monotone)
        });
        let priced = joined.map(|candidate| {
            (body_and_wings(&candidate).0.len(), guess(&candidate, n_rows), candidate)
        });
        let cheaper =
            |a: &(usize, f64, _), b: &(usize, f64, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        let Some((.., next)) = priced.min_by(cheaper) else { break };
        look(next.clone());
        now = next;
    }
    best.1
}

/// Calls `look` with every partition of `n` items, as the part of each item.
fn divisions(n: usize, look: &mut impl FnMut(&[usize])) {
    fn go(of: &mut Vec<usize>, n: usize, n_parts: usize, look: &mut impl FnMut(&[usize])) {
        if of.len() == n {
            look(of);
            return;
        }
        for part in 0..=n_parts {
            of.push(part);
            go(of, n, n_parts.max(part + 1), look);
            of.pop();
        }
    }
    go(&mut Vec::new(), n, 0, look);
}

/// The unions of the sets of each division.
fn merged(sets: &[QuasiSet], division_of: &[usize]) -> Vec<QuasiSet> {
    let mut numbers = division_of.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let union = |number: usize| {
        let members =
            || sets.iter().zip(division_of).filter(|(_, of)| **of == number).map(|(set, _)| set);
        let mut attributes: Vec<usize> =
            members().flat_map(|set| set.attributes.iter().copied()).collect();
        attributes.sort_unstable();
        attributes.dedup();
        QuasiSet { attributes, k: members().map(|set| set.k).max().unwrap_or(2) }
    };
    numbers.into_iter().map(union).collect()
}

/// The loss of a row on uniform columns in butterflies of the best size: a body of `b` attributes
/// reaches a share of `(m/n)^(1/b)` of each if `m` of `n` rows share it, a wing of `w` attributes
/// `(k/m)^(1/w)`.
fn guess(sets: &[QuasiSet], n_rows: u64) -> f64 {
    let (body, wings) = body_and_wings(sets);
    let reach = |share: f64, n_attributes: usize| {
        let d = n_attributes as f64;
        if n_attributes == 0 { 0.0 } else { d * share.min(1.0).powf(1.0 / d) }
    };
    let n_rows = n_rows as f64;
    let least = sets.iter().map(|set| set.k).max().unwrap_or(2) as f64;
    let steps = 64;
    let of_size = |step: u32| {
        let m = least * (n_rows / least).max(1.0).powf(f64::from(step) / f64::from(steps));
        let wings = wings.iter().map(|(wing, k)| reach(*k as f64 / m, wing.len()));
        reach(m / n_rows, body.len()) + wings.sum::<f64>()
    };
    (0..=steps).map(of_size).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(of: &[&[usize]]) -> Vec<QuasiSet> {
        of.iter().map(|attributes| QuasiSet { attributes: attributes.to_vec(), k: 5 }).collect()
    }

    #[test]
    fn a_ring_of_sets_is_cut_in_two() {
        let ring = sets(&[&[0, 1], &[1, 2], &[2, 3], &[0, 3]]);
        let found = promising(&ring, true, 10_000).unwrap();
        let (body, wings) = body_and_wings(&found);
        assert_eq!((body.len(), wings.len()), (2, 2), "{found:?}");
    }

    #[test]
    fn two_sets_that_share_little_are_not_merged() {
        assert_eq!(promising(&sets(&[&[0, 1, 2], &[2, 3, 4]]), true, 10_000), None);
    }

    #[test]
    fn a_ring_of_many_sets() {
        let ring: Vec<Vec<usize>> = (0..9).map(|at| vec![at, (at + 1) % 9]).collect();
        let ring = sets(&ring.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let found = promising(&ring, true, 10_000).unwrap();
        assert!(body_and_wings(&found).0.len() < 9);
        let covered = |set: &QuasiSet| {
            found.iter().any(|other| set.attributes.iter().all(|at| other.attributes.contains(at)))
        };
        assert!(ring.iter().all(covered));
    }

    #[test]
    fn all_divisions_of_four() {
        let mut n = 0;
        divisions(4, &mut |_| n += 1);
        assert_eq!(n, 15);
    }
}

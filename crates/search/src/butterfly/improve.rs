//! The improvement after the paper's pass: groups are cut, joined and cut elsewhere while that
//! lowers the loss.

use rayon::prelude::*;

use super::pass::Look;

/// Vectors that share a body, and the loss of their butterfly.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) vectors: Vec<u32>,
    pub(super) loss: f64,
    /// Half rounds for which it is still tried.
    n_looks: u32,
}

/// Once as the first and once as the second of a pair.
const LOOKS: u32 = 2;

impl Group {
    pub(super) fn new(vectors: Vec<u32>, loss: f64) -> Group {
        Group { vectors, loss, n_looks: LOOKS }
    }
}

/// The most rounds.
const MOST_ROUNDS: usize = 8;

/// A round that lowers the loss by less than this share is the last one.
const WORTH: f64 = 1e-3;

/// Lowers the loss of some groups, ordered as in the hierarchy. Returns the number of butterflies
/// built.
pub(super) fn improve(look: &Look, groups: &mut Vec<Group>) -> u64 {
    let mut n_built = 0;
    for _ in 0..MOST_ROUNDS {
        let before = loss(groups);
        for shift in [0, 1] {
            let (next, built) = round(look, groups, shift);
            n_built += built;
            *groups = next;
        }
        if look.budget.is_spent() || before - loss(groups) <= WORTH * before {
            break;
        }
    }
    n_built
}

/// Tries each pair of neighbours of which one is new, and groups without a neighbour.
fn round(look: &Look, groups: &[Group], shift: usize) -> (Vec<Group>, u64) {
    let (first, rest) = groups.split_at(shift.min(groups.len()));
    let pairs: Vec<&[Group]> = rest.chunks(2).collect();
    let better: Vec<(Vec<Group>, u64)> =
        pairs.into_par_iter().map(|pair| best(look, pair)).collect();
    let n_built = better.iter().map(|(_, built)| built).sum();
    let groups = better.into_iter().flat_map(|(groups, _)| groups);
    (first.iter().cloned().chain(groups).collect(), n_built)
}

/// The best groups found for the vectors of one or two groups: unchanged, joined, or joined and cut
/// along an attribute of the body.
fn best(look: &Look, groups: &[Group]) -> (Vec<Group>, u64) {
    let mut best = groups.to_vec();
    let mut n_built = 0;
    if look.budget.is_spent() || groups.iter().all(|group| group.n_looks == 0) {
        return (best, n_built);
    }
    for group in &mut best {
        group.n_looks = group.n_looks.saturating_sub(1);
    }
    let all: Vec<u32> = groups.iter().flat_map(|group| group.vectors.iter().copied()).collect();
    let mut divisions = look.body.divisions(&all);
    if groups.len() > 1 {
        divisions.push(vec![all]);
    }
    for division in divisions {
        if look.budget.is_spent() {
            break;
        }
        n_built += division.len() as u64;
        if let Some(losses) = look.losses_below(&division, loss(&best)) {
            let parts = division.into_iter().zip(losses);
            best = parts.map(|(vectors, loss)| Group::new(vectors, loss)).collect();
        }
    }
    (best, n_built)
}

pub(super) fn loss(groups: &[Group]) -> f64 {
    groups.iter().map(|group| group.loss).sum()
}

//! Butterflies in a table (section III): Definition 2 and Theorem 2 as they are printed.
//!
//! A row is given by its visible labels, one per attribute: codes of an original table, or cells of
//! a release.

use std::collections::BTreeMap;

use super::Attacker;
use crate::assignment::Rows;
use crate::oracle::set_partitions;

/// The equivalence classes of the members on some attributes.
#[must_use]
pub fn alike<L: Ord>(rows: &[Vec<L>], members: &[usize], attributes: &[usize]) -> Vec<Rows> {
    let mut classes: BTreeMap<Vec<&L>, Rows> = BTreeMap::new();
    for &row in members {
        let look = attributes.iter().map(|&at| &rows[row][at]).collect();
        classes.entry(look).or_default().push(row);
    }
    classes.into_values().collect()
}

/// Whether the members are k-anonymous with respect to what the attacker knows.
#[must_use]
pub fn is_anonymous<L: Ord>(rows: &[Vec<L>], members: &[usize], attacker: &Attacker) -> bool {
    are_large(&alike(rows, members, &attacker.attributes), attacker.k)
}

fn are_large(classes: &[Rows], k: u64) -> bool {
    classes.iter().all(|class| class.len() as u64 >= k)
}

/// Definition 2: whether the members are a butterfly with respect to two sets, each with its own k.
///
/// # Panics
///
/// If there is no member.
#[must_use]
pub fn is_butterfly<L: Ord>(
    rows: &[Vec<L>],
    members: &[usize],
    [one, two]: [&Attacker; 2],
) -> bool {
    assert!(!members.is_empty(), "a butterfly has rows");
    let wing = |of: &Attacker, other: &Attacker| -> Vec<usize> {
        of.attributes.iter().copied().filter(|at| !other.attributes.contains(at)).collect()
    };
    are_large(&alike(rows, members, &wing(one, two)), one.k)
        && are_large(&alike(rows, members, &wing(two, one)), two.k)
        && alike(rows, members, &shared(one, two)).len() == 1
}

fn shared(one: &Attacker, two: &Attacker) -> Vec<usize> {
    one.attributes.iter().copied().filter(|at| two.attributes.contains(at)).collect()
}

/// The butterflies of Theorem 2, if the table is made of them: rows that agree on what both
/// attackers know.
#[must_use]
pub fn decompose<L: Ord>(rows: &[Vec<L>], attackers: [&Attacker; 2]) -> Option<Vec<Rows>> {
    let all: Rows = (0..rows.len()).collect();
    let groups = alike(rows, &all, &shared(attackers[0], attackers[1]));
    groups.iter().all(|group| is_butterfly(rows, group, attackers)).then_some(groups)
}

/// Whether any division of the rows, of all there are, is into butterflies: at most nine rows.
#[must_use]
pub fn can_be_divided<L: Ord>(rows: &[Vec<L>], attackers: [&Attacker; 2]) -> bool {
    set_partitions(rows.len())
        .iter()
        .any(|groups| groups.iter().all(|group| is_butterfly(rows, group, attackers)))
}

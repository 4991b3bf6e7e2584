//! The least penalty of any butterfly, of any division into butterflies, and of any release.

use super::{Asked, Attacker, body_and_wings, effective, joint_penalty};
use crate::assignment::Rows;
use crate::oracle::set_partitions;

impl Asked<'_> {
    /// The least penalty of one butterfly of exactly these rows: all have the same cells on the
    /// body, and each wing is divided into classes independently, in all possible ways. `None` if a
    /// wing cannot be divided. At most about twelve rows.
    #[must_use]
    pub fn least_butterfly(&self, rows: &[usize]) -> Option<f64> {
        let attackers = effective(self.attackers);
        let (body, wings) = body_and_wings(&attackers);
        let mut least = joint_penalty(self.table, rows, &body);
        for (attacker, wing) in attackers.iter().zip(&wings) {
            least += self.least_wing(attacker, wing, rows)?;
        }
        Some(least)
    }

    fn least_wing(&self, attacker: &Attacker, wing: &[usize], rows: &[usize]) -> Option<f64> {
        let cost = |class: &[usize]| {
            let may_be = self.may_be_class(attacker, class);
            may_be.then(|| joint_penalty(self.table, class, wing))
        };
        // Without a wing the rows look the same to this attacker: they are one class.
        if wing.is_empty() { cost(rows) } else { least_division(rows, &cost) }
    }

    /// The least penalty of the whole table divided into butterflies, in all possible ways. `None`
    /// if there is none. At most about nine rows.
    #[must_use]
    pub fn least_of_butterflies(&self) -> Option<f64> {
        let all: Rows = (0..self.table.rows.len()).collect();
        least_division(&all, &|group| self.least_butterfly(group))
    }

    /// The least penalty of any release at all, of any structure; `None` if there is no release. At
    /// most about seven rows for two attackers, six for three and five for four.
    ///
    /// Tries every choice of one partition of the rows per attacker whose parts may be classes. The
    /// rows of a part have the same cells on everything that the attacker knows. So, on each
    /// attribute, do rows that are connected through parts of the attackers who know it; these rows
    /// get the least cell that covers them.
    ///
    /// The result is at most the optimum: a release defines a partition per attacker, its classes,
    /// and its cells cover all connected rows, so they are no smaller than the cells tried for this
    /// choice. It is also at least the optimum, since everything that is tried can be released: the
    /// classes that an attacker sees are unions of parts, which satisfy monotone models.
    #[must_use]
    pub fn least_of_releases(&self) -> Option<f64> {
        let all = set_partitions(self.table.rows.len());
        let may_be = |attacker: &Attacker, parts: &[Rows]| {
            parts.iter().all(|rows| self.may_be_class(attacker, rows))
        };
        let choices: Vec<Vec<Vec<usize>>> = self
            .attackers
            .iter()
            .map(|attacker| {
                let allowed = all.iter().filter(|parts| may_be(attacker, parts));
                allowed.map(|parts| parts.iter().map(|rows| mask_of(rows)).collect()).collect()
            })
            .collect();
        let penalties: Vec<Vec<f64>> = (0..self.table.attributes.len())
            .map(|at| {
                let rows: Rows = (0..self.table.rows.len()).collect();
                subsets(&rows).map(|rows| joint_penalty(self.table, &rows, &[at])).collect()
            })
            .collect();
        let mut least = f64::INFINITY;
        choose(&choices, &mut Vec::new(), &mut |chosen| {
            least = least.min(self.penalty_of(chosen, &penalties));
        });
        least.is_finite().then_some(least)
    }

    /// The penalty of a choice of partitions; `penalties` are those of sets of rows by attribute.
    fn penalty_of(&self, chosen: &[&[usize]], penalties: &[Vec<f64>]) -> f64 {
        let of_attribute = |(at, penalties): (usize, &Vec<f64>)| -> f64 {
            let knowing = self.attackers.iter().zip(chosen);
            let parts = knowing
                .filter(|(attacker, _)| attacker.attributes.contains(&at))
                .flat_map(|(_, parts)| parts.iter().copied());
            connected(parts).iter().map(|&rows| penalties[rows]).sum()
        };
        penalties.iter().enumerate().map(of_attribute).sum()
    }
}

/// Calls `found` with every way to choose one of each.
fn choose<'a>(
    choices: &'a [Vec<Vec<usize>>],
    chosen: &mut Vec<&'a [usize]>,
    found: &mut dyn FnMut(&[&[usize]]),
) {
    let Some(open) = choices.get(chosen.len()) else { return found(chosen) };
    for choice in open {
        chosen.push(choice);
        choose(choices, chosen, found);
        chosen.pop();
    }
}

/// The unions of sets that overlap, directly or through others.
fn connected(sets: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut unions: Vec<usize> = Vec::new();
    for set in sets {
        let mut union = set;
        unions.retain(|&earlier| {
            let is_apart = earlier & union == 0;
            union |= if is_apart { 0 } else { earlier };
            is_apart
        });
        unions.push(union);
    }
    unions
}

/// A set of rows as the bits of a number.
fn mask_of(rows: &[usize]) -> usize {
    rows.iter().map(|row| 1 << row).sum()
}

/// Every subset of the items in the order of their masks; the empty one, which is never used,
/// stands for all items.
fn subsets(items: &[usize]) -> impl Iterator<Item = Rows> {
    let full = (1usize << items.len()) - 1;
    (0..=full).map(move |mask| {
        let mask = if mask == 0 { full } else { mask };
        (0..).zip(items).filter(|(at, _)| mask >> at & 1 == 1).map(|(_, &item)| item).collect()
    })
}

/// The least cost of any division of the items into parts; parts without a cost are not allowed.
pub(super) fn least_division(
    items: &[usize],
    cost: &dyn Fn(&[usize]) -> Option<f64>,
) -> Option<f64> {
    let costs: Vec<f64> = subsets(items).map(|part| cost(&part).unwrap_or(f64::INFINITY)).collect();
    // By set of items, its least cost.
    let mut least = vec![f64::INFINITY; costs.len()];
    least[0] = 0.0;
    for set in 1..costs.len() {
        let first = set & set.wrapping_neg();
        // Each part of the set that has its first item, and the best division of the others.
        let mut part = set;
        while part > 0 {
            if part & first != 0 {
                least[set] = least[set].min(costs[part] + least[set ^ part]);
            }
            part = (part - 1) & set;
        }
    }
    least.last().copied().filter(|least| least.is_finite())
}

//! The lower bound of Theorem 4 over all pairs of rows.

use super::{Asked, body_and_wings, effective, joint_penalty, least_cell};
use crate::Table;
use crate::assignment::Rows;

impl Asked<'_> {
    /// Theorem 4: no butterfly of all rows of these classes, each of k rows or more, has a penalty
    /// below `L(G)`. For any number of attackers: a lambda per wing, with the k of its attacker.
    #[must_use]
    pub fn lower_bound(&self, classes: &[Rows]) -> f64 {
        let attackers = effective(self.attackers);
        let (body, wings) = body_and_wings(&attackers);
        let all = classes.concat();
        let lambdas = attackers
            .iter()
            .zip(&wings)
            .map(|(attacker, wing)| lambda(self.table, classes, wing, attacker.k));
        all.len() as f64 * lambdas.sum::<f64>() + joint_penalty(self.table, &all, &body)
    }
}

/// The lambda of a wing: a lower bound of each row's loss on it.
///
/// A class of k rows has `k / m` or more of them, rounded up, in one of the `m` classes, and all of
/// them in the table. The minima are over the rows that have that many others; there are some, or
/// else the rows are fewer than k, and the bound is infinite.
fn lambda(table: &Table, classes: &[Rows], wing: &[usize], k: u64) -> f64 {
    let k = usize::try_from(k).expect("a small k");
    let everything: Rows = (0..table.rows.len()).collect();
    let least = |i: usize, among: &dyn Fn(usize) -> Rows| {
        let mut least = f64::INFINITY;
        for (class, rows) in classes.iter().enumerate() {
            for &row in rows {
                let distance = neighbour_distance(table, wing, row, i, &among(class));
                least = least.min(distance.unwrap_or(f64::INFINITY));
            }
        }
        least
    };
    let within = least(k.div_ceil(classes.len()) - 1, &|class| classes[class].clone());
    let anywhere = least(k - 1, &|_| everything.clone());
    within.max(anywhere)
}

/// Definition 3: the distance from a row to its `i`-th nearest neighbour among some rows on some
/// attributes, which decide who is near; the row itself is the 0-th. `None` if there are too few.
pub(super) fn neighbour_distance(
    table: &Table,
    attributes: &[usize],
    row: usize,
    i: usize,
    among: &[usize],
) -> Option<f64> {
    let mut distances: Vec<f64> = among
        .iter()
        .filter(|&&other| other != row)
        .map(|&other| distance(table, attributes, row, other))
        .collect();
    distances.push(0.0);
    distances.sort_by(f64::total_cmp);
    distances.get(i).copied()
}

/// A lower bound of the loss of each of two rows if they become the same on some attributes.
fn distance(table: &Table, attributes: &[usize], one: usize, other: usize) -> f64 {
    let loss = |&at: &usize| table.attributes[at].loss(&least_cell(table, &[one, other], at));
    attributes.iter().map(loss).sum()
}

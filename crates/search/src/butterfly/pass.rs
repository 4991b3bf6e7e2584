//! The bottom-up pass over a hierarchy of classes: which nodes become butterflies (Figure 2).

use rayon::prelude::*;

use super::bound::{Bound, Distances};
use super::wing::Wing;
use crate::Budget;
use crate::mondrian::Branch;

/// The table and its parts, for computing the losses of groups.
pub(super) struct Look<'a> {
    pub(super) body: Box<dyn Wing + 'a>,
    pub(super) wings: Vec<Box<dyn Wing + 'a>>,
    /// Rows per vector.
    pub(super) rows: &'a [u32],
    pub(super) budget: &'a Budget,
}

/// Losses that differ by less are equal.
pub(super) const TOLERANCE: f64 = 1e-9;

impl Look<'_> {
    /// The loss of the butterfly of some vectors.
    fn loss(&self, vectors: &[u32]) -> f64 {
        let wings: f64 = self.wings.iter().map(|wing| wing.loss(vectors)).sum();
        self.body.loss_of_one(vectors) + wings
    }

    /// The loss of the butterfly of some vectors, given the loss of its body; `None` if it is not
    /// below a limit.
    fn loss_below(&self, vectors: &[u32], body: f64, limit: f64) -> Option<f64> {
        let mut loss = body;
        for wing in &self.wings {
            if loss + TOLERANCE >= limit {
                return None;
            }
            loss += wing.loss(vectors);
        }
        (loss + TOLERANCE < limit).then_some(loss)
    }

    /// The losses of the butterflies of some groups, or `None` if their sum is not below a limit.
    pub(super) fn losses_below(&self, groups: &[Vec<u32>], limit: f64) -> Option<Vec<f64>> {
        let mut losses: Vec<f64> =
            groups.iter().map(|vectors| self.body.loss_of_one(vectors)).collect();
        for wing in &self.wings {
            for at in 0..groups.len() {
                if losses.iter().sum::<f64>() + TOLERANCE >= limit {
                    return None;
                }
                losses[at] += wing.loss(&groups[at]);
            }
        }
        (losses.iter().sum::<f64>() + TOLERANCE < limit).then_some(losses)
    }

    fn n_rows(&self, vectors: &[u32]) -> f64 {
        vectors.iter().map(|&vector| u64::from(self.rows[vector as usize])).sum::<u64>() as f64
    }
}

/// The result for a subtree.
pub(super) struct Visited {
    pub(super) loss: f64,
    /// Vectors and loss of each butterfly, in the order of the hierarchy.
    pub(super) groups: Vec<(usize, f64)>,
    /// Butterflies that were built.
    pub(super) n_built: u64,
    /// A lower bound of the loss of a row on the body if the whole subtree shares one.
    body_of_row: f64,
    /// The classes of the hierarchy below, and their distances if a bound is used.
    n_classes: usize,
    distances: Option<Distances>,
}

/// Points below which a subtree is visited by one thread.
const PARALLEL_FROM: usize = 1 << 12;

/// Visits a subtree; `order` holds its vectors. With a bound, butterflies that are provably no
/// better than the parts are not built.
///
/// Line 16 of Figure 2 prunes the ancestors of a node whose body alone loses as much as the whole
/// table does. Here a node is skipped if its body must lose as much as its parts do, judging by the
/// parts (a body never loses less than a part of it). This skips the same ancestors and more.
pub(super) fn visit(look: &Look, bound: Option<&Bound>, branch: &Branch, order: &[u32]) -> Visited {
    let Branch::Parts(parts) = branch else { return leaf(look, bound, order) };
    let visited = visit_parts(look, bound, parts, order);
    let n_rows = look.n_rows(order);
    let loss: f64 = visited.iter().map(|part| part.loss).sum();
    let mut n_built = visited.iter().map(|part| part.n_built).sum();
    let n_classes = visited.iter().map(|part| part.n_classes).sum();
    let distances = Distances::join(visited.iter().filter_map(|part| part.distances.as_ref()));
    let mut body_of_row = visited.iter().map(|part| part.body_of_row).fold(0.0, f64::max);
    let mut whole = None;
    if body_of_row * n_rows + TOLERANCE < loss && !look.budget.is_spent() {
        let body = look.body.loss_of_one(order);
        body_of_row = body / n_rows;
        // Rows that agree on the body are always worth trying.
        let is_hopeless = body > 0.0
            && bound.zip(distances.as_ref()).is_some_and(|(bound, distances)| {
                body + bound.wings(distances, n_classes, n_rows) + TOLERANCE >= loss
            });
        if !is_hopeless {
            n_built += 1;
            whole = look.loss_below(order, body, loss);
        }
    }
    let (loss, groups) = match whole {
        Some(loss) => (loss, vec![(order.len(), loss)]),
        None => (loss, visited.into_iter().flat_map(|part| part.groups).collect()),
    };
    Visited { loss, groups, n_built, body_of_row, n_classes, distances }
}

/// A class of the union is a butterfly (Proposition 2). Its wings are cut too, since a set may have
/// a smaller k than the union.
fn leaf(look: &Look, bound: Option<&Bound>, order: &[u32]) -> Visited {
    let body = look.body.loss_of_one(order);
    let loss = body + look.wings.iter().map(|wing| wing.loss(order)).sum::<f64>();
    Visited {
        loss,
        groups: vec![(order.len(), loss)],
        n_built: 1,
        body_of_row: body / look.n_rows(order),
        n_classes: 1,
        distances: bound.map(|bound| bound.of_class(order)),
    }
}

fn visit_parts(
    look: &Look,
    bound: Option<&Bound>,
    parts: &[Branch],
    order: &[u32],
) -> Vec<Visited> {
    let visit = |(part, order): &(&Branch, &[u32])| visit(look, bound, part, order);
    each(&vectors_of(parts, order), order.len(), visit)
}

/// The vectors of each part of a node.
fn vectors_of<'a, 'b>(parts: &'a [Branch], mut order: &'b [u32]) -> Vec<(&'a Branch, &'b [u32])> {
    let of_part = |part: &'a Branch| {
        let (of_part, more) = order.split_at(n_vectors(part));
        order = more;
        (part, of_part)
    };
    parts.iter().map(of_part).collect()
}

/// Calls a function with each of the parts, in parallel if they are large.
fn each<T: Sync, R: Send>(
    parts: &[T],
    n_vectors: usize,
    f: impl Fn(&T) -> R + Send + Sync,
) -> Vec<R> {
    if n_vectors >= PARALLEL_FROM {
        parts.par_iter().map(f).collect()
    } else {
        parts.iter().map(f).collect()
    }
}

/// Levels of a hierarchy to go down without lowering the loss.
const PATIENCE: u32 = 2;

/// Butterflies from the top of a hierarchy: goes down while that lowers the loss, and a little
/// further. For hierarchies whose best butterflies are large.
pub(super) fn descend(look: &Look, branch: &Branch, order: &[u32]) -> Visited {
    descend_from(look, branch, order, look.loss(order), PATIENCE)
}

fn descend_from(look: &Look, branch: &Branch, order: &[u32], loss: f64, patience: u32) -> Visited {
    let mut whole = Visited {
        loss,
        groups: vec![(order.len(), loss)],
        n_built: 1,
        body_of_row: 0.0,
        n_classes: 1,
        distances: None,
    };
    let Branch::Parts(parts) = branch else { return whole };
    if patience == 0 || look.budget.is_spent() {
        return whole;
    }
    let parts = vectors_of(parts, order);
    let losses = each(&parts, order.len(), |(_, order)| look.loss(order));
    let is_lower = losses.iter().sum::<f64>() + TOLERANCE < loss;
    let patience = if is_lower { PATIENCE } else { patience - 1 };
    let parts: Vec<((&Branch, &[u32]), f64)> = parts.into_iter().zip(losses).collect();
    let visited = each(&parts, order.len(), |((part, order), loss)| {
        descend_from(look, part, order, *loss, patience)
    });
    let loss_below: f64 = visited.iter().map(|part| part.loss).sum();
    whole.n_built += visited.iter().map(|part| part.n_built).sum::<u64>();
    if loss_below + TOLERANCE < loss {
        whole.loss = loss_below;
        whole.groups = visited.into_iter().flat_map(|part| part.groups).collect();
    }
    whole
}

fn n_vectors(branch: &Branch) -> usize {
    match branch {
        Branch::Leaf(n) => *n,
        Branch::Parts(parts) => parts.iter().map(n_vectors).sum(),
    }
}

#[cfg(test)]
mod tests {
    use incrowd_privacy::{KAnonymity, Model};
    use incrowd_testkit::Form;
    use incrowd_testkit::generate::{Recipe, Rng, random_table};

    use super::super::anatomy::Anatomy;
    use super::super::wing;
    use super::*;
    use crate::{Problem, QuasiSet, mondrian};

    /// A butterfly that the bound rules out would not have been chosen.
    #[test]
    fn the_bound_changes_nothing_but_the_work() {
        let (mut with_bound, mut without) = (0, 0);
        for seed in 0..150 {
            let mut rng = Rng::new(seed);
            let recipe = Recipe {
                n_rows: 40 + rng.below(200),
                n_attributes: 5,
                forms: &Form::ALL,
                max_values: 12,
                missing: rng.one_in(3),
            };
            let table = random_table(&mut rng, &recipe);
            let set = table.frequency_set();
            let k = 2 + rng.below(5) as u64;
            let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k).unwrap())];
            let budget = Budget::unlimited();
            let sets = [vec![0, 1, 2], vec![2, 3, 4]].map(|attributes| QuasiSet { attributes, k });
            let problem = Problem { sets: &sets, ..Problem::new(&set, &models, k, &budget) };
            let anatomy = Anatomy::new(&problem, &sets);
            let body = anatomy.body.problem(&problem, &budget);
            let wings: Vec<Problem> =
                anatomy.wings.iter().map(|part| part.problem(&problem, &budget)).collect();
            let look = Look {
                body: wing::body(&body),
                wings: wings.iter().map(wing::wing).collect(),
                rows: &set.counts,
                budget: &budget,
            };
            let (order, branch) = mondrian::hierarchy(&problem);
            let bound = Bound::new(&anatomy, &budget);
            let bounded = visit(&look, Some(&bound), &branch, &order);
            let free = visit(&look, None, &branch, &order);
            assert_eq!(bounded.groups, free.groups, "seed {seed}");
            with_bound += bounded.n_built;
            without += free.n_built;
        }
        assert!(with_bound < without, "{with_bound} {without}");
    }
}

//! A lower bound of a butterfly's loss, without building it: Theorem 4.
//!
//! A class of a wing has at least k rows of the table, so none of its rows loses less than the
//! distance to its (k-1)-th nearest neighbour. If the butterfly consists of m classes of the union,
//! the k rows in a class of a wing come from few of these: at least ceil(k/m) from one, which is
//! the other distance of the theorem. The paper takes the least distance of any row for all of
//! them; here the distances in the table are summed over the rows, which is never less.

use incrowd_data::{Codes, FrequencySet, collapse};
use rayon::prelude::*;

use super::anatomy::{Anatomy, SubTable, effective};
use super::nearest::{Index, codes_of};
use super::wing;
use crate::{Budget, Problem};

/// The distances in the whole table, from which the bound of every node is computed.
pub(super) struct Bound<'a> {
    wings: Vec<OfWing<'a>>,
    budget: &'a Budget,
}

struct OfWing<'a> {
    set: &'a FrequencySet,
    k: u64,
    /// The numbers of neighbours that a node may need: ceil(k/m) - 1 for every m, ascending.
    numbers: Vec<u64>,
    /// By vector, the distance to its (k-1)-th nearest neighbour in the table times its rows.
    in_table: Vec<f64>,
}

/// The distances for the classes below a node, by wing.
#[derive(Clone, Debug)]
pub(super) struct Distances(Vec<OfNode>);

#[derive(Clone, Debug)]
struct OfNode {
    /// By number of neighbours, the least distance of a row within its class.
    in_class: Vec<f64>,
    /// The summed distances in the table.
    in_table: f64,
}

impl<'a> Bound<'a> {
    pub(super) fn new(anatomy: &'a Anatomy, budget: &'a Budget) -> Bound<'a> {
        let wings = anatomy.wings.iter().map(|part| OfWing::new(part, budget));
        Bound { wings: wings.collect(), budget }
    }

    /// The distances for one class.
    pub(super) fn of_class(&self, vectors: &[u32]) -> Distances {
        Distances(self.wings.iter().map(|wing| wing.of_class(vectors, self.budget)).collect())
    }

    /// A lower bound of the loss of the wings of a butterfly of `n_rows` rows from `n_classes`
    /// classes.
    pub(super) fn wings(&self, distances: &Distances, n_classes: usize, n_rows: f64) -> f64 {
        let wings = self.wings.iter().zip(&distances.0);
        wings
            .map(|(wing, node)| {
                let number = wing.k.div_ceil(n_classes as u64) - 1;
                let at = wing.numbers.partition_point(|&known| known < number);
                (node.in_class[at] * n_rows).max(node.in_table)
            })
            .sum()
    }
}

impl Distances {
    /// The distances for the classes of several nodes together.
    pub(super) fn join<'b>(mut nodes: impl Iterator<Item = &'b Distances>) -> Option<Distances> {
        let mut all = nodes.next()?.clone();
        for node in nodes {
            for (of_all, of_node) in all.0.iter_mut().zip(&node.0) {
                of_all.in_table += of_node.in_table;
                for (least, distance) in of_all.in_class.iter_mut().zip(&of_node.in_class) {
                    *least = least.min(*distance);
                }
            }
        }
        Some(all)
    }
}

impl<'a> OfWing<'a> {
    fn new(part: &'a SubTable, budget: &Budget) -> OfWing<'a> {
        let (set, k) = (&part.set, part.k);
        let index = Index::new(set, (0..).take(set.len()));
        let columns: Vec<(&Codes, u32)> =
            set.vectors.iter().zip(&set.attributes).map(|(c, a)| (c, a.n_codes())).collect();
        let distinct = collapse(&columns, set.len());
        let distances: Vec<f64> = distinct
            .representatives
            .par_iter()
            .map(|&vector| in_index(&index, &codes_of(set, vector), k, budget))
            .collect();
        let of_vector = distinct.vector_of.iter().map(|&at| distances[at as usize]);
        let in_table =
            of_vector.zip(&set.counts).map(|(distance, &rows)| distance * f64::from(rows));
        let mut numbers: Vec<u64> = (1..=k).map(|n_classes| k.div_ceil(n_classes) - 1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        OfWing { set, k, numbers, in_table: in_table.collect() }
    }

    fn of_class(&self, vectors: &[u32], budget: &Budget) -> OfNode {
        let index = Index::new(self.set, vectors.iter().copied());
        let mut in_class = vec![f64::INFINITY; self.numbers.len()];
        for point in 0..index.len() {
            if budget.is_spent() {
                in_class.fill(0.0);
                break;
            }
            let near = index.neighbours(index.codes(point), self.k);
            for (least, distance) in in_class.iter_mut().zip(near.distances(&self.numbers)) {
                *least = least.min(distance);
            }
        }
        let in_table = vectors.iter().map(|&vector| self.in_table[vector as usize]).sum();
        OfNode { in_class, in_table }
    }
}

/// The distance of a vector to its (k-1)-th nearest neighbour; 0, which is also a bound, when the
/// time is up.
fn in_index(index: &Index, codes: &[u32], k: u64, budget: &Budget) -> f64 {
    if budget.is_spent() {
        return 0.0;
    }
    index.neighbours(codes, k).distances(&[k - 1]).next().unwrap_or(0.0)
}

/// The uncertainty penalty of a butterfly on the rows of some classes (lists of vectors) is not
/// below this: L(G) of Theorem 4, for any number of sets. Every class must have at least the
/// greatest k rows.
///
/// ```
/// # use incrowd_data::{Attribute, Codes, Dictionary, FrequencySet, Kind, Shape};
/// # use incrowd_privacy::{KAnonymity, Model};
/// # use incrowd_search::{Budget, Problem, QuasiSet, butterfly};
/// # let column = |name: &str, codes: [u32; 4]| {
/// #     let dictionary = Dictionary {
/// #         kind: Kind::Integer,
/// #         texts: (0..4).map(|n| n.to_string()).collect(),
/// #         positions: vec![0.0, 1.0, 2.0, 3.0],
/// #         has_missing: false,
/// #     };
/// #     let attribute = Attribute { name: name.into(), dictionary, shape: Shape::Numeric };
/// #     (attribute, Codes::pack(4, codes.into_iter()))
/// # };
/// # let columns = [column("a", [0, 1, 2, 3]), column("b", [1, 1, 1, 1]), column("c", [0, 1, 2, 3])];
/// # let (attributes, vectors) = columns.into_iter().unzip();
/// # let set = FrequencySet { attributes, vectors, counts: vec![1; 4], extras: vec![], n_rows: 4 };
/// # let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(2).unwrap())];
/// # let budget = Budget::unlimited();
/// // Four rows with a = c = 0, 1, 2, 3 and the same b; one attacker knows a and b, the other b and c.
/// let sets = [
///     QuasiSet { attributes: vec![0, 1], k: 2 },
///     QuasiSet { attributes: vec![1, 2], k: 2 },
/// ];
/// let problem = Problem { sets: &sets, ..Problem::new(&set, &models, 2, &budget) };
/// // Every row gives up a third of a and a third of c at least.
/// let bound = butterfly::lower_bound(&problem, &[vec![0, 1], vec![2, 3]]);
/// assert!((bound - 4.0 * (1.0 / 3.0 + 1.0 / 3.0)).abs() < 1e-9);
/// ```
#[must_use]
pub fn lower_bound(problem: &Problem, classes: &[Vec<u32>]) -> f64 {
    let anatomy = Anatomy::new(problem, &effective(problem));
    let bound = Bound::new(&anatomy, problem.budget);
    let of_classes: Vec<Distances> = classes.iter().map(|class| bound.of_class(class)).collect();
    let Some(distances) = Distances::join(of_classes.iter()) else { return 0.0 };
    let body = anatomy.body.problem(problem, problem.budget);
    let all = classes.concat();
    let n_rows: f64 =
        all.iter().map(|&vector| f64::from(problem.set.counts[vector as usize])).sum();
    let body = wing::body(&body).loss_of_one(&all);
    body + bound.wings(&distances, classes.len(), n_rows)
}

//! K-Optimize: the proven optimum of single-dimensional recoding, or the best so far with a proven
//! bound.
//!
//! A set of cuts divides every attribute into intervals. A *step* is a unit of decision: one cut
//! along an order, or all cuts between the children of a node of a hierarchy, which may be made
//! only after the step that separates the node. A *node* of the search has steps that are made (the
//! paper's head set), and a *tail* of steps that may still be made; it represents all sets that
//! contain the made steps and some of the tail. Its two branches make one step of the tail, or
//! remove it from the tail. This is the set-enumeration tree with the tail reordered at every node.
//! Workers go depth first, starting with the branch that makes the step.
//!
//! # Source
//!
//! Bayardo, Agrawal: *Data Privacy Through Optimal k-Anonymization*, ICDE 2005: sections 3
//! (hierarchies), 4 (search), 5 (costs, bounds, useless values) and 6 (incremental classes).
//! Departures:
//!
//! - Classes keep running counts of rows by code for each attribute; when a class is divided, only
//!   its smaller part is counted; the other part is the difference. So the tail is judged without
//!   visiting vectors.
//! - A class keeps its *atoms*, the rows that no made step and no step of the tail separates, and
//!   merges them as the tail shrinks, instead of sorting for the classes of the all-set.
//! - The attribute with by far the most values that matter is cut last, with all its cuts at once,
//!   by a sweep.
//! - Any models decide which rows are lost, not only k; hierarchies constrain the cuts; loss is a
//!   third measure.
//! - The paper's liberal rule for useless values is wrong for discernibility; see U below.
//!
//! # Guarantees
//!
//! - Exact: yes. If stopped early, it returns the best set so far and a proven lower bound.
//! - Asks of the models: nothing. With models other than k-anonymity over rows, or with stars,
//!   rules U and S are off.
//! - Deterministic: yes, on any number of threads and for any seed, once the search is closed:
//!   among sets of equal cost, the one with fewer cuts is released, then the smaller one, attribute
//!   by attribute.
//!
//! # The pruning rules and their proofs
//!
//! Let `H` be the made steps, `T` the tail, `A` both; `n` the rows of the table. Rows of a class
//! that breaks a model in all its parts stay lost, since parts of it only get smaller. Each rule
//! can be switched off, and a test does so.
//!
//! - **B (bound).** The rows of a class cost at least the sum of the lower bounds of its atoms'
//!   costs (`Price::floor`), since a class under any set of the node is a union of atoms, or lost.
//!   A node is dropped if its sum of floors and lost rows is above the best cost. At the same cost
//!   it is dropped if its sets have more cuts than the best.
//! - **T (tail).** A set with step `v` loses the parts of fewer than k rows into which `v` divides
//!   a class of `H`. In the floor they count with at most `Price::floor_at_most`; the difference to
//!   the cost of losing them is added. If the sum is above the best cost, `v` leaves the tail.
//! - **L (limit).** If the rows of these parts and the rows already lost exceed the limit, `v`
//!   leaves the tail.
//! - **U (useless).** If `v` leaves, of every class of `H`, at most one part of k rows or more, and
//!   keeping the whole costs no more than keeping that part and losing the rest, then every set
//!   with `v` can be improved by removing `v`: without `v`, classes that `v` separates are united
//!   within a class of `H`, so at most one of them was kept. For discernibility a class of `a + b`
//!   rows of which `a` are lost costs `n a + b^2`, which is at least `(a + b)^2` if and only if
//!   `a + 2 b <= n`; both sides only shrink with the class. (The paper omits the condition,
//!   and misses the optimum on 22 rows with k = 14.) For classification the condition always holds,
//!   for loss never, since the part that is kept is in a narrower interval.
//! - **C (class).** By the same argument, a class that no step of the tail divides usefully costs
//!   at least as much as when it stays whole.
//! - **S (sweep).** If the tail cuts only one attribute, the best set is found by dynamic
//!   programming over its intervals: their costs add up, since no class is in two of them.
//! - **A (along).** A bound that takes into account how the cuts of one attribute exclude each
//!   other; see `along`.
//!
//! The order in which steps are decided, the attribute that is cut last, and the initial sets
//! affect only how long a search takes.
//!
//! # Invariants
//!
//! - K1: costs are whole numbers, so that sums do not depend on their order.
//! - K2: the floor of a node is at most the cost of every set in it.
//! - K3: running counts are right at every code before which a step of the tail cuts.
//!
//! # Cost
//!
//! Exponential in the worst case. A node costs about one or two passes over its atoms.
//!
//! # Example
//!
//! None of its own: see `optimal`, which takes the same problem.
//!
//! # See also
//!
//! `hill_climb` and `single_dimensional` for the same recodings without a proof, `seed` for local
//! search.

mod along;
mod best;
mod cells;
mod class;
mod divide;
mod grid;
mod node;
mod price;
mod scratch;
mod seed;
mod space;
mod stopped;
mod sweep;
#[cfg(test)]
mod tests;
mod workers;

use std::collections::BTreeMap;

use incrowd_data::{Attribute, Codes, Cuts};
use incrowd_privacy::{Tally, all_hold};
use incrowd_quality::Measure;

use crate::frequency::{Field, layout};
use crate::intervals::{Board, Costs};
use crate::{Budget, Infeasible, Outcome, Problem};

use best::{Best, Shared};
use node::{Desk, Node};
use price::{Classification, Discernibility, Loss, Price};
use space::Space;
pub use stopped::{OpenNode, Stopped};

/// The codes of a vector, packed.
type Key<const N: usize> = [u64; N];

/// The pruning rules; switching off any of them does not change the result.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with one another"
)]
pub(crate) struct Rules {
    /// U.
    useless: bool,
    /// L.
    limit: bool,
    /// B.
    bound: bool,
    /// T.
    tail: bool,
    /// C.
    local: bool,
    /// S.
    sweep: bool,
    /// A.
    along: bool,
    /// Whether one attribute is cut last.
    last: bool,
    /// Whether local search provides an initial set.
    seed: bool,
}

impl Rules {
    pub(crate) const ALL: Rules = Rules {
        useless: true,
        limit: true,
        bound: true,
        tail: true,
        local: true,
        sweep: true,
        last: true,
        seed: true,
        along: true,
    };

    /// All rules except one, for each rule in turn.
    #[cfg(test)]
    pub(crate) const EACH_OFF: [Rules; 9] = [
        Rules { useless: false, ..Rules::ALL },
        Rules { limit: false, ..Rules::ALL },
        Rules { bound: false, ..Rules::ALL },
        Rules { tail: false, ..Rules::ALL },
        Rules { local: false, ..Rules::ALL },
        Rules { sweep: false, ..Rules::ALL },
        Rules { last: false, ..Rules::ALL },
        Rules { seed: false, ..Rules::ALL },
        Rules { along: false, ..Rules::ALL },
    ];
}

/// The constants of a search.
struct Ground<'a, P, const N: usize> {
    problem: &'a Problem<'a>,
    costs: &'a Costs,
    price: P,
    space: Space,
    fields: Vec<Field>,
    n_lanes: usize,
    k: u64,
    /// Whether models need the rows of a class, not only their number.
    looks_at_rows: bool,
    /// Whether unions of classes that satisfy the models always satisfy them.
    is_monotone: bool,
    /// Whether the number of rows decides everything, so that a set of cuts is never rejected for
    /// losing fewer rows.
    is_plain: bool,
    rules: Rules,
    /// The attribute that is cut last.
    last: Option<usize>,
    n_workers: usize,
    /// The most numbers that a worker may hold in addition to its nodes: tables of intervals,
    /// counts by code.
    most_counts: usize,
}

impl<P: Price, const N: usize> Ground<'_, P, N> {
    /// The lane in which a vector's rows are counted.
    fn lane_of(&self, vector: usize) -> usize {
        match self.problem.target {
            Some(target) if self.n_lanes > 1 => {
                self.problem.set.extras[target].codes.get(vector) as usize
            }
            _ => 0,
        }
    }

    /// Whether every model holds for some rows.
    fn is_kept(&self, n_rows: u64, vectors: &[u32]) -> bool {
        n_rows >= self.k
            && (!self.looks_at_rows || all_hold(self.problem.models, self.tally(vectors).class()))
    }

    /// Whether no part of some rows can be kept.
    fn is_dead(&self, n_rows: u64, vectors: &[u32]) -> bool {
        if n_rows < self.k || !self.looks_at_rows {
            return n_rows < self.k;
        }
        let tally = self.tally(vectors);
        // If nothing may be lost, every part would have to be kept, and then the whole would be
        // kept too.
        let is_final = self.is_monotone && self.problem.limit == 0;
        self.problem
            .models
            .iter()
            .any(|model| (is_final || model.holds_for_supersets()) && !model.holds(tally.class()))
    }

    fn tally(&self, vectors: &[u32]) -> Tally<'_> {
        let set = self.problem.set;
        let mut tally = Tally::new(set, self.problem.entity);
        for &vector in vectors {
            tally.add(vector as usize, set.counts[vector as usize]);
        }
        tally
    }

    /// Whether a set of cuts that loses `n_lost` rows, which is within the limit, may be released.
    fn is_feasible(&self, cuts: &Cuts, n_lost: u64) -> bool {
        n_lost < self.problem.set.n_rows
            && (self.is_plain || Board::under(self.problem, self.costs, cuts).is_feasible())
    }

    /// By attribute, the effective number of values: with this number of equally frequent values,
    /// two rows would be equal with the same probability.
    fn n_effective(&self) -> Vec<f64> {
        let set = self.problem.set;
        let of = |codes: &Codes| {
            let mut rows = BTreeMap::new();
            for (vector, &n_rows) in set.counts.iter().enumerate() {
                *rows.entry(codes.get(vector)).or_insert(0.0) += f64::from(n_rows);
            }
            let all: f64 = rows.values().sum();
            all * all / rows.values().map(|n_rows| n_rows * n_rows).sum::<f64>().max(1.0)
        };
        set.vectors.iter().map(of).collect()
    }

    /// The attribute with the greatest effective number of values, and whether that is more than
    /// twice that of any other. If so, its cuts are decided last, by a sweep.
    fn widest(&self) -> Option<(usize, bool)> {
        let mut ranked: Vec<(f64, usize)> = self.n_effective().into_iter().zip(0..).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let &(most, widest) = ranked.first()?;
        Some((widest, ranked.get(1).is_some_and(|second| most > 2.0 * second.0)))
    }

    /// Whether there is room for a table of all intervals between this number of cuts.
    fn has_room(&self, n_cuts: usize) -> bool {
        (n_cuts + 2).saturating_mul(n_cuts + 2) <= self.most_counts
    }

    /// The best set before the search: the one without cuts. If it cannot be released, it costs
    /// more than any set that can, since rows cost most when they are lost.
    fn without_cuts(&self, root: &Node<N>) -> Best {
        let cuts = Cuts::none(self.problem.set.attributes.len());
        let (cost, n_lost) = root.cost(self);
        let is_release = n_lost == 0;
        Best::new(if is_release { cost } else { self.cost_of_nothing() }, cuts)
    }

    /// Whether the best set can be released; otherwise no such set is known yet.
    fn is_release(&self, best: &Best) -> bool {
        best.cost < self.cost_of_nothing()
    }

    /// One more than the cost of any set.
    fn cost_of_nothing(&self) -> u64 {
        self.price.lost(self.problem.set.n_rows) + 1
    }

    /// A cost in the unit of the measure.
    fn value(&self, cost: u64) -> f64 {
        self.price.value(cost, self.problem.set.n_rows)
    }
}

/// Runs the search.
pub(crate) fn run(problem: &Problem) -> Outcome {
    run_by(problem, Rules::ALL)
}

/// Runs the search with some of the rules.
pub(crate) fn run_by(problem: &Problem, rules: Rules) -> Outcome {
    let set = problem.set;
    let Some(costs) = Costs::new(problem) else {
        return Outcome::Infeasible(Infeasible::NotMeasured);
    };
    match problem.measure {
        Measure::Discernibility => {
            let price = Discernibility::new(set.n_rows, problem.k);
            by_width(problem, &costs, price, 1, rules)
        }
        Measure::Classification => {
            let n_codes = problem.target.map_or(1, |target| set.extras[target].n_codes as usize);
            by_width(problem, &costs, Classification { k: problem.k }, n_codes.max(1), rules)
        }
        _ => {
            let price = Loss::new(&set.attributes, set.n_rows);
            by_width(problem, &costs, price, 1, rules)
        }
    }
}

fn by_width<P: Price>(
    problem: &Problem,
    costs: &Costs,
    price: P,
    n_lanes: usize,
    rules: Rules,
) -> Outcome {
    let n_codes = problem.set.attributes.iter().map(Attribute::n_codes);
    let Ok((fields, n_words)) = layout(n_codes) else {
        return Outcome::Infeasible(Infeasible::TooWide);
    };
    match n_words {
        1 => search(ground::<P, 1>(problem, costs, price, n_lanes, rules, fields)),
        2 => search(ground::<P, 2>(problem, costs, price, n_lanes, rules, fields)),
        _ => search(ground::<P, 16>(problem, costs, price, n_lanes, rules, fields)),
    }
}

fn ground<'a, P: Price, const N: usize>(
    problem: &'a Problem<'a>,
    costs: &'a Costs,
    price: P,
    n_lanes: usize,
    rules: Rules,
    fields: Vec<Field>,
) -> Ground<'a, P, N> {
    let looks_at_rows = !problem.only_counts();
    // Where a node limit ends a search depends on the order of the nodes, which several workers do
    // not define.
    let n_workers =
        if problem.budget.counts_nodes() { 1 } else { rayon::current_num_threads().max(1) };
    Ground {
        problem,
        costs,
        price,
        space: Space::new(problem),
        fields,
        n_lanes,
        k: problem.k,
        looks_at_rows,
        is_monotone: problem.models.iter().all(|model| model.is_monotone()),
        is_plain: !looks_at_rows && (!problem.stars || problem.limit == 0),
        rules,
        last: None,
        n_workers,
        most_counts: usize::try_from(problem.budget.memory() / 32 / n_workers as u64)
            .unwrap_or(usize::MAX),
    }
}

fn search<P: Price, const N: usize>(mut ground: Ground<P, N>) -> Outcome {
    let problem = ground.problem;
    let mut desk = Desk::default();
    let rules = ground.rules;
    let root = Node::root(&ground, &mut desk);
    let best = Shared::new(ground.without_cuts(&root));
    let widest = ground.widest();
    ground.last = widest.filter(|(_, is_wide)| rules.last && *is_wide).map(|(widest, _)| widest);
    let ground = &ground;
    let given = problem.start.into_iter().chain(problem.resume.map(|stopped| &stopped.best));
    given.for_each(|cuts| stopped::offer(ground, &root, cuts, &best));
    let can_sweep = |attribute: &usize| {
        let n_steps = ground.space.of_attribute[*attribute].len();
        let is_wanted = rules.seed && problem.seeds_itself;
        is_wanted && ground.is_plain && n_steps <= seed::MOST_CUTS && ground.has_room(n_steps)
    };
    let swept = widest.map(|(widest, _)| widest).filter(can_sweep);
    let is_open = problem.resume.is_none_or(|stopped| !stopped.open.is_empty());
    if let Some(swept) = swept.filter(|_| is_open) {
        seed::plant(ground, &root, swept, &best, seed::Effort::Brief);
    }
    let (nodes, n_before) = if let Some(stopped) = problem.resume {
        best.raise(stopped.floor);
        (stopped::restore(ground, &root, stopped), stopped.nodes)
    } else {
        (vec![root], 0)
    };
    let budget = &problem.budget.clone().after(n_before);
    let first = budget.sooner(0.75);
    let long = (!first.has_deadline()).then_some(n_before + LONG);
    let first = first.visiting_at_most(long);
    let mut ended = workers::search(ground, &best, nodes, n_before, &first, None);
    if !ended.open.is_empty() && !budget.is_spent() && !budget.has_seen(ended.n_nodes) {
        if let Some(swept) = swept {
            let root = Node::root(ground, &mut desk);
            seed::plant(ground, &root, swept, &best, seed::Effort::Long);
        }
        ended.n_nodes = lift(ground, &best, budget, ended.n_nodes);
        ended = workers::search(ground, &best, ended.open, ended.n_nodes, budget, None);
    }
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let is_optimal = ended.open.is_empty();
    let floor = best.raise(ended.open.iter().map(|node| node.floor).min().unwrap_or(0));
    let best = best.get();
    if !ground.is_release(&best) {
        return nothing(problem, is_optimal);
    }
    let mut found = Board::under(problem, ground.costs, &best.cuts).found(ended.n_nodes);
    // The search's units are finer than the reported cost, but not exactly the same.
    let bound = found
        .proof
        .cost
        .map(|cost| if is_optimal { cost } else { ground.value(floor.min(best.cost)).min(cost) });
    found.proof.is_optimal = is_optimal;
    found.proof.is_cut_short = !is_optimal;
    found.proof.lower_bound = bound;
    found.stopped = Some(Stopped {
        problem: stopped::fingerprint(problem),
        best: best.cuts.clone(),
        floor: floor.min(best.cost),
        nodes: ended.n_nodes,
        open: ended.open.iter().map(stopped::open).collect(),
    });
    Outcome::Found(Box::new(found))
}

/// The outcome if no set was found that can be released.
fn nothing(problem: &Problem, is_closed: bool) -> Outcome {
    let broken = crate::broken_models(problem, &crate::whole(problem));
    Outcome::Infeasible(if is_closed {
        Infeasible::EveryCut { broken, is_proved: true }
    } else {
        Infeasible::OutOfTime
    })
}

/// From this number of nodes on, a search without a time limit is long.
const LONG: u64 = 1_000_000;

/// Raises the lower bound by complete searches for sets below rising ceilings. Depth first, open
/// nodes near the root keep the bound low until the end, while a search below half of the best cost
/// is complete soon.
fn lift<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    best: &Shared,
    budget: &Budget,
    n_before: u64,
) -> u64 {
    let budget = budget.sooner(0.3);
    let mut n_nodes = n_before;
    let mut desk = Desk::default();
    let mut share = 2;
    loop {
        let ceiling = best.get().cost / 20 * share;
        let root = Node::root(ground, &mut desk);
        if ceiling > root.floor {
            let most = if budget.has_deadline() { u64::MAX } else { n_nodes + LONG / 10 };
            let budget = budget.clone().visiting_at_most(Some(most));
            let ended = workers::search(ground, best, vec![root], n_nodes, &budget, Some(ceiling));
            n_nodes = ended.n_nodes;
            if !ended.open.is_empty() || best.get().cost < ceiling {
                return n_nodes;
            }
            best.raise(ceiling);
        }
        share += 1;
        if share == 20 {
            return n_nodes;
        }
    }
}

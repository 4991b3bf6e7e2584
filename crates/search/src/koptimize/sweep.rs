//! The best set of a node whose tail cuts only one attribute, by dynamic programming.

use super::Ground;
use super::class::Class;
use super::node::Node;
use super::price::{Price, rows};

/// A best way to cut an interval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    cost: u64,
    n_cuts: usize,
    cuts: Vec<u32>,
}

/// The result of a sweep.
#[derive(Debug)]
pub(super) struct Swept {
    /// The cost of the best set of the node, regardless of the rows it loses.
    pub(super) cost: u64,
    /// The rows that it loses.
    pub(super) n_lost: u64,
    /// The cuts of the attribute in addition to those that are made.
    pub(super) cuts: Vec<u32>,
}

/// Cuts one attribute optimally, if this number of rows may be lost. `None` if every set loses rows
/// although none may be lost. The caller has to check whether the best set loses too many.
pub(super) fn sweep<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    node: &Node<N>,
    attribute: usize,
    limit: u64,
) -> Option<Swept> {
    let mut by_interval: std::collections::BTreeMap<(u32, u32), Vec<&Class<N>>> =
        std::collections::BTreeMap::new();
    for class in &node.classes {
        by_interval.entry(class.body.intervals[attribute]).or_default().push(class);
    }
    let mut swept =
        Swept { cost: ground.price.lost(node.n_lost), n_lost: node.n_lost, cuts: Vec::new() };
    for (interval, classes) in by_interval {
        let costs = Costs { ground, attribute, classes: &classes, limit };
        let way = if ground.space.is_tree[attribute] {
            below(&costs, node, interval)
        } else {
            along(&costs, node, interval)
        }?;
        swept.cost += way.cost;
        let bounds: Vec<u32> = [&[interval.0][..], &way.cuts, &[interval.1 + 1]].concat();
        swept.n_lost += bounds.windows(2).map(|pair| costs.n_lost(pair[0], pair[1])).sum::<u64>();
        swept.cuts.extend(way.cuts);
    }
    Some(swept)
}

/// The costs of intervals of one attribute for the classes that share it.
struct Costs<'a, 'b, P, const N: usize> {
    ground: &'a Ground<'b, P, N>,
    attribute: usize,
    classes: &'a [&'a Class<N>],
    limit: u64,
}

impl<P: Price, const N: usize> Costs<'_, '_, P, N> {
    /// The rows from one code up to before another, by lane.
    fn lanes(&self, class: &Class<N>, from: u32, to: u32) -> Vec<u32> {
        let (lo, hi) = class.body.intervals[self.attribute];
        if (from, to) == (lo, hi + 1) {
            return class.body.lanes.clone();
        }
        let below = class.body.below(self.attribute, from);
        let up_to = class.body.below(self.attribute, to);
        up_to.iter().zip(below).map(|(up_to, below)| up_to - below).collect()
    }

    /// `None` if it loses rows although none may be lost.
    fn of(&self, from: u32, to: u32) -> Option<u64> {
        let price = &self.ground.price;
        let loss = if P::HAS_LOSS { price.loss(self.attribute, from, to - 1) } else { 0 };
        let mut cost = 0;
        for class in self.classes {
            let lanes = self.lanes(class, from, to);
            let n_rows = rows(&lanes);
            if n_rows == 0 {
                continue;
            }
            if n_rows < self.ground.k {
                if self.limit == 0 {
                    return None;
                }
                cost += price.lost(n_rows);
                continue;
            }
            let mut all = loss;
            if P::HAS_LOSS {
                let (lo, hi) = class.body.intervals[self.attribute];
                all += class.body.loss - price.loss(self.attribute, lo, hi);
            }
            cost += price.kept(&lanes, all);
        }
        Some(cost)
    }

    fn n_lost(&self, from: u32, to: u32) -> u64 {
        let of = |class: &&Class<N>| rows(&self.lanes(class, from, to));
        self.classes.iter().map(of).filter(|&n_rows| n_rows < self.ground.k).sum()
    }
}

/// The best way to cut an interval along an order: for every place to start from, the best next
/// cut.
fn along<P: Price, const N: usize>(
    costs: &Costs<P, N>,
    node: &Node<N>,
    (lo, hi): (u32, u32),
) -> Option<Way> {
    let steps = &costs.ground.space.steps;
    let tail = node.tail.iter().map(|step| steps[step].before[0]);
    let inside = tail.filter(|&code| lo < code && code <= hi);
    let places: Vec<u32> =
        std::iter::once(lo).chain(inside).chain(std::iter::once(hi + 1)).collect();
    let last = places.len() - 1;
    let table = IntervalCosts::new(costs, &places);
    // From each place: cost, number of cuts, and the next place. On ties, the smallest next place
    // gives the smallest cuts.
    let mut best: Vec<Option<(u64, usize, usize)>> = vec![None; places.len()];
    best[last] = Some((0, 0, last));
    for from in (0..last).rev() {
        best[from] = (from + 1..=last)
            .filter_map(|to| {
                let (cost, n_cuts, _) = best[to]?;
                let cost = cost + table.of(from, to)?;
                Some((cost, n_cuts + usize::from(to < last), to))
            })
            .min();
    }
    let (cost, n_cuts, mut at) = best[0]?;
    let mut cuts = Vec::with_capacity(n_cuts);
    while at < last {
        cuts.push(places[at]);
        at = best[at]?.2;
    }
    Some(Way { cost, n_cuts, cuts })
}

/// The cost of every interval between two places.
struct IntervalCosts {
    n_places: usize,
    costs: Vec<u64>,
}

/// Rows are lost although none may be.
const NEVER: u64 = u64::MAX;

impl IntervalCosts {
    fn new<P: Price, const N: usize>(costs: &Costs<P, N>, places: &[u32]) -> IntervalCosts {
        let n_places = places.len();
        let ground = costs.ground;
        let mut table = IntervalCosts { n_places, costs: vec![0; n_places * n_places] };
        let n_lanes = ground.n_lanes;
        let mut at: Vec<u32> = Vec::with_capacity(n_places * n_lanes);
        let mut lanes = vec![0; n_lanes];
        for class in costs.classes {
            at.clear();
            let (lo, hi) = class.body.intervals[costs.attribute];
            at.extend(std::iter::repeat_n(0, n_lanes));
            for &place in &places[1..n_places - 1] {
                at.extend_from_slice(class.body.below(costs.attribute, place));
            }
            at.extend_from_slice(&class.body.lanes);
            let others = if P::HAS_LOSS {
                class.body.loss - ground.price.loss(costs.attribute, lo, hi)
            } else {
                0
            };
            for from in 0..n_places - 1 {
                let row = &mut table.costs[from * n_places..(from + 1) * n_places];
                for to in from + 1..n_places {
                    let mut n_rows = 0;
                    for lane in 0..n_lanes {
                        lanes[lane] = at[to * n_lanes + lane] - at[from * n_lanes + lane];
                        n_rows += u64::from(lanes[lane]);
                    }
                    if n_rows == 0 || row[to] == NEVER {
                        continue;
                    }
                    row[to] = if n_rows >= ground.k {
                        let loss = if P::HAS_LOSS {
                            let (lo, hi) = (places[from], places[to] - 1);
                            others + ground.price.loss(costs.attribute, lo, hi)
                        } else {
                            0
                        };
                        row[to] + ground.price.kept(&lanes, loss)
                    } else if costs.limit == 0 {
                        NEVER
                    } else {
                        row[to] + ground.price.lost(n_rows)
                    };
                }
            }
        }
        table
    }

    fn of(&self, from: usize, to: usize) -> Option<u64> {
        Some(self.costs[from * self.n_places + to]).filter(|&cost| cost != NEVER)
    }
}

/// The best way to divide the run of a node: not at all, or into its children's runs, each
/// optimally.
fn below<P: Price, const N: usize>(
    costs: &Costs<P, N>,
    node: &Node<N>,
    run: (u32, u32),
) -> Option<Way> {
    let whole = costs.of(run.0, run.1 + 1);
    let whole = whole.map(|cost| Way { cost, n_cuts: 0, cuts: Vec::new() });
    let steps = &costs.ground.space.steps;
    let Some(step) = node.tail.iter().find(|&step| steps[step].run == run) else { return whole };
    let before = &steps[step].before;
    let bounds: Vec<u32> = [&[run.0][..], before, &[run.1 + 1]].concat();
    let mut divided = Some(Way { cost: 0, n_cuts: before.len(), cuts: before.clone() });
    for pair in bounds.windows(2) {
        let part = below(costs, node, (pair[0], pair[1] - 1));
        divided = divided.zip(part).map(|(mut all, part)| {
            all.cost += part.cost;
            all.n_cuts += part.n_cuts;
            all.cuts.extend(part.cuts);
            all.cuts.sort_unstable();
            all
        });
    }
    whole.into_iter().chain(divided).min()
}

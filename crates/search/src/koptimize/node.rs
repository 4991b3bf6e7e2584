//! A node of the search: steps that are made, steps that may still be made, and the resulting
//! classes.

use super::Ground;
use super::along::along;
use super::best::Best;
use super::class::Class;
use super::grid::Grid;
use super::price::Price;
use super::scratch::Scratch;
use super::space::StepSet;

/// Represents the sets of steps that contain all of `made` and some of `tail`: the paper's head set
/// and tail set.
#[derive(Debug)]
pub(super) struct Node<const N: usize> {
    pub(super) made: Vec<usize>,
    pub(super) tail: StepSet,
    /// The classes that may be kept, whole or divided.
    pub(super) classes: Vec<Class<N>>,
    /// By class, a lower bound of the cost of its rows.
    floors: Vec<u64>,
    /// Rows that are lost in any case.
    pub(super) n_lost: u64,
    /// A lower bound of the cost of any set of the node (K2).
    pub(super) floor: u64,
    /// The number of cuts made.
    pub(super) n_cuts: usize,
    /// The tail when the classes were settled.
    settled: StepSet,
}

/// The most cuts of one attribute for which a bound along it takes little time.
const MOST_CUTS: usize = 512;

/// The effect of a single step on the classes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    /// Rows that would be lost.
    n_lost: u64,
    /// The increase of the floor.
    rise: u64,
    /// Pairs of rows that the step separates.
    n_pairs: u64,
    /// Whether it may pay.
    is_useful: bool,
}

/// Buffers that a worker reuses from node to node.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) scratch: Scratch,
    weights: Vec<Weight>,
    rises: Vec<(usize, u64)>,
}

impl<const N: usize> Node<N> {
    /// The node of all sets.
    pub(super) fn root<P: Price>(ground: &Ground<P, N>, desk: &mut Desk) -> Node<N> {
        let n_steps = ground.space.steps.len();
        let mut tail = StepSet::none(n_steps);
        (0..n_steps).for_each(|step| tail.insert(step));
        let grid = Grid::new(ground, &[], &tail, &tail);
        let whole = Class::whole(ground, &grid, &mut desk.scratch);
        let floor = whole.atoms.floor;
        Node {
            made: Vec::new(),
            settled: tail.clone(),
            tail,
            floors: vec![floor],
            classes: vec![whole],
            n_lost: 0,
            floor,
            n_cuts: 0,
        }
    }

    /// A node without classes yet.
    pub(super) fn empty(made: Vec<usize>, tail: StepSet) -> Node<N> {
        Node {
            made,
            settled: tail.clone(),
            tail,
            classes: Vec::new(),
            floors: Vec::new(),
            n_lost: 0,
            floor: 0,
            n_cuts: 0,
        }
    }

    /// The cost of the made steps alone, and the rows that they lose.
    pub(super) fn cost<P: Price>(&self, ground: &Ground<P, N>) -> (u64, u64) {
        let bodies = || self.classes.iter().map(|class| &class.body);
        let cost: u64 = bodies().map(|body| body.cost).sum();
        let broken: u64 = bodies().filter(|body| !body.is_kept).map(|body| body.n_rows).sum();
        (ground.price.lost(self.n_lost) + cost, self.n_lost + broken)
    }

    /// Removes steps from the tail that no best set has, as long as there are any. False if no set
    /// of the node can be best, except the made steps.
    pub(super) fn reduce<P: Price>(
        &mut self,
        ground: &Ground<P, N>,
        desk: &mut Desk,
        best: &Best,
    ) -> bool {
        let n_steps = ground.space.steps.len();
        loop {
            if self.tail.is_empty() {
                return false;
            }
            let grid = Grid::new(ground, &self.made, &self.tail, &self.settled);
            if self.settled != self.tail && !self.settle(ground, &grid, desk, best) {
                return false;
            }
            desk.weights.clear();
            desk.weights.resize(n_steps, Weight::default());
            for at in 0..self.classes.len() {
                self.weigh(ground, &grid, at, desk);
            }
            let sum = self.sum(ground);
            self.floor = self.floor.max(sum);
            if ground.rules.bound && best.beats(self.floor, self.n_cuts + 1) {
                return false;
            }
            self.prune(ground, &desk.weights, best);
            if self.settled == self.tail {
                return true;
            }
        }
    }

    /// The floors of all rows.
    fn sum<P: Price>(&self, ground: &Ground<P, N>) -> u64 {
        ground.price.lost(self.n_lost) + self.floors.iter().sum::<u64>()
    }

    /// Settles the classes, largest first; false as soon as it is clear that no set can be best.
    fn settle<P: Price>(
        &mut self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        desk: &mut Desk,
        best: &Best,
    ) -> bool {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_unstable_by_key(|&at| std::cmp::Reverse(self.classes[at].atoms.keys.len()));
        let mut sum = self.sum(ground);
        for at in order {
            let Some(class) = self.classes[at].settle(ground, grid, &mut desk.scratch) else {
                continue;
            };
            let floor = class.atoms.floor;
            if floor > self.floors[at] {
                sum += floor - self.floors[at];
                self.floors[at] = floor;
            }
            self.classes[at] = class;
            if ground.rules.bound && best.beats(sum, self.n_cuts + 1) {
                return false;
            }
        }
        self.settled.clone_from(&self.tail);
        true
    }

    /// Adds the effect of each step of the tail on a class, and raises the class's floor if no step
    /// pays there.
    fn weigh<P: Price>(
        &mut self,
        ground: &Ground<P, N>,
        grid: &Grid<N>,
        at: usize,
        desk: &mut Desk,
    ) {
        let class = &self.classes[at];
        desk.rises.clear();
        let mut pays = false;
        for (attribute, &interval) in class.body.intervals.iter().enumerate() {
            let live = grid.live(attribute, interval);
            if live.is_empty() {
                continue;
            }
            if ground.space.is_tree[attribute] {
                for step in ground.space.of_attribute[attribute].clone() {
                    let before = ground.space.steps[step].before[0];
                    if self.tail.has(step) && interval.0 < before && before <= interval.1 {
                        pays |= weigh_parts(ground, class, step, desk);
                    }
                }
            } else {
                pays |= weigh_cuts(ground, class, attribute, live, desk);
            }
        }
        let plain = class.atoms.floor;
        if P::HAS_USELESS && ground.rules.local && !pays {
            let whole = ground.price.kept(&class.body.lanes, class.body.loss);
            self.floors[at] = self.floors[at].max(whole);
        }
        let room = self.floors[at] - plain;
        for &(step, rise) in &desk.rises {
            desk.weights[step].rise += rise.saturating_sub(room);
        }
    }

    /// Removes steps from the tail.
    fn prune<P: Price>(&mut self, ground: &Ground<P, N>, weights: &[Weight], best: &Best) {
        let rules = &ground.rules;
        let steps = &ground.space.steps;
        let sum = self.sum(ground);
        // Steps that need another step come after it, so that they are removed before judging
        // whether that step pays.
        let tail: Vec<usize> = self.tail.iter().collect();
        for &step in tail.iter().rev() {
            if !self.tail.has(step) {
                continue;
            }
            let weight = &weights[step];
            let is_last = !self.tail.has_any(step + 1..steps[step].end);
            let is_useless =
                rules.useless && P::HAS_USELESS && ground.is_plain && !weight.is_useful && is_last;
            let is_beyond = rules.limit && self.n_lost + weight.n_lost > ground.problem.limit;
            let n_cuts = self.n_cuts + steps[step].before.len();
            let is_beaten = rules.tail && best.beats(sum + weight.rise, n_cuts);
            if is_useless || is_beyond || is_beaten {
                self.remove(ground, step);
            }
        }
    }

    /// Bounds the node along the attribute with most steps in its tail, and removes those steps
    /// from the tail that no best set has. `None` if no set can be best, otherwise whether a step
    /// was removed.
    pub(super) fn tighten<P: Price>(
        &mut self,
        ground: &Ground<P, N>,
        desk: &mut Desk,
        best: &Best,
    ) -> Option<bool> {
        let n_of = |attribute: usize| {
            let range = ground.space.of_attribute[attribute].clone();
            range.filter(|&step| self.tail.has(step)).count()
        };
        let ordered = (0..ground.fields.len()).filter(|&at| !ground.space.is_tree[at]);
        let Some(longest) = ordered.max_by_key(|&attribute| n_of(attribute)) else {
            return Some(false);
        };
        let n_others = self.tail.iter().count() - n_of(longest);
        if 3 * n_others > 2 * n_of(longest) || n_of(longest) > MOST_CUTS {
            return Some(false);
        }
        let along = along(ground, self, longest, desk)?;
        self.floor = self.floor.max(along.floor);
        if best.beats(self.floor, self.n_cuts + 1) {
            return None;
        }
        let mut has_taken = false;
        for (step, floor) in along.with {
            if best.beats(floor, self.n_cuts + 1) {
                self.remove(ground, step);
                has_taken = true;
            }
        }
        Some(has_taken)
    }

    /// Removes a step from the tail, and those that need it.
    fn remove<P: Price>(&mut self, ground: &Ground<P, N>, step: usize) {
        for gone in step..ground.space.steps[step].end.max(step + 1) {
            self.tail.remove(gone);
        }
    }

    /// The step to decide next: the one that separates most pairs of rows; those of the attribute
    /// that is cut last only if there are no others.
    pub(super) fn choose<P: Price>(&self, ground: &Ground<P, N>, desk: &Desk) -> Option<usize> {
        let steps = &ground.space.steps;
        let is_open =
            |step: &usize| steps[*step].parent.is_none_or(|parent| !self.tail.has(parent));
        let key = |&step: &usize| {
            let is_early = Some(steps[step].attribute) != ground.last;
            (is_early, desk.weights[step].n_pairs, std::cmp::Reverse(step))
        };
        self.tail.iter().filter(is_open).max_by_key(key)
    }

    /// The attribute that all steps of the tail cut, if there is only one.
    pub(super) fn only_attribute<P: Price>(&self, ground: &Ground<P, N>) -> Option<usize> {
        let mut attributes = self.tail.iter().map(|step| ground.space.steps[step].attribute);
        let first = attributes.next()?;
        attributes.all(|attribute| attribute == first).then_some(first)
    }

    /// The node whose sets have the step. `None` if they all lose too many rows.
    pub(super) fn with<P: Price>(&self, ground: &Ground<P, N>, step: usize) -> Option<Node<N>> {
        let mut tail = self.tail.clone();
        tail.remove(step);
        let mut made = self.made.clone();
        made.push(step);
        let grid = Grid::new(ground, &made, &tail, &tail);
        let step = &ground.space.steps[step];
        let mut node = Node {
            classes: Vec::with_capacity(self.classes.len() + 8),
            floors: Vec::with_capacity(self.classes.len() + 8),
            n_lost: self.n_lost,
            floor: 0,
            n_cuts: self.n_cuts + step.before.len(),
            made,
            settled: tail.clone(),
            tail,
        };
        for (class, &floor) in self.classes.iter().zip(&self.floors) {
            let (lo, hi) = class.body.intervals[step.attribute];
            if step.before.iter().all(|&code| code <= lo || code > hi) {
                node.classes.push(class.clone());
                node.floors.push(floor);
                continue;
            }
            let divided = class.divide(ground, &grid, step);
            node.n_lost += divided.n_lost;
            if node.n_lost > ground.problem.limit {
                return None;
            }
            node.floors.extend(divided.parts.iter().map(|part| part.atoms.floor));
            node.classes.extend(divided.parts);
        }
        node.floor = node.sum(ground).max(self.floor);
        Some(node)
    }

    /// A copy of the node.
    pub(super) fn copy(&self) -> Node<N> {
        Node {
            made: self.made.clone(),
            tail: self.tail.clone(),
            classes: self.classes.clone(),
            floors: self.floors.clone(),
            n_lost: self.n_lost,
            floor: self.floor,
            n_cuts: self.n_cuts,
            settled: self.settled.clone(),
        }
    }

    /// The node with this smaller tail.
    pub(super) fn narrowed(mut self, tail: StepSet) -> Node<N> {
        self.tail = tail;
        self
    }

    /// The node whose sets do not have the step.
    pub(super) fn without<P: Price>(mut self, ground: &Ground<P, N>, step: usize) -> Node<N> {
        self.remove(ground, step);
        self
    }
}

/// Adds the effects of single cuts of one attribute on a class. Returns whether any pays.
fn weigh_cuts<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    class: &Class<N>,
    attribute: usize,
    live: &[(u32, usize)],
    desk: &mut Desk,
) -> bool {
    let body = &class.body;
    let lo = body.intervals[attribute].0;
    let running = body.running(attribute);
    let n_lanes = ground.n_lanes;
    let mut pays = false;
    for &(code, step) in live {
        let from = (code - lo) as usize * n_lanes;
        let below = &running[from..from + n_lanes];
        let n_below = super::price::rows(below);
        let n_above = body.n_rows - n_below;
        if n_below == 0 || n_above == 0 {
            continue;
        }
        let weight = &mut desk.weights[step];
        weight.n_pairs += n_below * n_above;
        let (few, many) = if n_below < n_above { (n_below, n_above) } else { (n_above, n_below) };
        if few >= ground.k {
            weight.is_useful = true;
            pays = true;
            continue;
        }
        let mut rise = 0;
        let mut lose = |n_rows: u64, is_below: bool| {
            weight.n_lost += n_rows;
            let floor = if n_lanes == 1 {
                let lane = [u32::try_from(n_rows).expect("below k")];
                ground.price.floor_at_most(&lane, body.loss)
            } else if is_below {
                ground.price.floor_at_most(below, body.loss)
            } else {
                let lanes = body.lanes.iter().zip(below).map(|(all, below)| all - below);
                ground.price.floor_at_most(&lanes.collect::<Vec<u32>>(), body.loss)
            };
            rise += ground.price.lost(n_rows) - floor;
        };
        lose(few, n_below == few);
        if many < ground.k {
            lose(many, n_below != few);
        } else if !ground.price.is_no_gain(few, many) {
            weight.is_useful = true;
            pays = true;
        }
        desk.rises.push((step, rise));
    }
    pays
}

/// Adds the effect of a step with any number of cuts on a class. Returns whether it pays.
fn weigh_parts<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    class: &Class<N>,
    step: usize,
    desk: &mut Desk,
) -> bool {
    let body = &class.body;
    let of = &ground.space.steps[step];
    let bounds = class.bounds(of);
    let (mut n_lost, mut n_kept, mut n_kept_parts, mut n_parts, mut rise) = (0, 0, 0, 0, 0);
    let mut squares = 0;
    for pair in bounds.windows(2) {
        let below = body.below(of.attribute, pair[0]);
        let up_to = body.below(of.attribute, pair[1]);
        let lanes: Vec<u32> = up_to.iter().zip(below).map(|(up_to, below)| up_to - below).collect();
        let n_rows = super::price::rows(&lanes);
        squares += n_rows * n_rows;
        n_parts += u32::from(n_rows > 0);
        if n_rows >= ground.k {
            n_kept_parts += 1;
            n_kept += n_rows;
        } else {
            n_lost += n_rows;
            rise += ground.price.lost(n_rows) - ground.price.floor_at_most(&lanes, body.loss);
        }
    }
    if n_parts < 2 {
        return false;
    }
    let pays = n_kept_parts > 1 || n_kept_parts == 1 && !ground.price.is_no_gain(n_lost, n_kept);
    let weight = &mut desk.weights[step];
    weight.n_pairs += (body.n_rows * body.n_rows - squares) / 2;
    weight.n_lost += n_lost;
    weight.is_useful |= pays;
    desk.rises.push((step, rise));
    pays
}

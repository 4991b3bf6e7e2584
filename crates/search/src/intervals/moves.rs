//! Splits and joins of intervals: weighing and making them.

use std::collections::BTreeMap;

use incrowd_data::{Level, Shape};
use incrowd_privacy::{Tally, all_hold};
use rayon::prelude::*;

use super::{Board, Class, Standing};

/// A change of the cuts of one attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Move {
    /// Divides the interval with these codes before each of them.
    Split { attribute: usize, before: Vec<u32> },
    /// Merges the intervals from the first to the last code.
    Join { attribute: usize, lo: u32, hi: u32 },
}

/// A move and its result.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    pub(crate) made: Move,
    pub(crate) standing: Standing,
    /// Whether the move suppresses no additional rows.
    pub(crate) is_lossless: bool,
}

/// The changes made by a move.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    cost: f64,
    n_suppressed: i64,
}

impl Change {
    fn part(&mut self, n_rows: u64, is_kept: bool, cost: f64) {
        self.cost += cost;
        if !is_kept {
            self.n_suppressed += n_rows.cast_signed();
        }
    }

    fn whole(&mut self, class: &Class) {
        self.cost -= class.cost;
        if !class.is_kept {
            self.n_suppressed -= class.n_rows.cast_signed();
        }
    }
}

impl Board<'_> {
    /// All possible splits, weighed.
    pub(crate) fn splits(&self) -> Vec<Weighed> {
        let n_attributes = self.problem.set.attributes.len();
        let of_attribute = |attribute: usize| {
            let moves = self.split_moves(attribute);
            let mut changes = vec![Change::default(); moves.len()];
            // By first code of an interval, the moves that divide it.
            let mut of_interval: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (at, (lo, _)) in moves.iter().enumerate() {
                of_interval.entry(*lo).or_default().push(at);
            }
            for class in &self.classes {
                let Some(at) = of_interval.get(&class.intervals[attribute].0) else { continue };
                self.weigh_splits(class, attribute, at, &moves, &mut changes);
            }
            let made = moves.into_iter().map(|(_, before)| Move::Split { attribute, before });
            self.weighed(made, &changes)
        };
        (0..n_attributes).into_par_iter().map(of_attribute).collect::<Vec<_>>().concat()
    }

    /// All possible splits.
    pub(crate) fn split_list(&self) -> Vec<Move> {
        (0..self.problem.set.attributes.len())
            .flat_map(|attribute| {
                let moves = self.split_moves(attribute).into_iter();
                moves.map(move |(_, before)| Move::Split { attribute, before })
            })
            .collect()
    }

    /// All possible joins, weighed.
    pub(crate) fn joins(&self) -> Vec<Weighed> {
        let n_attributes = self.problem.set.attributes.len();
        let of_attribute = |attribute: usize| {
            let moves = self.join_moves(attribute);
            let shape = &self.problem.set.attributes[attribute].shape;
            let is_tree = matches!(shape, Shape::Tree(_));
            let mut changes = vec![Change::default(); moves.len()];
            let start = |class: usize| self.classes[class].intervals[attribute].0;
            for alike in self.alike(attribute) {
                // Moves are in the order of their first codes. Pairs of neighbours are also in the
                // order of their last codes; runs of a hierarchy are nested.
                let (first, last) = (start(alike[0]), start(alike[alike.len() - 1]));
                let from = if is_tree { 0 } else { moves.partition_point(|(_, hi)| *hi < first) };
                let is_near = |(at, (lo, _)): &(usize, &(u32, u32))| *at < from || *lo <= last;
                let near = moves.iter().enumerate().take_while(is_near).skip(from);
                for (at, &(lo, hi)) in near {
                    let from = alike.partition_point(|&class| start(class) < lo);
                    let to = alike.partition_point(|&class| start(class) <= hi);
                    if from < to {
                        self.weigh_join(&alike[from..to], attribute, (lo, hi), &mut changes[at]);
                    }
                }
            }
            let made = moves.into_iter().map(|(lo, hi)| Move::Join { attribute, lo, hi });
            self.weighed(made, &changes)
        };
        (0..n_attributes).into_par_iter().map(of_attribute).collect::<Vec<_>>().concat()
    }

    fn weighed(&self, made: impl Iterator<Item = Move>, changes: &[Change]) -> Vec<Weighed> {
        let (now, n_suppressed) = (self.standing(), self.n_suppressed().cast_signed());
        let limit = self.problem.limit;
        made.zip(changes)
            .map(|(made, change)| {
                let is_lossless = change.n_suppressed <= 0;
                let n_suppressed = (n_suppressed + change.n_suppressed).cast_unsigned();
                let n_beyond = n_suppressed.saturating_sub(limit);
                let standing = Standing { n_beyond, cost: now.cost + change.cost };
                Weighed { made, standing, is_lossless }
            })
            .collect()
    }

    /// First code of the interval, and the codes before which it is divided.
    fn split_moves(&self, attribute: usize) -> Vec<(u32, Vec<u32>)> {
        let of = &self.problem.set.attributes[attribute];
        let intervals = self.cuts.intervals(attribute, of.n_codes());
        let mut moves = Vec::new();
        for (lo, hi) in intervals.filter(|(lo, hi)| lo < hi) {
            if let Shape::Tree(hierarchy) = &of.shape {
                let children = hierarchy.parts(lo, hi);
                moves.push((lo, children.iter().skip(1).map(|child| child.lo).collect()));
            } else {
                let places = (lo + 1..=hi).filter(|&code| self.problem.may_cut(attribute, code));
                moves.extend(places.map(|code| (lo, vec![code])));
            }
        }
        moves
    }

    /// Runs of intervals that may be merged.
    fn join_moves(&self, attribute: usize) -> Vec<(u32, u32)> {
        let of = &self.problem.set.attributes[attribute];
        let intervals: Vec<(u32, u32)> = self.cuts.intervals(attribute, of.n_codes()).collect();
        let Shape::Tree(hierarchy) = &of.shape else {
            return intervals.windows(2).map(|pair| (pair[0].0, pair[1].1)).collect();
        };
        let mut runs: Vec<(u32, u32)> = (1..=hierarchy.height().0)
            .flat_map(|level| hierarchy.groups(Level(level)))
            .map(|group| (group.lo, group.hi))
            .filter(|run| {
                let has = |code: u32| intervals.iter().any(|(lo, _)| *lo == code);
                has(run.0) && intervals.iter().any(|(lo, hi)| *lo > run.0 && *hi == run.1)
            })
            .collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }

    /// Adds the changes that moves of one attribute would make to a class.
    fn weigh_splits(
        &self,
        class: &Class,
        attribute: usize,
        at: &[usize],
        moves: &[(u32, Vec<u32>)],
        changes: &mut [Change],
    ) {
        let (lo, hi) = class.intervals[attribute];
        let parts = Parts::new(self, class, attribute);
        let others: f64 = class
            .intervals
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != attribute)
            .map(|(other, &(lo, hi))| self.costs.loss(other, lo, hi))
            .sum();
        for &at in at {
            let change = &mut changes[at];
            change.whole(class);
            let starts = std::iter::once(lo).chain(moves[at].1.iter().copied());
            let ends = moves[at].1.iter().map(|&code| code - 1).chain(std::iter::once(hi));
            for (lo, hi) in starts.zip(ends) {
                let n_rows = parts.rows(lo, hi);
                if n_rows == 0 {
                    continue;
                }
                let is_kept = parts.holds(lo, hi, n_rows);
                let loss = others + self.costs.loss(attribute, lo, hi);
                let majority = parts.majority(lo, hi);
                change.part(n_rows, is_kept, self.costs.of_part(n_rows, majority, is_kept, loss));
            }
        }
    }

    /// Groups of classes that differ on only one attribute, ordered by their interval on it,
    /// including groups of one.
    fn alike(&self, attribute: usize) -> Vec<Vec<usize>> {
        let mut alike: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for (at, class) in self.classes.iter().enumerate() {
            let mut key: Vec<u32> = class.intervals.iter().map(|(lo, _)| *lo).collect();
            key[attribute] = 0;
            alike.entry(key).or_default().push(at);
        }
        let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
        for group in &mut groups {
            group.sort_unstable_by_key(|&class| self.classes[class].intervals[attribute].0);
        }
        groups
    }

    /// Adds the changes of a join to the classes that it merges.
    fn weigh_join(&self, joined: &[usize], attribute: usize, run: (u32, u32), change: &mut Change) {
        let classes = || joined.iter().map(|&class| &self.classes[class]);
        let n_rows = classes().map(|class| class.n_rows).sum();
        let mut targets = vec![0; self.costs.n_targets()];
        for class in classes() {
            targets.iter_mut().zip(&class.targets).for_each(|(sum, rows)| *sum += rows);
            change.whole(class);
        }
        let vectors = classes().flat_map(|class| class.vectors.iter().copied());
        let is_kept = self.costs.holds(self.problem, vectors, n_rows);
        let mut intervals = self.classes[joined[0]].intervals.clone();
        intervals[attribute] = run;
        let cost = self.costs.of_class(n_rows, &targets, is_kept, &intervals);
        change.part(n_rows, is_kept, cost);
    }

    /// Makes a move.
    pub(crate) fn make(&mut self, made: &Move) {
        match made {
            Move::Split { attribute, before } => {
                for &code in before {
                    self.cuts.insert(*attribute, code);
                }
                self.divide(*attribute, before);
            }
            Move::Join { attribute, lo, hi } => {
                self.cuts.join(*attribute, *lo, *hi);
                self.unite(*attribute, (*lo, *hi));
            }
        }
    }

    fn divide(&mut self, attribute: usize, before: &[u32]) {
        let mut classes = Vec::with_capacity(self.classes.len() + before.len());
        for class in std::mem::take(&mut self.classes) {
            let (lo, hi) = class.intervals[attribute];
            if before[0] <= lo || before[0] > hi {
                classes.push(class);
                continue;
            }
            let codes = &self.problem.set.vectors[attribute];
            let mut parts: Vec<Vec<u32>> = vec![Vec::new(); before.len() + 1];
            for &vector in &class.vectors {
                let code = codes.get(vector as usize);
                parts[before.partition_point(|&cut| cut <= code)].push(vector);
            }
            for (at, part) in parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
                let mut intervals = class.intervals.clone();
                intervals[attribute] = (
                    if at == 0 { lo } else { before[at - 1] },
                    before.get(at).map_or(hi, |&cut| cut - 1),
                );
                classes.push(self.class(part, intervals));
            }
        }
        self.classes = classes;
    }

    fn unite(&mut self, attribute: usize, (lo, hi): (u32, u32)) {
        let (inside, mut classes): (Vec<Class>, Vec<Class>) =
            std::mem::take(&mut self.classes).into_iter().partition(|class| {
                let start = class.intervals[attribute].0;
                (lo..=hi).contains(&start)
            });
        let mut united: BTreeMap<Vec<(u32, u32)>, Vec<u32>> = BTreeMap::new();
        for class in inside {
            let mut intervals = class.intervals;
            intervals[attribute] = (lo, hi);
            united.entry(intervals).or_default().extend(class.vectors);
        }
        for (intervals, vectors) in united {
            classes.push(self.class(vectors, intervals));
        }
        self.classes = classes;
    }
}

/// The rows of a class by code of one attribute.
struct Parts<'a, 'b> {
    board: &'a Board<'b>,
    class: &'a Class,
    attribute: usize,
    lo: u32,
    /// Rows with a code below `lo + i`.
    running: Vec<u64>,
    /// The same by target code, if the measure needs it.
    targets: Vec<Vec<u64>>,
    /// Whether the models hold for the rows with a code below `lo + i`, and for the others; empty
    /// if counts decide.
    ends_hold: Vec<(bool, bool)>,
}

impl<'a, 'b> Parts<'a, 'b> {
    fn new(board: &'a Board<'b>, class: &'a Class, attribute: usize) -> Parts<'a, 'b> {
        let (lo, hi) = class.intervals[attribute];
        let set = board.problem.set;
        let codes = &set.vectors[attribute];
        let mut running = vec![0u64; (hi - lo) as usize + 2];
        let mut targets = vec![running.clone(); board.costs.n_targets()];
        for &vector in &class.vectors {
            let rows = u64::from(set.counts[vector as usize]);
            let place = (codes.get(vector as usize) - lo) as usize + 1;
            running[place] += rows;
            if let (false, Some(target)) = (targets.is_empty(), board.problem.target) {
                let code = set.extras[target].codes.get(vector as usize);
                targets[code as usize][place] += rows;
            }
        }
        for sums in targets.iter_mut().chain(std::iter::once(&mut running)) {
            for place in 1..sums.len() {
                sums[place] += sums[place - 1];
            }
        }
        let mut parts =
            Parts { board, class, attribute, lo, running, targets, ends_hold: Vec::new() };
        if !board.costs.only_counts() {
            parts.ends_hold = parts.ends();
        }
        parts
    }

    /// Adds rows code by code, from below and from above.
    fn ends(&self) -> Vec<(bool, bool)> {
        let set = self.board.problem.set;
        let codes = &set.vectors[self.attribute];
        let code = |vector: &u32| codes.get(*vector as usize);
        let mut vectors = self.class.vectors.clone();
        vectors.sort_unstable_by_key(code);
        let n_places = self.running.len();
        let hold = |order: &mut dyn Iterator<Item = &u32>, place: &dyn Fn(u32) -> usize| {
            let mut tally = Tally::new(set, self.board.problem.entity);
            let mut holds = vec![false; n_places];
            let mut now = 0;
            for vector in order {
                // The places up to this code have the rows before it.
                let next = place(code(vector));
                if next > now {
                    holds[now..next].fill(all_hold(self.board.problem.models, tally.class()));
                    now = next;
                }
                tally.add(*vector as usize, set.counts[*vector as usize]);
            }
            holds[now..].fill(all_hold(self.board.problem.models, tally.class()));
            holds
        };
        let (lo, last) = (self.lo, n_places - 1);
        // From below, place `i` has the codes below `lo + i`; from above, those from there on, in
        // reverse order.
        let below = hold(&mut vectors.iter(), &|code| (code - lo) as usize + 1);
        let above = hold(&mut vectors.iter().rev(), &|code| last - (code - lo) as usize);
        below.into_iter().zip(above.into_iter().rev()).collect()
    }

    fn rows(&self, lo: u32, hi: u32) -> u64 {
        self.running[(hi - self.lo) as usize + 1] - self.running[(lo - self.lo) as usize]
    }

    fn majority(&self, lo: u32, hi: u32) -> u64 {
        let between =
            |sums: &Vec<u64>| sums[(hi - self.lo) as usize + 1] - sums[(lo - self.lo) as usize];
        self.targets.iter().map(between).max().unwrap_or(0)
    }

    fn holds(&self, lo: u32, hi: u32, n_rows: u64) -> bool {
        let Board { costs, problem, .. } = self.board;
        if let Some(is_held) = costs.holds_by_count(n_rows) {
            return is_held;
        }
        if lo == self.lo {
            return self.ends_hold[(hi - self.lo) as usize + 1].0;
        }
        if hi == self.class.intervals[self.attribute].1 {
            return self.ends_hold[(lo - self.lo) as usize].1;
        }
        let codes = &problem.set.vectors[self.attribute];
        let is_inside = |vector: &u32| (lo..=hi).contains(&codes.get(*vector as usize));
        costs.holds(problem, self.class.vectors.iter().copied().filter(is_inside), n_rows)
    }
}

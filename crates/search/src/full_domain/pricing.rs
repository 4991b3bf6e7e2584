//! The cost of a node, and lower bounds for the nodes above or below it.
//!
//! Costs are compared as whole numbers of *ticks*, so that ties are exact: rows for the measures
//! that count, 10^-12 for those that are means.
//!
//! # Bounds
//!
//! Let `n` be the rows of the table, `v` a node, `w` any node that generalizes `v` and is
//! generalized by `h`. A class at `w` is a union of classes at `v` and is within a class at `h`; it
//! is released only if it has at least `k` rows. Rows in a class at `h` that breaks a model which
//! holds for supersets are *doomed*: their classes at `w` are subsets and break it too, so they are
//! suppressed.
//!
//! The cost at `w` is at least `floor(v) + excess(h)`:
//!
//! - **Discernibility**: a row costs the size of its class at `w` if it is released, which is at
//!   least `max(k, the size of its class E at v)`, else `n`. So `floor(v) = sum |E| max(|E|, k)`. A
//!   doomed row costs `n` where `floor` counted at most `max(|H|, k)`, `H` being its class at `h`,
//!   so `excess(h) = sum |H| (n - max(|H|, k))` over doomed classes.
//! - **Classification**: the rows outside the majority of a union are at least those outside the
//!   majorities of the parts, and a suppressed row costs 1. `floor(v)` is the sum of the minorities
//!   over all classes; a doomed class `H` costs `|H|` where `floor` counted at most its minority,
//!   so `excess(h)` is the sum of the majorities of doomed classes.
//! - **Loss, entropy, precision**: a released row costs the sum over attributes of the cost of its
//!   value at the attribute's level, which never decreases with the level, and at most as much as a
//!   suppressed row. `floor(v)` is that sum with nothing suppressed, known without counting;
//!   `excess(h)` is the additional cost of suppressing the doomed rows instead of releasing them at
//!   the levels of `h`. Or, if greater, their additional cost over the most expensive released row
//!   at the levels of `v`, since `floor(v)` counted at most this for them.
//! - **Height**: `floor(v)` is the height of `v`.
//! - **Average class size**: bounded by the greatest number of classes. Every class at `w` contains
//!   a class of `v` with `k` rows, or consists of smaller ones only: at most `big(v) + floor(rows
//!   of small classes / k)`. With doomed rows at most `floor((n - doomed) / k)`. The greater of the
//!   two bounds is used. Suppressed rows count as one more class, as in ARX. In the report the
//!   measure is released rows per class, over k, which a release with one small class would
//!   minimise.

use incrowd_data::{Hierarchy, Level, Levels};
use incrowd_quality::Measure;

use crate::Problem;
use crate::frequency::{Counter, Frequencies};

/// A cost as a whole number.
pub(crate) type Ticks = u128;

/// Ticks of a mean of 1.
const MEAN: f64 = 1e12;

/// The fate of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is released.
    Kept,
    /// It breaks a model.
    Suppressed,
    /// It breaks a model that holds for supersets, and so does every part of it.
    Doomed,
}

/// The cost of a node and the bounds it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Price {
    /// The cost of the node.
    pub(crate) cost: Ticks,
    /// The cost in the unit of the measure.
    pub(crate) value: f64,
    /// No generalization costs less.
    pub(crate) floor: Ticks,
    /// What a specialization costs at least in addition to the floor of any node below it.
    pub(crate) excess: Ticks,
}

/// What a node implies for those below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromAbove {
    /// What they cost at least in addition to the floor of any node below them.
    pub(crate) excess: Ticks,
    /// Rows that are suppressed in all of them.
    pub(crate) doomed: u64,
}

/// Costs by one measure.
#[derive(Debug)]
pub(crate) struct Pricing {
    measure: Measure,
    n_rows: u64,
    k: u64,
    /// Whether rows may be suppressed above a node without doomed rows.
    may_suppress: bool,
    by_level: ByLevel,
}

/// Measures that are sums over attributes: the cost of a value by level.
#[derive(Debug, Default)]
struct ByLevel {
    /// By attribute, level and group, the cost of a released row.
    of_group: Vec<Vec<Vec<f64>>>,
    /// By attribute and level, the cost of all rows.
    of_all: Vec<Vec<f64>>,
    /// By attribute and level, the greatest cost of a released row.
    greatest: Vec<Vec<f64>>,
    /// The cost of a suppressed row.
    of_suppressed: f64,
}

impl Pricing {
    pub(crate) fn new(
        problem: &Problem,
        hierarchies: &[&Hierarchy],
        running: &[Vec<u64>],
    ) -> Pricing {
        let all_hold_above = problem.models.iter().all(|model| model.holds_for_supersets());
        Pricing {
            measure: problem.measure,
            n_rows: problem.set.n_rows,
            k: problem.k,
            may_suppress: problem.limit > 0 && !all_hold_above,
            by_level: ByLevel::new(problem, hierarchies, running),
        }
    }

    /// The bound of a node and all above it that follows from the levels alone.
    pub(crate) fn floor_of_levels(&self, levels: &Levels) -> Ticks {
        match self.measure {
            Measure::Height => Ticks::from(levels.height()),
            Measure::Loss | Measure::Entropy | Measure::Precision => {
                ticks(self.by_level.sum(levels))
            }
            Measure::AverageClassSize => Ticks::from(u64::MAX - self.n_rows / self.k.max(1) - 1),
            Measure::Discernibility | Measure::Classification => 0,
        }
    }

    /// A lower bound of the cost of every node from `low` up, if `floor` is a floor of `low` and
    /// the nodes are below one with these limits.
    pub(crate) fn bound(&self, low: &Levels, floor: Ticks, from_above: FromAbove) -> Ticks {
        match self.measure {
            Measure::AverageClassSize => floor.max(from_above.excess),
            Measure::Loss | Measure::Entropy | Measure::Precision => {
                floor + from_above.excess.max(self.by_level.excess(low, from_above.doomed))
            }
            _ => floor + from_above.excess,
        }
    }

    /// The most rows that a node from `low` up can have in classes of fewer than `k` rows and still
    /// cost no more than `best`, if `floor` is a floor of `low`: each of these rows is suppressed,
    /// while `floor` counted it as if its class had `k` rows, or as released.
    pub(crate) fn most_small(&self, low: &Levels, floor: Ticks, best: Ticks) -> u64 {
        let affordable = best.saturating_sub(floor);
        let rows = match self.measure {
            Measure::Discernibility => {
                affordable / Ticks::from(self.n_rows.saturating_sub(self.k)).max(1)
            }
            Measure::Classification => best,
            Measure::AverageClassSize => {
                // The least number of classes, one of them suppressed rows, of k rows each.
                let n_classes = Ticks::from(u64::MAX).saturating_sub(best);
                let rows = n_classes.saturating_sub(1) * Ticks::from(self.k);
                Ticks::from(self.n_rows).saturating_sub(rows)
            }
            Measure::Loss | Measure::Entropy | Measure::Precision => {
                return self.by_level.most_small(low, affordable);
            }
            Measure::Height => return u64::MAX,
        };
        u64::try_from(rows).unwrap_or(u64::MAX)
    }

    /// A number of ticks in the unit of the measure.
    pub(crate) fn value(&self, cost: Ticks) -> f64 {
        match self.measure {
            Measure::Loss | Measure::Entropy | Measure::Precision => cost as f64 / MEAN,
            Measure::AverageClassSize => {
                let n_classes = Ticks::from(u64::MAX).saturating_sub(cost).max(1);
                self.n_rows as f64 / n_classes as f64 / self.k as f64
            }
            _ => cost as f64,
        }
    }

    /// The price of a node whose classes have these fates. `majority` returns, for a class, the
    /// rows with its most frequent target value.
    pub(crate) fn price(
        &self,
        counter: &Counter,
        at: &Frequencies,
        fates: &[Fate],
        majority: impl Fn(usize) -> u64,
    ) -> Price {
        let classes = at.counts.iter().map(|&rows| u64::from(rows)).zip(fates.iter().copied());
        match self.measure {
            Measure::Discernibility => self.discernibility(classes),
            Measure::AverageClassSize => self.class_size(classes),
            Measure::Classification => {
                let majorities = (0..fates.len()).map(majority);
                classification(classes.zip(majorities))
            }
            Measure::Height => whole(at.levels.height().into(), at.levels.height().into(), 0),
            Measure::Loss | Measure::Entropy | Measure::Precision => {
                self.by_level.price(counter, at, fates)
            }
        }
    }

    fn discernibility(&self, classes: impl Iterator<Item = (u64, Fate)>) -> Price {
        let n = Ticks::from(self.n_rows);
        let (mut cost, mut floor, mut excess) = (0, 0, 0);
        for (rows, fate) in classes {
            let at_least = Ticks::from(rows.max(self.k)).min(n);
            let rows = Ticks::from(rows);
            cost += rows * if fate == Fate::Kept { rows } else { n };
            floor += rows * at_least;
            excess += if fate == Fate::Doomed { rows * (n - at_least) } else { 0 };
        }
        whole(cost, floor, excess)
    }

    fn class_size(&self, classes: impl Iterator<Item = (u64, Fate)>) -> Price {
        let (mut n_kept, mut n_big, mut small_rows, mut suppressed, mut doomed) = (0, 0, 0, 0, 0);
        for (rows, fate) in classes {
            n_kept += u64::from(fate == Fate::Kept);
            n_big += u64::from(rows >= self.k);
            small_rows += if rows < self.k { rows } else { 0 };
            suppressed += if fate == Fate::Kept { 0 } else { rows };
            doomed += if fate == Fate::Doomed { rows } else { 0 };
        }
        let n_classes = n_kept + u64::from(suppressed > 0);
        let one_more = u64::from(self.may_suppress || doomed > 0);
        let most_above = n_big + small_rows / self.k + one_more;
        let most_below = (self.n_rows - doomed) / self.k + 1;
        Price {
            cost: Ticks::from(u64::MAX - n_classes),
            value: self.n_rows as f64 / n_classes.max(1) as f64 / self.k as f64,
            floor: Ticks::from(u64::MAX - most_above),
            excess: Ticks::from(u64::MAX - most_below),
        }
    }
}

/// A price in whole numbers.
fn whole(cost: Ticks, floor: Ticks, excess: Ticks) -> Price {
    Price { cost, value: cost as f64, floor, excess }
}

fn classification(classes: impl Iterator<Item = ((u64, Fate), u64)>) -> Price {
    let (mut cost, mut floor, mut excess) = (0, 0, 0);
    for ((rows, fate), majority) in classes {
        cost += if fate == Fate::Kept { rows - majority } else { rows };
        floor += rows - majority;
        excess += if fate == Fate::Doomed { majority } else { 0 };
    }
    whole(cost.into(), floor.into(), excess.into())
}

/// A mean in ticks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never below 0")]
fn ticks(mean: f64) -> Ticks {
    (mean.max(0.0) * MEAN).round() as Ticks
}

impl ByLevel {
    fn new(problem: &Problem, hierarchies: &[&Hierarchy], running: &[Vec<u64>]) -> ByLevel {
        match problem.measure {
            Measure::Loss => {
                ByLevel::means(problem, hierarchies, running, |attribute, level, group| {
                    let attribute = &problem.set.attributes[attribute];
                    attribute.loss(&attribute.cell_at(level, group))
                })
            }
            Measure::Precision => {
                ByLevel::means(problem, hierarchies, running, |attribute, level, _| {
                    f64::from(level.0) / f64::from(hierarchies[attribute].height().0.max(1))
                })
            }
            Measure::Entropy => ByLevel::entropy(problem.set.n_rows, hierarchies, running),
            _ => ByLevel::default(),
        }
    }

    /// The weighted mean loss of a cell, from 0 to 1.
    fn means(
        problem: &Problem,
        hierarchies: &[&Hierarchy],
        running: &[Vec<u64>],
        lost: impl Fn(usize, Level, u32) -> f64,
    ) -> ByLevel {
        let given = |attribute: usize| problem.weights.get(attribute).copied().unwrap_or(1.0);
        // Only their ratios matter; the greatest is 1, so that no sum overflows.
        let greatest = (0..hierarchies.len()).map(given).fold(f64::MIN_POSITIVE, f64::max);
        let weight = |attribute: usize| given(attribute) / greatest;
        let all_weights: f64 = (0..hierarchies.len()).map(weight).sum();
        let n_rows = problem.set.n_rows.max(1) as f64;
        let mut costs = ByLevel { of_suppressed: 1.0 / n_rows, ..ByLevel::default() };
        for (attribute, hierarchy) in hierarchies.iter().enumerate() {
            let scale = weight(attribute) / all_weights / n_rows;
            let of_group = |level: Level, group: u32| lost(attribute, level, group) * scale;
            costs.push(&running[attribute], hierarchy, of_group, 0.0);
        }
        costs
    }

    fn entropy(n_rows: u64, hierarchies: &[&Hierarchy], running: &[Vec<u64>]) -> ByLevel {
        let n_rows = n_rows.max(1) as f64;
        let bits = |rows: u64| if rows == 0 { 0.0 } else { (rows as f64).log2() };
        // Sum of f log f over the values of an attribute: what is known about a cell in any case.
        let known = |running: &[u64]| -> f64 {
            let rows = running.windows(2).map(|pair| pair[1] - pair[0]);
            rows.map(|f| f as f64 * bits(f)).sum()
        };
        let most: f64 = running.iter().map(|r| n_rows * n_rows.log2() - known(r)).sum();
        let scale = if most > 0.0 { 1.0 / most } else { 0.0 };
        let n_attributes = hierarchies.len() as f64;
        let mut costs =
            ByLevel { of_suppressed: n_attributes * n_rows.log2() * scale, ..ByLevel::default() };
        for (attribute, hierarchy) in hierarchies.iter().enumerate() {
            let running = &running[attribute];
            let of_group = |level: Level, group: u32| {
                let group = &hierarchy.groups(level)[group as usize];
                bits(running[group.hi as usize + 1] - running[group.lo as usize]) * scale
            };
            costs.push(running, hierarchy, of_group, known(running) * scale);
        }
        costs
    }

    fn push(
        &mut self,
        running: &[u64],
        hierarchy: &Hierarchy,
        of_group: impl Fn(Level, u32) -> f64,
        known: f64,
    ) {
        let (mut by_level, mut of_all, mut greatest) = (Vec::new(), Vec::new(), Vec::new());
        for level in (0..=hierarchy.height().0).map(Level) {
            let groups = hierarchy.groups(level);
            let of_groups: Vec<f64> =
                (0u32..).zip(groups).map(|(group, _)| of_group(level, group)).collect();
            let rows = groups.iter().map(|g| running[g.hi as usize + 1] - running[g.lo as usize]);
            let sum: f64 = rows.zip(&of_groups).map(|(rows, cost)| rows as f64 * cost).sum();
            // Rounding must not make a higher level cheaper.
            let below = of_all.last().copied().unwrap_or(0.0);
            of_all.push((sum - known).max(below));
            greatest.push(of_groups.iter().copied().fold(0.0, f64::max));
            by_level.push(of_groups);
        }
        self.greatest.push(greatest);
        self.of_group.push(by_level);
        self.of_all.push(of_all);
    }

    /// The cost of a node if nothing is suppressed.
    fn sum(&self, levels: &Levels) -> f64 {
        self.of_all.iter().zip(levels.iter()).map(|(all, level)| all[usize::from(level.0)]).sum()
    }

    /// The additional cost of a suppressed row over any released row at these levels.
    fn excess_of_row(&self, levels: &Levels) -> f64 {
        let greatest = self.greatest.iter().zip(levels.iter());
        let released: f64 = greatest.map(|(by_level, level)| by_level[usize::from(level.0)]).sum();
        self.of_suppressed - released
    }

    /// The additional cost of this number of suppressed rows over released rows at these levels.
    fn excess(&self, levels: &Levels, doomed: u64) -> Ticks {
        // Elsewhere these are added up in another order: a little less is still a bound.
        ticks(doomed as f64 * self.excess_of_row(levels)).saturating_sub(2)
    }

    /// The number of rows whose excess is affordable.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of rows, or more than there are"
    )]
    fn most_small(&self, levels: &Levels, affordable: Ticks) -> u64 {
        let of_row = self.excess_of_row(levels) * MEAN;
        if of_row > 0.0 { ((affordable + 4) as f64 / of_row) as u64 } else { u64::MAX }
    }

    fn price(&self, counter: &Counter, at: &Frequencies, fates: &[Fate]) -> Price {
        let all_kept = self.sum(&at.levels);
        let (mut more, mut excess) = (0.0, 0.0);
        for (group, fate) in fates.iter().enumerate().filter(|(_, fate)| **fate != Fate::Kept) {
            let released: f64 = self
                .of_group
                .iter()
                .zip(at.levels.iter())
                .enumerate()
                .map(|(attribute, (costs, level))| {
                    costs[usize::from(level.0)][counter.group(at, group, attribute) as usize]
                })
                .sum();
            let more_of_group =
                f64::from(at.counts[group]) * (self.of_suppressed - released).max(0.0);
            more += more_of_group;
            excess += if *fate == Fate::Doomed { more_of_group } else { 0.0 };
        }
        let value = all_kept + more;
        Price {
            cost: ticks(value),
            value,
            floor: ticks(all_kept),
            // Elsewhere these are added up in another order: a little less is still a bound.
            excess: ticks(excess).saturating_sub(2),
        }
    }
}

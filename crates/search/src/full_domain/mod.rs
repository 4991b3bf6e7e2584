//! What all full-domain searches share: the lattice of a problem, the verdict on a node, and the
//! outcome that releases a node.

mod checked;
mod graph;
mod pricing;
mod select;
#[cfg(test)]
pub(crate) mod tests;

use incrowd_data::{
    Assignment, Group, Hierarchy, Level, Levels, SUPPRESSED, Shape, running_counts,
};
use incrowd_privacy::{Class, Histogram, Model, Tally, all_hold};
use incrowd_quality::Measure;
use rayon::prelude::*;

use crate::frequency::{Counter, Frequencies};
use crate::lattice::Lattice;
use crate::{Counters, Found, Infeasible, MinimalNode, Outcome, Problem, Proof, Recoding};

pub(crate) use checked::{Checked, Seen};
pub(crate) use graph::{Graph, Spent};
use pricing::Fate;
pub(crate) use pricing::{FromAbove, Price, Pricing, Ticks};
pub(crate) use select::conclude;

/// What is known about a node whose frequency set was counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    /// Rows in classes that break a model.
    pub(crate) n_suppressed: u64,
    /// Those rows among them that every specialization suppresses.
    n_doomed: u64,
    /// Whether the node can be released.
    pub(crate) is_feasible: bool,
    /// Whether no specialization of it can be released: too many rows are doomed.
    pub(crate) is_hopeless: bool,
    pub(crate) price: Price,
}

impl Verdict {
    /// The entry of a minimal node in the listing.
    pub(crate) fn minimal_node(&self, levels: Levels) -> MinimalNode {
        MinimalNode { levels, n_suppressed: self.n_suppressed, cost: self.price.value }
    }

    /// What the node implies for the nodes below.
    pub(crate) fn tells_below(&self) -> FromAbove {
        FromAbove { excess: self.price.excess, doomed: self.n_doomed }
    }
}

/// Judges whether the nodes of a problem can be released, and what they cost.
pub(crate) struct Judge<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) counter: Counter<'a>,
    pub(crate) pricing: Pricing,
    pub(crate) lattice: Lattice,
    /// By attribute, the running counts of its values.
    pub(crate) running: Vec<Vec<u64>>,
    /// Index of the target among the counted extras.
    target: Option<usize>,
    /// The extras whose spreads are counted.
    extras: Vec<usize>,
}

impl<'a> Judge<'a> {
    /// Sets up a problem; an error with the outcome if there is nothing to search.
    pub(crate) fn new(problem: &'a Problem<'a>) -> Result<Judge<'a>, Outcome> {
        if problem.set.is_empty() {
            return Err(Outcome::Infeasible(Infeasible::Empty));
        }
        let hierarchies: Option<Vec<&Hierarchy>> = problem
            .set
            .attributes
            .iter()
            .map(|attribute| match &attribute.shape {
                Shape::Tree(hierarchy) => Some(hierarchy),
                _ => None,
            })
            .collect();
        let Some(hierarchies) = hierarchies else {
            return Err(Outcome::Infeasible(Infeasible::NoHierarchy));
        };
        let needs_target = problem.measure == Measure::Classification;
        let extras: Vec<usize> = (0..problem.set.extras.len())
            .filter(|&extra| {
                let is_looked_at =
                    problem.models.iter().any(|model| model.looks_at() == Some(extra));
                let is_target = needs_target && problem.target == Some(extra);
                is_looked_at || is_target || problem.entity == Some(extra)
            })
            .collect();
        let target = problem.target.filter(|_| needs_target);
        let target = target.and_then(|target| extras.iter().position(|&extra| extra == target));
        let counter = Counter::new(problem.set, hierarchies.clone(), extras.clone())
            .map_err(|_| Outcome::Infeasible(Infeasible::TooWide))?;
        let running: Vec<Vec<u64>> = (0..hierarchies.len())
            .into_par_iter()
            .map(|attribute| running_counts(problem.set, attribute))
            .collect();
        let pricing = Pricing::new(problem, &hierarchies, &running);
        let lattice = lattice(problem, &hierarchies);
        Ok(Judge { problem, counter, pricing, lattice, running, target, extras })
    }

    /// The verdict on a node with all attributes.
    pub(crate) fn verdict(&self, at: &Frequencies) -> Verdict {
        let fates = self.fates(at);
        let majority = |group: usize| {
            let spread = self.target.map(|target| at.spreads[target].of_group(group));
            let most = spread.and_then(|entries| entries.iter().map(|(_, rows)| *rows).max());
            u64::from(most.unwrap_or(0))
        };
        let price = self.pricing.price(&self.counter, at, &fates, majority);
        let Sums { kept, suppressed, doomed } = Sums::of(at, &fates);
        let is_within = suppressed <= self.problem.limit && kept > 0;
        Verdict {
            n_suppressed: suppressed,
            n_doomed: doomed,
            is_feasible: is_within
                && self.stars_hold(at, &fates, suppressed)
                && self.release_holds(at, &fates, suppressed),
            is_hopeless: doomed > self.problem.limit
                || kept + (suppressed - doomed) == 0
                || self.is_broken_below(suppressed),
            price,
        }
    }

    /// Whether a node over some attributes, or over all, is not hopeless: the condition used by the
    /// searches that rely on the laws of the lattice. It is monotone for any models, and equivalent
    /// to feasibility if all models hold for supersets or if nothing may be suppressed.
    pub(crate) fn may_hold(&self, at: &Frequencies) -> bool {
        let judged = Sums::of(at, &self.fates(at));
        judged.doomed <= self.problem.limit
            && judged.doomed < self.problem.set.n_rows
            && !self.is_broken_below(judged.suppressed)
    }

    /// Whether [`Judge::may_hold`] decides feasibility.
    pub(crate) fn is_monotone(&self) -> bool {
        let models = &self.problem.models;
        let holds_above = models.iter().all(|model| model.holds_for_supersets());
        let is_unsuppressed = self.problem.limit == 0;
        let is_monotone = models.iter().all(|model| model.is_monotone());
        let stars = self.problem.stars && !is_unsuppressed;
        !stars && (holds_above || is_unsuppressed && is_monotone)
    }

    /// If nothing may be suppressed, a class that breaks a monotone model has a part that does.
    /// With a model that is not monotone, it is unknown which model was broken.
    fn is_broken_below(&self, suppressed: u64) -> bool {
        let all_monotone = self.problem.models.iter().all(|model| model.is_monotone());
        self.problem.limit == 0 && all_monotone && suppressed > 0
    }

    /// Whether the suppressed rows, released as `*`, are a class that satisfies every model.
    fn stars_hold(&self, at: &Frequencies, fates: &[Fate], suppressed: u64) -> bool {
        if !self.problem.stars || suppressed == 0 {
            return true;
        }
        let mut class = self.empty_class();
        for group in (0..fates.len()).filter(|&group| fates[group] != Fate::Kept) {
            self.add(&mut class, at, group);
        }
        all_hold(self.problem.models, &class)
    }

    /// Whether every released class satisfies the models relative to the released rows; starred
    /// rows count as released.
    fn release_holds(&self, at: &Frequencies, fates: &[Fate], suppressed: u64) -> bool {
        if self.problem.only_counts() || self.problem.stars || suppressed == 0 {
            return true;
        }
        let kept = || (0..fates.len()).filter(|&group| fates[group] == Fate::Kept);
        let mut release = self.empty_class();
        kept().for_each(|group| self.add(&mut release, at, group));
        let mut class = self.empty_class();
        let mut holds = |group: usize| {
            self.fill(&mut class, at, group);
            self.problem.models.iter().all(|model| model.holds_within(&release, &class))
        };
        kept().all(&mut holds)
    }

    fn fates(&self, at: &Frequencies) -> Vec<Fate> {
        let k = self.problem.k;
        if self.problem.only_counts() {
            let fate = |&rows: &u32| if u64::from(rows) < k { Fate::Doomed } else { Fate::Kept };
            return at.counts.iter().map(fate).collect();
        }
        let mut class = self.empty_class();
        (0..at.n_groups())
            .map(|group| {
                if u64::from(at.counts[group]) < k {
                    return Fate::Doomed;
                }
                self.fill(&mut class, at, group);
                fate(self.problem.models, &class)
            })
            .collect()
    }

    fn empty_class(&self) -> Class {
        let extras = &self.problem.set.extras;
        let histograms = extras.iter().map(|extra| Histogram::new(extra.n_codes)).collect();
        Class { n_rows: 0, n_entities: 0, histograms }
    }

    /// Makes a class of exactly one group.
    fn fill(&self, class: &mut Class, at: &Frequencies, group: usize) {
        class.n_rows = 0;
        class.histograms.iter_mut().for_each(Histogram::clear);
        self.add(class, at, group);
    }

    fn add(&self, class: &mut Class, at: &Frequencies, group: usize) {
        class.n_rows += u64::from(at.counts[group]);
        for (&extra, spread) in self.extras.iter().zip(&at.spreads) {
            for &(code, rows) in spread.of_group(group) {
                class.histograms[extra].add(code, u64::from(rows));
            }
        }
        class.n_entities = match self.problem.entity {
            Some(entity) => class.histograms[entity].present().len() as u64,
            None => class.n_rows,
        };
    }

    /// By attribute and level, the number of groups that have rows.
    pub(crate) fn distinct_values(&self) -> Vec<Vec<usize>> {
        let of_attribute = |attribute: usize| {
            let running = &self.running[attribute];
            let hierarchy = self.counter.hierarchies()[attribute];
            let has_rows =
                |group: &&Group| running[group.hi as usize + 1] > running[group.lo as usize];
            let levels = (0..=hierarchy.height().0).map(Level);
            levels.map(|level| hierarchy.groups(level).iter().filter(has_rows).count()).collect()
        };
        (0..self.lattice.n_attributes()).map(of_attribute).collect()
    }

    /// The outcome that releases a node.
    pub(crate) fn found(&self, node: &Levels, proof: Proof, checked: Checked) -> Found {
        let (at, group_of) = self.counter.scan_groups(node);
        let mut next = 0;
        let class_of_group: Vec<u32> = self
            .fates(&at)
            .into_iter()
            .map(|fate| match fate {
                Fate::Kept => {
                    next += 1;
                    next - 1
                }
                Fate::Suppressed | Fate::Doomed => SUPPRESSED,
            })
            .collect();
        let class_of = group_of.iter().map(|&group| class_of_group[group as usize]).collect();
        Found {
            assignment: Assignment::of_whole_vectors(class_of, next),
            recoding: Recoding::FullDomain(at.levels),
            proof,
            counters: Counters {
                nodes_checked: checked.nodes,
                nodes_checked_transitive: checked.transitive,
                nodes_total: self.lattice.n_nodes(),
                table_scans: self.counter.n_scans(),
                rollups: self.counter.n_rollups(),
            },
            minimal: None,
            stopped: None,
        }
    }

    /// Why no node can be released, judged from the most general one.
    pub(crate) fn infeasible(&self) -> Outcome {
        let high = self.lattice.high();
        let at = self.counter.scan(high);
        let fates = self.fates(&at);
        let mut broken: Vec<(String, u64)> = Vec::new();
        let mut class = self.empty_class();
        let models = self.problem.models;
        let mut rows_of_model = vec![0u64; models.len()];
        for group in 0..at.n_groups() {
            self.fill(&mut class, &at, group);
            for (rows, _) in
                rows_of_model.iter_mut().zip(models).filter(|(_, model)| !model.holds(&class))
            {
                *rows += class.n_rows;
            }
        }
        for (model, rows) in models.iter().zip(rows_of_model).filter(|(_, rows)| *rows > 0) {
            broken.push((model.describe(), rows));
        }
        let n_suppressed = Sums::of(&at, &fates).suppressed;
        let mut tops = self.counter.hierarchies().iter().zip(high.iter());
        let is_bounded = tops.any(|(hierarchy, level)| level < hierarchy.height());
        Outcome::Infeasible(Infeasible::EveryNode {
            broken,
            n_suppressed,
            breaks_as_stars: !self.stars_hold(&at, &fates, n_suppressed),
            largest_k: self.largest_k(&at),
            is_bounded,
            higher_levels_help: is_bounded && self.roots_hold(),
            is_least: self.problem.models.iter().all(|model| model.holds_for_supersets()),
        })
    }

    /// Whether all rows together satisfy the models.
    fn roots_hold(&self) -> bool {
        let set = self.problem.set;
        let mut tally = Tally::new(set, self.problem.entity);
        for (vector, &rows) in set.counts.iter().enumerate() {
            tally.add(vector, rows);
        }
        all_hold(self.problem.models, tally.class())
    }

    /// The greatest k that is within the suppression limit at the most general node, if
    /// k-anonymity, of rows or of entities, is the only requirement.
    fn largest_k(&self, at: &Frequencies) -> Option<u64> {
        let only_k = self.problem.models.iter().all(|model| model.least_rows().is_some());
        if !only_k || self.problem.stars && self.problem.limit > 0 {
            return None;
        }
        // What k counts in each class, with the rows.
        let mut sizes: Vec<(u64, u64)> = (0..at.n_groups())
            .map(|group| {
                let mut class = self.empty_class();
                self.add(&mut class, at, group);
                (class.n_entities, class.n_rows)
            })
            .collect();
        sizes.sort_unstable();
        let mut smaller = 0;
        let is_too_many = |(_, rows): &&(u64, u64)| {
            smaller += rows;
            smaller > self.problem.limit
        };
        // Some row must be released, whatever the limit.
        let k = sizes.iter().find(is_too_many).or(sizes.last());
        k.map(|(k, _)| *k).filter(|&k| (2..self.problem.k).contains(&k))
    }
}

#[derive(Default)]
struct Sums {
    kept: u64,
    suppressed: u64,
    doomed: u64,
}

impl Sums {
    fn of(at: &Frequencies, fates: &[Fate]) -> Sums {
        let mut sums = Sums::default();
        for (&rows, fate) in at.counts.iter().zip(fates) {
            let rows = u64::from(rows);
            match fate {
                Fate::Kept => sums.kept += rows,
                Fate::Suppressed => sums.suppressed += rows,
                Fate::Doomed => {
                    sums.suppressed += rows;
                    sums.doomed += rows;
                }
            }
        }
        sums
    }
}

fn fate(models: &[Box<dyn Model>], class: &Class) -> Fate {
    let mut fate = Fate::Kept;
    for model in models.iter().filter(|model| !model.holds(class)) {
        if model.holds_for_supersets() {
            return Fate::Doomed;
        }
        fate = Fate::Suppressed;
    }
    fate
}

/// The nodes between the levels that the problem allows.
fn lattice(problem: &Problem, hierarchies: &[&Hierarchy]) -> Lattice {
    let bounds = |attribute: usize, height: Level| {
        problem.levels.get(attribute).copied().unwrap_or((Level(0), height))
    };
    let bounds: Vec<(Level, Level)> = hierarchies
        .iter()
        .enumerate()
        .map(|(attribute, hierarchy)| bounds(attribute, hierarchy.height()))
        .collect();
    let low = Levels::new(bounds.iter().map(|(low, _)| *low));
    let high =
        Levels::new(bounds.iter().zip(hierarchies).map(|((_, high), h)| (*high).min(h.height())));
    Lattice::between(low, high).expect("levels were checked against the hierarchies")
}

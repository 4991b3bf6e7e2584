//! Which attributes are the body of a butterfly and which are its wings.

use incrowd_data::FrequencySet;
use incrowd_privacy::{KAnonymity, Model};

use crate::{Budget, Problem, QuasiSet};

/// Attributes that are recoded together, as a table of their own, with the models for its classes.
pub(super) struct SubTable {
    pub(super) attributes: Vec<usize>,
    pub(super) set: FrequencySet,
    pub(super) models: Vec<Box<dyn Model>>,
    pub(super) k: u64,
}

impl SubTable {
    pub(super) fn new(problem: &Problem, attributes: Vec<usize>, k: u64) -> SubTable {
        let set = problem.set;
        let others = problem.models.iter().filter(|model| model.least_rows().is_none());
        let anonymity = KAnonymity::new(k).ok().map(|model| Box::new(model) as Box<dyn Model>);
        let needs_extras = !problem.only_counts();
        SubTable {
            set: FrequencySet {
                attributes: attributes.iter().map(|&at| set.attributes[at].clone()).collect(),
                vectors: attributes.iter().map(|&at| set.vectors[at].clone()).collect(),
                counts: set.counts.clone(),
                extras: if needs_extras { set.extras.clone() } else { Vec::new() },
                n_rows: set.n_rows,
            },
            models: anonymity.into_iter().chain(others.map(|model| model.boxed())).collect(),
            attributes,
            k,
        }
    }

    /// The problem of this part alone.
    pub(super) fn problem<'a>(&'a self, whole: &Problem, budget: &'a Budget) -> Problem<'a> {
        Problem { entity: whole.entity, ..Problem::new(&self.set, &self.models, self.k, budget) }
    }
}

/// The body and the wings of every butterfly of a table (Definition 2 for any number of sets).
pub(super) struct Anatomy {
    /// The attributes that two or more sets share. A class of it must satisfy every set.
    pub(super) body: SubTable,
    /// For each set that has others, its other attributes.
    pub(super) wings: Vec<SubTable>,
}

impl Anatomy {
    /// The anatomy for sets, none of which implies another.
    pub(super) fn new(problem: &Problem, sets: &[QuasiSet]) -> Anatomy {
        let (body, wings) = body_and_wings(sets);
        let wings = wings.into_iter().map(|(own, k)| SubTable::new(problem, own, k)).collect();
        Anatomy { body: SubTable::new(problem, body, problem.k), wings }
    }
}

/// The attributes that two or more sets share, and for each set that has others, these with its k.
pub(super) fn body_and_wings(sets: &[QuasiSet]) -> (Vec<usize>, Vec<(Vec<usize>, u64)>) {
    let n_sets = |at: usize| sets.iter().filter(|set| set.attributes.contains(&at)).count();
    let mut all: Vec<usize> = sets.iter().flat_map(|set| set.attributes.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let body: Vec<usize> = all.into_iter().filter(|&at| n_sets(at) > 1).collect();
    let wing = |set: &QuasiSet| {
        let own = set.attributes.iter().copied().filter(|at| !body.contains(at));
        (own.collect::<Vec<usize>>(), set.k)
    };
    let wings = sets.iter().map(wing).filter(|(own, _)| !own.is_empty()).collect();
    (body, wings)
}

/// Groups of sets that share attributes, directly or through others. Groups can be recoded
/// independently.
pub(super) fn components(sets: &[QuasiSet]) -> Vec<Vec<QuasiSet>> {
    let mut components: Vec<Vec<QuasiSet>> = Vec::new();
    for set in sets {
        let touches =
            |other: &QuasiSet| set.attributes.iter().any(|at| other.attributes.contains(at));
        let (near, apart): (Vec<_>, Vec<_>) =
            components.into_iter().partition(|component| component.iter().any(touches));
        components = apart;
        components.push(near.into_iter().flatten().chain([set.clone()]).collect());
    }
    components
}

/// The sets that no other set implies. A set that is contained in another one and has no greater k
/// is implied by it: its classes are unions of the other's.
pub(super) fn effective(problem: &Problem) -> Vec<QuasiSet> {
    let all: Vec<usize> = (0..problem.set.attributes.len()).collect();
    let is_known = |at: &usize| problem.sets.iter().any(|set| set.attributes.contains(at));
    if !all.iter().all(is_known) {
        return vec![QuasiSet { attributes: all, k: problem.k }];
    }
    without_implied(problem.sets, is_monotone(problem))
}

/// Whether unions of classes that satisfy the models satisfy them too.
pub(super) fn is_monotone(problem: &Problem) -> bool {
    problem.models.iter().all(|model| model.is_monotone())
}

/// The sets that no other one implies.
pub(super) fn without_implied(sets: &[QuasiSet], is_monotone: bool) -> Vec<QuasiSet> {
    let contains = |other: &QuasiSet, set: &QuasiSet| {
        let is_within = set.attributes.iter().all(|at| other.attributes.contains(at));
        is_within && (is_monotone || set.attributes.len() == other.attributes.len())
    };
    let is_implied = |at: usize, set: &QuasiSet| {
        sets.iter().enumerate().any(|(other_at, other)| {
            let is_same = contains(set, other) && set.k == other.k;
            other_at != at
                && contains(other, set)
                && set.k <= other.k
                && (!is_same || other_at < at)
        })
    };
    let sets = sets.iter().enumerate().filter(|(at, set)| !is_implied(*at, set));
    sets.map(|(_, set)| set.clone()).collect()
}

#[cfg(test)]
mod tests {
    use incrowd_privacy::KAnonymity;
    use incrowd_testkit::table;

    use super::*;
    use crate::Budget;

    fn set(k: u64, attributes: &[usize]) -> QuasiSet {
        QuasiSet { attributes: attributes.to_vec(), k }
    }

    /// The sets that are left, and the attributes of the body and of each wing.
    fn check(sets: &[QuasiSet], left: &[usize], body: &[usize], wings: &[&[usize]]) {
        let table = table("a:num b:num c:num d:num", "1 2 3 4\n2 3 4 5\n");
        let frequencies = table.frequency_set();
        let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(2).unwrap())];
        let budget = Budget::unlimited();
        let k = sets.iter().map(|set| set.k).max().unwrap();
        let problem = Problem { sets, ..Problem::new(&frequencies, &models, k, &budget) };
        let effective = effective(&problem);
        let expected: Vec<QuasiSet> = left.iter().map(|&at| sets[at].clone()).collect();
        assert_eq!(effective, expected);
        let anatomy = Anatomy::new(&problem, &effective);
        assert_eq!(anatomy.body.attributes, body);
        let found: Vec<&[usize]> =
            anatomy.wings.iter().map(|wing| wing.attributes.as_slice()).collect();
        assert_eq!(found, wings);
    }

    #[test]
    fn every_combination_of_sets() {
        // Overlapping.
        check(&[set(2, &[0, 1, 2]), set(2, &[2, 3])], &[0, 1], &[2], &[&[0, 1], &[3]]);
        // One contains the other: it implies the other, unless the other's k is greater.
        check(&[set(2, &[0, 1]), set(2, &[0, 1, 2, 3])], &[1], &[], &[&[0, 1, 2, 3]]);
        check(&[set(5, &[0, 1]), set(2, &[0, 1, 2, 3])], &[0, 1], &[0, 1], &[&[2, 3]]);
        // The same twice: the greater k counts.
        check(&[set(2, &[0, 1, 2, 3]), set(3, &[0, 1, 2, 3])], &[1], &[], &[&[0, 1, 2, 3]]);
        check(&[set(3, &[0, 1, 2, 3]), set(3, &[0, 1, 2, 3])], &[0], &[], &[&[0, 1, 2, 3]]);
        // Nothing in common.
        check(&[set(2, &[0, 1]), set(2, &[2, 3])], &[0, 1], &[], &[&[0, 1], &[2, 3]]);
        // Three: what two of them share is the body.
        let three = [set(2, &[0, 1]), set(2, &[1, 2]), set(2, &[2, 3])];
        check(&three, &[0, 1, 2], &[1, 2], &[&[0], &[3]]);
    }

    #[test]
    fn sets_that_are_connected() {
        let sets = [set(2, &[0]), set(2, &[1, 2]), set(2, &[3, 4]), set(2, &[2, 3])];
        let found = components(&sets);
        let sizes: Vec<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 3]);
    }
}

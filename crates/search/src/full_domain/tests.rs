//! The pruning bounds, one by one: whatever a node implies for others is true for all of them.

use std::collections::BTreeMap;

use incrowd_data::{FrequencySet, Level, Levels};
use incrowd_privacy::{
    Distance, DistinctDiversity, EntropyDiversity, Histogram, KAnonymity, Model,
    RecursiveDiversity, TCloseness,
};
use incrowd_quality::Measure;
use incrowd_testkit::Form;
use incrowd_testkit::generate::{Recipe, Rng, random_table};

use super::{Judge, Verdict};
use crate::{Budget, Problem};

/// All nodes of a lattice with their verdicts.
pub(crate) fn judged(judge: &Judge) -> Vec<(Levels, Verdict)> {
    let lattice = &judge.lattice;
    (lattice.low().height()..=lattice.high().height())
        .flat_map(|height| lattice.at_height(height))
        .map(|node| {
            let verdict = judge.verdict(&judge.counter.scan(&node));
            (node, verdict)
        })
        .collect()
}

fn models(set: &FrequencySet, k: u64) -> Vec<Vec<Box<dyn Model>>> {
    let of_k = || -> Box<dyn Model> { Box::new(KAnonymity::new(k).expect("above 1")) };
    let mut whole = Histogram::new(set.extras[0].n_codes);
    for (vector, &rows) in set.counts.iter().enumerate() {
        whole.add(set.extras[0].codes.get(vector), u64::from(rows));
    }
    let close = TCloseness::new(0, 0.3, Distance::Equal, &whole).expect("in range");
    let others: [Box<dyn Model>; 4] = [
        Box::new(DistinctDiversity::new(0, 2.0).expect("in range")),
        Box::new(EntropyDiversity::new(0, 1.7).expect("in range")),
        Box::new(RecursiveDiversity::new(0, 2.0, 2).expect("in range")),
        Box::new(close),
    ];
    let mut all: Vec<Vec<Box<dyn Model>>> = vec![vec![of_k()]];
    all.extend(others.into_iter().map(|other| vec![of_k(), other]));
    all
}

/// Runs a check on small problems of every kind.
pub(crate) fn every_problem(n_tables: u64, check: impl Fn(&Judge, &[(Levels, Verdict)])) {
    for seed in 0..n_tables {
        let mut rng = Rng::new(seed);
        let n_rows = 8 + rng.below(50);
        let n_attributes = 1 + rng.below(3);
        let recipe =
            Recipe { n_rows, n_attributes, forms: &[Form::Tree], max_values: 6, missing: false };
        let table = random_table(&mut rng, &recipe);
        let set = table.frequency_set();
        let k = 2 + rng.below(4) as u64;
        for models in models(&set, k) {
            for (_, measure) in Measure::ALL {
                let limit = [0, 3, n_rows / 3, n_rows][rng.below(4)] as u64;
                let weights: Vec<f64> = (0..n_attributes).map(|at| [1.0, 3.0][at % 2]).collect();
                let budget = Budget::unlimited();
                let problem = Problem {
                    measure,
                    limit,
                    weights: &weights,
                    target: Some(0),
                    ..Problem::new(&set, &models, k, &budget)
                };
                let Ok(judge) = Judge::new(&problem) else { panic!("a problem with rows") };
                check(&judge, &judged(&judge));
            }
        }
    }
}

/// The bound of two corners holds for every feasible node between them; nothing is feasible below a
/// hopeless node.
#[test]
fn corners_bound_what_is_between() {
    every_problem(60, |judge, nodes| {
        let in_small = |node: &Levels| {
            let counts = judge.counter.scan(node).counts;
            let small = counts.into_iter().map(u64::from).filter(|rows| *rows < judge.problem.k);
            small.sum::<u64>()
        };
        let small: BTreeMap<&Levels, u64> =
            nodes.iter().map(|(node, _)| (node, in_small(node))).collect();
        for (high, above) in nodes {
            for (node, between) in nodes.iter().filter(|(node, _)| high.generalizes(node)) {
                let Problem { measure, k, limit, models, .. } = judge.problem;
                let what = || format!("{node:?} {high:?} {measure:?} {k} {limit} {models:?}");
                assert!(!(above.is_hopeless && between.is_feasible), "{}", what());
                assert!(!above.is_hopeless || between.is_hopeless, "{}", what());
                if !between.is_feasible {
                    continue;
                }
                for (low, below) in nodes.iter().filter(|(low, _)| node.generalizes(low)) {
                    let pricing = &judge.pricing;
                    for floor in [below.price.floor, pricing.floor_of_levels(low)] {
                        let bound = pricing.bound(low, floor, above.tells_below());
                        assert!(
                            bound <= between.price.cost,
                            "{bound} {:?} {low:?} {}",
                            between.price,
                            what()
                        );
                        let most = pricing.most_small(low, floor, between.price.cost);
                        assert!(small[node] <= most, "{low:?} {}", what());
                    }
                }
            }
        }
    });
}

/// A node rolls up from any node below to what a pass over the table gives.
#[test]
fn roll_ups_are_scans() {
    every_problem(12, |judge, nodes| {
        for (low, _) in nodes {
            let source = judge.counter.scan(low);
            for (node, scanned) in nodes.iter().filter(|(node, _)| node.generalizes(low)) {
                let rolled_up = judge.counter.roll_up(&source, node);
                let verdict = judge.verdict(&rolled_up);
                assert_eq!(verdict.n_suppressed, scanned.n_suppressed);
                assert_eq!(verdict.price.cost, scanned.price.cost);
                assert_eq!(verdict.is_feasible, scanned.is_feasible);
                assert_eq!(judge.may_hold(&rolled_up), !scanned.is_hopeless);
            }
        }
    });
}

/// Many values and rows: keys of several words, dense cells, shared work, all give the same counts.
#[test]
fn large_sets_roll_up_to_the_same_counts() {
    let recipe = Recipe {
        n_rows: 80_000,
        n_attributes: 9,
        forms: &[Form::Tree],
        max_values: 3_000,
        missing: true,
    };
    let table = random_table(&mut Rng::new(5), &recipe);
    let set = table.frequency_set();
    let models = models(&set, 3).swap_remove(0);
    let budget = Budget::unlimited();
    let problem = Problem { limit: 80_000, ..Problem::new(&set, &models, 3, &budget) };
    let Ok(judge) = Judge::new(&problem) else { panic!("a problem with rows") };
    let low = judge.counter.scan(judge.lattice.low());
    let high = judge.lattice.high();
    let mut rng = Rng::new(6);
    for _ in 0..25 {
        let node = Levels::new(high.iter().map(|top| {
            let down = rng.below(3).min(usize::from(top.0));
            Level(top.0 - u8::try_from(down).expect("below 3"))
        }));
        let sorted = |mut counts: Vec<u32>| {
            counts.sort_unstable();
            counts
        };
        let scanned = sorted(judge.counter.scan(&node).counts);
        assert_eq!(sorted(judge.counter.roll_up(&low, &node).counts), scanned, "{node:?}");
        let between = node.meet(&high.with(0, Level(0)));
        let source = judge.counter.roll_up(&low, &between);
        assert_eq!(sorted(judge.counter.roll_up(&source, &node).counts), scanned, "{node:?}");
    }
}

//! The full-domain searches against an exhaustive search of the lattice, written independently of
//! them.

use incrowd_data::{Level, Shape};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Found, Infeasible, Outcome, Problem, Recoding, Sharing};
use incrowd_testkit::full_domain::{
    Asked, NodeFacts, bottom_up_counts, incognito_counts, least_height, minimal, optimum,
};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::{Form, Table};

use crate::{Job, check_found, jobs};

/// A small table whose attributes all have hierarchies.
pub(crate) fn tree_table(rng: &mut Rng, n_rows: usize) -> Table {
    let n_attributes = 1 + rng.below(4);
    let max_values = 2 + rng.below(6);
    let missing = rng.one_in(3);
    let recipe = Recipe { n_rows, n_attributes, forms: &[Form::Tree], max_values, missing };
    random_table(rng, &recipe)
}

/// The job with nothing suppressed, no preference, and the loss as the measure.
pub(crate) fn asked<'a>(table: &'a Table, job: &'a Job) -> Asked<'a> {
    let height = |attribute: &incrowd_data::Attribute| match &attribute.shape {
        Shape::Tree(tree) => tree.height().0,
        _ => panic!("a tree"),
    };
    Asked {
        table,
        models: &job.models,
        k: job.k,
        entity: job.entity,
        limit: 0,
        stars: false,
        measure: Measure::Loss,
        target: Some(0),
        weights: vec![1.0; table.attributes.len()],
        bounds: table.attributes.iter().map(|attribute| (0, height(attribute))).collect(),
    }
}

/// Random preferences: a limit, stars, weights, bounds.
fn wish<'a>(rng: &mut Rng, mut asked: Asked<'a>) -> Asked<'a> {
    let n_rows = asked.table.rows.len();
    asked.limit = [0, 0, 1, 3, n_rows / 4, n_rows][rng.below(6)] as u64;
    asked.stars = rng.one_in(5);
    if rng.one_in(3) {
        asked.weights.iter_mut().for_each(|weight| *weight = [0.5, 1.0, 4.0][rng.below(3)]);
    }
    if rng.one_in(3) {
        for bounds in &mut asked.bounds {
            let height = bounds.1;
            bounds.0 = u8::try_from(rng.below(usize::from(height) + 1)).unwrap();
            bounds.1 =
                bounds.0 + u8::try_from(rng.below(usize::from(height - bounds.0) + 1)).unwrap();
        }
    }
    asked
}

fn run(algorithm: Algorithm, asked: &Asked, wants_minimal: bool) -> Outcome {
    let set = asked.table.frequency_set();
    let levels: Vec<(Level, Level)> =
        asked.bounds.iter().map(|&(low, high)| (Level(low), Level(high))).collect();
    let budget = Budget::unlimited();
    algorithm.run(&Problem {
        entity: asked.entity,
        limit: asked.limit,
        stars: asked.stars,
        measure: asked.measure,
        target: asked.target,
        weights: &asked.weights,
        levels: &levels,
        wants_minimal,
        ..Problem::new(&set, asked.models, asked.k, &budget)
    })
}

fn levels(found: &Found) -> Vec<u8> {
    let Recoding::FullDomain(levels) = &found.recoding else { panic!("not full-domain") };
    levels.iter().map(|level| level.0).collect()
}

fn minimal_levels(found: &Found) -> Vec<Vec<u8>> {
    let of_node = |node: &incrowd_search::MinimalNode| {
        node.levels.iter().map(|level| level.0).collect::<Vec<u8>>()
    };
    found.minimal.as_ref().unwrap().iter().map(of_node).collect()
}

/// The result agrees with the node in its classes and in everything else.
#[track_caller]
fn check_node(asked: &Asked, job: &Job, found: &Found, context: &str) {
    let (set, vector_of) = asked.table.collapse();
    let facts = asked.node(&levels(found));
    let mut classes =
        check_found(asked.table, (&set, &vector_of), found, job).unwrap_or_else(|wrong| {
            panic!("{wrong}: {context}");
        });
    classes.sort();
    assert_eq!(classes, facts.classes, "{context}");
    let cost = found.proof.cost.unwrap();
    assert!((cost - facts.cost).abs() <= 1e-9 * (1.0 + facts.cost), "{cost} {facts:?} {context}");
    assert!(facts.is_feasible, "{context}");
}

const EXACT: [Algorithm; 6] = [
    Algorithm::Optimal,
    Algorithm::Incognito(Sharing::Basic),
    Algorithm::Incognito(Sharing::SuperRoots),
    Algorithm::Incognito(Sharing::Cube),
    Algorithm::BottomUp { rolls_up: true },
    Algorithm::BottomUp { rolls_up: false },
];

#[track_caller]
fn check(asked: &Asked, job: &Job) -> bool {
    let nodes = asked.lattice();
    let best = optimum(&nodes);
    let context = |algorithm: Algorithm| {
        let Asked { limit, stars, measure, weights, bounds, .. } = asked;
        format!(
            "{algorithm:?}, {}, limit {limit}, stars {stars}, {measure:?}, {weights:?}, {bounds:?} of {:?}",
            job.describe(),
            asked.table
        )
    };
    for algorithm in EXACT {
        let context = context(algorithm);
        match (run(algorithm, asked, true), best) {
            (Outcome::Found(found), Some(best)) => {
                check_node(asked, job, &found, &context);
                assert_eq!(levels(&found), best.levels, "{context}");
                assert!(found.proof.is_optimal, "{context}");
                assert_eq!(minimal_levels(&found), minimal(&nodes), "{context}");
            }
            (Outcome::Infeasible(Infeasible::EveryNode { .. }), None) => {}
            (Outcome::Infeasible(Infeasible::Empty), None) => assert!(asked.table.rows.is_empty()),
            (outcome, best) => panic!("{outcome:?} but {best:?}: {context}"),
        }
    }
    check_samarati(asked, job, &nodes, &context(Algorithm::Samarati));
    match (run(Algorithm::Datafly, asked, false), asked.datafly()) {
        (Outcome::Found(found), Some(facts)) => {
            let context = context(Algorithm::Datafly);
            check_node(asked, job, &found, &context);
            assert_eq!(levels(&found), facts.levels, "{context}");
        }
        (Outcome::Infeasible(_), None) => {}
        (outcome, facts) => panic!("{outcome:?} but {facts:?}: {}", context(Algorithm::Datafly)),
    }
    best.is_some()
}

#[track_caller]
fn check_samarati(asked: &Asked, job: &Job, nodes: &[NodeFacts], context: &str) {
    let least = least_height(nodes);
    match run(Algorithm::Samarati, asked, true) {
        Outcome::Found(found) => {
            check_node(asked, job, &found, context);
            assert_eq!(minimal_levels(&found), least, "{context}");
            let of_least: Vec<NodeFacts> =
                nodes.iter().filter(|node| least.contains(&node.levels)).cloned().collect();
            assert_eq!(levels(&found), optimum(&of_least).unwrap().levels, "{context}");
        }
        Outcome::Infeasible(_) => assert!(least.is_empty(), "{context}"),
        Outcome::Cancelled => panic!("nobody cancelled: {context}"),
    }
}

#[test]
fn every_search_agrees_with_the_exhaustive_one() {
    let (mut n_feasible, mut n_all) = (0, 0);
    for seed in 0..220 {
        let mut rng = Rng::new(seed);
        let n_rows = rng.below(40);
        let table = tree_table(&mut rng, n_rows);
        let k = 2 + rng.below(4) as u64;
        for job in jobs(&table, k) {
            let (_, measure) = Measure::ALL[rng.below(Measure::ALL.len())];
            let wished = Asked { measure, ..asked(&table, &job) };
            n_all += 1;
            n_feasible += usize::from(check(&wish(&mut rng, wished), &job));
        }
    }
    assert!(n_feasible * 2 > n_all && n_feasible < n_all, "{n_feasible} of {n_all} are feasible");
}

/// Every measure with every model and limit on a few larger tables.
#[test]
fn every_measure_with_every_model() {
    for seed in 1000..1004 {
        let mut rng = Rng::new(seed);
        let recipe = Recipe {
            n_rows: 90,
            n_attributes: 3,
            forms: &[Form::Tree],
            max_values: 6,
            missing: false,
        };
        let table = random_table(&mut rng, &recipe);
        for job in jobs(&table, 3) {
            for (_, measure) in Measure::ALL {
                for limit in [0, 9, 90] {
                    check(&Asked { measure, limit, ..asked(&table, &job) }, &job);
                }
            }
        }
    }
}

/// The counts of the paper's experiments: the nodes that are checked.
#[test]
fn the_numbers_of_checked_nodes_agree_with_the_paper() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let n_rows = 5 + rng.below(40);
        let table = tree_table(&mut rng, n_rows);
        let job = Job::of_k(2);
        let limit = [0, 0, 3][rng.below(3)].min(n_rows as u64 - 1);
        let asked = Asked { limit, ..asked(&table, &job) };
        let checked = |algorithm: Algorithm| match run(algorithm, &asked, false) {
            Outcome::Found(found) => found.counters,
            outcome => panic!("{outcome:?}"),
        };
        for sharing in [Sharing::Basic, Sharing::SuperRoots, Sharing::Cube] {
            let counters = checked(Algorithm::Incognito(sharing));
            assert_eq!(counters.nodes_checked, incognito_counts(&asked, false), "{sharing:?}");
            let transitive = Some(incognito_counts(&asked, true));
            assert_eq!(counters.nodes_checked_transitive, transitive, "{sharing:?}");
        }
        for rolls_up in [true, false] {
            let counters = checked(Algorithm::BottomUp { rolls_up });
            assert_eq!(counters.nodes_checked, bottom_up_counts(&asked, false));
            let transitive = Some(bottom_up_counts(&asked, true));
            assert_eq!(counters.nodes_checked_transitive, transitive);
        }
    }
}

/// What a stopped search claims to have proved is true.
#[test]
fn a_search_out_of_time_claims_nothing_false() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let recipe = Recipe {
            n_rows: 300,
            n_attributes: 5,
            forms: &[Form::Tree],
            max_values: 9,
            missing: false,
        };
        let table = random_table(&mut rng, &recipe);
        let job = Job::of_k(4);
        let (_, measure) = Measure::ALL[rng.below(Measure::ALL.len())];
        let asked = Asked { measure, limit: 30, ..asked(&table, &job) };
        let set = table.frequency_set();
        let budget = Budget::unlimited().within(Some(std::time::Duration::ZERO));
        let problem = Problem {
            limit: 30,
            measure,
            target: Some(0),
            ..Problem::new(&set, &job.models, 4, &budget)
        };
        let Outcome::Found(stopped) = Algorithm::Optimal.run(&problem) else { continue };
        check_node(&asked, &job, &stopped, &format!("{measure:?}"));
        let Outcome::Found(closed) = run(Algorithm::Optimal, &asked, false) else { panic!() };
        let bound = stopped.proof.lower_bound.unwrap();
        let optimum = closed.proof.cost.unwrap();
        assert!(bound <= optimum + 1e-9, "{bound} is no bound of {optimum}");
        assert!(stopped.proof.cost.unwrap() >= optimum - 1e-9);
        assert!(!stopped.proof.is_optimal || (bound - optimum).abs() <= 1e-9);
    }
}

//! The single-dimensional searches against the enumeration of all cut sets, written independently
//! of them.

use incrowd_data::{Cuts, Shape};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Found, Outcome, Problem, Recoding};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::single_dimensional::{Asked, Facts, optimum};
use incrowd_testkit::{Form, Table};

use crate::{Job, check_found, jobs};

pub(crate) const MEASURES: [Measure; 3] =
    [Measure::Discernibility, Measure::Classification, Measure::Loss];

fn small_table(rng: &mut Rng) -> Table {
    let recipe = Recipe {
        n_rows: 4 + rng.below(40),
        n_attributes: 1 + rng.below(3),
        forms: &Form::ALL,
        max_values: 4,
        missing: rng.one_in(3),
    };
    random_table(rng, &recipe)
}

pub(crate) fn run(algorithm: Algorithm, asked: &Asked, job: &Job, seed: u64) -> Outcome {
    let set = asked.table.frequency_set();
    let budget = Budget::unlimited();
    algorithm.run(&Problem {
        entity: asked.entity,
        limit: asked.limit,
        measure: asked.measure,
        target: asked.target,
        seed,
        ..Problem::new(&set, asked.models, job.k, &budget)
    })
}

pub(crate) fn cuts_of(found: &Found, n_attributes: usize) -> Vec<(usize, u32)> {
    let Recoding::Intervals(cuts) = &found.recoding else { panic!("not single-dimensional") };
    let of = |at: usize| Cuts::of(cuts, at).iter().map(move |&code| (at, code)).collect::<Vec<_>>();
    (0..n_attributes).flat_map(of).collect()
}

/// The result agrees with its cuts, can be released, and respects the hierarchies.
#[track_caller]
pub(crate) fn check(asked: &Asked, job: &Job, found: &Found) -> Facts {
    let facts = check_cuts(asked, job, found);
    assert!(
        facts.is_feasible,
        "{} {:?} {facts:?} of {:?}",
        job.describe(),
        asked.measure,
        asked.table
    );
    facts
}

/// The result agrees with its cuts and respects the hierarchies.
#[track_caller]
pub(crate) fn check_cuts(asked: &Asked, job: &Job, found: &Found) -> Facts {
    let (set, vector_of) = asked.table.collapse();
    let cuts = cuts_of(found, asked.table.attributes.len());
    let facts = asked.recoding(&cuts);
    let context = format!("{} {:?} {cuts:?} of {:?}", job.describe(), asked.measure, asked.table);
    let mut classes = check_found(asked.table, (&set, &vector_of), found, job).unwrap();
    classes.sort();
    assert_eq!(classes, facts.classes, "{context}");
    assert!(asked.respects_hierarchies(&cuts), "{context}");
    let cost = found.proof.cost.unwrap();
    assert!((cost - facts.cost).abs() <= 1e-9 * (1.0 + cost), "{cost} {} {context}", facts.cost);
    facts
}

pub(crate) fn every_job(n_tables: u64, check: impl Fn(&Asked, &Job, u64)) {
    for seed in 0..n_tables {
        let mut rng = Rng::new(seed);
        let table = small_table(&mut rng);
        for job in jobs(&table, 2 + rng.below(3) as u64) {
            let asked = Asked {
                table: &table,
                models: &job.models,
                entity: job.entity,
                limit: [0, 2, table.rows.len() as u64][rng.below(3)],
                measure: MEASURES[rng.below(3)],
                target: Some(0),
            };
            check(&asked, &job, seed);
        }
    }
}

#[test]
fn climbing_never_beats_the_optimum_and_often_meets_it() {
    let (n_met, n_all) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    every_job(120, |asked, job, seed| {
        let Outcome::Found(found) = run(Algorithm::HillClimb, asked, job, seed) else { return };
        assert!(!found.proof.is_optimal && found.proof.lower_bound.is_none());
        let facts = check(asked, job, &found);
        let all = asked.all();
        let best = optimum(&all).unwrap();
        let room = 1e-9 * (1.0 + best.cost);
        assert!(facts.cost >= best.cost - room, "{} beats {}", facts.cost, best.cost);
        n_all.set(n_all.get() + 1);
        n_met.set(n_met.get() + usize::from(facts.cost <= best.cost + room));
    });
    assert!(n_met.get() * 10 > n_all.get() * 9, "{} of {}", n_met.get(), n_all.get());
}

#[test]
fn greedy_partitionings_are_minimal_and_suppress_nothing() {
    every_job(120, |asked, job, seed| {
        let outcome = run(Algorithm::SingleDimensional, asked, job, seed);
        let Outcome::Found(found) = outcome else { return };
        let facts = check(asked, job, &found);
        assert_eq!(facts.n_suppressed, 0);
        for (at, attribute) in asked.table.attributes.iter().enumerate() {
            if matches!(attribute.shape, Shape::Tree(_)) {
                continue;
            }
            for code in 1..attribute.n_codes() {
                let is_new = !facts.cuts.contains(&(at, code));
                assert!(!(is_new && asked.is_allowable(&facts.cuts, (at, code))), "{facts:?}");
            }
        }
    });
}

/// Only the seed matters.
#[test]
fn the_same_seed_gives_the_same_cuts() {
    let mut rng = Rng::new(1);
    let recipe =
        Recipe { n_rows: 400, n_attributes: 4, forms: &Form::ALL, max_values: 9, missing: true };
    let table = random_table(&mut rng, &recipe);
    let job = Job::of_k(5);
    let asked = Asked {
        table: &table,
        models: &job.models,
        entity: None,
        limit: 10,
        measure: Measure::Discernibility,
        target: None,
    };
    let pools = [1, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let [one, three] =
        pools.each_ref().map(|pool| pool.install(|| run(Algorithm::HillClimb, &asked, &job, 7)));
    assert_eq!(one, three);
}

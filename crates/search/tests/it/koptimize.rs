//! K-Optimize as a whole: any models, stops, going on, threads and seeds, and beside full-domain recoding.

use incrowd_data::{Attribute, Shape};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Found, Outcome, Problem};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::single_dimensional::optimum;
use incrowd_testkit::{Form, Table};

use crate::Job;
use crate::single_dimensional::{MEASURES, check, cuts_of, every_job, run};

/// Every kind of model, monotone or not, rows or entities.
#[test]
fn any_models_are_met_at_the_least_cost() {
    every_job(60, |asked, job, seed| {
        let outcome = run(Algorithm::KOptimize, asked, job, seed);
        let Outcome::Found(found) = outcome else { return };
        let facts = check(asked, job, &found);
        let all = asked.all();
        let best = optimum(&all).unwrap();
        let room = 1e-9 * (1.0 + best.cost);
        let context = format!("{} {:?} {:?}", job.describe(), asked.measure, asked.limit);
        assert!((facts.cost - best.cost).abs() <= room, "{} {} {context}", facts.cost, best.cost);
        assert!(found.proof.is_optimal && found.proof.lower_bound.is_some());
    });
}

fn larger_table(seed: u64, forms: &'static [Form]) -> Table {
    let mut rng = Rng::new(seed);
    let recipe = Recipe {
        n_rows: 500,
        n_attributes: 5,
        forms,
        max_values: 9,
        missing: seed.is_multiple_of(2),
    };
    random_table(&mut rng, &recipe)
}

struct Asked<'a> {
    table: &'a Table,
    measure: Measure,
    limit: u64,
    seed: u64,
    nodes: Option<u64>,
}

impl Asked<'_> {
    fn run(&self, job: &Job, resume: Option<&incrowd_search::Stopped>) -> Found {
        let set = self.table.frequency_set();
        let budget = Budget::unlimited().visiting(self.nodes);
        let problem = Problem {
            limit: self.limit,
            measure: self.measure,
            target: Some(0),
            seed: self.seed,
            resume,
            ..Problem::new(&set, &job.models, job.k, &budget)
        };
        assert!(resume.is_none_or(|stopped| stopped.fits(&problem)));
        match Algorithm::KOptimize.run(&problem) {
            Outcome::Found(found) => *found,
            other => panic!("{other:?}"),
        }
    }
}

/// Wherever it is stopped, the bound is below the optimum and the release above; gone on with, again and
/// again, it ends with the same optimum.
#[test]
fn a_stopped_search_is_honest_and_can_go_on() {
    let mut n_stopped = 0;
    for seed in 0..6 {
        let table = larger_table(seed, &Form::ALL);
        let job = Job::of_k(4 + seed);
        for (measure, limit) in MEASURES.into_iter().zip([0, 20, 500]) {
            let asked = Asked { table: &table, measure, limit, seed: 0, nodes: None };
            let whole = asked.run(&job, None);
            let optimum = whole.proof.cost.unwrap();
            let room = 1e-9 * (1.0 + optimum);
            let mut stopped = None;
            for nodes in 1.. {
                let asked = Asked { nodes: Some(400 * nodes), ..asked };
                let found = asked.run(&job, stopped.as_ref());
                let (cost, bound) = (found.proof.cost.unwrap(), found.proof.lower_bound.unwrap());
                let context = format!("seed {seed} {measure:?} {nodes}: {bound} {optimum} {cost}");
                assert!(bound <= optimum + room && optimum <= cost + room, "{context}");
                if found.proof.is_optimal {
                    assert_eq!(cuts_of(&found, 5), cuts_of(&whole, 5), "{context}");
                    break;
                }
                n_stopped += 1;
                stopped = found.stopped;
            }
        }
    }
    assert!(n_stopped > 20, "{n_stopped}");
}

#[test]
fn threads_and_seeds_change_nothing() {
    for table_seed in 0..4 {
        let table = larger_table(10 + table_seed, &Form::ORDERED);
        let job = Job::of_k(6);
        for measure in MEASURES {
            let pools = [1, 2, 3].map(|n| {
                let builder = rayon::ThreadPoolBuilder::new();
                (n as u64, builder.num_threads(n).build().unwrap())
            });
            let [one, two, three] = pools.each_ref().map(|(seed, pool)| {
                let asked = Asked { table: &table, measure, limit: 10, seed: *seed, nodes: None };
                pool.install(|| asked.run(&job, None))
            });
            assert_eq!((&one.recoding, one.proof), (&two.recoding, two.proof));
            assert_eq!((&one.recoding, one.proof), (&three.recoding, three.proof));
        }
    }
}

/// A full-domain recoding is one along the hierarchies, and these are some of all.
#[test]
fn hierarchies_lie_between_full_domain_and_no_constraint() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let recipe = Recipe {
            n_rows: 40 + rng.below(200),
            n_attributes: 1 + rng.below(4),
            forms: &[Form::Tree],
            max_values: 6,
            missing: false,
        };
        let table = random_table(&mut rng, &recipe);
        let job = Job::of_k(2 + rng.below(8) as u64);
        let free = Table {
            attributes: table.attributes.iter().map(without_hierarchy).collect(),
            ..table.clone()
        };
        for measure in [Measure::Discernibility, Measure::Classification] {
            let limit = [0, 5, 1000][rng.below(3)];
            let cost = |table: &Table, algorithm: Algorithm| {
                let set = table.frequency_set();
                let budget = Budget::unlimited();
                let problem = Problem {
                    limit,
                    measure,
                    target: Some(0),
                    ..Problem::new(&set, &job.models, job.k, &budget)
                };
                match algorithm.run(&problem) {
                    Outcome::Found(found) => found.proof.cost.unwrap(),
                    other => panic!("{other:?}"),
                }
            };
            let full_domain = cost(&table, Algorithm::Optimal);
            let constrained = cost(&table, Algorithm::KOptimize);
            let free = cost(&free, Algorithm::KOptimize);
            assert!(free <= constrained && constrained <= full_domain, "seed {seed}");
        }
    }
}

fn without_hierarchy(attribute: &Attribute) -> Attribute {
    Attribute { shape: Shape::Ordinal, ..attribute.clone() }
}

/// Keys of several words.
#[test]
fn many_columns_are_searched_as_well() {
    let mut rng = Rng::new(3);
    let recipe = Recipe {
        n_rows: 60,
        n_attributes: 40,
        forms: &Form::ORDERED,
        max_values: 9,
        missing: false,
    };
    let table = random_table(&mut rng, &recipe);
    let asked = Asked {
        table: &table,
        measure: Measure::Discernibility,
        limit: 0,
        seed: 0,
        nodes: Some(2000),
    };
    let found = asked.run(&Job::of_k(20), None);
    assert!(found.proof.lower_bound.unwrap() <= found.proof.cost.unwrap());
}

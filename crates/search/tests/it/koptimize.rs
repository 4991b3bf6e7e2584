//! K-Optimize as a whole: any models, stopping and resuming, threads and seeds, and compared with
//! full-domain recoding.

use std::collections::BTreeSet;

use incrowd_data::{Attribute, Shape};
use incrowd_privacy::{Distance, EntropyDiversity, RecursiveDiversity, TCloseness};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Found, Infeasible, Outcome, Problem};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::single_dimensional::{Asked as Space, Facts, optimum};
use incrowd_testkit::{Form, Table};

use crate::Job;
use crate::single_dimensional::{MEASURES, check, check_cuts, cuts_of, every_job, run};

/// Every kind of model, monotone or not, rows or entities.
#[test]
fn any_models_are_met_at_the_least_cost() {
    every_job(60, |asked, job, seed| agrees(asked, job, seed, false));
}

/// Small tables and models that the whole table often breaks though a part of it does not: a
/// release is found whenever there is one, with rows suppressed or starred.
#[test]
fn a_release_is_found_wherever_there_is_one() {
    let (mut n_infeasible, mut n_open) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(0x13_0000 + seed);
        let recipe = Recipe {
            n_rows: 3 + rng.below(9),
            n_attributes: 1 + rng.below(2),
            forms: &Form::ALL,
            max_values: 5,
            missing: rng.one_in(3),
        };
        let table = random_table(&mut rng, &recipe);
        let k = 2 + rng.below(2) as u64;
        for job in tight_jobs(&table, k) {
            let n_rows = table.rows.len() as u64;
            let limit = [0, 1, 2, n_rows / 2, n_rows][rng.below(5)];
            let measure = MEASURES[rng.below(3)];
            let asked = Space { limit, measure, ..space(&table, &job) };
            agrees(&asked, &job, seed, rng.one_in(3));
            let is_broken = !crate::broken(&table, &job).is_empty();
            let is_feasible = optimum(&asked.all()).is_some();
            n_infeasible += usize::from(!is_feasible);
            n_open += usize::from(is_feasible && is_broken);
        }
    }
    // Jobs that an earlier version reported as infeasible.
    assert!(n_open > 100 && n_infeasible > 100, "{n_open} {n_infeasible}");
}

/// The rows of a table that is 2-diverse by entropy only where two rows are left out.
#[test]
fn a_part_can_be_diverse_where_the_table_is_not() {
    let table = incrowd_testkit::table("q:num | s", "0 S0\n0 S2\n1 S0\n2 S2\n3 S2");
    let job = Job::of_k(2).with(EntropyDiversity::new(0, 2.0).unwrap());
    let asked = Space { limit: 2, ..space(&table, &job) };
    for algorithm in [Algorithm::KOptimize, Algorithm::HillClimb] {
        let Outcome::Found(found) = run(algorithm, &asked, &job, 0) else { panic!("infeasible") };
        assert!(check(&asked, &job, &found).n_suppressed <= 2, "{algorithm:?}");
    }
}

fn space<'a>(table: &'a Table, job: &'a Job) -> Space<'a> {
    Space {
        table,
        models: &job.models,
        entity: job.entity,
        limit: 0,
        measure: Measure::Discernibility,
        target: Some(0),
    }
}

/// Models that few small tables satisfy as a whole.
fn tight_jobs(table: &Table, k: u64) -> Vec<Job> {
    let new = || Job::of_k(k);
    let closeness = |t: f64, distance| {
        let all: Vec<usize> = (0..table.rows.len()).collect();
        let whole = &new().oracle(table).class(&all).histograms[0];
        TCloseness::new(0, t, distance, whole).unwrap()
    };
    let mut jobs = crate::jobs(table, k);
    jobs.extend([
        new().with(EntropyDiversity::new(0, 2.0).unwrap()),
        new().with(EntropyDiversity::new(0, 3.0).unwrap()),
        new().with(RecursiveDiversity::new(0, 1.0, 2).unwrap()),
        new().with(RecursiveDiversity::new(0, 2.0, 3).unwrap()),
        Job { entity: Some(1), ..new() }.with(EntropyDiversity::new(0, 2.0).unwrap()),
        new().with(closeness(0.15, Distance::Equal)),
        new().with(closeness(0.1, Distance::Ordered)),
        new()
            .with(RecursiveDiversity::new(0, 1.5, 2).unwrap())
            .with(closeness(0.4, Distance::Equal)),
    ]);
    jobs
}

/// The result is the optimum of all sets of cuts, and there is no result only if no set can be
/// released. Hill climbing then has no result either, and is never better.
#[track_caller]
fn agrees(asked: &Space, job: &Job, seed: u64, stars: bool) {
    let mut all = asked.all();
    if stars {
        for facts in &mut all {
            facts.is_feasible = stars_hold(asked, job, facts);
        }
    }
    let best = optimum(&all);
    let set = asked.table.frequency_set();
    let budget = Budget::unlimited();
    let problem = Problem {
        entity: asked.entity,
        limit: asked.limit,
        stars,
        measure: asked.measure,
        target: asked.target,
        seed,
        ..Problem::new(&set, asked.models, job.k, &budget)
    };
    let context = format!(
        "{} {:?} limit {} stars {stars} of {:?}",
        job.describe(),
        asked.measure,
        asked.limit,
        asked.table
    );
    match (Algorithm::KOptimize.run(&problem), best) {
        (Outcome::Found(found), Some(best)) => {
            let facts = check_cuts(asked, job, &found);
            let room = 1e-9 * (1.0 + best.cost);
            assert!(all.iter().any(|one| one.is_feasible && one.cuts == facts.cuts), "{context}");
            assert!((facts.cost - best.cost).abs() <= room, "{facts:?} {best:?} {context}");
            assert!(found.proof.is_optimal && found.proof.lower_bound.is_some(), "{context}");
        }
        (Outcome::Infeasible(Infeasible::WholeTable { .. }), None) => {}
        (Outcome::Infeasible(Infeasible::EveryCut { is_proved, .. }), None) => assert!(is_proved),
        (outcome, best) => panic!("{outcome:?} but {best:?}: {context}"),
    }
    match (Algorithm::HillClimb.run(&problem), best) {
        (Outcome::Found(found), Some(best)) => {
            let facts = check_cuts(asked, job, &found);
            assert!(facts.cost >= best.cost - 1e-9 * (1.0 + best.cost), "{context}");
            assert!(all.iter().any(|one| one.is_feasible && one.cuts == facts.cuts), "{context}");
        }
        (Outcome::Infeasible(Infeasible::WholeTable { .. }), None) => {}
        (Outcome::Infeasible(Infeasible::EveryCut { is_proved, .. }), _) => assert!(!is_proved),
        (outcome, best) => panic!("{outcome:?} but {best:?}: {context}"),
    }
}

/// Whether a set of cuts can be released if suppressed rows are a class of their own, so that all
/// rows are released.
fn stars_hold(asked: &Space, job: &Job, facts: &Facts) -> bool {
    let kept: BTreeSet<usize> = facts.classes.iter().flatten().copied().collect();
    let starred: Vec<usize> =
        (0..asked.table.rows.len()).filter(|row| !kept.contains(row)).collect();
    let is_within = facts.n_suppressed <= asked.limit && !facts.classes.is_empty();
    is_within && (starred.is_empty() || job.oracle(asked.table).holds(&starred))
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

/// Wherever it is stopped, the bound is below the optimum and the release above; resumed again and
/// again, it ends with the same optimum.
#[test]
fn a_stopped_search_is_honest_and_can_be_resumed() {
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
fn hierarchies_cost_between_full_domain_and_no_constraint() {
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

/// If cuts are restricted to some places, the result is the optimum of the sets of cuts at these
/// places, and no other search cuts elsewhere.
#[test]
fn cuts_keep_to_their_places() {
    let mut n_worse = 0;
    for seed in 0..150 {
        let mut rng = Rng::new(0x14_0000 + seed);
        let recipe = Recipe {
            n_rows: 6 + rng.below(10),
            n_attributes: 1 + rng.below(2),
            forms: &[Form::Numeric, Form::Ordinal],
            max_values: 6,
            missing: false,
        };
        let table = random_table(&mut rng, &recipe);
        let set = table.frequency_set();
        let places: Vec<Option<Vec<u32>>> = (set.attributes.iter())
            .map(|attribute| {
                let codes = (1..attribute.n_codes()).filter(|_| rng.one_in(2)).collect();
                (!rng.one_in(4)).then_some(codes)
            })
            .collect();
        let job = Job::of_k(2);
        let limit = rng.below(3) as u64;
        let measure = MEASURES[rng.below(3)];
        let asked = Space { limit, measure, ..space(&table, &job) };
        let keeps = |facts: &Facts| {
            facts
                .cuts
                .iter()
                .all(|(at, code)| places[*at].as_ref().is_none_or(|places| places.contains(code)))
        };
        let all = asked.all();
        let anywhere = optimum(&all).map(|facts| facts.cost);
        let bound: Vec<Facts> = all.into_iter().filter(keeps).collect();
        let best = optimum(&bound);
        let budget = Budget::unlimited();
        let problem = Problem {
            limit,
            measure,
            target: asked.target,
            places: &places,
            ..Problem::new(&set, asked.models, job.k, &budget)
        };
        match (Algorithm::KOptimize.run(&problem), best) {
            (Outcome::Found(found), Some(best)) => {
                let facts = check_cuts(&asked, &job, &found);
                assert!(keeps(&facts), "{:?} {places:?}", facts.cuts);
                assert!((facts.cost - best.cost).abs() <= 1e-9 * (1.0 + best.cost), "{seed}");
                n_worse += usize::from(anywhere.is_some_and(|cost| cost < best.cost));
            }
            (Outcome::Infeasible(_), None) => {}
            (outcome, best) => panic!("{outcome:?} but {best:?}: {seed}"),
        }
        for algorithm in [Algorithm::HillClimb, Algorithm::SingleDimensional] {
            if let Outcome::Found(found) = algorithm.run(&problem) {
                let cuts = cuts_of(&found, set.attributes.len());
                let facts = asked.recoding(&cuts);
                assert!(keeps(&facts), "{algorithm:?} {cuts:?} {places:?}");
            }
        }
    }
    assert!(n_worse > 20, "the places bind: {n_worse}");
}

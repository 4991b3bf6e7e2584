//! Compares with the enumeration of all sets of cuts, with all rules and with each one switched
//! off.

use incrowd_data::{Attribute, Cuts};
use incrowd_privacy::{DistinctDiversity, EntropyDiversity, KAnonymity, Model, RecursiveDiversity};
use incrowd_quality::Measure;
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::single_dimensional::{Asked, Facts};
use incrowd_testkit::{Form, Table};

use super::best::{Best, Shared};
use super::price::Discernibility;
use super::{Rules, ground, lift, run_by};
use crate::frequency::layout;
use crate::intervals::Costs;
use crate::{Budget, Found, Infeasible, Outcome, Problem, Recoding};

const MEASURES: [Measure; 3] = [Measure::Discernibility, Measure::Classification, Measure::Loss];

fn tables(n_tables: u64, check: impl Fn(&mut Rng, &Table)) {
    for seed in 0..n_tables {
        let mut rng = Rng::new(seed);
        let recipe = Recipe {
            n_rows: 6 + rng.below(90),
            n_attributes: 2 + rng.below(3),
            forms: if rng.one_in(2) { &Form::ORDERED } else { &Form::ALL },
            max_values: 4,
            missing: rng.one_in(4),
        };
        let table = random_table(&mut rng, &recipe);
        check(&mut rng, &table);
    }
}

fn models(rng: &mut Rng, k: u64, is_plain: bool) -> Vec<Box<dyn Model>> {
    let mut models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k).unwrap())];
    if !is_plain {
        match rng.below(3) {
            0 => models.push(Box::new(DistinctDiversity::new(0, 2.0).unwrap())),
            1 => models.push(Box::new(EntropyDiversity::new(0, 1.7).unwrap())),
            _ => models.push(Box::new(RecursiveDiversity::new(0, 2.0, 2).unwrap())),
        }
    }
    models
}

/// Of the best sets, the one with the fewest cuts, then the first attribute by attribute.
fn smallest(all: &[Facts]) -> Option<&Facts> {
    let key = |facts: &Facts| {
        let last = facts.cuts.last().map_or(0, |cut| cut.0 + 1);
        let of = |at: usize| facts.cuts.iter().filter(|cut| cut.0 == at).map(|cut| cut.1).collect();
        (facts.cuts.len(), (0..last).map(of).collect::<Vec<Vec<u32>>>())
    };
    let feasible = || all.iter().filter(|facts| facts.is_feasible);
    let least = feasible().map(|facts| facts.cost).min_by(f64::total_cmp)?;
    let room = 1e-9 * (1.0 + least);
    let best = feasible().filter(|facts| facts.cost <= least + room);
    best.min_by_key(|facts| key(facts))
}

fn cuts_of(found: &Found, n_attributes: usize) -> Vec<(usize, u32)> {
    let Recoding::Intervals(cuts) = &found.recoding else { panic!("not single-dimensional") };
    let of = |at: usize| cuts.of(at).iter().map(move |&code| (at, code)).collect::<Vec<_>>();
    (0..n_attributes).flat_map(of).collect()
}

fn every_job(n_tables: u64, check: impl Fn(&Asked, u64, &[Facts])) {
    tables(n_tables, |rng, table| {
        let k = 2 + rng.below(12) as u64;
        let is_plain = !rng.one_in(3);
        let models = models(rng, k, is_plain);
        for measure in MEASURES {
            let n_rows = table.rows.len() as u64;
            let limit = [0, 0, 1 + rng.below(5) as u64, n_rows][rng.below(4)];
            let asked =
                Asked { table, models: &models, entity: None, limit, measure, target: Some(0) };
            check(&asked, k, &asked.all());
        }
    });
}

fn run(asked: &Asked, k: u64, stars: bool, rules: Rules) -> Option<Found> {
    let set = asked.table.frequency_set();
    let budget = Budget::unlimited();
    let problem = Problem {
        limit: asked.limit,
        measure: asked.measure,
        target: asked.target,
        stars,
        ..Problem::new(&set, asked.models, k, &budget)
    };
    if crate::hopeless(&problem).is_some() {
        return None;
    }
    match run_by(&problem, rules) {
        Outcome::Found(found) => Some(*found),
        Outcome::Infeasible(Infeasible::EveryCut { is_proved: true, .. }) => None,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn agrees(asked: &Asked, k: u64, all: &[Facts], rules: Rules) {
    let context = format!(
        "k {k} limit {} {:?} {:?} {rules:?} of {:?}",
        asked.limit, asked.measure, asked.models, asked.table
    );
    let best = smallest(all);
    let Some(found) = run(asked, k, false, rules) else {
        assert!(best.is_none(), "{best:?} {context}");
        return;
    };
    let best = best.unwrap_or_else(|| panic!("infeasible: {context}"));
    let cuts = cuts_of(&found, asked.table.attributes.len());
    let cost = found.proof.cost.unwrap();
    assert!((cost - best.cost).abs() <= 1e-9 * (1.0 + cost), "{cost} {} {context}", best.cost);
    // Losses that are equal on paper differ by rounding.
    if asked.measure != Measure::Loss {
        assert_eq!(cuts, best.cuts, "{context}");
    }
    assert!(found.proof.is_optimal && found.proof.lower_bound == Some(cost));
}

#[test]
fn the_optimum_agrees_with_the_enumeration() {
    every_job(400, |asked, k, all| agrees(asked, k, all, Rules::ALL));
}

/// Searches below ceilings prove nothing false.
#[test]
fn lifted_bounds_are_below_the_optimum() {
    let mut n_lifted = 0;
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let recipe = Recipe {
            n_rows: 300,
            n_attributes: 4,
            forms: &Form::ALL,
            max_values: 8,
            missing: seed.is_multiple_of(2),
        };
        let table = random_table(&mut rng, &recipe);
        let set = table.frequency_set();
        let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(3 + seed).unwrap())];
        let budget = Budget::unlimited();
        let problem = Problem {
            limit: [0, 300][rng.below(2)],
            measure: Measure::Discernibility,
            ..Problem::new(&set, &models, 3 + seed, &budget)
        };
        let Outcome::Found(found) = run_by(&problem, Rules::ALL) else { panic!("nothing found") };
        let optimum = found.proof.cost.unwrap();
        let costs = Costs::new(&problem).unwrap();
        let price = Discernibility::new(300, problem.k);
        let (fields, _) = layout(set.attributes.iter().map(Attribute::n_codes)).unwrap();
        let ground = ground::<_, 1>(&problem, &costs, price, 1, Rules::ALL, fields);
        // A best cost from far above the optimum down to exactly the optimum.
        for times in [1.0, 1.1, 2.0, 5.0] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let cost = (optimum * times) as u64;
            let best = Shared::new(Best::new(cost, Cuts::none(4)));
            lift(&ground, &best, &budget, 0);
            let floor = ground.value(best.raise(0));
            assert!(floor <= optimum, "seed {seed}: {floor} {optimum}");
            n_lifted += usize::from(floor > 0.5 * optimum);
        }
    }
    assert!(n_lifted > 12, "{n_lifted}");
}

/// Rows that are released as stars are a class like any other.
#[test]
fn stars_are_enough_or_none() {
    every_job(150, |asked, k, all| {
        if asked.models.len() > 1 {
            return;
        }
        let all: Vec<Facts> = all
            .iter()
            .map(|facts| {
                let is_class = facts.n_suppressed == 0 || facts.n_suppressed >= k;
                Facts { is_feasible: facts.is_feasible && is_class, ..facts.clone() }
            })
            .collect();
        let Some(found) = run(asked, k, true, Rules::ALL) else {
            assert!(smallest(&all).is_none(), "{:?}", asked.table);
            return;
        };
        let (cost, best) = (found.proof.cost.unwrap(), smallest(&all).unwrap().cost);
        assert!((cost - best).abs() <= 1e-9 * (1.0 + cost), "{cost} {best} {:?}", asked.table);
    });
}

#[test]
fn every_rule_can_be_switched_off() {
    every_job(100, |asked, k, all| {
        for off in Rules::EACH_OFF {
            agrees(asked, k, all, off);
        }
    });
}

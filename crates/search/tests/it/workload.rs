//! Mondrian with a criterion and top-down specialization against the slow oracle of `testkit`, cut
//! by cut.

mod by_hand;
mod conformance;
mod nodes;
mod outline;
mod specialization;

use incrowd_data::FrequencySet;
use incrowd_search::{
    Algorithm, Budget, Outcome, Problem, QueryValue, Split, Target, WeightedQuery, Workload,
};
use incrowd_testkit::Table;
use incrowd_testkit::generate::Rng;
use incrowd_testkit::workload as slow;
use incrowd_testkit::workload::generate::{self, CLASS, ILLNESS, PAY, PERSON};

use crate::{Job, jobs};

/// The oracle's workload for the search.
fn told(workload: &slow::Workload) -> Workload {
    let split = |split: &slow::Split| match split {
        slow::Split::Median => Split::Median,
        slow::Split::Targets => Split::Targets,
        slow::Split::Selection => Split::Selection,
        slow::Split::Queries => Split::Queries,
    };
    let target = |target: &slow::Target| match *target {
        slow::Target::Labels(column) => Target::Labels(column),
        slow::Target::Numbers(column) => Target::Numbers(column),
    };
    let query = |query: &slow::Query| WeightedQuery {
        regions: query.regions.clone(),
        value: match query.adds {
            slow::Adds::Rows => QueryValue::Rows,
            slow::Adds::Extra(column) => QueryValue::Extra(column),
            slow::Adds::Attribute(at) => QueryValue::Attribute(at),
        },
        is_mean: query.is_mean,
        weight: query.weight,
    };
    Workload {
        splits: workload.splits.iter().map(split).collect(),
        targets: workload.targets.iter().map(target).collect(),
        selections: workload.selections.clone(),
        queries: workload.queries.iter().map(query).collect(),
    }
}

fn run(algorithm: Algorithm, set: &FrequencySet, job: &Job, workload: &Workload) -> Outcome {
    run_within(algorithm, set, job, workload, &Budget::unlimited())
}

fn run_within(
    algorithm: Algorithm,
    set: &FrequencySet,
    job: &Job,
    workload: &Workload,
    budget: &Budget,
) -> Outcome {
    let problem = Problem::new(set, &job.models, job.k, budget);
    algorithm.run(&Problem { entity: job.entity, workload: Some(workload), ..problem })
}

/// The criteria and their combinations.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Label,
    Labels,
    Number,
    Numbers,
    Mixed,
    Selection,
    Counts,
    ManyCounts,
    Sums,
    Together(&'static [slow::Split]),
}

use slow::Split::{Median, Queries, Selection, Targets};

impl Aim {
    const ALONE: [Aim; 9] = [
        Aim::Label,
        Aim::Labels,
        Aim::Number,
        Aim::Numbers,
        Aim::Mixed,
        Aim::Selection,
        Aim::Counts,
        Aim::ManyCounts,
        Aim::Sums,
    ];

    const TOGETHER: [Aim; 7] = [
        Aim::Together(&[Selection, Targets]),
        Aim::Together(&[Queries, Targets]),
        Aim::Together(&[Selection, Median]),
        Aim::Together(&[Queries, Median]),
        Aim::Together(&[Selection, Queries, Targets]),
        Aim::Together(&[Queries, Selection]),
        Aim::Together(&[Median]),
    ];

    fn all() -> impl Iterator<Item = Aim> {
        Aim::ALONE.into_iter().chain(Aim::TOGETHER)
    }

    fn workload(self, rng: &mut Rng, table: &Table) -> slow::Workload {
        use slow::Target::{Labels, Numbers};
        let targets = match self {
            Aim::Label => vec![Labels([ILLNESS, CLASS][rng.below(2)])],
            Aim::Labels => vec![Labels(CLASS), Labels(ILLNESS), Labels(PERSON)],
            Aim::Number => vec![Numbers([PERSON, PAY][rng.below(2)])],
            Aim::Numbers => vec![Numbers(PAY), Numbers(PERSON)],
            Aim::Mixed | Aim::Together(_) => vec![Labels(CLASS), Numbers(PAY)],
            _ => vec![],
        };
        let (n_selections, n_queries) = match self {
            Aim::Selection => (1 + rng.below(4), 0),
            Aim::Counts | Aim::Sums => (0, 1 + rng.below(6)),
            Aim::ManyCounts => (0, 17 + rng.below(10)),
            Aim::Together(_) => (1 + rng.below(3), 1 + rng.below(3)),
            _ => (0, 0),
        };
        let query = |rng: &mut Rng| {
            let adds_up = match self {
                Aim::Sums => true,
                Aim::Together(_) => rng.one_in(2),
                _ => false,
            };
            let adds = if adds_up { generate::adds(rng, table) } else { slow::Adds::Rows };
            generate::query(rng, table, adds)
        };
        slow::Workload {
            splits: self.splits(),
            targets,
            selections: (0..n_selections).map(|_| generate::region(rng, table)).collect(),
            queries: (0..n_queries).map(|_| query(rng)).collect(),
        }
    }

    fn splits(self) -> Vec<slow::Split> {
        match self {
            Aim::Label | Aim::Labels | Aim::Number | Aim::Numbers | Aim::Mixed => vec![Targets],
            Aim::Selection => vec![Selection],
            Aim::Counts | Aim::ManyCounts | Aim::Sums => vec![Queries],
            Aim::Together(splits) => splits.to_vec(),
        }
    }
}

/// k-anonymity alone every other time, otherwise with another model or an entity.
fn some_job(rng: &mut Rng, table: &Table) -> Job {
    let k = 2 + rng.below(4) as u64;
    let mut others = jobs(table, k);
    if rng.one_in(2) { Job::of_k(k) } else { others.swap_remove(rng.below(others.len())) }
}

//! The searches against the documented contract, and against the slow oracles of `testkit`.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod butterfly;
// To be enabled with `incrowd_search::butterfly::lower_bound`, which it tests.
mod butterfly_bound;
mod cells;
mod conformance;
mod full_domain;
mod guide;
mod koptimize;
mod laws;
mod oracle;
mod properties;
mod single_dimensional;
mod workload;

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{FrequencySet, PartitionTree, SUPPRESSED, Shape};
use incrowd_privacy::{
    Class, Distance, DistinctDiversity, EntropyDiversity, KAnonymity, Model, RecursiveDiversity,
    SquaredErrorDiversity, TCloseness,
};
use incrowd_search::{Algorithm, Budget, Found, Infeasible, Outcome, Problem, Recoding};
use incrowd_testkit::assignment::{Rows, check_assignment, check_tree, class_rows};
use incrowd_testkit::oracle::Oracle;
use incrowd_testkit::{Table, table};

/// The table of TR 1521, Figure 1.
fn patients() -> Table {
    table(
        "age:num sex:cat zip:num | disease",
        "25 Male   53711 Flu
         25 Female 53712 Hepatitis
         26 Male   53711 Bronchitis
         27 Male   53710 BrokenArm
         27 Female 53712 AIDS
         28 Male   53711 HangNail",
    )
}

/// The requirements for a release.
struct Job {
    k: u64,
    models: Vec<Box<dyn Model>>,
    entity: Option<usize>,
}

impl Job {
    fn of_k(k: u64) -> Job {
        Job { k, models: vec![Box::new(KAnonymity::new(k).unwrap())], entity: None }
    }

    fn with(mut self, model: impl Model + 'static) -> Job {
        self.models.push(Box::new(model));
        self
    }

    fn oracle<'a>(&'a self, table: &'a Table) -> Oracle<'a> {
        Oracle { table, models: &self.models, entity: self.entity }
    }

    fn describe(&self) -> String {
        let models: Vec<String> = self.models.iter().map(|model| model.describe()).collect();
        format!("{} counting {:?}", models.join(", "), self.entity)
    }
}

/// One job per kind of model, and some that mix them, for the extras of `random_table`.
fn jobs(table: &Table, k: u64) -> Vec<Job> {
    let new = || Job::of_k(k);
    let closeness = |t, distance| {
        let all: Rows = (0..table.rows.len()).collect();
        let whole = &new().oracle(table).class(&all).histograms[0];
        TCloseness::new(0, t, distance, whole).unwrap()
    };
    let values = table.extras[1].1.positions.clone();
    vec![
        new(),
        new().with(DistinctDiversity::new(0, 2.0).unwrap()),
        new().with(DistinctDiversity::new(0, 3.0).unwrap()),
        new().with(EntropyDiversity::new(0, 1.8).unwrap()),
        new().with(RecursiveDiversity::new(0, 3.0, 2).unwrap()),
        new().with(closeness(0.35, Distance::Equal)),
        new().with(closeness(0.2, Distance::Ordered)),
        new().with(SquaredErrorDiversity::new(1, 60.0, values).unwrap()),
        Job { entity: Some(1), ..new() },
        Job { entity: Some(1), ..new() }.with(DistinctDiversity::new(0, 2.0).unwrap()),
        new()
            .with(EntropyDiversity::new(0, 1.5).unwrap())
            .with(closeness(0.5, Distance::Equal))
            .with(DistinctDiversity::new(1, 2.0).unwrap()),
        new().with(NotThrees { looks_at: Some(0) }),
    ]
}

/// Not monotone: a class has no multiple of three rows.
#[derive(Clone, Debug)]
struct NotThrees {
    looks_at: Option<usize>,
}

impl Model for NotThrees {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn holds(&self, class: &Class) -> bool {
        !class.n_rows.is_multiple_of(3)
    }

    fn is_monotone(&self) -> bool {
        false
    }

    fn looks_at(&self) -> Option<usize> {
        self.looks_at
    }

    fn describe(&self) -> String {
        "no multiple of three".to_owned()
    }
}

fn run(algorithm: Algorithm, set: &FrequencySet, job: &Job) -> Outcome {
    run_within(algorithm, set, job, &Budget::unlimited())
}

fn run_within(algorithm: Algorithm, set: &FrequencySet, job: &Job, budget: &Budget) -> Outcome {
    let Job { k, models, entity } = job;
    algorithm.run(&Problem { entity: *entity, ..Problem::new(set, models, *k, budget) })
}

/// Runs a search and checks everything that holds for every algorithm; returns the rows of every
/// class, or `None` if the job is infeasible.
#[track_caller]
fn verified(algorithm: Algorithm, table: &Table, job: &Job) -> Option<Vec<Rows>> {
    verified_within(algorithm, table, job, &Budget::unlimited())
}

fn verified_within(
    algorithm: Algorithm,
    table: &Table,
    job: &Job,
    budget: &Budget,
) -> Option<Vec<Rows>> {
    let (set, vector_of) = table.collapse();
    let outcome = run_within(algorithm, &set, job, budget);
    let broken = broken(table, job);
    // Only a partitioning starts with the whole table as one class.
    let takes_any = algorithm.suppresses();
    let is_open = takes_any && job.models.iter().any(|m| !m.is_monotone());
    let context = || format!("{algorithm:?}, {} of {table:?}", job.describe());
    match outcome {
        Outcome::Found(found) => {
            assert!(is_open || broken.is_empty(), "infeasible: {}", context());
            assert!(!table.rows.is_empty(), "infeasible: {}", context());
            let classes = check_found(table, (&set, &vector_of), &found, job);
            Some(classes.unwrap_or_else(|wrong| panic!("{wrong}: {}", context())))
        }
        Outcome::Infeasible(Infeasible::Empty) => {
            assert!(table.rows.is_empty(), "not empty: {}", context());
            None
        }
        Outcome::Infeasible(Infeasible::WholeTable { broken: found }) => {
            assert!(!table.rows.is_empty(), "empty: {}", context());
            assert!(!broken.is_empty(), "feasible: {}", context());
            assert_eq!(found, broken, "{}", context());
            None
        }
        Outcome::Infeasible(Infeasible::EveryCut { broken: found, is_proved }) => {
            assert!(is_open && !found.is_empty(), "feasible: {}", context());
            assert_eq!(is_proved, algorithm == Algorithm::KOptimize, "{}", context());
            assert_eq!(found, broken, "{}", context());
            None
        }
        Outcome::Infeasible(Infeasible::EveryNode { broken: found, is_bounded, .. }) => {
            assert!(algorithm.is_full_domain() && !is_bounded, "{}", context());
            let found: Vec<String> = found.into_iter().map(|(model, _)| model).collect();
            assert!(!found.is_empty(), "feasible: {}", context());
            assert_eq!(found, broken, "{}", context());
            None
        }
        Outcome::Infeasible(other) => panic!("{other:?}: {}", context()),
        Outcome::Cancelled => panic!("nobody cancelled: {}", context()),
    }
}

/// The models that the table as one class breaks.
fn broken(table: &Table, job: &Job) -> Vec<String> {
    let whole = job.oracle(table).class(&(0..table.rows.len()).collect::<Rows>());
    let broken = job.models.iter().filter(|model| !model.holds(&whole));
    broken.map(|model| model.describe()).collect()
}

/// Every row is in exactly one class, every class satisfies every model, and a recoding that is a
/// function agrees with the assignment and covers the domain.
fn check_found(
    table: &Table,
    (set, vector_of): (&FrequencySet, &[u32]),
    found: &Found,
    job: &Job,
) -> Result<Vec<Rows>, String> {
    check_assignment(set, &found.assignment)?;
    let classes = class_rows(vector_of, &found.assignment);
    let oracle = job.oracle(table);
    // A region of the domain without rows is not a class of the release (TR 1521, section 2.2).
    let classes: Vec<Rows> = classes.into_iter().filter(|rows| !rows.is_empty()).collect();
    if let Some(rows) = classes.iter().find(|rows| !oracle.holds(rows)) {
        return Err(format!("the class of the rows {rows:?} breaks a model"));
    }
    match &found.recoding {
        Recoding::Partition(tree) => check_function(set, found, tree)?,
        Recoding::FullDomain(levels) => {
            let look = |at: usize, code: u32| match &set.attributes[at].shape {
                Shape::Tree(tree) => tree.group_of(levels.get(at), code),
                _ => panic!("a full-domain recoding of a column without a hierarchy"),
            };
            check_looks(set, found, look)?;
        }
        Recoding::Intervals(cuts) => {
            let look = |at: usize, code: u32| u32::try_from(cuts.interval_of(at, code)).unwrap();
            check_looks(set, found, look)?;
        }
        Recoding::Blocks(_) | Recoding::Local(_) => {}
    }
    Ok(classes)
}

fn check_function(set: &FrequencySet, found: &Found, tree: &PartitionTree) -> Result<(), String> {
    let n_codes: Vec<u32> = set.attributes.iter().map(incrowd_data::Attribute::n_codes).collect();
    if !found.assignment.shares.is_empty() || tree.n_classes != found.assignment.n_classes {
        return Err("the tree has other classes than the assignment".to_owned());
    }
    for (vector, &class) in found.assignment.class_of.iter().enumerate() {
        let of_tree = tree.class_of(|attribute| set.vectors[attribute].get(vector));
        if of_tree != class {
            return Err(format!("vector {vector} is of class {class}, in the tree {of_tree}"));
        }
    }
    check_tree(tree, &n_codes, 20_000)
}

/// Two vectors are in the same class if and only if all their values look the same.
fn check_looks(
    set: &FrequencySet,
    found: &Found,
    look: impl Fn(usize, u32) -> u32,
) -> Result<(), String> {
    let label = |vector: usize| -> Vec<u32> {
        let codes = set.vectors.iter().enumerate();
        codes.map(|(at, codes)| look(at, codes.get(vector))).collect()
    };
    let mut class_of_label = BTreeMap::new();
    for (vector, &class) in found.assignment.class_of.iter().enumerate() {
        if *class_of_label.entry(label(vector)).or_insert(class) != class {
            return Err(format!("vector {vector} looks like one of another class"));
        }
    }
    let kept: BTreeSet<u32> =
        class_of_label.values().copied().filter(|class| *class != SUPPRESSED).collect();
    let n_kept = class_of_label.values().filter(|class| **class != SUPPRESSED).count();
    if kept.len() == n_kept { Ok(()) } else { Err("a class has two looks".to_owned()) }
}

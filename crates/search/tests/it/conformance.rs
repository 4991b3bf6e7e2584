//! Tests of every algorithm.

use incrowd_data::{Attribute, Shape};
use incrowd_privacy::{DistinctDiversity, EntropyDiversity, KAnonymity};
use incrowd_search::{Algorithm, Budget, Infeasible, Outcome, RecodingKind};
use incrowd_testkit::assignment::{Rows, class_rows, contents};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::{Form, Table, table};
use rayon::ThreadPoolBuilder;

use crate::{
    Job, NotThrees, check_found, jobs, patients, run, run_within, verified, verified_within,
};

const TREE: &str = "tree=a;x;*,b;x;*,c;y;*,d;y;*";

/// The algorithms that can take a table: full-domain ones need hierarchies.
fn algorithms(table: &Table) -> impl Iterator<Item = Algorithm> + use<> {
    let is_tree = |attribute: &Attribute| matches!(attribute.shape, Shape::Tree(_));
    let all_trees = table.attributes.iter().all(is_tree);
    let all = Algorithm::ALL.into_iter().map(|(_, algorithm)| algorithm);
    all.filter(move |algorithm| all_trees || !algorithm.is_full_domain())
}

/// Checks that every algorithm gives exactly one class of all rows.
#[track_caller]
fn check_one_class(table: &Table, job: &Job) {
    for algorithm in algorithms(table) {
        let classes = verified(algorithm, table, job);
        let all: Rows = (0..table.rows.len()).collect();
        assert_eq!(classes, Some(vec![all]), "{algorithm:?}");
    }
}

/// Checks that every algorithm reports that the whole table breaks exactly these models.
#[track_caller]
fn check_broken(table: &Table, job: &Job, expected: &[&str]) {
    for algorithm in algorithms(table) {
        let broken: Vec<String> = match run(algorithm, &table.frequency_set(), job) {
            Outcome::Infeasible(Infeasible::WholeTable { broken }) => broken,
            Outcome::Infeasible(Infeasible::EveryNode { broken, .. }) => {
                broken.into_iter().map(|(model, _)| model).collect()
            }
            _ => panic!("{algorithm:?}: not said to be infeasible"),
        };
        assert_eq!(broken, expected, "{algorithm:?}");
    }
}

#[test]
fn an_empty_table_is_infeasible() {
    for header in ["a:num b:cat | s p", "a:ord | s p", &format!("a:{TREE} | s p")] {
        let empty = table(header, "");
        for job in jobs(&empty, 2) {
            for algorithm in algorithms(&empty) {
                let outcome = run(algorithm, &empty.frequency_set(), &job);
                assert_eq!(outcome, Outcome::Infeasible(Infeasible::Empty), "{algorithm:?}");
            }
        }
    }
}

#[test]
fn one_row_is_too_few() {
    check_broken(&table("a:num b:cat", "1 x"), &Job::of_k(2), &["2-anonymity"]);
    check_broken(&table(&format!("a:{TREE}"), "c"), &Job::of_k(2), &["2-anonymity"]);
}

#[test]
fn k_above_n_is_infeasible() {
    check_broken(&patients(), &Job::of_k(7), &["7-anonymity"]);
    check_broken(&patients(), &Job::of_k(u64::MAX), &["18446744073709551615-anonymity"]);
}

#[test]
fn every_broken_model_is_named() {
    let job = Job::of_k(7)
        .with(DistinctDiversity::new(0, 6.0).unwrap())
        .with(EntropyDiversity::new(0, 6.5).unwrap());
    check_broken(&patients(), &job, &["7-anonymity", "entropy 6.5-diversity"]);
}

#[test]
fn k_of_n_gives_one_class() {
    check_one_class(&patients(), &Job::of_k(6));
    check_one_class(&patients(), &Job::of_k(4));
}

#[test]
fn equal_rows_are_one_class() {
    for header in ["a:num b:cat", "a:ord b:num", &format!("a:{TREE} b:{TREE}")] {
        let body = if header.contains("tree") { "a c\n" } else { "1 2\n" };
        check_one_class(&table(header, &body.repeat(50)), &Job::of_k(2));
        check_one_class(&table(header, &"? ?\n".repeat(50)), &Job::of_k(50));
    }
}

#[test]
fn a_table_without_attributes_is_one_class() {
    check_one_class(&table("| s", "x\nx\ny\ny\nz"), &Job::of_k(2));
}

#[test]
fn a_column_of_missing_cells_is_never_cut() {
    for form in ["num", "ord", "cat", TREE] {
        let with = table(&format!("m:{form} a:num"), "? 1\n? 2\n? 3\n? 4\n? 5\n? 6");
        let without = table("a:num", "1\n2\n3\n4\n5\n6");
        for algorithm in algorithms(&with) {
            let classes = verified(algorithm, &with, &Job::of_k(2));
            assert_eq!(classes, verified(algorithm, &without, &Job::of_k(2)), "{algorithm:?}");
        }
    }
}

#[test]
fn a_half_missing_column_is_cut_there() {
    for form in ["num", "ord", "cat", TREE] {
        let half =
            table(&format!("m:{form}"), "?\n?\na\na\n?\na".replace('a', value(form)).as_str());
        // Specialization cuts nothing without something to predict.
        let cutting = |algorithm: &Algorithm| *algorithm != Algorithm::Tds;
        for algorithm in algorithms(&half).filter(cutting) {
            let mut classes = verified(algorithm, &half, &Job::of_k(3)).unwrap();
            classes.sort();
            assert_eq!(classes, [[0, 1, 4], [2, 3, 5]], "{algorithm:?} {form}");
        }
    }
}

fn value(form: &str) -> &'static str {
    if form == "num" { "1" } else { "a" }
}

/// Random tables of every shape and number of attributes.
fn some_tables(n_tables: u64, n_rows: usize, max_values: usize) -> impl Iterator<Item = Table> {
    (0..n_tables).map(move |seed| {
        let n_attributes = 1 + usize::try_from(seed % 5).unwrap();
        // The first four seeds of every five times have one shape only.
        let alone = usize::try_from(seed / 5).unwrap();
        let forms = if alone < 4 { &Form::ALL[alone..=alone] } else { &Form::ALL };
        let recipe = Recipe { n_rows, n_attributes, forms, max_values, missing: seed % 3 != 0 };
        random_table(&mut Rng::new(seed), &recipe)
    })
}

#[test]
fn every_model_holds_for_every_class_on_every_shape() {
    let mut n_found = 0;
    let mut n_jobs = 0;
    for (at, table) in some_tables(40, 250, 24).enumerate() {
        for k in [2, 5, 20] {
            for job in jobs(&table, k) {
                // Climbing and proving take long: a few tables and nodes must suffice.
                let is_slow = |algorithm: &Algorithm| {
                    matches!(algorithm, Algorithm::HillClimb | Algorithm::KOptimize)
                };
                let is_quick = |algorithm: &Algorithm| !is_slow(algorithm) || at % 10 == 9;
                for algorithm in algorithms(&table).filter(is_quick) {
                    n_jobs += 1;
                    let budget = Budget::unlimited().visiting(Some(300));
                    let found = verified_within(algorithm, &table, &job, &budget);
                    n_found += usize::from(found.is_some());
                }
            }
        }
    }
    assert!(n_found * 10 > n_jobs * 8, "{n_found} of {n_jobs} jobs are feasible");
}

/// A child of a hierarchy node may be a region without rows (TR 1521, section 2.2, allows it). Any
/// other class has a row.
#[test]
fn every_class_has_a_row_except_for_hierarchies() {
    let is_tree = |attribute: &Attribute| matches!(attribute.shape, Shape::Tree(_));
    for table in some_tables(200, 60, 9).filter(|table| !table.attributes.iter().any(is_tree)) {
        let (set, vector_of) = table.collapse();
        for algorithm in algorithms(&table) {
            let outcome = run(algorithm, &set, &Job::of_k(3));
            let Outcome::Found(found) = outcome else { panic!("3 of 60 rows") };
            let classes = class_rows(&vector_of, &found.assignment);
            assert!(classes.iter().all(|rows| !rows.is_empty()), "{algorithm:?} of {table:?}");
        }
    }
}

/// A model may use only the count and still require more than k.
#[test]
fn a_model_that_only_counts_must_hold_too() {
    let of_three = Job::of_k(2).with(KAnonymity::new(3).unwrap());
    check_one_class(&table("a:num", "1\n2\n3\n4"), &of_three);
    // Two rows and three would be 2-anonymous, but three are a multiple of three.
    let not_threes = Job::of_k(2).with(NotThrees { looks_at: None });
    check_one_class(&table("a:num", "1\n1\n2\n2\n2"), &not_threes);
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    for (seed, table) in (0..).zip(some_tables(30, 120, 12)) {
        let mut shuffled = table.clone();
        Rng::new(seed).shuffle(&mut shuffled.rows);
        for (job, again) in jobs(&table, 3).iter().zip(&jobs(&shuffled, 3)) {
            for algorithm in algorithms(&table) {
                let first = verified(algorithm, &table, job).map(|c| contents(&table, &c));
                let second = verified(algorithm, &shuffled, again).map(|c| contents(&shuffled, &c));
                assert_eq!(first, second, "{algorithm:?}, {}", job.describe());
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let pools = [1, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    // Large enough for work to be shared: every model, then more vectors for two of them.
    for (seed, n_rows, max_values, n_jobs) in
        [(0, 20_000, 300, 12), (1, 20_000, 30, 12), (2, 4_001, 5_000, 12), (3, 160_000, 1_000, 2)]
    {
        let recipe =
            Recipe { n_rows, n_attributes: 4, forms: &Form::ALL, max_values, missing: true };
        let table = random_table(&mut Rng::new(seed), &recipe);
        let (set, vector_of) = table.collapse();
        for job in jobs(&table, 10).iter().take(n_jobs) {
            // Climbing goes on for minutes here, one cut after another; `single_dimensional` looks
            // at its threads.
            let is_quick =
                |algorithm: &Algorithm| algorithm.kind() != RecodingKind::SingleDimensional;
            let quick = algorithms(&table).filter(is_quick);
            for algorithm in quick {
                let [one, eight] =
                    pools.each_ref().map(|p| p.install(|| run(algorithm, &set, job)));
                // Not `assert_eq`, which would print the outcomes.
                assert!(one == eight, "{algorithm:?}, {}, seed {seed}", job.describe());
                let Outcome::Found(found) = one else { panic!("{} is feasible", job.describe()) };
                check_found(&table, (&set, &vector_of), &found, job).unwrap();
            }
        }
    }
}

#[test]
fn a_cancelled_search_shows_nothing_or_something_valid() {
    let recipe = Recipe {
        n_rows: 20_000,
        n_attributes: 4,
        forms: &Form::ALL,
        max_values: 50,
        missing: true,
    };
    let table = random_table(&mut Rng::new(1), &recipe);
    let (set, vector_of) = table.collapse();
    for job in jobs(&table, 5) {
        for algorithm in algorithms(&table) {
            for before in [true, false] {
                let budget = Budget::unlimited();
                if before {
                    budget.cancel();
                }
                let outcome = std::thread::scope(|scope| {
                    scope.spawn(|| budget.cancel());
                    run_within(algorithm, &set, &job, &budget)
                });
                match outcome {
                    Outcome::Cancelled => {}
                    Outcome::Found(found) => {
                        check_found(&table, (&set, &vector_of), &found, &job).unwrap();
                    }
                    Outcome::Infeasible(_) => panic!("{} is feasible", job.describe()),
                }
            }
        }
    }
}

#[test]
fn names_are_distinct() {
    for (at, (name, algorithm)) in Algorithm::ALL.iter().enumerate() {
        for (other_name, other) in &Algorithm::ALL[at + 1..] {
            assert!(name != other_name && algorithm != other);
        }
    }
}

//! The cells of a strict partitioning: they cover the rows of their class, and no two classes
//! overlap.
//!
//! Cells are compared code by code over the whole domain, including leaves that no row has.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Attribute, Cell, FrequencySet, Level, PartitionTree, SUPPRESSED, Shape};
use incrowd_release::{Classes, LabelForm, Regions, labels, recode, recode_regions};
use incrowd_search::{Algorithm, Found, Outcome, Recoding};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::{Form, Table, table};

use crate::{Job, jobs, run};

/// The codes that a cell covers, by its definition.
fn codes(attribute: &Attribute, cell: &Cell) -> BTreeSet<u32> {
    let all = 0..attribute.n_codes();
    match cell {
        Cell::Value(code) => [*code].into(),
        Cell::Range(lo, hi) => (*lo..=*hi).collect(),
        Cell::Set(codes) => codes.iter().copied().collect(),
        Cell::Between(part) => (part.lo..=part.hi).collect(),
        Cell::All => all.collect(),
        Cell::Node(level, group) => match &attribute.shape {
            Shape::Tree(tree) => {
                all.filter(|&leaf| tree.group_of(Level(*level), leaf) == *group).collect()
            }
            _ => panic!("a node of a column without a hierarchy"),
        },
        Cell::Nodes(nodes) => {
            assert!(nodes.len() > 1, "{nodes:?}");
            let mut covered = BTreeSet::new();
            for &(level, group) in nodes {
                let more = codes(attribute, &Cell::Node(level, group));
                assert!(covered.is_disjoint(&more), "{nodes:?} hold one another");
                covered.extend(more);
            }
            covered
        }
    }
}

/// The classes with the cells of their regions, where lines are cut nowhere that could be printed.
fn regions_of(set: &FrequencySet, found: &Found, tree: &PartitionTree) -> Classes {
    let places = vec![BTreeMap::new(); set.attributes.len()];
    let is_known: Vec<Vec<bool>> =
        set.attributes.iter().map(|attribute| vec![true; attribute.n_codes() as usize]).collect();
    let regions = Regions { places: &places, is_known: &is_known };
    recode_regions(set, &found.assignment, tree, &regions, None)
}

/// By class that has rows, the codes that its cells cover, by attribute.
fn boxes(set: &FrequencySet, classes: &Classes) -> Vec<Vec<BTreeSet<u32>>> {
    let cells: Vec<Vec<BTreeSet<u32>>> = set
        .attributes
        .iter()
        .zip(&classes.recoded.columns)
        .map(|(attribute, column)| column.cells.iter().map(|cell| codes(attribute, cell)).collect())
        .collect();
    let of_class = |class: usize| {
        let columns = classes.recoded.columns.iter().zip(&cells);
        columns.map(|(column, cells)| cells[column.of_class[class] as usize].clone()).collect()
    };
    (0..classes.recoded.sizes.len()).map(of_class).collect()
}

/// Every vector is in the box of its class; with `apart`, in no other one, and no two boxes
/// overlap.
fn check(set: &FrequencySet, found: &Found, classes: &Classes, apart: bool) -> Result<(), String> {
    let boxes = boxes(set, classes);
    let is_in = |class: usize, vector: usize| {
        let codes = set.vectors.iter().map(|codes| codes.get(vector));
        boxes[class].iter().zip(codes).all(|(of, code)| of.contains(&code))
    };
    for vector in 0..set.len() {
        let own = classes.number_of[found.assignment.class_of[vector] as usize];
        assert_ne!(own, SUPPRESSED, "nothing is left out");
        for class in 0..boxes.len() {
            let is_own = class == own as usize;
            if is_own && !is_in(class, vector) || !is_own && apart && is_in(class, vector) {
                return Err(format!("vector {vector} and the box of class {class}"));
            }
        }
    }
    for (at, one) in boxes.iter().enumerate().filter(|_| apart) {
        for (other_at, other) in boxes.iter().enumerate().skip(at + 1) {
            if !one.iter().zip(other).any(|(one, other)| one.is_disjoint(other)) {
                return Err(format!("the boxes of classes {at} and {other_at} overlap"));
            }
        }
    }
    Ok(())
}

fn found(algorithm: Algorithm, set: &FrequencySet, job: &Job) -> Option<Box<Found>> {
    match run(algorithm, set, job) {
        Outcome::Found(found) => Some(found),
        _ => None,
    }
}

/// The classes of a partitioning as they are released.
fn classes(set: &FrequencySet, found: &Found) -> Classes {
    match &found.recoding {
        Recoding::Partition(tree) => {
            recode(set, &found.assignment, &tree.divided(&set.attributes, &[]))
        }
        Recoding::Local(divided) => recode(set, &found.assignment, divided),
        other => panic!("{other:?}"),
    }
}

/// A missing value beside others of an ordered column makes a cell `*`, which covers everything.
fn has_cells_for_anything(table: &Table) -> bool {
    let is_mixed = |attribute: &Attribute| {
        let is_ordered = matches!(attribute.shape, Shape::Numeric | Shape::Ordinal);
        is_ordered && attribute.dictionary.has_missing
    };
    table.attributes.iter().any(is_mixed)
}

#[test]
fn classes_of_strict_partitioning_do_not_overlap() {
    let (mut n_checked, mut n_sets) = (0, 0);
    for seed in 0..600 {
        let rng = &mut Rng::new(seed);
        let forms: &[Form] = if seed % 3 == 0 { &Form::ALL } else { &[Form::Tree] };
        let recipe = Recipe {
            n_rows: 10 + rng.below(120),
            n_attributes: 1 + rng.below(4),
            forms,
            max_values: 2 + rng.below(14),
            missing: rng.one_in(2),
        };
        let table = random_table(rng, &recipe);
        if has_cells_for_anything(&table) {
            continue;
        }
        let set = table.frequency_set();
        for job in jobs(&table, 2 + rng.below(5) as u64) {
            let Some(found) = found(Algorithm::Mondrian, &set, &job) else { continue };
            let Recoding::Partition(tree) = &found.recoding else { panic!("a tree") };
            let classes = classes(&set, &found);
            let result = check(&set, &found, &classes, true);
            result.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}: {}", job.describe()));
            let regions = regions_of(&set, &found, tree);
            let result = check(&set, &found, &regions, false);
            result.unwrap_or_else(|wrong| panic!("seed {seed}, regions: {wrong}"));
            let cells = classes.recoded.columns.iter().flat_map(|column| &column.cells);
            n_sets += cells.filter(|cell| matches!(cell, Cell::Nodes(_))).count();
            n_checked += 1;
        }
    }
    assert!(n_checked > 2_000 && n_sets > 1_000, "{n_checked} {n_sets}");
}

/// Regions of a hierarchy do not overlap either, and are no smaller than the cells.
#[test]
fn nodes_of_regions_do_not_overlap() {
    for seed in 1_000..1_200 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 10 + rng.below(80),
            n_attributes: 1 + rng.below(3),
            forms: &[Form::Tree],
            max_values: 2 + rng.below(14),
            missing: false,
        };
        let set = random_table(rng, &recipe).frequency_set();
        let Some(found) = found(Algorithm::Mondrian, &set, &Job::of_k(3)) else { continue };
        let Recoding::Partition(tree) = &found.recoding else { panic!("a tree") };
        let regions = regions_of(&set, &found, tree);
        check(&set, &found, &regions, true).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        let cells = boxes(&set, &classes(&set, &found));
        for (cells, regions) in cells.iter().zip(boxes(&set, &regions)) {
            for (cell, region) in cells.iter().zip(&regions) {
                assert!(cell.is_subset(region), "seed {seed}");
            }
        }
    }
}

#[test]
fn cells_of_relaxed_partitioning_cover_their_rows() {
    for seed in 2_000..2_200 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 10 + rng.below(80),
            n_attributes: 1 + rng.below(3),
            forms: &Form::ALL,
            max_values: 2 + rng.below(14),
            missing: rng.one_in(2),
        };
        let set = random_table(rng, &recipe).frequency_set();
        let Some(found) = found(Algorithm::MondrianRelaxed, &set, &Job::of_k(3)) else { continue };
        let classes = classes(&set, &found);
        let boxes = boxes(&set, &classes);
        let whole = found.assignment.class_of.iter().enumerate();
        let whole = whole.map(|(vector, &class)| (vector, class));
        let shares = found.assignment.shares.iter();
        let shares = shares.map(|share| (share.vector as usize, share.class));
        for (vector, class) in whole.chain(shares) {
            let class = &boxes[classes.number_of[class as usize] as usize];
            for (codes, of) in set.vectors.iter().zip(class) {
                assert!(of.contains(&codes.get(vector)), "seed {seed}");
            }
        }
    }
}

/// By label of the first column, its rows.
#[track_caller]
fn check_labels(algorithm: Algorithm, table: &Table, k: u64, expected: &[(&str, u64)]) {
    let set = table.frequency_set();
    let found = found(algorithm, &set, &Job::of_k(k)).expect("feasible");
    let classes = classes(&set, &found);
    let column = &classes.recoded.columns[0];
    let labels = labels(&set.attributes[0], column, LabelForm::Range, None);
    let mut rows: Vec<(&str, u64)> = (column.of_class.iter())
        .map(|&cell| labels[0].texts[cell as usize].as_deref().unwrap_or_default())
        .zip(classes.recoded.sizes.iter().copied())
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, expected);
}

fn countries(rows: &[(&str, usize)]) -> Table {
    let cells = rows.iter().flat_map(|(country, n)| std::iter::repeat_n(*country, *n));
    let tree = "fr;west;*,de;west;*,it;south;*,es;south;*,jp;east;*";
    table(&format!("country:tree={tree}"), &cells.collect::<Vec<&str>>().join("\n"))
}

#[test]
fn children_that_stay_together_are_named() {
    let flat = "fr;eu;*,de;eu;*,it;eu;*,es;eu;*,jp;as;*";
    let rows = [("fr", 50), ("de", 50), ("it", 3), ("es", 2), ("jp", 20)];
    let cells = rows.iter().flat_map(|(country, n)| std::iter::repeat_n(*country, *n));
    let cells = cells.collect::<Vec<&str>>().join("\n");
    let table = table(&format!("country:tree={flat}"), &cells);
    let expected = [("de", 50), ("fr", 50), ("jp", 20), ("{es|it}", 5)];
    check_labels(Algorithm::Mondrian, &table, 5, &expected);
    let relaxed = countries(&[("fr", 6), ("de", 6), ("it", 3), ("es", 2), ("jp", 6)]);
    let expected = [("de", 6), ("fr", 6), ("jp", 6), ("south", 5)];
    check_labels(Algorithm::MondrianRelaxed, &relaxed, 5, &expected);
    // South and east are too small by themselves; all of the south is one node.
    let rows = countries(&[("fr", 9), ("it", 3), ("es", 2), ("jp", 1)]);
    check_labels(Algorithm::Mondrian, &rows, 6, &[("fr", 9), ("{jp|south}", 6)]);
    let rows = countries(&[("fr", 9), ("it", 5), ("jp", 1)]);
    check_labels(Algorithm::Mondrian, &rows, 6, &[("fr", 9), ("{it|jp}", 6)]);
}

#[test]
fn missing_is_named_beside_nodes() {
    let cells = [["a"; 5].as_slice(), &["b"; 2], &["?"; 2]].concat().join("\n");
    let table = table("c:tree=a;x;*,b;y;*", &cells);
    check_labels(Algorithm::Mondrian, &table, 4, &[("a", 5), ("{|b}", 4)]);
}

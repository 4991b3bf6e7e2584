//! Oracles need oracles: numbers computed by hand, and comparisons of slow methods.

use incrowd_data::Cell;
use incrowd_privacy::{DistinctDiversity, Model};

use super::bound::neighbour_distance;
use super::least::least_division;
use super::*;
use crate::generate::{Recipe, Rng, random_table};
use crate::oracle::set_partitions;
use crate::{Form, table};

/// What lies on the attributes 0 and 1, and on 1 and 2.
fn ab_bc(k: [u64; 2]) -> Vec<Attacker> {
    vec![Attacker::new(&[0, 1], k[0]), Attacker::new(&[1, 2], k[1])]
}

fn asked<'a>(table: &'a Table, attackers: &'a [Attacker]) -> Asked<'a> {
    Asked { table, attackers, models: &[], entity: None }
}

/// Ranges of ten, so that a step is a tenth.
fn tenths() -> Table {
    table("a:num b:num c:num", "0 0 0\n2 0 5\n5 1 5\n10 1 10\n10 10 0\n0 10 0")
}

#[track_caller]
fn check_close(found: impl Into<Option<f64>>, expected: impl Into<Option<f64>>) {
    let (found, expected) = (found.into(), expected.into());
    let are_close = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        (found, expected) => found == expected,
    };
    assert!(are_close, "{found:?}, not {expected:?}");
}

/// Table I, with the generalizations of Tables II and III.
fn accidents() -> Table {
    table(
        "occupation:tree=Dentist;Medical;*,Doctor;Medical;*,Banker;Finance;*,Broker;Finance;* age:num \
         vehicle:tree=RedTruck;Truck;*,BlackTruck;Truck;*,WhiteSedan;Sedan;*,GreenSedan;Sedan;* \
         postcode:num | faulty",
        "Dentist 30 RedTruck   31043 No
         Doctor  30 WhiteSedan 31043 Yes
         Banker  30 GreenSedan 31043 No
         Broker  30 BlackTruck 31043 No",
    )
}

#[test]
fn figure_1_is_a_butterfly() {
    let rows = table("a:cat b:cat c:cat", "a1 b c1\na1 b c2\na2 b c1\na2 b c2").rows;
    let [ab, bc] = &ab_bc([2, 2])[..] else { panic!("two") };
    let all = [0, 1, 2, 3];
    assert!(is_butterfly(&rows, &all, [ab, bc]));
    assert!(is_anonymous(&rows, &all, ab) && is_anonymous(&rows, &all, bc));
    assert!(!is_anonymous(&rows, &all, &Attacker::new(&[0, 1, 2], 2)));
    assert!(!is_butterfly(&rows, &[0, 1, 2], [ab, bc]), "one row with a2");
    assert!(!is_butterfly(&rows, &all, [ab, &Attacker::new(&[1, 2], 3)]), "two rows with c1");
    assert_eq!(decompose(&rows, [ab, bc]), Some(vec![all.to_vec()]));
    assert!(can_be_divided(&rows, [ab, bc]));
}

#[test]
fn a_butterfly_has_one_body() {
    let rows = table("a:cat b:cat c:cat", "a1 b1 c1\na1 b2 c1\na1 b1 c1\na1 b2 c1").rows;
    let [ab, bc] = &ab_bc([2, 2])[..] else { panic!("two") };
    assert!(!is_butterfly(&rows, &[0, 1, 2, 3], [ab, bc]));
    assert_eq!(decompose(&rows, [ab, bc]), Some(vec![vec![0, 2], vec![1, 3]]));
    assert_eq!(decompose(&rows[..3], [ab, bc]), None);
    assert!(can_be_divided(&rows, [ab, bc]) && !can_be_divided(&rows[..3], [ab, bc]));
}

#[test]
fn implied_attackers() {
    #[track_caller]
    fn check(sets: &[(&[usize], u64)], kept: &[usize], body: &[usize], wings: &[&[usize]]) {
        let attackers: Vec<Attacker> = sets.iter().map(|(set, k)| Attacker::new(set, *k)).collect();
        let found = effective(&attackers);
        assert_eq!(found, kept.iter().map(|&at| attackers[at].clone()).collect::<Vec<_>>());
        let found = body_and_wings(&found);
        let wings = wings.iter().map(|wing| wing.to_vec()).collect::<Vec<_>>();
        assert_eq!(found, (body.to_vec(), wings));
    }
    check(&[(&[0, 1], 2), (&[1, 2], 3)], &[0, 1], &[1], &[&[0], &[2]]);
    check(&[(&[0, 1], 2), (&[0, 1, 2], 2)], &[1], &[], &[&[0, 1, 2]]);
    check(&[(&[0, 1], 3), (&[0, 1, 2], 2)], &[0, 1], &[0, 1], &[&[], &[2]]);
    check(&[(&[0], 2), (&[0], 3), (&[0], 3)], &[1], &[], &[&[0]]);
    check(&[(&[0], 2), (&[1], 2), (&[2, 3], 2)], &[0, 1, 2], &[], &[&[0], &[1], &[2, 3]]);
    check(&[(&[0, 1], 2), (&[1, 2], 2), (&[2, 3], 2)], &[0, 1, 2], &[1, 2], &[&[0], &[], &[3]]);
    // The first is contained in the second, which is contained in the third: its attribute is in no
    // other remaining set.
    check(
        &[(&[0], 2), (&[0, 1], 2), (&[0, 1, 2], 4), (&[3], 9)],
        &[2, 3],
        &[],
        &[&[0, 1, 2], &[3]],
    );
}

#[test]
fn a_release_is_checked_by_attacker() {
    let table = table("a:num b:ord c:cat | s", "1 x p 7\n2 x ? 7\n3 y p 8\n? y q 9");
    let attackers = [Attacker::new(&[0, 1], 2), Attacker::new(&[1, 2], 2)];
    let pairs = |rows: [Rows; 2]| rows.to_vec();
    let release = release_of(
        &table,
        &[
            (vec![0], pairs([vec![0, 1], vec![2, 3]])),
            (vec![1], pairs([vec![0, 1], vec![2, 3]])),
            (vec![2], pairs([vec![0, 1], vec![2, 3]])),
        ],
    );
    assert_eq!(release[0], [Cell::Range(0, 1), Cell::Value(0), Cell::Set(vec![0, 2])]);
    assert_eq!(release[3], [Cell::All, Cell::Value(1), Cell::Set(vec![0, 1])]);
    // A half of the range of a, all of it where a value is missing, one of two steps of c.
    check_close(penalty(&table, &release), 2.0 * 0.5 + 2.0 + 4.0 * 0.5);
    let asked = asked(&table, &attackers);
    assert_eq!(asked.check(&release), Ok(()));
    let broken = |change: &dyn Fn(&mut Release)| {
        let mut other = release.clone();
        change(&mut other);
        asked.check(&other).is_err()
    };
    assert!(broken(&|release| release[0][0] = Cell::All), "only one row with that range");
    assert!(broken(&|release| release[3][0] = Cell::Range(0, 3)), "missing is in no range");
    assert!(broken(&|release| release[0][1] = Cell::Value(1)), "another value");
    assert!(broken(&|release| release[1][2] = Cell::Set(vec![0, 1])), "a set without it");
    assert!(broken(&|release| release[0][0] = Cell::Node(0, 0)), "no tree");
    assert!(broken(&|release| drop(release.pop())), "a row less");
    let models: [Box<dyn Model>; 1] = [Box::new(DistinctDiversity::new(0, 2.0).unwrap())];
    assert!(Asked { models: &models, ..asked }.check(&release).is_err(), "7 and 7");
    let of_entities = Asked { entity: Some(0), ..asked };
    assert!(of_entities.check(&release).is_err(), "one entity, 7");
    assert!(of_entities.is_feasible() && asked.is_feasible());
    assert!(!Asked { attackers: &ab_bc([2, 5]), ..asked }.is_feasible(), "k above n");
    assert!(!Asked { attackers: &ab_bc([4, 2]), ..of_entities }.is_feasible(), "three entities");
}

#[test]
fn the_least_division_is_the_least_of_all_divisions() {
    // Costs without any pattern, some parts not allowed.
    let cost = |part: &[usize]| {
        let mixed = part.iter().fold(7u64, |sum, &at| sum * 31 + at as u64);
        let cost = u32::try_from(Rng::new(mixed).below(100)).unwrap();
        (cost % 3 > 0).then_some(f64::from(cost))
    };
    for n in 1..=6 {
        let items: Rows = (0..n).collect();
        let all = set_partitions(n)
            .into_iter()
            .filter_map(|parts| parts.iter().map(|part| cost(part)).sum::<Option<f64>>());
        let expected = all.min_by(f64::total_cmp);
        check_close(least_division(&items, &cost), expected);
    }
    assert_eq!(least_division(&[4, 2], &|_| None), None);
}

#[test]
fn the_least_butterfly_by_hand() {
    let table = tenths();
    let least = |k, rows: &[usize]| asked(&table, &ab_bc(k)).least_butterfly(rows);
    // a is 0 2, 5 10; c is 0 5, 5 10 or 5 5, 0 10; b is 0 to 1.
    check_close(least([2, 2], &[0, 1, 2, 3]), 2.0 * 0.2 + 2.0 * 0.5 + 2.0 + 0.4);
    check_close(least([3, 2], &[0, 1, 2, 3]), 4.0 + 2.0 + 0.4);
    check_close(least([3, 4], &[0, 1, 2, 3]), 4.0 + 4.0 + 0.4);
    check_close(least([2, 5], &[0, 1, 2, 3]), None);
    // Attributes apart: no body.
    let apart = [Attacker::new(&[0], 2), Attacker::new(&[1], 2), Attacker::new(&[2], 4)];
    check_close(asked(&table, &apart).least_butterfly(&[0, 1, 2, 3]), 1.4 + 0.0 + 4.0);
    // An attacker without a wing sees all rows as one class.
    let within = [Attacker::new(&[0], 4), Attacker::new(&[0, 1], 2)];
    check_close(asked(&table, &within).least_butterfly(&[0, 1, 2, 3]), 4.0);
    check_close(asked(&table, &within).least_butterfly(&[0, 1, 2]), None);
}

#[test]
fn the_least_butterfly_of_diverse_classes() {
    let table = table("a:num b:num | s", "0 1 x\n0 1 x\n10 1 y\n10 1 y");
    let attackers = [Attacker::new(&[0], 2), Attacker::new(&[1], 2)];
    let free = asked(&table, &attackers);
    check_close(free.least_butterfly(&[0, 1, 2, 3]), 0.0);
    let models: [Box<dyn Model>; 1] = [Box::new(DistinctDiversity::new(0, 2.0).unwrap())];
    check_close(Asked { models: &models, ..free }.least_butterfly(&[0, 1, 2, 3]), 4.0);
}

#[test]
fn table_1_by_hand() {
    let table = accidents();
    let attackers = [Attacker::new(&[1, 2, 3], 2), Attacker::new(&[0, 1, 3], 2)];
    // One of three steps in both trees, for all four rows; with both known, all of one tree.
    check_close(asked(&table, &attackers).least_of_butterflies(), 8.0 / 3.0);
    check_close(asked(&table, &attackers).least_of_releases(), 8.0 / 3.0);
    let union = [Attacker::new(&[0, 1, 2, 3], 2)];
    check_close(asked(&table, &union).least_of_butterflies(), 16.0 / 3.0);
    check_close(asked(&table, &union).least_of_releases(), 16.0 / 3.0);
}

#[test]
fn the_least_of_all_by_hand() {
    let found = |table: &Table, attackers: &[Attacker]| {
        let asked = asked(table, attackers);
        (asked.least_of_butterflies(), asked.least_of_releases())
    };
    // Two butterflies with nothing lost; with k of 3, all rows are together in both eyes.
    let two = table("a:num b:num c:num", "0 0 0\n0 0 1\n1 0 0\n1 0 1\n0 1 0\n0 1 1\n1 1 0\n1 1 1");
    check_close(asked(&two, &ab_bc([2, 2])).least_of_butterflies(), 0.0);
    // b is lost; a is four and four, c is four and four.
    check_close(asked(&two, &ab_bc([3, 3])).least_of_butterflies(), 8.0);
    let one = table("a:num b:num c:num", "0 0 0\n0 0 1\n1 0 0\n1 0 1");
    assert_eq!(found(&one, &ab_bc([2, 2])), (Some(0.0), Some(0.0)));
    assert_eq!(found(&one, &ab_bc([3, 2])), (Some(4.0), Some(4.0)));
    assert_eq!(found(&one, &[Attacker::new(&[0, 1, 2], 2)]), (Some(4.0), Some(4.0)));
    assert_eq!(found(&one, &ab_bc([3, 5])), (None, None));
}

/// Theorem 2 is about two sets. With three, there are other releases than butterflies whose body is
/// everything that two or more know: to one attacker, rows with different bodies can look the same.
#[test]
fn three_sets_need_no_butterflies() {
    let table = table("a:num b:num c:num d:num", "0 0 0 0\n1 0 0 0\n0 0 1 1\n1 0 1 1");
    let chain = [[0, 1], [1, 2], [2, 3]].map(|known| Attacker::new(&known, 2));
    check_close(asked(&table, &chain).least_of_releases(), 0.0);
    check_close(asked(&table, &chain).least_of_butterflies(), 4.0);
    // And what nobody else knows can be divided across butterflies.
    let apart = [Attacker::new(&[0], 2), Attacker::new(&[1, 2], 2), Attacker::new(&[2, 3], 2)];
    check_close(asked(&table, &apart).least_of_releases(), 0.0);
    check_close(asked(&table, &apart).least_of_butterflies(), 4.0);
}

/// Theorem 2: two sets are best served by butterflies.
#[test]
fn butterflies_lose_nothing_for_two_sets() {
    let (mut n_checked, mut n_lossy) = (0, 0);
    for seed in 0..300 {
        let rng = &mut Rng::new(seed);
        let table = small_table(rng, 5 + usize::from(seed % 4 == 0));
        let attackers = random_attackers(rng, table.attributes.len(), 2, 3);
        let models: [Box<dyn Model>; 1] = [Box::new(DistinctDiversity::new(0, 2.0).unwrap())];
        let asked = Asked {
            models: if rng.one_in(4) { &models } else { &[] },
            entity: rng.one_in(6).then_some(1),
            ..asked(&table, &attackers)
        };
        let found = asked.least_of_releases();
        check_close(asked.least_of_butterflies(), found);
        assert_eq!(found.is_some(), asked.is_feasible());
        n_checked += 1;
        n_lossy += usize::from(found > Some(0.0));
    }
    assert!(2 * n_lossy > n_checked, "{n_lossy} of {n_checked}");
}

/// For more sets they are an upper bound.
#[test]
fn butterflies_can_be_released() {
    let mut n_above = 0;
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let table = small_table(rng, 5);
        let attackers = random_attackers(rng, table.attributes.len(), 3, 2);
        let asked = asked(&table, &attackers);
        let (butterflies, releases) = (asked.least_of_butterflies(), asked.least_of_releases());
        assert!(releases.unwrap() <= butterflies.unwrap() + 1e-9, "{table:?} {attackers:?}");
        n_above += usize::from(butterflies.unwrap() > releases.unwrap() + 1e-9);
    }
    assert!(n_above > 0);
}

fn small_table(rng: &mut Rng, n_rows: usize) -> Table {
    let recipe = Recipe {
        n_rows,
        n_attributes: 1 + rng.below(4),
        forms: &Form::ALL,
        max_values: 2 + rng.below(7),
        missing: rng.one_in(2),
    };
    random_table(rng, &recipe)
}

#[test]
fn neighbours_by_hand() {
    let table = tenths();
    let near = |attributes: &[usize], row, i, among: &[usize]| {
        neighbour_distance(&table, attributes, row, i, among)
    };
    check_close(near(&[0], 0, 0, &[0, 1, 2]), 0.0);
    check_close(near(&[0], 0, 1, &[0, 1, 2]), 0.2);
    check_close(near(&[0], 0, 2, &[0, 1, 2]), 0.5);
    check_close(near(&[0], 0, 3, &[0, 1, 2]), None);
    // By both, the third row is nearer than the last.
    check_close(near(&[0, 2], 1, 1, &[1, 2, 5]), 0.3);
    check_close(near(&[0, 2], 1, 2, &[1, 2, 5]), 0.7);
    check_close(near(&[], 1, 2, &[1, 2, 5]), 0.0);
}

#[test]
fn distances_of_other_forms() {
    let table = table(
        "o:ord=S,M,L,X u:cat t:tree=a;x;*,b;x;*,c;y;*,d;y;*",
        "S p a\nM q b\nL r c\nX p d\n? ? ?",
    );
    let near = |attribute, one, other| {
        neighbour_distance(&table, &[attribute], one, 1, &[one, other]).unwrap()
    };
    check_close(near(0, 0, 2), 2.0 / 3.0);
    check_close(near(0, 0, 4), 1.0);
    // Four codes, the missing one included: a set of two is a third.
    check_close(near(1, 0, 2), 1.0 / 3.0);
    check_close(near(1, 0, 4), 1.0 / 3.0);
    // Five leaves with the missing one.
    check_close(near(2, 0, 1), 1.0 / 4.0);
    // One leaf of each of two nodes beside missing: the leaves are named.
    check_close(near(2, 0, 2), 1.0 / 4.0);
}

#[test]
fn the_bound_by_hand() {
    let table = tenths();
    let bound = |k, classes: &[&[usize]]| {
        let classes: Vec<Rows> = classes.iter().map(|rows| rows.to_vec()).collect();
        asked(&table, &ab_bc(k)).lower_bound(&classes)
    };
    // One class: a has 2 - 0 nearest, c two equal values, b is 0 to 1.
    check_close(bound([2, 2], &[&[0, 1, 2, 3]]), 4.0 * 0.2 + 0.4);
    // The second nearest: 2 of 0 2 5 on a; 0 and 5 on c, where the whole table has three zeros.
    check_close(bound([3, 3], &[&[0, 1, 2, 3]]), 4.0 * (0.3 + 0.5) + 0.4);
    check_close(bound([2, 3], &[&[0, 1, 2, 3]]), 4.0 * (0.2 + 0.5) + 0.4);
    // Two classes: two of three rows are in one of them.
    check_close(bound([3, 3], &[&[0, 1], &[2, 3]]), 4.0 * (0.2 + 0.5) + 0.4);
    // One of two rows, which says nothing, as does the whole table.
    check_close(bound([2, 2], &[&[0, 1], &[2, 3]]), 0.4);
    // The whole table says more: without the last two rows 2 - 0 is nearest.
    let few = Table { rows: table.rows[..4].to_vec(), ..table.clone() };
    check_close(
        asked(&few, &ab_bc([2, 2])).lower_bound(&[vec![0, 1], vec![2, 3]]),
        4.0 * 0.2 + 0.4,
    );
}

/// Nearest on the attributes of the wing is meant: with the nearest on all attributes and its
/// distance on the wing, the bound would be 4 x 0.4 here.
#[test]
fn the_nearest_is_that_on_the_wing() {
    let table = table("a:num b:num c:num", "0 0 0\n4 0 0\n0 0 10\n4 0 10\n10 9 0");
    let attackers = ab_bc([2, 2]);
    check_close(asked(&table, &attackers).lower_bound(&[vec![0, 1, 2, 3]]), 0.0);
    check_close(asked(&table, &attackers).least_butterfly(&[0, 1, 2, 3]), 0.0);
}

/// Theorem 4 on random nodes.
#[test]
fn the_bound_is_never_above_the_least_butterfly() {
    let (mut n_checked, mut n_wings, mut n_tight) = (0, 0, 0);
    for seed in 0..1_500 {
        let rng = &mut Rng::new(seed);
        let n_rows = 4 + rng.below(20);
        let table = small_table(rng, n_rows);
        let n_attackers = 1 + rng.below(4);
        let attackers = random_attackers(rng, table.attributes.len(), n_attackers, 5);
        let k = attackers.iter().map(|attacker| attacker.k).max().unwrap();
        let max_rows = if seed % 8 == 0 { 12 } else { 10 };
        let Some(node) = random_node(rng, &table, k, max_rows) else { continue };
        let classes = rows_of_node(&table.collapse().1, &node);
        let asked = asked(&table, &attackers);
        let bound = asked.lower_bound(&classes);
        let least = asked.least_butterfly(&classes.concat()).expect("enough rows");
        assert!(bound <= least + 1e-9, "{bound} {least}: {classes:?} {attackers:?} {table:?}");
        let (body, _) = body_and_wings(&effective(&attackers));
        let of_body = joint_penalty(&table, &classes.concat(), &body);
        n_checked += 1;
        n_wings += usize::from(bound > of_body + 1e-9);
        n_tight += usize::from(bound > of_body + 1e-9 && bound > least - 1e-9);
    }
    assert!(n_checked > 1_000 && n_wings > 150 && n_tight > 5, "{n_checked} {n_wings} {n_tight}");
}

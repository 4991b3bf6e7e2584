use incrowd_privacy::{DistinctDiversity, KAnonymity};

use super::*;
use crate::generate::{Recipe, Rng, random_table};
use crate::{Form, table};

const PATIENTS: &str = "birthdate:tree=1/21/76;*,2/28/76;*,4/13/86;* sex:tree=M;*,F;* \
     zipcode:tree=53715;5371*;537**,53710;5371*;537**,53706;5370*;537**,53703;5370*;537** |";

/// Figure 1 of the paper.
fn patients() -> Table {
    table(
        PATIENTS,
        "1/21/76 M 53715
         4/13/86 F 53715
         2/28/76 M 53703
         1/21/76 M 53703
         4/13/86 F 53706
         2/28/76 F 53706",
    )
}

fn k_anonymity(k: u64) -> Vec<Box<dyn Model>> {
    vec![Box::new(KAnonymity::new(k).unwrap())]
}

fn asked<'a>(table: &'a Table, models: &'a [Box<dyn Model>]) -> Asked<'a> {
    let height = |at: &incrowd_data::Attribute| match &at.shape {
        Shape::Tree(tree) => tree.height().0,
        _ => panic!("a tree"),
    };
    Asked {
        table,
        models,
        k: models[0].least_rows().unwrap(),
        entity: None,
        limit: 0,
        stars: false,
        measure: Measure::Height,
        target: None,
        weights: vec![1.0; table.attributes.len()],
        bounds: table.attributes.iter().map(|at| (0, height(at))).collect(),
    }
}

#[test]
fn the_patients_of_the_paper() {
    let (table, models) = (patients(), k_anonymity(2));
    let asked = asked(&table, &models);
    let nodes = asked.lattice();
    assert_eq!(nodes.len(), 12);
    assert_eq!(feasible_levels(&nodes), [[0, 1, 2], [1, 0, 2], [1, 1, 0], [1, 1, 1], [1, 1, 2]]);
    assert_eq!(minimal(&nodes), [[0, 1, 2], [1, 0, 2], [1, 1, 0]]);
    assert_eq!(least_height(&nodes), [[1, 1, 0]]);
    assert_eq!(optimum(&nodes).unwrap().levels, [1, 1, 0]);
    assert_eq!(asked.node(&[1, 1, 0]).classes, [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(asked.node(&[1, 0, 1]).classes, [[2, 3], [4, 5]]);
    assert_eq!(asked.node(&[1, 0, 1]).n_suppressed, 2);
}

/// The slides have a birthdate too many, so that birthdates are never released.
#[test]
fn the_patients_of_the_slides() {
    let header = PATIENTS.replace("4/13/86;*", "4/13/86;*,1/28/76;*");
    let table = table(
        &header,
        "1/21/76 M 53710
         4/13/86 F 53710
         2/28/76 M 53703
         1/21/76 M 53703
         4/13/86 F 53706
         1/28/76 M 53706",
    );
    let models = k_anonymity(2);
    let nodes = asked(&table, &models).lattice();
    assert_eq!(feasible_levels(&nodes), [[1, 0, 2], [1, 1, 0], [1, 1, 1], [1, 1, 2]]);
    assert_eq!(minimal(&nodes), [[1, 0, 2], [1, 1, 0]]);
}

#[test]
fn ties_go_to_the_first_node_and_bounds_are_kept() {
    let (table, models) = (patients(), k_anonymity(2));
    let mut asked = asked(&table, &models);
    asked.bounds[2] = (2, 2);
    let nodes = asked.lattice();
    assert_eq!(nodes.len(), 4);
    assert_eq!(least_height(&nodes), [[0, 1, 2], [1, 0, 2]]);
    assert_eq!(optimum(&nodes).unwrap().levels, [0, 1, 2]);
    asked.bounds = vec![(0, 0), (0, 1), (0, 1)];
    assert_eq!(optimum(&asked.lattice()), None);
    assert_eq!(asked.datafly(), None);
}

#[test]
fn datafly_raises_the_attribute_with_the_most_values() {
    let (table, models) = (patients(), k_anonymity(2));
    // 3, 2, 3 values; then 1, 2, 3; then 1, 2, 2.
    assert_eq!(asked(&table, &models).datafly().unwrap().levels, [1, 1, 1]);
    // Then only the two patients of 53715 are alone.
    let with_limit = Asked { limit: 2, ..asked(&table, &models) };
    assert_eq!(with_limit.datafly().unwrap().levels, [1, 0, 0]);
}

#[track_caller]
fn check_cost(measure: Measure, expected: f64) {
    let table = table(
        "town:tree=a1;A;*,a2;A;*,b1;B;*,b2;B;* sex:tree=x;*,y;* | target",
        "a1 x t
         a2 x u
         a2 x u
         b1 x t
         b2 y t",
    );
    let models = k_anonymity(2);
    let target = Some(0);
    let weights = vec![3.0, 1.0];
    let asked = Asked { measure, target, weights, ..asked(&table, &models) };
    // One class of the first three rows; the other two are suppressed.
    let found = asked.node(&[1, 0]);
    assert_eq!((found.classes, found.n_suppressed), (vec![vec![0, 1, 2]], 2));
    assert!((found.cost - expected).abs() < 1e-12, "{} is not {expected}", found.cost);
}

#[test]
fn costs_by_hand() {
    check_cost(Measure::Discernibility, 9.0 + 2.0 * 5.0);
    check_cost(Measure::AverageClassSize, 5.0 / 2.0 / 2.0);
    check_cost(Measure::Loss, (3.0 * (1.0 + 2.0) / 5.0 + 2.0 / 5.0) / 4.0);
    check_cost(Measure::Classification, 1.0 + 2.0);
    check_cost(Measure::Height, 1.0);
    check_cost(Measure::Precision, (3.0 * (1.5 + 2.0) / 5.0 + 2.0 / 5.0) / 4.0);
    let town = 3f64.log2() + 2.0 * 1.5f64.log2() + 2.0 * 5f64.log2();
    let sex = 1.25f64.log2() + 5f64.log2();
    let most_town = 3.0 * 5f64.log2() + 2.0 * 2.5f64.log2();
    let most_sex = 4.0 * 1.25f64.log2() + 5f64.log2();
    check_cost(Measure::Entropy, (town + sex) / (most_town + most_sex));
}

#[track_caller]
fn check_one_leaf(column: &str, measure: Measure, expected: &[f64]) {
    let table = table(&format!("{column} |"), "a\na");
    let models = k_anonymity(2);
    let asked = Asked { measure, ..asked(&table, &models) };
    let costs: Vec<f64> = asked.lattice().iter().map(|node| node.cost).collect();
    assert_eq!(costs, expected);
}

#[test]
fn a_hierarchy_of_one_leaf() {
    check_one_leaf("c:tree=a", Measure::Loss, &[0.0]);
    check_one_leaf("c:tree=a", Measure::Precision, &[0.0]);
    check_one_leaf("c:tree=a;A;*", Measure::Loss, &[0.0, 0.0, 1.0]);
    check_one_leaf("c:tree=a;A;*", Measure::Precision, &[0.0, 0.5, 1.0]);
    check_one_leaf("c:tree=a;A;*", Measure::Entropy, &[0.0, 0.0, 0.0]);
}

#[test]
fn limit_stars_entities_and_models_decide_what_is_feasible() {
    let table = table("c:tree=a;*,b;*,d;* | s person", "a x 1\na y 2\na x 3\nb y 4\nd y 4");
    let models = k_anonymity(2);
    let plain = asked(&table, &models);
    let is_feasible = |asked: &Asked| asked.node(&[0]).is_feasible;
    assert!(!is_feasible(&Asked { limit: 1, ..plain.clone() }));
    let two = Asked { limit: 2, ..plain.clone() };
    assert!(is_feasible(&two));
    assert!(is_feasible(&Asked { stars: true, ..two.clone() }));
    let by_person = Asked { entity: Some(1), ..two.clone() };
    assert!(is_feasible(&by_person));
    assert!(!is_feasible(&Asked { stars: true, ..by_person }), "one person");
    let diverse: Vec<Box<dyn Model>> = vec![
        Box::new(KAnonymity::new(2).unwrap()),
        Box::new(DistinctDiversity::new(0, 2.0).unwrap()),
    ];
    assert!(is_feasible(&Asked { models: &diverse, ..two.clone() }));
    assert!(!is_feasible(&Asked { models: &diverse, stars: true, ..two.clone() }), "y only");
    let four = k_anonymity(4);
    assert!(!is_feasible(&Asked { models: &four, limit: 5, ..plain }), "no row is kept");
}

#[track_caller]
fn check_counts(table: &Table, incognito: [u64; 2], bottom_up: [u64; 2]) {
    let models = k_anonymity(2);
    let asked = asked(table, &models);
    assert_eq!([false, true].map(|all| incognito_counts(&asked, all)), incognito, "incognito");
    assert_eq!([false, true].map(|all| bottom_up_counts(&asked, all)), bottom_up, "bottom-up");
}

/// Incognito on the patients: birthdate, sex and zipcode pass at once; by birthdate and sex 00,
/// 01, 10; by the other pairs 00, 01, 10, 02; by all three the roots 110, 012, 102. Bottom-up:
/// 000, 001, 010, 100, 002, 011, 101, 110, 012, 102.
#[test]
fn counts_by_hand() {
    check_counts(&patients(), [3 + 3 + 2 * 4 + 3; 2], [10; 2]);
    // Bottom-up checks 00, 01, 10, 02, and 12: 10 marks 11 but not 12, which 02 inserts.
    let table = table("a:tree=a;*,b;* b:tree=x;X;* |", "a x\nb x");
    check_counts(&table, [2 + 1 + 1; 2], [5, 4]);
}

#[test]
fn searches_of_random_tables_agree_with_the_lattice() {
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: rng.below(25),
            n_attributes: 1 + rng.below(3),
            forms: &[Form::Tree],
            max_values: 6,
            missing: true,
        };
        let table = random_table(rng, &recipe);
        let models = k_anonymity(2 + rng.below(3) as u64);
        let mut asked = asked(&table, &models);
        asked.limit = rng.below(4) as u64;
        asked.measure = Measure::Discernibility;
        let nodes = asked.lattice();
        let passing: LevelVectors = (nodes.iter())
            .filter(|node| node.n_suppressed <= asked.limit)
            .map(|node| node.levels.clone())
            .collect();
        let [once, all] = [false, true].map(|transitive| {
            let (found, everywhere) =
                (incognito(&asked, transitive), bottom_up(&asked, transitive));
            assert_eq!((&found.1, &everywhere.1), (&passing, &passing), "seed {seed}");
            [found.0, everywhere.0]
        });
        assert!(all[0] <= once[0] && all[1] <= once[1], "seed {seed}");
        assert!(all[1] <= nodes.len() as u64, "seed {seed}");
        let best = optimum(&nodes);
        if let Some(greedy) = asked.datafly() {
            assert!(best.is_some_and(|best| best.cost <= greedy.cost), "seed {seed}");
        }
        assert_eq!(best.is_some(), table.rows.len() as u64 >= asked.k, "seed {seed}");
        let minimal = minimal(&nodes);
        assert!(least_height(&nodes).iter().all(|levels| minimal.contains(levels)));
    }
}

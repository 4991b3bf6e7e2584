use incrowd_privacy::{DistinctDiversity, KAnonymity};

use super::*;
use crate::full_domain;
use crate::generate::{Recipe, Rng, random_table};
use crate::{Form, table};

const AGE: usize = 0;
const SEX: usize = 1;
const ZIPCODE: usize = 2;

/// Figure 1 of TR 1521. Codes: ages 25 to 28 are 0 to 3, Female is 0, zipcodes 53710 to 53712 are 0
/// to 2.
fn patients() -> Table {
    table(
        "age:num sex:cat zipcode:num | disease",
        "25 Male   53711 Flu
         25 Female 53712 Hepatitis
         26 Male   53711 Bronchitis
         27 Male   53710 Broken-Arm
         27 Female 53712 AIDS
         28 Male   53711 Hang-Nail",
    )
}

fn k_anonymity(k: u64) -> Vec<Box<dyn Model>> {
    vec![Box::new(KAnonymity::new(k).unwrap())]
}

fn asked<'a>(table: &'a Table, models: &'a [Box<dyn Model>]) -> Asked<'a> {
    let measure = Measure::Discernibility;
    Asked { table, models, entity: None, limit: 0, measure, target: None }
}

fn cuts_of(all: &[Facts]) -> Vec<Cuts> {
    all.iter().map(|facts| facts.cuts.clone()).collect()
}

#[track_caller]
fn check_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn the_single_dimensional_anonymization_of_the_report() {
    let (table, models) = (patients(), k_anonymity(2));
    let asked = asked(&table, &models);
    // Figure 2: ages [25-28], both sexes, zipcodes [53710-53711] and 53712.
    let figure_2 = vec![(SEX, 1), (ZIPCODE, 2)];
    let found = asked.recoding(&figure_2);
    assert_eq!(found.classes, [vec![0, 2, 3, 5], vec![1, 4]]);
    assert_eq!((found.n_suppressed, found.is_feasible), (0, true));
    check_close(found.cost, 16.0 + 4.0);
    // All ages lose everything, the four men half of their zipcode.
    let by_loss = Asked { measure: Measure::Loss, ..asked.clone() };
    check_close(by_loss.recoding(&figure_2).cost, (6.0 + 4.0 * 0.5) / 18.0);
    assert_eq!(optimum(&by_loss.all()).unwrap().cuts, figure_2);
}

#[test]
fn all_recodings_of_the_patients() {
    let (table, models) = (patients(), k_anonymity(2));
    let all = asked(&table, &models).all();
    assert_eq!(all.len(), 1 << (3 + 1 + 2));
    assert!(all.is_sorted_by(|a, b| a.cuts < b.cuts), "each set of cuts once, in order");
    assert_eq!(all[1].cuts, [(AGE, 1)]);
    assert_eq!(all[2].cuts, [(AGE, 1), (AGE, 2)]);
    assert_eq!(all[63].cuts, [(ZIPCODE, 2)]);
    // Age 28 and zipcode 53710 occur once; age and sex, or zipcode, together single out someone.
    let feasible: Vec<Facts> = all.iter().filter(|facts| facts.is_feasible).cloned().collect();
    let expected: [Cuts; 6] = [
        vec![],
        vec![(AGE, 1)],
        vec![(AGE, 2)],
        vec![(SEX, 1)],
        vec![(SEX, 1), (ZIPCODE, 2)],
        vec![(ZIPCODE, 2)],
    ];
    assert_eq!(cuts_of(&feasible), expected);
    let costs: Vec<f64> = feasible.iter().map(|facts| facts.cost).collect();
    assert_eq!(costs, [36.0, 20.0, 18.0, 20.0, 20.0, 20.0]);
    assert_eq!(optimum(&all).unwrap().cuts, [(AGE, 2)]);
    assert_eq!(optimum(&all).unwrap().classes, [[0, 1, 2], [3, 4, 5]]);
}

/// {2, 7, 9} of section 4: ages 10-29 and 30-49; either gender; Married, Widowed or Divorced, Never
/// Married. Counted over all three columns from 1; the least value of each is implied.
#[test]
fn the_intervals_of_the_optimal_paper() {
    let table = table(
        "age:ord=10-29,30-39,40-49 gender:ord=M,F \
         marital:ord=Married,Widowed,Divorced,Never-Married |",
        "10-29 M Married
         40-49 F Never-Married",
    );
    let cuts = vec![(0, 1), (2, 1), (2, 3)];
    let of = |at: usize| intervals(&table.attributes[at], &codes_of(&cuts, at));
    assert_eq!(of(0), [(0, 0), (1, 2)]);
    assert_eq!(of(1), [(0, 1)]);
    assert_eq!(of(2), [(0, 0), (1, 2), (3, 3)]);
}

/// Figure 4(b): "The first cut occurs on the Zipcode dimension at 53711. Once this cut has been
/// made, there are no other allowable single-dimensional cuts." By age and zipcode alone.
#[test]
fn allowable_cuts_of_the_report() {
    let table = table(
        "age:num zipcode:num |",
        "25 53711\n25 53712\n26 53711\n27 53710\n27 53712\n28 53711",
    );
    let models = k_anonymity(2);
    let asked = asked(&table, &models);
    let cuts = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)];
    let allowable = |given: &Cuts| cuts.map(|more| asked.is_allowable(given, more));
    assert_eq!(allowable(&vec![]), [true, true, false, false, true]);
    // The cut itself may be made again: it changes nothing.
    assert_eq!(allowable(&vec![(1, 2)]), [false, false, false, false, true]);
    assert_eq!(allowable(&vec![(0, 2)]), [false, true, false, false, false]);
    // Nothing is allowable where something is suppressed already, even what divides no class.
    assert_eq!(allowable(&vec![(0, 3)]), [false; 5]);
}

/// Of men none, of women all have 53712: a side without rows is no class. Figure 2 needs it.
#[test]
fn a_side_without_rows_is_allowable() {
    let (table, models) = (patients(), k_anonymity(2));
    let asked = asked(&table, &models);
    assert!(asked.is_allowable(&vec![(SEX, 1)], (ZIPCODE, 2)));
    assert!(asked.is_allowable(&vec![(ZIPCODE, 2)], (SEX, 1)));
    assert!(!asked.is_allowable(&vec![(ZIPCODE, 2)], (ZIPCODE, 1)));
}

/// With k = 2, rows 0 to 2 and rows 3 and 6 are kept, rows 4 and 5 stand alone.
#[track_caller]
fn check_cost(measure: Measure, expected: f64) {
    let table = table(
        "age:num size:ord=S,M,L hue:cat town:tree=a;x;*,b;x;*,c;y;*,d;y;* | noise target",
        "10 S b a 1 t
         20 S g b 2 u
         30 M b b 3 u
         50 L r c 4 t
         30 L r d 5 t
         50 M r c 6 u
         50 L r d 7 t",
    );
    let models = k_anonymity(2);
    let asked = Asked { measure, target: Some(1), ..asked(&table, &models) };
    let found = asked.recoding(&vec![(0, 3), (1, 2), (2, 2), (3, 2)]);
    assert_eq!(found.classes, [vec![0, 1, 2], vec![3, 6]]);
    assert_eq!((found.n_suppressed, found.is_feasible), (2, false));
    check_close(found.cost, expected);
    for (limit, is_feasible) in [(1, false), (2, true)] {
        let with_limit = Asked { limit, ..asked.clone() }.recoding(&found.cuts);
        assert_eq!(with_limit, Facts { is_feasible, ..found.clone() });
    }
}

#[test]
fn costs_with_suppression_by_hand() {
    check_cost(Measure::Discernibility, 9.0 + 4.0 + 2.0 * 7.0);
    check_cost(Measure::Classification, 1.0 + 0.0 + 2.0);
    let first = 20.0 / 40.0 + 1.0 / 2.0 + 1.0 / 2.0 + 1.0 / 3.0;
    let second = 0.0 + 0.0 + 0.0 + 1.0 / 3.0;
    check_cost(Measure::Loss, (3.0 * first + 2.0 * second + 2.0 * 4.0) / (7.0 * 4.0));
}

/// Rows 1, 2 and missing; no models, so that all classes are kept: what each set of cuts loses.
#[track_caller]
fn check_loss_with_missing(header: &str, expected: &[(&[u32], f64)]) {
    let table = table(header, "1\n2\n?");
    let asked = Asked { measure: Measure::Loss, ..asked(&table, &[]) };
    let found: Vec<(Vec<u32>, f64)> =
        (asked.all().iter()).map(|facts| (codes_of(&facts.cuts, 0), 3.0 * facts.cost)).collect();
    let expected: Vec<(Vec<u32>, f64)> =
        expected.iter().map(|&(codes, lost)| (codes.to_vec(), lost)).collect();
    assert_eq!(found, expected);
}

#[test]
fn missing_is_the_last_code() {
    let ordered: [(&[u32], f64); 4] = [(&[], 3.0), (&[1], 2.0), (&[1, 2], 0.0), (&[2], 2.0)];
    check_loss_with_missing("a:num", &ordered);
    check_loss_with_missing("a:ord=1,2", &ordered);
    check_loss_with_missing("a:cat", &[(&[], 3.0), (&[1], 1.0), (&[1, 2], 0.0), (&[2], 1.0)]);
    check_loss_with_missing("a:tree=1;*,2;*", &[(&[], 3.0), (&[1, 2], 0.0)]);
    check_loss_with_missing("a:tree=1;x;*,2;x;*", &[(&[], 3.0), (&[1, 2], 0.0), (&[2], 2.0 * 0.5)]);
}

#[test]
fn a_recoding_keeps_some_row() {
    let (patients, models) = (patients(), k_anonymity(7));
    let asked = Asked { limit: 6, ..asked(&patients, &models) };
    let found = asked.recoding(&vec![]);
    assert_eq!((found.classes, found.n_suppressed, found.is_feasible), (vec![], 6, false));
    check_close(found.cost, 36.0);
    assert_eq!(optimum(&asked.all()), None);
    for measure in [Measure::Discernibility, Measure::Loss] {
        let empty = table("a:num b:cat |", "");
        let all = Asked { table: &empty, measure, ..asked.clone() }.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].is_feasible, all[0].cost), (false, 0.0));
    }
}

#[test]
fn entities_and_models_decide_which_classes_are_kept() {
    let table = table("c:cat | s person", "a x 1\na y 2\na x 3\nb y 4\nb y 4");
    let cut = vec![(0, 1)];
    let models = k_anonymity(2);
    let plain = asked(&table, &models);
    assert_eq!(plain.recoding(&cut).n_suppressed, 0);
    assert!(plain.is_allowable(&vec![], (0, 1)));
    let by_person = Asked { entity: Some(1), ..plain.clone() };
    assert_eq!(by_person.recoding(&cut).n_suppressed, 2, "one person");
    assert!(!by_person.is_allowable(&vec![], (0, 1)));
    let diverse: Vec<Box<dyn Model>> = vec![
        Box::new(KAnonymity::new(2).unwrap()),
        Box::new(DistinctDiversity::new(0, 2.0).unwrap()),
    ];
    let diverse = Asked { models: &diverse, ..plain };
    assert_eq!(diverse.recoding(&cut).classes, [[0, 1, 2]], "y only");
    assert!(!diverse.is_allowable(&vec![], (0, 1)));
}

/// The sets of codes at which a tree may be cut; of the others, every one must be refused.
#[track_caller]
fn check_tree(tree: &str, allowed: &[&[u32]]) {
    let table = table(&format!("n:num t:tree={tree} |"), "5 a\n5 b");
    let asked = asked(&table, &[]);
    let expected: Vec<Vec<u32>> = allowed.iter().map(|codes| codes.to_vec()).collect();
    let found: Vec<Vec<u32>> = asked.all().iter().map(|facts| codes_of(&facts.cuts, 1)).collect();
    assert_eq!(found, expected);
    let n_codes = table.attributes[1].n_codes();
    for bits in 0u32..1 << (n_codes - 1) {
        let codes: Vec<u32> = (1..n_codes).filter(|code| bits >> (code - 1) & 1 == 1).collect();
        let cuts: Cuts = codes.iter().map(|&code| (1, code)).collect();
        assert_eq!(asked.respects_hierarchies(&cuts), expected.contains(&codes), "{codes:?}");
    }
}

#[test]
fn intervals_are_nodes_of_the_hierarchy() {
    // Not 1, 3, nor 1 and 3: b with c and d, a to c, b with c.
    check_tree("a;x;*,b;x;*,c;y;*,d;y;*", &[&[], &[1, 2], &[1, 2, 3], &[2], &[2, 3]]);
    check_tree("a;*,b;*,c;*", &[&[], &[1, 2]]);
    check_tree("a;x;*,b;y;*,c;y;*", &[&[], &[1], &[1, 2]]);
    check_tree("a;*,b;*", &[&[], &[1]]);
    // Nodes with one child: p has the leaf of a, and the root the leaves of x.
    check_tree("a;p;x;*,b;q;x;*,c;q;x;*", &[&[], &[1], &[1, 2]]);
}

#[test]
fn every_hierarchy_must_be_respected() {
    let table = table("s:tree=a;*,b;*,c;* n:num t:tree=a;*,b;*,c;* |", "a 1 a\nb 2 b");
    let asked = asked(&table, &[]);
    assert_eq!(asked.all().len(), 2 * 2 * 2);
    assert!(asked.respects_hierarchies(&vec![(0, 1), (0, 2), (1, 1)]));
    assert!(!asked.respects_hierarchies(&vec![(0, 1), (0, 2), (2, 1)]));
    assert!(!asked.respects_hierarchies(&vec![(0, 1), (2, 2)]));
}

#[track_caller]
fn check_optimum(all: &[(u32, f64, bool)], expected: Option<u32>) {
    let facts = |&(code, cost, is_feasible): &(u32, f64, bool)| Facts {
        cuts: if code == 0 { vec![] } else { vec![(0, code)] },
        classes: vec![],
        n_suppressed: 0,
        is_feasible,
        cost,
    };
    let all: Vec<Facts> = all.iter().map(facts).collect();
    let found = optimum(&all).map(|facts| facts.cuts.first().map_or(0, |&(_, code)| code));
    assert_eq!(found, expected);
}

#[test]
fn ties_go_to_the_first_cuts() {
    check_optimum(&[], None);
    check_optimum(&[(1, 1.0, false)], None);
    check_optimum(&[(0, 1.0, false), (1, 3.0, true), (2, 2.0, true)], Some(2));
    check_optimum(&[(2, 2.0, true), (1, 2.0, true)], Some(1));
    check_optimum(&[(1, 0.1 + 0.2, true), (2, 0.3, true)], Some(1));
    check_optimum(&[(0, 1e9 + 0.9, true), (1, 1e9, true)], Some(0));
    check_optimum(&[(0, 1e9 + 1.1, true), (1, 1e9, true)], Some(1));
    check_optimum(&[(0, 0.9e-12, true), (1, 0.0, true)], Some(0));
    check_optimum(&[(0, 1.1e-12, true), (1, 0.0, true)], Some(1));
    check_optimum(&[(0, 0.0, false), (1, 0.0, true)], Some(1));
}

#[test]
#[should_panic(expected = "ascending")]
fn cuts_that_are_not_in_order_are_refused() {
    let table = patients();
    let _ = asked(&table, &[]).recoding(&vec![(SEX, 1), (AGE, 1)]);
}

#[test]
#[should_panic(expected = "between two codes")]
fn a_cut_after_the_last_code_is_refused() {
    let table = patients();
    let _ = asked(&table, &[]).recoding(&vec![(SEX, 2)]);
}

#[test]
#[should_panic(expected = "too many sets")]
fn too_many_sets_are_refused() {
    let table = table("a:ord=0,1,2,3,4,5,6,7,8 b:ord=0,1,2,3,4,5,6,7,8,9 |", "0 0");
    let _ = asked(&table, &[]).all();
}

fn tree_of(attribute: &Attribute) -> &Hierarchy {
    match &attribute.shape {
        Shape::Tree(tree) => tree,
        _ => panic!("a tree"),
    }
}

/// The cuts that a node of the full-domain lattice makes: one before every group but the first.
fn cuts_of_node(table: &Table, levels: &[u8]) -> Cuts {
    let mut cuts = vec![];
    for (at, (attribute, &level)) in table.attributes.iter().zip(levels).enumerate() {
        let groups = tree_of(attribute).groups(Level(level));
        cuts.extend(groups.iter().skip(1).map(|group| (at, group.lo)));
    }
    cuts
}

/// A full-domain generalization is a single-dimensional recoding, and costs the same.
#[test]
fn nodes_of_the_full_domain_lattice_are_recodings() {
    let measures = [Measure::Discernibility, Measure::Classification, Measure::Loss];
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 1 + rng.below(15),
            n_attributes: 1 + rng.below(2),
            forms: &[Form::Tree],
            max_values: 6,
            missing: true,
        };
        let table = random_table(rng, &recipe);
        let models = k_anonymity(2 + rng.below(2) as u64);
        let measure = measures[rng.below(3)];
        // The root above a single leaf loses everything there, and is that leaf here.
        if table.attributes.iter().any(|attribute| attribute.n_codes() < 2) {
            continue;
        }
        let limit = rng.below(4) as u64;
        let asked = Asked { measure, limit, target: Some(0), ..asked(&table, &models) };
        let lattice = full_domain::Asked {
            table: &table,
            models: &models,
            k: 2,
            entity: None,
            limit,
            stars: false,
            measure,
            target: Some(0),
            weights: vec![1.0; table.attributes.len()],
            bounds: (table.attributes.iter()).map(|a| (0, tree_of(a).height().0)).collect(),
        };
        let all = asked.all();
        for node in lattice.lattice() {
            let cuts = cuts_of_node(&table, &node.levels);
            let at = all.binary_search_by(|facts| facts.cuts.cmp(&cuts));
            let found = &all[at.expect("a node respects the hierarchies")];
            assert_eq!(found.classes, node.classes, "seed {seed}");
            assert_eq!(found.n_suppressed, node.n_suppressed, "seed {seed}");
            assert_eq!(found.is_feasible, node.is_feasible, "seed {seed}");
            check_close(found.cost, node.cost);
        }
    }
}

/// What the definitions imply, on random tables of every form.
#[test]
fn recodings_of_random_tables() {
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: rng.below(15),
            n_attributes: 1 + rng.below(2),
            forms: &Form::ALL,
            max_values: 4,
            missing: true,
        };
        let table = random_table(rng, &recipe);
        let models = k_anonymity(2);
        let limit = rng.below(4) as u64;
        let asked = Asked { limit, ..asked(&table, &models) };
        let all = asked.all();
        let best = optimum(&all);
        assert_eq!(all[0].cuts, []);
        assert!(all.is_sorted_by(|a, b| a.cuts < b.cuts), "seed {seed}");
        for facts in &all {
            assert!(asked.respects_hierarchies(&facts.cuts), "seed {seed}");
            let n_kept: usize = facts.classes.iter().map(Vec::len).sum();
            assert_eq!(n_kept as u64 + facts.n_suppressed, table.rows.len() as u64, "seed {seed}");
            assert!(!facts.is_feasible || best.unwrap().cost <= facts.cost, "seed {seed}");
            for &cut in &facts.cuts {
                let others: Cuts = facts.cuts.iter().copied().filter(|&c| c != cut).collect();
                let is_allowable = asked.is_allowable(&others, cut);
                assert_eq!(is_allowable, facts.n_suppressed == 0, "seed {seed}");
            }
        }
    }
}

//! Butterfly compared with the paper (ICDE 2009), the guarantees of its module, and the least
//! penalty of any release.
//!
//! All checks use the released cells by row, which are made here from the groups that the search
//! returns.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Block, Cell, FrequencySet, SUPPRESSED};
use incrowd_privacy::{
    Distance, DistinctDiversity, EntropyDiversity, KAnonymity, Model, TCloseness,
};
use incrowd_search::{Algorithm, Budget, Found, Infeasible, Outcome, Problem, QuasiSet, Recoding};
use incrowd_testkit::assignment::{Rows, check_assignment};
use incrowd_testkit::butterfly::{
    Asked, Attacker, Release, alike, body_and_wings, can_be_divided, decompose, effective,
    is_anonymous, is_butterfly, penalty, random_attackers, release_of,
};
use incrowd_testkit::generate::{Recipe, Rng, random_table};
use incrowd_testkit::oracle::Oracle;
use incrowd_testkit::{Form, Table, table};

use crate::check_function;

const PAPER: Algorithm = Algorithm::Butterfly { improves: false };
const IMPROVED: Algorithm = Algorithm::Butterfly { improves: true };

/// Room for rounding in sums of losses.
const TOLERANCE: f64 = 1e-9;

/// The requirements for several attackers.
pub(crate) struct SetsJob {
    pub(crate) attackers: Vec<Attacker>,
    /// k-anonymity with the greatest k, then the others.
    pub(crate) models: Vec<Box<dyn Model>>,
    entity: Option<usize>,
    /// The kind of the job.
    kind: usize,
}

/// The number of kinds of requirements beside k; all other kinds require nothing.
const N_KINDS: usize = 5;

impl SetsJob {
    pub(crate) fn new(attackers: Vec<Attacker>) -> SetsJob {
        let k = attackers.iter().map(|attacker| attacker.k).max().unwrap();
        let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k).unwrap())];
        SetsJob { attackers, models, entity: None, kind: N_KINDS }
    }

    /// The n-th kind of requirements beside k for a random table.
    pub(crate) fn of_kind(attackers: Vec<Attacker>, table: &Table, kind: usize) -> SetsJob {
        let mut job = SetsJob { kind, ..SetsJob::new(attackers) };
        let all: Rows = (0..table.rows.len()).collect();
        let whole = Oracle { table, models: &[], entity: None }.class(&all);
        let further: Option<Box<dyn Model>> = match kind {
            0 | 1 => Some(Box::new(DistinctDiversity::new(0, 2.0).unwrap())),
            2 => Some(Box::new(EntropyDiversity::new(0, 1.8).unwrap())),
            3 => {
                let (t, whole) = (0.35, &whole.histograms[0]);
                Some(Box::new(TCloseness::new(0, t, Distance::Equal, whole).unwrap()))
            }
            _ => None,
        };
        job.entity = [1, 4].contains(&kind).then_some(1);
        job.models.extend(further);
        assert!(job.models.iter().all(|model| model.is_monotone()));
        job
    }

    pub(crate) fn k(&self) -> u64 {
        self.models[0].least_rows().unwrap()
    }

    pub(crate) fn sets(&self) -> Vec<QuasiSet> {
        let set = |attacker: &Attacker| QuasiSet {
            attributes: attacker.attributes.clone(),
            k: attacker.k,
        };
        self.attackers.iter().map(set).collect()
    }

    pub(crate) fn asked<'a>(&'a self, table: &'a Table) -> Asked<'a> {
        let SetsJob { attackers, models, entity, .. } = self;
        Asked { table, attackers, models: &models[1..], entity: *entity }
    }

    fn describe(&self, table: &Table) -> String {
        let models: Vec<String> = self.models.iter().map(|model| model.describe()).collect();
        let SetsJob { attackers, entity, .. } = self;
        format!("{attackers:?}, {}, counting {entity:?} of {table:?}", models.join(", "))
    }
}

/// The checked release of a search.
struct Released {
    release: Release,
    penalty: f64,
    /// The attributes of each block, if there are blocks.
    blocks: Option<Vec<Vec<usize>>>,
}

/// Runs a search and checks all its guarantees; `None` if the job is infeasible.
fn released(algorithm: Algorithm, table: &Table, job: &SetsJob) -> Option<Released> {
    let (set, vector_of) = table.collapse();
    let (sets, budget) = (job.sets(), Budget::unlimited());
    let problem = Problem::new(&set, &job.models, job.k(), &budget);
    let outcome = algorithm.run(&Problem { sets: &sets, entity: job.entity, ..problem });
    let asked = job.asked(table);
    let context = || format!("{algorithm:?}, {}", job.describe(table));
    match outcome {
        Outcome::Found(found) => {
            assert!(asked.is_feasible(), "infeasible: {}", context());
            let found = check_release(&asked, (&set, &vector_of), &found);
            Some(found.unwrap_or_else(|wrong| panic!("{wrong}: {}", context())))
        }
        Outcome::Infeasible(Infeasible::Empty) => {
            assert!(table.rows.is_empty(), "not empty: {}", context());
            None
        }
        Outcome::Infeasible(Infeasible::WholeTable { broken }) => {
            assert!(!table.rows.is_empty() && !broken.is_empty(), "{}", context());
            assert!(!asked.is_feasible(), "feasible: {}", context());
            None
        }
        other => panic!("{other:?}: {}", context()),
    }
}

/// Every row has one class, and the cells of its groups make a release that withstands every
/// attacker.
fn check_release(
    asked: &Asked,
    (set, vector_of): (&FrequencySet, &[u32]),
    found: &Found,
) -> Result<Released, String> {
    check_assignment(set, &found.assignment)?;
    let class_of = &found.assignment.class_of;
    if class_of.contains(&SUPPRESSED) || !found.assignment.shares.is_empty() {
        return Err("a row is left out, or a vector divided".to_owned());
    }
    let all: Vec<usize> = (0..set.attributes.len()).collect();
    let rows_of = |group_of: &[u32]| -> Vec<Rows> {
        let mut groups: BTreeMap<u32, Rows> = BTreeMap::new();
        for (row, &vector) in vector_of.iter().enumerate() {
            groups.entry(group_of[vector as usize]).or_default().push(row);
        }
        groups.into_values().collect()
    };
    let (release, blocks) = match &found.recoding {
        Recoding::Partition(tree) => {
            check_function(set, found, tree)?;
            (release_of(asked.table, &[(all, rows_of(class_of))]), None)
        }
        Recoding::Blocks(blocks) => {
            check_blocks(set, class_of, blocks)?;
            let groups: Vec<(Vec<usize>, Vec<Rows>)> = blocks
                .iter()
                .map(|block| (block.attributes.clone(), rows_of(&block.group_of)))
                .collect();
            let attributes = blocks.iter().map(|block| block.attributes.clone()).collect();
            (release_of(asked.table, &groups), Some(attributes))
        }
        other => return Err(format!("what is {other:?}?")),
    };
    asked.check(&release)?;
    let penalty = penalty(asked.table, &release);
    Ok(Released { release, penalty, blocks })
}

/// Every attribute is in one block, every vector in one group of each, and vectors are in one class
/// if and only if they share all groups.
fn check_blocks(set: &FrequencySet, class_of: &[u32], blocks: &[Block]) -> Result<(), String> {
    let mut attributes: Vec<usize> =
        blocks.iter().flat_map(|block| block.attributes.iter().copied()).collect();
    attributes.sort_unstable();
    if attributes != (0..set.attributes.len()).collect::<Vec<_>>() {
        return Err(format!("the blocks have the attributes {attributes:?}"));
    }
    for Block { attributes, group_of, n_groups } in blocks {
        if group_of.len() != set.len() || group_of.iter().any(|group| group >= n_groups) {
            return Err(format!("not all vectors are in groups of the block {attributes:?}"));
        }
    }
    let shared =
        |vector: usize| -> Vec<u32> { blocks.iter().map(|block| block.group_of[vector]).collect() };
    let pairs: BTreeSet<(Vec<u32>, u32)> =
        class_of.iter().enumerate().map(|(vector, &class)| (shared(vector), class)).collect();
    let groups: BTreeSet<&Vec<u32>> = pairs.iter().map(|(groups, _)| groups).collect();
    let classes: BTreeSet<u32> = pairs.iter().map(|&(_, class)| class).collect();
    if pairs.len() == groups.len() && pairs.len() == classes.len() {
        Ok(())
    } else {
        Err("the classes are not what shares all groups".to_owned())
    }
}

/// The rows of a release with their extras, independent of their order.
fn contents(table: &Table, release: &Release) -> Vec<(Vec<Cell>, Vec<u32>)> {
    let cells = release.iter().enumerate();
    let mut rows: Vec<(Vec<Cell>, Vec<u32>)> =
        cells.map(|(row, cells)| (cells.clone(), table.extra_codes(row).to_vec())).collect();
    rows.sort_unstable();
    rows
}

/// The results of checking a table.
struct Checked {
    union: f64,
    improved: f64,
}

/// Checks both variants against the union, each other and themselves; `None` if the job is
/// infeasible.
fn check(table: &Table, job: &SetsJob, rng: &mut Rng) -> Option<Checked> {
    let context = || job.describe(table);
    let [union, paper, improved] =
        [Algorithm::Mondrian, PAPER, IMPROVED].map(|algorithm| released(algorithm, table, job));
    let (union, paper, improved) = (union?, paper.unwrap(), improved.unwrap());
    assert!(paper.penalty <= union.penalty + TOLERANCE, "above the union: {}", context());
    assert!(improved.penalty <= paper.penalty + TOLERANCE, "improved to worse: {}", context());
    let attackers = effective(&job.attackers);
    let union_has_node = {
        let all: Vec<usize> = (0..table.attributes.len()).collect();
        alike(&union.release, &(0..table.rows.len()).collect::<Rows>(), &all).len() > 1
    };
    for (found, tries_all) in [(&paper, union_has_node), (&improved, true)] {
        if let ([one, two], [], None) = (&attackers[..], &job.models[1..], job.entity) {
            // Theorem 2.
            assert!(decompose(&found.release, [one, two]).is_some(), "{}", context());
        }
        assert_eq!(found.blocks.is_some(), attackers.len() > 1, "blocks: {}", context());
        if let Some(blocks) = found.blocks.as_ref().filter(|_| is_apart(&attackers)) {
            // The paper makes no butterfly of a leaf (Figure 2, lines 3 to 7).
            let most = if tries_all { found.penalty } else { 0.0 };
            check_apart(table, job, blocks, most);
        }
    }
    let mut shuffled = table.clone();
    rng.shuffle(&mut shuffled.rows);
    for (algorithm, found) in [(PAPER, &paper), (IMPROVED, &improved)] {
        let other = released(algorithm, &shuffled, job).unwrap().release;
        let same = contents(&shuffled, &other) == contents(table, &found.release);
        assert!(same, "the order of rows matters to {algorithm:?}: {}", context());
    }
    Some(Checked { union: union.penalty, improved: improved.penalty })
}

fn is_apart(attackers: &[Attacker]) -> bool {
    body_and_wings(attackers).0.is_empty()
}

/// Attackers that share nothing: a block is within what one of them knows, and together they cost
/// no more than Mondrian for each of them alone, which is the butterfly of all rows.
fn check_apart(table: &Table, job: &SetsJob, blocks: &[Vec<usize>], found: f64) {
    let context = || job.describe(table);
    let attackers = effective(&job.attackers);
    for block in blocks {
        let is_within =
            |attacker: &Attacker| block.iter().all(|at| attacker.attributes.contains(at));
        assert!(attackers.iter().any(is_within), "{block:?} has no attacker: {}", context());
    }
    let alone = |attacker: &Attacker| {
        let projected = project(table, &attacker.attributes);
        let all: Vec<usize> = (0..attacker.attributes.len()).collect();
        let of_one = SetsJob::of_kind(vec![Attacker::new(&all, attacker.k)], &projected, job.kind);
        released(Algorithm::Mondrian, &projected, &of_one).unwrap().penalty
    };
    let alone: f64 = attackers.iter().map(alone).sum();
    assert!(found <= alone + TOLERANCE, "{found}, {alone} for each alone: {}", context());
}

/// The table without the other attributes.
fn project(table: &Table, attributes: &[usize]) -> Table {
    let codes = |row: usize| {
        let quasi = attributes.iter().map(|&at| table.quasi(row)[at]);
        quasi.chain(table.extra_codes(row).iter().copied()).collect()
    };
    Table {
        attributes: attributes.iter().map(|&at| table.attributes[at].clone()).collect(),
        extras: table.extras.clone(),
        rows: (0..table.rows.len()).map(codes).collect(),
    }
}

/// A random table with a random job.
fn random_case(rng: &mut Rng, n_rows: usize, max_values: usize) -> (Table, SetsJob) {
    let recipe = Recipe {
        n_rows,
        n_attributes: 1 + rng.below(5),
        forms: &Form::ALL,
        max_values: 1 + rng.below(max_values),
        missing: rng.one_in(2),
    };
    let table = random_table(rng, &recipe);
    let (n_attackers, max_k) = (1 + rng.below(4), 2 + rng.below(4));
    let attackers = random_attackers(rng, recipe.n_attributes, n_attackers, max_k);
    let job = SetsJob::of_kind(attackers, &table, rng.below(2 * N_KINDS));
    (table, job)
}

/// The least penalty of any release, if that can be enumerated in time.
fn floor(table: &Table, job: &SetsJob) -> Option<f64> {
    let attackers = effective(&job.attackers);
    let asked = Asked { attackers: &attackers, ..job.asked(table) };
    match (attackers.len(), table.rows.len()) {
        // Theorem 2: all releases consist of butterflies.
        (1 | 2, ..=8) => asked.least_of_butterflies(),
        (3, ..=6) | (4, ..=5) => asked.least_of_releases(),
        _ => None,
    }
}

#[test]
fn no_release_has_a_lower_penalty() {
    let (mut n_found, mut n_infeasible, mut n_floors) = (0, 0, 0);
    for seed in 0..600 {
        let rng = &mut Rng::new(seed);
        let n_rows = 1 + rng.below(8);
        let (table, job) = random_case(rng, n_rows, 8);
        let Some(Checked { union, improved }) = check(&table, &job, rng) else {
            n_infeasible += 1;
            continue;
        };
        n_found += 1;
        if let Some(least) = floor(&table, &job) {
            let context = || job.describe(&table);
            assert!(least <= improved + TOLERANCE, "{improved} beats {least}: {}", context());
            n_floors += usize::from(least < union);
        }
    }
    assert!(n_found > 200 && n_infeasible > 100 && n_floors > 60, "{n_found} {n_floors}");
}

#[test]
fn small_tables() {
    for seed in 10_000..10_400 {
        let rng = &mut Rng::new(seed);
        let n_rows = 8 + rng.below(30);
        let (table, job) = random_case(rng, n_rows, 12);
        check(&table, &job, rng);
    }
}

#[test]
fn medium_tables() {
    let (mut n_found, mut n_several, mut n_below) = (0, 0, 0);
    for seed in 20_000..20_060 {
        let rng = &mut Rng::new(seed);
        let n_rows = 50 + rng.below(250);
        let (table, job) = random_case(rng, n_rows, 40);
        if let Some(Checked { union, improved }) = check(&table, &job, rng) {
            n_found += 1;
            n_several += usize::from(effective(&job.attackers).len() > 1);
            n_below += usize::from(improved < union - TOLERANCE);
        }
    }
    assert!(n_found > 30 && n_several > 20, "{n_found}, {n_several}");
    assert!(3 * n_below > n_several, "below the union {n_below} of {n_several}");
}

#[test]
fn no_rows_and_too_few() {
    let table = table("a:num b:num", "1 2\n1 2");
    let job =
        |k: [u64; 2]| SetsJob::new(vec![Attacker::new(&[0], k[0]), Attacker::new(&[1], k[1])]);
    let empty = Table { rows: vec![], ..table.clone() };
    for algorithm in [PAPER, IMPROVED] {
        assert!(released(algorithm, &empty, &job([2, 2])).is_none());
        assert!(released(algorithm, &table, &job([2, 3])).is_none(), "one k above n");
        assert!(released(algorithm, &table, &job([3, 2])).is_none(), "the other k above n");
        assert!(released(algorithm, &table, &job([2, 2])).is_some());
    }
}

/// The k-anonymous tables of both sets are those made of butterflies (Theorem 2), and a butterfly
/// is k-anonymous for both (Proposition 1), as is a class of the union (Proposition 2).
#[test]
fn theorem_2_and_the_propositions() {
    let (mut n_made, mut n_not) = (0, 0);
    for seed in 0..400 {
        let rng = &mut Rng::new(seed);
        let recipe = Recipe {
            n_rows: 2 + rng.below(6),
            n_attributes: 2 + rng.below(3),
            forms: &Form::ALL,
            max_values: 2,
            missing: rng.one_in(4),
        };
        let table = random_table(rng, &recipe);
        let rows: Vec<Vec<u32>> =
            (0..table.rows.len()).map(|row| table.quasi(row).to_vec()).collect();
        let all: Rows = (0..rows.len()).collect();
        let [one, two] = &random_attackers(rng, recipe.n_attributes, 2, 3)[..] else {
            panic!("two")
        };
        let is_made = can_be_divided(&rows, [one, two]);
        let are_anonymous = is_anonymous(&rows, &all, one) && is_anonymous(&rows, &all, two);
        assert_eq!(is_made, are_anonymous, "{table:?} {one:?} {two:?}");
        assert_eq!(is_made, decompose(&rows, [one, two]).is_some(), "{table:?} {one:?} {two:?}");
        n_made += usize::from(is_made);
        n_not += usize::from(!is_made);
        for mask in 1..1 << rows.len() {
            let members: Rows = all.iter().copied().filter(|row| mask >> row & 1 == 1).collect();
            if is_butterfly(&rows, &members, [one, two]) {
                let are = is_anonymous(&rows, &members, one) && is_anonymous(&rows, &members, two);
                assert!(are, "{members:?} of {table:?} {one:?} {two:?}");
            }
        }
        let union: Vec<usize> = (0..recipe.n_attributes).collect();
        for class in alike(&rows, &all, &union) {
            if class.len() as u64 >= one.k.max(two.k) {
                assert!(is_butterfly(&rows, &class, [one, two]), "{class:?} of {table:?}");
            }
        }
    }
    assert!(n_made > 50 && n_not > 50, "{n_made} {n_not}");
}

/// Example 1: 2-anonymous on AB and on BC, not on ABC, and released as it is.
#[test]
fn figure_1() {
    let table = table("a:cat b:cat c:cat", "a1 b1 c1\na1 b1 c2\na2 b1 c1\na2 b1 c2");
    let [ab, bc] = [Attacker::new(&[0, 1], 2), Attacker::new(&[1, 2], 2)];
    let all = [0, 1, 2, 3];
    assert!(is_butterfly(&table.rows, &all, [&ab, &bc]));
    assert!(is_anonymous(&table.rows, &all, &ab) && is_anonymous(&table.rows, &all, &bc));
    assert!(!is_anonymous(&table.rows, &all, &Attacker::new(&[0, 1, 2], 2)));
    check_penalties(&table, vec![ab, bc], 4.0, 0.0);
}

/// The rationale of Theorem 1: 2-anonymous for every proper subset of ABC.
#[test]
fn table_4() {
    let rows = table(
        "a:cat b:cat c:cat",
        "a1 b1 c1\na1 b1 c2\na1 b2 c1\na1 b2 c2\na2 b1 c1\na2 b1 c2\na2 b2 c1\na2 b2 c2",
    );
    let all: Rows = (0..8).collect();
    for mask in 1..8 {
        let known: Vec<usize> = (0..3).filter(|at| mask >> at & 1 == 1).collect();
        let is_proper = known.len() < 3;
        assert_eq!(is_anonymous(&rows.rows, &all, &Attacker::new(&known, 2)), is_proper);
    }
    // Two butterflies, one for each a, on which the union is cut first.
    check_penalties(&rows, vec![Attacker::new(&[0, 1], 2), Attacker::new(&[0, 2], 2)], 8.0, 0.0);
}

/// The penalty of the union, and that of both variants.
#[track_caller]
fn check_penalties(table: &Table, attackers: Vec<Attacker>, union: f64, butterfly: f64) {
    let job = SetsJob::new(attackers);
    let found = released(Algorithm::Mondrian, table, &job).unwrap().penalty;
    assert!((found - union).abs() < TOLERANCE, "{found}");
    for algorithm in [PAPER, IMPROVED] {
        let found = released(algorithm, table, &job).unwrap().penalty;
        let is_as_said = (found - butterfly).abs() < TOLERANCE;
        assert!(is_as_said, "{algorithm:?}: {found}");
    }
}

/// Table I, of which one release has the occupations of Table III and the vehicles of Table II.
#[test]
fn table_1() {
    let table = table(
        "occupation:tree=Dentist;Medical;*,Doctor;Medical;*,Banker;Finance;*,Broker;Finance;* age:num \
         vehicle:tree=RedTruck;Truck;*,BlackTruck;Truck;*,WhiteSedan;Sedan;*,GreenSedan;Sedan;* \
         postcode:num | faulty",
        "Dentist 30 RedTruck   31043 No
         Doctor  30 WhiteSedan 31043 Yes
         Banker  30 GreenSedan 31043 No
         Broker  30 BlackTruck 31043 No",
    );
    let attackers = vec![Attacker::new(&[1, 2, 3], 2), Attacker::new(&[0, 1, 3], 2)];
    // A group of two of four leaves is one of three steps; all of them are all.
    check_penalties(&table, attackers.clone(), 4.0 / 3.0 + 4.0, 8.0 / 3.0);
    let found = released(IMPROVED, &table, &SetsJob::new(attackers)).unwrap().release;
    let (medical, finance, truck, sedan) = (0, 1, 0, 1);
    let row = |occupation, vehicle| {
        vec![Cell::Node(1, occupation), Cell::Value(0), Cell::Node(1, vehicle), Cell::Value(0)]
    };
    let expected =
        [row(medical, truck), row(medical, sedan), row(finance, sedan), row(finance, truck)];
    assert!(found == expected, "{found:?}");
}

/// Sets that share nothing: each is recoded on its own, here without loss.
#[test]
fn sets_apart() {
    let table = table("a:num b:num", "0 0\n0 1\n1 0\n1 1");
    check_penalties(&table, vec![Attacker::new(&[0], 2), Attacker::new(&[1], 2)], 4.0, 0.0);
}

/// Each set keeps its own k: with 4 for all, nothing would be left. The paper makes no butterfly of
/// a leaf.
#[test]
fn each_its_own_k() {
    let table = table("a:num b:num c:num", "0 0 0\n0 0 1\n1 0 0\n1 0 1");
    for other in [vec![1, 2], vec![0, 1, 2]] {
        // In the second, one set is within another, with the greater k: its columns are the body.
        let job = SetsJob::new(vec![Attacker::new(&[0, 1], 4), Attacker::new(&other, 2)]);
        let found = [Algorithm::Mondrian, PAPER, IMPROVED]
            .map(|algorithm| released(algorithm, &table, &job).unwrap().penalty);
        assert!((found[0] - 8.0).abs() < TOLERANCE, "{found:?}");
        assert!((found[2] - 4.0).abs() < TOLERANCE, "{found:?}");
    }
}

/// Sets that are contained in others with at least their k are implied: the result is that of the
/// others.
#[test]
fn implied_sets() {
    for seed in 30_000..30_100 {
        let rng = &mut Rng::new(seed);
        let n_rows = 8 + rng.below(30);
        let (table, job) = random_case(rng, n_rows, 12);
        let fewer = SetsJob::of_kind(effective(&job.attackers), &table, job.kind);
        for algorithm in [PAPER, IMPROVED] {
            let [all, fewer] = [&job, &fewer].map(|job| released(algorithm, &table, job));
            let [all, fewer] = [all, fewer].map(|found| found.map(|found| found.release));
            assert!(all == fewer, "{}", job.describe(&table));
        }
    }
}

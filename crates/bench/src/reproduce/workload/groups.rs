//! Figure 9(g): groups of rows that are recoded apart, for selections that tell nothing of the label.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_data::{Attribute, PartitionTree, Shape};
use incrowd_evaluate::learn::score::{accuracy, mean, standard_deviation};
use incrowd_evaluate::learn::{Features, Learner};
use incrowd_privacy::{KAnonymity, Model};
use incrowd_search::{Algorithm, Budget, Outcome, Problem, Recoding, Split, Target, Workload};

use super::super::lab::Adult;
use super::super::{Claim, Findings, Lab, Table};
use super::census::STANDS_FOR;
use super::rows::Rows;
use super::sweep::place;
use super::{figure, greatest};
use crate::Failure;

const K: u64 = 50;
const WAYS: [(&str, Split); 2] =
    [("InfoGain Mondrian", Split::Targets), ("Median Mondrian", Split::Median)];

pub(super) fn figure_9_g(lab: &Lab) -> Result<Findings, Failure> {
    lab.adult(Adult::All)?;
    let rows = Rows::adult(lab)?;
    let n_groups: &[u64] = lab.size(&[1, 8, 64], &[1, 2, 4, 8, 16, 32, 64, 128]);
    let n_folds = lab.size(2, 10);
    let folds = rows.folds(n_folds, lab.seed);
    let mut table = Table::new(&["groups", "recoding", "accuracy", "deviation"]);
    let mut series = Vec::new();
    for (name, split) in WAYS {
        let mut points = Vec::new();
        for &n in n_groups {
            let scores: Vec<f64> = folds
                .iter()
                .map(|held| apart(&rows, held, split, n, lab.seed))
                .collect::<Result<_, Failure>>()?;
            let [score, deviation] = [mean(&scores), standard_deviation(&scores)];
            table.push([&n.to_string(), name, &figure(score), &figure(deviation)]);
            points.push((place(n), score));
        }
        series.push(Series::new(name, points));
    }
    let chart = Lines {
        title: "Accuracy of J48 with groups that are recoded apart, k = 50".to_owned(),
        x: Axis::log("groups"),
        y: Axis::linear("accuracy"),
        series: series.clone(),
    };
    Ok(Findings {
        tables: vec![table],
        plots: vec![("", chart.svg())],
        text: format!(
            "{STANDS_FOR} {n_folds} folds, k = 50. Every row is in one of n groups, at random; each group is recoded on \
             its own, as Selection Mondrian does for selections of the group, and one tree is trained on all groups \
             together. The tree does not see the group. A held-out row is recoded as the training rows of its \
             group are."
        ),
        claims: claims(&series),
    })
}

fn claims(series: &[Series]) -> Vec<Claim> {
    let last = series[0].points.len() - 1;
    let ends: Vec<String> = series
        .iter()
        .map(|one| {
            format!("{} {} to {}", one.name, figure(one.points[0].1), figure(one.points[last].1))
        })
        .collect();
    let falls = |one: &Series| one.points[last].1 < one.points[0].1;
    let few = series[0].points.iter().filter(|(n, _)| *n <= 8.0).last().map_or(0.0, |p| p.1);
    let lost = series[0].points[0].1 - few;
    let at = |at: usize| mean(&series[at].points.iter().map(|p| p.1).collect::<Vec<f64>>());
    vec![
        Claim::new(
            "Accuracy falls slightly as selections are added",
            ends.join("; "),
            series.iter().all(falls),
        ),
        Claim::new(
            "Several selections do little harm",
            format!("eight groups cost InfoGain Mondrian {lost:.4}"),
            lost < 0.02,
        ),
        greatest(
            "InfoGain Mondrian stays above Median Mondrian (means over n)",
            &[(WAYS[0].0, at(0)), (WAYS[1].0, at(1))],
        ),
    ]
}

/// The accuracy on held-out rows of a tree that is trained on groups of the others, each recoded apart.
fn apart(rows: &Rows, held: &[u32], split: Split, n: u64, seed: u64) -> Result<f64, Failure> {
    let train = rows.outside(held);
    let group = |row: u32| mixed(seed ^ (u64::from(row) << 20)) % n;
    let (mut learned, mut tried) = (Vec::new(), Vec::new());
    let (mut points, mut tried_points) = (Vec::new(), Vec::new());
    for number in 0..n {
        let of = |rows: &[u32]| -> Vec<u32> {
            rows.iter().copied().filter(|&row| group(row) == number).collect()
        };
        let (ours, held) = (of(&train), of(held));
        let regions = Regions::new(rows, &ours, split)?;
        ours.iter().for_each(|&row| points.extend(regions.point(rows, row)));
        held.iter().for_each(|&row| tried_points.extend(regions.point(rows, row)));
        learned.extend(ours);
        tried.extend(held);
    }
    let features = |n_rows, values| {
        let is_nominal = vec![false; 2 * rows.attributes.len()];
        Features { n_rows, values, is_nominal }
    };
    let labels = rows.labels(&learned);
    let points = features(learned.len(), points);
    let tried_points = features(tried.len(), tried_points);
    let answers = Learner::DecisionTree.predict(&points, &labels, &tried_points, seed)?;
    Ok(accuracy(&answers, &rows.labels(&tried)))
}

/// A recoding of some rows.
struct Regions {
    tree: PartitionTree,
    /// By class and attribute, the least and greatest place that its rows reach.
    bounds: Vec<Vec<(f64, f64)>>,
}

impl Regions {
    /// Recodes some rows.
    fn new(rows: &Rows, ours: &[u32], split: Split) -> Result<Regions, Failure> {
        let set = rows.frequencies(ours);
        let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(K)?)];
        let budget = Budget::unlimited();
        let workload = Workload {
            splits: vec![split],
            targets: vec![Target::Labels(0)],
            ..Workload::default()
        };
        let mut problem = Problem::new(&set, &models, K, &budget);
        problem.workload = Some(&workload);
        let Outcome::Found(found) = Algorithm::Mondrian.run(&problem) else {
            return Err("a group has fewer than k rows".into());
        };
        let Recoding::Partition(tree) = found.recoding else {
            return Err("Mondrian gives a tree of cuts".into());
        };
        let n_codes: Vec<u32> = rows.attributes.iter().map(Attribute::n_codes).collect();
        let mut reached = vec![vec![(u32::MAX, 0); n_codes.len()]; tree.n_classes as usize];
        for &row in ours {
            let class = tree.class_of(|attribute| rows.code(attribute, row)) as usize;
            for (at, (lo, hi)) in reached[class].iter_mut().enumerate() {
                let code = rows.code(at, row);
                (*lo, *hi) = ((*lo).min(code), (*hi).max(code));
            }
        }
        // A class without rows is its whole region.
        let whole = tree.regions(&n_codes);
        let bounds = reached.iter().zip(&whole).map(|(reached, whole)| {
            let region = if reached.iter().any(|(lo, hi)| lo > hi) { whole } else { reached };
            rows.attributes.iter().zip(region).map(|(of, &run)| ends(of, run)).collect()
        });
        Ok(Regions { bounds: bounds.collect(), tree })
    }

    /// A row as a model sees it: both ends of its region on every attribute.
    fn point(&self, rows: &Rows, row: u32) -> impl Iterator<Item = f64> {
        let class = self.tree.class_of(|attribute| rows.code(attribute, row)) as usize;
        self.bounds[class].iter().flat_map(|&(lo, hi)| [lo, hi])
    }
}

/// The places of both ends of a run of codes; of the node that holds them, in a hierarchy.
fn ends(attribute: &Attribute, (lo, hi): (u32, u32)) -> (f64, f64) {
    let (lo, hi) = match &attribute.shape {
        Shape::Tree(tree) => {
            let (level, group) = tree.common(lo, hi);
            let node = &tree.groups(level)[group as usize];
            (node.lo, node.hi)
        }
        _ => (lo, hi),
    };
    let place = |code: u32| attribute.dictionary.positions[code as usize];
    (place(lo), place(hi))
}

/// The splitmix64 generator's number for a state.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

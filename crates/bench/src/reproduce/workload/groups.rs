//! Figure 9(g): groups of rows that are recoded apart, for selections that tell nothing of the label.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_evaluate::learn::score::{accuracy, mean, standard_deviation};
use incrowd_evaluate::learn::{Features, Learner};
use incrowd_search::Split;

use super::super::{Claim, Findings, Lab, Table};
use super::regions::Regions;
use super::rows::{Rows, census_table};
use super::sweep::place;
use super::{figure, greatest};
use crate::Failure;

const K: u64 = 50;
const WAYS: [(&str, Split); 2] =
    [("InfoGain Mondrian", Split::Targets), ("Median Mondrian", Split::Median)];

pub(super) fn figure_9_g(lab: &Lab) -> Result<Findings, Failure> {
    census_table(lab, usize::MAX)?;
    let rows = Rows::adult(lab)?;
    let n_groups: &[u64] = lab.size(&[1, 8, 64], &[1, 2, 4, 8, 16, 32, 64, 128]);
    let n_folds = lab.size(2, 10);
    let folds = rows.folds(10, lab.seed);
    let mut table = Table::new(&["groups", "recoding", "accuracy", "deviation"]);
    let mut series = Vec::new();
    for (name, split) in WAYS {
        let mut points = Vec::new();
        for &n in n_groups {
            let scores: Vec<f64> = folds
                .iter()
                .take(n_folds)
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
            "Adult, thinned to the paper's balance of labels; {n_folds} of ten folds, k = 50. Every row is in one of n groups, at random; each group is recoded on \
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
    let few = series[0].points.iter().rfind(|(n, _)| *n <= 8.0).map_or(0.0, |p| p.1);
    let harm = series[0].points[0].1 - few;
    let at = |at: usize| mean(&series[at].points.iter().map(|p| p.1).collect::<Vec<f64>>());
    vec![
        Claim::new(
            "Accuracy falls as selections are added",
            format!("from 1 to {} groups: {}", series[0].points[last].0, ends.join("; ")),
            series.iter().all(falls),
        ),
        Claim::new(
            "Several selections do little harm",
            format!("eight groups cost InfoGain Mondrian {harm:.4}"),
            harm < 0.02,
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
        let regions = Regions::new(rows, &ours, split, K)?;
        points.extend(ours.iter().flat_map(|&row| regions.point(rows, row)));
        tried_points.extend(held.iter().flat_map(|&row| regions.point(rows, row)));
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

/// The splitmix64 generator's number for a state.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

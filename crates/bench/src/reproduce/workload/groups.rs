//! Figure 9(g): groups of rows that are recoded apart, for selections that tell nothing of the
//! label.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_evaluate::learn::score::{accuracy, mean, standard_deviation};
use incrowd_evaluate::learn::{Features, Learner};
use incrowd_search::Split;

use super::super::{Cases, Claim, Findings, Judged, Lab, Numbers, OURS, Table, Verdict};
use super::figure;
use super::regions::Regions;
use super::rows::{Rows, census_table};
use super::sweep::place;
use crate::Failure;

const K: u64 = 50;
const WAYS: [(&str, Split); 2] =
    [("InfoGain Mondrian", Split::Targets), ("Median Mondrian", Split::Median)];

/// Folds that are tried: quick, full.
const FOLDS: (usize, usize) = (2, 10);

pub(super) fn figure_9_g(lab: &Lab) -> Result<Findings, Failure> {
    census_table(lab, usize::MAX)?;
    let rows = Rows::adult(lab)?;
    let n_groups: &[u64] = lab.size(&[1, 8, 64], &[1, 2, 4, 8, 16, 32, 64, 128]);
    let n_folds = lab.size(FOLDS.0, FOLDS.1);
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
    Ok(Findings { tables: vec![table], plots: vec![("", chart.svg())] })
}

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    const PLACE: &str = "section 4.6, Figure 9(g)";
    let table = numbers.main();
    let n_folds = numbers.size(FOLDS.0, FOLDS.1);
    let text = format!(
        "Adult, thinned to the paper's balance of labels; {n_folds} of ten folds, k = 50. Every \
         row is in one of n groups, at random. Each group is recoded separately, as Selection \
         Mondrian does for selections of the group, and one tree is trained on all groups \
         together. The tree does not see the group. A held-out row is recoded as the training rows \
         of its group are."
    );
    let line = |name: &str| -> Vec<(f64, f64)> {
        let cells = [("recoding", name)];
        let rows = table.rows_with(&cells);
        rows.map(|row| (row.number("groups"), row.number("accuracy"))).collect()
    };
    let lines = WAYS.map(|(name, _)| (name, line(name)));
    let falls = Cases::of(lines.iter().flat_map(|(name, points)| {
        points
            .windows(2)
            .map(move |pair| (format!("{name} at {}", pair[1].0), pair[1].1 < pair[0].1))
    }));
    let ends: Vec<String> = (lines.iter())
        .map(|(name, points)| {
            let last = points.len() - 1;
            format!("{name} {} to {}", figure(points[0].1), figure(points[last].1))
        })
        .collect();
    let most = lines[0].1.last().map_or(0.0, |point| point.0);
    // "Several" is taken as up to eight, "large" as two percentage points.
    let harmless = Cases::of(lines.iter().flat_map(|(name, points)| {
        let first = points[0].1;
        let several = points.iter().filter(|(n, _)| (2.0..=8.0).contains(n));
        several.map(move |(n, accuracy)| (format!("{name} at {n}"), first - accuracy < 0.02))
    }));
    let costs: Vec<String> = (lines.iter())
        .filter_map(|(name, points)| {
            let eight = points.iter().rfind(|(n, _)| *n <= 8.0)?;
            Some(format!("{name} {:.4}", points[0].1 - eight.1))
        })
        .collect();
    let above = Cases::of(
        lines[0]
            .1
            .iter()
            .zip(&lines[1].1)
            .map(|(ours, median)| (format!("{} groups", ours.0), ours.1 > median.1)),
    );
    let claims = vec![
        Claim::new(
            PLACE,
            "Accuracy decreases as selections are added",
            format!("step by step: {}", falls.found()),
            &falls,
        ),
        Claim::new(
            PLACE,
            "It decreases slightly",
            format!("from 1 to {most} groups: {}", ends.join("; ")),
            Verdict::NotShown,
        )
        .because(
            "the paper's greatest number of groups is in a picture, and \"slightly\" has no number",
        ),
        Claim::new(
            PLACE,
            "Several selections can be incorporated without large negative effects",
            format!(
                "less than two points for up to eight: {}; eight cost {}",
                harmless.found(),
                costs.join(", ")
            ),
            &harmless,
        )
        .because(
            "Median Mondrian loses more than InfoGain Mondrian, which the paper may \
             have meant",
        ),
        Claim::new(OURS, "InfoGain Mondrian stays above Median Mondrian", above.found(), &above),
    ];
    Judged { text, shown: Vec::new(), claims, ..Judged::default() }
}

/// The accuracy on held-out rows of a tree that is trained on groups of the others, each recoded
/// apart.
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

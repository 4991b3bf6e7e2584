//! Figure 8: models of the synthetic label functions.

use std::collections::BTreeMap;

use incrowd_chart::{Axis, Bars};
use incrowd_evaluate::learn::score::{mean, paired_t_test, standard_deviation};
use incrowd_job::{EvaluateOptions, GenerateSpec};

use super::super::{Claim, Findings, Lab, Table};
use super::{APPLICANT, LEARNERS, RECODINGS, figure, job, learners, write_hierarchies};
use crate::Failure;

/// The label functions that the paper shows.
const FUNCTIONS: [u8; 4] = [2, 4, 6, 7];
const ORIGINAL: &str = "original";
/// The function that is linear, with constants as they are.
const LINEAR: u8 = 7;

/// Accuracies by learner, function and what was trained on, one a trial.
type Trials = BTreeMap<(&'static str, u8, &'static str), Vec<f64>>;

pub(super) fn figure_8(lab: &Lab) -> Result<Findings, Failure> {
    let n_trials = lab.size(3, 100);
    write_hierarchies(lab)?;
    let mut trials = Trials::new();
    for function in FUNCTIONS {
        for trial in 0..n_trials {
            try_once(lab, function, trial, &mut trials)?;
        }
    }
    let plots = ["", "naive-bayes", "random-forest", "svm"].into_iter().zip(LEARNERS);
    let plots = plots.map(|(suffix, (learner, name))| (suffix, bars(&trials, learner, name)));
    Ok(Findings {
        tables: vec![accuracies(&trials), differences(&trials)],
        plots: plots.collect(),
        text: format!(
            "Functions 2, 4, 6 and 7 of the paper's Figure 6, k = 25, {n_trials} trials of 1,000 rows to learn from \
             and 1,000 to be tried on. The constants of functions 2, 4 and 6 are drawn anew for each trial. The \
             hierarchies of `elevel` (two stages) and `car` (four groups of five) are ours, since the paper does \
             not print its own. Bars are means over the trials; the second file has the differences to InfoGain \
             Mondrian, trial by trial, with their standard errors. Median Mondrian does as badly as its choice of \
             columns: all nine are spread evenly over their whole range, so that none reaches wider than another, and \
             1,000 rows allow five cuts. Of equals ours cuts the column with the fewest values (the paper does not say \
             which), and those are not what the labels depend on."
        ),
        claims: claims(&trials, lab.is_quick),
    })
}

/// Draws a table and evaluates every recoding on it.
fn try_once(lab: &Lab, function: u8, trial: u64, trials: &mut Trials) -> Result<(), Failure> {
    let seed = lab.seed.wrapping_mul(1000) + trial;
    let spec = GenerateSpec {
        kind: "agrawal".to_owned(),
        rows: Some("2000".to_owned()),
        seed: Some(seed),
        functions: vec![function],
        vary_constants: function != LINEAR,
        ..GenerateSpec::default()
    };
    lab.generate("applicants.csv", spec)?;
    let options =
        EvaluateOptions { test: Some(0.5), models: learners(4), ..EvaluateOptions::default() };
    let columns = format!("{APPLICANT}group = {{ role = \"insensitive\", target = true }}\n");
    for (recoding, search) in RECODINGS {
        let found = lab.evaluate(&job("applicants.csv", &columns, 25, search, seed), &options)?;
        for (report, (learner, _)) in found.targets[0].models.iter().zip(LEARNERS) {
            let mut add = |what, value| {
                trials.entry((learner, function, what)).or_default().push(value);
            };
            add(recoding, report.released.mean);
            // The original rows are the same for every recoding.
            if recoding == RECODINGS[0].0 {
                add(ORIGINAL, report.original.mean);
            }
        }
    }
    Ok(())
}

/// What models are trained on, as the paper's bars stand.
fn sources() -> impl Iterator<Item = &'static str> {
    std::iter::once(ORIGINAL).chain(RECODINGS.map(|(name, _)| name))
}

fn bars(trials: &Trials, learner: &'static str, name: &str) -> String {
    let of = |what| FUNCTIONS.map(|function| mean(&trials[&(learner, function, what)])).to_vec();
    Bars {
        title: format!("Accuracy of {name}, k = 25"),
        x: "function".to_owned(),
        y: Axis::linear("accuracy"),
        groups: FUNCTIONS.iter().map(ToString::to_string).collect(),
        series: sources().map(|what| (what.to_owned(), of(what))).collect(),
    }
    .svg()
}

fn accuracies(trials: &Trials) -> Table {
    let mut table = Table::new(&["model", "function", "trained on", "accuracy", "deviation"]);
    for ((learner, function, what), values) in trials {
        let (mean, deviation) = (mean(values), standard_deviation(values));
        let function = function.to_string();
        table.push([*learner, &function, what, &figure(mean), &figure(deviation)]);
    }
    table
}

fn differences(trials: &Trials) -> Table {
    let columns =
        ["model", "function", "InfoGain Mondrian minus", "difference", "standard error", "t", "p"];
    let mut table = Table::new(&columns).named("differences");
    for (learner, _) in LEARNERS {
        for function in FUNCTIONS {
            for (other, _) in &RECODINGS[1..] {
                let of = |what| &trials[&(learner, function, what)];
                let Some(test) = paired_t_test(of(RECODINGS[0].0), of(other)) else { continue };
                let difference = mean(of(RECODINGS[0].0)) - mean(of(other));
                table.push([
                    learner.to_owned(),
                    function.to_string(),
                    (*other).to_owned(),
                    figure(difference),
                    figure(difference / test.t),
                    format!("{:.1}", test.t),
                    format!("{:.1e}", test.p),
                ]);
            }
        }
    }
    table
}

fn claims(trials: &Trials, is_quick: bool) -> Vec<Claim> {
    let all = |learner, what| -> Vec<f64> {
        FUNCTIONS.iter().flat_map(|&function| trials[&(learner, function, what)].clone()).collect()
    };
    let mut claims = Vec::new();
    for (learner, name) in LEARNERS {
        let infogain = all(learner, RECODINGS[0].0);
        let mut found = vec![format!("InfoGain {}", figure(mean(&infogain)))];
        let mut holds = true;
        for (other, _) in &RECODINGS[1..] {
            let values = all(learner, *other);
            let t = paired_t_test(&infogain, &values).map_or(0.0, |test| test.t);
            found.push(format!("{other} {} (paired t = {t:.1})", figure(mean(&values))));
            // A few trials order the means; many must also tell them apart.
            holds &= t > if is_quick { 0.0 } else { 3.0 };
        }
        claims.push(Claim::new(
            format!("{name}: InfoGain Mondrian is more accurate than TDS and Median Mondrian, significantly so"),
            found.join(", "),
            holds,
        ));
    }
    let svm = LEARNERS[3].0;
    let bent = |what| {
        let functions = FUNCTIONS.iter().filter(|function| **function != LINEAR);
        mean(&functions.map(|&f| mean(&trials[&(svm, f, what)])).collect::<Vec<f64>>())
    };
    claims.push(super::greatest(
        "The SVM gains from regions as points: on functions that are not linear, InfoGain Mondrian is above the original",
        &[(RECODINGS[0].0, bent(RECODINGS[0].0)), (ORIGINAL, bent(ORIGINAL))],
    ));
    claims
}

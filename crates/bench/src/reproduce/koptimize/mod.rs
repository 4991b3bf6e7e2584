//! K-Optimize: times to the proof, costs of the optima, and how soon good recodings are found.

mod figure_6a;
mod figure_6b;
mod figure_7a;
mod figure_7b;
mod known;

use std::time::Duration;

use incrowd_chart::{Axis, Lines, Series};
use incrowd_data::FrequencySet;
use incrowd_quality::Measure;
use incrowd_search::Algorithm;

use super::lab::Adult;
use super::{Experiment, Lab, Paper, Row};
use crate::Failure;
use crate::koptimize::{Case, KS, adult};

pub(crate) const PAPER: Paper = Paper {
    name: "koptimize",
    source: "K-Optimize: Bayardo, Agrawal, *Data Privacy Through Optimal k-Anonymization*, ICDE 2005",
    setting: "The training part of the Adult table without rows that lack a value: 30,162 rows, \
eight columns and the salary class as the target. *Fine* has an age for every year, *coarse* one \
for every five. DM is discernibility, CM the classification measure; the limit is the number of \
rows that may be lost. The cost of an optimum depends on the order of a column's values, since \
only neighbours are joined. The paper does not print its orders; here it is the order of the \
leaves in the hierarchies of the examples. So costs can be compared with one another, but not \
digit by digit with the paper's plots. The paper's machine was a 2.8 GHz Xeon of 2004 and its runs \
took up to hours; here every case ends after some seconds, all cores search, and other work is on \
the machine.",
    experiments: &[
        Experiment {
            name: "koptimize-figure-6a",
            title: "Figure 6a: time to the proven optimum, without seeding",
            tables: &[""],
            plots: &["", "cm"],
            run: figure_6a::run,
            judge: figure_6a::judge,
        },
        Experiment {
            name: "koptimize-figure-6b",
            title: "Figure 6b: cost of the optimum",
            tables: &[""],
            plots: &["", "cm"],
            run: figure_6b::run,
            judge: figure_6b::judge,
        },
        Experiment {
            name: "koptimize-figure-7a",
            title: "Figure 7a: seeded against unseeded, any number of rows may be lost",
            tables: &[""],
            plots: &["", "cm"],
            run: figure_7a::run,
            judge: figure_7a::judge,
        },
        Experiment {
            name: "koptimize-figure-7b",
            title: "Figure 7b: cost of the best recoding over time, complete and stochastic",
            tables: &["", "ends", "greedy"],
            plots: &[""],
            run: figure_7b::run,
            judge: figure_7b::judge,
        },
    ],
};

const MEASURES: [(&str, Measure); 2] =
    [("DM", Measure::Discernibility), ("CM", Measure::Classification)];

/// The suppression limits of the paper by their names.
const LIMITS: [(&str, Option<u64>); 3] = [("0", Some(0)), ("100", Some(100)), ("any", None)];

/// What a case is called.
fn name(row: &Row) -> String {
    ["measure", "ages", "limit", "k"].map(|column| row.text(column)).join(" ")
}

/// The table with fine and with coarse ages.
fn grains(lab: &Lab) -> Result<[(&'static str, FrequencySet); 2], Failure> {
    lab.adult(Adult::Training)?;
    let folder = lab.path("");
    Ok([("fine", adult(&folder, true)?), ("coarse", adult(&folder, false)?)])
}

/// The values of k, descending; the quick version leaves out those that take long.
fn ks(lab: &Lab) -> &'static [u64] {
    &KS[..lab.size(2, KS.len())]
}

/// A search as the paper's first figure has it: no cuts to begin with.
fn unseeded(measure: Measure, limit: Option<u64>, k: u64, seconds: f64) -> Case<'static> {
    Case {
        algorithm: Algorithm::KOptimize,
        measure,
        limit,
        k,
        time: Some(Duration::from_secs_f64(seconds)),
        start: None,
        seeds_itself: false,
    }
}

fn place(k: u64) -> f64 {
    k as f64
}

/// A chart of lines over k.
fn by_k(title: String, y: Axis, series: Vec<Series>) -> String {
    Lines { title, x: Axis::log("k"), y, series }.svg()
}

/// The points of a line, by k.
fn points<T>(of: &[(u64, T)], value: impl Fn(&T) -> f64) -> Vec<(f64, f64)> {
    of.iter().rev().map(|(k, one)| (place(*k), value(one))).collect()
}

/// From the least to the greatest of some percentages; none if there are none.
fn range(percent: &[f64]) -> Option<String> {
    let least = percent.iter().copied().reduce(f64::min)?;
    let greatest = percent.iter().copied().reduce(f64::max)?;
    Some(format!("{least:.0}% to {greatest:.0}%"))
}

/// How much of a cost lies between it and its proven bound, in percent.
fn gap(row: Row) -> f64 {
    100.0 * (1.0 - row.number("bound") / row.number("cost"))
}

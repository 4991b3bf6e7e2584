//! What all figures together tell of the optimum of a case.
//!
//! A case is searched for several figures: starting with nothing or with a seed, and for more or
//! fewer seconds. One proof is enough, so that no case is proved in one figure and open in another.

use std::collections::BTreeMap;

use super::{LIMITS, figure_7b};
use crate::reproduce::{Numbers, Row, Table};

/// The least and the greatest that an optimum can be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) least: f64,
    pub(super) most: f64,
}

/// The optima by measure, ages and k, each for the limits in their order.
#[derive(Debug, Default)]
pub(super) struct Optima(BTreeMap<[String; 3], [Known; LIMITS.len()]>);

impl Known {
    const NOTHING: Known = Known { least: 0.0, most: f64::INFINITY };

    /// Costs are whole numbers.
    pub(super) fn is_proved(self) -> bool {
        self.most - self.least < 0.5
    }

    fn and(self, other: Known) -> Known {
        Known { least: self.least.max(other.least), most: self.most.min(other.most) }
    }
}

impl Optima {
    /// What an experiment of that name and the paper's others tell.
    pub(super) fn of(name: &str, numbers: &Numbers) -> Optima {
        let table = |of: &str, suffix: &str| -> Option<&Table> {
            if of == name { Some(numbers.table(suffix)) } else { numbers.sibling(of, suffix) }
        };
        let mut optima = Optima::default();
        for figure in ["koptimize-figure-6a", "koptimize-figure-6b"] {
            for row in table(figure, "").into_iter().flat_map(Table::rows) {
                let key = ["measure", "ages", "k"].map(|column| row.text(column).to_owned());
                optima.add(key, row.text("limit"), of_search(&row, "cost"));
            }
        }
        let race = |suffix: &str| table("koptimize-figure-7b", suffix);
        if let (Some(courses), Some(ends), Some(greedy)) = (race(""), race("ends"), race("greedy"))
        {
            let key = |k: &str| ["DM", "fine", k].map(str::to_owned);
            let complete = [("search", "complete")];
            let cost = courses.rows_with(&complete).last().map(|row| row.number("best cost"));
            let is_proved = ends.rows_with(&complete).any(|row| row.text("proved") == "yes");
            let most = cost.unwrap_or(f64::INFINITY);
            let least = if is_proved { most } else { 0.0 };
            let k = numbers.size(figure_7b::K.0, figure_7b::K.1).to_string();
            optima.add(key(&k), "any", Known { least, most });
            for row in greedy.rows() {
                optima.add(key(row.text("k")), "any", of_search(&row, "K-Optimize"));
            }
        }
        optima.0.values_mut().for_each(close);
        optima
    }

    fn add(&mut self, key: [String; 3], limit: &str, known: Known) {
        let at = place(limit);
        let limits = self.0.entry(key).or_insert([Known::NOTHING; LIMITS.len()]);
        limits[at] = limits[at].and(known);
    }

    /// What is known of the case of a row.
    pub(super) fn get(&self, row: &Row) -> Known {
        self.case(["measure", "ages", "k"].map(|column| row.text(column)), row.text("limit"))
    }

    /// What is known of a case, by measure, ages, k, and its limit.
    pub(super) fn case(&self, key: [&str; 3], limit: &str) -> Known {
        let key = key.map(str::to_owned);
        self.0.get(&key).map_or(Known::NOTHING, |limits| limits[place(limit)])
    }
}

/// The place of a limit among all.
fn place(limit: &str) -> usize {
    LIMITS.iter().position(|(name, _)| *name == limit).expect("one of the limits")
}

/// What a search tells: its cost, and its bound, which is the cost if it is proved. A case that was
/// not tried tells nothing.
fn of_search(row: &Row, cost: &str) -> Known {
    let Some(most) = row.maybe(cost) else { return Known::NOTHING };
    let least = match row.text("proved") {
        "yes" => most,
        _ if row.has("bound") => row.number("bound"),
        _ => 0.0,
    };
    Known { least, most }
}

/// What a limit allows, higher ones allow, too; and what is too little for them, is too little for
/// it.
fn close(limits: &mut [Known; LIMITS.len()]) {
    for at in 1..limits.len() {
        limits[at].most = limits[at].most.min(limits[at - 1].most);
    }
    for at in (1..limits.len()).rev() {
        limits[at - 1].least = limits[at - 1].least.max(limits[at].least);
    }
}

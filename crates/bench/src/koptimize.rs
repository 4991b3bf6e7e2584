//! K-Optimize on the bundled Adult table, prepared as the paper did: every case to its proof, or to
//! a time limit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incrowd_data::{
    Attribute, Codes, Cuts, Dictionary, Extra, FrequencySet, Hierarchy, Shape, collapse,
};
use incrowd_privacy::{KAnonymity, Model};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Outcome, Problem, Recoding, Watch};

use crate::reproduce::{Adult, Lab};
use crate::{Failure, now};

/// The columns of Adult that the K-Optimize paper and the Mondrian report use.
pub(crate) const COLUMNS: [&str; 8] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

/// The paper's values of k.
pub(crate) const KS: [u64; 8] = [1000, 500, 250, 100, 50, 25, 10, 5];

/// Which cases to run; all where nothing is said.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) grain: Option<String>,
    pub(crate) measure: Option<String>,
    pub(crate) limit: Option<String>,
    pub(crate) k: Option<u64>,
}

/// Runs the cases and prints a table, a row as soon as it is known.
pub(crate) fn cases(seconds: u64, chosen: &Chosen) -> Result<(), Failure> {
    let lab = Lab::new(false, 0)?;
    lab.adult(Adult::Training)?;
    println!(
        "| ages | measure | may lose | k | proved | cost | lower bound | gap | lost | nodes | seconds \
         | best after | cuts |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let is_chosen = |wish: &Option<String>, name: &str| wish.as_deref().is_none_or(|w| w == name);
    for limit in ["0", "100", "any"] {
        for grain in ["fine", "coarse"] {
            let set = adult(&lab.path(""), grain == "fine")?;
            for (name, measure) in
                [("DM", Measure::Discernibility), ("CM", Measure::Classification)]
            {
                for k in KS {
                    if is_chosen(&chosen.grain, grain)
                        && is_chosen(&chosen.measure, name)
                        && is_chosen(&chosen.limit, limit)
                        && chosen.k.is_none_or(|chosen| chosen == k)
                    {
                        let solved = solve(&set, &case(measure, limit, k, seconds))?;
                        println!("| {grain} | {name} | {limit} | {k} | {} |", row(&solved));
                    }
                }
            }
        }
    }
    Ok(())
}

fn case(measure: Measure, limit: &str, k: u64, seconds: u64) -> Case<'static> {
    Case {
        algorithm: Algorithm::KOptimize,
        measure,
        limit: limit.parse().ok(),
        k,
        time: Some(Duration::from_secs(seconds)),
        start: None,
        seeds_itself: true,
    }
}

/// What a search is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) measure: Measure,
    /// Rows that may be lost; any number if none is given.
    pub(crate) limit: Option<u64>,
    pub(crate) k: u64,
    /// When to stop; a search without it ends by itself.
    pub(crate) time: Option<Duration>,
    /// Cuts to begin with.
    pub(crate) start: Option<&'a Cuts>,
    /// Whether the search may look for cuts to begin with.
    pub(crate) seeds_itself: bool,
}

/// What a search came to.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    pub(crate) is_optimal: bool,
    pub(crate) cost: f64,
    pub(crate) bound: f64,
    /// Rows that are lost.
    pub(crate) lost: u64,
    pub(crate) nodes: u64,
    pub(crate) seconds: f64,
    /// The best cost from some second on, as often as it fell; the last one is the end's.
    pub(crate) course: Vec<(f64, f64)>,
    pub(crate) cuts: Cuts,
}

impl Solved {
    /// How far the cost may be above the optimum, in percent of it.
    pub(crate) fn gap(&self) -> f64 {
        100.0 * (self.cost - self.bound) / self.cost
    }
}

/// Runs a search and watches it.
pub(crate) fn solve(set: &FrequencySet, case: &Case) -> Result<Solved, Failure> {
    let Case { measure, k, start, seeds_itself, .. } = *case;
    let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k)?)];
    let watch = Watch::default();
    let begun = now();
    let budget = Budget::unlimited().within(case.time).watched_by(watch.clone());
    let limit = case.limit.unwrap_or(set.n_rows);
    let asked =
        Problem { limit, measure, target: Some(0), ..Problem::new(set, &models, k, &budget) };
    let problem = Problem { start, seeds_itself, ..asked };
    let is_done = AtomicBool::new(false);
    let (outcome, course) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut course: Vec<(f64, f64)> = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                let best = watch.standing().and_then(|standing| standing.best);
                let known = course.last().map_or(f64::INFINITY, |last| last.1);
                course.extend(best.filter(|best| *best < known).map(|b| (seconds(begun), b)));
                std::thread::sleep(Duration::from_millis(5));
            }
            course
        });
        let outcome = case.algorithm.run(&problem);
        is_done.store(true, Ordering::Relaxed);
        (outcome, watcher.join())
    });
    let took = seconds(begun);
    let mut course = course.unwrap_or_default();
    let Outcome::Found(found) = outcome else { return Err("nothing found".into()) };
    let Recoding::Intervals(cuts) = found.recoding else { return Err("no intervals".into()) };
    let cost = found.proof.cost.unwrap_or(f64::NAN);
    if course.last().is_none_or(|last| cost < last.1) {
        course.push((took, cost));
    }
    let lost = (found.assignment.class_of.iter().zip(&set.counts))
        .filter(|(class, _)| **class == incrowd_data::SUPPRESSED)
        .map(|(_, &rows)| u64::from(rows))
        .sum();
    Ok(Solved {
        is_optimal: found.proof.is_optimal,
        cost,
        bound: found.proof.lower_bound.unwrap_or(f64::NAN),
        lost,
        nodes: found.counters.nodes_checked,
        seconds: took,
        course,
        cuts,
    })
}

fn seconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64()
}

fn row(solved: &Solved) -> String {
    let cuts: Vec<String> =
        (0..COLUMNS.len()).map(|at| solved.cuts.of(at).len().to_string()).collect();
    let best_after = solved.course.last().map_or(0.0, |last| last.0);
    format!(
        "{} | {} | {:.0} | {:.1}% | {} | {} | {:.2} | {best_after:.2} | {}",
        if solved.is_optimal { "yes" } else { "no" },
        solved.cost,
        solved.bound,
        solved.gap(),
        solved.lost,
        solved.nodes,
        solved.seconds,
        cuts.join(" "),
    )
}

/// The table of a lab with the paper's eight columns, text in the leaf order of its hierarchies.
pub(crate) fn adult(folder: &Path, is_fine: bool) -> Result<FrequencySet, Failure> {
    let text = std::fs::read_to_string(folder.join("adult.csv"))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().ok_or("no header")?.split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let place = |name: &str| header.iter().position(|column| *column == name);
    let mut attributes = Vec::new();
    let mut columns: Vec<(Codes, u32)> = Vec::new();
    for name in COLUMNS {
        let at = place(name).ok_or("a column is missing")?;
        let cells: Vec<String> = rows
            .iter()
            .map(|row| match row[at].parse::<u32>() {
                Ok(age) if name == "age" && !is_fine => format!("{:02}", (age - 17) / 5),
                _ => row[at].to_owned(),
            })
            .collect();
        let present: BTreeSet<&String> = cells.iter().collect();
        let order: Vec<String> = if name == "age" {
            present.into_iter().cloned().collect()
        } else {
            let file = folder.join(format!("hierarchies/{name}.csv"));
            leaves(&file)?.into_iter().filter(|leaf| present.contains(leaf)).collect()
        };
        let code_of: BTreeMap<&String, u32> = order.iter().zip(0..).collect();
        let n_codes = u32::try_from(order.len())?;
        columns.push((Codes::pack(n_codes, cells.iter().map(|cell| code_of[cell])), n_codes));
        let dictionary = Dictionary::of_texts(order, false);
        attributes.push(Attribute { name: name.to_owned(), dictionary, shape: Shape::Ordinal });
    }
    let target = place("salary-class").ok_or("no target")?;
    let is_high = rows.iter().map(|row| u32::from(row[target].starts_with('>')));
    columns.push((Codes::pack(2, is_high), 2));
    let keyed: Vec<(&Codes, u32)> = columns.iter().map(|(codes, n)| (codes, *n)).collect();
    let collapsed = collapse(&keyed, rows.len());
    let mut vectors: Vec<Codes> =
        keyed.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
    let codes = vectors.pop().ok_or("no target")?;
    let positions = vec![0.0, 1.0];
    let target = Extra { name: "salary-class".to_owned(), codes, n_codes: 2, positions };
    let n_rows = rows.len() as u64;
    Ok(FrequencySet { attributes, vectors, counts: collapsed.counts, extras: vec![target], n_rows })
}

fn leaves(file: &Path) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(file)?;
    let rows: Vec<Vec<String>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split(';').map(|cell| cell.trim().to_owned()).collect())
        .collect();
    Ok(Hierarchy::from_rows(&rows)?.leaves().map(str::to_owned).collect())
}

//! K-Optimize on the Adult table as the paper prepared it: every case to its proof, or to a time limit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incrowd_data::{Attribute, Codes, Dictionary, Extra, FrequencySet, Hierarchy, Shape, collapse};
use incrowd_privacy::{KAnonymity, Model};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Budget, Outcome, Problem, Recoding, Watch};

use crate::Failure;

const COLUMNS: [&str; 8] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

const KS: [u64; 8] = [1000, 500, 250, 100, 50, 25, 10, 5];

/// Which cases to run; all where nothing is said.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) grain: Option<String>,
    pub(crate) measure: Option<String>,
    pub(crate) limit: Option<String>,
    pub(crate) k: Option<u64>,
}

/// Runs the cases and prints a table, a row as soon as it is known.
pub(crate) fn cases(folder: &Path, seconds: u64, chosen: &Chosen) -> Result<(), Failure> {
    println!(
        "| ages | measure | may lose | k | proved | cost | lower bound | gap | lost | nodes | seconds \
         | best after | cuts |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let is_chosen = |wish: &Option<String>, name: &str| wish.as_deref().is_none_or(|w| w == name);
    for limit in ["0", "100", "any"] {
        for grain in ["fine", "coarse"] {
            let set = adult(folder, grain == "fine")?;
            for (name, measure) in
                [("DM", Measure::Discernibility), ("CM", Measure::Classification)]
            {
                for k in KS {
                    if is_chosen(&chosen.grain, grain)
                        && is_chosen(&chosen.measure, name)
                        && is_chosen(&chosen.limit, limit)
                        && chosen.k.is_none_or(|chosen| chosen == k)
                    {
                        let row = case(&set, measure, limit, k, seconds)?;
                        println!("| {grain} | {name} | {limit} | {k} | {row} |");
                    }
                }
            }
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn case(
    set: &FrequencySet,
    measure: Measure,
    limit: &str,
    k: u64,
    seconds: u64,
) -> Result<String, Failure> {
    let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k)?)];
    let watch = Watch::default();
    let time = Some(Duration::from_secs(seconds));
    let budget = Budget::unlimited().within(time).watched_by(watch.clone());
    let limit = limit.parse().unwrap_or(set.n_rows);
    let problem =
        Problem { limit, measure, target: Some(0), ..Problem::new(set, &models, k, &budget) };
    let start = Instant::now();
    let is_done = AtomicBool::new(false);
    let (outcome, best_after) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut best, mut after) = (None, Duration::ZERO);
            while !is_done.load(Ordering::Relaxed) {
                let now = watch.standing().and_then(|standing| standing.best);
                if now != best {
                    (best, after) = (now, start.elapsed());
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            after
        });
        let outcome = Algorithm::KOptimize.run(&problem);
        is_done.store(true, Ordering::Relaxed);
        (outcome, watcher.join())
    });
    let took = start.elapsed().as_secs_f64();
    let best_after = best_after.unwrap_or_default().as_secs_f64().min(took);
    let Outcome::Found(found) = outcome else { return Err("nothing found".into()) };
    let Recoding::Intervals(cuts) = &found.recoding else { return Err("no intervals".into()) };
    let cost = found.proof.cost.unwrap_or(f64::NAN);
    let bound = found.proof.lower_bound.unwrap_or(f64::NAN);
    let lost: u64 = (found.assignment.class_of.iter().zip(&set.counts))
        .filter(|(class, _)| **class == incrowd_data::SUPPRESSED)
        .map(|(_, &rows)| u64::from(rows))
        .sum();
    let n_cuts: Vec<String> = (0..COLUMNS.len()).map(|at| cuts.of(at).len().to_string()).collect();
    Ok(format!(
        "{} | {cost} | {bound:.0} | {:.1}% | {lost} | {} | {took:.2} | {best_after:.2} | {}",
        if found.proof.is_optimal { "yes" } else { "no" },
        100.0 * (cost - bound) / cost,
        found.counters.nodes_checked,
        n_cuts.join(" "),
    ))
}

/// The table with the paper's eight columns, text in the leaf order of its hierarchies.
fn adult(folder: &Path, is_fine: bool) -> Result<FrequencySet, Failure> {
    let text = std::fs::read_to_string(folder.join("adult.csv"))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().ok_or("no header")?.split(';').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(';').collect()).collect();
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
            let file = folder.join(format!("hierarchies/adult_hierarchy_{name}.csv"));
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

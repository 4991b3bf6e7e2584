//! Figure 7a: what a seed is worth.

use incrowd_chart::{Axis, Series};

use super::{MEASURES, by_k, grains, ks, points, unseeded};
use crate::Failure;
use crate::koptimize::{Case, solve};
use crate::reproduce::{Claim, Findings, Lab, Table};

const TEXT: &str = "\
Any number of rows may be lost. *Seeded* is a search without suppression to its proof, and then the search without \
a limit, which begins with that optimum; both times are added. *Unseeded* begins with nothing. The local search \
of the product is off in both. A case that is not proved is a gap, and after two gaps smaller values of k are not tried.";

/// The two times of a case, those that led to a proof.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    unseeded: Option<f64>,
    seeded: Option<f64>,
}

/// A table and a measure, with its times by k.
struct Line {
    measure: &'static str,
    ages: &'static str,
    times: Vec<(u64, Times)>,
}

/// Does the figure again.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    let seconds = lab.size(2.0, 10.0);
    let grains = grains(lab)?;
    let mut lines: Vec<Line> = Vec::new();
    for (measure_name, measure) in MEASURES {
        for (ages, set) in &grains {
            let mut times: Vec<(u64, Times)> = Vec::new();
            for &k in ks(lab) {
                let is_gap = |(_, times): &&(u64, Times)| times.seeded.or(times.unseeded).is_none();
                if times.iter().filter(is_gap).count() > 1 {
                    times.push((k, Times::default()));
                    continue;
                }
                let case = unseeded(measure, None, k, seconds);
                let alone = solve(set, &case)?;
                let none = solve(set, &Case { limit: Some(0), ..case })?;
                let after = solve(set, &Case { start: Some(&none.cuts), ..case })?;
                let sum = none.seconds + after.seconds;
                let is_proved = none.is_optimal && after.is_optimal;
                times.push((
                    k,
                    Times {
                        unseeded: alone.is_optimal.then_some(alone.seconds),
                        seeded: is_proved.then_some(sum),
                    },
                ));
            }
            lines.push(Line { measure: measure_name, ages, times });
        }
    }
    Ok(Findings {
        tables: vec![table(&lines)],
        plots: vec![("", plot(&lines, "DM")), ("cm", plot(&lines, "CM"))],
        text: format!("{TEXT} The limit of a search is {seconds} s."),
        claims: claims(&lines),
    })
}

fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&["measure", "ages", "k", "unseeded", "seeded"]);
    for Line { measure, ages, times } in lines {
        for (k, Times { unseeded, seeded }) in times {
            let cell = |time: &Option<f64>| time.map_or(String::new(), |time| format!("{time:.3}"));
            let head = [(*measure).to_owned(), (*ages).to_owned(), k.to_string()];
            table.push(head.into_iter().chain([unseeded, seeded].map(cell)));
        }
    }
    table
}

fn plot(lines: &[Line], measure: &str) -> String {
    let time = |of: fn(&Times) -> Option<f64>| move |times: &Times| of(times).unwrap_or(f64::NAN);
    let series = (lines.iter().filter(|line| line.measure == measure))
        .flat_map(|line| {
            let seeded = points(&line.times, time(|times| times.seeded));
            let unseeded = points(&line.times, time(|times| times.unseeded));
            [
                Series::new(format!("{}, unseeded", line.ages), unseeded),
                Series::new(format!("{}, seeded", line.ages), seeded),
            ]
        })
        .collect();
    by_k(format!("Time to the proof, {measure}, no limit"), Axis::log("seconds"), series)
}

fn claims(lines: &[Line]) -> Vec<Claim> {
    let all = || lines.iter().flat_map(|line| &line.times).map(|(_, times)| times);
    let both = |of: fn(&Times) -> Option<f64>| {
        let pairs = all().filter_map(move |times| times.unseeded.zip(of(times)));
        pairs.fold((0.0, 0.0, 0), |(a, b, n), (x, y)| (a + x, b + y, n + 1))
    };
    let (without, with, n) = both(|times| times.seeded);
    let proved = |of: fn(&Times) -> Option<f64>| all().filter(|times| of(times).is_some()).count();
    vec![Claim::timing(
        "A good seed makes the search without a limit much faster",
        format!(
            "{n} cases proved either way: {with:.1} s seeded, {without:.1} s unseeded; proved in all: \
                 {} seeded, {} unseeded",
            proved(|times| times.seeded),
            proved(|times| times.unseeded)
        ),
        with < without,
    )]
}

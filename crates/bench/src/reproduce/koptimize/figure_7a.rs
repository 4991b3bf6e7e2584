//! Figure 7a: what a seed is worth.

use incrowd_chart::{Axis, Series};

use super::{MEASURES, by_k, grains, ks, points, unseeded};
use crate::Failure;
use crate::koptimize::{Case, solve};
use crate::reproduce::{Cases, Claim, Findings, Judged, Lab, Numbers, Row, Table};

const TEXT: &str = "Any number of rows may be lost. *Seeded* is a search without suppression to \
its proof, followed by the search without a limit, which starts with that optimum. Both times are \
added. *Unseeded* starts with nothing. The product's local search is off in both. A case that is \
not proved is a gap, and after two gaps smaller values of k are not tried.";

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

/// Seconds of a search: quick, full.
const SECONDS: (f64, f64) = (2.0, 10.0);

/// Measures the times.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    let seconds = lab.size(SECONDS.0, SECONDS.1);
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

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    let table = numbers.main();
    let name = |row: &Row| ["measure", "ages", "k"].map(|column| row.text(column)).join(" ");
    let times = |row: &Row| (row.maybe("unseeded"), row.maybe("seeded"));
    // A case that neither way proves says nothing; "substantially" is taken as twice as fast.
    let by = |factor: f64| {
        Cases::of(table.rows().filter_map(|row| {
            let answer = match times(&row) {
                (Some(unseeded), Some(seeded)) => factor * seeded < unseeded,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (None, None) => return None,
            };
            Some((name(&row), answer))
        }))
    };
    let (faster, much) = (by(1.0), by(2.0));
    let both = table.rows().filter_map(|row| {
        let (unseeded, seeded) = times(&row);
        unseeded.zip(seeded)
    });
    let (n, unseeded, seeded) =
        both.fold((0, 0.0, 0.0), |(n, a, b), (unseeded, seeded)| (n + 1, a + unseeded, b + seeded));
    let found = format!(
        "faster: {}; at least twice as fast: {} of {}; {n} cases proved either way took {seeded:.1} s seeded and \
         {unseeded:.1} s unseeded",
        faster.found(),
        much.n_true(),
        much.len()
    );
    let claims = vec![
        Claim::new(
            "section 7.2, Figure 7a",
            "Seeding with the optimum without suppression improves the search without a limit substantially",
            found,
            &much,
        )
        .timing()
        .because(
            "this search finds good costs by itself within tenths of a second, so there is little \
             to gain beyond the time for the seed",
        ),
    ];
    let seconds = numbers.size(SECONDS.0, SECONDS.1);
    let text = format!("{TEXT} The limit of a search is {seconds} s.");
    Judged { text, shown: Vec::new(), claims, ..Judged::default() }
}

//! Figure 6a: how long the proof takes.

use incrowd_chart::{Axis, Series};

use super::known::Optima;
use super::{LIMITS, MEASURES, by_k, gap, grains, ks, name, points, range, unseeded};
use crate::Failure;
use crate::koptimize::{Solved, solve};
use crate::reproduce::{
    Cases, Claim, Findings, Judged, Lab, Numbers, Row, Table, Verdict, exceeds,
};

const TEXT: &str = "Every search starts with nothing: the local search with which the product's \
K-Optimize starts is switched off, as in the paper's figure. A case that is not proved in time is \
a gap in its line. After two gaps, smaller values of k are not tried.";

/// Why cases are left open.
const FEW_SECONDS: &str = "a case has seconds here, while the paper reports a run of 5,359 s. The \
open cases have a small k, and there are more of them the more rows may be lost: the cases that \
took longest in the paper, too";

/// A line of the figure.
struct Line {
    measure: &'static str,
    ages: &'static str,
    limit: &'static str,
    /// By k, what was found where it was tried.
    cases: Vec<(u64, Option<Solved>)>,
}

/// Seconds of a case: quick, full.
const SECONDS: (f64, f64) = (2.0, 12.0);

/// Measures the times.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    let seconds = lab.size(SECONDS.0, SECONDS.1);
    let grains = grains(lab)?;
    let mut lines = Vec::new();
    for (measure_name, measure) in MEASURES {
        for (ages, set) in &grains {
            for (limit_name, limit) in LIMITS {
                let mut cases: Vec<(u64, Option<Solved>)> = Vec::new();
                for &k in ks(lab) {
                    let unproved = cases.iter().filter(|(_, case)| !is_proved(case.as_ref()));
                    let solved = match unproved.count() {
                        0 | 1 => Some(solve(set, &unseeded(measure, limit, k, seconds))?),
                        _ => None,
                    };
                    cases.push((k, solved));
                }
                lines.push(Line { measure: measure_name, ages, limit: limit_name, cases });
            }
        }
    }
    let plots = ["DM", "CM"].map(|measure| plot(&lines, measure));
    let [dm, cm] = plots;
    Ok(Findings { tables: vec![table(&lines)], plots: vec![("", dm), ("cm", cm)] })
}

fn is_proved(case: Option<&Solved>) -> bool {
    case.is_some_and(|solved| solved.is_optimal)
}

fn table(lines: &[Line]) -> Table {
    let columns =
        ["measure", "ages", "limit", "k", "proved", "seconds", "cost", "bound", "lost", "nodes"];
    let mut table = Table::new(&columns);
    for Line { measure, ages, limit, cases } in lines {
        for (k, case) in cases {
            let head =
                [*measure, *ages, *limit].map(str::to_owned).into_iter().chain([k.to_string()]);
            let tail = match case {
                None => ["not tried", "", "", "", "", ""].map(str::to_owned),
                Some(solved) => [
                    if solved.is_optimal { "yes" } else { "no" }.to_owned(),
                    format!("{:.3}", solved.seconds),
                    solved.cost.to_string(),
                    format!("{:.0}", solved.bound),
                    solved.lost.to_string(),
                    solved.nodes.to_string(),
                ],
            };
            table.push(head.chain(tail));
        }
    }
    table
}

fn plot(lines: &[Line], measure: &str) -> String {
    let time = |case: &Option<Solved>| match case {
        Some(solved) if solved.is_optimal => solved.seconds,
        _ => f64::NAN,
    };
    let series = (lines.iter().filter(|line| line.measure == measure))
        .map(|line| {
            let name = format!("{}, limit {}", line.ages, line.limit);
            Series::new(name, points(&line.cases, time))
        })
        .collect();
    by_k(format!("Time to the proof, {measure}, no seed"), Axis::log("seconds"), series)
}

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    let table = numbers.main();
    let open: Vec<f64> = table.rows().filter(|row| row.text("proved") == "no").map(gap).collect();
    let remark = match range(&open) {
        None => "All were proved.".to_owned(),
        Some(range) => format!(
            "{} cases were tried and not proved: between the best cost and the proven bound are {range} of the cost (the \
             CSV file has both).",
            open.len()
        ),
    };
    let seconds = numbers.size(SECONDS.0, SECONDS.1);
    let text = format!("{TEXT} The limit of a case is {seconds} s. {remark}");
    let optima = Optima::of("koptimize-figure-6a", numbers);
    let claims = claims(table, &optima);
    Judged { text, shown: Vec::new(), claims, ..Judged::default() }
}

/// How many times as long counts as significantly longer.
const SIGNIFICANT: f64 = 1.5;

fn claims(table: &Table, optima: &Optima) -> Vec<Claim> {
    const PLACE: &str = "section 7.2, Figure 6a";
    let none = Cases::of(table.rows_with(&[("limit", "0")]).map(|row| (name(&row), is_done(&row))));
    let longest =
        table.rows_with(&[("limit", "0")]).filter_map(|row| time(&row)).fold(0.0, f64::max);
    let all = Cases::of(table.rows().map(|row| (name(&row), is_done(&row))));
    let by_any = table.rows().filter(|row| optima.get(row).is_proved()).count();
    let is_longer = |(slow, fast): (Row, Row), times: f64| {
        (name(&slow), factor(&slow, &fast).and_then(|factor| exceeds(factor, times)))
    };
    let slower = Cases::of(
        [("100", "0"), ("any", "100")]
            .into_iter()
            .flat_map(|(more, less)| pairs(table, ("limit", more), ("limit", less)))
            .map(|pair| is_longer(pair, 1.0)),
    );
    let ages = || pairs(table, ("ages", "fine"), ("ages", "coarse"));
    let fine = Cases::of(ages().map(|pair| is_longer(pair, SIGNIFICANT)));
    let much = ages().filter_map(|(fine, coarse)| Some(time(&fine)? / time(&coarse)?));
    let ratios: Vec<f64> = much.collect();
    let growing = growing(table);
    let ends = |of: fn(f64, f64) -> f64| ratios.iter().copied().reduce(of).unwrap_or(f64::NAN);
    // All but a very few: nine of ten.
    let few = if 10 * all.n_true() >= 9 * all.len() { Verdict::Agrees } else { Verdict::Differs };
    vec![
        Claim::new(
            PLACE,
            "Without suppression it performs extremely well for every k",
            format!("proved within the limit: {}; the longest proof took {longest:.1} s", none.found()),
            &none,
        )
        .timing()
        .because(FEW_SECONDS),
        Claim::new(
            PLACE,
            "The more suppressions are allowed, the slower",
            format!("100 rows take longer than none, and no limit longer than 100, case by case: {}", slower.found()),
            &slower,
        )
        .timing()
        .because(
            "cases are open if neither was proved in its time, or one was not tried. At the exceptions, the searches \
             take about a tenth of a second or less",
        ),
        Claim::new(
            PLACE,
            "It gets slower rapidly as k gets smaller",
            format!(
                "the factor between no limit and none allowed grows from k to the next smaller k: {}",
                growing.found()
            ),
            &growing,
        )
        .timing()
        .because(NEITHER),
        Claim::new(
            PLACE,
            "Fine ages take significantly longer than coarse ones",
            format!(
                "at least {SIGNIFICANT} times as long, case by case: {}; where both are proved {:.1} to {:.1} times",
                fine.found(),
                ends(f64::min),
                ends(f64::max)
            ),
            &fine,
        )
        .timing()
        .because(NEITHER),
        Claim::new(
            PLACE,
            "The optimum is found for all but a very few cases",
            format!(
                "proved within the limit: {} of {}; {by_any} with the searches of all figures",
                all.n_true(),
                all.len()
            ),
            few,
        )
        .timing()
        .because(FEW_SECONDS),
    ]
}

/// Why a comparison of times is open.
const NEITHER: &str = "cases are open if neither was proved in its time, or one was not tried";

fn is_done(row: &Row) -> bool {
    row.text("proved") == "yes"
}

/// The seconds to the proof, if it came.
fn time(row: &Row) -> Option<f64> {
    if is_done(row) { row.maybe("seconds") } else { None }
}

/// The least and the greatest number of seconds to the proof; none if the case was not tried.
fn seconds(row: &Row) -> Option<(f64, f64)> {
    let seconds = row.maybe("seconds")?;
    Some((seconds, if is_done(row) { seconds } else { f64::INFINITY }))
}

/// How many times as long as another one case took, at least and at most.
fn factor(slow: &Row, fast: &Row) -> Option<(f64, f64)> {
    Some(over(seconds(slow)?, seconds(fast)?))
}

/// The least and the greatest that a quotient can be.
fn over(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 / b.1, a.1 / b.0)
}

/// The cases that differ in one column.
fn pairs<'a>(
    table: &'a Table,
    (column, first): (&'a str, &'a str),
    (_, second): (&'a str, &'a str),
) -> impl Iterator<Item = (Row<'a>, Row<'a>)> {
    let same = move |a: &Row, b: &Row| {
        let others = ["measure", "ages", "limit", "k"].into_iter().filter(|name| *name != column);
        others.into_iter().all(|name| a.text(name) == b.text(name))
    };
    let firsts = table.rows().filter(move |row| row.text(column) == first);
    firsts.filter_map(move |a| {
        let mut others = table.rows().filter(|row| row.text(column) == second);
        Some((a, others.find(|b| same(&a, b))?))
    })
}

/// Whether the factor between no limit and none allowed grows from one k to the next smaller one.
fn growing(table: &Table) -> Cases {
    let factors: Vec<(Row, Option<(f64, f64)>)> = pairs(table, ("limit", "any"), ("limit", "0"))
        .map(|(any, none)| (any, factor(&any, &none)))
        .collect();
    let steps = factors.windows(2).filter_map(|pair| {
        let [(first, a), (second, b)] = pair else { return None };
        let is_one_line =
            ["measure", "ages"].iter().all(|column| first.text(column) == second.text(column));
        let answer = || a.zip(*b).and_then(|(a, b)| exceeds(over(b, a), 1.0));
        is_one_line.then(|| (name(second), answer()))
    });
    Cases::of(steps)
}

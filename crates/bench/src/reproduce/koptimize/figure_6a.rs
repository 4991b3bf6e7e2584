//! Figure 6a: how long the proof takes.

use incrowd_chart::{Axis, Series};

use super::{LIMITS, MEASURES, by_k, gap, grains, ks, points, range, unseeded};
use crate::Failure;
use crate::koptimize::{Solved, solve};
use crate::reproduce::{Cases, Claim, Findings, Judged, Lab, Numbers, Row, Table, Verdict};

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
    Judged { text, shown: Vec::new(), claims: claims(table), ..Judged::default() }
}

fn claims(table: &Table) -> Vec<Claim> {
    const PLACE: &str = "section 7.2, Figure 6a";
    let none = Cases::of(table.rows_with(&[("limit", "0")]).map(|row| (name(&row), is_done(&row))));
    let longest =
        table.rows_with(&[("limit", "0")]).filter_map(|row| time(&row)).fold(0.0, f64::max);
    let all = Cases::of(table.rows().map(|row| (name(&row), is_done(&row))));
    let slower = Cases::of(
        pairs(table, ("limit", "any"), ("limit", "0"))
            .map(|(any, none)| (name(&any), is_slower(&any, &none))),
    );
    let fine = Cases::of(
        pairs(table, ("ages", "fine"), ("ages", "coarse"))
            .map(|(fine, coarse)| (name(&fine), is_slower(&fine, &coarse))),
    );
    let much = pairs(table, ("ages", "fine"), ("ages", "coarse"))
        .filter_map(|(fine, coarse)| Some(time(&fine)? / time(&coarse)?));
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
            format!("no limit takes longer than none allowed, case by case: {}", slower.found()),
            &slower,
        )
        .timing()
        .because(NEITHER),
        Claim::new(
            PLACE,
            "It gets slower rapidly as k gets smaller",
            format!("the factor between no limit and none allowed grows from k to the next smaller k: {}", growing.found()),
            &growing,
        )
        .timing()
        .because(NEITHER),
        Claim::new(
            PLACE,
            "Fine ages take significantly longer than coarse ones",
            format!(
                "they take longer, case by case: {}; where both are proved {:.1} to {:.1} times as long",
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
            format!("proved within the limit: {}", all.found()),
            few,
        )
        .timing()
        .because(FEW_SECONDS),
    ]
}

/// Why a comparison of times is open.
const NEITHER: &str = "cases are open if neither was proved in its time";

/// What a case is called.
fn name(row: &Row) -> String {
    ["measure", "ages", "limit", "k"].map(|column| row.text(column)).join(" ")
}

fn is_done(row: &Row) -> bool {
    row.text("proved") == "yes"
}

/// The seconds to the proof, if it came.
fn time(row: &Row) -> Option<f64> {
    if is_done(row) { row.maybe("seconds") } else { None }
}

/// Whether one case took longer than another, if one of them is proved. A case that was not tried because larger k were not
/// proved either counts as not proved.
fn is_slower(slow: &Row, fast: &Row) -> Option<bool> {
    match (time(slow), time(fast)) {
        (Some(slow), Some(fast)) => Some(slow > fast),
        (None, Some(_)) => Some(true),
        (Some(_), None) => Some(false),
        (None, None) => None,
    }
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
    let factors: Vec<(String, Row, Option<f64>)> = pairs(table, ("limit", "any"), ("limit", "0"))
        .map(|(any, none)| {
            let factor = time(&any).zip(time(&none)).map(|(any, none)| any / none);
            (name(&any), any, factor)
        })
        .collect();
    let steps = factors.windows(2).filter_map(|pair| {
        let [(_, first, a), (name, second, b)] = pair else { return None };
        let is_one_line =
            ["measure", "ages"].iter().all(|column| first.text(column) == second.text(column));
        is_one_line.then(|| (name.clone(), a.zip(*b).map(|(a, b)| b > a)))
    });
    Cases::of(steps)
}

//! Figure 6a: how long the proof takes.

use incrowd_chart::{Axis, Series};

use super::{LIMITS, MEASURES, by_k, grains, ks, points, range, unseeded};
use crate::Failure;
use crate::koptimize::{Solved, solve};
use crate::reproduce::{Claim, Findings, Lab, Table};

const TEXT: &str = "\
Every search begins with nothing: the local search with which the product's K-Optimize begins is switched off, as \
in the paper's figure. A case that is not proved in time is a gap in its line; after two gaps the smaller values \
of k are not tried.";

/// Why cases are left open.
const SECONDS: &str = "\
a case has seconds here, where the paper speaks of a run of 5,359 s. What is left open is small k, and the more of it \
the more rows may be lost: the cases of which the paper says that they took longest";

/// A line of the figure.
struct Line {
    measure: &'static str,
    ages: &'static str,
    limit: &'static str,
    /// By k, what was found where it was tried.
    cases: Vec<(u64, Option<Solved>)>,
}

/// Does the figure again.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    let seconds = lab.size(2.0, 12.0);
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
    Ok(Findings {
        tables: vec![table(&lines)],
        plots: vec![("", dm), ("cm", cm)],
        text: format!("{TEXT} The limit of a case is {seconds} s. {}", remark(&lines)),
        claims: claims(&lines),
    })
}

fn is_proved(case: Option<&Solved>) -> bool {
    case.is_some_and(|solved| solved.is_optimal)
}

fn remark(lines: &[Line]) -> String {
    let cases = lines.iter().flat_map(|line| &line.cases).filter_map(|(_, case)| case.as_ref());
    let gaps: Vec<f64> = cases.filter(|case| !case.is_optimal).map(Solved::gap).collect();
    match range(&gaps) {
        None => "All were proved.".to_owned(),
        Some(range) => format!(
            "{} cases were tried and not proved: between the best cost and the proven bound are {range} of the cost (the \
             CSV file has both).",
            gaps.len()
        ),
    }
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

/// How many cases are proved of all, and the times of those, over some of the lines.
fn proved<'a>(lines: &'a [Line], of: impl Fn(&Line) -> bool + 'a) -> (usize, usize, Vec<f64>) {
    let cases = || lines.iter().filter(|line| of(line)).flat_map(|line| &line.cases);
    let times: Vec<f64> = cases()
        .filter_map(|(_, case)| case.as_ref().filter(|case| case.is_optimal))
        .map(|case| case.seconds)
        .collect();
    (times.len(), lines.iter().filter(|line| of(line)).map(|line| line.cases.len()).sum(), times)
}

fn claims(lines: &[Line]) -> Vec<Claim> {
    let [none, some, any] =
        ["0", "100", "any"].map(|limit| proved(lines, move |l| l.limit == limit));
    let longest = none.2.iter().copied().fold(0.0, f64::max);
    let all = proved(lines, |_| true);
    // The cases that both ages prove: the coarse one ought to be faster.
    let pairs = |a: &dyn Fn(&Line) -> bool, b: &dyn Fn(&Line) -> bool| -> (f64, f64, usize) {
        let (mut first, mut second, mut n) = (0.0, 0.0, 0);
        for x in lines.iter().filter(|line| a(line)) {
            let is_twin = |y: &&Line| {
                b(y) && y.measure == x.measure && (y.limit == x.limit || y.ages == x.ages)
            };
            for y in lines.iter().filter(is_twin) {
                for ((_, p), (_, q)) in x.cases.iter().zip(&y.cases) {
                    let (Some(p), Some(q)) = (p, q) else { continue };
                    if p.is_optimal && q.is_optimal {
                        (first, second, n) = (first + p.seconds, second + q.seconds, n + 1);
                    }
                }
            }
        }
        (first, second, n)
    };
    let (fine, coarse, n_ages) = pairs(&|l| l.ages == "fine", &|l| l.ages == "coarse");
    let (free, strict, n_limits) = pairs(&|l| l.limit == "any", &|l| l.limit == "0");
    vec![
        Claim::timing(
            "Without suppression it performs well for every k",
            format!("{} of {} cases proved, the longest in {longest:.1} s", none.0, none.1),
            none.0 == none.1,
        )
        .because(SECONDS),
        Claim::timing(
            "The more suppressions, the slower, and the more so for small k",
            format!(
                "{}, {} and {} cases proved with limits 0, 100 and any; the {n_limits} cases that are proved \
                 both without a limit and with limit 0 took {free:.1} s and {strict:.1} s",
                none.0, some.0, any.0
            ),
            none.0 >= some.0 && some.0 >= any.0 && strict <= free,
        ),
        Claim::timing(
            "Fine ages take much longer than coarse ones",
            format!(
                "the {n_ages} cases proved for both took {fine:.1} s fine and {coarse:.1} s coarse"
            ),
            fine > coarse,
        ),
        Claim::timing(
            "The optimum is found for all but a few cases",
            format!("{} of {} proved within the limit", all.0, all.1),
            10 * all.0 >= 9 * all.1,
        )
        .because(SECONDS),
    ]
}

//! A comparison as one HTML file: a table, and pictures by algorithm and k.

use incrowd_chart::{Axis, Bars, Lines, Series};

use super::{Compared, Comparison, FoundCase, HeldOut};
use crate::report::comparison::{figure, judged};
use crate::report::page::{HtmlCell, Page, count, decimal};

impl Comparison {
    /// The comparison as one HTML file.
    #[must_use]
    pub fn to_html(&self) -> String {
        html(self)
    }
}

pub(super) fn html(comparison: &Comparison) -> String {
    let mut page = Page::new("Algorithms compared");
    let input = comparison.job.input.as_deref().unwrap_or_default();
    page.say(&format!(
        "The same job over `{}` ({} rows), by several algorithms and for several k. Every release was written and measured \
         from the written bytes.",
        std::path::Path::new(input).file_name().map_or("".into(), |name| name.to_string_lossy()),
        count(comparison.rows)
    ));
    if let Some(advice) = &comparison.advice {
        page.say(&format!("Advice, by {}: {}.", advice.by, advice.why));
        page.remark(
            "The k is for you to choose: it says how many records look like each one at least. The pictures show what a larger \
             k costs.",
        );
    }
    held_out(&mut page, comparison);
    table(&mut page, comparison);
    by_k(&mut page, comparison);
    at_one_k(&mut page, comparison);
    page.part("What the figures mean");
    for (name, meaning) in MEANINGS {
        page.say(&format!("{name}: {meaning}"));
    }
    if comparison.held_out.is_some() {
        page.say(HELD_OUT);
    }
    page.remark(&format!("Made by incrowd {}.", comparison.incrowd));
    page.html()
}

const MEANINGS: [(&str, &str); 6] = [
    (
        "Greatest risk",
        "the chance that someone who knows a person's quasi-identifier, and that the person is in the table, picks the right record: 1 over the smallest class.",
    ),
    (
        "Loss",
        "how much of a column's range a cell covers, from 0 (the value itself) to 1 (anything), as a mean over all recoded cells.",
    ),
    (
        "Discernibility",
        "the sum of squared class sizes: how many records each record cannot be told from.",
    ),
    ("Average class size", "records per class, in multiples of k; 1 is the least possible."),
    ("Suppressed", "records that are left out."),
    ("Seconds", "from the file to the verified file, on the machine of this run."),
];

const HELD_OUT: &str = "Held-out score: rows are held out, the recoding and models are learned from the others, and the models are tried \
    on the held-out rows. It is the accuracy of predicted labels, or, where numbers are predicted, the share that is left of the error of always \
    giving the same answer. Algorithms are compared fold by fold on the same rows by the corrected resampled t-test (Nadeau and Bengio, \
    2003), which allows for folds that share training rows; intervals of differences from the recommended algorithm are widened for the number \
    of algorithms (Bonferroni).";

/// What a column of the table shows, and whether less is better.
struct Shown {
    name: &'static str,
    of: fn(&Compared, &FoundCase) -> f64,
    is_whole: bool,
}

const SHOWN: [Shown; 6] = [
    Shown { name: "loss", of: |_, found| found.measures.loss.unwrap_or(f64::NAN), is_whole: false },
    Shown { name: "discernibility", of: |_, found| found.measures.discernibility, is_whole: true },
    Shown {
        name: "average class size",
        of: |_, found| found.measures.average_class_size.unwrap_or(f64::NAN),
        is_whole: false,
    },
    Shown { name: "classes", of: |_, found| -(found.release.classes as f64), is_whole: true },
    Shown { name: "suppressed", of: |_, found| found.release.suppressed as f64, is_whole: true },
    Shown { name: "seconds", of: |case, _| case.elapsed_s, is_whole: false },
];

/// The recommended algorithm against the others on held-out rows, and who has no score.
fn held_out(page: &mut Page, comparison: &Comparison) {
    let Some(held_out) = &comparison.held_out else { return };
    for without in &held_out.without {
        page.say(&format!("{}.", without.sentence()));
    }
    let Some(advice) = comparison.advice.as_ref().filter(|advice| !advice.against.is_empty())
    else {
        return;
    };
    page.part("On held-out rows");
    let header = [
        ("against", false),
        ("score", true),
        ("difference", true),
        ("interval", true),
        ("p", true),
        ("", false),
    ];
    let rows: Vec<Vec<HtmlCell>> = (advice.against.iter())
        .map(|other| {
            let found = &other.difference;
            vec![
                HtmlCell::text(&other.algorithm),
                HtmlCell::number(figure(other.mean)),
                HtmlCell::number(format!("{:+.4}", found.mean)),
                HtmlCell::number(format!("{:+.4} to {:+.4}", found.lower, found.upper)),
                HtmlCell::number(format!("{:.4}", found.p)),
                HtmlCell::text(if other.is_shown { "" } else { "no difference shown" }),
            ]
        })
        .collect();
    page.table(&header, &rows);
    let protocol = held_out.protocol.as_ref();
    page.remark(&format!(
        "The difference is that of `{}` less the other's; models: {}; {} folds.",
        advice.algorithm,
        held_out.models.join(", "),
        protocol.map_or(0, |protocol| protocol.folds * protocol.repeats)
    ));
}

/// The heading of the scores on held-out rows, if there are any.
fn score_heading(comparison: &Comparison) -> Option<&'static str> {
    let held_out = comparison.held_out.as_ref().filter(|found| found.protocol.is_some())?;
    Some(if held_out.is_accuracy() { "held-out accuracy" } else { "held-out error" })
}

fn table(page: &mut Page, comparison: &Comparison) {
    page.part("All releases");
    let mut header = vec![("k", true), ("algorithm", false), ("greatest risk", true)];
    header.extend(SHOWN.iter().map(|shown| (shown.name, true)));
    let heading = score_heading(comparison);
    header.extend(heading.map(|heading| (heading, true)));
    header.push(("", false));
    let mut cases: Vec<&Compared> = comparison.cases.iter().collect();
    cases.sort_by_key(|case| case.k);
    let number =
        |text: String, is_best| HtmlCell { text, is_number: true, is_best, ..HtmlCell::default() };
    let text = |text: &str| HtmlCell { text: text.to_owned(), ..HtmlCell::default() };
    let mut rows = Vec::new();
    for case in &cases {
        let mut row = vec![number(case.k.to_string(), false), text(&case.algorithm)];
        let Some(found) = &case.found else {
            row.extend(std::iter::repeat_n(
                text(""),
                SHOWN.len() + 1 + usize::from(heading.is_some()),
            ));
            let reason = case.failed.as_deref().unwrap_or_default();
            row.push(text(if case.left_out { "left out" } else { reason }));
            rows.push(row);
            continue;
        };
        row.push(number(format!("{:.4}", found.risk.prosecutor_max), false));
        for shown in &SHOWN {
            let value = (shown.of)(case, found);
            let others = (cases.iter().filter(|other| other.k == case.k))
                .filter_map(|other| Some((shown.of)(other, other.found.as_deref()?)));
            let is_best = Comparison::is_best(value, others);
            let cell = if shown.is_whole { decimal(value.abs()) } else { figure(value) };
            row.push(number(cell, is_best));
        }
        if heading.is_some() {
            let score =
                |found: &FoundCase| found.held_out.as_ref().map(|score| comparison.cost_of(score));
            let others = (cases.iter().filter(|other| other.k == case.k))
                .filter_map(|other| score(other.found.as_deref()?));
            let is_best = score(found).is_some_and(|cost| Comparison::is_best(cost, others));
            let written =
                found.held_out.as_ref().map_or_else(String::new, |score| figure(score.mean));
            row.push(number(written, is_best));
        }
        let is_optimal = found.search.as_ref().is_some_and(|search| search.optimal);
        row.push(text(if is_optimal { "proved optimal" } else { "" }));
        rows.push(row);
    }
    page.table(&header, &rows);
    page.remark("The best of each k is marked; many small classes are better than few large ones.");
    let left_out: Vec<String> = (comparison.left_out().into_iter())
        .map(|(name, reason)| format!("`{name}` is left out: {reason}"))
        .collect();
    if !left_out.is_empty() {
        page.list(&left_out);
    }
}

/// The algorithms in the order in which they were named.
fn algorithms(comparison: &Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for case in &comparison.cases {
        if !names.contains(&case.algorithm.as_str()) {
            names.push(&case.algorithm);
        }
    }
    names
}

/// The releases of an algorithm.
fn of<'a>(
    comparison: &'a Comparison,
    name: &'a str,
) -> impl Iterator<Item = (&'a Compared, &'a FoundCase)> {
    let cases = comparison.cases.iter().filter(move |case| case.algorithm == name);
    cases.filter_map(|case| Some((case, case.found.as_deref()?)))
}

fn by_k(page: &mut Page, comparison: &Comparison) {
    page.part("By k");
    let lines =
        |title: &str, x: Axis, y: Axis, place: &dyn Fn(&Compared, &FoundCase) -> (f64, f64)| {
            let series = algorithms(comparison).into_iter().map(|name| {
                let mut points: Vec<(f64, f64)> =
                    of(comparison, name).map(|(case, found)| place(case, found)).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Series::new(name, points)
            });
            Lines { title: title.to_owned(), x, y, series: series.collect() }.svg()
        };
    let k = |case: &Compared| case.k as f64;
    let loss = |found: &FoundCase| found.measures.loss.unwrap_or(f64::NAN);
    let mut figures = vec![
        (
            lines(
                "Privacy against loss",
                Axis::log("greatest risk of a record"),
                Axis::linear("loss"),
                &|_, found| (found.risk.prosecutor_max, loss(found)),
            ),
            "Further left is safer, further down is more useful.".to_owned(),
        ),
        (
            lines("Loss", Axis::log("k"), Axis::linear("loss"), &|case, found| {
                (k(case), loss(found))
            }),
            "What is lost for a larger k.".to_owned(),
        ),
        (
            lines("Discernibility", Axis::log("k"), Axis::log("discernibility"), &|case, found| {
                (k(case), found.measures.discernibility)
            }),
            "Records that cannot be told from each other, squared and summed over classes."
                .to_owned(),
        ),
        (
            lines("Time", Axis::log("k"), Axis::log("seconds"), &|case, _| {
                (k(case), case.elapsed_s)
            }),
            "From the file to the verified file.".to_owned(),
        ),
    ];
    let by = comparison.advice.as_ref().map_or("loss", |advice| advice.by);
    if let Some(heading) = score_heading(comparison) {
        let chart = lines(heading, Axis::log("k"), Axis::linear(heading), &|case, found| {
            (k(case), found.held_out.as_ref().map_or(f64::NAN, |score| score.mean))
        });
        let is_accuracy = comparison.held_out.as_ref().is_some_and(HeldOut::is_accuracy);
        let better = if is_accuracy { "more" } else { "less" };
        figures.insert(0, (chart, format!("Models trained on the release: {better} is better.")));
    } else if by != "loss" {
        let chart = lines(by, Axis::log("k"), Axis::linear(by), &|case, found| {
            (k(case), judged(found).map_or(f64::NAN, |(_, value)| value))
        });
        figures.insert(0, (chart, "What the job is for: less is better.".to_owned()));
    }
    page.figures(&figures);
}

/// Pictures of all algorithms for one k: the middle one of those that most came to an end with.
fn at_one_k(page: &mut Page, comparison: &Comparison) {
    let mut ks: Vec<u64> =
        comparison.cases.iter().filter(|case| case.found.is_some()).map(|case| case.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let Some(&k) = ks.get(ks.len() / 2) else { return };
    page.part(&format!("At k = {k}"));
    let cases: Vec<(&Compared, &FoundCase)> = (comparison.cases.iter())
        .filter(|case| case.k == k)
        .filter_map(|case| Some((case, case.found.as_deref()?)))
        .collect();
    let columns: Vec<String> = cases[0].1.measures.loss_by_column.keys().cloned().collect();
    let losses = |(case, found): &(&Compared, &FoundCase)| {
        let by_column = &found.measures.loss_by_column;
        let values = columns.iter().map(|column| by_column.get(column).copied());
        (case.algorithm.clone(), values.map(|loss| loss.unwrap_or(f64::NAN)).collect())
    };
    let by_column = Bars {
        title: "Loss by column".to_owned(),
        x: "column".to_owned(),
        y: Axis::linear("loss"),
        groups: columns.clone(),
        series: cases.iter().map(losses).collect(),
    };
    let mut least: Vec<u64> = cases
        .iter()
        .flat_map(|(_, found)| &found.release.class_sizes)
        .map(|size| size.least)
        .collect();
    least.sort_unstable();
    least.dedup();
    let share = |found: &FoundCase, least: u64| {
        let rows = found.release.class_sizes.iter().find(|size| size.least == least);
        rows.map_or(0, |size| size.rows) as f64 / found.release.rows.max(1) as f64
    };
    let sizes = Bars {
        title: "Records by the size of their class".to_owned(),
        x: "records in the class, at least".to_owned(),
        y: Axis::linear("share of records"),
        groups: least.iter().map(ToString::to_string).collect(),
        series: (cases.iter())
            .map(|(case, found)| {
                (case.algorithm.clone(), least.iter().map(|&size| share(found, size)).collect())
            })
            .collect(),
    };
    page.figures(&[
        (by_column.svg(), "Where the loss is.".to_owned()),
        (sizes.svg(), "Large classes hide well and tell little.".to_owned()),
    ]);
}

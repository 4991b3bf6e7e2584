//! An evaluation as one HTML file: what models lose by the release, by k and model.

use std::collections::BTreeSet;

use incrowd_chart::{Axis, Bars, Lines, Series};

use crate::report::page::{HtmlCell, Page, count};
use crate::report::{
    DifferenceReport, EvaluatedCase, Evaluation, Evaluations, Figure, ModelReport, TargetReport,
};

impl Evaluations {
    /// The evaluation as one HTML file.
    #[must_use]
    pub fn to_html(&self) -> String {
        html(self)
    }
}

pub(super) fn html(found: &Evaluations) -> String {
    let mut page = Page::new("Models trained on the release");
    protocol(&mut page, found);
    for target in targets(found) {
        page.part(&format!("Predicting {target}"));
        figures(&mut page, found, target);
        models(&mut page, found, target);
        between(&mut page, found, target);
        projections(&mut page, found, target);
    }
    selections(&mut page, found);
    releases(&mut page, found);
    predictors(&mut page, found);
    meaning(&mut page, found);
    page.remark(&format!("Made by incrowd {}.", found.incrowd));
    page.html()
}

/// The targets, in the order in which they were predicted.
fn targets(found: &Evaluations) -> Vec<&str> {
    let first = found.found().next();
    let targets = first.into_iter().flat_map(|(_, one)| &one.targets);
    targets.map(|target| target.column.as_str()).collect()
}

/// A target in every case.
fn of<'a>(
    found: &'a Evaluations,
    target: &'a str,
) -> impl Iterator<Item = (&'a EvaluatedCase, &'a TargetReport)> {
    found.found().flat_map(move |(case, one)| {
        let targets = one.targets.iter().filter(move |report| report.column == target);
        targets.map(move |report| (case, report))
    })
}

fn protocol(page: &mut Page, found: &Evaluations) {
    let input = found.job.input.as_deref().unwrap_or_default();
    let name = std::path::Path::new(input).file_name().map(|name| name.to_string_lossy());
    let protocol = &found.protocol;
    let way = match (protocol.folds, protocol.repeats) {
        (1, 1) => "once".to_owned(),
        (1, repeats) => format!("{repeats} times"),
        (folds, 1) => format!("in {folds} folds, so that each row was held out once"),
        (folds, repeats) => {
            format!("in {folds} folds, so that each row was held out once, {repeats} times over")
        }
    };
    page.say(&format!(
        "`{}` has {} rows. {} of them were held out at a time, {way}. The recoding was learned from the other rows alone \
         and applied to both. Models were trained on the recoded rows and tried on the held-out ones; the same models were \
         trained on the original rows.",
        name.unwrap_or_default(),
        count(protocol.rows as u64),
        count(protocol.held_out as u64),
    ));
    for (case, reason) in failures(found) {
        page.mark(&format!("{case} could not be evaluated: {reason}."));
    }
}

/// Cases that were not evaluated, with the reason.
fn failures(found: &Evaluations) -> impl Iterator<Item = (String, &str)> {
    found.cases.iter().filter_map(|case| {
        let reason = case.failed.as_deref()?;
        Some((format!("`{}` with k = {}", case.algorithm, case.k), reason))
    })
}

/// Whether several algorithms were tried.
fn has_algorithms(found: &Evaluations) -> bool {
    let names: BTreeSet<&str> = found.cases.iter().map(|case| case.algorithm.as_str()).collect();
    names.len() > 1
}

fn measure(target: &TargetReport) -> String {
    target.measure.replace('_', " ")
}

/// The curve over k, or bars where there is one k.
fn figures(page: &mut Page, found: &Evaluations, target: &str) {
    let Some((_, first)) = of(found, target).next() else { return };
    let ks: BTreeSet<u64> = of(found, target).map(|(case, _)| case.k).collect();
    let better = if first.kind == "labels" { "Higher" } else { "Lower" };
    let mut figures = Vec::new();
    for (at, model) in first.models.iter().enumerate() {
        let (svg, what) = if ks.len() > 1 {
            (
                curve(found, target, at),
                "by k; the original rows and the plain answer are level lines",
            )
        } else {
            (bars(found, target, at), "trained on each release and on the original rows")
        };
        figures.push((
            svg,
            format!("{}: {} {what}. {better} is better.", model.model, measure(first)),
        ));
    }
    page.figures(&figures);
}

fn curve(found: &Evaluations, target: &str, model: usize) -> String {
    let mut algorithms: Vec<&str> = Vec::new();
    for (case, _) in of(found, target) {
        if !algorithms.contains(&case.algorithm.as_str()) {
            algorithms.push(&case.algorithm);
        }
    }
    let points = |is_taken: &dyn Fn(&EvaluatedCase) -> bool,
                  value: fn(&TargetReport, usize) -> f64| {
        let cases = of(found, target).filter(|(case, _)| is_taken(case));
        let mut points: Vec<(f64, f64)> =
            cases.map(|(case, report)| (case.k as f64, value(report, model))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
        points
    };
    let released = algorithms.iter().map(|name| {
        let of_name = |case: &EvaluatedCase| case.algorithm == **name;
        let released = points(&of_name, |report, model| report.models[model].released.mean);
        Series::new(*name, released)
    });
    let original = points(&|_| true, |report, model| report.models[model].original.mean);
    let plain = points(&|_| true, |report, _| report.majority.mean);
    let mut series: Vec<Series> = released.collect();
    series.push(Series::new("original rows", original));
    let (_, first) = of(found, target).next().expect("a target is of some case");
    series.push(Series::new(plain_answer(first), plain));
    Lines {
        title: first.models[model].model.to_owned(),
        x: Axis::log("k"),
        y: Axis::linear(measure(first)),
        series,
    }
    .svg()
}

fn bars(found: &Evaluations, target: &str, model: usize) -> String {
    let (_, first) = of(found, target).next().expect("a target is of some case");
    let released = of(found, target)
        .map(|(case, report)| (case.algorithm.clone(), report.models[model].released.mean));
    let mut bars: Vec<(String, f64)> = released.collect();
    bars.push(("original rows".to_owned(), first.models[model].original.mean));
    bars.push((plain_answer(first).to_owned(), first.majority.mean));
    Bars {
        title: first.models[model].model.to_owned(),
        x: String::new(),
        y: Axis::linear(measure(first)),
        groups: vec![target.to_owned()],
        series: bars.into_iter().map(|(name, value)| (name, vec![value])).collect(),
    }
    .svg()
}

/// What a model must beat.
pub(super) fn plain_answer(target: &TargetReport) -> &'static str {
    if target.kind == "labels" { "commonest label" } else { "mean number" }
}

fn number(figure: &Figure, is_scattered: bool) -> HtmlCell {
    let mean = format!("{:.4}", figure.mean);
    HtmlCell::number(if is_scattered { format!("{mean} ± {:.4}", figure.deviation) } else { mean })
}

/// A difference with its interval and p.
fn difference(difference: Option<&DifferenceReport>) -> [HtmlCell; 3] {
    let Some(found) = difference else { return [const { HtmlCell::EMPTY }; 3] };
    let mut cells = [
        format!("{:+.4}", found.mean),
        format!("{:+.4} to {:+.4}", found.lower, found.upper),
        probability(found.p),
    ]
    .map(HtmlCell::number);
    cells[0].is_best = found.is_shown();
    cells
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn is_scattered(found: &Evaluations) -> bool {
    found.protocol.folds * found.protocol.repeats > 1
}

fn models(page: &mut Page, found: &Evaluations, target: &str) {
    let has_algorithms = has_algorithms(found);
    let mut header = vec![("k", true)];
    header.extend(has_algorithms.then_some(("algorithm", false)));
    header.extend([
        ("model", false),
        ("release", true),
        ("original", true),
        ("difference", true),
        ("95% interval", true),
        ("p", true),
    ]);
    let mut cases: Vec<(&EvaluatedCase, &TargetReport)> = of(found, target).collect();
    cases.sort_by_key(|(case, _)| case.k);
    let mut rows = Vec::new();
    for (case, report) in &cases {
        for model in &report.models {
            let ModelReport { model: name, released, original, .. } = model;
            let mut row = vec![HtmlCell::number(case.k.to_string())];
            row.extend(has_algorithms.then(|| HtmlCell::text(&case.algorithm)));
            row.push(HtmlCell::text(*name));
            row.extend([released, original].map(|figure| number(figure, is_scattered(found))));
            row.extend(difference(model.difference.as_ref()));
            rows.push(row);
        }
    }
    page.table(&header, &rows);
    let Some((_, first)) = cases.first() else { return };
    page.remark(&format!(
        "Figures are of {}; the {} gets {:.4}. A difference is marked where its interval leaves 0 out: elsewhere no difference \
         between release and original is shown.",
        measure(first),
        plain_answer(first),
        first.majority.mean
    ));
    let bits: Vec<String> = (cases.iter())
        .filter_map(|(case, report)| {
            let bits = report.conditional_entropy?;
            Some(format!("`{}` with k = {}: {bits:.4}", case.algorithm, case.k))
        })
        .collect();
    if !bits.is_empty() {
        page.say(&format!(
            "Bits a row that a training row's class leaves open about its label (conditional entropy): {}.",
            bits.join("; ")
        ));
    }
}

fn between(page: &mut Page, found: &Evaluations, target: &str) {
    let header = [
        ("k", true),
        ("model", false),
        ("algorithm", false),
        ("less", false),
        ("difference", true),
        ("95% interval", true),
        ("p", true),
    ];
    let pairs = found.between.iter().filter(|pair| pair.target == target);
    let rows: Vec<Vec<HtmlCell>> = pairs
        .map(|pair| {
            let names = [pair.model, &pair.first, &pair.second].map(HtmlCell::text);
            let mut row = vec![HtmlCell::number(pair.k.to_string())];
            row.extend(names);
            row.extend(difference(Some(&pair.difference)));
            row
        })
        .collect();
    if !rows.is_empty() {
        page.section("Between algorithms");
        page.table(&header, &rows);
    }
}

fn projections(page: &mut Page, found: &Evaluations, target: &str) {
    let has_many = found.cases.len() > 1;
    for (case, report) in of(found, target).filter(|(_, report)| !report.projections.is_empty()) {
        let of_case = format!(", {} with k = {}", case.algorithm, case.k);
        page.section(&format!(
            "Without the best predictors{}",
            if has_many { of_case.as_str() } else { "" }
        ));
        let header = [("dropped", false), ("release", true), ("original", true)];
        let rows: Vec<Vec<HtmlCell>> = (report.projections.iter())
            .map(|one| {
                let last = one.columns.last().map_or("none", String::as_str);
                let [released, original] = [&one.released, &one.original]
                    .map(|figure| number(figure, is_scattered(found)));
                vec![HtmlCell::text(last), released, original]
            })
            .collect();
        page.table(&header, &rows);
    }
}

fn selections(page: &mut Page, found: &Evaluations) {
    let mut rows = Vec::new();
    for (case, one) in found.found() {
        rows.extend(one.selections.iter().map(|selection| {
            let figure = |figure: &Figure| HtmlCell::number(format!("{:.1}", figure.mean));
            vec![
                HtmlCell::number(case.k.to_string()),
                HtmlCell::text(&case.algorithm),
                HtmlCell::text(&selection.select),
                figure(&selection.rows),
                figure(&selection.imprecision),
            ]
        }));
    }
    if rows.is_empty() {
        return;
    }
    page.part("Selections");
    let header = [
        ("k", true),
        ("algorithm", false),
        ("selection", false),
        ("rows", true),
        ("imprecision", true),
    ];
    page.table(&header, &rows);
    page.remark(
        "Imprecision: training rows in classes that overlap the selection and that do not satisfy it.",
    );
}

fn releases(page: &mut Page, found: &Evaluations) {
    page.part("The releases of the training rows");
    let header = [
        ("k", true),
        ("algorithm", false),
        ("classes", true),
        ("rows per class", true),
        ("loss", true),
        ("suppressed", true),
    ];
    let mut cases: Vec<(&EvaluatedCase, &Evaluation)> = found.found().collect();
    cases.sort_by_key(|(case, _)| case.k);
    let rows: Vec<Vec<HtmlCell>> = cases
        .iter()
        .map(|(case, one)| {
            let release = &one.release;
            vec![
                HtmlCell::number(case.k.to_string()),
                HtmlCell::text(&case.algorithm),
                HtmlCell::number(format!("{:.0}", release.classes)),
                HtmlCell::number(format!("{:.1}", release.class_size)),
                HtmlCell::number(format!("{:.4}", release.loss)),
                HtmlCell::number(format!("{:.1}", release.suppressed)),
            ]
        })
        .collect();
    page.table(&header, &rows);
}

fn predictors(page: &mut Page, found: &Evaluations) {
    page.part("What models learn from");
    let header = [("column", false), ("as", false)];
    let mut rows: Vec<Vec<HtmlCell>> = (found.predictors.iter())
        .map(|predictor| {
            let way = if predictor.is_recoded { "recoded" } else { "released as it is" };
            vec![HtmlCell::text(&predictor.column), HtmlCell::text(way)]
        })
        .collect();
    rows.extend(found.left_out.iter().map(|left_out| {
        let way = format!("left out: {}", left_out.reason);
        vec![HtmlCell::text(&left_out.column), HtmlCell::text(way)]
    }));
    page.table(&header, &rows);
    page.remark(
        "Every released column but the targets. A column that is released as it is helps both models alike.",
    );
}

fn meaning(page: &mut Page, found: &Evaluations) {
    page.part("How differences are tested");
    page.say(if is_scattered(found) {
        "Release and original, and all algorithms, are tried on the same held-out rows, so that figures are compared fold \
         by fold. Folds share most of their training rows; the corrected resampled t-test (Nadeau and Bengio, 2003) allows \
         for that: the variance of the mean difference over n folds is that of the differences times 1/n plus the ratio of \
         held-out to training rows. Intervals are of 95%, each for itself: of twenty without a difference, one is expected \
         to leave 0 out."
    } else {
        "Release and original, and all algorithms, are tried on the same held-out rows, so that they are compared row by row. \
         For labels p is that of the exact McNemar test: how often one model alone is right, against how often the other is. \
         For numbers it is that of the paired t-test. Intervals are of 95%, for these trained models, and do not \
         tell how much other training rows would change: ask for folds to learn that."
    });
}

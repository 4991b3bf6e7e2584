//! What the release is good for: loss, distributions, what goes together, queries, and the
//! partition picture.

use incrowd_chart::{Axis, Lines, Listed, Matrix, Series, Tile, Tiles};

use super::{PageContent, cards};
use crate::report::page::{HtmlCell, Page, count, decimal, percent};
use crate::report::pictures::{Associations, Distribution, Partition, Sampled};
use crate::report::{QueryReport, WorkloadReport};

pub(super) fn write(page: &mut Page, content: &PageContent) {
    page.part("What it is good for");
    loss(page, content);
    if let Some(workload) = content.report.workload.as_ref().filter(|_| content.is_internal()) {
        of_workload(page, workload);
    }
    if let Some(queries) = content.queries.filter(|_| content.is_internal()) {
        of_queries(page, queries);
    }
    let Some(pictures) = content.pictures else { return };
    let figures: Vec<(String, String)> = (pictures.columns.iter())
        .filter_map(|column| {
            let found = column.distribution.as_ref().filter(|found| found.says_something())?;
            Some(distribution(&column.name, found))
        })
        .collect();
    if !figures.is_empty() {
        page.section("How each column is distributed");
        page.remark(
            "In the release the records of a cell are spread evenly over what the cell covers: what whoever knows no more would do.",
        );
        page.figures(&figures);
    }
    associations(page, &pictures.associations);
    match (&pictures.partition, &content.wanted.picture) {
        (Some(partition), _) => {
            page.part("The partition");
            page.figures(&[tiles(partition)]);
        }
        (None, Some([x, y])) => {
            page.part("The partition");
            page.say(&format!(
                "The partition of {x} and {y} is not drawn: the release does not tell where their cells lie, or they are too scattered for a \
                 picture to show anything."
            ));
        }
        (None, None) => {}
    }
}

/// Columns whose loss is drawn.
const MOST_BARS: usize = 40;

fn loss(page: &mut Page, content: &PageContent) {
    let measures = &content.report.measures;
    if !content.is_internal() {
        page.cards(&cards::measures_told(measures));
        return;
    }
    page.cards(&cards::measures(measures));
    let by_column = &measures.loss_by_column;
    if by_column.is_empty() {
        return;
    }
    let mut by_column: Vec<(&String, f64)> =
        by_column.iter().map(|(name, loss)| (name, *loss)).collect();
    by_column.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_column.truncate(MOST_BARS);
    let chart = Listed {
        title: "Loss by column".to_owned(),
        names: by_column.iter().map(|(name, _)| (*name).clone()).collect(),
        series: vec![("loss".to_owned(), by_column.iter().map(|(_, loss)| *loss).collect())],
    };
    page.figures(&[(
        chart.svg(),
        "Where the loss is, the greatest first: 0 is the value itself, 1 is anything.".to_owned(),
    )]);
}

fn of_workload(page: &mut Page, workload: &WorkloadReport) {
    page.section("For the use that was named");
    let mut all = Vec::new();
    for target in &workload.targets {
        if let (Some(whole), Some(left)) = (target.entropy, target.conditional_entropy) {
            all.push(format!(
                "{}: of {} bits a record, {} are left open once the class is known (conditional entropy).",
                target.column,
                decimal(whole),
                decimal(left)
            ));
        }
        if let Some(share) = target.error_share {
            all.push(format!(
                "{}: {} of the squared error is left within classes.",
                target.column,
                percent(share)
            ));
        }
    }
    for selection in &workload.selections {
        all.push(format!(
            "{}: {} records satisfy it, {} further ones are in classes that overlap it (imprecision).",
            selection.select,
            count(selection.rows),
            count(selection.imprecision)
        ));
    }
    page.list(&all);
}

/// Answers that are shown.
const MOST_ANSWERS: usize = 40;

fn of_queries(page: &mut Page, queries: &Result<QueryReport, String>) {
    page.section("Queries over the release");
    let queries = match queries {
        Ok(queries) => queries,
        Err(why) => {
            page.say(&format!(
                "The queries of the workload could not be answered over the release: {why}."
            ));
            return;
        }
    };
    if let Some(errors) = &queries.errors {
        let relative = errors.relative.map_or_else(String::new, |error| {
            format!(
                " The relative error is {} on average, {} for half of them, {} at most.",
                percent(error.mean),
                percent(error.median),
                percent(error.max)
            )
        });
        page.say(&format!(
            "{} answers of {} queries, {} of them exact.{relative} Relative error: |estimate - truth| / max(|truth|, 1).",
            count(errors.answers as u64),
            count(queries.queries.len() as u64),
            count(errors.exact as u64)
        ));
    }
    let header = [
        ("query", false),
        ("aggregate", false),
        ("estimate", true),
        ("truth", true),
        ("relative error", true),
    ];
    let mut rows = Vec::new();
    let all =
        queries.queries.iter().flat_map(|query| query.rows.iter().map(move |row| (query, row)));
    for (query, group) in all {
        let values: Vec<String> =
            group.group.iter().map(|(name, value)| format!("{name} = {}", plain(value))).collect();
        let values =
            if values.is_empty() { String::new() } else { format!(" [{}]", values.join(", ")) };
        for answer in &group.answers {
            let truth = answer.truth.as_ref();
            rows.push(vec![
                HtmlCell::text(format!("{}{values}", query.query)),
                HtmlCell::text(answer.aggregate.clone()),
                HtmlCell::number(plain(&answer.estimate)),
                HtmlCell::number(truth.map_or_else(String::new, |truth| plain(&truth.value))),
                HtmlCell::number(
                    truth.and_then(|truth| truth.relative_error).map_or_else(String::new, percent),
                ),
            ]);
        }
    }
    let n_more = rows.len().saturating_sub(MOST_ANSWERS);
    rows.truncate(MOST_ANSWERS);
    page.table(&header, &rows);
    if n_more > 0 {
        page.remark(&format!(
            "{} further answers count in the errors above.",
            count(n_more as u64)
        ));
    }
}

/// A value of an answer as it reads.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "none".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, decimal)
        }
        value => value.to_string(),
    }
}

fn distribution(name: &str, shown: &Distribution) -> (String, String) {
    let caption = |is_both: bool| {
        if is_both {
            format!("{name} in the table and in the release.")
        } else {
            format!("{name} in the release.")
        }
    };
    match shown {
        Distribution::Steps { axis, edges, before, after } => {
            let steps = |shares: &[f64]| {
                // From the ground up and down again.
                let ground = |edge: Option<&f64>| edge.map(|edge| (*edge, 0.0));
                let mut points: Vec<(f64, f64)> = ground(edges.first()).into_iter().collect();
                points.extend(edges.iter().copied().zip(shares.iter().copied()));
                points.extend(ground(edges.last()));
                points
            };
            let mut series = Vec::new();
            series.extend(before.as_ref().map(|before| Series::steps("before", steps(before))));
            series.push(Series::steps("release", steps(after)));
            let (x, y) = (Axis::linear(*axis), Axis::linear("% of records"));
            let chart = Lines { title: name.to_owned(), x, y, series };
            (chart.svg(), caption(before.is_some()))
        }
        Distribution::Names { names, before, after } => {
            let mut series = Vec::new();
            series.extend(before.clone().map(|before| ("before".to_owned(), before)));
            series.push(("release".to_owned(), after.clone()));
            let title = format!("{name}: % of records");
            (Listed { title, names: names.clone(), series }.svg(), caption(before.is_some()))
        }
    }
}

/// Columns of which is drawn what goes together.
const MOST_NAMES: usize = 16;

fn associations(page: &mut Page, found: &Associations) {
    if found.names.len() < 2 {
        return;
    }
    page.section("What goes together");
    let n_shown = found.names.len().min(MOST_NAMES);
    page.remark(
        "How strongly every two columns go together, in hundredths: from 0 (not at all; -100 for numbers that go against each other) to 100. Numbers with \
         numbers: Pearson's correlation, with the middle of a range in the release. Numbers with labels: the correlation ratio. Labels with \
         labels: Cram\u{e9}r's V, corrected for the number of labels; the values of a set or below a node share its records evenly. A place is empty where that has no answer.",
    );
    let matrix = |title: &str, values: &Vec<Vec<f64>>| {
        let values = values.iter().take(n_shown);
        let chart = Matrix {
            title: title.to_owned(),
            names: found.names[..n_shown].to_vec(),
            values: values.map(|row| row[..n_shown].to_vec()).collect(),
        };
        chart.svg()
    };
    let mut figures = Vec::new();
    if let Some(before) = &found.before {
        figures.push((matrix("Before", before), "In the table.".to_owned()));
    }
    figures.push((matrix("Release", &found.after), "In the release.".to_owned()));
    page.figures(&figures);
    let n_more = found.names.len() - n_shown;
    if n_more > 0 {
        page.remark(&format!("{n_more} further columns are not drawn."));
    }
    if let Some(off) = found.before.as_ref().and_then(|before| mean_change(before, &found.after)) {
        page.say(&format!(
            "Over all pairs of columns the two differ by {} on average.",
            decimal(off)
        ));
    }
    if !found.left_out.is_empty() {
        page.remark(&format!(
            "Left out, with too many values without an order or with means only: {}.",
            found.left_out.join(", ")
        ));
    }
}

/// The mean of how far two squares of numbers are apart, over the places that both have.
fn mean_change(before: &[Vec<f64>], after: &[Vec<f64>]) -> Option<f64> {
    let pairs = before.iter().zip(after).enumerate().flat_map(|(row, (before, after))| {
        before.iter().zip(after).take(row).map(|(before, after)| (before - after).abs())
    });
    let (sum, n) = pairs
        .filter(|change| change.is_finite())
        .fold((0.0, 0.0), |(sum, n), change| (sum + change, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

fn tiles(partition: &Partition) -> (String, String) {
    let [(x, x_axis), (y, y_axis)] = &partition.columns;
    let (mut across, mut up) =
        ((f64::INFINITY, f64::NEG_INFINITY), (f64::INFINITY, f64::NEG_INFINITY));
    let widen =
        |(least, greatest): (f64, f64), from: f64, to: f64| (least.min(from), greatest.max(to));
    for &[left, right, lower, upper] in &partition.tiles {
        (across, up) = (widen(across, left, right), widen(up, lower, upper));
    }
    for &(at, height, _) in &partition.points {
        (across, up) = (widen(across, at, at), widen(up, height, height));
    }
    let range = |(from, to): (f64, f64)| {
        let room = ((to - from) * 0.02).max(0.5);
        from - room..to + room
    };
    let axis = |name: &str, axis: &str| {
        if axis == "value" { name.to_owned() } else { format!("{name} ({axis})") }
    };
    let tile =
        |&[left, right, lower, upper]: &[f64; 4]| Tile { x: (left, right), y: (lower, upper) };
    let chart = Tiles {
        title: format!("{x} and {y}"),
        x: (axis(x, x_axis), range(across)),
        y: (axis(y, y_axis), range(up)),
        tiles: partition.tiles.iter().map(tile).collect(),
        points: partition.points.clone(),
    };
    let points = match (partition.points.is_empty(), partition.sampled_points) {
        (true, _) => String::new(),
        (false, None) => " The points are records; larger ones stand for more.".to_owned(),
        (false, Some(Sampled { drawn, of })) => format!(
            " The points are {} of {} records, drawn at random with the seed of the job; larger ones stand for more.",
            count(drawn),
            count(of)
        ),
    };
    let left_out = match partition.sampled_tiles {
        None => String::new(),
        Some(Sampled { drawn, of }) => format!(
            " There are too many tiles: shown are those of {} of {} records, drawn at random.",
            count(drawn),
            count(of)
        ),
    };
    let caption = format!(
        "How the release divides {x} and {y}: a tile for every pair of cells that some record has.{points}{left_out} With more than two \
         quasi-identifier columns tiles overlap: they are shadows of boxes with more sides."
    );
    (chart.svg(), caption)
}

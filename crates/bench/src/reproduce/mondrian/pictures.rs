//! Figures 15 and 16: the tiles into which two attributes are divided.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_chart::{Tile, Tiles};
use incrowd_job::{GenerateSpec, Report};

use crate::Failure;
use crate::reproduce::{Cases, Claim, Findings, Judged, Lab, Numbers, Row, Table, Verdict};

/// The models of recoding that the figures show, with the files they go to.
const MODELS: [(&str, &str); 2] =
    [("single-dimensional", "koptimize"), ("multidimensional", "mondrian")];

const KS: [u64; 3] = [10, 25, 50];

/// The file of a picture, by model and k.
const FILES: [[&str; 3]; 2] =
    [["single-k10", "single-k25", "single-k50"], ["multi-k10", "multi-k25", "multi-k50"]];

/// The table of section 6.3: two attributes of 50 values.
pub(super) fn table(lab: &Lab, seed: u64) -> Result<(), Failure> {
    let spec = GenerateSpec {
        kind: "skewed".to_owned(),
        attributes: Some(2),
        cardinality: Some(50),
        mean: Some(25.0),
        deviation: Some(0.2),
        rows: Some("1000".to_owned()),
        seed: Some(seed),
        ..GenerateSpec::default()
    };
    lab.generate("xy.csv", spec)
}

/// The job that releases it.
pub(super) fn job(lab: &Lab, algorithm: &str, k: u64, labels: &str) -> String {
    let limit = match algorithm {
        "koptimize" => format!("[run]\ntime-limit = \"{}s\"\n", lab.size(1, 300)),
        _ => String::new(),
    };
    format!(
        "input = \"xy.csv\"\noutput = \"release.csv\"\n[columns]\na1 = {{ role = \"quasi\" }}\n\
         a2 = {{ role = \"quasi\" }}\n[privacy]\nk = {k}\n[search]\nalgorithm = \"{algorithm}\"\n\
         measure = \"discernibility\"\n[release]\nlabels = \"{labels}\"\n{limit}"
    )
}

/// Draws how both models divide the same table.
pub(crate) fn partitions(lab: &Lab) -> Result<Findings, Failure> {
    table(lab, lab.seed)?;
    let points = points(&lab.read("xy.csv")?)?;
    let mut numbers = Table::new(&[
        "k",
        "model",
        "classes",
        "intervals_x",
        "intervals_y",
        "discernibility",
        "proved",
    ]);
    let mut findings = Findings::default();
    for (model_at, (model, algorithm)) in MODELS.iter().enumerate() {
        for (k_at, k) in KS.into_iter().enumerate() {
            let report = lab.anonymize(&job(lab, algorithm, k, "region"))?;
            let tiles = tiles(&lab.read("release.csv")?)?;
            let distinct = |edge: &dyn Fn(&Tile) -> (f64, f64)| {
                tiles.iter().map(|tile| edge(tile).0.to_bits()).collect::<BTreeSet<u64>>().len()
            };
            let (across, up) = (distinct(&|tile| tile.x), distinct(&|tile| tile.y));
            numbers.push([
                k.to_string(),
                (*model).to_owned(),
                report.release.classes.to_string(),
                across.to_string(),
                up.to_string(),
                report.measures.discernibility.to_string(),
                is_optimal(&report).to_string(),
            ]);
            let picture = Tiles {
                title: format!("{model}, k = {k}: {} classes", tiles.len()),
                x: ("X".to_owned(), -0.5..49.5),
                y: ("Y".to_owned(), -0.5..49.5),
                tiles,
                points: points.clone(),
            };
            findings.plots.push((FILES[model_at][k_at], picture.svg()));
        }
    }
    findings.tables.push(numbers);
    Ok(findings)
}

/// Whether a search proved its optimum.
pub(super) fn is_optimal(report: &Report) -> bool {
    report.search.as_ref().is_some_and(|search| search.optimal)
}

const TEXT: &str = "\
A thousand rows with two attributes of 50 values (mean 25, deviation 0.2 of the range). Points are rows, larger where \
several coincide; tiles are classes, with the cut points as their edges (`--labels region`). First the optimal \
single-dimensional recoding, then the strict multidimensional one, each for k = 10, 25 and 50.";

/// What the report says of the pictures.
pub(crate) fn judge(numbers: &Numbers) -> Judged {
    let table = numbers.main();
    let single = [("model", "single-dimensional")];
    let intervals = |row: &Row| (row.number("intervals_x"), row.number("intervals_y"));
    // "Small k" are the smaller two of the three. One attribute: at least twice the intervals of
    // the other.
    let lopsided = |row: &Row| {
        let (x, y) = intervals(row);
        (row.text("proved") == "true").then_some(x.max(y) >= 2.0 * x.min(y))
    };
    let small = table.rows_with(&single).filter(|row| row.number("k") < 50.0);
    let cases = Cases::of(small.map(|row| (format!("k = {}", row.text("k")), lopsided(&row))));
    let by_k = |cells: &[(&str, &str)]| {
        let one = |row: Row| format!("{} and {}", row.text("intervals_x"), row.text("intervals_y"));
        table.rows_with(cells).map(one).collect::<Vec<_>>().join(", ")
    };
    let costs = table.rows_with(&single).zip(table.rows_with(&[("model", "multidimensional")]));
    let lower = costs.map(|(single, multi)| {
        (single.text("k"), multi.number("discernibility") < single.number("discernibility"))
    });
    let claims = vec![
        Claim::new(
            "section 6.3, Figure 15",
            "For small k single-dimensional tends to reflect the distribution of just one attribute",
            format!(
                "one attribute has at least twice the intervals of the other: {}; intervals of X and Y by k: {}",
                cases.found(),
                by_k(&single)
            ),
            &cases,
        )
        .because(
            "this is one table, and the report says itself that a small change of the data often changes its \
             single-dimensional release",
        ),
        Claim::new(
            "section 6.3, Figure 16",
            "Multidimensional does an excellent job at capturing the multivariate distribution",
            format!(
                "intervals of X and Y by k: {}; discernibility lower than single-dimensional: {}",
                by_k(&[("model", "multidimensional")]),
                Cases::of(lower).found()
            ),
            Verdict::NotShown,
        )
        .because("it is a judgement of a picture; the numbers say only that both attributes are divided"),
    ];
    Judged { text: TEXT.to_owned(), shown: vec![table.clone()], claims, ..Judged::default() }
}

/// The distinct points with their rows.
fn points(text: &str) -> Result<Vec<(f64, f64, u64)>, Failure> {
    let mut counts = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (x, y) = line.split_once(',').ok_or("a row of two cells")?;
        *counts.entry((x.parse::<u32>()?, y.parse::<u32>()?)).or_insert(0) += 1;
    }
    Ok(counts.into_iter().map(|((x, y), rows)| (f64::from(x), f64::from(y), rows)).collect())
}

/// The distinct regions of a release.
fn tiles(text: &str) -> Result<Vec<Tile>, Failure> {
    let rows: BTreeSet<&str> = text.lines().skip(1).collect();
    let tile = |row: &&str| {
        let (x, y) = row.split_once(',').ok_or("a row of two cells")?;
        Ok(Tile { x: edges(x, (0.0, 49.0))?, y: edges(y, (0.0, 49.0))? })
    };
    rows.iter().map(tile).collect()
}

/// The edges of a cell: half a value beyond its least and greatest value.
pub(crate) fn edges(cell: &str, whole: (f64, f64)) -> Result<(f64, f64), Failure> {
    let (low, high) = if cell == "*" {
        whole
    } else if let Some(below) = cell.strip_prefix('<') {
        (whole.0, below.parse::<f64>()? - 1.0)
    } else if let Some(from) = cell.strip_prefix(">=") {
        (from.parse()?, whole.1)
    } else {
        let inner = cell.trim_start_matches('[').trim_end_matches(']');
        let between = if inner.contains("..") { ".." } else { "-" };
        let (low, high) = inner.split_once(between).unwrap_or((inner, inner));
        (low.parse()?, high.parse()?)
    };
    Ok((low - 0.5, high + 0.5))
}

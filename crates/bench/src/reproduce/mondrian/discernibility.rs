//! Figures 10 to 14 measured: discernibility of the models of recoding (`ordering` judges it).

use incrowd_job::{GenerateSpec, Report};

use super::figure_7::{Points, Rule};
use crate::Failure;
use crate::koptimize::COLUMNS;
use crate::reproduce::lab::Adult;
use crate::reproduce::{Findings, Lab, Table};

/// The models of recoding with the algorithms that stand for them. The literal one is not the
/// product's: it follows the report's Figure 7 to the letter (`figure_7`). The last is beyond the
/// figures.
const MODELS: [(&str, &str); 5] = [
    ("full-domain", "optimal"),
    ("single-dimensional", "koptimize"),
    ("multidimensional", "mondrian"),
    (LITERAL, ""),
    ("relaxed multidimensional", "mondrian-relaxed"),
];
const LITERAL: &str = "literal multidimensional";
const KS: [u64; 8] = [2, 5, 10, 25, 50, 100, 250, 500];

/// What a release came to.
#[derive(Debug, Clone, Copy)]
struct Cost {
    discernibility: f64,
    average_class_size: f64,
    /// Whether a minimum is proved, where something was minimised.
    is_proved: bool,
    lower_bound: Option<f64>,
}

/// The costs of all models at one place of the horizontal axis.
struct Point {
    x: f64,
    costs: [Cost; 5],
}

/// Costs along an axis.
struct Figure {
    x: &'static str,
    points: Vec<Point>,
}

/// Figure 10.
pub(crate) fn uniform(lab: &Lab) -> Result<Findings, Failure> {
    lab.generate("table.csv", spec(lab, "uniform", 5, None))?;
    Ok(by_k(lab, ks(lab))?.findings())
}

/// Figure 11, with the numbers of Figure 10 to compare them with.
pub(crate) fn skewed(lab: &Lab) -> Result<Findings, Failure> {
    lab.generate("table.csv", spec(lab, "uniform", 5, None))?;
    let flat = by_k(lab, ks(lab))?;
    lab.generate("table.csv", spec(lab, "skewed", 5, Some(0.2)))?;
    let figure = by_k(lab, ks(lab))?;
    let mut findings = figure.findings();
    findings.tables.push(flat.table().named("uniform"));
    Ok(findings)
}

/// Figure 12.
pub(crate) fn deviations(lab: &Lab) -> Result<Findings, Failure> {
    let sigmas: &[f64] = lab.size(&[0.1, 0.2, 0.4], &[0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]);
    let mut points = Vec::new();
    for &sigma in sigmas {
        lab.generate("table.csv", spec(lab, "skewed", 5, Some(sigma)))?;
        points.push(Point { x: sigma, costs: synthetic(lab, 10, 5)? });
    }
    Ok(Figure { x: "sigma", points }.findings())
}

/// Figure 13.
pub(crate) fn attributes(lab: &Lab) -> Result<Findings, Failure> {
    let numbers: &[u8] = lab.size(&[2, 3, 5], &[2, 3, 4, 5, 6, 7, 8]);
    let mut points = Vec::new();
    for &n in numbers {
        let attributes = usize::from(n);
        lab.generate("table.csv", spec(lab, "skewed", attributes, Some(0.2)))?;
        points.push(Point { x: f64::from(n), costs: synthetic(lab, 10, attributes)? });
    }
    Ok(Figure { x: "attributes", points }.findings())
}

/// Figure 14.
pub(crate) fn adult(lab: &Lab) -> Result<Findings, Failure> {
    lab.adult(Adult::Training)?;
    let columns = adult_columns(lab)?;
    let ks: &[u64] = lab.size(&[10, 100, 1000], &[2, 5, 10, 25, 50, 100, 250, 500, 1000]);
    let mut points = Vec::new();
    for &k in ks {
        let job = |algorithm: &str| adult_job(lab, &columns, algorithm, k);
        points.push(Point { x: k as f64, costs: costs(lab, &job, "adult.csv", &columns, k)? });
    }
    let mut findings = Figure { x: "k", points }.findings();
    let points = Points::read(&lab.read("adult.csv")?, &columns)?;
    findings.tables.push(ties(&points, &columns, lab.size(&[10], ks)));
    Ok(findings)
}

/// What the rules of Figure 7 cost under other orders of the columns, which settle ties between
/// equally wide ones.
fn ties(points: &Points, columns: &[(&'static str, Vec<String>)], ks: &[u64]) -> Table {
    let mut table = Table::new(&["k", "cut", "order of ties", "discernibility"]);
    let default = std::iter::once(("fewest values first".to_owned(), points.fewest_first()));
    let rotated = rotations(points.n_attributes()).into_iter().map(|order| {
        let names: Vec<&str> = order.iter().map(|&at| columns[at].0).collect();
        (names.join(" "), order)
    });
    let orders: Vec<(String, Vec<usize>)> = default.chain(rotated).collect();
    for &k in ks {
        for (name, rule) in [("nearest allowable", Rule::Nearest), ("literal", Rule::Literal)] {
            for (order, ties) in &orders {
                let found = points.partition(size(k), rule, ties);
                table.push([&k.to_string(), name, order, &found.discernibility.to_string()]);
            }
        }
    }
    table.named("ties")
}

/// Every rotation of some numbers, forwards and backwards.
pub(super) fn rotations(n: usize) -> Vec<Vec<usize>> {
    let forwards = (0..n).map(|first| (0..n).map(|at| (first + at) % n).collect());
    let backwards = (0..n).map(|first| (0..n).map(|at| (first + n - at) % n).collect());
    forwards.chain(backwards).collect()
}

fn size(k: u64) -> usize {
    usize::try_from(k).expect("k is small")
}

fn ks(lab: &Lab) -> &'static [u64] {
    lab.size(&[5, 10, 50], &KS)
}

fn by_k(lab: &Lab, ks: &[u64]) -> Result<Figure, Failure> {
    let mut points = Vec::new();
    for &k in ks {
        let costs = synthetic(lab, k, 5)?;
        points.push(Point { x: k as f64, costs });
    }
    Ok(Figure { x: "k", points })
}

/// Seconds after which a single-dimensional search ends with the best that it has.
fn seconds(lab: &Lab) -> u64 {
    lab.size(1, 10)
}

/// Rows of a synthetic table.
fn rows(lab: &Lab) -> u64 {
    lab.size(2_000, 10_000)
}

/// What the releases of a synthetic table cost.
fn synthetic(lab: &Lab, k: u64, attributes: usize) -> Result<[Cost; 5], Failure> {
    let names: Vec<String> = (1..=attributes).map(|at| format!("a{at}")).collect();
    let columns: Vec<(&str, Vec<String>)> =
        names.iter().map(|name| (name.as_str(), Vec::new())).collect();
    costs(lab, &|algorithm| synthetic_job(lab, algorithm, k, attributes), "table.csv", &columns, k)
}

/// What the releases of all models cost.
fn costs(
    lab: &Lab,
    job: &dyn Fn(&str) -> String,
    table: &str,
    columns: &[(&str, Vec<String>)],
    k: u64,
) -> Result<[Cost; 5], Failure> {
    let mut costs = Vec::new();
    for (name, algorithm) in MODELS {
        costs.push(match name {
            LITERAL => literal(&Points::read(&lab.read(table)?, columns)?, k),
            _ => cost(&lab.anonymize(&job(algorithm))?),
        });
    }
    costs.try_into().map_err(|_| "a cost for every model".into())
}

/// Figure 7 to the letter, ties as the product settles them.
fn literal(points: &Points, k: u64) -> Cost {
    let found = points.partition(size(k), Rule::Literal, &points.fewest_first());
    Cost {
        discernibility: found.discernibility as f64,
        average_class_size: points.n_rows() as f64 / found.classes as f64 / k as f64,
        is_proved: false,
        lower_bound: None,
    }
}

fn cost(report: &Report) -> Cost {
    let search = report.search.as_ref();
    Cost {
        discernibility: report.measures.discernibility,
        average_class_size: report.measures.average_class_size.unwrap_or(f64::NAN),
        is_proved: search.is_some_and(|search| search.optimal),
        lower_bound: search.and_then(|search| search.lower_bound),
    }
}

fn spec(lab: &Lab, kind: &str, attributes: usize, deviation: Option<f64>) -> GenerateSpec {
    GenerateSpec {
        kind: kind.to_owned(),
        attributes: Some(attributes),
        cardinality: Some(8),
        deviation,
        rows: Some(rows(lab).to_string()),
        seed: Some(lab.seed),
        ..GenerateSpec::default()
    }
}

/// What every job here asks for: nothing left out, least discernibility, a time limit.
fn search(lab: &Lab, algorithm: &str, k: u64) -> String {
    let limit = match algorithm {
        "koptimize" => format!("[run]\ntime-limit = \"{}s\"\n", seconds(lab)),
        _ => String::new(),
    };
    let algorithm = match algorithm {
        "mondrian-relaxed" => "mondrian\"\nrelaxed = true",
        _ => &format!("{algorithm}\""),
    };
    format!(
        "[privacy]\nk = {k}\n[search]\nalgorithm = \"{algorithm}\nmeasure = \"discernibility\"\n{limit}"
    )
}

fn synthetic_job(lab: &Lab, algorithm: &str, k: u64, attributes: usize) -> String {
    let mut job = String::from("input = \"table.csv\"\noutput = \"release.csv\"\n[columns]\n");
    let hierarchy = if algorithm == "optimal" { ", hierarchy = { fan-out = 2 }" } else { "" };
    for at in 1..=attributes {
        job.push_str(&format!("a{at} = {{ role = \"quasi\"{hierarchy} }}\n"));
    }
    job + &search(lab, algorithm, k)
}

/// The columns of Adult with the order of their values, if they are texts.
pub(super) fn adult_columns(lab: &Lab) -> Result<Vec<(&'static str, Vec<String>)>, Failure> {
    let table = lab.read("adult.csv")?;
    let mut columns = Vec::new();
    for name in COLUMNS {
        let text = lab.read(&format!("hierarchies/{name}.csv"))?;
        let leaves = text.lines().filter_map(|line| line.split(';').next());
        // A value that no row has would widen the range by which the columns are compared.
        let is_there = |leaf: &&str| table.contains(&format!(",{leaf},"));
        let order = leaves.filter(is_there).map(str::to_owned).collect();
        columns.push((name, if name == "age" { Vec::new() } else { order }));
    }
    Ok(columns)
}

fn adult_job(lab: &Lab, columns: &[(&str, Vec<String>)], algorithm: &str, k: u64) -> String {
    let mut job = String::from(
        "input = \"adult.csv\"\noutput = \"release.csv\"\nundeclared = \"drop\"\n[columns]\n",
    );
    for (name, order) in columns {
        let more = match (algorithm, order.is_empty()) {
            ("optimal", _) => format!(", hierarchy = \"hierarchies/{name}.csv\""),
            (_, true) => String::new(),
            (_, false) => format!(", order = {order:?}"),
        };
        job.push_str(&format!("{name} = {{ role = \"quasi\"{more} }}\n"));
    }
    job + &search(lab, algorithm, k)
}

impl Figure {
    /// The numbers.
    fn table(&self) -> Table {
        let columns =
            [self.x, "model", "discernibility", "average_class_size", "proved", "lower_bound"];
        let mut table = Table::new(&columns);
        for point in &self.points {
            for ((model, _), cost) in MODELS.iter().zip(&point.costs) {
                let bound = cost.lower_bound.map(|bound| bound.to_string());
                table.push([
                    point.x.to_string(),
                    (*model).to_owned(),
                    cost.discernibility.to_string(),
                    format!("{:.4}", cost.average_class_size),
                    cost.is_proved.to_string(),
                    bound.unwrap_or_default(),
                ]);
            }
        }
        table
    }

    /// The numbers; the picture is drawn from them.
    fn findings(&self) -> Findings {
        Findings { tables: vec![self.table()], plots: Vec::new() }
    }
}

//! What butterflies lose and how long they take, against the union of all sets.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_job::GenerateSpec;

use crate::reproduce::lab::Adult;
use crate::reproduce::{Findings, Lab, Table};
use crate::{Failure, now};

/// The ways to protect several sets, with what the job says of each.
const WAYS: [(&str, &str); 3] = [
    ("union", "algorithm = \"union\""),
    ("butterfly, paper", "algorithm = \"butterfly\"\nvariant = \"paper\""),
    ("butterfly", "algorithm = \"butterfly\""),
];

const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];

/// Pairs of sets of four columns of Adult that share none to three; the first set is the same.
const ADULT_OVERLAPS: [[&str; 2]; 4] = [
    ["age,sex,education,marital-status", "occupation,race,workclass,native-country"],
    ["age,sex,education,marital-status", "age,occupation,race,workclass"],
    ["age,sex,education,marital-status", "age,sex,occupation,race"],
    ["age,sex,education,marital-status", "age,sex,education,occupation"],
];

/// The same over synthetic columns.
const CODE_OVERLAPS: [[&str; 2]; 4] = [
    ["a1,a2,a3,a4", "a5,a6,a7,a8"],
    ["a1,a2,a3,a4", "a1,a5,a6,a7"],
    ["a1,a2,a3,a4", "a1,a2,a5,a6"],
    ["a1,a2,a3,a4", "a1,a2,a3,a5"],
];

/// Sets of four columns that all share two.
const CODE_SETS: [&str; 4] = ["a1,a2,a3,a4", "a1,a2,a5,a6", "a1,a2,a7,a8", "a1,a2,a9,a10"];
const PEOPLE_SETS: [&str; 4] = [
    "age,sex,race,marital",
    "age,sex,education,occupation",
    "age,sex,country,postcode",
    "age,sex,workclass,children",
];

const EDUCATION: [&str; 16] = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
];

/// What a release came to.
#[derive(Debug, Clone, Copy)]
struct Measured {
    loss: f64,
    search: f64,
    command: f64,
}

/// What all ways came to at one place of the horizontal axis.
struct Point {
    table: &'static str,
    x: f64,
    ways: [Measured; 3],
}

/// Loss by k, for Adult and for a uniform table.
pub(crate) fn by_k(lab: &Lab) -> Result<Findings, Failure> {
    let tables = [("Adult", ADULT_OVERLAPS[2]), ("uniform", CODE_OVERLAPS[2])];
    let ks: &[u64] = lab.size(&[5, 25, 100], &KS);
    let mut points = Vec::new();
    for (table, sets) in tables {
        prepare(lab, table)?;
        for &k in ks {
            points.push(Point { table, x: k as f64, ways: ways(lab, table, &sets, k)? });
        }
    }
    Ok(findings(&points, "k", &Axis::log("k")))
}

/// Loss by the number of columns that two sets of four share.
pub(crate) fn by_overlap(lab: &Lab) -> Result<Findings, Failure> {
    let mut points = Vec::new();
    for (table, pairs) in [("Adult", ADULT_OVERLAPS), ("uniform", CODE_OVERLAPS)] {
        prepare(lab, table)?;
        for (shared, sets) in (0u8..).zip(pairs) {
            points.push(Point { table, x: f64::from(shared), ways: ways(lab, table, &sets, 10)? });
        }
    }
    Ok(findings(&points, "shared", &Axis::linear("columns that both sets have")))
}

/// Loss by the number of sets.
pub(crate) fn by_sets(lab: &Lab) -> Result<Findings, Failure> {
    let mut points = Vec::new();
    for (table, sets) in [("census", PEOPLE_SETS), ("uniform", CODE_SETS)] {
        prepare(lab, table)?;
        for n in 2u8..=4 {
            let sets = &sets[..usize::from(n)];
            points.push(Point { table, x: f64::from(n), ways: ways(lab, table, sets, 10)? });
        }
    }
    Ok(findings(&points, "sets", &Axis::linear("quasi-identifier sets")))
}

/// Time by rows.
pub(crate) fn times(lab: &Lab) -> Result<Findings, Failure> {
    let sizes: &[u32] = lab.size(&[5_000, 20_000], &[10_000, 30_000, 100_000, 300_000, 1_000_000]);
    let mut points = Vec::new();
    for &rows in sizes {
        people(lab, rows)?;
        let ways = ways(lab, "census", &PEOPLE_SETS[1..3], 10)?;
        points.push(Point { table: "census", x: f64::from(rows), ways });
    }
    let mut findings = findings(&points, "rows", &Axis::log("rows"));
    let line = |at: usize| {
        let seconds = points.iter().map(|point| (point.x, point.ways[at].command));
        Series::new(WAYS[at].0, seconds.collect())
    };
    let plot = Lines {
        title: "Synthetic people, two sets, k = 10".to_owned(),
        x: Axis::log("rows"),
        y: Axis::log("seconds"),
        series: (0..WAYS.len()).map(line).collect(),
    };
    findings.plots = vec![("", plot.svg())];
    Ok(findings)
}

/// Puts a table into the lab.
fn prepare(lab: &Lab, table: &str) -> Result<(), Failure> {
    match table {
        "Adult" => {
            lab.adult(Adult::All)?;
            let text = lab.read("adult.csv")?;
            let most = lab.size(5_001, usize::MAX);
            let lines: Vec<&str> = text.lines().take(most).collect();
            lab.write("table.csv", &(lines.join("\n") + "\n"))
        }
        "census" => people(lab, lab.size(5_000, 30_000)),
        _ => {
            let spec = GenerateSpec {
                kind: table.to_owned(),
                rows: Some(lab.size("5000", "30000").to_owned()),
                attributes: Some(10),
                seed: Some(lab.seed),
                ..GenerateSpec::default()
            };
            lab.generate("table.csv", spec)
        }
    }
}

fn people(lab: &Lab, rows: u32) -> Result<(), Failure> {
    let spec = GenerateSpec {
        kind: "census".to_owned(),
        rows: Some(rows.to_string()),
        seed: Some(lab.seed),
        ..GenerateSpec::default()
    };
    lab.generate("table.csv", spec)
}

/// Releases the table every way.
fn ways(lab: &Lab, table: &str, sets: &[&str], k: u64) -> Result<[Measured; 3], Failure> {
    let mut all = Vec::new();
    for (_, way) in WAYS {
        let start = now();
        let report = lab.anonymize(&job(table, sets, k, way))?;
        let command = start.elapsed().as_secs_f64();
        if let Some(broken) = report.privacy.iter().find(|set| set.k < k) {
            return Err(format!("`{}` has k = {}", broken.quasi, broken.k).into());
        }
        let search = report.search.map_or(f64::NAN, |search| search.elapsed_s);
        all.push(Measured { loss: report.measures.loss.unwrap_or(f64::NAN), search, command });
    }
    all.try_into().map_err(|_| "a release for every way".into())
}

fn job(table: &str, sets: &[&str], k: u64, way: &str) -> String {
    let mut columns: Vec<&str> = sets.iter().flat_map(|set| set.split(',')).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut job = String::from(
        "input = \"table.csv\"\noutput = \"release.csv\"\nundeclared = \"drop\"\n[columns]\n",
    );
    for column in columns {
        let is_ordered = column == "education" && table == "Adult";
        let more = if is_ordered { format!(", order = {EDUCATION:?}") } else { String::new() };
        job.push_str(&format!("{column} = {{ role = \"quasi\"{more} }}\n"));
    }
    for (at, set) in sets.iter().enumerate() {
        let columns: Vec<&str> = set.split(',').collect();
        job.push_str(&format!("[[quasi]]\nname = \"set{at}\"\ncolumns = {columns:?}\n"));
    }
    job + &format!("[privacy]\nk = {k}\n[search]\n{way}\n")
}

fn findings(points: &[Point], x: &str, axis: &Axis) -> Findings {
    let mut table = Table::new(&["table", x, "way", "loss", "search_s", "command_s"]);
    let mut names: Vec<&'static str> = points.iter().map(|point| point.table).collect();
    names.dedup();
    for point in points {
        for ((way, _), measured) in WAYS.iter().zip(&point.ways) {
            table.push([
                point.table.to_owned(),
                point.x.to_string(),
                (*way).to_owned(),
                format!("{:.6}", measured.loss),
                format!("{:.4}", measured.search),
                format!("{:.3}", measured.command),
            ]);
        }
    }
    let mut plots = Vec::new();
    for name in names {
        let of = || points.iter().filter(move |point| point.table == name);
        let line =
            |at: usize| Series::new(WAYS[at].0, of().map(|p| (p.x, p.ways[at].loss)).collect());
        let plot = Lines {
            title: format!("{name}: loss by {}", axis.name),
            x: axis.clone(),
            y: Axis::linear("loss"),
            series: (0..WAYS.len()).map(line).collect(),
        };
        let suffix = if name == "Adult" { "adult" } else { name };
        plots.push((suffix, plot.svg()));
    }
    Findings { tables: vec![table], plots }
}

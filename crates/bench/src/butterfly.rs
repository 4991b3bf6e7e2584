//! What several quasi-identifier sets cost: the union of all, the paper's butterflies and ours, in
//! one run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Failure, now, run};

const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];

const EDUCATION: &str = "\"Preschool\", \"1st-4th\", \"5th-6th\", \"7th-8th\", \"9th\", \"10th\", \"11th\", \
     \"12th\", \"HS-grad\", \"Some-college\", \"Assoc-voc\", \"Assoc-acdm\", \"Bachelors\", \"Masters\", \
     \"Prof-school\", \"Doctorate\"";

/// A table and the sets of those who may attack it.
struct Case {
    name: String,
    table: PathBuf,
    sets: Vec<&'static str>,
    /// The folder of the hierarchies, if they are used.
    hierarchies: Option<PathBuf>,
}

/// Pairs of sets of four columns of Adult that share two.
const ADULT: [(&str, [&str; 2], bool); 4] = [
    (
        "Adult, age and sex shared",
        ["age,sex,education,marital-status", "age,sex,occupation,race"],
        false,
    ),
    (
        "Adult, age and race shared",
        ["age,race,workclass,occupation", "age,race,education,native-country"],
        false,
    ),
    (
        "Adult, sex and education shared",
        ["sex,education,age,workclass", "sex,education,occupation,native-country"],
        false,
    ),
    (
        "Adult, hierarchies, age and sex shared",
        ["age,sex,education,marital-status", "age,sex,occupation,native-country"],
        true,
    ),
];

/// Two, three and four sets over columns `a1` to `a10`, all of which share two.
const CODES: [&str; 4] = ["a1,a2,a3,a4", "a1,a2,a5,a6", "a1,a2,a7,a8", "a1,a2,a9,a10"];

/// The same over the columns of people.
const PEOPLE: [&str; 4] = [
    "age,sex,race,marital",
    "age,sex,education,occupation",
    "age,sex,country,postcode",
    "age,postcode,education,marital",
];

/// The synthetic tables: what `incrowd generate` is asked for.
const SYNTHETIC: [(&str, &[&str]); 3] = [
    ("uniform", &["--rows", "30000", "--attributes", "10", "--cardinality", "8"]),
    ("skewed", &["--rows", "30000", "--attributes", "10", "--cardinality", "20"]),
    ("census", &["--rows", "30000"]),
];

/// What a run came to.
#[derive(Clone, Copy, Default)]
struct Measured {
    loss: f64,
    search: f64,
    command: f64,
    peak: f64,
}

/// Runs all cases and the table of `rows` rows; an error if a butterfly release loses more than the
/// union's.
pub(crate) fn cases(folder: &Path, rows: u64, runs: usize) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let worse = quality(&folder, runs)? + speed(&folder, rows, runs)?;
    if worse > 0 {
        return Err(format!("butterfly loses more than the union in {worse} cases").into());
    }
    Ok(())
}

/// Losses and times of all cases; how often a butterfly release loses more than the union's.
fn quality(folder: &Path, runs: usize) -> Result<usize, Failure> {
    println!(
        "| case | k | loss: union | paper | butterfly | lower | search s: union | paper | butterfly | ratio | command s: union | paper | butterfly | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut n, mut worse) = (0.0, 0);
    let mut sums = [0.0; 4];
    for case in all_cases(folder)? {
        std::fs::write(folder.join("job.toml"), job(&case))?;
        for k in KS {
            let one = |way: &[&str]| best(folder, k, way, runs);
            let base = one(&["--algorithm", "union"])?;
            let paper = one(&["--algorithm", "butterfly", "--variant", "paper"])?;
            let ours = one(&["--algorithm", "butterfly"])?;
            let lower = |of: Measured| (1.0 - of.loss / base.loss.max(f64::MIN_POSITIVE)) * 100.0;
            worse += usize::from(ours.loss > base.loss + 1e-12);
            n += 1.0;
            let ratios = (ours.search / base.search.max(1e-6), ours.command / base.command);
            for (sum, more) in sums.iter_mut().zip([lower(paper), lower(ours), ratios.0, ratios.1])
            {
                *sum += more;
            }
            println!(
                "| {} | {k} | {:.4} | {:.4} | {:.4} | {:.1}% | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
                case.name,
                base.loss,
                paper.loss,
                ours.loss,
                lower(ours),
                base.search,
                paper.search,
                ours.search,
                ratios.0,
                base.command,
                paper.command,
                ours.command,
                ratios.1
            );
        }
    }
    let [paper, ours, search, command] = sums.map(|sum| sum / n);
    println!(
        "\nOn average over {n} runs: the paper's loss is {paper:.1}% lower than the union's, butterfly's {ours:.1}%; \
         butterfly takes {search:.2} times as long to search, the command {command:.2} times.\n"
    );
    Ok(worse)
}

/// Times and memory of one large table; how often a butterfly release of it loses more than the
/// union's.
fn speed(folder: &Path, rows: u64, runs: usize) -> Result<usize, Failure> {
    let table = folder.join("large.csv");
    let n = rows.to_string();
    generate(folder, "census", &table, &["--rows", &n])?;
    let sets = vec!["age,sex,education,occupation", "age,sex,country,postcode"];
    let case = Case { name: "large".to_owned(), table, sets, hierarchies: None };
    std::fs::write(folder.join("job.toml"), job(&case))?;
    println!("| {rows} rows, k = 10 | loss | search s | ratio | command s | ratio | peak MB |");
    println!("|---|---|---|---|---|---|---|");
    let (mut base, mut worse) = (None, 0);
    for (name, way) in [
        ("union", &["--algorithm", "union"][..]),
        ("paper", &["--algorithm", "butterfly", "--variant", "paper"][..]),
        ("butterfly", &["--algorithm", "butterfly"][..]),
    ] {
        let best = best(folder, 10, way, runs)?;
        let base = *base.get_or_insert(best);
        println!(
            "| {name} | {:.4} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} |",
            best.loss,
            best.search,
            best.search / base.search,
            best.command,
            best.command / base.command,
            best.peak / 1e6
        );
        worse += usize::from(name == "butterfly" && best.loss > base.loss + 1e-12);
    }
    Ok(worse)
}

fn all_cases(folder: &Path) -> Result<Vec<Case>, Failure> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult");
    let examples = examples.canonicalize()?;
    let mut cases: Vec<Case> = ADULT
        .iter()
        .map(|(name, sets, has_hierarchies)| Case {
            name: (*name).to_owned(),
            table: examples.join("adult.csv.gz"),
            sets: sets.to_vec(),
            hierarchies: has_hierarchies.then(|| examples.join("hierarchies")),
        })
        .collect();
    for (kind, options) in SYNTHETIC {
        let table = folder.join(format!("{kind}.csv"));
        generate(folder, kind, &table, options)?;
        let all = if kind == "census" { PEOPLE } else { CODES };
        for n in 2..=4 {
            let name = format!("{kind}, {n} sets");
            let (table, sets) = (table.clone(), all[..n].to_vec());
            cases.push(Case { name, table, sets, hierarchies: None });
        }
    }
    Ok(cases)
}

/// The job file of a case.
fn job(case: &Case) -> String {
    let mut columns: Vec<&str> = case.sets.iter().flat_map(|set| set.split(',')).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut text = format!(
        "input = {:?}\noutput = \"release.csv\"\nundeclared = \"drop\"\n\n[columns]\n",
        case.table.display().to_string()
    );
    for column in columns {
        let more = match &case.hierarchies {
            Some(folder) => {
                let file = folder.join(format!("{column}.csv"));
                format!(", hierarchy = {:?}", file.display().to_string())
            }
            None if column == "education" && case.name.starts_with("Adult") => {
                format!(", order = [{EDUCATION}]")
            }
            None => String::new(),
        };
        let _ = writeln!(text, "{column} = {{ role = \"quasi\"{more} }}");
    }
    for (at, set) in case.sets.iter().enumerate() {
        let columns: Vec<String> = set.split(',').map(|column| format!("{column:?}")).collect();
        let columns = columns.join(", ");
        let _ = write!(text, "\n[[quasi]]\nname = \"set{}\"\ncolumns = [{columns}]\n", at + 1);
    }
    text
}

/// The least times of some runs.
fn best(folder: &Path, k: u64, way: &[&str], runs: usize) -> Result<Measured, Failure> {
    let mut best = measure(folder, k, way)?;
    for _ in 1..runs {
        let again = measure(folder, k, way)?;
        best.search = best.search.min(again.search);
        best.command = best.command.min(again.command);
    }
    Ok(best)
}

fn measure(folder: &Path, k: u64, way: &[&str]) -> Result<Measured, Failure> {
    let k = k.to_string();
    let args = ["anonymize", "--job", "job.toml", "-k", &k, "--report", "report.json"];
    let start = now();
    run(folder, &[&args[..], &["--quiet", "--force"], way].concat())?;
    let command = start.elapsed().as_secs_f64();
    let report = std::fs::read_to_string(folder.join("report.json"))?;
    let report: serde_json::Value = serde_json::from_str(&report)?;
    let number = |value: &serde_json::Value, what: &str| {
        value.as_f64().ok_or_else(|| format!("no {what} in the report"))
    };
    Ok(Measured {
        loss: number(&report["measures"]["loss"], "loss")?,
        search: number(&report["search"]["elapsed_s"], "time")?,
        command,
        peak: number(&report["search"]["peak_memory_bytes"], "memory")?,
    })
}

fn generate(folder: &Path, kind: &str, table: &Path, options: &[&str]) -> Result<(), Failure> {
    let table = table.display().to_string();
    run(folder, &[&["generate", kind, "-o", &table, "--quiet", "--force"], options].concat())
}

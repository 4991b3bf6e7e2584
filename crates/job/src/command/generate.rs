//! `generate`: synthetic tables.

use std::path::Path;

use incrowd_engine::{Access, EngineError, Format, Staged, write_plain};
use incrowd_evaluate::synthetic::{Generator, ParameterError, agrawal, census, skewed, uniform};

use crate::flow::outputs::output_problems;
use crate::flow::run::{Run, Stage};
use crate::spec::InputFile;
use crate::spec::error::{JobError, Problem, nearest};

/// What to generate. Parameters that are not given have the defaults of their kind.
#[derive(Clone, Debug, Default)]
pub struct GenerateSpec {
    /// `uniform`, `skewed`, `agrawal` or `census`.
    pub kind: String,
    /// Where the table goes.
    pub output: String,
    /// Rows: `10000`, `10_000`, `1e6` or `10M` (default 10,000).
    pub rows: Option<String>,
    /// What the rows are drawn from (default 0).
    pub seed: Option<u64>,
    /// Columns of a uniform or skewed table (default 5).
    pub attributes: Option<usize>,
    /// Values of each column of a uniform or skewed table (default 8).
    pub cardinality: Option<u32>,
    /// The mean of a skewed table, in codes (default: the centre).
    pub mean: Option<f64>,
    /// The standard deviation of a skewed table, as a share of the range (default 0.2).
    pub deviation: Option<f64>,
    /// The label functions of an agrawal table, 1 to 10 (default 2).
    pub functions: Vec<u8>,
    /// Whether the constants of an agrawal table's functions are drawn from the seed.
    pub vary_constants: bool,
    /// Threads (default: all cores); the table does not depend on them.
    pub threads: Option<usize>,
    /// Whether an existing file is replaced.
    pub force: bool,
}

/// What was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: usize,
    /// How labels were given.
    pub labels: Vec<LabelRule>,
}

/// When a row has the label `A`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRule {
    /// The column.
    pub column: String,
    /// The condition.
    pub condition: String,
}

const KINDS: [&str; 4] = ["uniform", "skewed", "agrawal", "census"];
const DEFAULT_ROWS: u64 = 10_000;
const MOST_ROWS: u64 = 1_000_000_000_000;

/// Generates a table and publishes it at once or not at all.
pub fn generate(run: &Run, spec: &GenerateSpec) -> Result<Generated, JobError> {
    incrowd_engine::refuse_address(&spec.output)?;
    let log: Vec<InputFile> = run.log_file().into_iter().collect();
    let (generator, n_rows, format) = checked(spec, &log)?;
    run.with_engine(spec.threads, |engine| {
        run.enter(Stage::Write);
        let staged = Staged::new(Path::new(&spec.output), Access::Shared)?;
        write_plain(engine, n_rows, |rows| generator.rows(rows), &staged, format)?;
        staged.flush()?;
        let go_on = || run.go_on().map_err(|_| EngineError::Cancelled);
        incrowd_engine::publish(vec![staged], None, spec.force, go_on)?;
        let columns = generator.rows(0..0).columns.len();
        Ok(Generated { rows: n_rows, columns, labels: labels(&generator) })
    })
}

fn labels(generator: &Generator) -> Vec<LabelRule> {
    let Generator::Agrawal(table) = generator else { return Vec::new() };
    let rule = |function: &agrawal::Function| LabelRule {
        column: table.label_name(function),
        condition: function.to_string(),
    };
    table.functions().iter().map(rule).collect()
}

/// The table, its rows and its format, or all that is wrong with the request.
fn checked(
    spec: &GenerateSpec,
    inputs: &[InputFile],
) -> Result<(Generator, u64, Format), JobError> {
    let mut problems = Vec::new();
    let rows = match spec.rows.as_deref().map_or(Ok(DEFAULT_ROWS), parse_rows) {
        Ok(rows) => Some(rows),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    refuse_foreign(spec, &mut problems);
    let generator = match generator(spec) {
        Ok(generator) => Some(generator),
        Err(more) => {
            problems.extend(more);
            None
        }
    };
    let output = Path::new(&spec.output);
    let format = match Format::of_output(output) {
        Ok(format) => Some(format),
        Err(error) => {
            let help = "name it .csv, .tsv or .jsonl (also with .gz or .zst), .parquet or .arrow";
            problems.push(Problem::new(error.to_string()).help(help));
            None
        }
    };
    problems.extend(output_problems(&[&spec.output], inputs, spec.force));
    match (generator, rows, format) {
        (Some(generator), Some(rows), Some(format)) if problems.is_empty() => {
            Ok((generator, rows, format))
        }
        _ => Err(JobError::Request(problems)),
    }
}

/// `1000`, `1_000`, `1e6`, `2.5k`, `10M`, `1G`.
fn parse_rows(text: &str) -> Result<u64, Problem> {
    let wrong = || {
        Problem::new(format!("rows must be 1 to {MOST_ROWS}, found `{text}`"))
            .help("write 1000, 1_000, 1e6 or 10M")
    };
    let plain = text.trim().replace('_', "");
    let units = [('k', 1e3), ('K', 1e3), ('m', 1e6), ('M', 1e6), ('g', 1e9), ('G', 1e9)];
    let (number, scale) = units
        .iter()
        .find_map(|(unit, scale)| Some((plain.strip_suffix(*unit)?, *scale)))
        .unwrap_or((&plain, 1.0));
    let rows = number.parse::<f64>().map_err(|_| wrong())? * scale;
    let is_right = rows.fract() == 0.0 && (1.0..=MOST_ROWS as f64).contains(&rows);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    if is_right { Ok(rows as u64) } else { Err(wrong()) }
}

/// A parameter of another kind would have no effect; whoever gave it expects one.
fn refuse_foreign(spec: &GenerateSpec, problems: &mut Vec<Problem>) {
    let (codes, skewed, agrawal) = (["uniform", "skewed"], ["skewed"], ["agrawal"]);
    let given: [(&str, bool, &[&str]); 6] = [
        ("attributes", spec.attributes.is_some(), &codes),
        ("cardinality", spec.cardinality.is_some(), &codes),
        ("mean", spec.mean.is_some(), &skewed),
        ("deviation", spec.deviation.is_some(), &skewed),
        ("function", !spec.functions.is_empty(), &agrawal),
        ("vary-constants", spec.vary_constants, &agrawal),
    ];
    let is_known = KINDS.contains(&spec.kind.as_str());
    for (name, is_given, kinds) in given {
        if is_given && is_known && !kinds.contains(&spec.kind.as_str()) {
            let problem =
                Problem::new(format!("`{name}` does not apply to a table of kind {}", spec.kind));
            problems.push(problem.help(format!("leave it out; it is for {}", kinds.join(" and "))));
        }
    }
}

fn generator(spec: &GenerateSpec) -> Result<Generator, Vec<Problem>> {
    let seed = spec.seed.unwrap_or(0);
    let made = match spec.kind.as_str() {
        "uniform" => {
            let default = uniform::Config::default();
            uniform::UniformTable::new(uniform::Config {
                attributes: spec.attributes.unwrap_or(default.attributes),
                cardinality: spec.cardinality.unwrap_or(default.cardinality),
                seed,
            })
            .map(Generator::Uniform)
        }
        "skewed" => {
            let default = skewed::Config::default();
            skewed::SkewedTable::new(skewed::Config {
                attributes: spec.attributes.unwrap_or(default.attributes),
                cardinality: spec.cardinality.unwrap_or(default.cardinality),
                mean: spec.mean,
                deviation: spec.deviation.unwrap_or(default.deviation),
                seed,
            })
            .map(Generator::Skewed)
        }
        "agrawal" => {
            let default = agrawal::Config::default().functions;
            let functions =
                if spec.functions.is_empty() { default } else { spec.functions.clone() };
            let vary_constants = spec.vary_constants;
            agrawal::AgrawalTable::new(agrawal::Config { functions, vary_constants, seed })
                .map(Generator::Agrawal)
        }
        "census" => {
            Ok(Generator::Census(Box::new(census::CensusTable::new(&census::Config { seed }))))
        }
        other => {
            let problem = Problem::new(format!("`{other}` is not a kind of table"));
            let help = match nearest(other, KINDS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("kinds are {}", KINDS.join(", ")),
            };
            return Err(vec![problem.help(help)]);
        }
    };
    made.map_err(|errors| errors.iter().map(parameter_problem).collect())
}

fn parameter_problem(error: &ParameterError) -> Problem {
    let problem = Problem::new(error.to_string());
    match error {
        ParameterError::Mean { .. } => {
            problem.help("the mean is counted in codes; leave it out for the centre")
        }
        ParameterError::Deviation { .. } => {
            problem.help("it is a share of the range: 0.2 of 50 values is 10 codes")
        }
        ParameterError::Function { .. } => problem.help("e.g. --function 2 or --function 2,4,7"),
        ParameterError::FunctionTwice { .. } => problem.help("name it once"),
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_can_be_written_short() {
        for (text, rows) in [
            ("1", 1),
            ("1000", 1000),
            ("1_000", 1000),
            ("1e6", 1_000_000),
            ("10M", 10_000_000),
            ("2.5k", 2500),
            ("1G", 1_000_000_000),
            (" 12 ", 12),
        ] {
            assert_eq!(parse_rows(text), Ok(rows), "{text}");
        }
        for text in ["", "0", "-1", "1.5", "many", "M", "1e13", "nan", "inf", "1 000", "0.3"] {
            assert!(parse_rows(text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let spec = GenerateSpec {
            kind: "uniform".to_owned(),
            output: "nowhere/table.xyz".to_owned(),
            rows: Some("few".to_owned()),
            cardinality: Some(0),
            functions: vec![2],
            ..GenerateSpec::default()
        };
        let Err(JobError::Request(problems)) = checked(&spec, &[]) else { panic!("not refused") };
        let said: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(said.len(), 5, "{said:?}");
        assert!(said.contains(&"`function` does not apply to a table of kind uniform"));
        let near = GenerateSpec { kind: "skewd".to_owned(), ..GenerateSpec::default() };
        let Err(JobError::Request(problems)) = checked(&near, &[]) else { panic!("not refused") };
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `skewed`?"));
    }
}

//! `generate`: synthetic tables.

use clap::Args;
use incrowd_job::{GenerateSpec, JobError, LabelRule, Run};
use serde_json::json;

use crate::args::LogArgs;
use crate::message;
use crate::print::print_object;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct GenerateArgs {
    /// uniform or skewed (columns of codes), agrawal (loan applicants with class labels), census
    /// (people)
    pub(crate) kind: String,
    /// The table (.csv, .tsv, .parquet, .arrow or .jsonl; text also as .gz or .zst)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Rows, e.g. 1000, 1e6 or 10M (default 10,000)
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<String>,
    /// What the rows are drawn from (default 0)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// uniform, skewed: columns (default 5)
    #[arg(long, value_name = "N")]
    pub(crate) attributes: Option<usize>,
    /// uniform, skewed: values of each column (default 8)
    #[arg(long, value_name = "C")]
    pub(crate) cardinality: Option<u32>,
    /// skewed: the mean in codes (default: the centre)
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    pub(crate) mean: Option<f64>,
    /// skewed: the standard deviation as a share of the range (default 0.2)
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true)]
    pub(crate) deviation: Option<f64>,
    /// agrawal: the label functions, 1 to 10, a column each (default 2)
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub(crate) function: Vec<u8>,
    /// agrawal: draw the constants of functions 2 to 6 from the seed
    #[arg(long)]
    pub(crate) vary_constants: bool,
    /// Threads (default: all cores); the table does not depend on them
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON: what the table is like
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(run: &Run, args: &GenerateArgs) -> Result<u8, JobError> {
    let spec = GenerateSpec {
        kind: args.kind.clone(),
        output: args.output.clone(),
        rows: args.rows.clone(),
        seed: args.seed,
        attributes: args.attributes,
        cardinality: args.cardinality,
        mean: args.mean,
        deviation: args.deviation,
        functions: args.function.clone(),
        vary_constants: args.vary_constants,
        threads: args.threads,
        force: args.force,
    };
    let progress = Progress::start(run, args.quiet);
    let generated = incrowd_job::generate(run, &spec)?;
    drop(progress);
    if args.json {
        let label = |rule: &LabelRule| json!({ "column": rule.column, "a_if": rule.condition });
        return print_object(&json!({
            "incrowd": incrowd_job::VERSION,
            "output": args.output,
            "rows": generated.rows,
            "columns": generated.columns,
            "labels": generated.labels.iter().map(label).collect::<Vec<_>>(),
        }));
    }
    if !args.quiet {
        for label in &generated.labels {
            message::note(&format!("{} is A if {}", label.column, label.condition));
        }
        let rows = message::count(generated.rows);
        let columns = generated.columns;
        message::note(&format!("written: {} ({rows} rows, {columns} columns)", args.output));
    }
    Ok(0)
}

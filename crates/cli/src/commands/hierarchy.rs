//! `hierarchy`: build, check and show hierarchies.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use incrowd_job::hierarchy::{Coverage, Loaded};
use incrowd_job::{
    BuiltSpec, InputFile, JobError, Level, Run, SmallFile, hierarchy, refuse_outputs,
};
use serde_json::{Value, json};

use crate::args::LogArgs;
use crate::failure::Failure;
use crate::print::print_object;
use crate::{message, terminal};

#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyCommand {
    /// Build a hierarchy from the values of a column, or from a declared order
    Make(Box<MakeArgs>),
    /// Test a hierarchy: form, nesting, one root, and with a table whether every value is covered
    Check {
        /// The hierarchy
        file: PathBuf,
        /// A table whose values it should cover
        #[arg(long, requires = "column")]
        input: Option<String>,
        /// The column
        #[arg(long, requires = "input")]
        column: Option<String>,
        #[command(flatten)]
        log: LogArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a hierarchy as a tree
    Show {
        /// The hierarchy
        file: PathBuf,
        /// Children shown of each node
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: usize,
        /// Print JSON: all of it
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("way").required(true).args(["width", "mask", "dates", "fan_out"])))]
pub(crate) struct MakeArgs {
    /// The table that has the column
    #[arg(required_unless_present = "order")]
    pub(crate) input: Option<String>,
    /// The column
    #[arg(long, required_unless_present = "order")]
    pub(crate) column: Option<String>,
    /// Intervals of this width
    #[arg(long, value_name = "W")]
    pub(crate) width: Option<f64>,
    /// Where intervals are counted from (default: 0)
    #[arg(long, value_name = "X", requires = "width", allow_negative_numbers = true)]
    pub(crate) origin: Option<f64>,
    /// How many neighbours each further level joins (default: 2, until one is left)
    #[arg(long, value_name = "N,N", value_delimiter = ',', requires = "width")]
    pub(crate) levels: Option<Vec<u32>>,
    /// Hide one more character a level, from the left or the right
    #[arg(long, value_name = "SIDE")]
    pub(crate) mask: Option<String>,
    /// The character that hides
    #[arg(long, value_name = "C", requires = "mask")]
    pub(crate) character: Option<char>,
    /// Parts of dates: day, week, month, quarter, year, decade, century
    #[arg(long, value_name = "P,P", value_delimiter = ',')]
    pub(crate) dates: Option<Vec<String>>,
    /// Join this many neighbours a level, in the order of the values
    #[arg(long, value_name = "N")]
    pub(crate) fan_out: Option<usize>,
    /// The values in their order (with --fan-out, instead of a table)
    #[arg(long, value_name = "V,V", value_delimiter = ',', requires = "fan_out", conflicts_with_all = ["input", "column"])]
    pub(crate) order: Option<Vec<String>>,
    /// Where the hierarchy goes (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON: the hierarchy, unless it goes to a file
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(run: &Run, command: &HierarchyCommand) -> Result<u8, JobError> {
    match command {
        HierarchyCommand::Make(args) => make(run, args),
        HierarchyCommand::Show { file, most, json } => {
            let loaded = hierarchy::from_file(file)?;
            if *json {
                return print_object(&object(&loaded, true));
            }
            terminal::text(&hierarchy::show(&loaded.hierarchy, *most)).map(|()| 0)
        }
        HierarchyCommand::Check { file, input, column, json, .. } => {
            let loaded = hierarchy::from_file(file)?;
            let levels: Vec<String> = levels(&loaded).iter().map(usize::to_string).collect();
            message::note(&format!(
                "`{}` is sound: {} leaves, height {}, nodes by level {}",
                file.display(),
                message::count(loaded.hierarchy.n_leaves().into()),
                loaded.hierarchy.height().0,
                levels.join(", ")
            ));
            let mut found = object(&loaded, false);
            let mut code = 0;
            if let (Some(input), Some(column)) = (input, column) {
                let coverage = hierarchy::coverage(run, &loaded, input, column)?;
                found["column"] = json!(column);
                found["values"] = json!(coverage.n_values);
                if let Some((values, rows, first)) = coverage.uncovered {
                    found["uncovered"] =
                        json!({ "values": values, "rows": rows, "first_row": first });
                }
                code = covers(&coverage, column);
            }
            if *json {
                print_object(&found)?;
            }
            Ok(code)
        }
    }
}

/// Says whether a hierarchy covers a column; gives the exit code.
fn covers(coverage: &Coverage, column: &str) -> u8 {
    let n_values = coverage.n_values;
    let Some((values, rows, first)) = coverage.uncovered else {
        message::note(&format!("it covers all {n_values} values of `{column}`"));
        return 0;
    };
    let message = format!(
        "{values} of {n_values} values of `{column}`, in {rows} rows, are not leaves; the first is \
         in data row {first}"
    );
    message::not_satisfied(vec![Failure { message, ..Failure::default() }]);
    message::EXIT_FAILED
}

/// By level, the number of nodes.
fn levels(loaded: &Loaded) -> Vec<usize> {
    let tree = &loaded.hierarchy;
    (0..=tree.height().0).map(|level| tree.groups(Level(level)).len()).collect()
}

/// What a hierarchy is like, perhaps with its rows.
fn object(loaded: &Loaded, has_rows: bool) -> Value {
    let mut object = json!({
        "incrowd": incrowd_job::VERSION,
        "leaves": loaded.hierarchy.n_leaves(),
        "height": loaded.hierarchy.height().0,
        "nodes_by_level": levels(loaded),
    });
    if has_rows {
        object["rows"] = json!(loaded.rows);
    }
    object
}

fn make(run: &Run, args: &MakeArgs) -> Result<u8, JobError> {
    if let Some(output) = &args.output {
        let table = args.input.as_ref().filter(|_| args.order.is_none());
        let table = table.map(|table| InputFile::of_table(run, table, "the input"));
        refuse_outputs(run, &[output], table.transpose()?.unwrap_or_default(), args.force)?;
    }
    let loaded = match (&args.order, &args.input, &args.column) {
        (Some(order), ..) => hierarchy::make_ordered(order, args.fan_out.unwrap_or(2))?,
        (None, Some(input), Some(column)) => {
            let spec = BuiltSpec {
                mask: args.mask.clone(),
                character: args.character,
                dates: args.dates.clone(),
                width: args.width,
                origin: args.origin,
                levels: args.levels.clone(),
                fan_out: args.fan_out,
            };
            hierarchy::make(run, input, column, &spec)?
        }
        _ => unreachable!("clap asks for a table and a column, or an order"),
    };
    let text = hierarchy::to_text(&loaded.rows);
    if let Some(path) = &args.output {
        let path = path.to_string_lossy();
        incrowd_job::write_files(run, &[SmallFile::private(&path, &text)], args.force)?;
    }
    match (&args.output, args.json) {
        (output, true) => print_object(&object(&loaded, output.is_none())),
        (None, false) => terminal::file(&text).map(|()| 0),
        (Some(_), false) => Ok(0),
    }
}

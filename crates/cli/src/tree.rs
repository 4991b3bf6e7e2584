//! `hierarchy`: build, check and show hierarchies.

use incrowd_job::{
    BuiltSpec, InputFile, JobError, Level, Run, SmallFile,
    hierarchy::{self, Coverage, Loaded},
};
use serde_json::{Value, json};

use crate::args::{HierarchyCommand, MakeArgs};
use crate::commands::{print_object, refuse_outputs};
use crate::record::Told;
use crate::{message, terminal};

pub(crate) fn hierarchy(run: &Run, command: &HierarchyCommand) -> Result<u8, JobError> {
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
    message::not_satisfied(vec![Told { message, ..Told::default() }]);
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

//! What each command does with the facade.

use std::path::Path;
use std::sync::Arc;

use clap::CommandFactory;
use incrowd_job::{
    ApplyOptions, ColumnSpec, Connector, DiversitySpec, GenerateSpec, HierarchySpec, InputFile,
    JobError, JobSpec, LabelRule, LevelSpec, Outcome, Problem, QuasiSpec, QuerySpec, Report, Run,
    RunSpec, SuppressLimit, ValueLimit,
};
use serde_json::{Value, json};

use crate::args::{
    AnonymizeArgs, ApplyArgs, CheckArgs, Cli, Command, GenerateArgs, JobArgs, KOfSet, MachineArgs,
    SearchArgs,
};
use crate::progress::Progress;
use crate::{
    attack, compare, demo, evaluate, log, message, orders, profile, query, record, signals,
    terminal, tree,
};

/// Runs a command of the binary `name`; gives the exit code.
pub(crate) fn run(cli: Cli, name: &str, connector: Option<Arc<dyn Connector>>) -> u8 {
    let run = match cli.force_files {
        Some(n) => Run::default().forced_into_files(n),
        None => Run::default(),
    };
    let run = match connector {
        Some(connector) => run.with_connector(connector),
        None => run,
    };
    signals::watch(&run);
    let logged = match cli.command.log() {
        Some((args, is_quiet)) => log::begin(run.clone(), cli.command.name(), args, is_quiet),
        None => Ok(run.clone()),
    };
    let result = match logged {
        Ok(run) => command(&run, cli.command, name),
        Err(problem) => Err(problem.into()),
    };
    // A run that is being taken down may fail in any way.
    let result =
        result.map_err(|error| if run.is_cancelled() { JobError::Cancelled } else { error });
    let code = result.unwrap_or_else(|error| message::error(&error));
    log::end(code, run.progress().1);
    code
}

fn command(run: &Run, command: Command, name: &str) -> Result<u8, JobError> {
    match command {
        Command::Profile(args) => profile::profile(run, &args),
        Command::Anonymize(args) => anonymize(run, &args),
        Command::Check(args) => check(run, &args),
        Command::Compare(args) => compare::run(run, &args),
        Command::Evaluate(args) => evaluate::run(run, &args),
        Command::Apply(args) => apply(run, &args),
        Command::Query(args) => query::query(run, &args),
        Command::Attack(args) => attack::attack(run, &args),
        Command::Hierarchy(command) => tree::hierarchy(run, &command),
        Command::Generate(args) => generate(run, &args),
        Command::Demo { folder, json } => demo::demo(run, &folder, json),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), name, &mut text);
            terminal::file(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
        Command::Man => {
            let mut text = Vec::new();
            let _ = clap_mangen::Man::new(Cli::command()).render(&mut text);
            terminal::file(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
    }
}

/// A run that prints its report before its files are published, where that is asked for.
fn telling(run: &Run, is_quiet: bool, print: Option<Print>) -> (Run, Arc<Progress>) {
    let progress = Arc::new(Progress::start(run, is_quiet));
    let Some(print) = print else { return (run.clone(), progress) };
    let shown = Arc::clone(&progress);
    let run = run.clone().telling(move |report| {
        shown.stop();
        print(report)
    });
    (run, progress)
}

/// Prints a report.
type Print = fn(&Report) -> Result<(), JobError>;

fn print_json(report: &Report) -> Result<(), JobError> {
    record::result(&report.to_json())
}

fn print_summary(report: &Report) -> Result<(), JobError> {
    let lines = message::summary(report);
    let line = |line: &String| format!("{}\n", message::visible(line));
    terminal::text(&lines.iter().map(line).collect::<String>())
}

/// Prints an effective job, which is not done.
pub(crate) fn print_job(spec: &JobSpec, is_json: bool) -> Result<u8, JobError> {
    if is_json {
        return print_object(&json!({ "incrowd": incrowd_job::VERSION, "job": spec }));
    }
    terminal::file(&spec.to_toml()).map(|()| 0)
}

/// Prints an object; the exit code if nothing else is to be said.
pub(crate) fn print_object(object: &Value) -> Result<u8, JobError> {
    let text = serde_json::to_string_pretty(object).expect("it has a JSON form");
    record::result(&(text + "\n")).map(|()| 0)
}

pub(crate) fn machine(args: &MachineArgs) -> RunSpec {
    RunSpec {
        threads: args.threads,
        memory_limit: args.memory_limit.clone(),
        temp_dir: args.temp_dir.clone(),
        engine: args.engine.clone(),
        ..RunSpec::default()
    }
}

fn anonymize(run: &Run, args: &AnonymizeArgs) -> Result<u8, JobError> {
    let mut spec = job(&args.job)?;
    set(&mut spec.input, args.input.as_ref());
    set(&mut spec.output, args.output.as_ref());
    set(&mut spec.report, args.report.as_ref());
    if args.report.as_ref().is_some_and(|path| !is_html(path)) {
        // What the job file says of its page does not hold for another report.
        (spec.audience, spec.picture) = (None, None);
    }
    set(&mut spec.audience, args.audience.as_ref());
    set(&mut spec.picture, args.picture.as_ref());
    set(&mut spec.recoding, args.recoding.as_ref());
    search(&args.search, &mut spec)?;
    set(&mut spec.run.node_limit, args.node_limit.as_ref());
    set(&mut spec.run.resume, args.resume.as_ref());
    set(&mut spec.search.start, args.start.as_ref());
    set(&mut spec.release.labels, args.labels.as_ref());
    set(&mut spec.release.suppressed, args.suppressed.as_ref());
    set(&mut spec.release.part_rows, args.part_rows.as_ref());
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let print = args.job.json.then_some(print_json as Print);
    let (run, progress) = telling(run, args.job.quiet, print);
    let outcome = incrowd_job::anonymize(&run, &spec, args.force)?;
    progress.stop();
    let code = message::outcome(&outcome, args.job.quiet);
    if let (Outcome::Done(done), false) = (&outcome, args.job.quiet) {
        for line in message::summary(&done.report) {
            message::note(&line);
        }
        message::note(&format!("written: {}", spec.output.as_deref().unwrap_or_default()));
    }
    Ok(code)
}

fn check(run: &Run, args: &CheckArgs) -> Result<u8, JobError> {
    let mut spec = job(&args.job)?;
    set(&mut spec.input, args.input.as_ref());
    spec.report.clone_from(&args.report);
    spec.audience.clone_from(&args.audience);
    spec.picture = None;
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let print = match (args.job.json, args.job.quiet) {
        (true, _) => Some(print_json as Print),
        (false, false) => Some(print_summary as Print),
        (false, true) => None,
    };
    let (run, progress) = telling(run, args.job.quiet, print);
    let outcome = incrowd_job::check(&run, &spec, args.force)?;
    progress.stop();
    Ok(message::outcome(&outcome, args.job.quiet))
}

fn apply(run: &Run, args: &ApplyArgs) -> Result<u8, JobError> {
    let options = ApplyOptions {
        input: args.input.clone(),
        output: args.output.clone(),
        report: args.report.clone(),
        audience: args.audience.clone(),
        picture: args.picture.clone(),
        undeclared: args.undeclared.clone(),
        k: args.k,
        unknown: args.unknown.clone(),
        suppress: args.suppress.clone().map(SuppressLimit::Text),
        suppressed: args.suppressed.clone(),
        part_rows: args.part_rows,
        unverified: args.unverified,
        force: args.force,
        run: machine(&args.machine),
    };
    let (run, progress) = telling(run, args.quiet, args.json.then_some(print_json as Print));
    let outcome = incrowd_job::apply(&run, &args.recoding, &options)?;
    progress.stop();
    let code = message::outcome(&outcome, args.quiet);
    if let (Outcome::Done(done), false) = (&outcome, args.quiet) {
        for line in message::summary(&done.report) {
            message::note(&line);
        }
        let found_with = done.report.recoding.as_ref().and_then(|recoding| recoding.found_with_k);
        if let (Some(found_with), Some(k)) = (found_with, args.k) {
            message::note(&format!(
                "the recoding was found with k = {found_with}, verified with {k}"
            ));
        }
        message::note(&format!("written: {}", args.output));
    }
    Ok(code)
}

fn is_html(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

fn set<T: Clone>(field: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        *field = Some(value.clone());
    }
}

/// How to search, over what the job file says.
pub(crate) fn search(args: &SearchArgs, spec: &mut JobSpec) -> Result<(), JobError> {
    set(&mut spec.search.algorithm, args.algorithm.as_ref());
    set(&mut spec.search.variant, args.variant.as_ref());
    set(&mut spec.search.measure, args.measure.as_ref());
    set(&mut spec.search.split, args.split.as_ref());
    set(&mut spec.search.seed, args.seed.as_ref());
    set(&mut spec.search.relaxed, args.relaxed.then_some(&true));
    set(&mut spec.run.time_limit, args.time_limit.as_ref());
    set(&mut spec.privacy.suppress, args.suppress.clone().map(SuppressLimit::Text).as_ref());
    workload(args, spec);
    preferences(args, spec)
}

/// What the release is for: flags replace what the job file says of the same kind.
fn workload(args: &SearchArgs, spec: &mut JobSpec) {
    if !args.select.is_empty() {
        spec.workload.select.clone_from(&args.select);
    }
    if !args.query.is_empty() || args.queries.is_some() {
        spec.workload.queries = args.query.iter().cloned().map(QuerySpec::Sql).collect();
        spec.workload.queries_file.clone_from(&args.queries);
    }
}

/// Levels and weights of columns.
fn preferences(args: &SearchArgs, spec: &mut JobSpec) -> Result<(), JobError> {
    let wrong = |flag: &str, form: &str| Problem {
        message: format!("--{flag} takes COLUMN={form}"),
        help: Some(format!("e.g. --{flag} age={form}")),
    };
    let mut seen = Vec::new();
    for item in args.levels.iter().flat_map(|items| items.split(',')) {
        let (column, levels) = item.split_once('=').ok_or_else(|| wrong("levels", "1..3"))?;
        let levels = LevelSpec::Range(levels.to_owned());
        refuse_twice(&mut seen, "levels", column)?;
        spec.search.levels.insert(column.to_owned(), levels);
    }
    for item in args.weights.iter().flat_map(|items| items.split(',')) {
        let (column, weight) = item.split_once('=').ok_or_else(|| wrong("weights", "2.5"))?;
        let weight = weight.trim().parse().map_err(|_| wrong("weights", "2.5"))?;
        refuse_twice(&mut seen, "weights", column)?;
        spec.search.weights.insert(column.to_owned(), weight);
    }
    Ok(())
}

/// A column that a flag names twice would have the last say win without a word.
pub(crate) fn refuse_twice<'a>(
    seen: &mut Vec<(&'static str, &'a str)>,
    flag: &'static str,
    column: &'a str,
) -> Result<(), Problem> {
    if seen.contains(&(flag, column)) {
        let message = format!("--{flag} names column `{column}` twice");
        return Err(Problem { message, help: Some("name it once".to_owned()) });
    }
    seen.push((flag, column));
    Ok(())
}

/// The job of the flags, over that of the job file.
pub(crate) fn job(args: &JobArgs) -> Result<JobSpec, JobError> {
    job_with(args, &args.k)
}

/// The same with other k.
pub(crate) fn job_with(args: &JobArgs, all_ks: &[KOfSet]) -> Result<JobSpec, JobError> {
    let mut spec = match &args.job {
        Some(path) => JobSpec::from_file(path)?,
        None => JobSpec::default(),
    };
    let mut problems = Vec::new();
    let roles = [
        ("identifier", &args.identifier),
        ("sensitive", &args.sensitive),
        ("insensitive", &args.insensitive),
    ];
    let mut named: Vec<(&str, &String)> = Vec::new();
    for (role, columns) in roles {
        for column in columns {
            add_role(&mut named, role, column, &mut problems);
            spec.columns.entry(column.clone()).or_default().role = Some(role.to_owned());
        }
    }
    quasi(args, &mut spec, &named, &mut problems);
    for (at, column) in args.target.iter().enumerate() {
        let earlier: Vec<(&str, &String)> = args.target[..at].iter().map(|c| ("", c)).collect();
        refuse_again("target", earlier.iter(), column, &mut problems);
        spec.columns.entry(column.clone()).or_default().target = true;
    }
    if let Some(column) = &args.entity {
        spec.columns.entry(column.clone()).or_default().entity = true;
    }
    hierarchies(args, &mut spec, &mut problems);
    orders::orders(args, &mut spec, &mut problems);
    models(args, &mut spec, &mut problems);
    ks(all_ks, &mut spec, &mut problems);
    set(&mut spec.privacy.preset, args.preset.as_ref());
    risk_limits(args, &mut spec, &mut problems);
    set(&mut spec.undeclared, args.undeclared.as_ref());
    set(&mut spec.missing, args.missing.as_ref());
    set(&mut spec.privacy.missing_sensitive, args.missing_sensitive.as_ref());
    set(&mut spec.run.threads, args.machine.threads.as_ref());
    set(&mut spec.run.memory_limit, args.machine.memory_limit.as_ref());
    set(&mut spec.run.temp_dir, args.machine.temp_dir.as_ref());
    set(&mut spec.run.engine, args.machine.engine.as_ref());
    if problems.is_empty() { Ok(spec) } else { Err(JobError::Request(problems)) }
}

fn add_role<'a>(
    named: &mut Vec<(&'a str, &'a String)>,
    role: &'a str,
    column: &'a String,
    problems: &mut Vec<Problem>,
) {
    if let Some((other, _)) = named.iter().find(|(other, name)| *name == column && *other != role) {
        problems.push(Problem {
            message: format!("column `{column}` is declared {other} and {role}"),
            help: Some("a column has one role".to_owned()),
        });
    }
    refuse_again(role, named.iter().filter(|(other, _)| *other == role), column, problems);
    named.push((role, column));
}

/// A column that a flag names twice is a slip: something else may have been meant.
fn refuse_again<'a>(
    flag: &str,
    mut earlier: impl Iterator<Item = &'a (&'a str, &'a String)>,
    column: &String,
    problems: &mut Vec<Problem>,
) {
    if earlier.any(|(_, name)| *name == column) {
        problems.push(Problem {
            message: format!("--{flag} names column `{column}` twice"),
            help: Some("name it once".to_owned()),
        });
    }
}

fn quasi(
    args: &JobArgs,
    spec: &mut JobSpec,
    named: &[(&str, &String)],
    problems: &mut Vec<Problem>,
) {
    let has_sets = args.quasi.len() > 1 || args.quasi.iter().any(|text| text.contains('='));
    let mut sets = Vec::new();
    for (at, text) in args.quasi.iter().enumerate() {
        let (name, columns) = match text.split_once('=') {
            Some((name, columns)) => (Some(name.trim()), columns),
            None => (None, text.as_str()),
        };
        let columns = names(columns);
        // The job says what is wrong with its sets.
        for (at, column) in columns.iter().enumerate().filter(|_| !has_sets) {
            let earlier: Vec<(&str, &String)> =
                columns[..at].iter().map(|c| ("quasi", c)).collect();
            refuse_again("quasi", earlier.iter(), column, problems);
        }
        for column in &columns {
            match named.iter().find(|(_, known)| *known == column) {
                // The job says which sets it is in, with all else that is wrong with them.
                Some(_) if has_sets => {}
                Some((other, _)) => problems.push(Problem {
                    message: format!("column `{column}` is declared {other} and quasi"),
                    help: Some("a column has one role".to_owned()),
                }),
                // Nor is a column of a set made quasi that the file says to be something else.
                None if has_sets && spec.columns.get(column).is_some_and(|c| c.role.is_some()) => {}
                None => {
                    spec.columns.entry(column.clone()).or_default().role = Some("quasi".to_owned());
                }
            }
        }
        let name = name.map_or_else(|| format!("set{}", at + 1), str::to_owned);
        // A set that the file has too keeps its k.
        let k = spec.quasi.iter().find(|set| set.name == name).and_then(|set| set.k);
        sets.push(QuasiSpec { name, columns, k, ..QuasiSpec::default() });
    }
    if has_sets {
        spec.quasi = sets;
    } else if !args.quasi.is_empty() {
        spec.quasi.clear();
    }
    if !args.collude.is_empty() {
        spec.collude = args.collude.iter().map(|text| names(text)).collect();
    }
}

/// Names with commas between them.
fn names(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The k of all sets and those of some.
fn ks(all: &[KOfSet], spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    for (at, KOfSet { set: name, k }) in all.iter().enumerate() {
        // However often it is said, this is told once.
        if all[..at].iter().filter(|other| other.set == *name).count() == 1 {
            let what =
                name.as_ref().map_or_else(String::new, |name| format!(" for the set `{name}`"));
            problems.push(Problem {
                message: format!("-k is given more than once{what}"),
                help: Some("give -k N once, and -k SET=N once for each set".to_owned()),
            });
        }
        problems.extend(spec.ask_for_k(name.as_deref(), *k).err());
    }
}

/// The risks that are allowed.
fn risk_limits(args: &JobArgs, spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    for text in &args.fail_above {
        let limit = text.split_once('=').and_then(|(risk, most)| {
            Some((risk.trim().to_owned(), most.trim().parse::<f64>().ok()?))
        });
        match limit {
            Some((risk, most)) => {
                spec.privacy.fail_above.insert(risk, most);
            }
            None => problems.push(Problem {
                message: format!("--fail-above `{text}` is not a risk and its limit"),
                help: Some("write --fail-above prosecutor=0.09".to_owned()),
            }),
        }
    }
}

fn hierarchies(args: &JobArgs, spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    let mut seen = Vec::new();
    for text in &args.hierarchy {
        match text.split_once('=') {
            Some((column, file)) => {
                problems.extend(refuse_twice(&mut seen, "hierarchy", column).err());
                let column: &mut ColumnSpec = spec.columns.entry(column.to_owned()).or_default();
                column.hierarchy = Some(HierarchySpec::File(file.to_owned()));
            }
            None => problems.push(Problem {
                message: format!("--hierarchy needs COL=FILE, found `{text}`"),
                help: Some("write --hierarchy zip=zip.csv".to_owned()),
            }),
        }
    }
}

fn models(args: &JobArgs, spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    let wrong = |flag: &str, form: &str| Problem {
        message: format!("--{flag} is not of the form {form}"),
        help: None,
    };
    for text in &args.l_diversity {
        match diversity(text) {
            Some(diversity) => spec.privacy.l_diversity.push(diversity),
            None => {
                problems.push(wrong("l-diversity", "[COL=]distinct:3, entropy:3 or recursive:4,3"));
            }
        }
    }
    let limits = [
        ("t-closeness", &args.t_closeness, &mut spec.privacy.t_closeness),
        ("squared-error", &args.squared_error, &mut spec.privacy.squared_error),
    ];
    for (flag, texts, list) in limits {
        for text in texts {
            let (column, value) = column_and(text);
            match value.parse() {
                Ok(value) => list.push(ValueLimit { column, value }),
                Err(_) => problems.push(wrong(flag, "[COL=]NUMBER")),
            }
        }
    }
}

fn column_and(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once('=') {
        Some((column, value)) => (Some(column.to_owned()), value),
        None => (None, text),
    }
}

fn diversity(text: &str) -> Option<DiversitySpec> {
    let (column, form) = column_and(text);
    let (name, value) = form.split_once(':')?;
    let mut spec = DiversitySpec { column, ..DiversitySpec::default() };
    match name {
        "distinct" => spec.distinct = Some(value.parse().ok()?),
        "entropy" => spec.entropy = Some(value.parse().ok()?),
        "recursive" => {
            let (c, l) = value.split_once(',')?;
            spec.recursive = Some((c.trim().parse().ok()?, l.trim().parse().ok()?));
        }
        _ => return None,
    }
    Some(spec)
}

/// Refuses a report that is neither JSON nor HTML, or cannot be written; whether it is HTML.
pub(crate) fn refuse_report(
    run: &Run,
    what: &str,
    path: &str,
    spec: &JobSpec,
    force: bool,
) -> Result<bool, JobError> {
    let is_html = path.to_ascii_lowercase().ends_with(".html");
    if !is_html && !path.to_ascii_lowercase().ends_with(".json") {
        let message = format!("{what} is a .json or .html file, found `{path}`");
        return Err(Problem { message, help: Some("name it .json or .html".to_owned()) }.into());
    }
    let mut inputs = InputFile::of_job(spec);
    if let Some(input) = &spec.input {
        inputs.extend(InputFile::of_table(run, input, "the input")?);
    }
    refuse_outputs(run, &[path], inputs, force)?;
    Ok(is_html)
}

/// Refuses outputs that cannot be written, are the same, or are files that the command reads.
pub(crate) fn refuse_outputs(
    run: &Run,
    outputs: &[impl AsRef<Path>],
    mut inputs: Vec<InputFile>,
    force: bool,
) -> Result<(), JobError> {
    inputs.extend(run.log_file());
    let names: Vec<String> =
        outputs.iter().map(|path| path.as_ref().to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let problems = incrowd_job::output_problems(&names, &inputs, force);
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

fn generate(run: &Run, args: &GenerateArgs) -> Result<u8, JobError> {
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

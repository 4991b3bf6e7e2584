//! From flags to a job: what they say goes over what the job file says.

use incrowd_job::{
    BinsSpec, ColumnSpec, CountedBins, DiversitySpec, HierarchySpec, JobError, JobSpec, LevelSpec,
    Problem, QuasiSpec, QuerySpec, RunSpec, SuppressLimit, ValueLimit,
};

use crate::args::{JobArgs, KOfSet, MachineArgs, SearchArgs};

pub(crate) fn machine(args: &MachineArgs) -> RunSpec {
    RunSpec {
        threads: args.threads,
        memory_limit: args.memory_limit.clone(),
        temp_dir: args.temp_dir.clone(),
        engine: args.engine.clone(),
        ..RunSpec::default()
    }
}

pub(crate) fn set<T: Clone>(field: &mut Option<T>, value: Option<&T>) {
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
    orders(args, &mut spec, &mut problems);
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

/// Orders that are taken from hierarchies, and bins.
pub(crate) fn orders(args: &JobArgs, spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    let wrong = |flag: &str, form: &str, text: &str| Problem {
        message: format!("--{flag} needs {form}, found `{text}`"),
        help: None,
    };
    let mut seen = Vec::new();
    for text in &args.order_from {
        match text.split_once('=') {
            Some((column, file)) => {
                problems.extend(refuse_twice(&mut seen, "order-from", column).err());
                let column: &mut ColumnSpec = spec.columns.entry(column.to_owned()).or_default();
                column.order_from = Some(file.to_owned());
            }
            None => problems.push(wrong("order-from", "COL=FILE", text)),
        }
    }
    for text in &args.bins {
        let parsed = text.split_once('=').and_then(|(column, bins)| Some((column, bins_of(bins)?)));
        match parsed {
            Some((column, bins)) => {
                problems.extend(refuse_twice(&mut seen, "bins", column).err());
                let column: &mut ColumnSpec = spec.columns.entry(column.to_owned()).or_default();
                column.bins = Some(bins);
            }
            None => problems.push(wrong("bins", "COL=WIDTH[,ORIGIN]", text)),
        }
    }
}

/// `5`, or `5,17`.
fn bins_of(text: &str) -> Option<BinsSpec> {
    let (width, origin) = text.split_once(',').unwrap_or((text, "0"));
    let [width, origin] = [width, origin].map(|number| number.trim().parse().ok());
    Some(BinsSpec::From(CountedBins { width: width?, origin: origin? }))
}

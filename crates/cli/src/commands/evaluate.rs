//! `evaluate`: how good models are that are trained on the release, as text, JSON or one HTML file.

use clap::Args;
use incrowd_job::{
    DifferenceReport, EvaluateOptions, EvaluatedCase, Evaluation, Evaluations, Figure, FileReport,
    JobError, ReportFile, Run, TargetReport, evaluate_all,
};

use crate::args::{JobArgs, KOfSet, SearchArgs};
use crate::message::visible;
use crate::print::print_job;
use crate::progress::Progress;
use crate::spec::{job_with, search};
use crate::{message, record, terminal};

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A file, a folder or a glob
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Hold out every row once, in this many folds (default 10)
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<u32>,
    /// Hold out this share of the rows once, instead of folds
    #[arg(long, value_name = "SHARE", conflicts_with = "folds")]
    pub(crate) test: Option<f64>,
    /// How often rows are held out so, each time others (default 1)
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<u32>,
    /// Try several algorithms on the same held-out rows, named as for compare:
    /// mondrian,mondrian:infogain,tds
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) algorithms: Vec<String>,
    /// Models: decision-tree, naive-bayes, random-forest, linear-svm for labels; linear-regression,
    /// regression-tree for numbers; or all (default: the first two of each)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Further columns that models shall predict, which the search does not look at
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) predict: Vec<String>,
    /// Also drop the best predictors one by one
    #[arg(long)]
    pub(crate) projections: bool,
    /// Write the evaluation; as HTML with a curve over k
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(run: &Run, args: &EvaluateArgs) -> Result<u8, JobError> {
    let (all, of_sets): (Vec<KOfSet>, Vec<KOfSet>) =
        args.job.k.iter().cloned().partition(|k| k.set.is_none());
    // One k is the job's; several make a curve.
    let given = if all.len() > 1 { &of_sets } else { &args.job.k };
    let mut spec = job_with(&args.job, given)?;
    if args.input.is_some() {
        spec.input.clone_from(&args.input);
    }
    search(&args.search, &mut spec)?;
    let report = args.report.as_deref();
    let report =
        report.map(|path| ReportFile::of_job(run, "an evaluation", path, &spec, args.force));
    let report = report.transpose()?;
    if args.job.print_job {
        return print_job(&spec, args.job.json);
    }
    let options = EvaluateOptions {
        folds: args.folds,
        test: args.test,
        repeats: args.repeats,
        models: args.models.clone(),
        predict: args.predict.clone(),
        projections: args.projections,
        algorithms: args.algorithms.clone(),
        ks: if all.len() > 1 { all.iter().map(|k| k.k).collect() } else { Vec::new() },
    };
    let progress = Progress::start(run, args.job.quiet);
    let found = evaluate_all(run, &spec, &options)?;
    drop(progress);
    if args.job.json {
        record::result(&found.to_json())?;
    } else {
        terminal::text(&text(&found))?;
    }
    if let Some(file) = report {
        file.write(run, FileReport::Evaluations(&found))?;
    }
    Ok(0)
}

/// The cases that were evaluated, by k.
fn found(all: &Evaluations) -> Vec<(&EvaluatedCase, &Evaluation)> {
    let cases = all.cases.iter().filter_map(|case| Some((case, case.found.as_ref()?)));
    let mut cases: Vec<(&EvaluatedCase, &Evaluation)> = cases.collect();
    cases.sort_by_key(|(case, _)| case.k);
    cases
}

/// What differs between cases: k, the algorithm, both or neither.
struct Names {
    has_k: bool,
    has_algorithm: bool,
}

impl Names {
    fn new(all: &Evaluations) -> Names {
        let differs = |of: &dyn Fn(&EvaluatedCase, &EvaluatedCase) -> bool| {
            all.cases.windows(2).any(|two| of(&two[0], &two[1]))
        };
        Names {
            has_k: differs(&|a, b| a.k != b.k),
            has_algorithm: differs(&|a, b| a.algorithm != b.algorithm),
        }
    }

    fn header(&self) -> Vec<String> {
        let mut names = Vec::new();
        names.extend(self.has_k.then(|| "k".to_owned()));
        names.extend(self.has_algorithm.then(|| "algorithm".to_owned()));
        names
    }

    fn of(&self, k: u64, algorithm: &str) -> Vec<String> {
        let mut names = Vec::new();
        names.extend(self.has_k.then(|| k.to_string()));
        names.extend(self.has_algorithm.then(|| algorithm.to_owned()));
        names
    }

    /// An aligned table: these columns, one of names, and numbers.
    fn table(&self, rows: &[Vec<String>]) -> String {
        let n_names = usize::from(self.has_k) + usize::from(self.has_algorithm);
        let n_columns = rows.first().map_or(0, Vec::len);
        let k = self.has_k.then_some(0);
        let right: Vec<usize> = k.into_iter().chain(n_names + 1..n_columns).collect();
        message::table(rows, &right)
    }
}

fn is_scattered(all: &Evaluations) -> bool {
    all.protocol.folds * all.protocol.repeats > 1
}

fn number(figure: &Figure, is_scattered: bool) -> String {
    let mean = format!("{:.4}", figure.mean);
    if is_scattered { format!("{mean} ± {:.4}", figure.deviation) } else { mean }
}

fn text(all: &Evaluations) -> String {
    let names = Names::new(all);
    let cases = found(all);
    let mut text = opening(all);
    if let [(_, one)] = cases[..] {
        let release = &one.release;
        text.push_str(&format!(
            "; training releases: {:.0} classes of {:.1} rows, loss {:.3}",
            release.classes, release.class_size, release.loss
        ));
    }
    text.push('\n');
    text.push_str(&predictors(all));
    if cases.len() > 1 {
        text.push_str(&releases(&cases, &names));
    }
    text.push_str(&failures(all));
    let n_targets = cases.first().map_or(0, |(_, one)| one.targets.len());
    for at in 0..n_targets {
        let of_target: Vec<(&EvaluatedCase, &TargetReport)> =
            cases.iter().map(|(case, one)| (*case, &one.targets[at])).collect();
        text.push_str(&target(all, &of_target, &names));
    }
    text.push_str(&selections(&cases, &names));
    if n_targets > 0 {
        text.push_str(&format!("\ndifferences: 95% interval and p, {}\n", all.protocol.test));
    }
    text
}

/// Cases that were not evaluated: an algorithm that fails for several k alike has one line.
fn failures(all: &Evaluations) -> String {
    let mut failed: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for case in &all.cases {
        let Some(reason) = &case.failed else { continue };
        let is_alike = |one: &&mut (&str, &str, Vec<String>)| {
            one.0 == case.algorithm && one.1 == reason.as_str()
        };
        match failed.iter_mut().find(is_alike) {
            Some((_, _, ks)) => ks.push(case.k.to_string()),
            None => failed.push((&case.algorithm, reason, vec![case.k.to_string()])),
        }
    }
    let line = |(algorithm, reason, ks): &(&str, &str, Vec<String>)| {
        let text = format!("left out: `{algorithm}`, k = {}: {reason}", ks.join(", "));
        format!("\n{}\n", visible(&text))
    };
    failed.iter().map(line).collect()
}

fn opening(all: &Evaluations) -> String {
    let protocol = &all.protocol;
    let (rows, held_out) =
        (message::count(protocol.rows as u64), message::count(protocol.held_out as u64));
    let way = match protocol.folds {
        1 => "one split".to_owned(),
        folds => format!("{folds} folds"),
    };
    let times = match protocol.repeats {
        1 => String::new(),
        repeats => format!(" {repeats} times"),
    };
    format!("{rows} rows, {way}{times}, {held_out} held out")
}

/// What models learn from.
fn predictors(all: &Evaluations) -> String {
    let list = |is_recoded: bool| {
        let of = all.predictors.iter().filter(|predictor| predictor.is_recoded == is_recoded);
        of.map(|predictor| predictor.column.as_str()).collect::<Vec<&str>>().join(", ")
    };
    let mut text = format!("predictors: {} (recoded)", list(true));
    let as_they_are = list(false);
    if !as_they_are.is_empty() {
        text.push_str(&format!(", {as_they_are} (as they are)"));
    }
    for left_out in &all.left_out {
        text.push_str(&format!("\nnot used: {}: {}", left_out.column, left_out.reason));
    }
    let shown = |line: &str| format!("{}\n", visible(line));
    text.lines().map(shown).collect()
}

fn releases(cases: &[(&EvaluatedCase, &Evaluation)], names: &Names) -> String {
    let mut header = names.header();
    header.extend(["classes", "rows per class", "loss", "suppressed"].map(str::to_owned));
    let mut rows = vec![header];
    for (case, one) in cases {
        let release = &one.release;
        let mut row = names.of(case.k, &case.algorithm);
        row.extend([
            format!("{:.0}", release.classes),
            format!("{:.1}", release.class_size),
            format!("{:.4}", release.loss),
            format!("{:.1}", release.suppressed),
        ]);
        rows.push(row);
    }
    let n_names = names.header().len();
    let k = names.has_k.then_some(0);
    let right: Vec<usize> = k.into_iter().chain(n_names..n_names + 4).collect();
    format!("\ntraining releases\n\n{}", message::table(&rows, &right))
}

fn difference(found: Option<&DifferenceReport>) -> [String; 2] {
    found.map_or_else(Default::default, |found| {
        [
            format!("{:+.4} ({:+.4} to {:+.4})", found.mean, found.lower, found.upper),
            if found.p < 0.0001 { "< 0.0001".to_owned() } else { format!("{:.4}", found.p) },
        ]
    })
}

fn target(all: &Evaluations, of: &[(&EvaluatedCase, &TargetReport)], names: &Names) -> String {
    let Some((_, first)) = of.first() else { return String::new() };
    let is_scattered = is_scattered(all);
    let number = |figure: &Figure| number(figure, is_scattered);
    let measure = first.measure.replace('_', " ");
    let column = visible(&first.column);
    let mut text = format!("\n`{column}`: {measure} of models trained on\n\n");
    let mut header = names.header();
    header.extend(["", "release", "original", "difference", "p"].map(str::to_owned));
    let n_columns = header.len();
    let mut rows = vec![header];
    for (case, target) in of {
        rows.extend(target.models.iter().map(|model| {
            let mut row = names.of(case.k, &case.algorithm);
            row.extend([model.model.to_owned(), number(&model.released), number(&model.original)]);
            row.extend(difference(model.difference.as_ref()));
            row
        }));
    }
    let same = if first.kind == "labels" { "majority" } else { "mean" };
    let mut last = vec![String::new(); names.header().len()];
    last.extend([same.to_owned(), number(&first.majority)]);
    last.resize(n_columns, String::new());
    rows.push(last);
    text.push_str(&names.table(&rows));
    text.push_str(&entropies(of, names));
    for (case, target) in of {
        text.push_str(&projections(case, target, names, is_scattered));
    }
    text.push_str(&between(all, &first.column, names));
    text
}

fn entropies(of: &[(&EvaluatedCase, &TargetReport)], names: &Names) -> String {
    let bits: Vec<String> = (of.iter())
        .filter_map(|(case, target)| {
            let bits = format!("{:.4}", target.conditional_entropy?);
            let mut name = names.of(case.k, &case.algorithm);
            name.push(bits);
            Some(name.join(" "))
        })
        .collect();
    match &bits[..] {
        [] => String::new(),
        [one] => format!("\nconditional entropy: {one} bits\n"),
        many => {
            format!("\nconditional entropy in bits: {}\n", visible(&many.join(", ")))
        }
    }
}

fn projections(
    case: &EvaluatedCase,
    target: &TargetReport,
    names: &Names,
    is_scattered: bool,
) -> String {
    if target.projections.is_empty() {
        return String::new();
    }
    let model = target.models.first().map_or("", |model| model.model);
    let of_case = names.of(case.k, &case.algorithm).join(" ");
    let of_case = if of_case.is_empty() { of_case } else { format!(", {}", visible(&of_case)) };
    let mut rows = vec![["dropped", "release", "original"].map(str::to_owned).to_vec()];
    rows.extend(target.projections.iter().map(|found| {
        let last = found.columns.last().map_or("none", String::as_str);
        let [released, original] =
            [&found.released, &found.original].map(|figure| number(figure, is_scattered));
        vec![last.to_owned(), released, original]
    }));
    let table = message::table(&rows, &[1, 2]);
    format!("\n{model} without the best predictors{of_case}\n\n{table}")
}

/// Algorithms against each other.
fn between(all: &Evaluations, target: &str, names: &Names) -> String {
    let pairs: Vec<_> = all.between.iter().filter(|pair| pair.target == target).collect();
    if pairs.is_empty() {
        return String::new();
    }
    let mut header = Vec::new();
    header.extend(names.has_k.then(|| "k".to_owned()));
    header.extend(["model", "algorithm", "less", "difference", "p"].map(str::to_owned));
    let n_columns = header.len();
    let mut rows = vec![header];
    for pair in pairs {
        let mut row = Vec::new();
        row.extend(names.has_k.then(|| pair.k.to_string()));
        row.extend([pair.model.to_owned(), pair.first.clone(), pair.second.clone()]);
        row.extend(difference(Some(&pair.difference)));
        rows.push(row);
    }
    let k = names.has_k.then_some(0);
    let right: Vec<usize> = k.into_iter().chain(n_columns - 2..n_columns).collect();
    format!("\nbetween algorithms\n\n{}", message::table(&rows, &right))
}

fn selections(cases: &[(&EvaluatedCase, &Evaluation)], names: &Names) -> String {
    let mut header = names.header();
    header.extend(["selection", "rows", "imprecision"].map(str::to_owned));
    let mut rows = vec![header];
    for (case, one) in cases {
        rows.extend(one.selections.iter().map(|selection| {
            let figure = |figure: &Figure| format!("{:.1}", figure.mean);
            let mut row = names.of(case.k, &case.algorithm);
            row.push(selection.select.clone());
            row.extend([figure(&selection.rows), figure(&selection.imprecision)]);
            row
        }));
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("\n{}", names.table(&rows))
}

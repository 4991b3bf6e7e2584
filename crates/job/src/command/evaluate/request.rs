//! What is asked of an evaluation, checked.

use incrowd_evaluate::folds::{Fold, folds, holdout};
use incrowd_evaluate::learn::{Learner, Regressor};

use super::points::Truth;
use super::{EvaluateOptions, predicted};
use crate::plan::Plan;
use crate::plan::naming::suggest;
use crate::plan::workload::MOST_LABELS;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::{JobSpec, Role};

/// The models to train.
#[derive(Clone, Debug)]
pub(super) struct Models {
    pub(super) learners: Vec<(&'static str, Learner)>,
    pub(super) regressors: Vec<(&'static str, Regressor)>,
}

/// Refuses what cannot be evaluated by any algorithm; gives the models to train.
pub(super) fn check(
    spec: &JobSpec,
    plan: &mut Plan,
    options: &EvaluateOptions,
) -> Result<Models, JobError> {
    let mut problems = Vec::new();
    for name in &options.predict {
        let names: Vec<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
        let unknown = Problem::new(format!("--predict names `{name}`, which is not in the input"));
        let unknown = suggest(plan.looks_headerless, unknown, name, &names);
        match plan.columns.iter_mut().find(|column| column.name == *name) {
            Some(column) if column.role == Some(Role::Insensitive) => column.is_predicted = true,
            Some(_) => problems.push(
                Problem::new(format!("--predict names `{name}`, which is not released as it is"))
                    .help("name an insensitive column"),
            ),
            None => problems.push(unknown),
        }
    }
    let has_target = predicted(plan).next().is_some();
    if !has_target && plan.workload.selections.is_empty() && problems.is_empty() {
        problems.push(
            Problem::new("there is nothing to evaluate: the job has no target and no selection")
                .help("name the column that a model shall predict with --target"),
        );
    }
    for at in predicted(plan).filter(|&at| plan.columns[at].role == Some(Role::Quasi)) {
        problems.push(
            Problem::new(format!(
                "the target `{}` is a quasi-identifier column: a model would have it to learn from",
                plan.columns[at].name
            ))
            .help("take it out of the quasi-identifier for the evaluation"),
        );
    }
    if spec.search.start.is_some() || spec.run.resume.is_some() {
        problems.push(
            Problem::new(
                "`start` and `resume` hold what was learned from rows that are held out here",
            )
            .help("take them out of the job for the evaluation"),
        );
    }
    problems.extend(option_problems(options));
    let models = models(&options.models, &mut Vec::new());
    if problems.is_empty() { Ok(models) } else { Err(JobError::Request(problems)) }
}

/// What is wrong with how rows shall be held out and models be tried, whatever the table.
pub(crate) fn option_problems(options: &EvaluateOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    if options.folds.is_some() && options.test.is_some() {
        problems.push(
            Problem::new("--folds and --test are two ways to hold out rows").help("name one"),
        );
    }
    if options.folds.is_some_and(|folds| folds < 2) {
        problems.push(
            Problem::new("one fold leaves no rows to learn from").help("ask for --folds 2 or more"),
        );
    }
    if options.repeats == Some(0) {
        problems.push(Problem::new("--repeats must be at least 1, found 0"));
    }
    models(&options.models, &mut problems);
    problems
}

/// Why a recoding cannot be tried on held-out rows, if it cannot.
pub(super) fn refuse_local(plan: &Plan) -> Option<Problem> {
    plan.method.is_local().then(|| {
        Problem::new(
            "a local recoding is made for its rows alone and cannot be applied to held-out ones",
        )
        .help("use --algorithm mondrian, without --relaxed")
    })
}

/// Refuses targets that no chosen model can predict, and those with too many labels.
pub(super) fn check_models(truth: &Truth, models: &Models) -> Result<(), JobError> {
    let mut problems = Vec::new();
    for target in &truth.targets {
        let name = &target.name;
        let is_number = target.numbers.is_some();
        let (n_models, kind, others) = if is_number {
            (models.regressors.len(), "numbers", "linear-regression or regression-tree")
        } else {
            (models.learners.len(), "labels", "decision-tree or naive-bayes")
        };
        if n_models == 0 {
            problems.push(
                Problem::new(format!("none of the models predicts `{name}`, a column of {kind}"))
                    .help(format!("ask for --models {others}")),
            );
        }
        if !is_number && target.n_labels > MOST_LABELS {
            problems.push(
                Problem::new(format!(
                    "the target `{name}` has {} labels, the most are {MOST_LABELS}",
                    target.n_labels
                ))
                .help("group them, or name another target"),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
}

/// The models of some names.
fn models(names: &[String], problems: &mut Vec<Problem>) -> Models {
    if names.is_empty() {
        return Models {
            learners: vec![Learner::ALL[0], Learner::ALL[1]],
            regressors: Regressor::ALL.to_vec(),
        };
    }
    if names.iter().any(|name| name == "all") {
        return Models { learners: Learner::ALL.to_vec(), regressors: Regressor::ALL.to_vec() };
    }
    let learners = Learner::ALL.map(|(name, learner)| (name, (Some((name, learner)), None)));
    let regressors = Regressor::ALL.map(|(name, learner)| (name, (None, Some((name, learner)))));
    let known = [&learners[..], &regressors[..]].concat();
    let mut models = Models { learners: Vec::new(), regressors: Vec::new() };
    for name in names {
        if let Some((learner, regressor)) = choice("models", Some(name), &known, problems) {
            models.learners.extend(learner);
            models.regressors.extend(regressor);
        }
    }
    models
}

/// The rows that are held out, fold by fold, one repetition after another. `k` is the greatest that
/// is asked for.
pub(super) fn hold_out(
    options: &EvaluateOptions,
    k: Option<u64>,
    n_rows: usize,
    seed: u64,
) -> Result<Vec<Fold>, JobError> {
    let n = u32::try_from(n_rows).expect("rows are counted in 32 bits");
    let seeds = (0..u64::from(options.repeats.unwrap_or(1))).map(|at| seed.wrapping_add(at));
    if let Some(share) = options.test {
        let is_share = share > 0.0 && share < 1.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
        let n_held = if is_share { (f64::from(n) * share).round() as u32 } else { 0 };
        if n_held == 0 || n_held >= n {
            return Err(Problem::new(format!(
                "--test must leave rows to learn from and rows to be tried on, of {n}"
            ))
            .help("write a share between 0 and 1, e.g. --test 0.3")
            .into());
        }
        return Ok(seeds.map(|seed| holdout(n, n_held, seed)).collect());
    }
    let n_folds = options.folds.unwrap_or(10);
    let n_least = u64::from(n) - u64::from(n.div_ceil(n_folds.max(1)));
    if n_folds < 2 || n_folds > n || n_least < k.unwrap_or(2) {
        return Err(Problem::new(format!(
            "{n_folds} folds of {n} rows do not leave k rows to learn from and a row to be tried on"
        ))
        .help("ask for --folds 2 or more, and no more than there are rows")
        .into());
    }
    Ok(seeds.flat_map(|seed| folds(n, n_folds, seed)).collect())
}

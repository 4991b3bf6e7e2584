//! `evaluate`: how good models are that are trained on a release.
//!
//! The protocol is that of *Workload-Aware Anonymization* (KDD 2006, section 4.1): rows are held out first;
//! the recoding is learned from the others alone and applied to both; models are trained on the recoded
//! training rows and tried on the recoded held-out rows. Of the held-out rows no more is known before than the
//! types of their columns, whether a target is a label, and the values that a hierarchy built from values has.

mod points;
mod score;

use incrowd_data::Kind;
use incrowd_engine::{Order, Source, Table, read};
use incrowd_evaluate::folds::{Fold, folds, holdout};
use incrowd_evaluate::learn::{Learner, Regressor};
use incrowd_search::Outcome as SearchOutcome;
use rayon::prelude::*;
use serde::Serialize;

use crate::anonymize::{classes, search};
use crate::coding::{code, raw_column, refuse_missing};
use crate::error::{JobError, Problem};
use crate::naming::suggest;
use crate::plan::{Plan, Purpose, Role, choice};
use crate::run::{Run, Stage};
use crate::spec::JobSpec;
use crate::workload::MOST_LABELS;
use points::{Release, Truth};

pub(crate) use points::cell_extent;
use score::{Held, Trained};

/// What can be said beside the job.
#[derive(Clone, Debug, Default)]
pub struct EvaluateOptions {
    /// How often rows are held out, each once; 10 if nothing is said.
    pub folds: Option<u32>,
    /// The share of rows that is held out once, instead of folds.
    pub test: Option<f64>,
    /// Names of models; `all` for all of them.
    pub models: Vec<String>,
    /// Columns that models predict though the search does not look at them.
    pub predict: Vec<String>,
    /// Whether the best predictors are dropped one by one.
    pub projections: bool,
}

/// How good models are that are trained on the release.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The version.
    pub incrowd: &'static str,
    /// The effective job.
    pub job: JobSpec,
    /// How rows were held out.
    pub protocol: Protocol,
    /// The releases of the training rows, as means over the folds.
    pub release: ReleaseMeans,
    /// By target.
    pub targets: Vec<TargetReport>,
    /// By selection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selections: Vec<SelectionReport>,
}

/// How rows were held out.
#[derive(Clone, Debug, Serialize)]
pub struct Protocol {
    /// Rows in all.
    pub rows: usize,
    /// How often rows were held out.
    pub folds: usize,
    /// Rows that were held out each time (the first time, if that differs).
    pub held_out: usize,
    /// What the choice of rows was made from.
    pub seed: u64,
}

/// The releases of the training rows, as means over the folds.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseMeans {
    /// Classes.
    pub classes: f64,
    /// Rows a class.
    pub class_size: f64,
    /// Mean loss of a cell.
    pub loss: f64,
    /// Rows that were left out.
    pub suppressed: f64,
}

/// A mean over the folds and how far they scatter.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

/// How well one column is predicted.
#[derive(Clone, Debug, Serialize)]
pub struct TargetReport {
    /// The column.
    pub column: String,
    /// `labels` or `numbers`.
    pub kind: &'static str,
    /// What the models' figures are: `accuracy` or `mean_absolute_error`.
    pub measure: &'static str,
    /// The figure of always answering the commonest label, or the mean number, of the training rows.
    pub majority: Figure,
    /// By model.
    pub models: Vec<ModelReport>,
    /// Bits a row that the class of a training row leaves open about its label (equation 7).
    pub conditional_entropy: Option<f64>,
    /// The same with the best predictors dropped one by one, for the first model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub projections: Vec<ProjectionReport>,
}

/// How good a model is.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Its name.
    pub model: &'static str,
    /// Trained on the release.
    pub released: Figure,
    /// Trained on the original rows.
    pub original: Figure,
}

/// How good a model is without some columns.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectionReport {
    /// How many of the best predictors of the training rows are dropped.
    pub dropped: usize,
    /// Which, in the first fold.
    pub columns: Vec<String>,
    /// Trained on the release.
    pub released: Figure,
    /// Trained on the original rows.
    pub original: Figure,
}

/// How precisely rows can be selected from the releases of the training rows.
#[derive(Clone, Debug, Serialize)]
pub struct SelectionReport {
    /// The condition.
    pub select: String,
    /// Rows that satisfy it.
    pub rows: Figure,
    /// Rows of classes that overlap it and do not satisfy it (equation 5).
    pub imprecision: Figure,
}

/// The models to train.
#[derive(Clone, Debug)]
struct Models {
    learners: Vec<(&'static str, Learner)>,
    regressors: Vec<(&'static str, Regressor)>,
}

/// Holds out rows, learns a recoding and models from the others, and tries the models.
pub fn evaluate(
    run: &Run,
    spec: &JobSpec,
    options: &EvaluateOptions,
) -> Result<Evaluation, JobError> {
    if spec.run.engine.as_deref().is_some_and(|engine| engine != "embedded") {
        let message = "models are trained on the embedded engine";
        return Err(Problem::new(message).help("leave --engine out").into());
    }
    run.with_engine(spec.run.threads, |engine| {
        let input = spec.input.as_deref().ok_or_else(|| {
            Problem::new("the job has no input").help("name a file, a folder or a glob")
        })?;
        run.enter(Stage::Open);
        let source = Source::open(engine, input)?;
        let mut plan = Plan::new(spec, &source, Purpose::Release)?;
        plan.tell_notes(run);
        let models = check(spec, &mut plan, options)?;
        run.enter(Stage::Read);
        let table = read(engine, &source, &plan.uses(), false)?;
        refuse_missing(&plan, &table)?;
        fix_kinds(&mut plan, &table)?;
        let seed = spec.search.seed.unwrap_or(0);
        let folds = hold_out(options, &plan, table.n_rows, seed)?;
        run.enter(Stage::Search);
        let truth = Truth::new(&plan, &table)?;
        check_models(&truth, &models)?;
        let evaluator = Evaluator { run, spec, plan: &plan, table: &table, truth: &truth };
        // One fold at a time where a search has a time or memory limit of its own.
        let is_limited = plan.method.time.is_some() || plan.method.memory.is_some();
        let one = |fold: &Fold| evaluator.fold(fold, &models, options.projections, seed);
        let held: Vec<Held> = if is_limited {
            folds.iter().map(one).collect::<Result<_, _>>()?
        } else {
            folds.par_iter().map(one).collect::<Result<_, _>>()?
        };
        run.go_on()?;
        let protocol =
            Protocol { rows: table.n_rows, folds: folds.len(), held_out: folds[0].len(), seed };
        Ok(score::evaluation(spec, &plan, &truth, protocol, &held))
    })
}

/// Refuses what cannot be evaluated; gives the models to train.
fn check(spec: &JobSpec, plan: &mut Plan, options: &EvaluateOptions) -> Result<Models, JobError> {
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
    if plan.method.is_local() {
        problems.push(
            Problem::new("a local recoding is made for its rows alone and cannot be applied to held-out ones")
                .help("use --algorithm mondrian, without --relaxed"),
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
    if options.folds.is_some() && options.test.is_some() {
        problems.push(
            Problem::new("--folds and --test are two ways to hold out rows").help("name one"),
        );
    }
    let models = models(&options.models, &mut problems);
    if problems.is_empty() { Ok(models) } else { Err(JobError::Request(problems)) }
}

/// Refuses targets that no chosen model can predict, and those with too many labels.
fn check_models(truth: &Truth, models: &Models) -> Result<(), JobError> {
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

/// The columns that models predict.
fn predicted(plan: &Plan) -> impl Iterator<Item = usize> {
    let is_target = |at: &usize| plan.columns[*at].spec.target && plan.columns[*at].role.is_some();
    (0..plan.columns.len()).filter(move |at| is_target(at) || plan.columns[*at].is_predicted)
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

/// Makes the kinds of all columns known, so that the training rows of a fold alone do not change them.
fn fix_kinds(plan: &mut Plan, table: &Table) -> Result<(), JobError> {
    for at in 0..plan.columns.len() {
        let column = &plan.columns[at];
        let is_read = table.coded.iter().any(|raw| raw.values.name == column.name);
        if is_read && column.spec.hierarchy.is_none() && column.spec.order.is_none() {
            let ranked = raw_column(plan, table, at).rank(Order::Natural(column.kind))?;
            plan.columns[at].kind = Some(ranked.dictionary.kind);
        }
    }
    Ok(())
}

/// The rows that are held out, fold by fold.
fn hold_out(
    options: &EvaluateOptions,
    plan: &Plan,
    n_rows: usize,
    seed: u64,
) -> Result<Vec<Fold>, JobError> {
    let n = u32::try_from(n_rows).expect("rows are counted in 32 bits");
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
        return Ok(vec![holdout(n, n_held, seed)]);
    }
    let n_folds = options.folds.unwrap_or(10);
    let n_least = u64::from(n) - u64::from(n.div_ceil(n_folds.max(1)));
    if n_folds < 2 || n_folds > n || n_least < plan.k.unwrap_or(2) {
        return Err(Problem::new(format!(
            "{n_folds} folds of {n} rows do not leave k rows to learn from and a row to be tried on"
        ))
        .help("ask for --folds 2 or more, and no more than there are rows")
        .into());
    }
    Ok(folds(n, n_folds, seed))
}

/// What every fold is evaluated with.
struct Evaluator<'a> {
    run: &'a Run,
    spec: &'a JobSpec,
    plan: &'a Plan,
    table: &'a Table,
    truth: &'a Truth,
}

impl Evaluator<'_> {
    /// Learns from the rows outside of a fold and tries what was learned on those in it.
    fn fold(
        &self,
        held: &Fold,
        models: &Models,
        projections: bool,
        seed: u64,
    ) -> Result<Held, JobError> {
        self.run.go_on()?;
        let mut is_held = vec![false; self.table.n_rows];
        for &row in held {
            is_held[row as usize] = true;
        }
        let rows = (0u32..).zip(&is_held).filter(|(_, is_held)| !**is_held);
        let train: Vec<u32> = rows.map(|(row, _)| row).collect();
        let release = self.release(&train)?;
        let (run, truth) = (self.run, self.truth);
        let trained = Trained { run, truth, release: &release, train: &train, held };
        trained.evaluate(self.plan, models, projections, seed)
    }

    /// The recoding of the training rows, learned from them alone.
    fn release(&self, train: &[u32]) -> Result<Release, JobError> {
        let has_tree = |name: &str| {
            let column = self.plan.columns.iter().find(|column| column.name == name);
            column.is_some_and(|column| column.spec.hierarchy.is_some())
        };
        let table = self.table.of_rows(train, has_tree);
        let mut coding = code(self.plan, &table)?;
        let levels = self.plan.method.level_bounds(self.plan, &coding.set.attributes)?;
        let memory = self.plan.method.memory;
        let mut found = match search(self.run, self.spec, self.plan, &coding, &levels, memory)? {
            SearchOutcome::Found(found) => found,
            SearchOutcome::Cancelled => return Err(JobError::Cancelled),
            SearchOutcome::Infeasible(_) => {
                return Err(JobError::Infeasible(
                    Problem::new("no release of the training rows satisfies the job").help(
                        "see what `incrowd anonymize` says of the whole table; hold out fewer rows",
                    ),
                ));
            }
        };
        let classes = classes(self.plan, &mut coding, &mut found);
        Ok(Release::new(self.plan, self.table, coding, *found, classes))
    }
}

/// Whether a target is a number to be predicted, rather than a label.
fn is_number(plan: &Plan, kind: Kind, n_values: u32) -> bool {
    plan.workload.predicts_number(kind, n_values)
}

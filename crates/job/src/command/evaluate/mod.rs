//! `evaluate`: how good models are that are trained on a release.
//!
//! The protocol is that of *Workload-Aware Anonymization* (KDD 2006, section 4.1): rows are held
//! out first; the recoding is learned from the others alone and applied to both; models are trained
//! on the recoded training rows and tried on the recoded held-out rows. Of the held-out rows no
//! more is known before than the types of their columns, whether a target is a label, and the
//! values that a hierarchy built from values has.
//!
//! Models learn from every column that a release has but the targets: from the quasi-identifier as
//! it is recoded, from all others as they are. All algorithms, all k and the original rows are
//! tried on the same held-out rows, so that their figures can be compared in pairs.

mod points;
mod request;
mod score;
mod summary;

use incrowd_engine::{Engine, Order, Source, Table, Use, read};
use incrowd_evaluate::folds::Fold;
use incrowd_search::Outcome as SearchOutcome;
use rayon::prelude::*;

use crate::flow::coding::code;
use crate::flow::ordered::raw_column;
use crate::flow::run::{Run, Stage};
use crate::flow::search::{classes, search};
use crate::flow::values::refuse_missing;
use crate::plan::cases::{Case, cases};
use crate::plan::{Plan, Purpose};
use crate::report::{Evaluation, Evaluations};
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};
use points::{Release, Truth, is_released_as_it_is};
use request::Models;
use score::{Baseline, Fitted, FoldResult, Trained};

pub(crate) use request::option_problems;
pub(crate) use summary::{ALPHA, by_fold};

/// What can be said beside the job.
#[derive(Clone, Debug, Default)]
pub struct EvaluateOptions {
    /// How often rows are held out, each once; 10 if nothing is said.
    pub folds: Option<u32>,
    /// The share of rows that is held out once, instead of folds.
    pub test: Option<f64>,
    /// How often that is repeated with other rows; once if nothing is said.
    pub repeats: Option<u32>,
    /// Names of models; `all` for all of them.
    pub models: Vec<String>,
    /// Columns that models predict though the search does not look at them.
    pub predict: Vec<String>,
    /// Whether the best predictors are dropped one by one.
    pub projections: bool,
    /// Algorithms as `compare` names them; the job's own if none is named.
    pub algorithms: Vec<String>,
    /// Least sizes of a class; the job's own if none is named.
    pub ks: Vec<u64>,
}

/// Holds out rows, learns a recoding and models from the others, and tries the models: for the
/// algorithm and the k of the job.
pub fn evaluate(
    run: &Run,
    spec: &JobSpec,
    options: &EvaluateOptions,
) -> Result<Evaluation, JobError> {
    let options = EvaluateOptions { algorithms: Vec::new(), ks: Vec::new(), ..options.clone() };
    let mut found = evaluate_all(run, spec, &options)?;
    let only = found.cases.pop().and_then(|case| case.found);
    Ok(only.expect("the only case was evaluated, or there is an error"))
}

/// The same for several algorithms and several k. Those that cannot be evaluated say why; if none
/// can, that is an error.
pub fn evaluate_all(
    run: &Run,
    spec: &JobSpec,
    options: &EvaluateOptions,
) -> Result<Evaluations, JobError> {
    let mut problems = Vec::new();
    let cases = if options.algorithms.is_empty() {
        own_cases(spec, &options.ks, &mut problems)
    } else {
        let own: Vec<u64> = spec.privacy.k.into_iter().collect();
        let ks = if options.ks.is_empty() { &own } else { &options.ks };
        if ks.is_empty() {
            problems.push(Problem::new("no k is named").help("name some: -k 5,10,25"));
        }
        cases(spec, &options.algorithms, ks, &mut problems)
    };
    if !problems.is_empty() {
        return Err(JobError::Request(problems));
    }
    try_cases(run, spec, &cases, options)
}

/// The job by its own algorithm, for every k.
fn own_cases(spec: &JobSpec, ks: &[u64], problems: &mut Vec<Problem>) -> Vec<Case> {
    let search = &spec.search;
    let words = [search.algorithm.as_deref().unwrap_or("mondrian")];
    let relaxed = search.relaxed.unwrap_or(false).then_some("relaxed");
    let words = words.into_iter().chain(search.variant.as_deref()).chain(relaxed);
    let mut algorithm = words.collect::<Vec<&str>>().join("-");
    if let Some(split) = &search.split {
        algorithm = format!("{algorithm}:{}", split.replace(',', "+"));
    }
    if ks.is_empty() {
        let k = spec.privacy.k.unwrap_or(0);
        return vec![Case { algorithm, k, spec: spec.clone() }];
    }
    let mut found: Vec<Case> = Vec::new();
    for &k in ks {
        if found.iter().any(|case| case.k == k) {
            problems.push(Problem::new(format!("k = {k} is named twice")));
        }
        let mut spec = spec.clone();
        spec.privacy.k = Some(k);
        found.push(Case { algorithm: algorithm.clone(), k, spec });
    }
    found
}

/// Tries every case on the same held-out rows.
pub(crate) fn try_cases(
    run: &Run,
    spec: &JobSpec,
    cases: &[Case],
    options: &EvaluateOptions,
) -> Result<Evaluations, JobError> {
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
        let mut contest = Contest::new(&source, cases, options)?;
        run.tell_notes(&contest.plan.notes);
        run.enter(Stage::Read);
        let table = contest.read(engine, &source)?;
        let seed = spec.search.seed.unwrap_or(0);
        let least_k = contest.entrants.iter().filter_map(|entrant| entrant.plan.k).min();
        let folds = request::hold_out(options, least_k, table.n_rows, seed)?;
        run.enter(Stage::Search);
        let plans = || contest.entrants.iter().map(|entrant| &entrant.plan);
        let is_number =
            |kind, n_values| plans().any(|plan| plan.workload.predicts_number(kind, n_values));
        let truth = Truth::new(&contest.plan, &table, is_number)?;
        request::check_models(&truth, &contest.models)?;
        // One search at a time where one has a time or memory limit of its own.
        let is_limited =
            plans().any(|plan| plan.method.time.is_some() || plan.method.memory.is_some());
        let evaluator = Evaluator {
            run,
            contest: &contest,
            table: &table,
            truth: &truth,
            projections: options.projections,
            keeps_rows: folds.len() == 1,
            is_limited,
            seed,
        };
        let one = |fold: &Fold| evaluator.fold(fold);
        let held: Vec<FoldResult> = if is_limited {
            folds.iter().map(one).collect::<Result<_, _>>()?
        } else {
            folds.par_iter().map(one).collect::<Result<_, _>>()?
        };
        run.go_on()?;
        contest.refuse_if_none(&held)?;
        let repeats = options.repeats.unwrap_or(1) as usize;
        let tried = summary::Tried { truth: &truth, held: &held, repeats, seed };
        Ok(tried.evaluations(spec, &contest, table.n_rows))
    })
}

/// Who is tried, on what.
struct Contest<'a> {
    /// What holds for all.
    plan: Plan,
    models: Models,
    entrants: Vec<Entrant<'a>>,
    /// Cases that cannot run, with their place and the reason.
    left_out: Vec<(usize, &'a Case, String)>,
}

/// A case that can run.
struct Entrant<'a> {
    /// Its place among all cases.
    place: usize,
    case: &'a Case,
    plan: Plan,
}

impl Entrant<'_> {
    /// The least size of a class; that of the job's sets if none is asked for beside them.
    fn k(&self) -> u64 {
        if self.case.k > 0 { self.case.k } else { self.plan.k.unwrap_or_default() }
    }
}

impl<'a> Contest<'a> {
    fn new(
        source: &Source,
        cases: &'a [Case],
        options: &EvaluateOptions,
    ) -> Result<Contest<'a>, JobError> {
        let (mut entrants, mut left_out, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for (place, case) in cases.iter().enumerate() {
            let found = Plan::new(&case.spec, source, Purpose::Release).and_then(|plan| {
                match request::refuse_local(&plan) {
                    None => Ok(plan),
                    Some(problem) => Err(problem.into()),
                }
            });
            match found {
                Ok(plan) => entrants.push(Entrant { place, case, plan }),
                Err(JobError::Request(more)) => {
                    left_out.push((place, case, reasons(&more)));
                    problems.extend(more);
                }
                Err(error) => return Err(error),
            }
        }
        let Some(first) = entrants.first() else {
            problems.dedup();
            return Err(JobError::Request(problems));
        };
        let mut plan = first.plan.clone();
        let models = request::check(&first.case.spec, &mut plan, options)?;
        for column in &mut plan.columns {
            column.is_predictor = is_released_as_it_is(column) && column.source.can_be_coded();
        }
        Ok(Contest { plan, models, entrants, left_out })
    }

    /// Reads the table, and makes the kinds of its columns known to all.
    fn read(&mut self, engine: &Engine, source: &Source) -> Result<Table, JobError> {
        let mut uses = self.plan.uses();
        for entrant in &self.entrants {
            for (usage, other) in uses.iter_mut().zip(entrant.plan.uses()) {
                if other == Use::Code {
                    *usage = Use::Code;
                }
            }
        }
        let table = read(engine, source, &uses, false)?;
        refuse_missing(&self.plan, &table)?;
        fix_kinds(&mut self.plan, &table)?;
        for entrant in &mut self.entrants {
            for (column, known) in entrant.plan.columns.iter_mut().zip(&self.plan.columns) {
                column.kind = known.kind;
            }
        }
        Ok(table)
    }

    /// An error if no case was evaluated.
    fn refuse_if_none(&self, held: &[FoldResult]) -> Result<(), JobError> {
        let problem = |at: usize| held.iter().find_map(|held| held.cases[at].as_ref().err());
        let mut problems: Vec<Problem> = Vec::new();
        for at in 0..self.entrants.len() {
            match problem(at) {
                None => return Ok(()),
                Some(problem) if problems.contains(problem) => {}
                Some(problem) => problems.push(problem.clone()),
            }
        }
        let first = problems.into_iter().next();
        Err(JobError::Infeasible(first.expect("there is a case, and a reason for each")))
    }
}

/// What is wrong, in one line.
fn reasons(problems: &[Problem]) -> String {
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    messages.join("; ")
}

/// The columns that models predict.
fn predicted(plan: &Plan) -> impl Iterator<Item = usize> {
    let is_target = |at: &usize| plan.columns[*at].spec.target && plan.columns[*at].role.is_some();
    (0..plan.columns.len()).filter(move |at| is_target(at) || plan.columns[*at].is_predicted)
}

/// Makes the kinds of all columns known, so that the training rows of a fold alone do not change
/// them.
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

/// What every fold is evaluated with.
struct Evaluator<'a> {
    run: &'a Run,
    contest: &'a Contest<'a>,
    table: &'a Table,
    truth: &'a Truth,
    projections: bool,
    /// Whether the losses of single rows are kept.
    keeps_rows: bool,
    is_limited: bool,
    seed: u64,
}

impl Evaluator<'_> {
    /// Learns from the rows outside of a fold and tries what was learned on those in it.
    fn fold(&self, held: &Fold) -> Result<FoldResult, JobError> {
        self.run.go_on()?;
        let mut is_held = vec![false; self.table.n_rows];
        for &row in held {
            is_held[row as usize] = true;
        }
        let rows = (0u32..).zip(&is_held).filter(|(_, is_held)| !**is_held);
        let train: Vec<u32> = rows.map(|(row, _)| row).collect();
        let baseline = Baseline {
            run: self.run,
            truth: self.truth,
            models: &self.contest.models,
            train: &train,
            held,
            projections: self.projections,
            keeps_rows: self.keeps_rows,
            seed: self.seed,
        };
        let originals = baseline.originals()?;
        let one = |entrant: &Entrant| self.case(entrant, &baseline, &originals);
        let cases = if self.is_limited {
            self.contest.entrants.iter().map(one).collect::<Result<_, JobError>>()?
        } else {
            self.contest.entrants.par_iter().map(one).collect::<Result<_, JobError>>()?
        };
        Ok(FoldResult { n_train: train.len(), n_tested: held.len(), originals, cases })
    }

    /// What an algorithm makes of the training rows, tried on the held-out rows.
    fn case(
        &self,
        entrant: &Entrant,
        baseline: &Baseline,
        originals: &[score::OriginalTarget],
    ) -> Result<Result<Fitted, Problem>, JobError> {
        self.run.go_on()?;
        let release = match self.release(entrant, baseline.train) {
            Ok(release) => release,
            Err(JobError::Infeasible(problem)) => return Ok(Err(problem)),
            // What is wrong with one of several algorithms is no obstacle to the others.
            Err(JobError::Request(problems)) if self.contest.entrants.len() > 1 => {
                return Ok(Err(Problem::new(reasons(&problems))));
            }
            Err(error) => return Err(error),
        };
        Trained { baseline, release: &release }.evaluate(&entrant.plan, originals).map(Ok)
    }

    /// The recoding of the training rows, learned from them alone.
    fn release(&self, entrant: &Entrant, train: &[u32]) -> Result<Release, JobError> {
        let plan = &entrant.plan;
        let has_tree = |name: &str| {
            let column = plan.columns.iter().find(|column| column.name == name);
            column.is_some_and(|column| column.spec.hierarchy.is_some())
        };
        let table = self.table.of_rows(train, has_tree);
        let mut coding = code(plan, &table)?;
        let levels = plan.method.level_bounds(&plan.columns, &coding.set.attributes)?;
        let (spec, memory) = (&entrant.case.spec, plan.method.memory);
        let mut found = match search(self.run, spec, plan, &coding, &levels, memory)? {
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
        let classes = classes(plan, &mut coding, &mut found);
        Ok(Release::new(plan, self.table, coding, *found, classes))
    }
}

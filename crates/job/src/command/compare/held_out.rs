//! How good models are that are trained on the releases of each algorithm, on rows that were held
//! out.

use incrowd_evaluate::learn::paired::resampled;
use incrowd_evaluate::learn::score::mean;

use super::CompareOptions;
use crate::command::evaluate::{ALPHA, EvaluateOptions, option_problems, try_cases};
use crate::flow::run::Run;
use crate::plan::cases::Case;
use crate::report::{Compared, Evaluation, HeldOut, HeldOutScore, WithoutScore};
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};

/// Tries all cases that have a release on held-out rows, if the job has a target.
pub(super) fn held_out(
    run: &Run,
    spec: &JobSpec,
    options: &CompareOptions,
    asked: &[Case],
    compared: &mut [Compared],
) -> Result<Option<HeldOut>, JobError> {
    let with_release = asked.iter().zip(&*compared).filter(|(_, found)| found.found.is_some());
    let cases: Vec<Case> = with_release.map(|(case, _)| case.clone()).collect();
    if !spec.has_target() || cases.is_empty() {
        return Ok(None);
    }
    if spec.run.memory_limit.is_some() {
        let why = "models need the whole table in memory, and there is a memory limit";
        return Ok(Some(HeldOut::nothing(why)));
    }
    let cases = within_time(cases, spec, options)?;
    let how = how(options);
    let tried = match try_cases(run, spec, &cases, &how) {
        Ok(tried) => tried,
        Err(JobError::Infeasible(problem)) => {
            return Ok(Some(HeldOut::nothing(problem.message)));
        }
        Err(JobError::Request(problems)) => {
            let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
            return Ok(Some(HeldOut::nothing(messages.join("; "))));
        }
        Err(error) => return Err(error),
    };
    let targets = || tried.found().flat_map(|(_, one)| &one.targets);
    let are_labels = targets().all(|target| target.kind == "labels");
    let mut names: Vec<&'static str> =
        targets().flat_map(|t| t.models.iter().map(|model| model.model)).collect();
    names.sort_unstable();
    names.dedup();
    let measure = if are_labels { HeldOut::ACCURACY } else { HeldOut::ERROR_SHARE };
    let mut held_out = HeldOut {
        measure,
        models: names,
        protocol: Some(tried.protocol.clone()),
        without: Vec::new(),
    };
    let ratio = held_out.ratio();
    for case in tried.cases {
        let scores = case.found.as_ref().map(|found| by_fold(found, are_labels));
        let score = scores.and_then(|by_fold| score(by_fold, ratio));
        if let (None, Some(reason)) = (&score, case.failed) {
            let without = WithoutScore { algorithm: Some(case.algorithm.clone()), reason };
            if !held_out.without.contains(&without) {
                held_out.without.push(without);
            }
        }
        let is_it = |other: &&mut Compared| other.algorithm == case.algorithm && other.k == case.k;
        if let Some(found) = compared.iter_mut().find(is_it).and_then(|one| one.found.as_mut()) {
            found.held_out = score;
        }
    }
    Ok(Some(held_out))
}

/// How models are tried.
fn how(options: &CompareOptions) -> EvaluateOptions {
    let models = match &options.models[..] {
        [] => vec!["decision-tree".to_owned(), "regression-tree".to_owned()],
        models => models.to_vec(),
    };
    let (folds, repeats) = (options.folds, options.repeats);
    EvaluateOptions { folds, repeats, models, ..EvaluateOptions::default() }
}

/// What is wrong with how models shall be tried.
pub(super) fn problems(spec: &JobSpec, options: &CompareOptions) -> Vec<Problem> {
    let is_asked =
        options.folds.is_some() || options.repeats.is_some() || !options.models.is_empty();
    if is_asked && !spec.has_target() {
        let problem = Problem::new("--folds, --repeats and --models are for jobs with a target");
        return vec![problem.help("name the column that a model will predict with --target")];
    }
    option_problems(&how(options))
}

/// The searches for all folds of a case together may take as long as the one for the whole table.
fn within_time(
    mut cases: Vec<Case>,
    spec: &JobSpec,
    options: &CompareOptions,
) -> Result<Vec<Case>, JobError> {
    if let Some(limit) = spec.run.time()? {
        let n_searches = options.folds.unwrap_or(10).max(1) * options.repeats.unwrap_or(1).max(1);
        let each = limit / n_searches;
        for case in &mut cases {
            case.spec.run.time_limit = Some(format!("{}ms", each.as_millis().max(1)));
        }
    }
    Ok(cases)
}

/// By fold, the mean score over targets and models: the accuracy, or the share of the error that is
/// left of that of always giving the same answer.
fn by_fold(found: &Evaluation, are_labels: bool) -> Vec<f64> {
    let n_folds = found.targets.first().map_or(0, |target| target.majority_by_fold.len());
    let score = |fold: usize| {
        let scores = found.targets.iter().flat_map(|target| {
            let plain = target.majority_by_fold[fold];
            target.models.iter().map(move |model| {
                let figure = model.released_by_fold[fold];
                match (are_labels, target.kind) {
                    (true, _) => figure,
                    (false, "labels") => (1.0 - figure) / (1.0 - plain),
                    (false, _) => figure / plain,
                }
            })
        });
        mean(&scores.collect::<Vec<f64>>())
    };
    (0..n_folds).map(score).collect()
}

/// A score by fold with its mean, and the interval that the mean lies in.
pub(super) fn score(by_fold: Vec<f64>, ratio: f64) -> Option<HeldOutScore> {
    let known: Vec<f64> = by_fold.iter().copied().filter(|score| score.is_finite()).collect();
    let found = resampled(&known, ratio, ALPHA)?;
    Some(HeldOutScore { mean: found.mean, lower: found.lower, upper: found.upper, by_fold })
}

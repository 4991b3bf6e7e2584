//! The search of a job: its problem, its budget, and the classes of what it finds.

use std::path::Path;

use incrowd_data::{Cuts, FrequencySet, Level};
use incrowd_release::{Classes, LabelForm, recode, recode_blocks, recode_cuts, recode_levels};
use incrowd_search::{
    Budget, Found, Outcome as SearchOutcome, Problem as SearchProblem, QuasiSet, Recoding,
};

use crate::flow::coding::Coding;
use crate::flow::recoding_file::RecodingFile;
use crate::flow::regions::region_classes;
use crate::flow::relabel::relabel;
use crate::flow::run::Run;
use crate::flow::{bins, stopped_search};
use crate::plan::Plan;
use crate::report::RecodingKind;
use crate::spec::error::{JobError, Problem};
use crate::spec::{JobSpec, Role};

/// Runs the search of a job, from where it shall begin.
pub(crate) fn search(
    run: &Run,
    spec: &JobSpec,
    plan: &Plan,
    coding: &Coding,
    levels: &[(Level, Level)],
    memory: Option<u64>,
) -> Result<SearchOutcome, JobError> {
    let budget = budget(run, spec, plan, memory);
    with_problem(spec, plan, coding, levels, &budget, |problem| {
        run.let_stop(plan.method.algorithm.is_anytime());
        plan.method.algorithm.run(problem)
    })
}

/// What a search may take: from now on.
pub(crate) fn budget(run: &Run, spec: &JobSpec, plan: &Plan, memory: Option<u64>) -> Budget {
    run.budget().within(plan.method.time).holding(memory).visiting(spec.run.node_limit)
}

/// Does something with the problem of a job, whose levels and budget are these.
pub(crate) fn with_problem<T>(
    spec: &JobSpec,
    plan: &Plan,
    coding: &Coding,
    levels: &[(Level, Level)],
    budget: &Budget,
    solve: impl FnOnce(&SearchProblem) -> T,
) -> Result<T, JobError> {
    let start = spec.search.start.as_deref().map(Path::new);
    let start = start.map(|path| start_of(path, &coding.set)).transpose()?;
    let resume = spec.run.resume.as_deref().map(Path::new);
    let stopped = resume.map(stopped_search::read).transpose()?.flatten();
    let sets = attributes_of_sets(plan);
    let places = bins::places(plan, &coding.set.attributes)?;
    let problem = SearchProblem {
        sets: &sets,
        entity: coding.entity,
        limit: plan.suppress.rows(coding.set.n_rows)?,
        stars: plan.stars_suppressed,
        measure: plan.measure,
        target: coding.target,
        weights: &plan.method.weights(&plan.columns),
        levels,
        places: &places,
        wants_minimal: plan.method.wants_minimal,
        seed: spec.search.seed.unwrap_or(0),
        workload: coding.workload.as_ref(),
        start: start.as_ref(),
        resume: stopped.as_ref(),
        ..SearchProblem::new(&coding.set, &coding.models, plan.k.unwrap_or(2), budget)
    };
    if let (Some(path), Some(stopped)) = (resume, &stopped) {
        stopped_search::check(path, stopped, &problem)?;
    }
    Ok(solve(&problem))
}

/// The quasi-identifier sets by their attributes, if there are several.
fn attributes_of_sets(plan: &Plan) -> Vec<QuasiSet> {
    if plan.sets.len() == 1 {
        return Vec::new();
    }
    let quasi: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let of_set = |set: &crate::plan::sets::QuasiSet| {
        let attributes = (0..quasi.len()).filter(|&at| set.columns.contains(&quasi[at])).collect();
        QuasiSet { attributes, k: set.k.unwrap_or(2) }
    };
    plan.sets.iter().map(of_set).collect()
}

/// The classes of a recoding with the cells that the job's labels ask for. Labels that came of
/// suppressed rows are made again.
pub(crate) fn classes(plan: &Plan, coding: &mut Coding, found: &mut Found) -> Classes {
    relabel(plan, &mut coding.set, &found.assignment.class_of);
    match (&found.recoding, plan.labels) {
        (Recoding::Partition(_) | Recoding::Intervals(_), LabelForm::Region) => {
            region_classes(&coding.set, found)
        }
        (Recoding::Intervals(cuts), _) => recode_cuts(&coding.set, &found.assignment, cuts),
        (Recoding::FullDomain(levels), _) => recode_levels(&coding.set, &found.assignment, levels),
        (Recoding::Blocks(blocks), _) => recode_blocks(&coding.set, &found.assignment, blocks),
        (Recoding::Local(divided), _) => recode(&coding.set, &found.assignment, divided),
        (Recoding::Partition(tree), _) => {
            let divided = tree.divided(&coding.set.attributes, &[]);
            recode(&coding.set, &found.assignment, &divided)
        }
    }
}

/// The cuts of a recoding file, as far as the table has their values.
fn start_of(path: &Path, set: &FrequencySet) -> Result<Cuts, JobError> {
    let file = RecodingFile::read(path)?;
    if file.kind != RecodingKind::SingleDimensional {
        return Err(Problem::new(format!(
            "`{}` is a {} recoding, which koptimize cannot begin with",
            path.display(),
            file.kind
        ))
        .help("name one that single-dimensional, hill-climb or koptimize wrote")
        .into());
    }
    Ok(file.cuts_in(set))
}

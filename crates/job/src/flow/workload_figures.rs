//! How good a release is for its workload.

use incrowd_data::{Assignment, FrequencySet, Recoded, Region, SUPPRESSED};
use incrowd_evaluate::learn::score::conditional_entropy;
use incrowd_search::{Found, Target};

use crate::flow::coding::Coding;
use crate::plan::Plan;
use crate::plan::condition::regions;
use crate::report::{SelectionFigures, TargetFigures, WorkloadReport};
use crate::spec::error::Problem;

/// The figures of a release, if its job has a workload.
pub(crate) fn workload_report(
    plan: &Plan,
    coding: &Coding,
    found: &Found,
    recoded: &Recoded,
) -> Result<Option<WorkloadReport>, Problem> {
    let targets = coding.workload.iter().flat_map(|workload| &workload.targets);
    let targets: Vec<TargetFigures> = plan
        .targets()
        .zip(targets)
        .map(|(at, target)| target_figures(&plan.columns[at].name, *target, coding, found))
        .collect();
    let mut selections = Vec::new();
    for (text, condition) in &plan.workload.selections {
        let regions = regions(&coding.set.attributes, condition)?;
        let (rows, imprecision) = imprecision(&coding.set, recoded, &found.assignment, &regions);
        selections.push(SelectionFigures { select: text.clone(), rows, imprecision });
    }
    let is_empty = targets.is_empty() && selections.is_empty();
    Ok((!is_empty).then_some(WorkloadReport { targets, selections }))
}

fn target_figures(name: &str, target: Target, coding: &Coding, found: &Found) -> TargetFigures {
    let column = name.to_owned();
    let class_of = &found.assignment.class_of;
    let released = coding.vector_of.iter().filter(|v| class_of[**v as usize] != SUPPRESSED);
    match target {
        Target::Labels(extra) => {
            let codes = &coding.set.extras[extra].codes;
            let (classes, labels): (Vec<u32>, Vec<u32>) =
                released.map(|&v| (class_of[v as usize], codes.get(v as usize))).unzip();
            TargetFigures {
                column,
                entropy: Some(conditional_entropy(&vec![0; labels.len()], &labels)),
                conditional_entropy: Some(conditional_entropy(&classes, &labels)),
                error_share: None,
            }
        }
        Target::Numbers(extra) => {
            let extra = &coding.set.extras[extra];
            let number = |v: u32| extra.positions.get(extra.codes.get(v as usize) as usize);
            let numbers: Vec<(u32, f64)> =
                released.filter_map(|&v| Some((class_of[v as usize], *number(v)?))).collect();
            let whole: Vec<(u32, f64)> = numbers.iter().map(|(_, number)| (0, *number)).collect();
            let (within, whole) = (squared_error(&numbers), squared_error(&whole));
            let error_share = Some(if whole > 0.0 { within / whole } else { 0.0 });
            TargetFigures { column, entropy: None, conditional_entropy: None, error_share }
        }
    }
}

/// The squared error about the means of the classes.
fn squared_error(numbers: &[(u32, f64)]) -> f64 {
    let n_classes = numbers.iter().map(|(class, _)| *class as usize + 1).max().unwrap_or(0);
    let mut sums = vec![(0.0, 0.0); n_classes];
    for &(class, number) in numbers {
        let (sum, n) = &mut sums[class as usize];
        *sum += number;
        *n += 1.0;
    }
    let of = |&(class, number): &(u32, f64)| {
        let (sum, n) = sums[class as usize];
        (number - sum / n).powi(2)
    };
    numbers.iter().map(of).sum()
}

/// An attribute and the runs of its codes that a region admits.
type Side = (usize, Vec<(u32, u32)>);

/// Rows of a release that satisfy a condition, and further rows of classes whose cells overlap it:
/// its imprecision (KDD 2006, equation 5).
pub(crate) fn imprecision(
    set: &FrequencySet,
    recoded: &Recoded,
    assignment: &Assignment,
    regions: &[Region],
) -> (u64, u64) {
    let is_in = |region: &Region, vector: usize| {
        region.sides.iter().all(|(at, codes)| codes.contains(set.vectors[*at].get(vector)))
    };
    let mut satisfied = 0;
    for (vector, &rows) in set.counts.iter().enumerate() {
        let is_released = assignment.class_of[vector] != SUPPRESSED;
        if is_released && regions.iter().any(|region| is_in(region, vector)) {
            satisfied += u64::from(rows);
        }
    }
    let sides = |region: &Region| -> Vec<Side> {
        region.sides.iter().map(|(at, codes)| (*at, codes.runs())).collect()
    };
    let runs: Vec<Vec<Side>> = regions.iter().map(sides).collect();
    let overlaps = |class: usize| {
        runs.iter().any(|sides| {
            sides.iter().all(|(at, runs)| {
                let column = &recoded.columns[*at];
                let cell = &column.cells[column.of_class[class] as usize];
                let is_met = |lo: u32, hi: u32| {
                    let next = runs.partition_point(|run| run.1 < lo);
                    runs.get(next).is_some_and(|run| run.0 <= hi)
                };
                set.attributes[*at].runs(cell).into_iter().any(|(lo, hi)| is_met(lo, hi))
            })
        })
    };
    let selected: u64 =
        (0..recoded.sizes.len()).filter(|&class| overlaps(class)).map(|c| recoded.sizes[c]).sum();
    (satisfied, selected - satisfied.min(selected))
}

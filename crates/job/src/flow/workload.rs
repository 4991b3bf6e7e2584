//! The workload of a job in the codes of a table, as the search looks at it.

use incrowd_data::{Aggregate, Attribute, Condition, Shape};
use incrowd_search::{QueryValue, Split, Target, WeightedQuery, Workload, WorkloadUse};

use crate::flow::ordered::Ordered;
use crate::plan::Plan;
use crate::plan::condition::{MOST_BOXES, rectangles};
use crate::plan::workload::{
    MOST_LABELS, MOST_NUMERIC_LABELS, SplitName, WorkloadPlan, about, is_number,
};
use crate::spec::error::{JobError, Problem};

pub(crate) use crate::plan::condition::regions;

/// The most counts by value and label of one column that tds keeps: a gigabyte.
const MOST_COUNTS: u64 = 1 << 27;

impl WorkloadPlan {
    /// The workload in the codes of a table. `extras` are the targets' columns and those that
    /// queries add up, by the columns of the source, with their places among the extra columns.
    pub(crate) fn build(
        &self,
        plan: &Plan,
        attributes: &[Attribute],
        extras: &[(usize, usize, &Ordered)],
    ) -> Result<Workload, JobError> {
        let mut problems = Vec::new();
        let targets =
            if self.uses_targets { self.targets(plan, extras, &mut problems) } else { Vec::new() };
        let n_labels: u64 =
            extras.iter().map(|(_, _, o)| u64::from(o.ranked.dictionary.n_codes())).sum();
        let is_tds = plan.method.algorithm.workload() == WorkloadUse::Targets;
        for attribute in attributes.iter().filter(|_| is_tds) {
            if u64::from(attribute.n_codes()) * n_labels > MOST_COUNTS {
                problems.push(
                    Problem::new(format!(
                        "tds counts every value of `{}` by label: {} values and {n_labels} labels are too many",
                        attribute.name,
                        attribute.n_codes()
                    ))
                    .help("use --algorithm mondrian --split infogain"),
                );
            }
        }
        let mut selections = Vec::new();
        if self.has(SplitName::Selection) {
            for (text, condition) in &self.selections {
                match regions(attributes, condition) {
                    Ok(found) => {
                        selections.extend(found.iter().flat_map(|r| rectangles(attributes, r)));
                    }
                    Err(problem) => problems.push(about(text, problem)),
                }
            }
        }
        if self.has(SplitName::Selection) && selections.iter().all(|r| r.sides.is_empty()) {
            problems.push(
                Problem::new("no selection tells rows apart by a recoded column that the table has values for")
                    .help("the release selects by other columns exactly; drop --split selection"),
            );
        }
        let queries = if self.has(SplitName::Queries) {
            self.weighted(plan, attributes, extras, &mut problems)
        } else {
            Vec::new()
        };
        let n_boxes = queries.iter().map(|query| query.regions.len()).sum::<usize>();
        for (what, n) in [("selections", selections.len()), ("queries", n_boxes)] {
            if n > MOST_BOXES {
                problems.push(
                    Problem::new(format!(
                        "the {what} fall apart into {n} rectangles, the most are {MOST_BOXES}"
                    ))
                    .help("leave some out, or write them with fewer ORs and INs"),
                );
            }
        }
        let splits = self.splits();
        if problems.is_empty() {
            Ok(Workload { splits, targets, selections, queries })
        } else {
            Err(JobError::Request(problems))
        }
    }

    /// Refuses selections that do not fit the values of their columns, also if no search looks at
    /// them.
    pub(crate) fn check_selections(&self, attributes: &[Attribute]) -> Result<(), JobError> {
        let wrong = |(text, condition): &(String, Condition)| {
            regions(attributes, condition).err().map(|problem| about(text, problem))
        };
        let problems: Vec<Problem> = self.selections.iter().filter_map(wrong).collect();
        if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
    }

    /// The criteria in the order in which they are asked. Selections go before the targets'
    /// criterion, and what queries leave open is cut at the median.
    fn splits(&self) -> Vec<Split> {
        let mut splits: Vec<Split> = Vec::new();
        for name in &self.names {
            let split = match name {
                SplitName::Median => Split::Median,
                SplitName::InfoGain | SplitName::Lsd => Split::Targets,
                SplitName::Selection => Split::Selection,
                SplitName::Queries => Split::Queries,
            };
            if !splits.contains(&split) {
                splits.push(split);
            }
        }
        let goes_on = splits.iter().any(|split| matches!(split, Split::Median | Split::Targets));
        if !goes_on && self.uses_targets {
            splits.push(Split::Targets);
        } else if !goes_on && splits.contains(&Split::Queries) {
            splits.push(Split::Median);
        }
        splits
    }

    /// The targets, each as labels or numbers.
    fn targets(
        &self,
        plan: &Plan,
        extras: &[(usize, usize, &Ordered)],
        problems: &mut Vec<Problem>,
    ) -> Vec<Target> {
        let is_tds = plan.method.algorithm.workload() == WorkloadUse::Targets;
        let wants_numbers = self.has(SplitName::Lsd);
        let mut targets = Vec::new();
        for (at, extra, ordered) in extras.iter().filter(|(at, _, _)| plan.columns[*at].spec.target)
        {
            let name = &plan.columns[*at].name;
            let dictionary = &ordered.ranked.dictionary;
            let n_labels = dictionary.n_codes();
            let is_label = !self.predicts_number(dictionary.kind, n_labels);
            if is_label && n_labels > MOST_LABELS {
                problems.push(
                    Problem::new(format!(
                        "the target `{name}` has {n_labels} labels, the most are {MOST_LABELS}"
                    ))
                    .help("group them, or name another target"),
                );
            }
            if is_tds && !is_label {
                problems.push(
                    Problem::new(format!(
                        "tds predicts labels, the target `{name}` has {n_labels} different numbers"
                    ))
                    .help("use --algorithm mondrian --split lsd"),
                );
            }
            targets.push(if is_label { Target::Labels(*extra) } else { Target::Numbers(*extra) });
        }
        let n_labels = targets.iter().filter(|t| matches!(t, Target::Labels(_))).count();
        if wants_numbers && n_labels == targets.len() && !self.has(SplitName::InfoGain) {
            problems.push(
                Problem::new("splitting by lsd needs a target of numbers")
                    .help("use --split infogain for labels"),
            );
        }
        if self.has(SplitName::InfoGain) && !wants_numbers && n_labels == 0 {
            problems.push(
                Problem::new(format!(
                    "splitting by infogain needs a target of labels; numbers with more than \
                     {MOST_NUMERIC_LABELS} values are none"
                ))
                .help("use --split lsd for numbers"),
            );
        }
        targets
    }

    fn weighted(
        &self,
        plan: &Plan,
        attributes: &[Attribute],
        extras: &[(usize, usize, &Ordered)],
        problems: &mut Vec<Problem>,
    ) -> Vec<WeightedQuery> {
        let mut found = Vec::new();
        for (query, weight) in &self.queries {
            let regions = match regions(attributes, &query.condition) {
                Ok(regions) => regions,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            for aggregate in &query.aggregates {
                let is_mean = matches!(aggregate, Aggregate::Avg(_));
                let value =
                    value_of(plan, attributes, extras, aggregate).unwrap_or_else(|problem| {
                        problems.push(problem);
                        QueryValue::Rows
                    });
                let regions = regions.clone();
                found.push(WeightedQuery { regions, value, is_mean, weight: *weight });
            }
        }
        found
    }
}

/// What an aggregate adds up. A least or greatest value is treated as a count.
fn value_of(
    plan: &Plan,
    attributes: &[Attribute],
    extras: &[(usize, usize, &Ordered)],
    aggregate: &Aggregate,
) -> Result<QueryValue, Problem> {
    let (Aggregate::Sum(column) | Aggregate::Avg(column)) = aggregate else {
        return Ok(QueryValue::Rows);
    };
    let refused = || {
        Problem::new(format!(
            "a query of the workload adds up `{column}`, which is not a column of numbers"
        ))
        .help("add up a column of numbers, or count rows")
    };
    if let Some(at) = attributes.iter().position(|attribute| attribute.name == *column) {
        let Attribute { shape, dictionary, .. } = &attributes[at];
        return match shape {
            Shape::Numeric if is_number(dictionary.kind) => Ok(QueryValue::Attribute(at)),
            // Leaves that read as numbers: their sums are right if the rows are.
            Shape::Tree(_) | Shape::Ordinal => Ok(QueryValue::Rows),
            _ => Err(refused()),
        };
    }
    let found = extras.iter().find(|(at, _, _)| plan.columns[*at].name == *column);
    match found {
        Some((_, extra, ordered)) if is_number(ordered.ranked.dictionary.kind) => {
            Ok(QueryValue::Extra(*extra))
        }
        _ => Err(refused()),
    }
}

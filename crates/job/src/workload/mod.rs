//! What a release is for: the job's targets, selections and queries, checked and put into codes.

mod condition;
mod report;

use std::path::Path;

use incrowd_data::{Aggregate, Attribute, Condition, Kind, Query, Shape};
use incrowd_engine::{parse_condition, parse_query};
use incrowd_search::{QueryValue, Split, Target, WeightedQuery, Workload, WorkloadUse};

use crate::coding::Ordered;
use crate::error::{JobError, Problem};
use crate::naming::suggest;
use crate::plan::{Plan, Role};
use crate::query::{queries_of_file, weighted};
use crate::spec::{JobSpec, QuerySpec};
use condition::{recoded_part, rectangles};

pub(crate) use condition::regions;
pub use report::{SelectionFigures, TargetFigures, WorkloadReport};
pub(crate) use report::{imprecision, workload_report};

/// How mondrian chooses its cuts, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitName {
    Median,
    InfoGain,
    Lsd,
    Selection,
    Queries,
}

const SPLITS: [(&str, SplitName); 5] = [
    ("median", SplitName::Median),
    ("infogain", SplitName::InfoGain),
    ("lsd", SplitName::Lsd),
    ("selection", SplitName::Selection),
    ("queries", SplitName::Queries),
];

/// Whether a word names a way to choose cuts; if not, that is a problem.
pub(crate) fn is_split(word: &str, problems: &mut Vec<Problem>) -> bool {
    crate::plan::choice("split", Some(word), &SPLITS, problems).is_some()
}

/// Numbers with at most this many values are labels to information gain.
const MOST_NUMERIC_LABELS: u32 = 20;

/// The most labels of a target.
pub(crate) const MOST_LABELS: u32 = 1000;

/// The most counts by value and label of one column that tds keeps: a gigabyte.
const MOST_COUNTS: u64 = 1 << 27;

/// The most regions of all selections or of all queries together.
const MOST_BOXES: usize = 1024;

/// A checked workload, by the columns of the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkloadPlan {
    names: Vec<SplitName>,
    pub(crate) selections: Vec<(String, Condition)>,
    queries: Vec<(Query, f64)>,
    /// Whether a search looks at the targets.
    pub(crate) uses_targets: bool,
}

impl WorkloadPlan {
    /// Checks what a job says of its workload.
    pub(crate) fn new(spec: &JobSpec, plan: &Plan, problems: &mut Vec<Problem>) -> WorkloadPlan {
        let names = names(spec, plan, problems);
        let mut selections = Vec::new();
        for text in &spec.workload.select {
            match parse_condition(text) {
                Ok(condition) => selections.push((text.clone(), condition)),
                Err(error) => problems.push(wrong("a selection", text, &error)),
            }
        }
        let queries = queries(spec, problems);
        let splits = plan.method.algorithm.workload() == WorkloadUse::Splits;
        let mut workload = WorkloadPlan { names, selections, queries, uses_targets: false };
        let is_tds = plan.method.algorithm.workload() == WorkloadUse::Targets;
        let asks_targets =
            workload.has(SplitName::InfoGain) || workload.has(SplitName::Lsd) || is_tds;
        let composed = workload.has(SplitName::Selection) && plan.target().is_some();
        workload.uses_targets = asks_targets || composed && splits;
        workload.check_columns(plan, problems);
        let names_target =
            !spec.workload.targets.is_empty() || spec.columns.values().any(|column| column.target);
        if asks_targets && !names_target {
            let what = if is_tds { "tds" } else { "splitting by infogain or lsd" };
            problems.push(
                Problem::new(format!("{what} needs a target"))
                    .help("name the column that will be predicted with --target"),
            );
        }
        if workload.has(SplitName::Selection) && spec.workload.select.is_empty() {
            problems.push(
                Problem::new("splitting by selection needs a selection")
                    .help("say what will be selected, e.g. --select \"age >= 40\""),
            );
        }
        let has_queries = !spec.workload.queries.is_empty() || spec.workload.queries_file.is_some();
        if workload.has(SplitName::Queries) && !has_queries {
            problems.push(
                Problem::new("splitting by queries needs queries").help(
                    "say what will be asked, e.g. --query \"SELECT COUNT(*) WHERE age < 30\"",
                ),
            );
        }
        workload
    }

    fn has(&self, name: SplitName) -> bool {
        self.names.contains(&name)
    }

    /// Whether the search makes use of it.
    pub(crate) fn is_used(&self) -> bool {
        self.uses_targets || self.has(SplitName::Selection) || self.has(SplitName::Queries)
    }

    /// What is said of the release but not looked at by the search.
    pub(crate) fn unused(&self, plan: &Plan) -> Option<String> {
        let parts = [
            ("selections", !self.selections.is_empty() && !self.has(SplitName::Selection)),
            ("queries", !self.queries.is_empty() && !self.has(SplitName::Queries)),
        ];
        let unused: Vec<&str> =
            parts.iter().filter(|(_, is_unused)| *is_unused).map(|(what, _)| *what).collect();
        let splits = plan.method.algorithm.workload() == WorkloadUse::Splits;
        (!unused.is_empty()).then(|| {
            let way = if splits { "--split" } else { "--algorithm mondrian --split" };
            let names = unused.join(",").replace("selections", "selection");
            format!("the search does not look at the {}; {way} {names} does", unused.join(" and "))
        })
    }

    /// The columns that queries add up and that are released as they are.
    pub(crate) fn asked_columns(&self) -> impl Iterator<Item = &str> {
        let is_used = self.has(SplitName::Queries);
        let queries = self.queries.iter().filter(move |_| is_used);
        queries.flat_map(|(query, _)| query.aggregates.iter().filter_map(Aggregate::column))
    }

    /// Refuses columns that are not there, and conditions on columns that are not recoded.
    fn check_columns(&self, plan: &Plan, problems: &mut Vec<Problem>) {
        let mut seen: Vec<&str> = Vec::new();
        let names: Vec<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
        let conditions = self.selections.iter().map(|(_, condition)| condition);
        let conditions: Vec<&Condition> =
            conditions.chain(self.queries.iter().map(|(query, _)| &query.condition)).collect();
        let tested = conditions.iter().flat_map(|condition| condition.columns());
        let of_queries = self.queries.iter().flat_map(|(query, _)| {
            query
                .aggregates
                .iter()
                .filter_map(Aggregate::column)
                .chain(query.group_by.iter().map(|c| &**c))
        });
        for name in tested.chain(of_queries) {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            if !names.contains(&name) {
                let problem =
                    Problem::new(format!("the workload names `{name}`, which is not in the input"));
                problems.push(suggest(plan.looks_headerless, problem, name, &names));
            }
        }
        if !problems.is_empty() {
            return;
        }
        let is_quasi =
            |name: &str| plan.columns.iter().any(|c| c.name == name && c.role == Some(Role::Quasi));
        let is_out = |name: &str| {
            let column = plan.columns.iter().find(|column| column.name == name);
            column.is_none_or(|column| matches!(column.role, None | Some(Role::Identifier)))
        };
        for condition in conditions {
            let columns = condition.columns();
            if recoded_part(condition, &is_quasi).is_none() {
                problems.push(
                    Problem::new(format!(
                        "a condition of the workload joins recoded and other columns by OR: {}",
                        columns.join(", ")
                    ))
                    .help("write a condition for each, or join them by AND"),
                );
            }
        }
        for name in seen.iter().filter(|name| is_out(name)) {
            problems.push(
                Problem::new(format!("the workload asks for `{name}`, which is not released"))
                    .help("give the column a role, or ask for others"),
            );
        }
        self.check_sums(plan, problems);
    }

    /// Refuses queries that would have the search look at what it must not, or cannot.
    fn check_sums(&self, plan: &Plan, problems: &mut Vec<Problem>) {
        let mut sensitive: Vec<&str> = self.asked_columns().collect();
        sensitive.sort_unstable();
        sensitive.dedup();
        sensitive.retain(|name| {
            plan.columns.iter().any(|c| c.name == *name && c.role == Some(Role::Sensitive))
        });
        for name in sensitive {
            problems.push(
                Problem::new(format!(
                    "a query of the workload adds up `{name}`, which is sensitive"
                ))
                .help(
                    "a release made to tell its values would undo their protection; \
                         leave the query out of the search",
                ),
            );
        }
        if self.queries.iter().any(|(query, _)| !query.group_by.is_empty()) {
            problems.push(
                Problem::new(
                    "a query of the workload has a GROUP BY, which the search cannot look at",
                )
                .help("write a query for each group, with a WHERE"),
            );
        }
    }

    /// The workload in the codes of a table. `extras` are the targets' columns and those that queries add
    /// up, by the columns of the source, with their places among the extra columns.
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

    /// Refuses selections that do not fit the values of their columns, also if no search looks at them.
    pub(crate) fn check_selections(&self, attributes: &[Attribute]) -> Result<(), JobError> {
        let wrong = |(text, condition): &(String, Condition)| {
            regions(attributes, condition).err().map(|problem| about(text, problem))
        };
        let problems: Vec<Problem> = self.selections.iter().filter_map(wrong).collect();
        if problems.is_empty() { Ok(()) } else { Err(JobError::Request(problems)) }
    }

    /// The criteria in the order in which they are asked. Selections go before the targets' criterion, and
    /// what queries leave open is cut at the median.
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

    /// Whether a target of a kind with so many values is predicted as a number rather than as a label.
    pub(crate) fn predicts_number(&self, kind: Kind, n_values: u32) -> bool {
        is_number(kind) && (self.has(SplitName::Lsd) || n_values > MOST_NUMERIC_LABELS)
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

/// Whether values are numbers that can be added up.
fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Decimal)
}

fn names(spec: &JobSpec, plan: &Plan, problems: &mut Vec<Problem>) -> Vec<SplitName> {
    let Some(text) = &spec.search.split else { return Vec::new() };
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let names: Vec<SplitName> = words
        .iter()
        .filter_map(|word| crate::plan::choice("split", Some(word), &SPLITS, problems))
        .collect();
    let is_median = names.iter().all(|name| *name == SplitName::Median);
    if plan.method.algorithm.is_relaxed() && !is_median {
        problems.push(
            Problem::new("relaxed partitioning cuts at medians only")
                .help("drop --relaxed or --split"),
        );
    } else if plan.method.algorithm.workload() != WorkloadUse::Splits && !is_median {
        problems.push(
            Problem::new("`split` is for the algorithm mondrian")
                .help("drop it, or ask for --algorithm mondrian"),
        );
    }
    names
}

/// The queries of the job and of its file.
fn queries(spec: &JobSpec, problems: &mut Vec<Problem>) -> Vec<(Query, f64)> {
    let mut texts: Vec<(String, f64)> = Vec::new();
    for query in &spec.workload.queries {
        texts.push(match query {
            QuerySpec::Sql(text) => match weighted(text) {
                Ok((weight, sql)) => (sql.to_owned(), weight),
                Err(problem) => {
                    problems.push(about(text, problem));
                    continue;
                }
            },
            QuerySpec::Weighted(query) => (query.sql.clone(), query.weight),
        });
    }
    if let Some(path) = &spec.workload.queries_file {
        match queries_of_file(Path::new(path)) {
            Ok(queries) => {
                texts.extend(queries.into_iter().map(|query| (query.text, query.weight)));
            }
            Err(JobError::Request(more)) => problems.extend(more),
            Err(_) => {}
        }
    }
    let mut found = Vec::new();
    for (text, weight) in texts {
        if !(weight.is_finite() && weight > 0.0) {
            problems.push(about(
                &text,
                Problem::new(format!("a weight must be a number above 0, found {weight}")),
            ));
        }
        match parse_query(&text) {
            Ok(query) => found.push((query, weight)),
            Err(error) => problems.push(wrong("a query", &text, &error)),
        }
    }
    found
}

fn wrong(what: &str, text: &str, error: &dyn std::error::Error) -> Problem {
    Problem::new(format!("{what} of the workload, `{}`: {error}", shortened(text)))
}

fn about(text: &str, problem: Problem) -> Problem {
    Problem { message: format!("`{}`: {}", shortened(text), problem.message), ..problem }
}

/// The beginning of a text that the user wrote.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain("...".chars()).collect()
}

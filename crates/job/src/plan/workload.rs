//! What a release is for: the job's targets, selections and queries, checked and put into codes.

use std::path::Path;

use incrowd_data::{Aggregate, Condition, Kind, Query};
use incrowd_engine::{parse_condition, parse_query};
use incrowd_search::{Algorithm, WorkloadUse};

use crate::plan::PlannedColumn;
use crate::plan::columns::targets;
use crate::plan::condition::recoded_part;
use crate::plan::naming::suggest;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::queries::{queries_of_file, weighted};
use crate::spec::{JobSpec, QuerySpec, Role};

/// How mondrian chooses its cuts, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitName {
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
    choice("split", Some(word), &SPLITS, problems).is_some()
}

/// Numbers with at most this many values are labels to information gain.
pub(crate) const MOST_NUMERIC_LABELS: u32 = 20;

/// The most labels of a target.
pub(crate) const MOST_LABELS: u32 = 1000;

/// A checked workload, by the columns of the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkloadPlan {
    pub(crate) names: Vec<SplitName>,
    pub(crate) selections: Vec<(String, Condition)>,
    pub(crate) queries: Vec<(Query, f64)>,
    /// Whether a search looks at the targets.
    pub(crate) uses_targets: bool,
}

/// The table that a workload asks of.
pub(crate) struct PlannedTable<'a> {
    pub(crate) columns: &'a [PlannedColumn],
    /// Whether the names of columns may be cells, which no message tells.
    pub(crate) looks_headerless: bool,
}

impl WorkloadPlan {
    /// Checks what a job says of its workload.
    pub(crate) fn new(
        spec: &JobSpec,
        algorithm: Algorithm,
        table: &PlannedTable,
        problems: &mut Vec<Problem>,
    ) -> WorkloadPlan {
        let names = names(spec, algorithm, problems);
        let mut selections = Vec::new();
        for text in &spec.workload.select {
            match parse_condition(text) {
                Ok(condition) => selections.push((text.clone(), condition)),
                Err(error) => problems.push(wrong("a selection", text, &error)),
            }
        }
        let queries = queries(spec, problems);
        let splits = algorithm.workload() == WorkloadUse::Splits;
        let mut workload = WorkloadPlan { names, selections, queries, uses_targets: false };
        let is_tds = algorithm.workload() == WorkloadUse::Targets;
        let asks_targets =
            workload.has(SplitName::InfoGain) || workload.has(SplitName::Lsd) || is_tds;
        let composed =
            workload.has(SplitName::Selection) && targets(table.columns).next().is_some();
        workload.uses_targets = asks_targets || composed && splits;
        workload.check_columns(table, problems);
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

    pub(crate) fn has(&self, name: SplitName) -> bool {
        self.names.contains(&name)
    }

    /// Whether the search makes use of it.
    pub(crate) fn is_used(&self) -> bool {
        self.uses_targets || self.has(SplitName::Selection) || self.has(SplitName::Queries)
    }

    /// What is said of the release but not looked at by the search.
    pub(crate) fn unused(&self, algorithm: Algorithm) -> Option<String> {
        let parts = [
            ("selections", !self.selections.is_empty() && !self.has(SplitName::Selection)),
            ("queries", !self.queries.is_empty() && !self.has(SplitName::Queries)),
        ];
        let unused: Vec<&str> =
            parts.iter().filter(|(_, is_unused)| *is_unused).map(|(what, _)| *what).collect();
        let splits = algorithm.workload() == WorkloadUse::Splits;
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
    fn check_columns(&self, table: &PlannedTable, problems: &mut Vec<Problem>) {
        let mut seen: Vec<&str> = Vec::new();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
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
                problems.push(suggest(table.looks_headerless, problem, name, &names));
            }
        }
        if !problems.is_empty() {
            return;
        }
        let is_quasi = |name: &str| {
            table.columns.iter().any(|c| c.name == name && c.role == Some(Role::Quasi))
        };
        let is_out = |name: &str| {
            let column = table.columns.iter().find(|column| column.name == name);
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
        self.check_sums(table, problems);
    }

    /// Refuses queries that would have the search look at what it must not, or cannot.
    fn check_sums(&self, table: &PlannedTable, problems: &mut Vec<Problem>) {
        let mut sensitive: Vec<&str> = self.asked_columns().collect();
        sensitive.sort_unstable();
        sensitive.dedup();
        sensitive.retain(|name| {
            table.columns.iter().any(|c| c.name == *name && c.role == Some(Role::Sensitive))
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

    /// Whether a target of a kind with so many values is predicted as a number rather than as a
    /// label.
    pub(crate) fn predicts_number(&self, kind: Kind, n_values: u32) -> bool {
        is_number(kind) && (self.has(SplitName::Lsd) || n_values > MOST_NUMERIC_LABELS)
    }
}

/// Whether values are numbers that can be added up.
pub(crate) fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Decimal)
}

fn names(spec: &JobSpec, algorithm: Algorithm, problems: &mut Vec<Problem>) -> Vec<SplitName> {
    let Some(text) = &spec.search.split else { return Vec::new() };
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let names: Vec<SplitName> =
        words.iter().filter_map(|word| choice("split", Some(word), &SPLITS, problems)).collect();
    let is_median = names.iter().all(|name| *name == SplitName::Median);
    if algorithm.is_relaxed() && !is_median {
        problems.push(
            Problem::new("relaxed partitioning cuts at medians only")
                .help("drop --relaxed or --split"),
        );
    } else if algorithm.workload() != WorkloadUse::Splits && !is_median {
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

pub(crate) fn about(text: &str, problem: Problem) -> Problem {
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

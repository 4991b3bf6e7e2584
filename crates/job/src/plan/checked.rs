//! A job checked against its source: every name resolved, every parameter in range.

use incrowd_data::{Dictionary, Kind};
use incrowd_engine::{Source, Use};
use incrowd_quality::Measure;
use incrowd_release::LabelForm;

use crate::plan::columns::{columns, take_declared, targets, with_role};
use crate::plan::method::{Method, method};
use crate::plan::models::ModelSpec;
use crate::plan::sets::{QuasiSet, sets};
use crate::plan::wanted::html_wanted;
use crate::plan::workload::{PlannedTable, WorkloadPlan};
use crate::plan::{PlannedColumn, Purpose};
use crate::report::wanted::HtmlWanted;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::limits::{RiskLimit, limits};
use crate::spec::{JobSpec, Role, SuppressLimit};

/// A checked job.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
pub(crate) struct Plan {
    pub(crate) columns: Vec<PlannedColumn>,
    /// What must hold: the sets as they are named, then the coalitions.
    pub(crate) sets: Vec<QuasiSet>,
    /// The greatest k of all sets.
    pub(crate) k: Option<u64>,
    pub(crate) models: Vec<ModelSpec>,
    /// The risks that are allowed.
    pub(crate) limits: Vec<RiskLimit>,
    pub(crate) suppress: SuppressLimit,
    pub(crate) method: Method,
    pub(crate) workload: WorkloadPlan,
    pub(crate) measure: Measure,
    pub(crate) labels: LabelForm,
    pub(crate) stars_suppressed: bool,
    pub(crate) missing_is_error: bool,
    /// Whether a missing sensitive cell counts as one more value.
    pub(crate) missing_is_value: bool,
    /// The HTML report, if one is wanted.
    pub(crate) html: Option<HtmlWanted>,
    /// Whether the names of columns may be cells, which no message tells.
    pub(crate) looks_headerless: bool,
    /// Whether the job leaves columns without a role out.
    pub(crate) drops_undeclared: bool,
    /// What to know about the columns, though nothing is amiss.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// The plan for a table that says less of its columns than the source: by column, what its
    /// values are.
    pub(crate) fn with_kinds(&self, kinds: &[Option<Kind>]) -> Plan {
        let mut plan = self.clone();
        for (column, kind) in plan.columns.iter_mut().zip(kinds) {
            column.kind = column.kind.or(*kind);
        }
        plan
    }

    /// Whether a message may name a column: the job does, or the input has a header.
    pub(crate) fn may_name(&self, name: &str) -> bool {
        let is_said = |column: &PlannedColumn| column.name == name && column.role.is_some();
        !self.looks_headerless || self.columns.iter().any(is_said)
    }

    pub(crate) fn uses(&self) -> Vec<Use> {
        self.columns.iter().map(PlannedColumn::usage).collect()
    }

    pub(crate) fn with_role(&self, role: Role) -> impl Iterator<Item = usize> {
        with_role(&self.columns, role)
    }

    /// How many rows share a cell of a quasi-identifier column at least.
    pub(crate) fn least_rows_of(&self, name: &str) -> u64 {
        let knows = |set: &&QuasiSet| set.columns.iter().any(|&at| self.columns[at].name == name);
        self.sets.iter().filter(knows).filter_map(|set| set.k).max().unwrap_or(2)
    }

    pub(crate) fn entity(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.spec.entity)
    }

    /// The code of a sensitive column's missing cells, if they count for nothing.
    pub(crate) fn counts_for_nothing(&self, dictionary: &Dictionary) -> Option<u32> {
        dictionary.missing().filter(|_| !self.missing_is_value)
    }

    /// The first target, which the classification measure looks at.
    pub(crate) fn target(&self) -> Option<usize> {
        self.targets().next()
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        targets(&self.columns)
    }

    /// Checks a job against its source. Everything that is wrong is reported at once.
    pub(crate) fn new(spec: &JobSpec, source: &Source, purpose: Purpose) -> Result<Plan, JobError> {
        let mut problems = Vec::new();
        let mut columns = columns(spec, source, purpose, &mut problems);
        let notes = take_declared(source, &mut columns, purpose);
        let sets = sets(spec, source, &columns, &mut problems);
        let models = models(spec, &columns, &mut problems);
        check_privacy(spec, purpose, &mut problems);
        let set_ks = spec.quasi.iter().filter_map(|set| set.k);
        let limits = limits(&spec.privacy, set_ks, &mut problems);
        let html = html_wanted(spec, &columns, &mut problems);
        let words = Words::new(spec, &mut problems);
        let method = method(spec, &columns, &mut problems);
        if purpose == Purpose::Release {
            method.check(spec, &columns, words.measure, &mut problems);
        }
        let looks_headerless = source.looks_headerless();
        let mut workload = WorkloadPlan::default();
        if purpose != Purpose::Measure {
            let table = PlannedTable { columns: &columns, looks_headerless };
            workload = WorkloadPlan::new(spec, method.algorithm, &table, &mut problems);
            let asked: Vec<String> = workload.asked_columns().map(str::to_owned).collect();
            for column in &mut columns {
                column.is_asked = asked.contains(&column.name);
            }
        }
        let Words { measure, labels, stars_suppressed, missing_is_error, missing_is_value } = words;
        let plan = Plan {
            html,
            looks_headerless,
            drops_undeclared: spec.undeclared.as_deref() == Some("drop"),
            notes,
            columns,
            k: sets.iter().filter_map(|set| set.k).max(),
            sets,
            models,
            limits,
            suppress: spec.privacy.suppress.clone().unwrap_or(SuppressLimit::Share(0.0)),
            method,
            workload,
            measure,
            labels,
            stars_suppressed,
            missing_is_error,
            missing_is_value,
        };
        if plan.method.is_local() && plan.labels == LabelForm::Region {
            problems.push(
                Problem::new("`region` labels need a recoding with regions; a local one has none")
                    .help("use --labels range, or --algorithm mondrian without --relaxed"),
            );
        }
        if problems.is_empty() { Ok(plan) } else { Err(JobError::Request(problems)) }
    }
}

/// What the words of a job stand for, or their defaults.
struct Words {
    measure: Measure,
    labels: LabelForm,
    stars_suppressed: bool,
    missing_is_error: bool,
    missing_is_value: bool,
}

impl Words {
    fn new(spec: &JobSpec, problems: &mut Vec<Problem>) -> Words {
        let measure = choice("measure", spec.search.measure.as_deref(), &Measure::ALL, problems);
        let labels = choice("labels", spec.release.labels.as_deref(), &LabelForm::NAMES, problems);
        let suppressed = spec.release.suppressed.as_deref();
        let stars = choice("suppressed", suppressed, &[("drop", false), ("star", true)], problems);
        let missing = spec.missing.as_deref();
        let is_error =
            choice("missing", missing, &[("category", false), ("error", true)], problems);
        let missing = spec.privacy.missing_sensitive.as_deref();
        let ways = [("ignore", false), ("value", true)];
        let is_value = choice("missing-sensitive", missing, &ways, problems);
        Words {
            measure: measure.unwrap_or(Measure::Loss),
            labels: labels.unwrap_or(LabelForm::Range),
            stars_suppressed: stars.unwrap_or(false),
            missing_is_error: is_error.unwrap_or(false),
            missing_is_value: is_value.unwrap_or(false),
        }
    }
}

fn models(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Vec<ModelSpec> {
    let sensitive: Vec<usize> =
        (0..columns.len()).filter(|&at| columns[at].role == Some(Role::Sensitive)).collect();
    let mut models = Vec::new();
    for (named, make) in ModelSpec::all(&spec.privacy, problems) {
        let chosen: Vec<usize> = match &named {
            None => sensitive.clone(),
            Some(name) => {
                sensitive.iter().copied().filter(|&at| &columns[at].name == name).collect()
            }
        };
        if chosen.is_empty() {
            let problem = match &named {
                None => Problem::new(
                    "a diversity or closeness model is asked for, but no column is sensitive",
                ),
                Some(name) => {
                    Problem::new(format!("a model names `{name}`, which is not a sensitive column"))
                }
            };
            problems.push(problem.help("declare the column with --sensitive"));
        }
        models.extend(chosen.into_iter().map(|column| ModelSpec { column, ..make }));
    }
    models
}

fn check_privacy(spec: &JobSpec, purpose: Purpose, problems: &mut Vec<Problem>) {
    let is_said = spec.privacy.least_k().is_some() || spec.quasi.iter().any(|set| set.k.is_some());
    if let Some(Err(error)) = spec.privacy.k.map(incrowd_privacy::KAnonymity::new) {
        problems.push(Problem::new(error.to_string()).help("ask for -k 2 or more"));
    }
    if purpose != Purpose::Measure && !is_said {
        problems.push(
            Problem::new("the job has no k").help("say how large a class is at least: -k 10"),
        );
    }
    for set in &spec.quasi {
        let name = &set.name;
        if let Some(Err(error)) = set.k.map(incrowd_privacy::KAnonymity::new) {
            problems.push(
                Problem::new(format!("quasi-identifier set `{name}`: {error}"))
                    .help(format!("ask for -k {name}=2 or more")),
            );
        }
        let k = set.k.or(spec.privacy.least_k());
        if purpose != Purpose::Measure && is_said && k.is_none() {
            problems.push(
                Problem::new(format!("the quasi-identifier set `{name}` has no k")).help(format!(
                    "say -k {name}=10, or -k 10 for all sets without a k of their own"
                )),
            );
        }
    }
    if let Some(limit) = &spec.privacy.suppress {
        problems.extend(limit.rows(0).err());
    }
}

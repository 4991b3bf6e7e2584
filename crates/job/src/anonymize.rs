//! `anonymize`: search, recode, write, verify, publish, report.

use incrowd_data::Kind;
use incrowd_engine::{Engine, Format, Source, Table, read};
use incrowd_release::{Classes, LabelForm, recode, recode_regions};
use incrowd_search::{
    Algorithm, Found, Infeasible, Outcome as SearchOutcome, Problem as SearchProblem, Recoding,
};
use indexmap::IndexMap;

use crate::coding::{Coding, code};
use crate::error::{JobError, Problem};
use crate::measure::{failures, measures_report, privacy_report, release_report, risk_report};
use crate::plan::{Plan, Purpose, Role};
use crate::publish::{Assigned, Release, Written, check_outputs, publish};
use crate::recoding_file::RecodingFile;
use crate::report::{
    Done, InputReport, MeasuresReport, Outcome, RecodingReport, Report, SearchReport, Timings,
};
use crate::run::{Run, Stage, Stopwatch, peak_memory_bytes};
use crate::spec::JobSpec;

/// Turns the job's input into a release. Nothing is written unless every model holds for it.
pub fn anonymize(run: &Run, spec: &JobSpec, force: bool) -> Result<Outcome, JobError> {
    run.with_engine(spec.run.threads, |engine| Job { run, spec, engine, force }.run())
}

struct Job<'a> {
    run: &'a Run,
    spec: &'a JobSpec,
    engine: &'a Engine,
    force: bool,
}

impl Job<'_> {
    fn run(&self) -> Result<Outcome, JobError> {
        let mut clock = Stopwatch::start();
        let mut timings = Timings::default();
        let input = self.spec.input.as_deref().ok_or_else(|| {
            Problem::new("the job has no input").help("name a file, a folder or a glob")
        })?;
        self.run.enter(Stage::Open);
        let source = Source::open(self.engine, input)?;
        let plan = Plan::new(self.spec, &source, Purpose::Release)?;
        let (output, format) = check_outputs(self.spec, &source, self.force)?;
        self.run.enter(Stage::Read);
        let wants_kinds = !matches!(format, Format::Csv(_));
        let mut table = read(self.engine, &source, &plan.uses(), wants_kinds)?;
        refuse_missing(&plan, &table)?;
        timings.read = clock.lap();
        self.run.enter(Stage::Search);
        let coding = code(&plan, &table)?;
        // The quasi-identifier lives on in the frequency set.
        let is_quasi = |name: &str| coding.set.attributes.iter().any(|a| a.name == name);
        table.coded.retain(|column| !is_quasi(&column.name));
        let budget = self.run.budget();
        let problem = SearchProblem {
            set: &coding.set,
            models: &coding.models,
            k: plan.k.unwrap_or(2),
            entity: coding.entity,
            budget: &budget,
        };
        let outcome = plan.algorithm.run(&problem);
        self.run.go_on()?;
        let found = match outcome {
            SearchOutcome::Found(found) => found,
            SearchOutcome::Infeasible(reason) => return Ok(infeasible(&reason, &coding)),
            SearchOutcome::Cancelled => return Err(JobError::Cancelled),
        };
        timings.search = clock.lap();
        self.run.enter(Stage::Recode);
        let classes = classes(&plan, &coding, &found);
        timings.recode = clock.lap();
        let assigned = Assigned {
            class_of: &found.assignment.class_of,
            parts: &found.assignment.parts,
            vector_of: &coding.vector_of,
        };
        let release =
            Release { plan: &plan, table: &table, set: &coding.set, classes: &classes, assigned };
        let written = release.write(self.engine, self.run, &output, format, &mut timings)?;
        source.check_unchanged()?;
        drop(table);
        let written = written.verify(self.engine, self.run, &plan, &mut timings)?;
        if !written.measured.is_satisfied() {
            let reasons = failures(&written.measured);
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        let report = self.report(&plan, &coding, &found, &classes, &written, timings);
        let report = Report {
            input: InputReport { columns: source.columns().len(), ..report.input },
            ..report
        };
        let recoding = || RecodingFile::new(&plan, &coding.set, &found, &classes).to_json();
        publish(
            written.staged,
            &[(&self.spec.report, &|| report.to_json()), (&self.spec.recoding, &recoding)],
            self.force,
        )?;
        Ok(Outcome::Done(Box::new(Done { report, warnings: warnings(&plan) })))
    }

    fn report(
        &self,
        plan: &Plan,
        coding: &Coding,
        found: &Found,
        classes: &Classes,
        written: &Written,
        timings: Timings,
    ) -> Report {
        let recoded = &classes.recoded;
        let n_suppressed = recoded.n_suppressed;
        let attributes = &coding.set.attributes;
        let names = attributes.iter().map(|attribute| attribute.name.clone());
        let by_column = incrowd_quality::loss_by_column(attributes, recoded);
        let cells = names.clone().zip(recoded.columns.iter().map(|column| column.cells.len()));
        let (kind, variant) = match plan.algorithm {
            Algorithm::Mondrian => ("multidimensional", "strict"),
            Algorithm::MondrianRelaxed => ("local", "relaxed"),
        };
        let measures = MeasuresReport {
            loss: Some(incrowd_quality::loss(attributes, recoded)),
            loss_by_column: names.zip(by_column).collect::<IndexMap<_, _>>(),
            entropy: Some(incrowd_quality::entropy(&coding.set, recoded)),
            precision: incrowd_quality::precision(attributes, recoded),
            ..measures_report(plan, &written.measured, n_suppressed)
        };
        Report {
            incrowd: crate::VERSION,
            input: InputReport { rows: coding.set.n_rows, columns: plan.columns.len() },
            job: self.spec.clone(),
            search: Some(SearchReport {
                algorithm: "mondrian".to_owned(),
                variant: Some(variant.to_owned()),
                optimal: false,
                cost: plan.measure.of(&measures),
                lower_bound: None,
                nodes_checked: found.nodes_checked,
                nodes_total: None,
                table_scans: 1,
                distinct_vectors: coding.set.len() as u64,
                elapsed_s: timings.search,
                peak_memory_bytes: peak_memory_bytes(),
            }),
            recoding: Some(RecodingReport { kind, cells: cells.collect() }),
            release: release_report(&written.measured, n_suppressed, written.n_starred),
            privacy: privacy_report(plan, &written.measured),
            risk: risk_report(plan, &written.measured),
            measures,
            timings_s: timings,
        }
    }
}

/// The classes of a recoding with the cells that the job's labels ask for.
fn classes(plan: &Plan, coding: &Coding, found: &Found) -> Classes {
    match (&found.recoding, plan.labels) {
        (Recoding::Partition(tree), LabelForm::Region) => {
            recode_regions(&coding.set, &found.assignment, tree)
        }
        _ => recode(&coding.set, &found.assignment),
    }
}

pub(crate) fn refuse_missing(plan: &Plan, table: &Table) -> Result<(), JobError> {
    if !plan.missing_is_error {
        return Ok(());
    }
    let with_missing: Vec<Problem> = table
        .coded
        .iter()
        .filter(|column| column.has_missing)
        .map(|column| {
            let missing = column.n_codes() - 1;
            let n_rows = column.codes.iter().filter(|&code| code == missing).count();
            let first = column.codes.iter().position(|code| code == missing).unwrap_or(0) + 1;
            Problem::new(format!(
                "column `{}` is missing in {n_rows} rows, the first is data row {first}",
                column.name
            ))
            .help("fill them in, or make them a category of their own with --missing category")
        })
        .collect();
    if with_missing.is_empty() { Ok(()) } else { Err(JobError::Request(with_missing)) }
}

fn infeasible(reason: &Infeasible, coding: &Coding) -> Outcome {
    let n_rows = coding.set.n_rows;
    let (reasons, help) = match reason {
        Infeasible::Empty => (vec!["the table has no rows".to_owned()], None),
        Infeasible::WholeTable { broken } => {
            let sentence = |model: &String| {
                format!("{model} does not hold even if all {n_rows} rows are one class")
            };
            let help = "ask for less (a smaller k, l or error, a larger t), or bring more rows";
            (broken.iter().map(sentence).collect(), Some(help.to_owned()))
        }
    };
    Outcome::Failed { reasons, help, report: None }
}

fn warnings(plan: &Plan) -> Vec<String> {
    let mut warnings = Vec::new();
    let unprotected: Vec<&str> = plan
        .with_role(Role::Sensitive)
        .filter(|at| plan.models.iter().all(|model| model.column != *at))
        .map(|at| plan.columns[at].name.as_str())
        .collect();
    if !unprotected.is_empty() {
        warnings.push(format!(
            "k-anonymity alone does not protect {}: a class may share one value of it; consider \
             --l-diversity or --t-closeness (l and t as they are now stand in the report)",
            unprotected.join(", ")
        ));
    }
    let is_mean = matches!(plan.labels, LabelForm::Mean | LabelForm::RangeMean);
    let has_numbers = plan
        .with_role(Role::Quasi)
        .any(|at| !matches!(plan.columns[at].kind, Some(Kind::Text | Kind::Boolean)));
    if is_mean && has_numbers && plan.k == Some(2) {
        warnings
            .push("with k = 2 a mean and a range together tell both values of a class".to_owned());
    }
    warnings
}

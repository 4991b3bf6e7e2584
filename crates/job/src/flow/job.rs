//! A job on its way: what both ways of holding rows share.

use std::path::Path;

use incrowd_engine::{Engine, Source};
use incrowd_release::Classes;
use incrowd_search::{Found, Outcome as SearchOutcome};

use crate::flow::bounds::Bounds;
use crate::flow::coding::Coding;
use crate::flow::draft::{Ending, ReportDraft};
use crate::flow::ended::Ended;
use crate::flow::figures::Figures;
use crate::flow::infeasible::infeasible;
use crate::flow::input::InMemory;
use crate::flow::measure::failures;
use crate::flow::publish::{SmallFile, Unverified, publish};
use crate::flow::recoding_file::private_path;
use crate::flow::run::Run;
use crate::flow::{recoding_file, stopped_search};
use crate::plan::Plan;
use crate::report::wanted::HtmlWanted;
use crate::report::{Done, Outcome, Timings, inference};
use crate::spec::error::JobError;
use crate::spec::{JobSpec, Role};

/// What is said of a release beside what is measured of it: for programs, and for people.
pub(crate) struct ReleaseNotes {
    pub(crate) figures: Figures,
    pub(crate) draft: ReportDraft,
}

/// A job on its way.
pub(crate) struct Job<'a> {
    pub(crate) run: &'a Run,
    pub(crate) spec: &'a JobSpec,
    pub(crate) engine: &'a Engine,
    /// A table in memory, instead of what the job names.
    pub(crate) in_memory: Option<InMemory<'a>>,
    pub(crate) force: bool,
}

impl Job<'_> {
    /// What a search over so many rows found, or how the job ends without it.
    pub(crate) fn found(
        &self,
        plan: &Plan,
        outcome: SearchOutcome,
        n_rows: u64,
    ) -> Result<Found, Ended> {
        self.run.go_on()?;
        match outcome {
            SearchOutcome::Found(found) => Ok(*found),
            SearchOutcome::Infeasible(reason) => {
                let by_user = self.run.is_stopped();
                Err(Ended::Without(infeasible(plan, &self.spec.run, by_user, &reason, n_rows)?))
            }
            SearchOutcome::Cancelled => Err(JobError::Cancelled.into()),
        }
    }

    /// What is said of a release beside what is measured of it.
    pub(crate) fn figures(
        &self,
        plan: &Plan,
        coding: &Coding,
        found: &Found,
        classes: &Classes,
    ) -> Result<Figures, JobError> {
        let mut figures = Figures::new(plan, coding, found, classes)?;
        if let (Some(_), Some(stopped)) = (&self.spec.run.resume, &found.stopped) {
            figures.stopped_file = Some(stopped_search::text_of(stopped));
        }
        figures.warnings = self.warnings(plan, found);
        if self.spec.recoding.is_some() {
            figures.recoding_file = Some(recoding_file::texts(plan, coding, found, classes));
        }
        Ok(figures)
    }

    /// Verifies what was written, and publishes it with its report if every model holds.
    pub(crate) fn finish(
        &self,
        source: &Source,
        plan: &Plan,
        notes: ReleaseNotes,
        written: Unverified,
        bounds: &Bounds,
        mut timings: Timings,
    ) -> Result<Outcome, JobError> {
        let ReleaseNotes { mut figures, mut draft } = notes;
        draft.take(plan, &written.staged);
        let written = written.verify(self.engine, self.run, plan, bounds, &mut timings)?;
        if !written.measured.is_satisfied() {
            let reasons = failures(&written.measured);
            return Ok(Outcome::Failed { reasons, help: None, report: None });
        }
        figures.warnings.extend(inference::warnings(&written.printed.inference));
        figures.warnings.extend(written.exposure(plan).warnings());
        let (recoding, stopped) = (figures.recoding_file.clone(), figures.stopped_file.clone());
        let warnings = figures.warnings.clone();
        let mut report = figures.report(self.spec, plan, source.columns().len(), &written, timings);
        let Job { run, engine, spec, .. } = *self;
        let staged = &written.staged;
        let warned = &warnings;
        let ending = Ending { run, engine, spec, source, plan, staged, bounds, warnings: warned };
        let text = draft.text(&ending, &mut report)?;
        // The page may tell of the source what was read of it just now.
        source.check_unchanged()?;
        self.run.tell(&report)?;
        let mut files = Vec::new();
        if let Some(path) = &self.spec.report {
            let access = HtmlWanted::access(plan.html.as_ref());
            files.push(SmallFile { access, ..SmallFile::private(path, &text) });
        }
        let private = self.spec.recoding.as_deref().map(|path| private_path(Path::new(path)));
        let private = private.map(|path| path.to_string_lossy().into_owned());
        if let (Some(path), Some(private), Some(texts)) = (&self.spec.recoding, &private, &recoding)
        {
            files.push(SmallFile::private(private, &texts.private));
            files.push(SmallFile::private(path, &texts.public));
        }
        if let (Some(path), Some(text)) = (&self.spec.run.resume, &stopped) {
            files.push(SmallFile { replaces: true, ..SmallFile::private(path, text) });
        }
        publish(run, written.staged, &files, self.force)?;
        Ok(Outcome::Done(Box::new(Done { report, warnings })))
    }

    fn warnings(&self, plan: &Plan, found: &Found) -> Vec<String> {
        let mut all = Vec::new();
        if found.proof.is_cut_short {
            let seen = found.counters.nodes_checked;
            let what = match self.spec.run.node_limit {
                _ if self.run.is_stopped() => "you ended the search",
                Some(most) if seen >= most => "the node limit ended the search",
                _ => "the time limit ended the search",
            };
            all.push(match (found.proof.cost, found.proof.lower_bound) {
                (Some(cost), Some(bound)) => format!(
                    "{what}: the release costs {cost}, no recoding of its kind costs less than {bound}"
                ),
                _ => format!("{what}: the classes could be smaller"),
            });
        }
        all.extend(warnings(plan, found));
        all
    }
}

fn warnings(plan: &Plan, found: &Found) -> Vec<String> {
    let mut warnings = Vec::new();
    let unprotected: Vec<&str> = plan
        .with_role(Role::Sensitive)
        .filter(|at| plan.models.iter().all(|model| model.column != *at))
        .map(|at| plan.columns[at].name.as_str())
        .collect();
    if !unprotected.is_empty() {
        warnings.push(format!(
            "k-anonymity alone does not protect {}: a class may share one value of it; consider \
             --l-diversity or --t-closeness (the report gives the current l and t)",
            unprotected.join(", ")
        ));
    }
    warnings.extend(plan.workload.unused(plan.method.algorithm));
    if plan.method.wants_minimal && found.minimal.is_none() {
        warnings.push("the time limit ended the listing of all minimal generalizations".to_owned());
    }
    warnings.extend(warning_of_union(plan));
    warnings
}

/// What it means that several sets are protected through their union.
fn warning_of_union(plan: &Plan) -> Option<String> {
    if plan.sets.len() == 1 || plan.method.tells_sets_apart() {
        return None;
    }
    let mut says = Vec::new();
    if plan.method.algorithm.is_full_domain() {
        says.push("so that nothing is proved about the optimum for each of them");
    }
    let all: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let is_asked = plan.sets.iter().any(|set| set.covers(&all));
    if !is_asked && !plan.method.is_union {
        says.push("which holds for all attackers together; --algorithm butterfly may lose less");
    }
    let what = "several quasi-identifier sets are protected through their union";
    (!says.is_empty()).then(|| format!("{what}, {}", says.join(", ")))
}

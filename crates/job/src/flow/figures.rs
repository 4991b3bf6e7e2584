//! What is said of a release beside what is measured of its bytes. It is worked out before they are
//! measured, so that classes and vectors need not be held meanwhile.

use incrowd_data::Levels;
use incrowd_engine::Staged;
use incrowd_quality::Measure;
use incrowd_release::{Classes, LabelForm, whole_intervals};
use incrowd_search::{Found, MinimalNode, Recoding};
use indexmap::IndexMap;

use crate::flow::coding::Coding;
use crate::flow::measure::{
    collusion_report, measures_report, privacy_report, release_report, risk_report,
};
use crate::flow::memory::peak_memory_bytes;
use crate::flow::publish::Written;
use crate::flow::recoding_file::kind_of;
use crate::flow::workload_figures::workload_report;
use crate::plan::Plan;
use crate::report::exposure::Exposure;
use crate::report::{
    InputReport, MeasuresReport, MinimalReport, RecodingReport, Report, SearchReport, Timings,
    WorkloadReport,
};
use crate::spec::JobSpec;
use crate::spec::error::JobError;

/// What is said of a release beside what is measured of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    n_rows: u64,
    n_suppressed: u64,
    search: SearchReport,
    recoding: RecodingReport,
    loss: f64,
    loss_by_column: IndexMap<String, f64>,
    entropy: f64,
    precision: Option<f64>,
    height: Option<u64>,
    workload: Option<WorkloadReport>,
    /// The files of the recoding, if the job asks for it.
    pub(crate) recoding_files: Vec<Staged>,
    /// The search as a file, if it was stopped and the job wants to go on with it later.
    pub(crate) stopped_file: Option<String>,
    pub(crate) warnings: Vec<String>,
}

impl Figures {
    pub(crate) fn new(
        plan: &Plan,
        coding: &Coding,
        found: &Found,
        classes: &Classes,
    ) -> Result<Figures, JobError> {
        let recoded = &classes.recoded;
        let attributes = &coding.set.attributes;
        let names = || attributes.iter().map(|attribute| attribute.name.clone());
        let by_name = |levels: &Levels| {
            names().zip(levels.iter().map(|level| level.0)).collect::<IndexMap<_, _>>()
        };
        let levels = match &found.recoding {
            Recoding::FullDomain(levels) => Some(levels),
            _ => None,
        };
        let minimal = found.minimal.as_ref().map(|minimal| {
            let of_node = |node: &MinimalNode| MinimalReport {
                levels: by_name(&node.levels),
                height: node.levels.height(),
                suppressed: node.n_suppressed,
                cost: node.cost,
            };
            minimal.iter().map(of_node).collect()
        });
        // The figures of a workload need all vectors.
        let has_vectors = coding.n_vectors == coding.set.len() as u64;
        let workload =
            if has_vectors { workload_report(plan, coding, found, recoded)? } else { None };
        // As the search counts them, whatever of an interval is printed.
        let whole = match &found.recoding {
            Recoding::Intervals(cuts) if plan.labels != LabelForm::Region => {
                Some(whole_intervals(&coding.set, &found.assignment, cuts))
            }
            _ => None,
        };
        let measured = whole.as_ref().unwrap_or(recoded);
        let by_column = incrowd_quality::loss_by_column(attributes, measured);
        Ok(Figures {
            n_rows: coding.set.n_rows,
            n_suppressed: recoded.n_suppressed,
            search: SearchReport {
                minimal,
                distinct_vectors: levels.is_none().then_some(coding.n_vectors),
                ..search_report(plan, found)
            },
            recoding: RecodingReport {
                kind: kind_of(&found.recoding),
                found_with_k: None,
                levels: levels.map(by_name),
                cells: IndexMap::new(),
            },
            loss: incrowd_quality::loss(attributes, measured),
            loss_by_column: names().zip(by_column).collect(),
            entropy: incrowd_quality::entropy(attributes, &coding.value_rows, measured),
            precision: incrowd_quality::precision(attributes, measured),
            height: levels.map(Levels::height),
            workload,
            ..Figures::default()
        })
    }

    /// The report of a release that was measured.
    pub(crate) fn report(
        self,
        spec: &JobSpec,
        plan: &Plan,
        n_columns: usize,
        written: &Written,
        timings: Timings,
    ) -> Report {
        let measures = MeasuresReport {
            loss: Some(self.loss),
            loss_by_column: self.loss_by_column,
            entropy: Some(self.entropy),
            precision: self.precision,
            height: self.height,
            ..measures_report(plan, &written.measured, self.n_suppressed, written.starred)
        };
        let Exposure { as_they_are, repeats } = written.exposure(plan);
        Report {
            incrowd: crate::VERSION,
            input: InputReport { rows: self.n_rows, columns: n_columns },
            job: spec.clone(),
            search: Some(SearchReport {
                cost: self.search.cost.or_else(|| value_of(plan.measure, &measures)),
                elapsed_s: timings.search,
                peak_memory_bytes: peak_memory_bytes(),
                ..self.search
            }),
            recoding: Some(RecodingReport {
                cells: written.printed.n_cells.clone(),
                ..self.recoding
            }),
            release: release_report(&written.measured, self.n_suppressed, written.starred),
            privacy: privacy_report(plan, &written.measured),
            collusion: collusion_report(plan, &written.measured),
            risk: risk_report(&written.measured),
            as_they_are,
            repeats,
            measures,
            inference: written.printed.inference.clone(),
            workload: self.workload,
            warnings: self.warnings,
            timings_s: timings,
        }
    }
}

/// What the search did and proved.
fn search_report(plan: &Plan, found: &Found) -> SearchReport {
    let (algorithm, variant) = plan.method.names();
    SearchReport {
        algorithm: algorithm.to_owned(),
        variant,
        optimal: found.proof.is_optimal && plan.sets.len() == 1,
        cost: found.proof.cost,
        lower_bound: found.proof.lower_bound.filter(|_| plan.sets.len() == 1),
        nodes_checked: found.counters.nodes_checked,
        nodes_checked_transitive: found.counters.nodes_checked_transitive,
        nodes_total: found.counters.nodes_total,
        table_scans: found.counters.table_scans,
        rollups: found.counters.rollups,
        ..SearchReport::default()
    }
}

/// The value of a measure among all of them.
pub(crate) fn value_of(measure: Measure, measures: &MeasuresReport) -> Option<f64> {
    match measure {
        Measure::Discernibility => Some(measures.discernibility),
        Measure::AverageClassSize => measures.average_class_size,
        Measure::Loss => measures.loss,
        Measure::Entropy => measures.entropy,
        Measure::Classification => measures.classification,
        Measure::Height => measures.height.map(|height| height as f64),
        Measure::Precision => measures.precision,
    }
}

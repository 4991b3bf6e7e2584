//! How the release was made, so that it can be made again, and what it does not promise.

use super::Filed;
use crate::page::{HtmlCell, Page, count, decimal};
use crate::spec::{HierarchySpec, JobSpec};

/// What the release does not promise.
pub(super) fn limits(page: &mut Page, filed: &Filed) {
    page.part("What this does not promise");
    let columns: Vec<String> =
        filed.report.privacy.iter().map(|set| format!("{{{}}}", set.columns.join(", "))).collect();
    let insensitive: Vec<&str> = (filed.plan.columns.iter())
        .filter(|column| column.role == Some(crate::plan::Role::Insensitive))
        .map(|column| column.name.as_str())
        .collect();
    let mut all = vec![
        format!(
            "It speaks of attackers who know {} of a person. Whoever knows more about a person (another column, a rumour, a photograph) can do more.",
            columns.join(" or ")
        ),
        "A small risk is not none: a record can be guessed, and someone in a crowd of k has the risk of 1 in k.".to_owned(),
        "k-anonymity alone does not keep a class from sharing one sensitive value; diversity and closeness do, as far as the figures above say."
            .to_owned(),
        "Two releases of the same people, or of overlapping tables, can be put side by side and tell more than each of them.".to_owned(),
        "An attacker who knows how the release was made may rule out what the method would not have done (minimality); no figure above speaks of \
         that."
            .to_owned(),
        "Whether the result may lawfully be called anonymous is a judgement about data, readers and means that no tool makes.".to_owned(),
    ];
    if !insensitive.is_empty() && filed.is_release() {
        all.insert(
            1,
            format!(
                "Released as they are, and taken for what nobody can know or would mind: {}.",
                insensitive.join(", ")
            ),
        );
    }
    if filed.plan.entity().is_none() {
        all.insert(
            2,
            "k counts records: the job names no column that says whose record it is. Where a \
             person has several records, k records may be fewer than k people."
                .to_owned(),
        );
    }
    page.list(&all);
}

/// The record by which the release can be made again.
pub(super) fn record(page: &mut Page, filed: &Filed) {
    page.part("How it was made");
    let report = filed.report;
    let text = |name: &str, value: String| vec![HtmlCell::text(name), HtmlCell::text(value)];
    let mut rows = vec![
        text("made by", format!("incrowd {}", report.incrowd)),
        text("seed", report.job.search.seed.unwrap_or(0).to_string()),
    ];
    if filed.is_internal() {
        rows.push(text(
            "input",
            format!("{} rows, {} columns", count(report.input.rows), report.input.columns),
        ));
        if let Some(search) = &report.search {
            rows.push(text(
                "search",
                format!(
                    "{} nodes checked, {} table scans",
                    count(search.nodes_checked),
                    count(search.table_scans)
                ),
            ));
        }
        let spent = &report.timings_s;
        let all = spent.read + spent.search + spent.recode + spent.write + spent.verify;
        rows.push(text(
            "seconds",
            format!("{}, of which the search took {}", decimal(all), decimal(spent.search)),
        ));
    }
    let inputs = filed.digests.input.iter().filter(|_| filed.is_internal());
    rows.extend(
        inputs.map(|(name, digest)| text(&format!("SHA-256 of the input {name}"), digest.clone())),
    );
    let releases = filed.digests.release.iter();
    rows.extend(
        releases
            .map(|(name, digest)| text(&format!("SHA-256 of the release {name}"), digest.clone())),
    );
    page.table(&[("what", false), ("is", false)], &rows);
    let is_whole = filed.is_internal() && filed.is_release();
    page.say(match (is_whole, report.search.is_some()) {
        (true, true) => {
            "The job, as a file that `incrowd anonymize --job` takes. The same rows, job and seed give the same bytes."
        }
        (true, false) => {
            "The job. Orders and hierarchies stand in the recoding that was applied; the same rows and recoding give the same bytes."
        }
        (false, _) => {
            "The job, without the places of files and the values of orders and hierarchies."
        }
    });
    let job = if is_whole { report.job.clone() } else { without_values(&report.job) };
    page.verbatim(&job.to_toml());
}

/// A job without what only the table's owner should tell: where files are, and which values there may be.
fn without_values(job: &JobSpec) -> JobSpec {
    let mut job = job.clone();
    (job.input, job.output, job.report, job.recoding) = (None, None, None, None);
    (job.search.start, job.run.resume, job.run.temp_dir) = (None, None, None);
    (job.workload.queries_file, job.run.engine) = (None, None);
    for column in job.columns.values_mut() {
        (column.order, column.order_from) = (None, None);
        if !matches!(column.hierarchy, Some(HierarchySpec::Built(_))) {
            column.hierarchy = None;
        }
    }
    job
}

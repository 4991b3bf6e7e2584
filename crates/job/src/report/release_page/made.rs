//! How the release was made, so that it can be made again, and what it does not promise.

use super::PageContent;
use crate::report::page::{HtmlCell, Page, count, decimal};
use crate::spec::{HierarchySpec, JobSpec};

/// Entries of the record, files with their digests included.
const MOST_ENTRIES: usize = 100;

/// What the release does not promise.
pub(super) fn limits(page: &mut Page, content: &PageContent) {
    page.part("What this does not promise");
    let columns: Vec<String> = content
        .report
        .privacy
        .iter()
        .map(|set| format!("{{{}}}", set.columns.join(", ")))
        .collect();
    let insensitive: Vec<&str> = (content.columns.iter())
        .filter(|column| column.role == Some(crate::spec::Role::Insensitive))
        .map(|column| column.name.as_str())
        .collect();
    let mut all = vec![
        format!(
            "It is about attackers who know {} of a person. Someone who knows more (another column, a rumour, a photograph) can do more.",
            columns.join(" or ")
        ),
        "A small risk is still a risk: anybody can guess, and in a crowd of k a guess is right 1 time in k.".to_owned(),
        "k-anonymity alone does not stop a class from sharing one sensitive value. Diversity and closeness do, as far as the details say.".to_owned(),
        "Two releases of the same people, or of overlapping tables, can be compared and tell more than each of them alone.".to_owned(),
        "An attacker who knows how the release was made may rule out what the method would not have done. No figure here covers that.".to_owned(),
        "Whether the result may lawfully be called anonymous is a judgement about data, readers and means that no tool makes.".to_owned(),
    ];
    if !insensitive.is_empty() && content.is_release() {
        all.insert(
            1,
            format!(
                "These columns are released as they are, because the job says that nobody can know them or would mind: {}.",
                insensitive.join(", ")
            ),
        );
    }
    if content.entity().is_none() {
        all.insert(
            2,
            "k counts records: the job names no column that says whose record it is. Where a \
             person has several records, k records may be fewer than k people."
                .to_owned(),
        );
    }
    all.extend(inference(content));
    page.list(&all);
}

/// Values that follow from what the release prints. It tells that itself.
fn inference(content: &PageContent) -> Option<String> {
    let found = content.report.inference.iter();
    let all: Vec<String> = found
        .filter(|(_, found)| found.determined_rows > 0)
        .map(|(column, found)| format!("{column} of {}", count(found.determined_rows)))
        .collect();
    (!all.is_empty()).then(|| {
        format!(
            "The exact values of some records follow from what is printed of their class: {} records.",
            all.join(", ")
        )
    })
}

/// The record by which the release can be made again.
pub(super) fn record(page: &mut Page, content: &PageContent) {
    page.part("How it was made");
    let report = content.report;
    let text = |name: &str, value: String| vec![HtmlCell::text(name), HtmlCell::text(value)];
    let mut rows = vec![
        text("made by", format!("incrowd {}", report.incrowd)),
        text("seed", report.job.search.seed.unwrap_or(0).to_string()),
    ];
    if content.is_internal() {
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
    let inputs = content.digests.input.iter().filter(|_| content.is_internal());
    rows.extend(
        inputs.map(|(name, digest)| text(&format!("SHA-256 of the input {name}"), digest.clone())),
    );
    let releases = content.digests.release.iter();
    rows.extend(
        releases
            .map(|(name, digest)| text(&format!("SHA-256 of the release {name}"), digest.clone())),
    );
    let n_more = rows.len().saturating_sub(MOST_ENTRIES);
    rows.truncate(MOST_ENTRIES);
    page.stack(&["what", "is"], &rows);
    if n_more > 0 {
        page.remark(&format!("{} further files are not listed.", count(n_more as u64)));
    }
    let is_whole = content.is_internal() && content.is_release();
    page.say(match (is_whole, report.search.is_some()) {
        (true, true) => "The same rows, job and seed give the same bytes.",
        (true, false) => {
            "Orders and hierarchies are in the recoding that was applied. The same rows and recoding give the same bytes."
        }
        (false, _) => {
            "The job is shown without paths of files, names of people, and values of orders and hierarchies."
        }
    });
    let job = if is_whole { report.job.clone() } else { without_values(&report.job) };
    page.verbatim("The job file", &job.to_toml());
}

/// A job without what only the table's owner should tell: where files are, and which values there
/// may be.
fn without_values(job: &JobSpec) -> JobSpec {
    let mut job = job.clone();
    (job.input, job.output, job.report, job.recoding) = (None, None, None, None);
    (job.search.start, job.run.resume, job.run.temp_dir) = (None, None, None);
    (job.workload.queries_file, job.run.engine) = (None, None);
    job.about = job.about.without_names();
    for column in job.columns.values_mut() {
        (column.order, column.order_from) = (None, None);
        if !matches!(column.hierarchy, Some(HierarchySpec::Built(_))) {
            column.hierarchy = None;
        }
    }
    job
}

//! The report of a release or of a checked table as one HTML file for people: for the file of an ethics board, for whoever
//! gets the release.
//!
//! For the public nothing stands on it that the release does not tell: neither figures of the table, nor how many of its
//! rows were left out, nor what the search saw.

mod cards;
mod made;
mod privacy;
mod released;
mod utility;

use super::Report;
use super::portrait::Portrait;
use super::wanted::HtmlWanted;
use crate::measure::Before;
use crate::page::Page;
use crate::plan::{Plan, Role};
use crate::query::QueryReport;

/// What a page is made of.
pub(crate) struct Filed<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) wanted: &'a HtmlWanted,
    pub(crate) report: &'a Report,
    /// What the table was like; not for the public, and not of a table that was only checked.
    pub(crate) before: Option<&'a Before>,
    /// What the table and its release look like; none of a table that was only checked.
    pub(crate) portrait: Option<&'a Portrait>,
    /// The queries of the job's workload and their errors, or why there are none.
    pub(crate) queries: Option<&'a Result<QueryReport, String>>,
    pub(crate) digests: &'a Digests,
    /// What does not hold of a table that was checked.
    pub(crate) failed: &'a [String],
    pub(crate) warnings: &'a [String],
}

/// The files of a job by name, with what tells their bytes from all others.
#[derive(Debug, Default)]
pub(crate) struct Digests {
    pub(crate) input: Vec<(String, String)>,
    pub(crate) release: Vec<(String, String)>,
}

impl Filed<'_> {
    fn is_internal(&self) -> bool {
        self.wanted.is_internal()
    }

    /// Whether a release was made, or a table only measured.
    fn is_release(&self) -> bool {
        self.report.recoding.is_some()
    }

    /// What the page is about, in a word.
    fn thing(&self) -> &'static str {
        if self.is_release() { "release" } else { "table" }
    }

    /// The name of the file that the page is about.
    fn name(&self) -> String {
        let job = &self.report.job;
        let path = if self.is_release() { &job.output } else { &job.input };
        let path = path.as_deref().unwrap_or_default().trim_end_matches('/');
        std::path::Path::new(path)
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// What k counts: records, or the values of a column that tells people apart.
    fn counted(&self) -> String {
        match self.plan.entity() {
            Some(at) => format!("different values of {}", self.plan.columns[at].name),
            None => "records".to_owned(),
        }
    }

    /// Whether readers may be told how many people a class has: the release tells, or they may know the table.
    fn tells_people(&self) -> bool {
        let is_released = |at: usize| {
            matches!(self.plan.columns[at].role, Some(Role::Sensitive | Role::Insensitive))
        };
        self.is_internal() || self.plan.entity().is_none_or(is_released)
    }
}

/// The whole page.
pub(crate) fn html(filed: &Filed) -> String {
    let mut page = Page::new(&format!("Report of the {} {}", filed.thing(), filed.name()));
    lead(&mut page, filed);
    if filed.is_release() {
        released::write(&mut page, filed);
    }
    privacy::write(&mut page, filed);
    privacy::in_plain_words(&mut page, filed);
    if filed.is_release() {
        utility::write(&mut page, filed);
    }
    made::limits(&mut page, filed);
    made::record(&mut page, filed);
    page.html()
}

/// What holds, and who may read the page.
fn lead(page: &mut Page, filed: &Filed) {
    for set in &filed.report.privacy {
        let columns = set.columns_in_words();
        // What the release does not tell is what was asked for.
        let asked = set.required.get("k").and_then(serde_json::Value::as_u64);
        let k = if filed.tells_people() { Some(set.k) } else { asked };
        let Some(k) = k.filter(|k| *k > 0) else { continue };
        let named = if filed.report.privacy.len() > 1 {
            format!("{}: the", set.quasi)
        } else {
            "The".to_owned()
        };
        let crowd = match (k, filed.plan.entity()) {
            (1, None) => "some record looks like no other on them".to_owned(),
            (1, Some(at)) => {
                let entity = &filed.plan.columns[at].name;
                format!("some crowd that looks the same on them has one value of {entity} only")
            }
            (2, None) => "every record looks the same as at least one other on them".to_owned(),
            (k, None) => {
                format!("every record looks the same as {} others on them at least", k - 1)
            }
            (k, Some(_)) => {
                format!(
                    "every crowd that looks the same on them has {k} {} at least",
                    filed.counted()
                )
            }
        };
        page.mark(&format!(
            "{named} {} is {k}-anonymous with respect to {columns}: {crowd}. That was measured from the file itself.",
            filed.thing()
        ));
    }
    if !filed.failed.is_empty() {
        page.say("What was asked for does not hold:");
        page.list(filed.failed);
    }
    let audience = match (filed.is_internal(), filed.is_release()) {
        (false, false) => {
            "For the public: whatever stands here can be worked out from the table that was checked."
        }
        (false, true) => {
            "For the public: whatever stands here can be worked out from the release itself, or was decided before it was made."
        }
        (true, true) => {
            "Internal: figures and values of the original table stand here. Treat this page like the table; for others, make it \
             with `--audience public`."
        }
        (true, false) => "Figures of the table as it is; no value of it stands here.",
    };
    page.remark(audience);
    if filed.is_internal() && !filed.warnings.is_empty() {
        page.part("What to think about");
        page.list(filed.warnings);
    }
}

//! The report of a release or of a checked table as one HTML file for people: for the file of an
//! ethics board, for whoever gets the release.
//!
//! For the public nothing stands on it that the release does not tell: neither figures of the
//! table, nor how many of its rows were left out, nor what the search saw.
//!
//! The JSON report shows no value of the table. The internal page shows distributions of the table,
//! and says that it must be treated like the table.

mod cards;
mod made;
mod privacy;
mod released;
mod utility;

use crate::report::page::Page;
use crate::report::pictures::Pictures;
use crate::report::wanted::HtmlWanted;
use crate::report::{Before, QueryReport, Report};
use crate::spec::Role;

/// What a page is made of.
pub(crate) struct PageContent<'a> {
    pub(crate) columns: &'a [Column],
    /// Whether suppressed rows are released as `*`.
    pub(crate) stars_suppressed: bool,
    pub(crate) wanted: &'a HtmlWanted,
    pub(crate) report: &'a Report,
    /// What the table was like; not for the public, and not of a table that was only checked.
    pub(crate) before: Option<&'a Before>,
    /// What the table and its release look like; none of a table that was only checked.
    pub(crate) pictures: Option<&'a Pictures>,
    /// The queries of the job's workload and their errors, or why there are none.
    pub(crate) queries: Option<&'a Result<QueryReport, String>>,
    pub(crate) digests: &'a Digests,
    /// What does not hold of a table that was checked.
    pub(crate) failed: &'a [String],
    pub(crate) warnings: &'a [String],
}

/// A column of the table, as far as a page tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// None for a column that is left out.
    pub(crate) role: Option<Role>,
    pub(crate) is_target: bool,
    pub(crate) is_entity: bool,
}

/// The files of a job by name, with what tells their bytes from all others.
#[derive(Debug, Default)]
pub(crate) struct Digests {
    pub(crate) input: Vec<(String, String)>,
    pub(crate) release: Vec<(String, String)>,
}

impl PageContent<'_> {
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

    /// The column that tells people apart, if the job names one.
    fn entity(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.is_entity)
    }

    /// What k counts: records, or the values of a column that tells people apart.
    fn counted(&self) -> String {
        match self.entity() {
            Some(column) => format!("different values of {}", column.name),
            None => "records".to_owned(),
        }
    }

    /// Whether readers may be told how many people a class has: the release tells, or they may know
    /// the table.
    fn tells_people(&self) -> bool {
        let is_released =
            |column: &Column| matches!(column.role, Some(Role::Sensitive | Role::Insensitive));
        self.is_internal() || self.entity().is_none_or(is_released)
    }
}

/// The whole page: first what a board needs to decide, on paper two pages; then the details.
pub(crate) fn html(content: &PageContent) -> String {
    let about = &content.report.job.about;
    let title = about.title.clone();
    let title =
        title.unwrap_or_else(|| format!("Report of the {} {}", content.thing(), content.name()));
    let mut page = Page::new(&title);
    head(&mut page, content);
    page.part("In short");
    lead(&mut page, content);
    privacy::in_plain_words(&mut page, content);
    made::limits(&mut page, content);
    warnings(&mut page, content);
    if content.is_release() {
        released::columns(&mut page, content);
        released::records(&mut page, content);
    }
    sign_off(&mut page, content);
    page.details_from(if content.before.is_some() {
        "Details: privacy before and after"
    } else {
        "Details: privacy"
    });
    privacy::write(&mut page, content);
    if content.is_release() {
        released::write(&mut page, content);
        utility::write(&mut page, content);
    }
    made::record(&mut page, content);
    page.html()
}

/// What the page is about and who may read it.
fn head(page: &mut Page, content: &PageContent) {
    let about = &content.report.job.about;
    let mut entries: Vec<(&str, String)> = Vec::new();
    if about.title.is_some() {
        entries.push((if content.is_release() { "Release" } else { "Table" }, content.name()));
    }
    let said =
        [("Purpose", &about.purpose), ("Recipient", &about.recipient), ("Date", &about.date)];
    entries.extend(said.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))));
    if !entries.is_empty() {
        page.about(&entries);
    }
    page.remark(match (content.is_internal(), content.is_release()) {
        (false, false) => {
            "For the public: everything on this page can be worked out from the table that was checked."
        }
        (false, true) => {
            "For the public: everything on this page can be worked out from the release itself, or was decided before it was made."
        }
        (true, true) => {
            "Internal: this page shows figures and values of the original table. Treat it like the table. There is another kind of page for the public."
        }
        (true, false) => "Figures of the table as it is. No value of it is on this page.",
    });
}

/// What holds.
fn lead(page: &mut Page, content: &PageContent) {
    for set in &content.report.privacy {
        let columns = set.columns_in_words();
        // What the release does not tell is what was asked for.
        let asked = set.required.get("k").and_then(serde_json::Value::as_u64);
        let k = if content.tells_people() { Some(set.k) } else { asked };
        let Some(k) = k.filter(|k| *k > 0) else { continue };
        let named = if content.report.privacy.len() > 1 {
            format!("{}: the", set.quasi)
        } else {
            "The".to_owned()
        };
        let crowd = match (k, content.entity()) {
            (1, None) => "some record looks like no other on them".to_owned(),
            (1, Some(Column { name: entity, .. })) => {
                format!("some crowd that looks the same on them has only one value of {entity}")
            }
            (2, None) => "every record looks the same as at least one other on them".to_owned(),
            (k, None) => {
                format!("every record looks the same as at least {} others on them", k - 1)
            }
            (k, Some(_)) => {
                format!(
                    "every crowd that looks the same on them has at least {k} {}",
                    content.counted()
                )
            }
        };
        page.mark(&format!(
            "{named} {} is {k}-anonymous with respect to {columns}: {crowd}. This was measured from the file itself.",
            content.thing()
        ));
    }
    if !content.failed.is_empty() {
        page.say("What was asked for does not hold:");
        page.list(content.failed);
    }
}

/// What the user should know, without the advice that only whoever runs the command can take.
fn warnings(page: &mut Page, content: &PageContent) {
    let all: Vec<String> = content.warnings.iter().map(|text| for_board(text)).collect();
    if content.is_internal() && !all.is_empty() {
        page.part("Before you release it");
        page.list(&all);
    }
}

/// A sentence without its parts that name flags or commands.
pub(super) fn for_board(text: &str) -> String {
    let is_technical = |part: &str| part.contains("--") || part.contains("`incrowd ");
    let mut plain = String::new();
    let mut rest = text;
    // What is in brackets may go alone.
    while let Some((before, after)) = rest.split_once('(') {
        let Some((within, behind)) = after.split_once(')') else { break };
        plain.push_str(before);
        if is_technical(within) {
            plain.truncate(plain.trim_end().len());
        } else {
            plain.push_str(&format!("({within})"));
        }
        rest = behind;
    }
    plain.push_str(rest);
    let parts: Vec<&str> = plain.split("; ").filter(|part| !is_technical(part)).collect();
    // A warning without advice is better than none, and one with a flag better than nothing.
    let parts = if parts.is_empty() { text.to_owned() } else { parts.join("; ") };
    let mut letters = parts.trim().trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Who made the release and who decides about it, with room for their names and signatures.
fn sign_off(page: &mut Page, content: &PageContent) {
    let about = &content.report.job.about;
    if !content.is_internal() || about.is_empty() {
        return;
    }
    page.part("Sign-off");
    page.sign(&[
        ("Prepared by", about.prepared_by.clone().unwrap_or_default()),
        ("Date and signature", String::new()),
        ("Approved by", about.approved_by.clone().unwrap_or_default()),
        ("Date and signature", String::new()),
    ]);
}

#[cfg(test)]
mod tests {
    use super::for_board;

    #[test]
    fn boards_read_no_flags() {
        for (text, plain) in [
            (
                "k-anonymity alone does not protect disease: a class may share one value of it; consider \
                 --l-diversity or --t-closeness (l and t as they are now stand in the report)",
                "K-anonymity alone does not protect disease: a class may share one value of it.",
            ),
            (
                "`id` seems to number people; declare it as the entity (--entity id) to count people",
                "`id` seems to number people; declare it as the entity to count people.",
            ),
            ("half (a, b) of it", "Half (a, b) of it."),
            ("open (bracket", "Open (bracket."),
        ] {
            assert_eq!(for_board(text), plain);
        }
    }
}

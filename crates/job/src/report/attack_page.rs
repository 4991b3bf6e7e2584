//! An attack as one HTML page. No cell of either table stands on it.

use incrowd_chart::Listed;

use crate::report::page::{Card, HtmlCell, Page, count};
use crate::report::release_page::for_board;
use crate::report::{AttackReport, AttackedColumn, CandidatesReport, PosteriorReport};

impl AttackReport {
    /// The report as one HTML page.
    #[must_use]
    pub fn to_html(&self) -> String {
        html(self)
    }
}

/// Someone who joins tables.
const JOINER: &str =
    "someone who holds the outside table and joins it with this one, column by column";

/// Someone who also guesses.
const GUESSER: &str = "the same, who picks one candidate for each person blindly and knows that everyone with candidates is in the table";

pub(super) fn html(report: &AttackReport) -> String {
    let mut page = Page::new("A linking attack");
    page.mark(&sentence(&report.conclusion));
    let columns: Vec<String> = report.on.iter().map(|on| format!("`{}`", on.column)).collect();
    let before = report.before.as_ref().map_or_else(String::new, |before| {
        format!(", and among the {} of the table that it was made from", rows(before.original.rows))
    });
    page.say(&format!(
        "Someone holds another table with {} about people, and looks for each of them among the {} of the release{before}. \
         Compared are {}. A record is a candidate if no compared cell rules it out.",
        rows(report.outside.rows),
        rows(report.release.rows),
        columns.join(", ")
    ));
    if !report.warnings.is_empty() {
        page.part("What may be amiss");
        let warnings = report.warnings.iter().map(|warning| for_board(warning));
        page.list(&warnings.collect::<Vec<String>>());
    }
    page.part("What the attacker finds");
    page.cards(&cards(report));
    distribution(&mut page, report);
    compared(&mut page, report);
    page.part("What this does not say");
    page.list(&limits(report));
    page.remark(&format!("Made by incrowd {}.", report.incrowd));
    page.html()
}

/// The limits of every attack, among them what it means that someone has no candidates here.
fn limits(report: &AttackReport) -> Vec<String> {
    let mut all = LIMITS.map(str::to_owned).to_vec();
    all.insert(
        3,
        format!("{} That nobody was found is no proof that nobody can be.", unfound(report)),
    );
    all
}

/// Who has no candidates.
fn unfound(report: &AttackReport) -> &'static str {
    if report.on.iter().any(AttackedColumn::may_be_nodes) {
        "Someone without candidates is not in the table, was left out of it, or has a value for which the release has a \
         label that was not understood: these may be in the table, and the figures above speak of too few people."
    } else {
        "Someone without candidates is not in the table, or was left out of it."
    }
}

const LIMITS: [&str; 4] = [
    "It is one attack with one table. Someone who holds another table, or more than one, may find more.",
    "Columns that were not compared are taken for unknown to the attacker. If he can know one of them, compare it too.",
    "Nothing is weighed: candidates are taken for equally likely. Someone who knows how the release was made, or who can \
     rule out candidates because they belong to someone else, may know more.",
    "A sensitive value can be known for certain without a link, if all candidates share it. k-anonymity does not prevent \
     that; l-diversity does.",
];

fn rows(n: u64) -> String {
    format!("{} {}", count(n), if n == 1 { "row" } else { "rows" })
}

/// A sentence with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", characters.as_str())
}

/// A figure of the release, beside it the one of before.
fn card(
    report: &AttackReport,
    (name, meaning, formula): (&str, &str, &str),
    attacker: &'static str,
    of: impl Fn(&CandidatesReport, Option<&PosteriorReport>) -> String,
) -> Card {
    let before = report.before.as_ref();
    let before = before.map(|before| of(&before.candidates, before.sensitive.as_ref()));
    Card {
        name: name.to_owned(),
        value: of(&report.candidates, report.sensitive.as_ref()),
        beside: before.map(|before| format!("before: {before}")).into_iter().collect(),
        meaning: meaning.to_owned(),
        formula: formula.to_owned(),
        attacker: Some(attacker),
    }
}

fn cards(report: &AttackReport) -> Vec<Card> {
    let k = count(report.k);
    let mut cards = vec![
        card(
            report,
            (
                "Pinned down to one record",
                "people of the outside table who could be one record only: whatever else that record says is known of them",
                "people with candidates = 1",
            ),
            JOINER,
            |of, _| count(of.one),
        ),
        card(
            report,
            (
                &format!("Fewer than {k} candidates"),
                &format!(
                    "people who could be some records, but fewer than the {k} that k-anonymity promises to those released"
                ),
                &format!("people with 1 ≤ candidates < {k}"),
            ),
            JOINER,
            |of, _| count(of.below_k),
        ),
        card(
            report,
            (
                "Links expected by chance",
                "people who would be linked to their own record",
                "sum of 1 / candidates, over people who have some",
            ),
            GUESSER,
            |of, _| format!("{:.1}", of.expected_links),
        ),
        card(
            report,
            (
                "Candidates in the middle",
                "half of the people who have candidates have no more than this",
                "median of candidates, over people who have some",
            ),
            JOINER,
            |of, _| of.median.map_or_else(|| "none".to_owned(), count),
        ),
    ];
    let before = report.before.as_ref().and_then(|before| before.sensitive.as_ref());
    if let Some(learned) = report.sensitive.as_ref().or(before) {
        cards.push(card(
            report,
            (
                &format!("`{}` known for certain", learned.column),
                "people whose candidates all have the same value of that column, however many they are",
                "people whose commonest value has share 1",
            ),
            JOINER,
            |_, of| count(of.map_or(0, |of| of.certain)),
        ));
        cards.push(card(
            report,
            (
                &format!("Best guess at `{}`", learned.column),
                "how often the commonest value among a person's candidates would be right, on average",
                "mean of the commonest value's share among candidates",
            ),
            GUESSER,
            |_, of| of.map_or_else(|| "none".to_owned(), |of| format!("{:.3}", of.mean_share)),
        ));
    }
    cards
}

/// How many candidates people have, as a picture and as a table.
fn distribution(page: &mut Page, report: &AttackReport) {
    page.part("How many records each person could be");
    let buckets = report.side_by_side();
    let bars = |of: fn(&(u64, u64)) -> u64| -> Vec<f64> {
        buckets.iter().map(|(_, before, after)| of(&(*before, *after)) as f64).collect()
    };
    let mut series = vec![("in the release".to_owned(), bars(|rows| rows.1))];
    let mut header = vec![("candidates", false), ("people, in the release", true)];
    if report.before.is_some() {
        series.insert(0, ("before".to_owned(), bars(|rows| rows.0)));
        header.insert(1, ("people, before", true));
    }
    let chart = Listed {
        title: "People of the outside table by number of candidates".to_owned(),
        names: buckets.iter().map(|(bucket, ..)| bucket.name()).collect(),
        series,
    };
    let caption = "How many people of the outside table have so many candidates: further down is a larger crowd.";
    page.figures(&[(chart.svg(), caption.to_owned())]);
    let row = |(bucket, before, after): &(super::CandidateBucket, u64, u64)| {
        let before = report.before.as_ref().map(|_| HtmlCell::number(count(*before)));
        std::iter::once(HtmlCell::text(bucket.name()))
            .chain(before)
            .chain([HtmlCell::number(count(*after))])
            .collect()
    };
    let rows: Vec<Vec<HtmlCell>> = buckets.iter().map(row).collect();
    page.table(&header, &rows);
    page.remark(unfound(report));
}

fn compared(page: &mut Page, report: &AttackReport) {
    page.part("What was compared");
    let header = [
        ("column", false),
        ("read as", false),
        ("distinct cells of the release", true),
        ("of the outside table", true),
        ("of them compatible with none", true),
    ];
    let number = |n: usize| HtmlCell::number(count(n as u64));
    let rows: Vec<Vec<HtmlCell>> = (report.on.iter())
        .map(|on| {
            vec![
                HtmlCell::text(&on.column),
                HtmlCell::text(on.read_as),
                number(on.release_labels),
                number(on.outside_labels),
                number(on.unmatched_labels),
            ]
        })
        .collect();
    page.table(&header, &rows);
}

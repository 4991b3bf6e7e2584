//! Privacy before and after: crowds, risks, what classes tell of sensitive columns, and that in
//! plain words.

use incrowd_chart::Listed;
use serde_json::Value;

use super::{PageContent, cards};
use crate::report::page::{Page, count, decimal, percent};
use crate::report::release_page::Column;
use crate::report::{CollusionReport, PrivacyReport, SizesReport};

pub(super) fn write(page: &mut Page, content: &PageContent) {
    for (at, set) in content.report.privacy.iter().enumerate() {
        let before = content.before.and_then(|before| before.privacy.get(at));
        if content.report.privacy.len() > 1 {
            page.section(&format!("{}: {}", set.quasi, set.columns_in_words()));
        }
        of_set(page, content, set, before);
    }
    if content.tells_people() {
        let all: Vec<String> = content.report.collusion.iter().map(collusion).collect();
        if !all.is_empty() {
            page.section("If attackers put their knowledge together");
            page.list(&all);
        }
    }
    as_they_are(page, content);
    if content.report.release.rows > 0 {
        page.figures(&[sizes(content)]);
    }
}

/// How many records are unique on the columns that are released as they are. The release tells.
fn as_they_are(page: &mut Page, content: &PageContent) {
    let Some(found) = content.report.as_they_are.as_ref().filter(|found| found.rows > 0) else {
        return;
    };
    page.section("Columns released as they are");
    page.say(&sentence(&found.in_words()));
    page.say(
        "k says nothing about these columns. Anyone who knows a person's values in them finds that \
         person's record if it is unique.",
    );
    // An internal page lists all warnings at its beginning.
    if let Some(warning) = found.warning().filter(|_| !content.is_internal()) {
        page.say(&super::for_board(&warning));
    }
}

fn of_set(
    page: &mut Page,
    content: &PageContent,
    set: &PrivacyReport,
    before: Option<&PrivacyReport>,
) {
    if content.report.release.rows == 0 {
        page.say("There are no records.");
        return;
    }
    if content.tells_people() {
        let mut all = vec![cards::crowd(set, before, &content.counted())];
        all.extend(cards::risk(set, before, content.entity().is_some()));
        page.cards(&all);
    } else {
        let k = set.required.get("k").map_or_else(String::new, ToString::to_string);
        page.say(&format!(
            "The job asks for at least {k} {} in every crowd, and that holds. The release does not tell which records belong \
             together, so no more can be said here.",
            content.counted()
        ));
    }
    for (column, found) in &set.sensitive {
        page.section(&format!("What a class tells of {column}"));
        let before = before.and_then(|before| before.sensitive.get(column));
        page.cards(&cards::sensitive(column, found, before, set));
    }
    let asked: Vec<String> = set.required.iter().map(|(name, value)| asked(name, value)).collect();
    if !asked.is_empty() {
        let holds = if set.satisfied { "All of it holds." } else { "Not all of it holds." };
        page.remark(&format!("Asked for: {}. {holds}", asked.join(", ")));
    }
}

/// What was asked for, as it stands in the report.
fn asked(name: &str, value: &Value) -> String {
    format!("{} {value}", name.replace('_', " "))
}

/// A text that begins like a sentence and ends like one.
fn sentence(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    format!("{}.", capitalised(&one_line))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

fn collusion(found: &CollusionReport) -> String {
    let is_asked =
        if found.required { "the job asks for that" } else { "the job does not ask for more" };
    format!(
        "{} together: crowds as small as {}, a risk of {} at most ({is_asked}).",
        found.quasi.join(", "),
        count(found.k),
        decimal(found.risk.prosecutor_max)
    )
}

/// How large the classes are that records are in.
fn sizes(content: &PageContent) -> (String, String) {
    let after = &content.report.release;
    let before = content.before.map(|before| &before.classes);
    let all = || after.class_sizes.iter().chain(before.iter().flat_map(|table| &table.class_sizes));
    let mut steps: Vec<(u64, u64)> = all().map(|step| (step.least, step.greatest)).collect();
    steps.sort_unstable();
    steps.dedup();
    let names = steps.iter().map(|&(least, greatest)| match greatest {
        greatest if greatest > least => format!("{} to {}", count(least), count(greatest)),
        _ => count(least),
    });
    let shares = |sizes: &[SizesReport], rows: u64| {
        let share = |&(least, _): &(u64, u64)| {
            let step = sizes.iter().find(|step| step.least == least);
            100.0 * step.map_or(0, |step| step.rows) as f64 / rows.max(1) as f64
        };
        steps.iter().map(share).collect::<Vec<f64>>()
    };
    let mut series = Vec::new();
    let before = before.map(|table| shares(&table.class_sizes, table.rows));
    series.extend(before.map(|shares| ("before".to_owned(), shares)));
    series.push((content.thing().to_owned(), shares(&after.class_sizes, after.rows)));
    let chart = Listed {
        title: "Records by the size of their class, in %".to_owned(),
        names: names.collect(),
        series,
    };
    let over = if content.report.privacy.len() > 1 { ", over all columns together" } else { "" };
    let caption = format!(
        "How many records look the same as each record{over}: a record in a class of 1 is singled out, a large class hides well."
    );
    (chart.svg(), caption)
}

/// Singling out, linkability and inference, as data protection authorities ask for them.
pub(super) fn in_plain_words(page: &mut Page, content: &PageContent) {
    let sets = by_risk(content);
    if sets.is_empty() {
        return;
    }
    page.section("Can a person be singled out?");
    say_by_set(page, &sets, |set| singling_out(content, set));
    let otherwise = singled_out_otherwise(content, &sets);
    if !otherwise.is_empty() {
        page.say(&otherwise);
    }
    page.section("Can records be linked with another table?");
    say_by_set(page, &sets, |set| linking(content, set));
    page.say(
        "A second release of the same people, made in another way, can rule candidates out: have the two compared before the \
         second is handed on.",
    );
    page.section("Can something be inferred about a person?");
    inference(page, content);
}

/// What holds for the attacker of each set. What is right of one may be wrong of another.
fn say_by_set(page: &mut Page, sets: &[&PrivacyReport], says: impl Fn(&PrivacyReport) -> String) {
    if let [set] = sets {
        return page.say(&capitalised(&says(set)));
    }
    let all: Vec<String> = sets.iter().map(|set| format!("{}: {}", set.quasi, says(set))).collect();
    page.list(&all);
}

/// The sets by what their attackers find, the greatest risk first. Where risks are not told, what
/// was asked for decides.
fn by_risk<'a>(content: &'a PageContent) -> Vec<&'a PrivacyReport> {
    let mut sets: Vec<&PrivacyReport> =
        content.report.privacy.iter().filter(|set| set.k > 0).collect();
    if content.tells_people() {
        sets.sort_by(|a, b| {
            let by_max = b.risk.prosecutor_max.total_cmp(&a.risk.prosecutor_max);
            by_max.then(b.risk.marketer.total_cmp(&a.risk.marketer))
        });
    } else {
        sets.sort_by_key(|set| least(content, set));
    }
    sets
}

/// What someone finds who looks for a person: the sentence about the attacker.
fn attacker(content: &PageContent, set: &PrivacyReport) -> String {
    if !content.tells_people() {
        return String::new();
    }
    let one_in = |risk: f64| format!("1 time in {:.0}", (1.0 / risk).max(1.0));
    let (most, mean) = (one_in(set.risk.prosecutor_max), one_in(set.risk.prosecutor_average));
    let mean = if most == mean { String::new() } else { format!(", and {mean} on average") };
    format!(
        " Someone who knows {} of a person in the table picks the right record at most {most}{mean}.",
        set.columns_in_words()
    )
}

/// The least crowd that may be told of a set.
fn least(content: &PageContent, set: &PrivacyReport) -> u64 {
    let asked = set.required.get("k").and_then(Value::as_u64);
    if content.tells_people() { set.k } else { asked.unwrap_or(1) }
}

fn singling_out(content: &PageContent, set: &PrivacyReport) -> String {
    let (columns, k) = (set.columns_in_words(), least(content, set));
    if k > 1 {
        format!("not by {columns} alone.{}", attacker(content, set))
    } else if let Some(Column { name: entity, .. }) = content.entity() {
        format!("yes, some crowd that looks the same on {columns} has only one value of {entity}.")
    } else if content.report.privacy.len() > 1 {
        format!("yes, some record is the only one with its combination of {columns}.")
    } else {
        let share = share_alone(&content.report.release.class_sizes, content.report.release.rows);
        format!(
            "yes, {} of the records are the only ones with their combination of {columns}.",
            percent(share)
        )
    }
}

/// How people can be singled out by what no set has, and how they could be before.
fn singled_out_otherwise(content: &PageContent, sets: &[&PrivacyReport]) -> String {
    let mut says = Vec::new();
    if sets.iter().any(|set| least(content, set) > 1) {
        says.push(
            "Other columns that are released as they are may still single somebody out, if an attacker knows them."
                .to_owned(),
        );
    }
    if let Some(before) = content.before.filter(|_| content.entity().is_none()) {
        let of_all = if sets.len() > 1 { " of all sets together" } else { "" };
        let share = share_alone(&before.classes.class_sizes, before.classes.rows);
        says.push(format!(
            "In the original table {} of the records were the only ones with their combination of quasi-identifier values{of_all}.",
            percent(share)
        ));
    }
    says.join(" ")
}

/// The share of records that are alone in their class.
fn share_alone(sizes: &[SizesReport], rows: u64) -> f64 {
    let alone = sizes.iter().find(|step| step.least == 1).map_or(0, |step| step.rows);
    alone as f64 / rows.max(1) as f64
}

fn linking(content: &PageContent, set: &PrivacyReport) -> String {
    let (columns, k) = (set.columns_in_words(), least(content, set));
    let one = if k > 1 {
        format!(
            "another table that has {columns} of the same people leaves at least {k} candidates for each of them."
        )
    } else {
        format!(
            "another table that has {columns} of the same people finds some of them for certain."
        )
    };
    let many = if content.tells_people() {
        format!(
            " If every record is linked blindly, {} of the links are right.",
            percent(set.risk.marketer)
        )
    } else {
        String::new()
    };
    format!("{one}{many}")
}

fn inference(page: &mut Page, content: &PageContent) {
    let mut all: Vec<String> = Vec::new();
    for set in &content.report.privacy {
        for (column, found) in &set.sensitive {
            all.push(if found.l_distinct < 2.0 {
                format!(
                    "{column}: yes. In some class all records share one value, so that anyone who finds a person's class learns it. \
                     l-diversity and t-closeness prevent that."
                )
            } else {
                format!(
                    "{column}: not for certain. Every class has at least {} different values; the commonest one has a share of at most {} in \
                     a class.",
                    decimal(found.l_distinct),
                    percent(found.alpha)
                )
            });
        }
    }
    all.dedup();
    if all.is_empty() {
        page.say(
            "No column is declared sensitive, so nothing was measured. What a class has in common can be inferred about a person in it.",
        );
        return;
    }
    page.list(&all);
    page.say(
        "What holds for people in general (a disease that is common at an age, say) can be inferred about anybody, in the table or not.",
    );
}

//! A profile as one HTML file. Names of columns are the only thing in it that comes from the table.

use incrowd_chart::Listed;

use super::{Combination, Profile};
use crate::report::page::{Card, HtmlCell, Page, count, percent};

impl Profile {
    /// One HTML file for people; no value of the table is in it.
    #[must_use]
    pub fn to_html(&self, input: &str) -> String {
        html(self, input)
    }
}

pub(super) fn html(profile: &Profile, input: &str) -> String {
    let mut page = Page::new("What a table tells about people");
    let file =
        std::path::Path::new(input).file_name().map_or(input.into(), |n| n.to_string_lossy());
    page.say(&format!(
        "`{file}`: {} rows, {} columns. No value of the table is on this page.",
        count(profile.rows),
        profile.columns.len() + profile.not_looked_at.len()
    ));
    page.mark(&lead(profile));
    cards(&mut page, profile);
    combinations(&mut page, profile);
    columns(&mut page, profile);
    meanings(&mut page);
    page.remark(&format!("Made by incrowd {}.", crate::VERSION));
    page.html()
}

/// What the worst combination does, in words.
fn lead(profile: &Profile) -> String {
    let Some(worst) = profile.combinations.first() else {
        return "No combination of the columns that others may know singles anybody out."
            .to_owned();
    };
    let (unique, rows) = (count(worst.unique_rows), count(profile.rows));
    let names = match &worst.columns[..] {
        [one] => {
            return format!(
                "{unique} of {rows} people are the only ones with their {one}, if each row is a person."
            );
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    };
    format!(
        "{unique} of {rows} people are the only ones with their combination of {names}, if each row is a person. Whoever knows \
         these of somebody finds the row, and all else that stands in it."
    )
}

fn cards(page: &mut Page, profile: &Profile) {
    let card = |found: &Combination| Card {
        name: format!("Worst by {}", columns_of(found.columns.len())),
        value: percent(found.unique_share),
        beside: vec![format!("{} rows, by {}", count(found.unique_rows), found.columns.join(", "))],
        meaning: format!(
            "{} rows share these values with fewer than four others.",
            count(found.below_5)
        ),
        ..Card::default()
    };
    let worst = (1..=4)
        .filter_map(|size| profile.combinations.iter().find(|found| found.columns.len() == size));
    page.cards(&worst.map(card).collect::<Vec<_>>());
}

fn columns_of(n: usize) -> String {
    if n == 1 { "one column".to_owned() } else { format!("{n} columns") }
}

fn combinations(page: &mut Page, profile: &Profile) {
    page.part("Who could be singled out by what others may know");
    if profile.combinations.is_empty() {
        page.say("Nobody: either no column looks like one that others know, or no row is alone.");
        return;
    }
    let mut found: Vec<&Combination> = profile.combinations.iter().collect();
    found.sort_by_key(|found| found.columns.len());
    let names = (1..).zip(&found).map(|(at, found)| format!("{at}: {}", found.columns.join(", ")));
    let share = |rows: u64| {
        let share = 1000.0 * rows as f64 / profile.rows.max(1) as f64;
        share.round() / 10.0
    };
    let chart = Listed {
        title: "Percent of the rows".to_owned(),
        names: names.collect(),
        series: vec![
            ("alone".to_owned(), found.iter().map(|found| share(found.unique_rows)).collect()),
            (
                "with fewer than four others".to_owned(),
                found.iter().map(|found| share(found.below_5)).collect(),
            ),
        ],
    };
    let caption =
        "The worst combinations of one to four columns; the numbers are those of the table below.";
    page.figures(&[(chart.svg(), caption.to_owned())]);
    let header = [
        ("", true),
        ("columns", false),
        ("unique rows", true),
        ("share", true),
        ("in classes below 5", true),
        ("classes", true),
    ];
    let row = |(at, found): (usize, &&Combination)| {
        vec![
            HtmlCell::number(at.to_string()),
            HtmlCell::text(found.columns.join(", ")),
            HtmlCell::number(count(found.unique_rows)),
            HtmlCell::number(percent(found.unique_share)),
            HtmlCell::number(count(found.below_5)),
            HtmlCell::number(count(found.classes)),
        ]
    };
    page.table(&header, &(1..).zip(&found).map(row).collect::<Vec<_>>());
    page.remark(&how_found(profile));
}

/// What was counted.
fn how_found(profile: &Profile) -> String {
    let combined = profile.combined.join(", ");
    let how = if profile.exact {
        "All combinations of one to four of these columns were searched: no other of the same size singles out more rows"
    } else {
        "The table is too large to search all combinations: all pairs of these columns were counted and the worst were grown, \
         so others of three or four may single out more rows"
    };
    format!(
        "{how}: {combined}. A combination is listed if it singles out a row that none of its parts does."
    )
}

fn columns(page: &mut Page, profile: &Profile) {
    page.part("Columns and the roles they probably have");
    let header = [
        ("column", false),
        ("type", false),
        ("distinct", true),
        ("missing", true),
        ("unique", true),
        ("suggested role", false),
        ("because", false),
    ];
    let mut rows: Vec<Vec<HtmlCell>> = Vec::new();
    for column in &profile.columns {
        let mut reason = column.reason.clone();
        if let Some(other) = &column.same_as {
            reason.push_str(&format!("; tells the same rows apart as `{other}`"));
        }
        rows.push(vec![
            HtmlCell::text(column.name.as_str()),
            HtmlCell::text(column.kind.as_str()),
            HtmlCell::number(count(column.distinct)),
            HtmlCell::number(count(column.missing)),
            HtmlCell::number(count(column.unique)),
            HtmlCell::text(column.role_in_words()),
            HtmlCell::text(reason),
        ]);
    }
    rows.extend(profile.passed_over().map(|(name, role, why)| {
        let cells = [name, "", "", "", "", role, why.as_str()];
        cells.map(HtmlCell::text).to_vec()
    }));
    page.table(&header, &rows);
    page.remark(
        "Guesses from names and values. Someone who knows the data, and what others know, has to go through them.",
    );
}

const MEANINGS: [(&str, &str); 7] = [
    ("Unique rows", "rows whose values in these columns no other row has: a class of one."),
    ("Class", "rows with the same values in these columns, which nobody can tell apart by them."),
    (
        "In classes below 5",
        "rows that share their values with at most three others, those that are alone included: a release with k = 5 has none.",
    ),
    ("Identifier", "names a person, or may hold anything; never released."),
    ("Quasi", "known to others, e.g. from a register or the neighbourhood; recoded."),
    ("Sensitive", "what nobody should learn about a person; released as it is."),
    ("Insensitive", "neither; released as it is."),
];

fn meanings(page: &mut Page) {
    page.part("What the figures mean");
    page.list(&MEANINGS.map(|(name, meaning)| format!("{name}: {meaning}")));
}

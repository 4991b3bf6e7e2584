//! What was released and how: roles, recoding by column.

use incrowd_chart::{Listed, Spans};

use super::{Column, PageContent};
use crate::report::InferenceReport;
use crate::report::RecodingKind;
use crate::report::page::{Card, HtmlCell, Page, count, decimal};
use crate::report::pictures::{CellsShown, ColumnPicture, SpansShown};
use crate::spec::Role;

/// Columns that are listed.
const MOST_COLUMNS: usize = 200;

/// How the release was made, and what became of each column.
pub(super) fn write(page: &mut Page, content: &PageContent) {
    page.part("How it was recoded");
    page.say(&how(content));
    figures_of_columns(page, content);
    let Some(pictures) = content.pictures else { return };
    let figures: Vec<(String, String)> =
        pictures.columns.iter().filter_map(|c| picture(c, content)).collect();
    if !figures.is_empty() {
        page.section("What became of each quasi-identifier column");
        page.remark(
            "From bottom to top: the ranges of the release, each as wide as what it covers and as tall as its share of the records. \
             Where values have no order: the commonest labels and their shares of the records.",
        );
        page.figures(&figures);
    }
    let silent: Vec<String> = pictures.columns.iter().filter_map(not_drawn).collect();
    if !silent.is_empty() {
        page.list(&silent);
    }
    let means: Vec<&str> = (pictures.columns.iter())
        .filter(|column| matches!(column.cells, CellsShown::Means))
        .map(|column| column.name.as_str())
        .collect();
    if !means.is_empty() && content.is_internal() {
        page.remark(&format!(
            "Class means are released of {}: no range stands in the release.",
            means.join(", ")
        ));
    } else if !means.is_empty() {
        page.remark("Class means stand in place of numbers, so that nothing is drawn.");
    }
    inference(page, content);
}

/// Values that follow from ranges and means: the release tells.
fn inference(page: &mut Page, content: &PageContent) {
    let is_told = |found: &InferenceReport| {
        found.exact_rows + found.determined_rows + found.withheld_rows > 0
    };
    let found: Vec<(&String, &InferenceReport)> =
        content.report.inference.iter().filter(|(_, found)| is_told(found)).collect();
    if found.is_empty() {
        return;
    }
    page.section("Exact values that can be worked out");
    page.say(
        "Of a class the release prints the number of records, the range of a column and, where the job asks for it, the mean. Where only \
         one set of values agrees with them, all values are known. A mean that would tell them is left out.",
    );
    let header = [
        ("column", false),
        ("records with the value itself", true),
        ("records whose value follows from the range", true),
        ("records whose mean is left out", true),
    ];
    let row = |(column, found): &(&String, &InferenceReport)| {
        vec![
            HtmlCell::text(column.as_str()),
            HtmlCell::number(count(found.exact_rows)),
            HtmlCell::number(count(found.determined_rows)),
            HtmlCell::number(count(found.withheld_rows)),
        ]
    };
    page.table(&header, &found.iter().map(row).collect::<Vec<_>>());
}

/// Some records as they were and as they are released.
pub(super) fn records(page: &mut Page, content: &PageContent) {
    let Some(found) = content.pictures.and_then(|pictures| pictures.records.as_ref()) else {
        return;
    };
    page.part("Some records, before and after");
    let mut header = vec![("", false)];
    header.extend(found.names.iter().map(|name| (name.as_str(), false)));
    let mut rows = Vec::new();
    for record in &found.shown {
        let line = |what: &str, cells: &[String]| -> Vec<HtmlCell> {
            let cells = cells.iter().map(HtmlCell::verbatim);
            std::iter::once(HtmlCell::text(what)).chain(cells).collect()
        };
        rows.push(line("before", &record.before));
        let left_out = vec!["left out".to_owned(); record.before.len()];
        rows.push(line("after", record.after.as_ref().unwrap_or(&left_out)));
    }
    page.table(&header, &rows);
    let columns = match (found.names.len(), found.n_columns) {
        (shown, all) if shown < all => {
            format!("the first {shown} of {all} quasi-identifier columns")
        }
        _ => "the quasi-identifier columns only".to_owned(),
    };
    page.remark(&format!(
        "Different records, drawn at random with the seed of the job; {columns}."
    ));
}

fn cards(content: &PageContent) -> Vec<Card> {
    let release = &content.report.release;
    let is_dropped = !content.stars_suppressed;
    let mut all = vec![Card {
        name: "Records released".to_owned(),
        value: count(release.rows),
        beside: if content.is_internal() {
            vec![format!("of {}", count(content.report.input.rows))]
        } else {
            Vec::new()
        },
        meaning: "Records whose recoded cells say something.".to_owned(),
        ..Card::default()
    }];
    // Rows that were dropped do not stand in the release.
    if content.is_internal() || !is_dropped {
        all.push(Card {
            name: "Records suppressed".to_owned(),
            value: count(release.suppressed),
            meaning: if is_dropped {
                "Records that were left out, since no crowd was large enough for them.".to_owned()
            } else {
                "Records whose quasi-identifier is `*` throughout.".to_owned()
            },
            ..Card::default()
        });
    }
    all.push(Card {
        name: "Classes".to_owned(),
        value: count(release.classes),
        beside: vec![format!(
            "of {} to {} records",
            count(release.smallest_class),
            count(release.largest_class)
        )],
        meaning: "Groups of records that look the same on all quasi-identifier columns.".to_owned(),
        ..Card::default()
    });
    all
}

/// How the recoding was found, in a few sentences.
fn how(content: &PageContent) -> String {
    let kind = content.report.recoding.as_ref().map_or(RecodingKind::Unknown, |found| found.kind);
    let what = match kind {
        RecodingKind::Multidimensional => {
            "The space of all combinations was cut into boxes; what stands in a cell depends on all columns of the record."
        }
        RecodingKind::FullDomain => {
            "Every column was generalized to one level of its hierarchy, the same for all records."
        }
        RecodingKind::SingleDimensional => {
            "The values of every column were put into ranges or groups, the same for all records."
        }
        _ => "Records were put into groups; equal records may stand in different ones.",
    };
    let Some(search) = &content.report.search else {
        return format!("A saved recoding ({kind}) was applied to new rows. {what}");
    };
    let variant = search.variant.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let proved = match (content.is_internal(), search.optimal, search.cost, search.lower_bound) {
        (true, true, Some(cost), _) => {
            format!(" No recoding of its kind loses less: that is proved (cost {}).", decimal(cost))
        }
        (true, false, Some(cost), Some(bound)) if bound > 0.0 => format!(
            " It costs {}; that no recoding of its kind costs less than {} is proved.",
            decimal(cost),
            decimal(bound)
        ),
        _ => String::new(),
    };
    format!("Found by `{}`{variant}, a {kind} recoding. {what}{proved}", search.algorithm)
}

/// What was released: its size, and every column with what is left of it.
pub(super) fn columns(page: &mut Page, content: &PageContent) {
    page.part("What was released");
    page.cards(&cards(content));
    let (released, others): (Vec<_>, Vec<_>) = planned(content).into_iter().partition(|column| {
        matches!(column.role, Some(Role::Quasi | Role::Sensitive | Role::Insensitive))
    });
    let row = |column: &&Column| {
        vec![
            HtmlCell::text(column.name.as_str()),
            HtmlCell::text(role(column)),
            HtmlCell::text(match picture_of(content, column) {
                Some(known) if !known.kept.is_empty() => known.kept.as_str(),
                Some(_) => "recoded",
                None => fate(column),
            }),
        ]
    };
    let rows: Vec<Vec<HtmlCell>> = released.iter().take(MOST_COLUMNS).map(row).collect();
    page.stack(&["column", "role", "in the release"], &rows);
    if released.len() > MOST_COLUMNS {
        let n_more = count((released.len() - MOST_COLUMNS) as u64);
        page.remark(&format!("{n_more} further columns are not listed."));
    }
    let of_role = |role: Option<Role>| -> Vec<&str> {
        let alike = others.iter().filter(|column| column.role == role);
        alike.take(MOST_COLUMNS).map(|column| column.name.as_str()).collect()
    };
    let mut says = Vec::new();
    for (role, what) in [(Some(Role::Identifier), "Never released"), (None, "Left out")] {
        let names = of_role(role);
        if !names.is_empty() {
            says.push(format!("{what}: {}.", names.join(", ")));
        }
    }
    if !says.is_empty() {
        page.say(&says.join(" "));
    }
}

/// The columns that readers may know of: columns that the job does not name are nobody's business,
/// and where identifiers stood neither.
fn planned<'a>(content: &'a PageContent) -> Vec<&'a Column> {
    let mut columns: Vec<&Column> = content.columns.iter().collect();
    if !content.is_internal() {
        columns.retain(|column| column.role.is_some());
        let is_never = |column: &Column| column.role == Some(Role::Identifier);
        columns.sort_by(|a, b| match (is_never(a), is_never(b)) {
            (true, true) => a.name.cmp(&b.name),
            (a, b) => a.cmp(&b),
        });
    }
    columns
}

fn picture_of<'a>(content: &'a PageContent, column: &Column) -> Option<&'a ColumnPicture> {
    content.pictures?.columns.iter().find(|known| known.name == column.name)
}

/// What was measured of each quasi-identifier column.
fn figures_of_columns(page: &mut Page, content: &PageContent) {
    let is_internal = content.is_internal();
    let mut header = vec![("column", false), ("values", false)];
    // The levels of a hierarchy that is built from values may come of rows that are left out.
    let has_levels = is_internal
        && content.report.recoding.as_ref().is_some_and(|recoding| recoding.levels.is_some());
    if has_levels {
        header.push(("level", true));
    }
    header.push(("different cells", true));
    if is_internal {
        header.push(("loss", true));
    }
    let quasi = planned(content).into_iter().filter(|column| column.role == Some(Role::Quasi));
    let row = |column: &Column| {
        let values = picture_of(content, column).map(|known| known.values.as_str());
        let mut row =
            vec![HtmlCell::text(column.name.as_str()), HtmlCell::text(values.unwrap_or_default())];
        if has_levels {
            row.push(HtmlCell::number(level(content, &column.name)));
        }
        let recoding = content.report.recoding.as_ref();
        let n_cells = recoding.and_then(|recoding| recoding.cells.get(&column.name));
        row.push(HtmlCell::number(n_cells.map_or_else(String::new, |n| count(*n as u64))));
        if is_internal {
            let loss = content.report.measures.loss_by_column.get(&column.name);
            row.push(HtmlCell::number(loss.map_or_else(String::new, |loss| decimal(*loss))));
        }
        row
    };
    page.table(&header, &quasi.take(MOST_COLUMNS).map(row).collect::<Vec<_>>());
}

fn level(content: &PageContent, column: &str) -> String {
    let levels = content.report.recoding.as_ref().and_then(|recoding| recoding.levels.as_ref());
    levels.and_then(|levels| levels.get(column)).map_or_else(String::new, ToString::to_string)
}

fn role(column: &Column) -> String {
    let role = match column.role {
        Some(Role::Identifier) => "identifier",
        Some(Role::Quasi) => "quasi-identifier",
        Some(Role::Sensitive) => "sensitive",
        Some(Role::Insensitive) => "insensitive",
        None => "none",
    };
    let more = [(column.is_target, ", target"), (column.is_entity, ", entity")];
    let more: String = more.iter().filter(|(is_so, _)| *is_so).map(|(_, text)| *text).collect();
    format!("{role}{more}")
}

fn fate(column: &Column) -> &'static str {
    match column.role {
        Some(Role::Identifier) => "never released",
        Some(Role::Quasi) => "recoded",
        Some(Role::Sensitive | Role::Insensitive) => "as it is",
        None => "left out",
    }
}

/// The picture of a column's cells.
fn picture(column: &ColumnPicture, content: &PageContent) -> Option<(String, String)> {
    let name = &column.name;
    match &column.cells {
        CellsShown::Means => None,
        CellsShown::Spans(shown) => {
            let is_drawn = (shown.line.1 - shown.line.0).is_finite();
            is_drawn.then(|| spans(name, shown))
        }
        CellsShown::Listed { labels, others } => {
            says_something(labels, *others).then(|| listed(name, labels, *others, content))
        }
    }
}

/// Whether bars of the commonest labels tell more than that there are many.
fn says_something(labels: &[(String, u64)], others: (usize, u64)) -> bool {
    let shown: u64 = labels.iter().map(|(_, rows)| rows).sum();
    shown >= others.1 / 3
}

/// What is said in place of a picture that says nothing.
fn not_drawn(column: &ColumnPicture) -> Option<String> {
    let CellsShown::Listed { labels, others } = &column.cells else { return None };
    if says_something(labels, *others) {
        return None;
    }
    let (_, most) = labels.first()?;
    Some(format!(
        "{} is not drawn: it has {} different labels, of which the commonest stands in {} records.",
        column.name,
        count((labels.len() + others.0) as u64),
        count(*most)
    ))
}

fn spans(name: &str, shown: &SpansShown) -> (String, String) {
    let (from, to) = shown.line;
    let room = ((to - from) * 0.02).max(0.5);
    let chart = Spans {
        title: name.to_owned(),
        x: (shown.axis.to_owned(), from - room..to + room),
        spans: shown.spans.clone(),
    };
    let mut says = vec![format!("The ranges of {name}.")];
    if shown.is_sample {
        says.push(format!(
            "There are too many to draw; these {} are those of records at even distances.",
            shown.spans.len()
        ));
    }
    if shown.n_hidden > 0 {
        says.push(format!("{} further records have no range.", count(shown.n_hidden)));
    }
    if shown.n_missing > 0 {
        says.push(format!("{} records have no value.", count(shown.n_missing)));
    }
    (chart.svg(), says.join(" "))
}

fn listed(
    name: &str,
    labels: &[(String, u64)],
    (n_others, rows_of_others): (usize, u64),
    content: &PageContent,
) -> (String, String) {
    let whole = content.report.release.rows.max(1) as f64;
    let share = |rows: u64| 100.0 * rows as f64 / whole;
    let mut names: Vec<String> = labels.iter().map(|(label, _)| label.clone()).collect();
    let mut shares: Vec<f64> = labels.iter().map(|(_, rows)| share(*rows)).collect();
    if n_others > 0 {
        names.push(format!("{} other labels", count(n_others as u64)));
        shares.push(share(rows_of_others));
    }
    let chart = Listed {
        title: format!("{name}: % of records"),
        names,
        series: vec![("release".to_owned(), shares)],
    };
    (chart.svg(), format!("The labels of {name}, the commonest first."))
}

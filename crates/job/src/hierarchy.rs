//! Hierarchies: read, built, checked and shown.

use std::path::Path;

use incrowd_data::{
    BuildError, DatePart, Hierarchy, HierarchyError, Kind, Level, MaskSide, dates, fan_out,
    intervals, mask,
};
use incrowd_engine::{Engine, Order, RawColumn, Source, Use, Values, read};

use crate::coding::Known;
use crate::error::{JobError, Problem};
use crate::naming::not_in_input;
use crate::plan::choice;
use crate::run::{Run, Stage};
use crate::small_file::read_bytes;
use crate::spec::{BuiltSpec, HierarchySpec};

/// A hierarchy and the rows that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The tree.
    pub hierarchy: Hierarchy,
    /// `leaf, level 1, ..., root`, in the order of the file or of the values.
    pub rows: Vec<Vec<String>>,
}

/// What is wrong with the values of a column under a hierarchy, if anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Distinct values of the column.
    pub n_values: usize,
    /// How many of them are not leaves, in how many rows, and the first such row.
    pub uncovered: Option<(u64, u64, u64)>,
}

/// The hierarchy of a column.
pub(crate) fn load(
    column: &str,
    spec: &HierarchySpec,
    values: &Values,
    known: &dyn Known,
    kind: Option<Kind>,
) -> Result<Loaded, JobError> {
    match spec {
        HierarchySpec::File(path) => from_file(Path::new(path)),
        HierarchySpec::Built(built) => build(column, built, values, known, kind),
        HierarchySpec::Rows(rows) => {
            let hierarchy = tree(rows)
                .map_err(|error| Problem::new(format!("the hierarchy of `{column}`: {error}")))?;
            Ok(Loaded { hierarchy, rows: rows.clone() })
        }
    }
}

/// Reads a hierarchy file: no header, `leaf;level 1;...;root`; a comma is recognised too.
pub fn from_file(path: &Path) -> Result<Loaded, JobError> {
    let name = path.display();
    let bytes = read_bytes(path).map_err(|error| {
        Problem::new(format!("the hierarchy `{name}` cannot be read: {}", error.kind()))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
        Problem::new(format!("the hierarchy `{name}` is not UTF-8 in line {line}"))
    })?;
    let rows = parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|line| {
        Problem::new(format!(
            "the hierarchy `{name}` has a quote in line {line} that is not closed"
        ))
        .help("close it, or double a quote that belongs to a label")
    })?;
    let hierarchy = tree(&rows).map_err(|error| {
        Problem::new(format!("the hierarchy `{name}`: {error}"))
            .help("`incrowd hierarchy check` tells more; every row is leaf;level 1;...;root")
    })?;
    Ok(Loaded { hierarchy, rows })
}

/// The leaves of a hierarchy file, in the order in which they stand in its tree.
pub(crate) fn leaves_of(path: &str) -> Result<Vec<String>, JobError> {
    Ok(from_file(Path::new(path))?.hierarchy.leaves().map(str::to_owned).collect())
}

fn tree(rows: &[Vec<String>]) -> Result<Hierarchy, HierarchyError> {
    Hierarchy::from_rows(rows)
}

/// Splits lines into cells, with quotes as in CSV: a cell in quotes may hold line breaks. Blank lines at
/// the end are passed over. The error is the line of a quote that is not closed.
fn parse(text: &str) -> Result<Vec<Vec<String>>, usize> {
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let delimiter = delimiter_of(text);
    let mut rows = vec![vec![String::new()]];
    let mut line = 1;
    // The line in which the open quote stands.
    let mut quoted_in = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        line += usize::from(char == '\n');
        let row = rows.last_mut().expect("a row is open");
        let cell = row.last_mut().expect("a cell is open");
        match (char, quoted_in) {
            ('"', Some(_)) if chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            ('"', Some(_)) => quoted_in = None,
            ('"', None) if cell.is_empty() => quoted_in = Some(line),
            ('\r', None) if chars.peek() == Some(&'\n') => {}
            ('\n', None) => rows.push(vec![String::new()]),
            (_, None) if char == delimiter => row.push(String::new()),
            _ => cell.push(char),
        }
    }
    quoted_in.map_or(Ok(rows), Err)
}

/// What stands between the cells of the first row, outside of quotes.
fn delimiter_of(text: &str) -> char {
    let mut is_quoted = false;
    let bare = text.chars().filter(|char| {
        is_quoted ^= *char == '"';
        !is_quoted
    });
    let first: Vec<char> = bare.take_while(|char| *char != '\n').collect();
    [';', ',', '\t', '|'].into_iter().find(|char| first.contains(char)).unwrap_or(';')
}

/// The text of a hierarchy file.
#[must_use]
pub fn to_text(rows: &[Vec<String>]) -> String {
    // In a file of leaves alone, these would be taken for what is between the cells, or for a blank line.
    let is_alone = rows.first().is_some_and(|row| row.len() == 1);
    let cell = |text: &String| {
        let is_odd = is_alone && (text.trim().is_empty() || text.contains([',', '\t', '|']));
        if is_odd || text.contains([';', '"', '\n', '\r', '\u{feff}']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.clone()
        }
    };
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(";") + "\n").collect()
}

/// Builds the hierarchy of a column from its values.
fn build(
    column: &str,
    spec: &BuiltSpec,
    values: &Values,
    known: &dyn Known,
    kind: Option<Kind>,
) -> Result<Loaded, JobError> {
    let ways =
        [spec.mask.is_some(), spec.dates.is_some(), spec.width.is_some(), spec.fan_out.is_some()];
    if ways.iter().filter(|is_said| **is_said).count() != 1 {
        return Err(Problem::new(format!("the hierarchy of `{column}` is built in just one way"))
            .help("say one of mask, dates, width and fan-out")
            .into());
    }
    let ranked =
        values.rank(Order::Natural(kind)).map_err(|misfits| known.explain(values, misfits))?;
    let dictionary = &ranked.dictionary;
    // Every spelling is a leaf; neighbours in value stay neighbours.
    let texts = &values.texts;
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| (ranked.code_of[a], &texts[a]).cmp(&(ranked.code_of[b], &texts[b])));
    let texts: Vec<&str> = order.iter().map(|&at| texts[at].as_str()).collect();
    let rows = build_rows(spec, &texts, dictionary.kind)
        .map_err(|error| problem(column, &error))?
        .map_err(JobError::Request)?;
    if rows.is_empty() {
        // A column without a value has nothing to build from; any tree will do.
        let rows = vec![vec!["*".to_owned()]];
        return Ok(Loaded { hierarchy: tree(&rows).expect("one root"), rows });
    }
    let hierarchy = tree(&rows).map_err(|error| {
        JobError::from(Problem::new(format!("the hierarchy built for `{column}`: {error}")))
    })?;
    Ok(Loaded { hierarchy, rows })
}

fn problem(column: &str, error: &BuildError) -> JobError {
    Problem::new(format!("no hierarchy can be built for `{column}`: {error}")).into()
}

type Rows = Vec<Vec<String>>;

fn build_rows(
    spec: &BuiltSpec,
    values: &[&str],
    kind: Kind,
) -> Result<Result<Rows, Vec<Problem>>, BuildError> {
    let mut problems = Vec::new();
    let rows = if let Some(side) = &spec.mask {
        let sides = [("left", MaskSide::Left), ("right", MaskSide::Right)];
        choice("mask", Some(side), &sides, &mut problems)
            .map(|side| mask(values, side, spec.character.unwrap_or('*')))
    } else if let Some(parts) = &spec.dates {
        let parts: Vec<DatePart> = parts
            .iter()
            .filter_map(|part| choice("dates", Some(part), &DatePart::NAMES, &mut problems))
            .collect();
        if problems.is_empty() { Some(dates(values, &parts)?) } else { None }
    } else if let Some(width) = spec.width {
        Some(intervals(values, width, spec.origin, spec.levels.as_deref().unwrap_or(&[]))?)
    } else {
        Some(fan_out(values, spec.fan_out.unwrap_or(0), kind == Kind::Text)?)
    };
    Ok(rows.ok_or(problems))
}

/// The rows that a rule makes of values, in their order; none if it does not hold for all of them.
pub(crate) fn rows_by_rule(rule: &BuiltSpec, values: &[&str]) -> Option<Vec<Vec<String>>> {
    build_rows(rule, values, Kind::Text).ok()?.ok()
}

/// Builds a hierarchy from the values of a column of a table.
pub fn make(run: &Run, input: &str, column: &str, spec: &BuiltSpec) -> Result<Loaded, JobError> {
    run.with_engine(None, |engine| {
        let raw = read_column(run, engine, input, column)?;
        build(column, spec, &raw.values, &raw, None)
    })
}

/// Builds a hierarchy whose levels are those of a declared order: neighbours are joined by `fan_out`.
pub fn make_ordered(values: &[String], fan_out_by: usize) -> Result<Loaded, JobError> {
    for (at, value) in values.iter().enumerate() {
        if let Some(first) = values[..at].iter().position(|earlier| earlier == value) {
            let (at, first) = (at + 1, first + 1);
            return Err(Problem::new(format!(
                "--order has value {at} twice, first as value {first}"
            ))
            .help("name every value once")
            .into());
        }
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let rows = fan_out(&values, fan_out_by, false).map_err(|error| problem("the order", &error))?;
    let hierarchy = tree(&rows).map_err(|error| JobError::from(Problem::new(error.to_string())))?;
    Ok(Loaded { hierarchy, rows })
}

/// Whether every value of a column is a leaf.
pub fn coverage(
    run: &Run,
    loaded: &Loaded,
    input: &str,
    column: &str,
) -> Result<Coverage, JobError> {
    run.with_engine(None, |engine| {
        let raw = read_column(run, engine, input, column)?;
        let texts = loaded.hierarchy.leaves().map(str::to_owned).collect();
        let uncovered = match raw.rank(Order::Listed { texts, what: "hierarchy" }) {
            Ok(_) => None,
            Err(incrowd_engine::EngineError::NotCovered {
                n_values, n_rows, first_row, ..
            }) => Some((n_values, n_rows, first_row)),
            Err(error) => return Err(error.into()),
        };
        Ok(Coverage { n_values: raw.values.texts.len(), uncovered })
    })
}

fn read_column(
    run: &Run,
    engine: &Engine,
    input: &str,
    column: &str,
) -> Result<RawColumn, JobError> {
    run.enter(Stage::Open);
    let source = Source::open(engine, input)?;
    let Some(at) = source.position(column) else {
        return Err(not_in_input(&source, column).into());
    };
    let mut uses = vec![Use::Skip; source.columns().len()];
    uses[at] = Use::Code;
    run.enter(Stage::Read);
    let mut table = read(engine, &source, &uses, false)?;
    Ok(table.coded.remove(0))
}

/// The tree as text, the root first, at most `most` leaves of a node.
#[must_use]
pub fn show(hierarchy: &Hierarchy, most: usize) -> String {
    let mut lines = String::new();
    show_node(hierarchy, hierarchy.height(), 0, "", most, &mut lines);
    lines
}

fn show_node(
    hierarchy: &Hierarchy,
    level: Level,
    group: u32,
    indent: &str,
    most: usize,
    to: &mut String,
) {
    let node = &hierarchy.groups(level)[group as usize];
    let n_leaves = node.hi - node.lo + 1;
    let count = if level == Level(0) { String::new() } else { format!("  ({n_leaves})") };
    to.push_str(&format!("{}{count}\n", node.label));
    let children = hierarchy.children(level, group);
    let below = Level(level.0.saturating_sub(1));
    for (at, child) in children.iter().enumerate() {
        let is_last = at + 1 == children.len();
        if at == most && !is_last {
            to.push_str(&format!("{indent}└─ … {} more\n", children.len() - at));
            return;
        }
        to.push_str(indent);
        to.push_str(if is_last { "└─ " } else { "├─ " });
        let deeper = format!("{indent}{}", if is_last { "   " } else { "│  " });
        show_node(hierarchy, below, hierarchy.group_of(below, child.lo), &deeper, most, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_quoted() {
        assert_eq!(parse("a;\"b;c\";\"d\"\"e\"").unwrap(), [["a", "b;c", "d\"e"]]);
        assert_eq!(parse("\"a;1\",*\r\nb,*\r\n").unwrap(), [["a;1", "*"], ["b", "*"]]);
        assert_eq!(parse("a,x,*\nb,x,*\n\n").unwrap(), [["a", "x", "*"], ["b", "x", "*"]]);
        assert!(parse(" \n").unwrap().is_empty());
        assert_eq!(parse("a;*\nb;\"*\n"), Err(2));
        assert_eq!(parse("\"a\nb\";*\n\"c;*\n"), Err(3));
    }

    #[test]
    fn text_and_rows_are_each_others_inverse() {
        for leaf in ["a;b", "a,1\nb", "\r\n", "a\r", " "] {
            let rows = vec![vec![leaf.to_owned(), "say \"x\"".to_owned(), "*".to_owned()]];
            assert_eq!(parse(&to_text(&rows)).unwrap(), rows, "{leaf:?}");
        }
        for text in ["a|x|*", "a,b", "a\tb", "\u{feff}a", "", " ", "\"", "a\nb,c", "\n"] {
            let rows = vec![vec![text.to_owned()], vec!["b".to_owned()]];
            assert_eq!(parse(&to_text(&rows)).unwrap(), rows, "{text:?}");
        }
    }

    #[test]
    fn a_tree_is_shown_root_first() {
        let rows = parse("fr;eu;*\nde;eu;*\njp;as;*\n").unwrap();
        let shown = show(&tree(&rows).unwrap(), 10);
        assert_eq!(shown, "*  (3)\n├─ eu  (2)\n│  ├─ fr\n│  └─ de\n└─ as  (1)\n   └─ jp\n");
    }
}

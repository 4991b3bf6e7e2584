//! Hierarchy files: one row per leaf, from the leaf to the root.

use std::path::Path;

use incrowd_data::{Hierarchy, HierarchyError};

use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::{read_bytes, unreadable};

/// A hierarchy and the rows that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The tree.
    pub hierarchy: Hierarchy,
    /// `leaf, level 1, ..., root`, in the order of the file or of the values.
    pub rows: Vec<Vec<String>>,
}

/// Reads a hierarchy file: no header, `leaf;level 1;...;root`; a comma is recognised too.
pub fn from_file(path: &Path) -> Result<Loaded, JobError> {
    let name = path.display();
    let bytes = read_bytes(path).map_err(|error| unreadable("the hierarchy", path, &error))?;
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

pub(crate) fn tree(rows: &[Vec<String>]) -> Result<Hierarchy, HierarchyError> {
    Hierarchy::from_rows(rows)
}

/// Splits lines into cells, with quotes as in CSV: a cell in quotes may hold line breaks. Blank
/// lines at the end are passed over. The error is the line of a quote that is not closed.
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
    // In a file of leaves alone, these would be taken for what is between the cells, or for a blank
    // line.
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
}

//! Tables as CSV text: what we write for the command to read, and what we read of what it wrote.

use crate::table::Table;

/// The table as CSV. Cells are quoted where they have to be; a missing cell is empty.
pub(crate) fn write(table: &Table, delimiter: char) -> String {
    let mut text = String::new();
    let header: Vec<String> = table.header.iter().map(|name| quoted(name, delimiter)).collect();
    text.push_str(&header.join(&delimiter.to_string()));
    text.push('\n');
    for row in &table.rows {
        for (column, cell) in row.iter().enumerate() {
            if column > 0 {
                text.push(delimiter);
            }
            match cell {
                Some(cell) => text.push_str(&quoted(cell, delimiter)),
                // An empty line would be no row at all.
                None if row.len() == 1 => text.push_str("\"\""),
                None => {}
            }
        }
        text.push('\n');
    }
    text
}

fn quoted(cell: &str, delimiter: char) -> String {
    let is_plain = !cell.is_empty()
        && cell.trim() == cell
        // The other delimiters too, so that nobody has to guess which one is meant.
        && !cell.contains(|char| {
            char == delimiter || matches!(char, '"' | '\n' | '\r' | ',' | ';' | '\t' | '|')
        });
    if is_plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

/// Reads delimited text. An empty cell is missing, quoted or not.
pub(crate) fn read(text: &str, delimiter: char) -> Result<Table, String> {
    let mut records = records(text, delimiter)?.into_iter();
    let header = records.next().ok_or("no header")?;
    let header: Vec<String> = header.into_iter().map(Option::unwrap_or_default).collect();
    let rows: Vec<Vec<Option<String>>> = records.collect();
    match rows.iter().position(|row| row.len() != header.len()) {
        Some(row) => Err(format!("row {row} has another number of cells than the header")),
        None => Ok(Table { header, rows }),
    }
}

/// How many cells the first row has.
pub(crate) fn width(text: &str, delimiter: char) -> usize {
    records(text, delimiter).ok().and_then(|rows| Some(rows.first()?.len())).unwrap_or_default()
}

fn records(text: &str, delimiter: char) -> Result<Vec<Vec<Option<String>>>, String> {
    let mut records = Vec::new();
    let mut record: Vec<Option<String>> = Vec::new();
    let mut cell = String::new();
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    let filled = |cell: &mut String| Some(std::mem::take(cell)).filter(|cell| !cell.is_empty());
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => cell.push(char),
            _ if char == delimiter => record.push(filled(&mut cell)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                record.push(filled(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            _ => cell.push(char),
        }
    }
    if is_quoted || !cell.is_empty() || !record.is_empty() {
        return Err("the text ends within a row".to_owned());
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::table::Table;

    #[test]
    fn what_is_written_is_read_again() {
        let cells = ["a,b", "say \"x\"", "two\nlines", " padded", "{a|b}"];
        let rows = cells.iter().map(|cell| vec![Some((*cell).to_owned()), None]).collect();
        let table = Table { header: vec!["x".to_owned(), "y,z".to_owned()], rows };
        assert_eq!(read(&write(&table, ','), ','), Ok(table));
    }

    #[test]
    fn a_ragged_or_open_text_is_refused() {
        assert!(read("a,b\n1\n", ',').is_err());
        assert!(read("a\n\"1\n", ',').is_err());
    }
}

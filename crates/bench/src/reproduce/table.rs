//! Numbers in rows and columns, as CSV files have them.

use crate::Failure;

/// Numbers in rows and columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// A suffix of the file's name; none for the first.
    pub(crate) suffix: String,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A row of a table, whose cells have names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    cells: &'a [String],
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: &[&str]) -> Table {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Table { suffix: String::new(), columns, rows: Vec::new() }
    }

    /// The same with a suffix for its file.
    pub(crate) fn named(mut self, suffix: &str) -> Table {
        suffix.clone_into(&mut self.suffix);
        self
    }

    /// Adds a row.
    pub(crate) fn push<S: ToString>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row: Vec<String> = cells.into_iter().map(|cell| cell.to_string()).collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for every column");
        self.rows.push(row);
    }

    /// The rows in their order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    /// The rows with certain cells.
    pub(crate) fn rows_with<'a>(
        &'a self,
        cells: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = Row<'a>> {
        let is_one = move |row: &Row| cells.iter().all(|(name, cell)| row.text(name) == *cell);
        self.rows().filter(is_one)
    }

    /// The distinct cells of a column, in the order in which they come first.
    pub(crate) fn distinct(&self, column: &str) -> Vec<&str> {
        let mut seen = Vec::new();
        for row in self.rows() {
            let cell = row.text(column);
            if !seen.contains(&cell) {
                seen.push(cell);
            }
        }
        seen
    }

    /// The file.
    pub(crate) fn csv(&self) -> String {
        let quoted = |cell: &String| {
            let is_plain = !cell.contains(['"', ',', '\n']);
            if is_plain { cell.clone() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
        };
        let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.columns).chain(&self.rows).map(line).collect()
    }

    /// A table of a file that `csv` wrote.
    pub(crate) fn parse(text: &str, suffix: &str) -> Result<Table, Failure> {
        let mut lines = text.lines().map(cells);
        let columns = lines.next().ok_or("a file without a header")?;
        let rows: Vec<Vec<String>> = lines.collect();
        if let Some(row) = rows.iter().find(|row| row.len() != columns.len()) {
            return Err(format!("{} cells under {} names", row.len(), columns.len()).into());
        }
        Ok(Table { suffix: suffix.to_owned(), columns, rows })
    }

    /// The table for a page.
    pub(crate) fn markdown(&self) -> String {
        let escaped = |cell: &String| cell.replace('|', "\\|");
        let line = |row: &Vec<String>| {
            format!("| {} |\n", row.iter().map(escaped).collect::<Vec<_>>().join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        line(&self.columns) + &rule + &self.rows.iter().map(line).collect::<String>()
    }
}

impl<'a> Row<'a> {
    /// The cell of a column.
    pub(crate) fn text(&self, column: &str) -> &'a str {
        let at = self.table.columns.iter().position(|name| name == column);
        &self.cells[at.unwrap_or_else(|| panic!("no column {column}"))]
    }

    /// Whether there is a column of that name.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.table.columns.iter().any(|name| name == column)
    }

    /// The number in a column, if its cell is not empty.
    pub(crate) fn maybe(&self, column: &str) -> Option<f64> {
        let cell = self.text(column);
        (!cell.is_empty()).then(|| cell.parse().expect("a column of numbers"))
    }

    /// The number in a column.
    pub(crate) fn number(&self, column: &str) -> f64 {
        self.maybe(column).unwrap_or_else(|| panic!("an empty cell of {column}"))
    }
}

/// The cells of a line; no cell has a line break.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut table = Table::new(&["name, quoted", "number"]);
        table.push(["a \"b\", c", "1.5"]);
        table.push(["", ""]);
        let again = Table::parse(&table.csv(), "").expect("a table");
        assert_eq!((again.columns.clone(), again.rows.clone()), (table.columns, table.rows));
        assert_eq!(again.rows().next().map(|row| row.number("number")), Some(1.5));
    }
}
